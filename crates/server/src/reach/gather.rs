//! Everything that can wait, told together: one notice for each moment at which somebody wants to be
//! told, however much there is.
//!
//! The delivery has a name made of the person and the moment, and is written before that moment only;
//! what it tells of is looked up when it is sent. So nothing is told in vain or left out, and nobody is
//! told twice in one period.

use std::collections::BTreeMap;

use ::channels::OutboundMessage;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{Human, Means};
use kernel::quota::Exceeded;
use kernel::reach;
use kernel::{AgentId, Effect, HumanId, Phase, ProjectId, Time};
use store::{Filter, List, Order, Scope, Settlement, StoreError};

use super::addressee;
use super::step::Came;
use crate::channels::send::{address, delayed};
use crate::http::App;
use crate::workers::outbox::{ATTEMPTS, retry_at};
use views::email::digest::DigestEmail;
use views::message_card::{MessageCard, WaitingRequests};
use views::push_notification::PushNotification;

/// How many requests are listed; of more it says how many.
pub const LISTED: usize = 20;
/// Whoever fails so often in a row keeps failing.
const KEEPS_FAILING: u32 = 3;

/// What quotas allow to tell of it.
struct Affordable {
    gathered: WaitingRequests,
    /// When to tell of what they do not allow now.
    left_out: Option<Time>,
}

/// One telling of it.
pub(crate) struct Gathering<'a> {
    pub(crate) human: &'a HumanId,
    /// The moment it is for.
    pub(crate) at: Time,
    /// By which means they could not be told.
    pub(crate) tried: &'a [Digest],
}

impl App {
    /// Tells somebody of everything that can wait, by the first means that can be used.
    pub(crate) async fn gather(&self, it: Gathering<'_>) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.put_off(human, it.at) {
            return Ok(later);
        }
        if self.can_wait(human).await?.is_none() {
            return Ok(Settlement::Done);
        }
        let mut means = self.means_of(human).await?;
        means.retain(|means| !it.tried.contains(&means.mark()));
        let (human, at, tried) = (&human.id, it.at, it.tried.to_vec());
        let into = match means.first() {
            None => return Ok(Settlement::Done),
            Some(Means::Devices) => {
                let devices = self.devices_of(human).await?;
                let push = |device| Effect::PushGathered { human: human.clone(), at, device };
                devices.into_iter().map(|(device, _)| (now, push(device.name))).collect()
            }
            Some(by) => {
                let (human, medium, to) = (human.clone(), by.kind().to_owned(), by.mark());
                vec![(now, Effect::SendGathered { human, at, medium, to, tried })]
            }
        };
        Ok(Settlement::Split { into })
    }

    /// What is late by a whole period is told with the next; nor is anybody told in quiet hours.
    fn put_off(&self, human: &Human, at: Time) -> Option<Settlement> {
        let now = self.gateway.now();
        let (digest, about) = (addressee(human, &[]).digest, human.about());
        let late = reach::gathered_at(digest, about, at).is_some_and(|next| next <= now);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let next = reach::gathered_at(digest, about, now).or(quiet);
        let next = next.filter(|_| late || quiet.is_some())?;
        Some(anew(human.id.clone(), next, Vec::new(), next))
    }

    /// Says it in one message.
    pub(crate) async fn send_gathered(
        &self,
        it: Gathering<'_>,
        to: Digest,
        attempt: u32,
    ) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.put_off(human, it.at) {
            return Ok(later);
        }
        let Some(gathered) = self.can_wait(human).await? else { return Ok(Settlement::Done) };
        let Affordable { gathered, left_out } = match self.afford(human, gathered).await? {
            Ok(affordable) => affordable,
            Err(exceeded) => {
                // It is told with the next that the quota allows.
                delayed(&exceeded);
                let next = exceeded.resets_at.unwrap_or_else(|| retry_at(now, attempt));
                return Ok(anew(human.id.clone(), next, Vec::new(), next));
            }
        };
        let came = match address(human, &to) {
            None => Came::Gone,
            Some((Means::Email(_), address)) => {
                let email = DigestEmail {
                    to: &address,
                    human: &human.id,
                    at: it.at,
                    waiting: &gathered,
                    home: &self.link(views::site::paths::INBOX),
                    settings: &self.link(views::site::paths::NOTICES),
                };
                self.post(&email.email()).await
            }
            Some((means, address)) => self.post_gathered(&means, &address, &it, &gathered).await,
        };
        let failed = match came {
            Came::Told => {
                // What was left out is told when its quota starts again.
                let again = |next| anew(human.id.clone(), next, Vec::new(), next);
                return Ok(left_out.map_or(Settlement::Done, again));
            }
            Came::Nothing | Came::Held { .. } => return Ok(Settlement::Done),
            Came::Gone => None,
            Came::Never { error } => Some((error, true)),
            Came::Later { error, .. } | Came::OverQuota { error, .. } => {
                Some((error, attempt >= KEEPS_FAILING))
            }
        };
        let tried: Vec<Digest> = it.tried.iter().copied().chain([to]).collect();
        let more = self.means_of(human).await?.iter().any(|means| !tried.contains(&means.mark()));
        let id = human.id.clone();
        Ok(match failed {
            None => anew(id, it.at, tried, now),
            Some((error, true)) if more => {
                tracing::warn!(error, "what can wait was not taken; trying the next means");
                anew(id, it.at, tried, now)
            }
            Some((error, _)) => {
                // It is told with the next, rather than twice in one period.
                let again = retry_at(now, attempt);
                let digest = addressee(human, &[]).digest;
                let next = reach::gathered_at(digest, human.about(), now);
                match next {
                    Some(next) if again >= next => anew(id, next, Vec::new(), next),
                    _ if attempt >= ATTEMPTS => Settlement::Dead { error },
                    _ => Settlement::Retry { at: again, error },
                }
            }
        })
    }

    /// Says it on a platform.
    async fn post_gathered(
        &self,
        means: &Means,
        address: &str,
        it: &Gathering<'_>,
        gathered: &WaitingRequests,
    ) -> Came {
        let Some(channel) = self.channels.named(means.kind()) else { return Came::Gone };
        let PushNotification { title, body, .. } = PushNotification::digest(gathered);
        let card = MessageCard::plain(title, body, self.link(views::site::paths::INBOX));
        let message = channel.render(&card);
        let key = format!("gathered.{}.{}", means.mark(), it.at.millis());
        let outbound = OutboundMessage::new(address, &message, &key, self.gateway.now());
        self.deliver(&channel, outbound).await.map_or_else(|came| came, |_| Came::Told)
    }

    /// Tells one device of it.
    pub(crate) async fn push_gathered(
        &self,
        it: Gathering<'_>,
        device: Digest,
        attempt: u32,
    ) -> Result<Settlement, StoreError> {
        let directory = self.gateway.directory();
        let Some(human) = directory.human(it.human).filter(|human| human.active) else {
            return Ok(Settlement::Done);
        };
        if let Some(later) = self.put_off(human, it.at) {
            return Ok(later);
        }
        let Some(gathered) = self.can_wait(human).await? else { return Ok(Settlement::Done) };
        // What is left out here is in the inbox that the notice opens: nothing is sent again for it.
        let came = match self.afford(human, gathered).await? {
            Ok(Affordable { gathered, .. }) => {
                self.push_words(device, &human.id, &PushNotification::digest(&gathered)).await?
            }
            Err(exceeded) => delayed(&exceeded),
        };
        self.settled(came, attempt, None).await
    }

    /// Counts a digest as a notification: for its person, and for each agent of whose requests it tells.
    /// The requests of an agent whose quota is used up are left out, so that it delays those of nobody
    /// else. An error says which quota leaves nothing to tell.
    async fn afford(
        &self,
        human: &Human,
        mut gathered: WaitingRequests,
    ) -> Result<Result<Affordable, Exceeded>, StoreError> {
        if let Some(exceeded) = self.gateway.quotas().charge_digest(&human.id).await? {
            return Ok(Err(exceeded));
        }
        let agents: BTreeMap<AgentId, ProjectId> =
            gathered.asks.iter().map(|ask| (ask.agent.clone(), ask.project.clone())).collect();
        let mut over: BTreeMap<AgentId, Exceeded> = BTreeMap::new();
        for (agent, project) in agents {
            let exceeded =
                self.gateway.quotas().charge_digest_of((&agent, &project), &human.id).await?;
            over.extend(exceeded.map(|exceeded| (agent, exceeded)));
        }
        gathered.asks.retain(|ask| !over.contains_key(&ask.agent));
        let first = over.into_values().min_by_key(|exceeded| exceeded.resets_at);
        Ok(match first {
            Some(exceeded) if gathered.asks.is_empty() => Err(exceeded),
            first => {
                let left_out = first.and_then(|exceeded| exceeded.resets_at);
                Ok(Affordable { gathered, left_out })
            }
        })
    }

    /// What can wait and waits for somebody; none, if nothing does.
    pub(crate) async fn can_wait(
        &self,
        human: &Human,
    ) -> Result<Option<WaitingRequests>, StoreError> {
        let low = List {
            scopes: Scope::inbox(human),
            phases: Phase::OPEN.to_vec(),
            order: Order::Age,
            filter: Filter { priority: Some(Priority::Low), ..Filter::default() },
            after: None,
            limit: LISTED,
        };
        let store::Page { mut asks, next } = self.gateway.put_to(human, low.clone()).await?;
        asks.truncate(LISTED);
        let listed = asks.len() as u64;
        let more = match next {
            Some(_) => self.gateway.count(low).await?.n.saturating_sub(listed),
            None => 0,
        };
        Ok((!asks.is_empty()).then_some(WaitingRequests { asks, more }))
    }
}

/// The same once more, for this moment.
fn anew(human: HumanId, at: Time, tried: Vec<Digest>, from: Time) -> Settlement {
    Settlement::Split { into: vec![(from, Effect::Gather { human, at, tried })] }
}
