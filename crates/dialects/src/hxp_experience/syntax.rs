//! The syntax of versions and languages: in the published schema, and in the standards that the
//! specification names.

/// A version by the published schema: three numbers, and after `-` and `+` any ASCII alphanumerics,
/// hyphens and dots.
pub(super) fn is_version(text: &str) -> bool {
    let (text, build) = split(text, '+');
    let (text, pre) = split(text, '-');
    let loose = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
    };
    numbers(text) && pre.is_none_or(loose) && build.is_none_or(loose)
}

/// A version by Semantic Versioning 2.0.0: identifiers are not empty, and numeric ones have no
/// leading zeros.
pub(super) fn is_semver(text: &str) -> bool {
    let (text, build) = split(text, '+');
    let (text, pre) = split(text, '-');
    let name = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let ranked =
        |part: &str| name(part) && (!part.bytes().all(|b| b.is_ascii_digit()) || number(part));
    numbers(text)
        && pre.is_none_or(|pre| pre.split('.').all(ranked))
        && build.is_none_or(|build| build.split('.').all(name))
}

/// The major number of a version.
pub(super) fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or_default()
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

fn numbers(text: &str) -> bool {
    text.split('.').count() == 3 && text.split('.').all(number)
}

/// ASCII digits without leading zeros. Digits of other scripts do not count.
fn number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

/// Tags that predate the grammar and violate it (RFC 5646, 2.2.8).
const IRREGULAR: [&str; 17] = [
    "en-gb-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-be-fr",
    "sgn-be-nl",
    "sgn-ch-de",
];

/// Whether a language tag is well-formed by RFC 5646 (BCP 47): language, script, region, variants,
/// extensions, private use. It does not check whether the parts are registered.
pub fn is_language(tag: &str) -> bool {
    // Fast path: nearly every tag is a language, or a language with a region.
    if let [b'a'..=b'z', b'a'..=b'z'] | [b'a'..=b'z', b'a'..=b'z', b'-', b'A'..=b'Z', b'A'..=b'Z'] =
        tag.as_bytes()
    {
        return true;
    }
    if IRREGULAR.iter().any(|known| known.eq_ignore_ascii_case(tag)) {
        return true;
    }
    let of = |part: &str, least: usize, most: usize| {
        (least..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !tag.split('-').all(|part| of(part, 1, 8)) {
        return false;
    }
    let mut parts = tag.split('-').peekable();
    let first = parts.next().unwrap_or_default();
    if first.eq_ignore_ascii_case("x") {
        return parts.peek().is_some();
    }
    if !letters(first) || first.len() < 2 {
        return false;
    }
    if first.len() <= 3 {
        for _ in 0..3 {
            if parts.next_if(|part| part.len() == 3 && letters(part)).is_none() {
                break;
            }
        }
    }
    let _script = parts.next_if(|part| part.len() == 4 && letters(part));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let _region = parts
        .next_if(|part| (part.len() == 2 && letters(part)) || (part.len() == 3 && digits(part)));
    let mut variants = Vec::new();
    let begins = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    while let Some(part) =
        parts.next_if(|part| part.len() >= 5 || (part.len() == 4 && begins(part)))
    {
        variants.push(part.to_ascii_lowercase());
    }
    let mut singletons = Vec::new();
    while let Some(singleton) = parts.next_if(|part| part.len() == 1) {
        let private = singleton.eq_ignore_ascii_case("x");
        let least = if private { 1 } else { 2 };
        let mut any = false;
        while parts.next_if(|part| part.len() >= least).is_some() {
            any = true;
        }
        singletons.push(singleton.to_ascii_lowercase());
        if !any {
            return false;
        }
    }
    parts.next().is_none() && distinct(variants) && distinct(singletons)
}

fn distinct(mut parts: Vec<String>) -> bool {
    let all = parts.len();
    parts.sort_unstable();
    parts.dedup();
    parts.len() == all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPE-007, HXPE-008: the published pattern and Semantic Versioning, side by side.
    #[test]
    fn versions_in_both_readings() {
        for (text, loose, real) in [
            ("1.0.0", true, true),
            ("2.3.4", true, true),
            ("0.0.0", true, true),
            ("1.0.0-rc.1", true, true),
            ("1.0.0+b.1", true, true),
            ("1.0.0-rc.1+b-2.001", true, true),
            ("1.0.0-x-y.--", true, true),
            ("1.0.0+b-1", true, true),
            ("999999999999999999999.0.0", true, true),
            ("1.0.0-01", true, false),
            ("1.0.0-a..b", true, false),
            ("1.0.0-.", true, false),
            ("1.0.0+a..b", true, false),
            ("1.0.0-0a", true, true),
            ("1.0", false, false),
            ("1.0.0.0", false, false),
            ("v1.0.0", false, false),
            ("01.0.0", false, false),
            ("1.00.0", false, false),
            ("1.0.0-", false, false),
            ("1.0.0+", false, false),
            ("1.0.0+a+b", false, false),
            ("1.0.0-a_b", false, false),
            ("", false, false),
            (" 1.0.0", false, false),
            ("1.0.0 ", false, false),
            ("1.0.0\n", false, false),
            ("1.0.0-a\n", false, false),
            ("1.0.-1", false, false),
            ("١.0.0", false, false),
            ("1.0.0-é", false, false),
            ("1..0", false, false),
        ] {
            assert_eq!((is_version(text), is_semver(text)), (loose, real), "{text:?}");
        }
        assert_eq!(major("12.0.0-rc"), "12");
    }

    /// HXPE-015: the grammar of RFC 5646, with its own examples.
    #[test]
    fn languages_are_well_formed_tags() {
        for tag in [
            "en",
            "tr",
            "en-US",
            "de",
            "fr",
            "i-enochian",
            "zh-Hant",
            "zh-cmn-Hans-CN",
            "cmn-Hans-CN",
            "sr-Latn-RS",
            "sl-rozaj-biske-1994",
            "de-CH-1901",
            "hy-Latn-IT-arevela",
            "es-419",
            "de-CH-x-phonebk",
            "az-Arab-x-AZE-derbend",
            "x-whatever",
            "qaa-Qaaa-QM-x-southern",
            "en-US-u-islamcal",
            "zh-CN-a-myext-x-private",
            "en-a-myext-b-another",
            "i-klingon",
            "I-KLINGON",
            "art-lojban",
            "zh-min-nan",
            "x-a-b",
            "abcdefgh",
        ] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in [
            "",
            "e",
            "not a tag!!",
            "en_US",
            "en-",
            "-en",
            "en--US",
            "abcdefghi",
            "a-DE",
            "de-419-DE",
            "ar-a-aaa-b-bbb-a-ccc",
            "sl-rozaj-rozaj",
            "x",
            "en-x",
            "en-u",
            "1",
            "éé",
            "en-US\n",
            "12",
        ] {
            assert!(!is_language(tag), "{tag:?}");
        }
    }
}
