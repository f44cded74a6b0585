//! Slack's error codes, and what the operator can do about each.

use std::time::Duration;

use crate::DeliveryError;

/// The token of a call, which determines who has to fix an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The bot token from the settings.
    Bot,
    /// The app token from the settings.
    App,
    /// A token that came with a request.
    Given,
}

impl Whose {
    fn name(self) -> &'static str {
        match self {
            Self::Bot => "slack_bot_token",
            Self::App => "slack_app_token",
            Self::Given => "the bot token the agent gave",
        }
    }
}

/// The delivery error for an error code from Slack.
pub(super) fn refused(
    method: &str,
    error: &str,
    needed: Option<&str>,
    whose: Whose,
    after: Option<Duration>,
) -> DeliveryError {
    let token = whose.name();
    // Slack's error codes are names. Other text may come from elsewhere and is not passed on.
    let error = named(error);
    let why = match error {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
            return DeliveryError::Later { why: "Slack asks to go slower".to_owned(), after };
        }
        "fatal_error"
        | "internal_error"
        | "service_unavailable"
        | "request_timeout"
        | "team_added_to_org"
        | "accesslimited" => {
            return DeliveryError::Later {
                why: format!("Slack has a problem of its own with {method} ({error})"),
                after,
            };
        }
        "invalid_auth"
        | "not_authed"
        | "account_inactive"
        | "token_revoked"
        | "token_expired"
        | "not_allowed_token_type"
        | "no_permission" => {
            format!("Slack does not take {token} ({error}): copy it anew from the app's page")
        }
        "missing_scope" => {
            let needed = named(needed.unwrap_or("unknown"));
            format!(
                "{token} lacks the scope {needed}: add it under OAuth & Permissions of the app \
                 and install the app again"
            )
        }
        "not_in_channel" | "user_not_in_channel" => {
            "the app is not in that Slack channel: invite the app there".to_owned()
        }
        "channel_not_found" => "Slack knows no such channel or person, or the app may not see it: \
                                check the id, and invite the app to private channels"
            .to_owned(),
        "user_not_found" | "users_not_found" | "user_not_visible" | "user_disabled" => {
            format!("Slack knows no such person any more, or the app may not see them ({error})")
        }
        "is_archived" => "that Slack channel is archived: choose another".to_owned(),
        "thread_not_found" | "invalid_thread_ts" => {
            "that Slack thread is gone, or in another channel".to_owned()
        }
        "cannot_dm_bot" => "that is a bot, which reads no messages: choose a person".to_owned(),
        "messages_tab_disabled" => "the app takes no direct messages: turn on the Messages Tab \
                                    under App Home"
            .to_owned(),
        "restricted_action"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel"
        | "restricted_action_non_threadable_channel"
        | "restricted_action_thread_locked"
        | "ekm_access_denied"
        | "org_login_required"
        | "team_access_not_granted" => {
            format!("the workspace does not let the app write there ({error}): ask its admins")
        }
        "msg_too_long"
        | "msg_blocks_too_long"
        | "invalid_blocks"
        | "invalid_blocks_format"
        | "no_text"
        | "view_too_large" => {
            format!("Slack does not take what we made for it ({error}), which is a mistake of ours")
        }
        "message_not_found" | "cant_update_message" | "edit_window_closed" => {
            format!("the Slack message cannot be changed any more ({error})")
        }
        "expired_trigger_id"
        | "exchanged_trigger_id"
        | "trigger_expired"
        | "trigger_exchanged"
        | "invalid_trigger_id" => {
            "Slack lets a form open only within three seconds of the press: press again".to_owned()
        }
        _ => format!("Slack refuses {method} ({error})"),
    };
    DeliveryError::never(why)
}

/// The text, if it has the form of Slack's names for errors and scopes.
fn named(text: &str) -> &str {
    let known =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b',' | b'-');
    if !text.is_empty() && text.len() <= 100 && text.bytes().all(known) { text } else { "unknown" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message says what to do about the error.
    #[test]
    fn each_refusal_says_what_to_do() {
        let seen: Vec<String> = [
            ("invalid_auth", Whose::Bot),
            ("token_revoked", Whose::Given),
            ("not_allowed_token_type", Whose::App),
            ("missing_scope", Whose::Bot),
            ("not_in_channel", Whose::Bot),
            ("channel_not_found", Whose::Bot),
            ("user_not_found", Whose::Bot),
            ("is_archived", Whose::Bot),
            ("thread_not_found", Whose::Bot),
            ("cannot_dm_bot", Whose::Bot),
            ("messages_tab_disabled", Whose::Bot),
            ("restricted_action", Whose::Bot),
            ("msg_too_long", Whose::Bot),
            ("message_not_found", Whose::Bot),
            ("expired_trigger_id", Whose::Bot),
            ("something_new", Whose::Bot),
            ("<b>\n", Whose::Bot),
            ("ratelimited", Whose::Bot),
            ("fatal_error", Whose::Bot),
        ]
        .into_iter()
        .map(|(error, whose)| {
            let failed = refused("chat.postMessage", error, Some("chat:write"), whose, None);
            let kind =
                if matches!(failed, DeliveryError::Later { .. }) { "later" } else { "never" };
            format!("{} · {kind} · {failed}", error.escape_debug())
        })
        .collect();
        insta::assert_snapshot!(seen.join("\n"));
    }

    #[test]
    fn slack_says_when_to_come_back() {
        let after = Some(Duration::from_secs(7));
        let failed = refused("chat.update", "ratelimited", None, Whose::Bot, after);
        assert!(matches!(failed, DeliveryError::Later { after: found, .. } if found == after));
    }
}
