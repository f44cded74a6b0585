//! Everything that can wait, told together: one notice for each moment at which somebody wants to be
//! told, however much there is.
//!
//! The delivery has a name made of the person and the moment, and is written before that moment only;
//! what it tells of is looked up when it is sent. So nothing is told in vain or left out, and nobody is
//! told twice in one period.

use ::channels::{Card, Parcel};
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{Human, Means};
use kernel::reach;
use kernel::{Ask, Effect, HumanId, Phase, Time};
use store::{Filter, List, Order, Scope, Settlement, StoreError};

use super::addressee;
use super::step::Came;
use crate::channels::send::address;
use crate::channels::wired::medium;
use crate::http::App;
use crate::mail::gathered::GatheredLetter;
use crate::push::notice::Notice;
use crate::workers::outbox::{ATTEMPTS, retry_at};

/// How many requests are listed; of more it says how many.
pub const LISTED: usize = 20;
/// Whoever fails so often in a row keeps failing.
const KEEPS_FAILING: u32 = 3;

/// What can wait and waits for somebody.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The first of it, newest first.
    pub(crate) asks: Vec<Ask>,
    /// How much there is besides.
    pub(crate) more: u64,
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
        let came = match address(human, &to) {
            None => Came::Gone,
            Some((Means::Email(_), address)) => {
                let letter = GatheredLetter {
                    to: &address,
                    human: &human.id,
                    at: it.at,
                    gathered: &gathered,
                    home: &self.link(crate::web::paths::INBOX),
                    settings: &self.link(crate::web::paths::NOTICES),
                };
                self.post(&letter.letter()).await
            }
            Some((means, address)) => self.post_gathered(&means, &address, &it, &gathered).await,
        };
        let failed = match came {
            Came::Told | Came::Nothing | Came::Held { .. } => return Ok(Settlement::Done),
            Came::Gone => None,
            Came::Never { error } => Some((error, true)),
            Came::Later { error, .. } => Some((error, attempt >= KEEPS_FAILING)),
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
        gathered: &Gathered,
    ) -> Came {
        let Some(channel) = medium(means).and_then(|medium| self.platforms.get(medium)) else {
            return Came::Gone;
        };
        let Notice { title, body, .. } = Notice::gathered(gathered);
        let card = Card::plain(title, body, self.link(crate::web::paths::INBOX));
        let parcel = Parcel {
            to: address,
            message: &channel.render(&card),
            key: &format!("gathered.{}.{}", means.mark(), it.at.millis()),
            thread: None,
            token: None,
            now: self.gateway.now(),
        };
        self.parcel(channel, parcel).await.map_or_else(|came| came, |_| Came::Told)
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
        let came = self.push_words(device, &human.id, &Notice::gathered(&gathered)).await?;
        self.settled(came, attempt, None).await
    }

    /// What can wait and waits for somebody; none, if nothing does.
    pub(crate) async fn can_wait(&self, human: &Human) -> Result<Option<Gathered>, StoreError> {
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
        Ok((!asks.is_empty()).then_some(Gathered { asks, more }))
    }
}

/// The same once more, for this moment.
fn anew(human: HumanId, at: Time, tried: Vec<Digest>, from: Time) -> Settlement {
    Settlement::Split { into: vec![(from, Effect::Gather { human, at, tried })] }
}
