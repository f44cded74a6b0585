//! Which texts are read as JSON.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The value as `serde_json` represents it, which has no numbers beyond doubles.
fn value(node: Node<'_>) -> Option<Value> {
    Some(match node.kind() {
        JsonKind::Null => Value::Null,
        JsonKind::False => Value::Bool(false),
        JsonKind::True => Value::Bool(true),
        JsonKind::Number if node.number().is_some_and(f64::is_infinite) => return None,
        JsonKind::Number => serde_json::from_str(node.raw()).unwrap(),
        JsonKind::Text => Value::String(node.text().unwrap().into_owned()),
        JsonKind::List => Value::Array(node.children().map(value).collect::<Option<_>>()?),
        JsonKind::Object => {
            let member = |inner: Node<'_>| Some((inner.name().into_owned(), value(inner)?));
            Value::Object(node.children().map(member).collect::<Option<_>>()?)
        }
    })
}

fn agrees(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut tape = TokenStream::default();
    let ours = tape.read(bytes).ok().and_then(|marked| value(marked.root()));
    let theirs: Option<Value> = serde_json::from_slice(bytes).ok();
    prop_assert_eq!(ours, theirs, "{:?}", String::from_utf8_lossy(bytes));
    Ok(())
}

/// HXPE-004, HXPE-006: this reader accepts exactly the texts that other readers accept.
#[test]
fn json_is_what_other_readers_take_for_json() {
    for text in [
        "",
        " ",
        "null",
        "tru",
        "truex",
        "[]",
        "[ ]",
        "[1,]",
        "[,1]",
        "{}",
        "{ }",
        "{,}",
        "nul",
        r#"{"a":1,}"#,
        r#"{"a" : 1 , "b":[ {} , [] ]}"#,
        r#"{"a"}"#,
        r"{a:1}",
        r#"{"a":1"#,
        "01",
        "-",
        "-0",
        "0.",
        ".5",
        "1.5e",
        "1e+",
        "1E-2",
        "-0.0",
        "1 2",
        "+1",
        "0x10",
        "NaN",
        "\"\u{1}\"",
        "\"\n\"",
        r#""\x""#,
        r#""\u12""#,
        r#""\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83d\u0041""#,
        r#""\u00e9\n\/""#,
        "\"",
        "\"\\",
        "\u{feff}{}",
        "\"seven b\"",
        "\"exactly8\"",
        "\"nine byte\"",
        "[1}",
        "{]",
        "\"a\"b",
        "[[[[]]]",
        r#"{"a":1,"a":2}"#,
        "\u{a0}1",
    ] {
        agrees(text.as_bytes()).unwrap();
    }
    assert!(TokenStream::default().read(b"\"\xff\"").is_err());
}

#[test]
fn what_is_wrong_has_its_place() {
    let wrong = |text: &str| TokenStream::default().read(text.as_bytes()).unwrap_err().to_string();
    let said = "it is not valid JSON: line 2, column 8: expected `,` or `}`";
    assert_eq!(wrong("{\n\"ä\": 1 2}"), said);
    assert_eq!(wrong(&"[".repeat(DEEPEST + 1)), "it exceeds the limit of 100 nesting levels");
    assert!(
        TokenStream::default()
            .read(format!("{}{}", "[".repeat(100), "]".repeat(100)).as_bytes())
            .is_ok()
    );
    let said = TokenStream::default().read(b"{\xff").unwrap_err().to_string();
    assert_eq!(said, "it is not UTF-8 from byte 1 on");
}

/// A message of eight megabytes can hold four million values, and the route that accepts it needs
/// no authentication.
#[test]
fn marks_are_small() {
    assert_eq!(size_of::<Token>(), 20);
}

/// A number too large for a double is valid JSON.
#[test]
fn numbers_beyond_doubles_are_read() {
    let mut tape = TokenStream::default();
    assert_eq!(tape.read(b"1e400").unwrap().root().number(), Some(f64::INFINITY));
}

/// A number is the nearest double, by the fast path and by the slow one.
#[test]
fn numbers_are_read_alike_either_way() {
    for text in ["0", "10", "0.1", "0.07", "3.0", "299792458", "123456789012345", "0.0000000000001"]
    {
        assert_eq!(small_number(text.as_bytes()), text.parse().ok(), "{text}");
    }
    for text in ["-1", "1e3", "1234567890123456", "0.000000000000001"] {
        assert_eq!(small_number(text.as_bytes()), None, "{text}");
    }
}

proptest! {
    #[test]
    fn short_numbers_are_the_nearest_doubles(whole in 0..10_000_000_u32, part in "[0-9]{1,7}") {
        let text = format!("{whole}.{part}");
        let read: f64 = text.parse().unwrap();
        prop_assert_eq!(small_number(text.as_bytes()).map(f64::to_bits), Some(read.to_bits()));
    }

    #[test]
    fn any_bytes_are_judged_alike(text in r#"[\[\]{}:,"\\ua1e+.0\-tn €]{0,24}"#) {
        agrees(text.as_bytes())?;
    }

    #[test]
    fn any_text_is_read_alike(text in any::<String>()) {
        agrees(serde_json::to_string(&text).unwrap().as_bytes())?;
    }

    #[test]
    fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        agrees(&bytes)?;
    }
}
