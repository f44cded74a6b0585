//! Error bodies: the protocol's codes and statuses, and what each refusal becomes. Section 8 of our
//! digest; HACP-027, HACP-041; K-21.

use std::collections::BTreeSet;

use dialects::hacp::{CODES, HacpError};
use kernel::question::AnswerError;
use kernel::{ActorRef, Assurance, Refusal, TaskId, Time};
use serde_json::{Value, json};

use crate::fixtures::{V01, V02};

fn refusals() -> Vec<(Refusal, u16, &'static str, bool)> {
    let (by, at) = (ActorRef::Human("olga".parse().unwrap()), Time::from_millis(0));
    let (have, need) = (Assurance::Link, Assurance::Session);
    let why = || "why".to_owned();
    vec![
        (Refusal::NotFound { what: "request" }, 404, "NOT_FOUND", false),
        (Refusal::NotFound { what: "task" }, 404, "NOT_FOUND", false),
        (Refusal::NotAllowed { why: "no" }, 401, "UNAUTHORIZED", false),
        (Refusal::AssuranceTooLow { have, need }, 401, "UNAUTHORIZED", false),
        (Refusal::ApprovalTooWeak { have, need }, 401, "UNAUTHORIZED", false),
        (Refusal::NotInline, 401, "UNAUTHORIZED", false),
        (Refusal::VerificationRequired { wants: why(), page: true }, 401, "UNAUTHORIZED", false),
        (Refusal::VerificationFailed { why: why(), page: true }, 401, "UNAUTHORIZED", false),
        (Refusal::TimedOut { at }, 410, "CHECKPOINT_EXPIRED", false),
        (Refusal::AlreadyAnswered { by: by.clone(), at }, 412, "PRECONDITION_FAILED", false),
        (Refusal::AlreadyCancelled { by, at }, 412, "PRECONDITION_FAILED", false),
        (Refusal::TakenBy { by: "olga".parse().unwrap() }, 412, "PRECONDITION_FAILED", false),
        (Refusal::NotOver { why: "open" }, 412, "PRECONDITION_FAILED", false),
        (Refusal::Precondition { why: why() }, 412, "PRECONDITION_FAILED", false),
        (Refusal::NoDeadline, 412, "PRECONDITION_FAILED", false),
        (Refusal::NotDue, 412, "PRECONDITION_FAILED", false),
        (Refusal::Invalid { field: "goal", expected: "words" }, 400, "INVALID_SPEC", false),
        (Refusal::DefaultForbidden, 400, "INVALID_SPEC", false),
        (Refusal::SilenceTooWeak { need }, 400, "INVALID_SPEC", false),
        (Refusal::Answer(AnswerError::Empty), 400, "INVALID_SPEC", false),
        (Refusal::Answer(AnswerError::UnknownOption), 400, "INVALID_SPEC", false),
        (Refusal::Immutable { why: why() }, 409, "IMMUTABLE_VIOLATION", false),
        (Refusal::PastDeadline { at }, 408, "DEADLINE_EXCEEDED", true),
        (Refusal::Stale { what: "task", revision: 3 }, 409, "CONFLICT", true),
        (Refusal::Changed { version: 3 }, 409, "CONFLICT", true),
        (Refusal::IdempotencyMismatch, 409, "CONFLICT", false),
        (Refusal::Exists { what: "project" }, 409, "CONFLICT", false),
    ]
}

/// HACP-041, K-21: each refusal has its code, its status, and says whether to try again.
#[test]
fn every_refusal_has_its_code() {
    for (refusal, status, code, retryable) in refusals() {
        let error = HacpError::refused(&refusal);
        let found = (error.status, error.code, error.retryable);
        assert_eq!(found, (status, code, retryable), "{refusal:?}");
        assert!(CODES.contains(&code));
        assert!(!error.body(V02).to_string().contains("olga"), "nobody is named: {error}");
    }
    let distinct: BTreeSet<_> = CODES.iter().collect();
    assert_eq!(distinct.len(), CODES.len());
}

/// HACP-086, K-18: every error as it goes out says which protocol it speaks.
#[test]
fn errors_on_the_wire() {
    let all: Vec<Value> =
        refusals().iter().map(|(refusal, ..)| HacpError::refused(refusal).body(V02)).collect();
    insta::assert_json_snapshot!("refusals", all);
    let own = [
        HacpError::unauthorized(),
        HacpError::no_route(),
        HacpError::method_not_allowed(),
        HacpError::too_large(),
        HacpError::rate_limited(),
        HacpError::internal(),
        HacpError::unavailable(),
    ];
    let own: Vec<_> = own.iter().map(|error| (error.status, error.body(V02))).collect();
    insta::assert_json_snapshot!("own", own);
}

/// The task an error is about is its correlation id, and the call it answers has a name.
#[test]
fn an_error_says_what_it_is_about() {
    let task: TaskId = "task_00000000000000000000000007".parse().unwrap();
    let error = HacpError::refused(&Refusal::Stale { what: "task", revision: 4 });
    let body = error.about(task).to_operation("op_1").body(V01);
    assert_eq!(body["error"]["correlation_id"], json!(task));
    assert_eq!(body["error"]["operation_id"], "op_1");
    assert_eq!(body["error"]["details"]["task_revision"], 4);
    assert_eq!(body["error"]["spec_version"], "0.1.0-draft");
}
