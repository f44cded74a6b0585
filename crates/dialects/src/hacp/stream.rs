//! `GET /hacp/v1/events` and what `/hacp/ws` sends by itself: what happens, as it happens.

use serde_json::{Value, json};

use super::audit::AuditEvent;
use super::wire::Stamped;

/// One event as it is sent: by SSE with its name and id, by JSON-RPC as a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// What happened, such as `task.assigned`.
    pub event: String,
    /// Its place in the feed: what `Last-Event-ID` says to go on behind it.
    pub id: String,
    /// The event.
    pub data: Value,
}

/// An event at its place in the feed.
pub fn told(position: u64, event: &Stamped<AuditEvent>) -> Told {
    Told { event: event.object.action.clone(), id: position.to_string(), data: json!(event) }
}
