//! Projects, agents and people on the wire.

use std::collections::BTreeSet;

use kernel::directory::{Agent, Human, NewAgent, NewHuman, NewProject, Profile, Project, Step};
use kernel::ids::GroupId;
use kernel::{AgentId, Assurance, HumanId, ProjectId};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/projects`: adds a project or changes its settings.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectBody {
    /// Its name.
    pub id: ProjectId,
    /// Whether a default may be taken on silence.
    #[serde(default = "yes")]
    pub default_on_silence: bool,
    /// The least assurance an answer needs.
    #[serde(default = "least")]
    pub floor: Assurance,
    /// Who is asked as well when nobody answers.
    #[serde(default)]
    pub ladder: Vec<Step>,
}

fn yes() -> bool {
    true
}

fn least() -> Assurance {
    Assurance::AgentAttested
}

impl From<ProjectBody> for NewProject {
    fn from(body: ProjectBody) -> Self {
        let ProjectBody { id, default_on_silence, floor, ladder } = body;
        Self { id, default_on_silence, floor, ladder }
    }
}

impl From<&Project> for ProjectBody {
    fn from(project: &Project) -> Self {
        let Project { id, default_on_silence, floor, ladder } = project.clone();
        Self { id, default_on_silence, floor, ladder }
    }
}

/// `POST /api/v1/agents`: adds an agent or changes its owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentBody {
    /// Its name.
    pub id: AgentId,
    /// Its project.
    pub project: ProjectId,
    /// Who answers for it.
    pub owner: HumanId,
}

impl From<AgentBody> for NewAgent {
    fn from(body: AgentBody) -> Self {
        let AgentBody { id, project, owner } = body;
        Self { id, project, owner }
    }
}

impl From<&Agent> for AgentBody {
    fn from(agent: &Agent) -> Self {
        let Agent { id, project, owner } = agent.clone();
        Self { id, project, owner }
    }
}

/// `POST /api/v1/people`: adds a person or changes them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonBody {
    /// Their name in the system.
    pub id: HumanId,
    /// What to call them.
    #[serde(default)]
    pub name: String,
    /// Their address.
    #[serde(default)]
    pub email: Option<String>,
    /// Whether they administer the installation.
    #[serde(default)]
    pub admin: bool,
    /// Whether they can sign in and be asked.
    #[serde(default = "yes")]
    pub active: bool,
    /// The projects they are a member of.
    #[serde(default)]
    pub projects: BTreeSet<ProjectId>,
    /// The groups they are in.
    #[serde(default)]
    pub groups: BTreeSet<GroupId>,
    /// The tags they are qualified for.
    #[serde(default)]
    pub skills: BTreeSet<String>,
}

impl From<PersonBody> for NewHuman {
    fn from(body: PersonBody) -> Self {
        let PersonBody { id, name, email, admin, active, projects, groups, skills } = body;
        let profile = Profile { name, email };
        Self { id, profile, admin, active, projects, groups, skills }
    }
}

impl From<&Human> for PersonBody {
    fn from(human: &Human) -> Self {
        let Human { id, profile, admin, active, projects, groups, skills } = human.clone();
        let Profile { name, email } = profile.value().cloned().unwrap_or_default();
        Self { id, name, email, admin, active, projects, groups, skills }
    }
}
