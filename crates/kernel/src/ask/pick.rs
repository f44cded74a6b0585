//! A person picks one of the next actions that the agent offers. The server notifies the agent; the
//! pick answers nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::ActorRef;
use crate::ask::Ask;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// The maximum number of picks on one ask.
const MOST_PICKED: usize = 100;

/// An action that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedAction {
    /// The index of the action in the agent's list, from 0.
    pub action: usize,
    /// Who picked the action.
    pub by: ActorRef,
    /// When they picked it.
    pub at: Time,
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    action: usize,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    ask.check_may_work(&envelope.actor, world.directory, world.now)?;
    if ask.action(action).is_none() {
        let expected = "the index of one of the agent's actions, counted from 0";
        return Err(Refusal::Invalid { field: "action", expected }.into());
    }
    let by = envelope.actor.to_ref();
    // A repeated pick changes nothing.
    if ask.picked.iter().any(|picked| picked.action == action && picked.by == by) {
        return Ok(Decision::default());
    }
    if ask.picked.len() >= MOST_PICKED {
        let expected = "at most 100 actions picked on one request";
        return Err(Refusal::Invalid { field: "action", expected }.into());
    }
    Ok(Decision::on(ask, AskEvent::ActionPicked { action }))
}

impl Ask {
    /// An action the agent offers, by its index. `None` for an entry without a type.
    pub fn action(&self, place: usize) -> Option<&Map<String, Value>> {
        let action = self.envelope()?.get("actions")?.as_array()?.get(place)?.as_object()?;
        let kind = action.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| !kind.is_empty()).then_some(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::{AskCommand, NewAsk};
    use crate::testing::{Cast, claims, new_ask, yes};

    fn offering() -> NewAsk {
        NewAsk { claims: Some(claims()), ..new_ask() }
    }

    /// HXPE-060: each pick counts once for each person, and decides nothing.
    #[test]
    fn a_pick_is_noted_once_and_answers_nothing() {
        let mut cast = Cast::new();
        let id = cast.ask(offering());
        let state = cast.seen(id).state.clone();
        for actor in [cast.human("olga"), Actor::link_holder(id)] {
            for _ in 0..2 {
                cast.run(actor.clone(), AskCommand::Pick(id, 2));
            }
        }
        let picked: Vec<_> =
            cast.seen(id).picked.iter().map(|one| (one.action, one.by.clone())).collect();
        assert_eq!(picked, [(2, cast.human("olga").to_ref()), (2, ActorRef::LinkHolder)]);
        assert_eq!(cast.seen(id).state, state, "it stands where it stood");
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    }

    #[test]
    fn only_what_is_offered_can_be_picked_and_only_while_it_is_open() {
        let mut cast = Cast::new();
        let (id, plain) = (cast.ask(offering()), cast.ask(new_ask()));
        for (ask, action) in [(id, 1), (id, 3), (id, usize::MAX), (plain, 0)] {
            let refused = cast.attempt(cast.human("olga"), AskCommand::Pick(ask, action));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "action", .. })), "{action}");
        }
        for stranger in [cast.human("zoe"), cast.agent("spy")] {
            assert!(cast.attempt(stranger, AskCommand::Pick(id, 0)).is_err());
        }
        // An agent cannot pick its own actions.
        assert!(cast.attempt(cast.agent("bot"), AskCommand::Pick(id, 0)).is_err());
        assert!(cast.seen(id).picked.is_empty());
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        let late = cast.attempt(cast.human("olga"), AskCommand::Pick(id, 0));
        assert!(matches!(late, Err(Refusal::AlreadyAnswered { .. })), "{late:?}");
    }
}
