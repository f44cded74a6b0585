//! A Twilio account, which sends and receives text messages and `WhatsApp` messages: API calls,
//! explanations of Twilio's error codes, and verifying and reading Twilio's webhook calls.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::directory::ContactMethod;
use kernel::directory::contact::is_phone_number;
use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use sha1::Sha1;
use subtle::ConstantTimeEq;
use url::Url;

use crate::errors::OUTSIDE_WINDOW;
use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage, ParsedCall};
use crate::platform_http::{self, PlatformResponse, join_path};
use crate::{DeliveryError, ForgedCall, SecretString, UnreadableCall, WebhookCall};

/// The URL of the API that sends messages.
pub const API: &str = "https://api.twilio.com";
/// The URL of the Content API, which creates messages with buttons.
pub const CONTENT: &str = "https://content.twilio.com";

/// An account at Twilio.
#[derive(Debug, Clone)]
pub struct TwilioAccount {
    /// The URL of the API: [`API`].
    pub api: Url,
    /// The URL of the Content API: [`CONTENT`].
    pub content: Url,
    /// The account SID, `AC…`.
    pub sid: String,
    /// The account's auth token. Twilio signs its calls with it. The server authenticates with it
    /// unless an API key is set.
    pub auth_token: SecretString,
    /// An API key to authenticate with instead: `SK…` and its secret.
    pub key: Option<(String, SecretString)>,
    /// The sender of messages.
    pub sender: TwilioSender,
    /// The callback URL for delivery reports.
    pub status: Option<Url>,
}

/// The sender of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TwilioSender {
    /// A phone number, as in `+15005550006`.
    Number(String),
    /// A messaging service, `MG…`, which picks a number.
    Service(String),
}

/// An account, and the client to call it with.
#[derive(Debug)]
pub(crate) struct TwilioClient {
    account: TwilioAccount,
    client: Client,
}

impl TwilioClient {
    /// Checks the account, or says what is wrong with it.
    pub(crate) fn new(account: TwilioAccount, client: Client) -> Result<Self, String> {
        let is_sid = |text: &str, kind: &str| {
            text.strip_prefix(kind).is_some_and(|rest| {
                rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        if !is_sid(&account.sid, "AC") {
            return Err("twilio_account must be AC followed by 32 hexadecimal digits".to_owned());
        }
        if account.auth_token.reveal().is_empty() {
            return Err("twilio_auth_token is required to verify Twilio's calls".to_owned());
        }
        if account
            .key
            .as_ref()
            .is_some_and(|(sid, secret)| !is_sid(sid, "SK") || secret.reveal().is_empty())
        {
            return Err("twilio_key must be SK followed by 32 hexadecimal digits, together with \
                        twilio_key_secret"
                .to_owned());
        }
        let known = match &account.sender {
            TwilioSender::Number(number) => is_phone_number(number),
            TwilioSender::Service(sid) => is_sid(sid, "MG"),
        };
        if !known {
            return Err("the Twilio sender must be a number such as +15005550006, or a messaging \
                        service: MG followed by 32 hexadecimal digits"
                .to_owned());
        }
        Ok(Self { account, client })
    }

    /// Verifies that a call is from Twilio. The signature has no date. Repetitions have
    /// the same SID.
    pub(crate) fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        verify(&self.account.auth_token, call)
    }
}

// Sending through Twilio.

const PLATFORM: &str = "Twilio";

impl TwilioClient {
    /// Sends a message and returns its SID. The prefix is for both addresses: empty for text
    /// messages, `whatsapp:` for `WhatsApp`.
    pub(crate) async fn send(
        &self,
        prefix: &str,
        to: &str,
        what: &[(&str, &str)],
    ) -> Result<String, DeliveryError> {
        if !is_phone_number(to) {
            return Err(DeliveryError::never("a phone number must look like +491701234567"));
        }
        let call = self
            .client
            .post(self.below_account("/Messages.json"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(self.form(prefix, to, what));
        let answer = self.send_request(call).await?;
        let sid = answer.body.get("sid").and_then(Value::as_str);
        sid.map(str::to_owned).ok_or_else(|| {
            DeliveryError::later("Twilio accepted the message without returning its SID")
        })
    }

    fn form(&self, prefix: &str, to: &str, what: &[(&str, &str)]) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("To", &format!("{prefix}{to}"));
        match &self.account.sender {
            TwilioSender::Number(number) => form.append_pair("From", &format!("{prefix}{number}")),
            TwilioSender::Service(sid) => form.append_pair("MessagingServiceSid", sid),
        };
        form.extend_pairs(what);
        if let Some(status) = &self.account.status {
            form.append_pair("StatusCallback", status.as_str());
        }
        form.finish()
    }

    /// Creates content with buttons and returns its SID.
    pub(crate) async fn create_content(&self, content: &Value) -> Result<String, DeliveryError> {
        let call = self.client.post(join_path(&self.account.content, "v1/Content")).json(content);
        let answer = self.send_request(call).await?;
        let sid = answer.body.get("sid").and_then(Value::as_str);
        sid.map(str::to_owned).ok_or_else(|| {
            DeliveryError::later("Twilio created the content without returning its SID")
        })
    }

    /// Deletes created content. Content that no longer exists counts as deleted.
    pub(crate) async fn delete_content(&self, sid: &str) -> Result<(), DeliveryError> {
        let call =
            self.client.delete(join_path(&self.account.content, &format!("v1/Content/{sid}")));
        let answer =
            platform_http::read_response(PLATFORM, self.authenticated(call).send().await).await?;
        if answer.status.is_success() || answer.status.as_u16() == 404 {
            return Ok(());
        }
        Err(error_from(&answer))
    }

    /// The name of the account.
    pub(crate) async fn account_name(&self) -> Result<String, DeliveryError> {
        let answer = self.send_request(self.client.get(self.below_account(".json"))).await?;
        let text = |name: &str| answer.body.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "active" {
            return Err(DeliveryError::never(format!(
                "the account at Twilio is {}",
                text("status")
            )));
        }
        let from = match &self.account.sender {
            TwilioSender::Number(number) => number,
            TwilioSender::Service(sid) => sid,
        };
        Ok(format!("Twilio's account {} sends from {from}", text("friendly_name")))
    }

    fn below_account(&self, rest: &str) -> String {
        join_path(&self.account.api, &format!("2010-04-01/Accounts/{}{rest}", self.account.sid))
    }

    fn authenticated(&self, call: RequestBuilder) -> RequestBuilder {
        match &self.account.key {
            Some((sid, secret)) => call.basic_auth(sid, Some(secret.reveal())),
            None => call.basic_auth(&self.account.sid, Some(self.account.auth_token.reveal())),
        }
    }

    async fn send_request(&self, call: RequestBuilder) -> Result<PlatformResponse, DeliveryError> {
        let answer =
            platform_http::read_response(PLATFORM, self.authenticated(call).send().await).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(error_from(&answer)) }
    }
}

fn error_from(answer: &PlatformResponse) -> DeliveryError {
    let code = answer.body.get("code").and_then(Value::as_u64).unwrap_or_default();
    // Twilio's queue for this number is full.
    if code == 21_611 {
        return DeliveryError::later("Twilio's queue for this number is full");
    }
    if let Some(later) = answer.temporary_error(PLATFORM) {
        return later;
    }
    if let Some((why, _)) = explain_error(code) {
        return DeliveryError::never(format!("{why} ({code})"));
    }
    if answer.status.as_u16() == 401 {
        return DeliveryError::never(
            "Twilio refused the account SID with this auth token or API key",
        );
    }
    let said = answer.body.get("message").and_then(Value::as_str).unwrap_or_default();
    DeliveryError::never(format!(
        "Twilio refused it ({}, error {code}): {said}",
        answer.status.as_u16()
    ))
}

// Twilio's errors, by number. <https://www.twilio.com/docs/api/errors>

/// An error in words for the operator, and whether it is permanent for this address.
pub(crate) fn explain_error(code: u64) -> Option<(&'static str, bool)> {
    Some(match code {
        20_003 => ("Twilio refused the account SID with this auth token or API key", false),
        20_404 => ("Twilio cannot find this account; check the account SID", false),
        21_211 | 21_614 | 21_635 | 30_005 | 63_003 | 63_024 => {
            ("no one can be reached at that number", true)
        }
        21_408 => (
            "messages to that country are turned off; allow them in Twilio's console under \
             Messaging, Settings, Geo permissions",
            false,
        ),
        21_603 | 21_606 | 21_659 | 21_660 | 21_701 | 21_705 | 63_007 => (
            "the sender number or service does not belong to this account, or cannot send messages",
            false,
        ),
        21_608 => ("a Twilio trial account can send to verified numbers only", false),
        21_610 => {
            ("the person replied STOP; they must reply START to receive messages again", true)
        }
        21_612 => ("Twilio has no route from the sender's number to that number", false),
        21_605 | 21_617 => ("the message exceeds Twilio's length limit", false),
        21_656 | 63_027 | 63_028 | 63_040 | 63_041 | 63_042 => {
            ("the template does not exist, is not approved, or has different variables", false)
        }
        30_002 => ("the account at Twilio is suspended", false),
        30_003 => ("the person's phone is off or out of reach", false),
        30_004 => ("the person or their carrier blocks messages from this sender", true),
        30_006 => ("that number is a landline, or its carrier does not accept messages", true),
        30_007 => ("a carrier rejected the message as spam", false),
        30_008 => ("a carrier lost the message without giving a reason", false),
        30_034 => (
            "US carriers accept messages from registered senders only; register the number with \
             Twilio (A2P 10DLC)",
            false,
        ),
        63_016 => (OUTSIDE_WINDOW, false),
        63_018 => ("WhatsApp limits the rate of messages from this number", false),
        63_032 | 63_049 => (
            "WhatsApp did not deliver the message to protect the person from too many messages",
            false,
        ),
        _ => return None,
    })
}

// Reads Twilio's calls: inbound messages and delivery reports.

/// The words that unsubscribe a person at every carrier, as the only word of a message.
const STOP: [&str; 8] =
    ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "OPTOUT", "REVOKE"];
/// The words that subscribe a person again. Twilio also accepts YES. The server does not, because
/// that is an answer.
const START: [&str; 2] = ["START", "UNSTOP"];

/// The form of a call from Twilio.
pub(crate) struct TwilioForm(Vec<(String, String)>);

/// A text and its sender.
pub(crate) struct TwilioText<'a> {
    pub(crate) sid: &'a str,
    pub(crate) from: ContactMethod,
    pub(crate) text: &'a str,
}

impl TwilioForm {
    /// Reads the form. Every body is a form, so callers check for the required fields.
    pub(crate) fn read(call: &WebhookCall<'_>) -> Self {
        Self(url::form_urlencoded::parse(call.body).into_owned().collect())
    }

    /// A field that is present once and not empty.
    pub(crate) fn member(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        let value = found.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
        value.filter(|_| found.next().is_none())
    }

    fn expected(&self, name: &str) -> Result<&str, UnreadableCall> {
        self.member(name).ok_or_else(|| UnreadableCall(format!("expected {name} in Twilio's form")))
    }

    /// The delivery report, if the call is one.
    pub(crate) fn status(
        &self,
        means: fn(&str) -> Option<ContactMethod>,
    ) -> Result<Option<ParsedCall>, UnreadableCall> {
        let Some(status) = self.member("MessageStatus") else { return Ok(None) };
        let (sid, to) = (self.expected("MessageSid")?, self.expected("To")?);
        let state = match status {
            "delivered" => DeliveryReport::Delivered,
            "read" => DeliveryReport::Read,
            "failed" | "undelivered" => self.failed(),
            _ => return Ok(Some(acknowledge(Vec::new()))),
        };
        let what = InboundContent::Became { posted: sid.to_owned(), state };
        let inbound = means(to).map(|from| inbound(format!("{sid}.{status}"), from, None, what));
        Ok(Some(acknowledge(inbound.into_iter().collect())))
    }

    fn failed(&self) -> DeliveryReport {
        let code = self.member("ErrorCode").and_then(|code| code.parse().ok()).unwrap_or_default();
        let said = self.member("ChannelStatusMessage").or_else(|| self.member("ErrorMessage"));
        let (why, forever) = match explain_error(code) {
            Some((why, forever)) => (format!("{why} ({code})"), forever),
            None => (
                format!(
                    "Twilio reported error {code}{}",
                    said.map(|s| format!(": {s}")).unwrap_or_default()
                ),
                false,
            ),
        };
        DeliveryReport::Failed { why, forever }
    }

    /// The text and its sender. `None` if the sender cannot be a known person, such as
    /// a short code.
    pub(crate) fn inbound_text(
        &self,
        means: fn(&str) -> Option<ContactMethod>,
    ) -> Result<Option<TwilioText<'_>>, UnreadableCall> {
        let (sid, from) = (self.expected("MessageSid")?, self.expected("From")?);
        let text = self.member("Body").unwrap_or_default();
        Ok(means(from).map(|from| TwilioText { sid, from, text }))
    }

    /// The content of a text: unsubscribing or subscribing again, as Twilio or the usual words say,
    /// and an answer.
    pub(crate) fn parse_text(
        &self,
        written: TwilioText<'_>,
        name: Option<&str>,
        about: InReplyTo,
    ) -> ParsedCall {
        let TwilioText { sid, from, text } = written;
        let kind = self.member("OptOutType");
        let wish = match kind {
            Some("STOP") => Some(InboundContent::Stopped),
            Some("START") => Some(InboundContent::Resumed),
            _ => subscription_change(text),
        };
        // A START as Twilio reports it may be the answer "yes". A STOP is never an answer, and
        // neither is a HELP, which Twilio answers itself.
        let is_said = !text.trim().is_empty()
            && match (&wish, kind) {
                (Some(InboundContent::Resumed), _) => text.trim().eq_ignore_ascii_case("yes"),
                (Some(_), _) | (None, Some(_)) => false,
                (None, None) => true,
            };
        let said = is_said.then(|| InboundContent::Wrote { text: text.to_owned(), about });
        let name = name.map(str::to_owned);
        let wish =
            wish.map(|what| inbound(format!("{sid}.wish"), from.clone(), name.clone(), what));
        let said = said.map(|what| inbound(sid.to_owned(), from, name, what));
        acknowledge(wish.into_iter().chain(said).collect())
    }
}

/// Whether the text unsubscribes the person or subscribes them again, by its words alone.
pub(crate) fn subscription_change(text: &str) -> Option<InboundContent> {
    let word = text.trim().to_uppercase();
    if STOP.contains(&word.as_str()) {
        Some(InboundContent::Stopped)
    } else if START.contains(&word.as_str()) {
        Some(InboundContent::Resumed)
    } else {
        None
    }
}

/// One inbound message. A reply goes to the number it came from.
pub(crate) fn inbound(
    id: String,
    from: ContactMethod,
    name: Option<String>,
    what: InboundContent,
) -> InboundMessage {
    InboundMessage { id, from, name, place: Value::Null, what, at: None }
}

/// The answer to Twilio, which sends no message in return.
pub(crate) fn acknowledge(inbound: Vec<InboundMessage>) -> ParsedCall {
    let nothing = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response/>".to_owned();
    ParsedCall { inbound, answer: Some(("text/xml", nothing)) }
}

/// A phone number as an SMS contact method.
pub(crate) fn sms_contact(number: &str) -> Option<ContactMethod> {
    is_phone_number(number).then(|| ContactMethod::Sms(number.to_owned()))
}

// `X-Twilio-Signature`: HMAC-SHA1 with the auth token over the called URL and the form fields,
// sorted by name, name and value concatenated.

fn verify(token: &SecretString, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let shown = call
        .header("x-twilio-signature")
        .ok_or(ForgedCall("Twilio's signature is missing or duplicated"))?;
    let form: Vec<(String, String)> = url::form_urlencoded::parse(call.body).into_owned().collect();
    let fits =
        |url: &str| bool::from(signature(token, url, &form).as_bytes().ct_eq(shown.as_bytes()));
    // Twilio sometimes signs the URL without its port, and does not say when.
    if fits(call.url) || without_port(call.url).is_some_and(|url| fits(&url)) {
        Ok(())
    } else {
        Err(ForgedCall(
            "Twilio's signature is not valid; check twilio_auth_token, and that public_url is the \
             URL that Twilio calls",
        ))
    }
}

/// The signature that Twilio computes.
pub(crate) fn signature(token: &SecretString, url: &str, form: &[(String, String)]) -> String {
    let mut sorted: Vec<&(String, String)> = form.iter().collect();
    sorted.sort();
    let mut signed = url.to_owned();
    for (name, value) in sorted {
        signed.push_str(name);
        signed.push_str(value);
    }
    // HMAC takes keys of any length, so this never fails.
    let mac = Hmac::<Sha1>::new_from_slice(token.reveal().as_bytes()).map(|mut mac| {
        mac.update(signed.as_bytes());
        mac.finalize().into_bytes()
    });
    mac.map(|mac| BASE64_STANDARD.encode(mac)).unwrap_or_default()
}

fn without_port(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok().filter(|url| url.port().is_some())?;
    url.set_port(None).ok()?;
    Some(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(members: &[(&str, &str)]) -> Vec<(String, String)> {
        members.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// The example from Twilio's documentation of signatures.
    #[test]
    fn signed_as_twilio_has_it() {
        let signed = signature(
            &SecretString::new("12345"),
            "https://mycompany.com/myapp.php?foo=1&bar=2",
            &form(&[
                ("CallSid", "CA1234567890ABCDE"),
                ("Caller", "+14158675309"),
                ("Digits", "1234"),
                ("From", "+14158675309"),
                ("To", "+18005551212"),
            ]),
        );
        assert_eq!(signed, "RSOYDt4T1cUTdK1PDd93/VVr8B8=");
    }

    #[test]
    fn a_port_may_be_dropped() {
        let dropped = without_port("https://ask.example.com:8443/x?y=1");
        assert_eq!(dropped.as_deref(), Some("https://ask.example.com/x?y=1"));
        assert_eq!(without_port("https://ask.example.com/x"), None);
    }
}
