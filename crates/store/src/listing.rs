//! The lists an ask is in, and how lists are paged.
//!
//! Every list is a range of one ordered set with the key `(scope, phase, rank, newest first)`, so
//! no list scans data that grows without bound. A list by urgency reads rank after rank, one by age
//! all ranks at once. A list filtered by agent, project, kind or answering person is the
//! intersection of two ranges of that set.

use std::sync::Arc;

use kernel::ask::{Ask, Assignee, Ending, Phase, Priority, RecordedAnswer, SimilarityKey};
use kernel::directory::Human;
use kernel::question::QuestionKind;
use kernel::{ActorRef, AgentId, AskId, HumanId, ProjectId, Time};

/// An ask before and after a job.
#[derive(Debug)]
pub(crate) struct ChangedAsk {
    pub(crate) before: Option<Ask>,
    pub(crate) after: Ask,
    /// The lists the ask is in afterwards.
    pub(crate) lists: Arc<[ListScope]>,
    /// The similarity key of the ask while it is open.
    pub(crate) fold: Option<SimilarityKey>,
}

impl ChangedAsk {
    /// Whether the claims of its receipt change, so that stored signatures must be deleted.
    pub(crate) fn changes_receipt(&self) -> bool {
        let over = self.before.as_ref().filter(|before| !before.is_open());
        over.is_some_and(|before| !kernel::receipt::is_unchanged(before, &self.after))
    }

    /// Whether the ask ended with this change.
    pub(crate) fn ended(&self) -> bool {
        self.before.as_ref().is_some_and(Ask::is_open) && !self.after.is_open()
    }
}

/// The scope of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListScope {
    /// All asks of an agent.
    Agent(AgentId),
    /// All asks of a project.
    Project(ProjectId),
    /// Asks that a person was chosen for, was assigned, or owns.
    Human(HumanId),
    /// Asks sent to a pool: project and group.
    Pool(ProjectId, Option<kernel::ids::GroupId>),
    /// Asks of the installation whose receipt was revoked.
    Revoked,
    /// All asks of a kind, of the whole installation.
    Kind(QuestionKind),
    /// Asks that a person closed: answered or withdrew.
    By(HumanId),
    /// Conversations that people began with an agent.
    Begun(AgentId),
    /// The tasks of a project. It contains no asks; it exists for feed subscribers.
    Tasks(ProjectId),
    /// The contracts of an agent's runtime. It contains no asks either.
    Runtime(AgentId),
}

impl ListScope {
    /// The key of the scope, as stored.
    pub fn key(&self) -> String {
        match self {
            Self::Agent(id) => format!("agent/{id}"),
            Self::Project(id) => format!("project/{id}"),
            Self::Human(id) => format!("human/{id}"),
            Self::Pool(project, None) => format!("pool/{project}"),
            Self::Pool(project, Some(group)) => format!("pool/{project}/{group}"),
            Self::Revoked => "revoked".to_owned(),
            Self::Kind(kind) => format!("kind/{}", kind.as_str()),
            Self::By(id) => format!("by/{id}"),
            Self::Begun(id) => format!("begun/{id}"),
            Self::Tasks(id) => format!("tasks/{id}"),
            Self::Runtime(id) => format!("runtime/{id}"),
        }
    }

    /// Parses [`ListScope::key`]; `None` if the text is not one.
    fn from_key(key: &str) -> Option<Self> {
        let Some((kind, name)) = key.split_once('/') else {
            return (key == "revoked").then_some(Self::Revoked);
        };
        Some(match (kind, name.split_once('/')) {
            ("agent", None) => Self::Agent(name.parse().ok()?),
            ("project", None) => Self::Project(name.parse().ok()?),
            ("human", None) => Self::Human(name.parse().ok()?),
            ("by", None) => Self::By(name.parse().ok()?),
            ("begun", None) => Self::Begun(name.parse().ok()?),
            ("tasks", None) => Self::Tasks(name.parse().ok()?),
            ("runtime", None) => Self::Runtime(name.parse().ok()?),
            ("kind", None) => {
                Self::Kind(QuestionKind::ALL.into_iter().find(|kind| kind.as_str() == name)?)
            }
            ("pool", None) => Self::Pool(name.parse().ok()?, None),
            ("pool", Some((project, group))) => {
                Self::Pool(project.parse().ok()?, Some(group.parse().ok()?))
            }
            _ => return None,
        })
    }

    /// Several scopes in one text. Names contain no spaces.
    pub(crate) fn write(scopes: &[Self]) -> String {
        scopes.iter().map(Self::key).collect::<Vec<_>>().join(" ")
    }

    /// Parses the text of [`ListScope::write`].
    pub(crate) fn read(text: &str) -> Vec<Self> {
        text.split_whitespace().filter_map(Self::from_key).collect()
    }

    /// The lists of an ask that feed subscribers can follow.
    pub fn of(ask: &Ask) -> Vec<Self> {
        let mut scopes = vec![
            Self::Agent(ask.agent.clone()),
            Self::Project(ask.project.clone()),
            Self::Human(ask.owner.clone()),
        ];
        if let Some(claim) = &ask.claim {
            scopes.push(Self::Human(claim.human.clone()));
        }
        for seat in &ask.assignees {
            scopes.push(match seat {
                Assignee::Person { human } => Self::Human(human.clone()),
                Assignee::Pool { group } => Self::Pool(ask.project.clone(), group.clone()),
            });
        }
        if ask.revoked.is_some() {
            scopes.push(Self::Revoked);
        }
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    }

    /// The scopes that together contain all asks.
    pub fn everything() -> Vec<Self> {
        QuestionKind::ALL.into_iter().map(Self::Kind).collect()
    }

    /// The pools a person is in. They may contain asks with tags the person does not have; the
    /// caller checks [`Ask::may_be_answered_by`].
    pub fn pools(human: &Human) -> Vec<Self> {
        let mut scopes = Self::inbox(human);
        scopes.retain(|scope| matches!(scope, Self::Pool(..)));
        scopes
    }

    /// The lists that make up a person's inbox. Pools may contain asks with tags the person does
    /// not have; the caller checks [`Ask::may_be_answered_by`].
    pub fn inbox(human: &Human) -> Vec<Self> {
        let mut scopes = vec![Self::Human(human.id.clone())];
        for project in &human.projects {
            scopes.push(Self::Pool(project.clone(), None));
            for group in &human.groups {
                scopes.push(Self::Pool(project.clone(), Some(group.clone())));
            }
        }
        scopes
    }
}

/// A query for a list of asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AskListQuery {
    /// The scopes to merge.
    pub scopes: Vec<ListScope>,
    /// The phases of the asks.
    pub phases: Vec<Phase>,
    /// The order of the asks.
    pub order: Order,
    /// Further conditions on the asks.
    pub filter: Filter,
    /// Continue after this position.
    pub after: Option<Cursor>,
    /// The most asks per page.
    pub limit: usize,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Most urgent first; newest first among equals.
    Urgency,
    /// Newest first, whatever the priority.
    Age,
}

/// Conditions on the asks of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// One of these kinds; empty for any.
    pub kinds: Vec<QuestionKind>,
    /// The priority of the ask.
    pub priority: Option<Priority>,
    /// The agent's own name for itself.
    pub agent_label: Option<String>,
    /// The agent's own name for its project.
    pub project_label: Option<String>,
    /// The agent that asked.
    pub agent: Option<AgentId>,
    /// The project of the ask.
    pub project: Option<ProjectId>,
    /// The person who closed the ask.
    pub by: Option<HumanId>,
    /// The similarity key.
    pub fold: Option<SimilarityKey>,
}

impl Filter {
    /// Whether an ask meets all conditions.
    pub fn admits(&self, ask: &Ask) -> bool {
        let label =
            |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
        (self.kinds.is_empty() || self.kinds.contains(&ask.kind))
            && self.priority.is_none_or(|priority| priority == ask.priority)
            && label(&self.agent_label, &ask.labels.agent)
            && label(&self.project_label, &ask.labels.project)
            && self.agent.as_ref().is_none_or(|agent| *agent == ask.agent)
            && self.project.as_ref().is_none_or(|project| *project == ask.project)
            && self.by.as_ref().is_none_or(|by| ended_by(ask) == Some(by))
            && self.fold.is_none_or(|fold| ask.is_open() && ask.similarity_key() == Some(fold))
    }

    /// Further lists that must contain the ask: one scope of each group.
    pub(crate) fn intersections(&self) -> Vec<Vec<ListScope>> {
        let kinds = self.kinds.iter().copied().map(ListScope::Kind).collect::<Vec<_>>();
        let agent = self.agent.iter().cloned().map(ListScope::Agent).collect();
        let project = self.project.iter().cloned().map(ListScope::Project).collect();
        let by = self.by.iter().cloned().map(ListScope::By).collect();
        [agent, project, by, kinds].into_iter().filter(|union| !union.is_empty()).collect()
    }

    /// Whether the filter needs an intersection with another list; the kind is a column
    /// of every row.
    pub(crate) fn needs_intersection(&self) -> bool {
        self.agent.is_some() || self.project.is_some() || self.by.is_some()
    }

    /// Whether the filter matches every ask.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A position in a list: the last ask seen. It stays valid while asks come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The rank of the last ask seen; 0 in lists by age.
    pub rank: u8,
    /// The last ask seen.
    pub ask: AskId,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct AskListPage {
    /// The asks, in the order of the list.
    pub asks: Vec<Ask>,
    /// The position to continue after; `None` at the end. A page may be short and still have a next
    /// one: at most [`MAX_EXAMINED`] asks are examined per page.
    pub next: Option<Cursor>,
}

/// How many asks one page may examine, and how many are counted exactly.
pub const MAX_EXAMINED: usize = 10_000;

/// A count examines this many rows more. So an estimated list is longer than [`MAX_EXAMINED`] by
/// this margin, and stays longer for as many changes: the estimate is valid that long.
pub(crate) const MARGIN: usize = 1_000;

/// The number of asks in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The number of asks.
    pub n: u64,
    /// Whether the number is exact; otherwise it is an estimate.
    pub exact: bool,
}

/// One row of the ordered set, without the ask it stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListEntry {
    pub(crate) scope: String,
    pub(crate) phase: Phase,
    pub(crate) rank: u8,
}

impl ListEntry {
    /// The rows of an ask in its lists.
    pub(crate) fn of(ask: &Ask, lists: &[ListScope]) -> Vec<Self> {
        let (phase, rank) = (ask.phase(), ask.priority.rank());
        let more = unfollowed_lists(ask);
        let scopes = lists.iter().chain(&more);
        scopes.map(|scope| Self { scope: scope.key(), phase, rank }).collect()
    }

    /// The rows to delete and to insert when an ask changes; most changes need neither.
    pub(crate) fn row_changes(moved: &ChangedAsk) -> (Vec<Self>, Vec<Self>) {
        let after = &moved.after;
        let Some(before) = &moved.before else {
            return (Vec::new(), Self::of(after, &moved.lists));
        };
        // Kind, priority and labels are fixed when an ask is created.
        if before.phase() == after.phase()
            && before.assignees == after.assignees
            && before.claim == after.claim
            && before.revoked.is_some() == after.revoked.is_some()
        {
            return (Vec::new(), Vec::new());
        }
        let mut old = Self::of(before, &ListScope::of(before));
        let mut new = Self::of(after, &moved.lists);
        let kept: Vec<Self> = old.iter().filter(|entry| new.contains(entry)).cloned().collect();
        old.retain(|entry| !kept.contains(entry));
        new.retain(|entry| !kept.contains(entry));
        (old, new)
    }
}

/// The lists of an ask that no feed subscriber follows.
fn unfollowed_lists(ask: &Ask) -> Vec<ListScope> {
    let by = ended_by(ask).cloned().map(ListScope::By);
    let begun = ask.starts_conversation().then(|| ListScope::Begun(ask.agent.clone()));
    [ListScope::Kind(ask.kind)].into_iter().chain(by).chain(begun).collect()
}

/// Every list an ask is in.
pub(crate) fn all_lists(ask: &Ask) -> Vec<ListScope> {
    let mut scopes = ListScope::of(ask);
    scopes.extend(unfollowed_lists(ask));
    scopes
}

/// The person who closed it, if one did.
fn ended_by(ask: &Ask) -> Option<&HumanId> {
    match ask.ending()? {
        Ending::Completed(RecordedAnswer { by: ActorRef::Human(id), .. })
        | Ending::Cancelled { by: ActorRef::Human(id), .. } => Some(id),
        Ending::Completed(_)
        | Ending::Cancelled { .. }
        | Ending::Expired { .. }
        | Ending::Failed { .. } => None,
    }
}

/// The deadline of an open ask in one of its lists. The ordered set holds every deadline, including
/// those of asks that stay open after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) scope: String,
    pub(crate) at: Time,
}

impl Deadline {
    pub(crate) fn of(ask: &Ask, lists: &[ListScope]) -> Vec<Self> {
        let Some(at) = ask.due_at() else { return Vec::new() };
        let kind = ListScope::Kind(ask.kind);
        let people =
            lists.iter().filter(|one| matches!(one, ListScope::Human(_) | ListScope::Pool(..)));
        people.chain([&kind]).map(|scope| Self { scope: scope.key(), at }).collect()
    }

    /// The rows to delete and to insert when an ask changes; most changes need neither.
    pub(crate) fn row_changes(moved: &ChangedAsk) -> (Vec<Self>, Vec<Self>) {
        let before = moved.before.as_ref();
        if before.and_then(Ask::due_at).is_none() && moved.after.due_at().is_none() {
            return (Vec::new(), Vec::new());
        }
        let mut old = before.map_or_else(Vec::new, |ask| Self::of(ask, &ListScope::of(ask)));
        let mut new = Self::of(&moved.after, &moved.lists);
        let kept: Vec<Self> = old.iter().filter(|one| new.contains(one)).cloned().collect();
        old.retain(|one| !kept.contains(one));
        new.retain(|one| !kept.contains(one));
        (old, new)
    }
}

/// A query for asks that are due soon, soonest first, including asks that stay open
/// after their deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiringQuery {
    /// The scopes to merge: people, pools, kinds.
    pub scopes: Vec<ListScope>,
    /// The latest due time.
    pub until: Time,
    /// Continue after this due time and ask.
    pub after: Option<(Time, AskId)>,
    /// The most asks to return.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back() {
        let (project, group) = ("acme".parse().unwrap(), "support".parse().unwrap());
        let all = vec![
            ListScope::Agent("bot:7".parse().unwrap()),
            ListScope::Project("acme".parse().unwrap()),
            ListScope::Human("olga@example.com".parse().unwrap()),
            ListScope::Pool("acme".parse().unwrap(), None),
            ListScope::Pool(project, Some(group)),
            ListScope::Revoked,
            ListScope::Kind(QuestionKind::Choose),
            ListScope::By("olga@example.com".parse().unwrap()),
            ListScope::Begun("bot:7".parse().unwrap()),
            ListScope::Tasks("acme".parse().unwrap()),
            ListScope::Runtime("bot:7".parse().unwrap()),
        ];
        assert_eq!(ListScope::read(&ListScope::write(&all)), all);
        assert_eq!(ListScope::read(""), []);
        assert_eq!(ListScope::read("nobody agent agent/a/b pool/a/b/c human/ kind/odd by/"), []);
    }
}
