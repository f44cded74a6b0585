//! Lists: which ones an ask stands in, and how they are paged.
//!
//! Every list anyone asks for is a range of one ordered set with the key
//! `(scope, phase, rank, newest first)`, so no list ever scans what grows without bound. A list by
//! urgency reads rank after rank, one by age all ranks at once. A list narrowed to an agent, a
//! project, a kind or whoever answered is where two ranges of that set meet.

use std::sync::Arc;

use kernel::ask::{Ask, Ending, Fold, Phase, Priority, Resolution, Seat};
use kernel::directory::Human;
use kernel::question::Kind;
use kernel::{AgentId, AskId, By, HumanId, ProjectId, Time};

/// An ask before and after.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) before: Option<Ask>,
    pub(crate) after: Ask,
    /// The lists it stands in afterwards.
    pub(crate) lists: Arc<[Scope]>,
    /// The key it is folded by in them while it is open.
    pub(crate) fold: Option<Fold>,
}

impl Moved {
    /// Whether what its receipt says changes, so that stored signatures of it have to go.
    pub(crate) fn changes_receipt(&self) -> bool {
        let over = self.before.as_ref().filter(|before| !before.is_open());
        over.is_some_and(|before| !kernel::receipt::is_unchanged(before, &self.after))
    }

    /// Whether this is its end.
    pub(crate) fn ended(&self) -> bool {
        self.before.as_ref().is_some_and(Ask::is_open) && !self.after.is_open()
    }
}

/// Whose list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All asks of an agent.
    Agent(AgentId),
    /// All asks of a project.
    Project(ProjectId),
    /// Asks a person was picked for, was handed, or owns.
    Human(HumanId),
    /// Asks put to a pool: project and group.
    Pool(ProjectId, Option<kernel::ids::GroupId>),
    /// Asks of the installation whose receipt was called back.
    Revoked,
    /// All asks of a kind, of the whole installation.
    Kind(Kind),
    /// Asks a person ended: answered or withdrawn.
    By(HumanId),
    /// Conversations people began with an agent.
    Begun(AgentId),
    /// The tasks of a project. No ask stands there; whoever follows it hears of them.
    Tasks(ProjectId),
    /// What the runtime of an agent has to do. No ask stands there either.
    Runtime(AgentId),
}

impl Scope {
    /// As it is stored.
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

    /// What [`Scope::key`] wrote; none if it did not.
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
            ("kind", None) => Self::Kind(Kind::ALL.into_iter().find(|kind| kind.as_str() == name)?),
            ("pool", None) => Self::Pool(name.parse().ok()?, None),
            ("pool", Some((project, group))) => {
                Self::Pool(project.parse().ok()?, Some(group.parse().ok()?))
            }
            _ => return None,
        })
    }

    /// Several in one text. Names have no spaces.
    pub(crate) fn write(scopes: &[Self]) -> String {
        scopes.iter().map(Self::key).collect::<Vec<_>>().join(" ")
    }

    /// What [`Scope::write`] wrote.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        text.split_whitespace().filter_map(Self::from_key).collect()
    }

    /// The lists an ask stands in that somebody may follow.
    pub fn of(ask: &Ask) -> Vec<Self> {
        let mut scopes = vec![
            Self::Agent(ask.agent.clone()),
            Self::Project(ask.project.clone()),
            Self::Human(ask.owner.clone()),
        ];
        if let Some(claim) = &ask.claim {
            scopes.push(Self::Human(claim.human.clone()));
        }
        for seat in &ask.seats {
            scopes.push(match seat {
                Seat::Person { human } => Self::Human(human.clone()),
                Seat::Pool { group } => Self::Pool(ask.project.clone(), group.clone()),
            });
        }
        if ask.revoked.is_some() {
            scopes.push(Self::Revoked);
        }
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    }

    /// Everything there is.
    pub fn everything() -> Vec<Self> {
        Kind::ALL.into_iter().map(Self::Kind).collect()
    }

    /// The pools a person is in. They may hold asks whose tags the person does not know; the caller
    /// checks [`Ask::admits`].
    pub fn pools(human: &Human) -> Vec<Self> {
        let mut scopes = Self::inbox(human);
        scopes.retain(|scope| matches!(scope, Self::Pool(..)));
        scopes
    }

    /// The lists that make up a person's inbox. Pools may hold asks whose tags the person does not
    /// know; the caller checks [`Ask::admits`].
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

/// A list to be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    /// The scopes to merge.
    pub scopes: Vec<Scope>,
    /// Which phases.
    pub phases: Vec<Phase>,
    /// Which come first.
    pub order: Order,
    /// What else must hold.
    pub filter: Filter,
    /// Go on after this one.
    pub after: Option<Cursor>,
    /// At most this many.
    pub limit: usize,
}

/// Which asks of a list come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The most urgent; of those the newest.
    Urgency,
    /// The newest.
    Age,
}

/// What an ask in a list must have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// One of these kinds; empty for any.
    pub kinds: Vec<Kind>,
    /// This priority.
    pub priority: Option<Priority>,
    /// The agent's own name for itself.
    pub agent_label: Option<String>,
    /// The agent's own name for its project.
    pub project_label: Option<String>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Ended by this person.
    pub by: Option<HumanId>,
    /// Nearly the same as others with this key.
    pub fold: Option<Fold>,
}

impl Filter {
    /// Whether an ask has it all.
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
            && self.fold.is_none_or(|fold| ask.is_open() && ask.fold() == Some(fold))
    }

    /// The lists an ask must stand in as well: in one of each.
    pub(crate) fn meeting(&self) -> Vec<Vec<Scope>> {
        let kinds = self.kinds.iter().copied().map(Scope::Kind).collect::<Vec<_>>();
        let agent = self.agent.iter().cloned().map(Scope::Agent).collect();
        let project = self.project.iter().cloned().map(Scope::Project).collect();
        let by = self.by.iter().cloned().map(Scope::By).collect();
        [agent, project, by, kinds].into_iter().filter(|union| !union.is_empty()).collect()
    }

    /// Whether it names another list to meet; kinds can be told from the rows of any.
    pub(crate) fn is_meeting(&self) -> bool {
        self.agent.is_some() || self.project.is_some() || self.by.is_some()
    }

    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A place in a list: the last ask seen there. Stays valid while asks come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The rank of the last ask seen; 0 in lists by age.
    pub rank: u8,
    /// The last ask seen.
    pub ask: AskId,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// In the order of the list.
    pub asks: Vec<Ask>,
    /// Where to go on; `None` at the end. A page may be short and still go on: at most
    /// [`EXAMINED`] asks are looked at for one page.
    pub next: Option<Cursor>,
}

/// How many asks one page may look at, and how many are counted one by one.
pub const EXAMINED: usize = 10_000;

/// A count looks at so many more. What is estimated is therefore longer than [`EXAMINED`] by this
/// much, and stays longer for as many changes: so long the estimate may be kept.
pub(crate) const MARGIN: usize = 1_000;

/// How many asks are in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub n: u64,
    /// Whether it was counted or estimated.
    pub exact: bool,
}

/// One row of the ordered set, without the ask it stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) scope: String,
    pub(crate) phase: Phase,
    pub(crate) rank: u8,
}

impl Entry {
    /// The rows of an ask in its lists.
    pub(crate) fn of(ask: &Ask, lists: &[Scope]) -> Vec<Self> {
        let (phase, rank) = (ask.phase(), ask.priority.rank());
        let more = beside(ask);
        let scopes = lists.iter().chain(&more);
        scopes.map(|scope| Self { scope: scope.key(), phase, rank }).collect()
    }

    /// The rows to take away and the rows to add when an ask moves; most moves need neither.
    pub(crate) fn moved(moved: &Moved) -> (Vec<Self>, Vec<Self>) {
        let after = &moved.after;
        let Some(before) = &moved.before else {
            return (Vec::new(), Self::of(after, &moved.lists));
        };
        // Kind, priority and labels are fixed when an ask is made.
        if before.phase() == after.phase()
            && before.seats == after.seats
            && before.claim == after.claim
            && before.revoked.is_some() == after.revoked.is_some()
        {
            return (Vec::new(), Vec::new());
        }
        let mut old = Self::of(before, &Scope::of(before));
        let mut new = Self::of(after, &moved.lists);
        let kept: Vec<Self> = old.iter().filter(|entry| new.contains(entry)).cloned().collect();
        old.retain(|entry| !kept.contains(entry));
        new.retain(|entry| !kept.contains(entry));
        (old, new)
    }
}

/// The lists an ask stands in that nobody follows.
fn beside(ask: &Ask) -> Vec<Scope> {
    let by = ended_by(ask).cloned().map(Scope::By);
    let begun = ask.is_opening().then(|| Scope::Begun(ask.agent.clone()));
    [Scope::Kind(ask.kind)].into_iter().chain(by).chain(begun).collect()
}

/// Every list an ask stands in.
pub(crate) fn standing(ask: &Ask) -> Vec<Scope> {
    let mut scopes = Scope::of(ask);
    scopes.extend(beside(ask));
    scopes
}

/// The person who ended it, if one did.
fn ended_by(ask: &Ask) -> Option<&HumanId> {
    match ask.ending()? {
        Ending::Completed(Resolution { by: By::Human(id), .. })
        | Ending::Cancelled { by: By::Human(id), .. } => Some(id),
        Ending::Completed(_)
        | Ending::Cancelled { .. }
        | Ending::Expired { .. }
        | Ending::Failed { .. } => None,
    }
}

/// When an open ask is due, in one of its lists: the ordered set of what is due soon. It holds every
/// deadline, also of asks that stay open when it passes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) scope: String,
    pub(crate) at: Time,
}

impl Deadline {
    pub(crate) fn of(ask: &Ask, lists: &[Scope]) -> Vec<Self> {
        let Some(at) = ask.due_at() else { return Vec::new() };
        let kind = Scope::Kind(ask.kind);
        let people = lists.iter().filter(|one| matches!(one, Scope::Human(_) | Scope::Pool(..)));
        people.chain([&kind]).map(|scope| Self { scope: scope.key(), at }).collect()
    }

    /// The rows to take away and the rows to add when an ask moves; most moves need neither.
    pub(crate) fn moved(moved: &Moved) -> (Vec<Self>, Vec<Self>) {
        let before = moved.before.as_ref();
        if before.and_then(Ask::due_at).is_none() && moved.after.due_at().is_none() {
            return (Vec::new(), Vec::new());
        }
        let mut old = before.map_or_else(Vec::new, |ask| Self::of(ask, &Scope::of(ask)));
        let mut new = Self::of(&moved.after, &moved.lists);
        let kept: Vec<Self> = old.iter().filter(|one| new.contains(one)).cloned().collect();
        old.retain(|one| !kept.contains(one));
        new.retain(|one| !kept.contains(one));
        (old, new)
    }
}

/// What is due soon, soonest first, also asks that stay open when their deadline passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiring {
    /// The scopes to merge: people's, pools', kinds'.
    pub scopes: Vec<Scope>,
    /// Not what runs out later.
    pub until: Time,
    /// Go on after the ask that runs out then.
    pub after: Option<(Time, AskId)>,
    /// At most this many.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back() {
        let (project, group) = ("acme".parse().unwrap(), "support".parse().unwrap());
        let all = vec![
            Scope::Agent("bot:7".parse().unwrap()),
            Scope::Project("acme".parse().unwrap()),
            Scope::Human("olga@example.com".parse().unwrap()),
            Scope::Pool("acme".parse().unwrap(), None),
            Scope::Pool(project, Some(group)),
            Scope::Revoked,
            Scope::Kind(Kind::Choose),
            Scope::By("olga@example.com".parse().unwrap()),
            Scope::Begun("bot:7".parse().unwrap()),
            Scope::Tasks("acme".parse().unwrap()),
            Scope::Runtime("bot:7".parse().unwrap()),
        ];
        assert_eq!(Scope::read(&Scope::write(&all)), all);
        assert_eq!(Scope::read(""), []);
        assert_eq!(Scope::read("nobody agent agent/a/b pool/a/b/c human/ kind/odd by/"), []);
    }
}
