//! The `Message` of `proto.a2h.dev/v1alpha1`. A2H-131, A2H-133, A2H-134.

use dialects::a2h::{NewA2hMessage, message, parse_message};
use kernel::command::AskCommand;
use kernel::question::{Answer, QuestionBody};
use kernel::testing::Cast;
use kernel::{Actor, AskId};
use serde_json::{Value, json};

use crate::fixtures::{bytes, say, with, without};

/// The name of a conversation.
const CONVERSATION: &str = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C";

fn body(schema: &Value) -> Value {
    json!({
        "apiVersion": "proto.a2h.dev/v1alpha1", "kind": "Message", "metadata": {"uid": "123"},
        "spec": {"message": "How much may I refund?", "response_schema": schema, "channel_id": CONVERSATION},
    })
}

fn read(value: &Value) -> NewA2hMessage {
    parse_message(&bytes(value)).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn made(value: &Value) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let id = cast.ask(read(value).ask);
    (cast, id)
}

/// Nothing is wrong with anything but numbers below one.
fn judge(_: &Value, value: &Value) -> Option<Value> {
    let wrong = value.pointer("/amount").and_then(Value::as_f64).is_some_and(|n| n < 1.0);
    wrong.then(|| json!({"errors": [{"path": "/amount", "message": "too small"}]}))
}

fn shown(cast: &Cast, id: AskId) -> Value {
    serde_json::to_value(message(cast.seen(id), None, judge).unwrap()).unwrap()
}

fn refund() -> Value {
    json!({
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "title": "Amount"},
            "why": {"type": "string", "enum": ["late", "broken"]},
            "note": {"type": "string", "maxLength": 80, "pattern": "^[a-z ]*$"},
            "tell": {"type": "boolean"},
        },
        "required": ["amount"],
    })
}

/// HXPE-058, A2H-038: `state` is the caller's own and comes back as it came; an object `hxp` in it
/// is what the agent says of its message, and anything else there is no mistake.
#[test]
fn a_message_may_say_of_itself_what_it_is() {
    let hxp = json!({
        "version": "1.0.0", "intent": "decide", "delivery": {"verbosity": "low"},
        "transparency": {"confidence": 0.7}, "actions": [], "later": [3.0, null],
    });
    let state = json!({"hxp": hxp, "n": 1});
    let said = with(body(&refund()), "/spec/state", state.clone());
    let (cast, id) = made(&said);
    let seen = shown(&cast, id);
    assert_eq!(seen["spec"]["state"], state);
    assert_eq!(seen["status"]["hxp_verdict"]["level"], "core");
    assert_eq!(cast.seen(id).envelope(), hxp.as_object());
    assert_ne!(read(&said).fingerprint, read(&body(&refund())).fingerprint);
    for own in [json!({"hxp": "high"}), json!({"hxp": null}), json!({"n": 1})] {
        let message = read(&with(body(&refund()), "/spec/state", own.clone()));
        assert_eq!(message.ask.claims, None);
        let mut cast = Cast::new();
        let id = cast.ask(message.ask);
        assert_eq!(shown(&cast, id)["spec"]["state"], own);
    }
    let wrong = with(body(&refund()), "/spec/state", json!("mine"));
    let error = parse_message(&bytes(&wrong)).unwrap_err();
    assert!(error.to_string().contains("spec.state"), "{error}");
}

#[test]
fn a_message_with_a_schema_is_a_form() {
    let (mut cast, id) = made(&body(&refund()));
    let ask = cast.seen(id);
    insta::assert_json_snapshot!("question_of_a_message", ask.question.value().unwrap());
    insta::assert_json_snapshot!("message_pending", shown(&cast, id), { ".status.ask_id" => "[id]" });
    let values = serde_json::from_value(json!({"amount": 7, "why": "late"})).unwrap();
    say(&mut cast, id, Answer::Provided { values }, Some("as agreed"));
    insta::assert_json_snapshot!("message_answered", shown(&cast, id), { ".status.ask_id" => "[id]" });
}

/// A2H-064: what fails is told instead of the response.
#[test]
fn what_is_not_what_the_schema_wants_is_told() {
    let (mut cast, id) = made(&body(&refund()));
    let values = serde_json::from_value(json!({"amount": 0.5})).unwrap();
    say(&mut cast, id, Answer::Provided { values }, None);
    let status = shown(&cast, id)["status"].clone();
    assert_eq!(status.get("response"), None);
    assert_eq!(status["failed_validation_details"]["errors"][0]["path"], "/amount");
    assert_eq!(status["humanMessage"], "0.5");
}

#[test]
fn other_shapes() {
    let provided = |value: Value| Answer::Provided {
        values: serde_json::from_value(json!({ "response": value })).unwrap(),
    };
    let said = |text: &str| Answer::Replied { text: text.to_owned() };
    let list = json!({"type": "array", "items": {"type": "object"}});
    for (schema, answer, response, words) in [
        (json!({"type": "integer"}), provided(json!(7)), json!(7), "7"),
        (json!({"enum": ["a", "b"]}), provided(json!("b")), json!("b"), "b"),
        (
            json!({"type": "object", "properties": {"response": {"type": "string"}}}),
            provided(json!("x")),
            json!({"response": "x"}),
            "x",
        ),
        (list.clone(), said("[{\"a\": 1}]"), json!([{"a": 1}]), "[{\"a\": 1}]"),
        (list, said("nothing"), json!("nothing"), "nothing"),
    ] {
        let (mut cast, id) = made(&body(&schema));
        say(&mut cast, id, answer, None);
        let status = shown(&cast, id)["status"].clone();
        assert_eq!(status["response"], response, "{schema}");
        assert_eq!(status["humanMessage"], words, "{schema}");
    }
    let bare = without(body(&Value::Null), "/spec/response_schema");
    let (mut cast, id) = made(&bare);
    say(&mut cast, id, said("about ten"), None);
    let status = shown(&cast, id)["status"].clone();
    assert_eq!((status.get("response"), &status["humanMessage"]), (None, &json!("about ten")));
}

#[test]
fn spellings_that_are_tolerated() {
    let mut typo = without(body(&Value::Null), "/metadata");
    typo["metatdata"] = json!({"uid": "abc"});
    assert_eq!(read(&typo).uid.as_deref(), Some("abc"));
    let renamed =
        with(without(body(&Value::Null), "/spec/message"), "/spec/agentMessage", json!("Hi"));
    let (cast, id) = made(&renamed);
    assert_eq!(shown(&cast, id)["spec"]["message"], "Hi");
    let unnamed = without(body(&Value::Null), "/metadata");
    assert_eq!(read(&unnamed).uid, None);
    let (mut cast, id) = made(&unnamed);
    assert_eq!(shown(&cast, id)["metadata"]["uid"], id.to_string());
    cast.run(cast.agent("bot"), AskCommand::Cancel(id, None));
    let told = shown(&cast, id)["status"]["humanMessage"].as_str().unwrap().to_owned();
    assert!(told.contains("cancelled"), "{told}");
    cast.run(Actor::System, AskCommand::Erase(id));
    assert!(message(cast.seen(id), None, judge).is_none());
}

#[test]
fn mistakes_are_named() {
    let ok = || body(&json!({"type": "string"}));
    for (body, field) in [
        (with(ok(), "/apiVersion", json!("v1")), "apiVersion"),
        (with(ok(), "/kind", json!("NewConversation")), "kind"),
        (with(ok(), "/metadata/uid", json!("a/b")), "metadata.uid"),
        (without(ok(), "/spec"), "spec"),
        (with(ok(), "/spec/message", json!(" ")), "spec.message"),
        (with(ok(), "/spec/channel_id", json!([])), "spec.channel_id"),
        (with(ok(), "/spec/response_schema", json!(7)), "spec.response_schema"),
        (with(ok(), "/spec/response_schema", json!({"$ref": "#"})), "spec.response_schema"),
        (
            with(ok(), "/spec/response_schema", json!({"description": "x".repeat(70_000)})),
            "spec.response_schema",
        ),
    ] {
        let error = parse_message(&bytes(&body)).unwrap_err();
        assert_eq!((error.status, error.field_path()), (422, Some(field)), "{field}");
    }
}

/// A schema no form can say is asked for as JSON, and the person sees it.
#[test]
fn a_schema_no_form_can_say_is_shown() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}),
        json!({"type": "string", "format": "ipv4"}),
        json!({"oneOf": [{"type": "string"}]}),
        json!(true),
    ] {
        let ask = read(&body(&schema)).ask;
        assert_eq!(*ask.question.body(), QuestionBody::Converse, "{schema}");
        assert!(ask.question.context().unwrap().contains("schema"), "{schema}");
    }
}
