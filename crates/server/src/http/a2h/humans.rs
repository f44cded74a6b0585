//! `/humans`, `/humans/search`, `/humans/{id}`: the people who can be asked.
//!
//! An agent sees the people of its project: name and description, never their contact methods. An
//! administrator sees all people, and adds, changes and removes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse;
use dialects::a2h::{self, A2hWireError, HumanBody};
use gateway::Gateway;
use gateway::auth::Denied;
use gateway::data_eraser::DataEraser;
use kernel::directory::{Directory, Human, NewHuman, Profile, ProfileSettings};
use kernel::{Actor, DirectoryCommand, HumanId, ProjectId};
use serde_json::json;

use super::{A2hError, A2hResult, calls};
use crate::http::a2h::A2hCalls;
use crate::http::callers::Callers;
use crate::http::path_param::PathParam;

/// The default and maximum number of people on a page.
const PAGE_SIZE: usize = 100;
/// How many people the server examines for one page.
const MAX_PEOPLE_EXAMINED: usize = 10_000;

type Pairs = Query<Vec<(String, String)>>;

/// Who reads the list.
enum HumansReader {
    Agent(ProjectId),
    Admin(Actor),
}

pub(super) async fn humans(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    uri: Uri,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> A2hResult {
    let reader = a2h_reader(&gateway, &callers, &headers).await?;
    listed(&gateway, &reader, uri.path(), &pairs)
}

pub(super) async fn search(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    uri: Uri,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> A2hResult {
    let reader = a2h_reader(&gateway, &callers, &headers).await?;
    let words = param(&pairs, "q").unwrap_or_default();
    if words.trim().is_empty() {
        // An empty search lists all people (A2H-122).
        return listed(&gateway, &reader, &uri.path().replace("/search", ""), &pairs);
    }
    let directory = gateway.directory();
    let limit = limit(&pairs)?;
    let found = match &reader {
        HumansReader::Agent(project) => directory.people_by_words(project, words, limit),
        HumansReader::Admin(actor) => {
            let mut found: Vec<&Human> = Vec::new();
            for project in &administrator(&directory, actor)?.projects {
                for human in directory.people_by_words(project, words, limit) {
                    if !found.iter().any(|known| known.id == human.id) {
                        found.push(human);
                    }
                }
            }
            found.truncate(limit);
            found
        }
    };
    Ok(Json(a2h::humans(found, reader.whole())).into_response())
}

pub(super) async fn human(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let reader = a2h_reader(&gateway, &callers, &headers).await?;
    let directory = gateway.directory();
    let known = known(&directory, &id)?;
    if !reader.sees(known) {
        return Err(A2hWireError::no_human().into());
    }
    Ok(Json(a2h::human(known, reader.whole())).into_response())
}

pub(super) async fn create(
    State(calls): State<Arc<A2hCalls>>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let actor = a2h_admin(&calls.gateway, &calls.callers, &headers).await?;
    let bytes = calls.body(&headers, body).await?;
    let HumanBody { name, description, contacts, projects } = a2h::parse_human(&bytes)?;
    let directory = calls.gateway.directory();
    let projects = match projects {
        Some(projects) => projects.into_iter().collect(),
        None => administrator(&directory, &actor)?.projects.clone(),
    };
    if projects.is_empty() {
        return Err(A2hWireError::field("projects", "the IDs of projects").into());
    }
    let id: HumanId = format!("human_{}", calls.gateway.ids().ulid().to_string().to_lowercase())
        .parse()
        .map_err(|_| A2hWireError::internal())?;
    let about = ProfileSettings { description, ..ProfileSettings::default() };
    let new = NewHuman {
        id: id.clone(),
        profile: Profile {
            name,
            about: Some(about),
            contacts: Some(contacts),
            ..Profile::default()
        },
        admin: false,
        active: true,
        projects,
        groups: BTreeSet::new(),
        skills: BTreeSet::new(),
    };
    calls.gateway.run(actor, DirectoryCommand::SaveHuman(new)).await?;
    let directory = calls.gateway.directory();
    let made = directory.human(&id).ok_or_else(A2hWireError::internal)?;
    Ok((StatusCode::CREATED, Json(a2h::human(made, true))).into_response())
}

pub(super) async fn replace(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let actor = a2h_admin(&calls.gateway, &calls.callers, &headers).await?;
    let bytes = calls.body(&headers, body).await?;
    let HumanBody { name, description, contacts, projects } = a2h::parse_human(&bytes)?;
    let directory = calls.gateway.directory();
    let mut new = as_known(known(&directory, &id)?);
    let about = new.profile.about.unwrap_or_default();
    new.profile.name = name;
    new.profile.about = Some(ProfileSettings { description, ..about });
    new.profile.contacts = Some(contacts);
    new.projects = projects.map_or(new.projects, |projects| projects.into_iter().collect());
    let id = new.id.clone();
    calls.gateway.run(actor, DirectoryCommand::SaveHuman(new)).await?;
    let directory = calls.gateway.directory();
    let changed = directory.human(&id).ok_or_else(A2hWireError::internal)?;
    Ok(Json(a2h::human(changed, true)).into_response())
}

/// Erases a person (GDPR): only the id stays. Their decisions stay too. Refused while the person
/// owns agents, or while requests or tasks wait for them.
pub(super) async fn remove(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    State(erasure): State<DataEraser>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let actor = a2h_admin(&gateway, &callers, &headers).await?;
    let directory = gateway.directory();
    let id: HumanId = id.parse().map_err(|_| A2hWireError::no_human())?;
    directory.existing_human(&id).ok_or_else(A2hWireError::no_human)?;
    erasure.erase_person(actor, &id).await?;
    Ok(Json(json!({ "id": id, "deleted": true })).into_response())
}

fn listed(
    gateway: &Gateway,
    reader: &HumansReader,
    path: &str,
    pairs: &[(String, String)],
) -> A2hResult {
    let directory = gateway.directory();
    let limit = limit(pairs)?;
    let after = param(pairs, "cursor").map(|id| {
        let id: Result<HumanId, _> = id.parse();
        id.map_err(|_| A2hWireError::field("cursor", "the next_cursor of the previous page"))
    });
    let after = after.transpose()?;
    let people: Box<dyn Iterator<Item = &Human>> = match reader {
        HumansReader::Agent(project) => Box::new(directory.members_after(project, after.as_ref())),
        HumansReader::Admin(_) => Box::new(directory.humans_after(after.as_ref())),
    };
    // Skip people who were removed, but only up to a limit: a page may be short and still have a
    // next page.
    let mut people = people.peekable();
    let (mut found, mut last, mut examined) = (Vec::new(), None, 0);
    while found.len() < limit
        && examined < MAX_PEOPLE_EXAMINED
        && let Some(human) = people.next()
    {
        (last, examined) = (Some(human.id.clone()), examined + 1);
        found.extend(Some(human).filter(|human| human.active));
    }
    let last = last.filter(|_| people.peek().is_some());
    let mut answer = Json(a2h::humans(found, reader.whole())).into_response();
    if let Some(last) = last {
        let link = format!("<{path}?limit={limit}&cursor={last}>; rel=\"next\"");
        calls::link_to(&mut answer, &link);
    }
    Ok(answer)
}

fn param<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn limit(pairs: &[(String, String)]) -> Result<usize, A2hWireError> {
    let Some(text) = param(pairs, "limit") else { return Ok(PAGE_SIZE) };
    let limit = text.parse().ok().filter(|limit| (1..=PAGE_SIZE).contains(limit));
    limit.ok_or_else(|| A2hWireError::field("limit", "a number from 1 to 100"))
}

/// A person who can be asked.
fn known<'d>(directory: &'d Directory, id: &str) -> Result<&'d Human, A2hWireError> {
    let known = id.parse::<HumanId>().ok().and_then(|id| directory.human(&id));
    known.filter(|human| human.active).ok_or_else(A2hWireError::no_human)
}

fn as_known(human: &Human) -> NewHuman {
    let Human { id, profile, admin, active, projects, groups, skills, .. } = human.clone();
    let profile = profile.value().cloned().unwrap_or_default();
    NewHuman { id, profile, admin, active, projects, groups, skills }
}

fn administrator<'d>(directory: &'d Directory, actor: &Actor) -> Result<&'d Human, A2hWireError> {
    let Actor::Human { id, .. } = actor else { return Err(A2hWireError::admins_only()) };
    directory.human(id).ok_or_else(A2hWireError::admins_only)
}

impl HumansReader {
    fn whole(&self) -> bool {
        matches!(self, Self::Admin(_))
    }

    fn sees(&self, human: &Human) -> bool {
        match self {
            Self::Agent(project) => human.projects.contains(project),
            Self::Admin(_) => true,
        }
    }
}

/// The caller: an agent with its key, or an administrator with their token.
async fn a2h_reader(
    gateway: &Gateway,
    callers: &Callers,
    headers: &HeaderMap,
) -> Result<HumansReader, A2hError> {
    match callers.agent(headers) {
        Ok(Actor::Agent { project, .. }) => Ok(HumansReader::Agent(project)),
        Ok(_) | Err(Denied::Unknown) => {
            Ok(HumansReader::Admin(a2h_admin(gateway, callers, headers).await?))
        }
        Err(denied) => Err(denied.into()),
    }
}

/// The calling administrator. Other callers with a valid credential are refused (A2H-127).
async fn a2h_admin(
    gateway: &Gateway,
    callers: &Callers,
    headers: &HeaderMap,
) -> Result<Actor, A2hError> {
    match callers.human(headers).await {
        Ok(actor) if gateway.directory().administers(&actor) => Ok(actor),
        Ok(_) => Err(A2hWireError::admins_only().into()),
        Err(Denied::Unknown) => {
            callers.agent(headers)?;
            Err(A2hWireError::admins_only().into())
        }
        Err(denied) => Err(denied.into()),
    }
}
