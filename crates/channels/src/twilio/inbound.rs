//! Reads Twilio's calls: inbound messages and delivery reports.

use kernel::directory::Means;
use kernel::directory::contact::is_phone_number;
use serde_json::Value;

use super::codes::explained;
use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage, ParsedCall};
use crate::{UnreadableCall, WebhookCall};

/// The words that unsubscribe a person at every carrier, as the only word of a message.
const STOP: [&str; 8] =
    ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "OPTOUT", "REVOKE"];
/// The words that subscribe a person again. Twilio also accepts YES. The server does not, because
/// that is an answer.
const START: [&str; 2] = ["START", "UNSTOP"];

/// The form of a call from Twilio.
pub(crate) struct Form(Vec<(String, String)>);

/// A text and its sender.
pub(crate) struct Written<'a> {
    pub(crate) sid: &'a str,
    pub(crate) from: Means,
    pub(crate) text: &'a str,
}

impl Form {
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
        self.member(name)
            .ok_or_else(|| UnreadableCall(format!("expected {name} in a form of Twilio's")))
    }

    /// The delivery report, if the call is one.
    pub(crate) fn status(
        &self,
        means: fn(&str) -> Option<Means>,
    ) -> Result<Option<ParsedCall>, UnreadableCall> {
        let Some(status) = self.member("MessageStatus") else { return Ok(None) };
        let (sid, to) = (self.expected("MessageSid")?, self.expected("To")?);
        let state = match status {
            "delivered" => DeliveryReport::Delivered,
            "read" => DeliveryReport::Read,
            "failed" | "undelivered" => self.failed(),
            _ => return Ok(Some(taken(Vec::new()))),
        };
        let what = InboundContent::Became { posted: sid.to_owned(), state };
        let inbound = means(to).map(|from| inbound(format!("{sid}.{status}"), from, None, what));
        Ok(Some(taken(inbound.into_iter().collect())))
    }

    fn failed(&self) -> DeliveryReport {
        let code = self.member("ErrorCode").and_then(|code| code.parse().ok()).unwrap_or_default();
        let said = self.member("ChannelStatusMessage").or_else(|| self.member("ErrorMessage"));
        let (why, forever) = match explained(code) {
            Some((why, forever)) => (format!("{why} ({code})"), forever),
            None => (
                format!(
                    "Twilio says error {code}{}",
                    said.map(|s| format!(": {s}")).unwrap_or_default()
                ),
                false,
            ),
        };
        DeliveryReport::Failed { why, forever }
    }

    /// The text and its sender. `None` if the sender cannot be a known person, such as
    /// a short code.
    pub(crate) fn written(
        &self,
        means: fn(&str) -> Option<Means>,
    ) -> Result<Option<Written<'_>>, UnreadableCall> {
        let (sid, from) = (self.expected("MessageSid")?, self.expected("From")?);
        let text = self.member("Body").unwrap_or_default();
        Ok(means(from).map(|from| Written { sid, from, text }))
    }

    /// The content of a text: unsubscribing or subscribing again, as Twilio or the usual words say,
    /// and an answer.
    pub(crate) fn said(
        &self,
        written: Written<'_>,
        name: Option<&str>,
        about: InReplyTo,
    ) -> ParsedCall {
        let Written { sid, from, text } = written;
        let kind = self.member("OptOutType");
        let wish = match kind {
            Some("STOP") => Some(InboundContent::Stopped),
            Some("START") => Some(InboundContent::Resumed),
            _ => wish(text),
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
        taken(wish.into_iter().chain(said).collect())
    }
}

/// Whether the text unsubscribes the person or subscribes them again, by its words alone.
pub(crate) fn wish(text: &str) -> Option<InboundContent> {
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
    from: Means,
    name: Option<String>,
    what: InboundContent,
) -> InboundMessage {
    InboundMessage { id, from, name, place: Value::Null, what, at: None }
}

/// The answer to Twilio, which sends no message in return.
pub(crate) fn taken(inbound: Vec<InboundMessage>) -> ParsedCall {
    let nothing = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response/>".to_owned();
    ParsedCall { inbound, answer: Some(("text/xml", nothing)) }
}

/// A phone number as an SMS contact method.
pub(crate) fn sms(number: &str) -> Option<Means> {
    is_phone_number(number).then(|| Means::Sms(number.to_owned()))
}
