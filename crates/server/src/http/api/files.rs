//! Files that answer an ask: `POST /api/v1/asks/{id}/files` uploads one, and its value goes into the
//! answer; `GET /api/v1/asks/{id}/files/{digest}` fetches it.
//!
//! A digest alone proves nothing: whoever knows it could claim a file they have never had. What an
//! upload gives back therefore carries a mark of the server's over the file, the ask and the person.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::native::Uploaded;
use kernel::audit::Digest;
use kernel::form::{Code, FieldError, FileRef, FileRefError, Kind};
use kernel::question::{Answer, AnswerError, Body as Asks, Reply};
use kernel::{Actor, Ask, AskId, HumanId, Refusal};
use serde_json::Value;
use subtle::ConstantTimeEq;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Denied;
use crate::http::api::asks::parse;
use crate::http::api::page::{Params, bad};
use crate::http::body;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};

/// How long an upload may take: phones on bad networks are slow.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(upload)).routes(routes!(file))
}

/// Upload a file for an answer.
///
/// The whole of what comes back is the value of a file field, in an answer of the same person to
/// the same ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/files",
    operation_id = "uploadFile",
    tag = "files",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
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
        description = "The file, with its own media type as `Content-Type`",
    ),
    responses(
        (status = 201, description = "Kept", body = Uploaded),
        (
            status = 409,
            description = "`already-answered`, `already-cancelled`: it is over; `taken`: somebody \
                else has it",
        ),
        (status = 410, description = "`timed-out`: its time is up"),
        (status = 422, description = "`answer-mismatch`: this ask asks for no file"),
    ),
    security(("human_token" = [])),
)]
async fn upload(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
    body: Body,
) -> Result<Response, Problem> {
    let Actor::Human { id: human, .. } = app.person(&headers).await? else {
        return Err(Denied::Unknown.into());
    };
    let params = Params::new(pairs, &["name"])?;
    let name = params.one("name")?.ok_or_else(|| bad("name", "the name of the file"))?;
    let ask = app.answerable(&human, parse(&id)?).await?;
    let kind = match headers.get(header::CONTENT_TYPE) {
        Some(kind) => kind.to_str().map_err(|_| bad("Content-Type", "a media type"))?,
        None => "application/octet-stream",
    };
    // Before the first byte is read.
    FileRef::new("0".repeat(64), name, 0, kind).map_err(refused)?;
    let bytes = body::read_within(body, app.config.upload_limit, PATIENCE).await?;
    let (digest, size) = (Digest::of(&bytes).to_string(), bytes.len() as u64);
    let file = FileRef::new(digest, name, size, kind).map_err(refused)?;
    app.files.keep(bytes).await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot keep an upload");
        Problem::new(503, "unavailable").detail("the file cannot be kept").retry_after(1)
    })?;
    let upload = app.secrets.upload(ask.id, &human, &file);
    Ok((StatusCode::CREATED, Json(Uploaded { file, upload })).into_response())
}

fn refused(error: FileRefError) -> Problem {
    match error {
        FileRefError::Name => {
            bad("name", "a file name without path separators, of at most 255 bytes")
        }
        FileRefError::MediaType => bad("Content-Type", "a media type such as text/plain"),
        FileRefError::Digest => Problem::new(500, "internal").detail("the file has no digest"),
    }
}

impl App {
    /// An ask this person may answer with a file, now.
    async fn answerable(&self, human: &HumanId, id: AskId) -> Result<Ask, Problem> {
        let directory = self.gateway.directory();
        let human = directory.human(human).ok_or(Denied::Unknown)?;
        let found = self.gateway.ask(id).await?.filter(|ask| ask.admits(human));
        let ask = found.ok_or(Refusal::NotFound { what: "request" })?;
        ask.still_open(self.gateway.now())?;
        let wants_file = ask.question.value().is_some_and(|question| match question.body() {
            Asks::Provide { form } => form.fields().any(|field| *field.kind() == Kind::File),
            Asks::Approve { .. }
            | Asks::Choose { .. }
            | Asks::Confirm { .. }
            | Asks::Escalate { .. }
            | Asks::Converse => false,
        });
        if wants_file {
            return Ok(ask);
        }
        Err(Problem::new(422, "answer-mismatch").detail("this request asks for no file"))
    }

    /// A reply whose files were uploaded to this ask by this person; others are only claimed.
    pub(super) fn redeemed(
        &self,
        reply: Reply,
        ask: AskId,
        actor: &Actor,
    ) -> Result<Reply, Refusal> {
        let Reply { answer: Answer::Provided { values }, comment } = reply else {
            return Ok(reply);
        };
        let mut values = values.into_map();
        let mut wrong = Vec::new();
        for (key, value) in &mut values {
            if value.get("sha256").is_some() && !self.redeem(value, ask, actor) {
                let message = "Upload the file to this request first and give all that comes back, \
                               or give an address";
                let (key, message) = (key.clone(), message.to_owned());
                wrong.push(FieldError { key, code: Code::InvalidFile, message });
            }
        }
        if !wrong.is_empty() {
            return Err(AnswerError::Fields(wrong).into());
        }
        // Values are any JSON object, so reading one back cannot fail.
        let values = serde_json::from_value(Value::Object(values)).unwrap_or_default();
        Ok(Reply { answer: Answer::Provided { values }, comment })
    }

    /// Takes the mark off a file, if it is a good one.
    fn redeem(&self, value: &mut Value, ask: AskId, actor: &Actor) -> bool {
        let Actor::Human { id, .. } = actor else { return false };
        let Some(mark) = value.as_object_mut().and_then(|file| file.shift_remove("upload")) else {
            return false;
        };
        let (Some(mark), Ok(file)) = (mark.as_str(), serde_json::from_value(value.clone())) else {
            return false;
        };
        self.secrets.upload(ask, id, &file).as_bytes().ct_eq(mark.as_bytes()).into()
    }
}

/// Fetch a file that answered an ask.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/files/{digest}",
    operation_id = "getFile",
    tag = "files",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        ("digest" = String, Path, description = "Its SHA-256", pattern = "^[0-9a-f]{64}$"),
    ),
    responses(
        (
            status = 200,
            description = "Its bytes, whatever they are",
            body = Vec<u8>,
            content_type = "application/octet-stream",
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn file(
    State(app): State<Shared>,
    Named((id, digest)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ask = app.visible(&actor, parse(&id)?).await?;
    let missing = || Problem::new(404, "not-found").detail("this request has no such file");
    let digest: Digest = digest.parse().map_err(|_| missing())?;
    if !has_file(&ask, &digest) {
        return Err(missing());
    }
    let bytes = app.files.read(&digest).await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot read an upload");
        Problem::new(500, "internal").detail("the file cannot be read")
    })?;
    // Whatever a person uploaded is handed over, never interpreted.
    let kind = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((kind, bytes.ok_or_else(missing)?).into_response())
}

fn has_file(ask: &Ask, digest: &Digest) -> bool {
    let Some(resolution) = ask.resolution() else { return false };
    let Some(Reply { answer: Answer::Provided { values }, .. }) = resolution.reply.value() else {
        return false;
    };
    let digest = digest.to_string();
    values.iter().any(|(_, value)| value.get("sha256").is_some_and(|sha256| *sha256 == *digest))
}
