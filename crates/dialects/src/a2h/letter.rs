//! What a call wants of the letter that asks it: a subject, a thread, further recipients, a page of the
//! agent's own (A2H-088 to A2H-090).

use kernel::Ask;
use serde_json::Value;

use super::view::member;

/// How a letter should be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LetterWish {
    /// Its subject.
    pub subject: Option<String>,
    /// The letter it answers, by its id.
    pub in_reply_to: Option<String>,
    /// The letter whose thread it belongs to.
    pub references: Option<String>,
    /// Who else gets it.
    pub others: Vec<(Field, String)>,
    /// A page of the agent's own, with places to be filled in.
    pub template: Option<String>,
}

/// Where a recipient stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Among those it is for.
    To,
    /// Among those who should know.
    Cc,
    /// Seen by nobody else.
    Bcc,
}

/// What a call wants of its letter; nothing, if it names no mail.
pub fn letter_wish(ask: &Ask) -> Option<LetterWish> {
    let channel = member(ask, "channel")?;
    let email = channel.get("email")?;
    let text = |key: &str| email.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let other = |one: &Value| {
        let address = one.get("address")?.as_str()?.to_owned();
        let field = match one.get("field").and_then(Value::as_str) {
            Some("cc") => Field::Cc,
            Some("bcc") => Field::Bcc,
            Some(_) | None => Field::To,
        };
        Some((field, address))
    };
    let others = email.get("additional_recipients").and_then(Value::as_array);
    Some(LetterWish {
        subject: text("experimental_subject_line"),
        in_reply_to: text("experimental_in_reply_to_message_id"),
        references: text("experimental_references_message_id"),
        others: others.into_iter().flatten().filter_map(other).collect(),
        template: text("template"),
    })
}
