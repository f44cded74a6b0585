//! The page of one task: `GET /tasks/{id}`, also as it was at a moment (`?at=`); its artifacts as
//! files; and the stream that notifies an open page of a change.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use gateway::files::FileReadError;
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use gateway::{DATABASE_USER, Gateway};
use jiff::tz::TimeZone;
use kernel::directory::profile_settings::ProfileSettings;
use kernel::task::{Version, VersionRef};
use kernel::{ArtifactId, Ask, Subject, Task, TaskId, Time};
use serde::{Deserialize, Serialize};
use store::StoreError;
use tokio_util::sync::CancellationToken;
use views::request::timeline::TimelineEntry;
use views::site::paths;
use views::tasks::actions::parse_local_time;
use views::tasks::room::{self, TaskActionResult, TaskContext, TaskRoomPage};
use views::tasks::timeline::MAX_EVENTS;
use views::tasks::versions::{
    MAX_VERSION_BYTES, ShownVersion, TaskDeliveries, VersionContent, image_media_type,
    parse_version,
};
use views::{SubmittedForm, message_page, t};

use crate::http::pages::tasks::TaskPages;
use crate::http::pages::visitor::Visitors;
use crate::http::pages::{PageError, PageResult, Visitor, html, page};
use crate::http::services::Streaming;
use crate::http::sse::{self, HEARTBEAT, SseSource};
use crate::http::stream_credential::StreamCredential;

/// The most artifacts that are listed one by one.
const ARTIFACTS: usize = 20;
/// The number of bytes that are read to detect an image.
const SNIFFED: u64 = 16;
/// The content security policy of artifacts: they can be displayed, and nothing in them runs.
const POLICY: &str = "default-src 'none'; sandbox";
/// The interval of heartbeats on an idle stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// The first bytes of a stream, so that the browser learns at once that it is connected.
const BEGIN: Bytes = Bytes::from_static(b": watching\nretry: 5000\n\n");
/// The delay before a failed read of the store is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RoomQuery {
    /// Shows the task as it was: after an event, by its number, or at a moment.
    at: Option<String>,
    /// Shows the timeline before this event.
    before: Option<u64>,
    /// Compares two versions side by side.
    older: Option<String>,
    newer: Option<String>,
}

/// The parts of the page besides the task itself.
#[derive(Default)]
struct RoomPageState<'a> {
    /// The number of the last event, if the task is shown as it was.
    last: Option<u64>,
    status: StatusCode,
    /// The result of a form.
    told: Option<&'a TaskActionResult>,
    /// The name and the input of a refused form.
    draft: Option<(&'a str, &'a SubmittedForm)>,
}

/// `GET /tasks/{id}`
pub(super) async fn show(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    Query(visit): Query<RoomQuery>,
    visitor: Visitor,
) -> PageResult {
    let task = task_pages.visible_task(&visitor, &id).await?;
    let Some(at) = visit.at.as_deref().map(str::trim).filter(|at| !at.is_empty()) else {
        return task_pages.room_with(&visitor, &task, &visit, RoomPageState::default()).await;
    };
    let then = if let Ok(seq) = at.parse::<u64>() {
        task_pages.gateway.task_at(task.id, |record| record.seq <= seq).await?
    } else {
        let zone = visitor.human.profile_settings().map_or(TimeZone::UTC, ProfileSettings::zone);
        match at.parse::<Time>().ok().or_else(|| parse_local_time(at, &zone)) {
            Some(at) => task_pages.gateway.task_at(task.id, |record| record.at <= at).await?,
            None => None,
        }
    };
    let Some(then) = then else {
        let told = TaskActionResult::Wrong(t!("task-no-earlier-state"));
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let shown = RoomPageState { status, told: Some(&told), ..RoomPageState::default() };
        return task_pages.room_with(&visitor, &task, &visit, shown).await;
    };
    let shown = RoomPageState { last: Some(task.head.seq), ..RoomPageState::default() };
    task_pages.room_with(&visitor, &then, &visit, shown).await
}

/// A browser that reloads the address of a form gets the page again.
pub(super) async fn back(Path(id): Path<String>) -> Response {
    match id.parse::<TaskId>() {
        Ok(id) => Redirect::to(&paths::task(id)).into_response(),
        Err(_) => Redirect::to(paths::TASKS).into_response(),
    }
}

/// The query is optional, so that authentication comes before its validation.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct VersionQuery {
    artifact: String,
    version: String,
}

/// `GET /tasks/{id}/version`: a version of an artifact as a file; an image can be displayed.
pub(super) async fn version(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    Query(which): Query<VersionQuery>,
    visitor: Visitor,
) -> PageResult {
    let task = task_pages.visible_task(&visitor, &id).await?;
    let missing = || page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame));
    let of = parse_version(&task, &format!("{}:{}", which.artifact, which.version))
        .ok_or_else(missing)?;
    let artifact = task_pages.gateway.store().artifact(of.id).await?.ok_or_else(missing)?;
    let found = artifact.version(Some(&of.version)).ok_or_else(missing)?;
    let held = found.payload.bytes().ok_or_else(missing)?;
    let unread = |error: anyhow::Error| {
        tracing::error!(error = format!("{error:#}"), %task.id, "cannot read an artifact");
        if FileReadError::from(&error) == FileReadError::Away {
            return page(
                StatusCode::SERVICE_UNAVAILABLE,
                message_page::unavailable(&visitor.frame),
            );
        }
        let shown = message_page::server_error(&visitor.frame, &t!("task-version-error"));
        page(StatusCode::INTERNAL_SERVER_ERROR, shown)
    };
    let kind = image_media_type(&task_pages.blobs.first(&held, SNIFFED).await.map_err(unread)?);
    let blob = task_pages.blobs.open(&held).await.map_err(unread)?;
    Ok(as_file(&of, kind, held.size, Body::from_stream(blob.read(0..held.size))))
}

/// Content of an agent, sent so that browsers execute nothing in it.
fn as_file(of: &VersionRef, kind: Option<&'static str>, size: u64, body: Body) -> Response {
    let name: String =
        of.version.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let how = if kind.is_some() { "inline" } else { "attachment" };
    let headers = [
        (header::CONTENT_TYPE, kind.unwrap_or("application/octet-stream").to_owned()),
        (header::CONTENT_DISPOSITION, format!("{how}; filename=\"{}-{name}\"", of.id)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
    ];
    (headers, body).into_response()
}

impl TaskPages {
    /// A task that the visitor may see. For anyone else it does not exist.
    pub(super) async fn visible_task(
        &self,
        visitor: &Visitor,
        id: &str,
    ) -> Result<Task, PageError> {
        let missing = || page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame));
        let id: TaskId = id.parse().map_err(|_| missing())?;
        let directory = self.gateway.directory();
        let found = self.gateway.store().task(id).await?;
        found.filter(|task| task.is_visible_to(&visitor.actor, &directory)).ok_or_else(missing)
    }

    /// The page of the task as it is now.
    pub(super) async fn room(
        &self,
        visitor: &Visitor,
        task: &Task,
        status: StatusCode,
        told: Option<&TaskActionResult>,
        draft: Option<(&str, &SubmittedForm)>,
    ) -> PageResult {
        let shown = RoomPageState { status, told, draft, ..RoomPageState::default() };
        self.room_with(visitor, task, &RoomQuery::default(), shown).await
    }

    async fn room_with(
        &self,
        visitor: &Visitor,
        task: &Task,
        visit: &RoomQuery,
        shown: RoomPageState<'_>,
    ) -> PageResult {
        let RoomPageState { last, status, told, draft } = shown;
        let around = self.related(visitor, task, last, visit).await?;
        let directory = self.gateway.directory();
        let once = self.gateway.ids().ulid().to_string();
        let room = TaskRoomPage {
            task,
            me: &visitor.human,
            directory: &directory,
            around: &around,
            told,
            draft,
            once: &once,
        };
        Ok(html(status, room::page(&visitor.frame, &room)))
    }

    /// Everything related to a task. Every read is bounded.
    async fn related(
        &self,
        visitor: &Visitor,
        task: &Task,
        last: Option<u64>,
        visit: &RoomQuery,
    ) -> Result<TaskContext, StoreError> {
        let directory = self.gateway.directory();
        let mut asks: Vec<Ask> = Vec::new();
        for id in room::decisions(task) {
            let ask = self.gateway.ask(id).await?;
            let shown = ask.filter(|ask| ask.is_visible_to(&visitor.actor, &directory));
            asks.extend(shown.as_deref().cloned());
        }
        let parent = match task.parent {
            Some(id) => self.gateway.store().task(id).await?,
            None => None,
        };
        let end = last.unwrap_or(task.head.seq);
        // For a past state, the timeline is centred on that moment.
        let middle = last.map(|_| task.head.seq + (MAX_EVENTS as u64) / 2);
        let end = visit.before.or(middle).map_or(end, |before| before.saturating_sub(1).min(end));
        let start = end.saturating_sub(MAX_EVENTS as u64);
        Ok(TaskContext {
            asks,
            deliveries: self.deliveries(task, visit).await?,
            trail: self.timeline(task.id, start, end).await?,
            earlier: (start > 0).then_some(start + 1),
            parent: parent.filter(|parent| parent.is_visible_to(&visitor.actor, &directory)),
            last,
        })
    }

    /// The events after `start`, up to `end`.
    async fn timeline(
        &self,
        id: TaskId,
        start: u64,
        end: u64,
    ) -> Result<Vec<TimelineEntry>, StoreError> {
        let most = usize::try_from(end.saturating_sub(start)).unwrap_or(MAX_EVENTS).min(MAX_EVENTS);
        let records = self.gateway.store().chain(Subject::Task(id), start, most).await?;
        let entry = |record: kernel::audit::Record| {
            let damaged = |source| StoreError::Damaged {
                what: format!("event {} of {id}", record.seq),
                source: Box::new(source),
            };
            let hash = record.hash;
            Ok(TimelineEntry { event: record.event().map_err(damaged)?, hash, block: None })
        };
        records.into_iter().map(entry).collect()
    }

    /// The artifacts of a task, and the versions to display: those that were selected, or the
    /// newest beside its predecessor.
    async fn deliveries(
        &self,
        task: &Task,
        visit: &RoomQuery,
    ) -> Result<TaskDeliveries, StoreError> {
        let mut ids: Vec<ArtifactId> = Vec::new();
        for of in task.delivered.iter().rev() {
            if !ids.contains(&of.id) && ids.len() < ARTIFACTS {
                ids.push(of.id);
            }
        }
        let mut found = TaskDeliveries::default();
        for id in ids {
            found.artifacts.extend(self.gateway.store().artifact(id).await?);
        }
        let picked =
            |value: &Option<String>| value.as_deref().and_then(|text| parse_version(task, text));
        let newer = picked(&visit.newer).or_else(|| task.delivered.last().cloned());
        let Some(newer) = newer else { return Ok(found) };
        let parent = found.find(&newer).and_then(|(_, version)| version.parent.clone());
        let parent = parent.map(|version| VersionRef { id: newer.id, version });
        let older = match visit.older.as_deref() {
            Some("none") => None,
            Some(_) => picked(&visit.older),
            None => parent.filter(|of| task.delivered.contains(of)),
        };
        let older = older.filter(|of| *of != newer);
        found.older = match older {
            Some(of) => Some(self.opened(&found, of).await),
            None => None,
        };
        found.newer = Some(self.opened(&found, newer).await);
        Ok(found)
    }

    async fn opened(&self, found: &TaskDeliveries, of: VersionRef) -> ShownVersion {
        let content = match found.find(&of) {
            Some((_, version)) => self.content(version).await,
            None => VersionContent::Missing,
        };
        ShownVersion { of, content }
    }

    /// The displayed part of a version: the beginning of the stored content.
    async fn content(&self, version: &Version) -> VersionContent {
        let payload = &version.payload;
        let Some(held) = payload.bytes() else { return VersionContent::Elsewhere };
        match self.blobs.first(&held, MAX_VERSION_BYTES as u64).await {
            Ok(first) => VersionContent::of(&first, first.len() as u64 == held.size),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "cannot read an artifact");
                match FileReadError::from(&error) {
                    FileReadError::Away => VersionContent::Away,
                    FileReadError::Damaged => VersionContent::Missing,
                }
            }
        }
    }
}

#[derive(Deserialize)]
pub(super) struct SeenQuery {
    seen: Option<u64>,
}

/// `GET /tasks/{id}/live`: notifies an open page once that its task has changed.
pub(super) async fn live(
    State(visitors): State<Arc<Visitors>>,
    State(task_pages): State<Arc<TaskPages>>,
    State(streaming): State<Streaming>,
    Path(id): Path<String>,
    Query(SeenQuery { seen }): Query<SeenQuery>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let visitor = visitors.visitor(&headers).await.map_err(|_| StatusCode::UNAUTHORIZED)?;
    let id: TaskId = id.parse().map_err(|_| StatusCode::NOT_FOUND)?;
    let credential = StreamCredential::of_session(visitor.actor.clone(), visitor.session);
    // The task is read after the subscription, so that a change in between is not missed.
    let own = WakeTopic::Subject(Subject::Task(id));
    let waiter = task_pages.gateway.wake().subscribe(credential.topics().chain([own]));
    let task = task_pages.visible_task(&visitor, &id.to_string()).await;
    let task = task.map_err(|_| StatusCode::NOT_FOUND)?;
    let who = Some(Subject::Human(visitor.human.id));
    let held = streaming.watchers.open(who, ConnectionKind::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let seen = seen.unwrap_or(task.head.seq);
    let (gateway, stop) = (task_pages.gateway.clone(), streaming.stop.clone());
    let source = TaskStream {
        gateway,
        stop,
        id,
        credential,
        seen,
        waiter,
        begun: false,
        told: false,
        _held: held,
    };
    Ok(sse::respond(source).into_response())
}

/// An open page, until its task changes.
struct TaskStream {
    gateway: Gateway,
    stop: CancellationToken,
    id: TaskId,
    credential: StreamCredential,
    seen: u64,
    waiter: Waiter,
    begun: bool,
    told: bool,
    _held: OpenStream,
}

/// The event that a task has changed.
#[derive(Serialize)]
struct TaskChanged {
    state: &'static str,
}

impl SseSource for TaskStream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.told {
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some(BEGIN);
        }
        loop {
            if !self.credential.holds(&self.gateway) {
                return None;
            }
            match self.gateway.store().task(self.id).await {
                Ok(task) => {
                    let task = task?;
                    if task.head.seq > self.seen {
                        self.told = true;
                        let changed = TaskChanged { state: task.state.as_str() };
                        return Some(sse::frame(task.head.seq, "changed", &changed));
                    }
                }
                Err(error) => {
                    self.gateway.database().failed(DATABASE_USER, &error);
                    tokio::select! {
                        () = self.stop.cancelled() => return None,
                        () = tokio::time::sleep(RETRY_DELAY) => continue,
                    }
                }
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                () = self.waiter.changed() => {}
                () = tokio::time::sleep(HEARTBEAT_INTERVAL) => return Some(HEARTBEAT),
            }
        }
    }
}
