//! Delivery reports of platforms, and people who turn messages off or on there.

use channels::email::{self, AddressOwner};
use channels::inbound::DeliveryReport;
use kernel::directory::{ContactMethod, NewNotificationPreferences};
use kernel::{Actor, DirectoryCommand};
use serde_json::Value;
use store::NotificationPlan;
use store::Work;
use store::{Message, MessageState, StoreError};

use super::{InboundProcessor, InboundResult, IncomingMessage};

impl IncomingMessage<'_> {
    /// Stores a platform's report about a message.
    pub(super) async fn store_report(
        &self,
        posted: &str,
        state: &DeliveryReport,
    ) -> Result<InboundResult, StoreError> {
        let Some(message) = self.reported_message(posted).await? else {
            return Ok(InboundResult::Silent);
        };
        let standing = match state {
            DeliveryReport::Delivered => MessageState::Delivered,
            DeliveryReport::Read => MessageState::Read,
            DeliveryReport::Failed { why, .. } => MessageState::Failed { error: why.clone() },
        };
        let learned = message.clone().with_status(standing, self.inbound.gateway.now());
        if learned == message {
            return Ok(InboundResult::Silent);
        }
        let failed = matches!(learned.standing, MessageState::Failed { .. });
        self.inbound.gateway.store().put_message(learned.clone()).await?;
        if failed {
            self.inbound.not_delivered(&learned).await?;
        }
        Ok(InboundResult::Silent)
    }

    /// The message that a report is about. For an email, the address it came to says for certain
    /// whose it was and about which ask; the id in the report only says which of their emails, if
    /// it is there.
    async fn reported_message(&self, posted: &str) -> Result<Option<Message>, StoreError> {
        if self.channel.name() != email::NAME {
            return self.message_at(Some(posted)).await;
        }
        let said = |name: &str| self.message.place.get(name).and_then(Value::as_str);
        let Some((ask, whom)) = said("ask").and_then(|ask| ask.parse().ok()).zip(said("whom"))
        else {
            return Ok(None);
        };
        let mut theirs = self.inbound.gateway.store().messages(vec![ask]).await?;
        theirs.retain(|message| AddressOwner::from_digest(&message.to).to_string() == whom);
        let id = posted.split('@').next();
        let named = theirs.iter().position(|message| message.posted.as_deref() == id);
        Ok(if let Some(n) = named { theirs.into_iter().nth(n) } else { theirs.pop() })
    }

    /// Turns messages to the sender off or on.
    pub(super) async fn set_messages_enabled(
        &self,
        off: bool,
    ) -> Result<InboundResult, StoreError> {
        let (directory, from) = (self.inbound.gateway.directory(), &self.message.from);
        let Some(human) = directory.human_by_contact_method(from) else {
            return Ok(InboundResult::Silent);
        };
        let notices =
            human.profile.value().and_then(|profile| profile.notification_preferences.as_ref());
        let mut silent = notices.map(|notices| notices.off.clone()).unwrap_or_default();
        let changed = if off { silent.insert(from.clone()) } else { silent.remove(from) };
        if changed {
            let (human, order, digest) = (human.id.clone(), None, None);
            let new = NewNotificationPreferences { human, order, off: Some(silent), digest };
            self.inbound.gateway.run(Actor::System, DirectoryCommand::SaveNotices(new)).await?;
        }
        // Platforms that have such keywords reply to them themselves.
        Ok(InboundResult::Silent)
    }
}

impl InboundProcessor {
    /// The platform accepted a message and could not deliver it. The person's next contact method
    /// is tried at once; if the message went to the place that the agent chose, the assignees are
    /// notified instead.
    async fn not_delivered(&self, message: &Message) -> Result<(), StoreError> {
        let ask = self.gateway.ask(message.ask).await?;
        let Some(ask) = ask.filter(|ask| ask.is_open()) else { return Ok(()) };
        let (store, now) = (self.gateway.store(), self.gateway.now());
        let (why, priority, ask_id) = (message.why, ask.priority, ask.id);
        let Some(human) = message.human.clone() else {
            for seat in ask.assignees.iter().cloned() {
                store
                    .make_due(Work::Notify { ask: ask_id, assignee: seat, why, priority }, now)
                    .await?;
            }
            return Ok(());
        };
        // The message is older than this rule, or nothing follows it.
        let Some(since) = message.since else { return Ok(()) };
        let mut chain = store.messages(vec![ask_id]).await?;
        chain.retain(|other| {
            other.human == message.human && other.why == why && other.since == message.since
        });
        // If the person was notified by another contact method since, no third one is needed.
        let notified_since = |other: &Message| {
            other.at > message.at && !matches!(other.standing, MessageState::Failed { .. })
        };
        if chain.iter().any(notified_since) {
            return Ok(());
        }
        let devices = ContactMethod::Devices;
        let mark = |other: &Message| {
            if other.medium == devices.kind() { devices.digest() } else { other.to }
        };
        let mut tried: Vec<_> = chain.iter().map(mark).collect();
        tried.dedup();
        let chain = NotificationPlan { human, since, tried };
        store
            .make_due(Work::NotificationStep { ask: ask_id, why, priority, plan: chain }, now)
            .await
    }
}
