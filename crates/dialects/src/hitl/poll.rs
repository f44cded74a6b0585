//! `GET /hitl/v1/reviews/{case_id}/status`, and the protocol's form of every answer. Sections 8 and
//! 10.

use kernel::actor::{ActorRef, AttestedIdentity};
use kernel::ask::{DefaultAction, Ending, OnExpiry, RecordedAnswer};
use kernel::audit::Erasable;
use kernel::question::{Answer, Reply};
use kernel::verification::{Proof, SubmitPath, Verification};
use kernel::{AnswerInterface, Ask, AskState, Time};
use serde_json::{Map, Value, json};

use super::question::RESPONSE;
use super::wire::{
    Answered, Poll, RespondedBy, Signature, SubmissionContext, Submitted, SubmittedBy,
    VerificationResult, VerifiedEvidence,
};
use super::{HitlVersion, case_id};
use crate::hacp_decision;

/// The date of a case that never expires, because the protocol requires one.
const NEVER: &str = "9999-12-31T23:59:59Z";
/// The action of an answer whose text was erased; the original action is no longer known.
const ERASED: &str = "erased";
/// The prefix of the reason if a reviewer requested changes to a case that cannot have them.
const CHANGES_REQUESTED: &str = "Changes requested";
/// The `responded_by` of a default taken without an answer.
const DEFAULTED_BY: &str = "no one: the default was taken after the deadline";

/// A case in its current state. `name` is the display name of the person who answered, if the agent
/// may know it; `signature` proves the result.
pub fn poll(ask: &Ask, name: Option<String>, signature: Option<Signature>) -> Poll {
    let mut poll = Poll {
        status: "pending",
        case_id: case_id(ask.id),
        created_at: ask.created_at,
        opened_at: ask.look.as_ref().map(|look| look.at),
        expires_at: ask.expires_at.map_or_else(|| NEVER.to_owned(), |at| at.to_string()),
        completed_at: None,
        result: None,
        responded_by: None,
        submission_context: None,
        expired_at: None,
        default_action: None,
        cancelled_at: None,
        reason: None,
        progress: None,
        reminder_sent_at: None,
        next_case_id: ask.followed_by.map(case_id),
    };
    match &ask.state {
        AskState::Pending => poll.reminder_sent_at = ask.reminded_at,
        AskState::Opened => {
            (poll.status, poll.reminder_sent_at) = ("opened", ask.reminded_at);
        }
        AskState::InProgress { progress } => {
            (poll.status, poll.progress) = ("in_progress", *progress);
        }
        AskState::Over { ending, .. } => match &**ending {
            // No action of the type means this, and clients would take any of them for an answer.
            Ending::Completed(resolution) if ask.changes_request().is_some() => {
                (poll.status, poll.cancelled_at) = ("cancelled", Some(resolution.at));
                poll.reason = changes_requested_reason(ask);
            }
            Ending::Completed(resolution) => {
                poll.status = "completed";
                poll.completed_at = Some(resolution.at);
                poll.result = Some(Answered { signature, ..answered(ask, resolution) });
                poll.responded_by = responded_by(resolution, name);
                poll.submission_context = submission_context(ask, resolution);
            }
            Ending::Expired { at, .. } | Ending::Failed { at } => {
                poll.status = "expired";
                (poll.expired_at, poll.default_action) = (Some(*at), Some(default_action(ask)));
            }
            Ending::Cancelled { at, .. } => {
                poll.status = "cancelled";
                poll.cancelled_at = Some(*at);
                poll.reason = hacp_decision::cancellation_reason(ending);
            }
        },
    }
    poll
}

/// The reason for a case that is no approval and got a request for changes: it was closed without
/// an answer. The server no longer accepts this; older records have it.
pub(super) fn changes_requested_reason(ask: &Ask) -> Option<String> {
    let (_, reply) = ask.changes_request()?;
    let comment = reply.comment.as_deref();
    Some(comment.map_or_else(
        || CHANGES_REQUESTED.to_owned(),
        |comment| format!("{CHANGES_REQUESTED}: {comment}"),
    ))
}

/// The person who answered, if the server knows it (HITL-101). A name that an agent attests is not
/// such knowledge (HITL-077).
pub(super) fn responded_by(
    resolution: &RecordedAnswer,
    name: Option<String>,
) -> Option<RespondedBy> {
    match resolution.by {
        ActorRef::System => Some(RespondedBy { name: DEFAULTED_BY.to_owned() }),
        ActorRef::Human(_) => name.map(|name| RespondedBy { name }),
        ActorRef::Agent(_) | ActorRef::LinkHolder | ActorRef::Relay | ActorRef::Guest => None,
    }
}

/// The result of an answered case.
pub fn result(ask: &Ask) -> Option<Answered> {
    ask.deciding_answer()
        .filter(|_| ask.changes_request().is_none())
        .map(|resolution| answered(ask, resolution))
}

/// The body of the response to an accepted answer.
pub fn submitted(ask: &Ask) -> Option<Submitted> {
    Some(Submitted {
        status: "completed",
        case_id: case_id(ask.id),
        completed_at: ask.deciding_answer()?.at,
        next_case_id: ask.followed_by.map(case_id),
    })
}

fn answered(ask: &Ask, resolution: &RecordedAnswer) -> Answered {
    let Some(Reply { answer, comment }) = resolution.reply.value() else {
        return Answered { action: ERASED, data: Map::new(), signature: None };
    };
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| {
        data.insert(key.to_owned(), value);
    };
    let (action, comment_key) = match answer {
        Answer::Approved { edits } => {
            if let Some(edits) = edits {
                put("edits", json!(edits));
            }
            ("approve", "feedback")
        }
        // Only an approval can have this answer, and `edit` is an action of approvals.
        Answer::ChangesRequested { edits } => {
            if let Some(edits) = edits {
                put("edits", json!(edits));
            }
            ("edit", "feedback")
        }
        Answer::Rejected { option } => {
            if let Some(option) = option {
                put("option", json!(option));
            }
            ("reject", "feedback")
        }
        Answer::Chosen { options } => {
            put("selected", json!(options));
            ("select", "note")
        }
        Answer::Provided { values } => {
            for (key, value) in values.iter() {
                put(key, value.clone());
            }
            ("submit", "note")
        }
        Answer::Replied { text } => {
            put(RESPONSE, json!(text));
            ("submit", "note")
        }
        Answer::Confirmed { items } => {
            put("confirmed_items", json!(items));
            ("confirm", "note")
        }
        Answer::Declined => ("cancel", "note"),
        Answer::Retry { params } => {
            if !params.is_empty() {
                put("modified_params", json!(params));
            }
            ("retry", "reason")
        }
        Answer::Skip => ("skip", "reason"),
        Answer::Abort => ("abort", "reason"),
    };
    // A form field may have this name; the field then takes precedence.
    if let Some(comment) = comment
        && !form_has(ask, comment_key)
    {
        put(comment_key, json!(comment));
    }
    Answered { action, data, signature: None }
}

fn form_has(ask: &Ask, key: &str) -> bool {
    use kernel::question::QuestionBody;
    match ask.question.value().map(kernel::question::Question::body) {
        Some(QuestionBody::Provide { form }) => form.field(key).is_some(),
        Some(
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse,
        )
        | None => false,
    }
}

/// How a case of version 0.8 was answered (HITL-227).
pub(super) fn submission_context(
    ask: &Ask,
    resolution: &RecordedAnswer,
) -> Option<SubmissionContext> {
    if HitlVersion::of(ask) != HitlVersion::V08 {
        return None;
    }
    let attested = resolution.attested.as_deref().and_then(Erasable::value).cloned();
    let verification_result = verification_result(ask, resolution);
    Some(match (resolution.via, attested) {
        (
            AnswerInterface::Inline,
            Some(AttestedIdentity { via, platform, platform_user_id, display_name }),
        ) => SubmissionContext {
            mode: "inline_submit",
            submitted_via: Some(via),
            submitted_by: Some(SubmittedBy { platform, platform_user_id, display_name }),
            verification_result,
        },
        _ => SubmissionContext {
            mode: "browser_submit",
            submitted_via: None,
            submitted_by: None,
            verification_result,
        },
    })
}

/// The result of verification, if proofs were required or sent (HITL-226). A signed-in person needs
/// none. If an answer by link would have needed proofs, the result says that there are none.
fn verification_result(ask: &Ask, resolution: &RecordedAnswer) -> Option<VerificationResult> {
    if let Some(found) = &resolution.verification {
        return Some(found.as_ref().into());
    }
    let policy = ask.verification.as_ref()?;
    let stance = resolution.reply.value().map(|reply| reply.answer.stance());
    let wanted = matches!(resolution.by, ActorRef::Human(_))
        && stance.is_some_and(|stance| policy.requires_proofs(SubmitPath::BrowserSubmit, stance));
    wanted.then(|| VerificationResult {
        satisfied: false,
        verified_evidence: Vec::new(),
        missing_requirements: vec![format!(
            "{}: not required of a signed-in person",
            policy.describe()
        )],
    })
}

impl From<&Verification> for VerificationResult {
    fn from(found: &Verification) -> Self {
        let evidence = |proof: &Proof| VerifiedEvidence {
            proof_type: proof.proof_type.clone(),
            provider: proof.provider.clone(),
            assurance_level: proof.assurance,
            bound_to_case: proof.bound_to_case,
            bound_to_action: proof.bound_to_action,
            // The server records only fresh proofs.
            fresh: true,
            single_use_enforced: proof.single_use,
            verified_at: proof.verified_at,
        };
        Self {
            satisfied: found.satisfied,
            verified_evidence: found.proofs.iter().map(evidence).collect(),
            missing_requirements: found.missing.clone(),
        }
    }
}

/// What the agent does without an answer (HITL-099, HITL-150). A failure counts as an abort.
pub(super) fn default_action(ask: &Ask) -> &'static str {
    let action = match (ask.ending(), &ask.on_expiry) {
        (Some(Ending::Expired { report, .. }), _) => *report,
        (_, OnExpiry::Report { action }) => *action,
        (_, OnExpiry::Fail) => DefaultAction::Abort,
        (_, OnExpiry::StayOpen | OnExpiry::Answer { .. }) => DefaultAction::Skip,
    };
    match action {
        DefaultAction::Skip => "skip",
        DefaultAction::Approve => "approve",
        DefaultAction::Reject => "reject",
        DefaultAction::Abort => "abort",
    }
}

/// When the case expires; the latest possible time if it never does.
pub(super) fn expires_at(ask: &Ask) -> Time {
    ask.expires_at.unwrap_or_else(|| Time::from_millis(i64::MAX))
}
