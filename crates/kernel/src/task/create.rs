//! A person writes a task down.

use super::command::NewTask;
use super::grant;
use super::may::{maybe_text, seen, text};
use super::{ArtifactEvent, Created, Input, Role, Spec, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Human;
use crate::event::Happened;
use crate::ids::{ArtifactId, ProjectId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::time::LONGEST_TIMEOUT;
use crate::world::{Decision, Stop, World};

/// More of one kind than this is a document.
const MOST: usize = 100;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewTask,
) -> Result<Decision, Stop> {
    // The principal is a person, and is whoever writes it down.
    let principal = world.directory.person(&envelope.actor)?;
    let project = project(world, principal, new.project.as_ref())?;
    check(world, new)?;
    reviewers(world, &project, new)?;
    if let Some(parent) = new.parent {
        let unversioned = Envelope { expected: None, ..envelope.clone() };
        seen(world, &unversioned, parent)?;
    }
    let mut grants = Vec::with_capacity(new.grants.len());
    for wanted in &new.grants {
        grants.push(grant::granted(wanted, &principal.id, world.now)?);
    }
    let id = TaskId::new(envelope.fresh);
    let used = inputs(world, &project, &new.spec)?;
    let mut salts = envelope.salts.clone();
    let created = Created {
        project,
        principal: principal.id.clone(),
        sort: new.sort.clone(),
        spec: Erasable::new(new.spec.clone(), &mut salts),
        parent: new.parent,
        deadline: new.deadline,
        max_duration: new.max_duration,
        delegable: new.delegable,
        autonomy: new.autonomy,
        grants,
        review_policy: new.review_policy.clone(),
        on_silence: new.on_silence,
    };
    let created = Happened::Task(Box::new(TaskEvent::Created(Box::new(created))));
    let mut decision = Decision::of(Subject::Task(id), created);
    for (artifact, version) in used {
        let event = ArtifactEvent::Referenced { version, task: id, role: Role::Input };
        let what = Happened::Artifact(Box::new(event));
        decision.happened.push((Subject::Artifact(artifact), what));
    }
    Ok(decision)
}

/// The project somebody names and is in, or the first they are at home in.
fn project(
    world: &World<'_>,
    principal: &Human,
    named: Option<&ProjectId>,
) -> Result<ProjectId, Refusal> {
    let expected = "a project you are a member of";
    let invalid = Refusal::Invalid { field: "project", expected };
    match named {
        Some(id) => {
            let theirs = principal.admin || principal.projects.contains(id);
            world.directory.project(id).filter(|_| theirs).map(|found| found.id.clone())
        }
        None => principal.projects.first().cloned(),
    }
    .ok_or(invalid)
}

fn check(world: &World<'_>, new: &NewTask) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    text("spec.goal", &new.spec.goal)?;
    if new.sort.trim().is_empty() || !is_short(&new.sort) {
        return invalid("type", "a text of 1 to 200 bytes, without NUL");
    }
    let Spec { acceptance_criteria, inputs, must_use_capabilities, external_refs, .. } = &new.spec;
    for criterion in acceptance_criteria {
        text("spec.acceptance_criteria", criterion)?;
    }
    let lengths = [
        acceptance_criteria.len(),
        inputs.len(),
        must_use_capabilities.len(),
        external_refs.len(),
        new.grants.len(),
    ];
    if lengths.into_iter().any(|length| length > MOST) {
        return invalid("spec", "at most 100 entries in each of its lists");
    }
    for input in inputs {
        match input {
            Input::Artifact { version, .. } => text("spec.inputs.version", version)?,
            Input::Resource { id, uri } => {
                maybe_text("spec.inputs.id", id.as_deref())?;
                text("spec.inputs.uri", uri)?;
            }
        }
    }
    for capability in must_use_capabilities {
        text("spec.constraints.must_use_capabilities.capability_id", &capability.capability_id)?;
        maybe_text(
            "spec.constraints.must_use_capabilities.version",
            capability.version.as_deref(),
        )?;
    }
    for external in external_refs {
        let field = "spec.constraints.external_refs";
        for part in [&external.kind, &external.namespace, &external.id] {
            text(field, part)?;
            // It names something; how to get there is nobody's business here.
            if part.contains("://") || part.contains(char::is_whitespace) {
                return invalid(field, "opaque names, without addresses or commands");
            }
        }
        maybe_text(field, external.version.as_deref())?;
        maybe_text(field, external.label.as_deref())?;
    }
    if new.deadline.is_some_and(|at| at <= world.now) {
        return invalid("deadline", "a moment that is still to come");
    }
    if new.max_duration.is_some_and(|seconds| seconds == 0 || seconds > LONGEST_TIMEOUT) {
        return invalid("spec.constraints.max_duration", "a while of at most 100 years");
    }
    maybe_text("spec.constraints.max_duration", new.spec.max_duration.as_deref())?;
    let hxp = new.spec.hxp.iter().flatten();
    if !hxp.into_iter().all(|(key, value)| is_short(key) && is_storable_json(value)) {
        return invalid("hxp", "an envelope without NUL characters");
    }
    Ok(())
}

/// Whether everybody who is to judge can.
fn reviewers(world: &World<'_>, project: &ProjectId, new: &NewTask) -> Result<(), Refusal> {
    let Some(policy) = &new.review_policy else { return Ok(()) };
    let field = "spec.review_policy.required_reviewers";
    let mut known: Vec<_> = policy.required_reviewers.iter().collect();
    known.sort_unstable();
    known.dedup();
    let able = |human: &Human| human.active && (human.admin || human.projects.contains(project));
    let all = known.iter().all(|id| world.directory.human(id).is_some_and(able));
    if !all || known.is_empty() || known.len() != policy.required_reviewers.len() {
        let expected = "members of the project, at least one, each once";
        return Err(Refusal::Invalid { field, expected });
    }
    Ok(())
}

/// The versions it begins with, all of which it may use.
fn inputs(
    world: &World<'_>,
    project: &ProjectId,
    spec: &Spec,
) -> Result<Vec<(ArtifactId, String)>, Stop> {
    let expected = "a version of an artifact this project may use";
    let invalid = || Stop::from(Refusal::Invalid { field: "spec.inputs", expected });
    let (mut used, mut missing) = (Vec::new(), Vec::new());
    for input in &spec.inputs {
        let Input::Artifact { id, version } = input else { continue };
        let id: ArtifactId = id.parse().map_err(|_| invalid())?;
        match world.artifact(id) {
            Ok(artifact) if artifact.is_usable_in(project) => {
                artifact.version(Some(version)).ok_or_else(invalid)?;
                let wanted = (id, version.clone());
                // Named twice, it is used once.
                if !used.contains(&wanted) {
                    used.push(wanted);
                }
            }
            Err(Stop::Need(more)) => missing.extend(more),
            Ok(_) | Err(Stop::Refused(_)) => return Err(invalid()),
        }
    }
    if missing.is_empty() { Ok(used) } else { Err(Stop::Need(missing)) }
}
