//! Strict mode: what the specification says and its schema does not check.

use dialects::hxp_experience::{Checker, Namespace, NamespaceRegistry};
use serde_json::json;

use crate::fixtures::{
    LENIENT, STRICT, check, errors, full, judged, notes, short, standard, warnings, with,
};

/// HXPE-004, HXPE-042: unknown fields are refused where the specification lists all there are, and
/// nowhere else.
#[test]
fn unknown_fields_are_refused_where_all_are_known() {
    for place in [
        "/hxp",
        "/hxp/delivery",
        "/hxp/cognition",
        "/hxp/transparency",
        "/hxp/actions/0",
        "/hxp/negotiation",
        "/hxp/refusal",
        "/hxp/safety",
    ] {
        let place = format!("{place}/later");
        let report = check(&with(full(), &place, json!(1)), STRICT);
        assert_eq!(errors(&report), [("HXPE-042", place.as_str())]);
    }
    for place in ["", "/hxp/actions/0/payload", "/hxp/extensions/vendor.acme/0", "/content"] {
        let message = with(full(), "/hxp/extensions/vendor.acme", json!([{}]));
        let report = check(&with(message, &format!("{place}/later"), json!(1)), STRICT);
        assert_eq!(errors(&report), [], "{place}");
    }
}

/// HXPE-008, HXPE-009, HXPE-015, HXPE-032: warnings otherwise, errors in strict mode.
#[test]
fn what_is_warned_of_is_refused_in_strict_mode() {
    for (pointer, value, rule) in [
        ("/hxp/version", json!("1.0.0-01"), "HXPE-008"),
        ("/hxp/version", json!("1.0.0-a..b"), "HXPE-008"),
        ("/hxp/version", json!("2.0.0"), "HXPE-009"),
        ("/hxp/version", json!("0.9.0"), "HXPE-009"),
        ("/hxp/delivery/language", json!("not a tag!!"), "HXPE-015"),
        ("/hxp/delivery/language", json!("en_US"), "HXPE-015"),
        ("/hxp/extensions/intent", json!("x"), "HXPE-032"),
        ("/hxp/extensions/hxp.delivery", json!({}), "HXPE-032"),
    ] {
        let message = with(full(), pointer, value);
        let report = check(&message, LENIENT);
        assert_eq!((errors(&report), warnings(&report)), (vec![], vec![(rule, pointer)]));
        let report = check(&message, STRICT);
        assert_eq!((errors(&report), warnings(&report)), (vec![(rule, pointer)], vec![]));
    }
    for version in ["1.0.0", "1.7.0", "1.0.0-rc.1+b.7"] {
        let message = with(full(), "/hxp/version", json!(version));
        assert_eq!(errors(&check(&message, STRICT)), [], "a higher minor version is fine");
    }
}

/// HXPE-006: exactly one of each; other readers would keep the last.
#[test]
fn names_given_twice() {
    let text = standard().to_string();
    let twice = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let many =
        ('a'..='z').map(|c| [r#"""#, &c.to_string(), r#"":1,"#].concat()).collect::<String>();
    for (text, pointer) in [
        (twice(r#""intent":"debug""#, r#""intent":7,"intent":"debug""#), "/hxp/intent"),
        (twice(r#""intent":"debug""#, r#""\u0069ntent":7,"intent":"debug""#), "/hxp/intent"),
        (twice(r#""intent":"debug""#, r#""intent":7,"\u0069ntent":"debug""#), "/hxp/intent"),
        (
            twice(r#""intent":"debug""#, &format!(r#""intent":7,{many}"intent":"debug""#)),
            "/hxp/intent",
        ),
        (twice(r#""load":4"#, r#""load":99,"load":4"#), "/hxp/cognition/load"),
        (twice(r#""lines":20"#, r#""lines":1,"lines":20"#), "/hxp/actions/0/payload/lines"),
        (
            twice(r#""lines":20"#, r#""lines":[{"a":{"b":1,"b":2}}]"#),
            "/hxp/actions/0/payload/lines/0/a/b",
        ),
        (twice(r#""content":"#, r#""content":null,"content":"#), "/content"),
    ] {
        let report = judged(&text, LENIENT);
        assert_eq!(
            (errors(&report), warnings(&report)),
            (vec![], vec![("HXPE-006", pointer)]),
            "{text}"
        );
        let strict = judged(&text, STRICT);
        assert!(errors(&strict).contains(&("HXPE-006", pointer)), "{text}");
    }
    let last_is_wrong = twice(r#""load":4"#, r#""load":4,"load":99"#);
    assert!(!judged(&last_is_wrong, LENIENT).is_valid(), "the last one counts");
}

/// HXPE-033, HXPE-034: vendors have a prefix, domains are known, and what is sensitive is told.
#[test]
fn namespaces_are_known_or_a_vendors() {
    for (name, warned, noted) in [
        ("education", false, false),
        ("medical", false, false),
        ("finance", false, false),
        ("vendor.acme", false, true),
        ("vendor.", true, false),
        ("acme", true, false),
        ("", true, false),
    ] {
        let message = with(standard(), "/hxp/extensions", json!({ name: { "a": 1 } }));
        for rules in [LENIENT, STRICT] {
            let report = check(&message, rules);
            let place = format!("/hxp/extensions/{name}");
            let of = |is: bool, rule| if is { vec![(rule, place.as_str())] } else { vec![] };
            assert!(report.is_valid(), "a prefix is recommended, not demanded");
            assert_eq!(warnings(&report), of(warned, "HXPE-033"), "{name}");
            assert_eq!(notes(&report), of(noted, "HXPE-034"), "{name}");
        }
    }
    let mut registry = NamespaceRegistry::default();
    let clinic = Namespace {
        about: "notes of a clinic".into(),
        sensitive_fields: vec!["diagnosis".into()],
        opt_out: "send `diagnosis` only if the person agreed".into(),
    };
    registry.register("vendor.clinic", clinic).unwrap();
    let added = json!({ "vendor.clinic": { "diagnosis": "x", "room": 4 } });
    let message = with(standard(), "/hxp/extensions", added).to_string();
    let report = Checker::new(STRICT, registry).check(message.as_bytes()).unwrap();
    let place = "/hxp/extensions/vendor.clinic/diagnosis";
    assert_eq!(short(report.notes()), [("HXPE-034", place)]);
    assert!(report.notes().all(|note| note.message.ends_with("only if the person agreed")));
}
