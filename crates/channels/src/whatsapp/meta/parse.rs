//! Reads Meta's calls: the `messages` field of a `WhatsApp` account's webhook.

use kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::whatsapp_contact;
use super::codes::{MetaErrorKind, explain_error};
use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage};
use crate::twilio::subscription_change;

#[derive(Debug, Deserialize)]
pub(super) struct MetaWebhook {
    object: String,
    #[serde(default)]
    entry: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
struct Change {
    field: String,
    value: Value,
}

#[derive(Debug, Deserialize)]
struct ChangeValue {
    metadata: Metadata,
    #[serde(default)]
    contacts: Vec<Contact>,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    statuses: Vec<Status>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    phone_number_id: String,
}

#[derive(Debug, Deserialize)]
struct Contact {
    wa_id: Option<String>,
    profile: Option<Profile>,
}

#[derive(Debug, Deserialize)]
struct Profile {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Message {
    /// The sender's number. A sender who hides it behind a user name cannot be a known person.
    from: Option<String>,
    id: String,
    timestamp: String,
    text: Option<Text>,
    interactive: Option<Interactive>,
    button: Option<TemplateButton>,
    context: Option<Context>,
}

#[derive(Debug, Deserialize)]
struct Text {
    body: String,
}

#[derive(Debug, Deserialize)]
struct Interactive {
    button_reply: Option<ButtonReply>,
    list_reply: Option<ButtonReply>,
}

#[derive(Debug, Deserialize)]
struct ButtonReply {
    id: String,
}

#[derive(Debug, Deserialize)]
struct TemplateButton {
    payload: String,
}

#[derive(Debug, Deserialize)]
struct Context {
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Status {
    id: String,
    #[serde(rename = "status")]
    state: String,
    timestamp: String,
    recipient_id: Option<String>,
    #[serde(default)]
    errors: Vec<StatusError>,
}

#[derive(Debug, Deserialize)]
struct StatusError {
    code: u64,
    title: Option<String>,
}

impl MetaWebhook {
    /// The inbound messages of one number, in order. An app may have other numbers.
    pub(super) fn inbound(self, number: &str) -> Result<Vec<InboundMessage>, serde_json::Error> {
        let mut inbound = Vec::new();
        if self.object != "whatsapp_business_account" {
            return Ok(inbound);
        }
        let changes = self.entry.into_iter().flat_map(|entry| entry.changes);
        for change in changes.filter(|change| change.field == "messages") {
            let news: ChangeValue = serde_json::from_value(change.value)?;
            if news.metadata.phone_number_id == number {
                inbound.extend(news.inbound());
            }
        }
        Ok(inbound)
    }
}

impl ChangeValue {
    fn inbound(self) -> Vec<InboundMessage> {
        let Self { contacts, messages, statuses, .. } = self;
        let name = |id: &str| {
            let contact = contacts.iter().find(|contact| contact.wa_id.as_deref() == Some(id))?;
            contact.profile.as_ref().and_then(|profile| profile.name.clone())
        };
        let said = messages.into_iter().filter_map(|message| {
            let name = message.from.as_deref().and_then(name);
            message.inbound(name)
        });
        said.chain(statuses.into_iter().filter_map(Status::inbound)).collect()
    }
}

impl Message {
    fn inbound(self, name: Option<String>) -> Option<InboundMessage> {
        let above = self.context.and_then(|context| context.id);
        let pressed = self.interactive.and_then(|i| i.button_reply.or(i.list_reply)).map(|p| p.id);
        let pressed = pressed.or_else(|| self.button.map(|button| button.payload));
        let what = match (pressed, self.text) {
            (Some(token), _) => InboundContent::Pressed { token, posted: above },
            (None, Some(Text { body })) => {
                subscription_change(&body).unwrap_or(InboundContent::Wrote {
                    text: body,
                    about: above.map_or(InReplyTo::Nothing, InReplyTo::Posted),
                })
            }
            (None, None) => return None,
        };
        let place = json!({ "message": self.id });
        let from = whatsapp_contact(&self.from?)?;
        Some(InboundMessage { id: self.id, from, name, place, what, at: moment(&self.timestamp) })
    }
}

impl Status {
    fn inbound(self) -> Option<InboundMessage> {
        let state = match self.state.as_str() {
            "delivered" => DeliveryReport::Delivered,
            "read" => DeliveryReport::Read,
            "failed" => self.failed(),
            _ => return None,
        };
        Some(InboundMessage {
            id: format!("{}.{}", self.id, self.state),
            from: whatsapp_contact(self.recipient_id.as_deref()?)?,
            name: None,
            place: Value::Null,
            what: InboundContent::Became { posted: self.id, state },
            at: moment(&self.timestamp),
        })
    }

    fn failed(&self) -> DeliveryReport {
        let Some(wrong) = self.errors.first() else {
            return DeliveryReport::Failed {
                why: "no reason given by Meta".to_owned(),
                forever: false,
            };
        };
        let (code, title) = (wrong.code, wrong.title.as_deref().unwrap_or_default());
        match explain_error(code) {
            Some((why, kind)) => DeliveryReport::Failed {
                why: format!("{why} ({code})"),
                forever: kind == MetaErrorKind::Forever,
            },
            None => DeliveryReport::Failed {
                why: format!("Meta reported error {code}: {title}"),
                forever: false,
            },
        }
    }
}

fn moment(seconds: &str) -> Option<Time> {
    seconds.parse::<i64>().ok().map(|seconds| Time::from_millis(seconds.saturating_mul(1000)))
}
