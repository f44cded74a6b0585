//! Adds and changes agents and people.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use super::{
    ADMIN_ONLY, Agent, Directory, Human, Profile, WebhookScope, WithHead, contact, profile,
};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{AgentId, GroupId, HumanId, ProjectId, Subject};
use crate::refusal::Refusal;
use crate::text::{is_email, is_short, is_storable};
use crate::world::{Decision, Stop, World};

/// The new state of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    /// The id of the agent.
    pub id: AgentId,
    /// Its project, which cannot change.
    pub project: ProjectId,
    /// The person who is responsible for it.
    pub owner: HumanId,
    /// Whether people may write to it; `None` keeps the current value.
    pub conversations: Option<bool>,
}

impl Agent {
    /// Whether a person may write to it: a member of its project, its owner, an administrator.
    pub fn accepts_messages_from(&self, human: &Human) -> bool {
        human.active
            && (human.admin || self.owner == human.id || human.projects.contains(&self.project))
    }
}

impl Directory {
    pub(super) fn put_agent(&mut self, kept: WithHead<Agent>) {
        if let Some(before) = self.agents.get(&kept.id)
            && let Some(theirs) = self.agents_of.get_mut(&before.owner)
        {
            theirs.remove(&kept.id);
        }
        self.agents_of.entry(kept.owner.clone()).or_default().insert(kept.id.clone());
        let talkers = self.talkers.entry(kept.project.clone()).or_default();
        if kept.conversations {
            talkers.insert(kept.id.clone());
        } else {
            talkers.remove(&kept.id);
        }
        self.agents.insert(kept.id.clone(), Arc::new(kept));
    }

    /// The agents a person may write to, by project.
    pub fn agents_open_to<'a>(&'a self, human: &'a Human) -> impl Iterator<Item = &'a Agent> {
        let open = |project: &ProjectId| human.admin || human.projects.contains(project);
        let everywhere = human.admin.then_some(&self.talkers).into_iter().flat_map(OrdMap::values);
        let theirs = human.projects.iter().filter(|_| !human.admin);
        let theirs = theirs.filter_map(|project| self.talkers.get(project));
        let named = everywhere.chain(theirs).flatten().filter_map(|id| self.agent(id));
        let own = self.agents_of(&human.id);
        let own = own.filter(move |agent| agent.conversations && !open(&agent.project));
        named.chain(own).filter(|agent| agent.accepts_messages_from(human))
    }
}

/// The new state of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHuman {
    /// The id of the person.
    pub id: HumanId,
    /// The personal data of the person.
    pub profile: Profile,
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
}

/// The fields of a person to change. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HumanChange {
    /// The name that others see.
    pub name: Option<String>,
    /// Their email address; `Some(None)` removes it.
    pub email: Option<Option<String>>,
    /// Whether they administer the installation.
    pub admin: Option<bool>,
    /// Whether they can sign in and be asked.
    pub active: Option<bool>,
    /// All projects they are a member of.
    pub projects: Option<BTreeSet<ProjectId>>,
    /// All groups they are in.
    pub groups: Option<BTreeSet<GroupId>>,
    /// All tags they are qualified for.
    pub skills: Option<BTreeSet<String>>,
}

impl HumanChange {
    /// The person with these fields changed. `about` and `contacts` are omitted because
    /// [`save_human`] keeps omitted values.
    fn applied_to(&self, human: &Human) -> NewHuman {
        let known = human.profile.value().cloned().unwrap_or_default();
        let profile = Profile {
            name: self.name.clone().unwrap_or(known.name),
            email: self.email.clone().unwrap_or(known.email),
            ..Profile::default()
        };
        NewHuman {
            id: human.id.clone(),
            profile,
            admin: self.admin.unwrap_or(human.admin),
            active: self.active.unwrap_or(human.active),
            projects: self.projects.clone().unwrap_or_else(|| human.projects.clone()),
            groups: self.groups.clone().unwrap_or_else(|| human.groups.clone()),
            skills: self.skills.clone().unwrap_or_else(|| human.skills.clone()),
        }
    }
}

pub(crate) fn save_agent(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewAgent,
) -> Result<Decision, Stop> {
    let before = world.directory.agent(&new.id);
    // The owner of an agent sets whether it accepts conversations, and nothing else.
    let same = before.is_some_and(|kept| kept.owner == new.owner && kept.project == new.project);
    let own = same
        && world.directory.manages_webhooks(&envelope.actor, &WebhookScope::Agent(new.id.clone()));
    if !own && !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let invalid = |field, expected| Stop::from(Refusal::Invalid { field, expected });
    if world.directory.project(&new.project).is_none() {
        return Err(invalid("project", "the ID of an existing project"));
    }
    if world.directory.existing_human(&new.owner).is_none() {
        return Err(invalid("owner", "the ID of an existing person"));
    }
    if before.is_some_and(|agent| agent.project != new.project) {
        return Err(invalid(
            "project",
            "the agent's current project, because an agent cannot move to another project",
        ));
    }
    let NewAgent { id, project, owner, conversations } = new.clone();
    let conversations =
        conversations.unwrap_or_else(|| before.is_some_and(|agent| agent.conversations));
    let agent = Agent { id: id.clone(), project, owner, conversations };
    Ok(Decision::of(Subject::Agent(id), DirectoryEvent::AgentSaved(Box::new(agent))))
}

pub(crate) fn save_human(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewHuman,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    if world.directory.human(&new.id).is_some_and(Human::is_erased) {
        let why = "this person was erased, and the id cannot be used again";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let invalid = |field, expected| Stop::from(Refusal::Invalid { field, expected });
    checked_name(&new.profile.name)?;
    if let Some(email) = &new.profile.email {
        if !is_email(email) {
            return Err(invalid("email", "an email address"));
        }
        if world.directory.human_by_email(email).is_some_and(|human| human.id != new.id) {
            return Err(Refusal::Exists { what: "email address" }.into());
        }
    }
    if !new.skills.iter().all(|skill| is_short(skill)) {
        return Err(invalid("skills", "strings of at most 200 bytes without NUL characters"));
    }
    if new.id.as_str() == "system" {
        return Err(invalid("id", "an ID that is not reserved"));
    }
    if let Some(unknown) = new.projects.iter().find(|id| world.directory.project(id).is_none()) {
        let expected = format!("IDs of existing projects; there is no project {unknown}");
        return Err(Refusal::InvalidAt { field: "projects".to_owned(), expected }.into());
    }
    let keeps = |human: &&Human| human.admin && human.active && human.id != new.id;
    let was_admin = world.directory.human(&new.id).is_some_and(|human| human.admin && human.active);
    if was_admin && !(new.admin && new.active) && !world.directory.humans().any(|h| keeps(&h)) {
        let why = "the installation needs at least one active administrator";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let mut salts = envelope.salts.clone();
    let NewHuman { id, mut profile, admin, active, projects, groups, skills } = new.clone();
    profile.about = match profile.about {
        Some(about) => profile::checked(world, &id, about)?,
        None => world.directory.human(&id).and_then(|human| human.profile_settings().cloned()),
    };
    contact::check(profile.contacts.as_deref().unwrap_or_default())?;
    profile.contacts = match profile.contacts {
        Some(contacts) => Some(contacts).filter(|contacts| !contacts.is_empty()),
        None => world.directory.human(&id).and_then(|human| human.contacts().map(<[_]>::to_vec)),
    };
    let known = world.directory.human(&id).and_then(|human| human.profile.value());
    profile.verified = known.map(|known| known.verified.clone()).unwrap_or_default();
    profile.notification_preferences = profile
        .notification_preferences
        .or_else(|| known.and_then(|known| known.notification_preferences.clone()));
    let profile = Erasable::new(profile.without_stale_settings(), &mut salts);
    let access_ended_at = world.directory.human(&id).and_then(|human| human.access_ended_at);
    let human =
        Human { id: id.clone(), profile, admin, active, projects, groups, skills, access_ended_at };
    Ok(Decision::of(Subject::Human(id), DirectoryEvent::HumanSaved(Box::new(human))))
}

/// Adds a person. The command is refused if the person exists.
pub(crate) fn add_human(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewHuman,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    // An erased id is refused by `save_human`: nothing can be changed about it.
    if world.directory.existing_human(&new.id).is_some() {
        return Err(Refusal::Exists { what: "person" }.into());
    }
    save_human(world, envelope, new)
}

/// Changes the named fields of a person, based on their current state: two simultaneous changes of
/// different fields both take effect.
pub(crate) fn change_human(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
    change: &HumanChange,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let human = world.directory.human(id).ok_or(Refusal::NotFound { what: "person" })?;
    save_human(world, envelope, &change.applied_to(human))
}

/// Checks the name of a person.
pub(super) fn checked_name(name: &str) -> Result<(), Refusal> {
    if is_storable(name) && name.chars().count() <= 200 {
        return Ok(());
    }
    let expected = "at most 200 characters, none of them NUL";
    Err(Refusal::Invalid { field: "name", expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::DirectoryCommand;
    use crate::testing::{Cast, human};

    fn ann() -> NewHuman {
        NewHuman {
            id: human("ann"),
            profile: Profile {
                name: "Ann".to_owned(),
                email: Some("ann@example.com".to_owned()),
                ..Profile::default()
            },
            admin: false,
            active: true,
            projects: BTreeSet::new(),
            groups: BTreeSet::new(),
            skills: BTreeSet::new(),
        }
    }

    fn profile(human: &Human) -> Profile {
        human.profile.value().unwrap().clone()
    }

    #[test]
    fn addresses_are_bare_and_unique() {
        let mut cast = Cast::new();
        cast.run(Actor::System, DirectoryCommand::SaveHuman(ann()));
        for (email, code) in [
            ("ANN@example.com", "exists"),
            ("Ann <ann@example.com>", "invalid-field"),
            ("ann@[127.0.0.1]", "invalid-field"),
            ("ann", "invalid-field"),
        ] {
            let profile = Profile {
                name: String::new(),
                email: Some(email.to_owned()),
                ..Profile::default()
            };
            let twin = NewHuman { id: human("twin"), profile, ..ann() };
            let refused = cast.attempt(Actor::System, DirectoryCommand::SaveHuman(twin));
            assert_eq!(refused.map_err(|refusal| refusal.code()), Err(code), "{email}");
        }
    }

    #[test]
    fn adding_a_person_who_exists_is_refused() {
        let mut cast = Cast::new();
        cast.run(Actor::System, DirectoryCommand::AddHuman(ann()));
        let bare = NewHuman { profile: Profile::default(), projects: BTreeSet::new(), ..ann() };
        let name = |cast: &Cast| profile(cast.directory().human(&human("ann")).unwrap()).name;
        let again = cast.attempt(Actor::System, DirectoryCommand::AddHuman(bare.clone()));
        assert_eq!(again.map(drop), Err(Refusal::Exists { what: "person" }));
        assert_eq!(name(&cast), "Ann");
        // A person who may not add people does not learn which ids exist.
        let stranger = cast.attempt(cast.human("mark"), DirectoryCommand::AddHuman(bare));
        assert_eq!(stranger.map(drop), Err(ADMIN_ONLY));
    }

    #[test]
    fn a_change_touches_only_the_fields_it_names() {
        let mut cast = Cast::new();
        let full = NewHuman {
            groups: ["ops".parse().unwrap()].into(),
            projects: ["acme".parse().unwrap()].into(),
            skills: ["legal".to_owned()].into(),
            ..ann()
        };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(full));
        let save = |cast: &mut Cast, change: HumanChange| {
            cast.run(Actor::System, DirectoryCommand::ChangeHuman(human("ann"), Box::new(change)));
            cast.directory().human(&human("ann")).unwrap().clone()
        };
        let email = || Some(Some("new@example.com".to_owned()));
        let kept = save(&mut cast, HumanChange { email: email(), ..HumanChange::default() });
        let shown = |human: &Human| {
            let Human { active, admin, projects, groups, skills, .. } = human;
            format!("{} {active} {admin} {projects:?} {groups:?} {skills:?}", profile(human).name)
        };
        let before = shown(&kept);
        assert!(before.contains("Ann") && before.contains("acme"), "{before}");
        assert!(before.contains("ops") && before.contains("legal"), "{before}");
        assert_eq!(profile(&kept).email.as_deref(), Some("new@example.com"));
        let cleared = save(&mut cast, HumanChange { email: Some(None), ..HumanChange::default() });
        assert_eq!((profile(&cleared).email, shown(&cleared)), (None, before));
        let none = HumanChange {
            projects: Some(BTreeSet::new()),
            groups: Some(BTreeSet::new()),
            active: Some(false),
            ..HumanChange::default()
        };
        let bare = save(&mut cast, none);
        assert!(bare.projects.is_empty() && bare.groups.is_empty() && !bare.active);
        assert_eq!((profile(&bare).name.as_str(), bare.skills.len()), ("Ann", 1));

        let change = || Box::new(HumanChange { email: email(), ..HumanChange::default() });
        let nobody = DirectoryCommand::ChangeHuman(human("nobody"), change());
        let nobody = cast.attempt(Actor::System, nobody);
        assert_eq!(nobody.map(drop), Err(Refusal::NotFound { what: "person" }));
        let stranger = DirectoryCommand::ChangeHuman(human("nobody"), change());
        let stranger = cast.attempt(cast.human("mark"), stranger);
        assert_eq!(stranger.map(drop), Err(ADMIN_ONLY));
    }

    #[test]
    fn an_owner_says_whether_their_agent_takes_conversations_and_no_more() {
        let mut cast = Cast::new();
        let bot = |owner: &str, conversations| NewAgent {
            id: "bot".parse().unwrap(),
            project: "acme".parse().unwrap(),
            owner: human(owner),
            conversations,
        };
        let takes =
            |cast: &Cast| cast.directory().agent(&bot("olga", None).id).unwrap().conversations;
        let stray = NewAgent { id: "new".parse().unwrap(), ..bot("olga", Some(true)) };
        for (who, new, taken) in [
            ("mark", bot("olga", Some(true)), false),
            ("olga", bot("mark", Some(true)), false),
            ("olga", stray, false),
            ("olga", bot("olga", Some(true)), true),
            // An omitted value stays.
            ("olga", bot("olga", None), true),
        ] {
            let saved = cast.attempt(cast.human(who), DirectoryCommand::SaveAgent(new));
            assert_eq!(saved.is_ok(), taken, "{who}");
            assert_eq!(takes(&cast), taken, "{who}");
        }
        cast.run(Actor::System, DirectoryCommand::SaveAgent(bot("mark", None)));
        assert!(takes(&cast));
        let stored =
            serde_json::to_string(cast.directory().agent(&"spy".parse().unwrap()).unwrap());
        assert!(!stored.unwrap().contains("conversations"), "as ever");
    }

    #[test]
    fn people_write_to_agents_of_their_projects_and_to_their_own() {
        let mut cast = Cast::new();
        let agent = |id: &str, project: &str, owner: &str, conversations| {
            let (id, project) = (id.parse().unwrap(), project.parse().unwrap());
            DirectoryCommand::SaveAgent(NewAgent {
                id,
                project,
                owner: human(owner),
                conversations,
            })
        };
        for command in [
            agent("bot", "acme", "olga", Some(true)),
            agent("mute", "acme", "olga", None),
            agent("was", "acme", "olga", Some(true)),
            agent("was", "acme", "olga", Some(false)),
            agent("spy", "rival", "zoe", Some(true)),
            agent("far", "rival", "olga", Some(true)),
            DirectoryCommand::SaveHuman(NewHuman { admin: true, ..ann() }),
            DirectoryCommand::SaveHuman(NewHuman {
                id: human("out"),
                profile: Profile::default(),
                ..ann()
            }),
        ] {
            cast.run(Actor::System, command);
        }
        for (who, agents) in [
            ("mark", &["bot"][..]),
            ("olga", &["bot", "far"]),
            ("zoe", &["far", "spy"]),
            ("ann", &["bot", "far", "spy"]),
            ("out", &[]),
        ] {
            let person = cast.directory().human(&human(who)).unwrap();
            let found = cast.directory().agents_open_to(person);
            assert_eq!(found.map(|agent| agent.id.as_str()).collect::<Vec<_>>(), agents, "{who}");
        }
    }

    #[test]
    fn skills_are_tags() {
        let mut cast = Cast::new();
        for skill in ["a\0b".to_owned(), "x".repeat(201)] {
            let new = NewHuman { skills: [skill].into(), ..ann() };
            let refused = cast.attempt(Actor::System, DirectoryCommand::SaveHuman(new));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "skills", .. })));
        }
    }
}
