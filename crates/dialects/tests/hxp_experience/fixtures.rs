//! Messages to be judged, and how to say what became of them.

use dialects::hxp_experience::{
    Checker, ConformanceLevel, ExperienceFinding, ExperienceReport, NamespaceRegistry,
    ValidationOptions,
};
use serde_json::{Value, json};

/// The least there can be.
pub(crate) fn core() -> Value {
    json!({
        "hxp": {
            "version": "1.0.0",
            "intent": "brainstorm",
            "delivery": { "verbosity": "low" },
            "transparency": { "confidence": 0.6 },
            "actions": [],
        },
        "content": "Three names for the ferry.",
    })
}

/// All that is recommended.
pub(crate) fn standard() -> Value {
    json!({
        "hxp": {
            "version": "1.0.0",
            "intent": "debug",
            "delivery": { "verbosity": "medium", "format": "steps", "tone": "direct", "language": "en" },
            "cognition": { "load": 4, "estimated_read_seconds": 40, "chunking": "structured" },
            "transparency": {
                "confidence": 0.7,
                "verification_needed": true,
                "assumptions": ["the log is complete"],
                "limits": ["no access to the database"],
            },
            "actions": [
                { "type": "verify_sources", "label": "Show the log", "payload": { "lines": 20 } },
                { "type": "redirect" },
            ],
            "negotiation": { "intent_confirmed": true, "clarifying_questions": ["Which region?"] },
        },
        "content": { "steps": ["Stop", "Look", "Start"] },
    })
}

/// And all that is possible.
pub(crate) fn full() -> Value {
    let mut message = standard();
    message["hxp"]["intent"] = json!("refuse");
    message["hxp"]["refusal"] =
        json!({ "type": "policy", "severity": "soft", "redirect_available": true });
    message["hxp"]["safety"] =
        json!({ "alignment_source": "policy", "harm_risk": "low", "safety_flag": false });
    message["hxp"]["extensions"] = json!({ "education": { "grade": 7 }, "vendor.acme": [1] });
    message
}

/// The message with one value put elsewhere, by its pointer; `null` stands for itself.
pub(crate) fn with(mut message: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match message.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.insert(name.to_owned(), value)),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no members"),
    }
    message
}

/// The message without what is there.
pub(crate) fn without(mut message: Value, pointer: &str) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    message.pointer_mut(parent).unwrap().as_object_mut().unwrap().shift_remove(name).unwrap();
    message
}

pub(crate) const LENIENT: ValidationOptions = ValidationOptions { level: None, strict: false };
pub(crate) const STRICT: ValidationOptions = ValidationOptions { level: None, strict: true };

pub(crate) fn at(level: ConformanceLevel, strict: bool) -> ValidationOptions {
    ValidationOptions { level: Some(level), strict }
}

/// The verdict on a text.
#[track_caller]
pub(crate) fn judged(text: &str, rules: ValidationOptions) -> ExperienceReport {
    Checker::new(rules, NamespaceRegistry::default()).check(text.as_bytes()).unwrap()
}

/// The verdict on a value.
#[track_caller]
pub(crate) fn check(message: &Value, rules: ValidationOptions) -> ExperienceReport {
    judged(&message.to_string(), rules)
}

/// What was found, in short: rule and place.
pub(crate) fn short<'a>(
    findings: impl Iterator<Item = &'a ExperienceFinding>,
) -> Vec<(&'static str, &'a str)> {
    findings.map(|finding| (finding.rule, finding.pointer.as_str())).collect()
}

/// The errors, in short.
pub(crate) fn errors(report: &ExperienceReport) -> Vec<(&'static str, &str)> {
    short(report.errors())
}

/// The warnings, in short.
pub(crate) fn warnings(report: &ExperienceReport) -> Vec<(&'static str, &str)> {
    short(report.warnings())
}

/// The notes, in short.
pub(crate) fn notes(report: &ExperienceReport) -> Vec<(&'static str, &str)> {
    short(report.notes())
}
