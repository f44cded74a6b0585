//! `validation.pattern`: a regular expression that always runs in linear time (C-11).

use super::error::{FormError, shorten};
use regex::{Regex, RegexBuilder};

/// Longest pattern accepted, in bytes.
const MAX_LENGTH: usize = 1_000;
/// Most memory a compiled pattern may take, in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// Deepest nesting of groups.
const MAX_NESTING: u32 = 50;

/// A compiled pattern the *whole* value has to match, as in HTML.
///
/// HITL does not say which flavour patterns have. Ours is RE2's: no look-around and no back
/// references, and `\d` and `\w` mean ASCII as they do in both RE2 and ECMAScript.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    whole: Regex,
}

impl Pattern {
    pub(super) fn parse(key: &str, source: &str) -> Result<Self, FormError> {
        let refuse = |reason: String| FormError::Pattern { key: key.to_owned(), reason };
        if source.len() > MAX_LENGTH {
            return Err(refuse(format!("it is longer than {MAX_LENGTH} bytes")));
        }
        let ascii = with_ascii_classes(source);
        // On its own first: `a)|(b` would only be balanced by the anchors around it.
        compile(&ascii).map_err(|error| refuse(one_line(&error)))?;
        let whole = compile(&format!(r"\A(?:{ascii})\z")).map_err(|e| refuse(one_line(&e)))?;
        Ok(Self { source: source.to_owned(), whole })
    }

    /// The pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(MAX_NESTING)
        .build()
}

/// Nested classes are allowed, so `[\d.]` becomes `[[0-9].]` and needs no parser.
fn with_ascii_classes(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// The engine draws carets under the pattern; its last line is the reason.
fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    shorten(last.strip_prefix("error: ").unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::parse("k", pattern).unwrap().matches(text)
    }

    /// HITL-134, HXPX-031.
    #[test]
    fn matches_the_whole_value() {
        for (pattern, text, expected) in [
            ("[a-z]+", "abc", true),
            ("[a-z]+", "abc1", false),
            ("a|bc", "bc", true),
            ("a|bc", "abc", false),
            ("^\\+?[0-9\\s-]{7,20}$", "+49 170 1234567", true),
            ("(?m)^a$", "a\nb", false),
            ("a", "a\n", false),
            ("\\d{3}", "123", true),
            ("\\d{3}", "١٢٣", false),
            ("[\\w.-]{1,64}", "a.b-c_d", true),
            ("[\\w-.]+", "a-b", true),
            ("\\\\d", "\\d", true),
            ("https:\\/\\/.+", "https://x", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_run_is_refused_with_a_reason() {
        for (pattern, reason) in [
            ("(", "unclosed group"),
            ("a)|(b", "unopened group"),
            ("(?=a)b", "look-around"),
            ("(a)\\1", "backreferences"),
            ("\\", "incomplete escape"),
            ("(((a{100}){100}){100}){100}", "size limit"),
            (&"a".repeat(1_001), "longer than 1000 bytes"),
            (&"(".repeat(500), ""),
            (&format!("{}a{}", "(".repeat(90), ")".repeat(90)), "nest"),
        ] {
            let error = Pattern::parse("k", pattern).unwrap_err().to_string();
            assert!(error.contains(reason), "{pattern}: {error}");
            assert!(error.starts_with("field `k`: ") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn nested_quantifiers_do_not_stall() {
        let text = format!("{}!", "a".repeat(1 << 20));
        assert!(!matches("(a+)+", &text));
        assert!(!matches("(a|a)*", &text));
        assert!(!matches("(.*a){10}x", &text));
    }
}
