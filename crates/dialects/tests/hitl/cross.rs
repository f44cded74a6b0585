//! One ask in two dialects: HXP Execution and HITL. One test per cell of the tables.

use dialects::hitl::{CaseType, poll};
use dialects::hxp_execution::{Formula, ReceiptDetail, Seal, parse_create as hxp_create, request};
use kernel::ask::DefaultAction;
use kernel::command::{AskCommand, NewAsk, NewOnExpiry};
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::testing::{Cast, new_ask, sent_back};
use kernel::{Actor, AskId, Refusal};
use serde_json::{Map, Value, json};

use crate::fixtures::{TYPES, answer, body, hushed, made, polled, respond};
use crate::schemas::holds;

const SEAL: Seal<'_> = Seal { secret: b"server-secret", formula: Formula::Seed };

fn as_hxp(cast: &Cast, id: AskId) -> Value {
    serde_json::to_value(request(cast.seen(id), &SEAL, ReceiptDetail::Whole)).unwrap()
}

fn as_hitl(cast: &Cast, id: AskId) -> Value {
    let polled = polled(cast.seen(id));
    holds("0.7", "poll-response", &polled);
    polled
}

/// Asked over HITL, read over HXP.
#[test]
fn hitl_cases_are_hxp_requests() {
    for (kind, action) in [
        ("approval", "APPROVE"),
        ("selection", "PROVIDE"),
        ("input", "PROVIDE"),
        ("confirmation", "DECIDE"),
        ("escalation", "DECIDE"),
        ("x-acme-compare", "PROVIDE"),
    ] {
        let (mut cast, id) = made(&body(kind));
        assert_eq!(as_hxp(&cast, id)["action"], action, "{kind}");
        respond(&mut cast, id, &answer(kind)).unwrap();
        let seen = as_hxp(&cast, id);
        insta::assert_json_snapshot!(format!("hxp_of_{kind}"), seen["receipt"], { ".evidence_hash" => "[hash]" });
        assert_eq!(seen["status"], "completed");
    }
}

/// Asked over HITL, answered over HXP, read over HITL.
#[test]
fn answers_over_hxp_complete_a_case() {
    for (kind, said, result) in [
        (
            "approval",
            json!({"result": "approved", "reason": "ok"}),
            json!({"action": "approve", "data": {"feedback": "ok"}}),
        ),
        ("approval", json!({"result": "rejected"}), json!({"action": "reject", "data": {}})),
        (
            "selection",
            json!({"result": ["Lead"]}),
            json!({"action": "select", "data": {"selected": ["job_3"]}}),
        ),
        (
            "input",
            json!({"result": {"salary": 5}}),
            json!({"action": "submit", "data": {"salary": "[redacted]"}}),
        ),
        (
            "confirmation",
            json!({"result": "Confirm"}),
            json!({"action": "confirm", "data": {"confirmed_items": ["m1", "m2"]}}),
        ),
        ("confirmation", json!({"result": "Cancel"}), json!({"action": "cancel", "data": {}})),
        ("escalation", json!({"result": "skip"}), json!({"action": "skip", "data": {}})),
    ] {
        let (mut cast, id) = made(&body(kind));
        let question = cast.seen(id).question.value().unwrap().clone();
        let bytes = serde_json::to_vec(&said).unwrap();
        let reply = dialects::hxp_execution::parse_resolve(&bytes, &question)
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
        cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply)));
        assert_eq!(hushed(as_hitl(&cast, id)["result"].clone()), result, "{kind}");
    }
}

/// Asked over HXP, read and answered over HITL.
#[test]
fn hxp_requests_are_hitl_cases() {
    for (asked, kind, said, back) in [
        (
            json!({"action": "APPROVE", "payload": {"item": "Deploy"}}),
            CaseType::Approval,
            json!({"action": "edit", "data": {"feedback": "smaller"}}),
            json!("rejected"),
        ),
        (
            json!({"action": "DECIDE", "payload": {"question": "Which?", "options": ["A", "B"]}}),
            CaseType::Selection,
            json!({"action": "select", "data": {"selected": ["B"]}}),
            json!("B"),
        ),
        (
            json!({"action": "PROVIDE", "payload": {"prompt": "Key?", "input_type": "text"}}),
            CaseType::Input,
            json!({"action": "submit", "data": {"result": "k"}}),
            json!("k"),
        ),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(hxp_create(&serde_json::to_vec(&asked).unwrap()).unwrap());
        assert_eq!(CaseType::of(cast.seen(id)), kind);
        let pending = as_hitl(&cast, id);
        assert_eq!(pending["expires_at"], "9999-12-31T23:59:59Z", "it never runs out");
        respond(&mut cast, id, &said).unwrap();
        assert_eq!(as_hxp(&cast, id)["receipt"]["result"], back);
        assert_eq!(as_hitl(&cast, id)["result"], said, "{asked}");
    }
    let mut cast = Cast::new();
    let asked = json!({"action": "APPROVE", "payload": {"item": "Deploy"}});
    let id = cast.ask(hxp_create(&serde_json::to_vec(&asked).unwrap()).unwrap());
    respond(
        &mut cast,
        id,
        &json!({"action": "edit", "data": {"edits": {"n": 1}, "feedback": "so"}}),
    )
    .unwrap();
    let reason = as_hxp(&cast, id)["receipt"]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("so") && reason.contains("{\"n\":1}"), "nothing is lost: {reason}");
}

/// The kernel's states as HITL statuses, whatever the other dialect meant by silence.
#[test]
fn states_of_other_dialects() {
    let no = || Reply { answer: Answer::REJECTED, comment: None };
    for (silence, status, default_action) in [
        (NewOnExpiry::Fail, "expired", json!("abort")),
        (NewOnExpiry::Report(DefaultAction::Reject), "expired", json!("reject")),
        (NewOnExpiry::Answer(no()), "completed", Value::Null),
        (NewOnExpiry::StayOpen, "pending", Value::Null),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { timeout: Some(5), on_expiry: silence, ..new_ask() });
        cast.advance(5);
        let _ = cast.attempt(Actor::System, AskCommand::Expire(id));
        let polled = as_hitl(&cast, id);
        assert_eq!(
            (&polled["status"], &polled["default_action"]),
            (&json!(status), &default_action)
        );
        if status == "completed" {
            // §5: a default never looks like a person's answer.
            let name = polled["responded_by"]["name"].as_str().unwrap();
            assert!(name.starts_with("no one"), "{name}");
        }
    }
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Claim(id));
    assert_eq!(as_hitl(&cast, id)["status"], "pending", "taken is not opened");
}

/// Every kind of question has a type, and a request for changes is `edit` in all of them.
#[test]
fn every_kind_has_a_type() {
    let options = || Options::new(["a", "b"].map(Choice::plain).to_vec()).unwrap();
    let approve = QuestionBody::Approve {
        details: Map::new(),
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    for (body, kind) in [
        (approve, "approval"),
        (
            QuestionBody::Choose { options: options(), pick: PickMode::One, suggested: None },
            "selection",
        ),
        (
            QuestionBody::Choose { options: options(), pick: PickMode::Many, suggested: None },
            "selection",
        ),
        (
            QuestionBody::Confirm { items: vec![], yes: "Go".into(), no: "Stop".into() },
            "confirmation",
        ),
        (QuestionBody::Escalate { error: Map::new(), params: Map::new() }, "escalation"),
        (QuestionBody::Converse, "input"),
    ] {
        let mut cast = Cast::new();
        let question = Question::new("?", None, body).unwrap();
        let id = cast.ask(NewAsk { question, ..new_ask() });
        assert_eq!(CaseType::of(cast.seen(id)).as_str(), kind);
        let changes = Reply { answer: Answer::CHANGES, comment: Some("smaller".to_owned()) };
        let changes = AskCommand::Answer(id, Box::new(changes));
        if kind != "approval" {
            // HITL-140: only an approval has `edit`, and only an approval is asked again.
            let refused = cast.attempt(cast.human("olga"), changes);
            assert!(matches!(refused, Err(Refusal::Answer(_))), "{kind}: {refused:?}");
            // A record of before that was refused is no result: the case was closed without one.
            let shown = json!(poll(&sent_back(cast.seen(id), "smaller"), None, None));
            assert_eq!((&shown["status"], shown.get("result")), (&json!("cancelled"), None));
            assert_eq!(shown["reason"], "Changes requested: smaller", "{kind}");
            continue;
        }
        cast.run(cast.human("olga"), changes);
        let expected = json!({"action": "edit", "data": {"feedback": "smaller"}});
        assert_eq!(as_hitl(&cast, id)["result"], expected);
    }
    assert_eq!(TYPES.len(), 6);
    // Going ahead with edits is an approval, where the agent can take them.
    let details = Map::from_iter([("n".to_owned(), json!(1))]);
    let body = QuestionBody::Approve {
        details,
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let question = Question::new("?", None, body).unwrap();
    let mut cast = Cast::new();
    let id = cast.ask(NewAsk { question, ..new_ask() });
    respond(&mut cast, id, &json!({"action": "approve", "data": {"edits": {"n": 2}}})).unwrap();
    assert_eq!(
        as_hitl(&cast, id)["result"],
        json!({"action": "approve", "data": {"edits": {"n": 2}}})
    );
}
