//! Timestamps with millisecond precision.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A moment in UTC with millisecond precision. All events, receipts and deadlines use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(jiff::Timestamp);

/// A hundred years. Longer timeouts are mistakes.
pub const LONGEST_TIMEOUT: u64 = 100 * 366 * 24 * 60 * 60;

impl Time {
    /// The latest possible moment.
    pub const LAST: Self = Self(jiff::Timestamp::MAX);

    /// A moment, truncated to the millisecond.
    pub fn new(at: jiff::Timestamp) -> Self {
        Self::from_millis(at.as_millisecond())
    }

    /// Milliseconds since 1970; values out of range are clamped.
    pub fn from_millis(millis: i64) -> Self {
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or(if millis < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        }))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// The moment as a jiff timestamp.
    pub fn timestamp(self) -> jiff::Timestamp {
        self.0
    }

    /// The moment `seconds` later.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Self {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        Self::from_millis(self.millis().saturating_add(millis))
    }

    /// Whole seconds from `earlier` to this moment, rounded, never negative.
    pub fn seconds_since(self, earlier: Self) -> u64 {
        u64::try_from((self.millis() - earlier.millis() + 500) / 1000).unwrap_or(0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse().map(Self::new)
    }
}

#[cfg(feature = "openapi")]
crate::openapi::moment!(Time);

impl Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        // jiff's error describes its own notation, which accepts more than RFC 3339.
        let expected = "expected a time in RFC 3339 format, such as 2026-11-15T09:00:00Z";
        text.parse().map_err(|_| serde::de::Error::custom(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPX-020: ISO 8601 UTC with `Z` and milliseconds.
    #[test]
    fn shown_with_milliseconds_and_z() {
        let at = Time::from_millis(1_770_372_000_000);
        assert_eq!(at.to_string(), "2026-02-06T10:00:00.000Z");
        assert_eq!("2026-02-06T11:00:00.0004+01:00".parse::<Time>().unwrap(), at);
    }

    #[test]
    fn far_ends_do_not_wrap() {
        let at = Time::from_millis(0).plus_seconds(u64::MAX);
        assert!(at > Time::from_millis(0));
        assert_eq!(Time::from_millis(0).seconds_since(at), 0);
        assert_eq!(Time::from_millis(1_499).seconds_since(Time::from_millis(0)), 1);
    }
}
