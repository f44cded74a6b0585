//! `GET /hacp/v1/events`: what happens to the tasks somebody sees, as server-sent events. It resumes
//! exactly behind `Last-Event-ID`, or `?after=`.

use std::collections::VecDeque;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use dialects::hacp::audit::AuditEvent;
use dialects::hacp::{HacpError, Stamped, Version, stream as told};
use kernel::audit::Record;
use kernel::{Actor, KeyId, ProjectId, Subject};
use serde_json::json;
use store::{Scope, StoreError};

use super::history::Trails;
use super::{Failure, version_of};
use crate::http::Shared;
use crate::http::sse::{self, HEARTBEAT, Source};
use crate::streams::{Held, Wire};
use crate::wake::{Topic, Waiter};

/// How often an idle stream shows that it lives.
const BEAT: Duration = Duration::from_secs(15);
/// How many records are read at once.
const BATCH: usize = 32;

pub(super) async fn stream(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Failure> {
    let version = version_of(&headers)?;
    let actor = app.hacp_actor(&headers).await?;
    let after = last_seen(&headers, &pairs)?;
    let feed = Feed::open(app, actor, version, after).await?;
    Ok(sse::respond(feed))
}

fn last_seen(headers: &HeaderMap, pairs: &[(String, String)]) -> Result<Option<u64>, HacpError> {
    let header = headers.get("last-event-id").filter(|value| !value.is_empty());
    let header = header.map(|value| ("Last-Event-ID", value.to_str().unwrap_or("?")));
    let query = pairs.iter().rfind(|(name, _)| name == "after");
    let query = query.map(|(_, value)| ("after", value.as_str()));
    let Some((field, text)) = header.or(query) else { return Ok(None) };
    let bad = || HacpError::field(field, "the id of an event: a whole number");
    text.parse().map(Some).map_err(|_| bad())
}

/// What happens to the tasks of some projects, from a position on.
pub(super) struct Feed {
    app: Shared,
    actor: Actor,
    key: Option<KeyId>,
    projects: Vec<ProjectId>,
    waiter: Waiter,
    trails: Trails,
    after: u64,
    records: VecDeque<(u64, Record)>,
    stale: bool,
    begun: bool,
    _held: Held,
}

impl Feed {
    pub(super) async fn open(
        app: Shared,
        actor: Actor,
        version: Version,
        after: Option<u64>,
    ) -> Result<Self, Failure> {
        let key = if let Actor::Agent { key, .. } = &actor { Some(*key) } else { None };
        let counted = match &actor {
            Actor::Human { id, .. } => Some(Subject::Human(id.clone())),
            _ => key.map(Subject::Key),
        };
        let held = app.streams.open(counted.clone(), Wire::Events)?;
        let projects = app.hacp_projects(&actor);
        let lists = projects.iter().cloned().map(Scope::Tasks).map(Topic::List);
        // Subscribe first, read afterwards: nothing that happens in between is missed.
        let waiter = app.gateway.wake().subscribe(lists.chain(counted.map(Topic::Subject)));
        let last = app.gateway.store().last_position().await?;
        let after = after.unwrap_or(last).min(last);
        Ok(Self {
            app,
            actor,
            key,
            projects,
            waiter,
            trails: Trails::new(version),
            after,
            records: VecDeque::new(),
            stale: true,
            begun: false,
            _held: held,
        })
    }

    /// Whether key and person are what they were.
    fn holds(&self) -> bool {
        let (directory, now) = (self.app.gateway.directory(), self.app.gateway.now());
        let live =
            self.key.is_none_or(|key| directory.key(key).is_some_and(|key| key.is_live(now)));
        let active = match &self.actor {
            Actor::Human { id, .. } => directory.human(id).is_some_and(|human| human.active),
            _ => true,
        };
        live && active
    }

    /// The next event with its place; nothing where none came for a while.
    pub(super) async fn turn(&mut self) -> Turn {
        loop {
            if let Some((position, record)) = self.records.pop_front() {
                if let Ok(event) = self.told(&record).await {
                    self.after = position;
                    if let Some(event) = event {
                        return Turn::Told(told::told(position, &event));
                    }
                    continue;
                }
                self.records.push_front((position, record));
                if self.paused().await {
                    return Turn::Over;
                }
            } else if self.stale {
                let store = self.app.gateway.store();
                match store.task_records(self.projects.clone(), self.after, BATCH).await {
                    Ok(more) => {
                        self.stale = more.len() == BATCH;
                        self.records = more.into();
                    }
                    Err(_) => {
                        if self.paused().await {
                            return Turn::Over;
                        }
                    }
                }
            } else {
                tokio::select! {
                    biased;
                    () = self.app.stop.cancelled() => return Turn::Over,
                    () = self.waiter.changed() => self.stale = true,
                    () = tokio::time::sleep(BEAT) => {
                        return if self.holds() { Turn::Idle } else { Turn::Over };
                    }
                }
                if !self.holds() {
                    return Turn::Over;
                }
            }
        }
    }

    /// What happened, if whoever listens sees the task.
    async fn told(&mut self, record: &Record) -> Result<Option<Stamped<AuditEvent>>, StoreError> {
        if !self.app.hacp_shows(&self.actor, record).await? {
            return Ok(None);
        }
        self.trails.tell(&self.app.gateway, record).await
    }

    /// A store that is away is waited for; whether the server stops meanwhile.
    async fn paused(&self) -> bool {
        tokio::select! {
            () = self.app.stop.cancelled() => true,
            () = tokio::time::sleep(Duration::from_secs(1)) => false,
        }
    }
}

/// Why a stream moves on.
pub(super) enum Turn {
    /// Something happened.
    Told(told::Told),
    /// Nothing did, for a while.
    Idle,
    /// The server stops, or the credential no longer holds.
    Over,
}

impl Source for Feed {
    async fn next(&mut self) -> Option<Bytes> {
        if !self.begun {
            self.begun = true;
            let ready = json!({ "position": self.after });
            return Some(sse::first(&sse::frame(self.after, "ready", &ready)));
        }
        match self.turn().await {
            Turn::Told(told) => {
                let id = told.id.parse().unwrap_or(self.after);
                Some(sse::frame(id, &told.event, &told.data))
            }
            Turn::Idle => Some(HEARTBEAT),
            Turn::Over => None,
        }
    }
}
