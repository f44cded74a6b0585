//! What is said of an ask, in no platform's markup: made by the gateway, laid out by each channel.

use kernel::form::Form;

/// How a button's token is never longer: what the narrowest platform carries.
pub const LONGEST_TOKEN: usize = 64;

/// What there is to say of one ask to one person or place.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Who wants what, in our words and one line: "`agent_billing` asks for your approval".
    pub title: String,
    /// Why they are told now, where that is not plain: "It is still waiting."
    pub note: Option<String>,
    /// What is asked, in the agent's words: whole, hidden characters made visible.
    pub words: String,
    /// The agent's background, likewise.
    pub context: Option<String>,
    /// The details of the action, likewise.
    pub facts: Vec<Fact>,
    /// Until when it can be answered: "in 27 minutes (2026-03-01 10:00 CET)".
    pub until: Option<String>,
    /// The page where all of it can be read and answered.
    pub link: String,
    /// Whether it is urgent.
    pub urgent: bool,
    /// Whether it can still be answered, and how.
    pub stage: Stage,
}

impl Card {
    /// A few words of ours and where they lead; there is nothing to answer.
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
            stage: Stage::Open(Ways::default()),
        }
    }

    /// Whether there is something to fill in or to choose that only its page shows.
    pub fn is_answered_elsewhere(&self) -> bool {
        matches!(&self.stage, Stage::Open(ways) if ways.form.is_some() && !ways.reply)
    }
}

/// One detail. Both are the agent's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value; may have many lines.
    pub value: String,
}

/// Whether an ask can still be answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// It waits.
    Open(Ways),
    /// It is over: everything that could be pressed goes.
    Over {
        /// "Approved by Ada Lovelace", in our words and one line.
        headline: String,
        /// When, on a clock.
        at: String,
        /// What they said with it.
        comment: Option<String>,
    },
}

/// How an ask can be answered where the card is shown. Nothing here means: on its page only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ways {
    /// By one press each.
    pub buttons: Vec<Button>,
    /// By filling a form, opened with this token.
    pub form: Option<(String, Form)>,
    /// By writing back: the words are the answer.
    pub reply: bool,
    /// What a written answer must begin with, where the platform has no threads: "A7".
    pub code: Option<String>,
}

impl Ways {
    /// Whether it can only be answered on its page.
    pub fn is_none(&self) -> bool {
        self.buttons.is_empty() && self.form.is_none() && !self.reply
    }
}

/// Something to press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What stands on it; may be the agent's words.
    pub label: String,
    /// What comes back when it is pressed. Opaque: letters, digits, `-`, `_`, `.`, at most
    /// [`LONGEST_TOKEN`].
    pub token: String,
    /// What it looks like.
    pub tone: Tone,
    /// The word for it in a written answer, where there is nothing to press: "yes", "no", "2".
    pub word: String,
    /// Whether pressing it opens a sheet first, because words are needed: where there are no sheets, it
    /// is left out.
    pub wants_words: bool,
}

/// What a button looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// It lets the agent proceed.
    Yes,
    /// It lets the agent do something destructive.
    Danger,
    /// It stops the agent, which is safe: it looks neutral.
    No,
}

/// What somebody fills in before their answer counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// What comes back with it.
    pub token: String,
    /// What it is about, in a few words.
    pub title: String,
    /// What is asked, in the agent's words.
    pub words: String,
    /// What stands on the button that sends it.
    pub send: String,
    /// What there is to fill in.
    pub fields: Fields,
}

/// What there is to fill in.
#[derive(Debug, Clone, PartialEq)]
pub enum Fields {
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

/// What is wrong in a sheet that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The key of the field.
    pub key: String,
    /// What to do about it, in a sentence.
    pub words: String,
}

/// The key under which the text of [`Fields::Words`] comes back.
pub const WORDS: &str = "words";
