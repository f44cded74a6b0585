//! How people were told of a request: by which means, when, and whether it arrived.

use kernel::directory::Directory;
use kernel::effect::Occasion;
use kernel::text::reveal;
use kernel::{HumanId, Time};

use crate::components::when::When;
use crate::components::words;

/// One notification about a request.
#[derive(Debug, Clone)]
pub struct Notification {
    /// The channel that carries it: `slack`, `email`.
    pub medium: String,
    /// The person it goes to; `None` where the agent named an address.
    pub human: Option<HumanId>,
    /// Why it is sent.
    pub occasion: Occasion,
    /// When it was first tried.
    pub at: Time,
    /// How it stands.
    pub status: NotificationStatus,
}

/// How a notification stands.
#[derive(Debug, Clone)]
pub enum NotificationStatus {
    /// The platform did not take it yet; it is tried again.
    Waiting { error: String },
    /// The platform took it.
    Sent,
    /// It is on a device.
    Delivered,
    /// The person looked at it.
    Read,
    /// It did not arrive, and is not tried again.
    Failed { error: String },
}

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
    pub fn new(message: &Notification, directory: &Directory, now: Time) -> Self {
        let whom = match &message.human {
            Some(human) => words::person(directory, human),
            None => "where the agent wanted".to_owned(),
        };
        let why = match message.occasion {
            Occasion::Asked => "",
            Occasion::Assigned => ", handed over",
            Occasion::Reminder => ", a reminder",
            Occasion::Escalated => ", since nobody answered",
        };
        let (state, error) = match &message.status {
            NotificationStatus::Waiting { error } => ("not taken yet", Some(error)),
            NotificationStatus::Sent => ("sent", None),
            NotificationStatus::Delivered => ("arrived", None),
            NotificationStatus::Read => ("read", None),
            NotificationStatus::Failed { error } => ("failed", Some(error)),
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
