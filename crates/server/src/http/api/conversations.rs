//! Conversations that people start: `POST /api/v1/agents/{id}/conversations` and `GET
//! /api/v1/agents/{id}/address` for people, `GET /api/v1/conversations` for the agent they wrote
//! to.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::native::{AskPage, AskView, WriteAddress, WriteBody};
use gateway::{CommandConditions, Gateway};
use kernel::{Actor, AgentId, AskCommand, Phase, Refusal};
use notify::inbound::InboundProcessor;
use store::{AskListQuery, Filter, ListScope, Order};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::api::AskViews;
use crate::http::api::extractors::{AgentCaller, PersonCaller};
use crate::http::api::lists::parse_cursor;
use crate::http::api::openapi::{IdempotencyKey, ListPageParams};
use crate::http::api::paging::ListParams;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, body, conditional_headers};

const PATH: &str = "/api/v1/conversations";

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(write)).routes(routes!(address)).routes(routes!(list))
}

/// Write to an agent.
///
/// This starts a conversation: an ask that is already answered with the message. The agent is
/// notified and continues by asking with `conversation`. With `Idempotency-Key`, repeated requests
/// write it once.
#[utoipa::path(
    post,
    path = "/api/v1/agents/{id}/conversations",
    operation_id = "writeToAgent",
    params(
        ("id" = AgentId, Path, description = "The agent", example = "agent_dev"),
        IdempotencyKey,
    ),
    request_body(content = WriteBody, example = json!({ "text": "Please refund order 1042" })),
    responses(
        (
            status = 201,
            description = "Written",
            body = AskView<'static>,
            headers(
                ("Location" = String, description = "The URL of the new object"),
                ("Idempotent-Replayed" = String, description = "`true` if the idempotency key was \
                     used before"),
            ),
        ),
        (
            status = 403,
            description = "`not-allowed`: the agent does not accept conversations, or the caller \
                           is not a person",
        ),
        (status = 409, description = "`idempotency-mismatch`: the key was used with another body"),
    ),
)]
async fn write(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    PersonCaller { actor, .. }: PersonCaller,
    body: Body,
) -> Result<Response, ApiProblem> {
    let bytes = body::read(body, config.body_limit).await?;
    let WriteBody { text } = super::parse(&bytes)?;
    let agent: AgentId = id.parse().map_err(|_| Refusal::NotFound { what: "agent" })?;
    // The agent is part of the fingerprint: a key is for one text to one agent.
    let said = [agent.as_str().as_bytes(), b"\0", &bytes].concat();
    let idempotency = conditional_headers::idempotency("write", &actor, &headers, &said)?;
    let terms = CommandConditions { idempotency, ..CommandConditions::default() };
    let outcome = gateway
        .run_with_conditions(terms, actor.clone(), AskCommand::Write(agent, text.into()))
        .await?;
    let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
    let mut answer = (StatusCode::CREATED, ask_views.shown(&ask, &actor).await?).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/asks/{}", ask.id)) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    conditional_headers::mark_replayed(&mut answer, outcome.replayed);
    Ok(answer)
}

/// Get the email address for writing to an agent.
///
/// An email to this address starts a conversation with the agent in the caller's name. The address
/// belongs to this person and this agent, and does not change.
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}/address",
    operation_id = "addressOfAgent",
    params(("id" = AgentId, Path, description = "The agent", example = "agent_dev")),
    responses(
        (
            status = 200,
            description = "Where",
            body = WriteAddress,
            example = json!({ "email": "ask+agobyofe…@example.com" }),
        ),
        (
            status = 403,
            description = "`not-allowed`: the agent does not accept conversations, or the caller \
                           is not a person",
        ),
    ),
)]
async fn address(
    State(gateway): State<Gateway>,
    State(inbound): State<InboundProcessor>,
    PathParam(id): PathParam<String>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Json<WriteAddress>, ApiProblem> {
    let directory = gateway.directory();
    let person = if let Actor::Human { id, .. } = &actor { directory.human(id) } else { None };
    let person =
        person.ok_or(Refusal::NotAllowed { why: "this path requires a person's token" })?;
    let agent = id.parse().ok().and_then(|id| directory.agent(&id));
    let agent = agent.filter(|agent| agent.accepts_messages_from(person));
    let agent = agent.ok_or(Refusal::NotFound { what: "agent" })?;
    if !agent.conversations {
        return Err(Refusal::NotAllowed { why: "this agent does not accept conversations" }.into());
    }
    Ok(Json(WriteAddress { email: inbound.invitation(&agent.id, &person.id) }))
}

/// List the conversations that people started with the agent.
///
/// The list has the first ask of each conversation, newest first. Its `conversation` names the
/// newest ask after the agent continued. Agents without a webhook poll this list.
#[utoipa::path(
    get,
    path = "/api/v1/conversations",
    operation_id = "listConversations",
    params(ListPageParams),
    responses(
        (status = 200, description = "A page", body = AskPage<'static>),
        (status = 403, description = "`not-allowed`: not an agent key"),
    ),
    security(("agent_key" = [])),
)]
async fn list(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    AgentCaller { id, actor, .. }: AgentCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["limit", "cursor"])?;
    let name = format!("conversations/{id}");
    let list = AskListQuery {
        scopes: vec![ListScope::Begun(id.clone())],
        phases: vec![Phase::Completed],
        order: Order::Age,
        filter: Filter::default(),
        after: params.cursor(&name, parse_cursor)?,
        limit: params.limit()?,
    };
    let page = gateway.list(list).await?;
    let shown = ask_views.shown_page(&page, &name, &actor).await?;
    let next = shown.next.clone();
    Ok(params.page(PATH, &shown, next.as_deref()))
}
