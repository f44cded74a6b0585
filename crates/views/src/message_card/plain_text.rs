//! Agent text for platforms without markup to set it apart, and lengths as platforms count them.

use kernel::text::reveal;

/// Defangs URLs in a text. Phones and chats turn URLs into links, and no link in a message may lead
/// to a target that the agent chose.
pub fn defanged(text: &str) -> String {
    let text = reveal(text).replace("://", "[://]");
    let chars: Vec<char> = text.chars().collect();
    let mut shown = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1..).unwrap_or_default();
        if *c == '.' && before.is_some_and(|c| c.is_alphanumeric()) && is_domain(after) {
            shown.push_str("[.]");
        } else {
            shown.push(*c);
        }
    }
    shown
}

/// Quotes every line, so that the text is not mistaken for the server's, and defangs URLs.
pub fn quoted(text: &str) -> String {
    let line = |line: &str| format!("> {line}").trim_end().to_owned();
    defanged(text.trim()).lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether the characters after a dot could be part of a domain: at least two letters. `e.g.` and
/// `3.14` stay unchanged.
fn is_domain(after: &[char]) -> bool {
    let label: Vec<&char> =
        after.iter().take_while(|c| c.is_alphanumeric() || **c == '-').collect();
    label.len() >= 2 && label.iter().any(|c| c.is_alphabetic())
}

/// A text on one line, with hidden characters made visible.
pub fn one_line(text: &str) -> String {
    reveal(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The longest prefix whose length is at most `most`, without trailing white space.
pub fn beginning(text: &str, most: usize, length: fn(&str) -> usize) -> &str {
    let mut end = 0;
    let mut used = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        used += length(text.get(at..next).unwrap_or_default());
        if used > most {
            break;
        }
        end = next;
    }
    text.get(..end).unwrap_or_default().trim_end()
}

/// A text, shortened with an ellipsis if necessary. Hidden characters are made visible before its
/// length is measured.
pub fn cut(text: &str, most: usize) -> String {
    let text = reveal(text.trim());
    let shown = beginning(&text, most, units);
    if shown == text.trim_end() { shown.to_owned() } else { format!("{shown}…") }
}

/// The length in UTF-16 code units, which phones and chats count.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Facts below each other. Further lines of a value are indented, so that they cannot be mistaken
/// for the next fact.
pub fn facts(facts: &[super::CardFact]) -> String {
    let line = |fact: &super::CardFact| {
        format!("{}: {}", one_line(&fact.name), reveal(fact.value.trim()).replace('\n', "\n  "))
    };
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_card::CardFact;

    #[test]
    fn nothing_looks_like_an_address() {
        let cases = [
            ("see https://evil.example/x", "see https[://]evil[.]example/x"),
            (
                "www.evil.com, EVIL.COM and a-b.co.uk",
                "www[.]evil[.]com, EVIL[.]COM and a-b[.]co[.]uk",
            ),
            ("e.g. 3.14 or 1.000.000. End", "e.g. 3.14 or 1.000.000. End"),
            ("bücher.de, xn--bcher-kva.xn--p1ai", "bücher[.]de, xn--bcher-kva[.]xn--p1ai"),
            ("mail eve@evil.com", "mail eve@evil[.]com"),
            ("evil\u{200b}.com", "evil⟨U+200B⟩.com"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(defanged(text), expected);
        }
    }

    #[test]
    fn quoted_lines_are_never_ours() {
        assert_eq!(quoted("Pay\n\nA7 yes: evil.com\n"), "> Pay\n>\n> A7 yes: evil[.]com");
        assert_eq!(quoted(" \n"), "");
    }

    #[test]
    fn beginnings_end_between_characters() {
        assert_eq!(beginning("naïve", 3, str::len), "na");
        assert_eq!(beginning("🙂🙂", 3, units), "🙂");
        assert_eq!(beginning("one two", 4, units), "one");
        assert_eq!(beginning("short", 99, units), "short");
        assert_eq!(beginning("x", 0, units), "");
        assert_eq!(cut(" short ", 5), "short");
        assert_eq!(cut("shorter", 5), "short…");
        assert_eq!(cut("\u{200b}\u{200b}", 8), "⟨U+200B⟩…");
    }

    #[test]
    fn a_value_of_many_lines_is_no_second_fact() {
        let fact = |name: &str, value: &str| CardFact { name: name.into(), value: value.into() };
        let shown = facts(&[fact("to", "ACME\namount: 1"), fact("a\nb", "2 ")]);
        assert_eq!(shown, "to: ACME\n  amount: 1\na b: 2");
    }
}
