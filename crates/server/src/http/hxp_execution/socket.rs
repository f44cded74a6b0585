//! HXP Execution 0.1: `/hxp/ws/{request_id}` and `/hxp/ws?request_id=…`. Specification §5.2.
//!
//! The credential is checked before the upgrade: in the header, or as `?token=` because browsers
//! cannot set headers. A subscriber that connects late gets the current state at once.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use dialects::hxp_execution::{self as hxp, HxpWireError, SocketState};
use gateway::Gateway;
use gateway::streams::ConnectionKind;
use gateway::waiters::{Waiter, WakeTopic};
use kernel::{Actor, AskId, Subject};
use tokio_util::sync::CancellationToken;

use super::error::HxpError;
use crate::http::hxp_execution::HxpRequests;
use crate::http::path_param::PathParam;
use crate::http::services::Streaming;
use crate::http::{AppState, cors, envelope_headers};

/// How often an idle subscriber is pinged.
const PING: Duration = Duration::from_secs(30);
/// The size of a connection's buffers. Subscribers send nothing, and ten thousand of them must stay
/// cheap.
const BUFFER: usize = 1024;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/hxp/ws", get(by_query)).route("/hxp/ws/{id}", get(by_path))
}

/// The value of a query parameter. If it occurs twice, the last one counts.
fn query_value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

type Pairs = Query<Vec<(String, String)>>;

async fn by_path(
    State(requests): State<Arc<HxpRequests>>,
    State(streaming): State<Streaming>,
    PathParam(id): PathParam<String>,
    Query(pairs): Pairs,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, HxpError> {
    subscribe(requests, streaming, &id, &pairs, &headers, upgrade.ok()).await
}

async fn by_query(
    State(requests): State<Arc<HxpRequests>>,
    State(streaming): State<Streaming>,
    Query(pairs): Pairs,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, HxpError> {
    let id = query_value(&pairs, "request_id").unwrap_or_default();
    subscribe(requests, streaming, id, &pairs, &headers, upgrade.ok()).await
}

async fn subscribe(
    requests: Arc<HxpRequests>,
    streaming: Streaming,
    id: &str,
    pairs: &[(String, String)],
    headers: &HeaderMap,
    upgrade: Option<WebSocketUpgrade>,
) -> Result<Response, HxpError> {
    if !cors::may_open_socket(&requests.config, headers, "/hxp/ws") {
        let message = "web pages of this origin cannot connect; add the origin to the setting \
                       cors_origins";
        return Err(HxpWireError::new(403, hxp::errors::code::FORBIDDEN, message).into());
    }
    let actor = match query_value(pairs, "token") {
        _ if requests.config.open_websockets => Actor::System,
        Some(token) => requests.callers.agent_by(token)?,
        None => requests.agent(headers)?,
    };
    let known = hxp::ask_id(id).ok_or_else(HxpWireError::no_request)?;
    // Subscribe before reading, so that no event in between is missed.
    let key = match &actor {
        Actor::Agent { key, .. } => Some(Subject::Key(*key)),
        Actor::Human { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => None,
    };
    let topics = [Subject::Ask(known)].into_iter().chain(key.clone()).map(WakeTopic::Subject);
    let waiter = requests.gateway.wake().subscribe(topics);
    let ask = requests.ask(id, |ask| ask.is_visible_to_key(&actor)).await?;
    let prelude = Some(&*ask).filter(|_| envelope_headers::wants_prelude(pairs));
    let prelude = prelude.and_then(envelope_headers::prelude_line);
    drop(ask);
    let upgrade = upgrade.ok_or_else(|| {
        let message = "this path serves WebSockets only; send an upgrade request";
        HxpWireError::new(400, hxp::errors::code::INVALID_BODY, message)
    })?;
    let counted = streaming.streams.open_for(&requests.gateway, key, ConnectionKind::Socket)?;
    // The upgraded connection runs in a task of its own. The token makes the server wait for it at
    // shutdown.
    let held = (streaming.tasks.token(), counted);
    Ok(upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_message_size(BUFFER).on_upgrade(
        async move |mut socket| {
            if let Some(prelude) = prelude
                && socket.send(Message::text(prelude)).await.is_err()
            {
                return;
            }
            watch(&requests, &streaming.stop, actor, known, waiter, socket).await;
            drop(held);
        },
    ))
}

/// Sends changes until the ask is closed, the subscriber disconnects or the server stops.
async fn watch(
    requests: &HxpRequests,
    stop: &CancellationToken,
    actor: Actor,
    id: AskId,
    mut waiter: Waiter,
    mut socket: WebSocket,
) {
    let mut seen = SocketState::Nothing;
    loop {
        let Ok(Some(ask)) = requests.gateway.ask(id).await else {
            // The store is unavailable: the subscriber keeps its connection and gets the changes
            // later.
            if pause(stop, &mut socket).await.is_break() {
                break;
            }
            continue;
        };
        // A key that was revoked meanwhile gets nothing more.
        if !still_holds(&requests.gateway, &actor) {
            close(socket, 1008, "this key was revoked").await;
            return;
        }
        let Ok(ask) = requests.gateway.with_secret_answers(ask).await else {
            if pause(stop, &mut socket).await.is_break() {
                break;
            }
            continue;
        };
        let step = hxp::advance(&seen, &ask, &requests.seal());
        seen = step.seen;
        // The ask is read again instead of kept, because thousands of subscribers may wait.
        drop(ask);
        let mut gone = false;
        for frame in step.frames {
            let text = serde_json::to_string(&frame).unwrap_or_default();
            gone |= socket.send(Message::text(text)).await.is_err();
        }
        if gone {
            break;
        }
        if step.close {
            close(socket, 1000, "").await;
            return;
        }
        if wait(stop, &mut waiter, &mut socket).await.is_break() {
            break;
        }
    }
    if stop.is_cancelled() {
        close(socket, 1001, "the server is stopping; reconnect").await;
    }
}

fn still_holds(gateway: &Gateway, actor: &Actor) -> bool {
    let Actor::Agent { key, .. } = actor else { return true };
    gateway.directory().key(*key).is_some_and(|key| key.is_live(gateway.now()))
}

type Flow = std::ops::ControlFlow<()>;

/// Waits until the ask may have changed.
async fn wait(stop: &CancellationToken, waiter: &mut Waiter, socket: &mut WebSocket) -> Flow {
    loop {
        tokio::select! {
            () = waiter.changed() => return Flow::Continue(()),
            () = stop.cancelled() => return Flow::Break(()),
            () = tokio::time::sleep(PING) => {
                if socket.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                    return Flow::Break(());
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Flow::Break(()),
                // Messages of subscribers are ignored; the library answers pings.
                Some(Ok(_)) => {}
            }
        }
    }
}

async fn pause(stop: &CancellationToken, socket: &mut WebSocket) -> Flow {
    tokio::select! {
        () = stop.cancelled() => Flow::Break(()),
        () = tokio::time::sleep(Duration::from_secs(1)) => Flow::Continue(()),
        message = socket.recv() => match message {
            Some(Ok(Message::Close(_)) | Err(_)) | None => Flow::Break(()),
            Some(Ok(_)) => Flow::Continue(()),
        }
    }
}

/// Sends a close frame and waits a moment for the reply, so that the frame is not lost.
async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let reason = Utf8Bytes::from_static(reason);
    if socket.send(Message::Close(Some(CloseFrame { code, reason }))).await.is_ok() {
        let until_closed = async { while let Some(Ok(_)) = socket.recv().await {} };
        let _ = tokio::time::timeout(Duration::from_secs(2), until_closed).await;
    }
}
