//! What runtimes are told: all six duties, with everything they need. Section 5 of our digest;
//! HACP-055, HACP-083; K-16.

use dialects::hacp::runtime::{HarnessEvent, OutboxState, harness_event};
use kernel::task::Contract;
use kernel::testing::Cast;
use kernel::{Event, FollowUp, Subject, TaskId};
use serde_json::{Value, json};

use crate::fixtures::{
    V01, V02, checkpoint_name, in_progress, plain_task, run, story, task, whole_task,
};

fn contracts(cast: &Cast) -> Vec<Contract> {
    let contract = |effect: &FollowUp| match effect {
        FollowUp::Contract(contract) => Some(contract.clone()),
        _ => None,
    };
    cast.follow_ups().iter().filter_map(contract).collect()
}

fn event(cast: &Cast, id: TaskId, seq: u64) -> Event {
    let mine =
        |record: &&kernel::audit::Record| record.subject == Subject::Task(id) && record.seq == seq;
    cast.records().iter().find(mine).unwrap().event().unwrap()
}

fn told(cast: &Cast, contract: &Contract) -> HarnessEvent {
    let event = event(cast, contract.task, contract.seq);
    harness_event(contract, &task(cast, contract.task), &event, V02).unwrap()
}

/// HACP-055: a task's runtime hears of everything it has to do, in order, with the words.
#[test]
fn a_story_as_its_runtime_hears_it() {
    let (cast, _) = story();
    let told: Vec<Value> = contracts(&cast).iter().map(|one| json!(told(&cast, one))).collect();
    insta::assert_json_snapshot!("duties", told);
}

/// K-16: whoever takes over is told, whoever is called off is told, and what for.
#[test]
fn runs_that_begin_and_end_with_others() {
    let mut cast = Cast::new();
    let off = in_progress(&mut cast, &plain_task());
    run(&mut cast, "olga", "task.cancel", &json!({"task_id": off, "reason": "No time"}));
    let refused = in_progress(&mut cast, &plain_task());
    run(
        &mut cast,
        "bot",
        "checkpoint.raise",
        &json!({"task_id": refused, "kind": "approval", "prompt": "Go?"}),
    );
    let name = checkpoint_name(&cast, refused);
    run(&mut cast, "olga", "checkpoint.resolve", &json!({"ckpt_id": name, "action": "reject"}));
    let taken = in_progress(&mut cast, &whole_task());
    run(&mut cast, "olga", "ownership.transfer", &json!({"task_id": taken, "to": "user_mark"}));
    cast.advance(1);
    run(&mut cast, "olga", "ownership.transfer", &json!({"task_id": taken, "to": "agent_bot"}));
    let lines: Vec<_> = contracts(&cast)
        .iter()
        .map(|one| {
            let told = json!(told(&cast, one));
            let parts = ["operation", "agent_id", "reason", "resolution", "parent_run"];
            parts.map(|part| told[part].clone())
        })
        .collect();
    insta::assert_json_snapshot!("others", lines);
}

/// HACP-083: however often it is delivered, it is the same: name, key, fingerprint, words.
#[test]
fn a_repetition_is_the_same() {
    let (cast, id) = story();
    let all = contracts(&cast);
    let names: std::collections::BTreeSet<_> = all.iter().map(Contract::id).collect();
    assert_eq!(names.len(), all.len());
    for contract in &all {
        let one = told(&cast, contract);
        assert_eq!(one, told(&cast, contract));
        assert_eq!(one.operation_context.idempotency_key.as_ref(), Some(&one.operation_id));
        assert_eq!((one.correlation_id, one.operation_context.correlation_id), (id, id));
        let other = event(&cast, id, contract.seq % 3 + 1);
        let same = other.seq == contract.seq;
        let other = harness_event(contract, &task(&cast, id), &other, V02);
        assert_eq!(other.is_some(), same, "another event wants something else");
    }
}

/// HACP-083: what waits, as the outbox shows it; and an event at its place in the stream.
#[test]
fn deliveries() {
    let (cast, _) = story();
    let first = contracts(&cast).remove(0);
    let delivery = V02.stamped(told(&cast, &first).at_position(u64::MAX));
    assert_eq!(json!(delivery)["cursor"], "18446744073709551615");
    let kept = told(&cast, &first).outbox_record(OutboxState::Pending, None, cast.now());
    insta::assert_json_snapshot!("outbox", V02.stamped(kept));
    let event = event(&cast, first.task, first.seq);
    let early = harness_event(&first, &task(&cast, first.task), &event, V01).unwrap();
    assert!(json!(early)["spec"].get("review_policy").is_none());
}
