//! No person answered in time: the people of the next escalation step are asked as well.

use crate::actor::Actor;
use crate::ask::{Assignee, DueAction};
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::routing::substitute;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let (Actor::System, Some(DueAction::Escalate)) = (&envelope.actor, ask.due(world.now)) else {
        return Err(Refusal::NotDue.into());
    };
    let reached =
        ask.escalation_steps.iter().take_while(|rung| rung.at <= ask.event_time(world.now));
    // Absences are known only now, so the event records who is asked.
    let present = |seat: Assignee| substitute(world.directory, seat, &ask.project, world.now);
    let seats = reached.map(|rung| present(rung.assignee.clone())).collect();
    Ok(Decision::on(ask, AskEvent::Escalated { assignees: seats }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::directory::{Absence, EscalationStep, NewProfile, NewProject, ProfileSettings};
    use crate::event::DomainEvent;
    use crate::follow_up::FollowUp;
    use crate::follow_up::NotificationReason;
    use crate::testing::{Cast, human, new_ask, yes};

    #[test]
    fn the_ladder_is_climbed_until_somebody_answers() {
        let mut cast = Cast::new();
        let step = |after, name| EscalationStep {
            after,
            assignee: Assignee::Person { human: human(name) },
        };
        let ladder = vec![step(60, "mark"), step(120, "nina")];
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        );
        let id = cast.ask(new_ask());
        let early = cast.attempt(cast.human("mark"), AskCommand::Answer(id, yes()));
        assert!(matches!(early, Err(Refusal::NotFound { .. })));
        cast.advance(60);
        cast.run(Actor::System, AskCommand::Escalate(id));
        assert_eq!(cast.attempt(Actor::System, AskCommand::Escalate(id)), Err(Refusal::NotDue));
        cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
        cast.advance(600);
        assert_eq!(cast.seen(id).due(cast.now()), None);
    }

    /// An escalation step between a clock that was set back and the last event takes effect, so its
    /// people are notified.
    #[test]
    fn whoever_is_seated_is_told() {
        let mut cast = Cast::new();
        let step = |after, name| EscalationStep {
            after,
            assignee: Assignee::Person { human: human(name) },
        };
        let ladder = vec![step(60, "mark"), step(120, "nina")];
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        );
        let id = cast.ask(new_ask());
        cast.advance(130);
        cast.run(cast.human("olga"), AskCommand::Open(id));
        cast.turn_back(30);
        cast.run(Actor::System, AskCommand::Escalate(id));
        let seats = &cast.seen(id).assignees;
        let told = |wanted: &Assignee| {
            cast.follow_ups()
                .iter()
                .any(|e| matches!(e, FollowUp::Notify { assignee, .. } if assignee == wanted))
        };
        assert_eq!(seats.len(), 3);
        assert!(seats.iter().all(told), "{seats:?}");
    }

    /// Absences are judged when the escalation step is reached, not when the ask was created.
    #[test]
    fn who_stands_in_is_asked_on_the_ladder_too() {
        let mut cast = Cast::new();
        let step = |after, name| EscalationStep {
            after,
            assignee: Assignee::Person { human: human(name) },
        };
        let plain = NewProject::plain("acme".parse().unwrap());
        let ladder = vec![step(60, "mark")];
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        );
        let id = cast.ask(new_ask());
        let absence = Some(Absence { delegate: Some(human("nina")), ..Absence::default() });
        let about = Some(ProfileSettings { absence, ..ProfileSettings::default() });
        let new = NewProfile { human: human("mark"), name: None, about };
        cast.run(cast.human("mark"), DirectoryCommand::SaveProfile(new));
        cast.advance(60);
        cast.run(Actor::System, AskCommand::Escalate(id));
        let nina = Assignee::Person { human: human("nina") };
        assert_eq!(cast.seen(id).assignees.last(), Some(&nina));
        assert!(matches!(
            cast.follow_ups().last(),
            Some(FollowUp::Notify { assignee, why: NotificationReason::Escalated, .. }) if *assignee == nina
        ));
        cast.run(cast.human("nina"), AskCommand::Answer(id, yes()));
        assert!(!cast.seen(id).is_open());
    }

    /// Records from before absences existed are read and written unchanged.
    #[test]
    fn an_escalation_without_absences_is_stored_as_ever() {
        let stored = r#"{"event":"escalated"}"#;
        let event: DomainEvent = serde_json::from_str(stored).unwrap();
        assert_eq!(event, AskEvent::Escalated { assignees: Vec::new() }.into());
        assert_eq!(serde_json::to_string(&event).unwrap(), stored);
    }
}
