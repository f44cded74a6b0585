//! The keys receipts are signed with, for administrators: `/settings/signing`.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use gateway::signing::{Destroyed, Listed, Revoked};

use super::super::{Page, page as instead};
use super::framed;
use crate::http::Shared;
use views::message_page;
use views::settings::signing::{SigningKeyState, SigningKeyView, page};

pub(super) async fn show(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.administrator(&headers).await?;
    let keys = app.receipts.signer().listed().await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "the signing keys cannot be read");
        let shown = message_page::server_error(&visitor.frame, "the signing keys cannot be read");
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    let view = |key: Listed| SigningKeyView {
        kid: key.kid,
        created_at: key.created_at,
        state: match (key.revoked, key.destroyed, key.retired_at) {
            (Some(Revoked { at, reason }), ..) => SigningKeyState::Revoked { at, reason },
            (None, Some(Destroyed { at, by }), _) => SigningKeyState::Destroyed { at, by },
            (None, None, Some(at)) => SigningKeyState::Retired { at },
            (None, None, None) => SigningKeyState::Current,
        },
    };
    let keys: Vec<_> = keys.into_iter().map(view).collect();
    Ok(framed(&visitor, &page(&keys, app.home(), app.gateway.now())))
}
