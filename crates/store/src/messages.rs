//! What went out to people about asks, by which means, and what became of it: what the request page
//! shows, what is changed when an ask is over, and what an answer from a platform is found by.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::effect::Occasion;
use kernel::{AskId, HumanId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;
use crate::outbox::unlogged_before;

/// So many messages about one ask are found, the newest.
pub const MOST_MESSAGES: usize = 200;

/// One message about one ask, to one person or place, by one means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The same however often it is tried.
    pub name: Digest,
    /// About which ask.
    pub ask: AskId,
    /// What carries it: `slack`, `email`.
    pub medium: String,
    /// To which address, by its mark: addresses are not kept here.
    pub to: Digest,
    /// To whom; nobody, if the agent named the place.
    pub human: Option<HumanId>,
    /// Why they are told.
    pub why: Occasion,
    /// Since when they are to be told, where it goes on by other means if this one is in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// When it was first tried.
    pub at: Time,
    /// How it stands.
    pub standing: Sent,
    /// What it is known by on its platform, once it is there.
    pub posted: Option<String>,
    /// The thread it is in, by what answers in it name; nothing, if they name the message itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Whatever else its channel needs to change it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub place: Value,
    /// What a written answer begins with, where a platform has no threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether it says that the ask is over.
    pub over: bool,
    /// When anything last became of it.
    pub updated_at: Time,
}

/// How a message stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Sent {
    /// It was not taken yet; it is tried again.
    Waiting {
        /// What went wrong.
        error: String,
    },
    /// The platform took it.
    Sent,
    /// It is on a device.
    Delivered,
    /// It was looked at.
    Read,
    /// It did not arrive, and is not tried again.
    Failed {
        /// Why.
        error: String,
    },
}

impl Message {
    /// What it says from now on: what was learned of a message later says more than what was known
    /// before, in whatever order platforms say it.
    #[must_use]
    pub fn learned(mut self, standing: Sent, now: Time) -> Self {
        let rank = |standing: &Sent| match standing {
            Sent::Waiting { .. } => 0,
            Sent::Sent => 1,
            Sent::Delivered => 2,
            Sent::Read => 3,
            Sent::Failed { .. } => 4,
        };
        if rank(&standing) > rank(&self.standing) {
            (self.standing, self.updated_at) = (standing, now);
        }
        self
    }
}

/// Which messages are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageQuery {
    /// The one of this name.
    Name(Digest),
    /// The newest [`MOST_MESSAGES`] about each of these asks.
    Asks(Vec<AskId>),
    /// The one a platform knows by this name.
    Posted {
        /// What carries it.
        medium: String,
        /// Its name on the platform.
        posted: String,
    },
    /// The newest one in a thread of a platform.
    Thread {
        /// What carries it.
        medium: String,
        /// By what answers in the thread name.
        thread: String,
    },
    /// The newest to an address, newest first.
    To {
        /// The mark of the address.
        to: Digest,
        /// At most so many.
        limit: usize,
    },
}

/// None of this is an event: what somebody answers is.
#[async_trait]
pub trait Messages: Send + Sync {
    /// Keeps a message in place of what was kept under its name.
    async fn put_message(&self, message: Message) -> Result<()>;

    /// The messages a query is about.
    async fn find_messages(&self, wanted: MessageQuery) -> Result<Vec<Message>>;

    /// One message.
    async fn message(&self, name: Digest) -> Result<Option<Message>> {
        Ok(self.find_messages(MessageQuery::Name(name)).await?.pop())
    }

    /// What went out about these asks, oldest first; of very many about one the newest.
    async fn messages(&self, asks: Vec<AskId>) -> Result<Vec<Message>> {
        let mut messages = self.find_messages(MessageQuery::Asks(asks)).await?;
        messages.sort_by_key(|message| (message.at, message.name));
        Ok(messages)
    }

    /// The message a platform knows by this name; or the newest one in the thread of this name.
    async fn posted(&self, medium: &str, posted: &str) -> Result<Option<Message>> {
        let (medium, name) = (medium.to_owned(), posted.to_owned());
        let known = MessageQuery::Posted { medium: medium.clone(), posted: name.clone() };
        if let Some(found) = self.find_messages(known).await?.pop() {
            return Ok(Some(found));
        }
        let in_thread = MessageQuery::Thread { medium, thread: name };
        Ok(self.find_messages(in_thread).await?.pop())
    }

    /// What last went to an address, newest first.
    async fn messages_to(&self, to: Digest, limit: usize) -> Result<Vec<Message>> {
        self.find_messages(MessageQuery::To { to, limit }).await
    }
}

/// Messages that say that their ask is over are forgotten like the log of what endpoints were told.
pub(crate) fn forgotten_before(now: Time) -> Time {
    unlogged_before(now)
}
