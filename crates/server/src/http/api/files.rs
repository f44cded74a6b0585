//! Files that answer an ask: `/api/v1/asks/{id}/files/…`.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kernel::Ask;
use kernel::audit::Digest;
use kernel::question::{Answer, Reply};

use crate::http::Shared;
use crate::http::api::asks::parse;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/api/v1/asks/{id}/files/{digest}", get(file))
}

/// An uploaded file, for whoever may see the ask it answers.
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
