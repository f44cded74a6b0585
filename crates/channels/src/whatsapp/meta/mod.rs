//! Meta's Cloud API. <https://developers.facebook.com/docs/whatsapp/cloud-api>

mod codes;
mod parse;
pub(crate) mod verify;

use std::borrow::Cow;

use async_trait::async_trait;
use codes::{MetaErrorKind, explain_error};
use kernel::directory::contact::is_phone_number;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use url::Url;
use views::message_card::MessageCard;
use views::message_card::plain_text::{beginning, units};
use views::t;

use super::via_twilio::ReplyWindow;
use super::{NAME, Template, render};
use crate::inbound::{InboundContent, ParsedCall};
use crate::platform_http::{self, PlatformResponse, join_path};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage,
    SecretString, UnreadableCall, WebhookCall,
};

/// The URL of Meta's Graph API, with the version that this module supports.
pub const GRAPH: &str = "https://graph.facebook.com/v23.0";
const PLATFORM: &str = "Meta";
/// The longest text that Meta accepts.
const LONGEST: usize = 4096;

/// The settings of a number at Meta.
#[derive(Debug, Clone)]
pub struct MetaSettings {
    /// The URL of the Graph API, with a version: [`GRAPH`].
    pub graph: Url,
    /// The id of the sending number, which is not the number itself.
    pub phone_number_id: String,
    /// An access token of a system user.
    pub token: SecretString,
    /// The app secret that Meta signs with.
    pub app_secret: SecretString,
    /// The verify token that Meta sends when the operator registers the webhook. The
    /// operator chooses it.
    pub verify_token: SecretString,
    /// The template for people who have not written for a day.
    pub template: Option<Template>,
}

/// `WhatsApp` through Meta.
#[derive(Debug)]
pub struct MetaWhatsapp {
    settings: MetaSettings,
    client: Client,
    window: ReplyWindow,
}

/// Why Meta did not accept a message.
enum MetaSendError {
    /// The recipient has not written for a day.
    Window,
    Failed(DeliveryError),
}

impl MetaWhatsapp {
    /// Creates the channel, or says what is wrong with its settings.
    pub fn new(settings: MetaSettings, client: Client) -> Result<Self, String> {
        let id = &settings.phone_number_id;
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(
                "whatsapp_phone_id must consist of digits, as Meta shows it beside the number"
                    .to_owned(),
            );
        }
        let secrets = [
            ("access token", &settings.token),
            ("app secret", &settings.app_secret),
            ("verify token", &settings.verify_token),
        ];
        if let Some((name, _)) = secrets.iter().find(|(_, secret)| secret.reveal().is_empty()) {
            return Err(format!("WhatsApp's {name} is missing"));
        }
        if settings.template.as_ref().is_some_and(|t| t.name.is_empty() || t.language.is_empty()) {
            return Err("whatsapp_template requires a name and a language".to_owned());
        }
        Ok(Self { settings, client, window: ReplyWindow::default() })
    }

    async fn send(
        &self,
        to: &str,
        above: Option<&str>,
        mut what: Value,
    ) -> Result<PostedMessage, MetaSendError> {
        if let Value::Object(members) = &mut what {
            members.insert("messaging_product".to_owned(), "whatsapp".into());
            members.insert("recipient_type".to_owned(), "individual".into());
            members.insert("to".to_owned(), to.trim_start_matches('+').into());
            if let Some(above) = above {
                members.insert("context".to_owned(), json!({ "message_id": above }));
            }
        }
        let path = format!("{}/messages", self.settings.phone_number_id);
        let call = self.client.post(join_path(&self.settings.graph, &path)).json(&what);
        let answer = self.send_request(call).await.map_err(MetaSendError::Failed)?;
        if !answer.status.is_success() {
            return Err(error_from(&answer));
        }
        let id = answer.body.pointer("/messages/0/id").and_then(Value::as_str);
        let id = id.ok_or_else(|| {
            MetaSendError::Failed(DeliveryError::later(
                "Meta accepted the message without returning its ID",
            ))
        })?;
        Ok(PostedMessage { id: id.to_owned(), thread: None, place: Value::Null })
    }

    async fn send_request(&self, call: RequestBuilder) -> Result<PlatformResponse, DeliveryError> {
        platform_http::read_response(
            PLATFORM,
            call.bearer_auth(self.settings.token.reveal()).send().await,
        )
        .await
    }
}

impl From<MetaSendError> for DeliveryError {
    fn from(wrong: MetaSendError) -> Self {
        match wrong {
            MetaSendError::Window => Self::never(crate::errors::OUTSIDE_WINDOW),
            MetaSendError::Failed(failed) => failed,
        }
    }
}

fn error_from(answer: &PlatformResponse) -> MetaSendError {
    let number =
        |name: &str| answer.body.pointer(&format!("/error/{name}")).and_then(Value::as_u64);
    let code = match (number("code"), number("error_subcode")) {
        // The object of the call, which is the number, does not exist.
        (Some(100), Some(33)) => 33,
        (code, _) => code.unwrap_or(u64::MAX),
    };
    if code == codes::OUTSIDE_WINDOW_CODE {
        return MetaSendError::Window;
    }
    MetaSendError::Failed(match explain_error(code) {
        Some((why, MetaErrorKind::Passing)) => {
            DeliveryError::Later { why: format!("{why} ({code})"), after: answer.after }
        }
        Some((why, MetaErrorKind::Lasting | MetaErrorKind::Forever)) => {
            DeliveryError::never(format!("{why} ({code})"))
        }
        None => answer.temporary_error(PLATFORM).unwrap_or_else(|| {
            let text = |path: &str| answer.body.pointer(path).and_then(Value::as_str);
            let said = text("/error/error_data/details").or_else(|| text("/error/message"));
            let status = answer.status.as_u16();
            DeliveryError::never(format!(
                "Meta refused the call ({status}): {}",
                said.unwrap_or_default()
            ))
        }),
    })
}

/// A message in the format of the Cloud API.
fn cloud_message(message: &Value) -> Value {
    let body = message.get("body").cloned().unwrap_or_default();
    let interactive = |kind: &str, action: Value| {
        let inside = json!({ "type": kind, "body": { "text": body }, "action": action });
        json!({ "type": "interactive", "interactive": inside })
    };
    if let Some(buttons) = message.get("buttons").and_then(Value::as_array) {
        let button = |button: &Value| json!({ "type": "reply", "reply": button });
        let buttons: Vec<Value> = buttons.iter().map(button).collect();
        return interactive("button", json!({ "buttons": buttons }));
    }
    if let Some(rows) = message.get("rows") {
        let sections = json!([{ "title": t!("chat-answers"), "rows": rows }]);
        return interactive("list", json!({ "button": t!("chat-choose"), "sections": sections }));
    }
    json!({ "type": "text", "text": { "body": body, "preview_url": false } })
}

fn templated(template: &Template, message: &Value) -> Value {
    let place = |text: Cow<'_, str>| json!({ "type": "text", "text": text });
    let places: Vec<Value> = template.filled(message).map(place).collect();
    let body = json!({ "type": "body", "parameters": places });
    let components = if places.is_empty() { Vec::new() } else { vec![body] };
    let inside = json!({
        "name": template.name,
        "language": { "code": template.language },
        "components": components,
    });
    json!({ "type": "template", "template": inside })
}

#[async_trait]
impl Channel for MetaWhatsapp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render::render(card, LONGEST)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let OutboundMessage { to, message, thread, now, .. } = outbound;
        if !is_phone_number(to) {
            return Err(DeliveryError::never("a phone number must look like +491701234567"));
        }
        let template = self.settings.template.as_ref();
        if let Some(template) = template.filter(|_| !self.window.is_open(to, now)) {
            return Ok(self.send(to, thread, templated(template, message)).await?);
        }
        match (self.send(to, thread, cloud_message(message)).await, template) {
            (Err(MetaSendError::Window), Some(template)) => {
                Ok(self.send(to, thread, templated(template, message)).await?)
            }
            (sent, _) => Ok(sent?),
        }
    }

    /// Meta's signatures have no date, and Meta repeats unacknowledged calls for days. Repetitions
    /// have the same id.
    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        verify::verify(&self.settings.app_secret, &self.settings.verify_token, call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        if let Some(greeting) = verify::VerificationRequest::of(call) {
            return Ok(ParsedCall {
                inbound: Vec::new(),
                answer: Some(("text/plain", greeting.challenge)),
            });
        }
        let unread = |error: serde_json::Error| {
            UnreadableCall(format!(
                "expected a notification of a WhatsApp Business account: {error}"
            ))
        };
        let notice: parse::MetaWebhook = serde_json::from_slice(call.body).map_err(unread)?;
        let inbound = notice.inbound(&self.settings.phone_number_id).map_err(unread)?;
        for said in &inbound {
            if let (Some(number), false) =
                (said.from.address(), matches!(said.what, InboundContent::Became { .. }))
            {
                self.window.record_message(number, said.at.unwrap_or(call.now).min(call.now));
            }
        }
        Ok(ParsedCall::of(inbound))
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        let Some(to) = inbound.from.address().filter(|_| !words.is_empty()) else { return Ok(()) };
        let above = inbound.place.get("message").and_then(Value::as_str);
        let message = json!({ "body": beginning(words, LONGEST, units) });
        Ok(self.send(to, above, cloud_message(&message)).await.map(|_| ())?)
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let path =
            format!("{}?fields=display_phone_number,verified_name", self.settings.phone_number_id);
        let answer =
            self.send_request(self.client.get(join_path(&self.settings.graph, &path))).await?;
        if !answer.status.is_success() {
            return Err(error_from(&answer).into());
        }
        let text = |name: &str| answer.body.get(name).and_then(Value::as_str).unwrap_or("?");
        let without = if self.settings.template.is_none() {
            ". Without a template, the server can only reach people who wrote within the last 24 \
             hours"
        } else {
            ""
        };
        Ok(format!(
            "WhatsApp sends from {} as {}{without}",
            text("display_phone_number"),
            text("verified_name")
        ))
    }
}
