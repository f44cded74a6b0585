//! Whoever works on a task delivers something.

use serde_json::{Map, json};

use super::asked::Matter;
use super::command::NewVersion;
use super::may::seen;
use super::{
    Artifact, ArtifactEvent, ForReview, Role, State, Task, TaskEvent, Version, VersionRef,
};
use crate::ask::{Priority, Seat};
use crate::command::Envelope;
use crate::effect::{Effect, Occasion};
use crate::event::{Asked, Happened};
use crate::ids::{ArtifactId, AskId, Subject, TaskId};
use crate::question::{Body, Question, QuestionError};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable};
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewVersion,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    // What is written stays: whoever tries to replace it hears that, wherever the task stands.
    let before = chain(world, task, new)?;
    task.stands_in(&[State::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.in_time(world.now)?;
    check(new)?;
    let artifact = before.map_or_else(|| ArtifactId::new(envelope.fresh), |artifact| artifact.id);
    let parent = match (before, &new.parent) {
        (Some(artifact), parent) => {
            let parent = artifact.version(parent.as_deref());
            let expected = "a version of this artifact";
            let invalid = Refusal::Invalid { field: "parent_version", expected };
            Some(parent.ok_or(invalid)?.name.clone())
        }
        (None, Some(_)) => {
            let expected = "nothing for the first version";
            return Err(Refusal::Invalid { field: "parent_version", expected }.into());
        }
        (None, None) => None,
    };
    let name = new.name.clone().unwrap_or_else(|| next(before));
    let version = Version {
        name: name.clone(),
        parent,
        produced_by: task.id,
        produced_at: world.now.max(task.head.at),
        payload: new.payload.clone(),
        references: vec![super::Reference { task: task.id, role: Role::Output }],
    };
    let (project, sort) = match before {
        Some(artifact) => (artifact.project.clone(), artifact.sort.clone()),
        None => (task.project.clone(), new.sort.clone()),
    };
    let made = ArtifactEvent::Committed { project, sort, version: Box::new(version) };
    let delivered = VersionRef { id: artifact, version: name };
    let mut decision =
        Decision::of(Subject::Artifact(artifact), Happened::Artifact(Box::new(made)));
    let ask = put_up(world, envelope, task, &delivered, new, &mut decision)?;
    decision.happened.push(task.event(TaskEvent::Committed { artifact: delivered, ask }));
    Ok(decision)
}

/// The next number nobody has used as a name.
fn next(before: Option<&Artifact>) -> String {
    let count = before.map_or(0, |artifact| artifact.versions.len());
    // Among one more names than there are versions, one is free.
    let mut names = (count + 1..=count * 2 + 1).map(|n| format!("v{n}"));
    let free = |name: &String| before.is_none_or(|made| made.version(Some(name)).is_none());
    names.find(free).unwrap_or_default()
}

/// Puts what was delivered to whoever judges it: an ask like any other, in the inbox and wherever else
/// they answer. What a person made themselves has no agent that could ask.
fn put_up(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    artifact: &VersionRef,
    new: &NewVersion,
    decision: &mut Decision,
) -> Result<Option<AskId>, Refusal> {
    let working = task.assignee.agent().and_then(|agent| world.directory.agent(agent));
    let Some(agent) = working else { return Ok(None) };
    let spec = task.spec.value();
    let goal = spec.map_or("", |spec| spec.goal.as_str());
    let prompt = format!("Is {} {} good? {goal}", new.sort, artifact.version);
    let criteria = spec.iter().flat_map(|spec| &spec.acceptance_criteria);
    let criteria: Vec<_> = criteria.map(|text| format!("- {text}")).collect();
    let context = if criteria.is_empty() { None } else { Some(criteria.join("\n")) };
    let mut details = Map::new();
    details.insert("task".to_owned(), json!(task.id));
    details.insert("artifact".to_owned(), json!(artifact));
    if let Some(uri) = &new.payload.uri {
        details.insert("uri".to_owned(), json!(uri));
    }
    let body = Body::Approve {
        details,
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let question = Question::new(prompt, context, body)
        .map_err(|QuestionError { field, expected }| Refusal::Invalid { field, expected })?;
    let deciders = task.reviewers();
    let on = Matter { question, deciders, priority: Priority::Normal, expires_at: None };
    let asked = task.asks(world, envelope, agent, on)?;
    let review = ForReview { task: task.id, artifact: artifact.clone() };
    let asked = Asked { review: Some(Box::new(review)), ..asked };
    let ask = AskId::new(envelope.fresh);
    let (why, priority) = (Occasion::Asked, Priority::Normal);
    let notify = |seat: &Seat| Effect::Notify { ask, seat: seat.clone(), why, priority };
    decision.effects.extend(asked.seats.iter().map(notify));
    decision.happened.push((Subject::Ask(ask), Happened::Asked(Box::new(asked))));
    Ok(Some(ask))
}

/// The artifact this is a version of: the one that was named, or the last of its sort the task
/// delivered.
fn chain<'a>(
    world: &World<'a>,
    task: &Task,
    new: &NewVersion,
) -> Result<Option<&'a Artifact>, Stop> {
    let named = match new.artifact {
        Some(id) => {
            let artifact = world.artifact(id)?;
            if artifact.project != task.project {
                return Err(Refusal::NotFound { what: "artifact" }.into());
            }
            Some(artifact)
        }
        None => match task.delivered.last() {
            Some(last) => Some(world.artifact(last.id)?).filter(|made| made.sort == new.sort),
            None => None,
        },
    };
    if let (Some(artifact), Some(name)) = (named, &new.name)
        && artifact.version(Some(name)).is_some()
    {
        let why = format!("version {name} of {} is written, and stays as it is", artifact.id);
        return Err(Refusal::Immutable { why }.into());
    }
    Ok(named)
}

fn check(new: &NewVersion) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    if new.sort.trim().is_empty() || !is_short(&new.sort) {
        return invalid("type", "a text of 1 to 200 bytes, without NUL");
    }
    let named = |name: &String| {
        !name.is_empty()
            && name.len() <= 100
            && name.chars().all(|c| c.is_ascii_graphic() && !"/?#%\\\"".contains(c))
    };
    if !new.name.as_ref().is_none_or(named) {
        return invalid("version", "1 to 100 visible ASCII characters without / ? # % \\ \"");
    }
    let addressed = |uri: &String| is_storable(uri) && !uri.trim().is_empty() && uri.len() <= 2000;
    if !new.payload.held && !new.payload.uri.as_ref().is_some_and(addressed) {
        return invalid("payload.uri", "an address of at most 2000 bytes");
    }
    if !new.payload.media_type.as_deref().is_none_or(is_short) {
        return invalid("payload.media_type", "a type of at most 200 bytes");
    }
    Ok(())
}
