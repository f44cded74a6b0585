//! Signing keys: `GET /api/v1/signing-keys`, `POST /api/v1/signing-keys/{kid}/destroy`, for
//! administrators. See `docs/receipts.md`.
//!
//! Keys are created and revoked with `countersign signing` on the server. Destroying the private
//! key of a retired one needs the store. It does no harm: every receipt keeps its bytes, and the
//! public key stays published.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gateway::key_destruction::{DestructionProgress, KeyDestruction, KeyDestructionError};
use gateway::receipts::Receipts;
use gateway::signing::SigningKeySummary;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::AdminCaller;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

/// How many requests one call examines, so that a call takes seconds at most.
const REQUESTS_PER_CALL: usize = 2000;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(destroy))
}

/// A signing key, never with its private half.
#[derive(Serialize, ToSchema)]
#[schema(as = SigningKey)]
struct SigningKeyView {
    /// The key ID: the RFC 7638 thumbprint of the public key.
    kid: String,
    /// The state of the key.
    state: SigningKeyState,
    /// The time of creation.
    created_at: Time,
    /// When the next key took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    retired_at: Option<Time>,
    /// When the private key was destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    destroyed_at: Option<Time>,
    /// The administrator who destroyed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    destroyed_by: Option<HumanId>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Time>,
}

/// What a signing key is used for: `current` signs, `retired` signs the receipts of its time,
/// `destroyed` is trusted without its private half, `revoked` is not trusted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SigningKeyState {
    Current,
    Retired,
    Destroyed,
    Revoked,
}

impl From<SigningKeySummary> for SigningKeyView {
    fn from(key: SigningKeySummary) -> Self {
        let state = match (&key.revoked, &key.destroyed, key.retired_at) {
            (Some(_), _, _) => SigningKeyState::Revoked,
            (None, Some(_), _) => SigningKeyState::Destroyed,
            (None, None, Some(_)) => SigningKeyState::Retired,
            (None, None, None) => SigningKeyState::Current,
        };
        Self {
            kid: key.kid,
            state,
            created_at: key.created_at,
            retired_at: key.retired_at,
            destroyed_at: key.destroyed.as_ref().map(|destroyed| destroyed.at),
            destroyed_by: key.destroyed.map(|destroyed| destroyed.by),
            revoked_at: key.revoked.map(|revoked| revoked.at),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct SigningKeys {
    /// Oldest first.
    keys: Vec<SigningKeyView>,
}

/// The progress of a destruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Destruction {
    /// The key.
    pub kid: String,
    /// Whether the private key is destroyed. If not, call again.
    pub destroyed: bool,
    /// The number of examined requests; 0 if the private key was already destroyed.
    pub examined: u64,
    /// The number of stored receipt signatures.
    pub stored: u64,
}

/// List the keys that sign receipts.
#[utoipa::path(
    get,
    path = "/api/v1/signing-keys",
    operation_id = "listSigningKeys",
    responses(
        (status = 200, description = "Oldest first", body = SigningKeys),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn list(State(receipts): State<Receipts>, _: AdminCaller) -> Result<Response, ApiProblem> {
    let listed = receipts.signer().listed().await.map_err(|error| unreadable(&error))?;
    let keys = listed.into_iter().map(SigningKeyView::from).collect();
    Ok(Json(SigningKeys { keys }).into_response())
}

/// Destroy the private half of a retired signing key.
///
/// The server first stores the signatures of all receipts that the key signed, for a limited number
/// of requests per call: repeat the call until `destroyed` is true. Receipts keep their bytes, and
/// the public key stays published.
#[utoipa::path(
    post,
    path = "/api/v1/signing-keys/{kid}/destroy",
    operation_id = "destroySigningKey",
    params(
        (
            "kid" = String,
            Path,
            description = "The key",
            example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
        ),
    ),
    responses(
        (status = 200, description = "Destroyed, now or before", body = Destruction),
        (status = 202, description = "Signatures are being stored; call again", body = Destruction),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 404, description = "`not-found`: the key does not exist; the detail lists the \
                                      existing keys"),
        (
            status = 409,
            description = "`precondition-failed`: the key is current, was retired less than a \
                           minute ago, or was revoked",
        ),
    ),
)]
async fn destroy(
    State(key_destruction): State<KeyDestruction>,
    PathParam(kid): PathParam<String>,
    AdminCaller { actor, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let progress = key_destruction.destroy(&actor, &kid, REQUESTS_PER_CALL).await?;
    let DestructionProgress { destroyed, examined, stored } = progress;
    let status = if destroyed { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(Destruction { kid, destroyed, examined, stored })).into_response())
}

impl From<KeyDestructionError> for ApiProblem {
    fn from(why: KeyDestructionError) -> Self {
        match why {
            KeyDestructionError::UnknownKey { known } => {
                let known = known.join(", ");
                let detail = format!("signing key not found; the keys are {known}");
                Self::new(404, "not-found").detail(detail)
            }
            KeyDestructionError::Refused(refusal) => refusal.into(),
            KeyDestructionError::Unreadable(error) => unreadable(&error),
            KeyDestructionError::Store(error) => error.into(),
        }
    }
}

fn unreadable(error: &anyhow::Error) -> ApiProblem {
    tracing::error!(error = format!("{error:#}"), "cannot read or change the signing keys");
    ApiProblem::new(500, "internal")
}
