//! What every backend does with a job, whatever it keeps things in: recognise a repeated request,
//! decide, fetch what the decision lacks, and put the outcome together.

use std::sync::Arc;

use kernel::ask::Ending;
use kernel::audit::{Digest, Record};
use kernel::directory::Directory;
use kernel::task::{Artifact, Contract, Entry, TaskCommand};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, Command, Effect, Entity, EntryId, Envelope, Loaded, ProjectId,
    Refusal, ReviewId, Subject, Task, TaskId, Time, UploadId, Verdict, World,
};

use crate::listing::{Moved, Scope};
use crate::{IDEMPOTENCY_HOURS, Idempotency, Job, Outcome, Result, StoreError};

/// How often a decision may say that it needs more before it is a mistake.
const ROUNDS: usize = 4;

/// What a job needs of the place where things are kept, inside one transaction.
pub(crate) trait Books {
    /// The directory, with what earlier jobs of the same transaction changed.
    fn directory(&self) -> Arc<Directory>;

    /// One ask, with what earlier jobs of the same transaction changed.
    fn ask(&mut self, id: AskId) -> Result<Option<Ask>>;

    /// One task, likewise.
    fn task(&mut self, id: TaskId) -> Result<Option<Task>>;

    /// One artifact, likewise.
    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>>;

    /// One key of a ledger, likewise.
    fn entry(&mut self, id: EntryId) -> Result<Option<Entry>>;

    /// What was remembered under an idempotency key, however old.
    fn remembered(&mut self, scope: &str, key: &str) -> Result<Option<Remembered>>;

    /// Writes everything a job came to, or nothing.
    fn write(&mut self, work: &Work, remember: Option<(&Idempotency, Remembered)>) -> Result<()>;
}

/// When a lasting key was used: at the end of time, so that it never gets too old to count.
const LASTING: Time = Time::LAST;

/// An idempotency record. It holds no answer and no token: the ask is read again on a replay, and a
/// task as it was is folded from its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) fingerprint: Digest,
    pub(crate) ask: Option<AskId>,
    /// The task it was about, and where its chain ended then.
    pub(crate) place: Option<(TaskId, u64)>,
    pub(crate) at: Time,
}

impl Remembered {
    /// Whether it is young enough to count at `now`, whatever became of its ask. One that is not counts
    /// only as long as its ask [keeps](keeps_key) it; else it is absent, swept or not.
    pub(crate) fn is_recent(&self, now: Time) -> bool {
        self.at > forgotten_before(now)
    }
}

/// The moment an ask ended; none while it is open.
fn ended_at(ask: &Ask) -> Option<Time> {
    ask.ending().map(|ending| match ending {
        Ending::Completed(resolution) => resolution.at,
        Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. } => *at,
    })
}

/// Whether an ask keeps the idempotency keys that stand for it: as long as it is open, and
/// [`IDEMPOTENCY_HOURS`] longer. An agent that resumes after a weekend must not ask twice.
pub(crate) fn keeps_key(ask: &Ask, now: Time) -> bool {
    ended_at(ask).is_none_or(|at| at > forgotten_before(now))
}

/// The moment a key that is too old by itself counts from instead, because of its ask; none if it is
/// to be forgotten.
pub(crate) fn renewed(ask: &Ask, now: Time) -> Option<Time> {
    renewed_since(ended_at(ask), now)
}

/// The same by the moment the ask ended; none while it is open.
pub(crate) fn renewed_since(ended: Option<Time>, now: Time) -> Option<Time> {
    Some(ended.unwrap_or(now)).filter(|at| *at > forgotten_before(now))
}

/// Idempotency keys used at this moment or earlier are forgotten at `now`, unless their ask keeps them.
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
    /// Tasks made or changed.
    pub(crate) tasks: Vec<MovedTask>,
    /// Artifacts made or changed.
    pub(crate) artifacts: Vec<Artifact>,
    /// Keys of ledgers that were written.
    pub(crate) entries: Vec<Entry>,
    /// The rest of what changed; goes into the directory.
    pub(crate) entities: Vec<Entity>,
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
    /// The upload something was made of; it must be there and finished.
    pub(crate) uses: Option<UploadId>,
}

impl Work {
    /// Whether the decision was that nothing happens.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.effects.is_empty()
    }

    /// Whether it changes one thing and no more, and nothing in the directory.
    pub(crate) fn is_single(&self) -> bool {
        let things = self.asks.len() + self.tasks.len() + self.artifacts.len() + self.entries.len();
        things == 1 && self.entities.is_empty() && self.uses.is_none()
    }

    /// What those who follow the record are told beside it.
    pub(crate) fn about(&self, record: &Record) -> About<'_> {
        match &record.subject {
            Subject::Ask(id) => self.asks.iter().find(|moved| moved.after.id == *id).map_or_else(
                About::default,
                |moved| About {
                    agent: Some(&moved.after.agent),
                    project: None,
                    lists: Arc::clone(&moved.lists),
                },
            ),
            Subject::Task(id) => self.tasks.iter().find(|moved| moved.after.id == *id).map_or_else(
                About::default,
                |moved| {
                    let project = &moved.after.project;
                    let runtimes = self.contracts().filter(|contract| contract.task == *id);
                    let runtimes = runtimes.map(|contract| Scope::Runtime(contract.agent.clone()));
                    let lists = [Scope::Tasks(project.clone())].into_iter().chain(runtimes);
                    About { agent: None, project: Some(project), lists: lists.collect() }
                },
            ),
            Subject::Project(_)
            | Subject::Agent(_)
            | Subject::Human(_)
            | Subject::Key(_)
            | Subject::Rule(_)
            | Subject::Webhook(_)
            | Subject::Artifact(_)
            | Subject::Entry(_) => About::default(),
        }
    }

    /// What runtimes of agents have to do.
    pub(crate) fn contracts(&self) -> impl Iterator<Item = &Contract> {
        contracts(&self.effects)
    }

    /// The version of a subject before this work: what an update must find.
    pub(crate) fn version_before(&self, subject: &Subject) -> u64 {
        let first = self.records.iter().find(|record| record.subject == *subject);
        first.map_or(0, |record| record.seq.saturating_sub(1))
    }
}

/// What runtimes of agents have to do, among other things that have to be done.
pub(crate) fn contracts<'a>(
    effects: impl IntoIterator<Item = &'a Effect>,
) -> impl Iterator<Item = &'a Contract> {
    effects.into_iter().filter_map(|effect| match effect {
        Effect::Contract(contract) => Some(contract),
        _ => None,
    })
}

/// Whom a record concerns.
#[derive(Default)]
pub(crate) struct About<'a> {
    /// Whose ask it is about.
    pub(crate) agent: Option<&'a AgentId>,
    /// Whose task it is about.
    pub(crate) project: Option<&'a ProjectId>,
    /// The lists that changed.
    pub(crate) lists: Arc<[Scope]>,
}

/// A task before and after.
#[derive(Debug)]
pub(crate) struct MovedTask {
    pub(crate) before: Option<Task>,
    pub(crate) after: Task,
}

impl MovedTask {
    /// The reviews it has got.
    pub(crate) fn reviews(&self) -> impl Iterator<Item = ReviewId> {
        let known = self.before.as_ref().map_or(0, |before| before.reviews.len());
        self.after.reviews.iter().skip(known).map(|review| review.id)
    }
}

/// A decision made before its turn came, on the directory as it was then. A new ask or task depends
/// on nothing else, so it is as good as one made in turn if nobody changed the directory meanwhile.
#[derive(Debug)]
pub(crate) struct Ahead {
    directory: Arc<Directory>,
    work: Work,
}

impl Ahead {
    /// Decides a new ask or task; anything else, and anything refused, waits for its turn.
    pub(crate) fn decide(directory: Arc<Directory>, now: Time, job: &Job) -> Option<Self> {
        let command = &job.envelope.command;
        if !command.makes_ask() && !makes_task(command) {
            return None;
        }
        match judge(&directory, now, &job.envelope, &mut Loaded::default()) {
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
    let Job { envelope, idempotency, uses } = job;
    if let Some(request) = idempotency
        && let Some(earlier) = counting(books, request, now)?
    {
        if earlier.fingerprint != request.fingerprint {
            return Err(Refusal::IdempotencyMismatch.into());
        }
        let ask = earlier.ask.map(|id| books.ask(id)).transpose()?.flatten();
        let task = earlier.place.map(|(id, _)| books.task(id)).transpose()?.flatten();
        let last = ask.as_ref().map(|ask| ask.head).or_else(|| task.as_ref().map(|task| task.head));
        let at = last.map_or(earlier.at, |head| earlier.at.min(head.at));
        let place = earlier.place;
        let task = task.map(Box::new);
        return Ok(Outcome { ask, task, artifact: None, entry: None, replayed: true, place, at });
    }

    let id = envelope.subject();
    let mut loaded = Loaded::default();
    let mut work = match ahead {
        Some(ahead) if Arc::ptr_eq(&ahead.directory, &books.directory()) => ahead.work,
        Some(_) | None => settle(books, now, envelope, &mut loaded)?,
    };
    // Never before the subject's last event, whatever the clock says.
    let at = work.records.first().map_or(work.now, |record| record.at);
    let task = touched(envelope, &work, &loaded);
    let place = task.as_ref().map(|task| (task.id, task.head.seq));
    let remember = idempotency.as_ref().map(|request| {
        let fingerprint = request.fingerprint;
        let at = if request.lasting { LASTING } else { work.now };
        (request, Remembered { fingerprint, ask: id, place, at })
    });
    work.uses = uses.filter(|_| !work.is_empty());
    if !work.is_empty() || remember.is_some() {
        books.write(&work, remember)?;
    }
    let ask = id.and_then(|id| {
        let moved = work.asks.iter().position(|moved| moved.after.id == id);
        match moved {
            Some(place) => Some(work.asks.swap_remove(place).after),
            None => loaded.asks.remove(&id).flatten(),
        }
    });
    let task = task.map(Box::new);
    let artifact = work.artifacts.pop().or_else(|| {
        let id = named_artifact(&envelope.command)?;
        loaded.artifacts.remove(&id).flatten()
    });
    let (artifact, entry) = (artifact.map(Box::new), work.entries.pop().map(Box::new));
    Ok(Outcome { ask, task, artifact, entry, replayed: false, place, at })
}

/// What was remembered under the key of a request, if it still counts.
fn counting(
    books: &mut impl Books,
    request: &Idempotency,
    now: Time,
) -> Result<Option<Remembered>> {
    let Some(earlier) = books.remembered(&request.scope, &request.key)? else { return Ok(None) };
    if earlier.is_recent(now) {
        return Ok(Some(earlier));
    }
    let ask = earlier.ask.map(|id| books.ask(id)).transpose()?.flatten();
    Ok(Some(earlier).filter(|_| ask.is_some_and(|ask| keeps_key(&ask, now))))
}

/// The task a job was about, as it leaves it: the one it names, or the one behind a checkpoint.
fn touched(envelope: &Envelope, work: &Work, loaded: &Loaded) -> Option<Task> {
    let named = match &envelope.command {
        command if makes_task(command) => Some(TaskId::new(envelope.fresh)),
        Command::Task(command) => command.task(),
        _ => None,
    };
    let moved = work.tasks.iter().find(|moved| named.is_none_or(|id| moved.after.id == id));
    match moved {
        Some(moved) => Some(moved.after.clone()),
        None => loaded.tasks.get(&named?).cloned().flatten(),
    }
}

fn makes_task(command: &Command) -> bool {
    matches!(command, Command::Task(command) if matches!(**command, TaskCommand::Create(_)))
}

/// What a command says it is about, as far as it must be there already.
pub(crate) fn named(command: &Command) -> Vec<Subject> {
    let ask = command.ask().map(Subject::Ask);
    let Command::Task(command) = command else { return ask.into_iter().collect() };
    let entry = match &**command {
        TaskCommand::Write(_, new) => {
            Some(Subject::Entry(EntryId::of(new.scope.as_str(), &new.key)))
        }
        _ => None,
    };
    let artifact = artifact_of(command).map(Subject::Artifact);
    let task = command.task().map(Subject::Task);
    ask.into_iter().chain(task).chain(artifact).chain(entry).collect()
}

fn named_artifact(command: &Command) -> Option<ArtifactId> {
    if let Command::Task(command) = command { artifact_of(command) } else { None }
}

/// The artifact a command is about, if it names one.
fn artifact_of(command: &TaskCommand) -> Option<ArtifactId> {
    match command {
        TaskCommand::Commit(_, new) => new.artifact,
        TaskCommand::Reference(_, version, _) => Some(version.id),
        TaskCommand::Share(id, _) | TaskCommand::EraseArtifact(id) => Some(*id),
        TaskCommand::Create(_)
        | TaskCommand::Assign(..)
        | TaskCommand::Start(_)
        | TaskCommand::Cancel(..)
        | TaskCommand::Interrupt(..)
        | TaskCommand::Amend(..)
        | TaskCommand::Grant(..)
        | TaskCommand::Raise(..)
        | TaskCommand::Resolve(..)
        | TaskCommand::Lapse(_)
        | TaskCommand::Transfer(..)
        | TaskCommand::Delegate(..)
        | TaskCommand::Review(..)
        | TaskCommand::Remark(..)
        | TaskCommand::Write(..)
        | TaskCommand::EraseWords(..)
        | TaskCommand::Erase(_) => None,
    }
}

/// What a command makes under the fresh id, or may make.
pub(crate) fn made(envelope: &Envelope) -> Vec<Subject> {
    let (fresh, command) = (envelope.fresh, &envelope.command);
    let ask = Subject::Ask(AskId::new(fresh));
    match command {
        Command::Task(task) if matches!(**task, TaskCommand::Commit(..)) => {
            vec![ask, Subject::Artifact(ArtifactId::new(fresh))]
        }
        command if makes_task(command) => vec![Subject::Task(TaskId::new(fresh))],
        command if command.makes_ask() => vec![ask],
        _ => Vec::new(),
    }
}

/// Decides, loading what the decision says it needs. What was loaded and stays as it is remains in
/// `loaded`.
fn settle(
    books: &mut impl Books,
    now: Time,
    envelope: &Envelope,
    loaded: &mut Loaded,
) -> Result<Work> {
    let directory = books.directory();
    for subject in named(&envelope.command) {
        load(books, loaded, &subject)?;
    }
    for _ in 0..ROUNDS {
        match judge(&directory, now, envelope, loaded)? {
            Judged::Done(work) => return Ok(work),
            Judged::Need(subjects) => {
                for subject in subjects {
                    load(books, loaded, &subject)?;
                }
            }
        }
    }
    Err(StoreError::Damaged {
        what: "decision".to_owned(),
        source: format!("it still lacked data after {ROUNDS} rounds").into(),
    })
}

fn load(books: &mut impl Books, loaded: &mut Loaded, subject: &Subject) -> Result<()> {
    match *subject {
        Subject::Ask(id) => drop(loaded.asks.insert(id, books.ask(id)?)),
        Subject::Task(id) => drop(loaded.tasks.insert(id, books.task(id)?)),
        Subject::Artifact(id) => drop(loaded.artifacts.insert(id, books.artifact(id)?)),
        Subject::Entry(id) => drop(loaded.entries.insert(id, books.entry(id)?)),
        // These are in the directory already.
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_)
        | Subject::Webhook(_) => {}
    }
    Ok(())
}

enum Judged {
    Done(Work),
    Need(Vec<Subject>),
}

/// One round: the decision on what was loaded, and the state it leads to. Pure.
fn judge(
    directory: &Directory,
    now: Time,
    envelope: &Envelope,
    loaded: &mut Loaded,
) -> Result<Judged> {
    let world = World { now, directory, loaded };
    let decision = match kernel::decide(&world, envelope)? {
        Verdict::Decided(decision) => decision,
        Verdict::Need(subjects) => return Ok(Judged::Need(subjects)),
    };
    let changes = kernel::settle(&world, envelope, decision).map_err(|misfit| {
        StoreError::Damaged { what: misfit.subject.to_string(), source: misfit.into() }
    })?;
    let mut work = Work {
        now,
        asks: Vec::new(),
        tasks: Vec::new(),
        artifacts: Vec::new(),
        entries: Vec::new(),
        entities: Vec::new(),
        records: changes.records,
        effects: changes.effects,
        uses: None,
    };
    for entity in changes.entities {
        match entity {
            Entity::Ask(after) => {
                let before = loaded.asks.remove(&after.id).flatten();
                let lists = Scope::of(&after).into();
                let fold = if after.is_open() { after.fold() } else { None };
                work.asks.push(Moved { before, after: *after, lists, fold });
            }
            Entity::Task(after) => {
                let before = loaded.tasks.remove(&after.id).flatten();
                work.tasks.push(MovedTask { before, after: *after });
            }
            Entity::Artifact(after) => work.artifacts.push(*after),
            Entity::Entry(after) => work.entries.push(*after),
            Entity::Project(_)
            | Entity::Agent(_)
            | Entity::Human(_)
            | Entity::Key(_)
            | Entity::Rule(_)
            | Entity::Webhook(_) => work.entities.push(entity),
        }
    }
    Ok(Judged::Done(work))
}
