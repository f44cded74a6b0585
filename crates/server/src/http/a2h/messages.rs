//! `POST /messages`, `GET /messages/{uid}`: `proto.a2h.dev/v1alpha1`.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use dialects::a2h::{self, Kind, NewMessage, WireError};
use gateway::Terms;
use kernel::{Actor, Ask, Refusal};

use super::{Answer, asking, schema};
use crate::http::name::Named;
use crate::http::{App, Shared, bound};

pub(super) async fn create(State(app): State<Shared>, headers: HeaderMap, body: Body) -> Answer {
    let caller = app.a2h_agent(&headers)?;
    let bytes = app.a2h_body(&headers, body).await?;
    let NewMessage { mut ask, uid, fingerprint, schema, conversation } =
        a2h::parse_message(&bytes)?;
    if let Some(schema) = &schema {
        schema::check(schema).map_err(|why| {
            WireError::field("spec.response_schema", &format!("a JSON Schema: {why}"))
        })?;
    }
    ask.claims = bound::heard(ask.claims, &headers);
    ask.timeout = app.config.a2h_timeout;
    let idempotency = uid.map(|uid| caller.naming(Kind::Message, &uid, fingerprint));
    let terms = Terms { idempotency, ..Terms::default() };
    let command = asking(ask, conversation);
    let outcome = app.gateway.run_on(terms, caller.actor.clone(), command).await?;
    let made = outcome.ask.ok_or_else(WireError::internal)?;
    if !made.within_reach(&caller.actor) {
        return Err(Refusal::IdempotencyMismatch.into());
    }
    shown(&app, &made).await
}

pub(super) async fn message(
    State(app): State<Shared>,
    Named(uid): Named<String>,
    headers: HeaderMap,
) -> Answer {
    let caller = app.a2h_agent(&headers)?;
    let ask = app.a2h_call(&caller, Kind::Message, &uid).await?;
    shown(&app, &ask).await
}

async fn shown(app: &App, ask: &Ask) -> Answer {
    let receipt = app.receipts.receipt_for(ask, &Actor::System).await?;
    let message = a2h::message(ask, receipt, schema::judge).ok_or_else(WireError::gone)?;
    let mut answer = Json(message).into_response();
    bound::say(ask, answer.headers_mut());
    Ok(answer)
}
