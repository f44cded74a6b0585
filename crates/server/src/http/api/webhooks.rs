//! Webhook endpoints: `/api/v1/webhooks`. Administrators manage all of them, people those of agents
//! they own.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{
    CallbackSecret, RotateBody, WebhookBody, WebhookPage, WebhookSecret, WebhookView,
};
use gateway::Gateway;
use kernel::directory::{Directory, NewWebhook};
use kernel::{Actor, DirectoryCommand, Refusal, WebhookId};
use notify::callbacks::Callbacks;
use notify::webhooks::Webhooks;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::Shared;
use crate::http::api::directory::{Listing, Pairs};
use crate::http::api::openapi::Pages;
use crate::http::api::{json, json_if_any};
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

/// How many endpoints the server examines for one page. A page may be short and still have a next
/// page.
const EXAMINED: usize = 10_000;

/// How many log entries are deleted at a time, so that other writes can run in between.
const FORGOTTEN: usize = 1_000;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(webhooks, add))
        .routes(routes!(webhook, save, remove))
        .routes(routes!(rotate))
        .routes(routes!(test))
        .routes(routes!(super::deliveries::deliveries))
        .routes(routes!(super::deliveries::redeliver))
        .routes(routes!(callback_secret))
}

/// List endpoints, never their secrets.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks",
    operation_id = "listWebhooks",
    tag = "webhooks",
    params(Pages),
    responses(
        (
            status = 200,
            description = "A page",
            body = WebhookPage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
async fn webhooks(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let directory = gateway.directory();
    let list = Listing::read(pairs, "webhooks")?;
    let mut rest = directory.webhooks_after(list.after()?.as_ref()).peekable();
    let (mut shown, mut last, mut examined) = (Vec::new(), None, 0);
    while shown.len() < list.limit()
        && examined < EXAMINED
        && let Some(webhook) = rest.next()
    {
        (last, examined) = (Some(webhook.id), examined + 1);
        if directory.keeps(&actor, &webhook.of) {
            shown.push(WebhookView::from(webhook));
        }
    }
    let more = rest.any(|webhook| directory.keeps(&actor, &webhook.of));
    Ok(list.page(shown, last.filter(|_| more).map(|id| id.to_string()), WebhookPage::new))
}

/// Add an endpoint. Its secret is shown this once.
///
/// It is told from now on of what happens to the agent's asks, or to those of every agent of the project
/// that has no endpoint of its own.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks",
    operation_id = "createWebhook",
    tag = "webhooks",
    request_body(
        content = WebhookBody,
        example = json!({ "agent": "agent_dev", "url": "https://agent.example/hook" }),
    ),
    responses(
        (status = 201, description = "Added", body = WebhookSecret),
        (status = 403, description = "`not-allowed`: neither an administrator nor the owner"),
    ),
    security(("human_token" = [])),
)]
async fn add(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(webhooks): State<Webhooks>,
    State(callbacks): State<Callbacks>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let body: WebhookBody = json(&config, body).await?;
    let id = WebhookId::new(gateway.ids().ulid());
    let made = add_webhook(&gateway, &webhooks, &callbacks, actor, wanted(body, id)?).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// Read an endpoint.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}",
    operation_id = "getWebhook",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "As it is", body = WebhookView)),
    security(("human_token" = [])),
)]
async fn webhook(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, directory, id) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    Ok(Json(directory.webhook(id).map(WebhookView::from)).into_response())
}

/// Change an endpoint: where it is, what it hears of, how it is told, and whether it is at all.
///
/// Whom it hears of stays as it is. An endpoint that said it is gone is enabled again like this.
#[utoipa::path(
    put,
    path = "/api/v1/webhooks/{id}",
    operation_id = "putWebhook",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    request_body(
        content = WebhookBody,
        example = json!({ "agent": "agent_dev", "url": "https://agent.example/hook", "enabled": false }),
    ),
    responses((status = 200, description = "Changed", body = WebhookView)),
    security(("human_token" = [])),
)]
async fn save(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(callbacks): State<Callbacks>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (actor, _, id) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    let new = wanted(json(&config, body).await?, id)?;
    callable(&callbacks, "url", &new.url)?;
    gateway.run(actor, DirectoryCommand::SaveWebhook(new)).await?;
    shown_webhook(&gateway, StatusCode::OK, id)
}

/// Remove an endpoint. It is told nothing any more, at once.
#[utoipa::path(
    delete,
    path = "/api/v1/webhooks/{id}",
    operation_id = "removeWebhook",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 204, description = "Removed")),
    security(("human_token" = [])),
)]
async fn remove(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (actor, _, id) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    remove_webhook(&gateway, actor, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Replace the secret of an endpoint. The new one is shown this once.
///
/// For a while every call has two signatures, one by each secret, so that nothing is missed while the
/// receiver is changed.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/rotate",
    operation_id = "rotateWebhook",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    request_body(content = Option<RotateBody>, example = json!({ "grace_seconds": 3600 })),
    responses((status = 200, description = "Replaced", body = WebhookSecret)),
    security(("human_token" = [])),
)]
async fn rotate(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(webhooks): State<Webhooks>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (actor, _, id) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    let RotateBody { grace_seconds } = json_if_any(&config, body).await?;
    gateway.run(actor, DirectoryCommand::RotateWebhook(id, grace_seconds)).await?;
    Ok(Json(revealed_webhook(&gateway, &webhooks, id)?).into_response())
}

/// Send an endpoint something that happened to nothing, to see whether it arrives.
///
/// Its type is `webhook.test`; in `HumanLayer`'s formats `is_test` is set.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses(
        (status = 202, description = "It will be sent", body = WebhookView),
        (status = 403, description = "`not-allowed`: the endpoint is disabled"),
    ),
    security(("human_token" = [])),
)]
async fn test(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (actor, _, id) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    gateway.run(actor, DirectoryCommand::TestWebhook(id)).await?;
    shown_webhook(&gateway, StatusCode::ACCEPTED, id)
}

/// What the callbacks of asks made with this key are signed with.
///
/// An ask that names a `callback_url` is told there that it is over, signed as Standard Webhooks has it.
/// The secret belongs to the key: a new key is a new secret.
#[utoipa::path(
    get,
    path = "/api/v1/callback-secret",
    operation_id = "getCallbackSecret",
    tag = "callbacks",
    responses((status = 200, description = "The secret", body = CallbackSecret)),
    security(("agent_key" = [])),
)]
async fn callback_secret(
    State(callers): State<Callers>,
    State(webhooks): State<Webhooks>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Actor::Agent { key, .. } = callers.only_agent(&headers).await? else {
        return Err(Refusal::NotAllowed { why: "this takes an agent key" }.into());
    };
    let secret = webhooks.callback_signer(key).shown();
    Ok(Json(CallbackSecret { secret }).into_response())
}

fn wanted(body: WebhookBody, id: WebhookId) -> Result<NewWebhook, Problem> {
    let expected = "either an agent or a project";
    body.wanted(id).ok_or_else(|| Refusal::Invalid { field: "agent", expected }.into())
}

/// Refuses a URL that webhook calls may not go to.
pub(crate) fn callable(
    callbacks: &Callbacks,
    field: &'static str,
    url: &str,
) -> Result<(), Refusal> {
    match callbacks.address(url) {
        Ok(_) => Ok(()),
        Err(expected) => Err(Refusal::Invalid { field, expected }),
    }
}

/// Adds an endpoint and returns its secret.
pub(crate) async fn add_webhook(
    gateway: &Gateway,
    webhooks: &Webhooks,
    callbacks: &Callbacks,
    actor: Actor,
    new: NewWebhook,
) -> Result<WebhookSecret, store::StoreError> {
    callable(callbacks, "url", &new.url)?;
    let id = new.id;
    gateway.run(actor, DirectoryCommand::SaveWebhook(new)).await?;
    Ok(revealed_webhook(gateway, webhooks, id)?)
}

/// Removes an endpoint and deletes its delivery log, because its deliveries can no longer be sent
/// again.
pub(crate) async fn remove_webhook(
    gateway: &Gateway,
    actor: Actor,
    id: WebhookId,
) -> Result<(), store::StoreError> {
    gateway.run(actor, DirectoryCommand::RemoveWebhook(id)).await?;
    while gateway.store().unlog(id, FORGOTTEN).await? == FORGOTTEN {}
    Ok(())
}

/// An endpoint with its secret.
pub(crate) fn revealed_webhook(
    gateway: &Gateway,
    webhooks: &Webhooks,
    id: WebhookId,
) -> Result<WebhookSecret, Refusal> {
    let directory = gateway.directory();
    let webhook = directory.webhook(id).ok_or(Refusal::NotFound { what: "webhook" })?;
    let secret = webhooks.secret(webhook);
    Ok(WebhookSecret { webhook: WebhookView::from(webhook), secret })
}

/// An endpoint the caller may manage.
pub(super) async fn kept_webhook(
    gateway: &Gateway,
    callers: &Callers,
    headers: &HeaderMap,
    id: &str,
) -> Result<(Actor, Arc<Directory>, WebhookId), Problem> {
    let actor = callers.person(headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id| directory.webhook(id));
    let kept = known.filter(|webhook| directory.keeps(&actor, &webhook.of));
    let id = kept.ok_or(Refusal::NotFound { what: "webhook" })?.id;
    Ok((actor, directory, id))
}

fn shown_webhook(
    gateway: &Gateway,
    status: StatusCode,
    id: WebhookId,
) -> Result<Response, Problem> {
    let directory = gateway.directory();
    let webhook = directory.webhook(id).ok_or(Refusal::NotFound { what: "webhook" })?;
    Ok((status, Json(WebhookView::from(webhook))).into_response())
}
