//! Twilio: its Messages and Content APIs, and its calls.
//! <https://www.twilio.com/docs/messaging/api/message-resource>

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kernel::directory::contact::is_phone_number;
use serde_json::{Value, json};
use url::Url;

use super::fake_platform::{Call, FakePlatform, Inbound, PlatformBehavior, Reply, lock};
use crate::SecretString;
use crate::twilio::{TwilioAccount, TwilioSender, signature};

/// The account SID.
pub const SID: &str = "AC0123456789abcdef0123456789abcdef";
/// The auth token of the account.
pub const AUTH_TOKEN: &str = "auth-token-of-twilio";
/// The phone number of the account.
pub const NUMBER: &str = "+15005550006";
/// The messaging service of the account.
pub const SERVICE: &str = "MG0123456789abcdef0123456789abcdef";
/// The API key of the account.
pub const KEY: (&str, &str) = ("SK0123456789abcdef0123456789abcdef", "key-secret");

/// Twilio with one account.
#[derive(Debug)]
pub struct Twilio {
    stand: FakePlatform,
    play: Arc<Accounts>,
}

#[derive(Debug, Default)]
struct Accounts {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sent: Vec<Vec<(String, String)>>,
    /// The error code for each rejected recipient.
    refusing: BTreeMap<String, u64>,
    laid_out: BTreeMap<String, Value>,
    templates: BTreeMap<String, usize>,
    number: usize,
}

impl Deref for Twilio {
    type Target = FakePlatform;

    fn deref(&self) -> &FakePlatform {
        &self.stand
    }
}

impl Twilio {
    /// Starts Twilio with an account that has sent nothing.
    pub async fn start() -> io::Result<Self> {
        let play = Arc::new(Accounts::default());
        Ok(Self { stand: FakePlatform::of(play.clone()).await?, play })
    }

    /// The settings of the account.
    pub fn account(&self, status: Option<&str>) -> TwilioAccount {
        TwilioAccount {
            api: self.base(),
            content: self.base(),
            sid: SID.to_owned(),
            auth_token: SecretString::new(AUTH_TOKEN),
            key: None,
            sender: TwilioSender::Number(NUMBER.to_owned()),
            status: status.and_then(|url| Url::parse(url).ok()),
        }
    }

    /// The accepted messages.
    pub fn sent(&self) -> Vec<Vec<(String, String)>> {
        lock(&self.play.state).sent.clone()
    }

    /// Rejects all messages to a recipient with this error code.
    pub fn refuse(&self, to: &str, code: u64) {
        lock(&self.play.state).refusing.insert(to.to_owned(), code);
    }

    /// Adds an approved template with this many variables.
    pub fn template(&self, sid: &str, variables: usize) {
        lock(&self.play.state).templates.insert(sid.to_owned(), variables);
    }

    /// The content with buttons that exists at Twilio.
    pub fn laid_out(&self) -> Vec<Value> {
        lock(&self.play.state).laid_out.values().cloned().collect()
    }

    /// A call from Twilio with this form.
    pub fn inbound(&self, url: &str, form: &[(&str, &str)]) -> Inbound {
        let mut members = vec![("AccountSid", SID), ("ApiVersion", "2010-04-01")];
        members.extend(form);
        let members: Vec<(String, String)> =
            members.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let signed = signature(&SecretString::new(AUTH_TOKEN), url, &members);
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(&members);
        Inbound {
            method: "POST",
            url: url.to_owned(),
            headers: vec![
                (
                    "content-type".to_owned(),
                    "application/x-www-form-urlencoded; charset=UTF-8".to_owned(),
                ),
                ("i-twilio-idempotency-token".to_owned(), "1b2c".to_owned()),
                ("x-twilio-signature".to_owned(), signed),
            ],
            body: body.finish().into_bytes(),
        }
    }

    /// A call for an inbound text.
    pub fn write(&self, url: &str, sid: &str, from: &str, text: &str) -> Inbound {
        let form = [
            ("MessageSid", sid),
            ("SmsSid", sid),
            ("SmsMessageSid", sid),
            ("SmsStatus", "received"),
            ("From", from),
            ("To", NUMBER),
            ("Body", text),
            ("NumMedia", "0"),
            ("NumSegments", "1"),
        ];
        self.inbound(url, &form)
    }

    /// A call with a delivery report.
    pub fn became(&self, url: &str, sid: &str, to: &str, status: &str, error: &str) -> Inbound {
        let form = [
            ("MessageSid", sid),
            ("SmsSid", sid),
            ("MessageStatus", status),
            ("SmsStatus", status),
            ("To", to),
            ("From", NUMBER),
            ("ErrorCode", error),
        ];
        self.inbound(url, &form)
    }
}

#[async_trait]
impl PlatformBehavior for Accounts {
    async fn answer(&self, call: &Call) -> Reply {
        let basic = |user: &str, password: &str| {
            format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
        };
        let shown = call.header("authorization").unwrap_or_default();
        if shown != basic(SID, AUTH_TOKEN) && shown != basic(KEY.0, KEY.1) {
            return refused(401, 20_003, "Authenticate");
        }
        let account = format!("/2010-04-01/Accounts/{SID}");
        let mut state = lock(&self.state);
        match (call.method.as_str(), call.path.as_str()) {
            ("GET", path) if path == format!("{account}.json") => {
                Reply::json(200, &json!({ "sid": SID, "friendly_name": "Ops", "status": "active" }))
            }
            ("POST", path) if path == format!("{account}/Messages.json") => {
                let kind = call.header("content-type").unwrap_or_default();
                if kind == "application/x-www-form-urlencoded" {
                    state.take(call.form())
                } else {
                    refused(400, 20_001, "Unsupported content type")
                }
            }
            ("POST", "/v1/Content") => {
                if let Err(wrong) = checked_content(&call.json()) {
                    return refused(400, 20_001, &wrong);
                }
                let sid = format!("HX{:032x}", state.next());
                state.laid_out.insert(sid.clone(), call.json());
                Reply::json(201, &json!({ "sid": sid }))
            }
            ("DELETE", path) => {
                let sid = path.strip_prefix("/v1/Content/").unwrap_or_default();
                match state.laid_out.remove(sid) {
                    Some(_) => Reply { status: 204, headers: Vec::new(), body: String::new() },
                    None => refused(404, 20_404, "The requested resource was not found"),
                }
            }
            _ => refused(404, 20_404, "The requested resource was not found"),
        }
    }

    fn busy(&self, seconds: u64) -> Reply {
        let mut reply = refused(429, 20_429, "Too Many Requests");
        reply.headers.push(("retry-after", seconds.to_string()));
        reply
    }
}

impl State {
    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn take(&mut self, form: Vec<(String, String)>) -> Reply {
        let known = [
            "To",
            "From",
            "MessagingServiceSid",
            "Body",
            "StatusCallback",
            "ContentSid",
            "ContentVariables",
        ];
        let member = |name: &str| {
            form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
        };
        if let Some((name, _)) = form.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return refused(400, 20_001, &format!("unknown parameter {name}"));
        }
        let (to, from) = (member("To"), member("From"));
        let (body, content) = (member("Body"), member("ContentSid"));
        if let Some(code) = self.refusing.get(to) {
            return refused(400, *code, "refused as told");
        }
        let plain = to.strip_prefix("whatsapp:").unwrap_or(to);
        if !is_phone_number(plain) {
            return refused(400, 21_211, "The 'To' number is not a valid phone number.");
        }
        let is_whatsapp = to.starts_with("whatsapp:");
        let ours = if is_whatsapp { format!("whatsapp:{NUMBER}") } else { NUMBER.to_owned() };
        if from != ours && member("MessagingServiceSid") != SERVICE {
            return refused(400, 21_606, "The From phone number is not a valid sender.");
        }
        if body.is_empty() == content.is_empty() {
            return refused(400, 21_619, "A text message body or media urls must be specified.");
        }
        if body.chars().count() > 1600 {
            return refused(
                400,
                21_617,
                "The concatenated message body exceeds the 1600 character limit.",
            );
        }
        if !content.is_empty() && !self.laid_out.contains_key(content) {
            let given =
                serde_json::from_str::<Value>(member("ContentVariables")).unwrap_or_default();
            let given = given.as_object().cloned().unwrap_or_default();
            let bare = |value: &Value| {
                value.as_str().is_some_and(|text| {
                    !text.is_empty() && !text.contains(['\n', '\t']) && !text.contains("    ")
                })
            };
            if self.templates.get(content) != Some(&given.len()) || !given.values().all(bare) {
                return refused(400, 21_656, "The ContentVariables Parameter is invalid.");
            }
        }
        let sid = format!("SM{:032x}", self.next());
        self.sent.push(form);
        Reply::json(201, &json!({ "sid": sid, "status": "queued", "error_code": null }))
    }
}

/// Checks that Twilio would accept content with buttons, and that `WhatsApp` would show all of it.
pub fn checked_content(content: &Value) -> Result<(), String> {
    let types = content["types"].as_object().filter(|types| types.len() == 1);
    let (kind, laid_out) =
        types.and_then(|types| types.iter().next()).ok_or("expected one type")?;
    if content["language"] != "en" || !content["friendly_name"].is_string() {
        return Err("expected a language and a name".to_owned());
    }
    let short = |value: &Value, most: usize, name: &str| {
        let text = value.as_str().unwrap_or_default();
        let fits = (1..=most).contains(&text.chars().count()) && !text.contains("{{");
        if fits && text.trim() == text { Ok(()) } else { Err(format!("{name} is {text:?}")) }
    };
    short(&laid_out["body"], 1024, "body")?;
    let (items, most, title, width) = match kind.as_str() {
        "twilio/quick-reply" => ("actions", 3, "title", 20),
        "twilio/list-picker" => ("items", 10, "item", 24),
        _ => return Err(format!("unknown type {kind}")),
    };
    if items == "items" {
        short(&laid_out["button"], 20, "button")?;
    }
    let items = laid_out[items].as_array().ok_or("nothing to press")?;
    if !(1..=most).contains(&items.len()) {
        return Err("too much to press, or too little".to_owned());
    }
    let mut titles = std::collections::BTreeSet::new();
    for item in items {
        short(&item[title], width, title)?;
        short(&item["id"], 200, "id")?;
        if item.get("description").is_some() {
            short(&item["description"], 72, "description")?;
        }
        if !titles.insert(item[title].to_string()) {
            return Err("two have the same title".to_owned());
        }
    }
    Ok(())
}

fn refused(status: u16, code: u64, message: &str) -> Reply {
    let more = format!("https://www.twilio.com/docs/errors/{code}");
    let body = json!({ "code": code, "message": message, "more_info": more, "status": status });
    Reply::json(status, &body)
}
