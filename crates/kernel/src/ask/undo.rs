//! A person undoes their held answer. The ask is open again as before.

use crate::actor::Actor;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let Actor::Human { id: human, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only the person who answered can undo it" }.into());
    };
    let person = world.directory.person(&envelope.actor)?;
    if ask.held_by() != Some(human) && !ask.may_be_answered_by(person) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    // After the undo time the answer stands, whether or not a timer has recorded that yet.
    ask.check_open(world.now)?;
    ask.check_not_held(&envelope.actor)?;
    if ask.held.is_none() {
        return Err(Refusal::NotAllowed { why: "there is no answer to undo" }.into());
    }
    Ok(Decision::on(ask, AskEvent::AnswerWithdrawn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::hold::tests::web;
    use crate::ask::{DefaultAction, DueAction, Phase, Route};
    use crate::command::{AskCommand, NewAsk, NewOnExpiry};
    use crate::testing::{Cast, human, new_ask, no, yes};

    #[test]
    fn undoing_opens_it_again_for_everybody() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        for (actor, refusal) in [
            (web("olga"), Refusal::BeingAnswered { by: human("mark") }),
            (web("zoe"), Refusal::NotFound { what: "request" }),
            (
                cast.agent("bot"),
                Refusal::NotAllowed { why: "only the person who answered can undo it" },
            ),
        ] {
            assert_eq!(cast.attempt(actor, AskCommand::UndoAnswer(id)), Err(refusal));
        }
        cast.run(web("mark"), AskCommand::UndoAnswer(id));
        assert_eq!((cast.seen(id).phase(), &cast.seen(id).held), (Phase::Waiting, &None));
        let none = cast.attempt(web("mark"), AskCommand::UndoAnswer(id));
        assert_eq!(none, Err(Refusal::NotAllowed { why: "there is no answer to undo" }));
        let names: Vec<_> = cast.record_of(id).iter().map(|event| event.what.name()).collect();
        assert_eq!(names, ["asked", "answer_held", "answer_withdrawn"]);
        cast.run(web("nina"), AskCommand::Answer(id, no()));
        // An answer that was undone is erased with everything else.
        cast.run(Actor::System, AskCommand::Erase(id));
    }

    #[test]
    fn once_it_stands_it_cannot_be_undone() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        let at = cast.now();
        cast.advance(5);
        let late = cast.attempt(web("olga"), AskCommand::UndoAnswer(id));
        let by = web("olga").to_ref();
        assert_eq!(late, Err(Refusal::AlreadyAnswered { by: by.clone(), at }));
        cast.run(Actor::System, AskCommand::CommitHeld(id));
        let late = cast.attempt(web("olga"), AskCommand::UndoAnswer(id));
        assert_eq!(late, Err(Refusal::AlreadyAnswered { by, at }));
    }

    #[test]
    fn after_the_deadline_a_held_answer_stands() {
        let mut cast = Cast::new();
        let approve = NewOnExpiry::Report(DefaultAction::Approve);
        let timed = |on_expiry| NewAsk { timeout: Some(3), on_expiry, ..new_ask() };
        let (held, undone) = (cast.ask(timed(approve.clone())), cast.ask(timed(approve)));
        let stays = cast.ask(timed(NewOnExpiry::StayOpen));
        let at = cast.now();
        for id in [held, undone, stays] {
            cast.run(web("olga"), AskCommand::HoldAnswer(id, no()));
        }
        cast.advance(2);
        cast.run(web("olga"), AskCommand::UndoAnswer(undone));
        cast.advance(1);
        // An undo would let the request expire as approved, against the person's decision.
        let late = cast.attempt(web("olga"), AskCommand::UndoAnswer(held));
        assert_eq!(late, Err(Refusal::AlreadyAnswered { by: web("olga").to_ref(), at }));
        assert_eq!(cast.seen(held).due(cast.now()), Some(DueAction::CommitHeld));
        cast.run(Actor::System, AskCommand::CommitHeld(held));
        let said = cast.seen(held).deciding_answer().and_then(|it| it.reply.value());
        assert_eq!(said, Some(&*no()));
        assert_eq!(
            cast.seen(undone).due(cast.now()),
            Some(DueAction::Expire),
            "it was undone in time"
        );
        // A deadline that changes nothing does not shorten the undo time.
        cast.advance(1);
        cast.run(web("olga"), AskCommand::UndoAnswer(stays));
        assert_eq!(cast.seen(stays).phase(), Phase::Waiting);
    }
}
