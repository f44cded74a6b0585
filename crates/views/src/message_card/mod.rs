//! The content of a message about a request, without platform markup. The server creates a card,
//! and each channel renders it.
//!
//! | file | contents |
//! |---|---|
//! | `from_ask.rs` | the card of a request |
//! | [`plain_text`] | agent text for platforms without markup to set it apart |
//! | [`title`] | the agent and its request, in one line |
//! | [`WaitingRequests`] | low-priority requests that a digest lists together |

mod from_ask;
pub mod plain_text;

use kernel::Ask;
use kernel::ask::Priority;
use kernel::follow_up::NotificationReason;
use kernel::form::Form;
use kernel::question::QuestionKind;

pub use from_ask::{CardContext, one_line};

/// The maximum length of a button's token: the limit of the most restrictive platform.
pub const LONGEST_TOKEN: usize = 64;

/// The message about one request to one person or channel.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageCard {
    /// The agent and its request, in the server's words and in one line: "`agent_billing` asks
    /// for your approval".
    pub title: String,
    /// The reason for the notification, if it is not obvious: "It is still waiting."
    pub note: Option<String>,
    /// The question in the agent's words, in full, with hidden characters made visible.
    pub words: String,
    /// The agent's context, in the same form.
    pub context: Option<String>,
    /// The details of the action, in the same form.
    pub facts: Vec<CardFact>,
    /// The deadline: "in 27 minutes (1 Mar 2026, 10:00 CET)".
    pub until: Option<String>,
    /// The page where the whole request can be read and answered.
    pub link: String,
    pub urgent: bool,
    /// Whether it can still be answered, and how.
    pub stage: CardStage,
}

impl MessageCard {
    /// A short text of the server with a link; it cannot be answered.
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

    /// Whether the answer needs a form or a choice that only the page shows.
    pub fn is_answered_elsewhere(&self) -> bool {
        matches!(&self.stage, CardStage::Open(ways) if ways.form.is_some() && !ways.reply)
    }
}

/// One detail. Both fields contain agent text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFact {
    pub name: String,
    /// The value; it may have several lines.
    pub value: String,
}

/// Whether a request can still be answered.
#[derive(Debug, Clone, PartialEq)]
pub enum CardStage {
    /// The request is open.
    Open(AnswerOptions),
    /// The request is closed; the card has no buttons.
    Closed {
        /// "Approved by Ada Lovelace", in the server's words and in one line.
        headline: String,
        /// When it closed, as a formatted time.
        at: String,
        /// The comment on the answer.
        comment: Option<String>,
    },
}

/// How a request can be answered where the card is shown. If empty, only on its page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerOptions {
    /// Buttons that answer with one press.
    pub buttons: Vec<CardButton>,
    /// A form, opened with this token.
    pub form: Option<(String, Form)>,
    /// Whether the text of a reply is the answer.
    pub reply: bool,
    /// The code that a written answer must begin with if the platform has no threads: "A7".
    pub code: Option<String>,
}

impl AnswerOptions {
    /// Whether it can only be answered on its page.
    pub fn is_none(&self) -> bool {
        self.buttons.is_empty() && self.form.is_none() && !self.reply
    }
}

/// A button of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardButton {
    /// The label; it may be agent text.
    pub label: String,
    /// The value that the platform returns when the button is pressed. It is opaque and consists of
    /// letters, digits, `-`, `_` and `.`, at most [`LONGEST_TOKEN`] characters.
    pub token: String,
    pub tone: ButtonTone,
    /// The word for a written answer, on platforms without buttons: "yes", "no", "2".
    pub word: String,
    /// Whether the button opens a form first, because a reason is required. Platforms without
    /// forms omit it.
    pub wants_words: bool,
}

/// The style of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonTone {
    /// No particular style.
    Plain,
    /// It lets the agent proceed.
    Yes,
    /// It lets the agent do something destructive.
    Danger,
    /// It stops the agent, which is safe, so it looks neutral.
    No,
}

/// A form that a person must complete before their answer counts.
#[derive(Debug, Clone, PartialEq)]
pub struct FormDialog {
    /// The value that is returned with it.
    pub token: String,
    /// The subject, in a few words.
    pub title: String,
    /// The question, in the agent's words.
    pub words: String,
    /// The label of the submit button.
    pub send: String,
    pub fields: DialogFields,
}

/// The input of a dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum DialogFields {
    /// A text field.
    Words {
        label: String,
        /// The initial value.
        filled: String,
        /// Whether it may be empty.
        optional: bool,
    },
    Form(Form),
}

/// A problem with a submitted form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogError {
    /// The key of the field.
    pub key: String,
    /// The instruction for the person, as a sentence.
    pub words: String,
}

/// The key of the text of [`DialogFields::Words`] in the submitted form.
pub const TEXT_KEY: &str = "words";

// The title of every message about a request: the agent and its request, in one line.

/// The title of a request. All messages about it have the same title.
pub fn title(ask: &Ask) -> String {
    marked_urgent(ask, phrase(ask))
}

/// A title, marked if the request is critical.
pub fn marked_urgent(ask: &Ask, title: String) -> String {
    if ask.priority == Priority::Critical { t!("card-urgent", title = title) } else { title }
}

/// The agent and its wish, marked if the action cannot be undone.
pub fn phrase(ask: &Ask) -> String {
    let agent = ask.agent.as_str();
    let phrase = match ask.kind {
        QuestionKind::Approve => t!("card-approve", agent = agent),
        QuestionKind::Choose => t!("card-choose", agent = agent),
        QuestionKind::Provide => t!("card-provide", agent = agent),
        QuestionKind::Confirm => t!("card-confirm", agent = agent),
        QuestionKind::Escalate => t!("card-escalate", agent = agent),
        QuestionKind::Converse => t!("card-converse", agent = agent),
    };
    marked_irreversible(ask, phrase)
}

/// A title, marked if the action cannot be undone.
pub fn marked_irreversible(ask: &Ask, title: String) -> String {
    if ask.is_irreversible() { t!("card-irreversible", title = title) } else { title }
}

/// The reason for the notification, if it is not obvious.
pub fn notification_reason(why: NotificationReason) -> Option<String> {
    match why {
        NotificationReason::Asked => None,
        NotificationReason::Assigned => Some(t!("card-assigned")),
        NotificationReason::Reminder => Some(t!("card-reminder")),
        NotificationReason::Escalated => Some(t!("card-escalated")),
    }
}

// Low-priority requests that are listed together in a digest.

/// The low-priority requests that wait for one person.
#[derive(Debug)]
pub struct WaitingRequests {
    /// The first requests, newest first.
    pub asks: Vec<Ask>,
    /// How many further requests there are.
    pub more: u64,
}

impl WaitingRequests {
    /// The number of waiting requests, as a title.
    pub fn title(&self) -> String {
        t!("card-waiting", count = self.asks.len() as u64 + self.more)
    }
}
