//! The agent's settings for the email that asks the question: subject, thread, additional
//! recipients, and its own HTML template (A2H-088 to A2H-090).

use kernel::Ask;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::view::member;

/// The agent's settings for an email.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmailWish {
    pub subject: Option<String>,
    /// The `Message-ID` of the email it replies to.
    pub in_reply_to: Option<String>,
    /// The `Message-ID` of the thread it belongs to.
    pub references: Option<String>,
    /// The additional recipients.
    pub others: Vec<(RecipientField, String)>,
    /// The agent's own HTML template, with placeholders.
    pub template: Option<String>,
}

/// The header that lists a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecipientField {
    To,
    Cc,
    Bcc,
}

/// How many copies of the email go to addresses that the agent names.
pub fn copies(ask: &Ask) -> u64 {
    email_wish(ask).map_or(0, |wish| wish.others.len() as u64)
}

/// Whether there are such copies. A link or a reply address in the email is then known to more
/// people than its recipient.
pub fn is_copied(ask: &Ask) -> bool {
    copies(ask) > 0
}

/// The agent's settings for the email; `None` if the call names no email channel.
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
