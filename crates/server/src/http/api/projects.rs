//! Projects and their agents: `/api/v1/projects`, `/api/v1/agents`. For administrators.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use dialects::native::{AgentBody, AgentPage, AgentView, ProjectBody, ProjectPage, ProjectView};
use gateway::Gateway;
use kernel::directory::{Directory, NewProject, RecipientPolicy, WebhookScope};
use kernel::{Actor, Assurance, DirectoryCommand, ProjectId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::AppState;
use crate::http::api::extractors::{AdminCaller, JsonBody, PersonCaller};
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{PagedList, Pairs, given_id, one, path_id_matching_body, saved};
use crate::http::path_param::{PathParam, path_id};
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(projects, add_project))
        .routes(routes!(project, save_project))
        .routes(routes!(agents))
        .routes(routes!(agent, save_agent))
}

/// List projects, by ID.
#[utoipa::path(
    get,
    path = "/api/v1/projects",
    operation_id = "listProjects",
    params(ListPageParams),
    responses(
        (status = 200, description = "A page", body = ProjectPage),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn projects(
    pairs: Pairs,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let list = PagedList::read(pairs, "projects")?;
    let found = directory.projects_after(list.after()?.as_ref()).map(ProjectView::from);
    Ok(list.show(found, |project| project.id.as_str(), ProjectPage::new))
}

/// Read a project.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{id}",
    operation_id = "getProject",
    responses(
        (status = 200, description = "The object", body = ProjectView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn project(
    PathParam(id): PathParam<String>,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let found = id.parse().ok().and_then(|id| directory.project(&id).map(ProjectView::from));
    one(found, "project")
}

/// The minimum assurance that new projects require for approving irreversible and critical
/// requests: a signed-in person has to approve them, unless the server runs with `--dev`.
pub(in crate::http) fn irreversible_assurance(config: &Config) -> Option<Assurance> {
    (!config.dev).then_some(Assurance::Session)
}

/// A project with the default rules of new projects.
pub(in crate::http) fn new_project(config: &Config, id: ProjectId) -> NewProject {
    if config.dev {
        NewProject { recipients: Some(RecipientPolicy::Any), ..NewProject::plain(id) }
    } else {
        NewProject::fresh(id)
    }
}

/// The project a body describes. For fields that the body leaves out, a new project gets the
/// default rules.
fn described_project(
    gateway: &Gateway,
    config: &Config,
    body: ProjectBody,
    id: &ProjectId,
) -> NewProject {
    let new = body.named(id.clone(), irreversible_assurance(config));
    if gateway.directory().project(id).is_some() {
        return new;
    }
    let recipients = new.recipients.or_else(|| new_project(config, id.clone()).recipients);
    NewProject { recipients, ..new }
}

/// Add a project. Refused with `exists` if the ID is already in use.
#[utoipa::path(
    post,
    path = "/api/v1/projects",
    operation_id = "createProject",
    request_body(
        content = ProjectBody,
        description = "With the `id` of the new project",
        example = json!({ "id": "billing", "reminders": [900, 3600] }),
    ),
    responses(
        (status = 201, description = "Added", body = ProjectView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 409, description = "`exists`: the ID is already in use"),
        (status = 422, description = "`invalid-field`: such as a missing `id`"),
    ),
)]
async fn add_project(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    AdminCaller { actor, .. }: AdminCaller,
    JsonBody(body): JsonBody<ProjectBody>,
) -> Result<Response, ApiProblem> {
    let id = given_id(body.id.clone())?;
    let new = described_project(&gateway, &config, body, &id);
    gateway.run(actor, DirectoryCommand::AddProject(new)).await?;
    saved(true, gateway.directory().project(&id).map(ProjectView::from), "project")
}

/// Add or replace a project.
#[utoipa::path(
    put,
    path = "/api/v1/projects/{id}",
    operation_id = "putProject",
    request_body(content = ProjectBody, example = json!({ "default_on_silence": false, "reminders": [900, 3600] })),
    responses(
        (status = 200, description = "Updated", body = ProjectView),
        (status = 201, description = "Added", body = ProjectView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn save_project(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    PathParam(id): PathParam<String>,
    AdminCaller { directory: before, actor }: AdminCaller,
    JsonBody(body): JsonBody<ProjectBody>,
) -> Result<Response, ApiProblem> {
    let id = path_id_matching_body(&id, body.id.as_ref())?;
    let new = before.project(&id).is_none();
    let wanted = described_project(&gateway, &config, body, &id);
    gateway.run(actor, DirectoryCommand::SaveProject(wanted)).await?;
    saved(new, gateway.directory().project(&id).map(ProjectView::from), "project")
}

/// List agents, by ID.
#[utoipa::path(
    get,
    path = "/api/v1/agents",
    operation_id = "listAgents",
    params(ListPageParams),
    responses(
        (status = 200, description = "A page", body = AgentPage),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn agents(
    pairs: Pairs,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let list = PagedList::read(pairs, "agents")?;
    let found = directory.agents_after(list.after()?.as_ref()).map(AgentView::from);
    Ok(list.show(found, |agent| agent.id.as_str(), AgentPage::new))
}

/// Read an agent.
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}",
    operation_id = "getAgent",
    responses(
        (status = 200, description = "The object", body = AgentView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn agent(
    PathParam(id): PathParam<String>,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let found = id.parse().ok().and_then(|id| directory.agent(&id).map(AgentView::from));
    one(found, "agent")
}

/// Add or replace an agent.
///
/// For administrators. The owner of the agent can change `conversations`.
#[utoipa::path(
    put,
    path = "/api/v1/agents/{id}",
    operation_id = "putAgent",
    request_body(content = AgentBody, example = json!({ "project": "dev", "owner": "user_dev" })),
    responses(
        (status = 200, description = "Updated", body = AgentView),
        (status = 201, description = "Added", body = AgentView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn save_agent(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AgentEditor { before, actor }: AgentEditor,
    JsonBody(body): JsonBody<AgentBody>,
) -> Result<Response, ApiProblem> {
    let id = path_id_matching_body(&id, body.id.as_ref())?;
    let new = before.agent(&id).is_none();
    gateway.run(actor, DirectoryCommand::SaveAgent(body.named(id.clone()))).await?;
    saved(new, gateway.directory().agent(&id).map(AgentView::from), "agent")
}

/// An administrator, or the owner of the agent in the path, who may allow people to write to it.
/// The kernel checks the other changes.
struct AgentEditor {
    before: Arc<Directory>,
    actor: Actor,
}

impl FromRequestParts<AppState> for AgentEditor {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { actor, .. } = PersonCaller::from_request_parts(parts, shared).await?;
        let before = shared.core.gateway.directory();
        let agent = path_id(parts, shared).await.parse();
        let own = agent.is_ok_and(|id| before.manages_webhooks(&actor, &WebhookScope::Agent(id)));
        if own || before.administers(&actor) {
            return Ok(Self { before, actor });
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}
