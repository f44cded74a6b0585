//! Where readers of JSON differ, and where they break.

use dialects::hxp_experience::{Checker, NamespaceRegistry, Unreadable};
use serde_json::json;

use crate::fixtures::{LENIENT, STRICT, check, core, errors, judged, standard, with};

/// HXPE-017, HXPE-018, HXPE-044: a whole number is one however it is written.
#[test]
fn whole_numbers_are_whole_however_they_are_written() {
    let text = standard().to_string();
    for (load, fine) in [
        ("3.0", true),
        ("3e0", true),
        ("30e-1", true),
        ("0.3E+1", true),
        ("3.00000000000000000001", true),
        ("3.5", false),
        ("0.9999", false),
        ("1e400", false),
        ("-3", false),
        ("10.000001", false),
    ] {
        let text = text.replace(r#""load":4"#, &format!(r#""load":{load}"#));
        assert_eq!(judged(&text, LENIENT).is_valid(), fine, "{load}");
    }
    for (seconds, fine) in [
        ("1e9", true),
        ("0", true),
        ("-0", true),
        ("-0.0", true),
        ("1e308", true),
        ("1e-400", true),
        ("99999999999999999999999999", true),
        ("1e309", false),
        ("0.1", false),
        ("-1e-5", false),
    ] {
        let to = format!(r#""estimated_read_seconds":{seconds}"#);
        let text = text.replace(r#""estimated_read_seconds":40"#, &to);
        assert_eq!(judged(&text, LENIENT).is_valid(), fine, "{seconds}");
    }
}

/// HXPE-007, HXPE-008: nothing but ASCII digits, and nothing behind them.
#[test]
fn versions_end_where_they_end() {
    for version in ["1.0.0\n", "1.0.0 ", "\n1.0.0", "١.٠.٠", "１.0.0", "1.0.0-é", "1.0.0\u{0}"]
    {
        let report = check(&with(core(), "/hxp/version", json!(version)), LENIENT);
        assert_eq!(errors(&report), [("HXPE-007", "/hxp/version")], "{version:?}");
    }
}

/// HXPE-045: lengths are counted in characters.
#[test]
fn lengths_are_counted_in_characters() {
    for (language, fine) in [("é", false), ("🙂", false), ("🙂🙂", true), ("e\u{301}", true)]
    {
        let message = with(standard(), "/hxp/delivery/language", json!(language));
        assert_eq!(check(&message, LENIENT).is_valid(), fine, "{language}");
    }
    let escaped = r#""language":"\ud83d\ude42""#;
    let text = standard().to_string().replace(r#""language":"en""#, escaped);
    assert!(!judged(&text, LENIENT).is_valid(), "two escapes, one character");
}

/// HXPE-004: a megabyte of text anywhere, a thousand actions, a thousand unknown fields.
#[test]
fn large_messages_are_judged() {
    let long = "a\n\u{202e}é\"".repeat(1 << 17);
    assert!(long.len() >= 1 << 20);
    let mut message = with(standard(), "/content", json!(long));
    for pointer in ["/hxp/intent", "/hxp/actions/0/label", "/hxp/transparency/limits/0"] {
        message = with(message, pointer, json!(long));
    }
    for n in 0..1000 {
        message = with(message, &format!("/hxp/later{n}"), json!(n));
    }
    message = with(message, "/hxp/actions", json!(vec![json!({ "type": "x" }); 1000]));
    assert!(check(&message, LENIENT).is_valid());
    assert_eq!(check(&message, STRICT).errors().count(), 1000);
}

/// HXPE-041: a message can be wrong in more places than anybody reads; the verdict holds.
#[test]
fn findings_are_bounded() {
    let mut message = with(standard(), "/hxp/actions", json!(vec![0; 5000]));
    message = with(message, "/hxp/transparency/limits", json!(vec!["ada@example.org"; 5000]));
    let report = check(&message, LENIENT);
    assert_eq!((report.errors().count(), report.warnings().count()), (1000, 1000));
    assert_eq!(report.omitted, 8000);
    assert!(!report.is_valid());
}

/// HXPE-001: levels beyond all reason are refused, not followed.
#[test]
fn deep_messages_are_refused() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let text = |n: usize| {
        core().to_string().replace("\"actions\":[]", &format!("\"actions\":[],\"x\":{}", nested(n)))
    };
    assert!(judged(&text(98), LENIENT).is_valid());
    let mut checker = Checker::new(LENIENT, NamespaceRegistry::default());
    assert_eq!(checker.check(text(99).as_bytes()), Err(Unreadable::TooDeep));
    assert_eq!(checker.check("[".repeat(1 << 20).as_bytes()), Err(Unreadable::TooDeep));
    assert!(
        checker.check(text(98).as_bytes()).unwrap().is_valid(),
        "one bad message spoils no other"
    );
}
