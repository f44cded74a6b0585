//! Who there is: `/api/v1/{projects,agents,people,groups}` and `/api/v1/me`. Administrators manage
//! everybody; an agent sees nothing of it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::native::{
    AgentBody, AgentView, GroupBody, GroupView, Me, PersonBody, PersonView, ProjectBody,
    ProjectView,
};
use kernel::directory::Directory;
use kernel::ids::GroupId;
use kernel::{Actor, Command, Refusal};
use serde::Serialize;
use serde_json::json;

use crate::auth::Denied;
use crate::bootstrap;
use crate::http::api::page::{Params, seal};
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};
use crate::serve::sign_in_url;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/me", get(me))
        .route("/api/v1/projects", get(projects))
        .route("/api/v1/projects/{id}", get(project).put(save_project))
        .route("/api/v1/agents", get(agents))
        .route("/api/v1/agents/{id}", get(agent).put(save_agent))
        .route("/api/v1/people", get(people))
        .route("/api/v1/people/{id}", get(person).put(save_person))
        .route("/api/v1/people/{id}/link", post(make_link))
        .route("/api/v1/groups", get(groups))
        .route("/api/v1/groups/{id}", get(group).put(save_group))
}

type Pairs = Query<Vec<(String, String)>>;

/// Who the credential says I am.
async fn me(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let me = match app.anyone(&headers).await? {
        Actor::Agent { id, project, reach, .. } => Me::Agent { id, project, reach },
        Actor::Human { id, .. } => {
            let directory = app.gateway.directory();
            Me::Human(directory.human(&id).map(PersonView::from).ok_or(Denied::Unknown)?)
        }
        Actor::System => return Err(Denied::Unknown.into()),
    };
    Ok(Json(me).into_response())
}

async fn projects(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "projects")?;
    let found = directory.projects_after(list.after()?.as_ref()).map(ProjectView::from);
    Ok(list.show(found, |project| project.id.as_str()))
}

async fn project(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.project(&id).map(ProjectView::from));
    one(found, "project")
}

async fn save_project(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (before, actor) = app.administered(&headers).await?;
    let body: ProjectBody = app.json(body).await?;
    let id = named(&id, body.id.as_ref())?;
    let new = before.project(&id).is_none();
    app.gateway.run(actor, Command::SaveProject(body.named(id.clone()))).await?;
    saved(new, app.gateway.directory().project(&id).map(ProjectView::from), "project")
}

async fn agents(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "agents")?;
    let found = directory.agents_after(list.after()?.as_ref()).map(AgentView::from);
    Ok(list.show(found, |agent| agent.id.as_str()))
}

async fn agent(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.agent(&id).map(AgentView::from));
    one(found, "agent")
}

async fn save_agent(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (before, actor) = app.administered(&headers).await?;
    let body: AgentBody = app.json(body).await?;
    let id = named(&id, body.id.as_ref())?;
    let new = before.agent(&id).is_none();
    app.gateway.run(actor, Command::SaveAgent(body.named(id.clone()))).await?;
    saved(new, app.gateway.directory().agent(&id).map(AgentView::from), "agent")
}

async fn people(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "people")?;
    let found = directory.humans_after(list.after()?.as_ref()).map(PersonView::from);
    Ok(list.show(found, |person| person.id.as_str()))
}

async fn person(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.human(&id).map(PersonView::from));
    one(found, "person")
}

async fn save_person(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (before, actor) = app.administered(&headers).await?;
    let body: PersonBody = app.json(body).await?;
    let id = named(&id, body.id.as_ref())?;
    let new = before.human(&id).is_none();
    app.gateway.run(actor, Command::SaveHuman(body.named(id.clone()))).await?;
    saved(new, app.gateway.directory().human(&id).map(PersonView::from), "person")
}

/// A one-time sign-in address for somebody, to be handed to them.
async fn make_link(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, actor) = app.administered(&headers).await?;
    let known = id.parse().ok().filter(|id| directory.human(id).is_some());
    let human = known.ok_or(Refusal::NotFound { what: "person" })?;
    let secret = bootstrap::link(&app.gateway, actor, human).await?;
    let url = sign_in_url(&app.config, &secret)
        .map_err(|_| Problem::new(500, "internal").detail("the sign-in address cannot be built"))?;
    Ok((StatusCode::CREATED, Json(json!({ "url": url }))).into_response())
}

async fn groups(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "groups")?;
    let after: Option<GroupId> = list.after()?;
    let names = directory.groups();
    let later = names.into_iter().filter(|id| after.as_ref().is_none_or(|after| *id > after));
    let found = later.map(|id| members(&directory, id.clone()));
    Ok(list.show(found, |group| group.id.as_str()))
}

async fn group(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().map(|id| members(&directory, id));
    one(found.filter(|group| !group.members.is_empty()), "group")
}

async fn save_group(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (before, actor) = app.administered(&headers).await?;
    let body: GroupBody = app.json(body).await?;
    let id = named(&id, body.id.as_ref())?;
    // With nobody in it, it is not there: neither before nor after.
    let new = before.members(&id).next().is_none() && !body.members.is_empty();
    app.gateway.run(actor, Command::SaveGroup(body.named(id.clone()))).await?;
    saved(new, Some(members(&app.gateway.directory(), id)), "group")
}

fn members(directory: &Directory, id: GroupId) -> GroupView {
    let members = directory.members(&id).map(|human| human.id.clone()).collect();
    GroupView { id, members }
}

/// The name in the address; a body that names another is a mistake.
fn named<T: std::str::FromStr<Err = kernel::ids::BadId> + PartialEq>(
    id: &str,
    inside: Option<&T>,
) -> Result<T, Problem> {
    let bad = |expected: &str| {
        let detail = format!("id: expected {expected}");
        Problem::new(422, "invalid-field").detail(detail).field("id", expected)
    };
    let id = id.parse().map_err(|error: kernel::ids::BadId| bad(error.expected))?;
    if inside.is_some_and(|inside| *inside != id) {
        return Err(bad("the name in the address"));
    }
    Ok(id)
}

fn one<T: Serialize>(found: Option<T>, what: &'static str) -> Result<Response, Problem> {
    Ok(Json(found.ok_or(Refusal::NotFound { what })?).into_response())
}

fn saved<T: Serialize>(
    new: bool,
    kept: Option<T>,
    what: &'static str,
) -> Result<Response, Problem> {
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, one(kept, what)?).into_response())
}

/// A list of names in pages.
pub(super) struct Listing {
    params: Params,
    name: &'static str,
    limit: usize,
}

impl Listing {
    pub(super) fn read(pairs: Vec<(String, String)>, name: &'static str) -> Result<Self, Problem> {
        let params = Params::new(pairs, &["limit", "cursor"])?;
        let limit = params.limit()?;
        Ok(Self { params, name, limit })
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Where the page begins.
    pub(super) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>, Problem> {
        self.params.cursor(self.name, |place| std::str::from_utf8(place).ok()?.parse().ok())
    }

    /// One page of what comes.
    fn show<T: Serialize>(&self, found: impl Iterator<Item = T>, id: fn(&T) -> &str) -> Response {
        let mut items: Vec<T> = found.take(self.limit + 1).collect();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let last = items.last().filter(|_| more).map(|last| id(last).to_owned());
        self.page(&items, last)
    }

    /// A page that was put together already, and the name it goes on after.
    pub(super) fn page<T: Serialize>(&self, items: &[T], last: Option<String>) -> Response {
        let next = last.map(|last| seal(self.name, last.as_bytes()));
        self.params.page(&format!("/api/v1/{}", self.name), self.name, items, next)
    }
}

impl App {
    /// The directory, for an administrator.
    pub(super) async fn administered(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Arc<Directory>, Actor), Problem> {
        let actor = self.person(headers).await?;
        let directory = self.gateway.directory();
        if directory.administers(&actor) {
            return Ok((directory, actor));
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}
