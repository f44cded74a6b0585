//! `audit.query` and `audit.replay`: the events of tasks, read from the audit log.
//!
//! The view of an event depends on the task before it, and from 0.2 on contains the hash of the
//! event before it. So the earlier events have to be processed once. They are read in batches and
//! not kept. A caller that reads page after page continues from the state at the end of the last
//! page.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use dialects::hacp::audit::{AuditEvent, TaskReplayer, replay_at};
use dialects::hacp::read::{AuditQuery, ReplayParams};
use dialects::hacp::{AuditAction, HacpError, HacpVersion, OperationParams, Stamped, actor_name};
use gateway::Gateway;
use kernel::audit::Record;
use kernel::{Actor, Subject, TaskId, Time};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use store::StoreError;

use super::HacpFailure;
use super::queries::{bad_cursor, limit};
use crate::http::hacp::HacpOperations;

/// How many records are read at a time.
const BATCH: usize = 256;
/// The maximum number of records one query over all tasks examines, and the default number of
/// events for one task.
const MAX_RECORDS_EXAMINED: usize = 1000;
/// The number of tasks whose state is kept.
const REMEMBERED: usize = 64;
/// The number of page ends that are kept.
const PAGES: usize = 16;

/// Events as JSON text, and the cursor of the next page. As a tree of values a long history would
/// take several times the memory.
pub(super) struct EventPage {
    pub(super) text: Box<RawValue>,
    pub(super) next: Option<String>,
}

impl HacpOperations {
    pub(super) async fn history(
        &self,
        actor: &Actor,
        version: HacpVersion,
        params: OperationParams,
    ) -> Result<EventPage, HacpFailure> {
        match params {
            OperationParams::Replay(ReplayParams { task, at }) => {
                self.task(actor, task).await?;
                self.replay(task, at, version).await
            }
            OperationParams::Audit(query) => {
                let after = parse_position(query.page.cursor.as_deref())?;
                let page = PageEnd { version, task: query.task, after };
                match query.task {
                    Some(task) => {
                        self.task(actor, task).await?;
                        self.task_events(task, page, &query).await
                    }
                    None => self.all_events(actor, page, &query).await,
                }
            }
            _ => Err(HacpError::internal().into()),
        }
    }

    async fn replay(
        &self,
        task: TaskId,
        at: Option<Time>,
        version: HacpVersion,
    ) -> Result<EventPage, HacpFailure> {
        let (mut trail, mut events) = (TaskReplayer::new(version), EventArray::default());
        let mut chain = self.gateway.task_history(task, 0);
        let is_then = |record: &Record| at.is_none_or(|at| record.at <= at);
        while let Some(record) = chain.next().await?.filter(is_then) {
            let told = trail.replay(&record).map_err(|error| view_error(task, &error))?;
            events.add(&told)?;
        }
        let events = events.text()?;
        let text = match at {
            Some(at) => serialize_event(&version.stamped(replay_at(events, &trail, at)))?,
            None => events,
        };
        Ok(EventPage { text, next: None })
    }

    async fn task_events(
        &self,
        task: TaskId,
        page: PageEnd,
        query: &AuditQuery,
    ) -> Result<EventPage, HacpFailure> {
        let most = limit(query.page.limit.or(Some(MAX_RECORDS_EXAMINED as u64)));
        let mut trails = self.page_ends.take(page);
        let mut events = EventArray::default();
        let mut chain = self.gateway.task_history(task, page.after);
        while events.many < most
            && let Some(record) = chain.next().await?
        {
            let told = trails.view_event(&self.gateway, &record).await?;
            let told = told.ok_or_else(HacpError::internal)?;
            if matches_query(&told, query) {
                events.add(&told)?;
                events.last = record.seq;
            }
        }
        let next = (events.many == most).then_some(events.last);
        self.page(page, next, events, trails)
    }

    /// Events of all tasks the caller sees. Reads until the page is full or
    /// [`MAX_RECORDS_EXAMINED`] records were examined: with a rare filter a page may be short and
    /// still have a next page.
    async fn all_events(
        &self,
        actor: &Actor,
        page: PageEnd,
        query: &AuditQuery,
    ) -> Result<EventPage, HacpFailure> {
        let most = limit(query.page.limit).min(MAX_RECORDS_EXAMINED);
        let projects = self.projects(actor).await?;
        let mut trails = self.page_ends.take(page);
        let mut events = EventArray::default();
        let (mut after, mut left) = (page.after, MAX_RECORDS_EXAMINED);
        while left > 0 {
            let wanted = most.min(left);
            let store = self.gateway.store();
            let records =
                store.records(store::FeedQuery::Tasks(projects.clone(), after), wanted).await?;
            for (position, record) in &records {
                after = *position;
                if !self.sees_event(actor, record).await? {
                    continue;
                }
                let told = trails.view_event(&self.gateway, record).await?;
                if let Some(told) = told.filter(|told| matches_query(told, query)) {
                    events.add(&told)?;
                    if events.many == most {
                        return self.page(page, Some(after), events, trails);
                    }
                }
            }
            if records.len() < wanted {
                return self.page(page, None, events, trails);
            }
            left -= records.len();
        }
        self.page(page, Some(after), events, trails)
    }

    fn page(
        &self,
        page: PageEnd,
        next: Option<u64>,
        events: EventArray,
        trails: TaskViewStates,
    ) -> Result<EventPage, HacpFailure> {
        if let Some(after) = next {
            self.page_ends.keep(PageEnd { after, ..page }, trails);
        }
        Ok(EventPage { text: events.text()?, next: next.map(|next| next.to_string()) })
    }
}

/// Whether an event matches the filters of a query.
fn matches_query(event: &Stamped<AuditEvent>, query: &AuditQuery) -> bool {
    query.actor.as_ref().is_none_or(|by| event.object.actor == actor_name(by))
        && query.action.map(AuditAction::name).is_none_or(|action| event.object.action == action)
}

fn parse_position(cursor: Option<&str>) -> Result<u64, HacpError> {
    cursor.map_or(Ok(0), |cursor| cursor.parse().map_err(|_| bad_cursor()))
}

fn view_error(task: TaskId, error: &dyn std::error::Error) -> HacpError {
    tracing::error!(error = %error, %task, "cannot read the history of a task");
    HacpError::internal()
}

fn serialize_error(error: &serde_json::Error) -> HacpError {
    tracing::error!(%error, "cannot serialize the history of a task");
    HacpError::internal()
}

fn serialize_event<T: Serialize>(value: &T) -> Result<Box<RawValue>, HacpError> {
    to_raw_value(value).map_err(|error| serialize_error(&error))
}

/// Events as a JSON array, each serialised when it is added.
#[derive(Default)]
struct EventArray {
    text: Vec<u8>,
    many: usize,
    last: u64,
}

impl EventArray {
    fn add(&mut self, event: &Stamped<AuditEvent>) -> Result<(), HacpError> {
        self.text.push(if self.many == 0 { b'[' } else { b',' });
        self.many += 1;
        serde_json::to_writer(&mut self.text, event).map_err(|error| serialize_error(&error))
    }

    fn text(mut self) -> Result<Box<RawValue>, HacpError> {
        if self.many == 0 {
            self.text.push(b'[');
        }
        self.text.push(b']');
        // JSON is UTF-8.
        let text = String::from_utf8(self.text).unwrap_or_default();
        RawValue::from_string(text).map_err(|error| serialize_error(&error))
    }
}

/// Where a page of a history ended, of one task or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageEnd {
    version: HacpVersion,
    task: Option<TaskId>,
    after: u64,
}

/// The ends of the pages read last, oldest first. The state at a page end depends on the records
/// alone, so any caller can continue from it. Permissions are checked before.
#[derive(Default)]
pub struct PageEnds(Mutex<VecDeque<(PageEnd, TaskViewStates)>>);

impl PageEnds {
    /// The state at the end of a page; a new one if it is not kept.
    fn take(&self, page: PageEnd) -> TaskViewStates {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = ends.iter().position(|(end, _)| *end == page);
        let found = found.and_then(|place| ends.remove(place));
        found.map_or_else(|| TaskViewStates::new(page.version), |(_, trails)| trails)
    }

    fn keep(&self, page: PageEnd, trails: TaskViewStates) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.retain(|(end, _)| *end != page);
        if ends.len() == PAGES {
            ends.pop_front();
        }
        ends.push_back((page, trails));
    }
}

/// The state of several tasks, from which the view of the next event of each is built.
pub(super) struct TaskViewStates {
    version: HacpVersion,
    known: HashMap<TaskId, TaskViewState>,
    /// Counts the lookups, to find the task that was used least recently.
    told: u64,
}

/// The state of one task.
struct TaskViewState {
    trail: TaskReplayer,
    /// The last event that was processed.
    seq: u64,
    /// The value of the counter at the last lookup.
    told: u64,
}

impl TaskViewStates {
    pub(super) fn new(version: HacpVersion) -> Self {
        Self { version, known: HashMap::new(), told: 0 }
    }

    /// The view of a record of any task; `None` if it cannot be built. The call is cancel-safe.
    pub(super) async fn view_event(
        &mut self,
        gateway: &Gateway,
        record: &Record,
    ) -> Result<Option<Stamped<AuditEvent>>, StoreError> {
        let Subject::Task(id) = record.subject else { return Ok(None) };
        loop {
            // The state stays in the map during the read, so cancelling the call does not lose it.
            let known = self.state_before(id, record.seq);
            let missing = record.seq.saturating_sub(known.seq + 1);
            if missing == 0 {
                break;
            }
            let most = usize::try_from(missing).map_or(BATCH, |missing| missing.min(BATCH));
            let earlier = gateway.store().chain(Subject::Task(id), known.seq, most).await?;
            if earlier.is_empty() {
                view_error(id, &MissingEvent);
                return Ok(None);
            }
            if !self.apply_records(id, &earlier) {
                return Ok(None);
            }
        }
        let known = self.state_before(id, record.seq);
        match known.trail.replay(record) {
            Ok(told) => {
                known.seq = record.seq;
                Ok(Some(told))
            }
            Err(error) => {
                self.known.remove(&id);
                view_error(id, &error);
                Ok(None)
            }
        }
    }

    /// The state of a task before its `seq`-th event. Starts from the first event if there is no
    /// state or it is already past `seq`.
    fn state_before(&mut self, id: TaskId, seq: u64) -> &mut TaskViewState {
        if !self.known.contains_key(&id) && self.known.len() == REMEMBERED {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.told).map(|(id, _)| *id);
            oldest.and_then(|oldest| self.known.remove(&oldest));
        }
        self.told += 1;
        let (version, told) = (self.version, self.told);
        let new = || TaskViewState { trail: TaskReplayer::new(version), seq: 0, told };
        let known = self.known.entry(id).or_insert_with(new);
        if known.seq >= seq {
            *known = new();
        }
        known.told = told;
        known
    }

    /// Processes earlier records. Returns whether that succeeded.
    fn apply_records(&mut self, id: TaskId, earlier: &[Record]) -> bool {
        for record in earlier {
            let known = self.state_before(id, record.seq);
            if let Err(error) = known.trail.advance(record) {
                self.known.remove(&id);
                view_error(id, &error);
                return false;
            }
            known.seq = record.seq;
        }
        true
    }
}

/// A chain that has a later event but not an earlier one.
#[derive(Debug, thiserror::Error)]
#[error("a previous event is missing")]
struct MissingEvent;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;
    use kernel::task::{GrantDecision, GrantDuration, NewGrant, NewTask, TaskCommand};
    use kernel::{AnswerInterface, Assurance, Command};
    use store::Clock;
    use store::sqlite::Sqlite;

    use super::*;
    use gateway::bootstrap;
    use gateway::clock::OsClock;

    /// HACP-084: a WebSocket stops waiting for the next event whenever a call comes in. The state
    /// is kept, and the event is sent when it is requested again.
    #[tokio::test]
    async fn whoever_gives_up_waiting_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(OsClock);
        let sqlite = Sqlite::open(&folder.path().join("store.db"), Arc::clone(&clock)).unwrap();
        let gateway = Gateway::new(Arc::new(sqlite), clock);
        bootstrap::create_dev_directory(&gateway).await.unwrap();
        let id = "user_dev".parse().unwrap();
        let person = Actor::Human { id, via: AnswerInterface::Api, assurance: Assurance::Session };
        let run = |command| gateway.run(person.clone(), Command::Task(Box::new(command)));
        let new = Box::new(NewTask::new("x", "y"));
        let task = run(TaskCommand::Create(new)).await.unwrap().task.unwrap().id;
        for n in 0..5 {
            let (scope, until) = (format!("fs:/repo/{n}"), GrantDuration::Task);
            let grant = NewGrant { scope, decision: GrantDecision::Allow, until };
            run(TaskCommand::Grant(task, grant)).await.unwrap();
        }
        let records = gateway.store().chain(Subject::Task(task), 0, 10).await.unwrap();
        let mut trails = TaskViewStates::new(HacpVersion::V02);
        let mut whole = Vec::new();
        for record in &records {
            whole.push(trails.view_event(&gateway, record).await.unwrap().unwrap());
        }

        let last = &records[5];
        // Occasionally the store answers before the call is cancelled.
        for _ in 0..1000 {
            trails = TaskViewStates::new(HacpVersion::V02);
            let told = trails.view_event(&gateway, &records[1]).await.unwrap();
            assert_eq!(told.as_ref(), Some(&whole[1]));
            if trails.view_event(&gateway, last).now_or_never().is_none() {
                break;
            }
        }
        assert_eq!(trails.known[&task].seq, 2, "what was told before is still known");
        assert_eq!(trails.view_event(&gateway, last).await.unwrap().as_ref(), Some(&whole[5]));
        // Going back to an earlier event also returns the same view.
        assert_eq!(
            trails.view_event(&gateway, &records[0]).await.unwrap().as_ref(),
            Some(&whole[0])
        );
    }
}
