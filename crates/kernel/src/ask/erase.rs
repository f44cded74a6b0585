//! The words of an ask that is over are forgotten, by law or retention. Its chain stays valid: it
//! holds commitments only, and the store drops what lay beside them in the same transaction.

use crate::command::Envelope;
use crate::effect::Effect;
use crate::event::Happened;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if !world.directory.administers(&envelope.actor) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    if ask.is_open() {
        return Err(Refusal::NotOver { why: "cancel this request before erasing it" }.into());
    }
    let Some(question) = ask.question.value() else { return Ok(Decision::default()) };
    let erased = Decision::on(ask, Happened::Erased);
    Ok(if question.wants_file() { erased.with(Effect::DropFiles { ask: id }) } else { erased })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::Command;
    use crate::receipt::{Outcome, Receipt};
    use crate::testing::{Cast, new_ask, yes};

    #[test]
    fn words_go_and_the_fact_of_the_answer_stays() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let early = cast.attempt(Actor::System, Command::Erase(id));
        assert!(matches!(early, Err(Refusal::NotOver { .. })));
        cast.run(cast.human("olga"), Command::Answer(id, yes()));
        let nosy = cast.attempt(cast.human("olga"), Command::Erase(id));
        assert_eq!(nosy, Err(Refusal::NotFound { what: "request" }));
        let commitment = cast.seen(id).question.commitment();
        assert_eq!(cast.seen(id).kept_since(), Some(cast.seen(id).head.at));
        cast.run(Actor::System, Command::Erase(id));
        let ask = cast.seen(id);
        assert_eq!((ask.question.value(), ask.kept_since()), (None, None));
        assert_eq!(ask.question.commitment(), commitment);
        let receipt = Receipt::of(ask).unwrap();
        assert!(matches!(receipt.outcome, Outcome::Completed { reply: None, .. }));
    }
}
