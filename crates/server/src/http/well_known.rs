//! `GET /.well-known/jwks.json`: the public keys that verify receipts. RFC 7517, RFC 8615.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use gateway::receipts::Receipts;

use crate::http::AppState;

pub fn routes() -> Router<AppState> {
    Router::new().route("/.well-known/jwks.json", get(jwks))
}

/// Current and retired keys. A revoked key is absent, and gone from caches within five minutes.
async fn jwks(State(receipts): State<Receipts>) -> Response {
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(receipts.signer().jwks()))
        .into_response()
}
