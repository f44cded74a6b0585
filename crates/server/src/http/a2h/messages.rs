//! `POST /messages`, `GET /messages/{uid}`: `proto.a2h.dev/v1alpha1`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::IntoResponse;
use dialects::a2h::wire::NewConversation;
use dialects::a2h::{self, A2hWireError, CallKind, NewA2hMessage};
use gateway::CommandConditions;
use gateway::receipts::Receipts;
use kernel::{Actor, Ask, Phase, Refusal};
use store::{AskListQuery, Cursor, Filter, ListScope, Order};

use super::calls::link_to;
use super::error::A2hError;
use super::{A2hResult, ask_command, schema};
use crate::http::a2h::A2hCalls;
use crate::http::envelope_headers;
use crate::http::path_param::PathParam;

pub(super) async fn create(
    State(calls): State<Arc<A2hCalls>>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    let NewA2hMessage { mut ask, uid, fingerprint, schema, conversation } =
        a2h::parse_message(&bytes)?;
    if let Some(schema) = &schema {
        schema::check(schema).map_err(|why| {
            A2hWireError::field("spec.response_schema", &format!("a JSON Schema: {why}"))
        })?;
    }
    ask.claims = envelope_headers::apply(ask.claims, &headers);
    ask.timeout = calls.config.a2h_timeout;
    let idempotency = uid.map(|uid| caller.call_idempotency(CallKind::Message, &uid, fingerprint));
    let terms = CommandConditions { idempotency, ..CommandConditions::default() };
    let command = ask_command(ask, conversation);
    let outcome = calls.gateway.run_with_conditions(terms, caller.actor.clone(), command).await?;
    let made = outcome.ask.ok_or_else(A2hWireError::internal)?;
    if !made.is_visible_to_key(&caller.actor) {
        return Err(Refusal::IdempotencyMismatch.into());
    }
    shown(&calls.receipts, &made).await
}

pub(super) async fn message(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(uid): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let ask = calls.call(&caller, CallKind::Message, &uid).await?;
    shown(&calls.receipts, &ask).await
}

async fn shown(receipts: &Receipts, ask: &Ask) -> A2hResult {
    let receipt = receipts.receipt_for(ask, &Actor::System).await?;
    let message = a2h::message(ask, receipt, schema::validate).ok_or_else(A2hWireError::gone)?;
    let mut answer = Json(message).into_response();
    envelope_headers::write(ask, answer.headers_mut());
    Ok(answer)
}

// `GET /conversations`, `GET /conversations/{uid}`: the messages people wrote to the agent, for
// agents without a webhook (A2H-132); `GET /contact_channel/{id}`: a conversation as a channel
// (A2H-050).

/// How many conversations are listed at a time. If there are more, `Link` points to the next page.
const PAGE: usize = 100;

/// Newest first. Erased conversations are left out.
pub(super) async fn conversations(
    State(calls): State<Arc<A2hCalls>>,
    uri: Uri,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let Actor::Agent { id: agent, .. } = caller.actor else {
        return Err(A2hWireError::unauthorized().into());
    };
    let cursor = pairs.iter().rfind(|(key, _)| key == "cursor").map(|(_, value)| value);
    let after = cursor.map(|cursor| {
        let ask = a2h::ask_id(cursor);
        ask.ok_or_else(|| A2hWireError::field("cursor", "the next_cursor of the previous page"))
    });
    let list = AskListQuery {
        scopes: vec![ListScope::Begun(agent)],
        phases: vec![Phase::Completed],
        order: Order::Age,
        filter: Filter::default(),
        after: after.transpose()?.map(|ask| Cursor { rank: 0, ask }),
        limit: PAGE,
    };
    let page = calls.gateway.list(list).await?;
    let begun: Vec<NewConversation> = page.asks.iter().filter_map(a2h::new_conversation).collect();
    let mut answer = Json(begun).into_response();
    if let Some(next) = page.next {
        link_to(&mut answer, &format!("<{}?cursor={}>; rel=\"next\"", uri.path(), next.ask));
    }
    Ok(answer)
}

pub(super) async fn conversation(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(uid): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let ask = calls.opening(&headers, &uid).await?;
    Ok(Json(a2h::new_conversation(&ask).ok_or_else(A2hWireError::gone)?).into_response())
}

pub(super) async fn channel(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let ask = calls.opening(&headers, &id).await?;
    let channel = a2h::contact_channel(&ask).ok_or_else(A2hWireError::no_conversation)?;
    Ok(Json(channel).into_response())
}

impl A2hCalls {
    /// The first message of a conversation with the calling agent.
    async fn opening(&self, headers: &HeaderMap, id: &str) -> Result<Arc<Ask>, A2hError> {
        let caller = self.agent(headers)?;
        let id = a2h::ask_id(id).ok_or_else(A2hWireError::no_conversation)?;
        let ask = self.gateway.ask(id).await?;
        let ask =
            ask.filter(|ask| ask.is_visible_to_key(&caller.actor) && ask.starts_conversation());
        Ok(ask.ok_or_else(A2hWireError::no_conversation)?)
    }
}
