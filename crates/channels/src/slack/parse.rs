//! Reads Slack's payloads: over HTTP under the names `events` and `interactions`, and
//! over a socket.

use kernel::Time;
use kernel::directory::ContactMethod;
use kernel::directory::contact::is_slack_id;
use serde::Deserialize;
use serde_json::{Value, json};

use super::text::decode_markup;
use super::{interactions, posted_id};
use crate::inbound::{InReplyTo, InboundContent, ParsedCall};
use crate::{InboundMessage, UnreadableCall, WebhookCall};

/// Reads a call.
pub(super) fn parse(call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
    match call.name {
        "events" => {
            let body = serde_json::from_slice(call.body)
                .map_err(|_| UnreadableCall("expected the events as JSON".to_owned()))?;
            event(body)
        }
        "interactions" => {
            let mut payloads = url::form_urlencoded::parse(call.body)
                .filter(|(name, _)| name == "payload")
                .map(|(_, payload)| payload);
            let (Some(payload), None) = (payloads.next(), payloads.next()) else {
                return Err(UnreadableCall("expected a form with one payload".to_owned()));
            };
            let payload = serde_json::from_str(&payload)
                .map_err(|_| UnreadableCall("expected the payload as JSON".to_owned()))?;
            interactions::interaction(payload).map(ParsedCall::of)
        }
        _ => Err(UnreadableCall("expected it under events or interactions".to_owned())),
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventEnvelope {
    UrlVerification {
        challenge: String,
    },
    EventCallback {
        event_id: String,
        #[serde(default)]
        team_id: Option<String>,
        event: Value,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Message {
    user: Option<String>,
    bot_id: Option<String>,
    subtype: Option<String>,
    text: Option<String>,
    channel: Option<String>,
    channel_type: Option<String>,
    ts: Option<String>,
    thread_ts: Option<String>,
}

/// Reads an event.
pub(super) fn event(body: Value) -> Result<ParsedCall, UnreadableCall> {
    let unread =
        |_| UnreadableCall("expected an event with its event_id, or a challenge".to_owned());
    match EventEnvelope::deserialize(body).map_err(unread)? {
        EventEnvelope::UrlVerification { challenge } => {
            Ok(ParsedCall { inbound: Vec::new(), answer: Some(("text/plain", challenge)) })
        }
        EventEnvelope::EventCallback { event_id, team_id, event } => {
            let mentioned = match event.get("type").and_then(Value::as_str) {
                Some("message") => false,
                Some("app_mention") => true,
                _ => return Ok(ParsedCall::of(Vec::new())),
            };
            let message = Message::deserialize(event).map_err(|_| {
                UnreadableCall("expected the members of a message to be texts".to_owned())
            })?;
            let inbound = wrote(event_id, team_id.as_deref(), message, mentioned)?;
            Ok(ParsedCall::of(inbound.into_iter().collect()))
        }
        EventEnvelope::Unknown => Ok(ParsedCall::of(Vec::new())),
    }
}

/// A person's text in a thread, in a direct message, or with a mention of the bot. Messages of
/// programs, edits, deletions and other events are not texts of a person. Conversations of people
/// outside of threads are ignored.
fn wrote(
    id: String,
    team: Option<&str>,
    message: Message,
    mentioned: bool,
) -> Result<Option<InboundMessage>, UnreadableCall> {
    let of_a_person = message.bot_id.is_none()
        && matches!(message.subtype.as_deref(), None | Some("thread_broadcast"));
    let Some(user) = message.user.filter(|user| of_a_person && user != "USLACKBOT") else {
        return Ok(None);
    };
    let (Some(channel), Some(ts)) = (message.channel, message.ts) else {
        return Err(UnreadableCall("expected a message to have a channel and a ts".to_owned()));
    };
    let from = person(&user)?;
    let thread = message.thread_ts.filter(|thread| *thread != ts);
    let direct = message.channel_type.as_deref() == Some("im") || channel.starts_with('D');
    let about = match &thread {
        // Slack reports a mention in a thread or in a direct message a second time, as a message.
        Some(_) if mentioned => return Ok(None),
        None if mentioned && direct => return Ok(None),
        Some(thread) => InReplyTo::Posted(posted_id(&channel, thread)),
        None if mentioned => InReplyTo::Mention,
        None if direct => InReplyTo::Nothing,
        None => return Ok(None),
    };
    let text = message.text.unwrap_or_default();
    let text = decode_markup(if mentioned { behind_mention(&text) } else { &text });
    if text.trim().is_empty() {
        return Ok(None);
    }
    let at = moment(&ts);
    let place =
        json!({ "channel": channel, "user": user, "ts": ts, "thread": thread, "team": team });
    Ok(Some(InboundMessage {
        id,
        from,
        name: None,
        place,
        what: InboundContent::Wrote { text, about },
        at,
    }))
}

/// The text after a mention at the beginning.
fn behind_mention(text: &str) -> &str {
    let behind = text.trim_start().strip_prefix("<@").and_then(|text| text.split_once('>'));
    behind.map_or(text, |(_, behind)| behind.trim_start_matches([':', ',', ' ']))
}

/// A person, by the user id that Slack vouches for.
pub(super) fn person(id: &str) -> Result<ContactMethod, UnreadableCall> {
    if is_slack_id(id) && id.starts_with(['U', 'W']) {
        Ok(ContactMethod::Slack(id.to_owned()))
    } else {
        Err(UnreadableCall(
            "expected a person's id to be U or W, and capitals and digits".to_owned(),
        ))
    }
}

/// The time in a timestamp such as `1503435956.000247`.
pub(super) fn moment(ts: &str) -> Option<Time> {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) {
        return None;
    }
    let millis = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok()?;
    Some(Time::from_millis(seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(millis)?))
}

#[cfg(test)]
mod tests;
