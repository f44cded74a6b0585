//! The platforms people use, each in a folder of its own. A channel lays out what is said of an ask in
//! its platform's markup, sends it, changes it when the ask is over, checks that what comes back is the
//! platform's, and reads it. It knows nothing of the gateway: who somebody is and whether they may
//! answer is decided there.
//!
//! ```text
//! Card ──render──▶ message ──deliver──▶ platform ──▶ person
//!                     │                     │
//!                  update ◀── over      Knock ──verify──▶ parse ──▶ Heard ──▶ the gateway
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`card`] | what is said of an ask, in no platform's markup |
//! | [`heard`] | what a platform says: somebody pressed, wrote, or was reached |
//! | [`mail`] | mail that comes in, by mailbox, listener or provider |
//! | [`failed`] | why a message did not get through, and when to try again |
//! | [`secret`] | texts that never print |
//! | [`slack`] | Slack |
//! | [`ntfy`] | notices through ntfy |
//! | [`sms`] | text messages |
//! | [`standard`] | signatures of Standard Webhooks |
//! | [`telegram`] | Telegram, through a bot |
//! | [`twilio`] | whoever carries text messages and `WhatsApp` |
//! | [`webhook`] | a program the operator runs, for everything else |
//! | [`whatsapp`] | `WhatsApp`, through Meta or Twilio |

pub mod card;
pub mod failed;
pub mod heard;
pub mod mail;
pub mod ntfy;
mod plain;
pub mod secret;
pub mod slack;
pub mod sms;
pub mod standard;
pub mod telegram;
#[cfg(feature = "testing")]
pub mod testing;
pub mod twilio;
pub mod webhook;
pub mod whatsapp;
mod wire;

pub use card::Card;
pub use failed::{Failed, Forged, Unread};
pub use heard::Heard;
pub use secret::Secret;

use std::fmt;

use async_trait::async_trait;
use kernel::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use card::{Mistake, Sheet};
use heard::Parsed;

/// What people can be reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// Slack.
    Slack,
    /// Mail.
    Email,
    /// Text messages.
    Sms,
    /// `WhatsApp`.
    Whatsapp,
    /// Telegram.
    Telegram,
    /// ntfy.
    Ntfy,
    /// Whatever takes a call over HTTP.
    Webhook,
}

impl Medium {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Slack,
        Self::Email,
        Self::Sms,
        Self::Whatsapp,
        Self::Telegram,
        Self::Ntfy,
        Self::Webhook,
    ];

    /// As it is written in settings, addresses and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slack => "slack",
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
            Self::Telegram => "telegram",
            Self::Ntfy => "ntfy",
            Self::Webhook => "webhook",
        }
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One message on its way.
#[derive(Debug, Clone, Copy)]
pub struct Parcel<'a> {
    /// Whom, as the platform knows them: an id, a number, an address.
    pub to: &'a str,
    /// What [`Channel::render`] made.
    pub message: &'a Value,
    /// The same whenever the same message is sent again: where a platform can, it takes the second for
    /// a repetition.
    pub key: &'a str,
    /// The message it belongs under, where the platform has threads.
    pub thread: Option<&'a str>,
    /// Sent as somebody else than the channel is set up for: a token the agent gave for this one ask.
    pub token: Option<&'a Secret>,
    /// The moment.
    pub now: Time,
}

/// Where a message lies: enough to find it by what comes back, and to change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// What it is known by on its platform: what comes back about it says the same.
    pub id: String,
    /// The thread it is in, by what an answer in it names; nothing, where that is the message itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Whatever else the channel needs to change it. Nothing secret.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub place: Value,
}

/// What came in over HTTP, as it came.
#[derive(Debug, Clone, Copy)]
pub struct Knock<'a> {
    /// The whole address that was called, as the platform knows it, with its query.
    pub url: &'a str,
    /// Under which of the channel's names it came: the part of the path behind the channel's own, such
    /// as `events`.
    pub name: &'a str,
    /// Name in lower case, and value.
    pub headers: &'a [(String, String)],
    /// Byte by byte.
    pub body: &'a [u8],
    /// The moment.
    pub now: Time,
}

impl<'a> Knock<'a> {
    /// A header by its name in lower case; nothing if it is there twice, since nobody could say which
    /// one counts.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }
}

/// A platform people use. Deliveries come at least once, so a channel must bear a repetition.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Which it is.
    fn medium(&self) -> Medium;

    /// What is said of an ask, as the platform takes it. Pure; everything an agent wrote drives no
    /// markup. Buttons only where the whole question fits.
    fn render(&self, card: &Card) -> Value;

    /// Sends a message.
    async fn deliver(&self, parcel: Parcel<'_>) -> Result<Posted, Failed>;

    /// Changes a message that was sent, or where that cannot be done, does nothing.
    async fn update(
        &self,
        posted: &Posted,
        message: &Value,
        token: Option<&Secret>,
    ) -> Result<(), Failed>;

    /// Whether what came in is the platform's: by its signature over the bytes, and not long ago.
    fn verify(&self, knock: &Knock<'_>) -> Result<(), Forged>;

    /// What it says.
    fn parse(&self, knock: &Knock<'_>) -> Result<Parsed, Unread>;

    /// Says something to whoever was heard, and to nobody else where the platform can do that. A press
    /// is always answered, without words if there is nothing to say: some platforms wait for it.
    async fn answer(&self, heard: &Heard, words: &str) -> Result<(), Failed>;

    /// Shows a sheet to whoever pressed, on platforms that can.
    async fn open(&self, _heard: &Heard, _sheet: &Sheet) -> Result<(), Failed> {
        Err(Failed::never("this platform has no forms"))
    }

    /// What a platform is answered at once so that a sheet stays open and says what is wrong in it;
    /// nothing where it has no way to.
    fn corrected(&self, _wrong: &[Mistake]) -> Option<Value> {
        None
    }

    /// The mail address the platform has verified of somebody, where it says.
    async fn email_of(&self, _heard: &Heard) -> Result<Option<String>, Failed> {
        Ok(None)
    }

    /// Goes and asks what there is to hear, for platforms that cannot call us; until it is dropped.
    /// Only what the ear has taken is taken from the platform.
    async fn listen(&self, _ear: &dyn Ear) -> Result<(), Failed> {
        std::future::pending().await
    }

    /// Whether the platform takes what this channel is set up with: a sentence about what was found, or
    /// what is wrong.
    async fn check(&self) -> Result<String, Failed>;
}

/// Whoever takes what was heard.
#[async_trait]
pub trait Ear: Send + Sync {
    /// Takes it; an error means that it was not, and must come again. Returns what the platform is
    /// answered, if it waits for that.
    async fn hear(&self, heard: Heard) -> Result<Option<Value>, Failed>;
}
