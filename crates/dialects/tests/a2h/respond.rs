//! What an agent passes on, and how it may be urged.

use dialects::a2h::{CallKind, parse_escalation};
use kernel::{ActorRef, Assurance};
use serde_json::{Value, json};

use crate::fixtures::{bytes, function_call, human_contact, made, relay, shown, with};

/// A2H-044, A2H-045, A2H-052, A2H-067: nulls erase nothing, times are ours, and the record says
/// that only the agent says so.
#[test]
fn an_agent_passes_on_an_answer() {
    let (mut cast, id) = made(CallKind::FunctionCall, &function_call());
    let before = shown(cast.seen(id))["status"]["requested_at"].clone();
    cast.advance(60);
    let said = json!({
        "requested_at": null, "responded_at": "1999-01-01T00:00:00Z", "approved": false,
        "comment": "no", "reject_option_name": "later", "slack_message_ts": null,
    });
    relay(&mut cast, id, &said).unwrap();
    let status = shown(cast.seen(id))["status"].clone();
    assert_eq!(status["requested_at"], before);
    assert_eq!(status["responded_at"], "2026-02-06T10:01:00.000000Z");
    assert_eq!((&status["approved"], &status["comment"]), (&json!(false), &json!("no")));
    assert_eq!(status["reject_option_name"], "later");
    let resolution = cast.seen(id).deciding_answer().unwrap();
    assert_eq!(
        (&resolution.by, resolution.assurance),
        (&ActorRef::Relay, Assurance::AgentAttested)
    );
    let late = relay(&mut cast, id, &json!({"approved": true})).unwrap_err();
    assert_eq!((late.status, late.code), (409, "already_responded"));
    assert!(late.message.contains("call already has a response"), "A2H-057: {}", late.message);
}

/// A2H-055, A2H-056, A2H-058.
#[test]
fn what_is_no_answer_is_refused_by_name() {
    let options = json!([{"name": "a"}, {"name": "b"}]);
    let offered = with(human_contact(), "/spec/response_options", options);
    for (kind, call, body, field) in [
        (CallKind::FunctionCall, function_call(), json!({}), "approved"),
        (CallKind::FunctionCall, function_call(), json!({"approved": null}), "approved"),
        (CallKind::FunctionCall, function_call(), json!({"approved": "true"}), "approved"),
        (
            CallKind::FunctionCall,
            function_call(),
            json!({"approved": true, "comment": 7}),
            "comment",
        ),
        (
            CallKind::FunctionCall,
            function_call(),
            json!({"approved": true, "reject_option_name": "later"}),
            "reject_option_name",
        ),
        (
            CallKind::FunctionCall,
            function_call(),
            json!({"approved": false, "reject_option_name": "odd"}),
            "reject_option_name",
        ),
        (CallKind::HumanContact, human_contact(), json!({"response": null}), "response"),
        (CallKind::HumanContact, human_contact(), json!({"response": ""}), "response"),
        (CallKind::HumanContact, human_contact(), json!({"response": " "}), "response"),
        (
            CallKind::HumanContact,
            human_contact(),
            json!({"response": "x", "response_option_name": "a"}),
            "response_option_name",
        ),
        (CallKind::HumanContact, offered.clone(), json!({"response": "x"}), "response_option_name"),
        (
            CallKind::HumanContact,
            offered,
            json!({"response": "x", "response_option_name": "c"}),
            "response_option_name",
        ),
    ] {
        let (mut cast, id) = made(kind, &call);
        let error = relay(&mut cast, id, &body).unwrap_err();
        assert_eq!((error.status, error.field_path()), (422, Some(field)), "{body}");
        assert!(cast.seen(id).is_open());
    }
}

/// A2H-055, A2H-086: the words that are passed on come back as they are.
#[test]
fn words_that_are_passed_on_are_the_response() {
    let options = json!([{"name": "a", "prompt_fill": "take a"}, {"name": "b"}]);
    let one = json!([{"name": "ok"}]);
    for (options, said, response, name) in [
        (Value::Null, json!({"response": "so"}), "so", Value::Null),
        (options, json!({"response": "that", "response_option_name": "a"}), "that", json!("a")),
        (one.clone(), json!({"response": "yes", "response_option_name": "ok"}), "yes", json!("ok")),
        (one, json!({"response": "rather not"}), "rather not", Value::Null),
    ] {
        let body = with(human_contact(), "/spec/response_options", options);
        let (mut cast, id) = made(CallKind::HumanContact, &body);
        relay(&mut cast, id, &said).unwrap();
        let status = shown(cast.seen(id))["status"].clone();
        assert_eq!(
            (&status["response"], &status["response_option_name"]),
            (&json!(response), &name)
        );
    }
}

/// A2H-035, A2H-068, A2H-102, A2H-104: who is told, each once.
#[test]
fn an_escalation_names_its_recipients_once() {
    let body = json!({
        "escalation_msg": "the bank closes at five",
        "additional_recipients": [
            {"address": "boss@example.com", "field": "cc"}, {"address": "AP@example.com"}],
        "channel": {"slack": null, "sms": null, "whatsapp": null, "email": {
            "address": "ap@example.com", "subject": "Now",
            "additional_recipients": [{"address": "boss@example.com"}]}},
    });
    let read = parse_escalation(&bytes(&body)).unwrap();
    assert_eq!(read.addresses, ["ap@example.com", "boss@example.com"]);
    assert_eq!(read.recorded_text(&[]), "the bank closes at five");
    assert!(
        read.recorded_text(&["boss@example.com"]).ends_with("Also meant for: boss@example.com")
    );
    let bare = json!({"escalation_msg": "please", "additional_recipients": null, "channel": null});
    assert!(parse_escalation(&bytes(&bare)).unwrap().addresses.is_empty());
    for (body, field) in [
        (json!({}), "escalation_msg"),
        (json!({"escalation_msg": " "}), "escalation_msg"),
        (
            json!({"escalation_msg": "x", "additional_recipients": [{"address": "x"}]}),
            "additional_recipients[0].address",
        ),
    ] {
        assert_eq!(
            parse_escalation(&bytes(&body)).unwrap_err().field_path(),
            Some(field),
            "{body}"
        );
    }
}
