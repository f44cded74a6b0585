//! The write transaction of a batch of jobs, in memory: all data the jobs need is loaded before,
//! and all their changes are written afterwards in a few statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kernel::ask::SimilarityKey;
use kernel::audit::Record;
use kernel::directory::Directory;
use kernel::task::{self, Artifact};
use kernel::{
    ArtifactId, Ask, AskId, Entity, EntryId, FollowUp, Loaded, Refusal, ReviewId, Subject, Task,
    TaskId, Time, UploadId,
};

use crate::job::{self, IdempotencyRecord, JobWrites, UnitOfWork};
use crate::listing::{Deadline, ListEntry, ListScope};
use crate::{Idempotency, Result, SideRow, StoreError, Work, tasks};

/// An idempotency key: scope and key.
pub(super) type ScopedKey = (String, String);

/// The state of one write transaction.
pub(super) struct Batch {
    directory: Arc<Directory>,
    loaded: Loaded,
    remembered: HashMap<ScopedKey, IdempotencyRecord>,
    lacking: BTreeSet<Subject>,
    /// The finished uploads that jobs may use.
    pub(super) usable: BTreeSet<UploadId>,
    pub(super) out: BatchWrites,
}

/// The feed metadata of an event.
pub(super) struct FeedColumns {
    /// The agent, if the event is about an ask.
    pub(super) agent: Option<String>,
    /// The project, if the event is about a task.
    pub(super) project: Option<String>,
    /// The lists that changed.
    pub(super) lists: String,
}

impl FeedColumns {
    fn new(about: &job::FeedMetadata<'_>) -> Self {
        Self {
            agent: about.agent.map(ToString::to_string),
            project: about.project.map(ToString::to_string),
            lists: ListScope::write(&about.lists),
        }
    }
}

/// Everything to write, as it is at the end of the transaction.
#[derive(Default)]
pub(super) struct BatchWrites {
    /// With the version that was read; `None` for a new ask.
    pub(super) asks: BTreeMap<AskId, (Option<u64>, Ask)>,
    /// The changed wake-up times; `None` deletes the wake-up.
    pub(super) wakes: BTreeMap<AskId, Option<Time>>,
    pub(super) unlisted: BTreeSet<(ListEntry, AskId)>,
    pub(super) listed: BTreeSet<(ListEntry, AskId)>,
    /// Asks whose receipt claims changed.
    pub(super) changed_receipts: BTreeSet<AskId>,
    /// The similarity keys of open asks.
    pub(super) folds: BTreeMap<AskId, SimilarityKey>,
    pub(super) not_expiring: BTreeSet<(Deadline, AskId)>,
    pub(super) expiring: BTreeSet<(Deadline, AskId)>,
    /// With the version that was read; 0 for a new one.
    pub(super) tasks: BTreeMap<TaskId, (u64, Task)>,
    pub(super) unlisted_tasks: BTreeSet<(String, TaskId)>,
    pub(super) listed_tasks: BTreeSet<(String, TaskId)>,
    /// The task of each new review.
    pub(super) reviews: Vec<(ReviewId, TaskId)>,
    /// With the version that was read; 0 for a new one.
    pub(super) artifacts: BTreeMap<ArtifactId, (u64, Artifact)>,
    /// With the version that was read; 0 for a new one.
    pub(super) entries: BTreeMap<EntryId, (u64, task::Entry)>,
    /// With the version that was read; 0 for a new one.
    pub(super) entities: BTreeMap<Subject, (u64, Entity)>,
    pub(super) records: Vec<(Record, FeedColumns)>,
    /// The follow-ups of each record.
    pub(super) follow_ups: Vec<Arc<[FollowUp]>>,
    /// The effects that are written in the same commit as the records.
    pub(super) in_commit: Vec<(Time, Work)>,
    /// Secret answers, encrypted.
    pub(super) secrets: Vec<SideRow>,
    pub(super) remembered: BTreeMap<ScopedKey, IdempotencyRecord>,
    /// The uploads that jobs used.
    pub(super) uses: BTreeSet<UploadId>,
}

impl BatchWrites {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.in_commit.is_empty() && self.remembered.is_empty()
    }
}

/// A job needs data that is not loaded yet.
#[derive(Debug, thiserror::Error)]
#[error("something was not loaded yet")]
struct NotLoaded;

impl Batch {
    pub(super) fn new(directory: Arc<Directory>) -> Self {
        Self {
            directory,
            loaded: Loaded::default(),
            remembered: HashMap::new(),
            lacking: BTreeSet::new(),
            usable: BTreeSet::new(),
            out: BatchWrites::default(),
        }
    }

    /// Adds loaded data. A requested subject that was not found counts as absent.
    pub(super) fn load(&mut self, asked: BTreeSet<Subject>, found: Loaded) {
        for subject in asked {
            match subject {
                Subject::Ask(id) => drop(self.loaded.asks.entry(id).or_default()),
                Subject::Task(id) => drop(self.loaded.tasks.entry(id).or_default()),
                Subject::Artifact(id) => drop(self.loaded.artifacts.entry(id).or_default()),
                Subject::Entry(id) => drop(self.loaded.entries.entry(id).or_default()),
                // These are in the directory.
                Subject::Project(_)
                | Subject::Agent(_)
                | Subject::Human(_)
                | Subject::Key(_)
                | Subject::Rule(_)
                | Subject::Webhook(_) => {}
            }
        }
        self.loaded.asks.extend(found.asks);
        self.loaded.tasks.extend(found.tasks);
        self.loaded.artifacts.extend(found.artifacts);
        self.loaded.entries.extend(found.entries);
    }

    pub(super) fn remember(
        &mut self,
        keys: impl IntoIterator<Item = (ScopedKey, IdempotencyRecord)>,
    ) {
        self.remembered.extend(keys);
    }

    /// The subjects that a failed job needs before it is retried; empty if it failed
    /// for another reason.
    pub(super) fn take_missing(&mut self) -> BTreeSet<Subject> {
        std::mem::take(&mut self.lacking)
    }

    fn not_loaded(&mut self, subject: Subject) -> StoreError {
        self.lacking.insert(subject);
        StoreError::Unavailable(NotLoaded.into())
    }

    pub(super) fn into_parts(self) -> (Arc<Directory>, BatchWrites) {
        (self.directory, self.out)
    }
}

impl UnitOfWork for Batch {
    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    fn ask(&mut self, id: AskId) -> Result<Option<Ask>> {
        let found = self.loaded.asks.get(&id).cloned();
        found.ok_or_else(|| self.not_loaded(Subject::Ask(id)))
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        let found = self.loaded.tasks.get(&id).cloned();
        found.ok_or_else(|| self.not_loaded(Subject::Task(id)))
    }

    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>> {
        let found = self.loaded.artifacts.get(&id).cloned();
        found.ok_or_else(|| self.not_loaded(Subject::Artifact(id)))
    }

    fn entry(&mut self, id: EntryId) -> Result<Option<task::Entry>> {
        let found = self.loaded.entries.get(&id).cloned();
        found.ok_or_else(|| self.not_loaded(Subject::Entry(id)))
    }

    fn idempotency_record(&mut self, scope: &str, key: &str) -> Result<Option<IdempotencyRecord>> {
        Ok(self.remembered.get(&(scope.to_owned(), key.to_owned())).copied())
    }

    fn write(
        &mut self,
        work: &JobWrites,
        remember: Option<(&Idempotency, IdempotencyRecord)>,
    ) -> Result<()> {
        for moved in work.asks.iter().filter(|moved| moved.before.is_none()) {
            if self.ask(moved.after.id)?.is_some() {
                return Err(Refusal::Exists { what: "request" }.into());
            }
        }
        for moved in work.tasks.iter().filter(|moved| moved.before.is_none()) {
            if self.task(moved.after.id)?.is_some() {
                return Err(Refusal::Exists { what: "task" }.into());
            }
        }
        for made in &work.artifacts {
            if work.version_before(&Subject::Artifact(made.id)) == 0
                && self.artifact(made.id)?.is_some()
            {
                return Err(Refusal::Exists { what: "artifact" }.into());
            }
        }
        if work.uses.is_some_and(|id| !self.usable.contains(&id)) {
            return Err(Refusal::NotFound { what: "upload" }.into());
        }
        self.out.uses.extend(work.uses);
        self.write_tasks(work);
        for moved in &work.asks {
            let ask = &moved.after;
            let read = moved.before.as_ref().map(|before| before.head.seq);
            let written = self.out.asks.entry(ask.id).or_insert_with(|| (read, ask.clone()));
            written.1 = ask.clone();
            self.loaded.asks.insert(ask.id, Some(ask.clone()));
            let wake = ask.wake_at();
            if moved.before.as_ref().and_then(Ask::wake_at) != wake {
                self.out.wakes.insert(ask.id, wake);
            }
            let out = &mut self.out;
            match moved.fold {
                Some(fold) => out.folds.insert(ask.id, fold),
                None => out.folds.remove(&ask.id),
            };
            if moved.changes_receipt() {
                out.changed_receipts.insert(ask.id);
            }
            replace(ask.id, ListEntry::row_changes(moved), &mut out.unlisted, &mut out.listed);
            replace(ask.id, Deadline::row_changes(moved), &mut out.not_expiring, &mut out.expiring);
        }
        for entity in &work.entities {
            let subject = entity.subject();
            let read = work.version_before(&subject);
            let written =
                self.out.entities.entry(subject).or_insert_with(|| (read, entity.clone()));
            written.1 = entity.clone();
            Arc::make_mut(&mut self.directory).put(entity.clone());
        }
        for (record, follow_ups) in work.followed() {
            self.out.records.push((record.clone(), FeedColumns::new(&work.feed_metadata(record))));
            self.out.follow_ups.push(follow_ups);
        }
        let in_commit = work.in_commit.iter().map(|effect| (work.now, effect.clone()));
        self.out.in_commit.extend(in_commit);
        self.out.secrets.extend(work.secret.as_deref().cloned());
        if let Some((request, remembered)) = remember {
            let key = (request.scope.clone(), request.key.clone());
            self.remembered.insert(key.clone(), remembered);
            self.out.remembered.insert(key, remembered);
        }
        Ok(())
    }
}

impl Batch {
    fn write_tasks(&mut self, work: &JobWrites) {
        let out = &mut self.out;
        for moved in &work.tasks {
            let task = &moved.after;
            let read = work.version_before(&Subject::Task(task.id));
            out.tasks.entry(task.id).or_insert_with(|| (read, task.clone())).1 = task.clone();
            self.loaded.tasks.insert(task.id, Some(task.clone()));
            let ranges = tasks::moved(moved.before.as_ref(), task);
            replace(task.id, ranges, &mut out.unlisted_tasks, &mut out.listed_tasks);
            out.reviews.extend(moved.reviews().map(|review| (review, task.id)));
        }
        for made in &work.artifacts {
            let read = work.version_before(&Subject::Artifact(made.id));
            out.artifacts.entry(made.id).or_insert_with(|| (read, made.clone())).1 = made.clone();
            self.loaded.artifacts.insert(made.id, Some(made.clone()));
        }
        for entry in &work.entries {
            let read = work.version_before(&Subject::Entry(entry.id));
            out.entries.entry(entry.id).or_insert_with(|| (read, entry.clone())).1 = entry.clone();
            self.loaded.entries.insert(entry.id, Some(entry.clone()));
        }
    }
}

/// A row that one job adds and a later one removes is never written.
fn replace<T: Ord, I: Ord + Copy>(
    id: I,
    (old, new): (Vec<T>, Vec<T>),
    gone: &mut BTreeSet<(T, I)>,
    there: &mut BTreeSet<(T, I)>,
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
