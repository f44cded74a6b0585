//! Which counts a person or an agent may see.

use std::collections::BTreeSet;

use super::{Day, Summary, Whose};
use crate::actor::{Actor, Reach};
use crate::directory::{Agent, Directory, Project};
use crate::ids::{AgentId, HumanId, ProjectId};
use crate::refusal::Refusal;

/// The longest period of a query, in days.
pub const LONGEST_DAYS: i64 = 400;
/// The maximum number of agents that are compared.
pub const MOST_AGENTS: usize = 100;

/// A query for insights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
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
    pub summary: Summary,
    /// The compared agents, each with its own counts, by id.
    pub agents: Vec<(ProjectId, AgentId, Summary)>,
}

/// Whose counts an actor may see.
enum Sight<'a> {
    /// The counts of the whole installation.
    All,
    /// The counts of their projects, and of the agents they own.
    Person { projects: &'a BTreeSet<ProjectId>, owner: &'a HumanId },
    /// The counts of one project.
    Project(&'a ProjectId),
    /// The counts of the agent itself.
    Agent(&'a AgentId),
}

impl Sight<'_> {
    fn of<'a>(actor: &'a Actor, directory: &'a Directory) -> Option<Sight<'a>> {
        match actor {
            Actor::System => Some(Sight::All),
            Actor::Human { id, .. } => {
                let human = directory.human(id).filter(|human| human.active)?;
                let (projects, owner) = (&human.projects, &human.id);
                Some(if human.admin { Sight::All } else { Sight::Person { projects, owner } })
            }
            Actor::Agent { project, reach: Reach::Project, .. } => Some(Sight::Project(project)),
            Actor::Agent { id, reach: Reach::Agent, .. } => Some(Sight::Agent(id)),
            Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } => None,
        }
    }

    fn whole(&self, project: &ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Person { projects, .. } => projects.contains(project),
            Self::Project(own) => *own == project,
            Self::Agent(_) => false,
        }
    }

    fn shows(&self, agent: &Agent) -> bool {
        let own = match self {
            Self::Person { owner, .. } => agent.owner == **owner,
            Self::Agent(own) => agent.id == **own,
            Self::All | Self::Project(_) => false,
        };
        own || self.whole(&agent.project)
    }
}

/// The projects and agents a query can name, for a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// The projects, by id.
    pub projects: Vec<ProjectId>,
    /// The agents, by id.
    pub agents: Vec<AgentId>,
}

/// The projects and agents whose counts the actor may see.
pub fn choices(actor: &Actor, directory: &Directory, project: Option<&ProjectId>) -> Choices {
    let Some(sight) = Sight::of(actor, directory) else { return Choices::default() };
    let agents = || directory.agents().filter(|agent| sight.shows(agent));
    let known = |of: &&Project| sight.whole(&of.id) || agents().any(|agent| agent.project == of.id);
    let within = |agent: &&Agent| project.is_none_or(|project| agent.project == *project);
    Choices {
        projects: directory.projects().filter(known).map(|project| project.id.clone()).collect(),
        agents: agents().filter(within).map(|agent| agent.id.clone()).collect(),
    }
}

/// The counts that answer a query: those to add up, and the agents to compare. Counts that the
/// actor may not see are treated as absent.
pub fn sought(
    wanted: &Wanted,
    actor: &Actor,
    directory: &Directory,
) -> Result<(Vec<Whose>, Vec<Agent>), Refusal> {
    const PROJECT: Refusal = Refusal::NotFound { what: "project" };
    let sight = Sight::of(actor, directory).ok_or(PROJECT)?;
    let within =
        |agent: &Agent| wanted.project.as_ref().is_none_or(|project| agent.project == *project);
    if let Some(id) = &wanted.agent {
        let known = directory.agent(id).filter(|agent| sight.shows(agent) && within(agent));
        let agent = known.ok_or(Refusal::NotFound { what: "agent" })?;
        let whose = Whose::Agent(agent.project.clone(), agent.id.clone());
        return Ok((vec![whose], vec![agent.clone()]));
    }
    let seen: Vec<&Agent> =
        directory.agents().filter(|agent| sight.shows(agent) && within(agent)).collect();
    let apart = seen.iter().filter(|agent| !sight.whole(&agent.project));
    let apart = apart.map(|agent| Whose::Agent(agent.project.clone(), agent.id.clone()));
    let mut whose: Vec<Whose> = match (&wanted.project, &sight) {
        (None, Sight::All) => vec![Whose::All],
        (Some(project), _) => {
            let known = directory.project(project).filter(|known| sight.whole(&known.id));
            known.map(|known| Whose::Project(known.id.clone())).into_iter().collect()
        }
        (None, _) => {
            let whole = directory.projects().filter(|project| sight.whole(&project.id));
            whole.map(|project| Whose::Project(project.id.clone())).collect()
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

    fn any() -> Wanted {
        let (from, to) = (Day::numbered(0), Day::numbered(9));
        Wanted { project: None, agent: None, from, to }
    }

    fn agent(reach: Reach) -> Actor {
        let (id, project) = ("bot".parse().unwrap(), "acme".parse().unwrap());
        Actor::Agent { id, project, key: crate::KeyId::new(ulid::Ulid::nil()), reach }
    }

    /// Members of a project see its counts, owners see those of their agents, and no one sees more.
    #[test]
    fn everybody_sees_what_is_theirs() {
        let cast = Cast::new();
        let directory = cast.directory();
        let acme = || Whose::Project("acme".parse().unwrap());
        let bot = || Whose::Agent("acme".parse().unwrap(), "bot".parse().unwrap());
        for (actor, expected) in [
            (Actor::System, vec![Whose::All]),
            (cast.human("mark"), vec![acme()]),
            (cast.human("zoe"), vec![Whose::Project("rival".parse().unwrap())]),
            (agent(Reach::Project), vec![acme()]),
            (agent(Reach::Agent), vec![bot()]),
        ] {
            let (whose, agents) = sought(&any(), &actor, directory).unwrap();
            assert_eq!(whose, expected, "{actor:?}");
            assert_eq!(agents.len(), if actor == Actor::System { 2 } else { 1 });
        }
    }

    #[test]
    fn what_is_of_others_is_not_there() {
        let cast = Cast::new();
        let directory = cast.directory();
        let project = |id: &str| Wanted { project: Some(id.parse().unwrap()), ..any() };
        let named = |id: &str| Wanted { agent: Some(id.parse().unwrap()), ..any() };
        for (wanted, what) in [
            (project("rival"), "project"),
            (project("nowhere"), "project"),
            (named("spy"), "agent"),
            (named("nobody"), "agent"),
            (Wanted { agent: Some("bot".parse().unwrap()), ..project("rival") }, "agent"),
        ] {
            let refused = sought(&wanted, &cast.human("mark"), directory);
            assert!(matches!(refused, Err(Refusal::NotFound { what: of }) if of == what));
        }
        let link = Actor::link_holder(crate::AskId::new(ulid::Ulid::nil()));
        assert!(sought(&any(), &link, directory).is_err());
        let (whose, _) = sought(&named("bot"), &cast.human("mark"), directory).unwrap();
        assert!(matches!(&whose[..], [Whose::Agent(..)]));
        let offered = choices(&cast.human("mark"), directory, None);
        assert_eq!((offered.projects.len(), offered.agents.len()), (1, 1));
    }
}
