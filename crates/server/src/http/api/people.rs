//! People and groups: `/api/v1/people`, `/api/v1/groups`, for administrators; and `/api/v1/me`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dialects::native::{
    GroupBody, GroupPage, GroupView, Me, PeoplePage, PersonBody, PersonPatch, PersonView,
    ProfileBody, SignInLink,
};
use gateway::auth::Denied;
use gateway::{Gateway, bootstrap};
use kernel::directory::Directory;
use kernel::ids::GroupId;
use kernel::{Actor, DirectoryCommand, HumanId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::AppState;
use crate::http::api::extractors::{AdminCaller, AnyCaller, JsonBody, PersonCaller};
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{PagedList, Pairs, given_id, one, path_id_matching_body, saved};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(me, save_me))
        .routes(routes!(people, add_person))
        .routes(routes!(person, save_person, change_person))
        .routes(routes!(save_profile))
        .routes(routes!(make_link))
        .routes(routes!(groups))
        .routes(routes!(group, save_group))
}

/// Read the caller: the agent or person of the credential.
#[utoipa::path(
    get,
    path = "/api/v1/me",
    operation_id = "getMe",
    responses((status = 200, description = "An agent or a person", body = Me)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn me(
    State(gateway): State<Gateway>,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let me = match actor {
        Actor::Agent { id, project, scope, .. } => Me::Agent { id, project, reach: scope },
        Actor::Human { id, .. } => {
            let directory = gateway.directory();
            let me = directory.human(&id).map(PersonView::from).ok_or(Denied::Unknown)?;
            Me::Human(Box::new(me))
        }
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            return Err(Denied::Unknown.into());
        }
    };
    Ok(Json(me).into_response())
}

/// Change the caller's name and own settings.
///
/// These are the time zone, quiet hours, absences and delegates. Only an administrator can change
/// the email address and the memberships.
#[utoipa::path(
    put,
    path = "/api/v1/me",
    operation_id = "putMe",
    request_body(
        content = ProfileBody,
        example = json!({
            "name": "Ada Lovelace",
            "about": {
                "time_zone": "Europe/London",
                "quiet_hours": { "from": "22:00", "to": "07:00" },
                "absence": { "until": "2026-12-24T08:00:00Z", "delegate": "user_dev_2" },
            },
        }),
    ),
    responses((status = 200, description = "The updated object", body = PersonView)),
)]
async fn save_me(
    State(gateway): State<Gateway>,
    PersonCaller { id, actor }: PersonCaller,
    JsonBody(body): JsonBody<ProfileBody>,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::SaveProfile(body.of(id.clone()))).await?;
    saved(false, gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Change the name and own settings of a person, and nothing else.
#[utoipa::path(
    put,
    path = "/api/v1/people/{id}/profile",
    operation_id = "putProfile",
    request_body(
        content = ProfileBody,
        example = json!({ "about": { "absence": { "delegate": "user_dev_2" } } }),
    ),
    responses(
        (status = 200, description = "The updated object", body = PersonView),
        (status = 403, description = "`not-allowed`: the caller is neither that person nor an \
                                      administrator"),
    ),
)]
async fn save_profile(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(body): JsonBody<ProfileBody>,
) -> Result<Response, ApiProblem> {
    let id: HumanId = id.parse().map_err(|_| Refusal::NotFound { what: "person" })?;
    gateway.run(actor, DirectoryCommand::SaveProfile(body.of(id.clone()))).await?;
    saved(false, gateway.directory().human(&id).map(PersonView::from), "person")
}

/// List people, by ID.
#[utoipa::path(
    get,
    path = "/api/v1/people",
    operation_id = "listPeople",
    params(ListPageParams),
    responses(
        (status = 200, description = "A page", body = PeoplePage),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn people(
    pairs: Pairs,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let list = PagedList::read(pairs, "people")?;
    let found = directory.humans_after(list.after()?.as_ref()).map(PersonView::from);
    Ok(list.show(found, |person| person.id.as_str(), PeoplePage::new))
}

/// Read a person.
#[utoipa::path(
    get,
    path = "/api/v1/people/{id}",
    operation_id = "getPerson",
    params(("id" = HumanId, Path, description = "The ID", example = "ada")),
    responses(
        (status = 200, description = "The object", body = PersonView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn person(
    PathParam(id): PathParam<String>,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let found = id.parse().ok().and_then(|id| directory.human(&id).map(PersonView::from));
    one(found, "person")
}

/// Add a person. Refused with `exists` if the ID is already in use.
#[utoipa::path(
    post,
    path = "/api/v1/people",
    operation_id = "createPerson",
    request_body(
        content = PersonBody,
        description = "With the `id` of the new person",
        example = json!({ "id": "grace", "name": "Grace Hopper", "projects": ["dev"] }),
    ),
    responses(
        (status = 201, description = "Added", body = PersonView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (
            status = 409,
            description = "`exists`: the ID or the email address is already in use",
        ),
        (status = 422, description = "`invalid-field`: such as a missing `id`"),
    ),
)]
async fn add_person(
    State(gateway): State<Gateway>,
    AdminCaller { actor, .. }: AdminCaller,
    JsonBody(body): JsonBody<PersonBody>,
) -> Result<Response, ApiProblem> {
    let id = given_id(body.id.clone())?;
    gateway.run(actor, DirectoryCommand::AddHuman(body.named(id.clone()))).await?;
    saved(true, gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Change the named fields of a person and nothing else (JSON merge patch).
///
/// `null` clears a field. Lists are replaced as a whole. Use `PUT /api/v1/people/{id}/profile` to
/// change a person's own settings.
#[utoipa::path(
    patch,
    path = "/api/v1/people/{id}",
    operation_id = "patchPerson",
    params(("id" = HumanId, Path, description = "The ID of the person", example = "user_dev_2")),
    request_body(
        content = PersonPatch,
        example = json!({ "email": "dev2@example.com", "groups": ["ops"] }),
    ),
    responses(
        (status = 200, description = "Updated", body = PersonView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 409, description = "`exists`: the email address is already in use"),
    ),
)]
async fn change_person(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AdminCaller { actor, .. }: AdminCaller,
    JsonBody(patch): JsonBody<PersonPatch>,
) -> Result<Response, ApiProblem> {
    let id: HumanId = id.parse().map_err(|_| Refusal::NotFound { what: "person" })?;
    let change = Box::new(patch.into());
    gateway.run(actor, DirectoryCommand::ChangeHuman(id.clone(), change)).await?;
    saved(false, gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Add or replace a person.
///
/// Fields that are left out get their default, except `about` and `contacts`. Use `POST` to add
/// only, `PATCH` to change single fields.
#[utoipa::path(
    put,
    path = "/api/v1/people/{id}",
    operation_id = "putPerson",
    params(("id" = HumanId, Path, description = "The ID", example = "ada")),
    request_body(
        content = PersonBody,
        example = json!({ "name": "Ada Lovelace", "projects": ["dev"], "groups": ["ops"] }),
    ),
    responses(
        (status = 200, description = "Updated", body = PersonView),
        (status = 201, description = "Added", body = PersonView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
        (status = 409, description = "`exists`: the email address is already in use"),
    ),
)]
async fn save_person(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AdminCaller { directory: before, actor }: AdminCaller,
    JsonBody(body): JsonBody<PersonBody>,
) -> Result<Response, ApiProblem> {
    let id = path_id_matching_body(&id, body.id.as_ref())?;
    let new = before.human(&id).is_none();
    gateway.run(actor, DirectoryCommand::SaveHuman(body.named(id.clone()))).await?;
    saved(new, gateway.directory().human(&id).map(PersonView::from), "person")
}

/// Create a one-time sign-in link for a person.
#[utoipa::path(
    post,
    path = "/api/v1/people/{id}/link",
    operation_id = "createSignInLink",
    responses(
        (status = 201, description = "The sign-in link", body = SignInLink),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn make_link(
    State(config): State<Arc<Config>>,
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AdminCaller { directory, actor }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let known = id.parse().ok().filter(|id| directory.existing_human(id).is_some());
    let human = known.ok_or(Refusal::NotFound { what: "person" })?;
    let secret = bootstrap::create_sign_in_link(&gateway, actor, human).await?;
    let url = config.links().sign_in(&secret).map_err(|_| {
        ApiProblem::new(500, "internal").detail("the sign-in link cannot be created")
    })?;
    Ok((StatusCode::CREATED, Json(SignInLink { url })).into_response())
}

/// List groups, by ID.
#[utoipa::path(
    get,
    path = "/api/v1/groups",
    operation_id = "listGroups",
    params(ListPageParams),
    responses(
        (status = 200, description = "A page", body = GroupPage),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn groups(
    pairs: Pairs,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let list = PagedList::read(pairs, "groups")?;
    let after: Option<GroupId> = list.after()?;
    let found = directory.groups_after(after.as_ref()).map(|id| members(&directory, id.clone()));
    Ok(list.show(found, |group| group.id.as_str(), GroupPage::new))
}

/// Read a group.
#[utoipa::path(
    get,
    path = "/api/v1/groups/{id}",
    operation_id = "getGroup",
    responses(
        (status = 200, description = "The object", body = GroupView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn group(
    PathParam(id): PathParam<String>,
    AdminCaller { directory, .. }: AdminCaller,
) -> Result<Response, ApiProblem> {
    let found = id.parse().ok().map(|id| members(&directory, id));
    one(found.filter(|group| !group.members.is_empty()), "group")
}

/// Add or replace a group.
#[utoipa::path(
    put,
    path = "/api/v1/groups/{id}",
    operation_id = "putGroup",
    request_body(content = GroupBody, example = json!({ "members": ["user_dev", "user_dev_2"] })),
    responses(
        (status = 200, description = "Updated", body = GroupView),
        (status = 201, description = "Added", body = GroupView),
        (status = 403, description = "`not-allowed`: the caller is not an administrator"),
    ),
)]
async fn save_group(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AdminCaller { directory: before, actor }: AdminCaller,
    JsonBody(body): JsonBody<GroupBody>,
) -> Result<Response, ApiProblem> {
    let id = path_id_matching_body(&id, body.id.as_ref())?;
    // A group without members does not exist, so it is new if it had none before and has some now.
    let new = before.members(&id).next().is_none() && !body.members.is_empty();
    gateway.run(actor, DirectoryCommand::SaveGroup(body.named(id.clone()))).await?;
    saved(new, Some(members(&gateway.directory(), id)), "group")
}

fn members(directory: &Directory, id: GroupId) -> GroupView {
    let members = directory.members(&id).map(|human| human.id.clone()).collect();
    GroupView { id, members }
}
