//! Which asks may be answered together with others in one bulk action.

use super::{Ask, Priority};
use crate::actor::Assurance;
use crate::question::{Answer, QuestionBody, Reply};
use crate::refusal::Refusal;

impl Ask {
    /// Refuses an ask that must be answered individually: it demands more than a session, or its
    /// approval needs a confirmation.
    pub fn allows_bulk(&self) -> Result<(), Refusal> {
        if self.minimum_assurance > Assurance::Session {
            let why = "answering it requires a passkey confirmation";
            return Err(Refusal::NotAllowed { why });
        }
        if self.is_irreversible() {
            return Err(Refusal::NotAllowed { why: "it is marked as irreversible" });
        }
        if self.priority == Priority::Critical {
            return Err(Refusal::NotAllowed { why: "it is critical" });
        }
        Ok(())
    }

    /// The reply that a bulk answer gives to this ask. Refused if the ask needs a more specific
    /// answer.
    pub fn bulk_reply(&self, reply: &Reply) -> Result<Reply, Refusal> {
        self.allows_bulk()?;
        let body = self.question.value().map(crate::question::Question::body);
        let own = |why| Err(Refusal::NotAllowed { why });
        let answer = match (&reply.answer, body) {
            (
                Answer::Rejected { option: None },
                Some(QuestionBody::Approve { reject_requires_reason: true, .. }),
            ) => {
                return own("rejecting it requires a reason of its own");
            }
            (Answer::Rejected { option: Some(_) }, _) => {
                return own(
                    "a reason chosen from a request's options applies to that request only",
                );
            }
            // Confirming a list in bulk confirms all of its items.
            (Answer::Confirmed { .. }, Some(QuestionBody::Confirm { items, .. })) => {
                Answer::Confirmed { items: items.iter().map(|item| item.id.clone()).collect() }
            }
            (
                Answer::Approved { edits: Some(_) } | Answer::ChangesRequested { edits: Some(_) },
                _,
            ) => {
                return own("changed details apply to one request only");
            }
            (Answer::Provided { .. } | Answer::Replied { .. }, _) => {
                return own("a provided value or reply applies to one request only");
            }
            (answer, _) => answer.clone(),
        };
        Ok(Reply { answer, comment: reply.comment.clone() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::actor::Actor;
    use crate::command::{DirectoryCommand, NewAsk};
    use crate::directory::NewProject;
    use crate::question::{Choice, Question};
    use crate::testing::{Cast, new_ask, no, yes};

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn with(body: QuestionBody) -> NewAsk {
        NewAsk { question: Question::new("So?", None, body).unwrap(), ..new_ask() }
    }

    fn approve(details: &Value, reason: bool) -> NewAsk {
        let details = object(details);
        with(QuestionBody::Approve {
            details,
            editable: true.into(),
            reject_requires_reason: reason,
            reject_options: Vec::new(),
        })
    }

    #[test]
    fn one_word_for_many_is_an_answer_where_nothing_more_is_wanted() {
        let mut cast = Cast::new();
        let items = vec![Choice::plain("a"), Choice::plain("b")];
        let confirm = with(QuestionBody::Confirm { items, yes: "Go".into(), no: "Stop".into() });
        let marked = |metadata: Value| NewAsk { metadata: object(&metadata), ..new_ask() };
        let say = |answer| Reply { answer, comment: None };
        let confirmed = |items: &[&str]| {
            say(Answer::Confirmed { items: items.iter().map(ToString::to_string).collect() })
        };
        let edits = Some(object(&json!({ "n": 2 })));
        for (new, reply, expected) in [
            (new_ask(), *yes(), Some(*yes())),
            (new_ask(), *no(), Some(*no())),
            (approve(&json!({}), true), *yes(), Some(*yes())),
            (approve(&json!({}), true), *no(), None),
            (approve(&json!({ "n": 1 }), false), say(Answer::Approved { edits }), None),
            (approve(&json!({ "irreversible": true }), false), *yes(), None),
            (approve(&json!({ "irreversible": false }), false), *yes(), Some(*yes())),
            (marked(json!({ "irreversible": true })), *yes(), None),
            (marked(json!({ "hitl": { "context": { "irreversible": true } } })), *no(), None),
            (NewAsk { priority: Priority::Critical, ..new_ask() }, *yes(), None),
            (NewAsk { priority: Priority::High, ..new_ask() }, *yes(), Some(*yes())),
            (confirm.clone(), confirmed(&[]), Some(confirmed(&["a", "b"]))),
            (confirm, say(Answer::Declined), Some(say(Answer::Declined))),
            (with(QuestionBody::Converse), say(Answer::Replied { text: "hi".into() }), None),
        ] {
            let id = cast.ask(new);
            assert_eq!(cast.seen(id).bulk_reply(&reply).ok(), expected, "{reply:?}");
        }
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Passkey, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let id = cast.ask(new_ask());
        assert!(cast.seen(id).bulk_reply(&yes()).is_err());
    }
}
