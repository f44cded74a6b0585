//! `GET /review/{case_id}/end?token=…`: notifies an open review page when its request is resolved,
//! with a single server-sent event.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::hitl;
use gateway::Gateway;
use gateway::auth::{Authenticator, Lane};
use gateway::streams::Wire;
use kernel::Subject;
use kernel::ask::Purpose;

use crate::http::hitl::{is_token, shown};
use crate::http::name::Named;
use crate::http::pages::request::live::{Watched, Watcher};
use crate::http::services::Streaming;
use crate::http::sse;
use crate::http::stream_credential::StreamToken;

pub(super) async fn follow(
    State(gateway): State<Gateway>,
    State(authenticator): State<Arc<Authenticator>>,
    State(streaming): State<Streaming>,
    Named(case_id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, StatusCode> {
    let id = hitl::ask_id(&case_id).ok_or(StatusCode::UNAUTHORIZED)?;
    let ask = gateway.ask(id).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let ask = ask.ok_or(StatusCode::UNAUTHORIZED)?;
    let token = shown(&pairs, &headers, &case_id);
    let token = token.filter(|token| is_token(&gateway, &ask, Purpose::Review, token));
    let credential =
        StreamToken::new(&ask, Purpose::Review, token.ok_or(StatusCode::UNAUTHORIZED)?);
    // The request is read again after the subscription, so that its end in between is not missed.
    let waiter = gateway.wake().subscribe(credential.topics());
    authenticator.count(id, Lane::Watch).map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let held = streaming.watchers.open(Some(Subject::Ask(id)), Wire::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let returned = headers.contains_key("last-event-id");
    let by = Watcher::Link(credential);
    let watched = Watched::new(gateway.clone(), streaming.stop.clone(), id, by, waiter, held)
        .showing(None, returned);
    Ok(sse::respond(watched).into_response())
}
