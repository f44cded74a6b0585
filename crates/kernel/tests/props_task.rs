//! Laws of the task: whatever people, agents and the clock do, in whatever order, these hold.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "props_task/script.rs"]
mod script;

use std::collections::{BTreeMap, BTreeSet};

use kernel::actor::ActorRef;
use kernel::audit::{Record, Verifier};
use kernel::task::{CheckpointOutcome, Party, TRANSITIONS, Task, TaskEvent, TaskState, Trigger};
use kernel::testing::{Cast, human};
use kernel::{Command, DomainEvent, Entity, Event, FollowUp, Refusal, Subject, TaskId, evolve};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::script::{Turn, about, any_script, counts, is_worked_on};

type Law = Result<(), TestCaseError>;

/// What one turn came to.
struct Step<'s> {
    before: &'s Cast,
    after: &'s Cast,
    command: &'s Command,
    outcome: &'s Result<(), Refusal>,
}

impl Step<'_> {
    /// The records the turn added.
    fn records(&self) -> &[Record] {
        &self.after.records()[self.before.records().len()..]
    }
}

/// Plays a script, and shows every step.
fn play(script: &[Turn], mut look: impl FnMut(&Step<'_>) -> Law) -> Result<Cast, TestCaseError> {
    let mut cast = Cast::staffed();
    for turn in script {
        match turn.jump {
            back @ ..0 => cast.turn_back(-back),
            on => cast.advance(on.unsigned_abs()),
        }
        let (actor, command) = turn.envelope(&cast);
        let before = cast.clone();
        let outcome = cast.attempt(actor, command.clone());
        look(&Step { before: &before, after: &cast, command: &command, outcome: &outcome })?;
    }
    Ok(cast)
}

fn task(cast: &Cast, id: TaskId) -> Option<&Task> {
    cast.tasks().find(|task| task.id == id)
}

fn chain_of(cast: &Cast, subject: &Subject) -> Vec<Record> {
    cast.records().iter().filter(|record| record.subject == *subject).cloned().collect()
}

/// Every state of a task, one event after the other, with what led there.
fn states(chain: &[Record]) -> Vec<(Event, Task)> {
    let mut state = None;
    let mut states = Vec::new();
    for record in chain {
        let event = record.event().unwrap();
        let after = evolve(state, &event, record.hash).unwrap();
        let Entity::Task(task) = &after else { panic!("{after:?}") };
        states.push((event, (**task).clone()));
        state = Some(after);
    }
    states
}

fn is_legal(from: TaskState, to: TaskState) -> bool {
    TRANSITIONS.iter().any(|step| (step.0, step.1) == (from, to))
}

/// A verdict begins a review where none has begun, so it may take two steps.
fn is_legal_in_two(from: TaskState, to: TaskState) -> bool {
    let begun = TRANSITIONS.iter().find(|step| step.0 == from && step.2 == Trigger::Begin);
    begun.is_some_and(|begun| is_legal(begun.1, to))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// HACP-030, HACP-032: every event moves a task as the table says, or not at all; what is over
    /// stays.
    #[test]
    fn every_step_is_in_the_table(script in any_script()) {
        let cast = play(&script, |_| Ok(()))?;
        for task in cast.tasks() {
            let states = states(&chain_of(&cast, &Subject::Task(task.id)));
            for pair in states.windows(2) {
                let (from, to) = (pair[0].1.state, pair[1].1.state);
                let what = pair[1].0.what.name();
                let reviewed = what == "review_submitted" && is_legal_in_two(from, to);
                prop_assert!(from == to || is_legal(from, to) || reviewed, "{:?} {:?} {}", from, to, what);
                if from.is_closed() {
                    let quiet = [
                        "review_commented",
                        "artifact_referenced",
                        "delivery_shared",
                        "ledger_written",
                        "erased",
                    ];
                    prop_assert!(quiet.contains(&what), "{} after the end", what);
                }
            }
            let completed = states.iter().filter(|(event, _)| event.what.name() == "task_completed");
            prop_assert!(completed.count() <= 1);
        }
    }

    /// HACP-024, HACP-045: the records up to any number, read again, give the state that was stored
    /// then.
    #[test]
    fn replaying_up_to_any_number_gives_the_state_stored_then(script in any_script()) {
        let mut stored: BTreeMap<(TaskId, u64), Task> = BTreeMap::new();
        let cast = play(&script, |step| {
            stored.extend(step.after.tasks().map(|task| ((task.id, task.head.seq), task.clone())));
            Ok(())
        })?;
        for ((id, seq), kept) in stored {
            let chain = chain_of(&cast, &Subject::Task(id));
            let upto = states(&chain[..usize::try_from(seq).unwrap()]);
            prop_assert_eq!(upto.last().map(|(_, task)| task), Some(&kept));
        }
    }

    /// HACP-042, HACP-080: what is granted changes the revision of its task once, or not at all
    /// where it does not touch the task itself; what is refused changes nothing anywhere.
    #[test]
    fn a_mutation_counts_once_and_a_refusal_not_at_all(script in any_script()) {
        play(&script, |step| {
            if step.outcome.is_err() {
                prop_assert_eq!(step.before.records().len(), step.after.records().len());
                prop_assert_eq!(step.before.follow_ups().len(), step.after.follow_ups().len());
                prop_assert!(step.before.tasks().eq(step.after.tasks()));
                return Ok(());
            }
            let touched = about(step.before, step.command);
            for before in step.before.tasks() {
                let after = task(step.after, before.id).unwrap();
                let expected = match (counts(step.command), touched == Some(before.id)) {
                    (Some(n), true) if !step.records().is_empty() => n,
                    _ => 0,
                };
                prop_assert_eq!(after.revision - before.revision, expected, "{:?}", step.command);
            }
            Ok(())
        })?;
    }

    /// HACP-002, HACP-025, HACP-031: the chain is every change of hands, each by one event and at
    /// its moment; who works has it while it is worked on, and the principal does otherwise, unless
    /// it was handed over.
    #[test]
    fn the_chain_is_every_change_of_hands(script in any_script()) {
        let cast = play(&script, |_| Ok(()))?;
        for task in cast.tasks() {
            let states = states(&chain_of(&cast, &Subject::Task(task.id)));
            let principal = Party::Human(task.principal.clone());
            prop_assert_eq!(&states[0].1.assignee, &principal);
            let mut handed = false;
            for pair in states.windows(2) {
                let (before, (event, after)) = (&pair[0].1, &pair[1]);
                let moved = before.assignee != after.assignee;
                prop_assert_eq!(after.chain.len(), before.chain.len() + usize::from(moved));
                prop_assert_eq!(&after.chain[..before.chain.len()], &before.chain[..]);
                if moved {
                    let last = after.chain.last().unwrap();
                    prop_assert_eq!((&last.from, &last.to), (&before.assignee, &after.assignee));
                    prop_assert_eq!(last.at, event.at);
                }
                match event.what.name() {
                    "ownership_transferred" => handed = true,
                    // While it waits to be judged, the first verdict changes no hands.
                    _ if after.state == TaskState::UnderReview => {}
                    _ if before.state != after.state => handed = false,
                    _ => {}
                }
                if is_worked_on(after.state) {
                    prop_assert_eq!(&after.assignee, &after.worker);
                } else if !handed {
                    prop_assert_eq!(&after.assignee, &principal, "{:?}", after.state);
                }
            }
        }
    }

    /// HACP-046, HACP-050: a task waits for at most one checkpoint, and only while it is blocked;
    /// the ask is open as long as the task waits for it, and no longer.
    #[test]
    fn at_most_one_checkpoint_is_pending(script in any_script()) {
        play(&script, |step| {
            for task in step.after.tasks() {
                let waits = task.checkpoints.iter().filter(|one| one.outcome == CheckpointOutcome::Pending);
                let waits: Vec<_> = waits.collect();
                prop_assert!(waits.len() <= 1);
                prop_assert!(waits.is_empty() || task.state == TaskState::Blocked);
                for raised in &task.checkpoints {
                    let open = step.after.seen(raised.ask).is_open();
                    prop_assert_eq!(open, raised.outcome == CheckpointOutcome::Pending);
                }
            }
            Ok(())
        })?;
    }

    /// HACP-001, HACP-008, HACP-020, HACP-022, HACP-026: who answers for a task and what was
    /// written down never change; what was said, granted, delivered and judged is only added to.
    #[test]
    fn what_is_written_stays(script in any_script()) {
        play(&script, |step| {
            for before in step.before.tasks() {
                let after = task(step.after, before.id).unwrap();
                prop_assert_eq!(&before.principal, &after.principal);
                prop_assert_eq!(before.spec.commitment(), after.spec.commitment());
                prop_assert!(after.spec.is_intact());
                prop_assert_eq!(&before.grants, &after.grants);
                prop_assert!(after.granted.starts_with(&before.granted));
                prop_assert!(after.delivered.starts_with(&before.delivered));
                prop_assert!(after.steering.len() >= before.steering.len());
                for (was, is) in before.reviews.iter().zip(&after.reviews) {
                    prop_assert_eq!((was.id, was.verdict, &was.reviewer), (is.id, is.verdict, &is.reviewer));
                    prop_assert_eq!(was.text.commitment(), is.text.commitment());
                    prop_assert!(is.remarks.len() >= was.remarks.len());
                }
                for made in &before.delivered {
                    let was = step.before.artifact(made.id).version(Some(&made.version)).unwrap();
                    let is = step.after.artifact(made.id).version(Some(&made.version)).unwrap();
                    prop_assert_eq!((&was.payload, &was.parent), (&is.payload, &is.parent));
                    prop_assert!(is.references.starts_with(&was.references));
                }
            }
            Ok(())
        })?;
    }

    /// HACP-051, K-14: only who may brings an event about, by a rule written here a second time.
    #[test]
    fn only_who_may_moves_a_task(script in any_script()) {
        let cast = play(&script, |_| Ok(()))?;
        for task in cast.tasks() {
            let states = states(&chain_of(&cast, &Subject::Task(task.id)));
            for pair in states.windows(2) {
                let (before, event) = (&pair[0].1, &pair[1].0);
                prop_assert!(may(before, event), "{:?} by {:?}", event.what.name(), event.by);
            }
        }
    }

    /// Digest §5: what a runtime has to do names its task, the event that wants it and the revision
    /// it leads to; it goes to a run that is or becomes the task's, or to the one that is left.
    #[test]
    fn contracts_fit_the_task(script in any_script()) {
        play(&script, |step| {
            for effect in &step.after.follow_ups()[step.before.follow_ups().len()..] {
                let FollowUp::Contract(wanted) = effect else { continue };
                let after = task(step.after, wanted.task).unwrap();
                let here = (after.head.seq, after.revision, after.head.at);
                prop_assert_eq!((wanted.seq, wanted.revision, wanted.at), here);
                let run = |task: Option<&Task>| task.and_then(|task| task.run.clone());
                let runs = [run(task(step.before, wanted.task)), run(Some(after))];
                let known = runs.iter().flatten().find(|run| run.id == wanted.run);
                prop_assert_eq!(known.map(|run| &run.agent), Some(&wanted.agent));
            }
            Ok(())
        })?;
    }

    /// HACP-024: chains are whole, with the words and without them; a task whose words were erased
    /// replays.
    #[test]
    fn chains_hold_after_the_words_are_gone(script in any_script()) {
        let mut cast = play(&script, |_| Ok(()))?;
        let over: Vec<TaskId> = cast.tasks().filter(|t| t.state.is_closed()).map(|t| t.id).collect();
        for id in over {
            cast.run_task(cast.human("adam"), kernel::task::TaskCommand::Erase(id));
        }
        let subjects: Vec<Subject> = cast.records().iter().map(|record| record.subject.clone()).collect();
        for subject in subjects {
            let mut chain = chain_of(&cast, &subject);
            prop_assert!(verify(&chain));
            if chain.iter().any(|record| record.what == "erased") {
                for record in &mut chain {
                    record.contents.fill(Value::Null);
                }
            }
            prop_assert!(verify(&chain));
            if let Subject::Task(id) = subject {
                let (_, last) = states(&chain).pop().unwrap();
                prop_assert_eq!(&last, task(&cast, id).unwrap());
            }
            for record in &mut chain {
                record.contents.clear();
            }
            prop_assert!(verify(&chain));
        }
    }

    /// States and events read back from text are the same.
    #[test]
    fn tasks_survive_json(script in any_script()) {
        let cast = play(&script, |_| Ok(()))?;
        for task in cast.tasks() {
            let text = serde_json::to_string(task).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Task>(&text).unwrap(), task);
            for made in &task.delivered {
                let artifact = cast.artifact(made.id);
                let text = serde_json::to_string(artifact).unwrap();
                prop_assert_eq!(&serde_json::from_str::<kernel::task::Artifact>(&text).unwrap(), artifact);
            }
        }
        for record in cast.records() {
            let event = record.event().unwrap();
            let text = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), &event);
        }
    }
}

/// The laws say little of what never happens: the scripts bring about every event, every state and
/// every step of the table.
#[test]
fn the_scripts_go_everywhere() {
    let mut runner = TestRunner::deterministic();
    let (mut names, mut steps) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..200 {
        let script = any_script().new_tree(&mut runner).unwrap().current();
        let cast = play(&script, |_| Ok(())).unwrap();
        for task in cast.tasks() {
            let states = states(&chain_of(&cast, &Subject::Task(task.id)));
            names.extend(states.iter().map(|(event, _)| event.what.name()));
            steps.extend(states.windows(2).map(|pair| (pair[0].1.state, pair[1].1.state)));
        }
    }
    assert_eq!(names.len(), 20, "{names:?}");
    for (from, to, _) in TRANSITIONS {
        let taken = |from| steps.contains(&(from, to));
        // What a verdict does to a review it begins itself is one event.
        let begun = from == TaskState::UnderReview && taken(TaskState::ReviewReady);
        assert!(taken(from) || begun, "{from:?} {to:?} never happens");
    }
}

fn verify(chain: &[Record]) -> bool {
    let mut verifier = Verifier::default();
    chain.iter().all(|record| verifier.check(record).is_ok())
}

/// Who may bring what about, as a table of its own.
fn may(before: &Task, event: &Event) -> bool {
    let DomainEvent::Task(what) = &event.what else { return false };
    let (is_person, party) = match &event.by {
        ActorRef::Human(id) => (true, Some(Party::Human(id.clone()))),
        ActorRef::Agent(id) => (false, Some(Party::Agent(id.clone()))),
        _ => (false, None),
    };
    let principal = event.by == ActorRef::Human(before.principal.clone());
    let administrator = event.by == ActorRef::System || event.by == ActorRef::Human(human("adam"));
    let named =
        |id| before.review_policy.iter().any(|policy| policy.required_reviewers.contains(id));
    let reviewer = matches!(&event.by, ActorRef::Human(id) if named(id));
    let assignee = party.as_ref() == Some(&before.assignee);
    match &**what {
        TaskEvent::Created(_) => false,
        TaskEvent::Assigned { .. }
        | TaskEvent::Interrupted
        | TaskEvent::Amended { .. }
        | TaskEvent::Granted { .. } => principal,
        // Silence calls off what says so.
        TaskEvent::Cancelled { .. } | TaskEvent::Transferred { .. } | TaskEvent::Shared { .. } => {
            principal || administrator
        }
        TaskEvent::Started => assignee,
        TaskEvent::Committed { .. } => assignee && before.state == TaskState::InProgress,
        TaskEvent::Raised { .. } => principal || (assignee && !is_person),
        TaskEvent::Resolved { .. } | TaskEvent::Remarked { .. } => principal || reviewer,
        TaskEvent::Lapsed { .. } => {
            let raised_it =
                before.pending().is_some_and(|raised| Some(&raised.worker) == party.as_ref());
            principal || administrator || reviewer || raised_it
        }
        TaskEvent::Delegated { .. } => assignee && !is_person && before.delegable,
        TaskEvent::Reviewed { .. } | TaskEvent::Completed => {
            reviewer || (before.review_policy.is_none() && principal)
        }
        // Whoever decides may hand the agent a version to go on with.
        TaskEvent::Referenced { .. } => {
            principal || reviewer || party.as_ref() == Some(&before.worker)
        }
        TaskEvent::Wrote { .. } => principal || party.as_ref() == Some(&before.worker),
        TaskEvent::Erased | TaskEvent::CheckpointErased { .. } | TaskEvent::WordsErased(_) => {
            administrator
        }
    }
}
