//! The steps every backend runs for a job: recognise a repeated request, decide, load the missing
//! data, and assemble the outcome.

use std::sync::Arc;

use kernel::ask::Ending;
use kernel::audit::{Digest, Record};
use kernel::directory::Directory;
use kernel::task::{Artifact, Contract, Entry, TaskCommand};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, Command, DecideOutcome, Entity, EntryId, Envelope, FollowUp,
    Loaded, ProjectId, Refusal, ReviewId, SecretAnswer, Subject, Task, TaskId, Time, UploadId,
    World,
};

use crate::listing::{ChangedAsk, ListScope};
use crate::side::{SideRow, secret_row};
use crate::{IDEMPOTENCY_HOURS, Idempotency, Job, JobOutcome, Result, StoreError, Work};

/// How often a decision may ask for more data before that counts as a bug.
const MAX_ROUNDS: usize = 4;

/// The write transaction of a backend, as a job sees it.
pub(crate) trait UnitOfWork {
    /// The directory, including changes of earlier jobs in the same transaction.
    fn directory(&self) -> Arc<Directory>;

    /// One ask, including changes of earlier jobs in the same transaction.
    fn ask(&mut self, id: AskId) -> Result<Option<Ask>>;

    /// One task, likewise.
    fn task(&mut self, id: TaskId) -> Result<Option<Task>>;

    /// One artifact, likewise.
    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>>;

    /// One key of a ledger, likewise.
    fn entry(&mut self, id: EntryId) -> Result<Option<Entry>>;

    /// The idempotency record under a key, however old.
    fn idempotency_record(&mut self, scope: &str, key: &str) -> Result<Option<IdempotencyRecord>>;

    /// Writes the whole outcome of a job, or nothing.
    fn write(
        &mut self,
        work: &JobWrites,
        remember: Option<(&Idempotency, IdempotencyRecord)>,
    ) -> Result<()>;
}

/// The use time of a lasting key: the end of time, so that it never expires.
const LASTING: Time = Time::LAST;

/// An idempotency record. It holds no answer and no token: a replay reads the ask again, and
/// rebuilds the earlier state of a task from its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdempotencyRecord {
    pub(crate) fingerprint: Digest,
    pub(crate) ask: Option<AskId>,
    /// The task of the job, and the last sequence number of its chain at that time.
    pub(crate) place: Option<(TaskId, u64)>,
    pub(crate) at: Time,
}

impl IdempotencyRecord {
    /// Whether the record is recent enough to count at `now` by itself. An older one counts only
    /// while its ask [keeps](keeps_key) it. Otherwise it is treated as absent, even before the
    /// sweep deletes it.
    pub(crate) fn is_recent(&self, now: Time) -> bool {
        self.at > expired_before(now)
    }
}

/// The time an ask ended; `None` while it is open.
fn ended_at(ask: &Ask) -> Option<Time> {
    ask.ending().map(|ending| match ending {
        Ending::Completed(resolution) => resolution.at,
        Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. } => *at,
    })
}

/// Whether an ask keeps its idempotency keys: while it is open, and [`IDEMPOTENCY_HOURS`] longer.
/// An agent that resumes after a weekend must not ask twice.
pub(crate) fn keeps_key(ask: &Ask, now: Time) -> bool {
    ended_at(ask).is_none_or(|at| at > expired_before(now))
}

/// The new use time of an expired key whose ask still keeps it; `None` if the key is to be deleted.
pub(crate) fn renewed(ask: &Ask, now: Time) -> Option<Time> {
    renewed_since(ended_at(ask), now)
}

/// The same, given the time the ask ended; `None` while it is open.
pub(crate) fn renewed_since(ended: Option<Time>, now: Time) -> Option<Time> {
    Some(ended.unwrap_or(now)).filter(|at| *at > expired_before(now))
}

/// Idempotency keys used at this time or earlier have expired at `now`, unless their
/// ask keeps them.
pub(crate) fn expired_before(now: Time) -> Time {
    let millis = i64::try_from(IDEMPOTENCY_HOURS).unwrap_or(i64::MAX).saturating_mul(3_600_000);
    Time::from_millis(now.millis().saturating_sub(millis))
}

/// Everything a backend writes for one job.
#[derive(Debug)]
pub(crate) struct JobWrites {
    /// The time of the decision by the clock. Work is due from then on, even if the events
    /// are dated later because the clock went back.
    pub(crate) now: Time,
    /// The asks created or changed.
    pub(crate) asks: Vec<ChangedAsk>,
    /// The tasks created or changed.
    pub(crate) tasks: Vec<ChangedTask>,
    /// The artifacts created or changed.
    pub(crate) artifacts: Vec<Artifact>,
    /// The ledger keys written.
    pub(crate) entries: Vec<Entry>,
    /// The other changed entities; they go into the directory.
    pub(crate) entities: Vec<Entity>,
    pub(crate) records: Vec<Record>,
    /// The follow-ups of each record, in the order of the records, for the followers
    /// of this process.
    pub(crate) follow_ups: Vec<Arc<[FollowUp]>>,
    /// The effects that are written in the same commit as the records.
    pub(crate) in_commit: Vec<Work>,
    /// The secret values of an answer, encrypted.
    pub(crate) secret: Option<Box<SideRow>>,
    /// The upload something was made of; it must be there and finished.
    pub(crate) uses: Option<UploadId>,
}

impl JobWrites {
    /// Whether the decision changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.in_commit.is_empty()
    }

    /// Whether the job changes exactly one subject, and nothing in the directory.
    pub(crate) fn is_single(&self) -> bool {
        let things = self.asks.len() + self.tasks.len() + self.artifacts.len() + self.entries.len();
        things == 1 && self.entities.is_empty() && self.uses.is_none()
    }

    /// Each record with its follow-ups.
    pub(crate) fn followed(&self) -> impl Iterator<Item = (&Record, Arc<[FollowUp]>)> {
        self.records.iter().zip(self.follow_ups.iter().cloned())
    }

    /// What the feed announces with a record.
    pub(crate) fn feed_metadata(&self, record: &Record) -> FeedMetadata<'_> {
        match &record.subject {
            Subject::Ask(id) => self.asks.iter().find(|moved| moved.after.id == *id).map_or_else(
                FeedMetadata::default,
                |moved| FeedMetadata {
                    agent: Some(&moved.after.agent),
                    project: None,
                    lists: Arc::clone(&moved.lists),
                },
            ),
            Subject::Task(id) => self.tasks.iter().find(|moved| moved.after.id == *id).map_or_else(
                FeedMetadata::default,
                |moved| {
                    let project = &moved.after.project;
                    let runtimes = self.contracts().filter(|contract| contract.task == *id);
                    let runtimes =
                        runtimes.map(|contract| ListScope::Runtime(contract.agent.clone()));
                    let lists = [ListScope::Tasks(project.clone())].into_iter().chain(runtimes);
                    FeedMetadata { agent: None, project: Some(project), lists: lists.collect() }
                },
            ),
            Subject::Project(_)
            | Subject::Agent(_)
            | Subject::Human(_)
            | Subject::Key(_)
            | Subject::Rule(_)
            | Subject::Webhook(_)
            | Subject::Artifact(_)
            | Subject::Entry(_) => FeedMetadata::default(),
        }
    }

    /// The contracts for agent runtimes.
    pub(crate) fn contracts(&self) -> impl Iterator<Item = &Contract> {
        contracts(&self.in_commit)
    }

    /// The version of a subject before this job. An update must find this version.
    pub(crate) fn version_before(&self, subject: &Subject) -> u64 {
        let first = self.records.iter().find(|record| record.subject == *subject);
        first.map_or(0, |record| record.seq.saturating_sub(1))
    }
}

/// The contracts for agent runtimes among these effects.
pub(crate) fn contracts<'a>(
    work: impl IntoIterator<Item = &'a Work>,
) -> impl Iterator<Item = &'a Contract> {
    work.into_iter().filter_map(|work| match work {
        Work::Contract(contract) => Some(contract),
        _ => None,
    })
}

/// The feed metadata of a record.
#[derive(Default)]
pub(crate) struct FeedMetadata<'a> {
    /// The agent, if the record is about an ask.
    pub(crate) agent: Option<&'a AgentId>,
    /// The project, if the record is about a task.
    pub(crate) project: Option<&'a ProjectId>,
    /// The lists that changed.
    pub(crate) lists: Arc<[ListScope]>,
}

/// A task before and after a job.
#[derive(Debug)]
pub(crate) struct ChangedTask {
    pub(crate) before: Option<Task>,
    pub(crate) after: Task,
}

impl ChangedTask {
    /// The reviews the job added.
    pub(crate) fn reviews(&self) -> impl Iterator<Item = ReviewId> {
        let known = self.before.as_ref().map_or(0, |before| before.reviews.len());
        self.after.reviews.iter().skip(known).map(|review| review.id)
    }
}

/// A decision made before the job's turn in the writer, on the directory at that time. A new ask or
/// task depends on nothing else, so the decision is valid if the directory has not changed since.
#[derive(Debug)]
pub(crate) struct EarlyDecision {
    directory: Arc<Directory>,
    work: JobWrites,
}

impl EarlyDecision {
    /// Decides a new ask or task. Other commands, and refused ones, wait for their turn.
    pub(crate) fn decide(directory: Arc<Directory>, now: Time, job: &Job) -> Option<Self> {
        let command = &job.envelope.command;
        if !command.creates_ask() && !creates_task(command) {
            return None;
        }
        match decide_round(&directory, now, job, &mut Loaded::default()) {
            Ok(RoundResult::Done(work)) => Some(Self { directory, work: *work }),
            Ok(RoundResult::Need(_)) | Err(_) => None,
        }
    }
}

/// Runs a job in a write transaction. An earlier identical request is answered from its idempotency
/// record. Any other job is decided, unless that was done ahead, and written.
pub(crate) fn transact(
    unit: &mut impl UnitOfWork,
    now: Time,
    job: &Job,
    ahead: Option<EarlyDecision>,
) -> Result<JobOutcome> {
    let Job { envelope, idempotency, uses, .. } = job;
    if let Some(request) = idempotency
        && let Some(earlier) = valid_record(unit, request, now)?
    {
        if earlier.fingerprint != request.fingerprint {
            return Err(Refusal::IdempotencyMismatch.into());
        }
        let ask = earlier.ask.map(|id| unit.ask(id)).transpose()?.flatten();
        let task = earlier.place.map(|(id, _)| unit.task(id)).transpose()?.flatten();
        let last = ask.as_ref().map(|ask| ask.head).or_else(|| task.as_ref().map(|task| task.head));
        let at = last.map_or(earlier.at, |head| earlier.at.min(head.at));
        let place = earlier.place;
        let task = task.map(Box::new);
        return Ok(JobOutcome {
            ask,
            task,
            artifact: None,
            entry: None,
            replayed: true,
            place,
            at,
        });
    }

    let id = envelope.subject();
    let mut loaded = Loaded::default();
    let mut work = match ahead {
        Some(ahead) if Arc::ptr_eq(&ahead.directory, &unit.directory()) => ahead.work,
        Some(_) | None => settle(unit, now, job, &mut loaded)?,
    };
    // The time is never before the subject's last event, even if the clock went back.
    let at = work.records.first().map_or(work.now, |record| record.at);
    let task = changed_task(envelope, &work, &loaded);
    let place = task.as_ref().map(|task| (task.id, task.head.seq));
    let remember = idempotency.as_ref().map(|request| {
        let fingerprint = request.fingerprint;
        let at = if request.lasting { LASTING } else { work.now };
        (request, IdempotencyRecord { fingerprint, ask: id, place, at })
    });
    work.uses = uses.filter(|_| !work.is_empty());
    if !work.is_empty() || remember.is_some() {
        unit.write(&work, remember)?;
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
    Ok(JobOutcome { ask, task, artifact, entry, replayed: false, place, at })
}

/// The idempotency record of a request, if it still counts.
fn valid_record(
    unit: &mut impl UnitOfWork,
    request: &Idempotency,
    now: Time,
) -> Result<Option<IdempotencyRecord>> {
    let Some(earlier) = unit.idempotency_record(&request.scope, &request.key)? else {
        return Ok(None);
    };
    if earlier.is_recent(now) {
        return Ok(Some(earlier));
    }
    let ask = earlier.ask.map(|id| unit.ask(id)).transpose()?.flatten();
    Ok(Some(earlier).filter(|_| ask.is_some_and(|ask| keeps_key(&ask, now))))
}

/// The task of a job in its new state: the one it names, or the one of a checkpoint.
fn changed_task(envelope: &Envelope, work: &JobWrites, loaded: &Loaded) -> Option<Task> {
    let named = match &envelope.command {
        command if creates_task(command) => Some(TaskId::new(envelope.fresh)),
        Command::Task(command) => command.task(),
        _ => None,
    };
    let moved = work.tasks.iter().find(|moved| named.is_none_or(|id| moved.after.id == id));
    match moved {
        Some(moved) => Some(moved.after.clone()),
        None => loaded.tasks.get(&named?).cloned().flatten(),
    }
}

fn creates_task(command: &Command) -> bool {
    matches!(command, Command::Task(command) if matches!(**command, TaskCommand::Create(_)))
}

/// The subjects that a command names and that must exist already.
pub(crate) fn named_subjects(command: &Command) -> Vec<Subject> {
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

/// The artifact that a command names, if any.
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

/// The subjects that a command creates, or may create, under the fresh id.
pub(crate) fn created_subjects(envelope: &Envelope) -> Vec<Subject> {
    let (fresh, command) = (envelope.fresh, &envelope.command);
    let ask = Subject::Ask(AskId::new(fresh));
    match command {
        Command::Task(task) if matches!(**task, TaskCommand::Commit(..)) => {
            vec![ask, Subject::Artifact(ArtifactId::new(fresh))]
        }
        command if creates_task(command) => vec![Subject::Task(TaskId::new(fresh))],
        command if command.creates_ask() => vec![ask],
        _ => Vec::new(),
    }
}

/// Decides, and loads the entities that the decision needs. Loaded entities that do not change
/// remain in `loaded`.
fn settle(
    unit: &mut impl UnitOfWork,
    now: Time,
    job: &Job,
    loaded: &mut Loaded,
) -> Result<JobWrites> {
    let envelope = &job.envelope;
    let directory = unit.directory();
    for subject in named_subjects(&envelope.command) {
        load(unit, loaded, &subject)?;
    }
    for _ in 0..MAX_ROUNDS {
        match decide_round(&directory, now, job, loaded)? {
            RoundResult::Done(work) => return Ok(*work),
            RoundResult::Need(subjects) => {
                for subject in subjects {
                    load(unit, loaded, &subject)?;
                }
            }
        }
    }
    Err(StoreError::Damaged {
        what: "decision".to_owned(),
        source: format!("data was still missing after {MAX_ROUNDS} rounds").into(),
    })
}

fn load(unit: &mut impl UnitOfWork, loaded: &mut Loaded, subject: &Subject) -> Result<()> {
    match *subject {
        Subject::Ask(id) => drop(loaded.asks.insert(id, unit.ask(id)?)),
        Subject::Task(id) => drop(loaded.tasks.insert(id, unit.task(id)?)),
        Subject::Artifact(id) => drop(loaded.artifacts.insert(id, unit.artifact(id)?)),
        Subject::Entry(id) => drop(loaded.entries.insert(id, unit.entry(id)?)),
        // These are already in the directory.
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_)
        | Subject::Webhook(_) => {}
    }
    Ok(())
}

/// The row of a secret answer. A server that cannot encrypt it does not take the answer.
fn encrypted(job: &Job, secret: &SecretAnswer) -> Result<Box<SideRow>> {
    let unkept = |why: &str| StoreError::Unavailable(why.into());
    let cipher = job.cipher.as_ref();
    let cipher =
        cipher.ok_or_else(|| unkept("this server has no key to encrypt a secret answer with"))?;
    let name = secret.values.name();
    let value = cipher.encrypt(secret.ask, name, &secret.values);
    let value = value.ok_or_else(|| unkept("the secret answer is too large"))?;
    Ok(Box::new(secret_row(secret.ask, name, value)))
}

enum RoundResult {
    Done(Box<JobWrites>),
    Need(Vec<Subject>),
}

/// One round: the decision on the loaded entities, and the state it leads to. Pure.
fn decide_round(
    directory: &Directory,
    now: Time,
    job: &Job,
    loaded: &mut Loaded,
) -> Result<RoundResult> {
    let envelope = &job.envelope;
    let world = World { now, directory, loaded };
    let decision = match kernel::decide(&world, envelope)? {
        DecideOutcome::Decided(decision) => decision,
        DecideOutcome::Need(subjects) => return Ok(RoundResult::Need(subjects)),
    };
    let changes = kernel::apply_decision(&world, envelope, decision).map_err(|misfit| {
        StoreError::Damaged { what: misfit.subject.to_string(), source: misfit.into() }
    })?;
    let mut work = JobWrites {
        now,
        asks: Vec::new(),
        tasks: Vec::new(),
        artifacts: Vec::new(),
        entries: Vec::new(),
        entities: Vec::new(),
        records: changes.records,
        follow_ups: changes.follow_ups.into_iter().map(Arc::from).collect(),
        in_commit: changes.work.into_iter().map(Work::from).collect(),
        secret: changes.secret.map(|secret| encrypted(job, &secret)).transpose()?,
        uses: None,
    };
    for entity in changes.entities {
        match entity {
            Entity::Ask(after) => {
                let before = loaded.asks.remove(&after.id).flatten();
                let lists = ListScope::of(&after).into();
                let fold = if after.is_open() { after.similarity_key() } else { None };
                work.asks.push(ChangedAsk { before, after: *after, lists, fold });
            }
            Entity::Task(after) => {
                let before = loaded.tasks.remove(&after.id).flatten();
                work.tasks.push(ChangedTask { before, after: *after });
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
    Ok(RoundResult::Done(Box::new(work)))
}
