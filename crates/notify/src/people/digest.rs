//! The digest: one notification, at a time the person chose, of all requests that can wait.
//!
//! The delivery is named by the person and the time, and is written only before that time. Its
//! content is looked up when it is sent, so it lists no closed request, omits no open one, and is
//! sent once in a period.

use std::collections::BTreeMap;

use channels::OutboundMessage;
use gateway::Gateway;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, Human};
use kernel::notification_steps;
use kernel::quota::QuotaExceeded;
use kernel::{AgentId, HumanId, Phase, ProjectId, Time};
use store::Work;
use store::{AskListQuery, Filter, ListScope, Order, Settlement, StoreError};

use super::contact_methods::{ContactMethods, address, addressee};
use super::notification_steps::NotificationSteps;
use super::push::DeviceNotifications;
use crate::attempts::{ATTEMPTS, AttemptResult, KEEPS_FAILING, retry_at};
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;
use views::email::digest::DigestEmail;
use views::locale::{self, ReaderLocale};
use views::message_card::{MessageCard, WaitingRequests};
use views::push_notification::PushNotification;

/// How many requests a digest lists; it gives the number of the rest.
pub const MAX_LISTED_REQUESTS: usize = 20;

/// The part of a digest that quotas allow.
struct AffordableDigest {
    waiting: WaitingRequests,
    /// When to send the part that quotas do not allow now.
    left_out: Option<Time>,
}

/// The delivery of one digest.
pub(crate) struct DigestDelivery<'a> {
    pub(crate) human: &'a HumanId,
    /// The time it is for.
    pub(crate) at: Time,
    /// The contact methods that failed.
    pub(crate) tried: &'a [Digest],
}

/// Collects requests that can wait, and sends each person one digest of them.
pub(crate) struct Digests {
    pub(super) gateway: Gateway,
    pub(super) contacts: ContactMethods,
    pub(super) links: LinkBuilder,
    pub(super) outgoing: Outgoing,
    pub(super) devices: DeviceNotifications,
    pub(super) steps: NotificationSteps,
}

impl Digests {
    /// Starts the delivery of a digest by the first contact method that can be used.
    pub(crate) async fn start(&self, it: DigestDelivery<'_>) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.postpone(human, it.at) {
            return Ok(later);
        }
        if self.waiting_requests(human).await?.is_none() {
            return Ok(Settlement::Done);
        }
        let mut means = self.contacts.usable(human).await?;
        means.retain(|means| !it.tried.contains(&means.digest()));
        let (human, at, tried) = (&human.id, it.at, it.tried.to_vec());
        let into = match means.first() {
            None => return Ok(Settlement::Done),
            Some(ContactMethod::Devices) => {
                let devices = self.contacts.devices.devices_of(human).await?;
                let push = |device| Work::PushDigest { human: human.clone(), at, device };
                devices.into_iter().map(|(device, _)| (now, push(device.name))).collect()
            }
            Some(by) => {
                let (human, medium, to) = (human.clone(), by.kind().to_owned(), by.digest());
                vec![(now, Work::SendDigest { human, at, medium, to, tried })]
            }
        };
        Ok(Settlement::Split { into })
    }

    /// A digest that is late by a whole period is merged into the next one. None is sent in quiet
    /// hours.
    fn postpone(&self, human: &Human, at: Time) -> Option<Settlement> {
        let now = self.gateway.now();
        let (digest, about) = (addressee(human, &[]).digest, human.profile_settings());
        let late =
            notification_steps::next_digest_at(digest, about, at).is_some_and(|next| next <= now);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let next = notification_steps::next_digest_at(digest, about, now).or(quiet);
        let next = next.filter(|_| late || quiet.is_some())?;
        Some(rescheduled(human.id.clone(), next, Vec::new(), next))
    }

    /// Sends a digest as one message.
    pub(super) async fn send(
        &self,
        it: DigestDelivery<'_>,
        to: Digest,
        attempt: u32,
    ) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.postpone(human, it.at) {
            return Ok(later);
        }
        let Some(waiting) = self.waiting_requests(human).await? else {
            return Ok(Settlement::Done);
        };
        let AffordableDigest { waiting, left_out } =
            match self.charge_quotas(human, waiting).await? {
                Ok(affordable) => affordable,
                Err(exceeded) => {
                    // It is merged into the next one that the quota allows.
                    AttemptResult::over_quota(&exceeded);
                    let next = exceeded.resets_at.unwrap_or_else(|| retry_at(now, attempt));
                    return Ok(rescheduled(human.id.clone(), next, Vec::new(), next));
                }
            };
        let result = match address(human, &to) {
            None => AttemptResult::Gone,
            Some((ContactMethod::Email(_), address)) => {
                let email = DigestEmail {
                    to: &address,
                    human: &human.id,
                    at: it.at,
                    waiting: &waiting,
                    home: &self.links.page(views::site::paths::INBOX),
                    settings: &self.links.page(views::site::paths::NOTIFICATION_SETTINGS),
                };
                let email = locale::with(ReaderLocale::of(human), || email.email());
                self.outgoing.notify_by_email(&email).await
            }
            Some((means, address)) => {
                let sending = self.send_card(&means, &address, &it, &waiting);
                locale::scope(ReaderLocale::of(human), sending).await
            }
        };
        let failed = match result {
            AttemptResult::Sent => {
                // The rest is sent when its quota starts again.
                let again = |next| rescheduled(human.id.clone(), next, Vec::new(), next);
                return Ok(left_out.map_or(Settlement::Done, again));
            }
            AttemptResult::NotNeeded | AttemptResult::Held { .. } => return Ok(Settlement::Done),
            AttemptResult::Gone => None,
            AttemptResult::Refused { error } => Some((error, true)),
            AttemptResult::Later { error, .. } | AttemptResult::OverQuota { error, .. } => {
                Some((error, attempt >= KEEPS_FAILING))
            }
        };
        let tried: Vec<Digest> = it.tried.iter().copied().chain([to]).collect();
        let more =
            self.contacts.usable(human).await?.iter().any(|means| !tried.contains(&means.digest()));
        let id = human.id.clone();
        Ok(match failed {
            None => rescheduled(id, it.at, tried, now),
            Some((error, true)) if more => {
                tracing::warn!(error, "digest failed; trying the next contact method");
                rescheduled(id, it.at, tried, now)
            }
            Some((error, _)) => {
                // It is merged into the next one, rather than sent twice in one period.
                let again = retry_at(now, attempt);
                let digest = addressee(human, &[]).digest;
                let next =
                    notification_steps::next_digest_at(digest, human.profile_settings(), now);
                match next {
                    Some(next) if again >= next => rescheduled(id, next, Vec::new(), next),
                    _ if attempt >= ATTEMPTS => Settlement::Dead { error },
                    _ => Settlement::Retry { at: again, error },
                }
            }
        })
    }

    /// Sends a digest on a platform.
    async fn send_card(
        &self,
        means: &ContactMethod,
        address: &str,
        it: &DigestDelivery<'_>,
        waiting: &WaitingRequests,
    ) -> AttemptResult {
        let Some(channel) = self.contacts.channels.named(means.kind()) else {
            return AttemptResult::Gone;
        };
        let PushNotification { title, body, .. } = PushNotification::digest(waiting);
        let card = MessageCard::plain(title, body, self.links.page(views::site::paths::INBOX));
        let message = channel.render(&card);
        let key = format!("gathered.{}.{}", means.digest(), it.at.millis());
        let outbound = OutboundMessage::new(address, &message, &key, self.gateway.now());
        self.outgoing.notify(&channel, outbound).await
    }

    /// Shows a digest on one device.
    pub(super) async fn push(
        &self,
        it: DigestDelivery<'_>,
        device: Digest,
        attempt: u32,
    ) -> Result<Settlement, StoreError> {
        let directory = self.gateway.directory();
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.postpone(human, it.at) {
            return Ok(later);
        }
        let Some(waiting) = self.waiting_requests(human).await? else {
            return Ok(Settlement::Done);
        };
        // The inbox that the notification opens shows the rest, so nothing is sent again for it.
        let result = match self.charge_quotas(human, waiting).await? {
            Ok(AffordableDigest { waiting, .. }) => {
                let notification =
                    locale::with(ReaderLocale::of(human), || PushNotification::digest(&waiting));
                self.devices.show(device, &human.id, &notification).await?
            }
            Err(exceeded) => AttemptResult::over_quota(&exceeded),
        };
        self.steps.settle(result, attempt, None).await
    }

    /// Counts a digest as a notification: for its person, and for each agent whose requests it
    /// lists. The requests of an agent whose quota is used up are left out, so that they delay no
    /// others. The error is the quota that leaves nothing to send.
    async fn charge_quotas(
        &self,
        human: &Human,
        mut waiting: WaitingRequests,
    ) -> Result<Result<AffordableDigest, QuotaExceeded>, StoreError> {
        if let Some(exceeded) = self.gateway.quotas().charge_digest(&human.id).await? {
            return Ok(Err(exceeded));
        }
        let agents: BTreeMap<AgentId, ProjectId> =
            waiting.asks.iter().map(|ask| (ask.agent.clone(), ask.project.clone())).collect();
        let mut over: BTreeMap<AgentId, QuotaExceeded> = BTreeMap::new();
        for (agent, project) in agents {
            let exceeded =
                self.gateway.quotas().charge_digest_of((&agent, &project), &human.id).await?;
            over.extend(exceeded.map(|exceeded| (agent, exceeded)));
        }
        waiting.asks.retain(|ask| !over.contains_key(&ask.agent));
        let first = over.into_values().min_by_key(|exceeded| exceeded.resets_at);
        Ok(match first {
            Some(exceeded) if waiting.asks.is_empty() => Err(exceeded),
            first => {
                let left_out = first.and_then(|exceeded| exceeded.resets_at);
                Ok(AffordableDigest { waiting, left_out })
            }
        })
    }

    /// The requests of low priority that wait for a person; `None` if there are none.
    async fn waiting_requests(&self, human: &Human) -> Result<Option<WaitingRequests>, StoreError> {
        let low = AskListQuery {
            scopes: ListScope::inbox(human),
            phases: Phase::OPEN.to_vec(),
            order: Order::Age,
            filter: Filter { priority: Some(Priority::Low), ..Filter::default() },
            after: None,
            limit: MAX_LISTED_REQUESTS,
        };
        let store::AskListPage { mut asks, next } =
            self.gateway.waiting_page(human, low.clone()).await?;
        asks.truncate(MAX_LISTED_REQUESTS);
        let listed = asks.len() as u64;
        let more = match next {
            Some(_) => self.gateway.count(low).await?.n.saturating_sub(listed),
            None => 0,
        };
        Ok((!asks.is_empty()).then_some(WaitingRequests { asks, more }))
    }
}

/// The same digest again, for the time `at`, not before `from`.
fn rescheduled(human: HumanId, at: Time, tried: Vec<Digest>, from: Time) -> Settlement {
    Settlement::Split { into: vec![(from, Work::Digest { human, at, tried })] }
}
