//! Actions on an ask: `POST /api/v1/asks/{id}/…`. Each takes `If-Match`, which is checked in the
//! same transaction that runs the action.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{
    AskView, AssignBody, CancelBody, CommentBody, CommentView, Comments, ExtendBody, PickBody,
};
use gateway::answer_files::AnswerFiles;
use gateway::{CommandConditions, Gateway};
use kernel::question::Reply;
use kernel::{Actor, AskCommand, AskId, Refusal};
use store::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::AskViews;
use crate::http::api::extractors::{
    AnyCaller, JsonBody, OptionalJsonBody, PersonCaller, VisibleAsk, ask_id,
};
use crate::http::api::openapi::{ClosedAskProblems, IfMatch};
use crate::http::path_param::path_id;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, conditional_headers};

pub(super) fn routes() -> OpenApiRouter<AppState> {
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
    params(IfMatch),
    request_body(
        content = Reply,
        example = json!({ "answer": { "verdict": "approved" }, "comment": "fine" }),
    ),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`assurance-too-low`, `not-allowed`"),
        ClosedAskProblems,
        (
            status = 422,
            description = "`answer-mismatch`: the answer does not fit the question; \
                           `invalid-field`",
        ),
    ),
)]
async fn answer(
    State(answer_files): State<AnswerFiles>,
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(reply): JsonBody<Reply>,
) -> Result<Response, ApiProblem> {
    let reply = answer_files.verify_uploads(reply, action.ask()?, &actor)?;
    action.run(actor, |id| AskCommand::Answer(id, Box::new(reply))).await
}

/// Cancel an ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/cancel",
    operation_id = "cancelAsk",
    params(IfMatch),
    request_body(content = CancelBody, example = json!({ "reason": "no longer needed" })),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`"),
        ClosedAskProblems,
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn cancel(
    action: AskAction,
    AnyCaller(actor): AnyCaller,
    OptionalJsonBody(CancelBody { reason }): OptionalJsonBody<CancelBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Cancel(id, reason)).await
}

/// Claim an ask, so that no one else works on it.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/claim",
    operation_id = "claimAsk",
    params(IfMatch),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`"),
        ClosedAskProblems,
    ),
)]
async fn claim(
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    action.run(actor, AskCommand::Claim).await
}

/// Assign an ask to another person, with a note.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/assign",
    operation_id = "assignAsk",
    params(IfMatch),
    request_body(
        content = AssignBody,
        example = json!({ "to": "user_dev_2", "note": "you know this customer" }),
    ),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`"),
        ClosedAskProblems,
    ),
)]
async fn assign(
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(AssignBody { to, note }): JsonBody<AssignBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Assign(id, to, note)).await
}

/// Extend the deadline of an ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/extend",
    operation_id = "extendAsk",
    params(IfMatch),
    request_body(content = ExtendBody, example = json!({ "until": "2030-01-31T12:00:00Z" })),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`"),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: the ask is closed; `taken`: \
                           another person has claimed it; `no-deadline`: it has no deadline",
        ),
        (status = 410, description = "`timed-out`: the ask has expired"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn extend(
    action: AskAction,
    AnyCaller(actor): AnyCaller,
    JsonBody(ExtendBody { until }): JsonBody<ExtendBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Extend(id, until)).await
}

/// Pick an action that the agent offers in its envelope.
///
/// The agent sees it in `hxp_picked` and in the event `action_picked`. The ask stays open. Picking
/// the same action again changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/pick",
    operation_id = "pickAction",
    params(IfMatch),
    request_body(content = PickBody, example = json!({ "action": 0 })),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`"),
        ClosedAskProblems,
    ),
)]
async fn pick(
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(picked): JsonBody<PickBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Pick(id, picked.action)).await
}

/// Comment on an ask, open or closed.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/comments",
    operation_id = "commentAsk",
    params(IfMatch),
    request_body(content = CommentBody, example = json!({ "text": "The customer called again." })),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 403, description = "`not-allowed`: its text was erased"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn comment(
    action: AskAction,
    AnyCaller(actor): AnyCaller,
    JsonBody(CommentBody { text }): JsonBody<CommentBody>,
) -> Result<Response, ApiProblem> {
    action.run(actor, |id| AskCommand::Comment(id, text)).await
}

/// List the comments on an ask.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/comments",
    operation_id = "listComments",
    responses((status = 200, description = "All comments, oldest first", body = Comments<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn comments(
    State(ask_views): State<Arc<AskViews>>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let comments = CommentView::all(&ask, ask_views.viewer(&actor));
    Ok(Json(Comments { comments }).into_response())
}

/// Erase the text of a closed ask: question, answer, comments and reasons.
///
/// The audit log keeps the events, with commitments in place of the text, and every chain, block
/// and receipt stays valid. It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/erase",
    operation_id = "eraseAsk",
    params(IfMatch),
    responses(
        (status = 200, description = "The updated ask", body = AskView<'static>),
        (status = 409, description = "`not-over`: the ask is still open; cancel it first"),
    ),
)]
async fn erase(
    action: AskAction,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    action.run(actor, AskCommand::Erase).await
}

/// An action on the ask that the path names.
pub(super) struct AskAction {
    ask_views: Arc<AskViews>,
    gateway: Gateway,
    id: String,
    headers: HeaderMap,
}

impl FromRequestParts<AppState> for AskAction {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, Infallible> {
        Ok(Self {
            ask_views: Arc::from_ref(shared),
            gateway: shared.core.gateway.clone(),
            id: path_id(parts, shared).await,
            headers: parts.headers.clone(),
        })
    }
}

impl AskAction {
    fn ask(&self) -> Result<AskId, ApiProblem> {
        ask_id(&self.id)
    }

    /// Runs the command if the ask still has the version in `If-Match`, and returns the ask.
    pub(super) async fn run(
        self,
        actor: Actor,
        command: impl FnOnce(AskId) -> AskCommand,
    ) -> Result<Response, ApiProblem> {
        let terms = CommandConditions {
            expected: conditional_headers::if_match(&self.headers)?,
            ..CommandConditions::default()
        };
        let id = self.ask()?;
        match self.gateway.run_with_conditions(terms, actor.clone(), command(id)).await {
            Ok(outcome) => {
                let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
                self.ask_views.shown(&ask, &actor).await
            }
            Err(StoreError::Refused(refusal)) => match self.gateway.visible_ask(&actor, id).await {
                // The refusal goes without the names that this actor may not see.
                Ok(ask) => Err(self.ask_views.viewer(&actor).redact_refusal(refusal, &ask).into()),
                // The actor cannot see the ask, so the refusal names no person.
                Err(_) => Err(refusal.into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

// `POST /api/v1/asks/{id}/acknowledge`: the agent confirms that it has read the secret answer.

pub(super) fn acknowledge_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(acknowledge))
}

/// Confirm that the secret values of an answer arrived. The server then deletes them.
///
/// The agent sees the values of sensitive fields until it confirms them, or until ten minutes after
/// it first read them. Afterwards a commitment replaces them. The call can be repeated.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/acknowledge",
    operation_id = "acknowledgeSecrets",
    responses(
        (status = 204, description = "Deleted, or did not exist"),
        (status = 403, description = "`not-allowed`: the caller is not the agent that asked"),
        (status = 409, description = "`not-over`: the ask has no answer yet"),
    ),
    security(("agent_key" = [])),
)]
async fn acknowledge(
    State(gateway): State<Gateway>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<StatusCode, ApiProblem> {
    if !matches!(actor, Actor::Agent { .. }) {
        let why = "only the agent that asked can read its secret answers";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if ask.is_open() {
        let detail = "this request has no answer yet";
        return Err(ApiProblem::new(409, "not-over").detail(detail));
    }
    gateway.store().delete_secrets(ask.id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}
