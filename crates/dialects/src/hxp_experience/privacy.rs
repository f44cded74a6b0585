//! Data that does not belong in an envelope: identities, credentials, and the agent's private
//! reasoning. Section 3 and section 9. These checks warn about signs of it; no check can find all
//! of it.

use std::slice;

use super::check::Check;
use super::finding::{EnvelopePath, FindingSeverity};
use super::token_stream::{Name, Node};

/// The kind of private data that a member's name suggests.
enum PrivateDataKind {
    Identity,
    Credential,
    Thoughts,
}

/// Suspicious names by their first byte: nearly every name that is looked up is none of them.
fn suspicious_names(first: u8) -> &'static [(&'static str, PrivateDataKind)] {
    use PrivateDataKind::{Credential, Identity, Thoughts};
    match first.to_ascii_lowercase() {
        b'a' => &[
            ("access_token", Credential),
            ("api_key", Credential),
            ("apikey", Credential),
            ("authorization", Credential),
        ],
        b'b' => &[("birthdate", Identity)],
        b'c' => &[("chain_of_thought", Thoughts)],
        b'd' => &[("date_of_birth", Identity)],
        b'e' => &[("email", Identity), ("e_mail", Identity)],
        b'f' => &[("first_name", Identity), ("full_name", Identity)],
        b'l' => &[("last_name", Identity)],
        b'p' => &[
            ("passport", Identity),
            ("passport_number", Identity),
            ("passwd", Credential),
            ("password", Credential),
            ("phone", Identity),
            ("phone_number", Identity),
            ("private_reasoning", Thoughts),
        ],
        b'r' => &[("reasoning_trace", Thoughts), ("refresh_token", Credential)],
        b's' => &[
            ("scratchpad", Thoughts),
            ("secret", Credential),
            ("session_token", Credential),
            ("social_security_number", Identity),
            ("ssn", Identity),
        ],
        b't' => &[("thinking", Thoughts)],
        b'u' => &[("user_id", Identity)],
        _ => &[],
    }
}

/// The number of bytes processed together.
const WIDE: usize = 16;

/// Whether a text, or a whole envelope, could identify a person: it has an `@`, a plus, an escape,
/// or enough digits for a payment card. Nearly no envelope does. The last bytes may be counted
/// twice; that only causes a closer check.
pub(super) fn may_identify(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    let Some(last) = bytes.last_chunk::<WIDE>() else {
        let told = |byte: &u8| matches!(byte, b'@' | b'+' | b'\\');
        return bytes.len() >= SHORTEST_CARD || bytes.iter().any(told);
    };
    let (chunks, _) = bytes.as_chunks::<WIDE>();
    let (mut signs, mut digits) = ([0; WIDE], 0);
    // Few enough chunks that no count overflows.
    for some in chunks.chunks(usize::from(u8::MAX)).chain([slice::from_ref(last)]) {
        let mut counts = [0; WIDE];
        for chunk in some {
            count(chunk, &mut signs, &mut counts);
        }
        digits += counts.into_iter().map(usize::from).sum::<usize>();
    }
    signs != [0; WIDE] || digits >= SHORTEST_CARD
}

/// Processes each byte independently and without a branch, so that the compiler can vectorize it.
fn count(bytes: &[u8; WIDE], signs: &mut [u8; WIDE], digits: &mut [u8; WIDE]) {
    for lane in 0..WIDE {
        let byte = bytes[lane];
        signs[lane] |= u8::from(byte == b'@') | u8::from(byte == b'+') | u8::from(byte == b'\\');
        digits[lane] += u8::from(byte.wrapping_sub(b'0') < 10);
    }
}

/// Whether the name of a member suggests private data.
pub(super) fn suggests_private_data(node: Node<'_>) -> bool {
    node.known() == Name::Other && named(&node.name()).is_some()
}

/// Checks a text of the envelope.
pub(super) fn text(check: &mut Check<'_>, node: Node<'_>, path: &EnvelopePath<'_>) {
    // An escaped text is checked in its decoded form. Nearly no text is escaped or suspicious.
    if may_identify(node.raw())
        && let Some(what) = node.text().and_then(|text| identifies(&text))
    {
        let says = format_args!("this looks like {what}; an envelope should not identify a person");
        check.report_finding(FindingSeverity::Warning, "HXPE-056", path, says);
    }
}

/// Checks the name of a member of the envelope.
pub(super) fn name(check: &mut Check<'_>, name: &str, path: &EnvelopePath<'_>) {
    if let Some((rule, says)) = named(name) {
        check.report_finding(FindingSeverity::Warning, rule, path, format_args!("{says}"));
    }
}

fn named(name: &str) -> Option<(&'static str, &'static str)> {
    let known = suspicious_names(*name.as_bytes().first()?);
    let (_, told) = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(match told {
        PrivateDataKind::Identity => ("HXPE-056", "an envelope should not identify a person"),
        PrivateDataKind::Credential => (
            "HXPE-057",
            "an envelope must not have credentials, because everyone who sees it can use them",
        ),
        PrivateDataKind::Thoughts => ("HXPE-057", "an envelope should not have private reasoning"),
    })
}

/// The minimum number of digits of a payment card.
const SHORTEST_CARD: usize = 13;

/// What kind of identifier a text holds, if any.
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
            Some("a phone number")
        } else if !plus && (SHORTEST_CARD..=19).contains(&digits.len()) && luhn(&digits) {
            Some("a payment card number")
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

/// Runs of digits with the usual separators, and whether a plus precedes them.
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

/// The check digit of every payment card.
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

    /// HXPE-056: texts that look like an identifier, and texts that do not.
    #[test]
    fn texts_that_give_somebody_away() {
        for (text, what) in [
            ("write to <ada@example.org>, please", Some("an email address")),
            ("ada@example", None),
            ("@ada on example.org", None),
            ("a@b.c", None),
            ("call +49 (30) 1234-5678", Some("a phone number")),
            ("call 112", None),
            ("2026-11-16 12:00:00.123456", None),
            ("4111 1111 1111 1111", Some("a payment card number")),
            ("4111 1111 1111 1112", None),
            ("0000000000000000", None),
            ("order 12345678901234", None),
        ] {
            assert_eq!(identifies(text), what, "{text}");
            assert!(what.is_none() || may_identify(text), "{text}");
        }
    }

    /// HXPE-056: the quick scan misses nothing, at any position.
    #[test]
    fn nothing_is_overlooked_at_a_glance() {
        for before in 0..20 {
            for behind in 0..20 {
                for told in ["a@b.cd", "+12345678", "4111 1111 1111 1111"] {
                    let (before, behind) = ("x ".repeat(before), " x".repeat(behind));
                    let text = format!("{before}{told}{behind}");
                    assert!(identifies(&text).is_some() && may_identify(&text), "{text}");
                }
            }
        }
        assert!(!may_identify("the ferry leaves at nine, unless the wind is strong"));
        assert!(!may_identify("short") && !may_identify("12:30 to 13:30, so long"));
    }
}
