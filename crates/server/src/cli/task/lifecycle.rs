//! Creating tasks, and changing their specification and assignee.

use clap::Args;
use client::tasks::Operation;
use serde_json::{Value, json};

use super::{
    ChangeArgs, TaskCallerArgs, TaskCallerRole, change, given_params, listed, state_sentence, text,
    value,
};
use crate::cli::Exit;
use crate::cli::output::report;
use crate::name_spelling::NameParser;

#[derive(Args)]
#[command(after_help = "Example:\n  \
    countersign tasks create \"Write the release notes\" --criterion \"one page\" \\\n    \
    --deadline 2026-12-01T12:00:00Z --reviewer user_ada --assign agent_dev")]
pub(super) struct TaskCreateArgs {
    /// The goal
    goal: String,
    /// The type of the task
    #[arg(long = "type", value_name = "TEXT", default_value = "task")]
    sort: String,
    /// An acceptance criterion; repeat it for several
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// An input: an address, or `art_…@VERSION`; repeat it for several
    #[arg(long, value_name = "WHAT")]
    input: Vec<String>,
    /// The time limit, such as 2h or PT30M
    #[arg(long, value_name = "DURATION")]
    max_duration: Option<String>,
    /// How much the agent may do without asking
    #[arg(
        long, value_name = "TIER", hide_possible_values = true,
        value_parser = NameParser(&["autonomous", "plan_then_implement", "confirm_each_action", "read_only"]),
    )]
    autonomy: Option<String>,
    /// A scope that the agent may use without asking, such as `fs:/repo:*`; repeat it for several
    #[arg(long, value_name = "SCOPE")]
    allow: Vec<String>,
    /// A scope that the agent must not use; repeat it for several
    #[arg(long, value_name = "SCOPE")]
    deny: Vec<String>,
    /// A person who reviews the delivery; repeat it for several
    #[arg(long, value_name = "USER")]
    reviewer: Vec<String>,
    /// How many reviewers must approve: all, majority or any
    #[arg(long, value_name = "HOW", requires = "reviewer", value_parser = NameParser(&["all", "majority", "any"]), hide_possible_values = true)]
    quorum: Option<String>,
    /// The parent task
    #[arg(long, value_name = "TASK")]
    parent: Option<String>,
    /// The deadline
    #[arg(long, value_name = "TIME")]
    deadline: Option<String>,
    /// Let the agent delegate the task
    #[arg(long)]
    delegable: bool,
    /// The project [default: your first project]
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// What happens when a checkpoint expires: `stay_blocked` or cancel
    #[arg(long, value_name = "WHAT", value_parser = NameParser(&["stay_blocked", "cancel"]), hide_possible_values = true)]
    on_expiry: Option<String>,
    /// Assign it to this agent immediately
    #[arg(long, value_name = "AGENT")]
    assign: Option<String>,
    /// Idempotency key: repeating the command with the same key creates no second task
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskCreateArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        let terms = ChangeArgs { expecting: None, key: self.key.clone() };
        let mut task = change(&server, Operation::TaskCreate, self.params(), terms).await?;
        if let Some(agent) = &self.assign {
            let params = json!({ "task_id": text(&task, "/id"), "agent_id": agent });
            let terms = ChangeArgs { expecting: None, key: self.key.clone() };
            task = change(&server, Operation::TaskAssign, params, terms).await?;
        }
        report(self.caller.remote.json, &task, &state_sentence(&task))?;
        Ok(Exit::Done)
    }

    fn params(&self) -> Value {
        let grant = |scope: &String, decision| json!({ "scope": scope, "decision": decision });
        let grants = self.allow.iter().map(|scope| grant(scope, "allow"));
        let grants: Vec<Value> =
            grants.chain(self.deny.iter().map(|scope| grant(scope, "deny"))).collect();
        let inputs: Vec<Value> = self.input.iter().map(|one| input(one)).collect();
        let constraints = given_params([
            ("max_duration", json!(self.max_duration)),
            ("autonomy", json!(self.autonomy)),
            ("grants", listed(&grants)),
        ]);
        let policy = (!self.reviewer.is_empty()).then(|| {
            given_params([
                ("required_reviewers", json!(self.reviewer)),
                ("quorum", json!(self.quorum)),
            ])
        });
        given_params([
            ("type", json!(self.sort)),
            ("goal", json!(self.goal)),
            ("acceptance_criteria", listed(&self.criterion)),
            ("inputs", listed(&inputs)),
            ("constraints", constraints),
            ("review_policy", json!(policy)),
            ("parent_task", json!(self.parent)),
            ("deadline", json!(self.deadline)),
            ("delegable", if self.delegable { json!(true) } else { Value::Null }),
            ("project", json!(self.project)),
            ("on_expiry", json!(self.on_expiry)),
        ])
    }
}

/// An artifact version, or a resource by its URL.
fn input(text: &str) -> Value {
    match text.split_once('@').filter(|(id, _)| id.starts_with("art_")) {
        Some((id, version)) => json!({ "kind": "artifact", "id": id, "version": version }),
        None => json!({ "kind": "resource", "uri": text }),
    }
}

/// Defines a command that runs one operation on a task.
macro_rules! on_task {
    (
        $(#[$attr:meta])* $name:ident as $role:ident does $operation:ident
        { $($(#[$field_attr:meta])* $field:ident : $type:ty),* $(,)? }
        |$this:ident| [$($key:literal => $given:expr),* $(,)?]
    ) => {
        #[derive(Args)]
        $(#[$attr])*
        pub(super) struct $name {
            /// The task
            task: String,
            $($(#[$field_attr])* $field: $type,)*
            #[command(flatten)]
            terms: ChangeArgs,
            #[command(flatten)]
            caller: TaskCallerArgs,
        }

        impl $name {
            pub(super) async fn run(self) -> anyhow::Result<Exit> {
                let server = self.caller.connect(Some(TaskCallerRole::$role)).await?;
                let $this = &self;
                let params = given_params([("task_id", json!($this.task)), $(($key, $given)),*]);
                let done = change(&server, Operation::$operation, params, self.terms).await?;
                report(self.caller.remote.json, &done, &sentence(Operation::$operation, &done))?;
                Ok(Exit::Done)
            }
        }
    };
}

/// The result of an operation as a sentence.
fn sentence(operation: Operation, done: &Value) -> String {
    match operation {
        Operation::TaskInterrupt => {
            let (task, id) = (text(done, "/task_id"), text(done, "/id"));
            format!("{task} waits for you at {id}.")
        }
        Operation::OwnershipTransfer | Operation::OwnershipDelegate => {
            let (task, who) = (text(done, "/task_id"), text(done, "/assignee"));
            format!("{task} is with {who}.")
        }
        _ => state_sentence(done),
    }
}

/// The input given with a task.
fn task_input(input: Option<&String>) -> Value {
    input.map_or(Value::Null, |input| value(input))
}

on_task! {
    /// Assign a task to an agent
    #[command(after_help = "Example:\n  countersign tasks assign task_… agent_dev --input '{\"branch\": \"main\"}'")]
    TaskAssignArgs as Person does TaskAssign {
        /// The agent
        agent: String,
        /// The capability that the agent should use
        #[arg(long, value_name = "TEXT")]
        capability: Option<String>,
        /// The input for the agent: JSON, or a text
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
    }
    |this| [
        "agent_id" => json!(this.agent),
        "capability" => json!(this.capability),
        "input" => task_input(this.input.as_ref()),
    ]
}

on_task! {
    /// Start a task, as its agent
    TaskStartArgs as Agent does TaskStart {}
    |this| []
}

on_task! {
    /// Cancel a task
    #[command(after_help = "Example:\n  countersign tasks cancel task_… --reason \"no longer needed\"")]
    TaskCancelArgs as Person does TaskCancel {
        /// The reason
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    }
    |this| ["reason" => json!(this.reason)]
}

on_task! {
    /// Stop the agent until you decide
    #[command(after_help = "Example:\n  countersign tasks interrupt task_… \"Wait, the customer called\"")]
    TaskInterruptArgs as Person does TaskInterrupt {
        /// The message for the agent
        prompt: String,
    }
    |this| ["prompt" => json!(this.prompt)]
}

on_task! {
    /// Add an instruction while the agent works
    #[command(after_help = "Example:\n  countersign tasks amend task_… \"Only the last release\" --intent constrain")]
    TaskAmendArgs as Person does TaskAmend {
        /// The instruction
        #[arg(value_name = "TEXT")]
        words: String,
        /// The intent: redirect, clarify, constrain or `abort_hint`
        #[arg(
            long, default_value = "clarify", value_name = "INTENT", hide_possible_values = true,
            value_parser = NameParser(&["redirect", "clarify", "constrain", "abort_hint"]),
        )]
        intent: String,
    }
    |this| ["text" => json!(this.words), "intent" => json!(this.intent)]
}

on_task! {
    /// Allow the agent a scope, or forbid it
    #[command(after_help = "Example:\n  countersign tasks grant task_… 'fs:/repo:*' --until 2026-12-01T12:00:00Z")]
    TaskGrantArgs as Person does TaskGrant {
        /// The scope, such as `fs:/repo:*` or `net:*`
        scope: String,
        /// Forbid it, which also revokes an earlier grant
        #[arg(long)]
        deny: bool,
        /// How long the grant is valid: session, task or a time such as 2026-12-01T12:00:00Z
        #[arg(long, default_value = "task", value_name = "WHEN")]
        until: String,
    }
    |this| [
        "scope" => json!(this.scope),
        "decision" => json!(if this.deny { "deny" } else { "allow" }),
        "until" => json!(this.until),
    ]
}

on_task! {
    /// Transfer a task to another person or agent
    #[command(after_help = "Example:\n  countersign tasks transfer task_… user_ada")]
    TaskTransferArgs as Person does OwnershipTransfer {
        /// The person or agent: `user_…` or `agent_…`
        to: String,
    }
    |this| ["to" => json!(this.to)]
}

on_task! {
    /// Delegate a task to another agent, as its agent
    TaskDelegateArgs as Agent does OwnershipDelegate {
        /// The agent
        to: String,
        /// The capability that the agent should use
        #[arg(long, value_name = "TEXT")]
        capability: Option<String>,
        /// The input for the agent: JSON, or a text
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
    }
    |this| [
        "to_agent" => json!(this.to),
        "capability" => json!(this.capability),
        "input" => task_input(this.input.as_ref()),
    ]
}
