//! A person decides at a checkpoint, over HACP or through another interface: the ask is closed and
//! the task continues in one decision.

use serde_json::{Map, Value};

use super::command::NewResolution;
use super::permissions::{check_optional_text, is_storable_object, visible_checkpoint};
use super::{
    ALLOW, Checkpoint, CheckpointDetails, CheckpointKind, Duty, Resolution, ResolutionAction,
    ResolutionDetails, Role, Task, TaskEvent, VersionRef, reference,
};
use crate::actor::Actor;
use crate::ask::answer::AnswerProofs;
use crate::ask::{Ask, answer};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::{AskId, RunId};
use crate::question::{Answer, QuestionBody, Reply};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

const DECIDERS: &str = "only the principal and the reviewers of the task can resolve a checkpoint";

/// A decision over HACP.
pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    new: &NewResolution,
) -> Result<Decision, Stop> {
    let (ask, checkpoint, task) = visible_checkpoint(world, envelope, id)?;
    task.decider(&envelope.actor, DECIDERS)?;
    ask.check_open(world.now)?;
    ask.check_not_held(&envelope.actor)?;
    let Some(beside) = checkpoint.details.value() else {
        return Err(Refusal::NotAllowed { why: "the question was erased" }.into());
    };
    let said = resolution_details(new, beside)?;
    if let Some(agent) = &new.reassign_to {
        task.agent_for(world.directory, agent, "reassign_to")?;
    }
    let edited = said.edited_artifact_ref.as_ref();
    let edited = edited.map(|edited| use_edited(world, envelope, task, edited)).transpose()?;
    let mut decision = match ask_closure(ask, checkpoint.kind, new, &said)? {
        AskClosure::Answered(reply) => {
            answer::check_vote(world, envelope, ask, &reply, AnswerProofs::NONE, None)?.1
        }
        AskClosure::Beside(words) => {
            if let Actor::Human { assurance: have, .. } = envelope.actor {
                // It is judged as the closest answer: an action that stops the task needs less
                // assurance.
                let nearest = match new.action {
                    ResolutionAction::Reject => Answer::REJECTED,
                    ResolutionAction::Approve
                    | ResolutionAction::Choose
                    | ResolutionAction::Provide
                    | ResolutionAction::Reassign => Answer::Approved { edits: None },
                };
                ask.check_assurance(&nearest, have)?;
            }
            let mut salts = envelope.salts.clone();
            let reason = words.map(|text| Erasable::new(text, &mut salts));
            Decision::on(ask, AskEvent::Cancelled { reason, decided: Some(new.action) })
        }
    };
    decision.happened.extend(edited.into_iter().flat_map(|used| used.happened));
    resumed(world, envelope, task, ask.id, (new.action, new.reassign_to.clone(), said), decision)
}

/// The version with which the agent continues. The task uses it from now on, so its agent may read
/// it.
fn use_edited(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    edited: &VersionRef,
) -> Result<Decision, Stop> {
    match reference::usable(world, envelope, task, edited) {
        Ok(version) => Ok(reference::use_version(task, version, edited, Role::Input)),
        Err(stop @ (Stop::Need(_) | Stop::Refused(Refusal::NotFound { what: "artifact" }))) => {
            Err(stop)
        }
        Err(Stop::Refused(_)) => {
            let expected = "a version of an artifact that this task can use";
            Err(Refusal::Invalid { field: "edited_artifact_ref", expected }.into())
        }
    }
}

/// A decision through another interface, by an answer to the ask.
pub(crate) fn resolve_by_answer(
    world: &World<'_>,
    envelope: &Envelope,
    checkpoint: &Checkpoint,
    ask: &Ask,
    reply: &Reply,
    decision: Decision,
) -> Result<Decision, Stop> {
    let task = world.task(checkpoint.task)?;
    task.decider(&envelope.actor, DECIDERS)?;
    let (action, mut said) = from_reply(reply);
    let allowed = allowed(&mut said);
    if action == ResolutionAction::Approve
        && let Some(beside) = checkpoint.details.value()
    {
        // An approval of the whole approves every part.
        let all = beside.proposed_actions.iter().map(|proposed| proposed.id.clone());
        let yes = |id: &String| allowed.as_ref().is_none_or(|allowed| allowed.contains(id));
        (said.approved_actions, said.denied_actions) = all.partition(yes);
    }
    resumed(world, envelope, task, ask.id, (action, None, said), decision)
}

/// The proposed actions an approval allows, if it changes them. No other detail can be edited, so
/// no other edit is left for the agent.
fn allowed(said: &mut ResolutionDetails) -> Option<Vec<String>> {
    let patch = said.state_patch.as_mut()?;
    let allowed = patch.remove(ALLOW)?;
    said.state_patch = None;
    serde_json::from_value(allowed).ok()
}

/// The task continues or is closed, and its runtime receives the contract for that.
fn resumed(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    checkpoint: AskId,
    (action, reassign_to, said): (ResolutionAction, Option<crate::ids::AgentId>, ResolutionDetails),
    mut decision: Decision,
) -> Result<Decision, Stop> {
    if task.pending().is_none_or(|raised| raised.ask != checkpoint) {
        let why = "the task is not waiting for this checkpoint".to_owned();
        return Err(Refusal::Precondition { why }.into());
    }
    let fresh = RunId::new(envelope.fresh);
    match (action, &reassign_to) {
        (ResolutionAction::Reject, _) => decision.contracts.extend(task.cancel_contract()),
        (ResolutionAction::Reassign, Some(agent)) => {
            // Without this, the waiting run would wait forever, whether it belongs to the same
            // agent or to another.
            decision.contracts.extend(task.cancel_contract());
            decision.contracts.push(task.contract_for_new_run(agent, fresh, Duty::Handoff));
        }
        (_, _) => {
            decision
                .contracts
                .extend(task.current_run().map(|run| task.contract(run, Duty::Resume)));
        }
    }
    let run = reassign_to.is_some().then_some(fresh);
    let resolution = Box::new(Resolution {
        by: envelope.actor.to_ref(),
        action,
        reassign_to,
        details: Erasable::new(said, &mut envelope.salts.split()),
        at: world.now.max(task.head.at),
    });
    decision.happened.push(task.event(TaskEvent::Resolved { checkpoint, resolution, run }));
    Ok(decision)
}

/// The data of a resolution, if it fits the question.
fn resolution_details(
    new: &NewResolution,
    beside: &CheckpointDetails,
) -> Result<ResolutionDetails, Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    let mut said = new.details.clone();
    check_optional_text("comment", said.comment.as_deref())?;
    check_optional_text("input", said.input.as_deref())?;
    for (field, given, action) in [
        ("choice", said.choice.is_some(), ResolutionAction::Choose),
        ("input", said.input.is_some(), ResolutionAction::Provide),
        ("reassign_to", new.reassign_to.is_some(), ResolutionAction::Reassign),
    ] {
        match (given, new.action == action) {
            (false, true) => return invalid(field, "a value, because this action requires it"),
            (true, false) => {
                return invalid(field, "no value, because it belongs to another action");
            }
            (true, true) | (false, false) => {}
        }
    }
    if said.choice.as_ref().is_some_and(|id| !beside.options.iter().any(|has| has.id == *id)) {
        return invalid("choice", "the id of one of the options");
    }
    let proposed: Vec<_> = beside.proposed_actions.iter().map(|action| &action.id).collect();
    for (field, listed) in
        [("approved_actions", &said.approved_actions), ("denied_actions", &said.denied_actions)]
    {
        if !listed.iter().all(|id| proposed.contains(&id)) {
            return invalid(field, "IDs of actions that this checkpoint proposes");
        }
    }
    if said.approved_actions.iter().any(|id| said.denied_actions.contains(id)) {
        return invalid("denied_actions", "no ID that is also approved");
    }
    if !said.state_patch.as_ref().is_none_or(is_storable_object) {
        return invalid("state_patch", "an object without NUL characters");
    }
    // Naming no action approves all of them; naming some leaves the others out.
    if new.action == ResolutionAction::Approve
        && said.approved_actions.is_empty()
        && said.denied_actions.is_empty()
    {
        said.approved_actions = proposed.into_iter().cloned().collect();
    }
    Ok(said)
}

/// How a resolution closes the ask.
enum AskClosure {
    /// It answers the question.
    Answered(Reply),
    /// It does not answer the question: the ask is closed without an answer, with this text and the
    /// decision.
    Beside(Option<String>),
}

/// Only an approval takes a request for changes. For other questions, a decision that is none of
/// the offered answers still counts, but no dialect may show it as an answer to the question.
fn ask_closure(
    ask: &Ask,
    kind: CheckpointKind,
    new: &NewResolution,
    said: &ResolutionDetails,
) -> Result<AskClosure, Refusal> {
    // The task stores the complete text.
    let plain = |answer| AskClosure::Answered(Reply::truncated(answer, said.comment.as_deref()));
    let together = |text: &str| {
        let words = [Some(text), said.comment.as_deref()];
        words.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    };
    let changes =
        |text: &str| AskClosure::Answered(Reply::truncated(Answer::CHANGES, Some(&together(text))));
    let beside = |text: &str| AskClosure::Beside(Some(together(text)));
    let input = said.input.as_deref().unwrap_or_default();
    let choice = said.choice.clone().unwrap_or_default();
    let invalid = |expected| Err(Refusal::Invalid { field: "action", expected });
    let handed = || {
        let to = new.reassign_to.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("Handed to {to}.")
    };
    Ok(match (kind, new.action) {
        (CheckpointKind::Approval | CheckpointKind::Interrupt, ResolutionAction::Reassign) => {
            changes(&handed())
        }
        (
            CheckpointKind::Choice | CheckpointKind::Input | CheckpointKind::Escalation,
            ResolutionAction::Reassign,
        ) => beside(&handed()),
        (CheckpointKind::Approval | CheckpointKind::Interrupt, ResolutionAction::Approve) => {
            plain(Answer::Approved { edits: edited_actions(ask, said) })
        }
        (CheckpointKind::Approval | CheckpointKind::Interrupt, ResolutionAction::Reject) => {
            plain(Answer::REJECTED)
        }
        (CheckpointKind::Approval | CheckpointKind::Interrupt, ResolutionAction::Provide) => {
            changes(input)
        }
        (CheckpointKind::Choice | CheckpointKind::Escalation, ResolutionAction::Provide) => {
            beside(input)
        }
        (CheckpointKind::Choice, ResolutionAction::Choose) => {
            plain(Answer::Chosen { options: vec![choice] })
        }
        (CheckpointKind::Input, ResolutionAction::Provide) => {
            plain(Answer::Replied { text: input.to_owned() })
        }
        (CheckpointKind::Choice | CheckpointKind::Input, ResolutionAction::Reject) => {
            AskClosure::Beside(said.comment.clone())
        }
        (CheckpointKind::Escalation, ResolutionAction::Reject) => plain(Answer::Abort),
        (CheckpointKind::Escalation, ResolutionAction::Approve) => {
            plain(Answer::Retry { params: Map::new() })
        }
        (CheckpointKind::Escalation, ResolutionAction::Choose) => beside(&choice),
        (CheckpointKind::Approval | CheckpointKind::Interrupt, ResolutionAction::Choose) => {
            return invalid("approve, reject, provide or reassign");
        }
        (CheckpointKind::Choice, ResolutionAction::Approve) => {
            return invalid("choose, reject, provide or reassign");
        }
        (CheckpointKind::Input, ResolutionAction::Approve | ResolutionAction::Choose) => {
            return invalid("provide, reject or reassign");
        }
    })
}

/// The edits on the receipt of an approval: which proposed actions were left out.
fn edited_actions(ask: &Ask, said: &ResolutionDetails) -> Option<Map<String, Value>> {
    let QuestionBody::Approve { details, editable, .. } = ask.question.value()?.body() else {
        return None;
    };
    let proposed = details.get(ALLOW).filter(|_| editable.is_any())?.as_array()?;
    let allowed = |id: &&Value| said.approved_actions.iter().any(|yes| *id == yes);
    let allowed: Vec<Value> = proposed.iter().filter(allowed).cloned().collect();
    (allowed != *proposed).then(|| Map::from_iter([(ALLOW.to_owned(), Value::Array(allowed))]))
}

/// The HACP action and data of an answer from another interface.
fn from_reply(reply: &Reply) -> (ResolutionAction, ResolutionDetails) {
    let comment = reply.comment.clone();
    let plain = ResolutionDetails { comment: comment.clone(), ..ResolutionDetails::default() };
    let patched = |patch: &Option<Map<String, Value>>| ResolutionDetails {
        state_patch: patch.clone(),
        ..plain.clone()
    };
    let provided = |input: String| ResolutionDetails { input: Some(input), ..plain.clone() };
    match &reply.answer {
        Answer::Approved { edits } => (ResolutionAction::Approve, patched(edits)),
        Answer::Rejected { .. } | Answer::Declined | Answer::Abort => {
            (ResolutionAction::Reject, plain)
        }
        Answer::ChangesRequested { edits } => {
            let input = Some(comment.unwrap_or_default());
            (
                ResolutionAction::Provide,
                ResolutionDetails { input, comment: None, ..patched(edits) },
            )
        }
        Answer::Chosen { options } => (
            ResolutionAction::Choose,
            ResolutionDetails { choice: options.first().cloned(), ..plain },
        ),
        Answer::Provided { values } => {
            let values = serde_json::to_string(values).unwrap_or_default();
            (ResolutionAction::Provide, provided(values))
        }
        Answer::Confirmed { .. } => (ResolutionAction::Approve, plain),
        Answer::Retry { params } => {
            let patch = if params.is_empty() { None } else { Some(params.clone()) };
            (ResolutionAction::Approve, patched(&patch))
        }
        Answer::Skip => (ResolutionAction::Provide, provided("skip".to_owned())),
        Answer::Replied { text } => (ResolutionAction::Provide, provided(text.clone())),
    }
}

#[cfg(test)]
mod tests;
