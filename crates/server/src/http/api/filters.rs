//! Which asks a list contains: the view, its owner and the filters.

use gateway::Gateway;
use kernel::ask::{Fold, Priority};
use kernel::directory::{Directory, Human};
use kernel::question::Kind;
use kernel::{Ask, AskId, HumanId, Phase, Refusal};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{Count, Cursor, Filter, List, Order, Page, Scope, StoreError};
use ulid::Ulid;
use utoipa::ToSchema;

use crate::http::api::paging::{Params, bad};
use crate::http::problem::Problem;

/// Which of a person's lists.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = InboxView)]
pub(in crate::http) enum View {
    /// What they were picked for, were handed or own.
    Mine,
    /// What was put to the pools they are in.
    Groups,
    /// Both.
    #[default]
    Inbox,
    /// For an administrator everything there is; for others the same as `inbox`.
    All,
}

impl View {
    pub(super) fn asked(params: &Params) -> Result<Option<Self>, Problem> {
        let Some(name) = params.one("view")? else { return Ok(None) };
        let expected = "mine, groups, inbox or all";
        word(name).map(Some).ok_or_else(|| bad("view", expected))
    }

    /// The lists of this view, and the filter for the asks this person may see.
    pub(in crate::http) fn whole(self, human: &Human) -> Whole<'_> {
        let everything = self == Self::All && human.admin && human.active;
        let tidy = self != Self::All;
        Whole { scopes: self.scopes(human), human: Some(human).filter(|_| !everything), tidy }
    }

    fn scopes(self, human: &Human) -> Vec<Scope> {
        match self {
            Self::Mine => vec![Scope::Human(human.id.clone())],
            Self::Groups => Scope::pools(human),
            Self::All if human.admin => Scope::everything(),
            Self::Inbox | Self::All => Scope::inbox(human),
        }
    }
}

#[derive(Clone)]
pub(in crate::http) enum Whose {
    /// The asks a person is or was asked to answer.
    Person(HumanId, View),
    /// All asks of an agent or a project.
    All(Scope),
}

impl Whose {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Person(id, view) => format!("inbox/{id}/{view:?}"),
            Self::All(scope) => scope.key(),
        }
    }

    /// The lists to read, and the filter for the asks that may be shown.
    pub(super) fn open<'d>(&self, directory: &'d Directory) -> Result<Whole<'d>, Refusal> {
        match self {
            Self::All(scope) => Ok(Whole { scopes: vec![scope.clone()], human: None, tidy: false }),
            Self::Person(id, view) => {
                let human = directory.human(id).ok_or(Refusal::NotFound { what: "person" })?;
                Ok(view.whole(human))
            }
        }
    }
}

/// The lists to read, with the filters of a person's view.
pub(in crate::http) struct Whole<'d> {
    pub(in crate::http) scopes: Vec<Scope>,
    /// Show only the asks this person may see. `None` shows all.
    human: Option<&'d Human>,
    /// Whether to leave out the asks this person snoozed or answered.
    tidy: bool,
}

impl Whole<'_> {
    /// The person whose snoozed and answered asks are left out, if any.
    pub(in crate::http) fn tidied(&self) -> Option<&Human> {
        self.human.filter(|_| self.tidy)
    }

    /// Whether a filter applies, so that the lists may hold asks that are not shown.
    pub(in crate::http) fn is_part(&self) -> bool {
        self.human.is_some()
    }

    pub(in crate::http) fn shows(&self, ask: &Ask) -> bool {
        // The person answered this ask and can still undo it, so nothing is left to do.
        let done = self.tidied().is_some_and(|human| ask.held_by() == Some(&human.id));
        self.human.is_none_or(|human| ask.admits(human)) && !done
    }
}

/// One page of these lists.
pub(in crate::http) async fn page_of(
    gateway: &Gateway,
    whole: &Whole<'_>,
    list: List,
) -> Result<Page, StoreError> {
    Ok(match whole.human {
        Some(human) if whole.tidied().is_some() => gateway.inbox(human, list).await?,
        Some(human) => gateway.shown(human, list).await?,
        None => gateway.list(list).await?,
    })
}

/// The number of asks in these lists. A list that fits on one page is counted there, which leaves
/// out the asks of a pool that this person may not see.
pub(in crate::http) async fn count_of(
    gateway: &Gateway,
    whole: &Whole<'_>,
    list: List,
) -> Result<Count, StoreError> {
    let list = List { scopes: whole.scopes.clone(), limit: 100, ..list };
    let page = page_of(gateway, whole, list.clone()).await?;
    if page.next.is_none() {
        return Ok(Count { n: page.asks.len() as u64, exact: true });
    }
    gateway.count(list).await
}

/// The list a query describes, without the position where the page begins.
pub(super) fn narrowed(
    params: &Params,
    scopes: Vec<Scope>,
    phases: Vec<Phase>,
    order: Order,
) -> Result<List, Problem> {
    Ok(List { scopes, phases, order, filter: filter(params)?, after: None, limit: params.limit()? })
}

/// Reads the filters: kinds, priority, and the key of similar requests.
pub(super) fn filter(params: &Params) -> Result<Filter, Problem> {
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
    let fold = match params.one("fold")? {
        Some(_) if params.one("agent")?.is_none() => {
            let expected = "to be sent together with the `agent` of the row";
            return Err(Refusal::Invalid { field: "fold", expected }.into());
        }
        Some(text) => {
            let key = text.parse::<Fold>().ok().filter(|_| text.len() == 16);
            Some(key.ok_or_else(|| bad("fold", "the `fold` of an ask: 16 hexadecimal digits"))?)
        }
        None => None,
    };
    Ok(Filter { kinds, priority, fold, ..Filter::default() })
}

/// A value of a kernel enum, by its name on the wire.
pub(in crate::http) fn word<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

pub(super) fn named<T: std::str::FromStr>(
    params: &Params,
    name: &str,
) -> Result<Option<T>, Problem> {
    let read = |text: &str| text.parse().map_err(|_| bad(name, "a name"));
    params.one(name)?.map(read).transpose()
}

pub(super) fn place(bytes: &[u8]) -> Option<Cursor> {
    let (rank, ulid) = bytes.split_first()?;
    let ulid = Ulid::from_bytes(ulid.try_into().ok()?);
    Some(Cursor { rank: *rank, ask: AskId::new(ulid) })
}
