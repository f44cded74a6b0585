//! `countersign task`: tasks that a person owns and an agent works on, over HACP.
//!
//! | file | commands |
//! |---|---|
//! | `lifecycle` | create, assign, start, cancel, interrupt, amend, grant, transfer, delegate |
//! | `checkpoints` | raise, resolve, expire, review, comment |
//! | `artifacts` | commit, artifact get, reference and share |
//! | `ledger` | ledger read, write and history |
//! | `queries` | list, show, inbox |
//! | `timeline` | the history of a task: at a time, as text, and live |

mod artifacts;
mod checkpoints;
mod ledger;
mod lifecycle;
mod queries;
mod timeline;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use client::tasks::Operation;
use serde_json::{Map, Value, json};

use super::Exit;
use super::remote::{RemoteArgs, RemoteServer};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign tasks create \"Write the release notes\" --criterion \"one page\" --assign agent_dev\n  \
    countersign tasks inbox\n  \
    countersign tasks resolve ckpt_… approve --comment \"go ahead\"\n  \
    countersign tasks review task_… approved\n  \
    countersign tasks replay task_…\n\n\
    People act with their sign-in (`countersign login`) or the token in COUNTERSIGN_TOKEN, agents \
    with the key in COUNTERSIGN_API_KEY. `--as` chooses if both are there.")]
pub(super) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCliCommand,
}

#[derive(Subcommand)]
enum TaskCliCommand {
    /// Create a task that you own
    Create(Box<lifecycle::TaskCreateArgs>),
    /// List tasks, newest first
    List(queries::TaskListArgs),
    /// Show one task
    Show(queries::TaskShowArgs),
    /// Assign a task to an agent
    Assign(lifecycle::TaskAssignArgs),
    /// Start a task, as its agent
    Start(lifecycle::TaskStartArgs),
    /// Cancel a task
    Cancel(lifecycle::TaskCancelArgs),
    /// Stop the agent until you decide
    Interrupt(lifecycle::TaskInterruptArgs),
    /// Add an instruction while the agent works
    Amend(lifecycle::TaskAmendArgs),
    /// Allow the agent a scope, or forbid it
    Grant(lifecycle::TaskGrantArgs),
    /// Transfer a task to another person or agent
    Transfer(lifecycle::TaskTransferArgs),
    /// Delegate a task to another agent, as its agent
    Delegate(lifecycle::TaskDelegateArgs),
    /// Ask a person for a decision (checkpoint), as its agent
    Raise(Box<checkpoints::CheckpointRaiseArgs>),
    /// Decide at a checkpoint
    Resolve(Box<checkpoints::CheckpointResolveArgs>),
    /// Close a checkpoint without a decision
    Expire(checkpoints::CheckpointExpireArgs),
    /// Deliver a file, as its agent
    Commit(artifacts::ArtifactCommitArgs),
    /// Review a delivery
    Review(Box<checkpoints::ReviewArgs>),
    /// Add a comment to a review
    Comment(checkpoints::ReviewCommentArgs),
    /// Fetch, reference and share artifacts
    Artifact(artifacts::ArtifactArgs),
    /// Shared values of a project, a team or the organisation
    Ledger(ledger::LedgerArgs),
    /// Show the history of a task
    Replay(timeline::TaskReplayArgs),
    /// Follow a task until it is closed
    Watch(timeline::TaskWatchArgs),
    /// List the tasks and checkpoints that wait for you
    Inbox(queries::TaskInboxArgs),
}

impl TaskArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            TaskCliCommand::Create(create) => create.run().await,
            TaskCliCommand::List(list) => list.run().await,
            TaskCliCommand::Show(show) => show.run().await,
            TaskCliCommand::Assign(assign) => assign.run().await,
            TaskCliCommand::Start(start) => start.run().await,
            TaskCliCommand::Cancel(cancel) => cancel.run().await,
            TaskCliCommand::Interrupt(interrupt) => interrupt.run().await,
            TaskCliCommand::Amend(amend) => amend.run().await,
            TaskCliCommand::Grant(grant) => grant.run().await,
            TaskCliCommand::Transfer(transfer) => transfer.run().await,
            TaskCliCommand::Delegate(delegate) => delegate.run().await,
            TaskCliCommand::Raise(raise) => raise.run().await,
            TaskCliCommand::Resolve(resolve) => resolve.run().await,
            TaskCliCommand::Expire(expire) => expire.run().await,
            TaskCliCommand::Commit(commit) => commit.run().await,
            TaskCliCommand::Review(review) => review.run().await,
            TaskCliCommand::Comment(comment) => comment.run().await,
            TaskCliCommand::Artifact(artifact) => artifact.run().await,
            TaskCliCommand::Ledger(ledger) => ledger.run().await,
            TaskCliCommand::Replay(replay) => replay.run().await,
            TaskCliCommand::Watch(watch) => watch.run().await,
            TaskCliCommand::Inbox(inbox) => inbox.run().await,
        }
    }
}

/// The role in which a command acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TaskCallerRole {
    Person,
    Agent,
}

/// The server, and the role.
#[derive(Args)]
struct TaskCallerArgs {
    /// Act as `person` or `agent` [default: the one who may do this]
    #[arg(long = "as", value_name = "WHO", hide_possible_values = true)]
    role: Option<TaskCallerRole>,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl TaskCallerArgs {
    /// The server, with the credential of a person, of an agent, or of either.
    async fn connect(&self, usual: Option<TaskCallerRole>) -> anyhow::Result<RemoteServer> {
        match self.role.or(usual) {
            Some(TaskCallerRole::Person) => self.remote.human().await,
            Some(TaskCallerRole::Agent) => self.remote.agent().await,
            None => self.remote.human_or_agent().await,
        }
    }
}

/// The arguments of a change to a task, beside its parameters.
#[derive(Args)]
struct ChangeArgs {
    /// Only if the task still has this revision
    #[arg(long, value_name = "REVISION")]
    expecting: Option<u64>,
    /// Idempotency key: repeating the command with the same key has no further effect
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

/// Runs an operation that changes a task, and returns the response.
async fn change(
    server: &RemoteServer,
    operation: Operation,
    params: Value,
    terms: ChangeArgs,
) -> anyhow::Result<Value> {
    let mut call = server.client.tasks().call(operation, params);
    if let Some(revision) = terms.expecting {
        call = call.expecting(revision);
    }
    if let Some(key) = terms.key {
        call = call.under(key);
    }
    call.await.map_err(server.with_advice())
}

/// Runs a read operation.
async fn read_operation(
    server: &RemoteServer,
    operation: Operation,
    params: Value,
) -> anyhow::Result<Value> {
    server.client.tasks().call(operation, params).await.map_err(server.with_advice())
}

/// The parameters that were given.
fn given_params<const N: usize>(params: [(&str, Value); N]) -> Value {
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
fn state_sentence(task: &Value) -> String {
    let (id, state) = (text(task, "/id"), text(task, "/state"));
    let (who, revision) = (text(task, "/ownership/assignee"), &task["revision"]);
    format!("{id} is {}, with {who} (revision {revision}).", state.replace('_', " "))
}
