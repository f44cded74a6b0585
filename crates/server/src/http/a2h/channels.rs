//! `GET /channels`, `POST /channels/validate`: the channels a call can name.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use channels::ChannelRegistry;
use dialects::a2h::{self, Medium};

use super::Answer;
use crate::http::a2h::A2hCalls;

pub(super) async fn channels(
    State(calls): State<Arc<A2hCalls>>,
    State(channels): State<Arc<ChannelRegistry>>,
    headers: HeaderMap,
) -> Answer {
    calls.agent(&headers)?;
    Ok(Json(a2h::channels(&a2h_media(&channels))).into_response())
}

pub(super) async fn validate(
    State(calls): State<Arc<A2hCalls>>,
    State(channels): State<Arc<ChannelRegistry>>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    Ok(Json(a2h::validated(&bytes, &a2h_media(&channels))?).into_response())
}

/// The media this server delivers to. The inbox needs no name.
fn a2h_media(channels: &ChannelRegistry) -> Vec<Medium> {
    let there = |medium: &Medium| channels.named(medium.as_str()).is_some();
    Medium::ALL.into_iter().filter(there).collect()
}
