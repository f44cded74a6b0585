//! The agent's settings for the Slack message that asks the question (A2H-084, A2H-085).

use kernel::Ask;
use serde_json::Value;

use super::create::OWN_APP;
use super::view::member;

/// Whether the agent lent its own Slack app for this message.
pub fn by_own_app(ask: &Ask) -> bool {
    member(ask, OWN_APP) == Some(Value::Bool(true))
}

/// Whether the agent asked for plain text by disabling blocks. Blocks are the default, because a
/// message without them has no buttons.
pub fn wants_plain_text(ask: &Ask) -> bool {
    let channel = member(ask, "channel");
    let slack = channel.as_ref().and_then(|channel| channel.get("slack"));
    slack.and_then(|slack| slack.get("experimental_slack_blocks")) == Some(&Value::Bool(false))
}
