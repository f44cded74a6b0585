//! `POST /hxp/v1/requests/{request_id}/resolve` and `…/cancel`.

use dialects::hxp_execution::{parse_cancel, parse_create, parse_resolve, read_resolve};
use kernel::command::AskCommand;
use kernel::question::{Answer, Question, Reply};
use kernel::testing::yes;
use kernel::{Phase, Refusal};
use serde_json::{Value, json};

use crate::fixtures::{STATES, bytes, full, new, staged};

fn question(action: &str) -> Question {
    new(&full(action)).question
}

fn provide(payload: &Value) -> Question {
    let body = json!({"action": "PROVIDE", "payload": payload});
    parse_create(&bytes(&body)).unwrap().question
}

fn outcome(question: &Question, body: &Value) -> Result<Answer, (u16, &'static str)> {
    let reply = parse_resolve(&bytes(body), question);
    reply.map(|reply| reply.answer).map_err(|error| (error.status, error.code))
}

/// Section 5.1's example.
#[test]
fn the_example_of_the_specification_parses() {
    let seed = br#"{ "result": "Approve", "reason": null }"#;
    let reply = parse_resolve(seed, &question("DECIDE")).unwrap();
    let answer = Answer::Chosen { options: vec!["Approve".into()] };
    assert_eq!(reply, Reply { answer, comment: None });
}

/// HXPX-034: no result is a bad request, whatever the question.
#[test]
fn a_result_is_needed() {
    for body in [json!({}), json!({"result": null}), json!({"reason": "x"})] {
        let error = read_resolve(&bytes(&body)).unwrap_err();
        assert_eq!((error.status, error.code), (400, "missing_result"));
    }
    assert_eq!(read_resolve(b"{").unwrap_err().code, "invalid_json");
    assert_eq!(read_resolve(b"[]").unwrap_err().code, "invalid_body");
    let odd = read_resolve(br#"{"result": "x", "reason": 5}"#).unwrap_err();
    assert_eq!((odd.status, odd.code), (422, "invalid_result"));
}

/// HXPX-026, HXPX-028, HXPX-029.
#[test]
fn decisions_and_approvals() {
    let invalid = Err((422, "invalid_result"));
    let decide = question("DECIDE");
    for wrong in [json!("approve"), json!("Approve "), json!(""), json!(0), json!(["Approve"])] {
        assert_eq!(outcome(&decide, &json!({"result": wrong})), invalid, "{wrong}");
    }
    let approve = question("APPROVE");
    for wrong in [json!("Approved"), json!("yes"), json!(true), json!({}), json!("approve")] {
        assert_eq!(outcome(&approve, &json!({"result": wrong})), invalid, "{wrong}");
    }
    let approved = outcome(&approve, &json!({"result": "approved"}));
    assert_eq!(approved, Ok(Answer::Approved { edits: None }));
    for reason in [json!(null), json!(""), json!(" \n")] {
        let bare = json!({"result": "rejected", "reason": reason});
        assert_eq!(outcome(&approve, &bare), Err((422, "reason_required")));
    }
    let reply = parse_resolve(br#"{"result":"rejected","reason":"too dear"}"#, &approve).unwrap();
    assert_eq!(reply.answer, Answer::REJECTED);
    assert_eq!(reply.comment.as_deref(), Some("too dear"));
}

/// HXPX-032, HXPX-033: values are of their type and within their limits; the web client's texts
/// become numbers.
#[test]
fn provided_values() {
    let number = json!({"prompt": "p", "input_type": "number", "validation": {"max": 10}});
    let text = json!({"prompt": "p", "input_type": "text", "validation": {"min": 2, "max": 3}});
    let pattern = json!({"prompt": "p", "input_type": "text", "validation": {"pattern": "a+"}});
    let select = json!({"prompt": "p", "input_type": "selection",
        "validation": {"allowed_values": ["eu", "us"]}});
    let of = |kind: &str| json!({"prompt": "p", "input_type": kind});
    for (payload, good, bad) in [
        (
            number,
            vec![(json!(7), json!(7)), (json!("7.5"), json!(7.5))],
            vec![json!(99_999), json!("seven")],
        ),
        (text, vec![(json!("éé"), json!("éé"))], vec![json!("a"), json!("abcd"), json!(12)]),
        (pattern, vec![(json!("aa"), json!("aa"))], vec![json!("ab")]),
        (select, vec![(json!("eu"), json!("eu"))], vec![json!("EU"), json!(["eu"]), json!(1)]),
        (of("selection"), vec![(json!("any"), json!("any"))], vec![json!(1)]),
        (
            of("url"),
            vec![(json!("https://a.example/"), json!("https://a.example/"))],
            vec![json!("a.example"), json!("javascript:1")],
        ),
        (of("email"), vec![(json!("a@b.example"), json!("a@b.example"))], vec![json!("a@")]),
        (
            of("file"),
            vec![(json!("data:text/plain,hi"), json!("data:text/plain,hi"))],
            vec![json!("/etc/passwd"), json!(5)],
        ),
        (of("text"), vec![(json!("x"), json!("x"))], vec![json!({}), json!("a\0"), json!(true)]),
    ] {
        let question = provide(&payload);
        for (sent, kept) in good {
            let Ok(Answer::Provided { values }) = outcome(&question, &json!({"result": sent}))
            else {
                panic!("{payload} {sent}")
            };
            assert_eq!(values.get("result"), Some(&kept), "{payload}");
        }
        for wrong in bad.into_iter().chain([json!("")]) {
            let refused = outcome(&question, &json!({"result": wrong}));
            assert_eq!(refused, Err((422, "invalid_result")), "{payload} {wrong}");
        }
    }
}

/// HXPX-007: 422 says which field, why, and what was expected, and never repeats the value.
#[test]
fn refusals_name_fields() {
    let mut lines = String::new();
    for (question, result) in [
        (question("DECIDE"), json!("hunter2")),
        (question("PROVIDE"), json!("hunter2")),
        (question("APPROVE"), json!("hunter2")),
    ] {
        let error = parse_resolve(&bytes(&json!({"result": result})), &question).unwrap_err();
        let line = serde_json::to_string(&error.body()).unwrap();
        assert!(!line.contains("hunter2"));
        lines += &line;
        lines.push('\n');
    }
    insta::assert_snapshot!(lines);
}

/// HXPX-040: the body of a cancel is optional.
#[test]
fn cancel_bodies() {
    for (body, reason) in [
        (&b""[..], None),
        (b" \n", None),
        (b"{}", None),
        (br#"{"reason": null}"#, None),
        (br#"{"reason": " "}"#, None),
        (br#"{"reason": "done"}"#, Some("done".to_owned())),
    ] {
        assert_eq!(parse_cancel(body), Ok(reason));
    }
    assert_eq!(parse_cancel(b"{").unwrap_err().code, "invalid_json");
    assert_eq!(parse_cancel(br#"{"reason": 1}"#).unwrap_err().status, 400);
}

/// HXPX-048, HXPX-049, HXPX-050: what is over is over, as the kernel would say it.
#[test]
fn over_agrees_with_the_kernel() {
    for state in STATES {
        let (mut cast, id) = staged(state, &full("APPROVE"), &yes());
        let said = cast.seen(id).check_open(cast.now()).err();
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, yes())).err();
        assert_eq!(said, refused, "{state}");
    }
    let (mut cast, id) = staged("assigned", &full("APPROVE"), &yes());
    cast.advance(3600);
    assert_eq!(cast.seen(id).phase(), Phase::Engaged, "the timer did not fire yet");
    assert!(matches!(cast.seen(id).check_open(cast.now()).err(), Some(Refusal::TimedOut { .. })));
    let paused = crate::fixtures::with(full("APPROVE"), "fallback", json!("pause"));
    let (mut cast, id) = staged("assigned", &paused, &yes());
    cast.advance(1_000_000);
    assert_eq!(cast.seen(id).check_open(cast.now()).err(), None);
}
