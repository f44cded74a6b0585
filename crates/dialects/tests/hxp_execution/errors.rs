//! Error bodies: every refusal of the kernel has a status and a code.

use std::collections::BTreeSet;

use dialects::hxp_execution::errors::{CODES, HxpWireError};
use kernel::command::{AskCommand, DirectoryCommand, NewAsk};
use kernel::directory::NewProject;
use kernel::form::{FieldError, FieldErrorCode};
use kernel::question::AnswerError;
use kernel::testing::{Cast, human};
use kernel::{Actor, ActorRef, Assurance, Refusal};
use serde_json::json;

use crate::fixtures::{full, new};

/// HXPX-046, HXPX-048, HXPX-049, HXPX-029, HXPX-026 and section 5.3: the table of refusals.
#[test]
fn every_refusal_has_its_code() {
    let at = Cast::new().now();
    let by = ActorRef::Human(human("mark"));
    let field =
        FieldError { key: "age".into(), code: FieldErrorCode::TooLarge, message: "Less".into() };
    for (refusal, status, code) in [
        (Refusal::NotFound { what: "request" }, 404, "not_found"),
        (Refusal::NotAllowed { why: "only a person can answer" }, 403, "forbidden"),
        (Refusal::AlreadyAnswered { by: by.clone(), at }, 409, "conflict"),
        (Refusal::AlreadyAnswered { by: ActorRef::System, at }, 409, "conflict"),
        (Refusal::AlreadyCancelled { by, at }, 409, "conflict"),
        (Refusal::TimedOut { at }, 408, "expired"),
        (Refusal::TakenBy { by: human("mark") }, 409, "conflict"),
        (Refusal::Answer(AnswerError::ReasonRequired), 422, "reason_required"),
        (Refusal::Answer(AnswerError::UnknownOption), 422, "invalid_result"),
        (Refusal::Answer(AnswerError::Empty), 422, "invalid_result"),
        (Refusal::Answer(AnswerError::NotEditable), 422, "invalid_result"),
        (Refusal::Answer(AnswerError::WrongCount { expected: "one" }), 422, "invalid_result"),
        (Refusal::Answer(AnswerError::Fields(vec![field])), 422, "invalid_result"),
        (
            Refusal::AssuranceTooLow { have: Assurance::Link, need: Assurance::Passkey },
            403,
            "forbidden",
        ),
        (Refusal::Invalid { field: "timeout_seconds", expected: "less" }, 400, "invalid_timeout"),
        (Refusal::Invalid { field: "tags", expected: "less" }, 400, "invalid_metadata"),
        (Refusal::Invalid { field: "rules", expected: "less" }, 400, "invalid_rule"),
        (Refusal::Invalid { field: "person", expected: "one" }, 400, "invalid_payload"),
        (Refusal::Exists { what: "follow-up" }, 409, "conflict"),
        (Refusal::IdempotencyMismatch, 409, "idempotency_conflict"),
        (Refusal::Changed { version: 3 }, 409, "conflict"),
        (Refusal::NoDeadline, 409, "conflict"),
        (Refusal::NotDue, 409, "conflict"),
    ] {
        for pooled in [false, true] {
            let error = HxpWireError::refused(&refusal, pooled);
            assert_eq!((error.status, error.code), (status, code), "{refusal:?}");
            assert!(CODES.contains(&error.code));
            assert!(!error.message.is_empty());
            let named = error.message.contains("mark");
            let knows = format!("{refusal:?}").contains("mark");
            assert_eq!(named, knows && !pooled, "{}", error.message);
        }
    }
    let late = Refusal::AlreadyAnswered { by: ActorRef::Human(human("mark")), at };
    assert_eq!(
        HxpWireError::refused(&late, false).message,
        "already answered by mark at 2026-02-06T10:00:00.000Z"
    );
}

/// HXPX-040: a cancel after the timeout is a conflict; only an answer can be late.
#[test]
fn a_late_cancel_is_a_conflict() {
    let at = Cast::new().now();
    let late = HxpWireError::cancel_refused(&Refusal::TimedOut { at }, false);
    assert_eq!((late.status, late.code), (409, "conflict"));
    let gone = HxpWireError::cancel_refused(&Refusal::NotFound { what: "request" }, false);
    assert_eq!(gone.status, 404);
}

/// HXPX-025: a project may forbid defaults on silence; the agent learns that its fallback is wrong.
#[test]
fn a_forbidden_default_is_an_invalid_fallback() {
    let mut cast = Cast::new();
    let plain = NewProject::plain("acme".parse().unwrap());
    let strict = NewProject { default_on_silence: false, ..plain };
    cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
    let ask: NewAsk = new(&full("DECIDE"));
    let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(ask))).unwrap_err();
    let error = HxpWireError::refused(&refused, false);
    assert_eq!((error.status, error.code), (400, "invalid_fallback"));
    assert_eq!(error.message, "fallback: this project does not allow a default on silence");
}

/// HXPX-003, HXPX-007: bodies are `{error, message, details?}`.
#[test]
fn bodies_have_one_shape() {
    let plain = serde_json::to_value(HxpWireError::unauthorized().body()).unwrap();
    assert_eq!(plain["error"], json!("unauthorized"));
    assert!(plain["message"].is_string());
    assert_eq!(plain.as_object().unwrap().len(), 2);
    let about = HxpWireError::field(400, "invalid_limit", "limit", "less");
    assert_eq!(
        serde_json::to_string(&about.body()).unwrap(),
        r#"{"error":"invalid_limit","message":"limit: expected less","details":{"field":"limit","expected":"less"}}"#
    );
}

/// HXPX-008: codes are distinct, and the errors of the shell are among them.
#[test]
fn codes_are_listed() {
    let distinct: BTreeSet<_> = CODES.iter().collect();
    assert_eq!(distinct.len(), CODES.len());
    for (error, status) in [
        (HxpWireError::unauthorized(), 401),
        (HxpWireError::no_route(), 404),
        (HxpWireError::no_request(), 404),
        (HxpWireError::method_not_allowed(), 405),
        (HxpWireError::too_large(), 413),
        (HxpWireError::rate_limited(), 429),
        (HxpWireError::internal(), 500),
        (HxpWireError::unavailable(), 503),
    ] {
        assert_eq!(error.status, status);
        assert!(CODES.contains(&error.code), "{}", error.code);
    }
    for seen_upstream in [
        "unauthorized",
        "invalid_action",
        "invalid_role",
        "invalid_payload",
        "not_found",
        "conflict",
        "expired",
        "missing_result",
        "invalid_result",
        "reason_required",
    ] {
        assert!(CODES.contains(&seen_upstream));
    }
}
