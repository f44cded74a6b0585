//! Reads the context of a request: similar requests, earlier rounds, viewers, its timeline and its
//! receipt. Every read is a bounded range of an index.

use std::collections::BTreeMap;

use dialects::proof::receipt::id as receipt_id;
use dialects::proof::words;
use gateway::Gateway;
use gateway::audit::{NoProof, proof};
use kernel::{Ask, AskId, HumanId, Phase, Subject};
use store::{Filter, List, Message, Order, Scope, Sent, StoreError};
use views::request::Belongs;
use views::request::related::{Alike, Around};
use views::request::timeline::{Entry, Trail};
use views::request::{Checked, Found, Proof};
use views::request::{Notification, NotificationStatus};

use crate::http::api::LEASE;
use crate::http::api::asks::rounds;
use crate::http::pages::Visitor;
use crate::http::pages::request::RequestPages;

const DAY: u64 = 24 * 60 * 60;

/// A message that was sent, as the page shows it.
fn notification(message: Message) -> Notification {
    let status = match message.standing {
        Sent::Waiting { error } => NotificationStatus::Waiting { error },
        Sent::Sent => NotificationStatus::Sent,
        Sent::Delivered => NotificationStatus::Delivered,
        Sent::Read => NotificationStatus::Read,
        Sent::Failed { error } => NotificationStatus::Failed { error },
    };
    let Message { medium, human, why: occasion, at, .. } = message;
    Notification { medium, human, occasion, at, status }
}

impl RequestPages {
    /// Everything related to a request. With `check`, its receipt is verified.
    pub(super) async fn related(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        check: bool,
    ) -> Result<Around, StoreError> {
        let now = self.gateway.now();
        let mut earlier =
            rounds(&self.gateway, &visitor.actor, ask.follows, |ask| ask.follows).await?;
        earlier.reverse();
        let hidden = if ask.is_open() {
            self.gateway.store().snoozed(visitor.human.id.clone(), now).await?
        } else {
            Vec::new()
        };
        Ok(Around {
            alike: self.alike(visitor, ask).await?,
            earlier,
            later: rounds(&self.gateway, &visitor.actor, ask.followed_by, |ask| ask.followed_by)
                .await?,
            messages: (self.gateway.store().messages(vec![ask.id]).await?)
                .into_iter()
                .map(notification)
                .collect(),
            lookers: others_looking(&self.gateway, &visitor.human.id, ask.id).await?,
            hidden_until: hidden.into_iter().find(|(id, _)| *id == ask.id).map(|(_, until)| until),
            trail: self.timeline(ask).await?,
            task: self.task_of(visitor, ask).await?,
            proof: if ask.is_open() {
                None
            } else {
                Some(self.proof_of(visitor, ask, check).await?)
            },
        })
    }

    /// The task a request belongs to.
    async fn task_of(&self, visitor: &Visitor, ask: &Ask) -> Result<Option<Belongs>, StoreError> {
        let Some(id) = ask.task() else { return Ok(None) };
        let (task, directory) = (self.gateway.store().task(id).await?, self.gateway.directory());
        let shown = task.filter(|task| task.is_shown_to(&visitor.actor, &directory));
        Ok(shown.map(|task| Belongs::new(&task, ask)))
    }

    /// How requests of this kind by this agent were answered, of those this person may see.
    async fn alike(&self, visitor: &Visitor, ask: &Ask) -> Result<Alike, StoreError> {
        // Conversations have no similar requests.
        if ask.conversation.is_some() {
            return Ok(Alike::default());
        }
        let list = List {
            scopes: vec![Scope::Agent(ask.agent.clone())],
            phases: Phase::ALL.to_vec(),
            order: Order::Age,
            filter: Filter { kinds: vec![ask.kind], ..Filter::default() },
            after: None,
            limit: Alike::MOST + 1,
        };
        let page = self.gateway.list(list).await?;
        let directory = self.gateway.directory();
        let span = i64::try_from(Alike::DAYS * DAY * 1000).unwrap_or(i64::MAX);
        let since = self.gateway.now().millis().saturating_sub(span);
        let lately = |other: &Ask| other.created_at.millis() >= since;
        let more = page.asks.get(Alike::MOST).is_some_and(lately)
            || (page.next.is_some() && page.asks.last().is_some_and(lately));
        let mut others = page.asks;
        others.truncate(Alike::MOST);
        // Messages that people wrote to the agent are not requests by the agent.
        let asked = |other: &Ask| lately(other) && !other.is_opening();
        others.retain(|other| asked(other) && other.is_shown_to(&visitor.actor, &directory));
        Ok(Alike::of(ask, &others, more))
    }

    /// The timeline of a request, each event with the sealed block that contains it.
    async fn timeline(&self, ask: &Ask) -> Result<Trail, StoreError> {
        let store = self.gateway.store();
        let records = store.chain(Subject::Ask(ask.id), 0, Trail::MOST + 1).await?;
        let places =
            store.changes(store::FeedQuery::Subject(Subject::Ask(ask.id), 0), Trail::MOST).await?;
        let mut blocks: BTreeMap<u64, u64> = BTreeMap::new();
        let mut end = 0;
        let mut number = None;
        for change in places {
            if change.position >= end {
                let sealed = store.block(store::BlockQuery::At(change.position)).await?;
                let Some(sealed) = sealed else { break };
                (end, number) = (sealed.block.end(), Some(sealed.block.n));
            }
            blocks.extend(number.map(|n| (change.seq, n)));
        }
        let more = records.len() > Trail::MOST;
        let entry = |record: kernel::audit::Record| {
            let (hash, block) = (record.hash, blocks.get(&record.seq).copied());
            let damaged = |source| StoreError::Damaged {
                what: format!("event {} of {}", record.seq, ask.id),
                source: Box::new(source),
            };
            Ok(Entry { event: record.event().map_err(damaged)?, hash, block })
        };
        let entries = records.into_iter().take(Trail::MOST).map(entry);
        Ok(Trail { entries: entries.collect::<Result<_, StoreError>>()?, more })
    }

    /// The receipt, and the result of its verification.
    async fn proof_of(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        check: bool,
    ) -> Result<Proof, StoreError> {
        let Some(receipt) = self.receipts.receipt_for(ask, &visitor.actor).await? else {
            return Ok(Proof::Erased);
        };
        let id = receipt_id(ask.id);
        let checked = if check { Some(self.checked(ask, &receipt).await?) } else { None };
        Ok(Proof::Signed { id, checked })
    }

    async fn checked(&self, ask: &Ask, receipt: &str) -> Result<Checked, StoreError> {
        let mut checked = Checked::default();
        let claims = match self.receipts.signer().verify(receipt) {
            Ok(claims) => claims,
            Err(unproven) => {
                checked.note(
                    Found::Fails,
                    format!("The signature: {}.", self.receipts.reason(&unproven)),
                );
                return Ok(checked);
            }
        };
        checked.note(Found::Holds, format!("The signature is that of {}.", claims.iss));
        let found = proof(&**self.gateway.store(), Subject::Ask(ask.id), claims.audit.seq).await;
        match found.map(|inclusion| inclusion.check(&claims, &self.receipts.signer().ever())) {
            Ok(Ok(block)) => {
                let event = claims.audit.seq;
                checked.note(Found::Holds, format!("Event {event} of the record says the same."));
                let n = block.n;
                checked.note(Found::Holds, format!("That event is sealed in block {n}, signed."));
            }
            Ok(Err(why)) => checked.note(Found::Fails, format!("The record: {why}.")),
            Err(NoProof::NotSealed) => {
                let text = "The event is in no sealed block yet. Look again in a while.";
                checked.note(Found::Later, text);
            }
            Err(why @ (NoProof::NotFound | NoProof::Broken)) => {
                checked.note(Found::Fails, format!("The record: {why}."));
            }
            Err(NoProof::Store(error)) => return Err(error),
        }
        match &ask.revoked {
            Some(_) => checked.note(Found::Fails, "It was revoked, and no longer counts."),
            None => checked.note(Found::Holds, "It was not revoked."),
        }
        checked.words = words(&claims);
        Ok(checked)
    }
}

/// Records that this person views a request, or has stopped.
pub(super) async fn note_look(
    gateway: &Gateway,
    visitor: &Visitor,
    id: AskId,
    looks: bool,
) -> Result<(), StoreError> {
    let until = looks.then(|| gateway.now().plus_seconds(LEASE));
    gateway.store().view(id, visitor.human.id.clone(), until).await
}

/// The other people who view a request.
pub(super) async fn others_looking(
    gateway: &Gateway,
    me: &HumanId,
    id: AskId,
) -> Result<Vec<HumanId>, StoreError> {
    let found = gateway.store().viewers(vec![id], gateway.now()).await?;
    let others = found.into_iter().map(|(_, human)| human);
    Ok(others.filter(|human| human != me).collect())
}
