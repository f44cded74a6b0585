use super::*;
use crate::actor::{AnswerInterface, Assurance};
use crate::ask::Phase;
use crate::command::{AskCommand, DirectoryCommand};
use crate::directory::NewProject;
use crate::ids::ArtifactId;
use crate::task::{Handover, NewTask, NewVersion, Party, Quorum, TaskCommand};
use crate::testing::{Cast, human, new_task, no, verdict, version, yes};

fn delivered(new: NewTask) -> (Cast, TaskId) {
    let mut cast = Cast::staffed();
    let id = cast.begun(new);
    cast.delivered(id, version());
    (cast, id)
}

fn plan(given: Verdict) -> NewReview {
    NewReview { kind: ReviewKind::Plan, ..verdict(given) }
}

/// HACP-031, HACP-032, HACP-061, K-12, K-16: the effect of a verdict on the state, the assignee and
/// the runtime; approving a plan never completes the task.
#[test]
fn what_a_verdict_does() {
    let (bot, olga) = (Party::Agent("bot".parse().unwrap()), Party::Human(human("olga")));
    for (new, state, holder, via, duty) in [
        (verdict(Verdict::Approved), TaskState::Completed, &olga, Handover::Handoff, None),
        (
            verdict(Verdict::ChangesRequested),
            TaskState::InProgress,
            &bot,
            Handover::Reject,
            Some(Duty::Resume),
        ),
        (
            verdict(Verdict::Rejected),
            TaskState::Rejected,
            &olga,
            Handover::Handoff,
            Some(Duty::Cancel),
        ),
        (
            plan(Verdict::Approved),
            TaskState::InProgress,
            &bot,
            Handover::Approve,
            Some(Duty::Resume),
        ),
        (
            plan(Verdict::ChangesRequested),
            TaskState::InProgress,
            &bot,
            Handover::Reject,
            Some(Duty::Resume),
        ),
        (
            plan(Verdict::Rejected),
            TaskState::Rejected,
            &olga,
            Handover::Handoff,
            Some(Duty::Cancel),
        ),
    ] {
        let (mut cast, id) = delivered(new_task());
        let (before, told) = (cast.task(id).revision, cast.contracts(id).len());
        let review = cast.judge("olga", id, new.clone()).unwrap();
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (state, before + 1), "{new:?}");
        assert_eq!((&task.assignee, task.chain.last().map(|s| s.via)), (holder, Some(via)));
        let [kept] = &task.reviews[..] else { panic!() };
        assert_eq!((kept.id, kept.verdict, kept.kind), (review, new.verdict, new.kind));
        assert_eq!((&kept.reviewer, kept.at), (&human("olga"), cast.now()));
        assert_eq!(Some(&kept.artifact), task.delivered.last());
        let wanted: Vec<_> =
            cast.contracts(id).split_off(told).iter().map(|c| (c.duty, c.run)).collect();
        let expected: Vec<_> = duty.map(|duty| (duty, cast.run_of(id))).into_iter().collect();
        assert_eq!(wanted, expected, "{new:?}");
        let completed =
            cast.event_names(id).iter().filter(|what| **what == "task_completed").count();
        assert_eq!(completed, usize::from(state == TaskState::Completed));
    }
}

/// HACP-062: the verdicts of several reviewers, where the last one of each counts: a veto, then the
/// quorum, then rework, else it waits for the others. The task is completed once.
#[test]
fn the_verdicts_of_several_are_weighed() {
    use Verdict::{Approved as Yes, ChangesRequested as Again, Rejected as No};
    let (wait, done) = (TaskState::UnderReview, TaskState::Completed);
    let (again, bad) = (TaskState::InProgress, TaskState::Rejected);
    for (quorum, verdicts) in [
        (Quorum::All, vec![("nina", Yes, wait), ("rita", Yes, wait), ("mark", Yes, done)]),
        (Quorum::All, vec![("nina", Yes, wait), ("nina", Yes, wait), ("rita", Yes, wait)]),
        (Quorum::All, vec![("nina", Yes, wait), ("rita", No, bad)]),
        (Quorum::All, vec![("nina", Yes, wait), ("rita", Again, again)]),
        (Quorum::All, vec![("nina", Again, again)]),
        (Quorum::Majority, vec![("nina", Yes, wait), ("rita", Yes, done)]),
        (Quorum::Majority, vec![("nina", Yes, wait), ("nina", Yes, wait), ("mark", Yes, done)]),
        (Quorum::Majority, vec![("nina", Yes, wait), ("rita", Again, again)]),
        (Quorum::Majority, vec![("nina", Yes, wait), ("rita", No, bad)]),
        (Quorum::Majority, vec![("nina", No, bad)]),
        (Quorum::Any, vec![("nina", Yes, done)]),
        (Quorum::Any, vec![("rita", No, bad)]),
        (Quorum::Any, vec![("mark", Again, again)]),
    ] {
        let policy = new_task().judged_by(quorum, &["nina", "rita", "mark"]);
        let (mut cast, id) = delivered(policy);
        for (who, given, state) in &verdicts {
            let before = cast.task(id).revision;
            cast.judge(who, id, verdict(*given)).unwrap();
            assert_eq!(cast.task(id).state, *state, "{quorum:?} {verdicts:?}");
            assert_eq!(cast.task(id).revision, before + 1);
        }
        let completed =
            cast.event_names(id).iter().filter(|what| **what == "task_completed").count();
        assert_eq!(completed, usize::from(cast.task(id).state == done));
        assert_eq!(cast.task(id).reviews.len(), verdicts.len(), "every one of them is kept");
    }
}

/// HACP-062: two of four are no majority.
#[test]
fn half_is_not_more_than_half() {
    let reviewers = ["nina", "rita", "mark", "olga"];
    let (mut cast, id) = delivered(new_task().judged_by(Quorum::Majority, &reviewers));
    for (who, state) in [
        ("nina", TaskState::UnderReview),
        ("rita", TaskState::UnderReview),
        ("olga", TaskState::Completed),
    ] {
        cast.judge(who, id, verdict(Verdict::Approved)).unwrap();
        assert_eq!(cast.task(id).state, state);
    }
}

/// HACP-062: a new version starts a new review, and earlier verdicts do not count for it.
#[test]
fn a_new_version_is_judged_by_everybody_again() {
    let (mut cast, id) = delivered(new_task().judged_by(Quorum::All, &["nina", "rita"]));
    cast.judge("nina", id, verdict(Verdict::Approved)).unwrap();
    cast.judge("rita", id, verdict(Verdict::ChangesRequested)).unwrap();
    cast.delivered(id, version());
    cast.judge("rita", id, verdict(Verdict::Approved)).unwrap();
    assert_eq!(cast.task(id).state, TaskState::UnderReview);
    cast.judge("nina", id, verdict(Verdict::Approved)).unwrap();
    assert_eq!(cast.task(id).state, TaskState::Completed);
}

/// HACP-061, HACP-062: one reviewer can approve a plan, and this does not count for the
/// deliverable.
#[test]
fn a_plan_is_approved_by_one_of_several() {
    let (mut cast, id) = delivered(new_task().judged_by(Quorum::All, &["nina", "rita"]));
    cast.judge("nina", id, plan(Verdict::Approved)).unwrap();
    assert_eq!(cast.task(id).state, TaskState::InProgress);
    cast.delivered(id, version());
    cast.judge("rita", id, verdict(Verdict::Approved)).unwrap();
    assert_eq!(cast.task(id).state, TaskState::UnderReview, "nina approved the plan only");
}

/// HACP-003, HACP-051, HACP-062, K-14: outsiders do not judge, and neither does a principal who
/// named others.
#[test]
fn only_the_reviewers_judge() {
    let (mut cast, id) = delivered(new_task().judged_by(Quorum::Any, &["nina"]));
    for actor in [cast.human("olga"), cast.human("mark"), cast.human("adam"), cast.agent("bot")] {
        let review = TaskCommand::Review(id, Box::new(verdict(Verdict::Approved)));
        let refused = cast.attempt_task(actor.clone(), review);
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{actor:?}");
    }
    cast.judge("nina", id, verdict(Verdict::Approved)).unwrap();
    // HACP-022: a review stays, and a closed task takes no more reviews.
    let late = cast.judge("nina", id, verdict(Verdict::Rejected));
    assert!(matches!(late, Err(Refusal::Precondition { .. })));
    let late = cast.judge("mark", id, verdict(Verdict::Rejected));
    assert!(matches!(late, Err(Refusal::NotAllowed { .. })), "who may comes before when");
}

/// HACP-060: a request for changes names the changes; no other verdict does.
#[test]
fn a_request_for_changes_says_which() {
    let words = |changes: &[&str]| ReviewText {
        comments: Vec::new(),
        requested_changes: changes.iter().map(|change| (*change).to_owned()).collect(),
    };
    let comment = |anchor: Option<String>, body: &str| ReviewText {
        comments: vec![AnchoredComment { anchor, severity: Severity::Nit, body: body.to_owned() }],
        requested_changes: Vec::new(),
    };
    for (given, words, field) in [
        (Verdict::ChangesRequested, words(&[]), "requested_changes"),
        (Verdict::ChangesRequested, words(&[" "]), "requested_changes"),
        (Verdict::Approved, words(&["x"]), "requested_changes"),
        (Verdict::Rejected, words(&["x"]), "requested_changes"),
        (Verdict::Approved, comment(None, " "), "comment.body"),
        (Verdict::Approved, comment(Some("x".repeat(201)), "x"), "comment.anchor"),
    ] {
        let (mut cast, id) = delivered(new_task());
        let refused = cast.judge("olga", id, NewReview { text: words, ..verdict(given) });
        let Err(Refusal::Invalid { field: found, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((found, cast.task(id).state), (field, TaskState::ReviewReady));
    }
}

/// HACP-021, HACP-062: only the last delivery is reviewed, not an earlier one.
#[test]
fn nothing_old_is_judged() {
    let (mut cast, id) = delivered(new_task());
    let first = cast.task(id).delivered[0].clone();
    cast.judge("olga", id, plan(Verdict::Approved)).unwrap();
    let other = NewVersion { sort: "letter".to_owned(), ..version() };
    let last = cast.delivered(id, other);
    let of = |artifact, version: Option<&str>| NewReview {
        artifact,
        version: version.map(str::to_owned),
        ..verdict(Verdict::Approved)
    };
    for old in [of(Some(first.id), None), of(Some(first.id), Some("v1"))] {
        let refused = cast.judge("olga", id, old);
        assert!(matches!(refused, Err(Refusal::Precondition { .. })), "{refused:?}");
    }
    // Operation 14: the artifact belongs to the task. An artifact of another task is refused, and
    // nothing changes.
    let elsewhere = {
        let id = cast.begun(new_task());
        cast.delivered(id, version())
    };
    let unknown = ArtifactId::new(ulid::Ulid::from(7_u128));
    let before = cast.task(id).clone();
    for other in [of(Some(unknown), None), of(Some(elsewhere.id), None), {
        of(Some(elsewhere.id), Some(&elsewhere.version))
    }] {
        let refused = cast.judge("olga", id, other);
        assert!(matches!(refused, Err(Refusal::Precondition { .. })), "{refused:?}");
        assert_eq!(*cast.task(id), before);
    }
    for (bad, wanted) in
        [(of(Some(last.id), Some("v9")), "version"), (of(None, Some("v9")), "version")]
    {
        let refused = cast.judge("olga", id, bad);
        assert!(matches!(refused, Err(Refusal::Invalid { field, .. }) if field == wanted));
    }
    cast.judge("olga", id, of(Some(last.id), Some("v1"))).unwrap();
    assert_eq!(cast.task(id).state, TaskState::Completed);
}

/// An answer through any interface is a review, in the same decision.
#[test]
fn an_answer_anywhere_is_a_verdict() {
    let changes = Box::new(Reply { answer: Answer::CHANGES, comment: Some("less".to_owned()) });
    for (reply, given, state) in [
        (yes(), Verdict::Approved, TaskState::Completed),
        (no(), Verdict::Rejected, TaskState::Rejected),
        (changes, Verdict::ChangesRequested, TaskState::InProgress),
    ] {
        let (mut cast, id) = delivered(new_task().judged_by(Quorum::Any, &["nina"]));
        let ask = cast.task(id).judged_in.unwrap();
        cast.run(cast.human("nina"), AskCommand::Answer(ask, reply));
        let task = cast.task(id);
        let [review] = &task.reviews[..] else { panic!() };
        assert_eq!((review.verdict, task.state), (given, state));
        assert_eq!(cast.seen(ask).phase(), Phase::Completed);
        if given == Verdict::ChangesRequested {
            assert_eq!(review.text.value().unwrap().requested_changes, ["less"]);
            assert_eq!(cast.duties(id).last().map(|(_, duty)| *duty), Some(Duty::Resume));
        }
    }
}

/// An answer by a person who is no reviewer is refused, and people without access do not learn who
/// reviewed.
#[test]
fn only_the_reviewers_answer() {
    let (mut cast, id) = delivered(new_task().judged_by(Quorum::Any, &["nina"]));
    let ask = cast.task(id).judged_in.unwrap();
    cast.run(cast.human("olga"), AskCommand::Assign(ask, human("mark"), None));
    for actor in [
        cast.human("olga"),
        cast.human("mark"),
        cast.human("zoe"),
        cast.agent("bot"),
        Actor::link_holder(ask),
        cast.guest(ask),
        cast.relay(ask),
    ] {
        let before = (cast.task(id).clone(), cast.seen(ask).clone());
        let refused = cast.attempt(actor.clone(), AskCommand::Answer(ask, yes()));
        assert!(refused.is_err(), "{actor:?}");
        assert_eq!((cast.task(id).clone(), cast.seen(ask).clone()), before);
    }
    cast.judge("nina", id, verdict(Verdict::Approved)).unwrap();
    let told = cast.attempt(cast.human("zoe"), AskCommand::Answer(ask, no()));
    assert_eq!(told, Err(Refusal::NotFound { what: "request" }));
}

/// If the plan comes first, the first answer is about the plan, and the next about the deliverable.
#[test]
fn whoever_plans_first_has_the_plan_judged_first() {
    let autonomy = Autonomy::PlanThenImplement;
    let (mut cast, id) = delivered(NewTask { autonomy, ..new_task() });
    let ask = cast.task(id).judged_in.unwrap();
    cast.run(cast.human("olga"), AskCommand::Answer(ask, yes()));
    assert_eq!(
        (cast.task(id).state, cast.task(id).reviews[0].kind),
        (TaskState::InProgress, ReviewKind::Plan)
    );
    cast.delivered(id, version());
    let ask = cast.task(id).judged_in.unwrap();
    cast.run(cast.human("olga"), AskCommand::Answer(ask, yes()));
    assert_eq!(cast.task(id).state, TaskState::Completed);
}

/// A long review is accepted; the ask gets its beginning.
#[test]
fn a_long_review_is_taken() {
    let (mut cast, id) = delivered(new_task());
    let body = "x".repeat(9_000);
    let said = AnchoredComment { anchor: None, severity: Severity::Minor, body };
    let words = ReviewText { comments: vec![said; 3], requested_changes: Vec::new() };
    cast.judge("olga", id, NewReview { text: words.clone(), ..verdict(Verdict::Approved) })
        .unwrap();
    assert_eq!(cast.task(id).reviews[0].text.value(), Some(&words));
}

/// The project's minimum assurance applies, even if the ask was withdrawn.
#[test]
fn nobody_judges_with_too_little_proof() {
    for withdrawn in [false, true] {
        let (mut cast, id) = delivered(new_task());
        let ask = cast.task(id).judged_in.unwrap();
        if withdrawn {
            cast.run(Actor::System, AskCommand::Cancel(ask, None));
        }
        let plain = NewProject::plain("acme".parse().unwrap());
        let floor = Assurance::Session;
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { minimum_assurance: floor, ..plain }),
        );
        let by =
            |assurance| Actor::Human { id: human("olga"), via: AnswerInterface::Slack, assurance };
        let judge = || TaskCommand::Review(id, Box::new(verdict(Verdict::Approved)));
        let judged = cast.attempt_task(by(Assurance::Channel), judge());
        // An ask keeps the rule it was created under.
        assert_eq!(judged.is_err(), withdrawn, "{judged:?}");
        if withdrawn {
            let (have, need) = (Assurance::Channel, Assurance::Session);
            assert_eq!(judged, Err(Refusal::AssuranceTooLow { have, need }));
            cast.run_task(by(Assurance::Session), judge());
        }
        assert_eq!(cast.task(id).state, TaskState::Completed);
    }
}
