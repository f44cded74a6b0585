//! `countersign show ID`

use clap::Args;
use kernel::By;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::render::{self, Detail};

#[derive(Args)]
pub(super) struct Show {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    #[command(flatten)]
    remote: Remote,
}

impl Show {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let ask = server.client.show(&plain(&self.id)).await.map_err(server.because())?;
        print(&ask, self.remote.json, Detail::Whole)?;
        Ok(Exit::Done)
    }
}

/// The id in our own API, whatever dialect's prefix it was given with.
pub(super) fn plain(id: &str) -> String {
    match id.split_once('_') {
        Some((_, ulid)) => format!("ask_{ulid}"),
        None => format!("ask_{id}"),
    }
}

/// Prints a request for people or for programs.
pub(super) fn print(ask: &client::Ask, json: bool, detail: Detail) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(ask)?);
    } else {
        render::ask(ask, detail);
    }
    Ok(())
}

/// The exit code of a finished request. A default answer and a revoked one approve nothing.
pub(super) fn outcome(ask: &client::Ask) -> Exit {
    let by_nobody = ask.result.as_ref().is_some_and(|result| result.by == By::System);
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
