//! A task uses a version of an artifact, which does not change by that.

use super::may::seen;
use super::{Artifact, ArtifactEvent, Reference, Role, TaskEvent, VersionRef};
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{ProjectId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    wanted: &VersionRef,
    role: Role,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_party(&envelope.actor)?;
    let artifact = world.artifact(wanted.id)?;
    if !artifact.is_usable_in(&task.project) {
        let why = "this artifact belongs to another project, which has not shared it";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let Some(version) = artifact.version(Some(&wanted.version)) else {
        return Err(Refusal::NotFound { what: "version" }.into());
    };
    if version.references.contains(&Reference { task: id, role }) {
        return Ok(Decision::default());
    }
    let event = ArtifactEvent::Referenced { version: wanted.version.clone(), task: id, role };
    let what = Happened::Artifact(Box::new(event));
    let mut decision = Decision::of(Subject::Artifact(artifact.id), what);
    let used = TaskEvent::Referenced { artifact: wanted.clone(), role };
    decision.happened.push(task.event(used));
    Ok(decision)
}

impl Artifact {
    /// Whether tasks of a project may use it.
    pub fn is_usable_in(&self, project: &ProjectId) -> bool {
        self.project == *project || self.shared_with.contains(project)
    }
}
