//! `countersign webhooks`: webhook endpoints and their deliveries. The command shows a secret once.

use clap::{Args, Subcommand};
use dialects::native::{
    DeliveryStatus, DeliveryView, RotateBody, WebhookBody, WebhookSecret, WebhookView,
};
use kernel::ask::CallbackResult;
use kernel::directory::WebhookFormat;
use kernel::text::reveal;
use kernel::{AgentId, ProjectId, Topic, WebhookId};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Exit;
use super::output::{report, report_table, say};
use super::remote::{RemoteArgs, RemoteServer};
use crate::name_spelling::parse_name;

#[derive(Args)]
pub(super) struct WebhooksArgs {
    #[command(subcommand)]
    command: WebhooksCommand,
}

#[derive(Subcommand)]
enum WebhooksCommand {
    /// List endpoints, never their secrets
    List {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Add an endpoint, and print its secret once
    Add {
        /// Where it is
        #[arg(value_name = "ADDRESS")]
        to: String,
        /// It hears of this agent's requests
        #[arg(
            long,
            value_name = "ID",
            conflicts_with = "project",
            required_unless_present = "project"
        )]
        agent: Option<AgentId>,
        /// It hears of all agents of this project that have no endpoint of their own
        #[arg(long, value_name = "ID")]
        project: Option<ProjectId>,
        /// What it hears of, such as `ask.answered`; give it several times [default: how requests
        /// end]
        #[arg(long, value_name = "EVENT", value_parser = parse_name::<Topic>)]
        event: Vec<Topic>,
        /// How it is told: `standard`, `humanlayer`, `humanlayer-v1beta1` or `humanlayer-v1beta3`
        #[arg(long, value_name = "FORMAT", value_parser = parse_name::<WebhookFormat>, default_value = "standard")]
        format: WebhookFormat,
        /// What it is for
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Replace the secret of an endpoint, and print the new one once
    Rotate {
        /// Its id, as listed
        id: WebhookId,
        /// How many seconds the secret before signs as well: a day unless told, 0 if it leaked
        #[arg(long, value_name = "SECONDS")]
        grace: Option<u64>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Remove an endpoint
    Remove {
        /// Its id, as listed
        id: WebhookId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Send an endpoint something that happened to nothing
    Test {
        /// Its id, as listed
        id: WebhookId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Show what an endpoint was told lately, newest first
    Deliveries {
        /// Its id, as listed
        id: WebhookId,
        /// Only what was given up
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Tell an endpoint once more
    Redeliver {
        /// Its id, as listed
        id: WebhookId,
        /// What, as listed: `msg_…`; everything that was given up, if nothing is named
        #[arg(value_parser = message)]
        deliveries: Vec<String>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

fn message(text: &str) -> Result<String, String> {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && text.starts_with("msg_") {
        Ok(text.to_owned())
    } else {
        Err("expected the id of a delivery, msg_…".to_owned())
    }
}

impl WebhooksArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            WebhooksCommand::List { remote } => {
                let webhooks: Vec<WebhookView> = remote.human()?.all("webhooks").await?;
                report_table(
                    remote.json,
                    &webhooks,
                    &["ID", "OF", "STATE", "FORMAT", "ADDRESS", "FOR"],
                    row,
                )?;
            }
            WebhooksCommand::Add { to, agent, project, event, format, description, remote } => {
                let events = if event.is_empty() { Topic::DEFAULT.to_vec() } else { event };
                let events = events.into_iter().collect();
                let new = WebhookBody {
                    agent,
                    project,
                    url: to,
                    events,
                    format,
                    description,
                    enabled: true,
                };
                let body = serde_json::to_value(&new)?;
                let made = send(&remote.human()?, Method::POST, "", Some(body)).await?;
                revealed(&made, remote.json)?;
            }
            WebhooksCommand::Rotate { id, grace, remote } => {
                let mut body = RotateBody::default();
                body.grace_seconds = grace.unwrap_or(body.grace_seconds);
                let (path, body) = (format!("/{id}/rotate"), serde_json::to_value(&body)?);
                let made = send(&remote.human()?, Method::POST, &path, Some(body)).await?;
                revealed(&made, remote.json)?;
            }
            WebhooksCommand::Remove { id, remote } => {
                let server = remote.human()?;
                let path = format!("/api/v1/webhooks/{id}");
                let () = server.call(Method::DELETE, &path).await?;
                report(remote.json, &json!({ "removed": id }), &format!("Removed {id}."))?;
            }
            WebhooksCommand::Test { id, remote } => {
                let path = format!("/{id}/test");
                let sent: Value = send(&remote.human()?, Method::POST, &path, None).await?;
                report(remote.json, &sent, &format!("A test is on its way to {id}."))?;
            }
            WebhooksCommand::Deliveries { id, dead, remote } => {
                let found = deliveries(&remote.human()?, id, dead).await?;
                report_table(
                    remote.json,
                    &found,
                    &["ID", "EVENT", "STATUS", "TRIED", "LAST"],
                    delivery,
                )?;
            }
            WebhooksCommand::Redeliver { id, deliveries: named, remote } => {
                redeliver(&remote, id, named).await?;
            }
        }
        Ok(Exit::Done)
    }
}

async fn send<T: DeserializeOwned>(
    server: &RemoteServer,
    method: Method,
    below: &str,
    body: Option<Value>,
) -> anyhow::Result<T> {
    let path = format!("/api/v1/webhooks{below}");
    server.client.call(method, &path, body.as_ref()).await.map_err(server.with_advice())
}

fn revealed(made: &WebhookSecret, json: bool) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(made)?);
    } else {
        say!("{}", made.secret);
        eprintln!("{} for {}; shown this once.", made.webhook.id, owner_text(&made.webhook));
    }
    Ok(())
}

/// The newest entries of the delivery log.
async fn deliveries(
    server: &RemoteServer,
    id: WebhookId,
    dead: bool,
) -> anyhow::Result<Vec<DeliveryView>> {
    let status = if dead { "&status=dead" } else { "" };
    let path = format!("/{id}/deliveries?limit=100{status}");
    let mut page: Map<String, Value> = send(server, Method::GET, &path, None).await?;
    Ok(serde_json::from_value(page.remove("deliveries").unwrap_or_default())?)
}

async fn redeliver(remote: &RemoteArgs, id: WebhookId, named: Vec<String>) -> anyhow::Result<()> {
    let server = remote.human()?;
    let mut sent: Vec<DeliveryView> = Vec::new();
    if named.is_empty() {
        // A redelivered message is no longer failed, so the next page is the first one again.
        loop {
            let dead = deliveries(&server, id, true).await?;
            if dead.is_empty() {
                break;
            }
            for one in dead {
                let path = format!("/{id}/deliveries/{}/redeliver", one.id);
                sent.push(send(&server, Method::POST, &path, None).await?);
            }
        }
    }
    for name in named {
        let path = format!("/{id}/deliveries/{name}/redeliver");
        sent.push(send(&server, Method::POST, &path, None).await?);
    }
    let words = match sent.len() {
        0 => "Nothing was given up.".to_owned(),
        1 => "1 delivery is sent again.".to_owned(),
        n => format!("{n} deliveries are sent again."),
    };
    report(remote.json, &sent, &words)
}

fn owner_text(webhook: &WebhookView) -> String {
    match (&webhook.agent, &webhook.project) {
        (Some(agent), _) => format!("agent {agent}"),
        (None, Some(project)) => format!("project {project}"),
        (None, None) => String::new(),
    }
}

fn row(webhook: &WebhookView) -> Vec<String> {
    let state = match (webhook.enabled, webhook.disabled) {
        (true, _) => "live",
        (false, Some(kernel::directory::WebhookDisabledReason::Gone)) => "gone",
        (false, _) => "disabled",
    };
    vec![
        webhook.id.to_string(),
        owner_text(webhook),
        state.to_owned(),
        webhook.format.as_str().to_owned(),
        reveal(&webhook.url),
        reveal(&webhook.description),
    ]
}

fn delivery(delivery: &DeliveryView) -> Vec<String> {
    let status = match delivery.status {
        DeliveryStatus::Waiting => "waiting",
        DeliveryStatus::Done => "done",
        DeliveryStatus::Dead => "dead",
    };
    let last = delivery.attempts.last().map(|last| match &last.attempt.result {
        CallbackResult::Taken { status } | CallbackResult::Refused { status } => status.to_string(),
        CallbackResult::Unreached { error } => reveal(error),
    });
    vec![
        delivery.id.clone(),
        delivery.kind.clone(),
        status.to_owned(),
        delivery.attempts.len().to_string(),
        last.unwrap_or_default(),
    ]
}
