//! Error bodies: both shapes in one, stable codes. A2H-013.

use std::collections::BTreeSet;

use dialects::a2h::{A2hWireError, CODES, parse_function_call};
use kernel::question::AnswerError;
use kernel::{ActorRef, Assurance, Refusal, Time};
use serde_json::json;

#[test]
fn every_refusal_has_its_code() {
    let (by, at) = (ActorRef::LinkHolder, Time::from_millis(0));
    let (have, need) = (Assurance::AgentAttested, Assurance::Session);
    for (refusal, status, code) in [
        (Refusal::NotFound { what: "request" }, 404, "not_found"),
        (Refusal::NotFound { what: "person" }, 404, "not_found"),
        (Refusal::NotAllowed { why: "no" }, 403, "forbidden"),
        (Refusal::AssuranceTooLow { have, need }, 403, "forbidden"),
        (Refusal::ApprovalTooWeak { have, need }, 403, "forbidden"),
        (Refusal::NotInline, 403, "forbidden"),
        (Refusal::AlreadyAnswered { by: by.clone(), at }, 409, "already_responded"),
        (Refusal::AlreadyCancelled { by, at }, 409, "already_responded"),
        (Refusal::TimedOut { at }, 409, "already_responded"),
        (Refusal::TakenBy { by: "olga".parse().unwrap() }, 409, "conflict"),
        (Refusal::NotOver { why: "open" }, 409, "conflict"),
        (Refusal::Exists { what: "email address" }, 409, "conflict"),
        (Refusal::Changed { version: 1 }, 409, "conflict"),
        (Refusal::NoDeadline, 409, "conflict"),
        (Refusal::NotDue, 409, "conflict"),
        (Refusal::DefaultForbidden, 409, "conflict"),
        (Refusal::SilenceTooWeak { need }, 409, "conflict"),
        (Refusal::IdempotencyMismatch, 409, "call_exists"),
        (Refusal::Invalid { field: "route.human", expected: "x" }, 422, "invalid_field"),
        (Refusal::Answer(AnswerError::Empty), 422, "invalid_field"),
    ] {
        let error = A2hWireError::refused(&refusal);
        assert_eq!((error.status, error.code), (status, code), "{refusal:?}");
        let body = error.body();
        assert_eq!(body["error"]["code"], code);
        assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert_eq!(body["detail"].is_array(), status == 422, "{body}");
        assert!(CODES.contains(&code));
        assert!(!body.to_string().contains("olga"), "nobody is named: {body}");
    }
    let distinct: BTreeSet<_> = CODES.iter().collect();
    assert_eq!(distinct.len(), CODES.len());
}

#[test]
fn a_mistake_is_placed_as_its_clients_know_it() {
    let body = json!({"run_id": "r", "call_id": "c", "spec": {"fn": "f", "reject_options": [{}]}});
    let error = parse_function_call(&serde_json::to_vec(&body).unwrap()).unwrap_err();
    insta::assert_json_snapshot!("validation_error", error.body());
    insta::assert_json_snapshot!("not_json", parse_function_call(b"{").unwrap_err().body());
    insta::assert_json_snapshot!("not_found", A2hWireError::no_call().body());
}
