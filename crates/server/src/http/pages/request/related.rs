//! Reads the context of a request: similar requests, earlier rounds, viewers, its timeline and its
//! receipt. Every read is a bounded range of an index.

use std::collections::BTreeMap;

use dialects::proof::explain;
use dialects::proof::receipt::id as receipt_id;
use gateway::Gateway;
use gateway::audit::{NoProof, proof};
use kernel::{Ask, AskId, HumanId, Phase, Subject};
use store::{AskListQuery, Filter, ListScope, Message, MessageState, Order, StoreError};
use views::request::RequestTask;
use views::request::related::{RequestContext, SimilarOutcomes};
use views::request::timeline::{RequestEvents, TimelineEntry};
use views::request::{CheckResult, ReceiptVerification, ReceiptView};
use views::request::{NotificationRecord, NotificationStatus};
use views::t;

use crate::http::api::VIEWING_SECONDS;
use crate::http::api::asks::rounds;
use crate::http::pages::Visitor;
use crate::http::pages::request::RequestPages;

const DAY: u64 = 24 * 60 * 60;

/// A message that was sent, as the page shows it.
fn notification(message: Message) -> NotificationRecord {
    let status = match message.standing {
        MessageState::Waiting { error } => NotificationStatus::Waiting { error },
        MessageState::Sent => NotificationStatus::Sent,
        MessageState::Delivered => NotificationStatus::Delivered,
        MessageState::Read => NotificationStatus::Read,
        MessageState::Failed { error } => NotificationStatus::Failed { error },
    };
    let Message { medium, human, why: occasion, at, .. } = message;
    NotificationRecord { medium, human, occasion, at, status }
}

impl RequestPages {
    /// Everything related to a request. With `check`, its receipt is verified.
    pub(super) async fn related(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        check: bool,
    ) -> Result<RequestContext, StoreError> {
        let now = self.gateway.now();
        let mut earlier =
            rounds(&self.gateway, &visitor.actor, ask.follows, |ask| ask.follows).await?;
        earlier.reverse();
        let hidden = if ask.is_open() {
            self.gateway.store().snoozed(visitor.human.id.clone(), now).await?
        } else {
            Vec::new()
        };
        Ok(RequestContext {
            alike: self.similar_requests(visitor, ask).await?,
            earlier,
            later: rounds(&self.gateway, &visitor.actor, ask.followed_by, |ask| ask.followed_by)
                .await?,
            messages: (self.gateway.store().messages(vec![ask.id]).await?)
                .into_iter()
                .map(notification)
                .collect(),
            lookers: other_viewers(&self.gateway, &visitor.human.id, ask.id).await?,
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
    async fn task_of(
        &self,
        visitor: &Visitor,
        ask: &Ask,
    ) -> Result<Option<RequestTask>, StoreError> {
        let Some(id) = ask.task() else { return Ok(None) };
        let (task, directory) = (self.gateway.store().task(id).await?, self.gateway.directory());
        let shown = task.filter(|task| task.is_visible_to(&visitor.actor, &directory));
        Ok(shown.map(|task| RequestTask::new(&task, ask)))
    }

    /// How requests of this kind by this agent were answered, of those this person may see.
    async fn similar_requests(
        &self,
        visitor: &Visitor,
        ask: &Ask,
    ) -> Result<SimilarOutcomes, StoreError> {
        // Conversations have no similar requests.
        if ask.conversation.is_some() {
            return Ok(SimilarOutcomes::default());
        }
        let list = AskListQuery {
            scopes: vec![ListScope::Agent(ask.agent.clone())],
            phases: Phase::ALL.to_vec(),
            order: Order::Age,
            filter: Filter { kinds: vec![ask.kind], ..Filter::default() },
            after: None,
            limit: SimilarOutcomes::MOST + 1,
        };
        let page = self.gateway.list(list).await?;
        let directory = self.gateway.directory();
        let span = i64::try_from(SimilarOutcomes::DAYS * DAY * 1000).unwrap_or(i64::MAX);
        let since = self.gateway.now().millis().saturating_sub(span);
        let lately = |other: &Ask| other.created_at.millis() >= since;
        let more = page.asks.get(SimilarOutcomes::MOST).is_some_and(lately)
            || (page.next.is_some() && page.asks.last().is_some_and(lately));
        let mut others = page.asks;
        others.truncate(SimilarOutcomes::MOST);
        // Messages that people wrote to the agent are not requests by the agent.
        let asked = |other: &Ask| lately(other) && !other.starts_conversation();
        others.retain(|other| asked(other) && other.is_visible_to(&visitor.actor, &directory));
        Ok(SimilarOutcomes::of(ask, &others, more))
    }

    /// The timeline of a request, each event with the sealed block that contains it.
    async fn timeline(&self, ask: &Ask) -> Result<RequestEvents, StoreError> {
        let store = self.gateway.store();
        let records = store.chain(Subject::Ask(ask.id), 0, RequestEvents::MAX_EVENTS + 1).await?;
        let places = store
            .changes(store::FeedQuery::Subject(Subject::Ask(ask.id), 0), RequestEvents::MAX_EVENTS)
            .await?;
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
        let more = records.len() > RequestEvents::MAX_EVENTS;
        let entry = |record: kernel::audit::Record| {
            let (hash, block) = (record.hash, blocks.get(&record.seq).copied());
            let damaged = |source| StoreError::Damaged {
                what: format!("event {} of {}", record.seq, ask.id),
                source: Box::new(source),
            };
            Ok(TimelineEntry { event: record.event().map_err(damaged)?, hash, block })
        };
        let entries = records.into_iter().take(RequestEvents::MAX_EVENTS).map(entry);
        Ok(RequestEvents { entries: entries.collect::<Result<_, StoreError>>()?, more })
    }

    /// The receipt, and the result of its verification.
    async fn proof_of(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        check: bool,
    ) -> Result<ReceiptView, StoreError> {
        let Some(receipt) = self.receipts.receipt_for(ask, &visitor.actor).await? else {
            return Ok(ReceiptView::Erased);
        };
        let id = receipt_id(ask.id);
        let checked = if check { Some(self.check_receipt(ask, &receipt).await?) } else { None };
        Ok(ReceiptView::Signed { id, checked })
    }

    async fn check_receipt(
        &self,
        ask: &Ask,
        receipt: &str,
    ) -> Result<ReceiptVerification, StoreError> {
        let mut checked = ReceiptVerification::default();
        let claims = match self.receipts.signer().verify(receipt) {
            Ok(claims) => claims,
            Err(unproven) => {
                let reason = self.receipts.reason(&unproven);
                let text = t!("check-signature-fails", reason = reason);
                checked.add_check(CheckResult::Fails, text);
                return Ok(checked);
            }
        };
        checked.add_check(CheckResult::Holds, t!("check-signature", issuer = claims.iss));
        let found = proof(&**self.gateway.store(), Subject::Ask(ask.id), claims.audit.seq).await;
        match found.map(|inclusion| inclusion.check(&claims, &self.receipts.signer().ever())) {
            Ok(Ok(block)) => {
                let event = claims.audit.seq;
                checked.add_check(CheckResult::Holds, t!("check-event", event = event));
                checked.add_check(CheckResult::Holds, t!("check-sealed", block = block.n));
            }
            Ok(Err(why)) => {
                let text = t!("check-log-fails", reason = why.to_string());
                checked.add_check(CheckResult::Fails, text);
            }
            Err(NoProof::NotSealed) => {
                checked.add_check(CheckResult::Later, t!("check-not-sealed"));
            }
            Err(why @ (NoProof::NotFound | NoProof::Broken)) => {
                let text = t!("check-log-fails", reason = why.to_string());
                checked.add_check(CheckResult::Fails, text);
            }
            Err(NoProof::Store(error)) => return Err(error),
        }
        match &ask.revoked {
            Some(_) => checked.add_check(CheckResult::Fails, t!("check-revoked")),
            None => checked.add_check(CheckResult::Holds, t!("check-not-revoked")),
        }
        checked.words = explain(&claims);
        Ok(checked)
    }
}

/// Records that this person views a request, or has stopped.
pub(super) async fn note_viewing(
    gateway: &Gateway,
    visitor: &Visitor,
    id: AskId,
    looks: bool,
) -> Result<(), StoreError> {
    let until = looks.then(|| gateway.now().plus_seconds(VIEWING_SECONDS));
    gateway.store().view(id, visitor.human.id.clone(), until).await
}

/// The other people who view a request.
pub(super) async fn other_viewers(
    gateway: &Gateway,
    me: &HumanId,
    id: AskId,
) -> Result<Vec<HumanId>, StoreError> {
    let found = gateway.store().viewers(vec![id], gateway.now()).await?;
    let others = found.into_iter().map(|(_, human)| human);
    Ok(others.filter(|human| human != me).collect())
}
