//! The notifications about a request: their channel, their time, and whether they arrived.

use kernel::directory::Directory;
use kernel::follow_up::Occasion;
use kernel::text::reveal;
use kernel::{HumanId, Time};

use crate::components::when::When;
use crate::components::words;

#[derive(Debug, Clone)]
pub struct Notification {
    /// The channel: `slack`, `email`.
    pub medium: String,
    /// The recipient; `None` if the agent named an address.
    pub human: Option<HumanId>,
    pub occasion: Occasion,
    /// When the first attempt was made.
    pub at: Time,
    pub status: NotificationStatus,
}

/// The delivery status of a notification.
#[derive(Debug, Clone)]
pub enum NotificationStatus {
    /// The platform has not accepted it yet; the server will retry.
    Waiting { error: String },
    /// The platform accepted it.
    Sent,
    /// It arrived on a device.
    Delivered,
    /// The person opened it.
    Read,
    /// It did not arrive, and the server will not retry.
    Failed { error: String },
}

/// A notification, as the page shows it.
#[derive(Debug, Clone)]
pub struct Telling {
    /// The channel and the recipient: "Slack, Ada Lovelace".
    pub what: String,
    /// The status in a word: "sent", "read", "failed".
    pub state: &'static str,
    pub failed: bool,
    /// The reason of a failure.
    pub error: Option<String>,
    /// When the first attempt was made.
    pub at: When,
}

impl Telling {
    /// The notification for a reader who may see the request.
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

/// The display name of a channel.
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
