//! The history of a task. HACP-024, HACP-042, HACP-084; K-02, K-05, K-19, K-22.

use dialects::hacp::audit::{
    AuditEvent, ReplayError, TaskReplayer, has_intact_hash_chain, replay_at,
};
use dialects::hacp::{AuditAction, Stamped, stream, view};
use kernel::audit::Record;
use kernel::command::Command;
use kernel::task::TaskCommand;
use kernel::testing::{Cast, new_ask};
use kernel::{Actor, Subject, TaskId, Time};
use serde_json::{Value, json};

use crate::fixtures::{
    V01, V02, checkpoint_name, in_progress, plain_task, replay, run, story, task, whole_task,
};

fn records(cast: &Cast, id: TaskId) -> Vec<Record> {
    let mine = |record: &&Record| record.subject == Subject::Task(id);
    cast.records().iter().filter(mine).cloned().collect()
}

fn told(cast: &Cast, id: TaskId) -> Vec<Stamped<AuditEvent>> {
    replay(&records(cast, id), None, V02).0
}

/// HACP-032, HACP-042, K-05: every kind of event, whole; the last approval is one review, and the
/// task completes by itself behind it.
#[test]
fn a_story_from_the_first_word_to_the_last() {
    let (cast, id) = story();
    let told = told(&cast, id);
    let line = |event: &Stamped<AuditEvent>| {
        let AuditEvent { seq, actor, action, subject, .. } = &event.object;
        format!("{seq} {actor} {action} {}", subject.kind)
    };
    insta::assert_json_snapshot!("story", told.iter().map(line).collect::<Vec<_>>());
    let mut seen = std::collections::BTreeSet::new();
    for event in &told {
        if seen.insert(event.object.action.clone()) {
            insta::assert_json_snapshot!(event.object.action.replace('.', "_"), event);
        }
    }
}

/// What a task ends by when it does not end well, and how it changes hands.
#[test]
fn other_ends() {
    let mut cast = Cast::new();
    let called_off = in_progress(&mut cast, &whole_task());
    run(
        &mut cast,
        "bot",
        "checkpoint.raise",
        &json!({"task_id": called_off, "kind": "input", "prompt": "Which?"}),
    );
    run(&mut cast, "olga", "task.cancel", &json!({"task_id": called_off, "reason": "No time"}));
    let handed = in_progress(&mut cast, &whole_task());
    run(&mut cast, "olga", "ownership.transfer", &json!({"task_id": handed, "to": "user_mark"}));
    let refused = in_progress(&mut cast, &plain_task());
    run(
        &mut cast,
        "bot",
        "checkpoint.raise",
        &json!({"task_id": refused, "kind": "approval", "prompt": "Go?"}),
    );
    let name = checkpoint_name(&cast, refused);
    run(
        &mut cast,
        "olga",
        "checkpoint.resolve",
        &json!({"ckpt_id": name, "action": "reject", "comment": "No"}),
    );
    cast.run(Actor::System, Command::Task(Box::new(TaskCommand::Erase(refused))));
    for (name, id) in [("called_off", called_off), ("handed", handed), ("refused", refused)] {
        let last: Vec<_> = told(&cast, id).into_iter().skip(3).collect();
        insta::assert_json_snapshot!(name, last);
    }
}

/// Every action has a name of its own, and the name it is stored under is the kernel's.
#[test]
fn actions_are_distinct_and_stored_by_name() {
    let (cast, id) = story();
    for (record, event) in records(&cast, id).iter().zip(told(&cast, id)) {
        let action = AuditAction::ALL.into_iter().find(|one| one.name() == event.object.action);
        assert_eq!(action.unwrap().stored(), record.what);
    }
    let names: std::collections::BTreeSet<_> = AuditAction::ALL.map(AuditAction::name).into();
    assert_eq!(names.len(), AuditAction::ALL.len());
}

/// HACP-024: `seq` counts from one without a gap, and names sort as events do.
#[test]
fn events_are_numbered_and_sorted() {
    let (cast, id) = story();
    let told = told(&cast, id);
    for (n, event) in told.iter().enumerate() {
        assert_eq!(event.object.seq, n as u64 + 1);
    }
    assert!(told.windows(2).all(|two| two[0].object.id < two[1].object.id));
}

/// HACP-084: each event names the one before by its hash, and one that was changed, left out or
/// moved is found.
#[test]
fn a_chain_shows_where_it_was_touched() {
    let (cast, id) = story();
    let whole: Vec<Value> = told(&cast, id).iter().map(|event| json!(event)).collect();
    assert_eq!(whole[0]["prev_hash"], "");
    assert!(has_intact_hash_chain(&whole) && has_intact_hash_chain(&[]));
    for n in 0..whole.len() {
        let mut changed = whole.clone();
        changed[n]["actor"] = json!("user_nobody");
        assert!(!has_intact_hash_chain(&changed), "{n} changed");
        let mut missing = whole.clone();
        missing.remove(n);
        // Of the last one nothing that follows could tell.
        assert_eq!(has_intact_hash_chain(&missing), n + 1 == whole.len(), "{n} missing");
    }
    let mut moved = whole;
    moved.swap(1, 2);
    assert!(!has_intact_hash_chain(&moved));
}

/// K-22: both sides of every change are there, and what one event leaves the next one finds.
#[test]
fn what_was_and_what_is() {
    let (cast, id) = story();
    let told = told(&cast, id);
    assert!(told[0].object.before.is_none());
    for two in told.windows(2) {
        let (left, found) = (two[0].object.after.as_ref().unwrap(), two[1].object.before.as_ref());
        let found = found.unwrap();
        assert_eq!(
            (left.state, left.revision, &left.assignee),
            (found.state, found.revision, &found.assignee)
        );
    }
    let end = told.last().unwrap().object.after.as_ref().unwrap();
    assert_eq!((end.state, end.revision), (task(&cast, id).state, task(&cast, id).revision));
}

/// HACP-084: what a reducer needs, with the revision the change found.
#[test]
fn reducers_name_the_task() {
    let (cast, id) = story();
    for event in told(&cast, id) {
        let (before, after) = (event.object.before.as_ref(), event.object.after.as_ref().unwrap());
        let reducer = event.object.later.as_ref().unwrap().reducer.as_ref().unwrap();
        assert_eq!(reducer.task.revision, before.map_or(0, |before| before.revision));
        assert_eq!(reducer.task.state, after.state);
        assert_eq!(reducer.task.ownership.assignee, after.assignee);
        assert_eq!(
            (&reducer.subject, &reducer.change),
            (&event.object.subject, &event.object.action)
        );
    }
}

/// A task is rebuilt as it was at any moment, and its history up to there is the one that was told.
#[test]
fn a_task_as_it_was() {
    let (cast, id) = story();
    let (records, whole) = (records(&cast, id), told(&cast, id));
    for (n, record) in records.iter().enumerate() {
        let (events, trail) = replay(&records, Some(record.at), V02);
        // Some happen in the same moment.
        assert!(events.len() > n);
        assert_eq!(events, whole[..events.len()]);
        let then = replay_at(events, &trail, record.at);
        assert_eq!(then.task.unwrap().later.unwrap().revision, trail.task().unwrap().revision);
    }
    let (_, trail) = replay(&records, None, V02);
    assert_eq!(trail.task(), Some(&task(&cast, id)));
    let before = Time::from_millis(records[0].at.millis() - 1);
    let (none, trail) = replay(&records, Some(before), V02);
    assert!(none.is_empty() && replay_at(none, &trail, before).task.is_none());
}

/// HACP-084: what comes behind a place is told the same, whether or not somebody listened before.
#[test]
fn a_history_is_told_from_any_place_on() {
    let (cast, id) = story();
    let records = records(&cast, id);
    for version in [V01, V02] {
        let (whole, _) = replay(&records, None, version);
        for n in 0..records.len() {
            let mut trail = TaskReplayer::new(version);
            let (before, rest) = records.split_at(n);
            for record in before {
                trail.advance(record).unwrap();
            }
            let told: Vec<_> = rest.iter().map(|record| trail.replay(record).unwrap()).collect();
            assert_eq!(told, whole[n..], "{version:?} from {n} on");
        }
        // What does not follow is no history, passed over or not.
        let mut trail = TaskReplayer::new(version);
        assert!(matches!(trail.advance(&records[1]), Err(ReplayError::Misfit(_))), "{version:?}");
    }
}

/// In 0.1 there are no hashes and no reducers; the story is the same.
#[test]
fn the_first_version_tells_the_same_story() {
    let (cast, id) = story();
    let (first, _) = replay(&records(&cast, id), None, V01);
    for (first, newest) in first.iter().zip(told(&cast, id)) {
        let shown = json!(first);
        assert!(shown.get("hash").is_none() && shown.get("reducer").is_none());
        assert_eq!(shown["spec_version"], "0.1.0-draft");
        assert_eq!(
            (&first.object.id, &first.object.action),
            (&newest.object.id, &newest.object.action)
        );
    }
    insta::assert_json_snapshot!("first_version", first[3]);
}

/// What is no history of a task is not told, and neither is one with a hole.
#[test]
fn what_does_not_fit_is_not_told() {
    let (mut cast, id) = story();
    let ask = cast.ask(new_ask());
    let asked = cast.records().iter().find(|record| record.subject == Subject::Ask(ask)).unwrap();
    assert!(matches!(TaskReplayer::new(V02).replay(asked), Err(ReplayError::Other)));
    let records = records(&cast, id);
    assert!(matches!(TaskReplayer::new(V02).replay(&records[1]), Err(ReplayError::Misfit(_))));
    let mut harmed = records[0].clone();
    harmed.contents[0]["value"]["goal"] = json!("Another");
    assert!(matches!(TaskReplayer::new(V02).replay(&harmed), Err(ReplayError::Broken(_))));
}

/// Events by SSE: their name, their place, themselves.
#[test]
fn an_event_as_it_is_sent() {
    let (cast, id) = story();
    let event = &told(&cast, id)[2];
    let sent = stream::event_at(42, event);
    assert_eq!((sent.event.as_str(), sent.id.as_str()), ("task.started", "42"));
    assert_eq!(sent.data, json!(event));
}

/// A history of ten thousand events is no longer than ten thousand events: none grows with those
/// before it.
#[test]
fn long_histories_stay_small() {
    let mut cast = Cast::new();
    let id = in_progress(&mut cast, &plain_task());
    for n in 0..200 {
        run(
            &mut cast,
            "bot",
            "checkpoint.raise",
            &json!({"task_id": id, "kind": "approval", "prompt": format!("{n}?")}),
        );
        let name = checkpoint_name(&cast, id);
        run(
            &mut cast,
            "olga",
            "checkpoint.resolve",
            &json!({"ckpt_id": name, "action": "approve"}),
        );
    }
    let told = told(&cast, id);
    let length = |event: &Stamped<AuditEvent>| json!(event).to_string().len();
    let longest = told.iter().map(length).max().unwrap();
    assert!(longest < 4096, "{longest}");
    let reducer = told.last().unwrap().object.later.as_ref().unwrap().reducer.as_ref().unwrap();
    assert_eq!((reducer.task.checkpoint_ids.len(), reducer.task.checkpoint_count), (50, 200));
    assert_eq!(view::task(&task(&cast, id), V02).checkpoints.len(), 200);
}
