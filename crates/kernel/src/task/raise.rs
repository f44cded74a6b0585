//! An agent lets a person decide: an ask that holds up its task.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::asked::Matter;
use super::command::NewCheckpoint;
use super::grant::is_scope;
use super::may::{is_storable_object, seen, text};
use super::{
    Beside, Checkpoint, CheckpointKind, CheckpointOption, Duty, ProposedAction, RaisedBy, Risk,
    State, Task, TaskEvent,
};
use crate::actor::Actor;
use crate::ask::Seat;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Agent;
use crate::effect::{Effect, Occasion};
use crate::event::{Asked, Happened};
use crate::ids::{AgentId, AskId, Subject, TaskId};
use crate::question::{Body, Choice, Options, Pick, Question, QuestionError};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::world::{Decision, Stop, World};

/// More than this nobody weighs one by one.
const MOST: usize = 200;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewCheckpoint,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    let Actor::Agent { id: agent, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only an agent raises a checkpoint" }.into());
    };
    if new.kind == CheckpointKind::Interrupt {
        let expected = "approval, choice, input or escalation: only task.interrupt interrupts";
        return Err(Refusal::Invalid { field: "kind", expected }.into());
    }
    task.stands_in(&[State::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.in_time(world.now)?;
    raised(world, envelope, task, agent, new, RaisedBy::Agent)
}

/// The ask, the task that waits for it, and the runtime that stops.
pub(super) fn raised(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    agent: &AgentId,
    new: &NewCheckpoint,
    raised_by: RaisedBy,
) -> Result<Decision, Stop> {
    let Some(agent) = world.directory.agent(agent) else {
        return Err(Refusal::NotAllowed { why: "this agent is not registered" }.into());
    };
    let asked = asked(world, envelope, task, agent, new, raised_by)?;
    let checkpoint = AskId::new(envelope.fresh);
    let (why, priority) = (Occasion::Asked, new.priority);
    let notify =
        |seat: &Seat| Effect::Notify { ask: checkpoint, seat: seat.clone(), why, priority };
    let effects = asked.seats.iter().map(notify).collect();
    let kind = new.kind;
    let happened = vec![
        (Subject::Ask(checkpoint), Happened::Asked(Box::new(asked))),
        task.event(TaskEvent::Raised { checkpoint, kind, raised_by }),
    ];
    let contracts = task.running().map(|run| task.wants(run, Duty::Block)).into_iter().collect();
    Ok(Decision { happened, effects, contracts })
}

fn asked(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    agent: &Agent,
    new: &NewCheckpoint,
    raised_by: RaisedBy,
) -> Result<Asked, Refusal> {
    check(world, new)?;
    let question = question(new)
        .map_err(|QuestionError { field, expected }| Refusal::Invalid { field, expected })?;
    let beside = Beside {
        options: new.options.clone(),
        context: new.context.clone(),
        proposed_actions: new.proposed_actions.iter().map(trimmed).collect(),
        hxp: new.hxp.clone(),
    };
    let checkpoint = Checkpoint {
        task: task.id,
        kind: new.kind,
        raised_by,
        beside: Erasable::new(beside, &mut envelope.salts.apart()),
    };
    let (priority, expires_at) = (new.priority, new.expires_at);
    let on = Matter { question, deciders: task.deciders(), priority, expires_at };
    let asked = task.asks(world, envelope, agent, on)?;
    Ok(Asked { checkpoint: Some(Box::new(checkpoint)), ..asked })
}

/// An action as it is kept: the scope it wants reads like that of a grant.
fn trimmed(action: &ProposedAction) -> ProposedAction {
    let permission_scope = action.permission_scope.as_ref().map(|scope| scope.trim().to_owned());
    ProposedAction { permission_scope, ..action.clone() }
}

fn check(world: &World<'_>, new: &NewCheckpoint) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    text("prompt", &new.prompt)?;
    if new.expires_at.is_some_and(|at| at <= world.now) {
        return invalid("expires_at", "a moment that is still to come");
    }
    if new.kind == CheckpointKind::Choice && new.options.len() < 2 {
        return invalid("options", "at least two options for a choice");
    }
    let named = |option: &CheckpointOption| {
        !option.id.trim().is_empty() && is_short(&option.id) && text("", &option.label).is_ok()
    };
    if new.options.len() > MOST || !new.options.iter().all(named) {
        return invalid("options", "at most 200 options, each with an id and a label");
    }
    let plain = |action: &ProposedAction| {
        [&action.id, &action.kind].into_iter().all(|name| !name.trim().is_empty() && is_short(name))
            && text("", &action.summary).is_ok()
            && action.detail.as_ref().is_none_or(is_storable_object)
    };
    let ids: BTreeSet<_> = new.proposed_actions.iter().map(|action| &action.id).collect();
    let distinct = ids.len() == new.proposed_actions.len();
    if ids.len() > MOST || !distinct || !new.proposed_actions.iter().all(plain) {
        let expected = "at most 200 actions, each with an id of its own, a kind and a summary";
        return invalid("proposed_actions", expected);
    }
    let scopes = new.proposed_actions.iter().filter_map(|action| action.permission_scope.as_ref());
    if !scopes.into_iter().all(|scope| is_scope(scope.trim())) {
        let expected = "\"*\", or namespace:target with * only at its end";
        return invalid("proposed_actions.permission_scope", expected);
    }
    let shown = new.context.iter().all(|evidence| {
        !evidence.kind.trim().is_empty()
            && is_short(&evidence.kind)
            && evidence.id.as_deref().is_none_or(is_short)
            && evidence.version.as_deref().is_none_or(is_short)
            && evidence.content.as_ref().is_none_or(is_storable_json)
    });
    if new.context.len() > MOST || !shown {
        return invalid("context", "at most 200 pieces of evidence, each with a kind");
    }
    if !new.hxp.as_ref().is_none_or(is_storable_object) {
        return invalid("hxp", "an envelope without NUL characters");
    }
    Ok(())
}

/// The same question for everybody, whichever dialect or channel they have.
fn question(new: &NewCheckpoint) -> Result<Question, QuestionError> {
    let body = match new.kind {
        CheckpointKind::Approval | CheckpointKind::Interrupt => Body::Approve {
            details: details(new),
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        },
        CheckpointKind::Choice => Body::Choose {
            options: Options::new(new.options.iter().map(choice).collect())?,
            pick: Pick::One,
            suggested: None,
        },
        CheckpointKind::Input => Body::Converse,
        CheckpointKind::Escalation => Body::Escalate { error: details(new), params: Map::new() },
    };
    Question::new(new.prompt.clone(), evidence(new), body)
}

fn choice(option: &CheckpointOption) -> Choice {
    let description = option.risk.map(|risk| {
        let risk = match risk {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        };
        format!("risk: {risk}")
    });
    Choice { id: option.id.clone(), label: option.label.clone(), description }
}

/// What the agent wants to do, whole.
fn details(new: &NewCheckpoint) -> Map<String, Value> {
    let mut details = Map::new();
    if !new.proposed_actions.is_empty() {
        details.insert("proposed_actions".to_owned(), json!(new.proposed_actions));
    }
    details
}

/// What the agent shows for it, in words.
fn evidence(new: &NewCheckpoint) -> Option<String> {
    let shown: Vec<String> = new
        .context
        .iter()
        .filter_map(|evidence| match (&evidence.content, &evidence.id) {
            (Some(Value::String(text)), _) => Some(text.clone()),
            (Some(content), _) => Some(content.to_string()),
            (None, Some(id)) => {
                let version = evidence.version.as_deref().unwrap_or_default();
                Some(format!("{} {id} {version}", evidence.kind).trim_end().to_owned())
            }
            (None, None) => None,
        })
        .collect();
    if shown.is_empty() { None } else { Some(shown.join("\n\n")) }
}
