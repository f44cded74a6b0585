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
    /// The ID.
    pub id: ProjectId,
    /// Whether agents can set a default for the case that there is no answer.
    pub default_on_silence: bool,
    /// The minimum assurance of an answer.
    pub floor: Assurance,
    /// The escalation steps: who else is asked if there is no answer.
    pub ladder: Vec<EscalationStep>,
    /// When people are reminded, in seconds after the request, unless the agent sets its own
    /// reminders.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u64>))]
    pub reminders: BTreeSet<u64>,
    /// How the project handles envelopes.
    pub envelopes: EnvelopePolicy,
    /// How long the text of closed requests and tasks is kept, if different from the installation's
    /// setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSetting>,
    /// Which addresses agents can use in `place`: `any`, or `project` for the members of the
    /// project, the agent's owner and `allowed_recipients`.
    #[serde(default)]
    pub recipients: RecipientPolicy,
    /// Additional addresses that agents can use: `slack:C0123ABC`, `@example.com`, `sms:*`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub allowed_recipients: BTreeSet<AllowedRecipient>,
    /// Quotas that differ from those of the installation, by name; 0 means no limit.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, u64>))]
    pub quotas: Limits,
    /// The minimum assurance for approving an irreversible or critical request; `null` if only
    /// `floor` applies.
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
    /// The ID in the path; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ProjectId>,
    /// Whether agents can set a default for the case that there is no answer.
    #[serde(default = "yes")]
    pub default_on_silence: bool,
    /// The minimum assurance of an answer.
    #[serde(default = "minimum_assurance")]
    pub floor: Assurance,
    /// The escalation steps: who else is asked if there is no answer.
    #[serde(default)]
    pub ladder: Vec<EscalationStep>,
    /// When people are reminded, in seconds after the request, unless the agent sets its own
    /// reminders. There are no reminders after the deadline.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u64>))]
    pub reminders: BTreeSet<u64>,
    /// How the project handles envelopes: `lenient` records what is wrong with an envelope,
    /// `strict` refuses the request.
    #[serde(default)]
    pub envelopes: EnvelopePolicy,
    /// How long the text of closed requests and tasks is kept: `30d`, `12h`, or `off` to keep it
    /// permanently. By default, the installation's setting applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSetting>,
    /// Which addresses agents can use in `place`: `any`, or `project` for the members of the
    /// project, the agent's owner and `allowed_recipients`. If left out, it does not change; a new
    /// project gets `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<RecipientPolicy>,
    /// Additional addresses that agents can use: one address such as `slack:C0123ABC`, an email
    /// domain such as `@example.com`, or a whole kind such as `sms:*`. If left out, it does not
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, max_items = 500))]
    pub allowed_recipients: Option<BTreeSet<AllowedRecipient>>,
    /// Quotas that differ from those of the installation, such as `{"agent.open_asks": 100}`; 0
    /// means no limit. If left out, they do not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<std::collections::BTreeMap<String, u64>>))]
    pub quotas: Option<Limits>,
    /// The minimum assurance for approving an irreversible or critical request; rejecting one
    /// requires `floor` only. `null` means that only `floor` applies. If left out, it does not
    /// change, and a new project gets `session` (with `--dev`, `null`).
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
    /// The ID.
    pub id: AgentId,
    /// The project.
    pub project: ProjectId,
    /// The person responsible for the agent.
    pub owner: HumanId,
    /// Whether people can write to the agent.
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
    /// The ID in the path; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<AgentId>,
    /// The project; it cannot be changed later.
    pub project: ProjectId,
    /// The person responsible for the agent.
    pub owner: HumanId,
    /// Whether people can write to the agent. If left out, it does not change.
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
    /// The ID.
    pub id: HumanId,
    /// The display name.
    pub name: String,
    /// The email address.
    pub email: Option<String>,
    /// Whether they administer the installation.
    pub admin: bool,
    /// Whether they can sign in and be asked.
    pub active: bool,
    /// The projects they are a member of.
    pub projects: BTreeSet<ProjectId>,
    /// The groups they are in.
    pub groups: BTreeSet<GroupId>,
    /// The tags that the person is qualified for.
    pub skills: BTreeSet<String>,
    /// The person's own settings, such as time zone and absences; `null` without any.
    pub about: Option<ProfileSettings>,
    /// The contact methods, in the order in which the server tries them.
    pub contacts: Vec<Contact>,
    /// Whether the person was erased. Only the ID remains, and it cannot be used again.
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
    /// The ID in the path; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<HumanId>,
    /// The display name.
    #[serde(default)]
    pub name: String,
    /// The email address.
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
    /// The tags that the person is qualified for.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub skills: BTreeSet<String>,
    /// The person's own settings. They are replaced as a whole; if left out, they do not change.
    #[serde(
        default,
        deserialize_with = "kernel::strict::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub about: Option<ProfileSettings>,
    /// The contact methods, in the order in which the server tries them. They are replaced as a
    /// whole; if left out, they do not change.
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
    /// The display name; `null` removes it.
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

/// `PUT /api/v1/me` and `PUT /api/v1/people/{id}/profile`: a person's own settings. Fields that are
/// left out do not change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileBody {
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub name: Option<String>,
    /// The person's own settings. They are replaced as a whole.
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

/// A group of people.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Group))]
pub struct GroupView {
    /// The ID.
    pub id: GroupId,
    /// The members.
    pub members: BTreeSet<HumanId>,
}

/// `PUT /api/v1/groups/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupBody {
    /// The ID in the path; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<GroupId>,
    /// The complete list of members. A group without members does not exist.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<HumanId>))]
    pub members: BTreeSet<HumanId>,
}

impl GroupBody {
    /// The group with this id.
    pub fn named(self, id: GroupId) -> NewGroup {
        NewGroup { id, members: self.members }
    }
}

/// The holder of the credential.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Me {
    /// An agent.
    Agent {
        /// The ID.
        id: AgentId,
        /// The project.
        project: ProjectId,
        /// Whether the key sees its own asks or those of the whole project.
        reach: KeyScope,
    },
    /// A person.
    Human(Box<PersonView>),
}
