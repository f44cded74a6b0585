//! Asks of other dialects, shown and answered in this one (DESIGN §11).

use std::fmt::Write as _;

use dialects::hxp_execution::{ReceiptDetail, parse_resolve, request};
use kernel::form::Form;
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::testing::Cast;
use serde_json::{Value, json};

use crate::fixtures::{SEAL, answered, bytes, native, pretty};

fn choice(id: &str, label: &str) -> Choice {
    Choice { id: id.into(), label: label.into(), description: None }
}

fn choose(pick: PickMode, labels: &[&str]) -> QuestionBody {
    let choices = labels.iter().enumerate().map(|(n, label)| choice(&format!("o{n}"), label));
    QuestionBody::Choose {
        options: Options::new(choices.collect()).unwrap(),
        pick,
        suggested: None,
    }
}

fn confirm() -> QuestionBody {
    let items = vec![choice("a", "Mail to Ann"), choice("b", "Mail to Bob")];
    QuestionBody::Confirm { items, yes: "Send".into(), no: "Keep".into() }
}

fn escalate() -> QuestionBody {
    let map = |value: Value| value.as_object().unwrap().clone();
    QuestionBody::Escalate {
        error: map(json!({"code": 500})),
        params: map(json!({"region": "eu"})),
    }
}

fn form(fields: &Value) -> QuestionBody {
    let form: Form = serde_json::from_value(json!({"fields": fields})).unwrap();
    QuestionBody::Provide { form }
}

fn long_form() -> QuestionBody {
    form(&json!([
        {"key": "name", "label": "Name", "type": "text", "required": true},
        {"key": "age", "label": "Age", "type": "number"},
    ]))
}

fn seven() -> QuestionBody {
    choose(PickMode::One, &["1", "2", "3", "4", "5", "6", "7"])
}

/// What goes in by resolve, and what comes out in the receipt.
fn round(body: QuestionBody, result: &Value) -> Value {
    let Ok(value) = attempt(body, result) else { panic!("{result}") };
    value
}

fn attempt(body: QuestionBody, result: &Value) -> Result<Value, (u16, &'static str)> {
    let question = Question::new("What now?", None, body.clone()).unwrap();
    let reply = parse_resolve(&bytes(&json!({"result": result})), &question)
        .map_err(|error| (error.status, error.code))?;
    let ask = answered(body, reply);
    Ok(request(&ask, &SEAL, ReceiptDetail::Whole).receipt.unwrap().result)
}

/// Every kind of question as one of the three actions, byte for byte.
#[test]
fn every_kind_is_shown() {
    let mut lines = String::new();
    for body in [
        QuestionBody::Approve {
            details: serde_json::Map::new(),
            editable: true.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        },
        choose(PickMode::One, &["Red", "Blue"]),
        choose(PickMode::One, &["Same", "Same"]),
        choose(PickMode::Many, &["Red", "Blue"]),
        seven(),
        confirm(),
        escalate(),
        QuestionBody::Converse,
        long_form(),
        form(&json!([{"key": "when", "label": "When", "type": "date",
            "validation": {"min": "2026-01-01"}}])),
        form(&json!([{"key": "ok", "label": "OK", "type": "boolean"}])),
        form(&json!([{"key": "n", "label": "N", "type": "range",
            "validation": {"min": 1, "max": 5}}])),
        form(&json!([{"key": "tags", "label": "Tags", "type": "multiselect",
            "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]}])),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(native(body));
        let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
        writeln!(lines, "{} {}", pretty(&shown.action), json!(shown.payload)).unwrap();
    }
    insta::assert_snapshot!(lines);
}

/// What is offered is accepted, and comes back as it was offered.
#[test]
fn answers_go_round() {
    for (body, result) in [
        (choose(PickMode::One, &["Red", "Blue"]), json!("Blue")),
        (choose(PickMode::One, &["Same", "Same"]), json!("o1")),
        (choose(PickMode::Many, &["Red", "Blue", "Green"]), json!(["Red", "Green"])),
        (choose(PickMode::Many, &["Red", "Blue"]), json!(["Blue"])),
        (seven(), json!("7")),
        (confirm(), json!("Send")),
        (confirm(), json!("Keep")),
        (escalate(), json!("retry")),
        (escalate(), json!("skip")),
        (escalate(), json!("abort")),
        (QuestionBody::Converse, json!("Good morning")),
        (long_form(), json!({"name": "Ann", "age": 7})),
        (form(&json!([{"key": "ok", "label": "OK", "type": "boolean"}])), json!(true)),
    ] {
        assert_eq!(round(body, &result), result);
    }
    let many = choose(PickMode::Many, &["Red", "Blue"]);
    assert_eq!(round(many, &json!("Red")), json!(["Red"]), "web clients post one text");
    let text = json!(r#"{"name": "Ann", "age": "7"}"#);
    assert_eq!(round(long_form(), &text), json!({"name": "Ann", "age": 7}));
}

/// What is not offered is refused.
#[test]
fn wrong_answers_are_refused() {
    for (body, result) in [
        (choose(PickMode::One, &["Red", "Blue"]), json!("o0")),
        (choose(PickMode::One, &["Red", "Blue"]), json!(["Red"])),
        (choose(PickMode::Many, &["Red", "Blue"]), json!([])),
        (choose(PickMode::Many, &["Red", "Blue"]), json!(["Red", "Grey"])),
        (seven(), json!("8")),
        (confirm(), json!("send")),
        (confirm(), json!(true)),
        (escalate(), json!("Retry")),
        (QuestionBody::Converse, json!(" ")),
        (QuestionBody::Converse, json!(5)),
        (long_form(), json!({"age": 7})),
        (long_form(), json!({"name": "Ann", "shoe": 7})),
        (long_form(), json!("Ann")),
        (long_form(), json!([])),
    ] {
        assert_eq!(attempt(body, &result), Err((422, "invalid_result")), "{result}");
    }
}

/// What this protocol has no member for is said in the reason, so that no agent misses it.
#[test]
fn edits_and_parts_are_told_in_the_reason() {
    let map = |value: Value| value.as_object().unwrap().clone();
    let editable = QuestionBody::Approve {
        details: map(json!({"amount": 9})),
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let comment = Some("less".to_owned());
    for (body, answer, comment, result, reason) in [
        (
            editable,
            Answer::Approved { edits: Some(map(json!({"amount": 5}))) },
            comment,
            "approved",
            Some(r#"less (with these changed details: {"amount":5})"#),
        ),
        (
            escalate(),
            Answer::Retry { params: map(json!({"region": "us"})) },
            None,
            "retry",
            Some(r#"with these parameters: {"region":"us"}"#),
        ),
        (confirm(), Answer::Confirmed { items: vec!["a".into()] }, None, "Send", Some("only a")),
        (confirm(), Answer::Confirmed { items: vec!["a".into(), "b".into()] }, None, "Send", None),
    ] {
        let ask = answered(body, Reply { answer, comment });
        let receipt = request(&ask, &SEAL, ReceiptDetail::Whole).receipt.unwrap();
        assert_eq!(receipt.result, json!(result));
        assert_eq!(receipt.reason.as_deref(), reason);
    }
}

/// HXPX-036: conversations and selections are values a person provided too.
#[test]
fn whatever_is_shown_as_provide_is_hidden_in_lists() {
    for (body, result) in
        [(QuestionBody::Converse, json!("secret")), (long_form(), json!({"name": "secret"}))]
    {
        let question = Question::new("What now?", None, body.clone()).unwrap();
        let reply = parse_resolve(&bytes(&json!({"result": result})), &question).unwrap();
        let shown = request(&answered(body, reply), &SEAL, ReceiptDetail::Redacted);
        assert_eq!(shown.receipt.unwrap().result, json!("[redacted]"));
    }
}
