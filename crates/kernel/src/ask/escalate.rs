//! Nobody answered for a while: the next people are asked as well.

use crate::actor::Actor;
use crate::ask::Due;
use crate::command::Envelope;
use crate::effect::{Effect, Occasion};
use crate::event::Happened;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let (Actor::System, Some(Due::Escalate)) = (&envelope.actor, ask.due(world.now)) else {
        return Err(Refusal::NotDue.into());
    };
    let mut decision = Decision::on(ask, Happened::Escalated);
    for rung in ask.ladder.iter().take_while(|rung| rung.at <= ask.moment(world.now)) {
        let (why, priority) = (Occasion::Escalated, ask.priority);
        let seat = rung.seat.clone();
        decision = decision.with(Effect::Notify { ask: ask.id, seat, why, priority });
    }
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Seat;
    use crate::command::Command;
    use crate::directory::{NewProject, Step};
    use crate::testing::{Cast, human, new_ask, yes};

    #[test]
    fn the_ladder_is_climbed_until_somebody_answers() {
        let mut cast = Cast::new();
        let step = |after, name| Step { after, seat: Seat::Person { human: human(name) } };
        let ladder = vec![step(60, "mark"), step(120, "nina")];
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(Actor::System, Command::SaveProject(NewProject { ladder, ..plain }));
        let id = cast.ask(new_ask());
        let early = cast.attempt(cast.human("mark"), Command::Answer(id, yes()));
        assert!(matches!(early, Err(Refusal::NotFound { .. })));
        cast.advance(60);
        cast.run(Actor::System, Command::Escalate(id));
        assert_eq!(cast.attempt(Actor::System, Command::Escalate(id)), Err(Refusal::NotDue));
        cast.run(cast.human("mark"), Command::Answer(id, yes()));
        cast.advance(600);
        assert_eq!(cast.seen(id).due(cast.now()), None);
    }

    /// A rung between a clock set back and the last event is climbed, so its people are told.
    #[test]
    fn whoever_is_seated_is_told() {
        let mut cast = Cast::new();
        let step = |after, name| Step { after, seat: Seat::Person { human: human(name) } };
        let ladder = vec![step(60, "mark"), step(120, "nina")];
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(Actor::System, Command::SaveProject(NewProject { ladder, ..plain }));
        let id = cast.ask(new_ask());
        cast.advance(130);
        cast.run(cast.human("olga"), Command::Open(id));
        cast.turn_back(30);
        cast.run(Actor::System, Command::Escalate(id));
        let seats = &cast.seen(id).seats;
        let told = |wanted: &Seat| {
            cast.effects()
                .iter()
                .any(|e| matches!(e, Effect::Notify { seat, .. } if seat == wanted))
        };
        assert_eq!(seats.len(), 3);
        assert!(seats.iter().all(told), "{seats:?}");
    }
}
