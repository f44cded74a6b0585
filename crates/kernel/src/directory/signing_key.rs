//! Signing keys are stored outside the audit log. Their destruction is recorded on the
//! administrator who requested it, so that the audit log says who did it and when.

use super::ADMIN_ONLY;
use crate::actor::Actor;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::Subject;
use crate::world::{Decision, Stop, World};

/// Records that an administrator destroys the private key of a signing key. The server checks
/// before that every receipt of the key has its signature stored, and destroys the key afterwards.
pub(crate) fn destroy(world: &World<'_>, envelope: &Envelope, kid: &str) -> Result<Decision, Stop> {
    let Actor::Human { id, .. } = &envelope.actor else { return Err(ADMIN_ONLY.into()) };
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let happened = DirectoryEvent::SigningKeyDestroyed { kid: kid.to_owned() };
    Ok(Decision::of(Subject::Human(id.clone()), happened))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::HumanChange;
    use crate::refusal::Refusal;
    use crate::testing::{Cast, human};

    #[test]
    fn only_an_administrator_destroys_and_is_named() {
        let mut cast = Cast::new();
        let destroy = || DirectoryCommand::DestroySigningKey("kid".to_owned());
        for actor in [cast.human("olga"), cast.agent("bot"), Actor::System] {
            let refused = cast.attempt(actor, destroy());
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        let change = HumanChange { admin: Some(true), ..HumanChange::default() };
        cast.run(Actor::System, DirectoryCommand::ChangeHuman(human("olga"), Box::new(change)));
        let before = cast.directory().human(&human("olga")).cloned();
        cast.run(cast.human("olga"), destroy());
        let record = cast.records().last().unwrap();
        assert_eq!(record.subject, Subject::Human(human("olga")));
        let event = record.event().unwrap();
        assert_eq!(
            event.what,
            DirectoryEvent::SigningKeyDestroyed { kid: "kid".to_owned() }.into()
        );
        assert_eq!(cast.directory().human(&human("olga")).cloned(), before, "nothing else changes");
    }
}
