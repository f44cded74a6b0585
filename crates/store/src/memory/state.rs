//! All data in maps, and how a job changes it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kernel::audit::{Digest, Erasure, Record, RecordRow};
use kernel::directory::Directory;
use kernel::insight::{Day, Tally};
use kernel::task::{self, Artifact, Contract};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, EntryId, FollowUp, KeyId, ProjectId, Refusal, ReviewId,
    Subject, Task, TaskId, Time, UploadId, WebhookId,
};
use serde_json::Value;
use ulid::Ulid;

use super::uploads;
use crate::job::{ChangedTask, IdempotencyRecord, JobWrites, UnitOfWork};
use crate::leases::{Leases, Viewers, WakeUp};
use crate::listing::{ChangedAsk, Deadline, ListEntry, ListScope};
use crate::side::{SideKind, SideRow};
use crate::work_queue::DeliveryLogEntry;
use crate::{
    AnnouncedChange, Change, FeedQuery, Idempotency, Message, Result, SealedBlock, Work, tasks,
};

#[derive(Default)]
pub(super) struct MemoryState {
    pub(super) directory: Arc<Directory>,
    pub(super) asks: BTreeMap<AskId, Ask>,
    pub(super) listing: BTreeSet<(ListEntry, Reverse<AskId>)>,
    pub(super) deadlines: BTreeSet<(Deadline, AskId)>,
    pub(super) wakes: BTreeSet<WakeUp>,
    pub(super) leases: Leases,
    /// Closed asks that still have their text, by the time they ended.
    pub(super) over: BTreeSet<WakeUp>,
    pub(super) over_leases: Leases,
    pub(super) viewers: Viewers,
    /// The record at index `n` has position `n + 1`.
    pub(super) records: Vec<Record>,
    /// The lists each record changed.
    lists: Vec<Arc<[ListScope]>>,
    /// The follow-ups of each record.
    follow_ups: Vec<Arc<[FollowUp]>>,
    /// The positions of followers.
    pub(super) followers: HashMap<&'static str, u64>,
    /// The positions of the records of each agent's asks.
    pub(super) streams: BTreeSet<(AgentId, u64)>,
    pub(super) work: BTreeMap<u64, WaitingWork>,
    /// The webhook delivery log.
    pub(super) log: BTreeMap<(WebhookId, String), DeliveryLogEntry>,
    /// The number of rows of work ever written: ids are not reused.
    pub(super) written: u64,
    pub(super) idempotency: HashMap<(String, String), IdempotencyRecord>,
    pub(super) key_use: HashMap<KeyId, Time>,
    pub(super) side: BTreeMap<(SideKind, String), SideRow>,
    pub(super) messages: HashMap<Digest, Message>,
    /// Receipt signatures with the ids of their keys, by ask and digest of the claims.
    pub(super) receipt_signatures: HashMap<(AskId, Digest), (String, Vec<u8>)>,
    /// The files that belong to each ask or upload.
    pub(super) files: BTreeSet<(Ulid, Digest)>,
    pub(super) uploads: BTreeMap<UploadId, uploads::StoredUpload>,
    /// Counters of a time window, with its end.
    pub(super) used: BTreeMap<String, (u64, Time)>,
    /// Counters of files, by holder.
    pub(super) held: BTreeMap<(Ulid, String), u64>,
    /// The counts, and the position up to which records are counted.
    pub(super) tally: Tally,
    pub(super) counted: u64,
    /// The first day with counts, if earlier ones were deleted.
    pub(super) since: Option<Day>,
    pub(super) blocks: Vec<SealedBlock>,
    pub(super) tasks: BTreeMap<TaskId, Task>,
    /// The ranges that make up task lists.
    pub(super) task_list: BTreeSet<(String, Reverse<TaskId>)>,
    /// The positions of the records of each project's tasks.
    pub(super) task_streams: BTreeSet<(ProjectId, u64)>,
    pub(super) artifacts: BTreeMap<ArtifactId, Artifact>,
    pub(super) entries: BTreeMap<EntryId, task::Entry>,
    pub(super) reviews: BTreeMap<ReviewId, TaskId>,
    /// The contracts, by their numbers.
    pub(super) contracts: BTreeMap<u64, Contract>,
    /// The last contract number that each runtime acknowledged.
    pub(super) acked: BTreeMap<AgentId, u64>,
}

pub(super) struct WaitingWork {
    pub(super) work: Work,
    pub(super) written_at: Time,
    pub(super) attempt: u32,
    /// When the row can be claimed; a lease moves it.
    pub(super) due_at: Time,
    /// The reason the row was given up.
    pub(super) dead: Option<String>,
}

impl UnitOfWork for MemoryState {
    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    fn ask(&mut self, id: AskId) -> Result<Option<Ask>> {
        Ok(self.asks.get(&id).cloned())
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        Ok(self.tasks.get(&id).cloned())
    }

    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>> {
        Ok(self.artifacts.get(&id).cloned())
    }

    fn entry(&mut self, id: EntryId) -> Result<Option<task::Entry>> {
        Ok(self.entries.get(&id).cloned())
    }

    fn idempotency_record(&mut self, scope: &str, key: &str) -> Result<Option<IdempotencyRecord>> {
        Ok(self.idempotency.get(&(scope.to_owned(), key.to_owned())).copied())
    }

    fn write(
        &mut self,
        work: &JobWrites,
        remember: Option<(&Idempotency, IdempotencyRecord)>,
    ) -> Result<()> {
        let taken =
            |moved: &ChangedAsk| moved.before.is_none() && self.asks.contains_key(&moved.after.id);
        if work.asks.iter().any(taken) {
            return Err(Refusal::Exists { what: "request" }.into());
        }
        let taken = |moved: &ChangedTask| {
            moved.before.is_none() && self.tasks.contains_key(&moved.after.id)
        };
        if work.tasks.iter().any(taken) {
            return Err(Refusal::Exists { what: "task" }.into());
        }
        let new = |made: &Artifact| work.version_before(&Subject::Artifact(made.id)) == 0;
        if work.artifacts.iter().any(|made| new(made) && self.artifacts.contains_key(&made.id)) {
            return Err(Refusal::Exists { what: "artifact" }.into());
        }
        if let Some(id) = work.uses {
            let upload = self.uploads.get_mut(&id).filter(|upload| upload.is_whole());
            upload.ok_or(Refusal::NotFound { what: "upload" })?.use_up(work.now);
        }
        for moved in &work.asks {
            self.put(moved);
        }
        for moved in &work.tasks {
            self.put_task(moved);
        }
        self.artifacts.extend(work.artifacts.iter().map(|made| (made.id, made.clone())));
        self.entries.extend(work.entries.iter().map(|entry| (entry.id, entry.clone())));
        for contract in work.contracts() {
            let last = self.contracts.last_key_value().map_or(0, |(n, _)| *n);
            self.contracts.insert(last + 1, contract.clone());
        }
        for entity in &work.entities {
            Arc::make_mut(&mut self.directory).put(entity.clone());
        }
        for (record, follow_ups) in work.followed() {
            self.records.push(record.clone());
            self.follow_ups.push(follow_ups);
            let position = self.records.len() as u64;
            let about = work.feed_metadata(record);
            self.streams.extend(about.agent.map(|agent| (agent.clone(), position)));
            self.task_streams.extend(about.project.map(|project| (project.clone(), position)));
            self.lists.push(about.lists);
            if let Some(erasure) = record.erasure() {
                self.erase(record, &erasure);
            }
        }
        for one in &work.in_commit {
            self.put_work(one.clone(), work.now);
        }
        if let Some(row) = &work.secret {
            let row = SideRow { version: 1, ..(**row).clone() };
            self.side.insert((row.kind, row.key.clone()), row);
        }
        if let Some((request, remembered)) = remember {
            let key = (request.scope.clone(), request.key.clone());
            self.idempotency.insert(key, remembered);
        }
        Ok(())
    }
}

impl MemoryState {
    /// Whether work of the same name is already waiting.
    pub(super) fn has_waiting(&self, work: &Work) -> bool {
        let name = work.name();
        let same = |row: &WaitingWork| row.dead.is_none() && row.work.name() == name;
        name.is_some() && self.work.values().any(same)
    }

    /// Adds work, due at this time.
    pub(super) fn put_work(&mut self, work: Work, now: Time) -> u64 {
        self.written += 1;
        let row = WaitingWork { work, written_at: now, attempt: 0, due_at: now, dead: None };
        self.work.insert(self.written, row);
        self.written
    }

    fn put(&mut self, moved: &ChangedAsk) {
        let (id, before) = (moved.after.id, moved.before.as_ref());
        let (old, new) = ListEntry::row_changes(moved);
        for entry in old {
            self.listing.remove(&(entry, Reverse(id)));
        }
        self.listing.extend(new.into_iter().map(|entry| (entry, Reverse(id))));
        let (old, new) = Deadline::row_changes(moved);
        for deadline in old {
            self.deadlines.remove(&(deadline, id));
        }
        self.deadlines.extend(new.into_iter().map(|deadline| (deadline, id)));
        if let Some(at) = before.and_then(Ask::wake_at) {
            self.wakes.remove(&(at, id));
        }
        self.wakes.extend(moved.after.wake_at().map(|at| (at, id)));
        if let Some(at) = before.and_then(Ask::retention_start) {
            self.over.remove(&(at, id));
        }
        self.over.extend(moved.after.retention_start().map(|at| (at, id)));
        if moved.ended() {
            self.side.retain(|(kind, _), row| *kind != SideKind::Draft || row.ask != Some(id));
        }
        if moved.changes_receipt() {
            self.receipt_signatures.retain(|(ask, _), _| *ask != id);
        }
        self.asks.insert(id, moved.after.clone());
    }

    fn put_task(&mut self, moved: &ChangedTask) {
        let id = moved.after.id;
        let (old, new) = tasks::moved(moved.before.as_ref(), &moved.after);
        for range in old {
            self.task_list.remove(&(range, Reverse(id)));
        }
        self.task_list.extend(new.into_iter().map(|range| (range, Reverse(id))));
        self.reviews.extend(moved.reviews().map(|review| (review, id)));
        self.tasks.insert(id, moved.after.clone());
    }

    fn erase(&mut self, by: &Record, erasure: &Erasure) {
        let earlier = |record: &&mut Record| record.subject == by.subject && record.seq < by.seq;
        for record in self.records.iter_mut().filter(earlier) {
            if erasure.erases(&record.body) {
                record.contents.fill(Value::Null);
            }
        }
    }

    pub(super) fn due(&self, now: Time) -> Vec<WakeUp> {
        self.wakes.iter().take_while(|(at, _)| *at <= now).copied().collect()
    }

    /// Records after a position, with their positions.
    pub(super) fn after(
        &self,
        position: u64,
        limit: usize,
    ) -> impl Iterator<Item = (usize, &Record)> {
        self.records.iter().enumerate().skip(record_index(position)).take(limit)
    }

    pub(super) fn changes(&self, position: u64, limit: usize) -> impl Iterator<Item = Change> {
        self.after(position, limit).map(|(place, record)| change(place as u64 + 1, record))
    }

    pub(super) fn change(&self, position: u64) -> Option<Change> {
        let record = self.records.get(record_index(position).checked_sub(1)?)?;
        Some(change(position, record))
    }

    pub(super) fn row(&self, position: u64) -> Option<RecordRow> {
        let at = record_index(position).checked_sub(1)?;
        Some(row(at, self.records.get(at)?))
    }

    /// The positions of the events that a query selects.
    pub(super) fn positions(&self, of: &FeedQuery, limit: usize) -> BTreeSet<u64> {
        fn of_key<K: Ord + Clone>(
            known: &BTreeSet<(K, u64)>,
            keys: &[K],
            after: u64,
        ) -> BTreeSet<u64> {
            let range = |key: &K| (key.clone(), after.saturating_add(1))..=(key.clone(), u64::MAX);
            keys.iter().flat_map(|key| known.range(range(key)).map(|(_, at)| *at)).collect()
        }
        let all: BTreeSet<u64> = match of {
            FeedQuery::After(position) => {
                self.after(*position, limit).map(|(place, _)| place as u64 + 1).collect()
            }
            FeedQuery::Agents(agents, position) => of_key(&self.streams, agents, *position),
            FeedQuery::Tasks(projects, position) => of_key(&self.task_streams, projects, *position),
            FeedQuery::Subject(subject, seq) => {
                let own = |record: &Record| record.subject == *subject && record.seq > *seq;
                let records = self.records.iter().enumerate();
                records.filter(|(_, one)| own(one)).map(|(place, _)| place as u64 + 1).collect()
            }
        };
        all.into_iter().take(limit).collect()
    }

    /// Changes as the feed announces them.
    pub(super) fn news(&self, position: u64) -> impl Iterator<Item = AnnouncedChange> {
        let lists = self.lists.iter().skip(record_index(position)).cloned();
        let follow_ups = self.follow_ups.iter().skip(record_index(position)).cloned();
        let changes = self.changes(position, usize::MAX);
        changes.zip(lists).zip(follow_ups).map(|((change, lists), follow_ups)| AnnouncedChange {
            change,
            lists,
            follow_ups: Some(follow_ups),
        })
    }
}

pub(super) fn row(place: usize, record: &Record) -> RecordRow {
    let kept = record.contents.iter().any(|content| !content.is_null());
    RecordRow {
        position: place as u64 + 1,
        subject: record.subject.to_string(),
        seq: record.seq,
        at: record.at,
        what: record.what.to_owned(),
        prev: record.prev,
        hash: record.hash,
        body: record.body.clone(),
        contents: kept.then(|| json(&record.contents)),
    }
}

/// Cannot fail: our own types have string keys only.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn change(position: u64, record: &Record) -> Change {
    let (subject, what) = (record.subject.clone(), record.what.to_owned());
    Change { position, subject, seq: record.seq, at: record.at, what }
}

pub(super) fn record_index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}
