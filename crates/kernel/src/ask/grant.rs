//! More tokens are drawn for an ask: for a delivery's own link, or because a create was repeated and
//! the first ones are known to nobody here. Only hashes come in; each token has one purpose.

use crate::actor::Actor;
use crate::ask::{Ask, Grant, Purpose};
use crate::audit::Digest;
use crate::command::Envelope;
use crate::directory::Directory;
use crate::event::Happened;
use crate::ids::{AskId, HumanId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// Of each purpose this many tokens work at once; older ones give way.
const MOST: usize = 100;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    grants: &[Grant],
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    // An agent hands out what it was given when it asked; deliveries are ours.
    if !matches!(envelope.actor, Actor::Agent { .. } | Actor::System)
        || !ask.within_reach(&envelope.actor)
    {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    if ask.inline.is_none() && grants.iter().any(|grant| grant.purpose == Purpose::Submit) {
        return Err(Refusal::NotInline.into());
    }
    for human in grants.iter().filter_map(|grant| grant.sent_to.as_ref()) {
        let ours = matches!(envelope.actor, Actor::System);
        if !ours || ask.place_owner(world.directory) != Some(human) {
            let why = "only a link sent to a verified address of this person is recorded as theirs";
            return Err(Refusal::NotAllowed { why }.into());
        }
    }
    if grants.is_empty() {
        return Ok(Decision::default());
    }
    Ok(Decision::on(ask, Happened::Granted { grants: grants.to_vec() }))
}

impl Ask {
    /// Whether a token with this hash was drawn for this ask and for this purpose. Every one of them
    /// is looked at, each in constant time.
    pub fn is_granted(&self, purpose: Purpose, hash: &Digest) -> bool {
        let of_purpose = self.grants.iter().filter(|grant| grant.purpose == purpose);
        of_purpose.fold(false, |found, grant| found | grant.hash.is_same(hash))
    }

    /// Who answers with the review token of this hash: the holder of a link, and to whom the server sent
    /// that link. `None` if no such token was drawn. Every token is compared, each in constant time.
    pub fn link_holder(&self, hash: &Digest) -> Option<Actor> {
        let review = self.grants.iter().filter(|grant| grant.purpose == Purpose::Review);
        let (mut found, mut sent_to) = (false, None);
        for grant in review {
            if grant.hash.is_same(hash) {
                found = true;
                sent_to.clone_from(&grant.sent_to);
            }
        }
        found.then_some(Actor::LinkHolder { ask: self.id, sent_to })
    }

    /// The person who verified the address where the agent wants this ask put; `None` if no such place
    /// is named, if the place is shared, if nobody or more than one person verified it, or if the person
    /// is not active.
    pub fn place_owner<'a>(&self, directory: &'a Directory) -> Option<&'a HumanId> {
        let place = self.place.as_ref()?.value().filter(|place| !place.means.is_shared())?;
        let person = directory.human_by_means(&place.means).filter(|human| human.active)?;
        Some(&person.id)
    }

    /// More tokens work from now on, and of each purpose the oldest give way.
    pub(crate) fn granted(&mut self, grants: &[Grant]) {
        let kept = &mut self.asked.grants;
        kept.extend_from_slice(grants);
        for purpose in [Purpose::Review, Purpose::Submit, Purpose::Poll] {
            let count = kept.iter().filter(|grant| grant.purpose == purpose).count();
            let mut spare = count.saturating_sub(MOST);
            kept.retain(|grant| {
                let gives_way = grant.purpose == purpose && spare > 0;
                spare -= usize::from(gives_way);
                !gives_way
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, NewAsk};
    use crate::question::Stance;
    use crate::testing::{Cast, new_ask, yes};

    fn grant(purpose: Purpose, token: &str) -> Grant {
        Grant::to_agent(purpose, Cast::hash(token))
    }

    /// HITL-030, HITL-032, HITL-033: a token is good for one purpose on one ask.
    #[test]
    fn a_token_has_one_purpose() {
        use Purpose::{Poll, Review, Submit};
        let mut cast = Cast::new();
        let grants = vec![grant(Review, "r"), grant(Submit, "s"), grant(Poll, "p")];
        let inline = Some([Stance::Approve].into());
        let id = cast.ask(NewAsk { grants, inline, ..new_ask() });
        let other = cast.ask(new_ask());
        for (purpose, own) in [(Review, "r"), (Submit, "s"), (Poll, "p")] {
            for token in ["r", "s", "p", ""] {
                let good = cast.seen(id).is_granted(purpose, &Cast::hash(token));
                assert_eq!(good, token == own, "{purpose:?} {token}");
                assert!(!cast.seen(other).is_granted(purpose, &Cast::hash(token)));
            }
        }
    }

    #[test]
    fn more_may_be_drawn_by_the_agent_and_by_us_alone() {
        use Purpose::{Poll, Review, Submit};
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { grants: vec![grant(Review, "old")], ..new_ask() });
        let fresh = |token| Command::Grant(id, vec![grant(Review, token)]);
        cast.run(cast.agent("bot"), fresh("new"));
        cast.run(Actor::System, fresh("mail"));
        for token in ["old", "new", "mail"] {
            assert!(cast.seen(id).is_granted(Review, &Cast::hash(token)), "{token}");
        }
        for nosy in [cast.human("olga"), cast.agent("spy"), Actor::link_holder(id)] {
            let refused = cast.attempt(nosy, fresh("stolen"));
            assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        }
        let submit = Command::Grant(id, vec![grant(Submit, "s")]);
        assert_eq!(cast.attempt(cast.agent("bot"), submit), Err(Refusal::NotInline));
        // How it ended may be read with a fresh token too.
        cast.run(cast.human("olga"), Command::Answer(id, yes()));
        cast.run(cast.agent("bot"), Command::Grant(id, vec![grant(Poll, "p")]));
        assert!(cast.seen(id).is_granted(Poll, &Cast::hash("p")));
    }

    #[test]
    fn the_oldest_give_way() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { grants: vec![grant(Purpose::Poll, "p")], ..new_ask() });
        for n in 0..=MOST {
            let fresh = vec![grant(Purpose::Review, &n.to_string())];
            cast.run(Actor::System, Command::Grant(id, fresh));
        }
        let works = |token: &str| cast.seen(id).is_granted(Purpose::Review, &Cast::hash(token));
        assert!(!works("0") && works("1") && works(&MOST.to_string()));
        assert_eq!(cast.seen(id).grants.len(), MOST + 1);
        assert!(cast.seen(id).is_granted(Purpose::Poll, &Cast::hash("p")));
    }
}
