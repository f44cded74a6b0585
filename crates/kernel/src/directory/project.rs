//! Adds projects and changes their settings.

use std::collections::BTreeSet;

use super::{
    ADMIN_ONLY, AllowedRecipient, Directory, EscalationStep, Project, RecipientPolicy, Recipients,
};
use crate::actor::{Actor, Assurance, KeyScope};
use crate::ask::EnvelopePolicy;
use crate::ask::create::MOST_REMINDERS;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{ProjectId, Subject};
use crate::quota::Limits;
use crate::refusal::Refusal;
use crate::retention::RetentionSetting;
use crate::time::LONGEST_TIMEOUT;
use crate::world::{Decision, Stop, World};

/// The new state of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    /// The id of the project.
    pub id: ProjectId,
    /// Whether a default may be taken on silence.
    pub default_on_silence: bool,
    /// The minimum assurance of an answer.
    pub minimum_assurance: Assurance,
    /// The escalation policy, in order of time.
    pub escalation_steps: Vec<EscalationStep>,
    /// The default reminders, in seconds after the ask. They apply if the agent named none.
    pub reminders: BTreeSet<u64>,
    /// Whether it accepts only valid HXP envelopes.
    pub envelopes: EnvelopePolicy,
    /// How long the text of closed asks and tasks is kept; `None` for the installation's setting.
    pub retention: Option<RetentionSetting>,
    /// The addresses that agents may name. `None` keeps the current value; a new project gets
    /// [`Recipients::of_new_projects`].
    pub recipients: Option<RecipientPolicy>,
    /// Further addresses that agents may use. `None` keeps the current value.
    pub allowed_recipients: Option<BTreeSet<AllowedRecipient>>,
    /// Quotas that differ from those of the installation. `None` keeps the current value.
    pub quotas: Option<Limits>,
    /// The minimum assurance for approving irreversible or critical asks.
    pub irreversible_assurance: IrreversibleSetting,
}

/// How to set a project's minimum assurance for approving irreversible and critical asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IrreversibleSetting {
    /// An existing project keeps its value, a new one gets `new`.
    Keep {
        /// The value of a new project.
        new: Option<Assurance>,
    },
    /// Sets the value; `None` removes the rule.
    Set(Option<Assurance>),
}

impl IrreversibleSetting {
    /// The resulting value.
    fn of(self, before: Option<&Project>) -> Option<Assurance> {
        match (self, before) {
            // A minimum that every answer meets is no rule.
            (Self::Set(assurance), _) => assurance.filter(|least| *least > Assurance::None),
            (Self::Keep { .. }, Some(before)) => before.irreversible_assurance,
            (Self::Keep { new }, None) => new,
        }
    }
}

impl NewProject {
    /// A project with the default settings.
    pub fn plain(id: ProjectId) -> Self {
        Self {
            id,
            default_on_silence: true,
            minimum_assurance: Assurance::AgentAttested,
            escalation_steps: Vec::new(),
            reminders: BTreeSet::new(),
            envelopes: EnvelopePolicy::Lenient,
            retention: None,
            recipients: None,
            allowed_recipients: None,
            quotas: None,
            irreversible_assurance: IrreversibleSetting::Keep { new: None },
        }
    }

    /// A project as an operator adds it: approving irreversible or critical asks needs a session.
    pub fn fresh(id: ProjectId) -> Self {
        let irreversible_assurance = IrreversibleSetting::Keep { new: Some(Assurance::Session) };
        Self { irreversible_assurance, ..Self::plain(id) }
    }
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewProject,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let ordered = new.escalation_steps.is_sorted_by_key(|step| step.after);
    if !ordered || new.escalation_steps.iter().any(|step| step.after > LONGEST_TIMEOUT) {
        let expected = "steps in ascending order of their times";
        return Err(Refusal::Invalid { field: "ladder", expected }.into());
    }
    let sound = |after: &u64| (1..=LONGEST_TIMEOUT).contains(after);
    if new.reminders.len() > MOST_REMINDERS || !new.reminders.iter().all(sound) {
        let expected = "at most 20 numbers of seconds after the request, each at least 1";
        return Err(Refusal::Invalid { field: "reminders", expected }.into());
    }
    let NewProject {
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
    } = new.clone();
    let known = world.directory.project(&id);
    let before = known.map_or_else(Recipients::of_new_projects, |known| known.recipients.clone());
    let recipients = Recipients {
        reachable: recipients.unwrap_or(before.reachable),
        allow: allowed_recipients.unwrap_or(before.allow),
    };
    recipients.check()?;
    let quotas =
        quotas.unwrap_or_else(|| known.map(|known| known.quotas.clone()).unwrap_or_default());
    if !quotas.all_settable_by_project() {
        let expected =
            "quotas of `agent` and `project`; those of people are set for the installation";
        return Err(Refusal::Invalid { field: "quotas", expected }.into());
    }
    let project = Project {
        id: id.clone(),
        default_on_silence,
        minimum_assurance: floor,
        escalation_steps: ladder,
        reminders,
        envelopes,
        retention,
        recipients,
        quotas,
        irreversible_assurance: irreversible_assurance.of(world.directory.project(&new.id)),
    };
    Ok(Decision::of(Subject::Project(id), DirectoryEvent::ProjectSaved(Box::new(project))))
}

/// Adds a project. The command is refused if the project exists.
pub(crate) fn add(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewProject,
) -> Result<Decision, Stop> {
    let decided = decide(world, envelope, new)?;
    if world.directory.project(&new.id).is_some() {
        return Err(Refusal::Exists { what: "project" }.into());
    }
    Ok(decided)
}

impl Directory {
    /// Whether the actor may see everything in a project: its members, administrators, and agents
    /// whose key has the scope of the project.
    pub fn oversees(&self, actor: &Actor, project: &ProjectId) -> bool {
        match actor {
            Actor::Human { .. } => self
                .person(actor)
                .is_ok_and(|human| human.admin || human.projects.contains(project)),
            Actor::Agent { project: own, scope: KeyScope::Project, .. } => own == project,
            Actor::Agent { scope: KeyScope::Agent, .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => false,
            Actor::System => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::DirectoryCommand;
    use crate::testing::Cast;

    #[test]
    fn adding_a_project_that_exists_keeps_its_rules() {
        let mut cast = Cast::new();
        let plain = || NewProject::plain("fresh".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Passkey, ..plain() };
        cast.run(Actor::System, DirectoryCommand::AddProject(strict));
        let again = cast.attempt(Actor::System, DirectoryCommand::AddProject(plain()));
        assert_eq!(again.map(drop), Err(Refusal::Exists { what: "project" }));
        assert_eq!(
            cast.directory().project(&plain().id).unwrap().minimum_assurance,
            Assurance::Passkey
        );
        // A person who may not add projects does not learn which ones exist.
        let stranger = cast.attempt(cast.human("mark"), DirectoryCommand::AddProject(plain()));
        assert_eq!(stranger.map(drop), Err(ADMIN_ONLY));
    }

    /// Adding a project sets the rule; saving an existing one without naming the rule does not.
    #[test]
    fn a_project_keeps_its_minimum_for_irreversible_asks_unless_it_is_changed() {
        use IrreversibleSetting::{Keep, Set};
        let mut cast = Cast::new();
        let named = |name: &str, irreversible_assurance| NewProject {
            irreversible_assurance,
            ..NewProject::plain(name.parse().unwrap())
        };
        let (session, none) = (Some(Assurance::Session), None);
        for (name, saved, expected) in [
            ("acme", Keep { new: session }, none),
            ("fresh", Keep { new: session }, session),
            ("fresh", Keep { new: none }, session),
            ("fresh", Set(Some(Assurance::Passkey)), Some(Assurance::Passkey)),
            ("fresh", Set(none), none),
            ("fresh", Set(Some(Assurance::None)), none),
        ] {
            cast.run(Actor::System, DirectoryCommand::SaveProject(named(name, saved)));
            let project = cast.directory().project(&name.parse().unwrap()).unwrap();
            assert_eq!(project.irreversible_assurance, expected, "{name} {saved:?}");
        }
        let fresh = NewProject::fresh("another".parse().unwrap());
        cast.run(Actor::System, DirectoryCommand::AddProject(fresh));
        let another = cast.directory().project(&"another".parse().unwrap()).unwrap();
        assert_eq!(another.irreversible_assurance, session);
    }

    #[test]
    fn reminders_are_few_and_come_after_the_ask() {
        let mut cast = Cast::new();
        for (reminders, good) in [
            (BTreeSet::from([60, 3600]), true),
            (BTreeSet::from([0, 60]), false),
            (BTreeSet::from([LONGEST_TIMEOUT + 1]), false),
            ((1..=20).collect(), true),
            ((1..=21).collect(), false),
        ] {
            let plain = NewProject::plain("acme".parse().unwrap());
            let new = NewProject { reminders: reminders.clone(), ..plain };
            let saved = cast.attempt(Actor::System, DirectoryCommand::SaveProject(new));
            let refused = matches!(saved, Err(Refusal::Invalid { field: "reminders", .. }));
            assert_eq!(refused, !good, "{reminders:?}");
        }
    }

    #[test]
    fn a_project_without_reminders_is_stored_as_ever() {
        let cast = Cast::new();
        let acme = cast.directory().project(&"acme".parse().unwrap()).unwrap();
        let stored = serde_json::to_string(acme).unwrap();
        for new in ["reminders", "retention", "recipients", "quotas", "irreversible_assurance"] {
            assert!(!stored.contains(new), "{new} in {stored}");
        }
        assert_eq!(serde_json::from_str::<Project>(&stored).unwrap(), *acme);
    }
}
