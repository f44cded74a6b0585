//! `audit.query` and `audit.replay`: what happened, told from the record.

use std::collections::HashMap;

use dialects::hacp::audit::{AuditEvent, Trail, replay, replayed};
use dialects::hacp::read::{AuditQuery, Replayed};
use dialects::hacp::{AuditAction, HacpError, Params, Stamped, Version, actor_name};
use kernel::audit::Record;
use kernel::{Actor, Subject, TaskId};
use serde_json::json;
use store::StoreError;

use super::Failure;
use super::act::stamped;
use super::look::{bad_cursor, limit};
use super::ops::Shown;
use crate::gateway::Gateway;
use crate::http::App;

/// How many records are read at once.
const BATCH: usize = 1000;
/// How many tasks a stream remembers the end of.
const REMEMBERED: usize = 64;

impl App {
    pub(super) async fn hacp_history(
        &self,
        actor: &Actor,
        version: Version,
        params: Params,
    ) -> Result<Shown, Failure> {
        match params {
            Params::Replay(Replayed { task, at }) => {
                self.hacp_task(actor, task).await?;
                let records = self.gateway.records_of(task).await?;
                let (events, trail) =
                    replay(&records, at, version).map_err(|error| untold(task, &error))?;
                Ok(match at {
                    Some(at) => stamped(replayed(events, &trail, at), version).into(),
                    None => json!(events).into(),
                })
            }
            Params::Audit(query) => match query.task {
                Some(task) => self.of_task(actor, task, version, query).await,
                None => self.of_all(actor, version, query).await,
            },
            _ => Err(HacpError::internal().into()),
        }
    }

    async fn of_task(
        &self,
        actor: &Actor,
        task: TaskId,
        version: Version,
        query: AuditQuery,
    ) -> Result<Shown, Failure> {
        self.hacp_task(actor, task).await?;
        let after = place(query.page.cursor.as_deref())?;
        let records = self.gateway.records_of(task).await?;
        let (events, _) = replay(&records, None, version).map_err(|error| untold(task, &error))?;
        let wanted = events.iter().filter(|event| event.object.seq > after && is_in(event, &query));
        let most = limit(query.page.limit.or(Some(BATCH as u64)));
        let shown: Vec<_> = wanted.take(most).collect();
        let next = shown.last().filter(|_| shown.len() == most);
        let next = next.map(|event| event.object.seq.to_string());
        Ok(Shown { value: json!(shown), next })
    }

    /// Over all tasks somebody sees: one stretch of the record at a time, so that no call reads
    /// without end.
    async fn of_all(
        &self,
        actor: &Actor,
        version: Version,
        query: AuditQuery,
    ) -> Result<Shown, Failure> {
        let after = place(query.page.cursor.as_deref())?;
        let most = limit(query.page.limit).min(BATCH);
        let projects = self.hacp_projects(actor);
        let records = self.gateway.store().task_records(projects, after, most).await?;
        let next = records.last().filter(|_| records.len() == most);
        let next = next.map(|(position, _)| position.to_string());
        let mut trails = Trails::new(version);
        let mut shown = Vec::new();
        for (_, record) in &records {
            if !self.hacp_shows(actor, record).await? {
                continue;
            }
            let event = trails.tell(&self.gateway, record).await?;
            shown.extend(event.filter(|event| is_in(event, &query)));
        }
        Ok(Shown { value: json!(shown), next })
    }
}

/// Whether somebody wants to know of an event.
fn is_in(event: &Stamped<AuditEvent>, query: &AuditQuery) -> bool {
    query.actor.as_ref().is_none_or(|by| event.object.actor == actor_name(by))
        && query.action.map(AuditAction::name).is_none_or(|action| event.object.action == action)
}

fn place(cursor: Option<&str>) -> Result<u64, HacpError> {
    cursor.map_or(Ok(0), |cursor| cursor.parse().map_err(|_| bad_cursor()))
}

fn untold(task: TaskId, error: &dyn std::error::Error) -> HacpError {
    tracing::error!(error = %error, %task, "the record of a task cannot be told");
    HacpError::internal()
}

impl Gateway {
    /// All records of a task, in order.
    pub(crate) async fn records_of(&self, task: TaskId) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map_or(0, |record| record.seq);
            let more = self.store().records(Subject::Task(task), after, BATCH).await?;
            let whole = more.len() < BATCH;
            records.extend(more);
            if whole {
                return Ok(records);
            }
        }
    }
}

/// What was told of several tasks, so that the next event of each can be told.
pub(super) struct Trails {
    version: Version,
    known: HashMap<TaskId, (u64, Trail)>,
}

impl Trails {
    pub(super) fn new(version: Version) -> Self {
        Self { version, known: HashMap::new() }
    }

    /// Tells a record of any task; nothing, if it cannot be.
    pub(super) async fn tell(
        &mut self,
        gateway: &Gateway,
        record: &Record,
    ) -> Result<Option<Stamped<AuditEvent>>, StoreError> {
        let Subject::Task(id) = record.subject else { return Ok(None) };
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        let (mut seq, mut trail) =
            self.known.remove(&id).unwrap_or_else(|| (0, Trail::new(self.version)));
        if seq + 1 < record.seq {
            for earlier in gateway.records_of(id).await? {
                if earlier.seq > seq && earlier.seq < record.seq {
                    if let Err(error) = trail.tell(&earlier) {
                        tracing::error!(%error, task = %id, "the record of a task cannot be told");
                        return Ok(None);
                    }
                    seq = earlier.seq;
                }
            }
        }
        match trail.tell(record) {
            Ok(told) => {
                self.known.insert(id, (record.seq, trail));
                Ok(Some(told))
            }
            Err(error) => {
                tracing::error!(%error, task = %id, "the record of a task cannot be told");
                Ok(None)
            }
        }
    }
}
