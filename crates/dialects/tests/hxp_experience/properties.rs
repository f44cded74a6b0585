//! What holds for any bytes at all, message or not. Properties, mutated messages and the fuzz
//! target under `fuzz` ask the same.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dialects::hxp_experience::{
    Checker, ConformanceLevel, ExperienceReport, FindingSeverity, NamespaceRegistry, SCHEMA,
    Unreadable, ValidationOptions,
};
use jsonschema::Validator;
use serde_json::Value;

static PUBLISHED: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("published.schema.json")));
static OURS: LazyLock<Validator> = LazyLock::new(|| validator(SCHEMA));

fn validator(schema: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

/// Whether all of it holds; if not, what does not.
pub(crate) fn holds(bytes: &[u8]) -> Result<(), String> {
    let checker = |strict, level| {
        Checker::new(ValidationOptions { level, strict }, NamespaceRegistry::default())
    };
    let lenient = checker(false, None).check(bytes);
    for strict in [false, true] {
        for level in [None, Some(ConformanceLevel::Standard)] {
            let mut checker = checker(strict, level);
            let report = checker.check(bytes);
            // The short way to a level says what the long way says.
            let reached = report.as_ref().map(|report| report.level).map_err(Clone::clone);
            same("the level, with and without a report", &checker.level(bytes), &reached)?;
            same("a second look", &checker.check(bytes), &report)?;
            if let (Ok(report), Ok(lenient)) = (&report, &lenient) {
                let taken = lenient.is_valid() || !report.is_valid();
                same("strict mode takes nothing more", &taken, &true)?;
                same(
                    "a level is had by what is valid",
                    &report.level.is_some(),
                    &report.is_valid(),
                )?;
            }
        }
    }
    let tree: Option<Value> = serde_json::from_slice(bytes).ok();
    match (&lenient, tree) {
        (Ok(report), Some(tree)) => as_published(report, &tree),
        // There are numbers no tree can hold, and lists too deep for us alone.
        (Ok(_), None) if may_be_too_large(bytes) => Ok(()),
        (Err(Unreadable::TooDeep), _) | (Err(_), None) => Ok(()),
        (Ok(_), None) => Err("it was read, and is no JSON".to_owned()),
        (Err(why), Some(_)) => Err(format!("it is JSON, and was not read: {why}")),
    }
}

/// Whether there may be a number in it that no double holds: one with an exponent, or of as many
/// digits as the largest of them.
fn may_be_too_large(bytes: &[u8]) -> bool {
    let digits = |run: &[u8]| run.len() >= 309;
    bytes.iter().any(|byte| matches!(byte, b'e' | b'E'))
        || bytes.split(|byte| !byte.is_ascii_digit()).any(digits)
}

/// The lenient verdict is that of the published schema, and by the same places.
fn as_published(report: &ExperienceReport, tree: &Value) -> Result<(), String> {
    let places: BTreeSet<String> =
        PUBLISHED.iter_errors(tree).map(|error| error.instance_path().to_string()).collect();
    let found: BTreeSet<String> = report.errors().map(|error| error.pointer.clone()).collect();
    same("what is wrong, and where", &found, &places)?;
    same("our schema", &OURS.is_valid(tree), &report.is_valid())?;
    // Of an object whose name comes again, other readers have nothing.
    let twice = report.findings.iter().any(|finding| finding.rule == "HXPE-006");
    for finding in &report.findings {
        let of_schema = (finding.severity == FindingSeverity::Error) == finding.schema.is_some();
        same("an error is what the schema says", &of_schema, &true)?;
        let there = twice || tree.pointer(&finding.pointer).is_some();
        same("a finding is about something that is there", &there, &true)?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, other: &T) -> Result<(), String> {
    if ours == other { Ok(()) } else { Err(format!("{what}: {ours:?} is not {other:?}")) }
}
