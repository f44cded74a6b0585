//! `/api/v1/people/{id}/erase`, `/api/v1/tasks/{id}/erase`, `/api/v1/artifacts/{id}/erase`: erasing
//! personal data (GDPR), for administrators. Requests are erased under `/api/v1/asks/{id}/erase`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use dialects::native::{Erased, PersonView};
use gateway::Gateway;
use gateway::erasure::Erasure;
use kernel::{ArtifactId, HumanId, Refusal, TaskId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::api::directory::one;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(erase_person))
        .routes(routes!(erase_task))
        .routes(routes!(erase_artifact))
}

/// Erase a person (GDPR): name, addresses, contact methods, credentials, devices and what they wrote.
///
/// The id stays as a tombstone and cannot be used again. Comments, reasons and reviews of theirs are
/// erased in the background within minutes; what they decided stays. The audit log still verifies. It
/// cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/people/{id}/erase",
    operation_id = "erasePerson",
    tag = "people",
    params(("id" = HumanId, Path, description = "Who", example = "ada")),
    responses(
        (status = 200, description = "What is left of them", body = PersonView),
        (
            status = 403,
            description = "`not-allowed`: for administrators; themselves and the last administrator \
                cannot be erased",
        ),
        (
            status = 409,
            description = "`precondition-failed`: they own agents, or open requests or tasks wait \
                for them; the detail lists these",
        ),
    ),
    security(("human_token" = [])),
)]
async fn erase_person(
    State(callers): State<Callers>,
    State(erasure): State<Erasure>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, actor) = callers.administrator(&headers).await?;
    let id: HumanId = id.parse().map_err(|_| Refusal::NotFound { what: "person" })?;
    erasure.erase_person(actor, &id).await?;
    one(gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Erase the text of a task that is over: goal, criteria, comments, reviews, and the requests by which
/// people decided on it.
///
/// Its artifacts and what it wrote into ledgers stay; artifacts are erased by themselves. The audit log
/// still verifies. It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/tasks/{id}/erase",
    operation_id = "eraseTask",
    tag = "tasks",
    params(
        ("id" = TaskId, Path, description = "The task", example = "task_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses(
        (status = 200, description = "It is erased", body = Erased),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 409, description = "`not-over`: cancel or finish it first"),
    ),
    security(("human_token" = [])),
)]
async fn erase_task(
    State(callers): State<Callers>,
    State(erasure): State<Erasure>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, actor) = callers.administrator(&headers).await?;
    let id: TaskId = id.parse().map_err(|_| Refusal::NotFound { what: "task" })?;
    let requests = erasure.erase_task(actor, id).await?;
    Ok(Json(Erased { id: id.to_string(), erased: true, requests }).into_response())
}

/// Erase the bytes of all versions of an artifact.
///
/// They are removed from the folder, the database or the bucket in the background. Bytes that another
/// artifact or an answer holds as well stay until that is erased too. Names, sizes and checksums stay.
/// It cannot be undone.
#[utoipa::path(
    post,
    path = "/api/v1/artifacts/{id}/erase",
    operation_id = "eraseArtifact",
    tag = "tasks",
    params((
        "id" = ArtifactId,
        Path,
        description = "The artifact",
        example = "art_01JZ3V5Q8N6M4K2H0G9F7E5D3C",
    )),
    responses(
        (status = 200, description = "It is erased", body = Erased),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 409, description = "`not-over`: a task that made it is still open"),
    ),
    security(("human_token" = [])),
)]
async fn erase_artifact(
    State(callers): State<Callers>,
    State(erasure): State<Erasure>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, actor) = callers.administrator(&headers).await?;
    let id: ArtifactId = id.parse().map_err(|_| Refusal::NotFound { what: "artifact" })?;
    erasure.erase_artifact(actor, id).await?;
    Ok(Json(Erased { id: id.to_string(), erased: true, requests: Vec::new() }).into_response())
}
