//! The browser sessions of a person: `/api/v1/people/{id}/sessions`, for the person and
//! administrators. One session is ended by revoking it: `DELETE /api/v1/keys/{id}`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{SessionView, Sessions};
use gateway::Gateway;
use kernel::{Actor, DirectoryCommand, HumanId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(sessions, end_sessions)).routes(routes!(end_access))
}

/// List the browsers in which somebody is signed in.
#[utoipa::path(
    get,
    path = "/api/v1/people/{id}/sessions",
    operation_id = "listSessions",
    tag = "people",
    params(("id" = HumanId, Path, description = "Who", example = "user_dev")),
    responses(
        (status = 200, description = "At most fifty, the newest first", body = Sessions),
        (status = 403, description = "`not-allowed`: somebody else's, and no administrator"),
    ),
    security(("human_token" = [])),
)]
async fn sessions(
    State(gateway): State<Gateway>,
    State(sessions): State<gateway::sessions::Sessions>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, human) = own_sessions(&gateway, &callers, &headers, &id).await?;
    let (directory, now) = (gateway.directory(), gateway.now());
    let mut live = Vec::new();
    for key in directory.sessions_of(&human).rev().filter(|key| key.is_live(now)) {
        let used = sessions.last_used(key).await?;
        if !sessions.is_idle(used, now) {
            live.push(SessionView::of(key, used));
        }
    }
    Ok(Json(Sessions { sessions: live }).into_response())
}

/// Sign somebody out everywhere, at once.
#[utoipa::path(
    delete,
    path = "/api/v1/people/{id}/sessions",
    operation_id = "endSessions",
    tag = "people",
    params(("id" = HumanId, Path, description = "Who", example = "user_dev")),
    responses(
        (status = 204, description = "No browser of theirs is signed in"),
        (status = 403, description = "`not-allowed`: somebody else's, and no administrator"),
    ),
    security(("human_token" = [])),
)]
async fn end_sessions(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (actor, human) = own_sessions(&gateway, &callers, &headers, &id).await?;
    gateway.run(actor, DirectoryCommand::EndSessions(human, None)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// End everything that lets a person in: sessions, tokens, sign-in links, passkeys and channel identities.
///
/// Review links and messages that were sent to the person end too. The account stays. A new sign-in link
/// lets the person in again, and they verify their contact methods anew.
#[utoipa::path(
    delete,
    path = "/api/v1/people/{id}/access",
    operation_id = "endAccess",
    tag = "people",
    params(("id" = HumanId, Path, description = "Who", example = "user_dev")),
    responses(
        (status = 204, description = "Nothing lets them in any more"),
        (status = 403, description = "`not-allowed`: for administrators, and not for oneself"),
        (status = 404, description = "`not-found`: no such person"),
    ),
    security(("human_token" = [])),
)]
async fn end_access(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (actor, human) = own_sessions(&gateway, &callers, &headers, &id).await?;
    gateway.run(actor, DirectoryCommand::EndAccess(human)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The caller and the named person, if the caller is that person or an administrator.
async fn own_sessions(
    gateway: &Gateway,
    callers: &Callers,
    headers: &HeaderMap,
    id: &str,
) -> Result<(Actor, HumanId), Problem> {
    let actor = callers.person(headers).await?;
    let directory = gateway.directory();
    let administers = directory.administers(&actor);
    let own = matches!(&actor, Actor::Human { id: own, .. } if own.as_str() == id);
    if !own && !administers {
        return Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into());
    }
    let known = id.parse().ok().filter(|id| directory.human(id).is_some());
    Ok((actor, known.ok_or(Refusal::NotFound { what: "person" })?))
}
