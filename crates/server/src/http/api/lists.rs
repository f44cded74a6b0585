//! `GET /api/v1/asks`: an agent's own or its project's, newest first; a person's, most urgent first;
//! for an administrator any agent's or project's.

use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use kernel::actor::Reach;
use kernel::ask::Priority;
use kernel::directory::Directory;
use kernel::question::Kind;
use kernel::{Actor, AgentId, AskId, HumanId, Phase, ProjectId, Refusal};
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{Cursor, Filter, List, Scope};
use ulid::Ulid;

use crate::http::Shared;
use crate::http::api::page::{Params, bad, seal};
use crate::http::problem::Problem;

const PATH: &str = "/api/v1/asks";
const KNOWN: [&str; 7] = ["state", "kind", "priority", "project", "agent", "limit", "cursor"];

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/api/v1/asks", get(list))
}

async fn list(
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
    let shown: Vec<_> = page.asks.iter().map(|ask| app.view(ask, &actor)).collect();
    Ok(params.page(PATH, "asks", &shown, next))
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
            Actor::Human { .. } | Actor::System => {
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
            return Err(bad("project", "a project that exists"));
        }
        let Some(agent) = agent else {
            let project = project.ok_or_else(|| bad("project", "a project that exists"))?;
            return Ok(Self::All(Scope::Project(project.clone())));
        };
        let known = directory.agent(&agent).ok_or_else(|| bad("agent", "an agent that exists"))?;
        if project.is_some_and(|project| known.project != *project) {
            return Err(bad("agent", "an agent of that project"));
        }
        Ok(Self::All(Scope::Agent(agent)))
    }
}

fn phases(params: &Params) -> Result<Vec<Phase>, Problem> {
    let mut phases = Vec::new();
    for name in params.all("state") {
        match name {
            "open" => phases.extend(Phase::OPEN),
            "all" => phases.extend(Phase::ALL),
            name => {
                let expected =
                    "open, waiting, engaged, completed, expired, cancelled, failed or all";
                phases.push(word(name).ok_or_else(|| bad("state", expected))?);
            }
        }
    }
    if phases.is_empty() {
        phases.extend(Phase::OPEN);
    }
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
