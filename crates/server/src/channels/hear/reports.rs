//! What platforms report: what became of a message, and who wants to hear no more there.

use ::channels::email::{self, AddressOwner};
use ::channels::inbound::DeliveryReport;
use kernel::directory::{Means, NewNotices};
use kernel::effect::Chain;
use kernel::{Actor, DirectoryCommand, Effect};
use serde_json::Value;
use store::{Message, Sent, StoreError};

use super::{Came, Hearing};
use crate::http::App;

impl Hearing<'_> {
    /// What became of a message that went out.
    pub(super) async fn became(
        &self,
        posted: &str,
        state: &DeliveryReport,
    ) -> Result<Came, StoreError> {
        let Some(message) = self.reported(posted).await? else { return Ok(Came::Silent) };
        let standing = match state {
            DeliveryReport::Delivered => Sent::Delivered,
            DeliveryReport::Read => Sent::Read,
            DeliveryReport::Failed { why, .. } => Sent::Failed { error: why.clone() },
        };
        let learned = message.clone().learned(standing, self.app.gateway.now());
        if learned == message {
            return Ok(Came::Silent);
        }
        let failed = matches!(learned.standing, Sent::Failed { .. });
        self.app.gateway.store().put_message(learned.clone()).await?;
        if failed {
            self.app.not_arrived(&learned).await?;
        }
        Ok(Came::Silent)
    }

    /// The message a report is about. Of a letter the address says for certain whose it was, and about
    /// what; the id in a report only which one of theirs, if it is there.
    async fn reported(&self, posted: &str) -> Result<Option<Message>, StoreError> {
        if self.channel.name() != email::NAME {
            return self.message_at(Some(posted)).await;
        }
        let said = |name: &str| self.heard.place.get(name).and_then(Value::as_str);
        let Some((ask, whom)) = said("ask").and_then(|ask| ask.parse().ok()).zip(said("whom"))
        else {
            return Ok(None);
        };
        let mut theirs = self.app.gateway.store().messages(vec![ask]).await?;
        theirs.retain(|message| AddressOwner::of_mark(&message.to).to_string() == whom);
        let id = posted.split('@').next();
        let named = theirs.iter().position(|message| message.posted.as_deref() == id);
        Ok(if let Some(n) = named { theirs.into_iter().nth(n) } else { theirs.pop() })
    }

    /// Somebody wants to hear no more here, or to hear again.
    pub(super) async fn turned(&self, off: bool) -> Result<Came, StoreError> {
        let (directory, from) = (self.app.gateway.directory(), &self.heard.from);
        let Some(human) = directory.human_by_means(from) else { return Ok(Came::Silent) };
        let notices = human.profile.value().and_then(|profile| profile.notices.as_ref());
        let mut silent = notices.map(|notices| notices.off.clone()).unwrap_or_default();
        let changed = if off { silent.insert(from.clone()) } else { silent.remove(from) };
        if changed {
            let (human, order, digest) = (human.id.clone(), None, None);
            let new = NewNotices { human, order, off: Some(silent), digest };
            self.app.gateway.run(Actor::System, DirectoryCommand::SaveNotices(new)).await?;
        }
        // Platforms that know such words answer them themselves.
        Ok(Came::Silent)
    }
}

impl App {
    /// A message was taken and did not arrive. Nobody waits for its reader to stay silent: they are told
    /// by their next means at once, and in place of a place whoever holds a seat.
    async fn not_arrived(&self, message: &Message) -> Result<(), StoreError> {
        let ask = self.gateway.ask(message.ask).await?;
        let Some(ask) = ask.filter(|ask| ask.is_open()) else { return Ok(()) };
        let (store, now) = (self.gateway.store(), self.gateway.now());
        let (why, priority, ask_id) = (message.why, ask.priority, ask.id);
        let Some(human) = message.human.clone() else {
            for seat in ask.seats.iter().cloned() {
                store.hasten(Effect::Notify { ask: ask_id, seat, why, priority }, now).await?;
            }
            return Ok(());
        };
        // A letter of before this was noted, or one that nothing follows.
        let Some(since) = message.since else { return Ok(()) };
        let mut chain = store.messages(vec![ask_id]).await?;
        chain.retain(|other| {
            other.human == message.human && other.why == why && other.since == message.since
        });
        // Whoever was told by another means since need not be told by a third for it.
        let told_since = |other: &Message| {
            other.at > message.at && !matches!(other.standing, Sent::Failed { .. })
        };
        if chain.iter().any(told_since) {
            return Ok(());
        }
        let devices = Means::Devices;
        let mark = |other: &Message| {
            if other.medium == devices.kind() { devices.mark() } else { other.to }
        };
        let mut tried: Vec<_> = chain.iter().map(mark).collect();
        tried.dedup();
        let chain = Chain { human, since, tried };
        store.hasten(Effect::Reach { ask: ask_id, why, priority, chain }, now).await
    }
}
