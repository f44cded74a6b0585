//! `POST /hxp/v1/requests`.

use dialects::hxp_execution::{ReceiptDetail, parse_create, request};
use kernel::ask::{Dialect, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{Answer, PickMode, QuestionBody, Reply};
use kernel::testing::Cast;
use serde_json::{Value, json};

use crate::fixtures::{SEAL, bytes, full, new, with};

/// Section 5.1's example, HXPX-011, HXPX-018, HXPX-023.
#[test]
fn the_example_of_the_specification_parses() {
    let seed = include_str!("seed_create.json");
    let ask = parse_create(seed.as_bytes()).unwrap();
    assert_eq!(ask.dialect, Dialect::HxpExecution);
    assert_eq!(ask.priority, Priority::Normal);
    assert_eq!(ask.route, Route::Owner);
    assert_eq!(ask.timeout, Some(3600));
    assert_eq!(ask.on_expiry, NewOnExpiry::StayOpen);
    assert_eq!(ask.labels.agent.as_deref(), Some("agent_alpha_01"));
    assert_eq!(ask.labels.project.as_deref(), Some("project_alpha"));
    assert_eq!(ask.question.prompt(), "Approve $99/mo Stripe plan?");
    let QuestionBody::Choose { options, pick: PickMode::One, .. } = ask.question.body() else {
        panic!()
    };
    assert_eq!(options.choices().len(), 2);
}

/// HXPX-013, HXPX-014, HXPX-015, HXPX-016, HXPX-018, HXPX-027: defaults, and `null` as absent.
#[test]
fn everything_optional_may_be_absent_or_null() {
    let absent = json!({"action": "APPROVE", "payload": {"item": "x"}});
    let null = json!({
        "action": "APPROVE", "role": null, "priority": null, "timeout_seconds": null,
        "fallback": null, "agent_id": null, "project_id": null, "metadata": null,
        "payload": {"item": "x", "details": null, "context": null, "reject_requires_reason": null},
    });
    for body in [absent, null] {
        let NewAsk { priority, route, timeout, on_expiry, labels, metadata, question, .. } =
            new(&body);
        assert_eq!((priority, route, timeout), (Priority::Normal, Route::Owner, None));
        assert_eq!(on_expiry, NewOnExpiry::StayOpen);
        assert_eq!((labels.agent, labels.project), (None, None));
        assert!(metadata.is_empty());
        let QuestionBody::Approve { details, editable, reject_requires_reason, .. } =
            question.body()
        else {
            panic!()
        };
        assert!(details.is_empty() && !editable.is_any() && !reject_requires_reason);
    }
}

/// HXPX-019: the server names requests; members of later versions are ignored.
#[test]
fn unknown_members_are_ignored() {
    let body = with(full("APPROVE"), "request_id", json!("hxp_mine"));
    let body = with(body, "webhook", json!({"url": "https://example.com"}));
    let mut body = body;
    body["payload"]["urgency"] = json!(1);
    let ask = new(&body);
    assert_eq!(ask.question, new(&full("APPROVE")).question);
    assert!(!ask.metadata.contains_key("webhook"));
}

/// That a request cannot be undone is no member of the protocol, and never dropped all the same.
#[test]
fn the_mark_for_what_cannot_be_undone_is_kept() {
    let marked = |body: Value| new(&body).metadata.get("irreversible").cloned();
    let plain = || full("APPROVE");
    assert_eq!(marked(plain()), None);
    assert_eq!(marked(with(plain(), "irreversible", json!(true))), Some(json!(true)));
    assert_eq!(marked(with(plain(), "context", json!({ "reversible": false }))), Some(json!(true)));
    let mut inside = plain();
    inside["payload"]["irreversible"] = json!(true);
    assert_eq!(marked(inside), Some(json!(true)));
}

/// HXPX-015, HXPX-016, HXPX-017, HXPX-025: what silence means.
#[test]
fn fallbacks_and_timeouts() {
    let deny = Reply { answer: Answer::Chosen { options: vec!["Deny".into()] }, comment: None };
    for (fallback, silence) in [
        ("pause", NewOnExpiry::StayOpen),
        ("fail", NewOnExpiry::Fail),
        ("default", NewOnExpiry::Answer(deny)),
    ] {
        for (seconds, timeout) in
            [(0, None), (1, Some(1)), (3_162_240_000_u64, Some(3_162_240_000))]
        {
            let body = with(full("DECIDE"), "fallback", json!(fallback));
            let ask = new(&with(body, "timeout_seconds", json!(seconds)));
            assert_eq!((ask.timeout, ask.on_expiry), (timeout, silence.clone()));
        }
    }
}

/// HXPX-074, HXPX-075: tags and groups come from metadata; free data is no mistake.
#[test]
fn tags_and_groups_are_read_from_metadata() {
    let body = with(full("APPROVE"), "role", json!("pool"));
    let metadata = json!({"tag": "tax", "tags": ["eu", "tax", 5, ""], "group": "legal"});
    let ask = new(&with(body.clone(), "metadata", metadata.clone()));
    assert_eq!(ask.tags.iter().collect::<Vec<_>>(), ["eu", "tax"]);
    assert_eq!(ask.route, Route::Pool { group: Some("legal".parse().unwrap()) });
    assert_eq!(Value::Object(ask.metadata), metadata, "metadata is kept whole");

    let free = json!({"tag": {"a": 1}, "tags": "eu", "group": "not a group!"});
    let ask = new(&with(full("APPROVE"), "metadata", free));
    assert!(ask.tags.is_empty(), "only lists of texts are tags");
    let delegate = new(&with(full("APPROVE"), "role", json!("delegate")));
    assert_eq!(delegate.route, Route::Delegate);
}

/// HXPX-030, HXPX-031, HXPX-033: every input type comes back as it was sent.
#[test]
fn every_input_type_is_shown_as_it_came() {
    for payload in [
        json!({"prompt": "p", "input_type": "text", "validation": {"min": 2, "max": 4}}),
        json!({"prompt": "p", "input_type": "number", "validation": {"min": -1.5, "max": 10}}),
        json!({"prompt": "p", "input_type": "url"}),
        json!({"prompt": "p", "input_type": "email", "context": "why"}),
        json!({"prompt": "p", "input_type": "file"}),
        json!({"prompt": "p", "input_type": "selection"}),
        json!({"prompt": "p", "input_type": "selection",
            "validation": {"allowed_values": ["eu", "us"]}}),
        json!({"prompt": "p", "input_type": "number", "validation": {"allowed_values": [1, 2]}}),
        json!({"prompt": "p", "input_type": "text", "validation": {"pattern": "a+"},
            "placeholder": "aaa", "sensitive": true}),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(new(&json!({"action": "PROVIDE", "payload": payload})));
        let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
        assert_eq!(serde_json::to_value(shown.payload).unwrap(), payload);
    }
    let regex = json!({"prompt": "p", "input_type": "text", "validation": {"regex": "a+"}});
    let pattern = json!({"prompt": "p", "input_type": "text", "validation": {"pattern": "a+"}});
    let question = |payload| new(&json!({"action": "PROVIDE", "payload": payload})).question;
    assert_eq!(question(regex), question(pattern), "section 2.3 calls it regex");
}

/// HXPX-007, HXPX-008: malformed bodies are JSON errors too.
#[test]
fn bodies_that_are_no_objects() {
    for (body, code) in [
        (&b""[..], "invalid_json"),
        (b"{", "invalid_json"),
        (b"{}{}", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"null", "invalid_body"),
        (b"[]", "invalid_body"),
        (b"\"DECIDE\"", "invalid_body"),
    ] {
        let error = parse_create(body).unwrap_err();
        assert_eq!((error.status, error.code), (400, code), "{body:?}");
    }
}

/// HXPX-012 to HXPX-018, HXPX-073: one bad member at a time, each with its own code.
#[test]
fn bad_members_are_named() {
    for (key, code, values) in [
        (
            "action",
            "invalid_action",
            vec![json!("decide"), json!("SIGN"), json!("CALL"), json!(""), json!(1), json!(null)],
        ),
        ("role", "invalid_role", vec![json!("Owner"), json!("manager"), json!(1), json!([])]),
        ("priority", "invalid_priority", vec![json!("urgent"), json!("HIGH"), json!(0)]),
        ("fallback", "invalid_fallback", vec![json!("retry"), json!("Default"), json!(true)]),
        (
            "timeout_seconds",
            "invalid_timeout",
            vec![
                json!(-1),
                json!(1.5),
                json!("60"),
                json!(3_162_240_001_u64),
                json!(u64::MAX),
                json!(true),
            ],
        ),
        ("agent_id", "invalid_agent_id", vec![json!(7), json!("a\0"), json!("x".repeat(201))]),
        ("project_id", "invalid_project_id", vec![json!({}), json!("\0")]),
        (
            "metadata",
            "invalid_metadata",
            vec![
                json!([]),
                json!("x"),
                json!({"a": ["\0"]}),
                json!({"\0": 1}),
                json!({"tag": "x".repeat(201)}),
                json!({"tags": (0..51).map(|n| n.to_string()).collect::<Vec<_>>()}),
            ],
        ),
        ("payload", "invalid_payload", vec![json!(null), json!([]), json!("x"), json!({})]),
    ] {
        for value in values {
            let error =
                parse_create(&bytes(&with(full("DECIDE"), key, value.clone()))).unwrap_err();
            assert_eq!((error.status, error.code), (400, code), "{key} {value}");
            let field = error.details.unwrap()["field"].as_str().unwrap().to_owned();
            assert!(field.starts_with(key), "{key}: {field}");
            assert!(error.message.starts_with(&field), "{}", error.message);
        }
    }
    let pool = with(full("DECIDE"), "role", json!("pool"));
    for group in [json!(1), json!("two words")] {
        let body = with(pool.clone(), "metadata", json!({"group": group}));
        assert_eq!(parse_create(&bytes(&body)).unwrap_err().code, "invalid_metadata");
    }
}

/// HXPX-023 to HXPX-025, HXPX-027, HXPX-030, HXPX-031, HXPX-035: one bad member of a payload at a
/// time.
#[test]
fn bad_payloads_are_named() {
    let long = "é".repeat(501);
    for (action, member, values) in [
        ("DECIDE", "question", vec![json!(null), json!(""), json!(" \n"), json!(1), json!("a\0")]),
        (
            "DECIDE",
            "options",
            vec![
                json!(null),
                json!("Approve"),
                json!([]),
                json!(["Approve"]),
                json!(["1", "2", "3", "4", "5", "6", "7"]),
                json!(["Approve", "Approve"]),
                json!(["Approve", 1]),
                json!(["Approve", null]),
                json!(["Approve", " "]),
                json!(["Approve", "\0"]),
            ],
        ),
        ("DECIDE", "context", vec![json!(long), json!(5), json!(["x"])]),
        ("DECIDE", "default_option", vec![json!("Maybe"), json!("approve"), json!(1), json!([])]),
        ("APPROVE", "item", vec![json!(null), json!(""), json!({"a": 1})]),
        ("APPROVE", "details", vec![json!([]), json!("x"), json!(1), json!({"a": "\0"})]),
        ("APPROVE", "context", vec![json!(long)]),
        ("APPROVE", "reject_requires_reason", vec![json!("true"), json!(1)]),
        ("PROVIDE", "prompt", vec![json!(null), json!(" "), json!(false)]),
        ("PROVIDE", "input_type", vec![json!(null), json!("password"), json!("Text"), json!(1)]),
        ("PROVIDE", "context", vec![json!(long)]),
        ("PROVIDE", "placeholder", vec![json!(1), json!("a\0")]),
        ("PROVIDE", "sensitive", vec![json!("yes")]),
        (
            "PROVIDE",
            "validation",
            vec![
                json!([]),
                json!({"pattern": "("}),
                json!({"regex": "("}),
                json!({"pattern": "(?=a)"}),
                json!({"pattern": 1}),
                json!({"pattern": "a\0"}),
                json!({"min": 5, "max": 4}),
                json!({"min": "5"}),
                json!({"min": -1}),
                json!({"max": 1.5}),
                json!({"allowed_values": []}),
                json!({"allowed_values": [1]}),
                json!({"allowed_values": "a"}),
                json!({"format": "uuid"}),
            ],
        ),
    ] {
        for value in values {
            let mut body = full(action);
            body["payload"][member] = value.clone();
            let error = parse_create(&bytes(&body)).unwrap_err();
            assert_eq!((error.status, error.code), (400, "invalid_payload"), "{member} {value}");
            let field = error.details.unwrap()["field"].as_str().unwrap().to_owned();
            let whole = format!("payload.{member}");
            assert!(field.starts_with(&whole) || value.to_string().contains("\\u0000"), "{field}");
        }
    }
    for payload in [
        json!({"prompt": "p", "input_type": "number", "validation": {"min": 2, "max": 1}}),
        json!({"prompt": "p", "input_type": "number", "validation": {"pattern": "1"}}),
        json!({"prompt": "p", "input_type": "selection", "validation": {"allowed_values": [1]}}),
        json!({"prompt": "p", "input_type": "selection",
            "validation": {"allowed_values": ["a", "a"]}}),
        json!({"prompt": "p", "input_type": "selection",
            "validation": {"allowed_values": ["a"], "min": 1}}),
        json!({"prompt": "p", "input_type": "file", "validation": {"max": 1}}),
    ] {
        let body = json!({"action": "PROVIDE", "payload": payload});
        assert_eq!(parse_create(&bytes(&body)).unwrap_err().code, "invalid_payload", "{body}");
    }
}

/// HXPX-025: a default needs DECIDE and a default option.
#[test]
fn a_default_needs_an_option_to_take() {
    let mut nothing = full("DECIDE");
    nothing["payload"]["default_option"] = json!(null);
    for body in [
        nothing,
        with(full("APPROVE"), "fallback", json!("default")),
        with(full("PROVIDE"), "fallback", json!("default")),
    ] {
        let error = parse_create(&bytes(&body)).unwrap_err();
        assert_eq!((error.status, error.code), (400, "invalid_payload"));
    }
}

/// HXPX-024, HXPX-035: what is just within the limits, counted in characters.
#[test]
fn limits_are_inclusive() {
    let mut body = full("DECIDE");
    body["payload"]["context"] = json!("é".repeat(500));
    body["payload"]["question"] = json!("x".repeat(5000));
    body["payload"]["options"] = json!(["Approve", "Deny", "3", "4", "5", "6"]);
    let question = new(&body).question;
    assert_eq!(question.context().unwrap().chars().count(), 500);
    assert_eq!(question.prompt().len(), 5000);
}

/// HXPX-007: the message says which field and what was expected.
#[test]
fn errors_read_well() {
    let mut few = full("DECIDE");
    few["payload"]["options"] = json!(["Approve"]);
    let mut rude = full("PROVIDE");
    rude["payload"]["validation"] = json!({"pattern": "("});
    let mut lines = String::new();
    for body in [few, rude, with(full("APPROVE"), "timeout_seconds", json!(-1))] {
        let error = parse_create(&bytes(&body)).unwrap_err();
        lines += &serde_json::to_string(&error.body()).unwrap();
        lines.push('\n');
    }
    insta::assert_snapshot!(lines);
}
