//! Our own API, `/api/v1`: the kernel's words on the wire.

use std::collections::BTreeSet;

use kernel::actor::Reach;
use kernel::ask::{DefaultAction, Dialect, Labels, Priority, Route, Seat};
use kernel::command::{NewAsk, Silence};
use kernel::directory::{
    Agent, Directory, Holder, Human, Key, NewAgent, NewHuman, NewProject, Profile, Project, Step,
};
use kernel::ids::GroupId;
use kernel::question::{Answer, Body, Kind, Question, Reply};
use kernel::receipt::{Outcome, Receipt};
use kernel::{
    AgentId, Ask, AskId, AskState, Assurance, By, HumanId, KeyId, Phase, ProjectId, Time,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `POST /api/v1/asks`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateAsk {
    /// What is asked.
    pub question: Question,
    /// How urgent.
    #[serde(default)]
    pub priority: Priority,
    /// Who is asked.
    #[serde(default = "owner")]
    pub route: Route,
    /// After how many seconds it runs out; absent or 0 for never.
    #[serde(default)]
    pub timeout_seconds: u64,
    /// What then.
    #[serde(default)]
    pub on_expiry: OnSilence,
    /// When to remind.
    #[serde(default)]
    pub reminders: Vec<Time>,
    /// What it is about.
    #[serde(default)]
    pub tags: BTreeSet<String>,
    /// Free data.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The ask it continues.
    #[serde(default)]
    pub follows: Option<AskId>,
}

fn owner() -> Route {
    Route::Owner
}

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSilence {
    /// It stays open.
    #[default]
    StayOpen,
    /// It fails.
    Fail,
    /// This answer is taken.
    Answer(Reply),
    /// It expires, and the agent does this.
    Report(DefaultAction),
}

impl From<CreateAsk> for NewAsk {
    fn from(body: CreateAsk) -> Self {
        Self {
            dialect: Dialect::Native,
            question: body.question,
            metadata: body.metadata,
            labels: Labels::default(),
            tags: body.tags,
            priority: body.priority,
            route: body.route,
            timeout: Some(body.timeout_seconds).filter(|seconds| *seconds > 0),
            on_expiry: match body.on_expiry {
                OnSilence::StayOpen => Silence::StayOpen,
                OnSilence::Fail => Silence::Fail,
                OnSilence::Answer(reply) => Silence::Answer(reply),
                OnSilence::Report(action) => Silence::Report(action),
            },
            reminders: body.reminders,
            follows: body.follows,
        }
    }
}

/// An ask, as our own API shows it.
#[derive(Debug, Clone, Serialize)]
pub struct AskView<'a> {
    /// Its id.
    pub id: AskId,
    /// Its version; also its `ETag`.
    pub version: u64,
    /// Where it stands.
    pub state: &'static str,
    /// Where it stands, as lists see it.
    pub phase: Phase,
    /// Its project.
    pub project: &'a ProjectId,
    /// Who asked.
    pub agent: &'a AgentId,
    /// Who answers for the agent.
    pub owner: &'a HumanId,
    /// The kind of question.
    pub kind: Kind,
    /// What is asked; `null` once erased.
    pub question: Option<&'a Question>,
    /// Free data.
    pub metadata: Option<&'a Map<String, Value>>,
    /// What it is about.
    pub tags: &'a BTreeSet<String>,
    /// How urgent.
    pub priority: Priority,
    /// Who was asked.
    pub seats: &'a [Seat],
    /// Who took it.
    pub assigned_to: Option<String>,
    /// When it was asked.
    pub created_at: Time,
    /// When it runs out.
    pub expires_at: Option<Time>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// The ask that continues it.
    pub followed_by: Option<AskId>,
    /// How it ended.
    pub receipt: Option<Receipt>,
}

/// Who looks at an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// The agent that asked: it gets every value, but no names of a pool.
    Agent,
    /// A person: they get names, but no value somebody gave as a secret.
    Person,
}

impl<'a> AskView<'a> {
    /// Shows an ask.
    pub fn of(ask: &'a Ask, viewer: Viewer) -> Self {
        let hidden = viewer == Viewer::Agent && ask.is_pooled();
        let engaged = ask.engaged().map(|(by, _)| if hidden { somebody(by) } else { by });
        Self {
            id: ask.id,
            version: ask.head.seq,
            state: match &ask.state {
                AskState::Pending => "pending",
                AskState::Opened => "opened",
                AskState::InProgress { .. } => "in_progress",
                AskState::Over { .. } => ask.phase().as_str(),
            },
            phase: ask.phase(),
            project: &ask.project,
            agent: &ask.agent,
            owner: &ask.owner,
            kind: ask.kind,
            question: ask.question.value(),
            metadata: ask.metadata.value(),
            tags: &ask.tags,
            priority: ask.priority,
            seats: &ask.seats,
            assigned_to: engaged.map(|by| by.to_string()),
            created_at: ask.created_at,
            expires_at: ask.expires_at,
            follows: ask.follows,
            followed_by: ask.followed_by,
            receipt: Receipt::of(ask).map(|receipt| shown(receipt, ask, viewer, hidden)),
        }
    }
}

fn shown(mut receipt: Receipt, ask: &Ask, viewer: Viewer, hidden: bool) -> Receipt {
    if let Outcome::Completed { reply, by, .. } = &mut receipt.outcome {
        if hidden {
            *by = somebody(by.clone());
        }
        if viewer == Viewer::Person {
            *reply = reply.take().map(|reply| without_secrets(reply, ask));
        }
    }
    receipt
}

/// A member of a pool, unnamed.
fn somebody(by: By) -> By {
    match (by, "pool_member".parse()) {
        (By::Human(_), Ok(id)) => By::Human(id),
        (by, _) => by,
    }
}

fn without_secrets(reply: Reply, ask: &Ask) -> Reply {
    let form = ask.question.value().and_then(|question| match question.body() {
        Body::Provide { form } => Some(form),
        Body::Approve { .. }
        | Body::Choose { .. }
        | Body::Confirm { .. }
        | Body::Escalate { .. }
        | Body::Converse => None,
    });
    match (reply.answer, form) {
        (Answer::Provided { values }, Some(form)) => {
            let redacted = serde_json::from_value(Value::Object(values.redacted(form)));
            // Values are any JSON object, so reading one back cannot fail; if it did, nothing shows.
            let values = redacted.unwrap_or_default();
            Reply { answer: Answer::Provided { values }, comment: reply.comment }
        }
        (answer, _) => Reply { answer, comment: reply.comment },
    }
}

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

/// `POST /api/v1/keys`: what to issue and to whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueKey {
    /// An agent key for this agent…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// …that sees its own asks or the whole project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Or a token for this person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human: Option<HumanId>,
    /// What to call it.
    #[serde(default)]
    pub label: String,
}

/// A credential as it is listed: never with its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyView {
    /// Its id.
    pub id: KeyId,
    /// `agent_key`, `token`, `link` or `session`.
    pub kind: String,
    /// Whose.
    pub holder: String,
    /// The project of an agent key.
    pub project: Option<ProjectId>,
    /// How far an agent key sees.
    pub reach: Option<Reach>,
    /// What its maker called it.
    pub label: String,
    /// Since when.
    pub issued_at: Time,
    /// Until when.
    pub expires_at: Option<Time>,
    /// Revoked or used up.
    pub revoked_at: Option<Time>,
    /// To the minute; `null` if never.
    pub last_used_at: Option<Time>,
}

impl KeyView {
    /// Shows a credential.
    pub fn of(key: &Key, directory: &Directory, last_used_at: Option<Time>) -> Self {
        let (kind, holder, reach, project) = match &key.holder {
            Holder::Agent { agent, reach } => {
                let project = directory.agent(agent).map(|agent| agent.project.clone());
                ("agent_key", agent.to_string(), Some(*reach), project)
            }
            Holder::Token { human } => ("token", human.to_string(), None, None),
            Holder::Link { human } => ("link", human.to_string(), None, None),
            Holder::Session { human } => ("session", human.to_string(), None, None),
        };
        Self {
            id: key.id,
            kind: kind.to_owned(),
            holder,
            project,
            reach,
            label: key.label.clone(),
            issued_at: key.issued_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at,
        }
    }
}

/// A fresh credential: the only time its secret is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IssuedKey {
    /// The credential.
    #[serde(flatten)]
    pub key: KeyView,
    /// What its holder presents.
    pub secret: String,
}
