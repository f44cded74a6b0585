//! `countersign task`: tasks that a person owns and an agent works on, over HACP.
//!
//! | file | commands |
//! |---|---|
//! | `work` | create, assign, start, cancel, interrupt, amend, grant, transfer, delegate |
//! | `decide` | raise, resolve, expire, review, comment |
//! | `artifacts` | commit, artifact get, reference and share |
//! | `ledger` | ledger read, write and history |
//! | `queries` | list, show, inbox |
//! | `timeline` | the history of a task: at a time, as text, and live |

mod artifacts;
mod decide;
mod ledger;
mod queries;
mod timeline;
mod work;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use client::tasks::Operation;
use serde_json::{Map, Value, json};

use super::Exit;
use super::remote::{Remote, Server};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign task create \"Write the release notes\" --criterion \"one page\" --assign agent_dev\n  \
    countersign task inbox\n  \
    countersign task resolve ckpt_… approve --comment \"go ahead\"\n  \
    countersign task review task_… approved\n  \
    countersign task replay task_…\n\n\
    People act with the token in COUNTERSIGN_TOKEN, agents with the key in COUNTERSIGN_API_KEY; \
    `--as` says as whom where both could.")]
pub(super) struct Task {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Subcommand)]
enum TaskCommand {
    /// Write down work; you answer for it
    Create(Box<work::Create>),
    /// List tasks, newest first
    List(queries::List),
    /// Show one task
    Show(queries::Show),
    /// Give a task to an agent
    Assign(work::Assign),
    /// Begin, as the agent it was given to
    Start(work::Start),
    /// Call a task off
    Cancel(work::Cancel),
    /// Stop the agent, and let it wait for you
    Interrupt(work::Interrupt),
    /// Say something the agent takes into account as it works
    Amend(work::Amend),
    /// Allow the agent something, or forbid it
    Grant(work::Grant),
    /// Give a task to somebody else
    Transfer(work::Transfer),
    /// Hand a task down to another agent, as the agent it is with
    Delegate(work::Delegate),
    /// Let a person decide, as the agent it is with
    Raise(Box<decide::Raise>),
    /// Decide at a checkpoint
    Resolve(Box<decide::Resolve>),
    /// Say that nobody will decide
    Expire(decide::Expire),
    /// Deliver a file, as the agent it is with
    Commit(artifacts::Commit),
    /// Judge what was delivered
    Review(Box<decide::Review>),
    /// Add something to a review
    Comment(decide::Comment),
    /// Fetch, use and share what was delivered
    Artifact(artifacts::Artifact),
    /// What a project, a team or the organisation remembers
    Ledger(ledger::Ledger),
    /// Tell the whole story of a task
    Replay(timeline::Replay),
    /// Follow a task until it is over
    Watch(timeline::Watch),
    /// List what waits for you
    Inbox(queries::Inbox),
}

impl Task {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            TaskCommand::Create(create) => create.run().await,
            TaskCommand::List(list) => list.run().await,
            TaskCommand::Show(show) => show.run().await,
            TaskCommand::Assign(assign) => assign.run().await,
            TaskCommand::Start(start) => start.run().await,
            TaskCommand::Cancel(cancel) => cancel.run().await,
            TaskCommand::Interrupt(interrupt) => interrupt.run().await,
            TaskCommand::Amend(amend) => amend.run().await,
            TaskCommand::Grant(grant) => grant.run().await,
            TaskCommand::Transfer(transfer) => transfer.run().await,
            TaskCommand::Delegate(delegate) => delegate.run().await,
            TaskCommand::Raise(raise) => raise.run().await,
            TaskCommand::Resolve(resolve) => resolve.run().await,
            TaskCommand::Expire(expire) => expire.run().await,
            TaskCommand::Commit(commit) => commit.run().await,
            TaskCommand::Review(review) => review.run().await,
            TaskCommand::Comment(comment) => comment.run().await,
            TaskCommand::Artifact(artifact) => artifact.run().await,
            TaskCommand::Ledger(ledger) => ledger.run().await,
            TaskCommand::Replay(replay) => replay.run().await,
            TaskCommand::Watch(watch) => watch.run().await,
            TaskCommand::Inbox(inbox) => inbox.run().await,
        }
    }
}

/// As whom somebody acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    Person,
    Agent,
}

/// Which server, and as whom.
#[derive(Args)]
struct Caller {
    /// As whom: `person` or `agent` [default: whoever does such things]
    #[arg(long = "as", value_name = "WHO", hide_possible_values = true)]
    role: Option<Role>,
    #[command(flatten)]
    remote: Remote,
}

impl Caller {
    /// The server, with the credential of a person, of an agent, or of either.
    fn connect(&self, usual: Option<Role>) -> anyhow::Result<Server> {
        match self.role.or(usual) {
            Some(Role::Person) => self.remote.human(),
            Some(Role::Agent) => self.remote.agent(),
            None => self.remote.anybody(),
        }
    }
}

/// What goes beside the parameters of something that changes a task.
#[derive(Args)]
struct Terms {
    /// Only if the task still has this revision
    #[arg(long, value_name = "REVISION")]
    expecting: Option<u64>,
    /// What a repeated call is known by: under the same key it happens once
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

/// Runs an operation that changes a task, and returns the response.
async fn change(
    server: &Server,
    operation: Operation,
    params: Value,
    terms: Terms,
) -> anyhow::Result<Value> {
    let mut call = server.client.tasks().call(operation, params);
    if let Some(revision) = terms.expecting {
        call = call.expecting(revision);
    }
    if let Some(key) = terms.key {
        call = call.under(key);
    }
    call.await.map_err(server.because())
}

/// Runs a read operation.
async fn look(server: &Server, operation: Operation, params: Value) -> anyhow::Result<Value> {
    server.client.tasks().call(operation, params).await.map_err(server.because())
}

/// The parameters that were given.
fn given<const N: usize>(params: [(&str, Value); N]) -> Value {
    let given = params.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// A list, or null if it is empty.
fn listed(items: &[impl serde::Serialize]) -> Value {
    if items.is_empty() { Value::Null } else { json!(items) }
}

/// Parses a value as JSON, or else takes it as a text.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Splits `NAME=WORDS`. Words without a name are their own name.
fn named(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, text))
}

/// Parses a given JSON object.
fn object(name: &str, text: Option<&str>) -> anyhow::Result<Value> {
    let Some(text) = text else { return Ok(Value::Null) };
    let read: Map<String, Value> =
        serde_json::from_str(text).with_context(|| format!("--{name}: expected a JSON object"))?;
    Ok(Value::Object(read))
}

/// A text in an object, by its path; empty if absent.
fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A sentence about a task after an operation.
fn standing(task: &Value) -> String {
    let (id, state) = (text(task, "/id"), text(task, "/state"));
    let (who, revision) = (text(task, "/ownership/assignee"), &task["revision"]);
    format!("{id} is {}, with {who} (revision {revision}).", state.replace('_', " "))
}
