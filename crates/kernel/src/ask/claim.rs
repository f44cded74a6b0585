//! A person claims an ask, so that two people of a pool do not both work on it.

use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let person = world.directory.person(&envelope.actor)?;
    if !ask.may_be_answered_by(person) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.check_open(world.now)?;
    ask.check_not_held(&envelope.actor)?;
    match &ask.claim {
        Some(claim) if claim.human == person.id => Ok(Decision::default()),
        Some(claim) => Err(Refusal::TakenBy { by: claim.human.clone() }.into()),
        None => Ok(Decision::on(ask, AskEvent::Claimed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Phase, Route};
    use crate::command::{AskCommand, NewAsk};
    use crate::testing::{Cast, human, new_ask};

    #[test]
    fn the_first_to_claim_has_it() {
        let mut cast = Cast::new();
        let pool = Route::Pool { group: None };
        let id = cast.ask(NewAsk { route: pool, ..new_ask() });
        cast.run(cast.human("mark"), AskCommand::Claim(id));
        cast.run(cast.human("mark"), AskCommand::Claim(id));
        assert_eq!(cast.seen(id).phase(), Phase::Engaged);
        assert_eq!(cast.seen(id).head.seq, 2, "claiming twice is one claim");
        let refused = cast.attempt(cast.human("nina"), AskCommand::Claim(id));
        assert_eq!(refused, Err(Refusal::TakenBy { by: human("mark") }));
    }

    /// HXPX-075: a pool is open to people who qualify by group and tag.
    #[test]
    fn only_the_qualified_see_a_pool() {
        let mut cast = Cast::new();
        let legal = Route::Pool { group: Some("legal".parse().unwrap()) };
        let grouped = cast.ask(NewAsk { route: legal, ..new_ask() });
        let pool = Route::Pool { group: None };
        let tagged = cast.ask(NewAsk { route: pool, tags: ["tax".to_owned()].into(), ..new_ask() });
        // nina is in legal, mark knows tax, zoe is in another project.
        for (who, ask, sees) in [
            ("nina", grouped, true),
            ("mark", grouped, false),
            ("zoe", grouped, false),
            ("nina", tagged, false),
            ("mark", tagged, true),
            ("olga", grouped, true),
        ] {
            let claimed = cast.attempt(cast.human(who), AskCommand::Claim(ask));
            assert_eq!(!matches!(claimed, Err(Refusal::NotFound { .. })), sees, "{who}");
        }
    }
}
