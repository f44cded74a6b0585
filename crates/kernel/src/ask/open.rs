//! A person looks at an ask. A hint for the agent; it decides nothing.

use crate::ask::AskState;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let person = world.directory.person(&envelope.actor)?;
    if !ask.admits(person) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    // Looking again, or looking at what is over, changes nothing and is no error.
    match &ask.state {
        AskState::Pending if ask.still_open(world.now).is_ok() => {
            Ok(Decision::on(ask, Happened::Opened))
        }
        AskState::Pending
        | AskState::Opened
        | AskState::InProgress { .. }
        | AskState::Over { .. } => Ok(Decision::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::command::Command;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn the_first_look_counts() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), Command::Open(id));
        let first = cast.seen(id).clone();
        assert_eq!(first.phase(), Phase::Engaged);
        cast.advance(5);
        cast.run(cast.human("olga"), Command::Open(id));
        assert_eq!(*cast.seen(id), first);
    }

    #[test]
    fn strangers_see_nothing() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let refused = cast.attempt(cast.human("mark"), Command::Open(id));
        assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
    }
}
