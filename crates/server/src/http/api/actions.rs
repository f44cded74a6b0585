//! Actions on an ask: `POST /api/v1/asks/{id}/…`. Each takes `If-Match`, which is checked in the
//! same transaction that runs the action.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use dialects::native::{
    AskView, AssignBody, CancelBody, CommentBody, CommentView, Comments, ExtendBody, PickBody,
};
use gateway::answer_files::AnswerFiles;
use gateway::{Gateway, Terms};
use kernel::question::Reply;
use kernel::{Actor, AskCommand, AskId, Refusal};
use store::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::api::asks::parse;
use crate::http::api::openapi::IfMatch;
use crate::http::api::{AskViews, json, json_if_any};
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{Shared, conditions};

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(answer))
        .routes(routes!(cancel))
        .routes(routes!(claim))
        .routes(routes!(assign))
        .routes(routes!(extend))
        .routes(routes!(pick))
        .routes(routes!(comments, comment))
        .routes(routes!(erase))
}

/// Answer an ask.
///
/// Exactly one answer wins. It must fit the question; a file is uploaded first.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/answer",
    operation_id = "answerAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(
        content = Reply,
        example = json!({ "answer": { "verdict": "approved" }, "comment": "fine" }),
    ),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`assurance-too-low`, `not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (
            status = 422,
            description = "`answer-mismatch`: it does not answer the question; `invalid-field`",
        ),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("human_token" = [])),
)]
async fn answer(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(answer_files): State<AnswerFiles>,
    Named(id): Named<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (Parts { headers, .. }, body) = request.into_parts();
    let actor = callers.person(&headers).await?;
    let reply: Reply = json(&config, body).await?;
    let reply = answer_files.redeemed(reply, parse(&id)?, &actor)?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Answer(id, Box::new(reply)))
        .await
}

/// Withdraw an ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/cancel",
    operation_id = "cancelAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(content = CancelBody, example = json!({ "reason": "no longer needed" })),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn cancel(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let CancelBody { reason } = json_if_any(&config, body).await?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Cancel(id, reason)).await
}

/// Take an ask on, so that nobody else works on it.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/claim",
    operation_id = "claimAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("human_token" = [])),
)]
async fn claim(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    act(&ask_views, &gateway, actor, &headers, &id, AskCommand::Claim).await
}

/// Hand an ask to somebody, with a word.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/assign",
    operation_id = "assignAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(
        content = AssignBody,
        example = json!({ "to": "user_dev_2", "note": "you know this customer" }),
    ),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("human_token" = [])),
)]
async fn assign(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let AssignBody { to, note } = json(&config, body).await?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Assign(id, to, note)).await
}

/// Move the deadline of an ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/extend",
    operation_id = "extendAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(content = ExtendBody, example = json!({ "until": "2030-01-31T12:00:00Z" })),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it; `no-deadline`: it never runs out",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn extend(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let ExtendBody { until } = json(&config, body).await?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Extend(id, until)).await
}

/// Pick one of the actions the agent offers in its envelope.
///
/// The agent is told, in `hxp_picked` and by the event `action_picked`; nothing is answered by it.
/// Picking the same again changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/pick",
    operation_id = "pickAction",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(content = PickBody, example = json!({ "action": 0 })),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("human_token" = [])),
)]
async fn pick(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let PickBody { action } = json(&config, body).await?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Pick(id, action)).await
}

/// Remark something on an ask, before or after it is over.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/comments",
    operation_id = "commentAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    request_body(content = CommentBody, example = json!({ "text": "The customer called again." })),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 403, description = "`not-allowed`: its words were erased"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn comment(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let CommentBody { text } = json(&config, body).await?;
    act(&ask_views, &gateway, actor, &headers, &id, |id| AskCommand::Comment(id, text)).await
}

/// What was remarked on an ask.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/comments",
    operation_id = "listComments",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "All of it, in order", body = Comments<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn comments(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let ask = gateway.visible(&actor, parse(&id)?).await?;
    let comments = CommentView::all(&ask, ask_views.viewer(&actor));
    Ok(Json(Comments { comments }).into_response())
}

/// Erase the words of an ask that is over: question, answer, comments, reasons.
///
/// What happened stays on the record, with commitments in place of the words, and every chain, block
/// and receipt stays valid. It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/erase",
    operation_id = "eraseAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfMatch,
    ),
    responses(
        (
            status = 200,
            description = "The ask as it is then",
            body = AskView<'static>,
            headers(("ETag" = String, description = "Its version")),
        ),
        (status = 409, description = "`not-over`: cancel it first"),
        (status = 412, description = "`changed`: it is not at the version of `If-Match`"),
    ),
    security(("human_token" = [])),
)]
async fn erase(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    act(&ask_views, &gateway, actor, &headers, &id, AskCommand::Erase).await
}

/// Runs the command if the ask still has the version in `If-Match`, and returns the ask.
pub(super) async fn act(
    ask_views: &AskViews,
    gateway: &Gateway,
    actor: Actor,
    headers: &HeaderMap,
    id: &str,
    command: impl FnOnce(AskId) -> AskCommand,
) -> Result<Response, Problem> {
    let terms = Terms { expected: conditions::expected(headers)?, ..Terms::default() };
    let id = parse(id)?;
    match gateway.run_on(terms, actor.clone(), command(id)).await {
        Ok(outcome) => {
            let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
            ask_views.shown(&ask, &actor).await
        }
        Err(StoreError::Refused(refusal)) => {
            Err(respond_with_ask(ask_views, gateway, &actor, id, refusal).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// The refusal, without the names that this actor may not see.
async fn respond_with_ask(
    ask_views: &AskViews,
    gateway: &Gateway,
    actor: &Actor,
    id: AskId,
    refusal: Refusal,
) -> Problem {
    match gateway.visible(actor, id).await {
        Ok(ask) => ask_views.viewer(actor).told(refusal, &ask).into(),
        // The actor cannot see the ask, so the refusal names no person.
        Err(_) => refusal.into(),
    }
}
