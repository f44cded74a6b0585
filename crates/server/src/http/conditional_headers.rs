//! Request headers: the idempotency key, the version the caller has seen, and how long it waits. A
//! condition that cannot be read is refused, never ignored. A preference that cannot be read is
//! ignored.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use kernel::audit::Digest;
use kernel::{Actor, Ask};
use store::Idempotency;

/// The maximum time a long poll waits, in seconds.
pub const LONGEST_WAIT: u64 = 60;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const PREFER: HeaderName = HeaderName::from_static("prefer");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadHeader {
    pub name: &'static str,
    pub expected: &'static str,
}

/// The idempotency key of a request, if it has one. `space` separates the keys of the dialects.
pub fn idempotency(
    space: &str,
    actor: &Actor,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Option<Idempotency>, BadHeader> {
    let name = "Idempotency-Key";
    let expected = "1 to 255 visible ASCII characters, once";
    let Some(value) = one(headers, &IDEMPOTENCY_KEY, BadHeader { name, expected })? else {
        return Ok(None);
    };
    let key = value
        .to_str()
        .ok()
        .filter(|key| (1..=255).contains(&key.len()))
        .ok_or(BadHeader { name, expected })?;
    let scope = format!("{space}/{}", actor.to_ref());
    let fingerprint = Digest::of(body);
    Ok(Some(Idempotency { scope, key: key.to_owned(), fingerprint, lasting: false }))
}

/// Marks the response as the outcome of an earlier, identical request.
pub fn mark_replayed(answer: &mut Response, replayed: bool) {
    if replayed {
        answer.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
}

/// The entity tag of an ask's version.
pub fn tag(ask: &Ask) -> String {
    format!("\"{}\"", ask.version())
}

/// `If-Match`: the version the caller has seen. Version 0 stands for a tag that this server did not
/// issue: no ask has it.
pub fn if_match(headers: &HeaderMap) -> Result<Option<u64>, BadHeader> {
    let bad = BadHeader { name: "If-Match", expected: "one version in quotes such as \"3\", or *" };
    let Some(value) = one(headers, &header::IF_MATCH, bad.clone())? else { return Ok(None) };
    match tags(value).ok_or_else(|| bad.clone())? {
        EntityTags::Any => Ok(None),
        EntityTags::These(tags) => match tags.as_slice() {
            // A weak tag says that the bytes may differ, so it matches nothing here.
            [one] => Ok(Some(if one.weak { 0 } else { version(one).unwrap_or(0) })),
            _ => Err(bad),
        },
    }
}

/// `If-None-Match`: the versions the caller already has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownVersions {
    /// There is no such header.
    Unsaid,
    /// `*`: any version.
    Any,
    Versions(Vec<u64>),
}

impl KnownVersions {
    pub fn read(headers: &HeaderMap) -> Result<Self, BadHeader> {
        let expected = "versions in quotes such as \"3\", or *";
        let bad = BadHeader { name: "If-None-Match", expected };
        let mut versions = Vec::new();
        let mut said = false;
        for value in headers.get_all(header::IF_NONE_MATCH) {
            said = true;
            match tags(value).ok_or_else(|| bad.clone())? {
                EntityTags::Any => return Ok(Self::Any),
                // This header uses weak comparison (RFC 9110).
                EntityTags::These(tags) => versions.extend(tags.iter().filter_map(version)),
            }
        }
        Ok(if said { Self::Versions(versions) } else { Self::Unsaid })
    }

    /// Whether the caller already has this version.
    pub fn has(&self, version: u64) -> bool {
        match self {
            Self::Unsaid => false,
            Self::Any => true,
            Self::Versions(versions) => versions.contains(&version),
        }
    }
}

/// `Prefer: wait=N`, in seconds and at most [`LONGEST_WAIT`]. A value that cannot be read is
/// ignored (RFC 7240 §2), as are other preferences.
pub fn prefer_wait(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(',')).map(|preference| {
        let preference = preference.split(';').next().unwrap_or_default();
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        (name.trim(), value.trim())
    });
    let (_, value) = preferences.find(|(name, _)| name.eq_ignore_ascii_case("wait"))?;
    let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let digits = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| bare.parse().unwrap_or(u64::MAX).min(LONGEST_WAIT))
}

/// The value of a header that may occur once.
fn one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    bad: BadHeader,
) -> Result<Option<&'a HeaderValue>, BadHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(bad),
    }
}

enum EntityTags<'a> {
    Any,
    These(Vec<EntityTag<'a>>),
}

struct EntityTag<'a> {
    weak: bool,
    text: &'a str,
}

fn version(tag: &EntityTag<'_>) -> Option<u64> {
    // Only the form that this server writes: "03" is another tag than "3".
    tag.text.parse().ok().filter(|version: &u64| version.to_string() == tag.text)
}

/// RFC 9110 §8.8.3: entity tags, separated by commas. `None` if the value is not valid.
fn tags(value: &HeaderValue) -> Option<EntityTags<'_>> {
    let mut rest = value.to_str().ok()?.trim();
    if rest == "*" {
        return Some(EntityTags::Any);
    }
    // Some clients drop the quotes; a bare number is unambiguous.
    if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(EntityTags::These(vec![EntityTag { weak: false, text: rest }]));
    }
    let mut tags = Vec::new();
    loop {
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (text, after) = quoted.strip_prefix('"')?.split_once('"')?;
        tags.push(EntityTag { weak, text });
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(EntityTags::These(tags));
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let pairs = values
            .iter()
            .map(|value| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        pairs.collect()
    }

    #[test]
    fn if_match_names_one_version() {
        for (values, read) in [
            (&[][..], Ok(None)),
            (&["*"], Ok(None)),
            (&["\"3\""], Ok(Some(3))),
            (&[" \"3\" "], Ok(Some(3))),
            (&["W/\"3\""], Ok(Some(0))),
            (&["\"03\""], Ok(Some(0))),
            (&["\"abc\""], Ok(Some(0))),
            (&["3"], Ok(Some(3))),
            (&["\"3"], Err(())),
            (&["v3"], Err(())),
            (&["3, 4"], Err(())),
            (&[""], Err(())),
            (&["\"3\", \"4\""], Err(())),
            (&["\"3\" \"4\""], Err(())),
            (&["\"3\"", "\"3\""], Err(())),
            (&["é"], Err(())),
        ] {
            let found = if_match(&headers("if-match", values)).map_err(|bad| {
                assert_eq!(bad.name, "If-Match");
            });
            assert_eq!(found, read, "{values:?}");
        }
    }

    #[test]
    fn if_none_match_takes_a_list() {
        for (values, has, read) in [
            (&[][..], 3, Ok(false)),
            (&["*"], 3, Ok(true)),
            (&["\"3\""], 3, Ok(true)),
            (&["W/\"3\""], 3, Ok(true)),
            (&["\"3\""], 4, Ok(false)),
            (&["\"1\", \"x\" ,W/\"3\""], 3, Ok(true)),
            (&["\"1\"", "\"3\""], 3, Ok(true)),
            (&["\"x\""], 3, Ok(false)),
            (&["3"], 3, Ok(true)),
            (&["x3"], 3, Err(())),
            (&["\"1\","], 3, Err(())),
        ] {
            let found = KnownVersions::read(&headers("if-none-match", values));
            let found = found.map(|seen| seen.has(has)).map_err(drop);
            assert_eq!(found, read, "{values:?}");
        }
    }

    #[test]
    fn prefer_names_whole_seconds() {
        for (values, read) in [
            (&[][..], None),
            (&["respond-async"], None),
            (&["wait=5"], Some(5)),
            (&["wait=\"5\""], Some(5)),
            (&["wait=0"], Some(0)),
            (&["respond-async, Wait = 7; x=1"], Some(7)),
            (&["respond-async", "wait=7"], Some(7)),
            (&["wait=600"], Some(60)),
            (&["wait=99999999999999999999999"], Some(60)),
            // RFC 7240 §2: the first one counts, and one that cannot be read is ignored.
            (&["wait=5, wait=7"], Some(5)),
            (&["wait=soon, wait=7"], None),
            (&["é", "wait=7"], Some(7)),
            (&["wait"], None),
            (&["wait="], None),
            (&["wait=\"\""], None),
            (&["wait=\"5"], None),
            (&["wait=soon"], None),
            (&["wait=-1"], None),
            (&["wait=1.5"], None),
            (&["é"], None),
        ] {
            assert_eq!(prefer_wait(&headers("prefer", values)), read, "{values:?}");
        }
    }
}
