//! What the tests share: fixed keys and a receipt to vary.

use dialects::proof::{Jwks, ReceiptClaims, SecretKey};
use kernel::Time;
use kernel::question::Question;
use kernel::receipt::QuestionDigests;
use serde_json::{Value, json};

/// The key that signs.
pub(crate) fn current() -> SecretKey {
    SecretKey::new(&[1; 32])
}

/// A key that signed before.
pub(crate) fn retired() -> SecretKey {
    SecretKey::new(&[2; 32])
}

/// A key nobody trusts.
pub(crate) fn stranger() -> SecretKey {
    SecretKey::new(&[3; 32])
}

/// What is trusted. The key that signed before was retired five minutes after the receipt's time.
pub(crate) fn trusted() -> Jwks {
    let retired_at = Time::from_millis(1_770_372_600_000);
    Jwks { keys: vec![current().public(), retired().public().retired(retired_at)] }
}

/// A question as our API shows it: every default in its place.
pub(crate) fn question(wire: Value) -> Value {
    let question: Question = serde_json::from_value(wire).unwrap();
    serde_json::to_value(question).unwrap()
}

pub(crate) fn hash(question: &Value) -> String {
    QuestionDigests::hash(&serde_json::from_value(question.clone()).unwrap()).to_string()
}

pub(crate) fn refund() -> Value {
    question(json!({
        "kind": "approve", "prompt": "Refund €120.00 to Ada?", "details": { "amount": "€120.00" },
    }))
}

/// The claims of an approval, with these members instead.
pub(crate) fn claims(question: &Value, more: Value) -> Value {
    let base = json!({
        "v": 1,
        "iss": "https://countersign.example",
        "jti": "rcpt_01KGRM8Q0G0000000000000007",
        "sub": "ask_01KGRM8Q0G0000000000000007",
        "iat": 1_770_372_300,
        "project": "acme",
        "agent": "bot",
        "kind": question["kind"],
        "prompt": question["prompt"],
        "question_sha256": hash(question),
        "shown_sha256": "5".repeat(64),
        "outcome": "completed",
        "answer": { "verdict": "approved" },
        "by": { "kind": "human", "id": "olga" },
        "via": "web",
        "assurance": "session",
        "asked_at": "2026-02-06T10:00:00.000Z",
        "taken_up_at": "2026-02-06T10:04:00.000Z",
        "ended_at": "2026-02-06T10:05:00.123Z",
        "audit": { "seq": 3, "hash": "a".repeat(64) },
    });
    with(base, more)
}

/// The first with the members of the second put in; `null` takes one away.
fn with(mut base: Value, more: Value) -> Value {
    let members = base.as_object_mut().unwrap();
    let Value::Object(more) = more else { return base };
    for (key, value) in more {
        if value.is_null() {
            members.shift_remove(&key);
        } else {
            members.insert(key, value);
        }
    }
    base
}

pub(crate) fn typed(claims: Value) -> ReceiptClaims {
    serde_json::from_value(claims).unwrap()
}
