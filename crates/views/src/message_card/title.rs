//! The title of every message about a request: the agent and its request, in one line.

use kernel::Ask;
use kernel::ask::Priority;
use kernel::follow_up::Occasion;
use kernel::question::Kind;

/// The title of a request. All messages about it have the same title.
pub fn title(ask: &Ask) -> String {
    let urgent = if ask.priority == Priority::Critical { "Urgent: " } else { "" };
    let marked = if ask.is_irreversible() { " (can't be undone)" } else { "" };
    format!("{urgent}{} {}{marked}", ask.agent, wants(ask.kind))
}

/// The reason for the notification, if it is not obvious.
pub fn because(why: Occasion) -> Option<&'static str> {
    match why {
        Occasion::Asked => None,
        Occasion::Assigned => Some("It was handed to you."),
        Occasion::Reminder => Some("It is still waiting."),
        Occasion::Escalated => Some("Nobody has answered yet."),
    }
}

/// The agent's wish for a question of this kind, as a verb phrase.
pub fn wants(kind: Kind) -> &'static str {
    match kind {
        Kind::Approve => "wants your approval",
        Kind::Choose => "wants you to choose",
        Kind::Provide => "needs something from you",
        Kind::Confirm => "wants you to confirm",
        Kind::Escalate => "is stuck and needs you",
        Kind::Converse => "has a question",
    }
}
