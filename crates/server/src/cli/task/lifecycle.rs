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
    countersign task create \"Write the release notes\" --criterion \"one page\" \\\n    \
    --deadline 2026-12-01T12:00:00Z --reviewer user_ada --assign agent_dev")]
pub(super) struct TaskCreateArgs {
    /// What is to be reached
    goal: String,
    /// What sort of task
    #[arg(long = "type", value_name = "TEXT", default_value = "task")]
    sort: String,
    /// By what one sees that it was; give it several times
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// Something to work with: an address, or `art_…@VERSION`; give it several times
    #[arg(long, value_name = "WHAT")]
    input: Vec<String>,
    /// How long it may take, such as 2h or PT30M
    #[arg(long, value_name = "DURATION")]
    max_duration: Option<String>,
    /// How much the agent may do by itself
    #[arg(
        long, value_name = "TIER", hide_possible_values = true,
        value_parser = NameParser(&["autonomous", "plan_then_implement", "confirm_each_action", "read_only"]),
    )]
    autonomy: Option<String>,
    /// What the agent may do without asking, such as `fs:/repo:*`; give it several times
    #[arg(long, value_name = "SCOPE")]
    allow: Vec<String>,
    /// What it may not do; give it several times
    #[arg(long, value_name = "SCOPE")]
    deny: Vec<String>,
    /// Who has to judge what is delivered; give it several times
    #[arg(long, value_name = "USER")]
    reviewer: Vec<String>,
    /// How many of them have to approve: all, majority or any
    #[arg(long, value_name = "HOW", requires = "reviewer", value_parser = NameParser(&["all", "majority", "any"]), hide_possible_values = true)]
    quorum: Option<String>,
    /// The task it is part of
    #[arg(long, value_name = "TASK")]
    parent: Option<String>,
    /// Until when it is to be done
    #[arg(long, value_name = "TIME")]
    deadline: Option<String>,
    /// Its agent may hand it down
    #[arg(long)]
    delegable: bool,
    /// The project [default: the one you are at home in]
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// What happens when a checkpoint runs out: `stay_blocked` or cancel
    #[arg(long, value_name = "WHAT", value_parser = NameParser(&["stay_blocked", "cancel"]), hide_possible_values = true)]
    on_expiry: Option<String>,
    /// Give it to this agent at once
    #[arg(long, value_name = "AGENT")]
    assign: Option<String>,
    /// What a repeated call is known by: under the same key it is written down once
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
    /// Give a task to an agent
    #[command(after_help = "Example:\n  countersign task assign task_… agent_dev --input '{\"branch\": \"main\"}'")]
    TaskAssignArgs as Person does TaskAssign {
        /// The agent
        agent: String,
        /// What it is to do it with
        #[arg(long, value_name = "TEXT")]
        capability: Option<String>,
        /// What it is given to begin with: JSON, or a text
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
    /// Begin, as the agent it was given to
    TaskStartArgs as Agent does TaskStart {}
    |this| []
}

on_task! {
    /// Call a task off
    #[command(after_help = "Example:\n  countersign task cancel task_… --reason \"no longer needed\"")]
    TaskCancelArgs as Person does TaskCancel {
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    }
    |this| ["reason" => json!(this.reason)]
}

on_task! {
    /// Stop the agent, and let it wait for you
    #[command(after_help = "Example:\n  countersign task interrupt task_… \"Wait, the customer called\"")]
    TaskInterruptArgs as Person does TaskInterrupt {
        /// What the agent reads
        prompt: String,
    }
    |this| ["prompt" => json!(this.prompt)]
}

on_task! {
    /// Say something the agent takes into account as it works
    #[command(after_help = "Example:\n  countersign task amend task_… \"Only the last release\" --intent constrain")]
    TaskAmendArgs as Person does TaskAmend {
        /// What
        words: String,
        /// To what end: redirect, clarify, constrain or `abort_hint`
        #[arg(
            long, default_value = "clarify", value_name = "INTENT", hide_possible_values = true,
            value_parser = NameParser(&["redirect", "clarify", "constrain", "abort_hint"]),
        )]
        intent: String,
    }
    |this| ["text" => json!(this.words), "intent" => json!(this.intent)]
}

on_task! {
    /// Allow the agent something, or forbid it
    #[command(after_help = "Example:\n  countersign task grant task_… 'fs:/repo:*' --until 2026-12-01T12:00:00Z")]
    TaskGrantArgs as Person does TaskGrant {
        /// What, such as `fs:/repo:*` or `net:*`
        scope: String,
        /// Forbid it; that is also how a grant is taken back
        #[arg(long)]
        deny: bool,
        /// How long: session, task or a moment
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
    /// Give a task to somebody else
    #[command(after_help = "Example:\n  countersign task transfer task_… user_ada")]
    TaskTransferArgs as Person does OwnershipTransfer {
        /// To whom: `user_…` or `agent_…`
        to: String,
    }
    |this| ["to" => json!(this.to)]
}

on_task! {
    /// Hand a task down to another agent, as the agent it is with
    TaskDelegateArgs as Agent does OwnershipDelegate {
        /// The agent
        to: String,
        /// What it is to do it with
        #[arg(long, value_name = "TEXT")]
        capability: Option<String>,
        /// What it is given to begin with: JSON, or a text
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
    }
    |this| [
        "to_agent" => json!(this.to),
        "capability" => json!(this.capability),
        "input" => task_input(this.input.as_ref()),
    ]
}
