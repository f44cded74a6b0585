//! The assignee of a task delivers a version.

use serde_json::{Map, json};

use super::command::NewVersion;
use super::permissions::visible_task;
use super::task_ask::TaskQuestion;
use super::{
    Artifact, ArtifactEvent, ForReview, Role, Task, TaskEvent, TaskState, Version, VersionRef,
};
use crate::ask::Priority;
use crate::command::Envelope;
use crate::event::{AskEvent, Asked, DomainEvent};
use crate::ids::{ArtifactId, AskId, Subject, TaskId};
use crate::question::{Question, QuestionBody, QuestionError};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable};
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewVersion,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    // Versions are immutable: an attempt to replace one is refused with that reason, whatever the
    // state of the task.
    let before = existing_artifact(world, task, new)?;
    task.check_state(&[TaskState::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.check_deadline(world.now)?;
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
            let expected = "no value, because this is the first version";
            return Err(Refusal::Invalid { field: "parent_version", expected }.into());
        }
        (None, None) => None,
    };
    let name = new.name.clone().unwrap_or_else(|| next_version_name(before));
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
        Decision::of(Subject::Artifact(artifact), DomainEvent::Artifact(Box::new(made)));
    let ask = request_review(world, envelope, task, &delivered, new, &mut decision)?;
    decision.happened.push(task.event(TaskEvent::Committed { artifact: delivered, ask }));
    Ok(decision)
}

/// The next number that is not used as a name.
fn next_version_name(before: Option<&Artifact>) -> String {
    let count = before.map_or(0, |artifact| artifact.versions.len());
    // There is one more candidate than there are versions, so one is free.
    let mut names = (count + 1..=count * 2 + 1).map(|n| format!("v{n}"));
    let free = |name: &String| before.is_none_or(|made| made.version(Some(name)).is_none());
    names.find(free).unwrap_or_default()
}

/// Creates the ask for the reviewers of a delivery. It appears in the inbox and on every channel
/// like any ask. If a person made the version, the ask is on behalf of the agent they took the task
/// from, and says who made it.
fn request_review(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    artifact: &VersionRef,
    new: &NewVersion,
    decision: &mut Decision,
) -> Result<Option<AskId>, Refusal> {
    let by = task.assignee.agent().or_else(|| task.run.as_ref().map(|run| &run.agent));
    let Some(agent) = by.and_then(|agent| world.directory.agent(agent)) else { return Ok(None) };
    let maker = task.assignee.human();
    let spec = task.spec.value();
    let goal = spec.map_or("", |spec| spec.goal.as_str());
    let sort = if new.sort.is_empty() { "version" } else { &new.sort };
    let prompt = format!("Is {sort} {} good? {goal}", artifact.version);
    let criteria = spec.iter().flat_map(|spec| &spec.acceptance_criteria);
    let criteria: Vec<_> = criteria.map(|text| format!("- {text}")).collect();
    let context = if criteria.is_empty() { None } else { Some(criteria.join("\n")) };
    let mut details = Map::new();
    details.insert("task".to_owned(), json!(task.id));
    details.insert("artifact".to_owned(), json!(artifact));
    if let Some(uri) = &new.payload.uri {
        details.insert("uri".to_owned(), json!(uri));
    }
    if let Some(maker) = maker {
        details.insert("delivered_by".to_owned(), json!(maker));
    }
    let body = QuestionBody::Approve {
        details,
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let question = Question::new(prompt, context, body)
        .map_err(|QuestionError { field, expected }| Refusal::Invalid { field, expected })?;
    let deciders = task.reviewers();
    let on = TaskQuestion {
        question,
        deciders,
        priority: Priority::Normal,
        expires_at: None,
        claims: None,
    };
    let asked = task.new_ask(world, envelope, agent, on)?;
    let review = ForReview { task: task.id, artifact: artifact.clone() };
    let asked = Asked { review: Some(Box::new(review)), ..asked };
    let ask = AskId::new(envelope.fresh);
    decision.happened.push((Subject::Ask(ask), AskEvent::Asked(Box::new(asked)).into()));
    Ok(Some(ask))
}

/// The artifact this is a version of: the named one, if the task delivered or uses a version of it,
/// or the last of its type the task delivered.
fn existing_artifact<'a>(
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
            if !task.uses(artifact) {
                let expected =
                    "an artifact that this task delivered or references (artifact.reference)";
                return Err(Refusal::Invalid { field: "art_id", expected }.into());
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
        let why = format!("version {name} of {} already exists and is immutable", artifact.id);
        return Err(Refusal::Immutable { why }.into());
    }
    Ok(named)
}

impl Task {
    /// Whether the task delivered or uses a version of an artifact.
    fn uses(&self, artifact: &Artifact) -> bool {
        let of_it = |version: &Version| {
            version.produced_by == self.id
                || version.references.iter().any(|used| used.task == self.id)
        };
        artifact.versions.iter().any(of_it)
    }
}

fn check(new: &NewVersion) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    if !new.sort.is_empty() && new.sort.trim().is_empty() || !is_short(&new.sort) {
        return invalid(
            "type",
            "an empty string, or a non-blank string of at most 200 bytes without NUL characters",
        );
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
    if new.payload.held.is_none() && !new.payload.uri.as_ref().is_some_and(addressed) {
        return invalid("payload.uri", "an address of at most 2000 bytes");
    }
    if !new.payload.media_type.as_deref().is_none_or(is_short) {
        return invalid("payload.media_type", "a type of at most 200 bytes");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Assignee;
    use crate::ask::Phase;
    use crate::command::AskCommand;
    use crate::follow_up::FollowUp;
    use crate::task::{
        AgentInput, Handover, NewTask, Party, PayloadKind, Quorum, Reference, TaskCommand, Verdict,
    };
    use crate::testing::{Cast, human, new_task, payload, verdict, version, yes};

    fn commit(cast: &mut Cast, id: TaskId, new: NewVersion) -> Result<(), Refusal> {
        cast.attempt_task(cast.agent("bot"), TaskCommand::Commit(id, Box::new(new)))
    }

    fn reworked(cast: &mut Cast, id: TaskId) {
        cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
    }

    /// HACP-031: the version is delivered, its principal is the assignee, and its provenance names
    /// the task and the time.
    #[test]
    fn what_was_made_is_there_and_waits_to_be_judged() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.advance(9);
        let before = cast.task(id).revision;
        let made = cast.delivered(id, version());
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::ReviewReady, before + 1));
        assert_eq!(task.assignee, Party::Human(human("olga")));
        assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Handoff));
        let artifact = cast.artifact(made.id);
        assert_eq!((artifact.project.as_str(), artifact.sort.as_str()), ("acme", "report"));
        let [first] = &artifact.versions[..] else { panic!() };
        assert_eq!((first.name.as_str(), &first.parent), ("v1", &None));
        assert_eq!((first.produced_by, first.produced_at), (id, cast.now()));
        assert_eq!(first.references, [Reference { task: id, role: Role::Output }]);
        assert_eq!(first.payload, payload("a report"));
    }

    /// HACP-021, K-07, K-08: rework is in progress like the first time, and makes the next version
    /// of the same artifact.
    #[test]
    fn versions_of_one_thing_are_a_chain() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let mut made = Vec::new();
        for _ in 0..3 {
            made.push(cast.delivered(id, version()));
            reworked(&mut cast, id);
        }
        assert!(made.iter().all(|version| version.id == made[0].id));
        let kept: Vec<_> = cast
            .artifact(made[0].id)
            .versions
            .iter()
            .map(|version| (version.name.as_str(), version.parent.as_deref()))
            .collect();
        assert_eq!(kept, [("v1", None), ("v2", Some("v1")), ("v3", Some("v2"))]);
        let plan = NewVersion { sort: "plan".to_owned(), ..version() };
        let other = cast.delivered(id, plan);
        assert_ne!(other.id, made[0].id, "another sort of thing is another thing");
        reworked(&mut cast, id);
        let (artifact, parent) = (Some(made[0].id), Some("v1".to_owned()));
        let branch = cast.delivered(id, NewVersion { artifact, parent, ..version() });
        let kept = cast.artifact(branch.id).version(Some(&branch.version)).unwrap();
        assert_eq!(kept.parent.as_deref(), Some("v1"));
    }

    /// HACP-021, HACP-027: a version is immutable in every state and for every actor.
    #[test]
    fn a_version_is_never_written_twice() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version());
        let kept = cast.artifact(made.id).versions[0].payload.clone();
        for named in [true, false] {
            let again = NewVersion {
                artifact: named.then_some(made.id),
                name: Some("v1".to_owned()),
                payload: payload("another report"),
                ..version()
            };
            let refused = commit(&mut cast, id, again.clone());
            assert!(matches!(refused, Err(Refusal::Immutable { .. })), "{refused:?}");
            let other = cast.begun(new_task());
            cast.run_task(
                cast.agent("bot"),
                TaskCommand::Reference(other, made.clone(), Role::Input),
            );
            let again = NewVersion { artifact: Some(made.id), ..again };
            let refused = commit(&mut cast, other, again);
            assert!(matches!(refused, Err(Refusal::Immutable { .. })), "{refused:?}");
        }
        let [first] = &cast.artifact(made.id).versions[..] else { panic!() };
        assert_eq!(first.payload, kept);
    }

    /// A chosen name may be the number that comes next.
    #[test]
    fn the_next_number_is_one_nobody_took() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let named = |name: &str| NewVersion { name: Some(name.to_owned()), ..version() };
        for (new, name) in [
            (named("v2"), "v2"),
            (version(), "v3"),
            (named("v4"), "v4"),
            (named("final"), "final"),
            (version(), "v5"),
            (version(), "v6"),
        ] {
            assert_eq!(cast.delivered(id, new).version, name);
            reworked(&mut cast, id);
        }
    }

    /// HACP-021: a task can continue only artifacts that it delivered or uses.
    #[test]
    fn only_what_a_task_has_to_do_with_is_continued() {
        let mut cast = Cast::staffed();
        let maker = cast.begun(new_task());
        let made = cast.delivered(maker, version());
        let id = cast.begun(new_task());
        let more = || NewVersion { artifact: Some(made.id), ..version() };
        let records = cast.records().len();
        for name in [None, Some("v1".to_owned())] {
            let refused = commit(&mut cast, id, NewVersion { name, ..more() });
            let expected = matches!(refused, Err(Refusal::Invalid { field: "art_id", .. }));
            assert!(expected, "{refused:?}");
        }
        assert_eq!(cast.records().len(), records);
        cast.run_task(cast.human("olga"), TaskCommand::Reference(id, made.clone(), Role::Input));
        assert_eq!(cast.delivered(id, more()).version, "v2");
    }

    /// An artifact of another project cannot be continued, shared or not.
    #[test]
    fn an_artifact_of_another_project_is_not_continued() {
        let mut cast = Cast::new();
        let theirs = TaskCommand::Create(Box::new(new_task()));
        cast.run_task(cast.human("zoe"), theirs);
        let theirs = TaskId::new(cast.fresh());
        let assign = TaskCommand::Assign(theirs, "spy".parse().unwrap(), AgentInput::default());
        cast.run_task(cast.human("zoe"), assign);
        cast.run_task(cast.agent("spy"), TaskCommand::Start(theirs));
        let made = cast.delivered(theirs, version());
        cast.run_task(cast.human("zoe"), TaskCommand::Share(made.id, "acme".parse().unwrap()));
        let id = cast.begun(new_task());
        let refused = commit(&mut cast, id, NewVersion { artifact: Some(made.id), ..version() });
        assert_eq!(refused, Err(Refusal::NotFound { what: "artifact" }));
        let nothing = ArtifactId::new(ulid::Ulid::from(7_u128));
        let refused = commit(&mut cast, id, NewVersion { artifact: Some(nothing), ..version() });
        assert_eq!(refused, Err(Refusal::NotFound { what: "artifact" }));
    }

    #[test]
    fn what_cannot_be_delivered() {
        let named = |name: &str| NewVersion { name: Some(name.to_owned()), ..version() };
        let outside = |uri: Option<&str>| {
            let kind = PayloadKind::Ref;
            let uri = uri.map(str::to_owned);
            NewVersion {
                payload: crate::task::Payload { kind, uri, held: None, ..payload("") },
                ..version()
            }
        };
        let mut typed = version();
        typed.payload.media_type = Some("x".repeat(201));
        for (new, wanted) in [
            (NewVersion { sort: " ".to_owned(), ..version() }, "type"),
            (NewVersion { sort: "x".repeat(201), ..version() }, "type"),
            (NewVersion { parent: Some("v1".to_owned()), ..version() }, "parent_version"),
            (named(""), "version"),
            (named("a/b"), "version"),
            (named("a b"), "version"),
            (named(&"x".repeat(101)), "version"),
            (outside(None), "payload.uri"),
            (outside(Some(" ")), "payload.uri"),
            (outside(Some("a\0b")), "payload.uri"),
            (typed, "payload.media_type"),
        ] {
            let mut cast = Cast::new();
            let id = cast.begun(new_task());
            let before = cast.records().len();
            let refused = commit(&mut cast, id, new);
            let Err(Refusal::Invalid { field, .. }) = refused else {
                panic!("{wanted}: {refused:?}")
            };
            assert_eq!((field, cast.records().len()), (wanted, before));
        }
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        reworked(&mut cast, id);
        let astray = NewVersion { parent: Some("v9".to_owned()), ..version() };
        let refused = commit(&mut cast, id, astray);
        assert!(matches!(refused, Err(Refusal::Invalid { field: "parent_version", .. })));
    }

    /// K-17: nothing is delivered after the deadline.
    #[test]
    fn nothing_is_delivered_late() {
        let mut cast = Cast::new();
        let at = cast.now().plus_seconds(60);
        let id = cast.begun(NewTask { deadline: Some(at), ..new_task() });
        cast.advance(60);
        assert_eq!(commit(&mut cast, id, version()), Err(Refusal::PastDeadline { at }));
    }

    /// K-23: every reviewer finds the delivery in their inbox until it is judged.
    #[test]
    fn it_is_put_to_everybody_who_judges() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task().judged_by(Quorum::All, &["nina", "rita"]));
        cast.delivered(id, version());
        let ask = cast.task(id).judged_in.unwrap();
        let inbox = |cast: &Cast, name: &str| {
            let asked = cast.seen(ask);
            asked.is_open() && asked.is_assigned_to(cast.directory().human(&human(name)).unwrap())
        };
        let told = cast.follow_ups().iter().filter(
            |effect| matches!(effect, FollowUp::Notify { ask: about, .. } if *about == ask),
        );
        assert_eq!(told.count(), 2);
        assert!(inbox(&cast, "nina") && inbox(&cast, "rita") && !inbox(&cast, "mark"));
        cast.judge("rita", id, verdict(Verdict::Approved)).unwrap();
        assert!(inbox(&cast, "nina"), "one of two has judged it");
        cast.judge("nina", id, verdict(Verdict::Approved)).unwrap();
        assert_eq!(cast.seen(ask).phase(), Phase::Completed);
    }

    /// K-23: a delivery by a person who took over is put to the reviewers like that of an agent. A
    /// reviewer who made it themselves finds it in the inbox and is not notified.
    #[test]
    fn what_a_person_made_is_put_to_everybody_who_judges() {
        for (maker, named, told) in [
            ("mark", &["nina", "rita"][..], &["nina", "rita"][..]),
            ("rita", &["nina", "rita"], &["nina"]),
            ("olga", &["nina"], &["nina"]),
            ("mark", &[], &["olga"]),
            ("olga", &[], &[]),
        ] {
            let mut cast = Cast::staffed();
            let new = new_task();
            let new = if named.is_empty() { new } else { new.judged_by(Quorum::All, named) };
            let id = cast.begun(new);
            let to = Party::Human(human(maker));
            cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, to, Handover::Handoff));
            cast.delivered(id, version());
            let ask = cast.task(id).judged_in.unwrap();
            let notified: Vec<_> = cast
                .follow_ups()
                .iter()
                .filter_map(|effect| {
                    let FollowUp::Notify {
                        ask: about, assignee: Assignee::Person { human }, ..
                    } = effect
                    else {
                        return None;
                    };
                    (*about == ask).then(|| human.to_string())
                })
                .collect();
            assert_eq!(notified, told, "{maker}");
            let asked = cast.seen(ask);
            let details = asked.question.value().unwrap().body();
            let QuestionBody::Approve { details, .. } = details else { panic!("{details:?}") };
            assert_eq!(details["delivered_by"], json!(maker));
            for reviewer in cast.task(id).reviewers() {
                assert!(asked.is_assigned_to(cast.directory().human(&reviewer).unwrap()));
            }
            for reviewer in cast.task(id).reviewers() {
                cast.run(cast.human(reviewer.as_str()), AskCommand::Answer(ask, yes()));
            }
            assert_eq!(cast.task(id).state, TaskState::Completed);
            assert_eq!(cast.seen(ask).phase(), Phase::Completed);
        }
    }
}
