//! Whoever hears, and how emails are written to them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use channels::email::{
    AddressOwner, EmailReader, Invitation, OpenedAddress, ReplyAddress, ReplyAddresses,
};
use channels::{DeliveryError, InboundHandler, InboundMessage};
use kernel::AskId;
use kernel::directory::ContactMethod;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use ulid::Ulid;

/// Keeps what it hears, after it refused as often as it was told to.
pub(crate) struct KeepingHandler {
    inbound: UnboundedSender<InboundMessage>,
    kept: Mutex<UnboundedReceiver<InboundMessage>>,
    refusals: AtomicUsize,
    pub(crate) refused: AtomicUsize,
}

impl KeepingHandler {
    pub(crate) fn new() -> Self {
        Self::refusing(0)
    }

    pub(crate) fn refusing(times: usize) -> Self {
        let (inbound, kept) = unbounded_channel();
        let (refusals, refused) = (AtomicUsize::new(times), AtomicUsize::new(0));
        Self { inbound, kept: Mutex::new(kept), refusals, refused }
    }

    /// The next thing that is heard.
    pub(crate) async fn next(&self) -> InboundMessage {
        let next = async { self.kept.lock().await.recv().await.unwrap() };
        timeout(Duration::from_secs(40), next).await.expect("nothing was heard")
    }

    /// What was heard and not looked at.
    pub(crate) async fn rest(&self) -> usize {
        self.kept.lock().await.len()
    }
}

#[async_trait]
impl InboundHandler for KeepingHandler {
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError> {
        let once_less = |times: usize| times.checked_sub(1);
        if self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, once_less).is_ok() {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(DeliveryError::later("not now"));
        }
        self.inbound.send(inbound).unwrap();
        Ok(None)
    }
}

pub(crate) fn reader() -> EmailReader {
    let replies = ReplyAddresses::new("replies@example.com", [7; 32]).unwrap();
    EmailReader::new(replies, ["agents@example.com".to_owned()])
}

/// What Ada was given the address for.
pub(crate) fn reply(ask: u128) -> ReplyAddress {
    ReplyAddress {
        ask: AskId::new(Ulid(ask)),
        whom: AddressOwner::of(&ContactMethod::email("ada@example.org")),
    }
}

/// Which ask a token answers.
pub(crate) fn asked(token: &str) -> u128 {
    let Some(OpenedAddress::Reply(reply)) = reader().replies().open(token) else {
        panic!("{token}")
    };
    reply.ask.ulid().0
}

/// The address for an answer to an ask.
pub(crate) fn address(ask: u128) -> String {
    reader().replies().address(reply(ask))
}

/// Ada's own address for an agent.
pub(crate) fn invitation() -> String {
    let (agent, human) = ("agent_dev".parse().unwrap(), "ada".parse().unwrap());
    reader().replies().invitation(Invitation::new(&agent, &human))
}

/// A plain answer.
pub(crate) fn answer(id: &str, to: &str, words: &str) -> String {
    format!(
        "From: Ada Lovelace <ada@example.org>\r\nTo: {to}\r\nSubject: Re: May I?\r\n\
         Message-ID: <{id}@example.org>\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\n\r\n{words}\r\n"
    )
}
