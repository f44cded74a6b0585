//! Tasks, checkpoints and ownership.

use dialects::hacp::Operation;
use dialects::hacp::wire::{Checkpoint, Ownership, Task};
use serde_json::{Value, json};

use super::{Calling, Listing, Tasks};

impl Tasks {
    /// A person creates a task of this type and becomes its principal. Optional:
    /// `acceptance_criteria`, `inputs`, `constraints`, `review_policy`, `parent_task`, `deadline`,
    /// `delegable`, `project` and `on_expiry`.
    pub fn create(&self, sort: &str, goal: &str) -> Calling<Task> {
        self.calling(Operation::TaskCreate, json!({ "type": sort, "goal": goal }))
    }

    /// The principal assigns the task to an agent, whose runtime receives a start
    /// operation. Optional: `capability` and `input`.
    pub fn assign(&self, task: &str, agent: &str) -> Calling<Task> {
        self.calling(Operation::TaskAssign, json!({ "task_id": task, "agent_id": agent }))
    }

    /// The agent starts the task.
    pub fn start(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskStart, json!({ "task_id": task }))
    }

    /// The principal cancels the task. Optional: `reason`.
    pub fn cancel(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskCancel, json!({ "task_id": task }))
    }

    /// The principal interrupts the agent, which waits at the returned checkpoint.
    pub fn interrupt(&self, task: &str, prompt: &str) -> Calling<Checkpoint> {
        self.calling(Operation::TaskInterrupt, json!({ "task_id": task, "prompt": prompt }))
    }

    /// The principal sends the agent an amendment while it works. Optional: `intent`, which is
    /// `redirect`, `clarify`, `constrain` or `abort_hint`.
    pub fn amend(&self, task: &str, text: &str) -> Calling<Task> {
        self.calling(Operation::TaskAmend, json!({ "task_id": task, "text": text }))
    }

    /// Allows or denies actions, such as `fs:/repo:*`. Optional: `until`.
    pub fn grant(&self, task: &str, scope: &str, allow: bool) -> Calling<Task> {
        let decision = if allow { "allow" } else { "deny" };
        let params = json!({ "task_id": task, "scope": scope, "decision": decision });
        self.calling(Operation::TaskGrant, params)
    }

    /// A task in its current state.
    pub fn get(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskGet, json!({ "task_id": task }))
    }

    /// Tasks, newest first. Filter them with `state`, `principal`, `assignee`, `project` and
    /// `parent_task`.
    pub fn list(&self) -> Listing<Task> {
        self.listing(Operation::TaskList, json!({}))
    }

    /// The agent asks a person to decide before it continues: `approval`, `choice`, `input` or
    /// `escalation`. Optional: `options`, `context`, `proposed_actions`, `expires_at` and
    /// `priority`.
    pub fn raise(&self, task: &str, kind: &str, prompt: &str) -> Calling<Checkpoint> {
        let params = json!({ "task_id": task, "kind": kind, "prompt": prompt });
        self.calling(Operation::CheckpointRaise, params)
    }

    /// A person decides: `approve`, `reject`, `choose`, `provide` or `reassign`. Optional:
    /// `choice`, `input`, `reassign_to`, `comment`, `approved_actions`, `denied_actions`,
    /// `state_patch` and `edited_artifact_ref`.
    pub fn resolve(&self, checkpoint: &str, action: &str) -> Calling<Checkpoint> {
        let params = json!({ "ckpt_id": checkpoint, "action": action });
        self.calling(Operation::CheckpointResolve, params)
    }

    /// Expires a checkpoint without a decision.
    pub fn expire(&self, checkpoint: &str) -> Calling<Checkpoint> {
        self.calling(Operation::CheckpointExpire, json!({ "ckpt_id": checkpoint }))
    }

    /// Transfers the task to another person or agent, `user_…` or `agent_…`.
    pub fn transfer(&self, task: &str, to: &str) -> Calling<Ownership> {
        self.calling(Operation::OwnershipTransfer, json!({ "task_id": task, "to": to }))
    }

    /// The task's agent delegates it, if the task is delegable. Optional: `capability` and `input`.
    pub fn delegate(&self, task: &str, to: &str) -> Calling<Ownership> {
        self.calling(Operation::OwnershipDelegate, json!({ "task_id": task, "to_agent": to }))
    }

    /// The open items of the calling person.
    pub fn inbox(&self) -> Listing<super::InboxItem> {
        self.listing(Operation::HumanInbox, json!({}))
    }

    /// The unconfirmed operations of a task, or of the calling agent.
    pub fn outbox(&self, task: Option<&str>) -> Listing<super::AdapterOutboxRecord> {
        let params = task.map_or_else(|| json!({}), |task| json!({ "task_id": task }));
        self.listing(Operation::PendingOutbox, params)
    }

    /// The supported versions of the protocol.
    pub async fn version(&self) -> crate::Result<Value> {
        self.client.call(reqwest::Method::GET, "/hacp/v1/version", None::<&()>).await
    }

    /// The JSON Schema of an object, such as `Task`.
    pub async fn schema(&self, name: &str) -> crate::Result<Value> {
        let path = format!("/hacp/v1/schemas/{name}");
        self.client.call(reqwest::Method::GET, &path, None::<&()>).await
    }
}
