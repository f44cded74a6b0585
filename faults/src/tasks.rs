//! A task over HACP, step by step: the requests and their effects. The caller sends them.

use serde_json::{Value, json};

use crate::client::{AGENT, OWNER};

/// The operations of a task, and who calls them.
pub const STEPS: [(&str, &str); 7] = [
    ("task.create", OWNER),
    ("task.assign", OWNER),
    ("task.start", AGENT),
    ("checkpoint.raise", AGENT),
    ("checkpoint.resolve", OWNER),
    ("artifact.commit", AGENT),
    ("review.submit", OWNER),
];

/// The actions in the audit log of a task after all steps, in order.
pub const ACTIONS: [&str; 8] = [
    "task.created",
    "task.assigned",
    "task.started",
    "task.checkpoint.raised",
    "task.checkpoint.resolved",
    "artifact.committed",
    "review.submitted",
    "task.completed",
];

/// The client's state of a task.
#[derive(Debug, Clone, Default)]
pub struct DrivenTask {
    /// Its goal, and the prefix of its idempotency keys.
    pub name: String,
    /// The id of the task, after it was acknowledged.
    pub task: Value,
    checkpoint: Value,
    /// The number of acknowledged steps.
    pub done: usize,
}

impl DrivenTask {
    /// A task that does not exist yet.
    pub fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// The next call: its path, its credential, and its body. `None` after the last step. A
    /// repeated call has the same idempotency key.
    pub fn next(&self) -> Option<(String, &'static str, Value)> {
        let (operation, credential) = *STEPS.get(self.done)?;
        let key = format!("{}/{operation}", self.name);
        let body = json!({ "params": self.params(operation), "idempotency_key": key });
        Some((format!("/hacp/v1/ops/{operation}"), credential, body))
    }

    /// Records the acknowledgement of the next call. Returns its action in the audit log.
    pub fn acknowledged(&mut self, said: &Value) -> Option<&'static str> {
        let action = *ACTIONS.get(self.done)?;
        let id = || said.get("id").cloned().unwrap_or_default();
        match action {
            "task.created" => self.task = id(),
            "task.checkpoint.raised" => self.checkpoint = id(),
            _ => {}
        }
        self.done += 1;
        Some(action)
    }

    fn params(&self, operation: &str) -> Value {
        let task = &self.task;
        match operation {
            "task.create" => json!({ "type": "work", "spec": { "goal": self.name } }),
            "task.assign" => json!({ "task_id": task, "agent_id": "agent_dev" }),
            "checkpoint.raise" => {
                json!({ "task_id": task, "kind": "approval", "prompt": "May I?" })
            }
            "checkpoint.resolve" => json!({ "ckpt_id": self.checkpoint, "action": "approve" }),
            "artifact.commit" => json!({ "task_id": task, "type": "note",
                "payload": { "kind": "inline", "content": self.name } }),
            "review.submit" => json!({ "task_id": task, "verdict": "approved" }),
            _ => json!({ "task_id": task }),
        }
    }
}
