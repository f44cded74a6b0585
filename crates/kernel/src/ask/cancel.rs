//! Cancels an ask.

use crate::actor::Actor;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::task;
use crate::text::is_storable;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    reason: Option<&str>,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let allowed = match &envelope.actor {
        Actor::Agent { .. } | Actor::System => ask.is_visible_to_key(&envelope.actor),
        Actor::Human { .. } => {
            let person = world.directory.person(&envelope.actor)?;
            if !person.admin {
                ask.check_not_claimed(person)?;
            }
            person.admin || ask.may_be_answered_by(person)
        }
        Actor::LinkHolder { .. } => ask.acting_person(&envelope.actor, world.directory).is_ok(),
        Actor::Relay { .. } | Actor::Guest { .. } => false,
    };
    if !allowed {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.check_open(world.now)?;
    if reason.is_some_and(|text| !is_storable(text) || text.chars().count() > 1000) {
        let expected = "at most 1000 characters, none of them NUL";
        return Err(Refusal::Invalid { field: "reason", expected }.into());
    }
    let mut salts = envelope.salts.clone();
    let kept = reason.map(|text| Erasable::new(text.to_owned(), &mut salts));
    let over = Decision::on(ask, AskEvent::Cancelled { reason: kept, decided: None });
    task::withdraw(world, envelope, ask, reason, over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::command::AskCommand;
    use crate::testing::{Cast, new_ask, yes};

    /// HITL-113: the holder of the link may decline to answer, and say why.
    #[test]
    fn the_link_cancels_its_own_ask() {
        use crate::actor::ActorRef;
        use crate::ask::Ending;
        let mut cast = Cast::new();
        let (id, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        let holder = || Actor::link_holder(id);
        let astray = cast.attempt(holder(), AskCommand::Cancel(other, None));
        assert_eq!(astray, Err(Refusal::NotFound { what: "request" }));
        cast.run(holder(), AskCommand::Cancel(id, Some("not mine".into())));
        let ending = cast.seen(id).ending().unwrap();
        let Ending::Cancelled { by, reason, .. } = ending else { panic!("{ending:?}") };
        assert_eq!(*by, ActorRef::LinkHolder);
        assert_eq!(reason.as_ref().and_then(|reason| reason.value()).unwrap(), "not mine");
    }

    #[test]
    fn only_what_is_open_and_ones_own() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let spied = cast.attempt(cast.agent("spy"), AskCommand::Cancel(id, None));
        assert_eq!(spied, Err(Refusal::NotFound { what: "request" }));
        cast.run(cast.agent("bot"), AskCommand::Cancel(id, Some("changed my mind".into())));
        assert_eq!(cast.seen(id).phase(), Phase::Cancelled);
        let again = cast.attempt(cast.agent("bot"), AskCommand::Cancel(id, None));
        assert!(matches!(again, Err(Refusal::AlreadyCancelled { .. })));
        let answered = cast.attempt(cast.human("olga"), AskCommand::Answer(id, yes()));
        assert!(matches!(answered, Err(Refusal::AlreadyCancelled { .. })));
    }
}
