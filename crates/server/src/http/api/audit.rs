//! The audit log: `GET /api/v1/asks/{id}/audit`, `GET /api/v1/asks/{id}/audit/{seq}/proof`, and for
//! administrators `GET /api/v1/audit/blocks` and `GET /api/v1/audit/export`.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dialects::native::{BlockPage, BlockView, RecordListView, RecordView};
use dialects::proof::record_check::Inclusion;
use futures_util::stream;
use gateway::Gateway;
use gateway::audit::{AuditExport, NoProof, proof};
use kernel::event::HELD_ANSWER;
use kernel::{Actor, Ask, Refusal, Subject};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::AppState;
use crate::http::api::AskViews;
use crate::http::api::extractors::{AdminCaller, VisibleAsk};
use crate::http::api::openapi::AfterNumber;
use crate::http::api::paging::ListParams;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::services::Operations;

/// How many records are read at once.
const PAGE: usize = 500;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(events))
        .routes(routes!(prove))
        .routes(routes!(blocks))
        .routes(routes!(export))
}

/// Read the audit log of an ask.
///
/// Everyone who can see the ask can read it. It has commitments instead of text.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/audit",
    operation_id = "auditAsk",
    responses((status = 200, description = "The whole list", body = RecordListView)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn events(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let viewer = ask_views.viewer(&actor);
    let (mut shown, mut seq) = (Vec::new(), 0);
    loop {
        let records = gateway.store().chain(Subject::Ask(ask.id), seq, PAGE).await?;
        let Some(last) = records.last() else { break };
        seq = last.seq;
        shown.extend(records.into_iter().map(|record| RecordView::of(record, &ask, viewer)));
    }
    // An agent sees an open ask while an answer is held, so its audit log ends before the held
    // answer until that answer takes effect.
    let held = shown.iter().rposition(|record| record.event == "answer_held");
    if let (Actor::Agent { .. }, Some(_), Some(held)) = (&actor, &ask.held, held) {
        shown.truncate(held);
    }
    Ok(Json(RecordListView { events: shown }).into_response())
}

/// Prove that an event is in a signed block.
///
/// The clients check the proof; `docs/audit.md` describes how.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/audit/{seq}/proof",
    operation_id = "proveEvent",
    params(("seq" = u64, Path, description = "The number of the event, from 1", example = 1)),
    responses(
        (status = 200, description = "The path from the event to the signed \
                                      root", body = Inclusion),
        (
            status = 409,
            description = "`not-sealed`: not in a block yet",
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
    PathParam((_, seq)): PathParam<(String, String)>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let seq = seq.parse().map_err(|_| Refusal::NotFound { what: "event" })?;
    Ok(Json(inclusion_proof(&ask_views, &gateway, &config, &ask, &actor, seq).await?)
        .into_response())
}

/// The inclusion proof of one event of any subject. If its block is not sealed yet, the error says
/// when to try again.
pub(crate) async fn inclusion_of(
    gateway: &Gateway,
    config: &Config,
    subject: Subject,
    seq: u64,
) -> Result<Inclusion, ApiProblem> {
    let wait = config.seal_every.as_secs() + 1;
    let found = proof(&**gateway.store(), subject, seq).await;
    found.map_err(|why| match why {
        NoProof::NotSealed => ApiProblem::from(why).retry_after(wait),
        NoProof::NotFound | NoProof::Broken | NoProof::Store(_) => why.into(),
    })
}

/// The inclusion proof of one event of an ask, if this actor may see that event.
pub(crate) async fn inclusion_proof(
    ask_views: &AskViews,
    gateway: &Gateway,
    config: &Config,
    ask: &Ask,
    actor: &Actor,
    seq: u64,
) -> Result<Inclusion, ApiProblem> {
    let mut found = inclusion_of(gateway, config, Subject::Ask(ask.id), seq).await?;
    if let Actor::Agent { .. } = actor
        && is_held_answer(found.record.body.as_deref())
    {
        return Err(Refusal::NotFound { what: "event" }.into());
    }
    if ask_views.viewer(actor).hides_names(ask) {
        found.record.body = None;
    }
    Ok(found)
}

/// Whether a record is about a held answer.
fn is_held_answer(body: Option<&str>) -> bool {
    let body = body.and_then(|body| serde_json::from_str::<serde_json::Value>(body).ok());
    let name = body.as_ref().and_then(|body| body.pointer("/what/event")?.as_str());
    name.is_some_and(|name| HELD_ANSWER.contains(&name))
}

/// List sealed blocks with their signatures.
#[utoipa::path(
    get,
    path = "/api/v1/audit/blocks",
    operation_id = "listBlocks",
    params(
        AfterNumber,
        (
            "limit" = Option<u64>,
            Query,
            description = "The page size; 20 by default.",
            minimum = 1,
            maximum = 100,
        ),
    ),
    responses(
        (status = 200, description = "A page", body = BlockPage),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn blocks(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    _: AdminCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["after", "limit"])?;
    let (after, limit) = (params.after()?, params.limit()?);
    let store = gateway.store();
    let anchored = store.anchored().await?.unwrap_or(0);
    let found = store.blocks(after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|sealed| sealed.block.n);
    let shown = found.into_iter().map(|sealed| BlockView::new(&sealed.block, sealed.jws, anchored));
    Ok(Json(BlockPage { blocks: shown.collect(), next }).into_response())
}

/// Export the whole audit log as JSON Lines.
///
/// The server streams it, and its last line is signed, so an incomplete export can be detected. It
/// contains all text that was not erased.
#[utoipa::path(
    get,
    path = "/api/v1/audit/export",
    operation_id = "exportAudit",
    params(AfterNumber),
    responses(
        (
            status = 200,
            description = "A header, blocks and records in order, the signed last line",
            body = String,
            content_type = "application/x-ndjson",
        ),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn export(
    State(gateway): State<Gateway>,
    State(operations): State<Arc<Operations>>,
    Query(pairs): Query<Vec<(String, String)>>,
    _: AdminCaller,
) -> Result<Response, ApiProblem> {
    let after = ListParams::new(pairs, &["after"])?.after()?;
    let sealer = &operations.sealer;
    let (store, signer) = (Arc::clone(gateway.store()), sealer.signer().clone());
    let issuer = sealer.issuer().to_owned();
    let begun = AuditExport::begin(store, signer, issuer, gateway.now(), after).await;
    let begun = begun.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "cannot start an audit export");
        ApiProblem::new(503, "unavailable")
            .detail("the audit log is temporarily unavailable; try again")
            .retry_after(1)
    })?;
    let lines = stream::try_unfold(begun, async |mut export| {
        // An interrupted body has no last line, so the reader can detect it.
        let lines = export.next().await.inspect_err(|error| {
            tracing::error!(error = format!("{error:#}"), "an audit export ended early");
        })?;
        anyhow::Ok(lines.map(|lines| (Bytes::from(lines), export)))
    });
    let kind = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"countersign-audit.jsonl\""),
    ];
    Ok((kind, Body::from_stream(lines)).into_response())
}
