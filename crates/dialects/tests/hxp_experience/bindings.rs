//! Headers and streams.

use dialects::hxp_experience::headers::{EnvelopeHeaders, NAMES, headers};
use dialects::hxp_experience::message::InvalidMessage;
use dialects::hxp_experience::{ExperienceMessage, prelude};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::{LENIENT, check, core, standard, with};

fn message(value: &Value) -> ExperienceMessage {
    ExperienceMessage::parse(value.to_string().as_bytes(), LENIENT).unwrap()
}

fn read(found: &[(&str, &str)]) -> EnvelopeHeaders {
    EnvelopeHeaders::read(found.iter().map(|(name, value)| (*name, value.as_bytes())))
}

/// HXPE-050: four headers, and none for what is not said.
#[test]
fn headers_say_what_the_envelope_says() {
    let found = headers(&message(&standard()).view());
    let expected = ["debug", "medium", "0.7", "4"];
    assert_eq!(found, NAMES.into_iter().zip(expected.map(str::to_owned)).collect::<Vec<_>>());
    let names: Vec<_> =
        headers(&message(&core()).view()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, NAMES[..3], "no load, no header");
}

/// HXPE-051: the envelope counts; a difference is noted, not refused.
#[test]
fn headers_are_advice() {
    let view = message(&standard()).view();
    let told = headers(&view);
    let told: Vec<_> = told.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(read(&told).differences(&view), []);
    assert_eq!(read(&[]).differences(&view), [], "silence is no difference");
    let other = [
        ("HXP-Intent", "sell"),
        ("Hxp-Verbosity", "low"),
        ("HXP-CONFIDENCE", "1"),
        ("hxp-cogload", "9"),
    ];
    let found = read(&other).differences(&view);
    let places: Vec<_> = found.iter().map(|finding| finding.pointer.as_str()).collect();
    let expected = [
        "/hxp/intent",
        "/hxp/delivery/verbosity",
        "/hxp/transparency/confidence",
        "/hxp/cognition/load",
    ];
    assert_eq!(places, expected);
    assert!(found.iter().all(|finding| finding.rule == "HXPE-051"));
}

/// HXPE-052: what is no header value does not become one, and bad values say nothing.
#[test]
fn no_header_begins_inside_another() {
    let hostile = "explain\r\nSet-Cookie: a=b\n\u{0} é %41";
    let view = message(&with(core(), "/hxp/intent", json!(hostile))).view();
    let found = headers(&view);
    assert_eq!(found[0].1, "explain%0D%0ASet-Cookie:%20a=b%0A%00%20%C3%A9%20%2541");
    assert_eq!(read(&[(found[0].0, &found[0].1)]).intent.as_deref(), Some(hostile));
    let view = message(&with(core(), "/hxp/intent", json!("x".repeat(513)))).view();
    assert_eq!(headers(&view)[0].0, "hxp-verbosity", "too long for a header");
    for (name, value) in [
        ("hxp-intent", ""),
        ("hxp-intent", "a\rb"),
        ("hxp-intent", "%"),
        ("hxp-intent", "%zz"),
        ("hxp-intent", "%FF"),
        ("hxp-verbosity", "LOW"),
        ("hxp-confidence", "1.5"),
        ("hxp-confidence", "NaN"),
        ("hxp-confidence", "x"),
        ("hxp-cogload", "0"),
        ("hxp-cogload", "3.0"),
        ("hxp-status", "low"),
    ] {
        assert_eq!(read(&[(name, value)]), EnvelopeHeaders::default(), "{name}: {value:?}");
    }
    assert_eq!(EnvelopeHeaders::read([("hxp-intent", &b"\xff"[..])]), EnvelopeHeaders::default());
}

proptest! {
    /// HXPE-052: whatever the intent is, its header is plain and reads back.
    #[test]
    fn any_intent_survives_a_header(intent in any::<String>()) {
        let view = dialects::hxp_experience::EnvelopeView { intent: Some(intent.clone()), ..Default::default() };
        if let Some((name, value)) = headers(&view).first() {
            prop_assert!(value.bytes().all(|byte| byte.is_ascii_graphic()));
            let hints = read(&[(name, value)]);
            prop_assert_eq!(hints.intent.unwrap_or_default(), intent);
        }
    }
}

/// HXPE-054, HXPE-055: one prelude, first; joined with what follows it is the message again.
#[test]
fn a_stream_begins_with_its_envelope() {
    let text = with(core(), "/hxp/intent", json!("a\n\ndata: b\revent: done"));
    let whole = message(&text);
    let envelope = whole.envelope().unwrap();
    let event = prelude::event(envelope);
    let line = prelude::line(envelope);
    assert_eq!(event, format!("event: hxp\ndata: {line}\n\n"));
    assert!(!line.contains(['\n', '\r']), "one frame is one line");
    let read = prelude::read(&line).unwrap();
    let joined = prelude::joined(read, ["Three names ", "for the ", "ferry."]);
    assert_eq!(Value::Object(joined.clone()), text);
    assert!(check(&Value::Object(joined), LENIENT).is_valid());
    for plain in ["Hello", "{}", "[]", r#"{"hxp":1}"#, r#"{"hxp":{},"content":"x"}"#, ""] {
        assert_eq!(prelude::read(plain), None, "{plain} is content");
    }
}

/// HXPE-049: a message is read from the bytes of a body, and why not is told.
#[test]
fn a_message_is_read_from_bytes() {
    assert!(matches!(ExperienceMessage::parse(b"{", LENIENT), Err(InvalidMessage::Unreadable(_))));
    assert!(matches!(ExperienceMessage::parse(b"{}", LENIENT), Err(InvalidMessage::Invalid(_))));
    let beyond = core()
        .to_string()
        .replace(r#""content":"Three names for the ferry.""#, r#""content":{"n":1e400}"#);
    assert!(matches!(
        ExperienceMessage::parse(beyond.as_bytes(), LENIENT),
        Err(InvalidMessage::Unkeepable)
    ));
}
