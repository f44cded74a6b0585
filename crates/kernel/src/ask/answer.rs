//! A person answers. Exactly one answer wins; every channel comes in here.

use crate::actor::Actor;
use crate::ask::{Ask, Vote};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::effect::Effect;
use crate::event::Happened;
use crate::ids::AskId;
use crate::question::Reply;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    reply: &Reply,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    // An agent never answers, its own ask least of all.
    let Actor::Human { via, assurance, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only a person can answer" }.into());
    };
    let person = world.directory.person(&envelope.actor)?;
    if !ask.admits(person) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.still_open(world.now)?;
    ask.not_taken_from(person)?;
    if *assurance < ask.floor {
        return Err(Refusal::AssuranceTooLow { have: *assurance, need: ask.floor }.into());
    }
    let Some(question) = ask.question.value() else {
        return Err(Refusal::NotAllowed { why: "the question was erased" }.into());
    };
    let reply = question.check(reply.clone()).map_err(Refusal::from)?.into_reply();

    let mut salts = envelope.salts.clone();
    let decisive = decides(ask, &reply);
    let vote = Vote {
        reply: Erasable::new(reply, &mut salts),
        by: envelope.actor.by(),
        via: *via,
        assurance: *assurance,
        at: ask.moment(world.now),
    };
    let mut decision = Decision::on(ask, Happened::Answered { vote: Box::new(vote), decisive });
    if decisive {
        decision = decision.with(Effect::Settle { ask: ask.id });
    }
    Ok(decision)
}

/// Whether this vote brings the equal ones to the quorum.
fn decides(ask: &Ask, reply: &Reply) -> bool {
    let equal = ask
        .votes
        .iter()
        .filter_map(|vote| vote.reply.value())
        .filter(|earlier| earlier.answer == reply.answer);
    u32::try_from(equal.count() + 1).is_ok_and(|votes| votes >= ask.quorum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Assurance, By, Via};
    use crate::ask::Route;
    use crate::command::{Command, NewAsk, Silence};
    use crate::question::Answer;
    use crate::testing::{Cast, human, new_ask, no, yes};

    #[test]
    fn the_first_answer_wins_and_the_second_learns_who() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(cast.human("mark"), Command::Answer(id, yes()));
        let at = cast.now();
        cast.advance(1);
        let late = cast.attempt(cast.human("nina"), Command::Answer(id, no()));
        assert_eq!(late, Err(Refusal::AlreadyAnswered { by: By::Human(human("mark")), at }));
        let resolution = cast.seen(id).resolution().unwrap();
        assert_eq!(resolution.assurance, Assurance::Session);
        assert_eq!(cast.seen(id).votes.len(), 1);
    }

    #[test]
    fn agents_never_answer() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        for actor in [cast.agent("bot"), Actor::System] {
            let refused = cast.attempt(actor, Command::Answer(id, yes()));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })));
        }
    }

    #[test]
    fn a_claimed_ask_waits_for_its_holder_or_owner() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(cast.human("mark"), Command::Claim(id));
        let refused = cast.attempt(cast.human("nina"), Command::Answer(id, yes()));
        assert_eq!(refused, Err(Refusal::TakenBy { by: human("mark") }));
        cast.run(cast.human("olga"), Command::Answer(id, no()));
    }

    #[test]
    fn a_project_may_demand_more_assurance() {
        use crate::directory::NewProject;
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { floor: Assurance::Passkey, ..plain };
        cast.run(Actor::System, Command::SaveProject(strict));
        let id = cast.ask(new_ask());
        let refused = cast.attempt(cast.human("olga"), Command::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::AssuranceTooLow { .. })));
        let sure = Actor::Human { id: human("olga"), via: Via::Web, assurance: Assurance::Passkey };
        cast.run(sure, Command::Answer(id, yes()));
    }

    /// HXPX-049: after the deadline the answer is refused, timer or no timer.
    #[test]
    fn too_late_is_too_late_even_before_the_timer_fires() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(10), on_expiry: Silence::Fail, ..new_ask() };
        let id = cast.ask(new);
        cast.advance(10);
        let refused = cast.attempt(cast.human("olga"), Command::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::TimedOut { .. })));
    }

    /// §10.5: `at` is never before the subject's last event, so neither is the judgement.
    #[test]
    fn a_clock_set_back_does_not_reopen_an_ask() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(10), on_expiry: Silence::Fail, ..new_ask() };
        let id = cast.ask(new);
        cast.advance(20);
        cast.ask(NewAsk { follows: Some(id), ..new_ask() });
        cast.turn_back(15);
        let refused = cast.attempt(cast.human("olga"), Command::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::TimedOut { .. })), "{refused:?}");
    }

    #[test]
    fn an_answer_must_fit_its_question() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let wrong = Reply { answer: Answer::Skip, comment: None };
        let refused = cast.attempt(cast.human("olga"), Command::Answer(id, Box::new(wrong)));
        assert!(matches!(refused, Err(Refusal::Answer(_))));
        assert_eq!(cast.seen(id).head.seq, 1);
    }
}
