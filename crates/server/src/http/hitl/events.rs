//! `GET /hitl/v1/reviews/{id}/events`: the events of a case as server-sent events. Specification
//! §8.5.
//!
//! The id of an event is its position in the case's chain, so an interrupted stream resumes exactly
//! there, also after a restart. The stream ends after the event that closes the case.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use bytes::Bytes;
use dialects::hitl::{self, HitlEvent};
use gateway::DATABASE_USER;
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use kernel::{Actor, Ask, AskEvent, AskId, AskState, DomainEvent, Subject};
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{CaseReader, HitlResult, param};
use crate::http::envelope_headers;
use crate::http::hitl::{HitlCases, HitlError};
use crate::http::path_param::PathParam;
use crate::http::services::Streaming;
use crate::http::sse::{self, SseSource};

/// The interval of heartbeats on an idle stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// The comment sent as a heartbeat.
const HEARTBEAT: Bytes = Bytes::from_static(b": heartbeat\n\n");
/// The first bytes of a stream, so that the client knows at once that it was accepted.
const BEGIN: Bytes = Bytes::from_static(b": listening\nretry: 2000\n\n");
/// How long a stream waits before it reads a store that was unavailable again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How many records are read at a time.
const BATCH: usize = 32;

pub(super) async fn events(
    State(cases): State<Arc<HitlCases>>,
    State(streaming): State<Streaming>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> HitlResult {
    let (ask, reader) = cases.readable_case(&id, &headers, &pairs).await?;
    // An invalid position is ignored, and all events are sent again (HITL-172).
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let seen = header.or_else(|| param(&pairs, "after")).and_then(|text| text.parse().ok());
    let prelude = Some(&*ask).filter(|_| envelope_headers::wants_prelude(&pairs));
    let prelude = prelude.and_then(envelope_headers::prelude_event).map(Bytes::from);
    match CaseStream::begin(cases, &streaming, ask.id, reader, seen.unwrap_or(0)).await? {
        Some(mut stream) => {
            stream.frames.extend(prelude);
            Ok(sse::respond(stream))
        }
        // 204 stops an `EventSource` from reconnecting.
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// The stream of one case until it is closed.
struct CaseStream {
    cases: Arc<HitlCases>,
    stop: CancellationToken,
    id: AskId,
    /// The credential that opened the stream.
    reader: CaseReader,
    waiter: Waiter,
    /// The last event the client already received.
    seen: u64,
    read: u64,
    /// Whether a reviewer was working on the case at that record.
    engaged: bool,
    frames: VecDeque<Bytes>,
    stale: bool,
    over: bool,
    _held: OpenStream,
}

impl CaseStream {
    /// `None` if the case is closed and the client has received the last event.
    async fn begin(
        cases: Arc<HitlCases>,
        streaming: &Streaming,
        id: AskId,
        reader: CaseReader,
        seen: u64,
    ) -> Result<Option<Self>, HitlError> {
        let counted = match &reader {
            CaseReader::Key(Actor::Agent { key, .. }) => Subject::Key(*key),
            CaseReader::Key(_) | CaseReader::Token(_) => Subject::Ask(id),
        };
        let held =
            streaming.streams.open_for(&cases.gateway, Some(counted), ConnectionKind::Events)?;
        let topics: Vec<WakeTopic> = match &reader {
            CaseReader::Key(Actor::Agent { key, .. }) => {
                [Subject::Key(*key), Subject::Ask(id)].map(WakeTopic::Subject).into()
            }
            CaseReader::Key(_) => vec![WakeTopic::Subject(Subject::Ask(id))],
            CaseReader::Token(credential) => credential.topics().collect(),
        };
        let waiter = cases.gateway.wake().subscribe(topics);
        // Read after subscribing, so that no event in between is missed.
        let ask = cases.gateway.ask(id).await?;
        // A position after the last event is invalid. With it the client would never receive the
        // closing event.
        let seen = if ask.as_ref().is_some_and(|ask| ask.head.seq < seen) { 0 } else { seen };
        let ended = |ask: Arc<Ask>| match &ask.state {
            AskState::Over { place, .. } => Some(place.seq),
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => None,
        };
        if ask.and_then(ended).is_some_and(|end| end <= seen) {
            return Ok(None);
        }
        Ok(Some(Self {
            cases,
            stop: streaming.stop.clone(),
            id,
            reader,
            waiter,
            seen,
            read: 0,
            engaged: false,
            frames: VecDeque::from([BEGIN]),
            stale: true,
            over: false,
            _held: held,
        }))
    }

    /// Reads the next records and adds the frames of their events.
    async fn read_on(&mut self) -> Result<(), StoreError> {
        let gateway = &self.cases.gateway;
        // Reading the ask first closes it if it has expired.
        let Some(ask) = Box::pin(gateway.ask(self.id)).await? else {
            self.over = true;
            return Ok(());
        };
        if !self.holds(&ask) {
            self.over = true;
            return Ok(());
        }
        let records = gateway.store().chain(Subject::Ask(self.id), self.read, BATCH).await?;
        self.stale = records.len() == BATCH;
        let signature = self.cases.receipts.hitl_signature(&ask).await?;
        // Records that are newer than the ask that was read are sent later, with the newer ask:
        // their notification is still to come.
        for record in records.into_iter().take_while(|record| record.seq <= ask.head.seq) {
            self.read = record.seq;
            let Ok(event) = record.event() else { continue };
            if record.seq > self.seen
                && let Some(HitlEvent { event, data }) =
                    hitl::client_event(&ask, &event, self.engaged, signature.clone())
            {
                self.frames.push_back(sse::frame(record.seq, event, &data));
            }
            self.engaged |= matches!(event.what, DomainEvent::Ask(AskEvent::Progressed { .. }));
            if matches!(&ask.state, AskState::Over { place, .. } if place.seq <= record.seq) {
                self.over = true;
                break;
            }
        }
        Ok(())
    }

    /// Whether the credential that opened the stream is still valid.
    fn holds(&self, ask: &Ask) -> bool {
        match &self.reader {
            CaseReader::Key(_) => self.key_holds(),
            CaseReader::Token(credential) => credential.holds(&self.cases.gateway, ask),
        }
    }

    /// Whether the key that opened the stream is still valid. True for a token.
    fn key_holds(&self) -> bool {
        let (directory, now) = (self.cases.gateway.directory(), self.cases.gateway.now());
        match &self.reader {
            CaseReader::Key(Actor::Agent { key, .. }) => {
                directory.key(*key).is_some_and(|key| key.is_live(now))
            }
            CaseReader::Key(_) | CaseReader::Token(_) => true,
        }
    }
}

impl SseSource for CaseStream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if self.stale {
                if let Err(error) = self.read_on().await {
                    self.cases.gateway.database().failed(DATABASE_USER, &error);
                    tokio::select! {
                        () = self.stop.cancelled() => return None,
                        () = tokio::time::sleep(RETRY_DELAY) => {}
                    }
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                () = self.waiter.changed() => self.stale = true,
                // The expiry of a key causes no notification, so check it here.
                () = tokio::time::sleep(HEARTBEAT_INTERVAL) => return self.key_holds().then_some(HEARTBEAT),
            }
        }
    }
}
