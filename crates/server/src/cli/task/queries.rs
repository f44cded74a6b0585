//! Tasks, and the requests that wait for a person.

use clap::Args;
use client::tasks::Operation;
use kernel::text::reveal;
use serde_json::{Value, json};

use super::{TaskCallerArgs, TaskCallerRole, given_params, read_operation, text};
use crate::cli::Exit;
use crate::cli::output::{say, table};

#[derive(Args)]
#[command(after_help = "Example:\n  countersign tasks list --state blocked --assignee agent_dev")]
pub(super) struct TaskListArgs {
    /// Only tasks in this state, such as `in_progress`
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only tasks of this person or agent
    #[arg(long, value_name = "WHO")]
    assignee: Option<String>,
    /// Only tasks that this person owns
    #[arg(long, value_name = "USER")]
    principal: Option<String>,
    /// Only tasks of this project
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Only subtasks of this task
    #[arg(long, value_name = "TASK")]
    parent: Option<String>,
    /// List at most this many
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskListArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None).await?;
        let (mut tasks, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
        loop {
            let wanted = self.limit.saturating_sub(tasks.len()).clamp(1, 1000);
            let params = given_params([
                ("state", json!(self.state)),
                ("assignee", json!(self.assignee)),
                ("principal", json!(self.principal)),
                ("project", json!(self.project)),
                ("parent_task", json!(self.parent)),
                ("limit", json!(wanted)),
                ("cursor", json!(cursor)),
            ]);
            let call = server.client.tasks().list_of(Operation::TaskList, params);
            let page = call.await.map_err(server.with_advice())?;
            tasks.extend(page.items);
            cursor = page.next;
            if cursor.is_none() || tasks.len() >= self.limit {
                break;
            }
        }
        tasks.truncate(self.limit);
        if self.caller.remote.json {
            say!("{}", json!(tasks));
        } else if tasks.is_empty() {
            say!("No tasks.");
        } else {
            let rows: Vec<Vec<String>> = tasks.iter().map(row).collect();
            table(&["ID", "STATE", "WITH", "GOAL"], &rows);
        }
        Ok(Exit::Done)
    }
}

fn row(task: &Value) -> Vec<String> {
    let goal = reveal(text(task, "/spec/goal")).replace('\n', " ⏎ ");
    vec![
        text(task, "/id").to_owned(),
        text(task, "/state").replace('_', " "),
        text(task, "/ownership/assignee").to_owned(),
        goal.chars().take(60).collect(),
    ]
}

#[derive(Args)]
pub(super) struct TaskShowArgs {
    /// The task
    task: String,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskShowArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None).await?;
        let task =
            read_operation(&server, Operation::TaskGet, json!({ "task_id": self.task })).await?;
        if self.caller.remote.json {
            say!("{task}");
        } else {
            for line in shown(&task) {
                say!("{line}");
            }
        }
        Ok(Exit::Done)
    }
}

/// The lines that describe a task.
fn shown(task: &Value) -> Vec<String> {
    let each =
        |pointer: &str| task.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let goal = reveal(task.pointer("/spec/goal").and_then(Value::as_str).unwrap_or("(erased)"));
    let mut lines = vec![goal];
    for criterion in each("/spec/acceptance_criteria") {
        lines.push(format!("  - {}", reveal(criterion.as_str().unwrap_or_default())));
    }
    let mut fact = |name: &str, said: &str| {
        if !said.is_empty() {
            lines.push(format!("{name:<10} {said}"));
        }
    };
    fact("task", text(task, "/id"));
    fact("state", &text(task, "/state").replace('_', " "));
    fact("for", text(task, "/ownership/principal"));
    fact("with", text(task, "/ownership/assignee"));
    fact("project", text(task, "/project"));
    fact("part of", text(task, "/parent_task"));
    fact("created", text(task, "/created_at"));
    fact("due", text(task, "/due_at"));
    fact("revision", &task["revision"].to_string());
    for version in each("/deliveries") {
        let (id, name) = (text(version, "/id"), text(version, "/version"));
        lines.push(format!("delivered  {id} {name}"));
    }
    for review in each("/reviews") {
        let verdict = text(review, "/verdict").replace('_', " ");
        let (who, id) = (text(review, "/reviewer"), text(review, "/id"));
        lines.push(format!("review     {verdict}, by {who} ({id})"));
    }
    if let Some(waits) = each("/checkpoints").last().filter(|_| text(task, "/state") == "blocked") {
        lines.push(format!("waits at   {}", waits.as_str().unwrap_or_default()));
    }
    lines
}

#[derive(Args)]
#[command(after_help = "Decide with `countersign tasks resolve` and `countersign tasks review`.")]
pub(super) struct TaskInboxArgs {
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskInboxArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        let (mut items, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
        loop {
            let params = given_params([("cursor", json!(cursor))]);
            let call = server.client.tasks().list_of(Operation::HumanInbox, params);
            let page = call.await.map_err(server.with_advice())?;
            items.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        if self.caller.remote.json {
            say!("{}", json!(items));
            return Ok(Exit::Done);
        }
        if items.is_empty() {
            say!("All caught up: no task waits for you.");
        }
        for item in &items {
            let prompt = item.pointer("/prompt").and_then(Value::as_str).unwrap_or("(erased)");
            say!("{}", reveal(prompt).replace('\n', " ⏎ "));
            let (task, who) = (text(item, "/task_id"), text(item, "/agent_id"));
            let since = text(item, "/since");
            let how = if text(item, "/kind") == "submit_review" {
                let version = text(item, "/artifact_version");
                let made = text(item, "/artifact_id");
                format!("review {made} {version}: countersign tasks review {task} VERDICT")
            } else {
                let id = text(item, "/checkpoint_id");
                format!("decide: countersign tasks resolve {id} ACTION")
            };
            say!("  {task} · {who} · {since}\n  {how}\n");
        }
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_shown_line_by_line() {
        let task = json!({
            "id": "task_1", "state": "under_review", "revision": 7, "project": "dev",
            "parent_task": null, "created_at": "2026-11-16T09:00:00.000Z", "due_at": null,
            "spec": { "goal": "Write it", "acceptance_criteria": ["short", "true"] },
            "ownership": { "principal": "user_ada", "assignee": "user_ada" },
            "deliveries": [{ "id": "art_1", "version": "v1" }],
            "reviews": [{ "id": "rev_1", "verdict": "changes_requested", "reviewer": "user_ada" }],
            "checkpoints": ["ckpt_1"],
        });
        insta::assert_snapshot!(shown(&task).join("\n"), @r"
        Write it
          - short
          - true
        task       task_1
        state      under review
        for        user_ada
        with       user_ada
        project    dev
        created    2026-11-16T09:00:00.000Z
        revision   7
        delivered  art_1 v1
        review     changes requested, by user_ada (rev_1)
        ");
    }
}
