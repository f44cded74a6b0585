//! Messages sent to people about asks, and their delivery status. The request page shows them, the
//! server updates them when an ask is closed, and replies from a platform are matched by them.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::follow_up::NotificationReason;
use kernel::{AskId, HumanId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;
use crate::work_queue::unlogged_before;

/// The most messages returned for one ask; the newest ones.
pub const MOST_MESSAGES: usize = 200;

/// One message about one ask, to one person or place, through one contact method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The deduplication key: the same for every attempt.
    pub name: Digest,
    /// The ask it is about.
    pub ask: AskId,
    /// The channel: `slack`, `email`.
    pub medium: String,
    /// The digest of the recipient's address. Addresses are not stored here.
    pub to: Digest,
    /// The recipient; `None` if the agent named the place.
    pub human: Option<HumanId>,
    /// The reason for the notification.
    pub why: NotificationReason,
    /// When the notification plan of the person began, if the next contact method is tried after
    /// this one fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// The time of the first attempt.
    pub at: Time,
    /// The delivery status.
    pub standing: MessageState,
    /// The id of the message on its platform, once posted.
    pub posted: Option<String>,
    /// The thread id that replies refer to; `None` if they refer to the message itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Other data its channel needs to update the message.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub place: Value,
    /// The code that a written reply starts with, on platforms without threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether the message shows that the ask is closed.
    pub over: bool,
    /// The time of the last change.
    pub updated_at: Time,
}

/// The delivery status of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum MessageState {
    /// The platform has not accepted it yet; the server retries.
    Waiting {
        /// The error of the last attempt.
        error: String,
    },
    /// The platform accepted it.
    Sent,
    /// It arrived on a device.
    Delivered,
    /// The recipient read it.
    Read,
    /// It was not delivered and is not retried.
    Failed {
        /// The reason for the failure.
        error: String,
    },
}

impl Message {
    /// Applies a delivery status. A status of higher rank replaces a lower one, in whatever order
    /// the platform reports them.
    #[must_use]
    pub fn with_status(mut self, standing: MessageState, now: Time) -> Self {
        let rank = |standing: &MessageState| match standing {
            MessageState::Waiting { .. } => 0,
            MessageState::Sent => 1,
            MessageState::Delivered => 2,
            MessageState::Read => 3,
            MessageState::Failed { .. } => 4,
        };
        if rank(&standing) > rank(&self.standing) {
            (self.standing, self.updated_at) = (standing, now);
        }
        self
    }
}

/// A lookup of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageQuery {
    /// The message with this name.
    Name(Digest),
    /// The newest [`MOST_MESSAGES`] about each of these asks.
    Asks(Vec<AskId>),
    /// The message with this id on the platform.
    Posted {
        /// The channel of the message.
        medium: String,
        /// The id on the platform.
        posted: String,
    },
    /// The newest one in a thread of a platform.
    Thread {
        /// The channel of the message.
        medium: String,
        /// The thread id that replies refer to.
        thread: String,
    },
    /// The latest messages to an address, newest first.
    To {
        /// The digest of the address.
        to: Digest,
        /// The most messages to return.
        limit: usize,
    },
}

/// Storage of messages. None of these writes is an event; only the answer is.
#[async_trait]
pub trait MessageStore: Send + Sync {
    /// Stores a message, replacing the one with the same name.
    async fn put_message(&self, message: Message) -> Result<()>;

    /// The messages that match a query.
    async fn messages_by(&self, wanted: MessageQuery) -> Result<Vec<Message>>;

    /// The message with this name.
    async fn message(&self, name: Digest) -> Result<Option<Message>> {
        Ok(self.messages_by(MessageQuery::Name(name)).await?.pop())
    }

    /// The messages about these asks, oldest first; at most [`MOST_MESSAGES`] of the
    /// newest per ask.
    async fn messages(&self, asks: Vec<AskId>) -> Result<Vec<Message>> {
        let mut messages = self.messages_by(MessageQuery::Asks(asks)).await?;
        messages.sort_by_key(|message| (message.at, message.name));
        Ok(messages)
    }

    /// The message with this id on the platform, or else the newest one in the thread with this id.
    async fn posted(&self, medium: &str, posted: &str) -> Result<Option<Message>> {
        let (medium, name) = (medium.to_owned(), posted.to_owned());
        let known = MessageQuery::Posted { medium: medium.clone(), posted: name.clone() };
        if let Some(found) = self.messages_by(known).await?.pop() {
            return Ok(Some(found));
        }
        let in_thread = MessageQuery::Thread { medium, thread: name };
        Ok(self.messages_by(in_thread).await?.pop())
    }
}

/// Messages that show that their ask is closed are kept as long as the webhook delivery log.
pub(crate) fn expired_before(now: Time) -> Time {
    unlogged_before(now)
}
