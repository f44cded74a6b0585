//! `POST /hitl/v1/cases`: what is accepted, and what is refused by name.

use dialects::hitl::{HitlVersion, parse_create};
use kernel::ask::{DefaultAction, Priority, Route};
use kernel::command::NewOnExpiry;
use kernel::question::{AnswerKind, PickMode, QuestionBody};
use serde_json::{Value, json};

use crate::fixtures::{TYPES, body, bytes, made, new, refused, shown, with};
use crate::schemas::holds;

/// HITL-003, HITL-004, HITL-005, HITL-010, HITL-011, HITL-012, HITL-013, HITL-014, HITL-015,
/// HITL-016, HITL-018: a case of each type, whole, and valid by the schema of its version. C-07,
/// C-08, C-13.
#[test]
fn every_type_makes_a_valid_object() {
    for kind in TYPES {
        for version in ["0.7", "0.8"] {
            let (cast, id) = made(&with(body(kind), json!({ "spec_version": version })));
            let accepted = shown(cast.seen(id));
            holds(version, "hitl-object", &accepted["hitl"]);
            assert_eq!(accepted["status"], "human_input_required");
            assert_eq!(accepted["hitl"]["spec_version"], version);
            assert!(accepted["message"].as_str().is_some_and(|text| !text.is_empty()));
            assert_eq!(accepted["hitl"]["context"], body(kind)["context"], "{kind}");
            if version == "0.7" {
                insta::assert_json_snapshot!(format!("accepted_{kind}"), accepted);
            }
        }
    }
}

/// HITL-006, HITL-008, HITL-017, HITL-019, HITL-020, HITL-022, HITL-023, HITL-024, HITL-025,
/// HITL-026, HITL-027: everything a service may say comes back.
#[test]
fn everything_said_comes_back() {
    let more = json!({
        "message": "A deployment waits.", "data": {"deploy": 7}, "timeout": "PT4H",
        "default_action": "reject", "hitl_callback_url": "https://agent.example/hook",
        "reminder_at": ["2026-02-06T11:00:00Z", "2026-02-06T13:00:00+01:00"],
        "inline_actions": ["reject"], "surface": {"format": "a2ui", "version": "0.8"},
        "routing": {"role": "legal", "priority": "high", "project": "alpha", "tags": ["prod"]},
    });
    let (cast, id) = made(&with(body("approval"), more));
    let ask = cast.seen(id);
    let accepted = shown(ask);
    holds("0.7", "hitl-object", &accepted["hitl"]);
    insta::assert_json_snapshot!("accepted_full", accepted);
    assert_eq!(ask.priority, Priority::High);
    assert_eq!(ask.route, Route::Pool { group: "legal".parse().ok() });
    assert_eq!(ask.labels.project.as_deref(), Some("alpha"));
    assert_eq!(ask.inline, Some([AnswerKind::Reject].into()));
    assert_eq!(ask.expires_at, Some(ask.created_at.plus_seconds(4 * 3600)));
    assert_eq!(ask.reminders.len(), 2);
}

/// HITL-016, HITL-019, HITL-020, HITL-076: what is not said is the usual.
#[test]
fn defaults() {
    let new = new(
        &json!({ "type": "selection", "prompt": "Which?", "context": body("selection")["context"] }),
    );
    assert_eq!(new.timeout, Some(24 * 3600));
    assert_eq!(new.on_expiry, NewOnExpiry::Report(DefaultAction::Skip));
    assert_eq!(new.inline, None, "a selection needs a page");
    assert_eq!((new.route, new.priority), (Route::Owner, Priority::Normal));
    let bare =
        crate::fixtures::new(&json!({ "type": "approval", "prompt": "Go?", "context": null }));
    assert_eq!(bare.inline, Some([AnswerKind::Approve, AnswerKind::Reject].into()));
    let closed = with(body("approval"), json!({ "inline_actions": [] }));
    assert_eq!(crate::fixtures::new(&closed).inline, None);
    let parsed = parse_create(&bytes(&body("input"))).unwrap();
    assert_eq!(parsed.version, HitlVersion::V07);
}

/// HITL-002, HITL-014, HITL-015, HITL-020, HITL-022, HITL-023, HITL-026, HITL-028, HITL-035,
/// HITL-130, HITL-240, HITL-241: a mistake names its field and what was expected, and makes no
/// case.
#[test]
fn mistakes_are_named() {
    let field = |fields: Value| json!({ "form": { "fields": fields } });
    let text = |extra: Value| with(json!({"key": "a", "label": "A", "type": "text"}), extra);
    for (kind, more, at, code) in [
        ("approval", json!({"type": null}), "type", "invalid_type"),
        ("approval", json!({"type": "vote"}), "type", "invalid_type"),
        ("approval", json!({"type": "x-"}), "type", "invalid_type"),
        ("approval", json!({"prompt": null}), "prompt", "invalid_request"),
        ("approval", json!({"prompt": "  "}), "prompt", "invalid_request"),
        ("approval", json!({"prompt": "é".repeat(501)}), "prompt", "invalid_request"),
        ("approval", json!({"prompt": 7}), "prompt", "invalid_request"),
        ("approval", json!({"prompt": "a\u{0}"}), "body", "invalid_request"),
        ("approval", json!({"context": []}), "context", "invalid_request"),
        ("approval", json!({"timeout": "8d"}), "timeout", "invalid_request"),
        ("approval", json!({"timeout": 24}), "timeout", "invalid_request"),
        ("approval", json!({"default_action": "wait"}), "default_action", "invalid_request"),
        ("approval", json!({"reminder_at": "soon"}), "reminder_at", "invalid_request"),
        ("approval", json!({"reminder_at": [1]}), "reminder_at", "invalid_request"),
        (
            "approval",
            json!({"reminder_at": vec!["2026-01-01T00:00:00Z"; 21]}),
            "reminder_at",
            "invalid_request",
        ),
        (
            "approval",
            json!({"previous_case_id": "review_1"}),
            "previous_case_id",
            "invalid_request",
        ),
        ("approval", json!({"inline_actions": ["select"]}), "inline_actions", "invalid_request"),
        ("approval", json!({"inline_actions": "approve"}), "inline_actions", "invalid_request"),
        ("approval", json!({"surface": "a2ui"}), "surface", "invalid_request"),
        ("approval", json!({"surface": {"format": 1}}), "surface.format", "invalid_request"),
        ("approval", json!({"spec_version": "0.6"}), "spec_version", "invalid_request"),
        ("approval", json!({"verification_policy": {}}), "spec_version", "invalid_request"),
        (
            "approval",
            json!({"spec_version": "0.8", "verification_policy": {}}),
            "verification_policy.mode",
            "invalid_request",
        ),
        ("approval", json!({"data": 1}), "data", "invalid_request"),
        ("approval", json!({"message": "é".repeat(2001)}), "message", "invalid_request"),
        ("approval", json!({"priority": "asap"}), "priority", "invalid_request"),
        ("approval", json!({"role": "no one"}), "role", "invalid_request"),
        ("approval", json!({"role": "pool", "person": "ann"}), "person", "invalid_request"),
        ("approval", json!({"routing": {"person": "a b"}}), "routing.person", "invalid_request"),
        ("approval", json!({"routing": {"who": "a"}}), "routing.who", "invalid_request"),
        ("approval", json!({"routing": {}, "role": "pool"}), "role", "invalid_request"),
        ("approval", json!({"hitl_callback_url": 1}), "hitl_callback_url", "invalid_request"),
        ("approval", json!({"calback": 1}), "calback", "invalid_request"),
        ("selection", json!({"context": {}}), "context.items", "invalid_request"),
        (
            "selection",
            json!({"context": {"items": [{"id": "a", "title": "A"}]}}),
            "context.items",
            "invalid_request",
        ),
        (
            "selection",
            json!({"context": {"items": [{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]}}),
            "context.items",
            "invalid_request",
        ),
        (
            "selection",
            json!({"context": {"items": [{"id": 1, "title": "A"}, {"id": "b"}]}}),
            "context.items",
            "invalid_request",
        ),
        ("confirmation", json!({"context": {"items": "all"}}), "context.items", "invalid_request"),
        ("escalation", json!({"context": {"params": 1}}), "context.params", "invalid_request"),
        ("input", json!({"context": {"form": {}}}), "context.form", "invalid_request"),
        (
            "input",
            json!({"context": {"form": {"fields": [], "steps": []}}}),
            "context.form",
            "invalid_request",
        ),
        (
            "input",
            json!({"context": field(json!([text(json!({"type": "colour"}))]))}),
            "context.form.fields[0]",
            "invalid_request",
        ),
        (
            "input",
            json!({"context": field(json!([text(json!({"size": 3}))]))}),
            "context.form.fields[0].size",
            "invalid_request",
        ),
        (
            "input",
            json!({"context": field(json!([text(json!({"validation": {"allowed_values": ["x"]}}))]))}),
            "context.form.a.validation.allowed_values",
            "invalid_request",
        ),
        (
            "input",
            json!({"context": field(json!([text(json!({"type": "date", "validation": {"min": "2026-01-01"}}))]))}),
            "context.form.a.validation.min",
            "invalid_request",
        ),
    ] {
        let error = refused(&with(body(kind), more.clone()));
        let shown = error.body();
        assert_eq!((error.status, &shown["error"]), (400, &json!(code)), "{more}: {shown}");
        assert_eq!(shown["field"], at, "{more}: {shown}");
        assert!(shown["expected"].as_str().is_some_and(|text| text.len() > 3), "{shown}");
        assert!(shown["message"].as_str().unwrap().starts_with(at), "{shown}");
    }
    for (raw, code) in [("{", "invalid_json"), ("[]", "invalid_request"), ("", "invalid_json")] {
        let error = parse_create(raw.as_bytes()).unwrap_err();
        assert_eq!((error.status, error.code), (400, code));
    }
    let deep = format!("{{\"context\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    assert_eq!(parse_create(deep.as_bytes()).unwrap_err().code, "invalid_json");
}

/// HITL-021, HITL-121: the whole context is put before the person, whatever stands in it.
#[test]
fn nothing_of_the_context_is_hidden_from_the_person() {
    for kind in TYPES {
        let (cast, id) = made(&body(kind));
        let question = cast.seen(id).question.value().unwrap();
        insta::assert_json_snapshot!(format!("question_{kind}"), question);
    }
    let hostile = json!({"note": "</script>$&\u{202e}", "long": "x".repeat(10_000)});
    for kind in TYPES {
        let context = with(body(kind)["context"].clone(), hostile.clone());
        let (cast, id) = made(&with(body(kind), json!({ "context": context })));
        let question = serde_json::to_string(cast.seen(id).question.value().unwrap()).unwrap();
        assert!(question.contains("</script>$&\u{202e}"), "{kind}");
        assert!(question.contains(&"x".repeat(10_000)), "{kind}");
        holds("0.7", "hitl-object", &shown(cast.seen(id))["hitl"]);
    }
}

/// HITL-121: one or several; a form or one box; items where the examples have them.
#[test]
fn conventions_of_the_context() {
    let one = with(body("selection")["context"].clone(), json!({ "multiple": false }));
    let question = new(&with(body("selection"), json!({ "context": one }))).question;
    assert!(matches!(question.body(), QuestionBody::Choose { pick: PickMode::One, .. }));
    let free = new(&json!({ "type": "input", "prompt": "Why?" })).question;
    let QuestionBody::Provide { form } = free.body() else { panic!("{free:?}") };
    assert_eq!(form.fields().map(kernel::form::Field::key).collect::<Vec<_>>(), ["response"]);
    let (cast, id) = made(&json!({ "type": "x-a", "prompt": "Why?", "context": {"a": 1} }));
    assert_eq!(
        shown(cast.seen(id))["hitl"]["context"],
        json!({"a": 1}),
        "our own box is not theirs"
    );
    let items = json!({"items_to_confirm": [{"id": "a", "label": "A"}]});
    let confirm = new(&with(body("confirmation"), json!({ "context": items }))).question;
    assert!(matches!(confirm.body(), QuestionBody::Confirm { items, .. } if items.len() == 1));
    let said = json!({"error": "it broke"});
    let escalate = new(&with(body("escalation"), json!({ "context": said }))).question;
    assert!(
        matches!(escalate.body(), QuestionBody::Escalate { error, .. } if error["message"] == "it broke")
    );
}

/// HITL-130, HITL-131, HITL-137, HITL-139: a form in steps is one case and comes back as it was.
#[test]
fn forms_in_steps() {
    let form = json!({
        "steps": [
            {"title": "You", "description": "Who you are", "fields": [
                {"key": "kind", "label": "Kind", "type": "select", "required": true,
                    "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
            ]},
            {"title": "More", "fields": [
                {"key": "why", "label": "Why", "type": "textarea", "required": true,
                    "conditional": {"field": "kind", "operator": "in", "value": ["b"]}},
                {"key": "tint", "label": "Tint", "type": "x-colour", "required": false},
            ]},
            {"title": "Summary", "fields": []},
        ],
        "session_id": "s1",
    });
    let (cast, id) = made(&with(body("input"), json!({ "context": {"form": form} })));
    let hitl = &shown(cast.seen(id))["hitl"];
    holds("0.7", "hitl-object", hitl);
    assert_eq!(hitl["context"]["form"], form);
}
