//! A person creates a task.

use super::command::NewTask;
use super::grant;
use super::permissions::{check_optional_text, check_text, visible_task};
use super::{ArtifactEvent, Role, Spec, TaskCreated, TaskEvent, TaskInput};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Human;
use crate::event::DomainEvent;
use crate::ids::{ArtifactId, ProjectId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::time::LONGEST_TIMEOUT;
use crate::world::{Decision, Stop, World};

/// The maximum length of each list of a task.
const MOST: usize = 100;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewTask,
) -> Result<Decision, Stop> {
    // The principal is the person who creates the task.
    let principal = world.directory.person(&envelope.actor)?;
    let project = project(world, principal, new.project.as_ref())?;
    check(world, new)?;
    reviewers(world, &project, new)?;
    if let Some(parent) = new.parent {
        let unversioned = Envelope { expected: None, ..envelope.clone() };
        visible_task(world, &unversioned, parent)?;
    }
    let mut grants = Vec::with_capacity(new.grants.len());
    for (n, wanted) in new.grants.iter().enumerate() {
        let place = format!("spec.constraints.grants[{n}]");
        let granted = grant::granted(wanted, &principal.id, world.now);
        grants.push(granted.map_err(|refusal| refusal.within_field(&place))?);
    }
    let id = TaskId::new(envelope.fresh);
    let used = inputs(world, &project, &new.spec)?;
    let mut salts = envelope.salts.clone();
    let created = TaskCreated {
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
    let created = DomainEvent::Task(Box::new(TaskEvent::Created(Box::new(created))));
    let mut decision = Decision::of(Subject::Task(id), created);
    for (artifact, version) in used {
        let event = ArtifactEvent::Referenced { version, task: id, role: Role::Input };
        let what = DomainEvent::Artifact(Box::new(event));
        decision.happened.push((Subject::Artifact(artifact), what));
    }
    Ok(decision)
}

/// The project the person names and is a member of, or the first one they are a member of.
fn project(
    world: &World<'_>,
    principal: &Human,
    named: Option<&ProjectId>,
) -> Result<ProjectId, Refusal> {
    let expected = "the ID of a project that you are a member of";
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
    check_text("spec.goal", &new.spec.goal)?;
    // A task need not have a type (the upstream client leaves it out); a blank one is refused.
    if !new.sort.is_empty() && new.sort.trim().is_empty() || !is_short(&new.sort) {
        return invalid(
            "type",
            "an empty string, or a non-blank string of at most 200 bytes without NUL characters",
        );
    }
    let Spec { acceptance_criteria, inputs, must_use_capabilities, external_refs, .. } = &new.spec;
    for criterion in acceptance_criteria {
        check_text("spec.acceptance_criteria", criterion)?;
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
            TaskInput::Artifact { version, .. } => check_text("spec.inputs.version", version)?,
            TaskInput::Resource { id, uri } => {
                check_optional_text("spec.inputs.id", id.as_deref())?;
                check_text("spec.inputs.uri", uri)?;
            }
        }
    }
    for capability in must_use_capabilities {
        check_text(
            "spec.constraints.must_use_capabilities.capability_id",
            &capability.capability_id,
        )?;
        check_optional_text(
            "spec.constraints.must_use_capabilities.version",
            capability.version.as_deref(),
        )?;
    }
    for external in external_refs {
        let field = "spec.constraints.external_refs";
        for part in [&external.kind, &external.namespace, &external.id] {
            check_text(field, part)?;
            // The reference is an opaque name; how to resolve it is not part of the task.
            if part.contains("://") || part.contains(char::is_whitespace) {
                return invalid(field, "opaque names without spaces or URLs");
            }
        }
        check_optional_text(field, external.version.as_deref())?;
        check_optional_text(field, external.label.as_deref())?;
    }
    if new.deadline.is_some_and(|at| at <= world.now) {
        return invalid("deadline", "a time in the future");
    }
    if new.max_duration.is_some_and(|seconds| seconds == 0 || seconds > LONGEST_TIMEOUT) {
        return invalid("spec.constraints.max_duration", "a duration of at most 100 years");
    }
    check_optional_text("spec.constraints.max_duration", new.spec.max_duration.as_deref())?;
    let hxp = new.spec.hxp.iter().flatten();
    if !hxp.into_iter().all(|(key, value)| is_short(key) && is_storable_json(value)) {
        return invalid("hxp", "an envelope without NUL characters");
    }
    Ok(())
}

/// Checks that every reviewer can review.
fn reviewers(world: &World<'_>, project: &ProjectId, new: &NewTask) -> Result<(), Refusal> {
    let Some(policy) = &new.review_policy else { return Ok(()) };
    let field = "spec.review_policy.required_reviewers";
    let mut known: Vec<_> = policy.required_reviewers.iter().collect();
    known.sort_unstable();
    known.dedup();
    let able = |human: &Human| human.active && (human.admin || human.projects.contains(project));
    let all = known.iter().all(|id| world.directory.human(id).is_some_and(able));
    if !all || known.is_empty() || known.len() != policy.required_reviewers.len() {
        let expected = "at least one member of the project, each at most once";
        return Err(Refusal::Invalid { field, expected });
    }
    Ok(())
}

/// The versions the task begins with. It may use all of them.
fn inputs(
    world: &World<'_>,
    project: &ProjectId,
    spec: &Spec,
) -> Result<Vec<(ArtifactId, String)>, Stop> {
    let expected = "a version of an artifact that this project can use";
    let invalid = || Stop::from(Refusal::Invalid { field: "spec.inputs", expected });
    let (mut used, mut missing) = (Vec::new(), Vec::new());
    for input in &spec.inputs {
        let TaskInput::Artifact { id, version } = input else { continue };
        let id: ArtifactId = id.parse().map_err(|_| invalid())?;
        match world.artifact(id) {
            Ok(artifact) if artifact.is_usable_in(project) => {
                artifact.version(Some(version)).ok_or_else(invalid)?;
                let wanted = (id, version.clone());
                // A version that is named twice is used once.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::task::{
        Autonomy, Capability, ExternalRef, Party, Quorum, ReviewPolicy, TaskCommand, TaskState,
    };
    use crate::testing::{Cast, human, new_task};
    use crate::time::Time;

    fn create(cast: &mut Cast, who: &str, new: NewTask) -> Result<TaskId, Refusal> {
        cast.attempt_task(cast.human(who), TaskCommand::Create(Box::new(new)))?;
        Ok(TaskId::new(cast.fresh()))
    }

    fn spec(change: impl Fn(&mut Spec)) -> NewTask {
        let mut new = new_task();
        change(&mut new.spec);
        new
    }

    /// HACP-001, HACP-006, HACP-031, HACP-080: the task belongs to the person who created it, is
    /// assigned to them, and has revision 0.
    #[test]
    fn a_task_is_whoever_wrote_it_down() {
        let mut cast = Cast::new();
        let id = create(&mut cast, "nina", new_task()).unwrap();
        let task = cast.task(id);
        assert_eq!(
            (&task.principal, &task.assignee),
            (&human("nina"), &Party::Human(human("nina")))
        );
        assert_eq!(
            (task.state, task.revision, task.project.as_str()),
            (TaskState::Created, 0, "acme")
        );
        assert_eq!((task.created_at, task.autonomy), (cast.now(), Autonomy::Autonomous));
        assert_eq!((task.chain.len(), task.run.is_none(), cast.contracts(id).len()), (0, true, 0));
        assert_eq!(cast.event_names(id), ["task_created"]);
        assert!(id.to_string().starts_with("task_"), "{id}");
    }

    /// HACP-001, K-14, K-15: only a person can be a principal; other actors are refused.
    #[test]
    fn only_people_write_tasks_down() {
        let mut cast = Cast::new();
        let ask = cast.ask(crate::testing::new_ask());
        for actor in [cast.agent("bot"), Actor::System, Actor::link_holder(ask), cast.relay(ask)] {
            let refused = cast.attempt_task(actor, TaskCommand::Create(Box::new(new_task())));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        let ghost = create(&mut cast, "ghost", new_task());
        assert!(matches!(ghost, Err(Refusal::NotAllowed { .. })));
        assert_eq!(cast.tasks().count(), 0);
    }

    /// K-14, K-17: invalid tasks, and the field that each refusal names.
    #[test]
    fn what_cannot_be_written_down() {
        let mut cast = Cast::staffed();
        let now = cast.now();
        let text = |text: &str| text.to_owned();
        let reference = |id: &str| ExternalRef {
            kind: text("tool"),
            namespace: text("mcp"),
            id: text(id),
            version: None,
            label: None,
        };
        let resource = |uri: &str| TaskInput::Resource { id: None, uri: text(uri) };
        let artifact = |id: &str| TaskInput::Artifact { id: text(id), version: text("v1") };
        let reviewed = |who: &[&str]| new_task().judged_by(Quorum::All, who);
        let empty = ReviewPolicy { required_reviewers: Vec::new(), quorum: Quorum::Any };
        let longest = LONGEST_TIMEOUT;
        for (new, wanted) in [
            (spec(|spec| spec.goal = text(" ")), "spec.goal"),
            (spec(|spec| spec.goal = text("a\0b")), "spec.goal"),
            (spec(|spec| spec.goal = "x".repeat(64 * 1024 + 1)), "spec.goal"),
            (NewTask { sort: text("  "), ..new_task() }, "type"),
            (spec(|spec| spec.acceptance_criteria = vec![text("")]), "spec.acceptance_criteria"),
            (spec(|spec| spec.acceptance_criteria = vec![text("x"); 101]), "spec"),
            (spec(|spec| spec.inputs = vec![resource(" ")]), "spec.inputs.uri"),
            (spec(|spec| spec.inputs = vec![artifact("banana")]), "spec.inputs"),
            (
                spec(|spec| spec.inputs = vec![artifact("art_01ARZ3NDEKTSV4RRFFQ69G5FAV")]),
                "spec.inputs",
            ),
            (
                spec(|spec| {
                    let (capability_id, version) = (String::new(), None);
                    spec.must_use_capabilities = vec![Capability { capability_id, version }];
                }),
                "spec.constraints.must_use_capabilities.capability_id",
            ),
            (
                spec(|spec| spec.external_refs = vec![reference("https://x.example")]),
                "spec.constraints.external_refs",
            ),
            (
                spec(|spec| spec.external_refs = vec![reference("rm -rf /")]),
                "spec.constraints.external_refs",
            ),
            (spec(|spec| spec.max_duration = Some(text("\0"))), "spec.constraints.max_duration"),
            (NewTask { max_duration: Some(0), ..new_task() }, "spec.constraints.max_duration"),
            (
                NewTask { max_duration: Some(longest + 1), ..new_task() },
                "spec.constraints.max_duration",
            ),
            (NewTask { deadline: Some(now), ..new_task() }, "deadline"),
            (NewTask { deadline: Some(Time::from_millis(0)), ..new_task() }, "deadline"),
            (NewTask { project: "rival".parse().ok(), ..new_task() }, "project"),
            (NewTask { project: "nowhere".parse().ok(), ..new_task() }, "project"),
            (reviewed(&["nina", "zoe"]), "spec.review_policy.required_reviewers"),
            (reviewed(&["nobody"]), "spec.review_policy.required_reviewers"),
            (reviewed(&["nina", "nina"]), "spec.review_policy.required_reviewers"),
            (
                NewTask { review_policy: Some(empty), ..new_task() },
                "spec.review_policy.required_reviewers",
            ),
            (spec(|spec| spec.hxp = serde_json::from_str(r#"{"a": "\u0000"}"#).ok()), "hxp"),
        ] {
            let refused = create(&mut cast, "olga", new);
            let Err(Refusal::Invalid { field, .. }) = refused else {
                panic!("{wanted}: {refused:?}")
            };
            assert_eq!(field, wanted);
        }
        assert_eq!(cast.tasks().count(), 0, "nothing of it is there");
    }

    /// K-17: everything that can be set when a task is created.
    #[test]
    fn everything_can_be_said_at_the_beginning() {
        let mut cast = Cast::staffed();
        let parent = create(&mut cast, "mark", new_task()).unwrap();
        let deadline = Some(cast.now().plus_seconds(60));
        let capability = Capability { capability_id: "sql".to_owned(), version: None };
        let mut new = NewTask {
            parent: Some(parent),
            deadline,
            max_duration: Some(30),
            delegable: true,
            autonomy: Autonomy::ReadOnly,
            ..new_task().judged_by(Quorum::Majority, &["nina", "adam"])
        };
        new.spec.must_use_capabilities = vec![capability.clone()];
        let id = create(&mut cast, "olga", new).unwrap();
        let task = cast.task(id);
        assert_eq!((task.parent, task.deadline, task.delegable), (Some(parent), deadline, true));
        assert_eq!((task.max_duration, task.autonomy), (Some(30), Autonomy::ReadOnly));
        assert_eq!(task.spec.value().unwrap().must_use_capabilities, [capability]);
        assert_eq!(task.deciders(), ["olga", "nina", "adam"].map(human));
        let astray = NewTask { parent: Some(TaskId::new(ulid::Ulid::from(7_u128))), ..new_task() };
        let refused = create(&mut cast, "olga", astray);
        assert_eq!(refused, Err(Refusal::NotFound { what: "task" }));
        let hidden = NewTask { parent: Some(parent), ..new_task() };
        let refused = create(&mut cast, "zoe", hidden);
        assert_eq!(refused, Err(Refusal::NotFound { what: "task" }));
    }

    /// HACP-020: no operation changes the task as created.
    #[test]
    fn what_is_written_down_stays() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let written = cast.task(id).created.clone();
        let amend = TaskCommand::Amend(id, "Other.".to_owned(), crate::task::Intent::Redirect);
        cast.run_task(cast.human("olga"), amend);
        cast.delivered(id, crate::testing::version());
        cast.judge("olga", id, crate::testing::verdict(crate::task::Verdict::Approved)).unwrap();
        assert_eq!(cast.task(id).created, written);
        assert!(cast.task(id).spec.is_intact());
    }
}
