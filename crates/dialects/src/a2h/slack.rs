//! What a call wants of the message in Slack that asks it (A2H-084, A2H-085).

use kernel::Ask;
use serde_json::Value;

use super::create::OWN_APP;
use super::view::member;

/// Whether the agent lent an app of its own to say it.
pub fn by_own_app(ask: &Ask) -> bool {
    member(ask, OWN_APP) == Some(Value::Bool(true))
}

/// Whether it wants plain text: it said that it wants no blocks. Where it says nothing there are blocks,
/// because there is nothing to press without them.
pub fn wants_plain_text(ask: &Ask) -> bool {
    let channel = member(ask, "channel");
    let slack = channel.as_ref().and_then(|channel| channel.get("slack"));
    slack.and_then(|slack| slack.get("experimental_slack_blocks")) == Some(&Value::Bool(false))
}
