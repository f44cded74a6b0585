//! What cannot be read: named by its place, with what was expected, and nothing happens.

use dialects::hacp::{HacpCaller, HacpError, HacpVersion, Operation, read};
use kernel::testing::Cast;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::{self, V01, plain_task, whole_checkpoint, whole_task};

const TASK: &str = "task_00000000000000000000000007";
const ARTIFACT: &str = "art_00000000000000000000000008";
const CHECKPOINT: &str = "ckpt_00000000000000000000000009";

fn with(mut value: Value, path: &str, new: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = new,
        object => object[key] = new,
    }
    value
}

fn create(path: &str, new: Value) -> (&'static str, Value) {
    ("task.create", with(whole_task(), path, new))
}

fn raise(path: &str, new: Value) -> (&'static str, Value) {
    ("checkpoint.raise", with(whole_checkpoint(TASK.parse().unwrap()), path, new))
}

fn commit(payload: &Value) -> (&'static str, Value) {
    ("artifact.commit", json!({"task_id": TASK, "type": "patch", "payload": payload}))
}

/// HACP-041, K-14: unknown words are refused: kinds, actions, intents, verdicts, ways, tiers,
/// scopes.
#[test]
fn mistakes_are_named() {
    let cast = Cast::new();
    let no_sum = json!({"kind": "blob", "uri": "https://example.com/x", "size": 3});
    let resolve =
        |said: Value| ("checkpoint.resolve", json!({"ckpt_id": CHECKPOINT, "resolution": said}));
    let review = |key: &str, value: Value| {
        let mut params = json!({"task_id": TASK, "verdict": "approved"});
        params[key] = value;
        ("review.submit", params)
    };
    let cases = [
        (create("/type", json!(7)), "params.type"),
        (create("/more", json!(1)), "params.more"),
        (create("/spec/goal", json!("  ")), "params.spec.goal"),
        (create("/spec/more", json!(1)), "params.spec.more"),
        (create("/goal", json!("twice")), "params.goal"),
        (create("/deadline", json!("tomorrow")), "params.deadline"),
        (create("/delegable", json!("yes")), "params.delegable"),
        (create("/on_expiry", json!("approve")), "params.on_expiry"),
        (create("/project", json!("no such name!")), "params.project"),
        (create("/spec/acceptance_criteria", json!([1])), "params.spec.acceptance_criteria"),
        (create("/spec/inputs", json!([{"kind": "file"}])), "params.spec.inputs[0].kind"),
        (
            create("/spec/inputs", json!([{"kind": "artifact", "id": ARTIFACT}])),
            "params.spec.inputs[0].version",
        ),
        (
            create("/spec/inputs", json!([{"kind": "resource", "id": "x"}])),
            "params.spec.inputs[0].uri",
        ),
        (
            create("/spec/constraints/max_duration", json!("P1M")),
            "params.spec.constraints.max_duration",
        ),
        (
            create("/spec/constraints/max_duration", json!(7)),
            "params.spec.constraints.max_duration",
        ),
        (create("/spec/constraints/autonomy", json!("wild")), "params.spec.constraints.autonomy"),
        (
            create("/spec/constraints/grants/0/decision", json!("maybe")),
            "params.spec.constraints.grants[0].decision",
        ),
        (
            create("/spec/constraints/grants/0/until", json!("ever")),
            "params.spec.constraints.grants[0].until",
        ),
        (
            create("/spec/constraints/grants/0/granted_at", json!("2026-01-01T00:00:00Z")),
            "params.spec.constraints.grants[0].granted_at",
        ),
        (
            create("/spec/constraints/external_refs", json!([{"kind": "ticket", "id": "7"}])),
            "params.spec.constraints.external_refs[0].namespace",
        ),
        (
            create("/spec/review_policy/required_reviewers", json!([])),
            "params.spec.review_policy.required_reviewers",
        ),
        (
            create("/spec/review_policy/required_reviewers", json!(["agent_bot"])),
            "params.spec.review_policy.required_reviewers",
        ),
        (create("/spec/review_policy/quorum", json!("half")), "params.spec.review_policy.quorum"),
        (("task.assign", json!({"agent_id": "agent_bot"})), "params.task_id"),
        (("task.assign", json!({"task_id": TASK})), "params.agent_id"),
        (("task.interrupt", json!({"task_id": TASK})), "params.prompt"),
        (("task.amend", json!({"task_id": TASK, "text": ""})), "params.text"),
        (("task.amend", json!({"task_id": TASK, "text": "x", "intent": "shout"})), "params.intent"),
        (("task.grant", json!({"task_id": TASK, "scope": "net:*"})), "params.decision"),
        (("task.list", json!({"state": "done"})), "params.state"),
        (("task.list", json!({"limit": 0})), "params.limit"),
        (raise("/kind", json!("interrupt")), "params.kind"),
        (raise("/kind", json!("banana")), "params.kind"),
        (raise("/prompt", json!(null)), "params.prompt"),
        (raise("/expires_at", json!(60)), "params.expires_at"),
        (raise("/priority", json!("asap")), "params.priority"),
        (raise("/options/1/risk", json!("extreme")), "params.options[1].risk"),
        (raise("/options/0/label", json!(1)), "params.options[0].label"),
        (raise("/context/0", json!({"kind": "text"})), "params.context[0].content"),
        (raise("/proposed_actions/1/summary", json!(null)), "params.proposed_actions[1].summary"),
        (raise("/proposed_actions/0", json!("rm")), "params.proposed_actions[0]"),
        (resolve(json!({"action": "banana"})), "params.resolution.action"),
        (resolve(json!({})), "params.resolution.action"),
        (
            resolve(json!({"action": "approve", "at": "2026-01-01T00:00:00Z"})),
            "params.resolution.at",
        ),
        (
            resolve(json!({"action": "approve", "edited_artifact_ref": {"id": ARTIFACT}})),
            "params.resolution.edited_artifact_ref.version",
        ),
        (
            (
                "checkpoint.resolve",
                json!({"ckpt_id": CHECKPOINT, "resolution": {"action": "approve"}, "comment": "x"}),
            ),
            "params.comment",
        ),
        (("checkpoint.resolve", json!({"action": "approve"})), "params.ckpt_id"),
        (
            ("ownership.transfer", json!({"task_id": TASK, "to": "user_mark", "via": "gift"})),
            "params.via",
        ),
        (review("verdict", json!("fine")), "params.verdict"),
        (review("kind", json!("draft")), "params.kind"),
        (review("comments", json!([{"body": "x"}])), "params.comments[0].severity"),
        (review("requested_changes", json!("x")), "params.requested_changes"),
        (
            (
                "review.submit",
                json!({"task_id": TASK, "verdict": "approved", "version": "v1", "artifact_version": "v2"}),
            ),
            "params.artifact_version",
        ),
        (
            (
                "review.comment",
                json!({"review_id": "rev_0000000000000000000000000A", "comment": 7}),
            ),
            "params.comment",
        ),
        (commit(&no_sum), "params.payload.checksum"),
        (commit(&json!({"kind": "file"})), "params.payload.kind"),
        (
            commit(&json!({"kind": "blob", "checksum": "not-a-sha", "uri": "x", "size": 1})),
            "params.payload.checksum",
        ),
        (
            commit(
                &json!({"kind": "inline", "content": "hi", "checksum": format!("sha256:{}", "0".repeat(64))}),
            ),
            "params.payload.checksum",
        ),
        (commit(&json!({"kind": "inline", "content": "hi", "size": 3})), "params.payload.size"),
        (commit(&json!({"kind": "inline", "content": "hi", "size": -5})), "params.payload.size"),
        (
            commit(&json!({"kind": "inline", "content": "%", "encoding": "base64"})),
            "params.payload.content",
        ),
        (commit(&json!({"kind": "ref", "content": "hi", "uri": "x"})), "params.payload.content"),
        (
            commit(&json!({"kind": "ref", "checksum": format!("sha256:{}", "0".repeat(64))})),
            "params.payload.uri",
        ),
        (("artifact.reference", json!({"art_id": ARTIFACT, "by_task": TASK})), "params.version"),
        (
            (
                "artifact.reference",
                json!({"art_id": ARTIFACT, "version": "v1", "by_task": TASK, "as": "both"}),
            ),
            "params.as",
        ),
        (("ledger.read", json!({"scope": "planet:earth", "key": "k"})), "params.scope"),
        (
            ("ledger.write", json!({"scope": "project:acme", "key": "k", "by": TASK})),
            "params.value",
        ),
        (("audit.query", json!({"action": "task.deleted"})), "params.action"),
        (("audit.replay", json!({"task_id": TASK, "at": "now"})), "params.at"),
        (("runtime.ack", json!({"through": "-1"})), "params.through"),
        (("runtime.ack", json!({})), "params.through"),
    ];
    for ((operation, params), field) in cases {
        let who = if operation == "task.create" { "olga" } else { "bot" };
        let error = fixtures::read(&cast, who, operation, &params).err();
        let error = error.unwrap_or_else(|| panic!("{operation} was read: {params}"));
        assert_eq!(
            (error.status, error.code),
            (400, "INVALID_SPEC"),
            "{operation} {params}: {error}"
        );
        assert_eq!(error.details["field"], field, "{operation} {params}: {error}");
        assert!(error.details["expected"].is_string(), "{operation} {params}: {error}");
    }
}

/// What nothing is called does not exist: 404, by its place.
#[test]
fn names_of_nothing_are_not_found() {
    let cast = Cast::new();
    for (operation, params, field) in [
        ("task.get", json!({"task_id": "task_nope"}), "params.task_id"),
        ("task.get", json!({"task_id": CHECKPOINT}), "params.task_id"),
        ("task.assign", json!({"task_id": TASK, "agent_id": "agent_nobody"}), "params.agent_id"),
        ("task.create", with(plain_task(), "/parent_task", json!("x")), "params.parent_task"),
        ("ownership.transfer", json!({"task_id": TASK, "to": "user_nobody"}), "params.to"),
        (
            "ownership.delegate",
            json!({"task_id": TASK, "to_agent": "user_mark"}),
            "params.to_agent",
        ),
        ("checkpoint.resolve", json!({"ckpt_id": "ckpt_1", "action": "approve"}), "params.ckpt_id"),
        (
            "checkpoint.resolve",
            json!({"ckpt_id": CHECKPOINT, "action": "reassign", "reassign_to": "x"}),
            "params.reassign_to",
        ),
        ("artifact.get", json!({"art_id": "art_1"}), "params.art_id"),
        ("audit.query", json!({"actor": "user_nobody"}), "params.actor"),
        ("runtime.peek", json!({"run_id": "run-7"}), "params.run_id"),
    ] {
        let error = fixtures::read(&cast, "olga", operation, &params).unwrap_err();
        assert_eq!((error.status, error.code), (404, "NOT_FOUND"), "{operation} {params}: {error}");
        assert_eq!(error.details["field"], field, "{operation} {params}");
    }
}

/// What came later than 0.1 is refused there.
#[test]
fn the_first_version_has_only_what_it_had() {
    let cast = Cast::new();
    let first = json!({"type": "note", "parent_task": TASK, "deadline": "2026-02-08T00:00:00Z", "delegable": true,
        "spec": {"goal": "x", "constraints": {"max_duration": "2h", "must_use_capabilities": [{"capability_id": "git"}]}}});
    assert!(fixtures::read_in(&cast, V01, "olga", "task.create", &first).is_ok());
    let raise = json!({"task_id": TASK, "kind": "approval", "prompt": "Go?", "expires_at": "2026-02-08T00:00:00Z"});
    assert!(fixtures::read_in(&cast, V01, "bot", "checkpoint.raise", &raise).is_ok());
    let resolve = json!({"ckpt_id": CHECKPOINT, "action": "approve"});
    assert!(fixtures::read_in(&cast, V01, "olga", "checkpoint.resolve", &resolve).is_ok());
    for (operation, params, field) in [
        (
            "task.create",
            with(first.clone(), "/spec/review_policy", json!({})),
            "params.spec.review_policy",
        ),
        (
            "task.create",
            with(first.clone(), "/spec/constraints/autonomy", json!("read_only")),
            "params.spec.constraints.autonomy",
        ),
        (
            "task.create",
            with(first.clone(), "/spec/constraints/grants", json!([])),
            "params.spec.constraints.grants",
        ),
        ("task.create", with(first, "/on_expiry", json!("cancel")), "params.on_expiry"),
        (
            "checkpoint.raise",
            with(raise, "/proposed_actions", json!([])),
            "params.proposed_actions",
        ),
        (
            "checkpoint.resolve",
            with(resolve.clone(), "/approved_actions", json!([])),
            "params.approved_actions",
        ),
        ("checkpoint.resolve", with(resolve, "/state_patch", json!({})), "params.state_patch"),
        (
            "review.submit",
            json!({"task_id": TASK, "verdict": "approved", "kind": "plan"}),
            "params.kind",
        ),
        (
            "ledger.write",
            json!({"scope": "project:acme", "key": "k", "value": 1, "by": TASK, "expected_revision": 1}),
            "params.expected_revision",
        ),
    ] {
        let error = fixtures::read_in(&cast, V01, "olga", operation, &params).unwrap_err();
        assert_eq!(
            (error.code, &error.details["field"]),
            ("INVALID_SPEC", &json!(field)),
            "{error}"
        );
    }
}

/// HACP-028: of bytes elsewhere all must be said; of those we hold, what is said must be so.
#[test]
fn payloads_are_what_they_say() {
    let cast = Cast::new();
    let sum = format!("sha256:{}", "1".repeat(64));
    let read = |payload| {
        let (operation, params) = commit(&payload);
        match fixtures::read(&cast, "bot", operation, &params).unwrap().params {
            dialects::hacp::OperationParams::Commit(commit) => commit,
            other => panic!("{other:?}"),
        }
    };
    let bytes = fixtures::held(b"seven b");
    let held = Some((&bytes, Some("text/x")));
    let named = json!({"kind": "blob", "uri": "upload:upl_1"});
    let uploaded = read(named.clone());
    assert_eq!(uploaded.payload.upload(), Some("upl_1"));
    insta::assert_debug_snapshot!("payload_uploaded", uploaded.command(held).unwrap());
    let field = |wrong: HacpError| wrong.details["field"].clone();
    assert_eq!(field(uploaded.command(None).unwrap_err()), "params.payload.uri");
    for (key, value) in [("checksum", json!(sum)), ("size", json!(8))] {
        let mut said = named.clone();
        said[key] = value;
        let wrong = read(said).command(held).unwrap_err();
        assert_eq!(field(wrong), format!("params.payload.{key}"));
    }
    let data = read(json!({"kind": "inline", "uri": "data:text/plain;base64,c2V2ZW4gYg=="}));
    assert_eq!(data.payload.content.as_deref(), Some(&b"seven b"[..]));
    assert_eq!((data.payload.uri, data.payload.checksum), (None, Some(bytes.checksum)));
    assert_eq!(data.payload.media_type.as_deref(), Some("text/plain"));
    let elsewhere = read(json!({"kind": "ref", "checksum": sum, "uri": "https://example.com/x"}));
    assert_eq!(elsewhere.command(None).unwrap_err().details["field"], "params.payload.size");
    let whole = read(json!({"kind": "diff", "checksum": sum, "uri": "mem://x", "size": 3}));
    insta::assert_debug_snapshot!("payload_elsewhere", whole.command(None).unwrap());
}

fn call(bytes: &[u8]) -> Result<(), (u16, &'static str, String)> {
    let cast = Cast::new();
    let caller = HacpCaller {
        actor: &cast.human("olga"),
        directory: cast.directory(),
        version: HacpVersion::V02,
    };
    let read = read(Operation::TaskCancel, bytes, caller);
    read.map(|_| ()).map_err(|error| (error.status, error.code, error.message))
}

/// Bodies that are no JSON, no object, too deep, or name a member twice at any depth.
#[test]
fn bodies_that_cannot_be_read() {
    let deep = format!("{}{}", r#"{"params":"#.repeat(150), "}".repeat(150));
    for body in [
        "{",
        "[]",
        "null",
        "7",
        "{} {}",
        r#"{"params": 7}"#,
        r#"{"params": {}, "params": {}}"#,
        r#"{"params": {"task_id": "a", "task_id": "b"}}"#,
        r#"{"params": {"task_id": "a", "reason": {"x": [{"y": 1, "y": 1}]}}}"#,
        r#"{"params": {"task_id": "a\u0000"}}"#,
        "\u{feff}{}",
        &deep,
    ] {
        let (status, code, message) = call(body.as_bytes()).unwrap_err();
        assert_eq!((status, code), (400, "INVALID_SPEC"), "{body}");
        assert!(!message.is_empty());
    }
    let (.., message) = call(br#"{"params": {"a": 1, "a": 1}}"#).unwrap_err();
    assert!(message.contains("duplicate field `a`"), "{message}");
    assert_eq!(call(b"").unwrap_err().1, "INVALID_SPEC", "an empty body has no parameters");
    assert!(call(b"\xff\xfe").is_err());
}

proptest! {
    /// Whatever comes, it is read or refused; nothing falls over.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = call(&bytes);
    }

    /// The same for JSON of any shape under every operation.
    #[test]
    fn any_parameters_are_read_or_refused(
        n in 0..Operation::ALL.len(),
        key in "(task_id|spec|payload|resolution|kind|value|scope|comments|options|type|x)",
        value in "(null|1|\"x\"|\\[\\]|\\[1\\]|\\{\\}|\\{\"kind\":1\\}|\\[\\{\\}\\]|\"task_00000000000000000000000007\")",
    ) {
        let cast = Cast::new();
        let caller = HacpCaller { actor: &cast.human("olga"), directory: cast.directory(), version: HacpVersion::V02 };
        let body = format!("{{\"params\":{{\"{key}\":{value}}}}}");
        let read = read(Operation::ALL[n], body.as_bytes(), caller);
        if let Err(error) = read {
            prop_assert!(matches!(error.code, "INVALID_SPEC" | "NOT_FOUND" | "UNAUTHORIZED"), "{}", error);
        }
    }
}
