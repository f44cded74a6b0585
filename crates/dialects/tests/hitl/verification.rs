//! Proofs of a person, in bytes: the policy of a case, the evidence of an answer, the result in
//! every view. HITL 0.8 §7.6; HITL-220 to HITL-228.

use dialects::hitl::{HitlVersion, callback, client_event, read_respond};
use kernel::audit::Digest;
use kernel::command::AskCommand;
use kernel::testing::{Cast, no, yes};
use kernel::verification::{PresentedProof, ProofAssurance, ProofFacts};
use kernel::{Actor, AskId};
use serde_json::{Value, json};

use crate::fixtures::{body, bytes, made, new, polled, refused, shown, someone, with};
use crate::schemas::{faults, holds};

/// A policy with every member.
fn policy() -> Value {
    json!({
        "mode": "required",
        "required_for": ["inline_submit", "browser_submit"],
        "requirements": { "any_of": [
            { "all_of": [{
                "proof_type": "proof_of_human", "provider": "acme", "min_assurance": "medium",
                "presentation_formats": ["jwt", "x-own"],
            }] },
            { "all_of": [{ "proof_type": "x-notary" }] },
        ] },
        "binding": {
            "case_id": true, "action": true, "challenge": "c1", "freshness_seconds": 300,
            "expires_at": "2026-12-01T00:00:00.000Z", "single_use": true,
        },
        "fallback": { "on_missing": "browser_review", "on_invalid": "reject" },
    })
}

fn case(policy: &Value) -> Value {
    with(body("approval"), json!({ "spec_version": "0.8", "verification_policy": policy }))
}

fn evidence() -> Value {
    json!({
        "proof_type": "proof_of_human", "provider": "acme", "format": "jwt",
        "presentation": "a.b.c", "binding": { "case_id": "review_1", "more": 1 },
    })
}

/// HITL-028, HITL-220: every policy of the schema is taken, kept with the case and shown as it was.
#[test]
fn a_policy_comes_back_as_it_was() {
    let (cast, id) = made(&case(&policy()));
    let hitl = &shown(cast.seen(id))["hitl"];
    holds("0.8", "hitl-object", hitl);
    assert_eq!(hitl["verification_policy"], policy());
    insta::assert_json_snapshot!("accepted_with_policy", hitl);
    let least = json!({
        "mode": "step_up", "required_for": ["browser_submit"],
        "requirements": { "any_of": [{ "all_of": [{ "proof_type": "proof_of_human" }] }] },
        "binding": { "case_id": false, "action": false, "freshness_seconds": 1, "single_use": false },
        "fallback": { "on_missing": "reject", "on_invalid": "browser_review" },
    });
    holds("0.8", "verification-policy", &least);
    let (cast, id) = made(&case(&least));
    assert_eq!(shown(cast.seen(id))["hitl"]["verification_policy"], least);
    // Nothing of it where there is none, in either version.
    for version in ["0.7", "0.8"] {
        let (cast, id) = made(&with(body("approval"), json!({ "spec_version": version })));
        assert!(shown(cast.seen(id))["hitl"].get("verification_policy").is_none());
    }
}

/// HITL-220: each mistake by its place, and what the schema refuses is refused.
#[test]
fn mistakes_in_a_policy_are_named() {
    for (place, wrong, field) in [
        ("", json!(1), ""),
        ("/mode", json!("maybe"), ".mode"),
        ("/mode", Value::Null, ".mode"),
        ("/more", json!(1), ".more"),
        ("/required_for", json!([]), ".required_for"),
        ("/required_for", json!(["inline_submit", "inline_submit"]), ".required_for"),
        ("/required_for", json!(["page"]), ".required_for"),
        ("/required_for", json!("inline_submit"), ".required_for"),
        ("/requirements", Value::Null, ".requirements"),
        ("/requirements/all_of", json!([]), ".requirements.all_of"),
        ("/requirements/any_of", json!([]), ".requirements.any_of"),
        ("/requirements/any_of/0", json!(1), ".requirements.any_of[0]"),
        ("/requirements/any_of/1/all_of", json!([]), ".requirements.any_of[1].all_of"),
        ("/requirements/any_of/1/any", json!(1), ".requirements.any_of[1].any"),
        (
            "/requirements/any_of/0/all_of/0/proof_type",
            json!("passport"),
            ".requirements.any_of[0].all_of[0].proof_type",
        ),
        (
            "/requirements/any_of/0/all_of/0/provider",
            json!(1),
            ".requirements.any_of[0].all_of[0].provider",
        ),
        (
            "/requirements/any_of/0/all_of/0/min_assurance",
            json!("most"),
            ".requirements.any_of[0].all_of[0].min_assurance",
        ),
        (
            "/requirements/any_of/0/all_of/0/presentation_formats",
            json!(["pdf"]),
            ".requirements.any_of[0].all_of[0].presentation_formats",
        ),
        (
            "/requirements/any_of/0/all_of/0/issuer",
            json!("a"),
            ".requirements.any_of[0].all_of[0].issuer",
        ),
        ("/binding", json!([]), ".binding"),
        ("/binding/case_id", json!("yes"), ".binding.case_id"),
        ("/binding/action", Value::Null, ".binding.action"),
        ("/binding/challenge", json!(1), ".binding.challenge"),
        ("/binding/freshness_seconds", json!(0), ".binding.freshness_seconds"),
        ("/binding/freshness_seconds", json!(1.5), ".binding.freshness_seconds"),
        ("/binding/expires_at", json!("tomorrow"), ".binding.expires_at"),
        ("/binding/single_use", Value::Null, ".binding.single_use"),
        ("/binding/nonce", json!("n"), ".binding.nonce"),
        ("/fallback", Value::Null, ".fallback"),
        ("/fallback/on_missing", json!("retry"), ".fallback.on_missing"),
        ("/fallback/on_invalid", Value::Null, ".fallback.on_invalid"),
        ("/fallback/on_error", json!("reject"), ".fallback.on_error"),
    ] {
        let mut policy = policy();
        put(&mut policy, place, wrong);
        let error = refused(&case(&policy));
        assert_eq!((error.status, error.code), (400, "invalid_request"), "{policy}");
        assert_eq!(error.body()["field"], format!("verification_policy{field}"), "{error}");
        assert!(!faults("0.8", "verification-policy", &policy).is_empty(), "{policy}");
    }
}

fn put(value: &mut Value, place: &str, new: Value) {
    let Some((parent, last)) = place.rsplit_once('/') else {
        *value = new;
        return;
    };
    let parent = value.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(list) => list[last.parse::<usize>().unwrap()] = new,
        other => other[last] = new,
    }
}

/// HITL-028: 0.7 knows no policy and no evidence.
#[test]
fn only_in_the_newer_version() {
    let older = with(case(&policy()), json!({ "spec_version": "0.7" }));
    assert_eq!(refused(&older).body()["field"], "spec_version");
    let (cast, id) = made(&body("approval"));
    let said = json!({ "action": "approve", "verification_evidence": [] });
    let error = read_respond(&bytes(&said)).unwrap().by_person(cast.seen(id), Ok).unwrap_err();
    assert_eq!(error.body()["field"], "verification_evidence");
}

/// HITL-224: closed items, each of the five there; what is not asked for is not taken.
#[test]
fn evidence_is_read_strictly() {
    let (cast, id) = made(&case(&policy()));
    let read = |item: Value| {
        let said = with(inline(), json!({ "verification_evidence": [item] }));
        let schema = faults("0.8", "submit-request", &said);
        let read = read_respond(&bytes(&said)).unwrap();
        assert!(read.by_relay(cast.seen(id)).is_ok());
        (read.evidence(cast.seen(id)), schema)
    };
    for presentation in [json!("a.b.c"), json!({ "proof": [1] })] {
        let (good, schema) = read(with(evidence(), json!({ "presentation": presentation })));
        assert!(schema.is_empty(), "{schema:?}");
        let [one] = &good.unwrap()[..] else { panic!("one") };
        assert_eq!(one.presentation, presentation);
        assert!(!format!("{one:?}").contains("a.b.c"), "never printed");
    }
    for (key, wrong) in [
        ("proof_type", json!("passport")),
        ("proof_type", Value::Null),
        ("provider", json!(1)),
        ("provider", Value::Null),
        ("format", json!("pdf")),
        ("format", Value::Null),
        ("presentation", json!(1)),
        ("presentation", Value::Null),
        ("binding", json!("x")),
        ("binding", Value::Null),
        ("issuer", json!("x")),
    ] {
        let (bad, schema) = read(with(evidence(), json!({ key: wrong })));
        let error = bad.unwrap_err();
        assert_eq!(error.body()["field"], format!("verification_evidence[0].{key}"), "{error}");
        assert!(!schema.is_empty() || key == "provider", "{key}");
        assert!(!error.to_string().contains("a.b.c"));
    }
    let (bad, _) = read(with(evidence(), json!({ "binding": { "action": 1 } })));
    assert_eq!(bad.unwrap_err().body()["field"], "verification_evidence[0].binding.action");
    let many = with(inline(), json!({ "verification_evidence": vec![evidence(); 11] }));
    let many = read_respond(&bytes(&many)).unwrap().evidence(cast.seen(id)).unwrap_err();
    assert_eq!(many.body()["field"], "verification_evidence");
    let (cast, id) = made(&with(body("approval"), json!({ "spec_version": "0.8" })));
    let unasked = with(inline(), json!({ "verification_evidence": [evidence()] }));
    let unasked = read_respond(&bytes(&unasked)).unwrap().evidence(cast.seen(id)).unwrap_err();
    assert_eq!(unasked.body()["field"], "verification_evidence");
}

fn inline() -> Value {
    json!({
        "action": "approve", "submitted_via": "slack_block_action",
        "submitted_by": {"platform": "slack", "platform_user_id": "U1"},
    })
}

fn proven(cast: &mut Cast, id: AskId) {
    let found = Ok(ProofFacts {
        digest: Digest::of(b"secret-proof"),
        assurance: Some(ProofAssurance::High),
        bound_to_case: true,
        bound_to_action: true,
        answers_challenge: true,
        issued_at: cast.now(),
        expires_at: None,
    });
    let proof = PresentedProof {
        proof_type: "proof_of_human".to_owned(),
        provider: "acme".to_owned(),
        format: "jwt".to_owned(),
        found,
    };
    let relay = Actor::Relay { ask: id, attested: someone() };
    cast.run(relay, AskCommand::AnswerWithProofs(id, yes(), vec![proof]));
}

/// HITL-226, HITL-227, HITL-228: the poll, the event and the callback say what was verified;
/// nothing of the proof is in them.
#[test]
fn the_result_is_told_everywhere() {
    let (mut cast, id) = made(&case(&policy()));
    proven(&mut cast, id);
    let ask = cast.seen(id);
    let polled = polled(ask);
    holds("0.8", "poll-response", &polled);
    let context = &polled["submission_context"];
    holds("0.8", "submission-context", context);
    insta::assert_json_snapshot!("submission_context_verified", context);
    let last = cast.record_of(id).pop().unwrap();
    let event = client_event(ask, &last, false, None).unwrap();
    assert_eq!((event.event, &event.data["submission_context"]), ("review.completed", context));
    let called = callback(ask, None, None).unwrap();
    assert_eq!(&called["submission_context"], context);
    let digest = Digest::of(b"secret-proof").to_string();
    for view in [polled.to_string(), event.data.to_string(), called.to_string()] {
        assert!(!view.contains(&digest), "{view}");
    }
}

/// HITL-226: what is missing where proofs were optional; that none was asked of who is signed in;
/// and nothing where none was wanted.
#[test]
fn what_is_told_without_a_proof() {
    let result = |cast: &Cast, id| {
        let polled = polled(cast.seen(id));
        holds("0.8", "poll-response", &polled);
        polled["submission_context"]["verification_result"].clone()
    };
    let (mut cast, id) = made(&case(&policy()));
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let told = result(&cast, id);
    assert_eq!(told["satisfied"], false);
    let missing = told["missing_requirements"][0].as_str().unwrap();
    assert!(missing.ends_with("not required of a signed-in person"), "{missing}");
    let mut step_up = policy();
    step_up["mode"] = json!("step_up");
    let id = cast.ask(new(&case(&step_up)));
    cast.run(Actor::link_holder(id), AskCommand::Answer(id, no()));
    assert_eq!(result(&cast, id), Value::Null, "whoever says no proves nothing");
    let mut optional = policy();
    optional["mode"] = json!("optional");
    let id = cast.ask(new(&case(&optional)));
    let bad = PresentedProof {
        proof_type: "proof_of_human".to_owned(),
        provider: "acme".to_owned(),
        format: "jwt".to_owned(),
        found: Err("forged".to_owned()),
    };
    let holder = Actor::link_holder(id);
    cast.run(holder, AskCommand::AnswerWithProofs(id, yes(), vec![bad]));
    insta::assert_json_snapshot!("verification_result_missing", result(&cast, id));
    assert_eq!(HitlVersion::of(cast.seen(id)), HitlVersion::V08);
}
