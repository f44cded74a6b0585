//! Every object out, in both versions. HACP-004, HACP-006, HACP-007, HACP-086.

use dialects::hacp::{inbox, view};
use kernel::command::Command;
use kernel::task::{CheckpointOutcome, TaskCommand};
use kernel::testing::{Cast, human, new_ask};
use kernel::{Actor, DomainEvent, Subject};
use serde_json::{Value, json};

use crate::fixtures::{
    V01, V02, artifact, checkpoint, checkpoint_name, delivery, entry, in_progress, newest,
    plain_task, run, story, task, whole_task,
};

const HERE: &str = "https://gate.example/";

/// HACP-004: the seven objects, with everything there is to say of them.
#[test]
fn all_objects_of_a_story() {
    let (cast, id) = story();
    let done = task(&cast, id);
    let made = artifact(&cast, &done);
    let asks: Vec<_> = done.checkpoints.iter().map(|raised| cast.seen(raised.ask)).collect();
    for (name, version) in [("first", V01), ("newest", V02)] {
        let snapshot = |object: &str, value: Value| {
            insta::assert_json_snapshot!(format!("{object}_{name}"), value);
        };
        let stamped = |value: Value| json!(version.stamped(value));
        snapshot("task", stamped(json!(view::task(&done, version))));
        snapshot("ownership", stamped(json!(view::ownership(&done))));
        let chosen = view::checkpoint(asks[0], &done, version).unwrap();
        snapshot("checkpoint_chosen", stamped(json!(chosen)));
        let interrupt = view::checkpoint(asks[1], &done, version).unwrap();
        snapshot("checkpoint_interrupt", stamped(json!(interrupt)));
        let review = done.reviews.iter().find(|review| !review.remarks.is_empty()).unwrap();
        snapshot("review", stamped(json!(view::review(id, review, version))));
        let added = view::added(id, review.id, &review.remarks[0]);
        snapshot("comment", stamped(json!(added)));
        let newest = view::artifact(&made, None, HERE, version).unwrap();
        snapshot("artifact", stamped(json!(newest)));
        snapshot("entry", stamped(json!(view::entry(&entry(&cast), version))));
        snapshot("ledger", stamped(json!(view::ledger(&entry(&cast).scope))));
    }
}

/// HACP-086: what goes out can be read again by whoever uses the same types.
#[test]
fn objects_are_read_again() {
    let (cast, id) = story();
    let done = task(&cast, id);
    for version in [V01, V02] {
        let shown = version.stamped(view::task(&done, version));
        let read: dialects::hacp::Stamped<dialects::hacp::wire::Task> =
            serde_json::from_value(json!(shown)).unwrap();
        assert_eq!(read, shown);
        let shown = view::checkpoint(cast.seen(done.checkpoints[0].ask), &done, version).unwrap();
        let read: dialects::hacp::wire::Checkpoint = serde_json::from_value(json!(shown)).unwrap();
        assert_eq!(read, shown);
        let shown = view::artifact(&artifact(&cast, &done), None, HERE, version).unwrap();
        let read: dialects::hacp::wire::Artifact = serde_json::from_value(json!(shown)).unwrap();
        assert_eq!(read, shown);
    }
}

/// HACP-006, HACP-007: prefixes and moments as the protocol wants them, wherever they stand.
#[test]
fn ids_have_their_prefix_and_moments_are_utc() {
    let (cast, id) = story();
    let done = json!(view::task(&task(&cast, id), V02));
    let ulid = |text: &Value, prefix: &str| {
        let bare = text.as_str().unwrap().strip_prefix(prefix).unwrap();
        assert_eq!(bare.len(), 26, "{text}");
        assert!(bare.bytes().all(|c| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&c)), "{text}");
    };
    ulid(&done["id"], "task_");
    ulid(&done["checkpoints"][0], "ckpt_");
    ulid(&done["artifacts"][0], "art_");
    ulid(&done["reviews"][0]["id"], "rev_");
    ulid(&done["audit_trail"], "aud_");
    ulid(&json!(view::ledger(&entry(&cast).scope).id), "led_");
    assert_eq!(done["ownership"]["principal"], "user_olga");
    assert_eq!(done["ownership"]["chain"][0]["to"], "agent_bot");
    assert_eq!(done["created_at"], "2026-02-06T10:00:00.000Z");
}

/// HACP-025: each change of hands is a step of the chain, in the way the protocol says.
#[test]
fn the_chain_says_who_had_it_and_why() {
    let (cast, id) = story();
    let chain = view::ownership(&task(&cast, id)).chain;
    let steps: Vec<_> = chain
        .iter()
        .map(|step| format!("{} {} {}", step.from, step.via.as_str(), step.to))
        .collect();
    insta::assert_json_snapshot!("chain", steps);
}

/// HACP-052, K-17: nobody decided, and the checkpoint says so; the task stays blocked.
#[test]
fn an_expired_checkpoint() {
    let mut cast = Cast::new();
    let id = in_progress(&mut cast, &plain_task());
    let raise = json!({"task_id": id, "kind": "approval", "prompt": "Go?"});
    run(&mut cast, "bot", "checkpoint.raise", &raise);
    let pending = view::checkpoint(cast.seen(checkpoint(&cast, id)), &task(&cast, id), V02);
    insta::assert_json_snapshot!("checkpoint_pending", pending);
    let name = checkpoint_name(&cast, id);
    run(&mut cast, "olga", "checkpoint.expire", &json!({ "ckpt_id": name }));
    let after = task(&cast, id);
    let expired = view::checkpoint(cast.seen(checkpoint(&cast, id)), &after, V02).unwrap();
    assert_eq!((json!(expired.state), expired.resolution), (json!("expired"), None));
    assert_eq!(json!(view::task(&after, V02))["state"], "blocked");
}

/// An ask that holds up no task is no checkpoint, and neither is one of another task.
#[test]
fn not_every_ask_is_a_checkpoint() {
    let mut cast = Cast::new();
    let ask = cast.ask(new_ask());
    let id = in_progress(&mut cast, &plain_task());
    assert!(view::checkpoint(cast.seen(ask), &task(&cast, id), V02).is_none());
    let raise = json!({"task_id": id, "kind": "input", "prompt": "What?"});
    run(&mut cast, "bot", "checkpoint.raise", &raise);
    let held = checkpoint(&cast, id);
    let other = in_progress(&mut cast, &plain_task());
    assert!(view::checkpoint(cast.seen(held), &task(&cast, other), V02).is_none());
    assert!(view::checkpoint(cast.seen(held), &task(&cast, id), V02).is_some());
}

/// HACP-021, K-08: every version of an artifact has its name and its parent; unknown ones are not
/// there.
#[test]
fn versions_of_one_artifact() {
    let (cast, id) = story();
    let made = artifact(&cast, &task(&cast, id));
    let shown = |name: &str| view::artifact(&made, Some(name), HERE, V02);
    let chain: Vec<_> = ["v1", "v2", "v3"].map(|name| shown(name).unwrap()).into();
    let parents: Vec<_> = chain.iter().map(|one| one.parent_version.as_deref()).collect();
    assert_eq!(parents, [None, Some("v1"), Some("v2")]);
    assert!(chain.iter().all(|one| one.id == made.id));
    assert!(shown("v4").is_none());
    assert_eq!(
        view::content_path(made.id, "v 1/ü"),
        format!("/hacp/v1/artifacts/{}/versions/v%201%2F%C3%BC/content", made.id)
    );
}

/// HACP-023: everything a key ever said, in order.
#[test]
fn a_key_of_a_ledger_and_its_history() {
    let (mut cast, id) = story();
    let write = |value: Value| json!({"scope": "project:acme", "key": "design/billing", "value": value, "by": id});
    run(&mut cast, "bot", "ledger.write", &write(Value::Null));
    let entries: Vec<_> = cast
        .records()
        .iter()
        .filter(|record| matches!(record.subject, Subject::Entry(_)))
        .map(|record| view::entry_written(&record.event().unwrap(), V02).unwrap())
        .collect();
    let said: Vec<_> = entries
        .iter()
        .map(|entry| (entry.later.as_ref().unwrap().revision, entry.value.clone()))
        .collect();
    assert_eq!(said, [(1, json!({"done": true})), (2, Value::Null)]);
    assert_eq!(entries.last(), Some(&view::entry(&entry(&cast), V02)));
    let other = cast.records().iter().find(|record| matches!(record.subject, Subject::Task(_)));
    assert!(view::entry_written(&other.unwrap().event().unwrap(), V02).is_none());
}

/// HACP-022, K-05, K-06: a comment is a record of its own; the review it is added to stays as it
/// was given, and another opinion is another review.
#[test]
fn a_comment_changes_no_review() {
    let (mut cast, id) = story();
    let given = |cast: &Cast| {
        let reviews = view::task(&task(cast, id), V01);
        (
            reviews,
            task(cast, id).reviews.iter().map(|one| view::review(id, one, V01)).collect::<Vec<_>>(),
        )
    };
    let before = given(&cast);
    let review = task(&cast, id).reviews[0].id;
    let comment = json!({"severity": "nit", "body": "Later"});
    run(
        &mut cast,
        "olga",
        "review.comment",
        &json!({"task_id": id, "review_id": review, "comment": comment}),
    );
    assert_eq!(given(&cast), before);
    let last = task(&cast, id).reviews[0].remarks.last().cloned().unwrap();
    let added = view::added(id, review, &last);
    assert_eq!((added.by.as_str(), added.comment.unwrap().body.as_str()), ("user_olga", "Later"));
}

/// Words that were forgotten are not shown; the rest is.
#[test]
fn erased_words_are_gone() {
    let (mut cast, id) = story();
    cast.run(Actor::System, Command::Task(Box::new(TaskCommand::Erase(id))));
    let after = task(&cast, id);
    let shown = json!(view::task(&after, V02));
    assert_eq!(shown["spec"]["goal"], Value::Null);
    assert_eq!(shown["steering_log"][0]["text"], Value::Null);
    assert_eq!(shown["reviews"][1]["comments"], json!([]));
    assert_eq!(shown["state"], "completed");
    assert!(matches!(&after.checkpoints[0].outcome, CheckpointOutcome::Resolved(_)));
    let text = shown.to_string();
    for word in ["billing page", "old routes", "button"] {
        assert!(!text.contains(word), "{word}");
    }
}

/// K-23: an item for every reviewer who has not judged yet, and none for those who have.
#[test]
fn an_inbox_is_everybodys_own() {
    let mut cast = Cast::new();
    let id = in_progress(&mut cast, &whole_task());
    let waits = |cast: &Cast, who: &str| {
        let task = task(cast, id);
        let ask = task.pending().map(|raised| cast.seen(raised.ask));
        inbox::open_item(&human(who), &task, ask)
    };
    assert!(waits(&cast, "olga").is_none());
    let raise = json!({"task_id": id, "kind": "approval", "prompt": "Go?"});
    run(&mut cast, "bot", "checkpoint.raise", &raise);
    insta::assert_json_snapshot!("inbox_checkpoint", waits(&cast, "olga"));
    assert!(waits(&cast, "mark").is_some() && waits(&cast, "nina").is_none());
    let name = checkpoint_name(&cast, id);
    run(&mut cast, "mark", "checkpoint.resolve", &json!({"ckpt_id": name, "action": "approve"}));
    run(&mut cast, "bot", "artifact.commit", &delivery(id, None, "x"));
    insta::assert_json_snapshot!("inbox_review", waits(&cast, "mark"));
    run(&mut cast, "mark", "review.submit", &json!({"task_id": id, "verdict": "approved"}));
    assert!(waits(&cast, "mark").is_none());
    assert!(waits(&cast, "olga").is_some() && waits(&cast, "nina").is_none());
}

/// K-19: the name of the first event, whenever it is asked for.
#[test]
fn the_audit_trail_begins_with_the_first_event() {
    let (cast, id) = story();
    let first = cast.records().iter().find(|record| record.subject == Subject::Task(id)).unwrap();
    assert!(matches!(first.event().unwrap().what, DomainEvent::Task(_)));
    let told = dialects::hacp::audit::TaskReplayer::new(V02).replay(first).unwrap();
    assert_eq!(told.object.id, view::task(&task(&cast, id), V02).audit_trail);
    assert_eq!(newest(&cast), id);
}
