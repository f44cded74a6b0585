//! The events that `GET /hacp/v1/events` streams and `/hacp/ws` pushes.

use serde_json::{Value, json};

use super::audit::AuditEvent;
use super::wire::Stamped;

/// An event as sent: over SSE with its name and id, over JSON-RPC as a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct HacpEvent {
    /// The action, such as `task.assigned`.
    pub event: String,
    /// The position in the feed. A client sends it as `Last-Event-ID` to continue after this event.
    pub id: String,
    pub data: Value,
}

/// An event at its position in the feed.
pub fn event_at(position: u64, event: &Stamped<AuditEvent>) -> HacpEvent {
    HacpEvent { event: event.object.action.clone(), id: position.to_string(), data: json!(event) }
}
