//! A person who is responsible for an artifact allows tasks of another project to use it.

use std::collections::BTreeSet;

use super::{Artifact, ArtifactEvent, Task, TaskEvent};
use crate::command::Envelope;
use crate::event::DomainEvent;
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
    let makers = producing_tasks(world, artifact)?;
    if !person.admin && makers.iter().any(|task| task.principal != person.id) {
        let why = "only the principal of all tasks that delivered this artifact, or an \
                   administrator, can share it";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if world.directory.project(with).is_none() {
        let expected = "the ID of an existing project";
        return Err(Refusal::Invalid { field: "project", expected }.into());
    }
    if artifact.is_usable_in(with) {
        return Ok(Decision::default());
    }
    let event = ArtifactEvent::Shared { with: with.clone() };
    let mut decision = Decision::of(Subject::Artifact(id), DomainEvent::Artifact(Box::new(event)));
    let told = |task: &&Task| task.event(TaskEvent::Shared { artifact: id, with: with.clone() });
    decision.happened.extend(makers.iter().map(told));
    Ok(decision)
}

/// Every task that made a version. All versions are shared, and each task records it.
fn producing_tasks<'a>(world: &World<'a>, artifact: &Artifact) -> Result<Vec<&'a Task>, Stop> {
    let ids: BTreeSet<_> = artifact.versions.iter().map(|made| made.produced_by).collect();
    let (mut makers, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        match world.task(id) {
            Ok(task) => makers.push(task),
            Err(Stop::Need(more)) => missing.extend(more),
            Err(refused @ Stop::Refused(_)) => return Err(refused),
        }
    }
    if missing.is_empty() { Ok(makers) } else { Err(Stop::Need(missing)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TaskId;
    use crate::task::{AgentInput, NewVersion, Role, TaskCommand};
    use crate::testing::{Cast, new_task, version};

    /// The open question on references across projects: a responsible person must share the
    /// artifact explicitly.
    #[test]
    fn who_answers_for_an_artifact_shares_it() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version()).id;
        let share = |with: &str| TaskCommand::Share(made, with.parse().unwrap());
        for (who, refusal) in [("mark", "not-allowed"), ("zoe", "not-found")] {
            let refused = cast.attempt_task(cast.human(who), share("rival")).unwrap_err();
            assert_eq!(refused.code(), refusal, "{who}");
        }
        let unknown = cast.attempt_task(cast.human("olga"), share("nowhere"));
        assert!(matches!(unknown, Err(Refusal::Invalid { field: "project", .. })));
        assert!(cast.artifact(made).shared_with.is_empty());
        let before = cast.task(id).revision;
        cast.run_task(cast.human("olga"), share("rival"));
        let records = cast.records().len();
        cast.run_task(cast.human("adam"), share("rival"));
        cast.run_task(cast.human("olga"), share("acme"));
        assert_eq!(cast.records().len(), records, "it is there already, and at home it always was");
        assert!(cast.artifact(made).is_usable_in(&"rival".parse().unwrap()));
        assert_eq!(cast.task(id).revision, before);
        assert_eq!(cast.event_names(id).last(), Some(&"delivery_shared"), "HACP-042");
    }

    /// olga and nina are each responsible for one version: neither can share the version of the
    /// other.
    #[test]
    fn who_answers_for_one_version_does_not_share_the_others() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version());
        cast.run_task(cast.human("nina"), TaskCommand::Create(Box::new(new_task())));
        let hers = TaskId::new(cast.fresh());
        let assign = TaskCommand::Assign(hers, "bob".parse().unwrap(), AgentInput::default());
        cast.run_task(cast.human("nina"), assign);
        cast.run_task(cast.agent("bob"), TaskCommand::Start(hers));
        cast.run_task(cast.human("nina"), TaskCommand::Reference(hers, made.clone(), Role::Input));
        cast.delivered(hers, NewVersion { artifact: Some(made.id), ..version() });
        let share = || TaskCommand::Share(made.id, "rival".parse().unwrap());
        for who in ["olga", "nina", "mark"] {
            let refused = cast.attempt_task(cast.human(who), share());
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{who}: {refused:?}");
        }
        cast.run_task(cast.human("adam"), share());
        for id in [id, hers] {
            assert_eq!(cast.event_names(id).last(), Some(&"delivery_shared"));
        }
    }
}
