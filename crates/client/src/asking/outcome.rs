//! How an ask ended, typed by its kind.

use kernel::By;

use super::{Approval, Kind};
use crate::{Ask, ClientError, Ended, Result};

/// How an ask ended. Only [`Said::Answered`] is an answer: time that ran out never looks like one.
#[derive(Debug, Clone)]
pub struct Outcome<T> {
    /// What was said, if anything was.
    pub said: Said<T>,
    /// Who, when, how sure; the comment; the receipt is on the ask.
    pub ended: Ended,
    /// The ask as it ended.
    pub ask: Ask,
}

/// What was said, if anything was.
#[derive(Debug, Clone, PartialEq)]
pub enum Said<T> {
    /// This. By a person, or by the default the agent chose for silence: [`Outcome::is_by_a_person`]
    /// tells.
    Answered(T),
    /// Nothing: time ran out, and the agent is to `skip`, `approve`, `reject` or `abort`.
    Expired(String),
    /// Nothing: time ran out, and the agent wanted that to be a failure.
    Failed,
    /// Nothing: it was withdrawn.
    Cancelled,
    /// Something, but the words were erased since.
    Erased,
}

impl<T> Outcome<T> {
    pub(super) fn of<K: Kind<Said = T>>(ask: Ask) -> Result<Self> {
        let Some(ended) = ask.result.clone() else {
            return Err(ClientError::StillOpen { ask: ask.id });
        };
        let said = match ended.outcome.as_str() {
            "completed" => match &ended.answer {
                None => Said::Erased,
                Some(answer) => {
                    let unexpected = || ClientError::Unexpected(answer.to_string());
                    let typed = ended.said().ok_or_else(unexpected)?;
                    Said::Answered(K::said(typed).ok_or_else(unexpected)?)
                }
            },
            "expired" => Said::Expired(ended.report.clone().unwrap_or_default()),
            "failed" => Said::Failed,
            "cancelled" => Said::Cancelled,
            other => return Err(ClientError::Unexpected(other.to_owned())),
        };
        Ok(Self { said, ended, ask })
    }

    /// What was said, if anything was.
    pub fn answer(&self) -> Option<&T> {
        match &self.said {
            Said::Answered(said) => Some(said),
            Said::Expired(_) | Said::Failed | Said::Cancelled | Said::Erased => None,
        }
    }

    /// Whether a person said it, and not the agent's own default for silence.
    pub fn is_by_a_person(&self) -> bool {
        self.answer().is_some() && self.ended.is_by_a_person()
    }

    /// Who ended it.
    pub fn who(&self) -> &By {
        &self.ended.by
    }

    /// The words that go with it.
    pub fn comment(&self) -> Option<&str> {
        self.ended.comment.as_deref()
    }

    /// The signed receipt.
    pub fn receipt(&self) -> Option<&str> {
        self.ask.receipt.as_deref()
    }
}

impl Outcome<Approval> {
    /// Whether the answer is yes. An ask that expired is not approved, whatever its report says.
    pub fn is_approved(&self) -> bool {
        matches!(self.answer(), Some(Approval::Approved { .. }))
    }
}
