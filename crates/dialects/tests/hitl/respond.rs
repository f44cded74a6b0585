//! `POST …/respond` and `…/submit`: from bytes to an answer.

use dialects::hitl::{parse_cancel, read_respond};
use kernel::command::{AskCommand, NewAsk};
use kernel::question::{Answer, AnswerKind};
use kernel::testing::{Cast, new_ask, yes};
use kernel::{Actor, AskId};
use serde_json::{Value, json};

use crate::fixtures::{
    TYPES, answer, body, bytes, hushed, made, new, polled, recorded, respond, with,
};
use crate::schemas::{faults, holds};

fn result(cast: &Cast, id: AskId) -> Value {
    let polled = polled(cast.seen(id));
    holds("0.7", "poll-response", &polled);
    polled["result"].clone()
}

/// HITL-060, HITL-096, HITL-097, HITL-120: each action of each type, and what comes back. C-06,
/// C-16.
#[test]
fn every_action_of_every_type() {
    for (kind, said, back) in [
        ("approval", json!({"action": "approve"}), json!({"action": "approve", "data": {}})),
        (
            "approval",
            json!({"action": "reject", "data": {"feedback": "too dear"}}),
            json!({"action": "reject", "data": {"feedback": "too dear"}}),
        ),
        (
            "approval",
            json!({"action": "edit", "data": {"edits": {"title": "x"}, "feedback": "shorter"}}),
            json!({"action": "edit", "data": {"edits": {"title": "x"}, "feedback": "shorter"}}),
        ),
        (
            "approval",
            json!({"action": "approve", "data": {"note": "as the examples say it"}}),
            json!({"action": "approve", "data": {"feedback": "as the examples say it"}}),
        ),
        (
            "selection",
            json!({"action": "select", "data": {"selected": ["job_3", "job_1", "job_3"], "note": "both"}}),
            json!({"action": "select", "data": {"selected": ["job_1", "job_3"], "note": "both"}}),
        ),
        (
            "selection",
            json!({"action": "select", "data": {"selected": "job_2"}}),
            json!({"action": "select", "data": {"selected": ["job_2"]}}),
        ),
        ("input", answer("input"), recorded(answer("input"))),
        ("x-acme-compare", answer("x-acme-compare"), recorded(answer("x-acme-compare"))),
        (
            "confirmation",
            json!({"action": "confirm"}),
            json!({"action": "confirm", "data": {"confirmed_items": ["m1", "m2"]}}),
        ),
        (
            "confirmation",
            json!({"action": "cancel", "data": {"note": "not yet"}}),
            json!({"action": "cancel", "data": {"note": "not yet"}}),
        ),
        ("escalation", answer("escalation"), answer("escalation")),
        ("escalation", json!({"action": "skip"}), json!({"action": "skip", "data": {}})),
        (
            "escalation",
            json!({"action": "abort", "data": {"reason": "enough"}}),
            json!({"action": "abort", "data": {"reason": "enough"}}),
        ),
    ] {
        let (mut cast, id) = made(&body(kind));
        respond(&mut cast, id, &said).unwrap_or_else(|error| panic!("{said}: {error}"));
        assert_eq!(hushed(result(&cast, id)), back, "{said}");
    }
}

/// HITL-113: to cancel a confirmation is an answer.
#[test]
fn cancelling_a_confirmation_is_an_answer() {
    let (mut cast, id) = made(&body("confirmation"));
    respond(&mut cast, id, &json!({"action": "cancel"})).unwrap();
    assert_eq!(polled(cast.seen(id))["status"], "completed");
    assert_eq!(
        cast.seen(id).deciding_answer().unwrap().reply.value().unwrap().answer,
        Answer::Declined
    );
}

/// HITL-061, HITL-074, HITL-120, HITL-136, HITL-241: what does not answer is named, and nothing
/// changes.
#[test]
fn what_does_not_answer_changes_nothing() {
    for (kind, said, status, code, field) in [
        ("approval", json!({}), 400, "missing_action", "action"),
        ("approval", json!({"action": "banana"}), 400, "invalid_action", "action"),
        ("approval", json!({"action": "select"}), 400, "invalid_action", "action"),
        ("approval", json!({"action": 1}), 400, "invalid_action", "action"),
        ("approval", json!({"action": "approve", "result": {}}), 400, "invalid_request", "result"),
        ("approval", json!({"action": "approve", "data": []}), 400, "invalid_request", "data"),
        (
            "approval",
            json!({"action": "approve", "data": {"mood": "good"}}),
            400,
            "invalid_request",
            "data.mood",
        ),
        (
            "approval",
            json!({"action": "approve", "data": {"note": "a", "feedback": "b"}}),
            400,
            "invalid_request",
            "data.note",
        ),
        (
            "approval",
            json!({"action": "approve", "data": {"edits": {"a": 1}}}),
            422,
            "validation_failed",
            "edits",
        ),
        ("approval", json!({"action": "edit"}), 422, "validation_failed", "feedback"),
        ("selection", json!({"action": "select"}), 400, "invalid_request", "data.selected"),
        (
            "selection",
            json!({"action": "select", "data": {"selected": []}}),
            422,
            "validation_failed",
            "selected",
        ),
        (
            "selection",
            json!({"action": "select", "data": {"selected": ["job_9"]}}),
            422,
            "validation_failed",
            "selected",
        ),
        ("input", json!({"action": "submit"}), 422, "validation_failed", "salary"),
        (
            "input",
            json!({"action": "submit", "data": {"salary": -1}}),
            422,
            "validation_failed",
            "salary",
        ),
        (
            "input",
            json!({"action": "submit", "data": {"salary": 1, "x": 2}}),
            422,
            "validation_failed",
            "x",
        ),
        (
            "confirmation",
            json!({"action": "confirm", "data": {"confirmed_items": ["m9"]}}),
            422,
            "validation_failed",
            "selected",
        ),
        (
            "escalation",
            json!({"action": "retry", "data": {"modified_params": 1}}),
            400,
            "invalid_request",
            "data.modified_params",
        ),
    ] {
        let (mut cast, id) = made(&body(kind));
        let error = respond(&mut cast, id, &said).unwrap_err();
        let shown = error.body();
        assert_eq!((error.status, error.code), (status, code), "{said}: {shown}");
        let at = shown.get("field").unwrap_or_else(|| &shown["fields"][0]["field"]);
        assert_eq!(at, field, "{said}: {shown}");
        assert_eq!(polled(cast.seen(id))["status"], "pending");
        assert_eq!(cast.seen(id).head.seq, 1);
    }
}

/// HITL-132, HITL-133, HITL-134, HITL-135, HITL-136: every type of field, on the server.
#[test]
fn fields_are_checked_here() {
    let fields = json!([
        {"key": "t", "label": "T", "type": "text", "validation": {"minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"}},
        {"key": "ta", "label": "TA", "type": "textarea"},
        {"key": "n", "label": "N", "type": "number", "validation": {"min": 1, "max": 9}},
        {"key": "d", "label": "D", "type": "date", "validation": {"min": 20454}},
        {"key": "e", "label": "E", "type": "email"},
        {"key": "u", "label": "U", "type": "url"},
        {"key": "b", "label": "B", "type": "boolean"},
        {"key": "s", "label": "S", "type": "select", "options": [{"value": "x", "label": "X"}]},
        {"key": "m", "label": "M", "type": "multiselect", "options": [{"value": "x", "label": "X"}, {"value": "y", "label": "Y"}]},
        {"key": "r", "label": "R", "type": "range", "validation": {"min": 0, "max": 10}},
        {"key": "x", "label": "X", "type": "x-own"},
        {"key": "h", "label": "H", "type": "text", "required": true,
            "conditional": {"field": "n", "operator": "gt", "value": 5}},
    ]);
    let case = with(body("input"), json!({ "context": {"form": {"fields": fields}} }));
    let good = json!({
        "t": "abc", "ta": "a\nb", "n": 3, "d": "2026-01-02", "e": "a@b.example",
        "u": "https://a.example/", "b": true, "s": "x", "m": ["y", "x"], "r": 4.5, "x": "any",
    });
    let (mut cast, id) = made(&case);
    // What is hidden is left out, whatever was typed there before.
    let sent = with(good.clone(), json!({ "h": "not asked" }));
    respond(&mut cast, id, &json!({"action": "submit", "data": sent})).unwrap();
    let data = result(&cast, id)["data"].clone();
    assert_eq!(data["h"], Value::Null);
    assert_eq!((&data["n"], &data["m"]), (&json!(3), &json!(["y", "x"])));
    for (key, bad) in [
        ("t", json!("a")),
        ("t", json!("abcde")),
        ("t", json!("AB")),
        ("n", json!(10)),
        ("n", json!("x")),
        ("d", json!("2020-01-01")),
        ("d", json!("tomorrow")),
        ("e", json!("nobody")),
        ("u", json!("nowhere")),
        ("b", json!("perhaps")),
        ("s", json!("z")),
        ("m", json!(["z"])),
        ("r", json!(11)),
    ] {
        let (mut cast, id) = made(&case);
        let sent = with(good.clone(), json!({ key: bad }));
        let error = respond(&mut cast, id, &json!({"action": "submit", "data": sent})).unwrap_err();
        let shown = error.body();
        assert_eq!((error.status, &shown["fields"][0]["field"]), (422, &json!(key)), "{shown}");
        assert!(
            shown["fields"][0]["code"].is_string() && shown["fields"][0]["message"].is_string()
        );
    }
    let (mut cast, id) = made(&case);
    let sent = with(good, json!({ "n": 6 }));
    let error = respond(&mut cast, id, &json!({"action": "submit", "data": sent})).unwrap_err();
    assert_eq!(error.body()["fields"][0]["field"], "h", "shown, so required");
}

fn inline() -> Value {
    json!({
        "action": "approve", "data": {}, "submitted_via": "slack_block_action",
        "submitted_by": {"platform": "slack", "platform_user_id": "U1", "display_name": "Ann"},
    })
}

/// HITL-071, HITL-072, HITL-073, HITL-074, HITL-077: an agent says whom it speaks for, and only
/// what it may. C-17, C-25.
#[test]
fn what_an_agent_passes_on() {
    let (mut cast, id) = made(&body("approval"));
    holds("0.7", "submit-request", &inline());
    let read = read_respond(&bytes(&inline())).unwrap();
    let (reply, attested) = read.by_relay(cast.seen(id)).unwrap();
    let relay = Actor::Relay { ask: id, attested };
    cast.run(relay, AskCommand::Answer(id, Box::new(reply)));
    let polled = polled(cast.seen(id));
    holds("0.7", "poll-response", &polled);
    assert_eq!(polled["responded_by"], Value::Null, "nobody saw them");
    assert_eq!(polled["submission_context"], Value::Null, "0.7 has no such member");
    let (cast, id) = made(&body("approval"));
    for (more, status, code, field) in [
        (json!({"action": "edit"}), 403, "action_not_inline", None),
        (json!({"action": "banana"}), 400, "invalid_action", Some("action")),
        (json!({"submitted_via": null}), 400, "invalid_request", Some("submitted_via")),
        (json!({"submitted_via": "telegram"}), 400, "invalid_request", Some("submitted_via")),
        (json!({"submitted_via": "x-"}), 400, "invalid_request", Some("submitted_via")),
        (json!({"submitted_by": null}), 400, "invalid_request", Some("submitted_by")),
        (
            json!({"submitted_by": {"platform": "slack"}}),
            400,
            "invalid_request",
            Some("submitted_by.platform_user_id"),
        ),
        (
            json!({"submitted_by": {"platform": "irc", "platform_user_id": "1"}}),
            400,
            "invalid_request",
            Some("submitted_by.platform"),
        ),
        (
            json!({"submitted_by": {"platform": "slack", "platform_user_id": "1", "age": 3}}),
            400,
            "invalid_request",
            Some("submitted_by.age"),
        ),
        (
            json!({"verification_evidence": []}),
            400,
            "invalid_request",
            Some("verification_evidence"),
        ),
    ] {
        let said = with(inline(), more);
        let read = read_respond(&bytes(&said)).unwrap();
        let error = read.by_relay(cast.seen(id)).unwrap_err();
        assert_eq!((error.status, error.code), (status, code), "{said}");
        let body = error.body();
        assert_eq!(body.get("field").and_then(Value::as_str), field, "{said}");
        // What the schema refuses, we refuse.
        let schema = faults("0.7", "submit-request", &said);
        assert!(schema.is_empty() || error.status == 400, "{schema:?}");
    }
    for own in ["x-mastodon", "x-a"] {
        let said = with(inline(), json!({ "submitted_via": own }));
        holds("0.7", "submit-request", &said);
        assert!(read_respond(&bytes(&said)).unwrap().by_relay(cast.seen(id)).is_ok());
    }
}

/// HITL-070, HITL-076: where the service says so, more or fewer answers can be passed on.
#[test]
fn inline_actions_are_the_services() {
    for (kind, actions, stances) in [
        ("selection", json!(["select"]), Some([AnswerKind::Choose].into())),
        ("approval", json!(["approve", "approve"]), Some([AnswerKind::Approve].into())),
        ("escalation", json!([]), None),
    ] {
        let case = with(body(kind), json!({ "inline_actions": actions }));
        assert_eq!(new(&case).inline, stances, "{kind}");
    }
}

/// HITL-060, HITL-066: the token may come in the body, and so may a reason for cancelling.
#[test]
fn tokens_and_reasons_in_bodies() {
    let said = json!({"action": "approve", "token": "t"});
    let read = read_respond(&bytes(&said)).unwrap();
    assert_eq!(read.token(), Some("t"));
    let (cast, id) = made(&body("approval"));
    assert!(read.by_person(cast.seen(id), Ok).is_ok());
    assert!(read.by_relay(cast.seen(id)).is_err(), "but not beside a bearer token");
    assert_eq!(parse_cancel(b" ").unwrap(), (None, None));
    let full = br#"{"reason": "no time", "token": "t"}"#;
    assert_eq!(parse_cancel(full).unwrap(), (Some("no time".into()), Some("t".into())));
    for bad in [&b"[]"[..], br#"{"reason": 1}"#, br#"{"why": "x"}"#] {
        assert_eq!(parse_cancel(bad).unwrap_err().status, 400);
    }
}

/// Every case can be answered by the link, whichever dialect asked.
#[test]
fn foreign_questions_are_answered_too() {
    use kernel::question::{Question, QuestionBody};
    let mut cast = Cast::new();
    let talk = Question::new("Well?", None, QuestionBody::Converse).unwrap();
    let id = cast.ask(NewAsk { question: talk, ..new_ask() });
    assert_eq!(respond(&mut cast, id, &json!({"action": "submit"})).unwrap_err().status, 422);
    respond(&mut cast, id, &json!({"action": "submit", "data": {"response": "so"}})).unwrap();
    assert_eq!(result(&cast, id), json!({"action": "submit", "data": {"response": "so"}}));
    for kind in TYPES {
        let (mut cast, id) = made(&body(kind));
        cast.run(Actor::System, AskCommand::Cancel(id, None));
        let late = respond(&mut cast, id, &answer(kind)).unwrap_err();
        assert_eq!((late.status, late.code), (409, "case_cancelled"), "{kind}");
    }
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let late = respond(&mut cast, id, &json!({"action": "reject"})).unwrap_err();
    assert_eq!((late.status, late.code), (409, "duplicate_submission"));
}
