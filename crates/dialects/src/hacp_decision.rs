//! Checkpoints that a person settled over HACP with a decision that does not answer the question: a
//! rejection where none was offered, an answer in other words, or a reassignment to another agent.
//! The other dialects show such an ask as cancelled and report the decision.

use kernel::ask::Ending;
use kernel::audit::Erasable;
use kernel::task::ResolutionAction;

/// A decision, and the person's words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HacpDecision<'a> {
    pub(crate) action: ResolutionAction,
    words: Option<&'a Erasable<String>>,
}

impl<'a> HacpDecision<'a> {
    /// The decision that ended the ask, if one did.
    pub(crate) fn of(ending: &'a Ending) -> Option<Self> {
        match ending {
            Ending::Cancelled { decided: Some(action), reason, .. } => {
                Some(Self { action: *action, words: reason.as_ref() })
            }
            Ending::Cancelled { decided: None, .. }
            | Ending::Completed(_)
            | Ending::Expired { .. }
            | Ending::Failed { .. } => None,
        }
    }

    /// The person's words, if they wrote any and they were not erased.
    pub(crate) fn words(self) -> Option<&'a str> {
        self.words.and_then(Erasable::value).map(String::as_str)
    }

    /// The decision as a sentence.
    pub(crate) fn sentence(self) -> String {
        let what = match self.action {
            ResolutionAction::Reject => "Rejected",
            ResolutionAction::Approve => "Approved",
            ResolutionAction::Choose => "Chosen",
            ResolutionAction::Provide => "Answered",
            ResolutionAction::Reassign => "Reassigned",
        };
        match self.words() {
            Some(words) => format!("{what}: {words}"),
            None if self.words.is_some() => format!("{what}. The text was erased."),
            None => format!("{what} without a comment."),
        }
    }
}

/// Why an ask was cancelled, as the agent sees it: the decision, if there was one.
pub(crate) fn cancellation_reason(ending: &Ending) -> Option<String> {
    match (HacpDecision::of(ending), ending) {
        (Some(settled), _) => Some(settled.sentence()),
        (None, Ending::Cancelled { reason, .. }) => {
            reason.as_ref().and_then(Erasable::value).cloned()
        }
        (None, Ending::Completed(_) | Ending::Expired { .. } | Ending::Failed { .. }) => None,
    }
}
