//! A person judges what was delivered.

use super::command::NewReview;
use super::evolve::Tally;
use super::may::{seen, text};
use super::{Duty, Review, State, Task, TaskEvent, Verdict, VersionRef};
use crate::actor::Actor;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{ReviewId, TaskId};
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::world::{Decision, Stop, World};

/// More than this is another document.
const MOST: usize = 1000;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewReview,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    let Actor::Human { id: reviewer, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only a person reviews" }.into());
    };
    world.directory.person(&envelope.actor)?;
    task.stands_in(&[State::ReviewReady, State::UnderReview])?;
    let named = match &task.review_policy {
        Some(policy) => policy.required_reviewers.contains(reviewer),
        None => *reviewer == task.principal,
    };
    if !named {
        let why = "only the reviewers of the task review it, or its principal if it names none";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let artifact = judged(task, new)?;
    check(new)?;
    let review = Box::new(Review {
        id: ReviewId::new(envelope.fresh),
        artifact,
        kind: new.kind,
        reviewer: reviewer.clone(),
        verdict: new.verdict,
        words: Erasable::new(new.words.clone(), &mut envelope.salts.clone()),
        at: world.now.max(task.head.at),
        remarks: Vec::new(),
    });
    let mut with = task.clone();
    with.reviews.push((*review).clone());
    let mut decision = task.decided(TaskEvent::Reviewed { review });
    let duty = match with.tally(new.kind, new.verdict) {
        Tally::Rework | Tally::PlanApproved => Some(Duty::Resume),
        Tally::Rejected => Some(Duty::Cancel),
        Tally::Accepted => {
            decision.happened.push(task.event(TaskEvent::Completed));
            None
        }
        Tally::Pending => None,
    };
    let wanted = duty.zip(task.running()).map(|(duty, run)| task.wants(run, duty));
    decision.contracts.extend(wanted);
    Ok(decision)
}

/// The version that is judged: the newest of what the task delivered.
fn judged(task: &Task, new: &NewReview) -> Result<VersionRef, Refusal> {
    let newest = |wanted: &&VersionRef| new.artifact.is_none_or(|id| wanted.id == id);
    let Some(delivered) = task.delivered.iter().rev().find(newest) else {
        let expected = "an artifact this task delivered";
        return Err(Refusal::Invalid { field: "art_id", expected });
    };
    match &new.version {
        Some(version) if *version != delivered.version => {
            let known = VersionRef { id: delivered.id, version: version.clone() };
            if task.delivered.contains(&known) {
                let why = format!("{} is the newest version", delivered.version);
                return Err(Refusal::Precondition { why });
            }
            let expected = "a version this task delivered";
            Err(Refusal::Invalid { field: "version", expected })
        }
        Some(_) | None => Ok(delivered.clone()),
    }
}

fn check(new: &NewReview) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    let wants = new.verdict == Verdict::ChangesRequested;
    if wants == new.words.requested_changes.is_empty() {
        let expected = "what has to change, and only with changes_requested";
        return invalid("requested_changes", expected);
    }
    for change in &new.words.requested_changes {
        text("requested_changes", change)?;
    }
    if new.words.comments.len() > MOST || new.words.requested_changes.len() > MOST {
        return invalid("comments", "at most 1000");
    }
    new.words.comments.iter().try_for_each(comment)
}

/// The refusal for a comment that says nothing, or too much.
pub(super) fn comment(comment: &super::Comment) -> Result<(), Refusal> {
    text("comment.body", &comment.body)?;
    if !comment.anchor.as_deref().is_none_or(is_short) {
        let expected = "a place of at most 200 bytes, without NUL";
        return Err(Refusal::Invalid { field: "comment.anchor", expected });
    }
    Ok(())
}
