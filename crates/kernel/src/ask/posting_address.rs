//! The address where an agent wants its question posted: a channel of its people, or an address
//! that the directory does not know. The people reached there may answer this one ask, and are
//! recorded as guests, not as people of the directory.

use serde::{Deserialize, Serialize};

use crate::actor::AttestedIdentity;
use crate::ask::Ask;
use crate::directory::ContactMethod;
use crate::follow_up::{FollowUp, NotificationReason};
use crate::refusal::Refusal;
use crate::text::is_short;

/// The maximum number of people the agent may name.
const MOST_NAMED: usize = 100;

/// One such place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = Place))]
pub struct PostingAddress {
    /// The address.
    #[serde(rename = "to")]
    pub contact_method: ContactMethod,
    /// The platform's IDs of the people who can answer there; empty means everyone there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The message below which it is put, where the platform has threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

impl PostingAddress {
    /// Refuses an address that is not valid.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let invalid = |expected| Err(Refusal::Invalid { field: "place", expected });
        if self.contact_method == ContactMethod::Devices {
            return invalid("an address such as slack:C0123ABC or email:ada@example.com");
        }
        let said = |text: &String| !text.is_empty() && is_short(text);
        if self.only.len() > MOST_NAMED || !self.only.iter().all(said) {
            return invalid("at most 100 people, by ids of at most 200 bytes");
        }
        if !self.thread.as_ref().is_none_or(said) {
            return invalid("a thread named in at most 200 bytes");
        }
        Ok(())
    }

    /// Whether a guest may answer here. If the agent named people, only they may; else everyone in
    /// a shared place, or the owner of the address.
    fn admits(&self, who: &AttestedIdentity) -> bool {
        let id = &who.platform_user_id;
        let named = if self.only.is_empty() {
            self.contact_method.is_shared() || self.contact_method.address() == Some(id)
        } else {
            self.only.contains(id)
        };
        self.contact_method.kind() == who.platform && named
    }
}

impl Ask {
    /// Whether a guest who was reached at the agent's address may answer. If the agent named
    /// people, others may not.
    pub fn admits_guest(&self, guest: &AttestedIdentity) -> bool {
        let place = self.posting_address.as_ref().and_then(|place| place.value());
        place.is_some_and(|place| place.admits(guest))
    }

    /// The notification to the address the agent chose, if it chose one.
    pub(crate) fn posting_follow_up(&self, why: NotificationReason) -> Option<FollowUp> {
        let place = self.posting_address.as_ref()?.value()?;
        let (medium, to) = (place.contact_method.kind().to_owned(), place.contact_method.digest());
        Some(FollowUp::Post { ask: self.id, why, priority: self.priority, medium, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, ActorRef, AnswerInterface, Assurance};
    use crate::command::{AskCommand, NewAsk};
    use crate::testing::{Cast, new_ask, yes};

    fn someone(id: &str) -> AttestedIdentity {
        AttestedIdentity {
            via: "button".to_owned(),
            platform: "slack".to_owned(),
            platform_user_id: id.to_owned(),
            display_name: Some("Ada".to_owned()),
        }
    }

    fn placed(only: &[&str]) -> NewAsk {
        let only = only.iter().map(|id| (*id).to_owned()).collect();
        let place =
            PostingAddress { contact_method: "slack:C1".parse().unwrap(), only, thread: None };
        NewAsk { posting_address: Some(place), ..new_ask() }
    }

    /// The question goes to the address the agent named, and its owner finds it in the inbox.
    #[test]
    fn a_question_is_put_where_the_agent_wants() {
        let mut cast = Cast::new();
        let id = cast.ask(placed(&[]));
        let told: Vec<_> =
            cast.follow_ups().iter().filter(|effect| effect.ask() == Some(id)).collect();
        assert!(matches!(told[..], [FollowUp::Post { .. }]), "{told:?}");
        assert!(
            cast.seen(id).may_be_answered_by(
                cast.directory().human(&crate::testing::human("olga")).unwrap()
            )
        );
    }

    /// A2H-082: an answer by a person who was not named is refused, and the ask does not change.
    #[test]
    fn a_guest_answers_what_they_were_shown_and_nothing_else() {
        let mut cast = Cast::new();
        let (open, named, other) =
            (cast.ask(placed(&[])), cast.ask(placed(&["U1"])), cast.ask(new_ask()));
        let guest = |ask, id: &str| {
            let attested = someone(id);
            Actor::Guest { ask, via: AnswerInterface::Slack, attested }
        };
        let unknown = Err(Refusal::NotFound { what: "request" });
        for (actor, ask) in [
            (guest(named, "U2"), named),
            (guest(open, "U2"), named),
            (guest(other, "U2"), other),
            (guest(named, "U1"), other),
        ] {
            let before = cast.seen(ask).clone();
            assert_eq!(cast.attempt(actor, AskCommand::Answer(ask, yes())).map(drop), unknown);
            assert_eq!(*cast.seen(ask), before);
        }
        for (ask, id) in [(open, "U2"), (named, "U1")] {
            cast.run(guest(ask, id), AskCommand::Answer(ask, yes()));
            let resolution = cast.seen(ask).deciding_answer().unwrap();
            assert_eq!(
                (&resolution.by, resolution.via),
                (&ActorRef::Guest, AnswerInterface::Slack)
            );
            // The agent chose the address and it is unverified, so this is the agent's word.
            assert_eq!(resolution.assurance, Assurance::AgentAttested);
            let said = resolution.attested.as_ref().and_then(|said| said.value());
            assert_eq!(said, Some(&someone(id)));
        }
    }

    /// A phone number belongs to one person: another person who receives the message cannot answer
    /// it. A channel belongs to everyone in it.
    #[test]
    fn an_address_of_one_is_answered_by_that_one() {
        for (to, who, may) in [
            ("slack:C1", "U1", true),
            ("slack:U1", "U1", true),
            ("slack:U1", "U2", false),
            ("sms:+4930123456", "+4930123456", true),
            ("sms:+4930123456", "+4930999999", false),
            ("telegram:4711", "4712", false),
            ("telegram:-100123", "4712", true),
            ("webhook:ada", "bob", false),
        ] {
            let means: ContactMethod = to.parse().unwrap();
            let who = AttestedIdentity { platform: means.kind().to_owned(), ..someone(who) };
            let place = PostingAddress { contact_method: means, only: Vec::new(), thread: None };
            assert_eq!(place.admits(&who), may, "{to} {who:?}");
            // Only the people the agent names may answer.
            let named =
                PostingAddress { only: vec![who.platform_user_id.clone()], ..place.clone() };
            assert!(named.admits(&who), "{to}");
            assert!(!PostingAddress { only: vec!["X9".to_owned()], ..place }.admits(&who), "{to}");
        }
    }

    #[test]
    fn a_place_is_an_address() {
        let place = |only: Vec<String>, thread| PostingAddress {
            contact_method: "sms:+4930123456".parse().unwrap(),
            only,
            thread,
        };
        let good = place(vec!["U1".to_owned()], Some("1.2".to_owned()));
        assert_eq!(good.check(), Ok(()));
        for bad in [
            PostingAddress { contact_method: ContactMethod::Devices, ..good.clone() },
            place(vec![String::new()], None),
            place(vec!["x".repeat(201)], None),
            place(vec!["x".to_owned(); 101], None),
            place(Vec::new(), Some(String::new())),
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
