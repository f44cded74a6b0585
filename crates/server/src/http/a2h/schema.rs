//! Checks JSON Schemas, and values against them.
//!
//! Both come from agents and people. The cost of a schema is checked before it gets here: it has no
//! references, and its size, depth and patterns are limited. Compiled schemas and outcomes are
//! cached by content and bounded in bytes, so an agent that polls compiles nothing again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use kernel::audit::Digest;
use serde_json::{Value, json};

/// The maximum number of errors reported.
const REPORTED: usize = 20;
/// The maximum memory of one compiled pattern, in bytes; the same as in forms.
const PATTERN_BYTES: usize = 1 << 20;
/// The maximum product of the sizes of schema and value, which bounds the work of a check.
const MAX_CHECK_WORK: usize = 1 << 30;
/// The maximum size of the cached schemas, in bytes of their text. A compiled schema takes about
/// [`COMPILED_FACTOR`] times as much.
const SCHEMA_BYTES: usize = 1 << 20;
/// The minimum memory of a compiled schema per byte of its text.
const COMPILED_FACTOR: usize = 32;
/// The maximum size of the cached outcomes, in bytes.
const OUTCOME_BYTES: usize = 1 << 20;

type SchemaCheckResult = Option<Value>;

static COMPILED: LazyLock<Mutex<Cache<Arc<Validator>>>> =
    LazyLock::new(|| Mutex::new(Cache::new(SCHEMA_BYTES * COMPILED_FACTOR)));
static OUTCOMES: LazyLock<Mutex<Cache<SchemaCheckResult>>> =
    LazyLock::new(|| Mutex::new(Cache::new(OUTCOME_BYTES)));

/// A cache keyed by the digest of the content. It drops the oldest values first.
struct Cache<T> {
    kept: HashMap<Digest, (T, usize)>,
    order: VecDeque<Digest>,
    bytes: usize,
    most: usize,
}

impl<T: Clone> Cache<T> {
    fn new(most: usize) -> Self {
        Self { kept: HashMap::new(), order: VecDeque::new(), bytes: 0, most }
    }

    fn find(&self, name: &Digest) -> Option<T> {
        self.kept.get(name).map(|(value, _)| value.clone())
    }

    fn keep(&mut self, name: Digest, value: T, bytes: usize) {
        if bytes > self.most || self.kept.insert(name, (value, bytes)).is_some() {
            return;
        }
        self.order.push_back(name);
        self.bytes += bytes;
        while self.bytes > self.most
            && let Some(oldest) = self.order.pop_front()
            && let Some((_, gone)) = self.kept.remove(&oldest)
        {
            self.bytes -= gone;
        }
    }
}

fn find<T: Clone>(cache: &Mutex<Cache<T>>, name: &Digest) -> Option<T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner).find(name)
}

fn keep<T: Clone>(cache: &Mutex<Cache<T>>, name: Digest, value: T, bytes: usize) {
    cache.lock().unwrap_or_else(PoisonError::into_inner).keep(name, value, bytes);
}

fn validator(text: &str, schema: &Value) -> Result<Arc<Validator>, String> {
    let name = Digest::of(text.as_bytes());
    if let Some(validator) = find(&COMPILED, &name) {
        return Ok(validator);
    }
    let patterns =
        PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES / 4);
    let options = jsonschema::options().with_pattern_options(patterns);
    let validator = Arc::new(options.build(schema).map_err(|error| error.to_string())?);
    // Only patterns are much larger compiled than as text. Their sum is limited.
    let patterns = if text.contains("attern") { 4 * PATTERN_BYTES } else { 0 };
    keep(&COMPILED, name, Arc::clone(&validator), text.len() * COMPILED_FACTOR + patterns);
    Ok(validator)
}

/// Refuses a schema that cannot be compiled, with the reason.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    validator(&schema.to_string(), schema).map(drop)
}

/// The errors of a value against a schema, or `None` if it is valid.
pub(super) fn validate(schema: &Value, value: &Value) -> Option<Value> {
    let (text, said) = (schema.to_string(), value.to_string());
    let name = Digest::of(format!("{} {said}", Digest::of(text.as_bytes())).as_bytes());
    if let Some(outcome) = find(&OUTCOMES, &name) {
        return outcome;
    }
    let outcome = validate_uncached(&text, schema, &said, value);
    let bytes = 200 + outcome.as_ref().map_or(0, |outcome| outcome.to_string().len());
    keep(&OUTCOMES, name, outcome.clone(), bytes);
    outcome
}

fn validate_uncached(text: &str, schema: &Value, said: &str, value: &Value) -> SchemaCheckResult {
    let whole = |message: String| vec![json!({ "path": "", "message": message })];
    let most = MAX_CHECK_WORK / text.len().max(1);
    let errors: Vec<Value> = if said.len() > most {
        whole(format!("the answer exceeds {most} bytes, the limit for this schema"))
    } else {
        match validator(text, schema) {
            Ok(validator) => validator
                .iter_errors(value)
                .take(REPORTED)
                .map(|error| {
                    let path = error.instance_path().to_string();
                    json!({ "path": path, "message": shortened(&error.to_string()) })
                })
                .collect(),
            Err(message) => whole(message),
        }
    };
    (!errors.is_empty()).then(|| json!({ "errors": errors }))
}

/// Shortens an error message: it repeats the value it is about, which can be long.
fn shortened(message: &str) -> String {
    const MOST: usize = 1_000;
    if message.chars().count() <= MOST {
        return message.to_owned();
    }
    message.chars().take(MOST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2H-064, A2H-131.
    #[test]
    fn what_is_wrong_is_told_by_place() {
        let schema = json!({
            "type": "object",
            "properties": { "n": { "type": "integer", "minimum": 1 } },
            "required": ["n"],
        });
        assert_eq!(validate(&schema, &json!({ "n": 7 })), None);
        let wrong = validate(&schema, &json!({ "n": 0.5 })).unwrap();
        assert_eq!(wrong["errors"][0]["path"], "/n");
        assert!(validate(&schema, &json!("seven")).is_some());
        assert!(check(&schema).is_ok());
        for bad in
            [json!({ "type": "colour" }), json!({ "pattern": "(" }), json!({ "required": 7 })]
        {
            assert!(check(&bad).is_err(), "{bad}");
        }
        // A pattern that would backtrack without end in other engines is rejected.
        assert!(check(&json!({ "pattern": "(a+)+\\1" })).is_err());
    }

    /// Every poll of a closed message shows the outcome, so it is computed once.
    #[test]
    fn a_schema_and_its_outcome_are_worked_out_once() {
        let schema = json!({ "type": "string", "pattern": "^once[0-9]+$" });
        check(&schema).unwrap();
        let text = schema.to_string();
        let first = validator(&text, &schema).unwrap();
        assert!(Arc::ptr_eq(&first, &validator(&text, &schema).unwrap()));
        let held = Arc::strong_count(&first);
        for _ in 0..10 {
            assert_eq!(validate(&schema, &json!("once7")), None);
            assert!(validate(&schema, &json!("twice")).is_some());
        }
        assert_eq!(Arc::strong_count(&first), held);
    }

    #[test]
    fn the_work_of_a_check_and_its_report_are_bounded() {
        let options: Vec<Value> = (0..2_000).map(|n| json!({ "const": n })).collect();
        let schema = json!({ "items": { "anyOf": options } });
        let long = json!(vec![7; 200_000]);
        let outcome = validate(&schema, &long).unwrap();
        let message = outcome["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("the limit for this schema"), "{message}");
        let wrong = validate(&json!({ "type": "number" }), &json!("x".repeat(100_000))).unwrap();
        assert!(wrong.to_string().len() < 5_000);
    }

    #[test]
    fn caches_are_bounded_by_bytes() {
        let mut cache = Cache::new(1_000);
        for n in 0..100_u8 {
            cache.keep(Digest([n; 32]), n, 90);
            assert!(cache.bytes <= 1_000 && cache.order.len() == cache.kept.len());
        }
        assert_eq!(cache.find(&Digest([99; 32])), Some(99));
        assert_eq!(cache.find(&Digest([0; 32])), None);
        cache.keep(Digest([200; 32]), 0, 2_000);
        assert_eq!(cache.find(&Digest([200; 32])), None, "larger than all of it");
    }
}
