//! Statistics about what agents claim and how people decide.
//!
//! Events are counted once, in small closed sets of bins, and the counts are stored; charts never
//! read the asks. A count holds no text and no person: it says how often, on which day, in which
//! project, by which agent.
//!
//! | module | contents |
//! |---|---|
//! | [`access`] | which counts a person or an agent may see |
//! | `count` | from an event to its counts |
//! | `scale` | the bins of numbers, and the statistics they allow |
//! | [`summary`] | from counts to the displayed figures |

pub mod access;
mod bins;
mod count;
pub mod summary;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::event::Event;
use crate::ids::{AgentId, ProjectId};
use crate::time::Time;

pub use bins::{Histogram, Span, TENTHS, WAITS};
use count::OTHER;
pub use count::{
    ACTIONS, COUNTED_EVENTS, INTENTS, MeasureBin, REFUSALS, SEVERITIES, counts_for, reading_millis,
};
pub use summary::{InsightSummary, LEAST_DECISIONS};

/// A quantity that is counted. Each has its own bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Asks, by the protocol they came through.
    Asked,
    /// Asks, by the completeness of their envelope, including those without one.
    Envelope,
    /// Messages, by the intent the agent states.
    Intent,
    /// Messages, by the confidence the agent states, in tenths.
    Confidence,
    /// Messages, by the cognitive load the agent states, from 1 to 10.
    Load,
    /// Messages in which agents refuse, by reason and severity.
    Refusal,
    /// Actions offered on an ask when a person first opened it, by type.
    Shown,
    /// Shown actions that a person picked, by type.
    Picked,
    /// The time from the ask to its first opening.
    FirstView,
    /// The time from the ask to the decision of a person.
    Decision,
    /// Closed asks, by how they ended.
    Ended,
    /// How people decided on the agents' recommendations.
    Verdict,
    /// Recommendations people decided on, by the claimed confidence, in tenths.
    Claimed,
    /// Recommendations people overruled, by the claimed confidence, in tenths.
    Overruled,
    /// Whether the person who decided had time to read the question.
    Reading,
}

impl Measure {
    /// All measures, in the order of declaration.
    pub const ALL: [Self; 15] = [
        Self::Asked,
        Self::Envelope,
        Self::Intent,
        Self::Confidence,
        Self::Load,
        Self::Refusal,
        Self::Shown,
        Self::Picked,
        Self::FirstView,
        Self::Decision,
        Self::Ended,
        Self::Verdict,
        Self::Claimed,
        Self::Overruled,
        Self::Reading,
    ];

    /// The measures by which agents are compared.
    pub const OF_AGENTS: [Self; 5] =
        [Self::Ended, Self::Verdict, Self::Claimed, Self::Overruled, Self::Reading];

    /// The measures that are shown day by day; the others are shown as totals of a period.
    pub const BY_DAY: [Self; 3] = [Self::Asked, Self::Load, Self::Ended];

    /// The name of the measure, as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Envelope => "envelope",
            Self::Intent => "intent",
            Self::Confidence => "confidence",
            Self::Load => "load",
            Self::Refusal => "refusal",
            Self::Shown => "shown",
            Self::Picked => "picked",
            Self::FirstView => "first_view",
            Self::Decision => "decision",
            Self::Ended => "ended",
            Self::Verdict => "verdict",
            Self::Claimed => "claimed",
            Self::Overruled => "overruled",
            Self::Reading => "reading",
        }
    }

    /// All bins of this measure. They are a closed list, so that counts can be found by their keys.
    pub fn bins(self) -> Vec<&'static str> {
        let with_others = |names: &[&'static str]| [names, &[OTHER]].concat();
        match self {
            Self::Asked => count::DIALECTS.to_vec(),
            Self::Envelope => count::ENVELOPE_LEVELS.to_vec(),
            Self::Intent => with_others(&INTENTS),
            Self::Confidence | Self::Claimed | Self::Overruled => TENTHS.to_vec(),
            Self::Load => bins::LOADS.to_vec(),
            Self::Refusal => count::REFUSED.concat(),
            Self::Shown | Self::Picked => with_others(&ACTIONS),
            Self::FirstView | Self::Decision => WAITS.map(|(name, _)| name).to_vec(),
            Self::Ended => count::ENDS.to_vec(),
            Self::Verdict => count::VERDICTS.to_vec(),
            Self::Reading => count::READINGS.to_vec(),
        }
    }

    /// The measure with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == name)
    }
}

/// A day in UTC, by its number since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

impl Day {
    /// The day that contains a moment.
    pub fn of(at: Time) -> Self {
        Self::from_number(at.millis().div_euclid(86_400_000))
    }

    /// The day with this number, clamped to the supported range.
    pub fn from_number(n: i64) -> Self {
        Self(i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX }))
    }

    /// The number of days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0.into()
    }

    /// The day this many days earlier.
    #[must_use]
    pub fn before(self, days: u16) -> Self {
        Self(self.0.saturating_sub(days.into()))
    }

    /// The following day.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The calendar date.
    pub fn date(self) -> Date {
        let midnight = Time::from_millis(self.number().saturating_mul(86_400_000));
        midnight.timestamp().to_zoned(TimeZone::UTC).date()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.date().fmt(f)
    }
}

impl FromStr for Day {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        let midnight = text.parse::<Date>()?.to_zoned(TimeZone::UTC)?;
        Ok(Self::of(Time::new(midnight.timestamp())))
    }
}

/// Whose asks are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountScope {
    /// All asks of the installation.
    All,
    /// The asks of a project.
    Project(ProjectId),
    /// The asks of an agent in a project.
    Agent(ProjectId, AgentId),
}

impl CountScope {
    /// The project as stored; empty for all, because no project has an empty id.
    pub fn project(&self) -> &str {
        match self {
            Self::All => "",
            Self::Project(project) | Self::Agent(project, _) => project.as_str(),
        }
    }

    /// The agent as stored; empty for all, because no agent has an empty id.
    pub fn agent(&self) -> &str {
        match self {
            Self::All | Self::Project(_) => "",
            Self::Agent(_, agent) => agent.as_str(),
        }
    }
}

/// The key of a count: one number is stored for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountKey {
    /// Whose asks are counted.
    pub scope: CountScope,
    /// The measure that is counted.
    pub measure: Measure,
    /// The day of the event.
    pub day: Day,
    /// The bin of the measure.
    pub bin: &'static str,
}

/// A set of counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<CountKey, u64>);

impl Tally {
    /// Counts one event of an ask for its agent, its project and the installation. Later events of
    /// the ask do not change the result.
    pub fn add(&mut self, event: &Event, ask: &Ask) {
        let day = Day::of(event.at);
        for (measure, bin) in counts_for(event, ask) {
            let project = || ask.project.clone();
            let agent = CountScope::Agent(project(), ask.agent.clone());
            for whose in [CountScope::All, CountScope::Project(project()), agent] {
                *self.0.entry(CountKey { scope: whose, measure, day, bin }).or_default() += 1;
            }
        }
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        for (cell, n) in &other.0 {
            *self.0.entry(cell.clone()).or_default() += n;
        }
    }

    /// The counts, in order.
    pub fn cells(&self) -> impl Iterator<Item = (&CountKey, u64)> {
        self.0.iter().map(|(cell, n)| (cell, *n))
    }

    /// Removes the counts before a day and returns how many there were.
    pub fn forget(&mut self, before: Day) -> u64 {
        let had = self.0.len();
        self.0.retain(|cell, _| cell.day >= before);
        (had - self.0.len()) as u64
    }

    /// Whether there are no counts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let day = Day::of(at("2026-02-06T23:59:59.999Z"));
        assert_eq!(day.to_string(), "2026-02-06");
        assert_eq!(Day::of(at("2026-02-07T00:00:00Z")), day.next());
        assert_eq!("2026-02-06".parse::<Day>().unwrap(), day);
        assert_eq!(Day::of(at("1969-12-31T23:59:59Z")).number(), -1);
        assert!("tomorrow".parse::<Day>().is_err());
        // No day number a caller can give overflows.
        for n in [i64::MIN, i64::MAX] {
            let _ = Day::from_number(n).before(u16::MAX).next().to_string();
        }
    }

    #[test]
    fn a_measure_has_one_name() {
        for measure in Measure::ALL {
            assert_eq!(Measure::from_name(measure.as_str()), Some(measure));
        }
        assert_eq!(Measure::from_name("people"), None);
    }

    /// The bins of a measure have distinct names, so a lookup by name is unambiguous.
    #[test]
    fn the_bins_of_a_measure_differ() {
        for measure in Measure::ALL {
            let bins = measure.bins();
            let names: std::collections::BTreeSet<_> = bins.iter().collect();
            assert_eq!(names.len(), bins.len(), "{measure:?}");
        }
    }
}
