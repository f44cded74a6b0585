//! What a platform says: somebody pressed, wrote, or was reached.

use kernel::Time;
use kernel::directory::Means;
use serde_json::{Map, Value};

/// One thing that was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The same however often the platform says it.
    pub id: String,
    /// Who, as the platform knows them, and only what it vouches for.
    pub from: Means,
    /// What they are called there, in their own words.
    pub name: Option<String>,
    /// Where an answer to it goes; means something to the channel alone. Nothing secret that outlives
    /// the hour.
    pub place: Value,
    /// What.
    pub what: What,
    /// When, as the platform says.
    pub at: Option<Time>,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Somebody pressed a button.
    Pressed {
        /// What the button carries.
        token: String,
        /// The message it is on, by [`Posted::id`](crate::Posted::id).
        posted: Option<String>,
    },
    /// Somebody filled a sheet.
    Submitted {
        /// What the sheet carries.
        token: String,
        /// What they filled in, by the key of the field.
        values: Map<String, Value>,
    },
    /// Somebody wrote.
    Wrote {
        /// What, without what was quoted.
        text: String,
        /// What it answers.
        about: About,
    },
    /// A message got somewhere, or did not.
    Became {
        /// Which, by [`Posted::id`](crate::Posted::id).
        posted: String,
        /// What became of it.
        state: Receipt,
    },
    /// They want nothing more from us here.
    Stopped,
    /// They want to hear from us again.
    Resumed,
}

/// What something somebody wrote answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A message, or the thread below it, by [`Posted::id`](crate::Posted::id).
    Posted(String),
    /// What the address it was sent to says.
    Token(String),
    /// Nothing that can be told; perhaps it begins with a code.
    Nothing,
    /// Nothing: they called us where others talk.
    Mention,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// It reached a device.
    Delivered,
    /// It was looked at.
    Read,
    /// It did not arrive.
    Failed {
        /// Why, as the platform says.
        why: String,
        /// Whether nothing will ever arrive there.
        forever: bool,
    },
}

/// What a call from a platform comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What was heard, in order.
    pub heard: Vec<Heard>,
    /// What the platform is answered at once: a type and a text. Nothing is an empty 200.
    pub answer: Option<(&'static str, String)>,
}

impl Parsed {
    /// Some things that were heard.
    pub fn of(heard: Vec<Heard>) -> Self {
        Self { heard, answer: None }
    }
}
