//! Who there is: `/api/v1/{projects,agents,people,keys}`. Administrators manage everything; people
//! manage their own tokens and the keys of agents they own.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use dialects::native::{AgentBody, KeyView, PersonBody, ProjectBody};
use kernel::directory::Directory;
use kernel::{Actor, Command, KeyId, Refusal};
use serde_json::json;

use crate::bootstrap;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};
use crate::serve::sign_in_url;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/me", get(me))
        .route("/api/v1/projects", get(projects).post(save_project))
        .route("/api/v1/agents", get(agents).post(save_agent))
        .route("/api/v1/people", get(people).post(save_person))
        .route("/api/v1/people/{id}/link", post(make_link))
        .route("/api/v1/keys", get(keys).post(issue_key))
        .route("/api/v1/keys/{id}", delete(revoke_key))
}

/// Who the credential says I am.
async fn me(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let directory = app.gateway.directory();
    Ok(match app.anyone(&headers).await? {
        Actor::Agent { id, project, reach, .. } => {
            Json(json!({ "kind": "agent", "id": id, "project": project, "reach": reach }))
        }
        Actor::Human { id, .. } => {
            let admin = directory.human(&id).is_some_and(|human| human.admin);
            Json(json!({ "kind": "human", "id": id, "admin": admin }))
        }
        Actor::System => Json(json!({ "kind": "system" })),
    }
    .into_response())
}

async fn projects(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let directory = app.administered(&headers).await?;
    let shown: Vec<_> = directory.projects().map(ProjectBody::from).collect();
    Ok(Json(json!({ "projects": shown })).into_response())
}

async fn save_project(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let body: ProjectBody = app.json(body).await?;
    app.gateway.run(actor, Command::SaveProject(body.clone().into())).await?;
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

async fn agents(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let directory = app.administered(&headers).await?;
    let shown: Vec<_> = directory.agents().map(AgentBody::from).collect();
    Ok(Json(json!({ "agents": shown })).into_response())
}

async fn save_agent(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let body: AgentBody = app.json(body).await?;
    app.gateway.run(actor, Command::SaveAgent(body.clone().into())).await?;
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

async fn people(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let directory = app.administered(&headers).await?;
    let shown: Vec<_> = directory.humans().map(PersonBody::from).collect();
    Ok(Json(json!({ "people": shown })).into_response())
}

async fn save_person(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let body: PersonBody = app.json(body).await?;
    app.gateway.run(actor, Command::SaveHuman(body.clone().into())).await?;
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// A one-time sign-in address for somebody, to be handed to them.
async fn make_link(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let human = id.parse().map_err(|_| Refusal::NotFound { what: "person" })?;
    let secret = bootstrap::link(&app.gateway, actor, human).await?;
    let url = sign_in_url(&app.config, &secret)
        .map_err(|_| Problem::new(500, "internal").detail("the sign-in address cannot be built"))?;
    Ok((StatusCode::CREATED, Json(json!({ "url": url }))).into_response())
}

async fn keys(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let directory = app.gateway.directory();
    let mut shown = Vec::new();
    for key in directory.keys().filter(|key| directory.manages(&actor, &key.holder)) {
        let used = app.gateway.store().key_used(key.id).await?;
        shown.push(KeyView::of(key, &directory, used));
    }
    Ok(Json(json!({ "keys": shown })).into_response())
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

impl App {
    pub(super) async fn administered(
        &self,
        headers: &HeaderMap,
    ) -> Result<std::sync::Arc<Directory>, Problem> {
        let actor = self.person(headers).await?;
        let directory = self.gateway.directory();
        if directory.administers(&actor) {
            return Ok(directory);
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}
