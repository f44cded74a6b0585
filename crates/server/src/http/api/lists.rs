//! `GET /api/v1/asks`: an agent's own or its project's, newest first; a person's, most urgent
//! first; for an administrator any agent's or project's. `GET /api/v1/asks/count` counts the same.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use dialects::native::{AskCount, AskPage};
use gateway::Gateway;
use kernel::actor::KeyScope;
use kernel::ask::{Priority, SimilarityKey};
use kernel::directory::{Directory, Human};
use kernel::question::QuestionKind;
use kernel::{Actor, AgentId, Ask, AskId, HumanId, Phase, ProjectId, Refusal, Time};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{
    AskListPage, AskListQuery, Count, Cursor, ExpiringQuery, Filter, ListScope, Order, StoreError,
};
use ulid::Ulid;
use utoipa::ToSchema;

use crate::http::api::AskViews;
use crate::http::api::extractors::AnyCaller;
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{
    ListParams, bad_parameter, enum_name, invalid_parameter, seal, whole_number,
};
use crate::http::problem::ApiProblem;

const PATH: &str = "/api/v1/asks";
const KNOWN_PARAMS: [&str; 10] = [
    "view", "state", "kind", "priority", "project", "agent", "fold", "expiring", "limit", "cursor",
];

/// List asks.
///
/// An agent gets its own asks or those of its project, depending on its key, newest first. A person
/// gets the asks that they can see, most urgent first; `view` selects a list, and `project`,
/// `agent`, `kind` and `expiring` filter it. An administrator can name any project or agent. A
/// short page can still have a next page, because the server examines a limited number of rows per
/// page.
#[utoipa::path(
    get,
    path = "/api/v1/asks",
    operation_id = "listAsks",
    params(
        ("view" = Option<PersonList>, Query, description = "For people: the list"),
        (
            "state" = Option<Vec<ListedState>>,
            Query,
            description = "The state; `open` by default. Can be repeated",
        ),
        ("kind" = Option<Vec<QuestionKind>>, Query, description = "The kind of question. Can be \
                     repeated"),
        ("priority" = Option<Priority>, Query, description = "Only of this priority"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        (
            "fold" = Option<SimilarityKey>,
            Query,
            description = "Only similar requests: the `fold` of an ask, together with its `agent`",
        ),
        (
            "expiring" = Option<u64>,
            Query,
            description = "For people: only open asks that expire within this number of seconds, \
                           soonest first",
            minimum = 1,
            maximum = 31_536_000,
        ),
        ListPageParams,
    ),
    responses(
        (status = 200, description = "A page", body = AskPage<'static>),
        (status = 403, description = "`not-allowed`: the caller cannot see the project or agent"),
        (
            status = 422,
            description = "`invalid-field`: a cursor of another list, an unknown project or \
                           agent, `expiring` with a `state` other than `open`, or `fold` without \
                           `agent`",
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
pub(super) async fn list(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &KNOWN_PARAMS)?;
    let directory = gateway.directory();
    let (whose, list) = parse_query(&params, &actor, &directory)?;
    let whole = whose.open(&directory)?;
    if let Some(within) = expiring(&params)? {
        let name = whose.name();
        let (asks, next) =
            expiring_asks(&gateway, &params, &actor, &whole, &name, list.filter, within).await?;
        let asks = ask_views.views(&asks, &actor).await?;
        return Ok(params.page(PATH, &AskPage { asks, next: next.clone() }, next.as_deref()));
    }
    let name = format!("asks/{}/{:?}/{:?}", whose.name(), list.phases, list.filter);
    let list = AskListQuery { scopes: whole.scopes.clone(), ..list };
    let list = AskListQuery { after: params.cursor(&name, parse_cursor)?, ..list };
    let page = page_of(&gateway, &whole, list).await?;
    let shown = ask_views.shown_page(&page, &name, &actor).await?;
    let next = shown.next.clone();
    Ok(params.page(PATH, &shown, next.as_deref()))
}

/// Count asks.
///
/// Accepts the parameters of the list. Above ten thousand, `exact` is false: the number is an
/// estimate, or a lower bound if the list is filtered by project or agent.
#[utoipa::path(
    get,
    path = "/api/v1/asks/count",
    operation_id = "countAsks",
    params(
        ("view" = Option<PersonList>, Query, description = "For people: the list"),
        ("state" = Option<Vec<ListedState>>, Query, description = "The state; `open` by default"),
        ("kind" = Option<Vec<QuestionKind>>, Query, description = "The kind of question. Can be \
                     repeated"),
        ("priority" = Option<Priority>, Query, description = "Only of this priority"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        ("fold" = Option<SimilarityKey>, Query, description = "Only similar requests"),
    ),
    responses(
        (status = 200, description = "The number", body = AskCount),
        (status = 403, description = "`not-allowed`: the caller cannot see the project or agent"),
        (status = 422, description = "`invalid-field`: an unknown project or agent"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
pub(super) async fn count(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let known = ["view", "state", "kind", "priority", "project", "agent", "fold"];
    let params = ListParams::new(pairs, &known)?;
    let directory = gateway.directory();
    let (whose, list) = parse_query(&params, &actor, &directory)?;
    let whole = whose.open(&directory)?;
    let counted = count_of(&gateway, &whole, list).await?;
    Ok(Json(AskCount { count: counted.n, exact: counted.exact }).into_response())
}

/// The owner of the list, and its filters.
fn parse_query(
    params: &ListParams,
    actor: &Actor,
    directory: &Directory,
) -> Result<(ListOwner, AskListQuery), ApiProblem> {
    let project = named::<ProjectId>(params, "project")?;
    let agent = named::<AgentId>(params, "agent")?;
    let view = PersonList::parse_view(params)?;
    let whose = list_owner(actor, directory, view, project.as_ref(), agent.as_ref())?;
    let order = match &whose {
        ListOwner::Person(..) => Order::Urgency,
        ListOwner::All(_) => Order::Age,
    };
    let mut list = filtered_list(params, Vec::new(), phases(params)?, order)?;
    // For an agent or a project the list itself is selected. In a person's list they are filters.
    if let ListOwner::Person(..) = whose {
        (list.filter.project, list.filter.agent) = (project, agent);
    }
    Ok((whose, list))
}

fn list_owner(
    actor: &Actor,
    directory: &Directory,
    view: Option<PersonList>,
    project: Option<&ProjectId>,
    agent: Option<&AgentId>,
) -> Result<ListOwner, ApiProblem> {
    match actor {
        Actor::Human { id, .. } => {
            let named = project.is_some() || agent.is_some();
            if view.is_none() && named && directory.administers(actor) {
                return project_or_agent_list(project, agent, directory);
            }
            Ok(ListOwner::Person(id.clone(), view.unwrap_or_default()))
        }
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            Err(Refusal::NotAllowed { why: "lists are for agents and people" }.into())
        }
        Actor::Agent { .. } if view.is_some() => {
            Err(Refusal::NotAllowed { why: "no `view`, because it applies to people only" }.into())
        }
        Actor::Agent { id, project: own, scope: reach, .. } => {
            let foreign = project.is_some_and(|project| project != own)
                || agent.is_some_and(|agent| match reach {
                    KeyScope::Agent => agent != id,
                    KeyScope::Project => {
                        directory.agent(agent).is_none_or(|agent| agent.project != *own)
                    }
                });
            if foreign {
                let why = "this key cannot see that project or agent";
                return Err(Refusal::NotAllowed { why }.into());
            }
            Ok(ListOwner::All(match (agent, reach) {
                (Some(agent), _) => ListScope::Agent(agent.clone()),
                (None, KeyScope::Agent) => ListScope::Agent(id.clone()),
                (None, KeyScope::Project) => ListScope::Project(own.clone()),
            }))
        }
    }
}

fn project_or_agent_list(
    project: Option<&ProjectId>,
    agent: Option<&AgentId>,
    directory: &Directory,
) -> Result<ListOwner, ApiProblem> {
    if project.is_some_and(|id| directory.project(id).is_none()) {
        return Err(invalid_parameter("project", "the ID of an existing project"));
    }
    let Some(agent) = agent else {
        let project =
            project.ok_or_else(|| invalid_parameter("project", "the ID of an existing project"))?;
        return Ok(ListOwner::All(ListScope::Project(project.clone())));
    };
    let known = directory
        .agent(agent)
        .ok_or_else(|| invalid_parameter("agent", "the ID of an existing agent"))?;
    if project.is_some_and(|project| known.project != *project) {
        return Err(invalid_parameter("agent", "the ID of an agent of that project"));
    }
    Ok(ListOwner::All(ListScope::Agent(agent.clone())))
}

/// `expiring`: the number of seconds.
fn expiring(params: &ListParams) -> Result<Option<u64>, ApiProblem> {
    let Some(text) = params.one("expiring")? else { return Ok(None) };
    phases(params)?;
    if params.all("state").any(|state| state != "open") {
        return Err(invalid_parameter(
            "state",
            "`open`, because `expiring` applies to open asks only",
        ));
    }
    let seconds = whole_number(text).filter(|n| (1..=31_536_000).contains(n));
    let expected = "a whole number of seconds from 1 to 31536000";
    seconds.map(Some).ok_or_else(|| bad_parameter("expiring", expected))
}

/// The asks that expire within the given number of seconds, soonest first, and the cursor of the
/// next page.
async fn expiring_asks(
    gateway: &Gateway,
    params: &ListParams,
    actor: &Actor,
    whole: &ListScopes<'_>,
    whose: &str,
    filter: Filter,
    within: u64,
) -> Result<(Vec<Ask>, Option<String>), ApiProblem> {
    let Actor::Human { .. } = actor else {
        let why = "no `expiring`, because it applies to people only";
        return Err(Refusal::NotAllowed { why }.into());
    };
    // An agent's or a project's own list is not ordered by deadline, so it is filtered row by row.
    // The lists of kinds are ordered by deadline.
    let everything = ListScope::everything();
    let (scopes, filter) = match whole.scopes.as_slice() {
        [ListScope::Project(id)] => (everything, Filter { project: Some(id.clone()), ..filter }),
        [ListScope::Agent(id)] => (everything, Filter { agent: Some(id.clone()), ..filter }),
        scopes if scopes == everything && !filter.kinds.is_empty() => {
            (filter.kinds.iter().copied().map(ListScope::Kind).collect(), filter)
        }
        scopes => (scopes.to_vec(), filter),
    };
    let name = format!("expiring/{whose}/{filter:?}/{within}");
    let (after, limit) = (params.cursor(&name, moment)?, params.limit()?);
    let until = gateway.now().plus_seconds(within);
    let wanted = ExpiringQuery { scopes, until, after, limit };
    let hidden = match whole.tidied_for() {
        Some(human) => gateway.snoozed(human).await?,
        None => HashSet::new(),
    };
    // An ask that stays open when its deadline passes does not expire, so it is left out.
    let shows =
        |ask: &Ask| ask.deadline().is_some() && whole.shows(ask) && !hidden.contains(&ask.id);
    let (asks, next) = gateway.expiring(wanted, &filter, shows).await?;
    let next = next.map(|(at, ask)| {
        seal(&name, &[&at.millis().to_be_bytes()[..], &ask.ulid().to_bytes()].concat())
    });
    Ok((asks, next))
}

fn moment(bytes: &[u8]) -> Option<(Time, AskId)> {
    let (at, ulid) = bytes.split_at_checked(8)?;
    let at = i64::from_be_bytes(at.try_into().ok()?);
    Some((Time::from_millis(at), AskId::new(Ulid::from_bytes(ulid.try_into().ok()?))))
}

/// The states of the asks in a list.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ListedState)]
pub(super) enum ListedState {
    /// Open: waiting or engaged.
    Open,
    /// No one has opened or claimed it, or was assigned to it.
    Waiting,
    /// Another name for waiting.
    Pending,
    /// A person opened or claimed it, or was assigned to it.
    Engaged,
    /// Answered, or a default was taken.
    Completed,
    /// Expired.
    Expired,
    /// Cancelled.
    Cancelled,
    /// Expired, which counts as a failure.
    Failed,
    /// In any state.
    All,
}

impl ListedState {
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

fn phases(params: &ListParams) -> Result<Vec<Phase>, ApiProblem> {
    let names = [
        "open",
        "waiting",
        "pending",
        "engaged",
        "completed",
        "expired",
        "cancelled",
        "failed",
        "all",
    ];
    let mut listed: Vec<ListedState> = params.names("state", &names)?;
    if listed.is_empty() {
        listed.push(ListedState::Open);
    }
    let mut phases: Vec<Phase> = listed.iter().flat_map(|one| one.phases()).copied().collect();
    phases.sort_unstable();
    phases.dedup();
    Ok(phases)
}

// Which asks a list contains: the view, its owner and the filters.

/// Which of a person's lists.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = InboxView)]
pub(in crate::http) enum PersonList {
    /// The asks that the person was picked for, was assigned to or owns.
    Mine,
    /// The asks of the pools that the person belongs to.
    Groups,
    /// Both.
    #[default]
    Inbox,
    /// All asks for an administrator; for others the same as `inbox`.
    All,
}

impl PersonList {
    pub(super) fn parse_view(params: &ListParams) -> Result<Option<Self>, ApiProblem> {
        let Some(name) = params.one("view")? else { return Ok(None) };
        enum_name("view", name, &["mine", "groups", "inbox", "all"]).map(Some)
    }

    /// The lists of this view, and the filter for the asks this person may see.
    pub(in crate::http) fn list_scopes(self, human: &Human) -> ListScopes<'_> {
        let everything = self == Self::All && human.admin && human.active;
        let tidy = self != Self::All;
        ListScopes { scopes: self.scopes(human), human: Some(human).filter(|_| !everything), tidy }
    }

    fn scopes(self, human: &Human) -> Vec<ListScope> {
        match self {
            Self::Mine => vec![ListScope::Human(human.id.clone())],
            Self::Groups => ListScope::pools(human),
            Self::All if human.admin => ListScope::everything(),
            Self::Inbox | Self::All => ListScope::inbox(human),
        }
    }
}

#[derive(Clone)]
pub(in crate::http) enum ListOwner {
    /// The asks a person is or was asked to answer.
    Person(HumanId, PersonList),
    /// All asks of an agent or a project.
    All(ListScope),
}

impl ListOwner {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Person(id, view) => format!("inbox/{id}/{view:?}"),
            Self::All(scope) => scope.key(),
        }
    }

    /// The lists to read, and the filter for the asks that may be shown.
    pub(super) fn open<'d>(&self, directory: &'d Directory) -> Result<ListScopes<'d>, Refusal> {
        match self {
            Self::All(scope) => {
                Ok(ListScopes { scopes: vec![scope.clone()], human: None, tidy: false })
            }
            Self::Person(id, view) => {
                let human = directory.human(id).ok_or(Refusal::NotFound { what: "person" })?;
                Ok(view.list_scopes(human))
            }
        }
    }
}

/// The lists to read, with the filters of a person's view.
pub(in crate::http) struct ListScopes<'d> {
    pub(in crate::http) scopes: Vec<ListScope>,
    /// Show only the asks this person may see. `None` shows all.
    human: Option<&'d Human>,
    /// Whether to leave out the asks this person snoozed or answered.
    tidy: bool,
}

impl ListScopes<'_> {
    /// The person whose snoozed and answered asks are left out, if any.
    pub(in crate::http) fn tidied_for(&self) -> Option<&Human> {
        self.human.filter(|_| self.tidy)
    }

    /// Whether a filter applies, so that the lists may hold asks that are not shown.
    pub(in crate::http) fn is_filtered(&self) -> bool {
        self.human.is_some()
    }

    pub(in crate::http) fn shows(&self, ask: &Ask) -> bool {
        // The person answered this ask and can still undo it, so nothing is left to do.
        let done = self.tidied_for().is_some_and(|human| ask.held_by() == Some(&human.id));
        self.human.is_none_or(|human| ask.may_be_answered_by(human)) && !done
    }
}

/// One page of these lists.
pub(in crate::http) async fn page_of(
    gateway: &Gateway,
    whole: &ListScopes<'_>,
    list: AskListQuery,
) -> Result<AskListPage, StoreError> {
    Ok(match whole.human {
        Some(human) if whole.tidied_for().is_some() => gateway.inbox(human, list).await?,
        Some(human) => gateway.inbox_with_snoozed(human, list).await?,
        None => gateway.list(list).await?,
    })
}

/// The number of asks in these lists. A list that fits on one page is counted there, which leaves
/// out the asks of a pool that this person may not see.
pub(in crate::http) async fn count_of(
    gateway: &Gateway,
    whole: &ListScopes<'_>,
    list: AskListQuery,
) -> Result<Count, StoreError> {
    let list = AskListQuery { scopes: whole.scopes.clone(), limit: 100, ..list };
    let page = page_of(gateway, whole, list.clone()).await?;
    if page.next.is_none() {
        return Ok(Count { n: page.asks.len() as u64, exact: true });
    }
    gateway.count(list).await
}

/// The list a query describes, without the position where the page begins.
pub(super) fn filtered_list(
    params: &ListParams,
    scopes: Vec<ListScope>,
    phases: Vec<Phase>,
    order: Order,
) -> Result<AskListQuery, ApiProblem> {
    Ok(AskListQuery {
        scopes,
        phases,
        order,
        filter: filter(params)?,
        after: None,
        limit: params.limit()?,
    })
}

/// Reads the filters: kinds, priority, and the key of similar requests.
pub(super) fn filter(params: &ListParams) -> Result<Filter, ApiProblem> {
    let kinds = ["approve", "choose", "provide", "confirm", "escalate", "converse"];
    let kinds: Vec<QuestionKind> = params.names("kind", &kinds)?;
    let priority = match params.one("priority")? {
        Some(name) => {
            let names = ["low", "normal", "high", "critical"];
            Some(enum_name::<Priority>("priority", name, &names)?)
        }
        None => None,
    };
    let fold = match params.one("fold")? {
        Some(_) if params.one("agent")?.is_none() => {
            let expected = "`agent` together with `fold`";
            return Err(Refusal::Invalid { field: "fold", expected }.into());
        }
        Some(text) => {
            let key = text.parse::<SimilarityKey>().ok().filter(|_| text.len() == 16);
            Some(key.ok_or_else(|| {
                bad_parameter("fold", "the `fold` of an ask, which is 16 hexadecimal digits")
            })?)
        }
        None => None,
    };
    Ok(Filter { kinds, priority, fold, ..Filter::default() })
}

/// A value of a kernel enum, by its name on the wire.
pub(in crate::http) fn enum_value<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

pub(super) fn named<T: std::str::FromStr>(
    params: &ListParams,
    name: &str,
) -> Result<Option<T>, ApiProblem> {
    let read = |text: &str| {
        text.parse().map_err(|_| {
            bad_parameter(
                name,
                "an ID: 1 to 64 characters of A-Z, a-z, 0-9, _ - . : and @, starting with a \
                 letter or digit",
            )
        })
    };
    params.one(name)?.map(read).transpose()
}

pub(super) fn parse_cursor(bytes: &[u8]) -> Option<Cursor> {
    let (rank, ulid) = bytes.split_first()?;
    let ulid = Ulid::from_bytes(ulid.try_into().ok()?);
    Some(Cursor { rank: *rank, ask: AskId::new(ulid) })
}
