//! Meta's Cloud API for `WhatsApp`. <https://developers.facebook.com/docs/whatsapp/cloud-api>

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use url::Url;

use super::fake_platform::{Call, FakePlatform, Inbound, PlatformBehavior, Reply, lock};
use crate::SecretString;
use crate::whatsapp::MetaSettings;
use crate::whatsapp::meta::verify::signature;

/// The id of the phone number.
pub const PHONE_NUMBER_ID: &str = "106540352242922";
/// The access token.
pub const TOKEN: &str = "EAAtoken";
/// The app secret.
pub const APP_SECRET: &str = "app-secret-of-meta";
/// The verify token that the operator chose.
pub const VERIFY_TOKEN: &str = "chosen-by-us";

/// Meta with one phone number.
#[derive(Debug)]
pub struct Whatsapp {
    stand: FakePlatform,
    play: Arc<Number>,
}

#[derive(Debug, Default)]
struct Number {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sent: Vec<Value>,
    /// The error code for each rejected recipient.
    refusing: BTreeMap<String, u64>,
    /// Approved templates, with the number of their placeholders.
    templates: BTreeMap<(String, String), usize>,
}

impl Deref for Whatsapp {
    type Target = FakePlatform;

    fn deref(&self) -> &FakePlatform {
        &self.stand
    }
}

impl Whatsapp {
    /// Starts Meta with a number that has sent nothing.
    pub async fn start() -> io::Result<Self> {
        let play = Arc::new(Number::default());
        Ok(Self { stand: FakePlatform::of(play.clone()).await?, play })
    }

    /// The settings of the number.
    pub fn settings(&self) -> MetaSettings {
        MetaSettings {
            graph: Url::parse(&format!("{}v23.0", self.base())).unwrap_or_else(|_| self.base()),
            phone_number_id: PHONE_NUMBER_ID.to_owned(),
            token: SecretString::new(TOKEN),
            app_secret: SecretString::new(APP_SECRET),
            verify_token: SecretString::new(VERIFY_TOKEN),
            template: None,
        }
    }

    /// The accepted messages.
    pub fn sent(&self) -> Vec<Value> {
        lock(&self.play.state).sent.clone()
    }

    /// Rejects messages to a recipient with this error code. With 131047, templates
    /// are still accepted.
    pub fn refuse(&self, to: &str, code: u64) {
        lock(&self.play.state).refusing.insert(to.to_owned(), code);
    }

    /// Adds an approved template with this many placeholders.
    pub fn template(&self, name: &str, language: &str, places: usize) {
        lock(&self.play.state).templates.insert((name.to_owned(), language.to_owned()), places);
    }

    /// A signed call with messages or statuses.
    pub fn inbound(&self, url: &str, number: &str, news: &Value) -> Inbound {
        let mut value = json!({
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "15550783881", "phone_number_id": number },
        });
        if let (Value::Object(members), Value::Object(news)) = (&mut value, news) {
            members.extend(news.clone());
        }
        let change = json!({ "value": value, "field": "messages" });
        let entry = json!({ "id": "102290129340398", "changes": [change] });
        let body = json!({ "object": "whatsapp_business_account", "entry": [entry] });
        signed(url, body.to_string().into_bytes())
    }

    /// A call for an inbound message. Content other than text is passed through.
    pub fn message(&self, url: &str, from: &str, seconds: i64, what: &Value) -> Inbound {
        let mut message =
            json!({ "from": from, "id": "wamid.IN", "timestamp": seconds.to_string() });
        if let (Value::Object(members), Value::Object(what)) = (&mut message, what) {
            members.extend(what.clone());
        }
        let contacts = json!([{ "profile": { "name": "Ada" }, "wa_id": from }]);
        let news = json!({ "contacts": contacts, "messages": [message] });
        self.inbound(url, PHONE_NUMBER_ID, &news)
    }

    /// A call with a delivery report.
    pub fn status_update(
        &self,
        url: &str,
        id: &str,
        to: &str,
        status: &str,
        errors: &Value,
    ) -> Inbound {
        let status = json!({
            "id": id, "status": status, "timestamp": "1772000000", "recipient_id": to, "errors": errors,
        });
        self.inbound(url, PHONE_NUMBER_ID, &json!({ "statuses": [status] }))
    }

    /// Meta's verification request for a new webhook URL.
    pub fn verification(&self, url: &str, token: &str) -> Inbound {
        let query = format!("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={token}");
        Inbound {
            method: "GET",
            url: format!("{url}?{query}"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }
}

/// A signed call with this body.
pub fn signed(url: &str, body: Vec<u8>) -> Inbound {
    let headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("x-hub-signature-256".to_owned(), signature(&SecretString::new(APP_SECRET), &body)),
    ];
    Inbound { method: "POST", url: url.to_owned(), headers, body }
}

#[async_trait]
impl PlatformBehavior for Number {
    async fn answer(&self, call: &Call) -> Reply {
        if call.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return refused(401, 190, "Invalid OAuth access token");
        }
        let number = format!("/v23.0/{PHONE_NUMBER_ID}");
        if call.method == "GET" && call.path.starts_with(&format!("{number}?fields=")) {
            let found = json!({ "display_phone_number": "+1 555-078-3881", "verified_name": "Ops", "id": "1" });
            return Reply::json(200, &found);
        }
        if call.method != "POST" || call.path != format!("{number}/messages") {
            let body = json!({ "error": { "message": "Unsupported post request. Object does not exist",
                "type": "GraphMethodException", "code": 100, "error_subcode": 33, "fbtrace_id": "x" } });
            return Reply::json(400, &body);
        }
        if call.header("content-type") != Some("application/json") {
            return refused(400, 100, "expected JSON");
        }
        let message = call.json();
        let mut state = lock(&self.state);
        let to = message["to"].as_str().unwrap_or_default().to_owned();
        let is_template = message["type"] == "template";
        if let Some(code) =
            state.refusing.get(&to).filter(|code| !(is_template && **code == 131_047))
        {
            return refused(400, *code, "refused as told");
        }
        if let Err(wrong) = checked(&message) {
            return refused(400, 131_009, &wrong);
        }
        if is_template {
            let text =
                |path: &str| message.pointer(path).and_then(Value::as_str).unwrap_or_default();
            let key =
                (text("/template/name").to_owned(), text("/template/language/code").to_owned());
            let places = message.pointer("/template/components/0/parameters");
            let places = places.and_then(Value::as_array).map_or(0, Vec::len);
            match state.templates.get(&key) {
                None => {
                    return refused(
                        404,
                        132_001,
                        "Template name does not exist in the translation",
                    );
                }
                Some(expected) if *expected != places => {
                    return refused(400, 132_000, "Number of parameters does not match");
                }
                Some(_) => {}
            }
        }
        state.sent.push(message);
        let id = format!("wamid.OUT{}", state.sent.len());
        let contacts = json!([{ "input": to, "wa_id": to }]);
        let taken = json!({ "messaging_product": "whatsapp", "contacts": contacts, "messages": [{ "id": id }] });
        Reply::json(200, &taken)
    }

    fn busy(&self, seconds: u64) -> Reply {
        let mut reply = refused(429, 130_429, "Rate limit hit");
        reply.headers.push(("retry-after", seconds.to_string()));
        reply
    }
}

/// Checks that the Cloud API would accept a message and show all of it.
pub fn checked(message: &Value) -> Result<(), String> {
    let kind = message["type"].as_str().unwrap_or_default();
    let known = ["messaging_product", "recipient_type", "to", "type", "context", kind];
    only(message, &known)?;
    let to = message["to"].as_str().unwrap_or_default();
    if message["messaging_product"] != "whatsapp"
        || !to.bytes().all(|b| b.is_ascii_digit())
        || to.is_empty()
    {
        return Err("messaging_product or to is wrong".to_owned());
    }
    match kind {
        "text" => {
            only(&message["text"], &["body", "preview_url"])?;
            short(&message["text"]["body"], 4096)?;
            if message["text"]["preview_url"] == false {
                Ok(())
            } else {
                Err("a link would be looked at".to_owned())
            }
        }
        "interactive" => interactive(&message["interactive"]),
        "template" => template(&message["template"]),
        _ => Err(format!("unknown type {kind}")),
    }
}

fn interactive(inside: &Value) -> Result<(), String> {
    only(inside, &["type", "body", "action"])?;
    short(&inside["body"]["text"], 1024)?;
    let action = &inside["action"];
    let (items, most, width, id) = match inside["type"].as_str() {
        Some("button") => {
            only(action, &["buttons"])?;
            let buttons = action["buttons"].as_array().cloned().unwrap_or_default();
            if !buttons.iter().all(|button| button["type"] == "reply") {
                return Err("a button that is no reply".to_owned());
            }
            (buttons.iter().map(|button| button["reply"].clone()).collect::<Vec<_>>(), 3, 20, 256)
        }
        Some("list") => {
            only(action, &["button", "sections"])?;
            short(&action["button"], 20)?;
            short(&action["sections"][0]["title"], 24)?;
            (action["sections"][0]["rows"].as_array().cloned().unwrap_or_default(), 10, 24, 200)
        }
        _ => return Err("unknown interactive type".to_owned()),
    };
    if !(1..=most).contains(&items.len()) {
        return Err("too much to press, or too little".to_owned());
    }
    let mut titles = BTreeSet::new();
    for item in &items {
        only(item, &["id", "title", "description"])?;
        short(&item["title"], width)?;
        short(&item["id"], id)?;
        if item.get("description").is_some() {
            short(&item["description"], 72)?;
        }
        if !titles.insert(item["title"].to_string()) {
            return Err("Duplicated title".to_owned());
        }
    }
    Ok(())
}

fn template(inside: &Value) -> Result<(), String> {
    only(inside, &["name", "language", "components"])?;
    let mut whole = 0;
    for place in inside["components"][0]["parameters"].as_array().into_iter().flatten() {
        let text = place["text"].as_str().unwrap_or_default();
        short(&place["text"], 1024)?;
        whole += text.chars().count();
        if place["type"] != "text" || text.contains(['\n', '\t']) || text.contains("     ") {
            return Err(
                "Param text cannot have new-line/tab characters or more than 4 consecutive spaces"
                    .to_owned(),
            );
        }
    }
    if whole > 1024 { Err("Translated text too long".to_owned()) } else { Ok(()) }
}

fn short(value: &Value, most: usize) -> Result<(), String> {
    let text = value.as_str().unwrap_or_default();
    let fits = (1..=most).contains(&text.encode_utf16().count()) && text.trim() == text;
    if fits {
        Ok(())
    } else {
        Err(format!("empty, longer than {most}, or with space around: {text:?}"))
    }
}

fn only(object: &Value, known: &[&str]) -> Result<(), String> {
    let unknown =
        object.as_object().into_iter().flatten().find(|(name, _)| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |(name, _)| Err(format!("unknown parameter {name}")))
}

fn refused(status: u16, code: u64, message: &str) -> Reply {
    let error = json!({
        "message": format!("(#{code}) {message}"),
        "type": "OAuthException",
        "code": code,
        "error_data": { "messaging_product": "whatsapp", "details": message },
        "fbtrace_id": "Az8or2yhqkZfEZ",
    });
    Reply::json(status, &json!({ "error": error }))
}
