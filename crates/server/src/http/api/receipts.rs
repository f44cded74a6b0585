//! Receipts: `GET /api/v1/asks/{id}/receipt` and `…/proof`, `POST /api/v1/asks/{id}/revoke`,
//! `POST /api/v1/receipts/verify`, `GET /api/v1/receipts/revocations`. See `docs/receipts.md`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use dialects::native::{AskView, RevocationView};
use dialects::proof::receipt::{PREFIX, id as receipt_id};
use dialects::proof::record_check::Inclusion;
use dialects::proof::{
    EvidenceStatus, REVOCATIONS, ReceiptClaims, RevocationClaims, RevokedReceipt, compare, explain,
};
use gateway::Gateway;
use gateway::receipts::{Receipts, evidence_for};
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::receipt::Receipt;
use kernel::{AskCommand, AskId, Phase, Refusal, Subject, Time};
use serde::{Deserialize, Serialize};
use store::{AskListQuery, Cursor, Filter, ListScope, Order};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::api::AskViews;
use crate::http::api::actions::AskAction;
use crate::http::api::audit::{inclusion_of, inclusion_proof};
use crate::http::api::extractors::{JsonBody, PersonCaller, VisibleAsk};
use crate::http::api::openapi::IfMatch;
use crate::http::api::paging::{ListParams, invalid_parameter};
use crate::http::problem::ApiProblem;
use crate::http::{AppState, body};

const JOSE: &str = "application/jose";
/// The number of revocations on one page.
const PAGE: usize = 100;
/// The phases in which an ask has a receipt.
const CLOSED_PHASES: [Phase; 4] =
    [Phase::Completed, Phase::Expired, Phase::Cancelled, Phase::Failed];

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(receipt))
        .routes(routes!(prove))
        .routes(routes!(prove_enrolment))
        .routes(routes!(revoke))
        .routes(routes!(verify))
        .routes(routes!(revocations))
}

/// A receipt with its claims.
#[derive(Serialize, ToSchema)]
#[schema(as = SignedReceipt)]
struct SignedReceipt {
    /// The compact JWS.
    receipt: String,
    /// The claims in readable form.
    claims: ReceiptClaims,
    /// The evidence that a passkey confirmed the answer, which anyone can verify. It is not part of
    /// the signed receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<PasskeyEvidence>,
    /// Whether that evidence is available, if the assurance is `passkey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_status: Option<EvidenceStatus>,
}

/// Get the receipt of a closed ask.
///
/// It is a compact JWS signed with Ed25519. With `Accept: application/json`, the response also has
/// the claims, and the evidence of the passkey that confirmed the answer.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/receipt",
    operation_id = "getReceipt",
    responses(
        (
            status = 200,
            description = "Signed",
            content(
                (String = "application/jose"),
                (SignedReceipt = "application/json"),
            ),
        ),
        (status = 409, description = "`not-over`: the ask is still open"),
        (status = 410, description = "`erased`: the text was erased, so no receipt can be created"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn receipt(
    State(receipts): State<Receipts>,
    headers: HeaderMap,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    if ask.is_open() {
        return Err(still_open());
    }
    let claims = receipts.claims_for(&ask, &actor).ok_or_else(|| {
        let detail = "the text of this request was erased, so no receipt can be created";
        ApiProblem::new(410, "erased").detail(detail)
    })?;
    let receipt = receipts.sign_receipt(&claims).await?;
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if accept.into_iter().any(|kinds| kinds.contains("application/json")) {
        let (evidence_status, evidence) = evidence_for(&ask, &actor);
        let signed = SignedReceipt { receipt, claims, evidence, evidence_status };
        return Ok(Json(signed).into_response());
    }
    Ok(([(header::CONTENT_TYPE, JOSE)], receipt).into_response())
}

/// Why a receipt is revoked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RevokeBody {
    /// The reason, which everyone who checks the receipt sees.
    #[schema(min_length = 1, max_length = 1000)]
    reason: String,
}

/// Revoke the receipt of an ask, so that it is no longer valid.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/revoke",
    operation_id = "revokeReceipt",
    params(IfMatch),
    request_body(content = RevokeBody, example = json!({ "reason": "the wrong account" })),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (
            status = 403,
            description = "`not-allowed`: the caller is not an administrator",
        ),
        (status = 409, description = "`not-over`: the ask is still open"),
    ),
)]
async fn revoke(
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(RevokeBody { reason }): JsonBody<RevokeBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Revoke(id, reason)).await
}

/// Prove that the event of a receipt is in a signed block.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/receipt/proof",
    operation_id = "proveReceipt",
    responses(
        (status = 200, description = "The path from the event to the signed \
                                      root", body = Inclusion),
        (
            status = 409,
            description = "`not-over`; `not-sealed`: not in a block yet",
            headers(("Retry-After" = String, description = "The number of seconds after which to \
                     retry")),
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn prove(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let place = Receipt::of(&ask).ok_or_else(still_open)?.place;
    Ok(Json(inclusion_proof(&ask_views, &gateway, &config, &ask, &actor, place.seq).await?)
        .into_response())
}

/// Prove with the audit log that the passkey that confirmed an answer was enrolled before.
///
/// The record has the public key, the credential ID, the label of the passkey, and the person.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/receipt/enrolment",
    operation_id = "proveEnrolment",
    responses(
        (status = 200, description = "The path from the record to the signed \
                                      root", body = Inclusion),
        (status = 404, description = "`not-found`: this receipt has no passkey evidence"),
        (
            status = 409,
            description = "`not-over`; `not-sealed`: not in a block yet",
            headers(("Retry-After" = String, description = "The number of seconds after which to \
                     retry")),
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn prove_enrolment(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    if ask.is_open() {
        return Err(still_open());
    }
    let (_, evidence) = evidence_for(&ask, &actor);
    let evidence = evidence.ok_or(Refusal::NotFound { what: "passkey evidence" })?;
    Ok(Json(inclusion_of(&gateway, &config, Subject::Key(evidence.key), 1).await?).into_response())
}

fn still_open() -> ApiProblem {
    let detail = "this request is still open; it gets a receipt when it is closed";
    ApiProblem::new(409, "not-over").detail(detail)
}

/// A receipt to check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct VerifyBody {
    /// The compact JWS.
    receipt: String,
}

/// The result of checking a receipt.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = CheckedReceipt)]
struct CheckedReceipt {
    /// Whether this server issued the receipt and it is still valid.
    valid: bool,
    /// The reason if it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    claims: Option<ReceiptClaims>,
    /// The claims as sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
    /// The revocation, if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<RevocationView>,
}

/// Check a receipt: whether this server issued it, whether it matches the audit log, and whether it
/// is still valid.
///
/// The response reveals nothing beyond the receipt except a revocation. No credential is required.
#[utoipa::path(
    post,
    path = "/api/v1/receipts/verify",
    operation_id = "verifyReceipt",
    request_body(content = VerifyBody, example = json!({ "receipt": "eyJhbGciOiJFZERTQSJ9.e30.c2ln" })),
    responses((status = 200, description = "Whether the receipt is valid, and if not, \
                                            why", body = CheckedReceipt)),
    security(()),
)]
async fn verify(
    State(config): State<Arc<Config>>,
    State(gateway): State<Gateway>,
    State(receipts): State<Receipts>,
    body: Body,
) -> Result<Json<CheckedReceipt>, ApiProblem> {
    // A receipt contains a question and an answer in base64, each of which may be as large as a
    // body.
    let largest = config.body_limit.saturating_mul(3).saturating_add(1 << 16);
    let VerifyBody { receipt } = super::parse(&body::read(body, largest).await?)?;
    let claims = match receipts.signer().verify(&receipt) {
        Ok(claims) => claims,
        Err(unproven) => {
            let why = Some(receipts.reason(&unproven));
            return Ok(Json(CheckedReceipt { why, ..CheckedReceipt::default() }));
        }
    };
    let asked = gateway.store().ask(claims.sub).await?;
    if let Err(differs) = compare(&claims, asked.as_deref()) {
        let why = Some(differs.to_string());
        return Ok(Json(CheckedReceipt { why, ..CheckedReceipt::default() }));
    }
    let revoked = asked.as_deref().and_then(RevocationView::of);
    let why = revoked.as_ref().map(|revoked| called_back(revoked.at, revoked.reason.as_deref()));
    let words = Some(explain(&claims));
    Ok(Json(CheckedReceipt { valid: revoked.is_none(), why, claims: Some(claims), words, revoked }))
}

fn called_back(at: Time, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("the receipt was revoked at {at}: {reason}"),
        None => format!("the receipt was revoked at {at}"),
    }
}

/// List revoked receipts and keys.
///
/// The list is signed, so it can be stored and used offline. No credential is required.
#[utoipa::path(
    get,
    path = "/api/v1/receipts/revocations",
    operation_id = "listRevocations",
    params(("cursor" = Option<String>, Query, description = "The `next` of the previous page")),
    responses(
        (
            status = 200,
            description = "A page: a compact JWS whose claims are in `docs/receipts.md`",
            body = String,
            content_type = "application/jose",
        ),
        (status = 422, description = "`invalid-field`: an invalid cursor"),
    ),
    security(()),
)]
async fn revocations(
    State(gateway): State<Gateway>,
    State(receipts): State<Receipts>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["cursor"])?;
    let cursor = params.one("cursor")?;
    let after = match cursor.map(|text| AskId::parse_with_prefix(PREFIX, text)) {
        Some(None) => {
            return Err(invalid_parameter("cursor", "the `next` of the previous page"));
        }
        Some(Some(ask)) => Some(Cursor { rank: 0, ask }),
        None => None,
    };
    let (scopes, filter) = (vec![ListScope::Revoked], Filter::default());
    let (phases, order) = (CLOSED_PHASES.to_vec(), Order::Age);
    let list = AskListQuery { scopes, phases, order, filter, after, limit: PAGE };
    let page = gateway.store().list(list).await?;
    let revoked = page.asks.iter().filter_map(|ask| {
        let revoked = ask.revoked.as_ref()?;
        let reason = revoked.reason.value().cloned();
        Some(RevokedReceipt { jti: receipt_id(ask.id), at: revoked.at, reason })
    });
    let now = gateway.now();
    let claims = RevocationClaims {
        iss: receipts.issuer().to_owned(),
        iat: gateway.wall_time().millis().div_euclid(1000),
        revoked: revoked.collect(),
        keys: receipts.signer().revoked(),
        after: cursor.map(str::to_owned),
        next: page.next.map(|cursor| receipt_id(cursor.ask)),
    };
    let kept = [(header::CONTENT_TYPE, JOSE), (header::CACHE_CONTROL, "public, max-age=60")];
    Ok((kept, receipts.signer().sign(REVOCATIONS, &claims, now)).into_response())
}
