//! Every operation in: what a body becomes. HACP-040; the names of parameters are those in use.

use dialects::hacp::{HacpVersion, Operation, OperationParams};
use kernel::testing::Cast;
use serde_json::{Value, json};

use crate::fixtures::{self, V01, V02, in_progress, plain_task, whole_checkpoint, whole_task};

const TASK: &str = "task_00000000000000000000000007";
const ARTIFACT: &str = "art_00000000000000000000000008";
const CHECKPOINT: &str = "ckpt_00000000000000000000000009";
const REVIEW: &str = "rev_0000000000000000000000000A";

/// One call of every operation, with every parameter it has.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let mut raise = whole_checkpoint(TASK.parse().unwrap());
    raise["task_id"] = TASK.into();
    vec![
        ("olga", "task.create", whole_task()),
        (
            "olga",
            "task.assign",
            json!({"task_id": TASK, "agent_id": "agent_bot", "capability": "git", "input": [1]}),
        ),
        ("bot", "task.start", json!({"task_id": TASK})),
        ("olga", "task.cancel", json!({"task_id": TASK, "reason": "No time", "by": "user_olga"})),
        ("olga", "task.interrupt", json!({"task_id": TASK, "prompt": "Stop", "by": "olga"})),
        ("olga", "task.amend", json!({"task_id": TASK, "text": "Faster", "intent": "redirect"})),
        (
            "olga",
            "task.grant",
            json!({"task_id": TASK, "scope": " net:* ", "decision": "allow", "until": "session"}),
        ),
        ("olga", "task.get", json!({"task_id": TASK})),
        (
            "olga",
            "task.list",
            json!({"state": "blocked", "principal": "user_olga", "assignee": "agent_bot", "project": "acme", "parent_task": TASK, "limit": 20, "cursor": "x"}),
        ),
        ("bot", "checkpoint.raise", raise),
        (
            "olga",
            "checkpoint.resolve",
            json!({"ckpt_id": CHECKPOINT, "resolution": {
            "by": "user_olga", "action": "reassign", "choice": "a", "input": {"n": 1}, "reassign_to": "agent_bot",
            "comment": "You", "approved_actions": ["p1"], "denied_actions": ["p2"], "state_patch": {"x": 1},
            "edited_artifact_ref": {"id": ARTIFACT, "version": "v2"}}}),
        ),
        ("olga", "checkpoint.expire", json!({"ckpt_id": CHECKPOINT})),
        (
            "olga",
            "ownership.transfer",
            json!({"task_id": TASK, "to": "user_mark", "via": "handoff", "actor": "user_olga"}),
        ),
        (
            "bot",
            "ownership.delegate",
            json!({"task_id": TASK, "to_agent": "spy", "capability": "tests", "input": "all"}),
        ),
        (
            "mark",
            "review.submit",
            json!({"task_id": TASK, "artifact_id": ARTIFACT, "artifact_version": "v1",
            "verdict": "changes_requested", "kind": "plan", "reviewer": "user_mark", "requested_changes": ["Tests"],
            "comments": [{"anchor": "a.rs:1", "severity": "nit", "body": "Typo"}]}),
        ),
        (
            "mark",
            "review.comment",
            json!({"review_id": REVIEW, "comment": {"severity": "major", "body": "And here"}, "by": "mark"}),
        ),
        (
            "bot",
            "artifact.commit",
            json!({"task_id": TASK, "type": "patch", "art_id": ARTIFACT, "version": "v2", "parent_version": "v1",
            "payload": {"kind": "inline", "content": "aGk=", "encoding": "base64", "media_type": "text/plain", "size": 2,
                "checksum": "sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"}}),
        ),
        ("bot", "artifact.get", json!({"art_id": ARTIFACT, "version": "v1"})),
        (
            "bot",
            "artifact.reference",
            json!({"art_id": ARTIFACT, "version": "v1", "by_task": TASK, "as_": "output"}),
        ),
        ("olga", "artifact.share", json!({"art_id": ARTIFACT, "project": "rival"})),
        ("bot", "ledger.read", json!({"scope": "project:acme", "key": "k"})),
        (
            "bot",
            "ledger.write",
            json!({"scope": "team:legal", "key": "k", "value": null, "by": TASK, "expected_revision": 3}),
        ),
        (
            "bot",
            "ledger.history",
            json!({"scope": "org:all", "key": "k", "limit": 1, "cursor": "2"}),
        ),
        (
            "olga",
            "audit.query",
            json!({"task_id": TASK, "actor": "agent_bot", "action": "task.started", "limit": 1000}),
        ),
        ("olga", "audit.replay", json!({"task_id": TASK, "at": "2026-02-06T10:00:00+01:00"})),
        ("olga", "human.inbox", json!({"principal": "user_olga", "limit": 5})),
        ("olga", "pending.outbox", json!({"task_id": TASK})),
        (
            "bot",
            "runtime.peek",
            json!({"run_id": "run_0000000000000000000000000B", "cursor": "12", "limit": 3}),
        ),
        ("bot", "runtime.ack", json!({"through": 18_446_744_073_709_551_615_u64})),
    ]
}

/// HACP-040, K-01: all 23 operations of 0.2, and ours; each with all its parameters.
#[test]
fn every_operation_is_read_whole() {
    let cast = Cast::new();
    let calls = calls();
    let named: Vec<_> = calls.iter().map(|(_, operation, _)| *operation).collect();
    assert_eq!(named, Operation::ALL.map(Operation::name), "each once, in order");
    for (who, operation, params) in calls {
        let call = fixtures::read(&cast, who, operation, &params).unwrap();
        assert_eq!(call.operation.name(), operation);
        insta::assert_debug_snapshot!(operation.replace('.', "_"), call.params);
    }
}

/// HACP-040, K-01, K-02: 21 operations in 0.1, `task.start` among them; 23 in 0.2.
#[test]
fn operations_are_counted() {
    let listed = |version| {
        let listed = |operation: &Operation| operation.is_listed() && operation.is_in(version);
        Operation::ALL.iter().filter(|operation| listed(operation)).count()
    };
    assert_eq!((listed(V01), listed(V02)), (21, 23));
    assert!(Operation::named("task.start", V01).is_ok());
    for operation in Operation::ALL.iter().filter(|operation| !operation.is_in(V01)) {
        let error = Operation::named(operation.name(), V01).unwrap_err();
        assert_eq!((error.status, error.code), (404, "NOT_FOUND"), "{operation:?}");
    }
    assert!(Operation::named("task.delete", V02).is_err());
    assert!(Operation::named("Task.Create", V02).is_err());
}

/// Issue 21, point 21: names of several words are read with `-` too, as everywhere else.
#[test]
fn words_are_read_in_either_spelling() {
    let cast = Cast::new();
    let amend = |intent: &str| {
        let params = json!({"task_id": TASK, "text": "x", "intent": intent});
        format!(
            "{:?}",
            fixtures::read(&cast, "olga", "task.amend", &params).map(|call| call.params)
        )
    };
    assert_eq!(amend("abort-hint"), amend("abort_hint"));
    assert!(amend("abort-hint").contains("AbortHint"), "{}", amend("abort-hint"));
    assert!(
        amend("abort.hint").contains("redirect, clarify, constrain or abort_hint; did you mean")
    );
}

/// An unknown operation suggests the one that was probably meant, of those the version has.
#[test]
fn an_unknown_operation_suggests_the_nearest() {
    for (name, version, meant) in [
        ("task.creat", V02, Some("task.create")),
        ("checkpoint.resolv", V01, Some("checkpoint.resolve")),
        ("Task.Create", V02, Some("task.create")),
        ("nonsense", V02, None),
    ] {
        let message = Operation::named(name, version).unwrap_err().message;
        let suggested = message.split_once("did you mean ").map(|(_, name)| name);
        assert_eq!(suggested, meant.map(|meant| format!("\"{meant}\"?")).as_deref(), "{message}");
    }
}

/// A parameter of a later version is absent where it is `null`, also for clients of an older one.
#[test]
fn null_is_absent_in_every_version() {
    let cast = Cast::new();
    let read = |policy: Value| {
        let spec = json!({"goal": "x", "review_policy": policy});
        fixtures::read_in(&cast, V01, "olga", "task.create", &json!({"type": "note", "spec": spec}))
    };
    assert!(read(json!(null)).is_ok());
    let refused = read(json!({"required_reviewers": ["olga"]})).unwrap_err().message;
    assert!(refused.starts_with("params.spec.review_policy: unknown field; allowed fields: goal"));
}

/// What upstream's client sends of itself is refused with both forms that are accepted.
#[test]
fn a_wrong_producer_is_told_both_forms() {
    let cast = Cast::new();
    let params = json!({"task_id": TASK, "type": "patch", "produced_by": "somebody",
                        "payload": {"kind": "inline", "content": "x"}});
    let refused = fixtures::read(&cast, "bot", "artifact.commit", &params).unwrap_err().message;
    let expected = format!("params.produced_by: expected agent_bot or {TASK}, or leave it out");
    assert_eq!(refused, expected);
}

/// A refused permission of a new task is named with its place.
#[test]
fn a_refused_permission_is_named_with_its_place() {
    let mut cast = Cast::new();
    let grants =
        json!([{"scope": "fs:*", "decision": "allow"}, {"scope": "banana", "decision": "allow"}]);
    let params = json!({"type": "note", "spec": {"goal": "x", "constraints": {"grants": grants}}});
    let refused = fixtures::attempt(&mut cast, "olga", "task.create", &params).unwrap_err();
    assert!(
        refused.message.starts_with("params.spec.constraints.grants[1].scope: expected"),
        "{}",
        refused.message
    );
}

/// What is optional is absent or `null`, and the defaults are those of the protocol.
#[test]
fn little_is_needed() {
    let cast = Cast::new();
    let read =
        |who, operation, params| fixtures::read(&cast, who, operation, &params).unwrap().params;
    let nulls = json!({"type": "note", "spec": {"goal": "x", "constraints": null, "inputs": null}, "deadline": null, "hxp": null});
    for params in [plain_task(), nulls, json!({"type": "note", "goal": "Write it down"})] {
        insta::allow_duplicates! {
            let OperationParams::Command(command) = read("olga", "task.create", params) else { panic!() };
            let kernel::task::TaskCommand::Create(new) = *command else { panic!() };
            let new = kernel::task::NewTask { spec: kernel::task::Spec::default(), ..*new };
            insta::assert_debug_snapshot!("least_task", new);
        }
    }
    insta::assert_debug_snapshot!(
        "least_amendment",
        read("olga", "task.amend", json!({"task_id": TASK, "text": "x"}))
    );
    insta::assert_debug_snapshot!(
        "least_transfer",
        read("olga", "ownership.transfer", json!({"task_id": TASK, "to": "agent_bot"}))
    );
    insta::assert_debug_snapshot!(
        "least_review",
        read("olga", "review.submit", json!({"task_id": TASK, "verdict": "approved"}))
    );
    insta::assert_debug_snapshot!(
        "least_comment",
        read("olga", "review.comment", json!({"review_id": REVIEW, "comment": "x"}))
    );
    insta::assert_debug_snapshot!(
        "least_reference",
        read(
            "bot",
            "artifact.reference",
            json!({"art_id": ARTIFACT, "version": "v1", "by_task": TASK, "as": "input"})
        )
    );
    insta::assert_debug_snapshot!("least_list", read("bot", "task.list", json!({})));
}

/// Upstream's client may leave the type of a task and of an artifact out.
#[test]
fn a_type_may_be_left_out() {
    let cast = Cast::new();
    let read =
        |who, operation, params| fixtures::read(&cast, who, operation, &params).unwrap().params;
    for params in [json!({"goal": "x"}), json!({"goal": "x", "type": null}), {
        json!({"goal": "x", "type": ""})
    }] {
        let OperationParams::Command(command) = read("olga", "task.create", params) else {
            panic!()
        };
        let kernel::task::TaskCommand::Create(new) = *command else { panic!() };
        assert_eq!(new.sort, "");
    }
    let payload = json!({"kind": "inline", "content": "x"});
    let params = json!({"task_id": TASK, "payload": payload});
    let OperationParams::Commit(commit) = read("bot", "artifact.commit", params) else { panic!() };
    assert_eq!(commit.sort, "");
}

/// Upstream's client always sends `raised_by` and `produced_by`. They say who calls, in one way or
/// another, or the call is refused like any other that speaks for somebody else.
#[test]
fn who_raised_and_produced_is_who_calls() {
    let cast = Cast::new();
    let raise = json!({"task_id": TASK, "kind": "approval", "prompt": "Go?"});
    let commit = json!({"task_id": TASK, "payload": {"kind": "inline", "content": "x"}});
    let other = "task_00000000000000000000000009";
    for (operation, params, key, same, others) in [
        (
            "checkpoint.raise",
            &raise,
            "raised_by",
            ["agent_bot", "bot", "agent"],
            ["human", "user_olga"],
        ),
        (
            "artifact.commit",
            &commit,
            "produced_by",
            ["agent_bot", "bot", TASK],
            [other, "agent_spy"],
        ),
    ] {
        let plain = fixtures::read(&cast, "bot", operation, params).unwrap();
        let with = |value: Value| {
            let mut params = params.clone();
            params[key] = value;
            fixtures::read(&cast, "bot", operation, &params)
        };
        for name in same {
            let read = with(json!(name)).unwrap();
            assert_eq!(read.fingerprint, plain.fingerprint, "{operation} {name}");
        }
        assert!(with(json!(null)).is_ok());
        for name in others {
            let error = with(json!(name)).unwrap_err();
            assert_eq!((error.status, error.code), (401, "UNAUTHORIZED"), "{operation} {name}");
        }
        assert_eq!(with(json!(7)).unwrap_err().code, "INVALID_SPEC");
    }
    // Nowhere else do these words mean anything.
    let params = json!({"task_id": TASK, "raised_by": "agent"});
    assert!(fixtures::read(&cast, "bot", "task.start", &params).is_err());
}

/// HACP-006: names on the wire have their prefix, ours need not.
#[test]
fn people_and_agents_are_found_by_either_name() {
    let mut cast = Cast::new();
    let id = in_progress(&mut cast, &plain_task());
    for name in ["agent_bot", "bot"] {
        let params = json!({"task_id": id, "agent_id": name});
        assert!(fixtures::read(&cast, "olga", "task.assign", &params).is_ok(), "{name}");
    }
    for (name, found) in [
        ("user_mark", true),
        ("mark", true),
        ("agent_bot", true),
        ("bot", true),
        ("agent_mark", false),
        ("user_bot", false),
        ("user_user_mark", false),
        ("system", false),
        ("", false),
    ] {
        let params = json!({"task_id": id, "to": name});
        let read = fixtures::read(&cast, "olga", "ownership.transfer", &params);
        assert_eq!(read.is_ok(), found, "{name}");
    }
}

/// HACP-082: what makes two calls the same is what they want, however it is written; neither the
/// key nor the revision, nor who is said to call.
#[test]
fn a_fingerprint_is_of_what_is_wanted() {
    let cast = Cast::new();
    let caller = dialects::hacp::HacpCaller {
        actor: &cast.human("olga"),
        directory: cast.directory(),
        version: HacpVersion::V02,
    };
    let read = |operation, body: &str| {
        dialects::hacp::read(operation, body.as_bytes(), caller).unwrap().fingerprint
    };
    let cancel = Operation::TaskCancel;
    let one = read(cancel, &format!(r#"{{"params":{{"task_id":"{TASK}","reason":"x"}}}}"#));
    for same in [
        format!(r#"{{ "params": {{ "reason" : "\u0078", "task_id": "{TASK}" }} }}"#),
        format!(
            r#"{{"params":{{"task_id":"{TASK}","reason":"x"}},"idempotency_key":"k","expected_task_revision":3}}"#
        ),
        format!(r#"{{"params":{{"task_id":"{TASK}","reason":"x","by":"user_olga"}}}}"#),
    ] {
        assert_eq!(read(cancel, &same), one, "{same}");
    }
    assert_ne!(read(cancel, &format!(r#"{{"params":{{"task_id":"{TASK}","reason":"y"}}}}"#)), one);
    let start = format!(r#"{{"params":{{"task_id":"{TASK}"}}}}"#);
    assert_ne!(read(Operation::TaskStart, &start), read(Operation::TaskGet, &start));
}

/// HACP-081, HACP-082: both stand beside the parameters of what changes something.
#[test]
fn revision_and_key_stand_beside_the_parameters() {
    let cast = Cast::new();
    let read = |version, operation, body: Value| {
        let actor = cast.human("olga");
        let caller =
            dialects::hacp::HacpCaller { actor: &actor, directory: cast.directory(), version };
        dialects::hacp::read(operation, &serde_json::to_vec(&body).unwrap(), caller)
    };
    let body =
        json!({"params": {"task_id": TASK}, "expected_task_revision": 0, "idempotency_key": "k"});
    let call = read(V02, Operation::TaskCancel, body.clone()).unwrap();
    assert_eq!(
        (call.expected_task_revision, call.idempotency_key.as_deref()),
        (Some(0), Some("k"))
    );
    for (version, operation, body, field) in [
        (V01, Operation::TaskCancel, body.clone(), "expected_task_revision"),
        (V02, Operation::TaskGet, body, "expected_task_revision"),
        (
            V02,
            Operation::TaskCreate,
            json!({"expected_task_revision": 0}),
            "expected_task_revision",
        ),
        (V02, Operation::TaskCancel, json!({"idempotency_key": ""}), "idempotency_key"),
        (
            V02,
            Operation::TaskCancel,
            json!({"idempotency_key": "k".repeat(201)}),
            "idempotency_key",
        ),
        (
            V02,
            Operation::TaskCancel,
            json!({"expected_task_revision": -1}),
            "expected_task_revision",
        ),
        (V02, Operation::TaskCancel, json!({"task_id": TASK}), "task_id"),
    ] {
        let error = read(version, operation, body.clone()).unwrap_err();
        assert_eq!(
            (error.code, &error.details["field"]),
            ("INVALID_SPEC", &json!(field)),
            "{body}"
        );
    }
}

/// HACP-001, HACP-051: the actor is the credential. Who says so too is believed, others are not.
#[test]
fn the_actor_is_never_a_parameter() {
    let cast = Cast::new();
    for (who, operation, key) in [
        ("olga", "task.cancel", "by"),
        ("olga", "task.get", "actor"),
        ("bot", "task.start", "principal"),
        ("mark", "human.inbox", "reviewer"),
    ] {
        let params = |name: &str| {
            let mut params = json!({"task_id": TASK});
            if operation == "human.inbox" {
                params = json!({});
            }
            params[key] = name.into();
            params
        };
        let own = if who == "bot" { "agent_bot".to_owned() } else { format!("user_{who}") };
        assert!(fixtures::read(&cast, who, operation, &params(&own)).is_ok(), "{operation} {key}");
        assert!(fixtures::read(&cast, who, operation, &params(who)).is_ok(), "{operation} {key}");
        let error = fixtures::read(&cast, who, operation, &params("user_nina")).unwrap_err();
        assert_eq!((error.status, error.code), (401, "UNAUTHORIZED"), "{operation} {key}");
        assert!(error.message.contains(&own), "{error}");
    }
    let resolution =
        json!({"ckpt_id": CHECKPOINT, "resolution": {"by": "user_nina", "action": "approve"}});
    let error = fixtures::read(&cast, "olga", "checkpoint.resolve", &resolution).unwrap_err();
    assert_eq!(error.code, "UNAUTHORIZED");
}

/// HACP-054: what is decided can stand in `resolution` or beside the checkpoint.
#[test]
fn a_resolution_is_read_both_ways() {
    let cast = Cast::new();
    let said = json!({"action": "approve", "comment": "Yes", "approved_actions": ["p1"], "state_patch": {"n": 1}});
    let mut flat = said.clone();
    flat["ckpt_id"] = CHECKPOINT.into();
    let nested = json!({"ckpt_id": CHECKPOINT, "resolution": said});
    let read = |params| {
        format!(
            "{:?}",
            fixtures::read(&cast, "olga", "checkpoint.resolve", &params).unwrap().params
        )
    };
    assert_eq!(read(flat), read(nested));
}
