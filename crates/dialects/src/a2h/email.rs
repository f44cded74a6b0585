//! What a call wants of the email that asks it: a subject, a thread, further recipients, a page of the
//! agent's own (A2H-088 to A2H-090).

use kernel::Ask;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::view::member;

/// What an agent wants of an email.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmailWish {
    /// Its subject.
    pub subject: Option<String>,
    /// The email it answers, by its id.
    pub in_reply_to: Option<String>,
    /// The email whose thread it belongs to.
    pub references: Option<String>,
    /// Who else gets it.
    pub others: Vec<(RecipientField, String)>,
    /// A page of the agent's own, with places to be filled in.
    pub template: Option<String>,
}

/// Where a recipient stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecipientField {
    /// Among those it is for.
    To,
    /// Among those who should know.
    Cc,
    /// Seen by nobody else.
    Bcc,
}

/// How many copies of the email the agent has sent to addresses it names.
pub fn copies(ask: &Ask) -> u64 {
    email_wish(ask).map_or(0, |wish| wish.others.len() as u64)
}

/// Whether there are such copies. Whatever the email holds, such as a link or a reply address, is then known
/// to more people than the one it was sent to.
pub fn is_copied(ask: &Ask) -> bool {
    copies(ask) > 0
}

/// What a call wants of its email; nothing, if it names no email.
pub fn email_wish(ask: &Ask) -> Option<EmailWish> {
    let channel = member(ask, "channel")?;
    let email = channel.get("email")?;
    let text = |key: &str| email.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let other = |one: &Value| {
        let address = one.get("address")?.as_str()?.to_owned();
        let field = match one.get("field").and_then(Value::as_str) {
            Some("cc") => RecipientField::Cc,
            Some("bcc") => RecipientField::Bcc,
            Some(_) | None => RecipientField::To,
        };
        Some((field, address))
    };
    let others = email.get("additional_recipients").and_then(Value::as_array);
    Some(EmailWish {
        subject: text("experimental_subject_line"),
        in_reply_to: text("experimental_in_reply_to_message_id"),
        references: text("experimental_references_message_id"),
        others: others.into_iter().flatten().filter_map(other).collect(),
        template: text("template"),
    })
}
