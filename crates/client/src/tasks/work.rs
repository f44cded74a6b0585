//! Tasks, checkpoints and ownership: what is wanted of work, and who it is with.

use dialects::hacp::Operation;
use dialects::hacp::wire::{Checkpoint, Ownership, Task};
use serde_json::{Value, json};

use super::{Calling, Listing, Tasks};

impl Tasks {
    /// A person writes down work of some sort, and answers for it from then on. Say more with
    /// `acceptance_criteria`, `inputs`, `constraints`, `review_policy`, `parent_task`, `deadline`,
    /// `delegable`, `project` and `on_expiry`.
    pub fn create(&self, sort: &str, goal: &str) -> Calling<Task> {
        self.calling(Operation::TaskCreate, json!({ "type": sort, "goal": goal }))
    }

    /// The principal gives it to an agent, whose runtime is told to begin. Say more with `capability`
    /// and `input`.
    pub fn assign(&self, task: &str, agent: &str) -> Calling<Task> {
        self.calling(Operation::TaskAssign, json!({ "task_id": task, "agent_id": agent }))
    }

    /// The agent begins.
    pub fn start(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskStart, json!({ "task_id": task }))
    }

    /// The principal calls it off. Say why with `reason`.
    pub fn cancel(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskCancel, json!({ "task_id": task }))
    }

    /// The principal stops the agent; it waits at the checkpoint that comes back.
    pub fn interrupt(&self, task: &str, prompt: &str) -> Calling<Checkpoint> {
        self.calling(Operation::TaskInterrupt, json!({ "task_id": task, "prompt": prompt }))
    }

    /// The principal says something the agent takes into account as it works. Say to what end with
    /// `intent`: `redirect`, `clarify`, `constrain` or `abort_hint`.
    pub fn amend(&self, task: &str, text: &str) -> Calling<Task> {
        self.calling(Operation::TaskAmend, json!({ "task_id": task, "text": text }))
    }

    /// Allows something, such as `fs:/repo:*`, or forbids it. Say how long with `until`.
    pub fn grant(&self, task: &str, scope: &str, allow: bool) -> Calling<Task> {
        let decision = if allow { "allow" } else { "deny" };
        let params = json!({ "task_id": task, "scope": scope, "decision": decision });
        self.calling(Operation::TaskGrant, params)
    }

    /// One task as it is now.
    pub fn get(&self, task: &str) -> Calling<Task> {
        self.calling(Operation::TaskGet, json!({ "task_id": task }))
    }

    /// Tasks, newest first. Narrow it with `state`, `principal`, `assignee`, `project` and
    /// `parent_task`.
    pub fn list(&self) -> Listing<Task> {
        self.listing(Operation::TaskList, json!({}))
    }

    /// A person has to decide before the agent goes on: `approval`, `choice`, `input` or
    /// `escalation`. Say more with `options`, `context`, `proposed_actions`, `expires_at` and
    /// `priority`.
    pub fn raise(&self, task: &str, kind: &str, prompt: &str) -> Calling<Checkpoint> {
        let params = json!({ "task_id": task, "kind": kind, "prompt": prompt });
        self.calling(Operation::CheckpointRaise, params)
    }

    /// A person decides: `approve`, `reject`, `choose`, `provide` or `reassign`. Say more with
    /// `choice`, `input`, `reassign_to`, `comment`, `approved_actions`, `denied_actions`,
    /// `state_patch` and `edited_artifact_ref`.
    pub fn resolve(&self, checkpoint: &str, action: &str) -> Calling<Checkpoint> {
        let params = json!({ "ckpt_id": checkpoint, "action": action });
        self.calling(Operation::CheckpointResolve, params)
    }

    /// Nobody will decide.
    pub fn expire(&self, checkpoint: &str) -> Calling<Checkpoint> {
        self.calling(Operation::CheckpointExpire, json!({ "ckpt_id": checkpoint }))
    }

    /// It goes to another person or agent, `user_…` or `agent_…`.
    pub fn transfer(&self, task: &str, to: &str) -> Calling<Ownership> {
        self.calling(Operation::OwnershipTransfer, json!({ "task_id": task, "to": to }))
    }

    /// Its agent hands it down, if the task is delegable. Say more with `capability` and `input`.
    pub fn delegate(&self, task: &str, to: &str) -> Calling<Ownership> {
        self.calling(Operation::OwnershipDelegate, json!({ "task_id": task, "to_agent": to }))
    }

    /// What waits for the person who calls.
    pub fn inbox(&self) -> Listing<super::InboxItem> {
        self.listing(Operation::HumanInbox, json!({}))
    }

    /// What runtimes have not confirmed, of a task or of the agent who calls.
    pub fn outbox(&self, task: Option<&str>) -> Listing<super::AdapterOutboxRecord> {
        let params = task.map_or_else(|| json!({}), |task| json!({ "task_id": task }));
        self.listing(Operation::PendingOutbox, params)
    }

    /// Which versions of the protocol are spoken.
    pub async fn version(&self) -> crate::Result<Value> {
        self.client.call(reqwest::Method::GET, "/hacp/v1/version", None::<&()>).await
    }

    /// The JSON Schema of an object, such as `Task`.
    pub async fn schema(&self, name: &str) -> crate::Result<Value> {
        let path = format!("/hacp/v1/schemas/{name}");
        self.client.call(reqwest::Method::GET, &path, None::<&()>).await
    }
}
