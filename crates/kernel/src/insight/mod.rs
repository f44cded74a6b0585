//! Numbers about what agents claim and what people do with it.
//!
//! What happened is counted once, in small closed sets of bins, and the counts are kept; nobody looks
//! at asks to draw a chart. A count holds no words and no person: it says how often, on which day, in
//! which project, by which agent.
//!
//! | module | what it holds |
//! |---|---|
//! | [`access`] | which counts a person or an agent may see |
//! | `count` | from an event to what it counts for |
//! | `scale` | the bins of numbers, and what can be said from bins |
//! | [`summary`] | from counts to what is shown |

pub mod access;
mod count;
mod scale;
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

use count::OTHER;
pub use count::{
    ACTIONS, COUNTED, Count, INTENTS, REFUSALS, SEVERITIES, counts_for, reading_millis,
};
pub use scale::{Histogram, Span, TENTHS, WAITS};
pub use summary::{LEAST_DECISIONS, Summary};

/// What is counted. Each has its own bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Asks, by the protocol they came in.
    Asked,
    /// Asks, by how much their envelope tells, or that they have none.
    Envelope,
    /// What agents say their message is for.
    Intent,
    /// How sure agents say they are, in tenths.
    Confidence,
    /// How hard agents say their message is, from 1 to 10.
    Load,
    /// Messages by which agents refuse, by reason and severity.
    Refusal,
    /// Actions that were on an ask when a person first looked, by type.
    Shown,
    /// Of those, the ones somebody picked.
    Picked,
    /// From the ask to the first look.
    FirstView,
    /// From the ask to the decision of a person.
    Decision,
    /// How asks ended.
    Ended,
    /// What people made of what agents recommended.
    Verdict,
    /// Recommendations people decided on, by the confidence claimed, in tenths.
    Claimed,
    /// Of those, the ones people overruled.
    Overruled,
    /// Whether whoever decided had the time to read what they decided on.
    Reading,
}

impl Measure {
    /// Every measure.
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

    /// What agents are compared by.
    pub const OF_AGENTS: [Self; 5] =
        [Self::Ended, Self::Verdict, Self::Claimed, Self::Overruled, Self::Reading];

    /// What is shown day by day; of the others only what a stretch of days comes to.
    pub const BY_DAY: [Self; 3] = [Self::Asked, Self::Load, Self::Ended];

    /// Its name, as stored and shown.
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

    /// What can be counted under it, and nothing else: the bins of every measure are a closed list, so
    /// that counts are found by their keys.
    pub fn bins(self) -> Vec<&'static str> {
        let with_others = |names: &[&'static str]| [names, &[OTHER]].concat();
        match self {
            Self::Asked => count::DIALECTS.to_vec(),
            Self::Envelope => count::TOLD.to_vec(),
            Self::Intent => with_others(&INTENTS),
            Self::Confidence | Self::Claimed | Self::Overruled => TENTHS.to_vec(),
            Self::Load => scale::LOADS.to_vec(),
            Self::Refusal => count::REFUSED.concat(),
            Self::Shown | Self::Picked => with_others(&ACTIONS),
            Self::FirstView | Self::Decision => WAITS.map(|(name, _)| name).to_vec(),
            Self::Ended => count::ENDS.to_vec(),
            Self::Verdict => count::VERDICTS.to_vec(),
            Self::Reading => count::READINGS.to_vec(),
        }
    }

    /// The measure of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == name)
    }
}

/// A day in UTC, by its number since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

impl Day {
    /// The day of a moment.
    pub fn of(at: Time) -> Self {
        Self::numbered(at.millis().div_euclid(86_400_000))
    }

    /// The day with this number; beyond all days there is the last.
    pub fn numbered(n: i64) -> Self {
        Self(i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX }))
    }

    /// Its number.
    pub fn number(self) -> i64 {
        self.0.into()
    }

    /// So many days earlier.
    #[must_use]
    pub fn before(self, days: u16) -> Self {
        Self(self.0.saturating_sub(days.into()))
    }

    /// The day after.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// As the calendar has it.
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
pub enum Whose {
    /// Everybody's.
    All,
    /// Those of a project.
    Project(ProjectId),
    /// Those of an agent in a project.
    Agent(ProjectId, AgentId),
}

impl Whose {
    /// The project, as stored; no project has an empty name.
    pub fn project(&self) -> &str {
        match self {
            Self::All => "",
            Self::Project(project) | Self::Agent(project, _) => project.as_str(),
        }
    }

    /// The agent, as stored; no agent has an empty name.
    pub fn agent(&self) -> &str {
        match self {
            Self::All | Self::Project(_) => "",
            Self::Agent(_, agent) => agent.as_str(),
        }
    }
}

/// What is counted together: one number is kept for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Whose asks.
    pub whose: Whose,
    /// What.
    pub measure: Measure,
    /// When.
    pub day: Day,
    /// In which of its bins.
    pub bin: &'static str,
}

/// Counts that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Cell, u64>);

impl Tally {
    /// Counts one event of an ask, for its agent, its project and everybody. The ask may have gone on
    /// since: what an event counts for is the same then.
    pub fn add(&mut self, event: &Event, ask: &Ask) {
        let day = Day::of(event.at);
        for (measure, bin) in counts_for(event, ask) {
            let project = || ask.project.clone();
            let agent = Whose::Agent(project(), ask.agent.clone());
            for whose in [Whose::All, Whose::Project(project()), agent] {
                *self.0.entry(Cell { whose, measure, day, bin }).or_default() += 1;
            }
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (cell, n) in &other.0 {
            *self.0.entry(cell.clone()).or_default() += n;
        }
    }

    /// What was counted, in order.
    pub fn cells(&self) -> impl Iterator<Item = (&Cell, u64)> {
        self.0.iter().map(|(cell, n)| (cell, *n))
    }

    /// Forgets the days before one; how many counts that were.
    pub fn forget(&mut self, before: Day) -> u64 {
        let had = self.0.len();
        self.0.retain(|cell, _| cell.day >= before);
        (had - self.0.len()) as u64
    }

    /// Whether nothing was counted.
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
        // Nothing a caller can name goes over an edge.
        for n in [i64::MIN, i64::MAX] {
            let _ = Day::numbered(n).before(u16::MAX).next().to_string();
        }
    }

    #[test]
    fn a_measure_has_one_name() {
        for measure in Measure::ALL {
            assert_eq!(Measure::named(measure.as_str()), Some(measure));
        }
        assert_eq!(Measure::named("people"), None);
    }

    /// A bin has one name among those of its measure: what is asked for by name is asked for once.
    #[test]
    fn the_bins_of_a_measure_differ() {
        for measure in Measure::ALL {
            let bins = measure.bins();
            let names: std::collections::BTreeSet<_> = bins.iter().collect();
            assert_eq!(names.len(), bins.len(), "{measure:?}");
        }
    }
}
