//! The browser sessions of a person: `/api/v1/people/{id}/sessions`, for the person and
//! administrators. One session is ended by revoking it: `DELETE /api/v1/keys/{id}`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use dialects::native::{SessionListView, SessionView};
use gateway::Gateway;
use kernel::{Actor, DirectoryCommand, HumanId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::PersonCaller;
use crate::http::path_param::path_id;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(sessions, end_sessions)).routes(routes!(end_access))
}

/// List the sessions of a person.
#[utoipa::path(
    get,
    path = "/api/v1/people/{id}/sessions",
    operation_id = "listSessions",
    responses(
        (status = 200, description = "At most fifty sessions, newest \
                                      first", body = SessionListView),
        (status = 403, description = "`not-allowed`: the caller is neither that person nor an \
                                      administrator"),
    ),
)]
async fn sessions(
    State(gateway): State<Gateway>,
    State(sessions): State<gateway::sessions::Sessions>,
    SessionsTarget { human, .. }: SessionsTarget,
) -> Result<Response, ApiProblem> {
    let (directory, now) = (gateway.directory(), gateway.now());
    let mut live = Vec::new();
    for key in directory.sessions_of(&human).rev().filter(|key| key.is_live(now)) {
        let used = sessions.last_used(key).await?;
        if !sessions.is_idle(used, now) {
            live.push(SessionView::of(key, used));
        }
    }
    Ok(Json(SessionListView { sessions: live }).into_response())
}

/// Sign a person out of all sessions.
#[utoipa::path(
    delete,
    path = "/api/v1/people/{id}/sessions",
    operation_id = "endSessions",
    responses(
        (status = 204, description = "The person is signed out everywhere"),
        (status = 403, description = "`not-allowed`: the caller is neither that person nor an \
                                      administrator"),
    ),
)]
async fn end_sessions(
    State(gateway): State<Gateway>,
    SessionsTarget { actor, human }: SessionsTarget,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::EndSessions(human, None)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Revoke all access of a person: sessions, tokens, sign-in links, passkeys and channel identities.
///
/// Review links and messages that were sent to the person stop working too. The account stays. The
/// person can return with a new sign-in link and must verify their contact methods again.
#[utoipa::path(
    delete,
    path = "/api/v1/people/{id}/access",
    operation_id = "endAccess",
    responses(
        (status = 204, description = "All access of the person was revoked"),
        (status = 403, description = "`not-allowed`: the caller is not an administrator, or names \
                                      themselves"),
        (status = 404, description = "`not-found`: the person does not exist"),
    ),
)]
async fn end_access(
    State(gateway): State<Gateway>,
    SessionsTarget { actor, human }: SessionsTarget,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::EndAccess(human)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The caller and the person in the path, if the caller is that person or an administrator.
struct SessionsTarget {
    actor: Actor,
    human: HumanId,
}

impl FromRequestParts<AppState> for SessionsTarget {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { id: own, actor } =
            PersonCaller::from_request_parts(parts, shared).await?;
        let id = path_id(parts, shared).await;
        let directory = shared.core.gateway.directory();
        if own.as_str() != id && !directory.administers(&actor) {
            return Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into());
        }
        let known = id.parse().ok().filter(|id| directory.human(id).is_some());
        Ok(Self { actor, human: known.ok_or(Refusal::NotFound { what: "person" })? })
    }
}
