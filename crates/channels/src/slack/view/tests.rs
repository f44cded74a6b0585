//! Snapshots of forms as modals, and forms that do not fit.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::slack::limits;

fn form(fields: &Value) -> Form {
    serde_json::from_value(json!({ "fields": fields })).unwrap()
}

fn sheet(fields: DialogFields) -> FormDialog {
    FormDialog {
        token: "tok.sheet".to_owned(),
        title: "Supply a value".to_owned(),
        words: "Where shall <it> go?".to_owned(),
        send: "Send".to_owned(),
        fields,
    }
}

fn carried() -> ModalMetadata {
    ModalMetadata { token: "tok.sheet".to_owned(), channel: Some("C0OPS".to_owned()), thread: None }
}

/// The modal that is sent, which Slack must accept.
fn taken(sheet: &FormDialog) -> Value {
    let view = modal(sheet, &carried()).unwrap();
    assert_eq!(limits::view(&view), Ok(()), "{view:#}");
    view
}

#[test]
fn every_kind_of_field() {
    let two = json!([{ "value": "a", "label": "A & A" }, { "value": "b <", "label": "B" }]);
    let many: Vec<Value> =
        (0..11).map(|i| json!({ "value": format!("v{i}"), "label": format!("L{i}") })).collect();
    let fields = form(&json!([
        { "key": "name", "label": "Name", "type": "text", "required": true, "placeholder": "Ada",
          "hint": "As on <the> card", "validation": { "minLength": 2, "maxLength": 9000 } },
        { "key": "why", "label": "Why", "type": "textarea", "default": "Because\nit is" },
        { "key": "mail", "label": "Mail", "type": "email" },
        { "key": "page", "label": "Page", "type": "url" },
        { "key": "count", "label": "Count", "type": "number", "default": 2.5,
          "validation": { "min": 0, "max": 10 } },
        { "key": "share", "label": "Share", "type": "range", "validation": { "min": 1, "max": 5 } },
        { "key": "day", "label": "Day", "type": "date", "default": "2026-03-01" },
        { "key": "at", "label": "At", "type": "date", "default": "2026-03-01T10:00:00Z" },
        { "key": "sure", "label": "Sure?", "type": "boolean", "default": false },
        { "key": "one", "label": "One", "type": "select", "options": two, "default": "b <" },
        { "key": "some", "label": "Some", "type": "multiselect", "options": two, "default": ["a"] },
        { "key": "more", "label": "More", "type": "multiselect", "options": many },
    ]));
    insta::assert_json_snapshot!(taken(&sheet(DialogFields::Form(fields))));
}

#[test]
fn words_alone() {
    let fields = DialogFields::Words {
        label: "What should change?".to_owned(),
        filled: "less".to_owned(),
        optional: false,
    };
    let title = "What should change before you approve".to_owned();
    insta::assert_json_snapshot!(taken(&FormDialog { title, ..sheet(fields) }));
}

#[test]
fn what_does_not_fit_is_not_shown_in_part() {
    let option = |label: &str, value: &str| json!({ "label": label, "value": value });
    let of = |kind: &str, options: Vec<Value>| json!([{ "key": "k", "label": "K", "type": kind, "options": options }]);
    let text = |rest: Value| {
        let mut field = json!({ "key": "k", "label": "K", "type": "text" });
        field.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!([field])
    };
    let many = |n: usize| (0..n).map(|i| option("L", &format!("v{i}"))).collect::<Vec<_>>();
    let shown_if = json!({ "field": "a", "operator": "eq", "value": "x" });
    for (what, fields) in [
        ("a secret", text(json!({ "sensitive": true }))),
        ("a file", json!([{ "key": "k", "label": "K", "type": "file" }])),
        ("a type of theirs", json!([{ "key": "k", "label": "K", "type": "x-colour" }])),
        (
            "a condition",
            json!([
                { "key": "a", "label": "A", "type": "text" },
                { "key": "k", "label": "K", "type": "text", "conditional": shown_if },
            ]),
        ),
        ("a value from elsewhere", text(json!({ "default_ref": "https://a.example/v" }))),
        ("few values of many", text(json!({ "validation": { "allowed_values": ["a"] } }))),
        ("more than can be typed", text(json!({ "validation": { "minLength": 3001 } }))),
        ("more than can be shown", text(json!({ "default": "x".repeat(3001) }))),
        ("a long hint", text(json!({ "hint": "x".repeat(2001) }))),
        ("a long placeholder", text(json!({ "placeholder": "&".repeat(31) }))),
        ("a long option", of("select", vec![option(&"&".repeat(16), "a")])),
        ("a long value", of("select", vec![option("A", &"x".repeat(151))])),
        ("many options", of("multiselect", many(101))),
        ("no field", json!([])),
        (
            "many fields",
            (0..51)
                .map(|i| json!({ "key": format!("k{i}"), "label": "K", "type": "text" }))
                .collect(),
        ),
    ] {
        let form = form(&fields);
        assert!(!fits(&form), "{what}");
        assert!(modal(&sheet(DialogFields::Form(form)), &carried()).is_none(), "{what}");
    }
    let steps: Form = serde_json::from_value(json!({ "steps": [
        { "title": "One", "fields": [{ "key": "a", "label": "A", "type": "text" }] },
        { "title": "Two", "fields": [{ "key": "b", "label": "B", "type": "text" }] },
    ] }))
    .unwrap();
    assert!(!fits(&steps));
    let fields = DialogFields::Form(form(&of("multiselect", many(100))));
    assert!(modal(&sheet(fields), &carried()).is_some(), "as many as fit");
    let long = DialogFields::Form(form(&text(json!({}))));
    let sheet = FormDialog { words: "x".repeat(3000 * 100), ..sheet(long) };
    assert!(modal(&sheet, &carried()).is_none(), "a question longer than a modal");
}

#[test]
fn values_come_back_as_they_were() {
    for value in ["a", "a b", "<&>", "=YQ", "=", "ü", "a/b.c-d_e", "", "\u{0}"] {
        let sent = encode_value(value);
        assert!(!sent.is_empty() && sent.is_ascii(), "{value}");
        assert_eq!(decode_value(&sent).as_deref(), Some(value));
    }
    assert_eq!(decode_value("=?"), None);
    assert_eq!(decode_value("=_w"), None, "not UTF-8");
}

fn words(most: usize) -> BoxedStrategy<String> {
    prop_oneof![
        3 => "\\PC{0,30}",
        1 => (0..most).prop_map(|n| "&".repeat(n)),
        1 => (0..most).prop_map(|n| "🙂".repeat(n)),
        1 => Just(" ".to_owned()),
    ]
    .boxed()
}

fn field() -> BoxedStrategy<Value> {
    let kinds = prop::sample::select(vec![
        "text",
        "textarea",
        "email",
        "url",
        "number",
        "date",
        "boolean",
        "select",
        "multiselect",
    ]);
    let options = prop::collection::vec(words(30), 1..15);
    let lengths = (0..4000u64, 0..4000u64);
    (kinds, words(40), prop::option::of(words(500)), prop::option::of(words(40)), options, lengths)
        .prop_map(|(kind, label, hint, placeholder, labels, (one, other))| {
            let mut field = json!({ "key": "k", "label": label, "type": kind });
            field["hint"] = json!(hint);
            field["placeholder"] = json!(placeholder);
            if kind.ends_with("select") {
                let option = |(i, label): (usize, &String)| json!({ "value": format!("<{i}"), "label": label });
                field["options"] = labels.iter().enumerate().map(option).collect();
                let chosen = if kind == "select" { json!("<0") } else { json!(["<0"]) };
                field["default"] = chosen;
            }
            if kind.starts_with("text") {
                let (min, max) = (one.min(other), one.max(other));
                field["validation"] = json!({ "minLength": min, "maxLength": max });
            }
            field
        })
        .boxed()
}

proptest! {
    /// Slack accepts every modal.
    #[test]
    fn slack_takes_every_modal(
        fields in prop::collection::vec(field(), 1..6),
        title in words(20),
        text in words(4000),
    ) {
        let keyed = fields.into_iter().enumerate().map(|(i, mut field)| {
            field["key"] = json!(format!("k{i}"));
            field
        });
        let form = form(&keyed.collect());
        let sheet = FormDialog { title, words: text, ..sheet(DialogFields::Form(form.clone())) };
        match modal(&sheet, &carried()) {
            Some(view) => prop_assert_eq!(limits::view(&view), Ok(()), "{:#}", view),
            None => prop_assert!(!fits(&form)),
        }
    }
}
