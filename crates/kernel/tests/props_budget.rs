//! Whatever an agent sends as a form, what it costs is bounded: work is counted in bytes of
//! compiled patterns, not in time.

use std::time::{Duration, Instant};

use kernel::form::{Form, MAX_COMPILED_BYTES, MAX_FIELDS};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Pieces of patterns that are cheap to write and expensive to compile.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just(r"\p{L}".to_owned()),
        Just("[^x]".to_owned()),
        Just(r"[\p{L}&&a]".to_owned()),
        Just("(?i)".to_owned()),
        Just(".".to_owned()),
        (1_u32..1000).prop_map(|n| format!(".{{{n}}}")),
        (1_u32..1000).prop_map(|n| format!("[^x]{{{n}}}")),
        (1_u32..50, 1_u32..50).prop_map(|(a, b)| format!("((ab){{{a}}}){{{b}}}")),
        Just("(a|b|cd)*".to_owned()),
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 1..12).prop_map(|pieces| pieces.concat())
}

fn field(n: usize, pattern: &str) -> Value {
    let validation = json!({ "pattern": pattern });
    json!({ "key": format!("k{n}"), "label": "L", "type": "text", "validation": validation })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_form_takes_bounded_memory(patterns in prop::collection::vec(pattern(), 0..40)) {
        let fields: Vec<Value> = patterns.iter().enumerate().map(|(n, p)| field(n, p)).collect();
        let begun = Instant::now();
        let Ok(form) = serde_json::from_value::<Form>(json!({ "fields": fields })) else {
            return Ok(());
        };
        if let Ok(prepared) = form.prepare() {
            prop_assert!(prepared.bytes() <= MAX_COMPILED_BYTES);
        }
        // Generous: a debug build on a busy machine.
        prop_assert!(begun.elapsed() < Duration::from_secs(20), "{patterns:?}");
    }
}

/// The request that once stalled others for seconds: reading it compiles nothing, and its budget
/// ends after a few patterns.
#[test]
fn hundreds_of_large_patterns_are_refused_at_once() {
    let fields: Vec<Value> =
        (0..400).map(|n| field(n, &format!("[^x]{{{}}}", 700 - n % 300))).collect();
    let begun = Instant::now();
    let form: Form = serde_json::from_value(json!({ "fields": fields })).unwrap();
    let refused = form.prepare().unwrap_err().to_string();
    assert!(refused.contains("2097152 bytes together when compiled"), "{refused}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// Work grows with the sum of two lists, not with their product.
#[test]
fn long_answers_to_long_forms_take_linear_time() {
    let options: Vec<Value> =
        (0..1_000).map(|n| json!({ "value": format!("o{n}"), "label": "O" })).collect();
    let form: Form = serde_json::from_value(json!({ "fields": [
        { "key": "many", "label": "M", "type": "multiselect", "options": options },
    ] }))
    .unwrap();
    let chosen: Vec<String> = (0..200_000).map(|n| format!("o{}", n % 1_000)).collect();
    let mut answer = json!({ "many": chosen }).as_object().unwrap().clone();
    for n in 0..50_000 {
        answer.insert(format!("unknown{n}"), json!(1));
    }
    let begun = Instant::now();
    assert_eq!(form.validate(&answer).unwrap_err().len(), 50_000);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(form.fields().count() < MAX_FIELDS);
}
