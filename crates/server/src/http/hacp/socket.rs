//! `GET /hacp/ws`: the operations as JSON-RPC 2.0, and events as notifications. The credential is
//! checked before the upgrade: in the header, or as `?token=`, because browsers cannot set headers.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use dialects::hacp::errors::code;
use dialects::hacp::rpc::{self, RpcItem, RpcMessage};
use dialects::hacp::{HacpCaller, HacpError, HacpVersion};
use serde_json::Value;

use super::events::{FeedTurn, TaskEventFeed};
use super::{HacpFailure, version_of};
use crate::http::cors;
use crate::http::hacp::HacpOperations;
use crate::http::stream_credential::StreamCredential;

type Pairs = Query<Vec<(String, String)>>;

pub(super) async fn open(
    State(hacp): State<Arc<HacpOperations>>,
    Query(pairs): Pairs,
    mut headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, HacpFailure> {
    let said = |name: &str| pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value);
    if let Some(token) = said("token")
        && let Ok(bearer) = HeaderValue::from_str(&format!("Bearer {token}"))
    {
        headers.insert(header::AUTHORIZATION, bearer);
    }
    if !cors::may_open_socket(&hacp.config, &headers, "/hacp/ws") {
        let message = "web pages of this origin cannot connect; add the origin to the setting \
                       cors_origins";
        return Err(HacpError::new(code::UNAUTHORIZED, message).into());
    }
    let version = version_of(&headers)?;
    let actor = hacp.callers.anyone(&headers).await?;
    let after = said("after").map(|text| {
        text.parse()
            .map_err(|_| HacpError::field("after", "the ID of an event, which is a whole number"))
    });
    let upgrade = upgrade.map_err(|_| {
        HacpError::field("upgrade", "a WebSocket upgrade, because this path serves WebSockets only")
    })?;
    let credential = StreamCredential::new(&hacp.callers, actor, &headers);
    let feed =
        TaskEventFeed::open(Arc::clone(&hacp), credential, version, after.transpose()?).await?;
    let limit = hacp.config.body_limit;
    let held = hacp.streaming.tasks.token();
    Ok(upgrade.max_message_size(limit).on_upgrade(async move |socket| {
        serve_socket(&hacp, &headers, version, feed, socket).await;
        drop(held);
    }))
}

/// Answers calls and sends events until one side closes the connection.
async fn serve_socket(
    hacp: &HacpOperations,
    headers: &HeaderMap,
    version: HacpVersion,
    mut feed: TaskEventFeed,
    mut socket: WebSocket,
) {
    loop {
        let answer = tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    hacp.message(headers, version, text.as_bytes()).await
                }
                Some(Ok(Message::Binary(bytes))) => {
                    hacp.message(headers, version, &bytes).await
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            turn = feed.turn() => match turn {
                FeedTurn::Told(told) => Some(rpc::event_notification(&told)),
                FeedTurn::Idle => {
                    if socket.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                        return;
                    }
                    None
                }
                FeedTurn::Stopped => return close(socket, 1001, "reconnect").await,
                FeedTurn::Revoked => return close(socket, 1008, "the credential was revoked").await,
            },
        };
        if let Some(answer) = answer
            && socket.send(Message::text(answer.to_string())).await.is_err()
        {
            return;
        }
    }
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    // The client may already be gone, so an error is ignored.
    let _ = socket.send(Message::Close(Some(close))).await;
}

impl HacpOperations {
    /// The response to one message, if it needs one.
    async fn message(
        &self,
        headers: &HeaderMap,
        version: HacpVersion,
        message: &[u8],
    ) -> Option<Value> {
        match rpc::parse(message, version) {
            Err(answer) => Some(answer),
            Ok(RpcMessage::One(item)) => self.run_call(headers, version, item).await,
            Ok(RpcMessage::Batch(items)) => {
                let mut answers = Vec::new();
                for item in items {
                    answers.extend(self.run_call(headers, version, item).await);
                }
                if answers.is_empty() { None } else { Some(Value::Array(answers)) }
            }
        }
    }

    /// Runs one call. As over HTTP, the server checks the credential for each call, because it may
    /// have been revoked since the last, and counts each call towards its rate limit.
    async fn run_call(
        &self,
        headers: &HeaderMap,
        version: HacpVersion,
        item: RpcItem,
    ) -> Option<Value> {
        let request = match item {
            Ok(request) => request,
            Err(answer) => return Some(answer),
        };
        let result = match self.callers.anyone(headers).await {
            Ok(actor) => {
                let directory = self.gateway.directory();
                let caller = HacpCaller { actor: &actor, directory: &directory, version };
                match request.call(caller) {
                    Ok(call) => self.call(&actor, version, call).await,
                    Err(error) => Err(error.into()),
                }
            }
            Err(denied) => Err(denied.into()),
        };
        let result = result.map_err(HacpFailure::into_error);
        request.answer(result.map(|shown| shown.value), version)
    }
}
