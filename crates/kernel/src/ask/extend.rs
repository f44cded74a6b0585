//! A deadline is moved to a later moment, while the ask can still be answered.

use crate::actor::Actor;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::time::{LONGEST_TIMEOUT, Time};
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    until: Time,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let allowed = match &envelope.actor {
        Actor::Agent { .. } | Actor::System => ask.is_visible_to_key(&envelope.actor),
        Actor::Human { .. } => {
            let person = world.directory.person(&envelope.actor)?;
            ask.check_not_claimed(person)?;
            ask.may_be_answered_by(person)
        }
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } => false,
    };
    if !allowed {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.check_open(world.now)?;
    let invalid = |expected| Refusal::Invalid { field: "until", expected };
    let deadline = ask.expires_at.ok_or(Refusal::NoDeadline)?;
    if until <= deadline || until <= ask.event_time(world.now) {
        return Err(invalid("a time after the current deadline").into());
    }
    if until > world.now.plus_seconds(LONGEST_TIMEOUT) {
        return Err(invalid("at most 100 years from now").into());
    }
    Ok(Decision::on(ask, AskEvent::Extended { until }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, NewAsk, NewOnExpiry};
    use crate::testing::{Cast, new_ask};

    #[test]
    fn later_but_not_earlier_and_not_afterwards() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(10), on_expiry: NewOnExpiry::Fail, ..new_ask() };
        let id = cast.ask(new);
        let later = cast.now().plus_seconds(100);
        cast.run(cast.human("olga"), AskCommand::Extend(id, later));
        assert_eq!(cast.seen(id).wake_at(), Some(later));
        let earlier = cast.now().plus_seconds(50);
        let refused = cast.attempt(cast.human("olga"), AskCommand::Extend(id, earlier));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "until", .. })));
        cast.advance(100);
        let much_later = cast.now().plus_seconds(100);
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Extend(id, much_later));
        assert!(matches!(refused, Err(Refusal::TimedOut { .. })));
    }

    #[test]
    fn an_endless_ask_has_nothing_to_extend() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let later = cast.now().plus_seconds(100);
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Extend(id, later));
        assert_eq!(refused, Err(Refusal::NoDeadline));
    }
}
