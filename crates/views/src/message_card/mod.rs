//! What a message says about a request, in no platform's markup. The server makes a card, each channel
//! renders it.
//!
//! | file | what it holds |
//! |---|---|
//! | `from_ask.rs` | the card of a request |
//! | [`plain_text`] | agent text where a platform has no markup of its own to keep it apart |
//! | [`title`] | who wants what, in one line |
//! | [`waiting`] | low-priority requests that are listed together in a digest |

mod from_ask;
pub mod plain_text;
pub mod title;
pub mod waiting;

pub use from_ask::{CardContext, in_time_zone, one_line};
pub use waiting::WaitingRequests;

use kernel::form::Form;

/// How a button's token is never longer: what the narrowest platform carries.
pub const LONGEST_TOKEN: usize = 64;

/// What there is to say about one request to one person or place.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageCard {
    /// Who wants what, in our words and one line: "`agent_billing` asks for your approval".
    pub title: String,
    /// Why they are told now, where that is not plain: "It is still waiting."
    pub note: Option<String>,
    /// What is asked, in the agent's words: whole, hidden characters made visible.
    pub words: String,
    /// The agent's background, likewise.
    pub context: Option<String>,
    /// The details of the action, likewise.
    pub facts: Vec<CardFact>,
    /// Until when it can be answered: "in 27 minutes (2026-03-01 10:00 CET)".
    pub until: Option<String>,
    /// The page where all of it can be read and answered.
    pub link: String,
    /// Whether it is urgent.
    pub urgent: bool,
    /// Whether it can still be answered, and how.
    pub stage: CardStage,
}

impl MessageCard {
    /// A short text of the server and a link; there is nothing to answer.
    pub fn plain(title: String, words: String, link: String) -> Self {
        Self {
            title,
            note: None,
            words,
            context: None,
            facts: Vec::new(),
            until: None,
            link,
            urgent: false,
            stage: CardStage::Open(AnswerOptions::default()),
        }
    }

    /// Whether there is something to fill in or to choose that only its page shows.
    pub fn is_answered_elsewhere(&self) -> bool {
        matches!(&self.stage, CardStage::Open(ways) if ways.form.is_some() && !ways.reply)
    }
}

/// One detail. Both are the agent's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFact {
    /// What it is.
    pub name: String,
    /// Its value; may have many lines.
    pub value: String,
}

/// Whether a request can still be answered.
#[derive(Debug, Clone, PartialEq)]
pub enum CardStage {
    /// It waits.
    Open(AnswerOptions),
    /// It is closed: everything that could be pressed goes.
    Closed {
        /// "Approved by Ada Lovelace", in our words and one line.
        headline: String,
        /// When, on a clock.
        at: String,
        /// What they said with it.
        comment: Option<String>,
    },
}

/// How a request can be answered where the card is shown. Empty: on its page only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerOptions {
    /// By one press each.
    pub buttons: Vec<CardButton>,
    /// By filling a form, opened with this token.
    pub form: Option<(String, Form)>,
    /// By writing back: the words are the answer.
    pub reply: bool,
    /// What a written answer must begin with, where the platform has no threads: "A7".
    pub code: Option<String>,
}

impl AnswerOptions {
    /// Whether it can only be answered on its page.
    pub fn is_none(&self) -> bool {
        self.buttons.is_empty() && self.form.is_none() && !self.reply
    }
}

/// Something to press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardButton {
    /// What stands on it; may be the agent's words.
    pub label: String,
    /// What comes back when it is pressed. Opaque: letters, digits, `-`, `_`, `.`, at most
    /// [`LONGEST_TOKEN`].
    pub token: String,
    /// What it looks like.
    pub tone: ButtonTone,
    /// The word for it in a written answer, where there is nothing to press: "yes", "no", "2".
    pub word: String,
    /// Whether pressing it opens a form first, because a reason is needed: where there are no forms, it
    /// is left out.
    pub wants_words: bool,
}

/// What a button looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonTone {
    /// Nothing special.
    Plain,
    /// It lets the agent proceed.
    Yes,
    /// It lets the agent do something destructive.
    Danger,
    /// It stops the agent, which is safe: it looks neutral.
    No,
}

/// A form that a person fills in before their answer counts.
#[derive(Debug, Clone, PartialEq)]
pub struct FormDialog {
    /// What comes back with it.
    pub token: String,
    /// What it is about, in a few words.
    pub title: String,
    /// What is asked, in the agent's words.
    pub words: String,
    /// What stands on the button that sends it.
    pub send: String,
    /// What there is to fill in.
    pub fields: DialogFields,
}

/// What there is to fill in.
#[derive(Debug, Clone, PartialEq)]
pub enum DialogFields {
    /// A text.
    Words {
        /// What it is for.
        label: String,
        /// What stands there already.
        filled: String,
        /// Whether it may be left empty.
        optional: bool,
    },
    /// A form.
    Form(Form),
}

/// What is wrong in a form that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogError {
    /// The key of the field.
    pub key: String,
    /// What to do about it, in a sentence.
    pub words: String,
}

/// The key under which the text of [`DialogFields::Words`] comes back.
pub const WORDS: &str = "words";
