//! A person began to answer, or went on.

use crate::ask::AskState;
use crate::command::Envelope;
use crate::event::Happened;
use crate::form::Progress;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    progress: Option<Progress>,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let person = world.directory.person(&envelope.actor)?;
    if !ask.admits(person) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.still_open(world.now)?;
    ask.not_taken_from(person)?;
    // Saying the same again is no news.
    if ask.state == (AskState::InProgress { progress }) {
        return Ok(Decision::default());
    }
    Ok(Decision::on(ask, Happened::Progressed { progress }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn the_first_look_stays_known() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), Command::Open(id));
        let looked = cast.now();
        cast.advance(9);
        cast.run(cast.human("olga"), Command::Progress(id, None));
        assert!(matches!(cast.seen(id).state, AskState::InProgress { .. }));
        assert_eq!(cast.seen(id).look.as_ref().map(|look| look.at), Some(looked));
    }

    #[test]
    fn nobody_works_on_what_is_over() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.agent("bot"), Command::Cancel(id, None));
        let refused = cast.attempt(cast.human("olga"), Command::Progress(id, None));
        assert!(matches!(refused, Err(Refusal::AlreadyCancelled { .. })));
    }
}
