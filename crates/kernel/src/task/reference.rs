//! A task uses a version of an artifact. This does not change the version.

use super::permissions::visible_task;
use super::{ArtifactEvent, Reference, Role, Task, TaskEvent, Version, VersionRef};
use crate::command::Envelope;
use crate::event::DomainEvent;
use crate::ids::{Subject, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    wanted: &VersionRef,
    role: Role,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_party(&envelope.actor)?;
    let version = usable(world, envelope, task, wanted)?;
    Ok(use_version(task, version, wanted, role))
}

/// A version that a task may use: of its own project, or one that was shared with it. The actor
/// must be able to read it, so that naming a version gives no access to it.
pub(super) fn usable<'a>(
    world: &World<'a>,
    envelope: &Envelope,
    task: &Task,
    wanted: &VersionRef,
) -> Result<&'a Version, Stop> {
    let artifact = world.artifact(wanted.id)?;
    if !artifact.is_usable_in(&task.project) {
        let why = "this artifact belongs to another project and is not shared with this one";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let Some(version) = artifact.version(Some(&wanted.version)) else {
        return Err(Refusal::NotFound { what: "version" }.into());
    };
    // A shared artifact is available to every task of the project.
    let shared = artifact.shared_with.contains(&task.project);
    if shared || artifact.is_fully_visible_to(&envelope.actor, world.directory) {
        return Ok(version);
    }
    let tasks = &world.loaded.tasks;
    let missing: Vec<_> = version.tasks().filter(|id| !tasks.contains_key(id)).collect();
    if !missing.is_empty() {
        return Err(Stop::Need(missing.into_iter().map(Subject::Task).collect()));
    }
    if !version.is_visible_to(&envelope.actor, world.directory, tasks) {
        return Err(Refusal::NotFound { what: "artifact" }.into());
    }
    Ok(version)
}

/// The events, on both records, that a task uses a version; empty if that is already recorded.
pub(super) fn use_version(
    task: &Task,
    version: &Version,
    wanted: &VersionRef,
    role: Role,
) -> Decision {
    let Task { id, .. } = *task;
    if version.references.contains(&Reference { task: id, role }) {
        return Decision::default();
    }
    let event = ArtifactEvent::Referenced { version: wanted.version.clone(), task: id, role };
    let what = DomainEvent::Artifact(Box::new(event));
    let mut decision = Decision::of(Subject::Artifact(wanted.id), what);
    let used = TaskEvent::Referenced { artifact: wanted.clone(), role };
    decision.happened.push(task.event(used));
    decision
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ArtifactId;
    use crate::task::{AgentInput, TaskCommand};
    use crate::testing::{Cast, new_task, version};

    /// A version that `spy` of another project delivered.
    fn theirs(cast: &mut Cast) -> VersionRef {
        cast.run_task(cast.human("zoe"), TaskCommand::Create(Box::new(new_task())));
        let id = TaskId::new(cast.fresh());
        let assign = TaskCommand::Assign(id, "spy".parse().unwrap(), AgentInput::default());
        cast.run_task(cast.human("zoe"), assign);
        cast.run_task(cast.agent("spy"), TaskCommand::Start(id));
        cast.delivered(id, version())
    }

    /// HACP-021, HACP-080, K-05: the version does not change; its use is recorded on both sides,
    /// once, and the task keeps its revision.
    #[test]
    fn using_a_version_does_not_change_it() {
        let mut cast = Cast::new();
        let maker = cast.begun(new_task());
        let made = cast.delivered(maker, version());
        let id = cast.begun(new_task());
        let (kept, before) = (cast.artifact(made.id).clone(), cast.task(id).clone());
        let using = || TaskCommand::Reference(id, made.clone(), Role::Input);
        cast.run_task(cast.agent("bot"), using());
        let after = cast.artifact(made.id);
        let (was, is) = (&kept.versions[0], &after.versions[0]);
        assert_eq!(
            (&is.payload, &is.name, is.produced_at),
            (&was.payload, &was.name, was.produced_at)
        );
        assert_eq!(is.references.last(), Some(&Reference { task: id, role: Role::Input }));
        assert_eq!((cast.task(id).revision, cast.task(id).state), (before.revision, before.state));
        assert_eq!(cast.event_names(id).last(), Some(&"artifact_referenced"));
        let records = cast.records().len();
        cast.run_task(cast.human("olga"), using());
        assert_eq!(cast.records().len(), records, "said twice, it happens once");
    }

    /// The open question on references across projects: only shared artifacts can be used.
    #[test]
    fn an_artifact_of_another_project_has_to_be_shared() {
        let mut cast = Cast::new();
        let made = theirs(&mut cast);
        let id = cast.begun(new_task());
        let using = || TaskCommand::Reference(id, made.clone(), Role::Input);
        let refused = cast.attempt_task(cast.agent("bot"), using());
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        let input =
            crate::task::TaskInput::Artifact { id: made.id.to_string(), version: "v1".to_owned() };
        let create = || {
            let mut new = new_task();
            new.spec.inputs = vec![input.clone(), input.clone()];
            TaskCommand::Create(Box::new(new))
        };
        let refused = cast.attempt_task(cast.human("olga"), create());
        assert!(matches!(refused, Err(Refusal::Invalid { field: "spec.inputs", .. })));
        cast.run_task(cast.human("zoe"), TaskCommand::Share(made.id, "acme".parse().unwrap()));
        cast.run_task(cast.agent("bot"), using());
        cast.run_task(cast.human("olga"), create());
        let user = TaskId::new(cast.fresh());
        let uses = cast.artifact(made.id).versions[0].references.iter();
        assert_eq!(uses.filter(|reference| reference.task == user).count(), 1, "named twice");
    }

    /// Claiming that a task uses a version gives no access to it.
    #[test]
    fn an_agent_uses_what_it_may_read() {
        let mut cast = Cast::staffed();
        let maker = cast.begun(new_task());
        let made = cast.delivered(maker, version());
        let id = cast.assigned(new_task(), "bob");
        let using = || TaskCommand::Reference(id, made.clone(), Role::Input);
        let records = cast.records().len();
        let refused = cast.attempt_task(cast.agent("bob"), using());
        assert_eq!(refused, Err(Refusal::NotFound { what: "artifact" }));
        assert_eq!(cast.records().len(), records);
        for other in [cast.widely("bob"), cast.human("olga")] {
            cast.clone().run_task(other, using());
        }
        let second = cast.assigned(new_task(), "bob");
        cast.run_task(cast.human("olga"), using());
        let again = TaskCommand::Reference(second, made.clone(), Role::Input);
        cast.run_task(cast.agent("bob"), again);
    }

    #[test]
    fn what_is_not_there_is_not_used() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let maker = cast.begun(new_task());
        let made = cast.delivered(maker, version());
        let nothing = ArtifactId::new(ulid::Ulid::from(7_u128));
        for (wanted, what) in [
            (VersionRef { version: "v9".to_owned(), ..made.clone() }, "version"),
            (VersionRef { id: nothing, ..made }, "artifact"),
        ] {
            let refused = cast
                .attempt_task(cast.agent("bot"), TaskCommand::Reference(id, wanted, Role::Input));
            assert_eq!(refused, Err(Refusal::NotFound { what }));
        }
    }
}
