//! Projects, agents, people and groups on the wire. If a body names an id, it must be the id in the
//! URL.

use std::collections::BTreeSet;

use kernel::actor::KeyScope;
use kernel::ask::EnvelopePolicy;
use kernel::directory::{
    Agent, AllowedRecipient, Contact, EscalationStep, Human, HumanChange, IrreversibleSetting,
    NewAgent, NewGroup, NewHuman, NewProfile, NewProject, Profile, ProfileSettings, Project,
    RecipientPolicy,
};
use kernel::ids::GroupId;
use kernel::quota::Limits;
use kernel::retention::RetentionSetting;
use kernel::{AgentId, Assurance, HumanId, ProjectId};
use serde::{Deserialize, Deserializer, Serialize};

/// A project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Project))]
pub struct ProjectView {
    /// Its name.
    pub id: ProjectId,
    /// Whether a default may be taken on silence.
    pub default_on_silence: bool,
    /// The least assurance an answer needs.
    pub floor: Assurance,
    /// Who is asked as well when nobody answers.
    pub ladder: Vec<EscalationStep>,
    /// When people are reminded, in seconds after a request whose agent named no reminders.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u64>))]
    pub reminders: BTreeSet<u64>,
    /// How it takes what agents say of their messages.
    pub envelopes: EnvelopePolicy,
    /// How long words are kept once a request or task is over, if not as long as the installation
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSetting>,
    /// Whom agents may reach with the `place` of a request: `any` address, or `project`: the people
    /// of the project, the agent's owner, and `allowed_recipients`.
    #[serde(default)]
    pub recipients: RecipientPolicy,
    /// Addresses agents may use besides: `slack:C0123ABC`, `@example.com`, `sms:*`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub allowed_recipients: BTreeSet<AllowedRecipient>,
    /// Quotas that differ from those of the installation, by name; 0 means no limit.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, u64>))]
    pub quotas: Limits,
    /// The minimum assurance for approving a request that is irreversible or critical; `null` where
    /// only `floor` counts.
    #[serde(default)]
    pub irreversible_assurance: Option<Assurance>,
}

impl From<&Project> for ProjectView {
    fn from(project: &Project) -> Self {
        let Project {
            id,
            default_on_silence,
            minimum_assurance: floor,
            escalation_steps: ladder,
            reminders,
            envelopes,
            retention,
            recipients,
            quotas,
            irreversible_assurance,
        } = project.clone();
        Self {
            id,
            default_on_silence,
            floor,
            ladder,
            reminders,
            envelopes,
            retention,
            recipients: recipients.reachable,
            allowed_recipients: recipients.allow,
            quotas,
            irreversible_assurance,
        }
    }
}

/// `PUT /api/v1/projects/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectBody {
    /// The name in the address, if it is given at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ProjectId>,
    /// Whether a default may be taken on silence.
    #[serde(default = "yes")]
    pub default_on_silence: bool,
    /// The least assurance an answer needs.
    #[serde(default = "minimum_assurance")]
    pub floor: Assurance,
    /// Who is asked as well when nobody answers.
    #[serde(default)]
    pub ladder: Vec<EscalationStep>,
    /// When people are reminded, in seconds after a request whose agent named no reminders; never
    /// once its time is up.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u64>))]
    pub reminders: BTreeSet<u64>,
    /// How it takes what agents say of their messages: `lenient` notes what is wrong with an
    /// envelope, `strict` refuses the request.
    #[serde(default)]
    pub envelopes: EnvelopePolicy,
    /// How long words are kept once a request or task is over: `30d`, `12h`, or `off` for ever.
    /// Where nothing is said, as long as the installation says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSetting>,
    /// Whom agents may reach with the `place` of a request: `any` address, or `project`: the people
    /// of the project, the agent's owner, and `allowed_recipients`. Without it, what the project
    /// has; a new one has `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<RecipientPolicy>,
    /// Addresses agents may use besides: one address such as `slack:C0123ABC`, a mail domain such
    /// as `@example.com`, or a whole kind such as `sms:*`. Without it, what the project has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, max_items = 500))]
    pub allowed_recipients: Option<BTreeSet<AllowedRecipient>>,
    /// Quotas that differ from those of the installation, such as `{"agent.open_asks": 100}`; 0
    /// means no limit. Without it, what the project has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, u64>>))]
    pub quotas: Option<Limits>,
    /// The minimum assurance for approving a request that is irreversible or critical; rejecting
    /// one needs no more than `floor`. `null` means that only `floor` counts. Left out, a project
    /// keeps what it has, and a new project gets `session` (with `--dev`, `null`).
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Assurance>))]
    pub irreversible_assurance: Option<Option<Assurance>>,
}

fn yes() -> bool {
    true
}

fn minimum_assurance() -> Assurance {
    Assurance::AgentAttested
}

impl ProjectBody {
    /// The project with this id. `irreversible` is the minimum assurance for approving irreversible
    /// and critical requests; a new project gets it if the body names none.
    pub fn named(self, id: ProjectId, irreversible: Option<Assurance>) -> NewProject {
        let Self {
            id: _,
            default_on_silence,
            floor,
            ladder,
            reminders,
            envelopes,
            retention,
            recipients,
            allowed_recipients,
            quotas,
            irreversible_assurance,
        } = self;
        let irreversible_assurance = match irreversible_assurance {
            Some(given) => IrreversibleSetting::Set(given),
            None => IrreversibleSetting::Keep { new: irreversible },
        };
        NewProject {
            id,
            default_on_silence,
            minimum_assurance: floor,
            escalation_steps: ladder,
            reminders,
            envelopes,
            retention,
            recipients,
            allowed_recipients,
            quotas,
            irreversible_assurance,
        }
    }
}

/// An agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Agent))]
pub struct AgentView {
    /// Its name.
    pub id: AgentId,
    /// Its project.
    pub project: ProjectId,
    /// Who answers for it.
    pub owner: HumanId,
    /// Whether people may write to it.
    #[serde(default)]
    pub conversations: bool,
}

impl From<&Agent> for AgentView {
    fn from(agent: &Agent) -> Self {
        let Agent { id, project, owner, conversations } = agent.clone();
        Self { id, project, owner, conversations }
    }
}

/// `PUT /api/v1/agents/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentBody {
    /// The name in the address, if it is given at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<AgentId>,
    /// Its project; an agent never moves.
    pub project: ProjectId,
    /// Who answers for it.
    pub owner: HumanId,
    /// Whether people may write to it; where nothing is said, it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<bool>,
}

impl AgentBody {
    /// The agent with this id.
    pub fn named(self, id: AgentId) -> NewAgent {
        let Self { id: _, project, owner, conversations } = self;
        NewAgent { id, project, owner, conversations }
    }
}

/// A person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Person))]
pub struct PersonView {
    /// Their name in the system.
    pub id: HumanId,
    /// What to call them.
    pub name: String,
    /// Their address.
    pub email: Option<String>,
    /// Whether they administer the installation.
    pub admin: bool,
    /// Whether they can sign in and be asked.
    pub active: bool,
    /// The projects they are a member of.
    pub projects: BTreeSet<ProjectId>,
    /// The groups they are in.
    pub groups: BTreeSet<GroupId>,
    /// The tags they are qualified for.
    pub skills: BTreeSet<String>,
    /// What they say of themselves; `null` if nothing.
    pub about: Option<ProfileSettings>,
    /// Where to reach them, in the order in which to try.
    pub contacts: Vec<Contact>,
    /// Whether they were erased: only the id is left, and it cannot be used again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

impl From<&Human> for PersonView {
    fn from(human: &Human) -> Self {
        let erased = human.is_erased();
        let Human { id, profile, admin, active, projects, groups, skills, .. } = human.clone();
        let profile = profile.value().cloned().unwrap_or_default();
        let Profile { name, email, about, contacts, .. } = profile;
        let contacts = contacts.unwrap_or_default();
        Self { id, name, email, admin, active, projects, groups, skills, about, contacts, erased }
    }
}

/// `PUT /api/v1/people/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PersonBody {
    /// The name in the address, if it is given at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<HumanId>,
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
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<ProjectId>))]
    pub projects: BTreeSet<ProjectId>,
    /// The groups they are in.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<GroupId>))]
    pub groups: BTreeSet<GroupId>,
    /// The tags they are qualified for.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub skills: BTreeSet<String>,
    /// What they say of themselves, whole; left out, it stays as it is.
    #[serde(
        default,
        deserialize_with = "kernel::strict::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub about: Option<ProfileSettings>,
    /// Where to reach them, in the order in which to try, whole; left out, it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_items = 20))]
    pub contacts: Option<Vec<Contact>>,
}

impl PersonBody {
    /// The person with this id.
    pub fn named(self, id: HumanId) -> NewHuman {
        let Self { id: _, name, email, admin, active, projects, groups, skills, about, contacts } =
            self;
        let profile = Profile { name, email, about, contacts, ..Profile::default() };
        NewHuman { id, profile, admin, active, projects, groups, skills }
    }
}

/// `PATCH /api/v1/people/{id}`: a JSON merge patch. Only the named fields change; `null` clears
/// one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PersonPatch {
    /// What to call them; `null` removes the name.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, max_length = 200))]
    pub name: Option<Option<String>>,
    /// Their email address; `null` removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub email: Option<Option<String>>,
    /// Whether they administer the installation.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = bool))]
    pub admin: Option<bool>,
    /// Whether they can sign in and be asked.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = bool))]
    pub active: Option<bool>,
    /// All projects they are a member of; `null` means none.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<ProjectId>>))]
    pub projects: Option<Option<BTreeSet<ProjectId>>>,
    /// All groups they are in; `null` means none.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<GroupId>>))]
    pub groups: Option<Option<BTreeSet<GroupId>>>,
    /// All tags they are qualified for; `null` means none.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>))]
    pub skills: Option<Option<BTreeSet<String>>>,
}

/// Distinguishes `null` from an absent field.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl From<PersonPatch> for HumanChange {
    fn from(patch: PersonPatch) -> Self {
        let PersonPatch { name, email, admin, active, projects, groups, skills } = patch;
        Self {
            name: name.map(Option::unwrap_or_default),
            email,
            admin,
            active,
            projects: projects.map(Option::unwrap_or_default),
            groups: groups.map(Option::unwrap_or_default),
            skills: skills.map(Option::unwrap_or_default),
        }
    }
}

/// `PUT /api/v1/me` and `PUT /api/v1/people/{id}/profile`: what somebody may say of themselves.
/// What is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileBody {
    /// What to call them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub name: Option<String>,
    /// What they say of themselves, whole.
    #[serde(
        default,
        deserialize_with = "kernel::strict::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub about: Option<ProfileSettings>,
}

impl ProfileBody {
    pub fn of(self, human: HumanId) -> NewProfile {
        NewProfile { human, name: self.name, about: self.about }
    }
}

/// A group: nothing but who is in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Group))]
pub struct GroupView {
    /// Its name.
    pub id: GroupId,
    /// Who is in it.
    pub members: BTreeSet<HumanId>,
}

/// `PUT /api/v1/groups/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupBody {
    /// The name in the address, if it is given at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<GroupId>,
    /// Exactly these people are in it; a group with nobody in it is none.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<HumanId>))]
    pub members: BTreeSet<HumanId>,
}

impl GroupBody {
    /// The group with this id.
    pub fn named(self, id: GroupId) -> NewGroup {
        NewGroup { id, members: self.members }
    }
}

/// Who the credential says somebody is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Me {
    /// An agent.
    Agent {
        /// Its name.
        id: AgentId,
        /// Its project.
        project: ProjectId,
        /// How far the key sees.
        reach: KeyScope,
    },
    /// A person.
    Human(Box<PersonView>),
}
