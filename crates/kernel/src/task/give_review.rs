//! A person reviews a delivery.

use super::command::NewReview;
use super::evolve::ReviewResult;
use super::permissions::{check_text, visible_task};
use super::{
    AnchoredComment, Autonomy, Duty, ForReview, Review, ReviewKind, ReviewText, Severity, Task,
    TaskEvent, TaskState, Verdict, VersionRef,
};
use crate::actor::Actor;
use crate::ask::answer::AnswerProofs;
use crate::ask::{Ask, answer};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{ReviewId, TaskId};
use crate::question::{Answer, AnswerKind, Reply};
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::world::{Decision, Stop, World};

/// The maximum number of comments and requested changes.
const MOST: usize = 1000;

/// A review over HACP. It is the same decision as an answer to the ask, so it is recorded there as
/// a vote.
pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewReview,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    let mut judged = weigh_review(world, envelope, task, new)?;
    let asked = task.judged_in.map(|id| world.ask(id)).transpose()?;
    // A held answer counts as the answer, even if it is due and not committed yet.
    let counts = |ask: &&Ask| ask.held.is_some() || ask.check_open(world.now).is_ok();
    if let Some(ask) = asked.filter(counts) {
        let said = as_reply(new);
        let (_, vote) = answer::check_vote(
            world,
            envelope,
            ask,
            &said,
            AnswerProofs::NONE,
            Some(judged.decisive),
        )?;
        judged.decision.happened.splice(0..0, vote.happened);
    } else {
        check_assurance(world, envelope, task)?;
    }
    Ok(judged.decision)
}

/// Refuses a review with less assurance than the project requires, where no ask checks it.
fn check_assurance(world: &World<'_>, envelope: &Envelope, task: &Task) -> Result<(), Refusal> {
    let need = task.minimum_assurance(world.directory);
    match envelope.actor {
        Actor::Human { assurance: have, .. } if have < need => {
            Err(Refusal::AssuranceTooLow { have, need })
        }
        Actor::Human { .. }
        | Actor::Agent { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => Ok(()),
    }
}

/// A review through another interface, by an answer to the ask.
pub(crate) fn review_by_answer(
    world: &World<'_>,
    envelope: &Envelope,
    review: &ForReview,
    ask: &Ask,
    reply: &Reply,
    proofs: AnswerProofs<'_>,
) -> Result<Decision, Stop> {
    let task = world.task(review.task)?;
    // An actor who may not see the ask does not learn who reviewed it either.
    if !ask.is_visible_to(&envelope.actor, world.directory) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.check_open(world.now)?;
    let judged = weigh_review(world, envelope, task, &from_reply(task, review, reply))?;
    let (_, mut decision) =
        answer::check_vote(world, envelope, ask, reply, proofs, Some(judged.decisive))?;
    decision.happened.extend(judged.decision.happened);
    decision.contracts.extend(judged.decision.contracts);
    Ok(decision)
}

/// A review, combined with the earlier ones.
struct WeighedReview {
    decision: Decision,
    /// Whether it changes the state of the task.
    decisive: bool,
}

fn weigh_review(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    new: &NewReview,
) -> Result<WeighedReview, Stop> {
    let Actor::Human { id: reviewer, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only a person can review" }.into());
    };
    world.directory.person(&envelope.actor)?;
    if !task.reviewers().contains(reviewer) {
        let why = "only the reviewers of the task, or its principal if it has no reviewers, can \
                   review it";
        return Err(Refusal::NotAllowed { why }.into());
    }
    task.check_state(&[TaskState::ReviewReady, TaskState::UnderReview])?;
    let artifact = reviewed_version(task, new)?;
    check(new)?;
    let review = Box::new(Review {
        id: ReviewId::new(envelope.fresh),
        artifact,
        kind: new.kind,
        reviewer: reviewer.clone(),
        verdict: new.verdict,
        text: Erasable::new(new.text.clone(), &mut envelope.salts.split()),
        at: world.now.max(task.head.at),
        remarks: Vec::new(),
    });
    let mut with = task.clone();
    with.reviews.push((*review).clone());
    let tally = with.review_result(new.kind, new.verdict);
    let mut decision = task.decided(TaskEvent::Reviewed { review });
    let duty = match tally {
        ReviewResult::Rework | ReviewResult::PlanApproved => Some(Duty::Resume),
        ReviewResult::Rejected => Some(Duty::Cancel),
        ReviewResult::Accepted => {
            decision.happened.push(task.event(TaskEvent::Completed));
            None
        }
        ReviewResult::Pending => None,
    };
    let wanted = duty.zip(task.current_run()).map(|(duty, run)| task.contract(run, duty));
    decision.contracts.extend(wanted);
    Ok(WeighedReview { decision, decisive: tally != ReviewResult::Pending })
}

/// A review as an answer to the question of the ask.
fn as_reply(new: &NewReview) -> Reply {
    let comments = new.text.comments.iter().map(|comment| comment.body.as_str());
    let words = new.text.requested_changes.iter().map(String::as_str).chain(comments);
    let words = words.collect::<Vec<_>>().join("\n\n");
    let answer = match new.verdict {
        Verdict::Approved => Answer::Approved { edits: None },
        Verdict::ChangesRequested => Answer::CHANGES,
        Verdict::Rejected => Answer::REJECTED,
    };
    Reply::truncated(answer, if words.is_empty() { None } else { Some(&words) })
}

/// An answer as a review. If the plan must be approved first, the answer is about the plan until it
/// is approved.
fn from_reply(task: &Task, review: &ForReview, reply: &Reply) -> NewReview {
    let planned = task
        .reviews
        .iter()
        .any(|review| review.kind == ReviewKind::Plan && review.verdict == Verdict::Approved);
    let plan = task.autonomy == Autonomy::PlanThenImplement && !planned;
    let comment = reply.comment.clone();
    let (verdict, requested_changes) = match reply.answer.stance() {
        AnswerKind::Approve => (Verdict::Approved, Vec::new()),
        AnswerKind::Change => (Verdict::ChangesRequested, comment.clone().into_iter().collect()),
        AnswerKind::Reject
        | AnswerKind::Choose
        | AnswerKind::Provide
        | AnswerKind::Confirm
        | AnswerKind::Decline
        | AnswerKind::Retry
        | AnswerKind::Skip
        | AnswerKind::Abort
        | AnswerKind::Reply => (Verdict::Rejected, Vec::new()),
    };
    let remark = |body| AnchoredComment { anchor: None, severity: Severity::Minor, body };
    let comments = match verdict {
        Verdict::ChangesRequested => Vec::new(),
        Verdict::Approved | Verdict::Rejected => comment.map(remark).into_iter().collect(),
    };
    NewReview {
        artifact: Some(review.artifact.id),
        version: Some(review.artifact.version.clone()),
        kind: if plan { ReviewKind::Plan } else { ReviewKind::Deliverable },
        verdict,
        text: ReviewText { comments, requested_changes },
    }
}

/// The reviewed version: the last one the task delivered, and no earlier one.
fn reviewed_version(task: &Task, new: &NewReview) -> Result<VersionRef, Refusal> {
    let named = |made: &&VersionRef| {
        new.artifact.is_none_or(|id| made.id == id)
            && new.version.as_ref().is_none_or(|version| made.version == *version)
    };
    let ours = |id| task.delivered.iter().any(|made| made.id == id);
    match (task.delivered.last(), task.delivered.iter().rfind(named)) {
        (Some(last), Some(named)) if last == named => Ok(last.clone()),
        (Some(last), Some(_)) => {
            let why = format!(
                "only the latest delivery can be reviewed, which is {} of {}",
                last.version, last.id
            );
            Err(Refusal::Precondition { why })
        }
        (Some(_), None) if new.artifact.is_none_or(ours) => {
            let expected = "a version this task delivered";
            Err(Refusal::Invalid { field: "version", expected })
        }
        // Spec, operation 14: the artifact belongs to the task.
        (Some(_) | None, _) => {
            let why = "this task did not deliver the artifact".to_owned();
            Err(Refusal::Precondition { why })
        }
    }
}

fn check(new: &NewReview) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    let wants = new.verdict == Verdict::ChangesRequested;
    if wants == new.text.requested_changes.is_empty() {
        let expected = "at least one change with changes_requested, and none otherwise";
        return invalid("requested_changes", expected);
    }
    for change in &new.text.requested_changes {
        check_text("requested_changes", change)?;
    }
    if new.text.comments.len() > MOST || new.text.requested_changes.len() > MOST {
        return invalid("comments", "at most 1000");
    }
    new.text.comments.iter().try_for_each(check_comment)
}

/// Refuses a comment that is empty or too long.
pub(super) fn check_comment(comment: &AnchoredComment) -> Result<(), Refusal> {
    check_text("comment.body", &comment.body)?;
    if !comment.anchor.as_deref().is_none_or(is_short) {
        let expected = "a location of at most 200 bytes without NUL characters";
        return Err(Refusal::Invalid { field: "comment.anchor", expected });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
