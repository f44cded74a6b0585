//! Slack's payloads for the actions of people, and the signed calls that carry them.

use hmac::{Hmac, KeyInit, Mac};
use kernel::Time;
use serde_json::{Map, Value, json};
use sha2::Sha256;

use super::{SIGNING_SECRET, TEAM, Workspace};
use crate::WebhookCall;

/// A call from Slack to the server.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The name of the webhook: `events` or `interactions`.
    pub name: &'static str,
    /// Pairs of lower-case name and value.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
    /// The time of the call.
    pub now: Time,
}

impl Incoming {
    /// The call as a channel receives it.
    pub fn call(&self) -> WebhookCall<'_> {
        WebhookCall {
            url: "https://ask.example.com/channels/slack",
            name: self.name,
            headers: &self.headers,
            body: &self.body,
            now: self.now,
        }
    }

    fn signed(name: &'static str, kind: &str, body: Vec<u8>, now: Time) -> Self {
        let stamp = now.millis().div_euclid(1000).to_string();
        let mac = Hmac::<Sha256>::new_from_slice(SIGNING_SECRET.as_bytes()).map(|mut mac| {
            mac.update(format!("v0:{stamp}:").as_bytes());
            mac.update(&body);
            hex::encode(mac.finalize().into_bytes())
        });
        let headers = [
            ("content-type", kind.to_owned()),
            ("x-slack-request-timestamp", stamp),
            ("x-slack-signature", format!("v0={}", mac.unwrap_or_default())),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self { name, headers, body, now }
    }
}

/// The call that carries an event.
pub fn event(payload: &Value, now: Time) -> Incoming {
    let body = payload.to_string().into_bytes();
    Incoming::signed("events", "application/json", body, now)
}

/// The call that carries an interaction.
pub fn interaction(payload: &Value, now: Time) -> Incoming {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let body = form.append_pair("payload", &payload.to_string()).finish().into_bytes();
    Incoming::signed("interactions", "application/x-www-form-urlencoded", body, now)
}

/// The payload for a person's text, in a thread if one is named. Slack escapes the text.
pub fn wrote(id: &str, channel: &str, thread: Option<&str>, user: &str, text: &str) -> Value {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let kind = if channel.starts_with('D') { "im" } else { "channel" };
    let mut event = json!({
        "type": "message", "user": user, "text": text, "ts": "1770000100.000200",
        "event_ts": "1770000100.000200", "channel": channel, "channel_type": kind, "team": TEAM,
        "client_msg_id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    });
    if let Some(thread) = thread {
        event["thread_ts"] = json!(thread);
    }
    json!({
        "type": "event_callback", "event_id": id, "event_time": 1_770_000_100, "team_id": TEAM,
        "api_app_id": "A0001", "token": "unused", "event": event,
        "authorizations": [{ "team_id": TEAM, "user_id": "U0BOT", "is_bot": true }],
    })
}

/// The payload for a text that begins with a mention of the app.
pub fn mentioned(id: &str, channel: &str, user: &str, text: &str) -> Value {
    let mut payload = wrote(id, channel, None, user, text);
    let event = &mut payload["event"];
    event["type"] = json!("app_mention");
    event["text"] = json!(format!("<@U0BOT> {}", event["text"].as_str().unwrap_or_default()));
    if let Some(event) = event.as_object_mut() {
        event.remove("channel_type");
    }
    payload
}

impl Workspace {
    /// The payload for a press on a button or an option with this label. Returns `None` if the
    /// message has none.
    pub fn pressed(&self, message: &str, label: &str, user: &str) -> Option<Value> {
        let message = self.message(message)?;
        let blocks = message.body["blocks"].as_array()?;
        let elements = blocks.iter().filter_map(|b| b["elements"].as_array()).flatten();
        let action = elements.filter(|e| e["action_id"].is_string()).find_map(|element| {
            let mut action = json!({
                "type": element["type"], "action_id": element["action_id"],
                "action_ts": "1770000200.123456", "block_id": "b1",
            });
            if let Some(options) = element["options"].as_array() {
                let chosen = options.iter().find(|option| shows(&option["text"], label))?;
                action["selected_option"] = chosen.clone();
                return Some(action);
            }
            action["text"] = element["text"].clone();
            if let Some(value) = element.get("value") {
                action["value"] = value.clone();
            }
            shows(&element["text"], label).then_some(action)
        })?;
        let mut inner = self.inner();
        inner.count += 1;
        let (trigger, response) =
            (format!("{}.trigger", inner.count), format!("response-{}", inner.count));
        inner.triggers.insert(trigger.clone());
        inner.responses.insert(response.clone(), 5);
        let name = user.to_lowercase();
        Some(json!({
            "type": "block_actions", "team": { "id": TEAM, "domain": "example" },
            "user": { "id": user, "username": name, "name": name, "team_id": TEAM },
            "api_app_id": "A0001", "token": "unused", "enterprise": null,
            "container": {
                "type": "message", "message_ts": message.ts, "channel_id": message.channel,
                "is_ephemeral": false,
            },
            "channel": { "id": message.channel, "name": "directmessage" },
            "message": { "ts": message.ts, "thread_ts": message.thread_ts, "type": "message" },
            "trigger_id": trigger,
            "response_url": format!("http://{}/actions/{response}", self.address),
            "actions": [action],
        }))
    }

    /// The payload for submitting the newest modal, with values by the labels of its fields.
    /// Options are given by their labels. Returns `None` if the modal does not allow the values.
    pub fn submitted(&self, user: &str, filled: &[(&str, Value)]) -> Option<Value> {
        let view = self.views().pop()?;
        let mut values = Map::new();
        for block in view["blocks"].as_array()?.iter().filter(|block| block["type"] == "input") {
            let label = block["label"]["text"].as_str()?;
            let given = filled.iter().find(|(name, _)| *name == label).map(|(_, value)| value);
            if given.is_none() && block["optional"] != true {
                return None;
            }
            let element = &block["element"];
            let state = state(element, given)?;
            let action = element["action_id"].as_str()?.to_owned();
            let held: Map<String, Value> = [(action, state)].into_iter().collect();
            values.insert(block["block_id"].as_str()?.to_owned(), held.into());
        }
        let mut view = view;
        view["state"] = json!({ "values": values });
        Some(json!({
            "type": "view_submission", "team": { "id": TEAM, "domain": "example" },
            "user": { "id": user, "username": user.to_lowercase(), "team_id": TEAM },
            "api_app_id": "A0001", "token": "unused", "trigger_id": "1.after", "view": view,
            "response_urls": [],
        }))
    }
}

impl Workspace {
    /// The errors that a modal shows below its fields for this answer. Returns `None` if the modal
    /// closes, or if Slack would not accept the answer.
    pub fn complaints(&self, answer: &Value) -> Option<Vec<(String, String)>> {
        let answer = answer.as_object().filter(|answer| answer.len() == 2)?;
        let errors = answer.get("errors")?.as_object().filter(|errors| !errors.is_empty())?;
        if answer.get("response_action")? != "errors" {
            return None;
        }
        let view = self.views().pop()?;
        let inputs = view["blocks"].as_array()?.iter().filter(|block| block["type"] == "input");
        let said: Vec<(String, String)> = inputs
            .filter_map(|block| {
                let words = errors.get(block["block_id"].as_str()?)?.as_str()?;
                Some((block["label"]["text"].as_str()?.to_owned(), words.to_owned()))
            })
            .collect();
        // The answer must name existing fields only.
        (said.len() == errors.len()).then_some(said)
    }
}

/// Whether a text shows this label.
fn shows(text: &Value, label: &str) -> bool {
    let shown = text["text"].as_str().unwrap_or_default();
    shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == label
}

/// The state of an element with this value.
fn state(element: &Value, given: Option<&Value>) -> Option<Value> {
    let kind = element["type"].as_str()?;
    let find = |label: &Value| {
        let (options, label) = (element["options"].as_array()?, label.as_str()?);
        options.iter().find(|option| shows(&option["text"], label)).cloned()
    };
    let (name, value) = match kind {
        "plain_text_input" | "email_text_input" | "url_text_input" | "number_input" => {
            let text = given.map(|text| text.as_str().map(Value::from));
            ("value", text.unwrap_or(Some(Value::Null))?)
        }
        "datepicker" => ("selected_date", given.cloned().unwrap_or_default()),
        "datetimepicker" => ("selected_date_time", given.cloned().unwrap_or_default()),
        "static_select" | "radio_buttons" => {
            ("selected_option", given.map_or(Some(Value::Null), find)?)
        }
        "checkboxes" | "multi_static_select" => {
            let chosen = given.and_then(Value::as_array).into_iter().flatten();
            ("selected_options", chosen.map(find).collect::<Option<Vec<_>>>()?.into())
        }
        _ => return None,
    };
    let mut state = json!({ "type": kind });
    state[name] = value;
    Some(state)
}
