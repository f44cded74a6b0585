mod parts;

use super::*;
use crate::actor::{ActorRef, AnswerInterface, Assurance};
use crate::ask::{Ending, Phase};
use crate::command::{AskCommand, Command, DirectoryCommand};
use crate::directory::NewProject;
use crate::ids::TaskId;
use crate::task::{
    CheckpointOutcome, Handover, NewCheckpoint, NewTask, Party, Quorum, Reference, TaskCommand,
    TaskState,
};
use crate::testing::{Cast, approve, human, new_task, no, raising, resolution, version, yes};

const ACTIONS: [ResolutionAction; 5] = [
    ResolutionAction::Approve,
    ResolutionAction::Reject,
    ResolutionAction::Choose,
    ResolutionAction::Provide,
    ResolutionAction::Reassign,
];

fn blocked(kind: CheckpointKind) -> (Cast, TaskId, AskId) {
    with(raising(kind))
}

fn with(new: NewCheckpoint) -> (Cast, TaskId, AskId) {
    let mut cast = Cast::staffed();
    let id = cast.begun(new_task().judged_by(Quorum::Any, &["nina"]));
    let ask = if new.kind == CheckpointKind::Interrupt {
        cast.interrupted(id)
    } else {
        cast.raised(id, new)
    };
    (cast, id, ask)
}

fn resolved(cast: &Cast, id: TaskId) -> Resolution {
    let outcome = cast.task(id).checkpoints.last().map(|raised| &raised.outcome);
    let Some(CheckpointOutcome::Resolved(resolution)) = outcome else { panic!("{outcome:?}") };
    (**resolution).clone()
}

fn said(cast: &Cast, id: TaskId) -> ResolutionDetails {
    resolved(cast, id).details.value().unwrap().clone()
}

/// HACP-050, K-04, K-14: the effect of each action on each kind of checkpoint: everything but a
/// rejection resumes, a rejection closes the task, and an action that does not fit the question is
/// refused.
#[test]
fn every_action_on_every_kind() {
    let mut table = Vec::new();
    for kind in CheckpointKind::ALL {
        for action in ACTIONS {
            let (mut cast, id, ask) = blocked(kind);
            let before = cast.task(id).revision;
            let mut new = resolution(action);
            if (kind, action) == (CheckpointKind::Escalation, ResolutionAction::Choose) {
                new.details.choice = None;
            }
            let done = cast.resolve("olga", ask, new);
            let cell = match &done {
                Ok(()) => cast.task(id).state.as_str(),
                Err(refusal) => refusal.code(),
            };
            table.push((kind, action, cell));
            assert_eq!(cast.task(id).revision, before + u64::from(done.is_ok()));
            assert_eq!(cast.seen(ask).is_open(), done.is_err());
            if done.is_ok() {
                let resolution = resolved(&cast, id);
                assert_eq!((resolution.action, resolution.at), (action, cast.now()));
                assert_eq!(resolution.by, ActorRef::Human(human("olga")));
            }
        }
    }
    let cells: Vec<Vec<&str>> =
        table.chunks(ACTIONS.len()).map(|row| row.iter().map(|cell| cell.2).collect()).collect();
    let (on, over, bad) = ("in_progress", "completed", "invalid-field");
    assert_eq!(
        cells,
        [
            // approve, reject, choose, provide, reassign
            [on, over, bad, on, on],  // approval
            [bad, over, on, on, on],  // choice
            [bad, over, bad, on, on], // input
            [on, over, bad, on, on],  // escalation; it could choose if it had options
            [on, over, bad, on, on],  // interrupt
        ]
    );
}

/// A decision over HACP is an answer where the question takes one, and a request for changes only
/// where it is an approval. Every other decision closes the ask without an answer and records the
/// decision: no dialect may report that no person decided, or show it as a result.
#[test]
fn what_is_no_answer_ends_the_ask_with_what_was_decided() {
    for kind in CheckpointKind::ALL {
        for action in ACTIONS {
            let options = raising(CheckpointKind::Choice).options;
            let new = raising(kind);
            let options = if kind == CheckpointKind::Escalation { options } else { new.options };
            let (mut cast, _, ask) = with(NewCheckpoint { options, ..raising(kind) });
            let mut new = resolution(action);
            new.details.comment = Some("never".to_owned());
            if cast.resolve("olga", ask, new).is_err() {
                continue;
            }
            let words = match cast.seen(ask).ending().unwrap() {
                Ending::Completed(resolution) => {
                    let reply = resolution.reply.value().unwrap();
                    let changes = matches!(reply.answer, Answer::ChangesRequested { .. });
                    let approval =
                        matches!(kind, CheckpointKind::Approval | CheckpointKind::Interrupt);
                    assert!(!changes || approval, "{kind:?} {action:?}");
                    continue;
                }
                Ending::Cancelled { by, reason, decided, .. } => {
                    assert_eq!((by, *decided), (&ActorRef::Human(human("olga")), Some(action)));
                    reason.as_ref().unwrap().value().unwrap().clone()
                }
                ending @ (Ending::Expired { .. } | Ending::Failed { .. }) => panic!("{ending:?}"),
            };
            assert!(words.contains("never"), "{kind:?} {action:?}: {words}");
            let expected = match action {
                ResolutionAction::Reject => "never",
                ResolutionAction::Reassign => "Handed to bob.\n\nnever",
                ResolutionAction::Choose => "a\n\nnever",
                ResolutionAction::Provide | ResolutionAction::Approve => continue,
            };
            assert_eq!(words, expected, "{kind:?}");
        }
    }
}

/// An escalation may offer options.
#[test]
fn an_escalation_with_options_lets_people_choose() {
    let options = raising(CheckpointKind::Choice).options;
    let (mut cast, id, ask) =
        with(NewCheckpoint { options, ..raising(CheckpointKind::Escalation) });
    cast.resolve("olga", ask, resolution(ResolutionAction::Choose)).unwrap();
    assert_eq!(said(&cast, id).choice.as_deref(), Some("a"));
    assert_eq!(cast.task(id).state, TaskState::InProgress);
}

/// HACP-031, digest §5: the task returns to the agent that waited, in the run that waited, which
/// gets the whole resolution by its event number.
#[test]
fn the_agent_that_waited_goes_on() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    let run = cast.run_of(id);
    cast.resolve("nina", ask, approve()).unwrap();
    let task = cast.task(id);
    let bot = Party::Agent("bot".parse().unwrap());
    assert_eq!((task.state, &task.assignee), (TaskState::InProgress, &bot));
    assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Approve));
    let wanted = cast.contracts(id).pop().unwrap();
    let there = (Duty::Resume, run, None, task.head.seq, task.revision);
    assert_eq!((wanted.duty, wanted.run, wanted.from, wanted.seq, wanted.revision), there);
    assert!(matches!(cast.last_of(id), TaskEvent::Resolved { .. }));
    assert_eq!(resolved(&cast, id).by, ActorRef::Human(human("nina")));
}

/// K-16: another agent takes over in a run of its own, and the one that waited stops.
#[test]
fn reassigning_hands_over_and_stops_the_run_that_waited() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Input);
    let left = cast.run_of(id);
    cast.resolve("olga", ask, resolution(ResolutionAction::Reassign)).unwrap();
    let task = cast.task(id);
    let bob = Party::Agent("bob".parse().unwrap());
    assert_eq!((task.state, &task.assignee, &task.worker), (TaskState::InProgress, &bob, &bob));
    let now = cast.run_of(id);
    assert_ne!(now, left);
    let contracts = cast.contracts(id);
    let wanted: Vec<_> = contracts[contracts.len() - 2..]
        .iter()
        .map(|c| (c.agent.to_string(), c.duty, c.run, c.from))
        .collect();
    assert_eq!(
        wanted,
        [
            ("bot".to_owned(), Duty::Cancel, left, None),
            ("bob".to_owned(), Duty::Handoff, now, Some(left)),
        ]
    );
    cast.delivered(id, version());
}

/// K-16: a rejection closes the task, and the runtime stops instead of continuing.
#[test]
fn rejecting_ends_the_task_and_the_run() {
    for kind in CheckpointKind::ALL {
        let (mut cast, id, ask) = blocked(kind);
        cast.resolve("olga", ask, resolution(ResolutionAction::Reject)).unwrap();
        let task = cast.task(id);
        assert_eq!(
            (task.state, &task.assignee),
            (TaskState::Completed, &Party::Human(human("olga")))
        );
        let wanted = cast.contracts(id).pop().unwrap();
        assert_eq!((wanted.duty, wanted.run), (Duty::Cancel, cast.run_of(id)), "{kind:?}");
        assert!(!cast.duties(id).iter().any(|(_, duty)| *duty == Duty::Resume));
        assert!(!cast.seen(ask).is_open());
    }
}

/// HACP-055: the agent continues from the state the person sets.
#[test]
fn a_person_says_from_what_the_agent_goes_on() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    let other = cast.begun(new_task());
    let edited = cast.delivered(other, version());
    let mut new = approve();
    let patch: Map<_, _> = serde_json::from_str(r#"{"step": 3}"#).unwrap();
    new.details.state_patch = Some(patch.clone());
    new.details.edited_artifact_ref = Some(edited.clone());
    cast.resolve("olga", ask, new).unwrap();
    let said = said(&cast, id);
    let given = (Some(patch), Some(edited.clone()));
    assert_eq!((said.state_patch, said.edited_artifact_ref), given);
    // The task uses the version from now on, so its agent may read it; the run is notified of the
    // decision.
    let references = &cast.artifact(edited.id).versions[0].references;
    assert_eq!(references.last(), Some(&Reference { task: id, role: Role::Input }));
    let story = cast.event_names(id);
    assert_eq!(story[story.len() - 2..], ["artifact_referenced", "checkpoint_resolved"]);
    let wanted = cast.contracts(id).pop().unwrap();
    assert_eq!((wanted.duty, wanted.seq), (Duty::Resume, cast.task(id).head.seq));
}

#[test]
fn what_is_said_with_a_resolution_has_to_fit() {
    let unknown = VersionRef {
        id: crate::ids::ArtifactId::new(ulid::Ulid::from(7_u128)),
        version: "v1".to_owned(),
    };
    let change = |action, change: &dyn Fn(&mut NewResolution)| {
        let mut new = resolution(action);
        change(&mut new);
        new
    };
    let nul: Map<String, Value> = serde_json::from_str(r#"{"\u0000": 1}"#).unwrap();
    for (kind, new, wanted) in [
        (
            CheckpointKind::Choice,
            change(ResolutionAction::Choose, &|new| new.details.choice = None),
            "choice",
        ),
        (
            CheckpointKind::Choice,
            change(ResolutionAction::Choose, &|new| new.details.choice = Some("c".to_owned())),
            "choice",
        ),
        (
            CheckpointKind::Input,
            change(ResolutionAction::Provide, &|new| new.details.input = None),
            "input",
        ),
        (
            CheckpointKind::Input,
            change(ResolutionAction::Reassign, &|new| new.reassign_to = None),
            "reassign_to",
        ),
        (
            CheckpointKind::Input,
            change(ResolutionAction::Reassign, &|new| new.reassign_to = "spy".parse().ok()),
            "reassign_to",
        ),
        (
            CheckpointKind::Approval,
            change(ResolutionAction::Approve, &|new| new.reassign_to = "bob".parse().ok()),
            "reassign_to",
        ),
        (
            CheckpointKind::Approval,
            change(ResolutionAction::Approve, &|new| new.details.input = Some("x".to_owned())),
            "input",
        ),
        (
            CheckpointKind::Approval,
            change(ResolutionAction::Approve, &|new| new.details.state_patch = Some(nul.clone())),
            "state_patch",
        ),
        (
            CheckpointKind::Approval,
            change(ResolutionAction::Approve, &|new| new.details.comment = Some(" ".to_owned())),
            "comment",
        ),
    ] {
        let (mut cast, id, ask) = blocked(kind);
        let refused = cast.resolve("olga", ask, new);
        let Err(Refusal::Invalid { field, .. }) = refused else { panic!("{wanted}: {refused:?}") };
        assert_eq!(field, wanted);
        assert!(cast.seen(ask).is_open() && cast.task(id).state == TaskState::Blocked);
    }
    let (mut cast, _, ask) = blocked(CheckpointKind::Approval);
    let new = change(ResolutionAction::Approve, &|new| {
        new.details.edited_artifact_ref = Some(unknown.clone());
    });
    let refused = cast.resolve("olga", ask, new);
    assert_eq!(refused, Err(Refusal::NotFound { what: "artifact" }));
}

/// HACP-050, HACP-051: an answer through any interface continues the task in the same decision,
/// with the same data in the protocol's terms.
#[test]
fn an_answer_anywhere_resumes_the_task() {
    let reply = |answer, comment: Option<&str>| {
        Box::new(Reply { answer, comment: comment.map(str::to_owned) })
    };
    let chosen = Answer::Chosen { options: vec!["b".to_owned()] };
    let replied = Answer::Replied { text: "like so".to_owned() };
    for (kind, reply, action, state) in [
        (CheckpointKind::Approval, yes(), ResolutionAction::Approve, TaskState::InProgress),
        (CheckpointKind::Approval, no(), ResolutionAction::Reject, TaskState::Completed),
        (
            CheckpointKind::Approval,
            reply(Answer::CHANGES, Some("less")),
            ResolutionAction::Provide,
            TaskState::InProgress,
        ),
        (
            CheckpointKind::Choice,
            reply(chosen, None),
            ResolutionAction::Choose,
            TaskState::InProgress,
        ),
        (
            CheckpointKind::Input,
            reply(replied, None),
            ResolutionAction::Provide,
            TaskState::InProgress,
        ),
        (
            CheckpointKind::Escalation,
            reply(Answer::Retry { params: Map::new() }, None),
            ResolutionAction::Approve,
            TaskState::InProgress,
        ),
        (
            CheckpointKind::Escalation,
            reply(Answer::Skip, None),
            ResolutionAction::Provide,
            TaskState::InProgress,
        ),
        (
            CheckpointKind::Escalation,
            reply(Answer::Abort, None),
            ResolutionAction::Reject,
            TaskState::Completed,
        ),
        (CheckpointKind::Interrupt, yes(), ResolutionAction::Approve, TaskState::InProgress),
    ] {
        let (mut cast, id, ask) = blocked(kind);
        let before = (cast.task(id).revision, cast.records().len());
        cast.run(cast.human("nina"), AskCommand::Answer(ask, reply));
        let resolution = resolved(&cast, id);
        assert_eq!((resolution.action, cast.task(id).state), (action, state), "{kind:?}");
        assert_eq!(resolution.by, ActorRef::Human(human("nina")));
        assert_eq!(cast.seen(ask).phase(), Phase::Completed);
        let after = (cast.task(id).revision, cast.records().len());
        assert_eq!(after, (before.0 + 1, before.1 + 2), "one decision for both");
        let duty = if state == TaskState::Completed { Duty::Cancel } else { Duty::Resume };
        assert_eq!(cast.duties(id).last(), Some(&("bot".to_owned(), duty)));
    }
}

/// HACP-051, K-14: only the principal and the reviewers decide, no matter to whom the ask is
/// assigned and which link, platform or agent answers.
#[test]
fn nobody_else_decides_through_any_door() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    cast.run(cast.human("olga"), AskCommand::Assign(ask, human("mark"), None));
    let link = Actor::link_holder(ask);
    for actor in [
        cast.human("mark"),
        cast.human("adam"),
        cast.human("zoe"),
        cast.agent("bot"),
        cast.agent("bob"),
        link,
        cast.guest(ask),
        cast.relay(ask),
        Actor::System,
    ] {
        let before = (cast.task(id).clone(), cast.seen(ask).clone(), cast.follow_ups().len());
        for reply in [yes(), no()] {
            let refused = cast.attempt(actor.clone(), AskCommand::Answer(ask, reply));
            assert!(refused.is_err(), "{actor:?}");
        }
        let resolve = TaskCommand::Resolve(ask, Box::new(approve()));
        assert!(cast.attempt_task(actor.clone(), resolve).is_err(), "{actor:?}");
        let after = (cast.task(id).clone(), cast.seen(ask).clone(), cast.follow_ups().len());
        assert_eq!(after, before, "{actor:?}");
    }
    // The principal can still decide.
    cast.resolve("olga", ask, approve()).unwrap();
}

/// HACP-041, HACP-050, HACP-052: a checkpoint is resolved once, and not after it expired.
#[test]
fn a_checkpoint_is_resolved_once() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    cast.resolve("olga", ask, approve()).unwrap();
    let before = cast.task(id).clone();
    let again = cast.resolve("nina", ask, resolution(ResolutionAction::Reject));
    assert!(matches!(again, Err(Refusal::AlreadyAnswered { .. })));
    let elsewhere = cast.attempt(cast.human("nina"), AskCommand::Answer(ask, no()));
    assert!(matches!(elsewhere, Err(Refusal::AlreadyAnswered { .. })));
    assert_eq!(*cast.task(id), before);

    let at = cast.now().plus_seconds(60);
    let new = NewCheckpoint { expires_at: Some(at), ..raising(CheckpointKind::Approval) };
    let (mut cast, id, ask) = with(new);
    cast.advance(60);
    let late = cast.resolve("olga", ask, approve());
    assert_eq!(late, Err(Refusal::TimedOut { at }), "although no timer came yet");
    assert_eq!(cast.task(id).state, TaskState::Blocked);
}

/// HACP-081: a decision on another revision is refused.
#[test]
fn whoever_saw_another_revision_decides_nothing() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    let revision = cast.task(id).revision;
    let resolve = || Command::Task(Box::new(TaskCommand::Resolve(ask, Box::new(approve()))));
    for seen in [revision - 1, revision + 1] {
        let stale = cast.attempt_at(Some(seen), cast.human("olga"), resolve());
        assert_eq!(stale, Err(Refusal::Stale { what: "task", revision }));
    }
    cast.attempt_at(Some(revision), cast.human("olga"), resolve()).unwrap();
}

/// An ask that is not a checkpoint cannot be resolved as one.
#[test]
fn only_checkpoints_are_resolved() {
    let mut cast = Cast::new();
    let ask = cast.ask(crate::testing::new_ask());
    let refused = cast.resolve("olga", ask, approve());
    assert_eq!(refused, Err(Refusal::NotFound { what: "checkpoint" }));
    let nothing = AskId::new(ulid::Ulid::from(7_u128));
    let refused = cast.resolve("olga", nothing, approve());
    assert!(matches!(refused, Err(Refusal::NotFound { .. })));
}

/// If the task was handed over while it waited, it continues with the new assignee.
#[test]
fn whoever_took_over_meanwhile_goes_on() {
    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    let bob = Party::Agent("bob".parse().unwrap());
    cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, bob.clone(), Handover::Handoff));
    cast.resolve("olga", ask, approve()).unwrap();
    assert_eq!((&cast.task(id).assignee, cast.task(id).state), (&bob, TaskState::InProgress));
    assert_eq!(cast.duties(id).last(), Some(&("bob".to_owned(), Duty::Resume)));

    let (mut cast, id, ask) = blocked(CheckpointKind::Approval);
    let mark = Party::Human(human("mark"));
    cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, mark.clone(), Handover::Handoff));
    cast.resolve("olga", ask, approve()).unwrap();
    assert_eq!(cast.task(id).assignee, mark);
    assert_eq!(cast.duties(id).last(), Some(&("bot".to_owned(), Duty::Cancel)), "and no resume");
}

/// A decision on a late task still counts.
#[test]
fn people_decide_on_what_is_late() {
    let mut cast = Cast::new();
    let deadline = Some(cast.now().plus_seconds(10));
    let id = cast.begun(NewTask { deadline, ..new_task() });
    let ask = cast.raised(id, raising(CheckpointKind::Approval));
    cast.advance(20);
    cast.resolve("olga", ask, approve()).unwrap();
    assert_eq!(cast.task(id).state, TaskState::InProgress);
}

/// The project's minimum assurance applies to every decision.
#[test]
fn nobody_decides_with_too_little_proof() {
    for kind in CheckpointKind::ALL {
        let mut cast = Cast::staffed();
        let plain = NewProject::plain("acme".parse().unwrap());
        let floor = Assurance::Session;
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { minimum_assurance: floor, ..plain }),
        );
        let id = cast.begun(new_task());
        let ask = if kind == CheckpointKind::Interrupt {
            cast.interrupted(id)
        } else {
            cast.raised(id, raising(kind))
        };
        let (via, assurance) = (AnswerInterface::Slack, Assurance::Channel);
        let olga = Actor::Human { id: human("olga"), via, assurance };
        let refuse = TaskCommand::Resolve(ask, Box::new(resolution(ResolutionAction::Reject)));
        let refused = cast.attempt_task(olga, refuse);
        assert!(matches!(refused, Err(Refusal::AssuranceTooLow { .. })), "{kind:?} {refused:?}");
        assert_eq!(cast.task(id).state, TaskState::Blocked);
    }
}

/// A text that is too long for a comment on an ask is stored completely with the task.
#[test]
fn a_long_answer_is_taken() {
    for kind in CheckpointKind::ALL {
        let (mut cast, id, ask) = blocked(kind);
        let mut new = resolution(ResolutionAction::Provide);
        new.details.input = Some("x".repeat(20_000));
        new.details.comment = Some("y".repeat(20_000));
        cast.resolve("olga", ask, new.clone()).unwrap();
        assert_eq!(said(&cast, id), new.details, "{kind:?}");
    }
}
