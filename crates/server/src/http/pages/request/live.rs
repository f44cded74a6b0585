//! `GET /asks/{id}/end`: server-sent events for an open request page: who claims the request, who
//! else views it, and how it is resolved. A review page uses the same stream, but receives only how
//! the request is resolved.
//!
//! Streams of pages are counted apart from the streams of agents: neither uses up the other's
//! limit.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::auth::{Authenticator, CaseCallKind};
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use gateway::{DATABASE_USER, Gateway};
use kernel::{Ask, AskId, HumanId, Subject};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use views::request::{answering, claim, related};
use views::review;

use crate::http::pages::request::related::other_viewers;
use crate::http::pages::visitor::Visitors;
use crate::http::services::Streaming;
use crate::http::sse::{self, HEARTBEAT, SseSource};
use crate::http::stream_credential::{StreamCredential, StreamToken};

/// The interval of heartbeats on an idle stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// The delay before a failed read of the store is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// The first bytes of a stream, so that the browser learns at once that it is connected.
const BEGIN: Bytes = Bytes::from_static(b": watching\nretry: 5000\n\n");

/// Who views an open page.
#[derive(Serialize)]
pub(super) struct ViewersUpdate {
    pub(super) text: Option<String>,
}

/// The claim a page shows.
#[derive(Deserialize)]
pub(super) struct ClaimQuery {
    holder: Option<String>,
}

/// `GET /asks/{id}/end`: who claims the request and how it ends, sent when it happens.
pub(super) async fn follow(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(authenticator): State<Arc<Authenticator>>,
    State(streaming): State<Streaming>,
    Path(id): Path<String>,
    Query(shown): Query<ClaimQuery>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let visitor = visitors.visitor(&headers).await.map_err(|_| StatusCode::UNAUTHORIZED)?;
    let id: AskId = id.parse().map_err(|_| StatusCode::NOT_FOUND)?;
    let credential = StreamCredential::of_session(visitor.actor.clone(), visitor.session);
    // The request is read after the subscription, so that its end in between is not missed.
    let own = WakeTopic::Subject(Subject::Ask(id));
    let waiter = gateway.wake().subscribe(credential.topics().chain([own]));
    let seen = visitors.visible_ask(&visitor, &id.to_string()).await;
    seen.map_err(|_| StatusCode::NOT_FOUND)?;
    authenticator
        .count_case_call(id, CaseCallKind::Watch)
        .map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let me = visitor.human.id;
    let who = Some(Subject::Human(me.clone()));
    let held = streaming.watchers.open(who, ConnectionKind::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let holder = shown.holder.and_then(|holder| holder.parse().ok());
    let returned = headers.contains_key("last-event-id");
    let by = Watcher::Person(me, credential);
    let watched = RequestStream::new(gateway.clone(), streaming.stop.clone(), id, by, waiter, held)
        .showing(holder, returned);
    Ok(sse::respond(watched).into_response())
}

/// The viewer of a stream. The stream ends with their access.
pub(crate) enum Watcher {
    /// The holder of a review link. They are anonymous, and do not learn who
    /// else views the request.
    Link(StreamToken),
    /// A person who is signed in.
    Person(HumanId, StreamCredential),
}

impl Watcher {
    fn me(&self) -> Option<&HumanId> {
        match self {
            Self::Link(_) => None,
            Self::Person(id, _) => Some(id),
        }
    }

    fn holds(&self, gateway: &Gateway, ask: &Ask) -> bool {
        match self {
            Self::Link(credential) => credential.holds(gateway, ask),
            Self::Person(_, credential) => credential.holds(gateway),
        }
    }
}

/// A request, watched until it is resolved.
pub(crate) struct RequestStream {
    gateway: Gateway,
    stop: CancellationToken,
    id: AskId,
    by: Watcher,
    waiter: Waiter,
    /// The person who held the claim in the last event to the browser, or on the page it shows.
    holder: Option<HumanId>,
    /// Whether to send the current state in any case: the browser reconnected, and may
    /// have missed an event.
    returned: bool,
    /// The author of the held answer in the last event to the browser; the outer `None`
    /// before the first event.
    #[expect(clippy::option_option, reason = "no event yet, no author, or an author")]
    answering: Option<Option<HumanId>>,
    begun: bool,
    told: bool,
    _held: OpenStream,
}

impl RequestStream {
    /// A watch that begins with its subscription.
    pub(crate) fn new(
        gateway: Gateway,
        stop: CancellationToken,
        id: AskId,
        by: Watcher,
        waiter: Waiter,
        held: OpenStream,
    ) -> Self {
        let (holder, returned, begun, told) = (None, false, false, false);
        let answering = Some(None);
        Self {
            gateway,
            stop,
            id,
            by,
            waiter,
            holder,
            returned,
            answering,
            begun,
            told,
            _held: held,
        }
    }

    /// For a page that shows this claim. `returned` says that the browser was connected before.
    #[must_use]
    pub(crate) fn showing(self, holder: Option<HumanId>, returned: bool) -> Self {
        let answering = (!returned).then_some(None);
        Self { holder, returned, answering, ..self }
    }

    /// The event about a held answer, if it has changed.
    fn answering(&mut self, ask: &Ask) -> Option<Bytes> {
        let by = ask.held_by().cloned();
        if self.answering.as_ref() == Some(&by) {
            return None;
        }
        let before = self.answering.replace(by).flatten().is_some();
        let directory = self.gateway.directory();
        let news = answering::answering_update(ask, self.by.me(), &directory, before);
        Some(sse::frame(ask.head.seq, "answering", &news))
    }

    /// The event about a claim, if the page shows another one.
    fn claimed(&mut self, ask: &Ask) -> Option<Bytes> {
        let me = self.by.me()?.clone();
        let holder = ask.claim.as_ref().map(|claim| claim.human.clone());
        let returned = std::mem::replace(&mut self.returned, false);
        if holder == self.holder && !returned {
            return None;
        }
        self.holder = holder;
        let directory = self.gateway.directory();
        let told = claim::claim_update(ask, directory.human(&me)?, &directory);
        Some(sse::frame(ask.head.seq, "claimed", &told))
    }
}

/// The heartbeat of an idle stream: the other viewers, or an empty comment.
async fn heartbeat(gateway: &Gateway, me: Option<&HumanId>, id: AskId) -> Bytes {
    let Some(me) = me else { return HEARTBEAT };
    match other_viewers(gateway, me, id).await {
        Ok(others) => {
            let text = related::viewers_sentence(&others, &gateway.directory());
            sse::frame(0, "looking", &ViewersUpdate { text })
        }
        Err(_) => HEARTBEAT,
    }
}

impl SseSource for RequestStream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.told {
            return None;
        }
        if !self.begun {
            self.begun = true;
            return Some(BEGIN);
        }
        loop {
            let gateway = &self.gateway;
            match Box::pin(gateway.ask(self.id)).await {
                Ok(ask) => {
                    let ask = ask.filter(|ask| self.by.holds(&self.gateway, ask))?;
                    if let Some(ended) =
                        review::request_closed(&ask, &gateway.directory(), gateway.now())
                    {
                        self.told = true;
                        return Some(sse::frame(ask.head.seq, "ended", &ended));
                    }
                    if let Some(claimed) = self.claimed(&ask) {
                        return Some(claimed);
                    }
                    if let Some(answering) = self.answering(&ask) {
                        return Some(answering);
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
                () = tokio::time::sleep(HEARTBEAT_INTERVAL) => {
                    return Some(heartbeat(&self.gateway, self.by.me(), self.id).await);
                }
            }
        }
    }
}
