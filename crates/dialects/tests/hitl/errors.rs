//! Error bodies: one shape, stable codes. HITL-240, HITL-241.

use dialects::hitl::discovery::{CaseRetention, discovery};
use dialects::hitl::{CODES, HitlVersion, HitlWireError};
use kernel::question::AnswerError;
use kernel::{ActorRef, Assurance, Refusal, Time};
use serde_json::json;

use crate::schemas::holds;

#[test]
fn every_refusal_has_its_code() {
    let (by, at) = (ActorRef::LinkHolder, Time::from_millis(0));
    let (have, need) = (Assurance::Link, Assurance::Session);
    for (refusal, status, code) in [
        (Refusal::NotFound { what: "request" }, 404, "not_found"),
        (Refusal::NotAllowed { why: "no" }, 403, "forbidden"),
        (Refusal::AssuranceTooLow { have, need }, 403, "forbidden"),
        (Refusal::ApprovalTooWeak { have, need }, 403, "forbidden"),
        (Refusal::NotInline, 403, "action_not_inline"),
        (
            Refusal::VerificationRequired { wants: "x".to_owned(), page: true },
            403,
            "verification_required",
        ),
        (
            Refusal::VerificationFailed { why: "x".to_owned(), page: true },
            403,
            "verification_failed",
        ),
        (Refusal::AlreadyAnswered { by: by.clone(), at }, 409, "duplicate_submission"),
        (Refusal::AlreadyCancelled { by, at }, 409, "case_cancelled"),
        (Refusal::TimedOut { at }, 410, "case_expired"),
        (Refusal::TakenBy { by: "olga".parse().unwrap() }, 409, "conflict"),
        (Refusal::NotOver { why: "open" }, 409, "conflict"),
        (Refusal::Exists { what: "follow-up" }, 409, "conflict"),
        (Refusal::Changed { version: 1 }, 409, "conflict"),
        (Refusal::NoDeadline, 409, "conflict"),
        (Refusal::NotDue, 409, "conflict"),
        (Refusal::IdempotencyMismatch, 409, "idempotency_conflict"),
        (Refusal::DefaultForbidden, 400, "invalid_request"),
        (Refusal::SilenceTooWeak { need }, 400, "invalid_request"),
        (Refusal::Invalid { field: "timeout_seconds", expected: "less" }, 400, "invalid_request"),
        (Refusal::Answer(AnswerError::Empty), 422, "validation_failed"),
    ] {
        let error = HitlWireError::refused(&refusal);
        assert_eq!((error.status, error.code), (status, code), "{refusal:?}");
        let body = error.body();
        assert_eq!(body["error"], code);
        assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert!(CODES.contains(&code));
        assert!(!body.to_string().contains("olga"), "nobody is named: {body}");
    }
    let distinct: std::collections::BTreeSet<_> = CODES.iter().collect();
    assert_eq!(distinct.len(), CODES.len());
}

/// HITL-143: what is wrong with the case that is continued is said of its field.
#[test]
fn a_bad_predecessor_is_named() {
    for (refusal, status) in [
        (Refusal::NotFound { what: "request" }, 400),
        (Refusal::NotOver { why: "open" }, 400),
        (Refusal::Exists { what: "follow-up" }, 409),
    ] {
        let error = HitlWireError::create_refused(&refusal);
        assert_eq!((error.status, &error.body()["field"]), (status, &json!("previous_case_id")));
    }
}

/// HITL-190, HITL-191, HITL-245: what is offered, in both versions. C-21.
#[test]
fn discovery_holds() {
    let document =
        discovery("https://countersign.example/", HitlVersion::V08, CaseRetention::default(), None);
    holds("0.8", "discovery-response", &document);
    insta::assert_json_snapshot!("discovery", document);
    let baseline =
        discovery("https://countersign.example", HitlVersion::V07, CaseRetention::default(), None);
    assert_eq!(baseline["hitl_protocol"]["spec_version"], "0.7");
    let proofs = Some("proof_of_human by acme as jwt");
    let proven = discovery(
        "https://countersign.example/",
        HitlVersion::V08,
        CaseRetention::default(),
        proofs,
    );
    holds("0.8", "discovery-response", &proven);
    let said = proven["hitl_protocol"]["service"]["description"].as_str().unwrap();
    assert!(said.ends_with("verifies: proof_of_human by acme as jwt."), "{said}");
    let before = discovery(
        "https://countersign.example",
        HitlVersion::V07,
        CaseRetention::default(),
        proofs,
    );
    assert_eq!(before, baseline, "0.7 knows nothing of it");
}

/// HITL-191a: the smaller shape of 0.7 is a part of it, each member of the kind it had there.
#[test]
fn discovery_has_the_older_shape_too() {
    let kept = CaseRetention { days: Some(30), unless_told: false };
    let document = discovery("https://countersign.example", HitlVersion::V07, kept, None);
    let document = &document["hitl_protocol"];
    assert_eq!(document["spec_version"], "0.7");
    for (part, member) in [
        ("service", "name"),
        ("service", "description"),
        ("service", "url"),
        ("capabilities", "max_timeout"),
        ("capabilities", "default_timeout"),
        ("endpoints", "reviews_base"),
        ("endpoints", "review_page_base"),
        ("endpoints", "events_base"),
    ] {
        assert!(document[part][member].is_string(), "{part}.{member}");
    }
    for member in ["review_types", "transports"] {
        assert!(document["capabilities"][member].is_array(), "{member}");
    }
    for member in [
        "supports_reminders",
        "supports_multi_round",
        "supports_signatures",
        "supports_inline_submit",
    ] {
        assert!(document["capabilities"][member].is_boolean(), "{member}");
    }
    for (part, member) in [
        ("rate_limits", "poll_min_interval_seconds"),
        ("rate_limits", "poll_recommended_interval_seconds"),
        ("policies", "data_retention_days"),
        ("policies", "expired_case_retention_days"),
    ] {
        assert!(document[part][member].is_u64(), "{part}.{member}");
    }
}

/// HITL-152: how long cases are kept is said where that is so, and only there.
#[test]
fn retention_is_told_where_there_is_one() {
    let policies = |days| {
        let kept = CaseRetention { days, unless_told: false };
        let document = discovery("https://countersign.example", HitlVersion::V08, kept, None);
        holds("0.8", "discovery-response", &document);
        document["hitl_protocol"]["policies"].clone()
    };
    assert_eq!(policies(None), json!(null));
    let days = json!({ "data_retention_days": 30, "expired_case_retention_days": 30 });
    assert_eq!(policies(Some(30)), days);
    // Where projects differ it says so, in both versions.
    for version in [HitlVersion::V07, HitlVersion::V08] {
        let kept = CaseRetention { days: Some(30), unless_told: true };
        let document = discovery("https://countersign.example", version, kept, Some("Self"));
        if version == HitlVersion::V08 {
            holds("0.8", "discovery-response", &document);
        }
        let document = &document["hitl_protocol"];
        assert_eq!(document["policies"], days);
        let said = document["service"]["description"].as_str().unwrap();
        assert!(said.ends_with("a project can have its own."), "{said}");
    }
}
