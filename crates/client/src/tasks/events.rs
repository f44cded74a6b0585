//! What happens to tasks, as it happens.

use dialects::hacp::audit::AuditEvent;
use serde::Deserialize;

use super::Tasks;
use crate::Result;
use crate::events::Frames;

/// Something that happened to a task.
#[derive(Debug, Clone, Deserialize)]
pub struct TaskEvent {
    /// Its place; hand it to [`Tasks::events`] to go on after it.
    pub position: u64,
    /// What happened, such as `task.assigned`.
    pub name: String,
    /// The event as the history has it.
    pub event: AuditEvent,
}

/// Events, one after the other. It connects again by itself and goes on where it was.
pub struct TaskEvents {
    frames: Frames,
}

impl Tasks {
    /// Everything that happens to the tasks this credential may see, after a position or from now on.
    pub fn events(&self, after: Option<u64>) -> TaskEvents {
        TaskEvents { frames: Frames::new(self.client.clone(), "/hacp/v1/events", after) }
    }
}

impl TaskEvents {
    /// The position of the last event that was given out.
    pub fn position(&self) -> Option<u64> {
        self.frames.position()
    }

    /// Connects. What happens after this is not missed.
    pub async fn ready(&mut self) -> Result<()> {
        self.frames.ready().await
    }

    /// The next event; waits for it.
    pub async fn next(&mut self) -> Result<TaskEvent> {
        let (position, name, event) = self.frames.next().await?;
        Ok(TaskEvent { position, name, event })
    }
}
