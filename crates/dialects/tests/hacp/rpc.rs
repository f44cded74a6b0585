//! JSON-RPC 2.0 over `/hacp/ws`.

use dialects::hacp::rpc::{RpcItem, RpcMessage, event_notification, parse};
use dialects::hacp::{HacpCaller, HacpError, stream};
use kernel::Refusal;
use kernel::testing::Cast;
use serde_json::{Value, json};

use crate::fixtures::{V01, V02, story};

const TASK: &str = "task_00000000000000000000000007";

fn items(message: &Value) -> Vec<RpcItem> {
    match parse(&serde_json::to_vec(message).unwrap(), V02) {
        Ok(RpcMessage::One(item)) => vec![item],
        Ok(RpcMessage::Batch(items)) => items,
        Err(answer) => panic!("{answer}"),
    }
}

/// A method is an operation, and its params are the operation's with what else stands in a body.
#[test]
fn a_call_is_read_like_a_body() {
    let cast = Cast::new();
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "task.cancel",
        "params": {"task_id": TASK, "reason": "x", "expected_task_revision": 3, "idempotency_key": "k"}});
    let request = items(&message).remove(0).unwrap();
    let caller =
        HacpCaller { actor: &cast.human("olga"), directory: cast.directory(), version: V02 };
    let call = request.call(caller).unwrap();
    assert_eq!(
        (call.expected_task_revision, call.idempotency_key.as_deref()),
        (Some(3), Some("k"))
    );
    let body = json!({"params": {"task_id": TASK, "reason": "x"}});
    let body = dialects::hacp::read(call.operation, body.to_string().as_bytes(), caller).unwrap();
    assert_eq!(
        (call.fingerprint, format!("{:?}", call.params)),
        (body.fingerprint, format!("{:?}", body.params))
    );
    assert_eq!(
        request.answer(Ok(json!({"a": 1})), V02),
        Some(json!({"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}))
    );
}

/// Several at once are answered one by one; what wants no answer gets none.
#[test]
fn batches_and_notifications() {
    let call = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "task.list"});
    let quiet = json!({"jsonrpc": "2.0", "method": "task.list", "params": null});
    let items = items(&json!([call(json!("a")), quiet, call(json!(null)), 7]));
    assert_eq!(items.len(), 4);
    let answers: Vec<_> = items
        .into_iter()
        .map(|item| item.map_or_else(Some, |request| request.answer(Ok(json!([])), V02)))
        .collect();
    assert_eq!(answers[0].as_ref().unwrap()["id"], "a");
    assert_eq!(answers[1], None);
    assert_eq!(answers[2].as_ref().unwrap()["id"], Value::Null);
    assert_eq!(answers[3].as_ref().unwrap()["error"]["code"], -32_600);
}

/// JSON-RPC's own numbers where it has some, and the protocol's error with each.
#[test]
fn errors_have_numbers_and_data() {
    for (message, number) in [
        ("{", -32_700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"task.list"}"#, -32_700),
        ("[]", -32_600),
        ("7", -32_600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"task.list"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"task.list"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"task.list","more":1}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"task.delete"}"#, -32_601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"task.list","params":[1]}"#, -32_602),
    ] {
        let answer = match parse(message.as_bytes(), V02) {
            Err(answer) | Ok(RpcMessage::One(Err(answer))) => answer,
            other => panic!("{message}: {other:?}"),
        };
        assert_eq!(answer["error"]["code"], number, "{message}");
        assert!(answer["error"]["data"]["code"].is_string(), "{message}");
    }
    assert!(parse(json!(vec![1; 101]).to_string().as_bytes(), V02).is_err());
    let later = r#"{"jsonrpc":"2.0","id":1,"method":"task.amend"}"#;
    assert!(matches!(parse(later.as_bytes(), V01), Ok(RpcMessage::One(Err(_)))));
    assert!(matches!(parse(later.as_bytes(), V02), Ok(RpcMessage::One(Ok(_)))));
}

/// A refusal has a number by its status, and is the same as over HTTP otherwise.
#[test]
fn refusals_keep_their_code() {
    let request =
        items(&json!({"jsonrpc": "2.0", "id": 1, "method": "task.list"})).remove(0).unwrap();
    let numbers: Vec<_> = [
        HacpError::unauthorized(),
        HacpError::no_route(),
        HacpError::refused(&Refusal::IdempotencyMismatch),
        HacpError::refused(&Refusal::Precondition { why: "no".to_owned() }),
        HacpError::field("x", "y"),
        HacpError::internal(),
        HacpError::unavailable(),
    ]
    .into_iter()
    .map(|error| {
        let answer = request.answer(Err(error.clone()), V02).unwrap();
        assert_eq!(answer["error"]["data"], error.body(V02)["error"]);
        answer["error"]["code"].as_i64().unwrap()
    })
    .collect();
    assert_eq!(numbers, [-32_001, -32_004, -32_009, -32_012, -32_602, -32_603, -32_103]);
}

/// What happens is sent without being asked for.
#[test]
fn events_are_pushed() {
    let (cast, id) = story();
    let first = cast.records().iter().find(|record| record.subject == kernel::Subject::Task(id));
    let event = dialects::hacp::audit::TaskReplayer::new(V02).replay(first.unwrap()).unwrap();
    let sent = event_notification(&stream::event_at(9, &event));
    assert_eq!((&sent["method"], &sent["params"]["cursor"]), (&json!("task.created"), &json!("9")));
    assert!(sent.get("id").is_none());
}
