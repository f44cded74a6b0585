//! `clients/vectors/receipts.json`: what every verifier, in whatever language, must say of the same
//! texts. Made from fixed keys and times; `cargo test -p countersign-dialects --test proof --
//! --ignored` writes it again.

use std::path::PathBuf;

use dialects::proof::{ProofError, RECEIPT, verify};
use serde_json::{Value, json};

use crate::fixtures::{claims, current, hash, question, refund, retired, trusted};
use crate::invalid_receipts;

const ABOUT: &str = "What a verifier of Countersign receipts must say of each `jws`, with the keys \
    in `jwks`. `why` is one word for the first thing that is wrong. Where there is a `question`, its \
    canonical JSON (RFC 8785, except that whole numbers beyond 2^53 keep their digits) is \
    `canonical` and has the hash `question_sha256`. Made by crates/dialects/tests/proof/vectors.rs.";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients/vectors/receipts.json")
}

fn made() -> String {
    let mut cases: Vec<Value> = valid();
    cases.extend(numbers_and_names());
    cases.extend(
        invalid_receipts::all().into_iter().map(
            |(name, jws, why)| json!({ "name": name, "jws": jws, "valid": false, "why": why }),
        ),
    );
    let file = json!({ "about": ABOUT, "jwks": trusted(), "cases": cases });
    format!("{}\n", serde_json::to_string_pretty(&file).unwrap())
}

#[test]
fn the_file_is_what_the_code_makes() {
    let kept = std::fs::read_to_string(path()).unwrap();
    assert!(kept == made(), "run this test's neighbour with --ignored and look at the difference");
}

#[test]
#[ignore = "writes clients/vectors/receipts.json again"]
fn write_the_file() {
    std::fs::create_dir_all(path().parent().unwrap()).unwrap();
    std::fs::write(path(), made()).unwrap();
}

/// We say ourselves what others must.
#[test]
fn every_case_is_judged_as_it_says() {
    let file: Value = serde_json::from_str(&made()).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut names: Vec<&str> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "two cases of one name");
    assert!(cases.iter().filter(|case| case["valid"] == true).count() >= 30);
    for case in cases {
        let name = &case["name"];
        let read = verify(case["jws"].as_str().unwrap(), &trusted());
        match read {
            Ok(claims) => {
                assert_eq!(case["valid"], true, "{name}");
                let known = serde_json::to_value(claims).unwrap();
                for (key, value) in known.as_object().unwrap() {
                    assert_eq!(json!(case["claims"][key]), *value, "{name}: {key}");
                }
                assert_eq!(case["claims"]["question_sha256"], case["question_sha256"], "{name}");
            }
            Err(why) => {
                assert_eq!(case["valid"], false, "{name}: {why}");
                assert_eq!(case["why"], why.code(), "{name}");
            }
        }
    }
}

#[test]
fn every_reason_has_a_case() {
    let cases = invalid_receipts::all();
    for why in [
        ProofError::Shape,
        ProofError::Encoding("header"),
        ProofError::Header,
        ProofError::Algorithm,
        ProofError::Critical,
        ProofError::Typ { expected: RECEIPT },
        ProofError::UnknownKey { kid: String::new() },
        ProofError::Signature,
        ProofError::RetiredKey { at: kernel::Time::from_millis(0) },
        ProofError::Claims,
        ProofError::Version,
    ] {
        assert!(cases.iter().any(|(_, _, code)| *code == why.code()), "{}", why.code());
    }
}

fn case(name: &str, question: &Value, more: Value) -> Value {
    signed_by(&current(), name, question, more)
}

fn signed_by(key: &dialects::proof::SecretKey, name: &str, question: &Value, more: Value) -> Value {
    let claims = claims(question, more);
    json!({
        "name": name,
        "jws": key.sign(RECEIPT, &claims),
        "valid": true,
        "claims": read_back(&claims),
        "question": question,
        "canonical": String::from_utf8(kernel::audit::canonical(question)).unwrap(),
        "question_sha256": hash(question),
    })
}

/// As the signed text says it.
fn read_back(claims: &Value) -> Value {
    serde_json::from_slice(&kernel::audit::canonical(claims)).unwrap()
}

/// Every kind of question, every outcome, every assurance.
fn valid() -> Vec<Value> {
    let choice = |id: &str, label: &str| json!({ "id": id, "label": label });
    let pick = |pick: &str| {
        let options = [choice("eu", "Europe"), choice("asia", "Asia")];
        question(
            json!({ "kind": "choose", "prompt": "Which region?", "options": options, "pick": pick }),
        )
    };
    let form = json!({ "fields": [
        { "key": "size", "label": "Size", "type": "number", "required": true },
        { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
    ]});
    let provide = question(json!({ "kind": "provide", "prompt": "Which size?", "form": form }));
    let confirm = question(json!({
        "kind": "confirm", "prompt": "Delete these?", "items": [choice("a", "A"), choice("b", "B")],
        "yes": "Delete", "no": "Keep",
    }));
    let escalate = question(json!({
        "kind": "escalate", "prompt": "The import failed.", "error": { "code": 7 }, "params": { "n": 1 },
    }));
    let converse = question(json!({ "kind": "converse", "prompt": "How shall I put it?" }));
    let editable = question(json!({
        "kind": "approve", "prompt": "Pay?", "context": "Invoice 7.", "details": { "amount": 120 },
        "editable": true, "reject_requires_reason": true,
    }));
    let answer = |answer: Value| json!({ "answer": answer });
    let nobody = json!({ "kind": "system" });
    let over = |outcome: &str, more: Value| {
        let mut members = json!({
            "outcome": outcome, "by": nobody, "answer": null, "via": null, "assurance": null,
        });
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        members
    };
    let mut cases = vec![
        case("approved", &refund(), json!({})),
        case(
            "approved-with-edits",
            &editable,
            answer(json!({ "verdict": "approved", "edits": { "amount": 100 } })),
        ),
        case(
            "rejected-with-a-comment",
            &editable,
            json!({ "answer": { "verdict": "rejected" }, "comment": "too much" }),
        ),
        case(
            "changes-requested",
            &refund(),
            json!({ "answer": { "verdict": "changes_requested" }, "comment": "halve it" }),
        ),
        case("chosen-one", &pick("one"), answer(json!({ "verdict": "chosen", "options": ["eu"] }))),
        case(
            "chosen-many",
            &pick("many"),
            answer(json!({ "verdict": "chosen", "options": ["eu", "asia"] })),
        ),
        case(
            "provided",
            &provide,
            answer(json!({ "verdict": "provided", "values": { "size": 2.5 } })),
        ),
        case(
            "provided-with-a-secret-left-out",
            &provide,
            json!({
                "answer": { "verdict": "provided", "values": { "size": 3 } }, "redacted": ["pin"],
            }),
        ),
        case("confirmed", &confirm, answer(json!({ "verdict": "confirmed", "items": ["a"] }))),
        case("declined", &confirm, answer(json!({ "verdict": "declined" }))),
        case("retry", &escalate, answer(json!({ "verdict": "retry", "params": { "n": 2 } }))),
        case("skip", &escalate, answer(json!({ "verdict": "skip" }))),
        case("abort", &escalate, answer(json!({ "verdict": "abort" }))),
        case(
            "replied",
            &converse,
            answer(json!({ "verdict": "replied", "text": "Kindly. \u{1f642}" })),
        ),
        case(
            "default-on-silence",
            &refund(),
            json!({ "by": nobody, "via": "timer", "assurance": "none" }),
        ),
        case("failed", &refund(), over("failed", json!({}))),
        case(
            "cancelled-by-the-agent",
            &refund(),
            over("cancelled", json!({ "by": { "kind": "agent", "id": "bot" } })),
        ),
        case(
            "cancelled-by-a-person-with-a-reason",
            &refund(),
            over(
                "cancelled",
                json!({
                    "by": { "kind": "human", "id": "olga" }, "reason": "not needed any more",
                }),
            ),
        ),
        case(
            "member-of-a-pool",
            &refund(),
            json!({ "by": { "kind": "human", "id": "pool_member_0badcafe" } }),
        ),
        case("door-that-is-not-known-yet", &refund(), json!({ "via": "carrier-pigeon" })),
        case("claim-that-is-not-known-yet", &refund(), json!({ "weather": "fair" })),
        signed_by(&retired(), "signed-with-a-retired-key", &refund(), json!({})),
    ];
    for report in ["skip", "approve", "reject", "abort"] {
        let name = format!("expired-{report}");
        cases.push(case(&name, &refund(), over("expired", json!({ "report": report }))));
    }
    for assurance in ["agent-attested", "link", "channel", "session", "passkey"] {
        let name = format!("assurance-{assurance}");
        cases.push(case(&name, &refund(), json!({ "assurance": assurance })));
    }
    cases
}

/// Where canonical JSON is easily got wrong.
fn numbers_and_names() -> Vec<Value> {
    let of = |name: &str, details: &str| {
        let details: Value = serde_json::from_str(details).unwrap();
        let wire = json!({ "kind": "approve", "prompt": "Pay?", "details": details });
        case(&format!("canonical-{name}"), &question(wire), json!({}))
    };
    let said = |name: &str, prompt: &str| {
        let wire = json!({ "kind": "converse", "prompt": prompt });
        case(&format!("canonical-{name}"), &question(wire), json!({}))
    };
    vec![
        of(
            "whole-numbers-beyond-2-53",
            r#"{"a":9007199254740992,"b":9007199254740993,"c":18446744073709551615,"d":-9223372036854775808}"#,
        ),
        of(
            "large-floats",
            r#"{"a":1e21,"b":1e20,"c":123456789012345680000,"d":1.7976931348623157e308}"#,
        ),
        of("small-floats", r#"{"a":1e-7,"b":0.000001,"c":5e-324,"d":8.383658838626809e-78}"#),
        of("floats-that-are-whole", r#"{"a":1.0,"b":-0.0,"c":100.0,"d":4.50}"#),
        of("floats-at-the-edge", r#"{"a":333333333.33333329,"b":0.1,"c":6.934698245112694e276}"#),
        of(
            "keys-in-utf-16-order",
            "{\"\u{e000}\":1,\"\u{1f600}\":2,\"\u{e9}\":3,\"e\":4,\"\":5,\"Z\":6,\"10\":7,\"9\":8}",
        ),
        of("nested", r#"{"b":[{"d":null,"c":[true,false]}],"a":{"z":{},"y":[]}}"#),
        said(
            "escapes",
            "quote \" slash / backslash \\ tab \t line \n return \r bell \u{7} delete \u{7f}",
        ),
        said("unicode-as-it-is", "e\u{301} \u{e9} \u{2028} \u{202e} \u{1f469}\u{200d}\u{1f680}"),
    ]
}
