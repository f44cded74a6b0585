//! Makes text from agents safe to show.

mod deceptive;

use std::fmt::Write;

use email_address::{EmailAddress, Options};
use serde_json::Value;

/// Makes characters visible that could deceive a reader: control, bidirectional, zero-width and
/// other invisible characters, characters of another script that look like the Latin ones beside
/// them, and stacked marks become `⟨U+202E⟩`. Line breaks and tabs stay. No part of the text is
/// dropped.
pub fn reveal(text: &str) -> String {
    if text.is_ascii() {
        return reveal_hidden(text);
    }
    with_codes(
        text,
        deceptive::find_deceptive(text).map(|(c, deceives)| (c, deceives || is_hidden(c))),
    )
}

/// Makes only hidden characters visible.
fn reveal_hidden(text: &str) -> String {
    with_codes(text, text.chars().map(|c| (c, is_hidden(c))))
}

/// The text with the marked characters as codes.
fn with_codes(text: &str, characters: impl Iterator<Item = (char, bool)>) -> String {
    let mut shown = String::with_capacity(text.len());
    for (c, as_code) in characters {
        if as_code {
            // Writing to a String cannot fail.
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Makes hidden characters visible in every text inside a JSON value, including the names of
/// members. Receipts commit to this form (`shown_sha256`), so it never changes, whatever else pages
/// reveal.
pub fn reveal_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(reveal_hidden(&text)),
        Value::Array(items) => items.into_iter().map(reveal_json).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (reveal_hidden(&key), reveal_json(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether a character is invisible but can change what a reader sees.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        _ if c.is_control() => true,
        '\u{00ad}'
        | '\u{034f}'
        | '\u{061c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a text can be stored: databases refuse NUL.
pub fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Whether a text can be a name, a label or a tag: storable, and at most 200 bytes.
pub fn is_short(text: &str) -> bool {
    text.len() <= 200 && is_storable(text)
}

/// Whether every text inside a JSON value can be stored.
pub fn is_storable_json(value: &Value) -> bool {
    match value {
        Value::String(text) => is_storable(text),
        Value::Array(items) => items.iter().all(is_storable_json),
        Value::Object(map) => {
            map.iter().all(|(key, value)| is_storable(key) && is_storable_json(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Whether a text is an email address alone: no display name, no IP literal.
pub fn is_email(text: &str) -> bool {
    let options = Options::default().without_display_text().without_domain_literal();
    EmailAddress::parse_with_options(text, options).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_show_themselves() {
        assert_eq!(reveal("pay\u{202e}lap\u{200b}"), "pay⟨U+202E⟩lap⟨U+200B⟩");
        assert_eq!(reveal("a\r\n\tb\u{1b}[2J"), "a⟨U+000D⟩\n\tb⟨U+001B⟩[2J");
        assert_eq!(reveal("\u{1d173}\u{1bca0}\u{fff0}"), "⟨U+1D173⟩⟨U+1BCA0⟩⟨U+FFF0⟩");
        assert_eq!(reveal("naïve 你好 🙂"), "naïve 你好 🙂");
    }

    #[test]
    fn letters_that_pass_for_others_show_themselves() {
        for (text, shown) in [
            // Cyrillic а, р, о and Greek ο in Latin words.
            ("p\u{430}ypal", "p⟨U+0430⟩ypal"),
            ("\u{440}aypal.com", "⟨U+0440⟩aypal.com"),
            ("g\u{3bf}\u{43e}gle", "g⟨U+03BF⟩⟨U+043E⟩gle"),
            // A name that is entirely Cyrillic, before a Latin ending.
            (
                "https://\u{430}\u{440}\u{440}\u{4cf}\u{435}.com/",
                "https://⟨U+0430⟩⟨U+0440⟩⟨U+0440⟩⟨U+04CF⟩⟨U+0435⟩.com/",
            ),
            ("\u{430}mount", "⟨U+0430⟩mount"),
            // Amounts.
            ("€1\u{41e}0.00", "€1⟨U+041E⟩0.00"),
            ("12\u{660}", "12⟨U+0660⟩"),
            ("€\u{6f1}2", "€⟨U+06F1⟩2"),
            // Mathematical alphanumeric symbols.
            ("p\u{1d41a}y", "p⟨U+1D41A⟩y"),
        ] {
            assert_eq!(reveal(text), shown, "{text}");
        }
    }

    /// Only the next 253 bytes decide whether a word belongs to a host name. Without this limit, a
    /// text of such words took time quadratic in its length: hours for a megabyte.
    #[test]
    fn a_name_that_is_too_long_is_not_read_to_its_end() {
        let name = |labels: usize| format!("{}com", "\u{430}.".repeat(labels));
        assert_eq!(reveal(&name(80)), format!("{}com", "⟨U+0430⟩.".repeat(80)));
        let long = reveal(&name(100_000));
        assert!(long.starts_with("\u{430}.\u{430}."), "too long for a host");
        assert!(long.ends_with("⟨U+0430⟩.com"));
    }

    #[test]
    fn what_shows_nothing_shows_itself() {
        for (text, shown) in [
            ("pay\u{2800}me", "pay⟨U+2800⟩me"),
            ("pay\u{fe0f}", "pay⟨U+FE0F⟩"),
            ("a\u{fe01}", "a⟨U+FE01⟩"),
            ("x\u{e0041}\u{e0100}", "x⟨U+E0041⟩⟨U+E0100⟩"),
            ("1\u{fe0f}00", "1⟨U+FE0F⟩00"),
        ] {
            assert_eq!(reveal(text), shown, "{text}");
        }
        let piled = format!("a{}", "\u{301}".repeat(6));
        assert_eq!(reveal(&piled), format!("a{}⟨U+0301⟩⟨U+0301⟩", "\u{301}".repeat(4)));
    }

    /// Legitimate text in other scripts does not change.
    #[test]
    fn honest_writing_is_left_alone() {
        for text in [
            "Москва: перевод 100 рублей, SMS-код, IT-отдел, email-адрес",
            "Тома и Рома",
            "Αθήνα, kΩ, 5 µF, Δt, π",
            "السعر ١٢٠ ريال",
            "कीमत ₹१२०",
            "Tシャツ 3枚、合計１２０円",
            "한국어 API 키",
            "kapı, İstanbul, Łódź, straße, Việt Nam, naïve",
            "❤\u{fe0f} ©\u{fe0f} 1\u{fe0f}\u{20e3} ☎\u{fe0e}",
            "שָׁלוֹם",
            "пример.рф, café.com",
        ] {
            assert_eq!(reveal(text), text);
        }
    }

    /// The form that receipts commit to does not change with what pages reveal.
    #[test]
    fn the_committed_form_is_fixed() {
        let value = serde_json::json!({ "p\u{430}y\u{200b}": ["\u{2800}\u{202e}", "a\u{fe0f}"] });
        let shown = serde_json::json!({ "p\u{430}y⟨U+200B⟩": ["\u{2800}⟨U+202E⟩", "a\u{fe0f}"] });
        assert_eq!(reveal_json(value), shown);
    }
}
