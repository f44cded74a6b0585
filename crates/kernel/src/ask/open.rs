//! A person opens an ask. This informs the agent and decides nothing.

use crate::ask::AskState;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    ask.acting_person(&envelope.actor, world.directory)?;
    // Opening an ask again, or opening a closed ask, changes nothing and is no error.
    match &ask.state {
        AskState::Pending if ask.check_open(world.now).is_ok() => {
            Ok(Decision::on(ask, AskEvent::Opened))
        }
        AskState::Pending
        | AskState::Opened
        | AskState::InProgress { .. }
        | AskState::Over { .. } => Ok(Decision::default()),
    }
}

#[cfg(test)]
mod tests {
    use crate::actor::{Actor, ActorRef};
    use crate::ask::Phase;
    use crate::command::AskCommand;
    use crate::refusal::Refusal;
    use crate::testing::{Cast, new_ask};

    /// HITL-045: the holder of the link opens their ask, and no other.
    #[test]
    fn the_link_opens_its_own_ask() {
        let mut cast = Cast::new();
        let (id, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        let holder = || Actor::link_holder(id);
        cast.run(holder(), AskCommand::Open(id));
        assert_eq!(cast.seen(id).look.as_ref().map(|look| &look.by), Some(&ActorRef::LinkHolder));
        let astray = cast.attempt(holder(), AskCommand::Open(other));
        assert_eq!(astray, Err(Refusal::NotFound { what: "request" }));
    }

    #[test]
    fn the_first_look_counts() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Open(id));
        let first = cast.seen(id).clone();
        assert_eq!(first.phase(), Phase::Engaged);
        cast.advance(5);
        cast.run(cast.human("olga"), AskCommand::Open(id));
        assert_eq!(*cast.seen(id), first);
    }

    #[test]
    fn strangers_see_nothing() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let refused = cast.attempt(cast.human("mark"), AskCommand::Open(id));
        assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
    }
}
