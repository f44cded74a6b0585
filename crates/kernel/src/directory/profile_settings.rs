//! What people say about themselves: a description, their time zone, their quiet hours, and their
//! absences with a substitute. All of it is personal data.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use super::Human;
use crate::ids::HumanId;
use crate::strict::object;
use crate::time::Time;

/// The settings that people make for themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = About))]
pub struct ProfileSettings {
    /// A description: their role, or topics to ask them about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 1000))]
    pub description: Option<String>,
    /// Their time zone, by its name in the IANA database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "Europe/Berlin"))]
    pub time_zone: Option<String>,
    /// The language they prefer, as in BCP 47.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "de-AT"))]
    pub language: Option<String>,
    /// The quiet hours, in their time zone or in UTC.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
    /// The absence and the delegate.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub absence: Option<Absence>,
    /// For how many seconds they can undo an answer on a page; 5 by default, 0 turns it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(maximum = 60))]
    pub undo_seconds: Option<u64>,
}

/// For how many seconds an answer can be undone, unless the person's profile says otherwise.
pub const UNDO_SECONDS: u64 = 5;
/// The longest undo time a person can set, in seconds. The agent waits for it.
pub const LONGEST_UNDO: u64 = 60;

impl ProfileSettings {
    /// Whether no field is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// When the quiet hours end, if `now` is within them.
    pub fn quiet_until(&self, now: Time) -> Option<Time> {
        quiet_until(now, self.quiet_hours.as_ref()?, &self.zone())
    }

    /// The time zone in which their times of day are read: their own, or UTC.
    pub fn zone(&self) -> TimeZone {
        self.time_zone.as_deref().and_then(zone).unwrap_or(TimeZone::UTC)
    }
}

impl Human {
    /// Their self-description; `None` if they gave none or it was erased.
    pub fn profile_settings(&self) -> Option<&ProfileSettings> {
        self.profile.value()?.about.as_ref()
    }

    /// For how many seconds their answers on a page can be undone; 0 for not at all.
    pub fn undo_seconds(&self) -> u64 {
        self.profile_settings().and_then(|about| about.undo_seconds).unwrap_or(UNDO_SECONDS)
    }

    /// Their contact methods in the order in which to try them; `None` if unknown.
    pub fn contacts(&self) -> Option<&[super::Contact]> {
        self.profile.value()?.contacts.as_deref()
    }

    /// Their absence, if they are away at that time.
    pub fn absence_at(&self, at: Time) -> Option<&Absence> {
        self.profile_settings()?.absence.as_ref().filter(|absence| absence.covers(at))
    }
}

/// The time zone of a name in the IANA database. The database is compiled in, so the result does
/// not depend on files of the machine.
pub fn zone(name: &str) -> Option<TimeZone> {
    let known = TimeZoneDatabase::bundled().get(name).ok()?;
    // The database also accepts `europe/berlin`; only the official spelling is allowed.
    (known.iana_name() == Some(name)).then_some(known)
}

/// A time of day, to the minute, as clocks show it: `22:30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay {
    minutes: u16,
}

/// The text is not a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a time of day such as 22:30")]
pub struct BadTimeOfDay;

impl TimeOfDay {
    pub(crate) fn civil(self) -> civil::Time {
        let part = |n: u16| i8::try_from(n).unwrap_or(0);
        civil::time(part(self.minutes / 60), part(self.minutes % 60), 0, 0)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

impl FromStr for TimeOfDay {
    type Err = BadTimeOfDay;

    fn from_str(text: &str) -> Result<Self, BadTimeOfDay> {
        let (hours, minutes) = text.split_once(':').ok_or(BadTimeOfDay)?;
        let part = |text: &str, most: u16| {
            let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|n| digits && *n <= most).ok_or(BadTimeOfDay)
        };
        Ok(Self { minutes: part(hours, 23)? * 60 + part(minutes, 59)? })
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
crate::openapi::text!(TimeOfDay, "^([01][0-9]|2[0-3]):[0-5][0-9]$");

/// Daily quiet hours, which can cross midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// The start.
    pub from: TimeOfDay,
    /// The end.
    pub to: TimeOfDay,
}

/// An absence and the delegate for that time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Absence {
    /// The start; if absent, the absence has already started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// The end; if absent, the absence lasts until it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The person who is asked instead. If absent, away too, or not a member of the project, the
    /// absent person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<HumanId>,
}

impl Absence {
    /// Whether they are away at that time.
    pub fn covers(&self, at: Time) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// When the quiet hours end, if `now` is within them.
///
/// Quiet hours begin on one day and end on that day or the next. If a clock change skips their end,
/// they end correspondingly later; if a clock change repeats it, they end at the first of the two.
pub fn quiet_until(now: Time, hours: &QuietHours, zone: &TimeZone) -> Option<Time> {
    let today = now.timestamp().to_zoned(zone.clone()).date();
    let moment = |day: civil::Date, at: TimeOfDay| {
        let local = day.to_datetime(at.civil());
        zone.to_ambiguous_timestamp(local).compatible().ok().map(Time::new)
    };
    let begun = [today.yesterday().ok(), Some(today)];
    let mut ends = begun.into_iter().flatten().filter_map(|day| {
        let last = if hours.from < hours.to { day } else { day.tomorrow().ok()? };
        let (start, end) = (moment(day, hours.from)?, moment(last, hours.to)?);
        (start <= now && now < end).then_some(end)
    });
    ends.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(from: &str, to: &str) -> QuietHours {
        QuietHours { from: from.parse().unwrap(), to: to.parse().unwrap() }
    }

    #[test]
    fn quiet_hours_end_where_clocks_there_say_so() {
        let night = ("22:00", "07:00");
        for (now, (from, to), name, until) in [
            // In winter, over midnight, from both sides of it.
            ("2026-01-10T20:59:59Z", night, "Europe/Berlin", None),
            ("2026-01-10T21:00:00Z", night, "Europe/Berlin", Some("2026-01-11T06:00:00Z")),
            ("2026-01-11T05:59:59Z", night, "Europe/Berlin", Some("2026-01-11T06:00:00Z")),
            ("2026-01-11T06:00:00Z", night, "Europe/Berlin", None),
            // In summer an hour earlier.
            ("2026-07-10T20:00:00Z", night, "Europe/Berlin", Some("2026-07-11T05:00:00Z")),
            // Within a day.
            ("2026-01-10T12:30:00Z", ("12:00", "13:30"), "UTC", Some("2026-01-10T13:30:00Z")),
            ("2026-01-10T13:30:00Z", ("12:00", "13:30"), "UTC", None),
            // On the other side of the date line.
            ("2026-01-10T11:00:00Z", night, "Pacific/Auckland", Some("2026-01-10T18:00:00Z")),
            // The night in which clocks are set forward is an hour shorter.
            ("2026-03-28T21:30:00Z", night, "Europe/Berlin", Some("2026-03-29T05:00:00Z")),
            // An end that a clock change skips is later: 02:30 does not exist, so it is 03:30.
            (
                "2026-03-29T00:30:00Z",
                ("22:00", "02:30"),
                "Europe/Berlin",
                Some("2026-03-29T01:30:00Z"),
            ),
            // An end that occurs twice is the first.
            (
                "2026-10-25T00:20:00Z",
                ("22:00", "02:30"),
                "Europe/Berlin",
                Some("2026-10-25T00:30:00Z"),
            ),
            ("2026-10-25T01:10:00Z", ("22:00", "02:30"), "Europe/Berlin", None),
            // Half-hour time zones.
            ("2026-01-10T16:30:00Z", night, "Asia/Kolkata", Some("2026-01-11T01:30:00Z")),
        ] {
            let zone = zone(name).unwrap();
            let found = quiet_until(now.parse().unwrap(), &hours(from, to), &zone);
            let until = until.map(|at| at.parse::<Time>().unwrap());
            assert_eq!(found, until, "{now} {from}-{to} {name}");
        }
    }

    #[test]
    fn quiet_hours_without_a_zone_are_utc() {
        let quiet_hours = Some(hours("22:00", "07:00"));
        let about = ProfileSettings { quiet_hours, ..ProfileSettings::default() };
        let at = |text: &str| text.parse::<Time>().unwrap();
        assert_eq!(about.quiet_until(at("2026-01-10T23:00:00Z")), Some(at("2026-01-11T07:00:00Z")));
        assert_eq!(ProfileSettings::default().quiet_until(at("2026-01-10T23:00:00Z")), None);
    }

    #[test]
    fn zones_are_those_of_the_database_as_it_spells_them() {
        for (name, known) in [
            ("Europe/Berlin", true),
            ("UTC", true),
            ("America/Argentina/Buenos_Aires", true),
            ("europe/berlin", false),
            ("Mars/Olympus", false),
            ("+02:00", false),
            ("", false),
        ] {
            assert_eq!(zone(name).is_some(), known, "{name}");
        }
    }

    #[test]
    fn times_of_day_have_two_digits_each() {
        for good in ["00:00", "07:05", "23:59"] {
            assert_eq!(good.parse::<TimeOfDay>().unwrap().to_string(), good);
        }
        for bad in ["", "7:05", "24:00", "23:60", "+1:00", "12:00:00", "12", "12.00"] {
            assert_eq!(bad.parse::<TimeOfDay>(), Err(BadTimeOfDay), "{bad}");
        }
    }

    #[test]
    fn an_absence_holds_from_its_beginning_until_before_its_end() {
        let at = Time::from_millis;
        let (from, until) = (Some(at(10)), Some(at(20)));
        for (from, until, moment, holds) in [
            (None, None, 15, true),
            (from, until, 9, false),
            (from, until, 10, true),
            (from, until, 19, true),
            (from, until, 20, false),
            (from, None, 99, true),
            (None, until, 0, true),
        ] {
            let absence = Absence { from, until, delegate: None };
            assert_eq!(absence.covers(at(moment)), holds, "{absence:?} at {moment}");
        }
    }
}
