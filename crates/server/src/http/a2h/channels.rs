//! `GET /channels`, `POST /channels/validate`: what can be named in a call.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use dialects::a2h::{self, Medium};

use super::Answer;
use crate::http::Shared;

/// The media this server delivers to. There is none yet but its own inbox, and that needs no name.
const CONFIGURED: [Medium; 0] = [];

pub(super) async fn channels(State(app): State<Shared>, headers: HeaderMap) -> Answer {
    app.a2h_agent(&headers)?;
    Ok(Json(a2h::channels(&CONFIGURED)).into_response())
}

pub(super) async fn validate(State(app): State<Shared>, headers: HeaderMap, body: Body) -> Answer {
    app.a2h_agent(&headers)?;
    let bytes = app.a2h_body(&headers, body).await?;
    Ok(Json(a2h::validated(&bytes, &CONFIGURED)?).into_response())
}
