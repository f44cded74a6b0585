//! The keys that sign receipts, for administrators: `/settings/signing`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use gateway::Gateway;
use gateway::receipts::Receipts;
use gateway::signing::{DestroyedBy, KeyRevocation, SigningKeySummary};
use views::settings::signing::{SigningKeyRow, SigningKeyStatus, page};
use views::{message_page, t};

use super::framed;
use crate::config::Config;
use crate::http::pages::settings::public_address;
use crate::http::pages::visitor::AdminVisitor;
use crate::http::pages::{PageResult, page as instead};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(receipts): State<Receipts>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let keys = receipts.signer().listed().await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "the signing keys cannot be read");
        let shown = message_page::server_error(&visitor.frame, &t!("settings-signing-unreadable"));
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    let view = |key: SigningKeySummary| SigningKeyRow {
        kid: key.kid,
        created_at: key.created_at,
        state: match (key.revoked, key.destroyed, key.retired_at) {
            (Some(KeyRevocation { at, reason }), ..) => SigningKeyStatus::Revoked { at, reason },
            (None, Some(DestroyedBy { at, by }), _) => SigningKeyStatus::Destroyed { at, by },
            (None, None, Some(at)) => SigningKeyStatus::Retired { at },
            (None, None, None) => SigningKeyStatus::Current,
        },
    };
    let keys: Vec<_> = keys.into_iter().map(view).collect();
    Ok(framed(&visitor, &page(&keys, public_address(&config), gateway.now())))
}
