//! Erases a person (GDPR): name, addresses, contact methods, notification settings, memberships and
//! credentials are erased at once. Their text on asks and tasks [follows](crate::follow_up). The id
//! stays and can never be used again, so that the audit log still attributes their actions to one
//! person.

use super::{ADMIN_ONLY, Directory, Human, Project};
use crate::actor::Actor;
use crate::ask::Assignee;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// How many agents a refusal names at most.
const NAMED: usize = 5;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
) -> Result<Decision, Stop> {
    let directory = world.directory;
    if !directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let human = directory.human(id).ok_or(Refusal::NotFound { what: "person" })?;
    if human.is_erased() {
        return Ok(Decision::default());
    }
    directory.check_erasable(&envelope.actor, id)?;
    let agents: Vec<&str> = directory.agents_of(id).map(|agent| agent.id.as_str()).collect();
    if !agents.is_empty() {
        let named = agents.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = agents.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let why = format!("this person owns agents: give {named}{more} another owner first");
        return Err(Refusal::Precondition { why }.into());
    }

    let mut decision = Decision::of(Subject::Human(id.clone()), DirectoryEvent::HumanErased);
    let keys = directory.keys().filter(|key| key.human() == Some(id));
    decision
        .happened
        .extend(keys.map(|key| (Subject::Key(key.id), DirectoryEvent::KeyErased.into())));
    let rules = directory.rules().filter(|rule| rule.owner == *id || rule.delegate_to == *id);
    decision
        .happened
        .extend(rules.map(|rule| (Subject::Rule(rule.id), DirectoryEvent::RuleRemoved.into())));
    for project in directory.projects().filter(|project| project.escalates_to(id)) {
        let mut project = project.clone();
        project.escalation_steps.retain(|step| !step.assignee.is_person(id));
        let subject = Subject::Project(project.id.clone());
        decision.happened.push((subject, DirectoryEvent::ProjectSaved(Box::new(project)).into()));
    }
    Ok(decision)
}

impl Directory {
    /// Refuses erasures that reassigning the person's agents and roles cannot make possible: an
    /// administrator cannot erase themselves or the last administrator.
    pub fn check_erasable(&self, actor: &Actor, id: &HumanId) -> Result<(), Refusal> {
        let administers = |human: &&Human| human.admin && human.active;
        let Some(human) = self.human(id) else { return Ok(()) };
        if administers(&human) && !self.humans().any(|other| administers(&other) && other.id != *id)
        {
            let why = "the last administrator cannot be erased; make another person an \
                       administrator first";
            return Err(Refusal::NotAllowed { why });
        }
        if matches!(actor, Actor::Human { id: own, .. } if own == id) {
            let why = "administrators cannot erase themselves; another administrator can";
            return Err(Refusal::NotAllowed { why });
        }
        Ok(())
    }
}

impl Project {
    /// Whether its escalation policy names a person.
    fn escalates_to(&self, human: &HumanId) -> bool {
        self.escalation_steps.iter().any(|step| step.assignee.is_person(human))
    }
}

impl Assignee {
    /// Whether the assignee is this person.
    fn is_person(&self, human: &HumanId) -> bool {
        matches!(self, Self::Person { human: id } if id == human)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::{CredentialKind, HumanChange, NewHuman, NewKey, NewRule, Profile};
    use crate::follow_up::FollowUp;
    use crate::testing::{Cast, human};

    fn erase(id: &str) -> DirectoryCommand {
        DirectoryCommand::EraseHuman(human(id))
    }

    fn ann(admin: bool) -> NewHuman {
        NewHuman {
            id: human("ann"),
            profile: Profile {
                name: "Ann Hush".to_owned(),
                email: Some("hush@example.com".to_owned()),
                ..Profile::default()
            },
            admin,
            active: true,
            projects: ["acme".parse().unwrap()].into(),
            groups: ["legal".parse().unwrap()].into(),
            skills: ["tax".to_owned()].into(),
        }
    }

    #[test]
    fn nothing_but_the_id_is_left() {
        let mut cast = Cast::new();
        cast.run(Actor::System, DirectoryCommand::SaveHuman(ann(false)));
        let new = NewKey {
            hash: Cast::hash("token"),
            kind: CredentialKind::Token { human: human("ann") },
            label: "hush laptop".to_owned(),
            expires_at: None,
        };
        cast.run(Actor::System, DirectoryCommand::IssueKey(new));
        let rule = NewRule {
            kinds: BTreeSet::default(),
            project: None,
            tag: None,
            priority: None,
            delegate_to: human("ann"),
        };
        cast.rule("olga", rule);
        cast.run(Actor::System, erase("ann"));
        let directory = cast.directory();
        let ann = directory.human(&human("ann")).unwrap();
        assert!(ann.is_erased() && !ann.active && !ann.admin);
        assert!(ann.projects.is_empty() && ann.groups.is_empty() && ann.skills.is_empty());
        assert!(directory.human_by_email("hush@example.com").is_none());
        let key = directory.key_by_hash(&Cast::hash("token")).unwrap();
        assert!(key.revoked_at.is_some() && key.label.is_empty());
        assert_eq!(directory.rules_of(&human("olga")).count(), 0);
        let effect = FollowUp::EraseHuman { human: human("ann") };
        assert_eq!(cast.follow_ups().last(), Some(&effect));
        let records = cast.records().len();
        cast.run(Actor::System, erase("ann"));
        assert_eq!(cast.records().len(), records, "once is enough");
    }

    #[test]
    fn an_erased_id_is_never_used_again() {
        let mut cast = Cast::new();
        cast.run(Actor::System, DirectoryCommand::SaveHuman(ann(false)));
        cast.run(Actor::System, erase("ann"));
        let again = cast.attempt(Actor::System, DirectoryCommand::SaveHuman(ann(false)));
        assert!(matches!(again, Err(Refusal::NotAllowed { .. })), "{again:?}");
        let added = cast.attempt(Actor::System, DirectoryCommand::AddHuman(ann(false)));
        let why = "this person was erased, and the id cannot be used again";
        assert_eq!(added, Err(Refusal::NotAllowed { why }));
        let link = NewKey {
            hash: Cast::hash("link"),
            kind: CredentialKind::Link { human: human("ann"), mailed: false },
            label: String::new(),
            expires_at: None,
        };
        let link = cast.attempt(Actor::System, DirectoryCommand::IssueKey(link));
        assert!(link.is_err(), "{link:?}");
    }

    #[test]
    fn who_is_still_needed_stays() {
        let mut cast = Cast::new();
        let owner = cast.attempt(Actor::System, erase("olga"));
        assert!(
            matches!(&owner, Err(Refusal::Precondition { why }) if why.contains("bot")),
            "{owner:?}"
        );
        let nosy = cast.attempt(cast.human("mark"), erase("nina"));
        assert!(matches!(nosy, Err(Refusal::NotAllowed { .. })));
        let nobody = cast.attempt(Actor::System, erase("nobody"));
        assert_eq!(nobody, Err(Refusal::NotFound { what: "person" }));
        cast.run(Actor::System, DirectoryCommand::SaveHuman(ann(true)));
        let own = cast.attempt(cast.human("ann"), erase("ann"));
        assert!(matches!(own, Err(Refusal::NotAllowed { .. })), "{own:?}");
    }

    /// Reassigning would not help, so the refusal does not ask for it first.
    #[test]
    fn the_last_administrator_is_told_so_before_anything_else() {
        let mut cast = Cast::new();
        cast.run(Actor::System, DirectoryCommand::SaveHuman(ann(true)));
        let admins: Vec<_> = cast.directory().humans().filter(|human| human.admin).collect();
        let others: Vec<HumanId> =
            admins.iter().map(|human| human.id.clone()).filter(|id| *id != human("ann")).collect();
        for other in others {
            let change = HumanChange { admin: Some(false), ..HumanChange::default() };
            cast.run(Actor::System, DirectoryCommand::ChangeHuman(other, Box::new(change)));
        }
        cast.give_agent("bot", "ann");
        let refused = cast.attempt(Actor::System, erase("ann"));
        assert!(
            matches!(&refused, Err(Refusal::NotAllowed { why }) if why.contains("last administrator")),
            "{refused:?}"
        );
        let checked = cast.directory().check_erasable(&Actor::System, &human("ann"));
        assert_eq!(checked, refused);
    }
}
