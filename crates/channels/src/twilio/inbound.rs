//! What Twilio says: somebody wrote, or what became of a message.

use kernel::directory::Means;
use kernel::directory::contact::is_phone_number;
use serde_json::Value;

use super::codes::explained;
use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage, ParsedCall};
use crate::{UnreadableCall, WebhookCall};

/// What tells carriers everywhere that somebody wants nothing more, as the only word of a message.
const STOP: [&str; 8] =
    ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "OPTOUT", "REVOKE"];
/// And that they do again. Twilio takes YES for it, too; we cannot, since it is an answer.
const START: [&str; 2] = ["START", "UNSTOP"];

/// A call of Twilio's.
pub(crate) struct Form(Vec<(String, String)>);

/// Somebody, as they wrote.
pub(crate) struct Written<'a> {
    pub(crate) sid: &'a str,
    pub(crate) from: Means,
    pub(crate) text: &'a str,
}

impl Form {
    /// Reads it; anything is a form, so what must be in it is looked for later.
    pub(crate) fn read(call: &WebhookCall<'_>) -> Self {
        Self(url::form_urlencoded::parse(call.body).into_owned().collect())
    }

    /// A member of it that is there once and not empty.
    pub(crate) fn member(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        let value = found.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
        value.filter(|_| found.next().is_none())
    }

    fn expected(&self, name: &str) -> Result<&str, UnreadableCall> {
        self.member(name)
            .ok_or_else(|| UnreadableCall(format!("expected {name} in a form of Twilio's")))
    }

    /// What became of a message, if this is about that.
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

    /// Somebody who wrote; `None` if it is nobody we could know, such as a short code.
    pub(crate) fn written(
        &self,
        means: fn(&str) -> Option<Means>,
    ) -> Result<Option<Written<'_>>, UnreadableCall> {
        let (sid, from) = (self.expected("MessageSid")?, self.expected("From")?);
        let text = self.member("Body").unwrap_or_default();
        Ok(means(from).map(|from| Written { sid, from, text }))
    }

    /// What they said: whether they want nothing more from us or want to hear again, as Twilio says or by
    /// the words everybody uses; and what else, which is about something.
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
        // What Twilio calls a START may be the answer "yes". A STOP is nothing else, and what Twilio
        // answers by itself (HELP) is none of our business.
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

/// Whether they want nothing more from us or want to hear again, by the words alone.
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

/// One thing that was heard, which an answer goes to by the number it came from.
pub(crate) fn inbound(
    id: String,
    from: Means,
    name: Option<String>,
    what: InboundContent,
) -> InboundMessage {
    InboundMessage { id, from, name, place: Value::Null, what, at: None }
}

/// What Twilio is answered: nothing is to be said by itself.
pub(crate) fn taken(inbound: Vec<InboundMessage>) -> ParsedCall {
    let nothing = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response/>".to_owned();
    ParsedCall { inbound, answer: Some(("text/xml", nothing)) }
}

/// A number as text messages have it.
pub(crate) fn sms(number: &str) -> Option<Means> {
    is_phone_number(number).then(|| Means::Sms(number.to_owned()))
}
