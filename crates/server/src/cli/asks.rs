//! `countersign asks`: requests to people. The short commands for one request are in `requests`.

use clap::{Args, Subcommand};
use client::Ask;
use kernel::text::reveal;
use kernel::{AgentId, HumanId, ProjectId, Time};
use reqwest::Method;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::Exit;
use super::answer::AnswerArgs;
use super::ask::AskArgs;
use super::export::HistoryExportArgs;
use super::open::OpenArgs;
use super::output::report_table;
use super::remote::RemoteArgs;
use super::render::DetailLevel;
use super::requests::{CallbacksArgs, CancelArgs, ShowArgs, WaitArgs, native_id, print};
use crate::name_spelling::NameParser;

/// How many requests one page of a list has.
const PAGE: usize = 100;
/// How much of a prompt the list shows.
const PROMPT_CHARS: usize = 60;

#[derive(Args)]
pub(super) struct AsksArgs {
    #[command(subcommand)]
    command: AsksCommand,
}

#[derive(Subcommand)]
enum AsksCommand {
    /// List requests
    List(AskListArgs),
    /// Show a request
    Show(ShowArgs),
    /// Create a request, like `countersign ask`
    #[command(alias = "add")]
    Create(AskArgs),
    /// Answer a request, like `countersign answer`
    Answer(AnswerArgs),
    /// Wait until a request is closed, like `countersign wait`
    Wait(WaitArgs),
    /// Cancel a request
    Cancel(CancelArgs),
    /// Claim a request: the others see that you work on it
    Claim {
        /// The request, under any prefix: `ask_…`, `hxp_…`
        id: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Assign a request to another person
    Assign {
        /// The request, under any prefix: `ask_…`, `hxp_…`
        id: String,
        /// The person
        to: HumanId,
        /// A note for them, which becomes a comment
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Extend the deadline of a request
    Extend {
        /// The request, under any prefix: `ask_…`, `hxp_…`
        id: String,
        /// The new deadline, later than the current one, such as 2027-01-31T12:00:00Z
        #[arg(long, value_name = "TIME")]
        until: Time,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Add a comment to a request
    Comment {
        /// The request, under any prefix: `ask_…`, `hxp_…`
        id: String,
        /// The comment
        text: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Open the page of a request in the browser, like `countersign open`
    Open(OpenArgs),
    /// Show whether the agent's callback was delivered, and repeat it
    Callbacks(CallbacksArgs),
    /// Export answered requests as CSV or JSON Lines
    Export(HistoryExportArgs),
}

#[derive(Args)]
struct AskListArgs {
    /// Only requests in this state: open, waiting, engaged, completed, expired, cancelled, failed or
    /// all; repeat it for several [default: open]
    #[arg(
        long, value_name = "STATE", hide_possible_values = true,
        value_parser = NameParser(&[
            "open", "waiting", "engaged", "completed", "expired", "cancelled", "failed", "all",
        ]),
    )]
    state: Vec<String>,
    /// Only requests of this kind: approve, choose, provide, confirm, escalate or converse; repeat it
    /// for several
    #[arg(
        long, value_name = "KIND", hide_possible_values = true,
        value_parser = NameParser(&[
            "approve", "choose", "provide", "confirm", "escalate", "converse",
        ]),
    )]
    kind: Vec<String>,
    /// Only requests of this priority: low, normal, high or critical
    #[arg(
        long, value_name = "PRIORITY", hide_possible_values = true,
        value_parser = NameParser(&["low", "normal", "high", "critical"]),
    )]
    priority: Option<String>,
    /// Only requests of this project
    #[arg(long, value_name = "ID")]
    project: Option<ProjectId>,
    /// Only requests of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<AgentId>,
    /// As a person: mine, groups, inbox (both), or all, which for administrators is everything
    /// [default: inbox]
    #[arg(
        long, value_name = "VIEW", hide_possible_values = true,
        value_parser = NameParser(&["mine", "groups", "inbox", "all"]),
    )]
    view: Option<String>,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl AsksArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            AsksCommand::List(list) => list.run().await,
            AsksCommand::Show(show) => show.run().await,
            AsksCommand::Create(ask) => ask.run().await,
            AsksCommand::Answer(answer) => answer.run().await,
            AsksCommand::Wait(wait) => wait.run().await,
            AsksCommand::Cancel(cancel) => cancel.run().await,
            AsksCommand::Claim { id, remote } => act(&remote, &id, "claim", None).await,
            AsksCommand::Assign { id, to, note, remote } => {
                let body = json!({ "to": to, "note": note });
                act(&remote, &id, "assign", Some(body)).await
            }
            AsksCommand::Extend { id, until, remote } => {
                act(&remote, &id, "extend", Some(json!({ "until": until }))).await
            }
            AsksCommand::Comment { id, text, remote } => {
                act(&remote, &id, "comments", Some(json!({ "text": text }))).await
            }
            AsksCommand::Open(open) => open.run(),
            AsksCommand::Callbacks(callbacks) => callbacks.run().await,
            AsksCommand::Export(export) => export.run().await,
        }
    }
}

/// Changes a request as a person, and prints it.
async fn act(
    remote: &RemoteArgs,
    id: &str,
    action: &str,
    body: Option<Value>,
) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let path = format!("/api/v1/asks/{}/{action}", native_id(id));
    let call = server.client.call(Method::POST, &path, body.as_ref());
    let ask: Ask = call.await.map_err(server.with_advice())?;
    print(&ask, remote.json, DetailLevel::Brief)?;
    Ok(Exit::Done)
}

impl AskListArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human_or_agent().await?;
        let mut asks: Vec<Ask> = Vec::new();
        let mut cursor = None;
        while asks.len() < self.limit {
            let path = self.path(cursor.as_deref(), self.limit - asks.len());
            let mut page: Map<String, Value> = server.get(&path).await?;
            let found: Vec<Ask> = serde_json::from_value(page.remove("asks").unwrap_or_default())?;
            asks.extend(found);
            cursor = page.get("next").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        let names = ["ID", "STATE", "KIND", "PRIORITY", "AGENT", "PROMPT"];
        report_table(self.remote.json, &asks, &names, row)?;
        Ok(Exit::Done)
    }

    fn path(&self, cursor: Option<&str>, left: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let limit = left.min(PAGE).to_string();
        query.append_pair("limit", &limit);
        query.extend_pairs(self.state.iter().map(|state| ("state", state)));
        query.extend_pairs(self.kind.iter().map(|kind| ("kind", kind)));
        query.extend_pairs(self.priority.iter().map(|priority| ("priority", priority)));
        query.extend_pairs(self.project.iter().map(|project| ("project", project.as_str())));
        query.extend_pairs(self.agent.iter().map(|agent| ("agent", agent.as_str())));
        query.extend_pairs(self.view.iter().map(|view| ("view", view)));
        query.extend_pairs(cursor.map(|cursor| ("cursor", cursor)));
        format!("/api/v1/asks?{}", query.finish())
    }
}

fn row(ask: &Ask) -> Vec<String> {
    let rest = |name: &str| ask.rest.get(name).and_then(Value::as_str).unwrap_or_default();
    let prompt = ask.question.as_ref().and_then(|question| question["prompt"].as_str());
    let prompt = reveal(prompt.unwrap_or("(erased)")).replace('\n', " ⏎ ");
    let mut shown: String = prompt.chars().take(PROMPT_CHARS).collect();
    if shown.len() < prompt.len() {
        shown.push('…');
    }
    vec![
        ask.id.clone(),
        ask.state.replace('_', " "),
        ask.kind.clone(),
        rest("priority").to_owned(),
        reveal(rest("agent")),
        shown,
    ]
}
