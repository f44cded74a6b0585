//! What has no place in an envelope: who somebody is, what opens doors, and what the agent thought
//! in private. Section 3 and section 9. Signs of it are warned of; no check can find it all.

use super::check::Check;
use super::finding::{Path, Severity};
use super::tape::{Kind, Node};

/// Names of members that say who somebody is.
const IDENTITY: [&str; 14] = [
    "email",
    "e_mail",
    "phone",
    "phone_number",
    "ssn",
    "social_security_number",
    "passport",
    "passport_number",
    "date_of_birth",
    "birthdate",
    "full_name",
    "first_name",
    "last_name",
    "user_id",
];

/// Names of members that open doors.
const CREDENTIALS: [&str; 9] = [
    "password",
    "passwd",
    "api_key",
    "apikey",
    "access_token",
    "refresh_token",
    "authorization",
    "secret",
    "session_token",
];

/// Names of members for what the agent thought.
const THOUGHTS: [&str; 5] =
    ["chain_of_thought", "reasoning_trace", "private_reasoning", "scratchpad", "thinking"];

/// Looks at every text and every name below the envelope.
pub(super) fn look(check: &mut Check<'_>, node: Node<'_>, path: &Path<'_>) {
    match node.kind() {
        Kind::Text => {
            // What is escaped is looked at as it reads; nearly no text is either.
            if may_identify(node.raw())
                && let Some(what) = node.text().and_then(|text| identifies(&text))
            {
                let says =
                    format!("this looks like {what}; an envelope should not say who somebody is");
                check.say(Severity::Warning, "HXPE-056", path, says);
            }
        }
        Kind::List => {
            for (n, item) in node.inner().enumerate() {
                look(check, item, &Path::Item(path, n));
            }
        }
        Kind::Object => {
            for (name, value) in node.members() {
                let path = Path::Member(path, &name);
                if let Some((rule, says)) = named(&name) {
                    check.say(Severity::Warning, rule, &path, says);
                }
                look(check, value, &path);
            }
        }
        Kind::Null | Kind::False | Kind::True | Kind::Number => {}
    }
}

fn named(name: &str) -> Option<(&'static str, &'static str)> {
    // Fields of the envelope have none of these names and are most of what is asked for.
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    if IDENTITY.iter().any(|known| is(known)) {
        Some(("HXPE-056", "an envelope should not say who somebody is"))
    } else if CREDENTIALS.iter().any(|known| is(known)) {
        Some((
            "HXPE-057",
            "an envelope is no place for credentials: whoever sees it could use them",
        ))
    } else if THOUGHTS.iter().any(|known| is(known)) {
        Some(("HXPE-057", "an envelope is no place for private reasoning"))
    } else {
        None
    }
}

/// Whether a closer look is worth it.
fn may_identify(raw: &str) -> bool {
    let (mut at, mut digits) = (false, 0_usize);
    for byte in raw.bytes() {
        at |= byte == b'@' || byte == b'\\';
        digits += usize::from(byte.is_ascii_digit());
    }
    at || digits >= 8
}

/// What a text gives away, if anything.
fn identifies(text: &str) -> Option<&'static str> {
    let edges = |c: char| {
        matches!(
            c,
            '<' | '>' | '(' | ')' | '[' | ']' | '"' | '\'' | ',' | ';' | ':' | '.' | '!' | '?'
        )
    };
    if text.split_whitespace().any(|word| is_address(word.trim_matches(edges))) {
        return Some("an email address");
    }
    runs(text).find_map(|(plus, digits)| {
        if plus && (8..=15).contains(&digits.len()) {
            Some("a telephone number")
        } else if !plus && (13..=19).contains(&digits.len()) && luhn(&digits) {
            Some("the number of a payment card")
        } else {
            None
        }
    })
}

fn is_address(word: &str) -> bool {
    let Some((local, domain)) = word.rsplit_once('@') else { return false };
    let label =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '-');
    !local.is_empty()
        && !local.contains('@')
        && domain.contains('.')
        && domain.split('.').all(label)
        && domain
            .rsplit('.')
            .next()
            .is_some_and(|last| last.len() >= 2 && !last.starts_with(|c: char| c.is_ascii_digit()))
}

/// Runs of digits, with what people put between them, and whether a plus stands before.
fn runs(text: &str) -> impl Iterator<Item = (bool, Vec<u8>)> {
    let between = |c: char| matches!(c, ' ' | '-' | '(' | ')' | '.' | '/');
    text.split(move |c: char| !(c.is_ascii_digit() || c == '+' || between(c))).map(|run| {
        let run = run.trim();
        (
            run.starts_with('+'),
            run.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect(),
        )
    })
}

/// The check digit every payment card ends with.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, &digit)| match (n % 2, u32::from(digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => 2 * digit - 9,
            (_, digit) => 2 * digit,
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|&digit| digit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPE-056: what looks like somebody, and what does not.
    #[test]
    fn texts_that_give_somebody_away() {
        for (text, what) in [
            ("write to <ada@example.org>, please", Some("an email address")),
            ("ada@example", None),
            ("@ada on example.org", None),
            ("a@b.c", None),
            ("call +49 (30) 1234-5678", Some("a telephone number")),
            ("call 112", None),
            ("2026-11-16 12:00:00.123456", None),
            ("4111 1111 1111 1111", Some("the number of a payment card")),
            ("4111 1111 1111 1112", None),
            ("0000000000000000", None),
            ("order 12345678901234", None),
        ] {
            assert_eq!(identifies(text), what, "{text}");
        }
    }
}
