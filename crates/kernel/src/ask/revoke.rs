//! Revokes the receipt of an ask: a verifier who checks it later learns that it no longer counts.
//! The audit log keeps all events.

use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::text::is_storable;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    reason: &str,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if !world.directory.administers(&envelope.actor) {
        let seen = ask.is_visible_to(&envelope.actor, world.directory);
        let why = "only an administrator can revoke a receipt";
        let refusal = Refusal::NotAllowed { why };
        return Err(if seen { refusal } else { Refusal::NotFound { what: "request" } }.into());
    }
    if ask.is_open() {
        let why = "this request has no receipt yet: cancel it instead";
        return Err(Refusal::NotOver { why }.into());
    }
    if reason.trim().is_empty() || !is_storable(reason) || reason.chars().count() > 1000 {
        let expected = "a string of at most 1000 characters without NUL characters characters";
        return Err(Refusal::Invalid { field: "reason", expected }.into());
    }
    if ask.revoked.is_some() {
        return Ok(Decision::default());
    }
    let reason = Erasable::new(reason.to_owned(), &mut envelope.salts.clone());
    Ok(Decision::on(ask, AskEvent::Revoked { reason }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, ActorRef};
    use crate::command::AskCommand;
    use crate::receipt::Receipt;
    use crate::testing::{Cast, new_ask, yes};

    #[test]
    fn an_administrator_calls_a_receipt_back_once() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let revoke = |reason: &str| AskCommand::Revoke(id, reason.to_owned());
        let early = cast.attempt(Actor::System, revoke("stolen phone"));
        assert!(matches!(early, Err(Refusal::NotOver { .. })));
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        let before = Receipt::of(cast.seen(id));
        let hers = cast.attempt(cast.human("olga"), revoke("stolen phone"));
        assert!(matches!(hers, Err(Refusal::NotAllowed { .. })));
        let stranger = cast.attempt(cast.human("zoe"), revoke("stolen phone"));
        assert_eq!(stranger, Err(Refusal::NotFound { what: "request" }));
        let mute = cast.attempt(Actor::System, revoke(" "));
        assert!(matches!(mute, Err(Refusal::Invalid { field: "reason", .. })));
        cast.run(Actor::System, revoke("stolen phone"));
        cast.run(Actor::System, revoke("again"));
        let revoked = cast.seen(id).revoked.as_ref().unwrap();
        assert_eq!(revoked.by, ActorRef::System);
        assert_eq!(revoked.reason.value().unwrap(), "stolen phone");
        assert_eq!(Receipt::of(cast.seen(id)), before, "what it says does not change");
    }
}
