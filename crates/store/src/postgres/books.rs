//! What the jobs of one transaction read and write, in memory: everything they need was loaded
//! before, and everything they came to is written afterwards in a few statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kernel::ask::Fold;
use kernel::audit::Record;
use kernel::directory::Directory;
use kernel::{Ask, AskId, Effect, Entity, Refusal, Subject, Time};

use crate::job::{Books, Remembered, Work};
use crate::listing::{Deadline, Entry, Scope};
use crate::{Idempotency, Result, StoreError};

/// The name of an idempotency key: whose, and which.
pub(super) type Key = (String, String);

/// The books of one transaction.
pub(super) struct Batch {
    directory: Arc<Directory>,
    asks: HashMap<AskId, Option<Ask>>,
    remembered: HashMap<Key, Remembered>,
    lacking: BTreeSet<AskId>,
    pub(super) out: Output,
}

/// The ask an event is about, for those who follow the feed.
#[derive(Default)]
pub(super) struct About {
    /// Whose it is.
    pub(super) agent: Option<String>,
    /// The lists it then stands in.
    pub(super) lists: String,
}

impl About {
    fn new(ask: &Ask) -> Self {
        Self { agent: Some(ask.agent.to_string()), lists: Scope::write(&Scope::of(ask)) }
    }
}

/// Everything to be written, as it is at the end of the transaction.
#[derive(Default)]
pub(super) struct Output {
    /// With the version that was read from the database; none for a new one.
    pub(super) asks: BTreeMap<AskId, (Option<u64>, Ask)>,
    /// Where it moved: the moment to wake an ask, or none any more.
    pub(super) wakes: BTreeMap<AskId, Option<Time>>,
    pub(super) unlisted: BTreeSet<(Entry, AskId)>,
    pub(super) listed: BTreeSet<(Entry, AskId)>,
    /// What open asks are folded by.
    pub(super) folds: BTreeMap<AskId, Fold>,
    pub(super) not_expiring: BTreeSet<(Deadline, AskId)>,
    pub(super) expiring: BTreeSet<(Deadline, AskId)>,
    /// With the version that was read; 0 for a new one.
    pub(super) entities: BTreeMap<Subject, (u64, Entity)>,
    pub(super) records: Vec<(Record, About)>,
    pub(super) effects: Vec<(Time, Effect)>,
    pub(super) remembered: BTreeMap<Key, Remembered>,
}

impl Output {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.effects.is_empty() && self.remembered.is_empty()
    }
}

/// Why a job could not go on: an ask it needs was not loaded yet.
#[derive(Debug, thiserror::Error)]
#[error("an ask was not loaded yet")]
struct Lacking;

impl Batch {
    pub(super) fn new(directory: Arc<Directory>) -> Self {
        Self {
            directory,
            asks: HashMap::new(),
            remembered: HashMap::new(),
            lacking: BTreeSet::new(),
            out: Output::default(),
        }
    }

    /// Puts in what was loaded: what is asked for later and is not among it counts as absent.
    pub(super) fn load(
        &mut self,
        asked: impl IntoIterator<Item = AskId>,
        found: impl IntoIterator<Item = Ask>,
    ) {
        for id in asked {
            self.asks.entry(id).or_default();
        }
        for ask in found {
            self.asks.insert(ask.id, Some(ask));
        }
    }

    pub(super) fn remember(&mut self, keys: impl IntoIterator<Item = (Key, Remembered)>) {
        self.remembered.extend(keys);
    }

    /// What a job that failed just now needs before it is tried again; empty if it failed for
    /// another reason.
    pub(super) fn lacking(&mut self) -> BTreeSet<AskId> {
        std::mem::take(&mut self.lacking)
    }

    pub(super) fn into_parts(self) -> (Arc<Directory>, Output) {
        (self.directory, self.out)
    }
}

impl Books for Batch {
    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    fn ask(&mut self, id: AskId) -> Result<Option<Ask>> {
        if let Some(ask) = self.asks.get(&id) {
            return Ok(ask.clone());
        }
        self.lacking.insert(id);
        Err(StoreError::Unavailable(Lacking.into()))
    }

    fn remembered(&mut self, scope: &str, key: &str) -> Result<Option<Remembered>> {
        Ok(self.remembered.get(&(scope.to_owned(), key.to_owned())).copied())
    }

    fn write(&mut self, work: &Work, remember: Option<(&Idempotency, Remembered)>) -> Result<()> {
        for moved in work.asks.iter().filter(|moved| moved.before.is_none()) {
            if self.ask(moved.after.id)?.is_some() {
                return Err(Refusal::Exists { what: "request" }.into());
            }
        }
        for moved in &work.asks {
            let ask = &moved.after;
            let read = moved.before.as_ref().map(|before| before.head.seq);
            let written = self.out.asks.entry(ask.id).or_insert_with(|| (read, ask.clone()));
            written.1 = ask.clone();
            self.asks.insert(ask.id, Some(ask.clone()));
            let wake = ask.wake_at();
            if moved.before.as_ref().and_then(Ask::wake_at) != wake {
                self.out.wakes.insert(ask.id, wake);
            }
            let out = &mut self.out;
            match moved.fold {
                Some(fold) => out.folds.insert(ask.id, fold),
                None => out.folds.remove(&ask.id),
            };
            replace(ask.id, Entry::moved(moved), &mut out.unlisted, &mut out.listed);
            replace(ask.id, Deadline::moved(moved), &mut out.not_expiring, &mut out.expiring);
        }
        for entity in &work.entities {
            let subject = entity.subject();
            let read = work.version_before(&subject);
            let written =
                self.out.entities.entry(subject).or_insert_with(|| (read, entity.clone()));
            written.1 = entity.clone();
            Arc::make_mut(&mut self.directory).put(entity.clone());
        }
        for record in &work.records {
            let about = work.ask_of(record).map(|moved| About::new(&moved.after));
            self.out.records.push((record.clone(), about.unwrap_or_default()));
        }
        self.out.effects.extend(work.effects.iter().map(|effect| (work.now, effect.clone())));
        if let Some((request, remembered)) = remember {
            let key = (request.scope.clone(), request.key.clone());
            self.remembered.insert(key.clone(), remembered);
            self.out.remembered.insert(key, remembered);
        }
        Ok(())
    }
}

/// What one job puts in and a later one takes out again is never written.
fn replace<T: Ord>(
    id: AskId,
    (old, new): (Vec<T>, Vec<T>),
    gone: &mut BTreeSet<(T, AskId)>,
    there: &mut BTreeSet<(T, AskId)>,
) {
    for row in old.into_iter().map(|row| (row, id)) {
        if !there.remove(&row) {
            gone.insert(row);
        }
    }
    for row in new.into_iter().map(|row| (row, id)) {
        if !gone.remove(&row) {
            there.insert(row);
        }
    }
}
