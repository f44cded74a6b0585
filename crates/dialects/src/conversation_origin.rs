//! Where a person began a conversation outside Countersign. The origin is stored in the ask's
//! metadata, shown to the agent, and erased with the conversation's text.
//!
//! It holds what the person disclosed by writing there, and nothing that lets another party write
//! in their name.

use kernel::Ask;
use kernel::question::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The metadata member that stores the origin of a conversation.
const MEMBER: &str = "origin";

/// The message with which a person began a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationOrigin {
    Email(EmailOrigin),
    Slack(SlackOrigin),
}

/// An email that began a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailOrigin {
    /// The address in `From`. It is not verified; the conversation names the verified sender.
    pub from: String,
    /// The inbound address without the part that identifies the sender.
    pub to: String,
    /// The subject, on one line.
    pub subject: String,
    /// The `Message-ID`, with its angle brackets.
    pub message_id: String,
}

/// A message in Slack that began a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackOrigin {
    /// The id of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    pub channel: String,
    pub user: String,
    /// The timestamp that identifies the message in its channel.
    pub ts: String,
}

impl ConversationOrigin {
    /// The origin of a conversation. `None` if the ask is no conversation, began in Countersign, or
    /// was erased.
    pub fn of(ask: &Ask) -> Option<Self> {
        let kept = ask.metadata.value().filter(|_| ask.starts_conversation())?.get(MEMBER)?;
        Self::deserialize(kept).ok()
    }

    /// The origin as a metadata member.
    pub fn to_metadata(&self) -> Map<String, Value> {
        // Our own types have string keys only, so this cannot fail.
        serde_json::to_value(self)
            .map(|kept| Map::from_iter([(MEMBER.to_owned(), kept)]))
            .unwrap_or_default()
    }
}

impl EmailOrigin {
    /// The text of a conversation begun by email: the subject, then the body.
    pub fn email_text(subject: &str, body: &str) -> String {
        match (subject.is_empty(), body.is_empty()) {
            (true, _) => body.to_owned(),
            (false, true) => subject.to_owned(),
            (false, false) => format!("{subject}\n\n{body}"),
        }
    }

    /// The body of the email, without the subject.
    pub fn body<'a>(&self, words: &'a str) -> &'a str {
        let Some(rest) = words.strip_prefix(&self.subject).filter(|_| !self.subject.is_empty())
        else {
            return words;
        };
        if rest.is_empty() { rest } else { rest.strip_prefix("\n\n").unwrap_or(words) }
    }
}

/// The first message of a conversation; `None` once it is erased.
pub(crate) fn opening_text(ask: &Ask) -> Option<&str> {
    match &ask.deciding_answer()?.reply.value()?.answer {
        Answer::Replied { text } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_put_together_and_taken_apart() {
        for (subject, body) in [
            ("Refund", "Please."),
            ("Refund", ""),
            ("", "Please."),
            ("a", "a\n\na"),
            ("Re: ä", "\n\nodd"),
        ] {
            let words = EmailOrigin::email_text(subject, body);
            let letter = EmailOrigin {
                from: String::new(),
                to: String::new(),
                subject: subject.to_owned(),
                message_id: String::new(),
            };
            assert_eq!(letter.body(&words), body, "{words:?}");
        }
    }
}
