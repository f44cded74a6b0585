//! `POST /messages`, `GET /messages/{uid}`: `proto.a2h.dev/v1alpha1`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use dialects::a2h::{self, Kind, NewMessage, WireError};
use gateway::Terms;
use gateway::receipts::Receipts;
use kernel::{Actor, Ask, Refusal};

use super::{Answer, asking, schema};
use crate::http::a2h::A2hCalls;
use crate::http::envelope_headers;
use crate::http::name::Named;

pub(super) async fn create(
    State(calls): State<Arc<A2hCalls>>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let caller = calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    let NewMessage { mut ask, uid, fingerprint, schema, conversation } =
        a2h::parse_message(&bytes)?;
    if let Some(schema) = &schema {
        schema::check(schema).map_err(|why| {
            WireError::field("spec.response_schema", &format!("a JSON Schema: {why}"))
        })?;
    }
    ask.claims = envelope_headers::apply(ask.claims, &headers);
    ask.timeout = calls.config.a2h_timeout;
    let idempotency = uid.map(|uid| caller.naming(Kind::Message, &uid, fingerprint));
    let terms = Terms { idempotency, ..Terms::default() };
    let command = asking(ask, conversation);
    let outcome = calls.gateway.run_on(terms, caller.actor.clone(), command).await?;
    let made = outcome.ask.ok_or_else(WireError::internal)?;
    if !made.within_reach(&caller.actor) {
        return Err(Refusal::IdempotencyMismatch.into());
    }
    shown(&calls.receipts, &made).await
}

pub(super) async fn message(
    State(calls): State<Arc<A2hCalls>>,
    Named(uid): Named<String>,
    headers: HeaderMap,
) -> Answer {
    let caller = calls.agent(&headers)?;
    let ask = calls.call(&caller, Kind::Message, &uid).await?;
    shown(&calls.receipts, &ask).await
}

async fn shown(receipts: &Receipts, ask: &Ask) -> Answer {
    let receipt = receipts.receipt_for(ask, &Actor::System).await?;
    let message = a2h::message(ask, receipt, schema::judge).ok_or_else(WireError::gone)?;
    let mut answer = Json(message).into_response();
    envelope_headers::write(ask, answer.headers_mut());
    Ok(answer)
}
