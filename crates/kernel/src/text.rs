//! Words from agents, made safe to show.

use std::fmt::Write;

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
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a text may be stored at all: NUL is the one character databases refuse.
pub fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Whether every text inside a JSON value may be stored.
pub fn is_storable_json(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => is_storable(text),
        serde_json::Value::Array(items) => items.iter().all(is_storable_json),
        serde_json::Value::Object(map) => {
            map.iter().all(|(key, value)| is_storable(key) && is_storable_json(value))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_show_themselves() {
        assert_eq!(reveal("pay\u{202e}lap\u{200b}"), "pay⟨U+202E⟩lap⟨U+200B⟩");
        assert_eq!(reveal("a\r\n\tb\u{1b}[2J"), "a⟨U+000D⟩\n\tb⟨U+001B⟩[2J");
        assert_eq!(reveal("naïve 你好 🙂"), "naïve 你好 🙂");
    }
}
