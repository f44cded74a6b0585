//! Telegram's Bot API. <https://core.telegram.org/bots/api>

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::fake_platform::{Call, FakePlatform, Inbound, PlatformBehavior, Reply, lock};

/// The bot's token.
pub const TOKEN: &str = "123456:ABC-DEF_1234ghIkl";

/// Telegram with one bot.
#[derive(Debug)]
pub struct Telegram {
    stand: FakePlatform,
    play: Arc<Bot>,
}

#[derive(Debug, Default)]
struct Bot {
    state: Mutex<State>,
    said: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The known chats, and how messages to them are rejected.
    chats: BTreeMap<i64, Chat>,
    /// All messages in their current state.
    messages: BTreeMap<(i64, i64), Value>,
    updates: VecDeque<Value>,
    last_update: i64,
    webhook: Option<(String, String)>,
    answered: Vec<Value>,
    /// Whether another program polls too.
    contested: bool,
}

#[derive(Debug, Clone, Copy)]
enum Chat {
    There,
    Refuses(&'static str),
    MovedTo(i64),
}

impl Deref for Telegram {
    type Target = FakePlatform;

    fn deref(&self) -> &FakePlatform {
        &self.stand
    }
}

impl Telegram {
    /// Starts Telegram with a bot that has received nothing.
    pub async fn start() -> io::Result<Self> {
        let play = Arc::new(Bot::default());
        Ok(Self { stand: FakePlatform::of(play.clone()).await?, play })
    }

    /// Adds a chat that the bot may write to.
    pub fn chat(&self, id: i64) {
        lock(&self.play.state).chats.insert(id, Chat::There);
    }

    /// Adds a chat that rejects messages with this description and 403.
    pub fn refusing(&self, id: i64, words: &'static str) {
        lock(&self.play.state).chats.insert(id, Chat::Refuses(words));
    }

    /// Turns a group into a supergroup with another id.
    pub fn moved(&self, id: i64, to: i64) {
        let mut state = lock(&self.play.state);
        state.chats.insert(id, Chat::MovedTo(to));
        state.chats.insert(to, Chat::There);
    }

    /// A message in its current state.
    pub fn message(&self, chat: i64, id: i64) -> Option<Value> {
        lock(&self.play.state).messages.get(&(chat, id)).cloned()
    }

    /// Deletes a message, as a person might.
    pub fn delete(&self, chat: i64, id: i64) {
        lock(&self.play.state).messages.remove(&(chat, id));
    }

    /// The answers that were shown after presses.
    pub fn answered(&self) -> Vec<Value> {
        lock(&self.play.state).answered.clone()
    }

    /// Sets whether another program polls the updates of the bot.
    pub fn contest(&self, contested: bool) {
        lock(&self.play.state).contested = contested;
    }

    /// A person presses a button.
    pub fn press(&self, from: i64, chat: i64, message: i64, data: &str) -> Inbound {
        let chat = json!({ "id": chat, "type": "group", "title": "Ops" });
        self.update(json!({ "callback_query": {
            "id": format!("q{from}{message}"),
            "from": user(from),
            "chat_instance": "1",
            "message": { "message_id": message, "chat": chat, "date": 1_772_000_000 },
            "data": data,
        }}))
    }

    /// A person writes, optionally in reply to a message.
    pub fn write(&self, from: i64, text: &str, reply_to: Option<i64>) -> Inbound {
        let chat = json!({ "id": from, "type": "private" });
        let mut message = json!({
            "message_id": 900, "from": user(from), "chat": chat, "date": 1_772_000_000, "text": text,
        });
        if let (Some(id), Value::Object(members)) = (reply_to, &mut message) {
            let above = json!({ "message_id": id, "chat": chat, "date": 1_772_000_000 });
            members.insert("reply_to_message".to_owned(), above);
        }
        self.update(json!({ "message": message }))
    }

    /// Adds an update. It waits for a poll, or the result is the webhook call if there
    /// is a webhook.
    pub fn update(&self, mut update: Value) -> Inbound {
        let mut state = lock(&self.play.state);
        state.last_update += 1;
        if let Value::Object(members) = &mut update {
            members.insert("update_id".to_owned(), state.last_update.into());
        }
        let body = update.to_string().into_bytes();
        let webhook = state.webhook.clone();
        if webhook.is_none() {
            state.updates.push_back(update);
        }
        let (url, secret) = webhook.unwrap_or_default();
        let headers = [
            ("content-type", "application/json"),
            ("x-telegram-bot-api-secret-token", secret.as_str()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        self.play.said.notify_one();
        Inbound { method: "POST", url, headers, body }
    }

    /// The number of updates that wait.
    pub fn waiting(&self) -> usize {
        lock(&self.play.state).updates.len()
    }
}

fn user(id: i64) -> Value {
    json!({ "id": id, "is_bot": false, "first_name": "Ada", "last_name": "Lovelace" })
}

#[async_trait]
impl PlatformBehavior for Bot {
    async fn answer(&self, call: &Call) -> Reply {
        let method = call.path.strip_prefix(&format!("/bot{TOKEN}/"));
        let Some(method) = method else { return refused(401, "Unauthorized") };
        let parameters = call.json();
        let is_json =
            call.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        if call.method != "POST" || !is_json || !parameters.is_object() {
            return refused(400, "Bad Request: expected an object in JSON");
        }
        if method == "getUpdates" {
            return self.updates(&parameters).await;
        }
        lock(&self.state).take(method, &parameters).unwrap_or_else(|reply| reply)
    }

    fn busy(&self, seconds: u64) -> Reply {
        let words = format!("Too Many Requests: retry after {seconds}");
        let body = json!({
            "ok": false, "error_code": 429, "description": words,
            "parameters": { "retry_after": seconds },
        });
        Reply::json(429, &body)
    }
}

impl Bot {
    async fn updates(&self, parameters: &Value) -> Reply {
        if let Err(wrong) = only(parameters, &["offset", "limit", "timeout", "allowed_updates"]) {
            return refused(400, &wrong);
        }
        loop {
            {
                let mut state = lock(&self.state);
                if state.webhook.is_some() {
                    return refused(
                        409,
                        "Conflict: can't use getUpdates method while webhook is active; use \
                         deleteWebhook to delete the webhook first",
                    );
                }
                if state.contested {
                    return refused(
                        409,
                        "Conflict: terminated by other getUpdates request; make sure that only one \
                         bot instance is running",
                    );
                }
                let offset = parameters["offset"].as_i64().unwrap_or_default();
                state.updates.retain(|update| update["update_id"].as_i64() >= Some(offset));
                if !state.updates.is_empty() {
                    let waiting: Vec<Value> = state.updates.iter().cloned().collect();
                    return fine(&waiting.into());
                }
            }
            // Like the real one, this waits for as long as the caller does.
            self.said.notified().await;
        }
    }
}

impl State {
    fn take(&mut self, method: &str, parameters: &Value) -> Result<Reply, Reply> {
        let bad = |wrong: String| refused(400, &format!("Bad Request: {wrong}"));
        match method {
            "getMe" => {
                let me = json!({ "id": 123_456, "is_bot": true, "first_name": "Countersign",
                    "username": "countersign_bot" });
                Ok(fine(&me))
            }
            "sendMessage" => {
                let known = [
                    "chat_id",
                    "text",
                    "entities",
                    "link_preview_options",
                    "reply_markup",
                    "reply_parameters",
                ];
                only(parameters, &known).and_then(|()| checked(parameters)).map_err(bad)?;
                let chat = self.chat(parameters)?;
                let id = 1 + i64::try_from(self.messages.len()).unwrap_or_default();
                self.messages.insert((chat, id), parameters.clone());
                Ok(sent(chat, id, parameters))
            }
            "editMessageText" => {
                let known = [
                    "chat_id",
                    "message_id",
                    "text",
                    "entities",
                    "link_preview_options",
                    "reply_markup",
                ];
                only(parameters, &known).and_then(|()| checked(parameters)).map_err(bad)?;
                let chat = self.chat(parameters)?;
                let id = parameters["message_id"].as_i64().unwrap_or_default();
                let Some(message) = self.messages.get_mut(&(chat, id)) else {
                    return Err(bad("message to edit not found".to_owned()));
                };
                let seen = |m: &Value| {
                    (m["text"].clone(), m["entities"].clone(), m["reply_markup"].clone())
                };
                if seen(message) == seen(parameters) {
                    return Err(bad(
                        "message is not modified: specified new message content and reply \
                        markup are exactly the same"
                            .to_owned(),
                    ));
                }
                *message = parameters.clone();
                Ok(sent(chat, id, parameters))
            }
            "answerCallbackQuery" => {
                only(parameters, &["callback_query_id", "text", "show_alert"]).map_err(bad)?;
                let again = self
                    .answered
                    .iter()
                    .any(|answer| answer["callback_query_id"] == parameters["callback_query_id"]);
                if again || !parameters["callback_query_id"].is_string() {
                    return Err(bad(
                        "query is too old and response timeout expired or query ID is \
                        invalid"
                            .to_owned(),
                    ));
                }
                within(&parameters["text"], 200).map_err(bad)?;
                self.answered.push(parameters.clone());
                Ok(fine(&true.into()))
            }
            "setWebhook" => {
                let known = ["url", "secret_token", "allowed_updates", "drop_pending_updates"];
                only(parameters, &known).map_err(bad)?;
                let text = |name: &str| parameters[name].as_str().unwrap_or_default().to_owned();
                if !text("url").starts_with("https://") {
                    return Err(bad(
                        "bad webhook: An HTTPS URL must be provided for webhook".to_owned()
                    ));
                }
                self.webhook = Some((text("url"), text("secret_token")));
                Ok(fine(&true.into()))
            }
            "deleteWebhook" => {
                only(parameters, &["drop_pending_updates"]).map_err(bad)?;
                self.webhook = None;
                Ok(fine(&true.into()))
            }
            "getWebhookInfo" => {
                let url = self.webhook.as_ref().map_or("", |(url, _)| url);
                Ok(fine(&json!({ "url": url, "pending_update_count": 0 })))
            }
            _ => Err(refused(404, "Not Found")),
        }
    }

    fn chat(&self, parameters: &Value) -> Result<i64, Reply> {
        let id = parameters["chat_id"].as_i64().unwrap_or_default();
        match self.chats.get(&id) {
            Some(Chat::There) => Ok(id),
            Some(Chat::Refuses(words)) => Err(refused(403, words)),
            Some(Chat::MovedTo(to)) => {
                let body = json!({
                    "ok": false, "error_code": 400,
                    "description": "Bad Request: group chat was upgraded to a supergroup chat",
                    "parameters": { "migrate_to_chat_id": to },
                });
                Err(Reply::json(400, &body))
            }
            None => Err(refused(400, "Bad Request: chat not found")),
        }
    }
}

/// Checks that Telegram would accept a message and show all of it.
pub fn checked(message: &Value) -> Result<(), String> {
    let text = message["text"].as_str().ok_or("message text is empty")?;
    let length = text.encode_utf16().count();
    if text.trim() != text || text.is_empty() || length > 4096 {
        return Err(
            "message is too long, empty, or has space around it that would be cut".to_owned()
        );
    }
    if message["link_preview_options"]["is_disabled"] != true {
        return Err("a link would be looked at".to_owned());
    }
    let mut end = 0;
    for entity in message["entities"].as_array().into_iter().flatten() {
        let number =
            |name: &str| entity[name].as_u64().ok_or_else(|| format!("an entity has no {name}"));
        let (offset, length_here) = (number("offset")?, number("length")?);
        let known = ["bold", "pre"].iter().any(|kind| entity["type"] == *kind);
        let fits = offset + length_here <= u64::try_from(length).unwrap_or_default();
        if !known || length_here == 0 || offset < end || !fits {
            return Err(format!("an entity is unknown, empty, out of place or outside: {entity}"));
        }
        end = offset + length_here;
    }
    let keyboard = &message["reply_markup"]["inline_keyboard"];
    let rows = keyboard.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut buttons = 0;
    for row in rows {
        let row = row.as_array().filter(|row| (1..=8).contains(&row.len())).ok_or("a bad row")?;
        for button in row {
            only(button, &["text", "callback_data"])?;
            let label = button["text"].as_str().unwrap_or_default();
            let data = button["callback_data"].as_str().unwrap_or_default();
            if label.trim().is_empty() || !(1..=64).contains(&data.len()) {
                return Err("Bad Request: BUTTON_DATA_INVALID".to_owned());
            }
            buttons += 1;
        }
    }
    if buttons > 100 { Err("reply markup is too long".to_owned()) } else { Ok(()) }
}

fn only(object: &Value, known: &[&str]) -> Result<(), String> {
    let unknown =
        object.as_object().into_iter().flatten().find(|(name, _)| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |(name, _)| Err(format!("unknown parameter {name}")))
}

fn within(text: &Value, most: usize) -> Result<(), String> {
    let length = text.as_str().unwrap_or_default().encode_utf16().count();
    if length > most { Err("MESSAGE_TOO_LONG".to_owned()) } else { Ok(()) }
}

fn sent(chat: i64, id: i64, message: &Value) -> Reply {
    let chat = json!({ "id": chat, "type": "private" });
    fine(&json!({ "message_id": id, "date": 1_772_000_000, "chat": chat, "text": message["text"] }))
}

fn fine(result: &Value) -> Reply {
    Reply::json(200, &json!({ "ok": true, "result": result }))
}

fn refused(status: u16, words: &str) -> Reply {
    Reply::json(status, &json!({ "ok": false, "error_code": status, "description": words }))
}
