//! The record: `GET /api/v1/asks/{id}/audit`, `GET /api/v1/asks/{id}/audit/{seq}/proof`, and for
//! administrators `GET /api/v1/audit/blocks` and `GET /api/v1/audit/export`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::stream;
use kernel::audit::Record;
use kernel::{AskId, Refusal, Subject};
use serde::Deserialize;
use serde_json::{Value, json};
use store::SealedBlock;

use crate::audit::{Export, NoProof, proof};
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};

/// How many records are read at once.
const PAGE: usize = 500;
/// How many blocks are shown at once, unless the caller wants fewer.
const BLOCKS: usize = 100;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/asks/{id}/audit", get(events))
        .route("/api/v1/asks/{id}/audit/{seq}/proof", get(prove))
        .route("/api/v1/audit/blocks", get(blocks))
        .route("/api/v1/audit/export", get(export))
}

/// What happened to an ask, for whoever may see it. Words are not in it, only commitments.
async fn events(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let subject = app.seen(&headers, &id).await?;
    let (mut shown, mut seq) = (Vec::new(), 0);
    loop {
        let records = app.gateway.store().records(subject.clone(), seq, PAGE).await?;
        let Some(last) = records.last() else { break };
        seq = last.seq;
        shown.extend(records.iter().map(event));
    }
    Ok(Json(json!({ "events": shown })).into_response())
}

fn event(record: &Record) -> Value {
    let by = record.event().ok().map(|event| event.by);
    json!({
        "seq": record.seq,
        "at": record.at,
        "by": by,
        "event": record.what,
        "hash": record.hash,
        "prev": record.prev,
        "body": record.body,
    })
}

/// The proof that an event stands in a signed block.
async fn prove(
    State(app): State<Shared>,
    Named((id, seq)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let subject = app.seen(&headers, &id).await?;
    let seq = seq.parse().map_err(|_| Refusal::NotFound { what: "event" })?;
    Ok(Json(app.proof(subject, seq).await?).into_response())
}

impl App {
    /// The subject of an ask the caller may see.
    async fn seen(&self, headers: &HeaderMap, id: &str) -> Result<Subject, Problem> {
        let actor = self.anyone(headers).await?;
        let id: AskId = id.parse().map_err(|_| Refusal::NotFound { what: "request" })?;
        self.visible(&actor, id).await?;
        Ok(Subject::Ask(id))
    }

    /// The proof of one event, or when to ask for it again.
    pub(crate) async fn proof(
        &self,
        subject: Subject,
        seq: u64,
    ) -> Result<dialects::proof::inclusion::Inclusion, Problem> {
        let wait = self.config.seal_every.as_secs() + 1;
        proof(&**self.gateway.store(), subject, seq).await.map_err(|why| match why {
            NoProof::NotSealed => Problem::from(why).retry_after(wait),
            NoProof::NotFound | NoProof::Broken | NoProof::Store(_) => why.into(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlocksQuery {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    limit: Option<usize>,
}

/// Blocks after a number, with what was signed.
async fn blocks(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(query): Query<BlocksQuery>,
) -> Result<Response, Problem> {
    app.administered(&headers).await?;
    let limit = query.limit.unwrap_or(BLOCKS).clamp(1, BLOCKS);
    let store = app.gateway.store();
    let anchored = store.anchored().await?.unwrap_or(0);
    let found = store.blocks(query.after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|sealed| sealed.block.n);
    let shown: Vec<Value> = found.iter().map(|sealed| block(sealed, anchored)).collect();
    Ok(Json(json!({ "blocks": shown, "next": next })).into_response())
}

fn block(sealed: &SealedBlock, anchored: u64) -> Value {
    let block = &sealed.block;
    json!({
        "n": block.n,
        "first": block.first,
        "count": block.count,
        "root": block.root,
        "prev": block.prev,
        "hash": block.hash(),
        "at": block.at,
        "anchored": block.n <= anchored,
        "block": sealed.jws,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    #[serde(default)]
    after: u64,
}

/// The whole record as JSON Lines, read while it is sent.
async fn export(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    app.administered(&headers).await?;
    let sealer = &app.sealer;
    let (store, signer) = (Arc::clone(app.gateway.store()), sealer.signer().clone());
    let issuer = sealer.issuer().to_owned();
    let begun = Export::begin(store, signer, issuer, app.gateway.now(), query.after).await;
    let begun = begun.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "cannot begin an export");
        Problem::new(503, "unavailable").detail("the record cannot be read").retry_after(1)
    })?;
    let lines = stream::try_unfold(begun, async |mut export| {
        // A body that breaks off has no last line, so whoever reads it finds out.
        let lines = export.next().await.inspect_err(|error| {
            tracing::error!(error = format!("{error:#}"), "an export broke off");
        })?;
        anyhow::Ok(lines.map(|lines| (Bytes::from(lines), export)))
    });
    let kind = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"countersign-audit.jsonl\""),
    ];
    Ok((kind, Body::from_stream(lines)).into_response())
}
