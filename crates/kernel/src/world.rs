//! What a decision may look at, and what it comes to.

use std::collections::BTreeMap;

use crate::ask::Ask;
use crate::directory::Directory;
use crate::effect::Effect;
use crate::event::Happened;
use crate::ids::{AskId, Subject};
use crate::refusal::Refusal;
use crate::time::Time;

/// The slice of the world that was loaded for a decision.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The moment of the decision.
    pub now: Time,
    /// People, agents, keys, rules: a snapshot, always at hand.
    pub directory: &'a Directory,
    /// The asks that were loaded; `None` for one that does not exist.
    pub asks: &'a BTreeMap<AskId, Option<Ask>>,
}

impl<'a> World<'a> {
    /// An ask: loaded, absent, or still to be fetched.
    pub(crate) fn ask(&self, id: AskId) -> Result<&'a Ask, Stop> {
        match self.asks.get(&id) {
            None => Err(Stop::Need(vec![Subject::Ask(id)])),
            Some(None) => Err(Refusal::NotFound { what: "request" }.into()),
            Some(Some(ask)) => Ok(ask),
        }
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may happen, and this is what does.
    Decided(Decision),
    /// Load these and ask again.
    Need(Vec<Subject>),
}

/// What happens, and what must be done about it outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// In order.
    pub happened: Vec<(Subject, Happened)>,
    /// For the outbox.
    pub effects: Vec<Effect>,
}

impl Decision {
    pub(crate) fn of(subject: Subject, happened: Happened) -> Self {
        Self { happened: vec![(subject, happened)], effects: Vec::new() }
    }

    pub(crate) fn on(ask: &Ask, happened: Happened) -> Self {
        Self::of(Subject::Ask(ask.id), happened)
    }

    #[must_use]
    pub(crate) fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// How a verb stops short: it lacks data, or it refuses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    Need(Vec<Subject>),
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
