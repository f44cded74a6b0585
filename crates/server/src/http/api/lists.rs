//! `GET /api/v1/asks`: an agent's own or its project's, newest first; a person's, most urgent first;
//! for an administrator any agent's or project's.

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dialects::native::AskPage;
use kernel::actor::Reach;
use kernel::ask::Priority;
use kernel::directory::Directory;
use kernel::question::Kind;
use kernel::{Actor, AgentId, AskId, HumanId, Phase, ProjectId, Refusal};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{Cursor, Filter, List, Scope};
use ulid::Ulid;
use utoipa::ToSchema;

use crate::http::Shared;
use crate::http::api::openapi::Pages;
use crate::http::api::page::{Params, bad, seal, unfit};
use crate::http::problem::Problem;

const PATH: &str = "/api/v1/asks";
const KNOWN: [&str; 7] = ["state", "kind", "priority", "project", "agent", "limit", "cursor"];

/// List asks.
///
/// An agent has its own or its project's, by the reach of its key, newest first. A person has what
/// they may see, most urgent first. An administrator may name any project or agent.
#[utoipa::path(
    get,
    path = "/api/v1/asks",
    operation_id = "listAsks",
    tag = "asks",
    params(
        (
            "state" = Option<Vec<Listed>>,
            Query,
            description = "Where they stand; `open` when nothing is said. May be repeated",
        ),
        ("kind" = Option<Vec<Kind>>, Query, description = "Kinds of question. May be repeated"),
        ("priority" = Option<Priority>, Query, description = "Only of this priority"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        Pages,
    ),
    responses(
        (
            status = 200,
            description = "A page",
            body = AskPage<'static>,
            headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
        ),
        (status = 403, description = "`not-allowed`: a project or agent the caller does not see"),
        (
            status = 422,
            description = "`invalid-field`: a cursor of another list, or a project or agent that \
                does not exist",
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
pub(super) async fn list(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let params = Params::new(pairs, &KNOWN)?;
    let directory = app.gateway.directory();
    let whose = Whose::asked(&params, &actor, &directory)?;
    let (phases, filter) = (phases(&params)?, filter(&params)?);
    let name = format!("asks/{}/{phases:?}/{filter:?}", whose.name());
    let (after, limit) = (params.cursor(&name, place)?, params.limit()?);
    let list = |scopes| List { scopes, phases, filter, after, limit };
    let page = match whose {
        Whose::Inbox(id) => {
            let human = directory.human(&id).ok_or(Refusal::NotFound { what: "person" })?;
            app.gateway.inbox(human, list(Scope::inbox(human))).await?
        }
        Whose::All(scope) => app.gateway.list(list(vec![scope])).await?,
    };
    let next = page.next.map(|at| {
        let place = [&[at.rank][..], &at.ask.ulid().to_bytes()].concat();
        seal(&name, &place)
    });
    let asks = page.asks.iter().map(|ask| app.view(ask, &actor)).collect();
    Ok(params.page(PATH, &AskPage { asks, next: next.clone() }, next.as_deref()))
}

/// Whose asks.
enum Whose {
    /// Everything that waits for a person, or did.
    Inbox(HumanId),
    /// All of an agent or a project.
    All(Scope),
}

impl Whose {
    fn name(&self) -> String {
        match self {
            Self::Inbox(id) => format!("inbox/{id}"),
            Self::All(scope) => scope.key(),
        }
    }

    fn asked(params: &Params, actor: &Actor, directory: &Directory) -> Result<Self, Problem> {
        let project = named::<ProjectId>(params, "project")?;
        let agent = named::<AgentId>(params, "agent")?;
        match actor {
            Actor::Human { id, .. } if project.is_none() && agent.is_none() => {
                Ok(Self::Inbox(id.clone()))
            }
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::System => {
                if !directory.administers(actor) {
                    let why = "only an administrator can list by project or agent";
                    return Err(Refusal::NotAllowed { why }.into());
                }
                Self::within(project.as_ref(), agent, directory)
            }
            Actor::Agent { id, project: own, reach, .. } => {
                let foreign = project.is_some_and(|project| project != *own)
                    || agent.as_ref().is_some_and(|agent| match reach {
                        Reach::Agent => agent != id,
                        Reach::Project => {
                            directory.agent(agent).is_none_or(|agent| agent.project != *own)
                        }
                    });
                if foreign {
                    let why = "this key does not see that project or agent";
                    return Err(Refusal::NotAllowed { why }.into());
                }
                Ok(Self::All(match (agent, reach) {
                    (Some(agent), _) => Scope::Agent(agent),
                    (None, Reach::Agent) => Scope::Agent(id.clone()),
                    (None, Reach::Project) => Scope::Project(own.clone()),
                }))
            }
        }
    }

    fn within(
        project: Option<&ProjectId>,
        agent: Option<AgentId>,
        directory: &Directory,
    ) -> Result<Self, Problem> {
        if project.is_some_and(|id| directory.project(id).is_none()) {
            return Err(unfit("project", "a project that exists"));
        }
        let Some(agent) = agent else {
            let project = project.ok_or_else(|| unfit("project", "a project that exists"))?;
            return Ok(Self::All(Scope::Project(project.clone())));
        };
        let known =
            directory.agent(&agent).ok_or_else(|| unfit("agent", "an agent that exists"))?;
        if project.is_some_and(|project| known.project != *project) {
            return Err(unfit("agent", "an agent of that project"));
        }
        Ok(Self::All(Scope::Agent(agent)))
    }
}

/// Where the asks of a list stand.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ListedState)]
pub(super) enum Listed {
    /// Can be answered: waiting or engaged.
    Open,
    /// Nobody opened it, took it or was handed it yet.
    Waiting,
    /// Another word for waiting.
    Pending,
    /// Somebody opened it, took it or was handed it.
    Engaged,
    /// Answered, or a default was taken.
    Completed,
    /// Ran out.
    Expired,
    /// Withdrawn.
    Cancelled,
    /// Ran out as a failure.
    Failed,
    /// Whatever became of it.
    All,
}

impl Listed {
    fn phases(self) -> &'static [Phase] {
        match self {
            Self::Open => &Phase::OPEN,
            Self::Waiting | Self::Pending => &[Phase::Waiting],
            Self::Engaged => &[Phase::Engaged],
            Self::Completed => &[Phase::Completed],
            Self::Expired => &[Phase::Expired],
            Self::Cancelled => &[Phase::Cancelled],
            Self::Failed => &[Phase::Failed],
            Self::All => &Phase::ALL,
        }
    }
}

fn phases(params: &Params) -> Result<Vec<Phase>, Problem> {
    let expected = "open, waiting, pending, engaged, completed, expired, cancelled, failed or all";
    let listed: Option<Vec<Listed>> = params.all("state").map(word).collect();
    let mut listed = listed.ok_or_else(|| bad("state", expected))?;
    if listed.is_empty() {
        listed.push(Listed::Open);
    }
    let mut phases: Vec<Phase> = listed.iter().flat_map(|one| one.phases()).copied().collect();
    phases.sort_unstable();
    phases.dedup();
    Ok(phases)
}

fn filter(params: &Params) -> Result<Filter, Problem> {
    let expected = "approve, choose, provide, confirm, escalate or converse";
    let kinds: Option<Vec<Kind>> = params.all("kind").map(word).collect();
    let kinds = kinds.ok_or_else(|| bad("kind", expected))?;
    let priority = match params.one("priority")? {
        Some(name) => {
            let expected = "low, normal, high or critical";
            Some(word::<Priority>(name).ok_or_else(|| bad("priority", expected))?)
        }
        None => None,
    };
    Ok(Filter { kinds, priority, ..Filter::default() })
}

/// A word of the kernel's, by the name it has on the wire.
fn word<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

fn named<T: std::str::FromStr>(params: &Params, name: &str) -> Result<Option<T>, Problem> {
    let read = |text: &str| text.parse().map_err(|_| bad(name, "a name"));
    params.one(name)?.map(read).transpose()
}

fn place(bytes: &[u8]) -> Option<Cursor> {
    let (rank, ulid) = bytes.split_first()?;
    let ulid = Ulid::from_bytes(ulid.try_into().ok()?);
    Some(Cursor { rank: *rank, ask: AskId::new(ulid) })
}
