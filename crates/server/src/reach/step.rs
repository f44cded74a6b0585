//! One step of a chain: by which means somebody is told next, and what becomes of it.

use kernel::ask::Priority;
use kernel::directory::{Human, Means};
use kernel::effect::{Chain, Occasion};
use kernel::reach::{self, Notice, Step};
use kernel::{AskId, Effect, Time};
use store::{Settlement, StoreError};

use super::addressee;
use crate::http::App;
use crate::workers::outbox::{ATTEMPTS, retry_at};

/// Whoever fails so often in a row keeps failing: the next means is tried meanwhile.
const KEEPS_FAILING: u32 = 3;

/// What somebody is to be told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) ask: AskId,
    pub(crate) why: Occasion,
    pub(crate) priority: Priority,
}

/// What came of telling somebody by one means.
#[derive(Debug)]
pub(crate) enum Came {
    /// They were told.
    Told,
    /// There is nothing to tell them any more.
    Nothing,
    /// They are not to be told before then.
    Held { until: Time, why: &'static str },
    /// It may work later, and not before this moment if one was said.
    Later { at: Option<Time>, error: String },
    /// A quota is used up until then. Unlike a platform that takes no more, it holds up nobody else.
    OverQuota { until: Option<Time>, error: String },
    /// It never will.
    Never { error: String },
    /// It is not there any more, and nobody need know.
    Gone,
}

/// How it goes on when one means was in vain.
pub(crate) struct Onward<'a> {
    pub(crate) told: Told,
    pub(crate) chain: &'a Chain,
    /// The same once more, when the next means is tried meanwhile.
    pub(crate) alone: Effect,
}

impl App {
    /// Tells somebody by the next means there is.
    pub(crate) async fn reach(&self, told: Told, chain: &Chain) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(&chain.human) else { return Ok(Settlement::Done) };
        if !self.still_concerns(told.ask, human, !chain.tried.is_empty()).await? {
            return Ok(Settlement::Done);
        }
        if let Some(at) = self.put_aside_until(&human.id, told.ask).await? {
            return Ok(Settlement::Retry { at, error: "put aside".to_owned() });
        }
        let means = self.means_of(human).await?;
        let notice = Notice { priority: told.priority, why: told.why, tried: &chain.tried };
        match reach::step(&addressee(human, &means), &notice, now) {
            Step::Nothing => Ok(Settlement::Done),
            Step::Hold(at) => Ok(Settlement::Retry { at, error: "quiet hours".to_owned() }),
            Step::Gather(at) => {
                let gather = Effect::Gather { human: human.id.clone(), at, tried: Vec::new() };
                Ok(Settlement::Split { into: vec![(at, gather)] })
            }
            Step::Tell(by) => {
                let effects = self.by_means(told, chain, &by).await?;
                let into = effects.into_iter().map(|effect| (now, effect)).collect();
                Ok(Settlement::Split { into })
            }
        }
    }

    /// The deliveries that tell somebody by this means. One of them goes on when it was in vain.
    async fn by_means(
        &self,
        Told { ask, why, priority }: Told,
        chain: &Chain,
        by: &Means,
    ) -> Result<Vec<Effect>, StoreError> {
        let mut chain = chain.clone();
        chain.tried.push(by.mark());
        if *by != Means::Devices {
            let (medium, to, chain) = (by.kind().to_owned(), by.mark(), Some(chain));
            let passed_on = false;
            return Ok(vec![Effect::Send { ask, why, priority, medium, to, chain, passed_on }]);
        }
        let devices = self.devices_of(&chain.human).await?;
        let mut chain = Some(chain);
        // The newest goes on: it is the one most likely to be used.
        let push = |device| {
            let why = Some(why);
            Effect::Push { device, ask, why, priority, chain: chain.take() }
        };
        Ok(devices.into_iter().rev().map(|(device, _)| device.name).map(push).collect())
    }

    /// Whether an ask still waits for somebody, who does not know of it if they were told before.
    pub(crate) async fn still_concerns(
        &self,
        ask: AskId,
        human: &Human,
        before: bool,
    ) -> Result<bool, StoreError> {
        let found = self.gateway.ask(ask).await?;
        let Some(ask) = found.filter(|ask| reach::waits_for(ask, human)) else { return Ok(false) };
        if !before {
            return Ok(true);
        }
        let lookers = self.gateway.store().viewers(vec![ask.id], self.gateway.now()).await?;
        let looks = lookers.iter().any(|(_, who)| *who == human.id);
        Ok(!looks && !reach::has_reacted(&ask, &human.id))
    }

    /// What becomes of a delivery of a chain, or of one that is on its own.
    pub(crate) async fn settled(
        &self,
        came: Came,
        attempt: u32,
        onward: Option<Onward<'_>>,
    ) -> Result<Settlement, StoreError> {
        let now = self.gateway.now();
        let directory = self.gateway.directory();
        let person = onward.as_ref().and_then(|onward| directory.human(&onward.chain.human));
        let means = match (&came, person) {
            (Came::Nothing | Came::Held { .. }, _) | (_, None) => Vec::new(),
            (_, Some(human)) => self.means_of(human).await?,
        };
        // Where it goes on, and from when on.
        let next = |at: Option<Time>| {
            let Onward { told: Told { ask, why, priority }, chain, .. } = onward.as_ref()?;
            let to = addressee(person?, &means);
            let notice = Notice { priority: *priority, why: *why, tried: &chain.tried };
            let at = match at {
                Some(at) => Some(at).filter(|_| reach::has_more(&to, &notice)),
                None => reach::silent_until(&to, &notice, now),
            };
            let (ask, why, priority) = (*ask, *why, *priority);
            Some((at?, Effect::Reach { ask, why, priority, chain: (*chain).clone() }))
        };
        Ok(match came {
            Came::Nothing => Settlement::Done,
            Came::Told => {
                next(None).map_or(Settlement::Done, |next| Settlement::Split { into: vec![next] })
            }
            Came::Held { until, why } => Settlement::Retry { at: until, error: why.to_owned() },
            Came::Gone => next(Some(now))
                .map_or(Settlement::Done, |next| Settlement::Split { into: vec![next] }),
            Came::Never { error } => {
                tracing::warn!(error, "a notice was refused");
                let gone_on = |next| Settlement::Split { into: vec![next] };
                next(Some(now)).map_or(Settlement::Dead { error }, gone_on)
            }
            Came::Later { at, error } | Came::OverQuota { until: at, error } => {
                let again = retry_at(now, attempt);
                let again = at.map_or(again, |at| at.max(again));
                match next(Some(now)).filter(|_| attempt >= KEEPS_FAILING).zip(onward) {
                    Some((next, onward)) => {
                        tracing::warn!(error, "a notice keeps failing; trying the next means");
                        Settlement::Split { into: vec![next, (again, onward.alone)] }
                    }
                    None if attempt >= ATTEMPTS => Settlement::Dead { error },
                    None => Settlement::Retry { at: again, error },
                }
            }
        })
    }
}
