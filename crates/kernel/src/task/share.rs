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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskCommand;
    use crate::testing::{Cast, new_task, version};

    /// The open question on references across projects: an explicit word of somebody who answers for it.
    #[test]
    fn who_answers_for_an_artifact_shares_it() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version()).id;
        let share = |with: &str| TaskCommand::Share(made, with.parse().unwrap());
        for (who, refusal) in [("mark", "not-allowed"), ("zoe", "not-found")] {
            let refused = cast.want(cast.human(who), share("rival")).unwrap_err();
            assert_eq!(refused.code(), refusal, "{who}");
        }
        let unknown = cast.want(cast.human("olga"), share("nowhere"));
        assert!(matches!(unknown, Err(Refusal::Invalid { field: "project", .. })));
        assert!(cast.artifact(made).shared_with.is_empty());
        let before = cast.task(id).revision;
        cast.may(cast.human("olga"), share("rival"));
        let records = cast.records().len();
        cast.may(cast.human("adam"), share("rival"));
        cast.may(cast.human("olga"), share("acme"));
        assert_eq!(cast.records().len(), records, "it is there already, and at home it always was");
        assert!(cast.artifact(made).is_usable_in(&"rival".parse().unwrap()));
        assert_eq!(cast.task(id).revision, before);
    }
}
