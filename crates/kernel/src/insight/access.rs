//! Which counts a person or an agent may see.

use std::collections::BTreeSet;

use super::{CountScope, Day, InsightSummary};
use crate::actor::{Actor, KeyScope};
use crate::directory::{Agent, Directory, Project};
use crate::ids::{AgentId, HumanId, ProjectId};
use crate::refusal::Refusal;

/// The longest period of a query, in days.
pub const LONGEST_DAYS: i64 = 400;
/// The maximum number of agents that are compared.
pub const MOST_AGENTS: usize = 100;

/// A query for insights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsightsQuery {
    /// Count only this project; `None` for all that the actor may see.
    pub project: Option<ProjectId>,
    /// Count only this agent; `None` for all that the actor may see.
    pub agent: Option<AgentId>,
    /// The first day of the period.
    pub from: Day,
    /// The last day of the period, inclusive.
    pub to: Day,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    /// All counts together.
    pub summary: InsightSummary,
    /// The compared agents, each with its own counts, by id.
    pub agents: Vec<(ProjectId, AgentId, InsightSummary)>,
}

/// Whose counts an actor may see.
enum VisibleCounts<'a> {
    /// The counts of the whole installation.
    All,
    /// The counts of their projects, and of the agents they own.
    Person { projects: &'a BTreeSet<ProjectId>, owner: &'a HumanId },
    /// The counts of one project.
    Project(&'a ProjectId),
    /// The counts of the agent itself.
    Agent(&'a AgentId),
}

impl VisibleCounts<'_> {
    fn of<'a>(actor: &'a Actor, directory: &'a Directory) -> Option<VisibleCounts<'a>> {
        match actor {
            Actor::System => Some(VisibleCounts::All),
            Actor::Human { id, .. } => {
                let human = directory.human(id).filter(|human| human.active)?;
                let (projects, owner) = (&human.projects, &human.id);
                Some(if human.admin {
                    VisibleCounts::All
                } else {
                    VisibleCounts::Person { projects, owner }
                })
            }
            Actor::Agent { project, scope: KeyScope::Project, .. } => {
                Some(VisibleCounts::Project(project))
            }
            Actor::Agent { id, scope: KeyScope::Agent, .. } => Some(VisibleCounts::Agent(id)),
            Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } => None,
        }
    }

    fn shows_project(&self, project: &ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Person { projects, .. } => projects.contains(project),
            Self::Project(own) => *own == project,
            Self::Agent(_) => false,
        }
    }

    fn shows_agent(&self, agent: &Agent) -> bool {
        let own = match self {
            Self::Person { owner, .. } => agent.owner == **owner,
            Self::Agent(own) => agent.id == **own,
            Self::All | Self::Project(_) => false,
        };
        own || self.shows_project(&agent.project)
    }
}

/// The projects and agents a query can name, for a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterChoices {
    /// The projects, by id.
    pub projects: Vec<ProjectId>,
    /// The agents, by id.
    pub agents: Vec<AgentId>,
}

/// The projects and agents whose counts the actor may see.
pub fn filter_choices(
    actor: &Actor,
    directory: &Directory,
    project: Option<&ProjectId>,
) -> FilterChoices {
    let Some(sight) = VisibleCounts::of(actor, directory) else { return FilterChoices::default() };
    let agents = || directory.agents().filter(|agent| sight.shows_agent(agent));
    let known =
        |of: &&Project| sight.shows_project(&of.id) || agents().any(|agent| agent.project == of.id);
    let within = |agent: &&Agent| project.is_none_or(|project| agent.project == *project);
    FilterChoices {
        projects: directory.projects().filter(known).map(|project| project.id.clone()).collect(),
        agents: agents().filter(within).map(|agent| agent.id.clone()).collect(),
    }
}

/// The counts that answer a query: those to add up, and the agents to compare. Counts that the
/// actor may not see are treated as absent.
pub fn select_counts(
    wanted: &InsightsQuery,
    actor: &Actor,
    directory: &Directory,
) -> Result<(Vec<CountScope>, Vec<Agent>), Refusal> {
    const PROJECT: Refusal = Refusal::NotFound { what: "project" };
    let sight = VisibleCounts::of(actor, directory).ok_or(PROJECT)?;
    let within =
        |agent: &Agent| wanted.project.as_ref().is_none_or(|project| agent.project == *project);
    if let Some(id) = &wanted.agent {
        let known = directory.agent(id).filter(|agent| sight.shows_agent(agent) && within(agent));
        let agent = known.ok_or(Refusal::NotFound { what: "agent" })?;
        let whose = CountScope::Agent(agent.project.clone(), agent.id.clone());
        return Ok((vec![whose], vec![agent.clone()]));
    }
    let seen: Vec<&Agent> =
        directory.agents().filter(|agent| sight.shows_agent(agent) && within(agent)).collect();
    let apart = seen.iter().filter(|agent| !sight.shows_project(&agent.project));
    let apart = apart.map(|agent| CountScope::Agent(agent.project.clone(), agent.id.clone()));
    let mut whose: Vec<CountScope> = match (&wanted.project, &sight) {
        (None, VisibleCounts::All) => vec![CountScope::All],
        (Some(project), _) => {
            let known = directory.project(project).filter(|known| sight.shows_project(&known.id));
            known.map(|known| CountScope::Project(known.id.clone())).into_iter().collect()
        }
        (None, _) => {
            let whole = directory.projects().filter(|project| sight.shows_project(&project.id));
            whole.map(|project| CountScope::Project(project.id.clone())).collect()
        }
    };
    whose.extend(apart);
    if whose.is_empty() && wanted.project.is_some() {
        return Err(PROJECT);
    }
    Ok((whose, seen.into_iter().take(MOST_AGENTS).cloned().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Cast;

    fn any() -> InsightsQuery {
        let (from, to) = (Day::from_number(0), Day::from_number(9));
        InsightsQuery { project: None, agent: None, from, to }
    }

    fn agent(reach: KeyScope) -> Actor {
        let (id, project) = ("bot".parse().unwrap(), "acme".parse().unwrap());
        Actor::Agent { id, project, key: crate::KeyId::new(ulid::Ulid::nil()), scope: reach }
    }

    /// Members of a project see its counts, owners see those of their agents, and no one sees more.
    #[test]
    fn everybody_sees_what_is_theirs() {
        let cast = Cast::new();
        let directory = cast.directory();
        let acme = || CountScope::Project("acme".parse().unwrap());
        let bot = || CountScope::Agent("acme".parse().unwrap(), "bot".parse().unwrap());
        for (actor, expected) in [
            (Actor::System, vec![CountScope::All]),
            (cast.human("mark"), vec![acme()]),
            (cast.human("zoe"), vec![CountScope::Project("rival".parse().unwrap())]),
            (agent(KeyScope::Project), vec![acme()]),
            (agent(KeyScope::Agent), vec![bot()]),
        ] {
            let (whose, agents) = select_counts(&any(), &actor, directory).unwrap();
            assert_eq!(whose, expected, "{actor:?}");
            assert_eq!(agents.len(), if actor == Actor::System { 2 } else { 1 });
        }
    }

    #[test]
    fn what_is_of_others_is_not_there() {
        let cast = Cast::new();
        let directory = cast.directory();
        let project = |id: &str| InsightsQuery { project: Some(id.parse().unwrap()), ..any() };
        let named = |id: &str| InsightsQuery { agent: Some(id.parse().unwrap()), ..any() };
        for (wanted, what) in [
            (project("rival"), "project"),
            (project("nowhere"), "project"),
            (named("spy"), "agent"),
            (named("nobody"), "agent"),
            (InsightsQuery { agent: Some("bot".parse().unwrap()), ..project("rival") }, "agent"),
        ] {
            let refused = select_counts(&wanted, &cast.human("mark"), directory);
            assert!(matches!(refused, Err(Refusal::NotFound { what: of }) if of == what));
        }
        let link = Actor::link_holder(crate::AskId::new(ulid::Ulid::nil()));
        assert!(select_counts(&any(), &link, directory).is_err());
        let (whose, _) = select_counts(&named("bot"), &cast.human("mark"), directory).unwrap();
        assert!(matches!(&whose[..], [CountScope::Agent(..)]));
        let offered = filter_choices(&cast.human("mark"), directory, None);
        assert_eq!((offered.projects.len(), offered.agents.len()), (1, 1));
    }
}
