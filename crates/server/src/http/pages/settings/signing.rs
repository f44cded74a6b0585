//! The keys receipts are signed with, for administrators: `/settings/signing`.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::super::{Page, page as instead};
use super::framed;
use crate::http::Shared;
use crate::web::notices;
use crate::web::settings::signing::page;

pub(super) async fn show(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.administrator(&headers).await?;
    let keys = app.signer.listed().await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "the signing keys cannot be read");
        let shown = notices::server_error(&visitor.frame, "the signing keys cannot be read");
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    Ok(framed(&visitor, &page(&keys, app.home(), app.gateway.now())))
}
