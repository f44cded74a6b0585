//! Words from agents, made safe to show.

use std::fmt::Write;

use email_address::{EmailAddress, Options};
use serde_json::Value;

/// Makes hidden characters visible: control, bidirectional, zero-width and other invisible ones
/// become `⟨U+202E⟩`. Line breaks and tabs stay. What is shown is what was written, whole.
pub fn reveal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The same for every text inside a JSON value, names of members included.
pub fn reveal_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(reveal(&text)),
        Value::Array(items) => items.into_iter().map(reveal_json).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (reveal(&key), reveal_json(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether a character can change what a reader sees without being seen.
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

/// Whether a text may be stored at all: NUL is the one character databases refuse.
pub fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Whether a text can be a name, a label or a tag: storable, and at most 200 bytes.
pub fn is_short(text: &str) -> bool {
    text.len() <= 200 && is_storable(text)
}

/// Whether every text inside a JSON value may be stored.
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
}
