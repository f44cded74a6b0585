//! Credentials: `/api/v1/keys`. Administrators manage all of them; people their own tokens and the
//! keys of agents they own.

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use dialects::native::KeyView;
use kernel::{Command, KeyId, Refusal};

use crate::bootstrap;
use crate::http::Shared;
use crate::http::api::identities::Listing;
use crate::http::name::Named;
use crate::http::problem::Problem;

/// How many credentials are looked at for one page: a page may come out short and still go on.
const EXAMINED: usize = 10_000;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/keys", get(keys).post(issue_key))
        .route("/api/v1/keys/{id}", get(key).delete(revoke_key))
}

async fn keys(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let directory = app.gateway.directory();
    let list = Listing::read(pairs, "keys")?;
    let mut rest = directory.keys_after(list.after()?.as_ref()).peekable();
    let (mut shown, mut last, mut examined) = (Vec::new(), None, 0);
    while shown.len() < list.limit()
        && examined < EXAMINED
        && let Some(key) = rest.next()
    {
        (last, examined) = (Some(key.id), examined + 1);
        if directory.manages(&actor, &key.holder) {
            let used = app.gateway.store().key_used(key.id).await?;
            shown.push(KeyView::of(key, &directory, used));
        }
    }
    let more = rest.any(|key| directory.manages(&actor, &key.holder));
    Ok(list.page(&shown, last.filter(|_| more).map(|id| id.to_string())))
}

async fn key(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id| directory.key(id));
    let key = known.filter(|key| directory.manages(&actor, &key.holder));
    let key = key.ok_or(Refusal::NotFound { what: "key" })?;
    let used = app.gateway.store().key_used(key.id).await?;
    Ok(Json(KeyView::of(key, &directory, used)).into_response())
}

async fn issue_key(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let issued = bootstrap::issue_key(&app.gateway, actor, app.json(body).await?).await?;
    Ok((StatusCode::CREATED, Json(issued)).into_response())
}

async fn revoke_key(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let id: KeyId = id.parse().map_err(|_| Refusal::NotFound { what: "key" })?;
    app.gateway.run(actor, Command::RevokeKey(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
