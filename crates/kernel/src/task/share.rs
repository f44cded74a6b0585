//! Tasks of another project may use an artifact, because somebody who answers for it says so.

use super::ArtifactEvent;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{ArtifactId, ProjectId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: ArtifactId,
    with: &ProjectId,
) -> Result<Decision, Stop> {
    let artifact = world.artifact(id)?;
    let person = world.directory.person(&envelope.actor)?;
    if !person.admin && !person.projects.contains(&artifact.project) {
        return Err(Refusal::NotFound { what: "artifact" }.into());
    }
    let Some(newest) = artifact.version(None) else {
        return Err(Refusal::NotFound { what: "version" }.into());
    };
    if !person.admin && world.task(newest.produced_by)?.principal != person.id {
        let why = "only the principal of the task that made it, or an administrator, shares it";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if world.directory.project(with).is_none() {
        let expected = "a project that is there";
        return Err(Refusal::Invalid { field: "project", expected }.into());
    }
    if artifact.is_usable_in(with) {
        return Ok(Decision::default());
    }
    let event = ArtifactEvent::Shared { with: with.clone() };
    Ok(Decision::of(Subject::Artifact(id), Happened::Artifact(Box::new(event))))
}
