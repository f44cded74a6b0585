//! Creates more tokens for an ask: for the link of a delivery, or because a create was repeated and
//! the server does not know the first tokens. The kernel receives only hashes; each token has one
//! purpose.

use crate::actor::Actor;
use crate::ask::{Ask, AskToken, TokenPurpose};
use crate::audit::Digest;
use crate::command::Envelope;
use crate::directory::Directory;
use crate::event::AskEvent;
use crate::ids::{AskId, HumanId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// At most this many tokens per purpose work at once. New tokens replace the oldest.
const MAX_TOKENS: usize = 100;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    grants: &[AskToken],
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    // Only the agent and the server create tokens: the agent for itself, the server for deliveries.
    if !matches!(envelope.actor, Actor::Agent { .. } | Actor::System)
        || !ask.is_visible_to_key(&envelope.actor)
    {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    if ask.inline.is_none() && grants.iter().any(|grant| grant.purpose == TokenPurpose::Submit) {
        return Err(Refusal::NotInline.into());
    }
    for human in grants.iter().filter_map(|grant| grant.sent_to.as_ref()) {
        let ours = matches!(envelope.actor, Actor::System);
        if !ours || ask.posting_address_owner(world.directory) != Some(human) {
            let why = "a link is recorded as a person's only if it was sent to their verified \
                       address";
            return Err(Refusal::NotAllowed { why }.into());
        }
    }
    if grants.is_empty() {
        return Ok(Decision::default());
    }
    let dated = |grant: &AskToken| {
        let sent_at = grant.sent_to.is_some().then_some(world.now);
        AskToken { sent_at, ..grant.clone() }
    };
    Ok(Decision::on(ask, AskEvent::Granted { grants: grants.iter().map(dated).collect() }))
}

impl Ask {
    /// Whether a token with this hash was created for this ask and this purpose, even if it was
    /// revoked since. Every token is compared, each in constant time.
    pub fn has_token(&self, purpose: TokenPurpose, hash: &Digest) -> bool {
        let of_purpose = self.grants.iter().filter(|grant| grant.purpose == purpose);
        of_purpose.fold(false, |found, grant| found | grant.hash.is_same(hash))
    }

    /// Whether a token with this hash works for this purpose: it was created for it, and was
    /// revoked neither with the key of the agent nor with all access of the person it was sent to.
    pub fn token_works(&self, purpose: TokenPurpose, hash: &Digest, directory: &Directory) -> bool {
        self.working_token(purpose, hash, directory).is_some()
    }

    /// The actor who uses the review token of this hash: a link holder, with the person to whom the
    /// server sent the link. `None` if no such token works.
    pub fn link_holder(&self, hash: &Digest, directory: &Directory) -> Option<Actor> {
        let grant = self.working_token(TokenPurpose::Review, hash, directory)?;
        Some(Actor::LinkHolder { ask: self.id, sent_to: grant.sent_to.clone() })
    }

    /// The grant of a working token. Every token is compared, each in constant time.
    fn working_token(
        &self,
        purpose: TokenPurpose,
        hash: &Digest,
        directory: &Directory,
    ) -> Option<&AskToken> {
        let of_purpose = self.grants.iter().filter(|grant| grant.purpose == purpose);
        let mut found = None;
        for grant in of_purpose {
            if grant.hash.is_same(hash) {
                found = Some(grant);
            }
        }
        let grant = found?;
        (directory.tokens_work(self) && !grant.is_revoked(directory)).then_some(grant)
    }

    /// Whether the address the agent chose for this ask belonged to a person whose access was
    /// revoked since, and who has not verified it again.
    pub fn posting_address_revoked(&self, directory: &Directory) -> bool {
        let ended = self.grants.iter().any(|grant| grant.is_revoked(directory));
        ended && self.posting_address_owner(directory).is_none()
    }

    /// The person who verified the address the agent chose for this ask. `None` if the ask names no
    /// address, if the address is shared, if it was verified by no one or by more than one person,
    /// or if the person is not active.
    pub fn posting_address_owner<'a>(&self, directory: &'a Directory) -> Option<&'a HumanId> {
        let place = self
            .posting_address
            .as_ref()?
            .value()
            .filter(|place| !place.contact_method.is_shared())?;
        let person = directory
            .human_by_contact_method(&place.contact_method)
            .filter(|human| human.active)?;
        Some(&person.id)
    }

    /// Adds tokens. Of each purpose the oldest are dropped above the maximum.
    pub(crate) fn add_tokens(&mut self, grants: &[AskToken]) {
        let kept = &mut self.asked.grants;
        kept.extend_from_slice(grants);
        for purpose in [TokenPurpose::Review, TokenPurpose::Submit, TokenPurpose::Poll] {
            let count = kept.iter().filter(|grant| grant.purpose == purpose).count();
            let mut spare = count.saturating_sub(MAX_TOKENS);
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
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::question::AnswerKind;
    use crate::testing::{Cast, human, new_ask, yes};

    fn grant(purpose: TokenPurpose, token: &str) -> AskToken {
        AskToken::to_agent(purpose, Cast::hash(token))
    }

    /// HITL-030, HITL-032, HITL-033: a token works for one purpose on one ask.
    #[test]
    fn a_token_has_one_purpose() {
        use TokenPurpose::{Poll, Review, Submit};
        let mut cast = Cast::new();
        let grants = vec![grant(Review, "r"), grant(Submit, "s"), grant(Poll, "p")];
        let inline = Some([AnswerKind::Approve].into());
        let id = cast.ask(NewAsk { grants, inline, ..new_ask() });
        let other = cast.ask(new_ask());
        for (purpose, own) in [(Review, "r"), (Submit, "s"), (Poll, "p")] {
            for token in ["r", "s", "p", ""] {
                let good = cast.seen(id).has_token(purpose, &Cast::hash(token));
                assert_eq!(good, token == own, "{purpose:?} {token}");
                assert!(!cast.seen(other).has_token(purpose, &Cast::hash(token)));
            }
        }
    }

    #[test]
    fn more_may_be_drawn_by_the_agent_and_by_us_alone() {
        use TokenPurpose::{Poll, Review, Submit};
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { grants: vec![grant(Review, "old")], ..new_ask() });
        let fresh = |token| AskCommand::Grant(id, vec![grant(Review, token)]);
        cast.run(cast.agent("bot"), fresh("new"));
        cast.run(Actor::System, fresh("mail"));
        for token in ["old", "new", "mail"] {
            assert!(cast.seen(id).has_token(Review, &Cast::hash(token)), "{token}");
        }
        for nosy in [cast.human("olga"), cast.agent("spy"), Actor::link_holder(id)] {
            let refused = cast.attempt(nosy, fresh("stolen"));
            assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        }
        let submit = AskCommand::Grant(id, vec![grant(Submit, "s")]);
        assert_eq!(cast.attempt(cast.agent("bot"), submit), Err(Refusal::NotInline));
        // The result may be read with a new token too.
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        cast.run(cast.agent("bot"), AskCommand::Grant(id, vec![grant(Poll, "p")]));
        assert!(cast.seen(id).has_token(Poll, &Cast::hash("p")));
    }

    /// A link sent to a person stops working when all their access is revoked, and stays revoked; a
    /// link sent later works.
    #[test]
    fn a_link_that_was_sent_to_a_person_ends_with_their_access() {
        use crate::ask::PostingAddress;
        use crate::directory::{Contact, ContactMethod};
        let mut cast = Cast::new();
        let email = Contact::Email { address: "mark@example.com".to_owned(), context: None };
        let verify = |cast: &mut Cast| {
            let means = ContactMethod::email("mark@example.com");
            cast.run(cast.human("mark"), DirectoryCommand::VerifyContact(human("mark"), means));
        };
        cast.run(cast.human("mark"), DirectoryCommand::AddContact(human("mark"), email));
        verify(&mut cast);
        let means = ContactMethod::email("mark@example.com");
        let place = Some(PostingAddress { contact_method: means, only: Vec::new(), thread: None });
        let id = cast.ask(NewAsk {
            posting_address: place,
            grants: vec![grant(TokenPurpose::Poll, "p")],
            ..new_ask()
        });
        let send = |cast: &mut Cast, token| {
            let delivered = AskToken::sent_link(Cast::hash(token), Some(human("mark")));
            cast.run(Actor::System, AskCommand::Grant(id, vec![delivered]));
        };
        let works = |cast: &Cast, purpose, token: &str| {
            cast.seen(id).token_works(purpose, &Cast::hash(token), cast.directory())
        };
        send(&mut cast, "before");
        cast.run(
            Actor::System,
            AskCommand::Grant(id, vec![grant(TokenPurpose::Review, "agent's")]),
        );
        let holder = cast.seen(id).link_holder(&Cast::hash("before"), cast.directory());
        let expected = Actor::LinkHolder { ask: id, sent_to: Some(human("mark")) };
        assert_eq!(holder, Some(expected));
        cast.advance(1);
        cast.run(Actor::System, DirectoryCommand::EndAccess(human("mark")));
        assert!(cast.seen(id).posting_address_revoked(cast.directory()));
        for verified in [false, true] {
            if verified {
                verify(&mut cast);
            }
            assert!(!works(&cast, TokenPurpose::Review, "before"), "{verified}");
            assert_eq!(cast.seen(id).link_holder(&Cast::hash("before"), cast.directory()), None);
            assert!(
                works(&cast, TokenPurpose::Review, "agent's")
                    && works(&cast, TokenPurpose::Poll, "p")
            );
        }
        assert!(!cast.seen(id).posting_address_revoked(cast.directory()));
        cast.advance(1);
        send(&mut cast, "after");
        assert!(works(&cast, TokenPurpose::Review, "after"));
        assert!(!works(&cast, TokenPurpose::Review, "before"));
    }

    #[test]
    fn the_oldest_give_way() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { grants: vec![grant(TokenPurpose::Poll, "p")], ..new_ask() });
        for n in 0..=MAX_TOKENS {
            let fresh = vec![grant(TokenPurpose::Review, &n.to_string())];
            cast.run(Actor::System, AskCommand::Grant(id, fresh));
        }
        let works = |token: &str| cast.seen(id).has_token(TokenPurpose::Review, &Cast::hash(token));
        assert!(!works("0") && works("1") && works(&MAX_TOKENS.to_string()));
        assert_eq!(cast.seen(id).grants.len(), MAX_TOKENS + 1);
        assert!(cast.seen(id).has_token(TokenPurpose::Poll, &Cast::hash("p")));
    }
}
