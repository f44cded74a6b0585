//! Webhook endpoints: `/api/v1/webhooks`. Administrators manage all of them, people those of agents
//! they own.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, Query, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use dialects::native::{
    CallbackSecret, DeliveryAttempt, DeliveryPage, DeliveryStatus, DeliveryView, RotateBody,
    WebhookBody, WebhookPage, WebhookSecret, WebhookView,
};
use dialects::webhooks::TEST;
use gateway::Gateway;
use kernel::ask::CallbackAttempt;
use kernel::directory::{Directory, NewWebhook};
use kernel::spelling::listed;
use kernel::{Actor, DirectoryCommand, Refusal, Time, Topic, WebhookId};
use notify::callbacks::Callbacks;
use notify::webhooks::Webhooks;
use store::work_queue::{DeliveryLogEntry, DeliveryLogQuery, WebhookDeliveryStatus};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{AgentCaller, JsonBody, OptionalJsonBody, PersonCaller};
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{ListParams, PagedList, Pairs, bad_parameter, seal};
use crate::http::path_param::{PathParam, path_id};
use crate::http::problem::ApiProblem;

/// How many endpoints the server examines for one page. A page may be short and still have a next
/// page.
const MAX_WEBHOOKS_EXAMINED: usize = 10_000;

/// How many log entries are deleted at a time, so that other writes can run in between.
const ENTRIES_PER_DELETE: usize = 1_000;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(webhooks, add))
        .routes(routes!(webhook, save, remove))
        .routes(routes!(rotate))
        .routes(routes!(test))
        .routes(routes!(deliveries))
        .routes(routes!(redeliver))
        .routes(routes!(callback_secret))
}

/// List webhook endpoints, without their secrets.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks",
    operation_id = "listWebhooks",
    params(ListPageParams),
    responses((status = 200, description = "A page", body = WebhookPage)),
)]
async fn webhooks(
    State(gateway): State<Gateway>,
    pairs: Pairs,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let list = PagedList::read(pairs, "webhooks")?;
    let mut rest = directory.webhooks_after(list.after()?.as_ref()).peekable();
    let (mut shown, mut last, mut examined) = (Vec::new(), None, 0);
    while shown.len() < list.limit()
        && examined < MAX_WEBHOOKS_EXAMINED
        && let Some(webhook) = rest.next()
    {
        (last, examined) = (Some(webhook.id), examined + 1);
        if directory.manages_webhooks(&actor, &webhook.of) {
            shown.push(WebhookView::from(webhook));
        }
    }
    let more = rest.any(|webhook| directory.manages_webhooks(&actor, &webhook.of));
    Ok(list.page(shown, last.filter(|_| more).map(|id| id.to_string()), WebhookPage::new))
}

/// Add a webhook endpoint. Only this response contains the secret.
///
/// The endpoint receives the events of the agent's asks, or those of every agent of the project
/// without its own endpoint.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks",
    operation_id = "createWebhook",
    request_body(
        content = WebhookBody,
        example = json!({ "agent": "agent_dev", "url": "https://agent.example/hook" }),
    ),
    responses(
        (status = 201, description = "Added", body = WebhookSecret),
        (status = 403, description = "`not-allowed`: the caller is neither an administrator nor \
                                      the owner"),
    ),
)]
async fn add(
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    State(callbacks): State<Callbacks>,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(body): JsonBody<WebhookBody>,
) -> Result<Response, ApiProblem> {
    let id = WebhookId::new(gateway.ids().ulid());
    let made =
        add_webhook(&gateway, &webhooks, &callbacks, actor, parse_webhook(body, id)?).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// Read a webhook endpoint.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}",
    operation_id = "getWebhook",
    responses((status = 200, description = "The object", body = WebhookView)),
)]
async fn webhook(
    ManagedWebhook { directory, id, .. }: ManagedWebhook,
) -> Result<Response, ApiProblem> {
    Ok(Json(directory.webhook(id).map(WebhookView::from)).into_response())
}

/// Change a webhook endpoint: URL, topics, format, and whether it is enabled.
///
/// Its agent or project cannot change. This also enables an endpoint that was disabled after it
/// answered 410 Gone.
#[utoipa::path(
    put,
    path = "/api/v1/webhooks/{id}",
    operation_id = "putWebhook",
    request_body(
        content = WebhookBody,
        example = json!({ "agent": "agent_dev", "url": "https://agent.example/hook", "enabled": false }),
    ),
    responses((status = 200, description = "Updated", body = WebhookView)),
)]
async fn save(
    State(gateway): State<Gateway>,
    State(callbacks): State<Callbacks>,
    ManagedWebhook { actor, id, .. }: ManagedWebhook,
    JsonBody(body): JsonBody<WebhookBody>,
) -> Result<Response, ApiProblem> {
    let new = parse_webhook(body, id)?;
    require_callable_url(&callbacks, "url", &new.url)?;
    gateway.run(actor, DirectoryCommand::SaveWebhook(new)).await?;
    shown_webhook(&gateway, StatusCode::OK, id)
}

/// Remove a webhook endpoint. Deliveries stop immediately.
#[utoipa::path(
    delete,
    path = "/api/v1/webhooks/{id}",
    operation_id = "removeWebhook",
    responses((status = 204, description = "Removed")),
)]
async fn remove(
    State(gateway): State<Gateway>,
    ManagedWebhook { actor, id, .. }: ManagedWebhook,
) -> Result<Response, ApiProblem> {
    remove_webhook(&gateway, actor, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Rotate the secret of a webhook endpoint. Only this response contains the new secret.
///
/// During the grace period, every delivery has two signatures, one with each secret, so that the
/// receiver can switch without missing a delivery.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/rotate",
    operation_id = "rotateWebhook",
    request_body(content = Option<RotateBody>, example = json!({ "grace_seconds": 3600 })),
    responses((status = 200, description = "Replaced", body = WebhookSecret)),
)]
async fn rotate(
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    ManagedWebhook { actor, id, .. }: ManagedWebhook,
    OptionalJsonBody(RotateBody { grace_seconds }): OptionalJsonBody<RotateBody>,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::RotateWebhook(id, grace_seconds)).await?;
    Ok(Json(revealed_webhook(&gateway, &webhooks, id)?).into_response())
}

/// Send a test delivery to a webhook endpoint.
///
/// Its type is `webhook.test`; in `HumanLayer`'s formats, `is_test` is true.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    responses(
        (status = 202, description = "The delivery is scheduled", body = WebhookView),
        (status = 403, description = "`not-allowed`: the endpoint is disabled"),
    ),
)]
async fn test(
    State(gateway): State<Gateway>,
    ManagedWebhook { actor, id, .. }: ManagedWebhook,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::TestWebhook(id)).await?;
    shown_webhook(&gateway, StatusCode::ACCEPTED, id)
}

/// Get the secret that signs the callbacks of asks created with this key.
///
/// The server calls an ask's `callback_url` when the ask is closed, signed as in Standard Webhooks.
/// The secret belongs to the key: a new key has a new secret.
#[utoipa::path(
    get,
    path = "/api/v1/callback-secret",
    operation_id = "getCallbackSecret",
    tag = "callbacks",
    responses((status = 200, description = "The secret", body = CallbackSecret)),
    security(("agent_key" = [])),
)]
async fn callback_secret(
    State(webhooks): State<Webhooks>,
    AgentCaller { key, .. }: AgentCaller,
) -> Result<Response, ApiProblem> {
    let secret = webhooks.callback_signer(key).encoded();
    Ok(Json(CallbackSecret { secret }).into_response())
}

fn parse_webhook(body: WebhookBody, id: WebhookId) -> Result<NewWebhook, ApiProblem> {
    let expected = "either `agent` or `project`";
    body.into_new_webhook(id).ok_or_else(|| Refusal::Invalid { field: "agent", expected }.into())
}

/// Refuses a URL that webhook calls may not go to.
pub(crate) fn require_callable_url(
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
    require_callable_url(callbacks, "url", &new.url)?;
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
    while gateway.store().clear_delivery_log(id, ENTRIES_PER_DELETE).await? == ENTRIES_PER_DELETE {}
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

/// The endpoint that the path names, if the caller may manage it.
pub(super) struct ManagedWebhook {
    pub(super) actor: Actor,
    pub(super) directory: Arc<Directory>,
    pub(super) id: WebhookId,
}

impl FromRequestParts<AppState> for ManagedWebhook {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { actor, .. } = PersonCaller::from_request_parts(parts, shared).await?;
        let directory = shared.core.gateway.directory();
        let known = path_id(parts, shared).await.parse().ok().and_then(|id| directory.webhook(id));
        let kept = known.filter(|webhook| directory.manages_webhooks(&actor, &webhook.of));
        let id = kept.ok_or(Refusal::NotFound { what: "webhook" })?.id;
        Ok(Self { actor, directory, id })
    }
}

fn shown_webhook(
    gateway: &Gateway,
    status: StatusCode,
    id: WebhookId,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let webhook = directory.webhook(id).ok_or(Refusal::NotFound { what: "webhook" })?;
    Ok((status, Json(WebhookView::from(webhook))).into_response())
}

// The delivery log of a webhook endpoint: `/api/v1/webhooks/{id}/deliveries`.

/// List the deliveries to a webhook endpoint, newest first.
///
/// A delivery is listed from its first attempt until 30 days after the last one.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}/deliveries",
    operation_id = "listDeliveries",
    params(
        ("status" = Option<DeliveryStatus>, Query, description = "Only deliveries in this state"),
        ListPageParams,
    ),
    responses((status = 200, description = "A page", body = DeliveryPage)),
)]
pub(super) async fn deliveries(
    State(gateway): State<Gateway>,
    Query(pairs): Pairs,
    ManagedWebhook { id: webhook, .. }: ManagedWebhook,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["status", "limit", "cursor"])?;
    let (limit, status) = (params.limit()?, status(&params)?);
    let path = format!("/api/v1/webhooks/{webhook}/deliveries");
    let name = format!("{path}?{}", status.map_or("", WebhookDeliveryStatus::as_str));
    let after = params.cursor(&name, parse_cursor)?;
    // Read one delivery more than the page holds, to know whether there is a next page.
    let wanted = DeliveryLogQuery { webhook, status, after, limit: limit + 1 };
    let mut found = gateway.store().delivery_log(wanted).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| {
        seal(&name, format!("{}/{}", last.message.at.millis(), last.message.id).as_bytes())
    });
    let page = DeliveryPage::new(found.into_iter().map(view).collect(), next.clone());
    Ok(params.page(&path, &page, next.as_deref()))
}

/// Send a delivery again.
///
/// The server sends it immediately with the same `webhook-id` and then follows the usual schedule,
/// regardless of the delivery's state.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    operation_id = "redeliver",
    params(
        (
            "delivery" = String,
            Path,
            description = "The `webhook-id` of the delivery",
            example = "msg_01JZ3V5Q8N6M4K2H0G9F7E5D3C_3",
        ),
    ),
    responses(
        (status = 202, description = "The delivery is scheduled", body = DeliveryView),
        (status = 403, description = "`not-allowed`: the endpoint is disabled"),
    ),
)]
pub(super) async fn redeliver(
    State(gateway): State<Gateway>,
    PathParam((_, delivery)): PathParam<(String, String)>,
    ManagedWebhook { id: webhook, .. }: ManagedWebhook,
) -> Result<Response, ApiProblem> {
    let logged = send_again(&gateway, webhook, &delivery).await?;
    Ok((StatusCode::ACCEPTED, Json(view(logged))).into_response())
}

/// Sends a delivery to its endpoint again.
pub(in crate::http) async fn send_again(
    gateway: &Gateway,
    webhook: WebhookId,
    id: &str,
) -> Result<DeliveryLogEntry, store::StoreError> {
    let directory = gateway.directory();
    if directory.webhook(webhook).is_some_and(|webhook| webhook.disabled.is_some()) {
        let why = "this endpoint is disabled; enable it first";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let again = gateway.store().redeliver(webhook, id, gateway.now()).await?;
    Ok(again.ok_or(Refusal::NotFound { what: "delivery" })?)
}

fn status(params: &ListParams) -> Result<Option<WebhookDeliveryStatus>, ApiProblem> {
    let Some(text) = params.one("status")? else { return Ok(None) };
    let known = WebhookDeliveryStatus::ALL.into_iter().find(|standing| standing.as_str() == text);
    known
        .map(Some)
        .ok_or_else(|| bad_parameter("status", &listed(&["waiting", "done", "dead"], text)))
}

fn parse_cursor(place: &[u8]) -> Option<(Time, String)> {
    let (at, id) = std::str::from_utf8(place).ok()?.split_once('/')?;
    Some((Time::from_millis(at.parse().ok()?), id.to_owned()))
}

fn view(logged: DeliveryLogEntry) -> DeliveryView {
    let attempt = |attempt: store::work_queue::WebhookDeliveryAttempt| DeliveryAttempt {
        attempt: CallbackAttempt { at: attempt.at, result: attempt.result },
        answer: attempt.answer,
    };
    DeliveryView {
        kind: logged.message.topic.map_or(TEST, Topic::as_str).to_owned(),
        id: logged.message.id,
        ask: logged.message.ask,
        task: logged.message.contract.map(|contract| contract.task),
        at: logged.message.at,
        status: match logged.status {
            WebhookDeliveryStatus::Waiting => DeliveryStatus::Waiting,
            WebhookDeliveryStatus::Done => DeliveryStatus::Done,
            WebhookDeliveryStatus::Dead => DeliveryStatus::Dead,
        },
        next_at: logged.next_at,
        attempts: logged.attempts.into_iter().map(attempt).collect(),
    }
}
