//! Events of tasks, as a stream.

use dialects::hacp::audit::AuditEvent;
use serde::Deserialize;

use super::Tasks;
use crate::Result;
use crate::events::EventFrames;

/// An event of a task.
#[derive(Debug, Clone, Deserialize)]
pub struct TaskEvent {
    /// The position in the stream. Pass it to [`Tasks::events`] to continue after it.
    pub position: u64,
    /// The action, such as `task.assigned`.
    pub name: String,
    /// The event as in the history.
    pub event: AuditEvent,
}

/// A stream of events. It reconnects automatically and continues where it stopped.
pub struct TaskEvents {
    frames: EventFrames,
}

impl Tasks {
    /// All events of the tasks that this credential may see, after a position or from now on.
    pub fn events(&self, after: Option<u64>) -> TaskEvents {
        TaskEvents { frames: EventFrames::new(self.client.clone(), "/hacp/v1/events", after) }
    }
}

impl TaskEvents {
    /// The position of the last returned event.
    pub fn position(&self) -> Option<u64> {
        self.frames.position()
    }

    /// Connects. Events after this call are not missed.
    pub async fn ready(&mut self) -> Result<()> {
        self.frames.ready().await
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> Result<TaskEvent> {
        let (position, name, event) = self.frames.next().await?;
        Ok(TaskEvent { position, name, event })
    }
}
