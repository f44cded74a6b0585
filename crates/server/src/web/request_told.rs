//! How people were told of a request: by which means, when, and whether it arrived.

use kernel::Time;
use kernel::directory::Directory;
use kernel::effect::Occasion;
use kernel::text::reveal;
use store::{Message, Sent};

use super::when::When;
use super::words;

/// One message, as the page shows it.
#[derive(Debug, Clone)]
pub struct Telling {
    /// By what, and whom: "Slack, Ada Lovelace".
    pub what: String,
    /// How it stands, in a word: "sent", "read", "failed".
    pub state: &'static str,
    /// Whether it did not arrive.
    pub failed: bool,
    /// What went wrong.
    pub error: Option<String>,
    /// When it was first tried.
    pub at: When,
}

impl Telling {
    /// The message, for whoever may see the request.
    pub fn new(message: &Message, directory: &Directory, now: Time) -> Self {
        let whom = match &message.human {
            Some(human) => words::person(directory, human),
            None => "where the agent wanted".to_owned(),
        };
        let why = match message.why {
            Occasion::Asked => "",
            Occasion::Assigned => ", handed over",
            Occasion::Reminder => ", a reminder",
            Occasion::Escalated => ", since nobody answered",
        };
        let (state, error) = match &message.standing {
            Sent::Waiting { error } => ("not taken yet", Some(error)),
            Sent::Sent => ("sent", None),
            Sent::Delivered => ("arrived", None),
            Sent::Read => ("read", None),
            Sent::Failed { error } => ("failed", Some(error)),
        };
        Self {
            what: format!("{}, {whom}{why}", carrier(&message.medium)),
            state,
            failed: error.is_some(),
            error: error.filter(|error| !error.is_empty()).map(|error| reveal(error)),
            at: When::new(message.at, now),
        }
    }
}

/// What carries messages, as people call it.
pub fn carrier(medium: &str) -> &str {
    match medium {
        "slack" => "Slack",
        "email" => "Mail",
        "sms" => "Text message",
        "whatsapp" => "WhatsApp",
        "telegram" => "Telegram",
        "devices" => "A device",
        "webhook" => "Webhook",
        other => other,
    }
}
