//! A person began to answer, or made progress.

use crate::ask::AskState;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::form::FormProgress;
use crate::ids::AskId;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    progress: Option<FormProgress>,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    ask.check_may_work(&envelope.actor, world.directory, world.now)?;
    // Repeating the same progress changes nothing.
    if ask.state == (AskState::InProgress { progress }) {
        return Ok(Decision::default());
    }
    Ok(Decision::on(ask, AskEvent::Progressed { progress }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::AskCommand;
    use crate::refusal::Refusal;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn the_first_look_stays_known() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Open(id));
        let looked = cast.now();
        cast.advance(9);
        cast.run(cast.human("olga"), AskCommand::Progress(id, None));
        assert!(matches!(cast.seen(id).state, AskState::InProgress { .. }));
        assert_eq!(cast.seen(id).look.as_ref().map(|look| look.at), Some(looked));
    }

    /// HITL-102, HITL-111, HITL-138: the progress is recorded, and reported only when it changes.
    #[test]
    fn whoever_holds_the_link_makes_progress() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let holder = || Actor::link_holder(id);
        let at = |step| {
            Some(FormProgress {
                current_step: step,
                total_steps: 3,
                completed_fields: step,
                total_fields: 9,
            })
        };
        cast.run(holder(), AskCommand::Progress(id, at(1)));
        cast.run(holder(), AskCommand::Progress(id, at(2)));
        let seq = cast.seen(id).head.seq;
        cast.run(holder(), AskCommand::Progress(id, at(2)));
        assert_eq!(cast.seen(id).head.seq, seq);
        assert_eq!(cast.seen(id).state, AskState::InProgress { progress: at(2) });
        let astray = cast.attempt(
            Actor::link_holder(AskId::new(ulid::Ulid::from(7_u128))),
            AskCommand::Progress(id, None),
        );
        assert_eq!(astray, Err(Refusal::NotFound { what: "request" }));
    }

    #[test]
    fn nobody_works_on_what_is_over() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.agent("bot"), AskCommand::Cancel(id, None));
        let refused = cast.attempt(cast.human("olga"), AskCommand::Progress(id, None));
        assert!(matches!(refused, Err(Refusal::AlreadyCancelled { .. })));
    }
}
