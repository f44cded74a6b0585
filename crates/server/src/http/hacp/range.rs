//! `Range`: the requested part of the content.

use std::ops::Range;

use axum::http::{HeaderMap, header};

/// The part of the content that a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    Part(Range<u64>),
    /// A range outside the content.
    Nothing,
}

/// The part of `size` bytes with this tag that a request asks for. As HTTP requires, a range that
/// cannot be read, several ranges, and a range of other content (`If-Range`) are ignored, and the
/// whole content is sent.
pub(super) fn wanted(headers: &HeaderMap, size: u64, tag: &str) -> Wanted {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|seen| seen != tag) {
        return Wanted::All;
    }
    text(header::RANGE).and_then(|range| read(range, size)).unwrap_or(Wanted::All)
}

fn read(range: &str, size: u64) -> Option<Wanted> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let range = match (first, last) {
        ("", last) => size.saturating_sub(number(last)?)..size,
        (first, "") => number(first)?..size,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(size)
        }
    };
    Some(if range.start < range.end { Wanted::Part(range) } else { Wanted::Nothing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ten(range: &str, tag: Option<&str>) -> Wanted {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, range.parse().unwrap());
        if let Some(tag) = tag {
            headers.insert(header::IF_RANGE, tag.parse().unwrap());
        }
        wanted(&headers, 10, "\"a\"")
    }

    #[test]
    fn a_range_is_one_of_what_is_there() {
        for (range, start, end) in [
            ("bytes=0-0", 0, 1),
            ("bytes=2-5", 2, 6),
            ("bytes=9-", 9, 10),
            ("bytes=0-", 0, 10),
            ("bytes=0-99", 0, 10),
            ("bytes=-3", 7, 10),
            ("bytes=-99", 0, 10),
            ("Bytes = 3-18446744073709551615", 3, 10),
        ] {
            assert_eq!(of_ten(range, None), Wanted::Part(start..end), "{range}");
        }
        for range in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99-"] {
            assert_eq!(of_ten(range, None), Wanted::Nothing, "{range}");
        }
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=0-1,3-4",
        ] {
            assert_eq!(of_ten(range, None), Wanted::All, "{range}");
        }
        assert_eq!(of_ten("lines=0-1", None), Wanted::All);
        assert_eq!(of_ten("bytes=0-1", Some("\"a\"")), Wanted::Part(0..2));
        assert_eq!(of_ten("bytes=0-1", Some("\"b\"")), Wanted::All);
        assert_eq!(wanted(&HeaderMap::new(), 10, ""), Wanted::All);
    }
}
