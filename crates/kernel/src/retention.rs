//! How long the text of closed asks and tasks is kept. The installation sets it, and a project may
//! override it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The setting: a period, or no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetentionSetting {
    /// Until it is erased by a command.
    Always,
    /// This long after the ask or task is closed.
    For(Retention),
}

/// A period of whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    seconds: u64,
}

/// The accepted values of the setting.
const EXPECTED: &str = "a number of days such as 30d, of hours such as 12h, or off";
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;
/// A hundred years. A longer period is a mistake.
const LONGEST: u64 = 36_600 * DAY;

impl Retention {
    /// The period in milliseconds.
    pub fn millis(self) -> i64 {
        i64::try_from(self.seconds * 1000).unwrap_or(i64::MAX)
    }

    /// The period in days, rounded up.
    pub fn days(self) -> u64 {
        self.seconds.div_ceil(DAY)
    }
}

impl RetentionSetting {
    /// The period; `None` without a limit.
    pub fn period(self) -> Option<Retention> {
        match self {
            Self::Always => None,
            Self::For(retention) => Some(retention),
        }
    }
}

impl FromStr for RetentionSetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text == "off" {
            return Ok(Self::Always);
        }
        let (number, unit) = match text.strip_suffix('h') {
            Some(hours) => (hours, HOUR),
            None => (text.strip_suffix('d').unwrap_or(text), DAY),
        };
        // `parse` also accepts a sign, which must be refused here.
        if !number.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(EXPECTED);
        }
        let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        match seconds {
            Some(seconds @ HOUR..=LONGEST) => Ok(Self::For(Retention { seconds })),
            Some(_) => Err("at least 1h and at most 100 years, or off"),
            None => Err(EXPECTED),
        }
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            seconds if seconds.is_multiple_of(DAY) => write!(f, "{}d", seconds / DAY),
            seconds => write!(f, "{}h", seconds / HOUR),
        }
    }
}

impl fmt::Display for RetentionSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("off"),
            Self::For(retention) => retention.fmt(f),
        }
    }
}

#[cfg(feature = "openapi")]
crate::openapi::text!(RetentionSetting as Keep, "^([1-9][0-9]*[dh]?|off)$");

impl Serialize for RetentionSetting {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RetentionSetting {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// The setting as JSON: a number of days, or a text.
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number of days such as 30d, of hours such as 12h, or off")]
        enum Given {
            Days(u64),
            Text(String),
        }
        let text = match Given::deserialize(from)? {
            Given::Days(days) => days.to_string(),
            Given::Text(text) => text,
        };
        text.parse().map_err(|expected| serde::de::Error::custom(format!("expected {expected}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_hours_read_back() {
        for (text, shown, days) in
            [("30d", "30d", 30), ("30", "30d", 30), ("12h", "12h", 1), ("48h", "2d", 2)]
        {
            let Ok(RetentionSetting::For(retention)) = text.parse() else { panic!("{text}") };
            assert_eq!((retention.to_string().as_str(), retention.days()), (shown, days));
        }
        assert_eq!("off".parse(), Ok(RetentionSetting::Always));
        for bad in ["", "d", "h", "0", "0d", "-1d", "+1d", "1.5d", "30 d", "1w", "never", "36601d"]
        {
            assert!(bad.parse::<RetentionSetting>().is_err(), "{bad}");
        }
        assert!(format!("{}d", u64::MAX).parse::<RetentionSetting>().is_err());
    }
}
