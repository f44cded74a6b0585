//! How an ask ended, typed by its kind.

use kernel::ActorRef;

use super::{Approval, Kind};
use crate::{Ask, ClientError, Ended, Result};

/// How an ask ended. Only [`AnswerState::Answered`] is an answer. A timeout is never reported as
/// one, and [an outcome without a person is never an approval](crate).
#[derive(Debug, Clone)]
pub struct Outcome<T> {
    /// The answer, if there is one.
    pub said: AnswerState<T>,
    /// Who ended it, when, with which assurance and which comment. The receipt is on the ask.
    pub ended: Ended,
    /// The ask in its final state.
    pub ask: Ask,
}

/// The answer, if there is one.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerState<T> {
    /// A person gave this answer.
    Answered(T),
    /// The ask timed out, and this default was taken.
    Defaulted(T),
    /// This answer was revoked; the reason is in [`Ask::revoked`].
    Revoked(T),
    /// The ask timed out; the agent should `skip`, `approve`, `reject` or `abort`.
    Expired(String),
    /// The ask timed out, and the agent wanted that to be a failure.
    Failed,
    /// The ask was withdrawn.
    Cancelled,
    /// The answer was erased.
    Erased,
}

impl<T> Outcome<T> {
    /// How a closed ask ended, for example one from [`Events`](crate::Events);
    /// [`ClientError::StillOpen`] if it is not closed.
    pub fn of<K: Kind<Answer = T>>(ask: Ask) -> Result<Self> {
        let Some(ended) = ask.result.clone() else {
            return Err(ClientError::StillOpen { ask: ask.id });
        };
        let said = match ended.outcome.as_str() {
            "completed" => match &ended.answer {
                None => AnswerState::Erased,
                Some(answer) => {
                    let unexpected = || ClientError::Unexpected(answer.to_string());
                    let typed = ended.typed_answer().ok_or_else(unexpected)?;
                    let typed = K::typed_answer(typed).ok_or_else(unexpected)?;
                    if ask.revoked.is_some() {
                        AnswerState::Revoked(typed)
                    } else if ended.is_by_a_person() {
                        AnswerState::Answered(typed)
                    } else {
                        AnswerState::Defaulted(typed)
                    }
                }
            },
            "expired" => AnswerState::Expired(ended.report.clone().unwrap_or_default()),
            "failed" => AnswerState::Failed,
            "cancelled" => AnswerState::Cancelled,
            other => return Err(ClientError::Unexpected(other.to_owned())),
        };
        Ok(Self { said, ended, ask })
    }

    /// A person's answer, if there is one and it was not revoked.
    pub fn answer(&self) -> Option<&T> {
        match &self.said {
            AnswerState::Answered(said) => Some(said),
            AnswerState::Defaulted(_)
            | AnswerState::Revoked(_)
            | AnswerState::Expired(_)
            | AnswerState::Failed
            | AnswerState::Cancelled
            | AnswerState::Erased => None,
        }
    }

    /// Whether a person answered, and not a default on timeout.
    pub fn is_by_a_person(&self) -> bool {
        self.answer().is_some()
    }

    pub fn who(&self) -> &ActorRef {
        &self.ended.by
    }

    pub fn comment(&self) -> Option<&str> {
        self.ended.comment.as_deref()
    }

    pub fn receipt(&self) -> Option<&str> {
        self.ask.receipt.as_deref()
    }
}

impl Outcome<Approval> {
    /// Whether a person approved and the approval was not revoked. An expired ask is not approved,
    /// whatever its report or its default says.
    pub fn is_approved(&self) -> bool {
        matches!(self.answer(), Some(Approval::Approved { .. }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::asking::Approve;

    /// An approval with these members.
    fn approved(by: &Value, assurance: Option<&str>, via: &str) -> Value {
        json!({
            "id": "ask_1", "version": 2, "state": "completed", "kind": "approve",
            "question": null, "receipt": "a.b.c", "revoked": null,
            "result": {
                "outcome": "completed", "answer": { "verdict": "approved" }, "by": by,
                "via": via, "assurance": assurance, "at": "2026-11-15T06:01:00.000Z",
            },
        })
    }

    fn outcome(ask: Value) -> Outcome<Approval> {
        Outcome::of::<Approve>(serde_json::from_value(ask).unwrap()).unwrap()
    }

    fn human() -> Value {
        json!({ "kind": "human", "id": "ada" })
    }

    const YES: Approval = Approval::Approved { edits: None };

    #[test]
    fn nothing_but_a_persons_approval_is_one() {
        let agent = json!({ "kind": "agent", "id": "bot" });
        for by in [human(), agent, json!({ "kind": "system" })] {
            for word in ["none", "agent-attested", "link", "channel", "session", "passkey"] {
                let personal = by["kind"] == "human" && !matches!(word, "none" | "agent-attested");
                let outcome = outcome(approved(&by, Some(word), "web"));
                assert_eq!(outcome.is_approved(), personal, "{by} {word}");
                assert_eq!(outcome.is_by_a_person(), personal, "{by} {word}");
                let said =
                    if personal { AnswerState::Answered(YES) } else { AnswerState::Defaulted(YES) };
                assert_eq!(outcome.said, said, "{by} {word}");
            }
        }
        assert!(!outcome(approved(&human(), None, "web")).is_approved());
    }

    #[test]
    fn scripted_people_count_as_people() {
        assert!(outcome(approved(&human(), Some("session"), "script")).is_approved());
    }

    #[test]
    fn what_was_revoked_says_why_and_is_no_approval() {
        let revoked = json!({ "at": "2026-11-16T00:00:00.000Z", "reason": "stolen" });
        for by in [human(), json!({ "kind": "system" })] {
            let mut ask = approved(&by, Some("session"), "web");
            ask["revoked"] = revoked.clone();
            let outcome = outcome(ask);
            assert_eq!(outcome.said, AnswerState::Revoked(YES));
            assert!(!outcome.is_approved() && outcome.answer().is_none());
            assert_eq!(outcome.ask.revoked.unwrap().reason.as_deref(), Some("stolen"));
        }
    }
}
