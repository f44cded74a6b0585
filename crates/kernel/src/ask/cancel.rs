//! An ask is withdrawn.

use crate::actor::Actor;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::effect::Effect;
use crate::event::Happened;
use crate::ids::AskId;
use crate::refusal::Refusal;
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
        Actor::Agent { .. } | Actor::System => ask.within_reach(&envelope.actor),
        Actor::Human { .. } => {
            let person = world.directory.person(&envelope.actor)?;
            if !person.admin {
                ask.not_taken_from(person)?;
            }
            person.admin || ask.admits(person)
        }
    };
    if !allowed {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.still_open(world.now)?;
    if reason.is_some_and(|text| !is_storable(text) || text.chars().count() > 1000) {
        let expected = "at most 1000 characters, without NUL";
        return Err(Refusal::Invalid { field: "reason", expected }.into());
    }
    let mut salts = envelope.salts.clone();
    let reason = reason.map(|text| Erasable::new(text.to_owned(), &mut salts));
    Ok(Decision::on(ask, Happened::Cancelled { reason }).with(Effect::Settle { ask: ask.id }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::command::Command;
    use crate::testing::{Cast, new_ask, yes};

    #[test]
    fn only_what_is_open_and_ones_own() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let spied = cast.attempt(cast.agent("spy"), Command::Cancel(id, None));
        assert_eq!(spied, Err(Refusal::NotFound { what: "request" }));
        cast.run(cast.agent("bot"), Command::Cancel(id, Some("changed my mind".into())));
        assert_eq!(cast.seen(id).phase(), Phase::Cancelled);
        let again = cast.attempt(cast.agent("bot"), Command::Cancel(id, None));
        assert!(matches!(again, Err(Refusal::AlreadyCancelled { .. })));
        let answered = cast.attempt(cast.human("olga"), Command::Answer(id, yes()));
        assert!(matches!(answered, Err(Refusal::AlreadyCancelled { .. })));
    }
}
