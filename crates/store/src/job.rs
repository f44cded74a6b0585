//! What every backend does with a job, whatever it keeps things in: recognise a repeated request,
//! decide, fetch what the decision lacks, and put the outcome together.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernel::ask::Fold;
use kernel::audit::{Digest, Record};
use kernel::directory::Directory;
use kernel::{Ask, AskId, Effect, Entity, Envelope, Refusal, Subject, Time, Verdict, World};

use crate::listing::Scope;
use crate::{IDEMPOTENCY_HOURS, Idempotency, Job, Outcome, Result, StoreError};

/// How often a decision may say that it needs more before it is a mistake.
const ROUNDS: usize = 3;

/// What a job needs of the place where things are kept, inside one transaction.
pub(crate) trait Books {
    /// The directory, with what earlier jobs of the same transaction changed.
    fn directory(&self) -> Arc<Directory>;

    /// One ask, with what earlier jobs of the same transaction changed.
    fn ask(&mut self, id: AskId) -> Result<Option<Ask>>;

    /// What was remembered under an idempotency key, however old.
    fn remembered(&mut self, scope: &str, key: &str) -> Result<Option<Remembered>>;

    /// Writes everything a job came to, or nothing.
    fn write(&mut self, work: &Work, remember: Option<(&Idempotency, Remembered)>) -> Result<()>;
}

/// When a lasting key was used: at the end of time, so that it never gets too old to count.
const LASTING: Time = Time::LAST;

/// An idempotency record. It holds no answer and no token: the ask is read again on a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) fingerprint: Digest,
    pub(crate) ask: Option<AskId>,
    pub(crate) at: Time,
}

impl Remembered {
    /// Whether it still counts at `now`. One that is too old is absent, swept or not.
    pub(crate) fn is_live(&self, now: Time) -> bool {
        self.at > forgotten_before(now)
    }
}

/// Idempotency keys used at this moment or earlier are forgotten at `now`.
pub(crate) fn forgotten_before(now: Time) -> Time {
    let millis = i64::try_from(IDEMPOTENCY_HOURS).unwrap_or(i64::MAX).saturating_mul(3_600_000);
    Time::from_millis(now.millis().saturating_sub(millis))
}

/// Everything a backend writes for one job.
#[derive(Debug)]
pub(crate) struct Work {
    /// The moment of the decision by the clock; outbox rows are due from then on, even when the
    /// events are dated later because the clock went back.
    pub(crate) now: Time,
    /// Asks made or changed.
    pub(crate) asks: Vec<Moved>,
    /// The rest of what changed; goes into the directory.
    pub(crate) entities: Vec<Entity>,
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
}

impl Work {
    /// Whether the decision was that nothing happens.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.effects.is_empty()
    }

    /// The ask a record is about, if it is about one.
    pub(crate) fn ask_of(&self, record: &Record) -> Option<&Moved> {
        let Subject::Ask(id) = record.subject else { return None };
        self.asks.iter().find(|moved| moved.after.id == id)
    }

    /// The version of a subject before this work: what an update must find.
    pub(crate) fn version_before(&self, subject: &Subject) -> u64 {
        let first = self.records.iter().find(|record| record.subject == *subject);
        first.map_or(0, |record| record.seq.saturating_sub(1))
    }
}

/// An ask before and after.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) before: Option<Ask>,
    pub(crate) after: Ask,
    /// The lists it stands in afterwards.
    pub(crate) lists: Arc<[Scope]>,
    /// The key it is folded by in them while it is open.
    pub(crate) fold: Option<Fold>,
}

impl Moved {
    /// Whether this is its end.
    pub(crate) fn ended(&self) -> bool {
        self.before.as_ref().is_some_and(Ask::is_open) && !self.after.is_open()
    }
}

/// A decision made before its turn came, on the directory as it was then. A new ask depends on
/// nothing else, so it is as good as one made in turn if nobody changed the directory meanwhile.
#[derive(Debug)]
pub(crate) struct Ahead {
    directory: Arc<Directory>,
    work: Work,
}

impl Ahead {
    /// Decides a new ask; anything else, and anything refused, waits for its turn.
    pub(crate) fn decide(directory: Arc<Directory>, now: Time, job: &Job) -> Option<Self> {
        if !job.envelope.command.makes_ask() {
            return None;
        }
        match judge(&directory, now, &job.envelope, &mut Asks::new()) {
            Ok(Judged::Done(work)) => Some(Self { directory, work }),
            Ok(Judged::Need(_)) | Err(_) => None,
        }
    }
}

/// Runs a job against the books: an earlier identical request is answered from memory, anything
/// else is decided, unless that was done ahead, and written.
pub(crate) fn transact(
    books: &mut impl Books,
    now: Time,
    job: &Job,
    ahead: Option<Ahead>,
) -> Result<Outcome> {
    let Job { envelope, idempotency } = job;
    if let Some(request) = idempotency
        && let Some(earlier) =
            books.remembered(&request.scope, &request.key)?.filter(|earlier| earlier.is_live(now))
    {
        if earlier.fingerprint != request.fingerprint {
            return Err(Refusal::IdempotencyMismatch.into());
        }
        let ask = earlier.ask.map(|id| books.ask(id)).transpose()?.flatten();
        let at = ask.as_ref().map_or(earlier.at, |ask| earlier.at.min(ask.head.at));
        return Ok(Outcome { ask, replayed: true, at });
    }

    let id = envelope.subject();
    let mut asks = Asks::new();
    let mut work = match ahead {
        Some(ahead) if Arc::ptr_eq(&ahead.directory, &books.directory()) => ahead.work,
        Some(_) | None => settle(books, now, envelope, &mut asks)?,
    };
    // Never before the subject's last event, whatever the clock says.
    let at = work.records.first().map_or(work.now, |record| record.at);
    let remember = idempotency.as_ref().map(|request| {
        let fingerprint = request.fingerprint;
        let at = if request.lasting { LASTING } else { work.now };
        (request, Remembered { fingerprint, ask: id, at })
    });
    if !work.is_empty() || remember.is_some() {
        books.write(&work, remember)?;
    }
    let ask = id.and_then(|id| {
        let moved = work.asks.iter().position(|moved| moved.after.id == id);
        match moved {
            Some(place) => Some(work.asks.swap_remove(place).after),
            None => asks.remove(&id).flatten(),
        }
    });
    Ok(Outcome { ask, replayed: false, at })
}

type Asks = BTreeMap<AskId, Option<Ask>>;

/// Decides, loading what the decision says it needs. The asks that were loaded and stay as they are
/// remain in `asks`.
fn settle(books: &mut impl Books, now: Time, envelope: &Envelope, asks: &mut Asks) -> Result<Work> {
    let directory = books.directory();
    if let Some(id) = envelope.command.ask() {
        asks.insert(id, books.ask(id)?);
    }
    for _ in 0..ROUNDS {
        match judge(&directory, now, envelope, asks)? {
            Judged::Done(work) => return Ok(work),
            Judged::Need(ids) => {
                for id in ids {
                    asks.insert(id, books.ask(id)?);
                }
            }
        }
    }
    Err(StoreError::Damaged {
        what: "decision".to_owned(),
        source: format!("it still lacked data after {ROUNDS} rounds").into(),
    })
}

enum Judged {
    Done(Work),
    Need(Vec<AskId>),
}

/// One round: the decision on what was loaded, and the state it leads to. Pure.
fn judge(directory: &Directory, now: Time, envelope: &Envelope, asks: &mut Asks) -> Result<Judged> {
    let world = World { now, directory, asks };
    let decision = match kernel::decide(&world, envelope)? {
        Verdict::Decided(decision) => decision,
        Verdict::Need(subjects) => {
            // Everything but asks is in the directory already.
            let asks = subjects.into_iter().filter_map(|subject| match subject {
                Subject::Ask(id) => Some(id),
                Subject::Project(_)
                | Subject::Agent(_)
                | Subject::Human(_)
                | Subject::Key(_)
                | Subject::Rule(_)
                | Subject::Webhook(_) => None,
            });
            return Ok(Judged::Need(asks.collect()));
        }
    };
    let changes = kernel::settle(&world, envelope, decision).map_err(|misfit| {
        StoreError::Damaged { what: misfit.subject.to_string(), source: misfit.into() }
    })?;
    let (records, effects) = (changes.records, changes.effects);
    let mut work = Work { now, asks: Vec::new(), entities: Vec::new(), records, effects };
    for entity in changes.entities {
        match entity {
            Entity::Ask(after) => {
                let before = asks.remove(&after.id).flatten();
                let lists = Scope::of(&after).into();
                let fold = if after.is_open() { after.fold() } else { None };
                work.asks.push(Moved { before, after: *after, lists, fold });
            }
            other => work.entities.push(other),
        }
    }
    Ok(Judged::Done(work))
}
