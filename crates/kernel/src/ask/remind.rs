//! A reminder is due.

use crate::actor::Actor;
use crate::ask::DueAction;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let (Actor::System, Some(DueAction::Remind)) = (&envelope.actor, ask.due(world.now)) else {
        return Err(Refusal::NotDue.into());
    };
    Ok(Decision::on(ask, AskEvent::Reminded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, NewAsk};
    use crate::follow_up::FollowUp;
    use crate::follow_up::NotificationReason;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn several_missed_reminders_are_one() {
        let mut cast = Cast::new();
        let at = |seconds| cast.now().plus_seconds(seconds);
        let reminders = vec![at(30), at(10), at(10), at(900)];
        let id = cast.ask(NewAsk { reminders, ..new_ask() });
        assert_eq!(cast.seen(id).wake_at(), Some(cast.now().plus_seconds(10)));
        cast.advance(60);
        cast.run(Actor::System, AskCommand::Remind(id));
        assert_eq!(cast.attempt(Actor::System, AskCommand::Remind(id)), Err(Refusal::NotDue));
        assert_eq!(cast.seen(id).reminders.len(), 1);
        let reminded = |effect: &&FollowUp| {
            matches!(effect, FollowUp::Notify { why: NotificationReason::Reminder, .. })
        };
        assert_eq!(cast.follow_ups().iter().filter(reminded).count(), 1);
    }
}
