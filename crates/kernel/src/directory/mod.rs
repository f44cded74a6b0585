//! The directory: projects, agents, people, their keys, their rules and their endpoints.
//!
//! It is a snapshot held in memory and changed only by events, so that routing and authentication
//! never wait for a query.

pub mod command;
pub mod contact;
mod contact_method;
mod credential;
pub mod edit_contacts;
pub mod erase;
pub mod event;
pub mod group;
pub mod key;
pub mod notification_preferences;
pub mod passkey;
pub mod people;
mod people_index;
pub mod profile;
pub mod profile_settings;
pub mod project;
pub mod recipients;
pub mod revoke_access;
pub mod rule;
pub mod session;
pub mod sign_in_link;
pub mod signing_key;
pub mod webhook;
mod webhook_endpoint;

use std::collections::BTreeSet;
use std::ops::{Bound, Deref};
use std::sync::Arc;

use imbl::{HashMap, OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Assurance, KeyScope};
use crate::ask::{Assignee, EnvelopePolicy, Priority};
use crate::audit::{Digest, Erasable, Head};
use crate::evolve::Entity;
use crate::ids::{AgentId, GroupId, HumanId, KeyId, ProjectId, RuleId, Subject, WebhookId};
use crate::question::QuestionKind;
use crate::quota::Limits;
use crate::refusal::Refusal;
use crate::retention::RetentionSetting;
use crate::time::Time;

/// An entity with the end of its chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithHead<T> {
    /// The end of its chain.
    pub head: Head,
    /// The current state of the entity.
    pub entity: T,
}

impl<T> Deref for WithHead<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.entity
    }
}

/// A group of agents and people, with the rules for its asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The id of the project.
    pub id: ProjectId,
    /// Whether an agent may define a default that is taken on silence.
    pub default_on_silence: bool,
    /// The minimum assurance of an answer.
    #[serde(rename = "floor")]
    pub minimum_assurance: Assurance,
    /// The escalation policy: who is asked as well when no person answers.
    #[serde(rename = "ladder")]
    pub escalation_steps: Vec<EscalationStep>,
    /// The default reminders, in seconds after the ask. They apply if the agent named none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reminders: BTreeSet<u64>,
    /// Whether it accepts only valid HXP envelopes.
    #[serde(default, skip_serializing_if = "EnvelopePolicy::is_usual")]
    pub envelopes: EnvelopePolicy,
    /// How long the text of its closed asks and tasks is kept; `None` for the installation's
    /// setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionSetting>,
    /// The addresses to which its agents may send requests.
    #[serde(default, skip_serializing_if = "Recipients::is_any")]
    pub recipients: Recipients,
    /// Quotas that differ from those of the installation.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub quotas: Limits,
    /// The minimum assurance for approving irreversible or critical asks. Absent if there is no
    /// such rule, as in projects from before it existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible_assurance: Option<Assurance>,
}

/// One step of a project's escalation ladder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LadderStep))]
pub struct EscalationStep {
    /// Seconds after the ask.
    pub after: u64,
    /// Who is asked as well.
    #[serde(flatten)]
    pub assignee: Assignee,
}

/// A program that asks people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The id of the agent.
    pub id: AgentId,
    /// The project it belongs to; it never changes.
    pub project: ProjectId,
    /// The person who is responsible for the agent.
    pub owner: HumanId,
    /// Whether people may write to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conversations: bool,
}

/// A person who answers asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Human {
    /// The id of the person.
    pub id: HumanId,
    /// Personal data, erasable.
    pub profile: Erasable<Profile>,
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
    /// When all their access was last revoked. Links and messages sent to them before then no
    /// longer work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_ended_at: Option<Time>,
}

impl Human {
    /// Whether all their access was revoked after something was sent to them at this time.
    pub fn access_ended_since(&self, sent_at: Time) -> bool {
        self.access_ended_at.is_some_and(|ended| sent_at <= ended)
    }

    /// Whether they were erased. Only the id is left, and it can never be used again.
    pub fn is_erased(&self) -> bool {
        self.profile.value().is_none()
    }

    /// The remainder of the person after they were erased.
    pub(crate) fn erased(mut self) -> Self {
        self.profile.erase();
        Self {
            id: self.id,
            profile: self.profile,
            admin: false,
            active: false,
            projects: BTreeSet::new(),
            groups: BTreeSet::new(),
            skills: BTreeSet::new(),
            access_ended_at: self.access_ended_at,
        }
    }

    /// Whether they belong to a pool: a member of the project, in the group if one is named, and
    /// qualified for all tags.
    pub fn qualifies(
        &self,
        project: &ProjectId,
        group: Option<&GroupId>,
        tags: &BTreeSet<String>,
    ) -> bool {
        self.projects.contains(project)
            && group.is_none_or(|group| self.groups.contains(group))
            && tags.is_subset(&self.skills)
    }
}

/// The personal data of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The name that others see.
    #[serde(default)]
    pub name: String,
    /// The email address they sign in with. A JWT may name them by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Their self-description. Saving a person without it keeps the current value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<ProfileSettings>,
    /// Their contact methods in the order in which to try them. Saving a person without it keeps
    /// the current value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contacts: Option<Vec<Contact>>,
    /// The contact methods the person verified. An administrator cannot set this.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub verified: BTreeSet<ContactMethod>,
    /// Their notification settings. Saving a person without it keeps the current value.
    #[serde(rename = "notices", default, skip_serializing_if = "Option::is_none")]
    pub notification_preferences: Option<Box<NotificationPreferences>>,
}

/// A delegation rule: the owner's matching asks go to another person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The id of the rule. Rules are tried in the order of their ids.
    pub id: RuleId,
    /// The owner whose asks it applies to.
    pub owner: HumanId,
    /// The kinds of question it matches; empty for all.
    pub kinds: BTreeSet<QuestionKind>,
    /// The project it matches, by id or by the agent's label; `None` for all.
    pub project: Option<String>,
    /// The tag it matches; `None` for all.
    pub tag: Option<String>,
    /// The priority it matches; `None` for all.
    pub priority: Option<Priority>,
    /// The delegate. A person who is unknown, or not a member of the ask's project, is skipped.
    pub delegate_to: HumanId,
    /// Whether it was removed. A removed rule no longer matches.
    pub removed: bool,
}

pub use contact::Contact;
pub use contact_method::{BadContactMethod, ContactMethod};
pub use credential::{BrowserBinding, CredentialKind, Key, SignInMethod};
pub use group::NewGroup;
pub use key::NewKey;
pub use notification_preferences::{
    DigestFrequency, NewNotificationPreferences, NotificationPreferences,
};
pub use passkey::{
    Enrolment, FRESH_SIGN_IN, NewPasskey, PasskeyAuthority, PasskeyUse, PasskeyUses, UsedChallenge,
};
pub use people::{HumanChange, NewAgent, NewHuman};
pub use profile::NewProfile;
pub use profile_settings::{
    Absence, LONGEST_UNDO, ProfileSettings, QuietHours, TimeOfDay, UNDO_SECONDS, quiet_until,
};
pub use project::{IrreversibleSetting, NewProject};
pub use recipients::{AllowedRecipient, BadAllowedRecipient, RecipientPolicy, Recipients};
pub use rule::NewRule;
pub use session::{NewSession, SignInProof};
pub use sign_in_link::NewLink;
pub use webhook::NewWebhook;
pub use webhook_endpoint::{Webhook, WebhookDisabledReason, WebhookFormat, WebhookScope};

/// The snapshot. A copy shares all its data, and a change copies only the path to the changed
/// entity, so the cost hardly grows with the number of people.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    projects: OrdMap<ProjectId, Arc<WithHead<Project>>>,
    agents: OrdMap<AgentId, Arc<WithHead<Agent>>>,
    humans: OrdMap<HumanId, Arc<WithHead<Human>>>,
    keys: OrdMap<KeyId, Arc<WithHead<Key>>>,
    rules: OrdMap<RuleId, Arc<WithHead<Rule>>>,
    webhooks: OrdMap<WebhookId, Arc<WithHead<Webhook>>>,
    by_hash: HashMap<[u8; 32], KeyId>,
    by_email: HashMap<String, HumanId>,
    /// The people who verified each address.
    by_means: HashMap<ContactMethod, OrdSet<HumanId>>,
    by_group: OrdMap<GroupId, OrdSet<HumanId>>,
    by_owner: HashMap<HumanId, OrdSet<RuleId>>,
    by_human: HashMap<HumanId, OrdSet<KeyId>>,
    agents_of: HashMap<HumanId, OrdSet<AgentId>>,
    talkers: OrdMap<ProjectId, OrdSet<AgentId>>,
    keys_of: HashMap<AgentId, OrdSet<KeyId>>,
    by_hears: HashMap<WebhookScope, OrdSet<WebhookId>>,
    words: people_index::PeopleIndex,
}

impl Directory {
    /// Stores the new state of an entity. Asks and tasks are ignored, because their number is
    /// unbounded.
    pub fn put(&mut self, entity: Entity) {
        match entity {
            Entity::Ask(_) | Entity::Task(_) | Entity::Artifact(_) | Entity::Entry(_) => {}
            Entity::Project(kept) => {
                self.projects.insert(kept.id.clone(), Arc::new(kept));
            }
            Entity::Agent(kept) => self.put_agent(kept),
            Entity::Human(kept) => {
                let id = kept.id.clone();
                if let Some(email) = self.humans.get(&id).and_then(|known| email(known)) {
                    self.by_email.remove(&email);
                }
                if let Some(email) = email(&kept) {
                    self.by_email.insert(email, id.clone());
                }
                let before = self.humans.get(&id).map(|kept| &kept.entity);
                for means in before.into_iter().flat_map(Human::verified) {
                    if let Some(people) = self.by_means.get_mut(means) {
                        people.remove(&id);
                    }
                }
                for means in kept.entity.verified() {
                    self.by_means.entry(means.clone()).or_default().insert(id.clone());
                }
                group::update_group_index(&mut self.by_group, before, &kept.entity);
                self.words.put(before, &kept.entity);
                self.humans.insert(id, Arc::from(kept));
            }
            Entity::Key(kept) => {
                self.by_hash.insert(kept.hash.0, kept.id);
                if let CredentialKind::Agent { agent, .. } = &kept.kind {
                    self.keys_of.entry(agent.clone()).or_default().insert(kept.id);
                }
                if let CredentialKind::Session { human, .. }
                | CredentialKind::Passkey { human, .. } = &kept.kind
                {
                    let theirs = self.by_human.entry(human.clone()).or_default();
                    if kept.revoked_at.is_none() {
                        theirs.insert(kept.id);
                    } else {
                        theirs.remove(&kept.id);
                    }
                }
                self.keys.insert(kept.id, Arc::new(kept));
            }
            Entity::Rule(kept) => {
                self.by_owner.entry(kept.owner.clone()).or_default().insert(kept.id);
                self.rules.insert(kept.id, Arc::new(kept));
            }
            Entity::Webhook(kept) => self.put_webhook(kept),
        }
    }

    /// The state of one entity, as the store keeps it.
    pub fn entity(&self, subject: &Subject) -> Option<Entity> {
        match subject {
            Subject::Ask(_) | Subject::Task(_) | Subject::Artifact(_) | Subject::Entry(_) => None,
            Subject::Project(id) => {
                self.projects.get(id).map(|kept| Entity::Project((**kept).clone()))
            }
            Subject::Agent(id) => self.agents.get(id).map(|kept| Entity::Agent((**kept).clone())),
            Subject::Human(id) => {
                self.humans.get(id).map(|kept| Entity::Human(Box::new((**kept).clone())))
            }
            Subject::Key(id) => self.keys.get(id).map(|kept| Entity::Key((**kept).clone())),
            Subject::Rule(id) => self.rules.get(id).map(|kept| Entity::Rule((**kept).clone())),
            Subject::Webhook(id) => {
                self.webhooks.get(id).map(|kept| Entity::Webhook((**kept).clone()))
            }
        }
    }

    /// The subjects of all entities in the directory.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        let projects = self.projects.keys().cloned().map(Subject::Project);
        let agents = self.agents.keys().cloned().map(Subject::Agent);
        let humans = self.humans.keys().cloned().map(Subject::Human);
        let keys = self.keys.keys().copied().map(Subject::Key);
        let rules = self.rules.keys().copied().map(Subject::Rule);
        let webhooks = self.webhooks.keys().copied().map(Subject::Webhook);
        projects.chain(agents).chain(humans).chain(keys).chain(rules).chain(webhooks)
    }

    /// A project by id.
    pub fn project(&self, id: &ProjectId) -> Option<&Project> {
        self.projects.get(id).map(|kept| &kept.entity)
    }

    /// An agent by id.
    pub fn agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.get(id).map(|kept| &kept.entity)
    }

    /// A person by id, erased or not.
    pub fn human(&self, id: &HumanId) -> Option<&Human> {
        self.humans.get(id).map(|kept| &kept.entity)
    }

    /// A person by id, unless they were erased.
    pub fn existing_human(&self, id: &HumanId) -> Option<&Human> {
        self.human(id).filter(|human| !human.is_erased())
    }

    /// Every delegation rule that was not removed, oldest first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.values().map(|kept| &kept.entity).filter(|rule| !rule.removed)
    }

    /// A person by the email address they sign in with.
    pub fn human_by_email(&self, email: &str) -> Option<&Human> {
        self.by_email.get(&email.to_lowercase()).and_then(|id| self.human(id))
    }

    /// The person who verified this contact method; `None` if several people did.
    pub fn human_by_contact_method(&self, means: &ContactMethod) -> Option<&Human> {
        let mut people = self.by_means.get(means).into_iter().flatten();
        let (one, None) = (people.next()?, people.next()) else { return None };
        self.human(one)
    }

    /// A credential by id.
    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys.get(&id).map(|kept| &kept.entity)
    }

    /// A credential by the SHA-256 of the presented secret. The map is keyed by a digest of a
    /// 256-bit random value, so its timing reveals nothing about the value.
    pub fn key_by_hash(&self, hash: &Digest) -> Option<&Key> {
        self.by_hash.get(&hash.0).and_then(|id| self.key(*id))
    }

    /// All projects, by id.
    pub fn projects(&self) -> impl Iterator<Item = &Project> {
        self.projects_after(None)
    }

    /// The projects after this id, in order.
    pub fn projects_after<'a>(
        &'a self,
        id: Option<&ProjectId>,
    ) -> impl Iterator<Item = &'a Project> + use<'a> {
        after(&self.projects, id)
    }

    /// All agents, by id.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents_after(None)
    }

    /// The agents after this id, in order.
    pub fn agents_after<'a>(
        &'a self,
        id: Option<&AgentId>,
    ) -> impl Iterator<Item = &'a Agent> + use<'a> {
        after(&self.agents, id)
    }

    /// The agents a person owns, by id.
    pub fn agents_of(&self, owner: &HumanId) -> impl Iterator<Item = &Agent> {
        self.agents_of.get(owner).into_iter().flatten().filter_map(|id| self.agent(id))
    }

    /// An agent's keys, oldest first.
    pub fn keys_of(&self, agent: &AgentId) -> impl DoubleEndedIterator<Item = &Key> {
        self.keys_of.get(agent).into_iter().flatten().filter_map(|id| self.key(*id))
    }

    /// All people, by id.
    pub fn humans(&self) -> impl Iterator<Item = &Human> {
        self.humans_after(None)
    }

    /// The people after this id, in order.
    pub fn humans_after<'a>(
        &'a self,
        id: Option<&HumanId>,
    ) -> impl Iterator<Item = &'a Human> + use<'a> {
        after(&self.humans, id)
    }

    /// All credentials, oldest first.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys_after(None)
    }

    /// The credentials after this id, oldest first.
    pub fn keys_after<'a>(&'a self, id: Option<&KeyId>) -> impl Iterator<Item = &'a Key> + use<'a> {
        after(&self.keys, id)
    }

    /// A person's sessions that were not ended, oldest first.
    pub fn sessions_of(&self, human: &HumanId) -> impl DoubleEndedIterator<Item = &Key> {
        let session = |key: &&Key| matches!(key.kind, CredentialKind::Session { .. });
        self.credentials_of(human).filter(session)
    }

    /// A person's passkeys, oldest first.
    pub fn passkeys_of(&self, human: &HumanId) -> impl DoubleEndedIterator<Item = &Key> {
        self.credentials_of(human).filter(|key| matches!(key.kind, CredentialKind::Passkey { .. }))
    }

    /// The sessions and passkeys of a person that were not revoked. Limits keep their number small.
    fn credentials_of(&self, human: &HumanId) -> impl DoubleEndedIterator<Item = &Key> {
        self.by_human.get(human).into_iter().flatten().filter_map(|id| self.key(*id))
    }

    /// An owner's rules, in the order in which they are tried.
    pub fn rules_of(&self, owner: &HumanId) -> impl Iterator<Item = &Rule> {
        self.by_owner.get(owner).into_iter().flatten().filter_map(|id| self.rule(*id))
    }

    /// A rule by id, unless it was removed.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(&id).map(|kept| &kept.entity).filter(|rule| !rule.removed)
    }

    /// The active person who acts; refused for other actors.
    pub(crate) fn person(&self, actor: &Actor) -> Result<&Human, Refusal> {
        let Actor::Human { id, .. } = actor else {
            return Err(Refusal::NotAllowed { why: "only a person can do this" });
        };
        self.human(id)
            .filter(|human| human.active)
            .ok_or(Refusal::NotAllowed { why: "this person is not active and cannot sign in" })
    }

    /// Whether the actor may issue, see and revoke such a credential. Administrators manage all
    /// credentials. People manage their own, and those of agents they own unless the key can do
    /// more than the agent itself.
    pub fn manages(&self, actor: &Actor, holder: &CredentialKind) -> bool {
        if self.administers(actor) {
            return true;
        }
        let Ok(person) = self.person(actor) else { return false };
        match holder {
            // They may not allow a key to pass on people's answers, or to post through another app.
            CredentialKind::Agent { scope: KeyScope::Project, .. }
            | CredentialKind::Agent { respond: true, .. }
            | CredentialKind::Agent { own_app: true, .. }
            | CredentialKind::Link { .. } => false,
            CredentialKind::Agent {
                agent,
                scope: KeyScope::Agent,
                respond: false,
                own_app: false,
            } => self.agent(agent).is_some_and(|agent| agent.owner == person.id),
            CredentialKind::Token { human }
            | CredentialKind::Session { human, .. }
            | CredentialKind::Passkey { human, .. } => *human == person.id,
        }
    }

    /// Whether the actor administers the installation: an administrator, or the operator's command
    /// line.
    pub fn administers(&self, actor: &Actor) -> bool {
        match actor {
            Actor::System => true,
            Actor::Human { .. } => self.person(actor).is_ok_and(|human| human.admin),
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => false,
        }
    }
}

/// The entries of a map after a key, in order.
fn after<'a, K: Ord, T>(
    map: &'a OrdMap<K, Arc<WithHead<T>>>,
    key: Option<&K>,
) -> impl Iterator<Item = &'a T> + use<'a, K, T> {
    let from = key.map_or(Bound::Unbounded, Bound::Excluded);
    map.range::<_, K>((from, Bound::Unbounded)).map(|(_, kept)| &kept.entity)
}

fn email(human: &Human) -> Option<String> {
    human.profile.value()?.email.as_ref().map(|email| email.to_lowercase())
}

const ADMIN_ONLY: Refusal = Refusal::NotAllowed { why: "only an administrator can do this" };
