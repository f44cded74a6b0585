//! Erases the bytes of all versions of an artifact. Its existence, author, time, size and checksum
//! stay.

use super::{Artifact, ArtifactEvent};
use crate::command::Envelope;
use crate::event::DomainEvent;
use crate::ids::{ArtifactId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: ArtifactId,
) -> Result<Decision, Stop> {
    let artifact = world.artifact(id)?;
    if !world.directory.administers(&envelope.actor) {
        return Err(Refusal::NotFound { what: "artifact" }.into());
    }
    if artifact.erased {
        return Ok(Decision::default());
    }
    not_in_use(world, artifact)?;
    let event = DomainEvent::Artifact(Box::new(ArtifactEvent::Erased));
    Ok(Decision::of(Subject::Artifact(id), event))
}

/// Refuses while a task that made a version is open.
fn not_in_use(world: &World<'_>, artifact: &Artifact) -> Result<(), Stop> {
    let mut missing = Vec::new();
    for version in &artifact.versions {
        match world.task(version.produced_by) {
            Ok(task) if !task.state.is_closed() => {
                let why = "a task that delivered this artifact is still open; cancel or finish it \
                           first";
                return Err(Refusal::NotOver { why }.into());
            }
            Ok(_) => {}
            Err(Stop::Need(more)) => missing.extend(more),
            Err(refused @ Stop::Refused(_)) => return Err(refused),
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Stop::Need(missing)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::follow_up::FollowUp;
    use crate::task::{TaskCommand, Verdict};
    use crate::testing::{Cast, new_task, verdict, version};

    #[test]
    fn bytes_go_once_its_tasks_are_over() {
        let mut cast = Cast::new();
        let task = cast.begun(new_task());
        let made = cast.delivered(task, version());
        let erase = || TaskCommand::EraseArtifact(made.id);
        let early = cast.attempt_task(Actor::System, erase());
        assert!(matches!(early, Err(Refusal::NotOver { .. })), "{early:?}");
        cast.judge("olga", task, verdict(Verdict::Rejected)).unwrap();
        let nosy = cast.attempt_task(cast.human("mark"), erase());
        assert_eq!(nosy, Err(Refusal::NotFound { what: "artifact" }));
        cast.run_task(Actor::System, erase());
        assert!(cast.artifact(made.id).erased);
        assert_eq!(cast.follow_ups().last(), Some(&FollowUp::DropArtifact { artifact: made.id }));
        let records = cast.records().len();
        cast.run_task(Actor::System, erase());
        assert_eq!(cast.records().len(), records);
    }
}
