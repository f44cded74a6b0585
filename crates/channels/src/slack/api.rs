//! Calls to Slack's Web API, in JSON. The token is sent in a header and nowhere else.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use url::Url;

use crate::{DeliveryError, SecretString};

/// The longest answer that is read.
const LONGEST: usize = 1024 * 1024;
/// The longest accepted `Retry-After`, in seconds.
const LONGEST_WAIT: u64 = 60 * 60;

/// The token of a call, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct CallToken<'a> {
    pub(super) whose: TokenOwner,
    pub(super) token: &'a SecretString,
}

/// Why a call failed, with Slack's error code.
pub(super) struct SlackError {
    pub(super) code: Option<String>,
    pub(super) failed: DeliveryError,
}

impl From<DeliveryError> for SlackError {
    fn from(failed: DeliveryError) -> Self {
        Self { code: None, failed }
    }
}

impl From<SlackError> for DeliveryError {
    fn from(refusal: SlackError) -> Self {
        refusal.failed
    }
}

impl SlackError {
    /// Whether it has one of these codes.
    pub(super) fn is(&self, codes: &[&str]) -> bool {
        self.code.as_deref().is_some_and(|code| codes.contains(&code))
    }
}

/// An answer, and the scopes of the token.
pub(super) struct SlackResponse {
    pub(super) body: Value,
    pub(super) scopes: Option<String>,
}

/// Calls a method with a JSON body.
pub(super) async fn call(
    client: &Client,
    base: &Url,
    method: &str,
    body: &Value,
    by: CallToken<'_>,
) -> Result<SlackResponse, SlackError> {
    let request = client
        .post(address(base, method)?)
        .header("content-type", "application/json; charset=utf-8")
        .body(body.to_string());
    send_request(request, method, by).await
}

/// Calls a method that takes a query and no JSON.
pub(super) async fn get(
    client: &Client,
    base: &Url,
    method: &str,
    query: &[(&str, &str)],
    by: CallToken<'_>,
) -> Result<SlackResponse, SlackError> {
    send_request(client.get(address(base, method)?).query(query), method, by).await
}

fn address(base: &Url, method: &str) -> Result<Url, DeliveryError> {
    base.join(method).map_err(|_| DeliveryError::never("the URL of Slack's API is not valid"))
}

async fn send_request(
    request: reqwest::RequestBuilder,
    method: &str,
    by: CallToken<'_>,
) -> Result<SlackResponse, SlackError> {
    // A token that no header can carry would fail permanently.
    if by.token.reveal().is_empty() || !by.token.reveal().bytes().all(|b| b.is_ascii_graphic()) {
        return Err(error_for_code(method, "not_authed", None, by.whose, None).into());
    }
    let response = request
        .bearer_auth(by.token.reveal())
        .send()
        .await
        .map_err(|error| unreachable(method, &error))?;
    let after = retry_after(&response);
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(DeliveryError::Later {
            why: "Slack limits the rate of calls".to_owned(),
            after,
        }
        .into());
    }
    if status.is_server_error() {
        let why = format!("Slack responded to {method} with {status}");
        return Err(DeliveryError::Later { why, after }.into());
    }
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let scopes = header("x-oauth-scopes").map(str::to_owned);
    let body = read(response, method).await?;
    if body.get("ok").and_then(Value::as_bool) == Some(true) {
        return Ok(SlackResponse { body, scopes });
    }
    match body.get("error").and_then(Value::as_str) {
        Some(error) => {
            let needed = body.get("needed").and_then(Value::as_str);
            let failed = error_for_code(method, error, needed, by.whose, after);
            Err(SlackError { code: Some(error.to_owned()), failed })
        }
        // The answer is from a proxy, or not from Slack at all.
        None => Err(DeliveryError::later(format!(
            "{method} got the response {status}, which is not from Slack"
        ))
        .into()),
    }
}

async fn read(mut response: Response, method: &str) -> Result<Value, DeliveryError> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| unreachable(method, &error))? {
        bytes.extend_from_slice(&part);
        if bytes.len() > LONGEST {
            return Err(DeliveryError::later(format!(
                "the response to {method} exceeds the size limit"
            )));
        }
    }
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// The delay that Slack asks for.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.min(LONGEST_WAIT)))
}

/// Why there was no answer, without the URL, which may be secret.
pub(super) fn unreachable(method: &str, error: &reqwest::Error) -> DeliveryError {
    let what = if error.is_timeout() {
        "did not respond in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "broke off"
    };
    DeliveryError::later(format!("Slack {what} ({method})"))
}

// Slack's error codes, and what the operator can do about each.

/// The token of a call, which determines who has to fix an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenOwner {
    /// The bot token from the settings.
    Bot,
    /// The app token from the settings.
    App,
    /// A token that came with a request.
    Given,
}

impl TokenOwner {
    fn name(self) -> &'static str {
        match self {
            Self::Bot => "slack_bot_token",
            Self::App => "slack_app_token",
            Self::Given => "the agent's bot token",
        }
    }
}

/// The delivery error for an error code from Slack.
pub(super) fn error_for_code(
    method: &str,
    error: &str,
    needed: Option<&str>,
    whose: TokenOwner,
    after: Option<Duration>,
) -> DeliveryError {
    let token = whose.name();
    // Slack's error codes are names. Other text may come from elsewhere and is not passed on.
    let error = named(error);
    let why = match error {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
            return DeliveryError::Later {
                why: "Slack limits the rate of calls".to_owned(),
                after,
            };
        }
        "fatal_error"
        | "internal_error"
        | "service_unavailable"
        | "request_timeout"
        | "team_added_to_org"
        | "accesslimited" => {
            return DeliveryError::Later {
                why: format!("Slack reported an internal error for {method} ({error})"),
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
            format!("Slack refused {token} ({error}); copy it again from the app's page")
        }
        "missing_scope" => {
            let needed = named(needed.unwrap_or("unknown"));
            format!(
                "{token} is missing the scope {needed}; add it under OAuth & Permissions of the \
                 app and reinstall the app"
            )
        }
        "not_in_channel" | "user_not_in_channel" => {
            "the app is not a member of that Slack channel; invite it".to_owned()
        }
        "channel_not_found" => "Slack cannot find that channel or person, or the app cannot see \
                                it; check the ID, and invite the app to private channels"
            .to_owned(),
        "user_not_found" | "users_not_found" | "user_not_visible" | "user_disabled" => {
            format!("Slack cannot find that person, or the app cannot see them ({error})")
        }
        "is_archived" => "that Slack channel is archived; choose another one".to_owned(),
        "thread_not_found" | "invalid_thread_ts" => {
            "that Slack thread does not exist, or is in another channel".to_owned()
        }
        "cannot_dm_bot" => "that Slack user is a bot; choose a person".to_owned(),
        "messages_tab_disabled" => "the app does not accept direct messages; turn on the Messages \
                                    Tab under App Home"
            .to_owned(),
        "restricted_action"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel"
        | "restricted_action_non_threadable_channel"
        | "restricted_action_thread_locked"
        | "ekm_access_denied"
        | "org_login_required"
        | "team_access_not_granted" => {
            format!("the workspace does not allow the app to post there ({error}); ask its admins")
        }
        "msg_too_long"
        | "msg_blocks_too_long"
        | "invalid_blocks"
        | "invalid_blocks_format"
        | "no_text"
        | "view_too_large" => {
            format!("Slack refused a message as malformed ({error}); please report this as a bug")
        }
        "message_not_found" | "cant_update_message" | "edit_window_closed" => {
            format!("the Slack message can no longer be changed ({error})")
        }
        "expired_trigger_id"
        | "exchanged_trigger_id"
        | "trigger_expired"
        | "trigger_exchanged"
        | "invalid_trigger_id" => {
            "Slack opens a form only within three seconds after the button was pressed; press it \
             again"
                .to_owned()
        }
        _ => format!("Slack refused {method} ({error})"),
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
            ("invalid_auth", TokenOwner::Bot),
            ("token_revoked", TokenOwner::Given),
            ("not_allowed_token_type", TokenOwner::App),
            ("missing_scope", TokenOwner::Bot),
            ("not_in_channel", TokenOwner::Bot),
            ("channel_not_found", TokenOwner::Bot),
            ("user_not_found", TokenOwner::Bot),
            ("is_archived", TokenOwner::Bot),
            ("thread_not_found", TokenOwner::Bot),
            ("cannot_dm_bot", TokenOwner::Bot),
            ("messages_tab_disabled", TokenOwner::Bot),
            ("restricted_action", TokenOwner::Bot),
            ("msg_too_long", TokenOwner::Bot),
            ("message_not_found", TokenOwner::Bot),
            ("expired_trigger_id", TokenOwner::Bot),
            ("something_new", TokenOwner::Bot),
            ("<b>\n", TokenOwner::Bot),
            ("ratelimited", TokenOwner::Bot),
            ("fatal_error", TokenOwner::Bot),
        ]
        .into_iter()
        .map(|(error, whose)| {
            let failed = error_for_code("chat.postMessage", error, Some("chat:write"), whose, None);
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
        let failed = error_for_code("chat.update", "ratelimited", None, TokenOwner::Bot, after);
        assert!(matches!(failed, DeliveryError::Later { after: found, .. } if found == after));
    }
}
