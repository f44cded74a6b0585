//! `POST /api/v1/asks/answers`: one answer for many asks. Each ask gets its own answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dialects::native::{BulkAnswer, BulkResult, BulkResults};
use gateway::{CommandConditions, Gateway};
use kernel::ask::DisplayedContent;
use kernel::question::Reply;
use kernel::{Actor, Ask, AskCommand, AskId, Refusal};
use store::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::AskViews;
use crate::http::api::extractors::{JsonBody, PersonCaller};
use crate::http::problem::ApiProblem;

/// The limit keeps a bulk answer to a number of asks that a person can have reviewed.
pub(in crate::http) const MAX_BULK_ASKS: usize = 200;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(answer_all))
}

/// Answer several asks at once (bulk action).
///
/// Each ask gets its own event, receipt and result. Only asks whose `bulk` is true can be answered:
/// not those that require a passkey, irreversible or critical ones, or rejections that require a
/// reason. With `dry_run`, nothing is answered, and the results show what would happen.
#[utoipa::path(
    post,
    path = "/api/v1/asks/answers",
    operation_id = "answerAsks",
    request_body(
        content = BulkAnswer,
        example = json!({
            "asks": ["ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"],
            "answer": { "verdict": "approved" },
            "comment": "all within the limit",
            "dry_run": true,
        }),
    ),
    responses(
        (status = 200, description = "The results, in the order of the \
                                      request", body = BulkResults<'static>),
        (status = 422, description = "`invalid-field`: no asks, more than 200, or a duplicate"),
    ),
)]
async fn answer_all(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(BulkAnswer { asks, answer, comment, dry_run }): JsonBody<BulkAnswer>,
) -> Result<Response, ApiProblem> {
    let distinct: std::collections::BTreeSet<&AskId> = asks.iter().collect();
    if asks.is_empty() || asks.len() > MAX_BULK_ASKS || distinct.len() < asks.len() {
        let expected = "1 to 200 distinct asks";
        return Err(Refusal::Invalid { field: "asks", expected }.into());
    }
    let reply = Reply { answer, comment };
    let mut answered = Vec::with_capacity(asks.len());
    for id in asks {
        let how = if dry_run { BulkMode::DryRun } else { BulkMode::AtOnce };
        let result = answer_one(&gateway, &actor, id, &reply, how).await?;
        answered.push((id, result));
    }
    let mut results = Vec::with_capacity(answered.len());
    for (id, result) in &answered {
        results.push(match result {
            Ok(ask) => BulkResult {
                id: *id,
                done: true,
                ask: Some(ask_views.view(ask, &actor).await?),
                code: None,
                why: None,
            },
            Err(refusal) => BulkResult {
                id: *id,
                done: false,
                ask: None,
                code: Some(refusal.code()),
                why: Some(refusal.to_string()),
            },
        });
    }
    Ok(Json(BulkResults { dry_run, results }).into_response())
}

/// How a bulk action answers one ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum BulkMode {
    /// The answer takes effect now.
    AtOnce,
    /// The answer is held for a moment, in which the person can undo it.
    Held,
    /// The ask is not answered; the outcome only says what would happen.
    DryRun,
}

/// Answers one of the asks, or says why not. Only an unavailable store ends the whole bulk action;
/// the answers given until then stay.
pub(in crate::http) async fn answer_one(
    gateway: &Gateway,
    actor: &Actor,
    id: AskId,
    reply: &Reply,
    how: BulkMode,
) -> Result<Result<Ask, Refusal>, StoreError> {
    let directory = gateway.directory();
    let found = gateway.ask(id).await?.filter(|ask| ask.is_visible_to(actor, &directory));
    let Some(ask) = found else { return Ok(Err(Refusal::NotFound { what: "request" })) };
    let reply = match ask.bulk_reply(reply) {
        Ok(reply) => reply,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // The version that was checked must be the version that is answered.
    let shown = match how {
        // The page of bulk answers shows summaries.
        BulkMode::Held => DisplayedContent::Summary,
        BulkMode::AtOnce | BulkMode::DryRun => DisplayedContent::Nothing,
    };
    let terms =
        CommandConditions { expected: Some(ask.version()), shown, ..CommandConditions::default() };
    let command = match how {
        BulkMode::Held => AskCommand::HoldAnswer(id, Box::new(reply)),
        BulkMode::AtOnce | BulkMode::DryRun => AskCommand::Answer(id, Box::new(reply)),
    };
    let outcome = if how == BulkMode::DryRun {
        let taken = gateway.command_check(&ask).await?.accepts(actor, command);
        taken.map(|()| Some(Arc::unwrap_or_clone(ask)))
    } else {
        match gateway.run_with_conditions(terms, actor.clone(), command).await {
            Ok(outcome) => Ok(outcome.ask),
            Err(StoreError::Refused(refusal)) => Err(refusal),
            Err(error) => return Err(error),
        }
    };
    Ok(outcome.and_then(|ask| ask.ok_or(Refusal::NotFound { what: "request" })))
}
