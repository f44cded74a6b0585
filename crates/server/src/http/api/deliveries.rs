//! The delivery log of a webhook endpoint: `/api/v1/webhooks/{id}/deliveries`.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{DeliveryAttempt, DeliveryPage, DeliveryStatus, DeliveryView};
use dialects::webhooks::TEST;
use gateway::Gateway;
use kernel::ask::CallbackAttempt;
use kernel::{Refusal, Time, Topic, WebhookId};
use store::work_queue::{LogQuery, Logged, Standing};

use crate::http::api::directory::Pairs;
use crate::http::api::openapi::Pages;
use crate::http::api::paging::{Params, bad, seal};
use crate::http::api::webhooks::kept_webhook;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

/// What an endpoint was told, newest first; what was given up is a dead letter.
///
/// A delivery is listed once it was tried, and for 30 days after the last attempt.
#[utoipa::path(
    get,
    path = "/api/v1/webhooks/{id}/deliveries",
    operation_id = "listDeliveries",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        ("status" = Option<DeliveryStatus>, Query, description = "Only those that stand so"),
        Pages,
    ),
    responses(
        (
            status = 200,
            description = "A page",
            body = DeliveryPage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
pub(super) async fn deliveries(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (_, _, webhook) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    let params = Params::new(pairs, &["status", "limit", "cursor"])?;
    let (limit, status) = (params.limit()?, status(&params)?);
    let path = format!("/api/v1/webhooks/{webhook}/deliveries");
    let name = format!("{path}?{}", status.map_or("", Standing::as_str));
    let after = params.cursor(&name, place)?;
    // Read one delivery more than the page holds, to know whether there is a next page.
    let wanted = LogQuery { webhook, status, after, limit: limit + 1 };
    let mut found = gateway.store().logged(wanted).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| {
        seal(&name, format!("{}/{}", last.message.at.millis(), last.message.id).as_bytes())
    });
    let page = DeliveryPage::new(found.into_iter().map(view).collect(), next.clone());
    Ok(params.page(&path, &page, next.as_deref()))
}

/// Tell an endpoint once more what it was told.
///
/// It is sent at once, under the same `webhook-id`, and from then on as often as anything else: whether
/// it was taken, given up or still waits.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    operation_id = "redeliver",
    tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The endpoint", example = "hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        (
            "delivery" = String,
            Path,
            description = "Its `webhook-id`",
            example = "msg_01JZ3V5Q8N6M4K2H0G9F7E5D3C_3",
        ),
    ),
    responses(
        (status = 202, description = "It will be sent", body = DeliveryView),
        (status = 403, description = "`not-allowed`: the endpoint is disabled"),
    ),
    security(("human_token" = [])),
)]
pub(super) async fn redeliver(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named((id, delivery)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, _, webhook) = kept_webhook(&gateway, &callers, &headers, &id).await?;
    let logged = send_again(&gateway, webhook, &delivery).await?;
    Ok((StatusCode::ACCEPTED, Json(view(logged))).into_response())
}

/// Sends a delivery to its endpoint again.
pub(in crate::http) async fn send_again(
    gateway: &Gateway,
    webhook: WebhookId,
    id: &str,
) -> Result<Logged, store::StoreError> {
    let directory = gateway.directory();
    if directory.webhook(webhook).is_some_and(|webhook| webhook.disabled.is_some()) {
        let why = "this endpoint is disabled; enable it first";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let again = gateway.store().redeliver(webhook, id, gateway.now()).await?;
    Ok(again.ok_or(Refusal::NotFound { what: "delivery" })?)
}

fn status(params: &Params) -> Result<Option<Standing>, Problem> {
    let Some(text) = params.one("status")? else { return Ok(None) };
    let known = Standing::ALL.into_iter().find(|standing| standing.as_str() == text);
    known.map(Some).ok_or_else(|| bad("status", "one of waiting, done, dead"))
}

fn place(place: &[u8]) -> Option<(Time, String)> {
    let (at, id) = std::str::from_utf8(place).ok()?.split_once('/')?;
    Some((Time::from_millis(at.parse().ok()?), id.to_owned()))
}

fn view(logged: Logged) -> DeliveryView {
    let attempt = |attempt: store::work_queue::Attempt| DeliveryAttempt {
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
            Standing::Waiting => DeliveryStatus::Waiting,
            Standing::Done => DeliveryStatus::Done,
            Standing::Dead => DeliveryStatus::Dead,
        },
        next_at: logged.next_at,
        attempts: logged.attempts.into_iter().map(attempt).collect(),
    }
}
