//! Who there is: `/api/v1/{projects,agents,people,groups}` and `/api/v1/me`. Administrators manage
//! everybody; an agent sees nothing of it.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{
    AgentBody, AgentPage, AgentView, GroupBody, GroupPage, GroupView, Me, PeoplePage, PersonBody,
    PersonView, ProjectBody, ProjectPage, ProjectView, SignInLink,
};
use kernel::directory::Directory;
use kernel::ids::GroupId;
use kernel::{Actor, AgentId, Command, HumanId, ProjectId, Refusal};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Denied;
use crate::bootstrap;
use crate::http::api::openapi::Pages;
use crate::http::api::page::{Params, seal};
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};
use crate::serve::sign_in_url;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(me))
        .routes(routes!(projects))
        .routes(routes!(project, save_project))
        .routes(routes!(agents))
        .routes(routes!(agent, save_agent))
        .routes(routes!(people))
        .routes(routes!(person, save_person))
        .routes(routes!(make_link))
        .routes(routes!(groups))
        .routes(routes!(group, save_group))
}

type Pairs = Query<Vec<(String, String)>>;

/// Who the credential says I am.
#[utoipa::path(
    get,
    path = "/api/v1/me",
    operation_id = "getMe",
    tag = "people",
    responses((status = 200, description = "An agent or a person", body = Me)),
    security(("agent_key" = []), ("human_token" = [])),
)]
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

/// List projects, by name.
#[utoipa::path(
    get,
    path = "/api/v1/projects",
    operation_id = "listProjects",
    tag = "people",
    params(Pages),
    responses(
        (
            status = 200,
            description = "A page",
            body = ProjectPage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
async fn projects(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "projects")?;
    let found = directory.projects_after(list.after()?.as_ref()).map(ProjectView::from);
    Ok(list.show(found, |project| project.id.as_str(), ProjectPage::new))
}

/// Read one of the projects.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{id}",
    operation_id = "getProject",
    tag = "people",
    params(("id" = ProjectId, Path, description = "The name", example = "dev")),
    responses(
        (status = 200, description = "As it is", body = ProjectView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
async fn project(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.project(&id).map(ProjectView::from));
    one(found, "project")
}

/// Add to the projects, or change one of them.
#[utoipa::path(
    put,
    path = "/api/v1/projects/{id}",
    operation_id = "putProject",
    tag = "people",
    params(("id" = ProjectId, Path, description = "The name", example = "dev")),
    request_body(content = ProjectBody, example = json!({ "default_on_silence": false })),
    responses(
        (status = 200, description = "Changed", body = ProjectView),
        (status = 201, description = "Added", body = ProjectView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
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

/// List agents, by name.
#[utoipa::path(
    get,
    path = "/api/v1/agents",
    operation_id = "listAgents",
    tag = "people",
    params(Pages),
    responses(
        (
            status = 200,
            description = "A page",
            body = AgentPage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
async fn agents(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "agents")?;
    let found = directory.agents_after(list.after()?.as_ref()).map(AgentView::from);
    Ok(list.show(found, |agent| agent.id.as_str(), AgentPage::new))
}

/// Read one of the agents.
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}",
    operation_id = "getAgent",
    tag = "people",
    params(("id" = AgentId, Path, description = "The name", example = "agent_dev")),
    responses(
        (status = 200, description = "As it is", body = AgentView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
async fn agent(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.agent(&id).map(AgentView::from));
    one(found, "agent")
}

/// Add to the agents, or change one of them.
#[utoipa::path(
    put,
    path = "/api/v1/agents/{id}",
    operation_id = "putAgent",
    tag = "people",
    params(("id" = AgentId, Path, description = "The name", example = "agent_dev")),
    request_body(content = AgentBody, example = json!({ "project": "dev", "owner": "user_dev" })),
    responses(
        (status = 200, description = "Changed", body = AgentView),
        (status = 201, description = "Added", body = AgentView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
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

/// List people, by name.
#[utoipa::path(
    get,
    path = "/api/v1/people",
    operation_id = "listPeople",
    tag = "people",
    params(Pages),
    responses(
        (
            status = 200,
            description = "A page",
            body = PeoplePage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
async fn people(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let list = Listing::read(pairs, "people")?;
    let found = directory.humans_after(list.after()?.as_ref()).map(PersonView::from);
    Ok(list.show(found, |person| person.id.as_str(), PeoplePage::new))
}

/// Read one of the people.
#[utoipa::path(
    get,
    path = "/api/v1/people/{id}",
    operation_id = "getPerson",
    tag = "people",
    params(("id" = HumanId, Path, description = "The name", example = "ada")),
    responses(
        (status = 200, description = "As it is", body = PersonView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
async fn person(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().and_then(|id| directory.human(&id).map(PersonView::from));
    one(found, "person")
}

/// Add to the people, or change one of them.
#[utoipa::path(
    put,
    path = "/api/v1/people/{id}",
    operation_id = "putPerson",
    tag = "people",
    params(("id" = HumanId, Path, description = "The name", example = "ada")),
    request_body(
        content = PersonBody,
        example = json!({ "name": "Ada Lovelace", "projects": ["dev"], "groups": ["ops"] }),
    ),
    responses(
        (status = 200, description = "Changed", body = PersonView),
        (status = 201, description = "Added", body = PersonView),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 409, description = "`exists`: somebody else has this email address"),
    ),
    security(("human_token" = [])),
)]
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

/// Make a one-time sign-in address for somebody, to be handed to them.
#[utoipa::path(
    post,
    path = "/api/v1/people/{id}/link",
    operation_id = "createSignInLink",
    tag = "people",
    params(("id" = HumanId, Path, description = "Who", example = "user_dev")),
    responses(
        (status = 201, description = "Made", body = SignInLink),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
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
    Ok((StatusCode::CREATED, Json(SignInLink { url })).into_response())
}

/// List groups, by name.
#[utoipa::path(
    get,
    path = "/api/v1/groups",
    operation_id = "listGroups",
    tag = "people",
    params(Pages),
    responses(
        (
            status = 200,
            description = "A page",
            body = GroupPage,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 403, description = "`not-allowed`: for administrators"),
        (status = 422, description = "`invalid-field`: a cursor of another list"),
    ),
    security(("human_token" = [])),
)]
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
    Ok(list.show(found, |group| group.id.as_str(), GroupPage::new))
}

/// Read one of the groups.
#[utoipa::path(
    get,
    path = "/api/v1/groups/{id}",
    operation_id = "getGroup",
    tag = "people",
    params(("id" = GroupId, Path, description = "The name", example = "ops")),
    responses(
        (status = 200, description = "As it is", body = GroupView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
async fn group(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (directory, _) = app.administered(&headers).await?;
    let found = id.parse().ok().map(|id| members(&directory, id));
    one(found.filter(|group| !group.members.is_empty()), "group")
}

/// Add to the groups, or change one of them.
#[utoipa::path(
    put,
    path = "/api/v1/groups/{id}",
    operation_id = "putGroup",
    tag = "people",
    params(("id" = GroupId, Path, description = "The name", example = "ops")),
    request_body(content = GroupBody, example = json!({ "members": ["user_dev", "user_dev_2"] })),
    responses(
        (status = 200, description = "Changed", body = GroupView),
        (status = 201, description = "Added", body = GroupView),
        (status = 403, description = "`not-allowed`: for administrators"),
    ),
    security(("human_token" = [])),
)]
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
    fn show<T, P: Serialize>(
        &self,
        found: impl Iterator<Item = T>,
        id: fn(&T) -> &str,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let mut items: Vec<T> = found.take(self.limit + 1).collect();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let last = items.last().filter(|_| more).map(|last| id(last).to_owned());
        self.page(items, last, page)
    }

    /// A page that was put together already, and the name it goes on after.
    pub(super) fn page<T, P: Serialize>(
        &self,
        items: Vec<T>,
        last: Option<String>,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let next = last.map(|last| seal(self.name, last.as_bytes()));
        let path = format!("/api/v1/{}", self.name);
        self.params.page(&path, &page(items, next.clone()), next.as_deref())
    }
}

impl App {
    /// The directory, for an administrator.
    async fn administered(&self, headers: &HeaderMap) -> Result<(Arc<Directory>, Actor), Problem> {
        let actor = self.person(headers).await?;
        let directory = self.gateway.directory();
        if directory.administers(&actor) {
            return Ok((directory, actor));
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}
