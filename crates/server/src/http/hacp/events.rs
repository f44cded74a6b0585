//! `GET /hacp/v1/events`: events of the tasks the caller sees, as server-sent events. The stream
//! resumes exactly after `Last-Event-ID` or `?after=`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use dialects::hacp::audit::AuditEvent;
use dialects::hacp::{HacpError, HacpVersion, Stamped, stream as told};
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use kernel::audit::Record;
use kernel::{Actor, ProjectId};
use serde_json::json;
use store::{ListScope, StoreError};
use tokio::time::Instant;

use super::history::TaskViewStates;
use super::{HacpFailure, version_of};
use crate::http::hacp::HacpOperations;
use crate::http::sse::{self, HEARTBEAT, SseSource};
use crate::http::stream_credential::StreamCredential;

/// The interval of heartbeats on an idle stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// The maximum of `max_seconds`.
const MAX_STREAM_SECONDS: f64 = 3600.0;
/// How many records are read at a time.
const BATCH: usize = 32;

pub(super) async fn stream(
    State(hacp): State<Arc<HacpOperations>>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, HacpFailure> {
    let version = version_of(&headers)?;
    let actor = hacp.callers.anyone(&headers).await?;
    let after = last_seen(&headers, &pairs)?;
    let ends = max_seconds(&pairs)?.map(|longest| Instant::now() + longest);
    let credential = StreamCredential::new(&hacp.callers, actor, &headers);
    let feed = TaskEventFeed::open(hacp, credential, version, after).await?;
    Ok(sse::respond(TaskEventFeed { ends, ..feed }))
}

/// `?max_seconds=`: after how many seconds the stream ends. Upstream's client sends it.
fn max_seconds(pairs: &[(String, String)]) -> Result<Option<Duration>, HacpError> {
    let field = "max_seconds";
    let Some((_, text)) = pairs.iter().rfind(|(name, _)| name == field) else { return Ok(None) };
    let expected = "a number of seconds greater than 0 and at most 3600";
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MAX_STREAM_SECONDS);
    let seconds = seconds.ok_or_else(|| HacpError::field(field, expected))?;
    Ok(Some(Duration::from_secs_f64(seconds)))
}

fn last_seen(headers: &HeaderMap, pairs: &[(String, String)]) -> Result<Option<u64>, HacpError> {
    let header = headers.get("last-event-id").filter(|value| !value.is_empty());
    let header = header.map(|value| ("Last-Event-ID", value.to_str().unwrap_or("?")));
    let query = pairs.iter().rfind(|(name, _)| name == "after");
    let query = query.map(|(_, value)| ("after", value.as_str()));
    let Some((field, text)) = header.or(query) else { return Ok(None) };
    let bad = || HacpError::field(field, "the ID of an event, which is a whole number");
    text.parse().map(Some).map_err(|_| bad())
}

/// Events of the tasks of some projects, from a position on.
pub(super) struct TaskEventFeed {
    hacp: Arc<HacpOperations>,
    credential: StreamCredential,
    projects: Vec<ProjectId>,
    waiter: Waiter,
    trails: TaskViewStates,
    after: u64,
    records: VecDeque<(u64, Record)>,
    stale: bool,
    begun: bool,
    /// When the stream ends because of `max_seconds`.
    ends: Option<Instant>,
    _held: OpenStream,
}

impl TaskEventFeed {
    pub(super) async fn open(
        hacp: Arc<HacpOperations>,
        credential: StreamCredential,
        version: HacpVersion,
        after: Option<u64>,
    ) -> Result<Self, HacpFailure> {
        let held = hacp.streaming.streams.open_for(
            &hacp.gateway,
            credential.stream_subject(),
            ConnectionKind::Events,
        )?;
        // Subscribe before reading, so that no event in between is missed.
        let projects = hacp.projects(&credential.actor).await?;
        let waiter = hacp.gateway.wake().subscribe(topics(&credential, &projects));
        let last = hacp.gateway.store().last_position().await?;
        let after = after.unwrap_or(last).min(last);
        Ok(Self {
            hacp,
            credential,
            projects,
            waiter,
            trails: TaskViewStates::new(version),
            after,
            records: VecDeque::new(),
            stale: true,
            begun: false,
            ends: None,
            _held: held,
        })
    }

    /// Updates the subscription to the projects the caller is in now, for an agent those of the
    /// tasks assigned to it. Events of projects the caller left are dropped. Returns whether the
    /// projects are unchanged.
    async fn follow(&mut self) -> Result<bool, StoreError> {
        let projects = self.hacp.projects(&self.credential.actor).await?;
        if projects == self.projects {
            return Ok(true);
        }
        self.waiter = self.hacp.gateway.wake().subscribe(topics(&self.credential, &projects));
        self.projects = projects;
        self.records.clear();
        self.stale = true;
        Ok(false)
    }

    /// Reads the next records. If the caller's projects changed meanwhile, the records are
    /// incomplete and are dropped.
    async fn read(&mut self) -> Result<(), StoreError> {
        let store = self.hacp.gateway.store();
        let more = store
            .records(store::FeedQuery::Tasks(self.projects.clone(), self.after), BATCH)
            .await?;
        if self.follow().await? {
            self.stale = more.len() == BATCH;
            self.records = more.into();
        }
        Ok(())
    }

    /// The next event with its position, or `Idle` if none came for a while. The call is
    /// cancel-safe: dropping it loses no event.
    pub(super) async fn turn(&mut self) -> FeedTurn {
        loop {
            if !self.credential.holds(&self.hacp.gateway) {
                return FeedTurn::Revoked;
            }
            if self.can_leave_project() && self.follow().await.is_err() && self.pause().await {
                return FeedTurn::Stopped;
            }
            if let Some((position, record)) = self.records.front().cloned() {
                if let Ok(event) = self.visible_event(&record).await {
                    self.after = position;
                    self.records.pop_front();
                    if let Some(event) = event {
                        return FeedTurn::Told(told::event_at(position, &event));
                    }
                } else if self.pause().await {
                    return FeedTurn::Stopped;
                }
            } else if self.stale {
                if self.read().await.is_err() && self.pause().await {
                    return FeedTurn::Stopped;
                }
            } else {
                tokio::select! {
                    biased;
                    () = self.hacp.streaming.stop.cancelled() => return FeedTurn::Stopped,
                    () = self.waiter.changed() => self.stale = true,
                    () = tokio::time::sleep(HEARTBEAT_INTERVAL) => {
                        let holds = self.credential.still_holds(&self.hacp.gateway, &self.hacp.callers).await;
                        return if holds { FeedTurn::Idle } else { FeedTurn::Revoked };
                    }
                }
            }
        }
    }

    /// Whether the caller can leave a project. People can; an agent keeps the tasks it was given.
    fn can_leave_project(&self) -> bool {
        matches!(self.credential.actor, Actor::Human { .. })
    }

    /// The event of a record, if the caller sees its task.
    async fn visible_event(
        &mut self,
        record: &Record,
    ) -> Result<Option<Stamped<AuditEvent>>, StoreError> {
        if !self.hacp.sees_event(&self.credential.actor, record).await? {
            return Ok(None);
        }
        self.trails.view_event(&self.hacp.gateway, record).await
    }

    /// Waits before the store is read again. Returns whether the server stops.
    async fn pause(&self) -> bool {
        tokio::select! {
            () = self.hacp.streaming.stop.cancelled() => true,
            () = tokio::time::sleep(Duration::from_secs(1)) => false,
        }
    }
}

/// The outcome of one turn of the stream.
pub(super) enum FeedTurn {
    /// An event to send.
    Told(told::HacpEvent),
    /// No event came for a while.
    Idle,
    Stopped,
    /// The credential is no longer valid.
    Revoked,
}

/// The topics that wake the stream: events of the tasks, and changes of the credential.
fn topics(
    credential: &StreamCredential,
    projects: &[ProjectId],
) -> impl Iterator<Item = WakeTopic> {
    // A task in a project that is new to an agent comes with an event for the agent's runtime.
    let runtime = match &credential.actor {
        Actor::Agent { id, .. } => Some(ListScope::Runtime(id.clone())),
        Actor::Human { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => None,
    };
    let lists = projects.iter().cloned().map(ListScope::Tasks).chain(runtime).map(WakeTopic::List);
    lists.chain(credential.topics())
}

impl SseSource for TaskEventFeed {
    async fn next(&mut self) -> Option<Bytes> {
        if !self.begun {
            self.begun = true;
            let ready = json!({ "position": self.after });
            return Some(sse::first(&sse::frame(self.after, "ready", &ready)));
        }
        let turn = match self.ends {
            // `turn` is cancel-safe.
            Some(at) => tokio::time::timeout_at(at, self.turn()).await.unwrap_or(FeedTurn::Stopped),
            None => self.turn().await,
        };
        match turn {
            FeedTurn::Told(told) => {
                let id = told.id.parse().unwrap_or(self.after);
                Some(sse::frame(id, &told.event, &told.data))
            }
            FeedTurn::Idle => Some(HEARTBEAT),
            FeedTurn::Stopped | FeedTurn::Revoked => None,
        }
    }
}
