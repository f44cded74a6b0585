//! Without strict mode, the verdict is that of the published schema, whatever comes.

use dialects::hxp_experience::{ExperienceMessage, SCHEMA};
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

use crate::fixtures::{LENIENT, check, core, full, standard};
use crate::properties::holds;

fn agree(message: &Value) -> Result<(), TestCaseError> {
    holds(message.to_string().as_bytes()).map_err(TestCaseError::fail)
}

/// Values fields take, nearly take, and do not take.
fn value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "1.0.0",
        "1.0.0-01",
        "1.0.0\n",
        "2.0.0-a..b+c",
        "01.0.0",
        "١.0.0",
        "low",
        "medium",
        "high",
        "Low",
        "bullets",
        "warm",
        "none",
        "light",
        "structured",
        "safety",
        "soft",
        "hard",
        "refuse",
        "",
        " ",
        "e",
        "é",
        "🙂",
        "en",
        "ada@example.org",
    ]);
    let numbers = prop::sample::select(vec![
        "0",
        "1",
        "10",
        "11",
        "-1",
        "3.0",
        "3.5",
        "1e9",
        "-0.0",
        "0.5",
        "1.0000001",
        "1e300",
        "1e-300",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "10.0",
        "0.99999999999999999999",
    ]);
    let leaf = prop_oneof![
        words.prop_map(|word| json!(word)),
        any::<String>().prop_map(Value::String),
        numbers.prop_map(|text| serde_json::from_str::<Number>(text).unwrap().into()),
        any::<f64>().prop_map(|number| json!(number)),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "hxp",
        "content",
        "version",
        "intent",
        "delivery",
        "verbosity",
        "format",
        "tone",
        "language",
        "cognition",
        "load",
        "estimated_read_seconds",
        "chunking",
        "transparency",
        "confidence",
        "verification_needed",
        "assumptions",
        "limits",
        "actions",
        "type",
        "label",
        "payload",
        "negotiation",
        "intent_confirmed",
        "clarifying_questions",
        "refusal",
        "severity",
        "redirect_available",
        "safety",
        "alignment_source",
        "harm_risk",
        "safety_flag",
        "extensions",
        "vendor.acme",
        "later",
        "a/b~c",
    ]);
    prop_oneof![9 => known.prop_map(ToOwned::to_owned), 1 => any::<String>()]
}

/// Every place in a message.
fn all_places(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                let name = name.replace('~', "~0").replace('/', "~1");
                all_places(inner, &format!("{at}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (n, inner) in items.iter().enumerate() {
                all_places(inner, &format!("{at}/{n}"), places);
            }
        }
        _ => {}
    }
}

/// A message with some places changed, taken away or added to.
fn spoilt() -> impl Strategy<Value = Value> {
    let good = prop::sample::select(vec![core(), standard(), full()]);
    let change = (any::<prop::sample::Index>(), 0..3, name(), value());
    (good, prop::collection::vec(change, 0..4)).prop_map(|(mut message, changes)| {
        for (place, what, name, value) in changes {
            let mut places = Vec::new();
            all_places(&message, "", &mut places);
            let place = place.get(&places);
            let found = message.pointer_mut(place).unwrap();
            match (what, found) {
                (0, Value::Object(map)) => drop(map.insert(name, value)),
                (1, Value::Object(map)) => drop(map.shift_remove(&name)),
                (_, found) => *found = value,
            }
        }
        message
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// HXPE-043, HXPE-047: what is nearly a message.
    #[test]
    fn spoilt_messages_are_judged_as_the_published_schema_does(message in spoilt()) {
        agree(&message)?;
    }

    /// HXPE-043: what is none.
    #[test]
    fn any_value_is_judged_as_the_published_schema_does(message in value()) {
        agree(&message)?;
    }

    /// HXPE-005: parse, write, parse: nothing is lost, in whatever order it came.
    #[test]
    fn what_is_kept_is_what_came(message in spoilt()) {
        let text = message.to_string();
        match ExperienceMessage::parse(text.as_bytes(), LENIENT) {
            Ok(kept) => {
                prop_assert_eq!(kept.write(), text);
                let again = ExperienceMessage::parse(kept.write().as_bytes(), LENIENT).unwrap();
                prop_assert_eq!(again, kept);
            }
            Err(_) => prop_assert!(!check(&message, LENIENT).is_valid()),
        }
    }
}

/// HXPE-047: our schema is a schema, and has another name than the published one.
#[test]
fn our_schema_stands_alone() {
    let ours: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&ours).unwrap();
    let published: Value = serde_json::from_str(include_str!("published.schema.json")).unwrap();
    assert_eq!(published["$id"], "https://hxp.dev/schema/hxp.schema.json");
    assert_ne!(ours["$id"], published["$id"]);
}
