//! Credentials: `/api/v1/keys`. Administrators manage all of them; people their own tokens and the
//! keys of agents they own.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dialects::native::{IssueKey, IssuedKey, KeyPage, KeyView};
use gateway::{Gateway, bootstrap};
use kernel::spelling::listed;
use kernel::{DirectoryCommand, KeyId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{JsonBody, PersonCaller};
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{ListParams, PagedList, Pairs, invalid_parameter};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

/// How many credentials the server examines for one page. A page may be short and still have a next
/// page.
const MAX_KEYS_EXAMINED: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(keys, issue_key))
        .routes(routes!(key, revoke_key))
        .routes(routes!(confirm_passkey))
}

/// List credentials, without their secrets.
#[utoipa::path(
    get,
    path = "/api/v1/keys",
    operation_id = "listKeys",
    params(ListPageParams),
    responses((status = 200, description = "A page", body = KeyPage)),
)]
async fn keys(
    State(gateway): State<Gateway>,
    pairs: Pairs,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let list = PagedList::read(pairs, "keys")?;
    let mut rest = directory.keys_after(list.after()?.as_ref()).peekable();
    let (mut shown, mut last, mut examined) = (Vec::new(), None, 0);
    while shown.len() < list.limit()
        && examined < MAX_KEYS_EXAMINED
        && let Some(key) = rest.next()
    {
        (last, examined) = (Some(key.id), examined + 1);
        if directory.manages(&actor, &key.kind) {
            let used = gateway.store().key_used(key.id).await?;
            shown.push(KeyView::of(key, &directory, used, gateway.now()));
        }
    }
    let more = rest.any(|key| directory.manages(&actor, &key.kind));
    Ok(list.page(shown, last.filter(|_| more).map(|id| id.to_string()), KeyPage::new))
}

/// Read a credential.
#[utoipa::path(
    get,
    path = "/api/v1/keys/{id}",
    operation_id = "getKey",
    responses((status = 200, description = "The credential", body = KeyView)),
)]
async fn key(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id| directory.key(id));
    let key = known.filter(|key| directory.manages(&actor, &key.kind));
    let key = key.ok_or(Refusal::NotFound { what: "key" })?;
    let used = gateway.store().key_used(key.id).await?;
    Ok(Json(KeyView::of(key, &directory, used, gateway.now())).into_response())
}

/// Issue a key for an agent or a token for a person. Only this response contains the secret.
#[utoipa::path(
    post,
    path = "/api/v1/keys",
    operation_id = "createKey",
    request_body(content = IssueKey, example = json!({ "agent": "agent_dev", "label": "laptop" })),
    responses(
        (status = 201, description = "Issued", body = IssuedKey),
        (status = 403, description = "`not-allowed`: the caller is neither an administrator nor \
                                      the owner"),
    ),
)]
async fn issue_key(
    State(gateway): State<Gateway>,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(body): JsonBody<IssueKey>,
) -> Result<Response, ApiProblem> {
    let issued = bootstrap::issue_key(&gateway, actor, body).await?;
    Ok((StatusCode::CREATED, Json(issued)).into_response())
}

/// Revoke a credential. It stops working immediately.
#[utoipa::path(
    delete,
    path = "/api/v1/keys/{id}",
    operation_id = "revokeKey",
    params(
        (
            "tokens" = Option<String>,
            Query,
            description = "`end` also revokes the review, submit and poll tokens of open requests \
                           that were created with an agent's key; `keep`, the default, leaves them",
        ),
    ),
    responses(
        (status = 204, description = "Revoked"),
        (
            status = 403,
            description = "`not-allowed`: remove your own passkey in the settings",
        ),
        (status = 422, description = "`invalid-field`: `tokens` for a credential that is not an \
                                      agent key"),
    ),
)]
async fn revoke_key(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["tokens"])?;
    let with_tokens = match params.one("tokens")? {
        None | Some("keep") => false,
        Some("end") => true,
        Some(given) => {
            return Err(invalid_parameter("tokens", &listed(&["keep", "end"], given)));
        }
    };
    let id: KeyId = id.parse().map_err(|_| Refusal::NotFound { what: "key" })?;
    let command = if with_tokens {
        DirectoryCommand::RevokeKeyWithTokens(id)
    } else {
        DirectoryCommand::RevokeKey(id)
    };
    gateway.run(actor, command).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Confirm a passkey that is in its waiting period, so that answers confirmed with it have the
/// assurance `passkey` immediately.
#[utoipa::path(
    post,
    path = "/api/v1/keys/{id}/confirm",
    operation_id = "confirmPasskey",
    params(
        (
            "id" = KeyId,
            Path,
            description = "The passkey",
            example = "key_01JZ3V5Q8N6M4K2H0G9F7E5D3C",
        ),
    ),
    responses(
        (status = 204, description = "Confirmed"),
        (status = 403, description = "`not-allowed`: the caller is not an administrator, or it is \
                                      their own passkey"),
        (status = 404, description = "`not-found`: the passkey does not exist or was revoked"),
    ),
)]
async fn confirm_passkey(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let id: KeyId = id.parse().map_err(|_| Refusal::NotFound { what: "passkey" })?;
    gateway.run(actor, DirectoryCommand::ConfirmPasskey(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
