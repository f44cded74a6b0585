//! `evidence_hash` and `POST /hxp/v1/receipts/verify`.

use dialects::hxp_execution::{Formula, ReceiptDetail, Seal, parse_verify, request, verify};
use kernel::Time;
use kernel::testing::yes;
use serde_json::{Map, Value, json};

use crate::fixtures::{SEAL, full, staged};

const ID: &str = "hxp_0000000000000000000000000A";

fn at() -> Time {
    "2026-02-06T10:00:00.000Z".parse().unwrap()
}

fn receipt(result: &Value, hash: &str) -> Map<String, Value> {
    let whole = json!({
        "request_id": ID, "result": result, "completed_at": at(), "evidence_hash": hash,
    });
    whole.as_object().unwrap().clone()
}

/// HXPX-061, HXPX-062, HXPX-063: both formulas against digests made with `sha256sum`.
#[test]
fn hashes_are_what_the_formulas_say() {
    for (formula, result, expected) in [
        (
            Formula::Seed,
            json!("approved"),
            "327edbc5232cfdfd6dd10d1de1f0b0cbbd7d0261a0138dc49ece6674e2d781f1",
        ),
        (
            Formula::Seed,
            json!(5),
            "6992a047b140961d321ef4dc24a9f6a648f12a5ad933030f5f5f823880f5e7fe",
        ),
        (
            Formula::Seed,
            json!(null),
            "a142f547d7b45928fb41444601f4e33d3634a76360ae0e68b9b16da4f1567117",
        ),
        (
            Formula::Seed,
            json!({"b": 1, "a": "x"}),
            "8b2d02cc9b08c8ab27e403c2ddbdb9c61df1af17f5e2633900c26ed222b6e0e3",
        ),
        (
            Formula::Upstream,
            json!("approved"),
            "8e995e953a94eafc44a5a0d4ca31612b40744eb0e20488fccf26c566afec50b3",
        ),
        (
            Formula::Upstream,
            json!(5),
            "9cdd69f2f3ecfee37eb65e12f8b3a85789417c3b90d5a86fcf35fe24a821711c",
        ),
    ] {
        let seal = Seal { secret: b"server-secret", formula };
        assert_eq!(seal.evidence(ID, &result, at()), expected, "{formula:?} {result}");
    }
}

/// HXPX-064, HXPX-065: every receipt we show verifies, under either formula; any change does not.
#[test]
fn receipts_verify_until_they_are_touched() {
    for formula in [Formula::Seed, Formula::Upstream] {
        let seal = Seal { formula, ..SEAL };
        for state in ["completed", "failed", "cancelled"] {
            let (cast, id) = staged(state, &full("APPROVE"), &yes());
            let shown = request(cast.seen(id), &seal, ReceiptDetail::Whole).receipt.unwrap();
            let sent = serde_json::to_vec(&shown).unwrap();
            let good = parse_verify(&sent).unwrap();
            assert!(verify(&good, SEAL.secret), "{formula:?} {state}");
            assert!(!verify(&good, b"another secret"));
            for (key, value) in [
                ("request_id", json!(ID)),
                ("result", json!("rejected")),
                ("completed_at", json!("2026-02-06T10:00:00.001Z")),
                ("evidence_hash", json!("0".repeat(64))),
                ("evidence_hash", json!("")),
                ("evidence_hash", json!(null)),
                ("request_id", json!(7)),
            ] {
                let mut touched = good.clone();
                touched.insert(key.to_owned(), value);
                assert!(!verify(&touched, SEAL.secret), "{key}");
            }
        }
    }
}

/// HXPX-065: a concatenation is ambiguous, so no letter may move from one part to the next.
#[test]
fn letters_cannot_move_between_the_parts() {
    let hash = SEAL.evidence(ID, &json!("approved"), at());
    let honest = receipt(&json!("approved"), &hash);
    assert!(verify(&honest, SEAL.secret));
    for (id, result, completed_at) in [
        (format!("{ID}a"), "pproved", at().to_string()),
        (ID[..29].to_owned(), "Aapproved", at().to_string()),
        (ID.to_owned(), "approve", format!("d{}", at())),
        (ID.to_owned(), "approved2", at().to_string()[1..].to_owned()),
        // The same moment in another spelling is not what the receipt said.
        (ID.to_owned(), "approved", "2026-02-06T11:00:00+01:00".to_owned()),
    ] {
        let mut moved = honest.clone();
        moved.insert("request_id".to_owned(), json!(id));
        moved.insert("result".to_owned(), json!(result));
        moved.insert("completed_at".to_owned(), json!(completed_at));
        assert!(!verify(&moved, SEAL.secret), "{id} {result}");
    }
}

/// HXPX-065: the receipt may come bare or as resolve sends it; members in any order.
#[test]
fn verify_bodies() {
    let hash = SEAL.evidence(ID, &json!({"a": 1, "b": 2}), at());
    let bare = receipt(&json!({"b": 2, "a": 1}), &hash);
    let wrapped = serde_json::to_vec(&json!({"receipt": bare})).unwrap();
    assert!(verify(&parse_verify(&wrapped).unwrap(), SEAL.secret));
    for (body, code) in
        [(&b"["[..], "invalid_json"), (b"[]", "invalid_body"), (b"{\"receipt\":1}", "invalid_body")]
    {
        assert_eq!(parse_verify(body).unwrap_err().code, code);
    }
}

/// HXPX-063: the receipt of a cancelled request is no proof of an answer that reads `null`.
#[test]
fn nothing_is_not_the_word_null() {
    let nothing = SEAL.evidence(ID, &Value::Null, at());
    assert!(verify(&receipt(&Value::Null, &nothing), SEAL.secret));
    assert!(!verify(&receipt(&json!("null"), &nothing), SEAL.secret));
}

/// The secret is never printed.
#[test]
fn seals_do_not_print_their_secret() {
    assert_eq!(format!("{SEAL:?}"), "Seal { formula: Seed, .. }");
}
