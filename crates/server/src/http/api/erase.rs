//! `/api/v1/people/{id}/erase`, `/api/v1/tasks/{id}/erase`, `/api/v1/artifacts/{id}/erase`: erasing
//! personal data (GDPR), for administrators. Requests are erased under `/api/v1/asks/{id}/erase`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dialects::native::{ErasureResult, PersonView};
use gateway::Gateway;
use gateway::data_eraser::DataEraser;
use kernel::{ArtifactId, HumanId, Refusal, TaskId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::AdminCaller;
use crate::http::api::paging::one;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(erase_person))
        .routes(routes!(erase_task))
        .routes(routes!(erase_artifact))
}

/// Erase a person (GDPR): name, addresses, contact methods, credentials, devices and their text.
///
/// The ID stays reserved and cannot be used again. Their comments, reasons and reviews are erased
/// in the background within minutes; their decisions stay. The audit log still verifies. It cannot
/// be undone.
#[utoipa::path(
    post,
    path = "/api/v1/people/{id}/erase",
    operation_id = "erasePerson",
    tag = "people",
    params(("id" = HumanId, Path, description = "The ID of the person", example = "ada")),
    responses(
        (status = 200, description = "The remainder of the person", body = PersonView),
        (
            status = 403,
            description = "`not-allowed`: the caller is not an administrator; administrators \
                           cannot erase themselves, and the last administrator cannot be erased",
        ),
        (
            status = 409,
            description = "`precondition-failed`: they own agents, or have open requests or \
                           tasks; the detail lists them",
        ),
    ),
)]
async fn erase_person(
    State(erasure): State<DataEraser>,
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AdminCaller { actor, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let id: HumanId = id.parse().map_err(|_| Refusal::NotFound { what: "person" })?;
    erasure.erase_person(actor, &id).await?;
    one(gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Erase the text of a closed task: goal, criteria, comments, reviews, and the requests by which
/// people decided on it.
///
/// Its artifacts and ledger entries stay; erase artifacts separately. The audit log still verifies.
/// It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/tasks/{id}/erase",
    operation_id = "eraseTask",
    responses(
        (status = 200, description = "Erased", body = ErasureResult),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 409, description = "`not-over`: the task is still open; cancel or finish it \
                                      first"),
    ),
)]
async fn erase_task(
    State(erasure): State<DataEraser>,
    PathParam(id): PathParam<String>,
    AdminCaller { actor, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let id: TaskId = id.parse().map_err(|_| Refusal::NotFound { what: "task" })?;
    let requests = erasure.erase_task(actor, id).await?;
    Ok(Json(ErasureResult { id: id.to_string(), erased: true, requests }).into_response())
}

/// Erase the bytes of all versions of an artifact.
///
/// They are deleted from the folder, the database or the bucket in the background. Bytes that
/// another artifact or an answer also uses stay until that is erased too. Names, sizes and
/// checksums stay. It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/artifacts/{id}/erase",
    operation_id = "eraseArtifact",
    responses(
        (status = 200, description = "Erased", body = ErasureResult),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 409, description = "`not-over`: a task that delivered it is still open"),
    ),
)]
async fn erase_artifact(
    State(erasure): State<DataEraser>,
    PathParam(id): PathParam<String>,
    AdminCaller { actor, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let id: ArtifactId = id.parse().map_err(|_| Refusal::NotFound { what: "artifact" })?;
    erasure.erase_artifact(actor, id).await?;
    Ok(Json(ErasureResult { id: id.to_string(), erased: true, requests: Vec::new() })
        .into_response())
}
