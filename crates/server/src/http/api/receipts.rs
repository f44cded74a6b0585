//! Receipts: `GET /api/v1/asks/{id}/receipt` and `…/proof`, `POST /api/v1/asks/{id}/revoke`,
//! `POST /api/v1/receipts/verify`, `GET /api/v1/receipts/revocations`. See `docs/receipts.md`.

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::proof::receipt::{PREFIX, id as receipt_id};
use dialects::proof::{
    Names, RECEIPT, REVOCATIONS, ReceiptClaims, RevocationClaims, RevokedReceipt, Unproven, words,
};
use kernel::receipt::Receipt;
use kernel::{Actor, Ask, AskId, Command, Phase, Refusal, Subject, Time};
use serde::{Deserialize, Serialize};
use store::{Cursor, Filter, List, Scope};

use crate::http::api::asks::parse;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared, body};

const JOSE: &str = "application/jose";
/// How many revocations stand on one page.
const PAGE: usize = 100;
/// In which phases an ask has a receipt.
const OVER: [Phase; 4] = [Phase::Completed, Phase::Expired, Phase::Cancelled, Phase::Failed];

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/asks/{id}/receipt", get(receipt))
        .route("/api/v1/asks/{id}/receipt/proof", get(prove))
        .route("/api/v1/asks/{id}/revoke", post(revoke))
        .route("/api/v1/receipts/verify", post(verify))
        .route("/api/v1/receipts/revocations", get(revocations))
}

impl App {
    /// The receipt of an ask as this actor gets it: none while the ask is open, and none once its
    /// words were erased.
    pub fn receipt_for(&self, ask: &Ask, actor: &Actor) -> Option<String> {
        let claims = self.claims_for(ask, actor)?;
        Some(self.signer.sign(RECEIPT, &claims, claims.ended_at))
    }

    fn claims_for(&self, ask: &Ask, actor: &Actor) -> Option<ReceiptClaims> {
        let names = match actor {
            Actor::Human { .. } => Names::Shown,
            Actor::Agent { .. } | Actor::System => {
                Names::Hidden(self.secrets.evidence.reveal().as_bytes())
            }
        };
        ReceiptClaims::of(ask, self.issuer(), names)
    }

    /// Who signs: the public address, without a slash.
    pub(crate) fn issuer(&self) -> &str {
        self.config.public_url.as_str().trim_end_matches('/')
    }
}

#[derive(Serialize)]
struct Signed {
    receipt: String,
    claims: ReceiptClaims,
}

/// The compact JWS; with `Accept: application/json` what it claims as well.
async fn receipt(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ask = app.visible(&actor, parse(&id)?).await?;
    if ask.is_open() {
        return Err(not_over());
    }
    let claims = app.claims_for(&ask, &actor).ok_or_else(|| {
        let detail = "the words of this request were erased, so no receipt can be made any more";
        Problem::new(410, "erased").detail(detail)
    })?;
    let receipt = app.signer.sign(RECEIPT, &claims, claims.ended_at);
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if accept.into_iter().any(|kinds| kinds.contains("application/json")) {
        return Ok(Json(Signed { receipt, claims }).into_response());
    }
    Ok(([(header::CONTENT_TYPE, JOSE)], receipt).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokeBody {
    reason: String,
}

async fn revoke(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let RevokeBody { reason } = app.json(body).await?;
    app.act(actor, &headers, &id, |id| Command::Revoke(id, reason)).await
}

/// The proof that the event a receipt names stands in a signed block.
async fn prove(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ask = app.visible(&actor, parse(&id)?).await?;
    let place = Receipt::of(&ask).ok_or_else(not_over)?.place;
    Ok(Json(app.proof(Subject::Ask(ask.id), place.seq).await?).into_response())
}

fn not_over() -> Problem {
    let detail = "this request is still open; it has a receipt once it is over";
    Problem::new(409, "not-over").detail(detail)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyBody {
    receipt: String,
}

/// What became of a receipt somebody showed.
#[derive(Default, Serialize)]
struct Checked {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claims: Option<ReceiptClaims>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<Revoked>,
}

#[derive(Serialize)]
struct Revoked {
    at: Time,
    reason: Option<String>,
}

/// Whether a receipt is ours and still counts. Nothing is told that is not in the receipt, but that
/// it was called back.
async fn verify(State(app): State<Shared>, body: Body) -> Result<Json<Checked>, Problem> {
    // A receipt holds a question and an answer, each of a body of its own, in base64.
    let largest = app.config.body_limit.saturating_mul(3).saturating_add(1 << 16);
    let VerifyBody { receipt } = super::parse(&body::read(body, largest).await?)?;
    let claims = match app.signer.verify(&receipt) {
        Ok(claims) => claims,
        Err(unproven) => {
            let why = Some(app.why(&unproven));
            return Ok(Json(Checked { why, ..Checked::default() }));
        }
    };
    let asked = app.gateway.store().ask(claims.sub).await?;
    let revoked = asked
        .and_then(|ask| ask.revoked)
        .map(|revoked| Revoked { at: revoked.at, reason: revoked.reason.value().cloned() });
    let why = revoked.as_ref().map(|revoked| called_back(revoked.at, revoked.reason.as_deref()));
    let words = Some(words(&claims));
    Ok(Json(Checked { valid: revoked.is_none(), why, claims: Some(claims), words, revoked }))
}

impl App {
    fn why(&self, unproven: &Unproven) -> String {
        if let Unproven::UnknownKey { kid } = unproven
            && let Some(key) = self.signer.revoked().into_iter().find(|key| key.kid == *kid)
        {
            return format!("the key that signed it was revoked at {}: {}", key.at, key.reason);
        }
        unproven.to_string()
    }
}

fn called_back(at: Time, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("the receipt was revoked at {at}: {reason}"),
        None => format!("the receipt was revoked at {at}"),
    }
}

#[derive(Deserialize)]
struct PageQuery {
    #[serde(default)]
    cursor: Option<String>,
}

/// What no longer counts, signed, so that it can be kept and carried to where there is no network.
async fn revocations(
    State(app): State<Shared>,
    Query(PageQuery { cursor }): Query<PageQuery>,
) -> Result<Response, Problem> {
    let after = match cursor.as_deref().map(|text| AskId::read_as(PREFIX, text)) {
        Some(None) => {
            let expected = "what `next` of the page before said";
            return Err(Refusal::Invalid { field: "cursor", expected }.into());
        }
        Some(Some(ask)) => Some(Cursor { rank: 0, ask }),
        None => None,
    };
    let (scopes, filter) = (vec![Scope::Revoked], Filter::default());
    let list = List { scopes, phases: OVER.to_vec(), filter, after, limit: PAGE };
    let page = app.gateway.store().list(list).await?;
    let revoked = page.asks.iter().filter_map(|ask| {
        let revoked = ask.revoked.as_ref()?;
        let reason = revoked.reason.value().cloned();
        Some(RevokedReceipt { jti: receipt_id(ask.id), at: revoked.at, reason })
    });
    let now = app.gateway.now();
    let claims = RevocationClaims {
        iss: app.issuer().to_owned(),
        iat: now.millis().div_euclid(1000),
        revoked: revoked.collect(),
        keys: app.signer.revoked(),
        after: cursor,
        next: page.next.map(|cursor| receipt_id(cursor.ask)),
    };
    let kept = [(header::CONTENT_TYPE, JOSE), (header::CACHE_CONTROL, "public, max-age=60")];
    Ok((kept, app.signer.sign(REVOCATIONS, &claims, now)).into_response())
}
