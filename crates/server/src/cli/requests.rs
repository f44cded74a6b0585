//! The commands about one request: `countersign show`, `wait`, `cancel`, `revoke`, `receipt` and
//! `callbacks`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use kernel::ActorRef;
use reqwest::Method;
use serde_json::{Value, json};

use super::Exit;
use super::output::say;
use super::remote::RemoteArgs;
use super::render::{self, DetailLevel};

#[derive(Args)]
pub(super) struct ShowArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl ShowArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let ask = server.client.show(&native_id(&self.id)).await.map_err(server.with_advice())?;
        print(&ask, self.remote.json, DetailLevel::Whole)?;
        Ok(Exit::Done)
    }
}

/// The id in our own API, whatever dialect's prefix it was given with.
pub(super) fn native_id(id: &str) -> String {
    match id.split_once('_') {
        Some((_, ulid)) => format!("ask_{ulid}"),
        None => format!("ask_{id}"),
    }
}

/// Prints a request for people or for programs.
pub(super) fn print(ask: &client::Ask, json: bool, detail: DetailLevel) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(ask)?);
    } else {
        render::ask(ask, detail);
    }
    Ok(())
}

/// The exit code of a finished request. A default answer and a revoked one approve nothing.
pub(super) fn outcome(ask: &client::Ask) -> Exit {
    let by_nobody = ask.result.as_ref().is_some_and(|result| result.by == ActorRef::System);
    match ask.state.as_str() {
        "expired" | "failed" => Exit::Expired,
        "cancelled" => Exit::Cancelled,
        "completed" if by_nobody => Exit::Expired,
        "completed" if ask.revoked.is_some() => Exit::Denied,
        "completed" => match ask.verdict() {
            Some("rejected" | "declined" | "changes_requested" | "abort") => Exit::Denied,
            _ => Exit::Done,
        },
        _ => Exit::Done,
    }
}

// `countersign wait ID`: exits 0 approved, 1 denied, 2 expired, 3 cancelled.

#[derive(Args)]
#[command(after_help = super::OUTCOMES)]
pub(super) struct WaitArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    up_to: u64,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl WaitArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let id = native_id(&self.id);
        let mut ask = server.client.show(&id).await.map_err(server.with_advice())?;
        if !ask.is_over() {
            eprintln!("Waiting for an answer to {id}…");
            let up_to = Duration::from_secs(self.up_to);
            ask = server.client.wait(&id, up_to).await.map_err(server.with_advice())?;
        }
        if !ask.is_over() {
            bail!("{id} is still {} after {} seconds", ask.state, self.up_to);
        }
        print(&ask, self.remote.json, DetailLevel::Brief)?;
        Ok(outcome(&ask))
    }
}

// `countersign cancel ID`

#[derive(Args)]
pub(super) struct CancelArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Why the request is no longer needed
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl CancelArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let path = format!("/api/v1/asks/{}/cancel", native_id(&self.id));
        let body = json!({ "reason": self.reason });
        let call = server.client.call(Method::POST, &path, Some(&body));
        print(&call.await.map_err(server.with_advice())?, self.remote.json, DetailLevel::Brief)?;
        Ok(Exit::Done)
    }
}

// `countersign revoke ID --reason TEXT`

#[derive(Args)]
pub(super) struct RevokeArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`, `rcpt_…`
    id: String,
    /// Why the receipt is revoked; everyone who verifies it can read this
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl RevokeArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        let id = native_id(&self.id);
        let path = format!("/api/v1/asks/{id}/revoke");
        let body = json!({ "reason": self.reason });
        let ask: client::Ask = server.send(Method::POST, &path, &body).await?;
        if self.remote.json {
            print(&ask, true, DetailLevel::Brief)?;
        } else {
            let reason = ask.revoked.and_then(|revoked| revoked.reason).unwrap_or_default();
            say!("The receipt of {id} is revoked: {reason}");
            say!("The answer stays in the audit log.");
        }
        Ok(Exit::Done)
    }
}

// `countersign receipt ID`

#[derive(Args)]
pub(super) struct ReceiptArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Write the receipt to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl ReceiptArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let signed =
            server.client.receipt(&native_id(&self.id)).await.map_err(server.with_advice())?;
        if let Some(path) = &self.out {
            tokio::fs::write(path, format!("{}\n", signed.receipt))
                .await
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if self.remote.json {
            say!("{}", serde_json::to_string(&signed)?);
        } else if let Some(path) = &self.out {
            say!("Verify it with `countersign verify {}`.", path.display());
        } else {
            say!("{}", signed.receipt);
        }
        Ok(Exit::Done)
    }
}

// `countersign callbacks ID`

#[derive(Args)]
pub(super) struct CallbacksArgs {
    /// The request, under any prefix: `ask_…`, `review_…`
    id: String,
    /// Call the agent once more
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl CallbacksArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let path = format!("/api/v1/asks/{}/callbacks", native_id(&self.id));
        let method = if self.again { Method::POST } else { Method::GET };
        let found: Value = server.call(method, &path).await?;
        if self.remote.json {
            say!("{found}");
            return Ok(Exit::Done);
        }
        let attempts = found["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
        for attempt in attempts {
            let at = attempt["at"].as_str().unwrap_or_default();
            say!("{at}  {}", attempt_text(attempt));
        }
        match (found["to"].as_str(), self.again) {
            (None, _) => say!("This request has no callback address."),
            (Some(to), true) => say!("{to} will be called again."),
            (Some(to), false) if attempts.is_empty() => say!("{to} was not called yet."),
            (Some(_), false) => {}
        }
        Ok(Exit::Done)
    }
}

fn attempt_text(attempt: &Value) -> String {
    match attempt["result"].as_str() {
        Some("taken") => format!("accepted with status {}", attempt["status"]),
        Some("refused") => format!("refused with status {}", attempt["status"]),
        _ => attempt["error"].as_str().unwrap_or("the address could not be reached").to_owned(),
    }
}
