//! Core, Standard and Full.

use dialects::hxp_experience::{ConformanceLevel, VERSION};
use serde_json::{Value, json};

use crate::fixtures::{
    LENIENT, STRICT, at, check, core, errors, full, standard, warnings, with, without,
};

/// HXPE-035, HXPE-036, HXPE-037: the level a message reaches.
#[test]
fn a_message_reaches_the_level_of_what_it_has() {
    for (message, level) in [
        (core(), ConformanceLevel::Core),
        (standard(), ConformanceLevel::Standard),
        (full(), ConformanceLevel::Full),
    ] {
        for rules in [LENIENT, STRICT] {
            let report = check(&message, rules);
            assert_eq!((report.level, errors(&report)), (Some(level), vec![]));
        }
    }
    assert_eq!(check(&json!({}), LENIENT).level, None);
}

/// HXPE-036, HXPE-038: ten fields are recommended, and what is missing is told.
#[test]
fn what_is_missing_is_told_and_weighs_by_what_was_asked_for() {
    let fields = [
        "/hxp/delivery/format",
        "/hxp/delivery/tone",
        "/hxp/delivery/language",
        "/hxp/cognition/load",
        "/hxp/cognition/estimated_read_seconds",
        "/hxp/cognition/chunking",
        "/hxp/transparency/verification_needed",
        "/hxp/transparency/assumptions",
        "/hxp/negotiation/intent_confirmed",
        "/hxp/negotiation/clarifying_questions",
    ];
    assert_eq!(check(&core(), LENIENT).missing_standard, fields);
    for field in fields {
        let message = without(standard(), field);
        for (rules, warned, wrong) in [
            (LENIENT, false, false),
            (STRICT, false, false),
            (at(ConformanceLevel::Core, true), false, false),
            (at(ConformanceLevel::Standard, false), true, false),
            (at(ConformanceLevel::Full, false), true, false),
            (at(ConformanceLevel::Standard, true), false, true),
            (at(ConformanceLevel::Full, true), false, true),
        ] {
            let report = check(&message, rules);
            assert_eq!(report.missing_standard, [field]);
            let expected = |is: bool| if is { vec![("HXPE-036", field)] } else { vec![] };
            assert_eq!((warnings(&report), errors(&report)), (expected(warned), expected(wrong)));
            assert_eq!(report.level, (!wrong).then_some(ConformanceLevel::Core));
        }
    }
}

/// HXPE-037, HXPE-040: what is possible is never missed; negotiation belongs to Standard.
#[test]
fn what_is_only_possible_is_never_missed() {
    let report = check(&standard(), at(ConformanceLevel::Full, true));
    assert_eq!((report.level, errors(&report)), (Some(ConformanceLevel::Standard), vec![]));
    let report = check(&without(standard(), "/hxp/negotiation"), LENIENT);
    assert_eq!(report.level, Some(ConformanceLevel::Core));
    assert_eq!(report.missing_standard.len(), 2);
}

/// HXPE-039: messages the protocol itself calls Standard lack recommended fields.
#[test]
fn a_standard_message_may_lack_what_is_recommended() {
    for message in [
        without(standard(), "/hxp/negotiation"),
        without(without(full(), "/hxp/cognition"), "/hxp/negotiation"),
    ] {
        let report = check(&message, at(ConformanceLevel::Standard, false));
        assert!(report.is_valid() && !warnings(&report).is_empty());
    }
}

/// HXPE-023: limits belong to no level.
#[test]
fn limits_belong_to_no_level() {
    let message = without(standard(), "/hxp/transparency/limits");
    assert_eq!(check(&message, LENIENT).level, Some(ConformanceLevel::Standard));
}

/// HXPE-070: the version we know is that of the specification and its schema, whatever our own is.
#[test]
fn the_version_is_that_of_the_specification() {
    let published: Value = serde_json::from_str(include_str!("published.schema.json")).unwrap();
    let described = published["description"].as_str().unwrap();
    assert!(described.ends_with(&format!("Version {VERSION}.")), "{described}");
    let report = check(&with(core(), "/hxp/version", json!(VERSION)), STRICT);
    assert_eq!((report.level, report.findings), (Some(ConformanceLevel::Core), vec![]));
}
