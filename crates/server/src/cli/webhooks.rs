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
use super::listen::ListenArgs;
use super::output::{report, report_object, report_table, say};
use super::remote::{RemoteArgs, RemoteServer};
use crate::name_spelling::parse_name;

#[derive(Args)]
pub(super) struct WebhooksArgs {
    #[command(subcommand)]
    command: WebhooksCommand,
}

#[derive(Subcommand)]
enum WebhooksCommand {
    /// List webhook endpoints, without their secrets
    List {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Show a webhook endpoint, without its secret
    Show {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Add a webhook endpoint, and print its signing secret once
    Add {
        /// The address that the server calls
        #[arg(value_name = "ADDRESS")]
        to: String,
        /// Send the events of this agent's requests
        #[arg(
            long,
            value_name = "ID",
            conflicts_with = "project",
            required_unless_present = "project"
        )]
        agent: Option<AgentId>,
        /// Send the events of all agents in this project that have no endpoint of their own
        #[arg(long, value_name = "ID")]
        project: Option<ProjectId>,
        /// An event to send, such as `ask.answered`; repeat it for several [default: those that
        /// close a request]
        #[arg(long, value_name = "EVENT", value_parser = parse_name::<Topic>)]
        event: Vec<Topic>,
        /// The format: `standard`, `humanlayer`, `humanlayer-v1beta1` or `humanlayer-v1beta3`
        #[arg(long, value_name = "FORMAT", value_parser = parse_name::<WebhookFormat>, default_value = "standard")]
        format: WebhookFormat,
        /// A note about its purpose
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Change a webhook endpoint: only the fields you name
    Set {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        #[command(flatten)]
        change: WebhookChangeArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Replace the signing secret of an endpoint, and print the new one once
    Rotate {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        /// For how many seconds the old secret signs too; 0 if it leaked [default: 86400, a day]
        #[arg(long, value_name = "SECONDS")]
        grace: Option<u64>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Remove a webhook endpoint
    Remove {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Send a test event to an endpoint
    Test {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// List the recent deliveries to an endpoint, newest first
    Deliveries {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        /// Only deliveries that failed for good
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Send deliveries again
    Redeliver {
        /// The id of the endpoint: `hook_…`
        id: WebhookId,
        /// The deliveries: `msg_…`, as `webhooks deliveries` lists them [default: all that failed
        /// for good]
        #[arg(value_parser = message)]
        deliveries: Vec<String>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Forward events to a local address
    Listen(ListenArgs),
}

/// Which fields of a webhook endpoint to change.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct WebhookChangeArgs {
    /// The address that the server calls
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// An event to send, replacing the current ones; repeat it for several
    #[arg(long, value_name = "EVENT", value_parser = parse_name::<Topic>)]
    event: Vec<Topic>,
    /// The format: `standard`, `humanlayer`, `humanlayer-v1beta1` or `humanlayer-v1beta3`
    #[arg(long, value_name = "FORMAT", value_parser = parse_name::<WebhookFormat>)]
    format: Option<WebhookFormat>,
    /// A note about its purpose
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Whether events are sent
    #[arg(long, value_name = "BOOL")]
    enabled: Option<bool>,
}

fn message(text: &str) -> Result<String, String> {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && text.starts_with("msg_") {
        Ok(text.to_owned())
    } else {
        Err("expected the id of a delivery: msg_…".to_owned())
    }
}

impl WebhooksArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            WebhooksCommand::List { remote } => {
                let webhooks: Vec<WebhookView> = remote.human().await?.all("webhooks").await?;
                report_table(
                    remote.json,
                    &webhooks,
                    &["ID", "OWNER", "STATE", "FORMAT", "ADDRESS", "DESCRIPTION"],
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
                let made = send(&remote.human().await?, Method::POST, "", Some(body)).await?;
                revealed(&made, remote.json)?;
            }
            WebhooksCommand::Show { id, remote } => {
                let found: WebhookView =
                    send(&remote.human().await?, Method::GET, &format!("/{id}"), None).await?;
                report_object(remote.json, &found)?;
            }
            WebhooksCommand::Set { id, change, remote } => set(&remote, id, change).await?,
            WebhooksCommand::Listen(listen) => return listen.run().await,
            WebhooksCommand::Rotate { id, grace, remote } => {
                let mut body = RotateBody::default();
                body.grace_seconds = grace.unwrap_or(body.grace_seconds);
                let (path, body) = (format!("/{id}/rotate"), serde_json::to_value(&body)?);
                let made = send(&remote.human().await?, Method::POST, &path, Some(body)).await?;
                revealed(&made, remote.json)?;
            }
            WebhooksCommand::Remove { id, remote } => {
                let server = remote.human().await?;
                let path = format!("/api/v1/webhooks/{id}");
                let () = server.call(Method::DELETE, &path).await?;
                report(remote.json, &json!({ "removed": id }), &format!("Removed {id}."))?;
            }
            WebhooksCommand::Test { id, remote } => {
                let path = format!("/{id}/test");
                let sent: Value = send(&remote.human().await?, Method::POST, &path, None).await?;
                report(remote.json, &sent, &format!("A test event is on its way to {id}."))?;
            }
            WebhooksCommand::Deliveries { id, dead, remote } => {
                let found = deliveries(&remote.human().await?, id, dead).await?;
                report_table(
                    remote.json,
                    &found,
                    &["ID", "EVENT", "STATUS", "ATTEMPTS", "LAST RESULT"],
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
        eprintln!("{} for {}; shown only once.", made.webhook.id, owner_text(&made.webhook));
    }
    Ok(())
}

/// Changes the fields that are named; the others keep their values.
async fn set(remote: &RemoteArgs, id: WebhookId, change: WebhookChangeArgs) -> anyhow::Result<()> {
    let server = remote.human().await?;
    let path = format!("/{id}");
    let known: WebhookView = send(&server, Method::GET, &path, None).await?;
    let body = WebhookBody {
        agent: known.agent,
        project: known.project,
        url: change.address.unwrap_or(known.url),
        events: if change.event.is_empty() {
            known.events
        } else {
            change.event.into_iter().collect()
        },
        format: change.format.unwrap_or(known.format),
        description: change.description.unwrap_or(known.description),
        enabled: change.enabled.unwrap_or(known.enabled),
    };
    let body = Some(serde_json::to_value(&body)?);
    let saved: WebhookView = send(&server, Method::PUT, &path, body).await?;
    report(remote.json, &saved, "Saved.")
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
    let server = remote.human().await?;
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
        0 => "No delivery failed for good.".to_owned(),
        1 => "1 delivery will be sent again.".to_owned(),
        n => format!("{n} deliveries will be sent again."),
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
        (true, _) => "active",
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
