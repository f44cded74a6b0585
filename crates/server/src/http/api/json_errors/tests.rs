//! Tests of the error messages for invalid bodies.

use dialects::native::{CommentBody, CreateAsk, ExtendBody, IssueKey, ProjectBody};
use kernel::question::Reply;
use serde_json::json;

use super::*;

/// The field and the expected value that the error names for a body.
fn told<T: DeserializeOwned>(body: &str) -> (String, String) {
    let Err(error) = super::super::parse::<T>(body.as_bytes()) else {
        panic!("{body} is fine");
    };
    let shown = serde_json::to_value(error.wire()).unwrap();
    assert_eq!(shown["status"], 422, "{body}: {shown}");
    let text = |name: &str| shown["errors"][0][name].as_str().unwrap().to_owned();
    (text("field"), text("expected"))
}

#[test]
fn what_is_wrong_with_an_ask() {
    let whole = |more: Value| {
        let mut body = json!({ "question": { "kind": "approve", "prompt": "Go?" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let asking = |more: Value| {
        let mut question = json!({ "prompt": "Go?" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "question": question })
    };
    let missing = "a value; it is missing";
    let words = "`low`, `normal`, `high` or `critical`";
    let seconds = "a whole number of seconds from 0 (never) to 100 years";
    let moment = "a time in RFC 3339 format, such as 2026-11-15T09:00:00Z";
    let label = "unknown field; allowed fields: id, label, description";
    for (body, field, expected) in [
        (json!([]), "body", "an object"),
        (json!(["reason"]), "body", "an object"),
        (json!(null), "body", "an object"),
        (json!({}), "question", missing),
        (json!({ "question": {} }), "question.prompt", missing),
        (json!({ "question": { "prompt": "x" } }), "question.kind", missing),
        (json!({ "question": "x" }), "question", "an object with `kind` and `prompt`"),
        (
            asking(json!({ "kind": "approve", "prompt": "" })),
            "question.prompt",
            "a non-empty string",
        ),
        (asking(json!({ "kind": "approve", "prompt": 7 })), "question.prompt", "a string"),
        (
            asking(json!({ "kind": "aprove" })),
            "question.kind",
            "`approve`, `choose`, `provide`, `confirm`, `escalate` or `converse`; \
             did you mean \"approve\"?",
        ),
        (
            asking(json!({ "kind": null })),
            "question.kind",
            "`approve`, `choose`, `provide`, `confirm`, `escalate` or `converse`",
        ),
        (
            asking(json!({ "kind": "stop at line 3, expected never" })),
            "question.kind",
            "`approve`, `choose`, `provide`, `confirm`, `escalate` or `converse`",
        ),
        (
            asking(json!({ "kind": "approve", "detail": {} })),
            "question.detail",
            "unknown field; allowed fields: details, editable, reject_requires_reason, \
             reject_options; did you mean \"details\"?",
        ),
        (
            asking(json!({ "kind": "converse", "detail": {} })),
            "question.detail",
            "unknown field; no fields are allowed here",
        ),
        (
            asking(json!({ "kind": "approve", "editable": "y" })),
            "question.editable",
            "true, false or an object with `fields`",
        ),
        // Serde does not say which of the two values it was.
        (
            asking(json!({ "kind": "approve", "editable": 1, "details": { "n": 1 } })),
            "question",
            "true, false or an object with `fields` instead of integer `1`",
        ),
        (
            asking(json!({ "kind": "choose", "options": [] })),
            "question.options",
            "at least two options",
        ),
        (
            asking(json!({ "kind": "choose", "options": ["x", "y"], "pick": "one" })),
            "question.options[0]",
            "an object",
        ),
        (
            asking(json!({ "kind": "choose", "options": [{ "id": "a" }], "pick": "one" })),
            "question.options[0].label",
            missing,
        ),
        (
            asking(json!({ "kind": "confirm", "items": [{ "name": "a" }], "yes": "Y", "no": "N" })),
            "question.items[0].name",
            label,
        ),
        (
            asking(json!({ "kind": "confirm", "items": [], "yes": "Y", "no": "Y" })),
            "question.no",
            "a label other than that of `yes`",
        ),
        (
            asking(json!({ "kind": "provide", "form": { "fields": [{ "key": "k" }] } })),
            "question.form.fields[0].label",
            missing,
        ),
        (
            asking(json!({ "kind": "provide", "form": {} })),
            "question.form",
            "a form needs exactly one of `fields` and `steps`",
        ),
        (
            whole(json!({ "colour": 1 })),
            "colour",
            "unknown field; allowed fields: question, priority, route, timeout_seconds, on_expiry, reminders, tags, irreversible, metadata, follows, conversation, assurance, callback_url, place, hxp",
        ),
        (whole(json!({ "timeout_seconds": -1 })), "timeout_seconds", seconds),
        (whole(json!({ "timeout_seconds": 1.5 })), "timeout_seconds", seconds),
        (whole(json!({ "timeout_seconds": "60" })), "timeout_seconds", seconds),
        (whole(json!({ "priority": null })), "priority", words),
        (whole(json!({ "priority": 3 })), "priority", words),
        (whole(json!({ "priority": "urgent" })), "priority", words),
        (whole(json!({ "tags": "a" })), "tags", "a list"),
        (whole(json!({ "tags": ["a", 1] })), "tags[1]", "a string"),
        (whole(json!({ "metadata": [] })), "metadata", "an object"),
        (whole(json!({ "reminders": ["soon"] })), "reminders[0]", moment),
        (whole(json!({ "follows": "x" })), "follows", "ask_ followed by a ULID"),
        (whole(json!({ "route": "owner" })), "route", "an object with `to`"),
        (whole(json!({ "route": {} })), "route.to", missing),
        (
            whole(json!({ "route": { "to": "all" } })),
            "route.to",
            "`owner`, `delegate`, `pool` or `person`",
        ),
        (whole(json!({ "route": { "to": "person" } })), "route.human", missing),
        (whole(json!({ "route": { "to": "person", "human": 7 } })), "route.human", "a string"),
        (
            whole(json!({ "route": { "to": "pool", "groups": "ops" } })),
            "route.groups",
            "unknown field; allowed fields: group; did you mean \"group\"?",
        ),
        (
            whole(json!({ "route": { "to": "owner", "group": "ops" } })),
            "route.group",
            "unknown field; no fields are allowed here",
        ),
        (
            whole(json!({ "on_expiry": null })),
            "on_expiry",
            "`stay_open`, `fail`, `answer` or `report`",
        ),
        (
            whole(json!({ "on_expiry": "never" })),
            "on_expiry",
            "`stay_open`, `fail`, `answer` or `report`",
        ),
        (
            whole(json!({ "on_expiry": { "report": "skip", "answer": {} } })),
            "on_expiry",
            "an object with one field",
        ),
        (
            whole(json!({ "on_expiry": { "report": "no" } })),
            "on_expiry.report",
            "`skip`, `approve`, `reject` or `abort`",
        ),
        (
            whole(json!({ "on_expiry": { "answer": { "verdict": "approved" } } })),
            "on_expiry.answer.verdict",
            "unknown field; allowed fields: answer, comment",
        ),
    ] {
        let told = told::<CreateAsk>(&body.to_string());
        assert_eq!((told.0.as_str(), told.1.as_str()), (field, expected), "{body}");
    }
    let twice =
        r#"{"question":{"kind":"converse","prompt":"x"},"priority":"low","priority":"high"}"#;
    assert_eq!(
        told::<CreateAsk>(twice),
        ("priority".to_owned(), "a single value; the field is duplicated".to_owned())
    );
}

#[test]
fn what_is_wrong_with_other_bodies() {
    let verdicts = "`approved`, `rejected`, `changes_requested`, `chosen`, `provided`, \
        `confirmed`, `declined`, `retry`, `skip`, `abort` or `replied`";
    for (read, body, field, expected) in [
        (
            told::<Reply> as fn(&str) -> (String, String),
            json!({ "answer": { "verdict": "approved", "edit": {} } }),
            "answer.edit",
            "unknown field; allowed fields: edits; did you mean \"edits\"?",
        ),
        (
            told::<Reply>,
            json!({ "answer": { "verdict": "rejected", "edits": {} } }),
            "answer.edits",
            "unknown field; allowed fields: option",
        ),
        (told::<Reply>, json!({ "answer": { "verdict": "yes" } }), "answer.verdict", verdicts),
        (told::<Reply>, json!({ "answer": "approved" }), "answer", "an object with `verdict`"),
        (
            told::<Reply>,
            json!({ "verdict": "approved" }),
            "verdict",
            "unknown field; allowed fields: answer, comment",
        ),
        (
            told::<ExtendBody>,
            json!({ "until": "soon" }),
            "until",
            "a time in RFC 3339 format, such as 2026-11-15T09:00:00Z",
        ),
        (told::<ExtendBody>, json!({ "until": 7 }), "until", "a string"),
        (told::<CommentBody>, json!({}), "text", "a value; it is missing"),
        (
            told::<IssueKey>,
            json!({ "agent": "a b" }),
            "agent",
            "1 to 64 characters of A-Z, a-z, 0-9, _ - . : and @, starting with a letter or digit",
        ),
        (
            told::<ProjectBody>,
            json!({ "ladder": [{ "after": 1, "seat": "pool", "groups": "ops" }] }),
            "ladder[0].groups",
            "unknown field; allowed fields: group; did you mean \"group\"?",
        ),
    ] {
        let told = read(&body.to_string());
        assert_eq!((told.0.as_str(), told.1.as_str()), (field, expected), "{body}");
    }
}

/// 400 is only for bodies that are not JSON.
#[test]
fn what_is_no_json() {
    for body in ["", "{", "{\"question\":", "nonsense", "{} {}", "{'a':1}", "\u{0}"] {
        let error = super::super::parse::<CreateAsk>(body.as_bytes()).unwrap_err();
        let shown = serde_json::to_value(error.wire()).unwrap();
        assert_eq!(
            (&shown["status"], &shown["type"]),
            (&json!(400), &json!("/errors/invalid-json")),
            "{body}"
        );
    }
}
