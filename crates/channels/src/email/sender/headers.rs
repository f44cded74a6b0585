//! Parses headers and addresses strictly. Forged emails exploit that two parsers read two different
//! senders from the same bytes. An email with unusual headers is therefore not verified.

use std::borrow::Cow;

/// The most header fields. A person's email has fewer.
const MOST_FIELDS: usize = 500;

/// The header fields of an email: names and raw values.
pub(super) struct HeaderFields<'a>(Vec<(&'a str, &'a [u8])>);

impl<'a> HeaderFields<'a> {
    /// Reads all fields. Returns `None` if one is malformed.
    pub(super) fn read(raw: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        let mut rest = raw;
        while !rest.is_empty() && !rest.starts_with(b"\r\n") {
            let end = end_of_field(rest);
            let (field, after) = rest.split_at_checked(end)?;
            rest = after;
            let colon = field.iter().position(|byte| *byte == b':')?;
            let (name, value) = field.split_at_checked(colon)?;
            // Parsers disagree about a space before the colon.
            let name = std::str::from_utf8(name).ok()?;
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
                return None;
            }
            fields.push((name, value.get(1..)?));
            if fields.len() > MOST_FIELDS {
                return None;
            }
        }
        Some(Self(fields))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The value of a field that occurs exactly once.
    pub(super) fn only(&self, name: &str) -> Option<&'a [u8]> {
        let mut named = self.named(name);
        let value = named.next()?;
        named.next().is_none().then_some(value)
    }
}

/// The end of the first field: after the first line that is not continued by an indented line.
fn end_of_field(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(tail) = rest.get(at..) {
        let Some(line) = tail.iter().position(|byte| *byte == b'\n') else { break };
        at += line + 1;
        if !matches!(rest.get(at), Some(b' ' | b'\t')) {
            return at;
        }
    }
    rest.len()
}

/// An email with CRLF at the end of each line, as it was signed. Some programs store LF alone. An
/// email that mixes both, or contains a lone CR, is ambiguous and returns `None`.
pub(super) fn with_crlf(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (mut crlf, mut lf, mut last) = (false, false, 0);
    for byte in raw {
        match (last, *byte) {
            (b'\r', b'\n') => crlf = true,
            (_, 0) | (b'\r', _) => return None,
            (_, b'\n') => lf = true,
            _ => {}
        }
        last = *byte;
    }
    match (crlf, lf, last) {
        (true, true, _) | (_, _, b'\r') => None,
        (_, false, _) => Some(Cow::Borrowed(raw)),
        (false, true, _) => {
            let mut whole = Vec::with_capacity(raw.len() + raw.len() / 32);
            for byte in raw {
                if *byte == b'\n' {
                    whole.push(b'\r');
                }
                whole.push(*byte);
            }
            Some(Cow::Owned(whole))
        }
    }
}

/// The addresses of a `From`, `To` or `Cc`: each alone, or in angle brackets after a name. Returns
/// `None` if the value contains anything else, such as a comment, a group, a route, or an `@` in
/// an unquoted name.
pub(super) fn addresses(value: &[u8]) -> Option<Vec<String>> {
    let value = std::str::from_utf8(value).ok()?;
    let mut found = Vec::new();
    // The text before an angle bracket, without quoted parts, and the text inside the brackets.
    let (mut bare, mut quoted) = (String::new(), false);
    let mut bracketed: Option<String> = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' if bracketed.is_none() => {
                quoted = true;
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => drop(chars.next()?),
                        _ => {}
                    }
                }
            }
            '<' if bracketed.is_none() && !bare.contains('@') => {
                let mut inside = String::new();
                loop {
                    match chars.next()? {
                        '>' => break,
                        c => inside.push(c),
                    }
                }
                bracketed = Some(inside);
            }
            ',' => {
                found.push(address(&bare, quoted, bracketed.take())?);
                (bare, quoted) = (String::new(), false);
            }
            '(' | ')' | '<' | '>' | '"' | ':' | ';' | '\\' => return None,
            c if bracketed.is_some() && !c.is_whitespace() => return None,
            c => bare.push(c),
        }
    }
    found.push(address(&bare, quoted, bracketed)?);
    Some(found)
}

fn address(bare: &str, quoted: bool, bracketed: Option<String>) -> Option<String> {
    let address = match bracketed {
        Some(address) => address,
        None if quoted => return None,
        None => bare.trim().to_owned(),
    };
    let (local, domain) = address.rsplit_once('@')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
    (!local.is_empty() && local.chars().all(plain) && is_domain(domain)).then_some(address)
}

/// Whether a name is a DNS domain with at least two labels.
pub(super) fn is_domain(name: &str) -> bool {
    let label = |label: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !label.is_empty() && label.len() <= 63 && label.chars().all(inner)
    };
    name.len() <= 253 && name.contains('.') && name.split('.').all(label)
}
