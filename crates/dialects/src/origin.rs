//! Where a person wrote who began a conversation elsewhere than here: kept beside their words under one
//! name, shown to their agent, and erased with them.
//!
//! It says what they showed by writing there, and nothing that would let anybody write in their name.

use kernel::Ask;
use kernel::question::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where it is kept in the metadata of an opening.
const MEMBER: &str = "origin";

/// Where somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// By mail.
    Email(Letter),
    /// In Slack.
    Slack(Post),
}

/// A letter that began a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Who it says it is from. Anybody can write that; who it was, the conversation says.
    pub from: String,
    /// Where letters go here, without what makes the address theirs.
    pub to: String,
    /// What it is about, in one line.
    pub subject: String,
    /// What it is known by, in its brackets.
    pub message_id: String,
}

/// A message in Slack that began a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Where in it.
    pub channel: String,
    /// Who.
    pub user: String,
    /// Which message.
    pub ts: String,
}

impl Origin {
    /// Where a conversation began; `None` if it is none, began here, or was erased.
    pub fn of(ask: &Ask) -> Option<Self> {
        let kept = ask.metadata.value().filter(|_| ask.is_opening())?.get(MEMBER)?;
        Self::deserialize(kept).ok()
    }

    /// As it is kept.
    pub fn beside(&self) -> Map<String, Value> {
        // Our own types have string keys only, so this cannot fail.
        serde_json::to_value(self)
            .map(|kept| Map::from_iter([(MEMBER.to_owned(), kept)]))
            .unwrap_or_default()
    }
}

impl Letter {
    /// What somebody says who writes a letter: what it is about, and below it the rest.
    pub fn words(subject: &str, body: &str) -> String {
        match (subject.is_empty(), body.is_empty()) {
            (true, _) => body.to_owned(),
            (false, true) => subject.to_owned(),
            (false, false) => format!("{subject}\n\n{body}"),
        }
    }

    /// The letter without what it is about.
    pub fn body<'a>(&self, words: &'a str) -> &'a str {
        let Some(rest) = words.strip_prefix(&self.subject).filter(|_| !self.subject.is_empty())
        else {
            return words;
        };
        if rest.is_empty() { rest } else { rest.strip_prefix("\n\n").unwrap_or(words) }
    }
}

/// What was written first; `None` once it is erased.
pub(crate) fn first_words(ask: &Ask) -> Option<&str> {
    match &ask.resolution()?.reply.value()?.answer {
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
            let words = Letter::words(subject, body);
            let letter = Letter {
                from: String::new(),
                to: String::new(),
                subject: subject.to_owned(),
                message_id: String::new(),
            };
            assert_eq!(letter.body(&words), body, "{words:?}");
        }
    }
}
