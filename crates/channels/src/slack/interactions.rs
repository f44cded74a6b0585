//! Reads interactions with messages and modals: presses, choices, submitted forms.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::parse::{moment, person};
use super::posted_id;
use super::view::{CALLBACK, ModalMetadata, decode_value};
use crate::inbound::InboundContent;
use crate::{InboundMessage, UnreadableCall};
use views::message_card::LONGEST_TOKEN;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Interaction {
    BlockActions(Box<BlockActions>),
    ViewSubmission(Box<Submission>),
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct BlockActions {
    user: User,
    #[serde(default)]
    team: Option<Team>,
    #[serde(default)]
    container: Container,
    #[serde(default)]
    channel: Option<Channel>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    trigger_id: Option<String>,
    #[serde(default)]
    response_url: Option<String>,
    actions: Vec<Action>,
}

#[derive(Deserialize)]
struct User {
    id: String,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
struct Team {
    id: String,
}

#[derive(Deserialize, Default)]
struct Container {
    #[serde(default)]
    channel_id: Option<String>,
    #[serde(default)]
    message_ts: Option<String>,
    #[serde(default)]
    thread_ts: Option<String>,
}

#[derive(Deserialize)]
struct Channel {
    id: String,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    ts: Option<String>,
    #[serde(default)]
    thread_ts: Option<String>,
}

#[derive(Deserialize)]
struct Action {
    #[serde(default, rename = "action_ts")]
    at: Option<String>,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    selected_option: Option<SelectedOption>,
}

#[derive(Deserialize)]
struct SelectedOption {
    value: String,
}

#[derive(Deserialize)]
struct Submission {
    user: User,
    #[serde(default)]
    team: Option<Team>,
    #[serde(default)]
    trigger_id: Option<String>,
    view: ModalView,
}

#[derive(Deserialize)]
struct ModalView {
    id: String,
    #[serde(default)]
    hash: String,
    #[serde(default)]
    callback_id: String,
    #[serde(default)]
    private_metadata: String,
    #[serde(default)]
    state: ModalState,
}

#[derive(Deserialize, Default)]
struct ModalState {
    #[serde(default)]
    values: Map<String, Value>,
}

/// Reads an interaction.
pub(super) fn interaction(payload: Value) -> Result<Vec<InboundMessage>, UnreadableCall> {
    match Interaction::deserialize(payload).map_err(|error| UnreadableCall(expected(&error)))? {
        Interaction::BlockActions(actions) => pressed(*actions),
        Interaction::ViewSubmission(submission) => {
            Ok(submitted(*submission)?.into_iter().collect())
        }
        Interaction::Unknown => Ok(Vec::new()),
    }
}

/// The error without the received value, which may be a person's answer.
fn expected(error: &serde_json::Error) -> String {
    let error = error.to_string();
    match error.strip_prefix("missing field ") {
        Some(field) => format!("expected an interaction to have {field}"),
        None => "expected a Slack interaction".to_owned(),
    }
}

fn pressed(payload: BlockActions) -> Result<Vec<InboundMessage>, UnreadableCall> {
    let BlockActions { user, team, container, channel, message, .. } = payload;
    let from = person(&user.id)?;
    let channel = container.channel_id.or_else(|| channel.map(|channel| channel.id));
    let (message_ts, message_thread) = message.map_or((None, None), |m| (m.ts, m.thread_ts));
    let ts = container.message_ts.or(message_ts);
    let thread = container.thread_ts.or(message_thread);
    let posted = channel.as_deref().zip(ts.as_deref()).map(|(channel, ts)| posted_id(channel, ts));
    let place = json!({
        "channel": channel,
        "user": user.id,
        "ts": ts,
        "thread": thread,
        "team": team.map(|team| team.id),
        "trigger_id": payload.trigger_id,
        "response_url": payload.response_url,
    });
    let name = user.username.or(user.name);
    let presses = payload.actions.into_iter().filter_map(|action| {
        // Slack also reports clicks on links, which carry no token.
        let token = action.selected_option.map(|chosen| chosen.value).or(action.value)?;
        if !is_token(&token) {
            return None;
        }
        let action_ts = action.at.unwrap_or_default();
        Some(InboundMessage {
            id: format!(
                "press/{}/{}/{action_ts}/{token}",
                user.id,
                posted.as_deref().unwrap_or_default()
            ),
            from: from.clone(),
            name: name.clone(),
            place: place.clone(),
            at: moment(&action_ts),
            what: InboundContent::Pressed { token, posted: posted.clone() },
        })
    });
    Ok(presses.collect())
}

/// A submitted modal. Slack allows a second submission only after an answer with errors, and then
/// the first one was not accepted. The view and its hash therefore identify a submission.
fn submitted(payload: Submission) -> Result<Option<InboundMessage>, UnreadableCall> {
    let Submission { user, team, trigger_id, view } = payload;
    if view.callback_id != CALLBACK {
        return Ok(None);
    }
    let from = person(&user.id)?;
    let carried: ModalMetadata = serde_json::from_str(&view.private_metadata)
        .ok()
        .filter(|carried: &ModalMetadata| is_token(&carried.token))
        .ok_or_else(|| UnreadableCall("expected the private_metadata of this server".to_owned()))?;
    let mut values = Map::new();
    for (key, elements) in view.state.values {
        // Each block has one element, with a name that the server chose.
        let element = elements.as_object().and_then(|elements| elements.values().next());
        let Some(element) = element else { continue };
        let value = value(element).ok_or_else(|| {
            UnreadableCall(format!("expected `{key}` to be filled in as it was asked"))
        })?;
        if !value.is_null() {
            values.insert(key, value);
        }
    }
    let place = json!({
        "channel": carried.channel,
        "user": user.id,
        "thread": carried.thread,
        "team": team.map(|team| team.id),
        "trigger_id": trigger_id,
    });
    Ok(Some(InboundMessage {
        id: format!("view/{}/{}", view.id, view.hash),
        from,
        name: user.username.or(user.name),
        place,
        what: InboundContent::Submitted { token: carried.token, values },
        at: None,
    }))
}

/// The value of an element in the type that the form expects. Null if it is empty.
fn value(element: &Value) -> Option<Value> {
    let member = |name: &str| element.get(name).filter(|value| !value.is_null());
    let option = |option: &Value| decode_value(option.get("value")?.as_str()?);
    Some(match element.get("type")?.as_str()? {
        "plain_text_input" | "email_text_input" | "url_text_input" => {
            member("value").map_or(Some(Value::Null), |text| text.as_str().map(Value::from))?
        }
        "number_input" => match member("value") {
            None => Value::Null,
            // A number with too many digits stays a text, which the form reads or rejects.
            Some(text) => number(text.as_str()?),
        },
        "datepicker" => member("selected_date").cloned().unwrap_or_default(),
        "datetimepicker" => match member("selected_date_time") {
            None => Value::Null,
            Some(seconds) => {
                Value::from(jiff::Timestamp::from_second(seconds.as_i64()?).ok()?.to_string())
            }
        },
        "radio_buttons" => match member("selected_option") {
            None => Value::Null,
            Some(chosen) => Value::Bool(option(chosen)?.parse().ok()?),
        },
        "static_select" => match member("selected_option") {
            None => Value::Null,
            Some(chosen) => Value::from(option(chosen)?),
        },
        "checkboxes" | "multi_static_select" => {
            let chosen = member("selected_options").and_then(Value::as_array);
            chosen.into_iter().flatten().map(option).collect::<Option<Vec<_>>>()?.into()
        }
        _ => return None,
    })
}

fn number(text: &str) -> Value {
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(Value::Number(number)) => Value::Number(number),
        _ => Value::from(text),
    }
}

/// Whether a text can be a token of this server.
fn is_token(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= LONGEST_TOKEN && text.bytes().all(known)
}
