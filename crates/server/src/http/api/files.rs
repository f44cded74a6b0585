//! Files that answer an ask: `POST /api/v1/asks/{id}/files` uploads one, and its value goes into
//! the answer; `GET /api/v1/asks/{id}/files/{digest}` fetches it.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::UploadedFile;
use gateway::Gateway;
use gateway::auth::Denied;
use gateway::files::FileReadError;
use kernel::{Ask, AskId, HumanId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{PersonCaller, VisibleAsk, ask_id};
use crate::http::api::openapi::ClosedAskProblems;
use crate::http::api::paging::{ListParams, bad_parameter};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::uploads::{AnswerUploads, UploadRefused};

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(upload)).routes(routes!(file))
}

/// Upload a file for an answer.
///
/// Use the whole response as the value of a file field, in an answer to the same ask by the same
/// person.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/files",
    operation_id = "uploadFile",
    params(
        (
            "name" = String,
            Query,
            description = "The name of the file",
            min_length = 1,
            max_length = 255,
            example = "report.csv",
        ),
    ),
    request_body(
        content = Vec<u8>,
        content_type = "application/octet-stream",
        description = "The file, with its media type as `Content-Type`",
    ),
    responses(
        (status = 201, description = "The stored file", body = UploadedFile),
        ClosedAskProblems,
        (status = 422, description = "`answer-mismatch`: this ask does not accept files"),
    ),
)]
async fn upload(
    State(uploads): State<Arc<AnswerUploads>>,
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { id: human, actor }: PersonCaller,
    body: Body,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["name"])?;
    let name = params.one("name")?.ok_or_else(|| bad_parameter("name", "the name of the file"))?;
    let ask = answerable(&gateway, &human, ask_id(&id)?).await?;
    let uploaded = uploads.upload(&ask, &actor, name, &headers, body).await?;
    Ok((StatusCode::CREATED, Json(uploaded)).into_response())
}

impl From<UploadRefused> for ApiProblem {
    fn from(refused: UploadRefused) -> Self {
        match refused {
            UploadRefused::Rule(refusal) => refusal.into(),
            UploadRefused::NoFile => {
                Self::new(422, "answer-mismatch").detail("this request does not accept files")
            }
            UploadRefused::Field(field, expected) => bad_parameter(field, expected),
            UploadRefused::Body(error) => error.into(),
            UploadRefused::Unkept => Self::new(503, "unavailable")
                .detail("the file cannot be stored now; try again")
                .retry_after(1),
        }
    }
}

/// An ask this person may answer.
async fn answerable(gateway: &Gateway, human: &HumanId, id: AskId) -> Result<Arc<Ask>, ApiProblem> {
    let directory = gateway.directory();
    let human = directory.human(human).ok_or(Denied::Unknown)?;
    let found = gateway.ask(id).await?.filter(|ask| ask.may_be_answered_by(human));
    Ok(found.ok_or(Refusal::NotFound { what: "request" })?)
}

/// Download a file from an answer.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/files/{digest}",
    operation_id = "getFile",
    params(
        ("digest" = String, Path, description = "The SHA-256 of the file", pattern = "^[0-9a-f]{64}$"),
    ),
    responses(
        (
            status = 200,
            description = "The bytes of the file",
            body = Vec<u8>,
            content_type = "application/octet-stream",
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn file(
    State(uploads): State<Arc<AnswerUploads>>,
    PathParam((_, digest)): PathParam<(String, String)>,
    VisibleAsk { ask, .. }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let missing = || ApiProblem::new(404, "not-found").detail("file not found in this request");
    uploads.stored_file(&ask, &digest).await?.ok_or_else(missing)
}

impl From<FileReadError> for ApiProblem {
    fn from(unread: FileReadError) -> Self {
        match unread {
            FileReadError::Away => Self::new(503, "unavailable")
                .detail("the file cannot be read now; try again")
                .retry_after(5),
            FileReadError::Damaged => Self::new(500, "internal").detail("the file cannot be read"),
        }
    }
}
