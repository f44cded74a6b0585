//! The keys that sign receipts, for administrators: `/settings/signing`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use gateway::Gateway;
use gateway::receipts::Receipts;
use gateway::signing::{Destroyed, Listed, Revoked};
use views::message_page;
use views::settings::signing::{SigningKeyState, SigningKeyView, page};

use super::framed;
use crate::config::Config;
use crate::http::pages::settings::home;
use crate::http::pages::visitors::Administrator;
use crate::http::pages::{Page, page as instead};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(receipts): State<Receipts>,
    Administrator(visitor): Administrator,
) -> Page {
    let keys = receipts.signer().listed().await.map_err(|error| {
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
    Ok(framed(&visitor, &page(&keys, home(&config), gateway.now())))
}
