//! From counts to displayed figures: shares, medians and trends, for pages, programs and operators.

use std::collections::BTreeMap;

use super::bins::{Histogram, LOADS, TENTHS, number};
use super::count::{ACTIONS, ENVELOPE_LEVELS, INTENTS, REFUSALS, SEVERITIES};
use super::{CountScope, Day, Measure};

/// With fewer decisions than this, no calibration is shown: one answer would change it too much,
/// and could reveal whose it was.
pub const LEAST_DECISIONS: u64 = 20;

/// One count, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCount {
    /// Whose asks are counted.
    pub scope: CountScope,
    /// The measure that is counted.
    pub measure: Measure,
    /// The day of the events.
    pub day: Day,
    /// The bin of the measure; unknown names are ignored.
    pub bin: String,
    /// The number of occurrences.
    pub n: u64,
}

/// The figures of a period.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InsightSummary {
    /// The number of asks, by the protocol they came through.
    pub asked: Vec<(String, u64)>,
    /// The number of asks, by the completeness of their envelope.
    pub envelopes: Vec<(&'static str, u64)>,
    /// The number of messages by intent, in the order of the specification.
    pub intents: Vec<(&'static str, u64)>,
    /// The number of messages by claimed confidence, in tenths.
    pub confidence: [u64; 10],
    /// The number of messages by claimed load, from 1.
    pub load: [u64; 10],
    /// The figures of every day of the period.
    pub days: Vec<DaySummary>,
    /// Refusals by reason and severity.
    pub refusals: Vec<(&'static str, &'static str, u64)>,
    /// The actions that agents offered, by type.
    pub actions: Vec<ActionSummary>,
    /// The time from the ask to its first opening.
    pub first_view: Histogram,
    /// The time from the ask to the decision.
    pub decision: Histogram,
    /// How asks ended.
    pub ended: EndingCounts,
    /// How people decided on recommendations.
    pub verdicts: VerdictCounts,
    /// The claimed confidence compared with people's decisions, if there are enough of them.
    pub calibration: Calibration,
    /// Whether people had time to read.
    pub reading: ReadingCounts,
}

/// The figures of one day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DaySummary {
    /// The day the figures belong to.
    pub day: Day,
    /// The number of asks on this day.
    pub asked: u64,
    /// The number of asks that ended on this day.
    pub ended: u64,
    /// The average claimed load of the messages; `None` if there were none.
    pub load: Option<f64>,
}

/// The figures of one type of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionSummary {
    /// The type of action.
    pub kind: &'static str,
    /// The number of opened asks that offered it.
    pub shown: u64,
    /// The number of asks on which it was picked.
    pub picked: u64,
}

impl ActionSummary {
    /// The share that was picked. If it was picked on an unopened ask, it counts as shown.
    pub fn rate(&self) -> Option<f64> {
        share(self.picked, self.shown.max(self.picked))
    }
}

/// How asks ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndingCounts {
    /// Asks that were answered.
    pub answered: u64,
    /// Asks whose default was taken because there was no answer.
    pub defaulted: u64,
    /// Asks whose deadline passed.
    pub expired: u64,
    /// Asks whose deadline passed as a failure.
    pub failed: u64,
    /// Asks that were withdrawn.
    pub cancelled: u64,
}

impl EndingCounts {
    /// The number of asks that ended.
    pub fn total(&self) -> u64 {
        self.answered + self.defaulted + self.expired + self.failed + self.cancelled
    }

    /// The number of asks whose deadline passed without an answer, with any consequence.
    pub fn unanswered(&self) -> u64 {
        self.defaulted + self.expired + self.failed
    }

    /// The share of ended asks that expired without an answer.
    pub fn expiry_rate(&self) -> Option<f64> {
        share(self.unanswered(), self.total())
    }
}

/// How people decided on recommendations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Recommendations that were followed unchanged.
    pub followed: u64,
    /// Recommendations that were followed with edits.
    pub edited: u64,
    /// Recommendations that were not followed.
    pub overruled: u64,
    /// Decisions without a recommendation.
    pub open: u64,
}

impl VerdictCounts {
    /// The number of recommendations that were decided on.
    pub fn decided(&self) -> u64 {
        self.followed + self.edited + self.overruled
    }

    /// The share of recommendations that were edited.
    pub fn edit_rate(&self) -> Option<f64> {
        share(self.edited, self.decided())
    }

    /// The share of recommendations that were overruled.
    pub fn overrule_rate(&self) -> Option<f64> {
        share(self.overruled, self.decided())
    }
}

/// The claimed confidence compared with how often people overruled it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    /// The number of decisions on a recommendation with a claimed confidence.
    pub decisions: u64,
    /// By tenths of confidence: decisions, and how many of them overruled the agent. `None` below
    /// [`LEAST_DECISIONS`].
    pub tenths: Option<[(u64, u64); 10]>,
}

/// Whether people had time to read before they decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadingCounts {
    /// Decisions with enough time to read.
    pub read: u64,
    /// Decisions sooner than the text can be read.
    pub hasty: u64,
    /// Decisions on unopened asks, answered from a message or by a program.
    pub unopened: u64,
}

impl ReadingCounts {
    /// The share of hasty decisions among those on opened asks.
    pub fn hasty_rate(&self) -> Option<f64> {
        share(self.hasty, self.hasty + self.read)
    }
}

/// Counts by the names of their bins.
type Bins = BTreeMap<String, u64>;

impl InsightSummary {
    /// The figures of these lines for a period. The lines are added up regardless of whose they
    /// are; the caller separates them.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a StoredCount>, from: Day, to: Day) -> Self {
        let mut all: BTreeMap<Measure, Bins> = BTreeMap::new();
        let mut days: BTreeMap<Day, DayCounts> = BTreeMap::new();
        for line in lines.into_iter().filter(|line| (from..=to).contains(&line.day)) {
            let bins = all.entry(line.measure).or_default();
            *bins.entry(line.bin.clone()).or_default() += line.n;
            days.entry(line.day).or_default().add(line);
        }
        let none = Bins::new();
        let of = |measure| all.get(&measure).unwrap_or(&none);
        let tenths = |measure| TENTHS.map(|bin| n(of(measure), bin));
        let named = |measure: Measure, names: &[&'static str]| -> Vec<(&'static str, u64)> {
            let counts = of(measure);
            names.iter().map(|name| (*name, n(counts, name))).filter(|(_, n)| *n > 0).collect()
        };
        let with_others = |names: &[&'static str]| [names, &["other"]].concat();
        let (ended, verdict, reading) =
            (of(Measure::Ended), of(Measure::Verdict), of(Measure::Reading));
        Self {
            asked: of(Measure::Asked).iter().map(|(name, n)| (name.clone(), *n)).collect(),
            envelopes: named(Measure::Envelope, &ENVELOPE_LEVELS),
            intents: named(Measure::Intent, &with_others(&INTENTS)),
            confidence: tenths(Measure::Confidence),
            load: LOADS.map(|bin| n(of(Measure::Load), bin)),
            days: every_day(&days, from, to),
            refusals: refusals(of(Measure::Refusal)),
            actions: actions(of(Measure::Shown), of(Measure::Picked), &with_others(&ACTIONS)),
            first_view: Histogram::of(of(Measure::FirstView)),
            decision: Histogram::of(of(Measure::Decision)),
            ended: EndingCounts {
                answered: n(ended, "answered"),
                defaulted: n(ended, "defaulted"),
                expired: n(ended, "expired"),
                failed: n(ended, "failed"),
                cancelled: n(ended, "cancelled"),
            },
            verdicts: VerdictCounts {
                followed: n(verdict, "followed"),
                edited: n(verdict, "edited"),
                overruled: n(verdict, "overruled"),
                open: n(verdict, "open"),
            },
            calibration: Calibration::of(tenths(Measure::Claimed), tenths(Measure::Overruled)),
            reading: ReadingCounts {
                read: n(reading, "read"),
                hasty: n(reading, "hasty"),
                unopened: n(reading, "unopened"),
            },
        }
    }

    /// The number of asks.
    pub fn asks(&self) -> u64 {
        self.asked.iter().map(|(_, n)| n).sum()
    }

    /// The number of messages that state an intent.
    pub fn with_intent(&self) -> u64 {
        self.intents.iter().map(|(_, n)| n).sum()
    }

    /// The number of messages in which the agent refuses.
    pub fn refused(&self) -> u64 {
        self.refusals.iter().map(|(_, _, n)| n).sum()
    }

    /// The share of refusals among the messages that have an envelope.
    pub fn refusal_rate(&self) -> Option<f64> {
        let bare = |(name, _): &&(&str, u64)| *name != "none";
        share(self.refused(), self.envelopes.iter().filter(bare).map(|(_, n)| n).sum())
    }
}

impl Calibration {
    fn of(claimed: [u64; 10], overruled: [u64; 10]) -> Self {
        let decisions = claimed.iter().sum();
        let mut tenths = [(0, 0); 10];
        for (tenth, pair) in tenths.iter_mut().zip(claimed.into_iter().zip(overruled)) {
            *tenth = pair;
        }
        Self { decisions, tenths: (decisions >= LEAST_DECISIONS).then_some(tenths) }
    }
}

/// The counts of one day so far.
#[derive(Default)]
struct DayCounts {
    asked: u64,
    ended: u64,
    loads: u64,
    load: u64,
}

impl DayCounts {
    fn add(&mut self, line: &StoredCount) {
        if line.measure == Measure::Asked {
            self.asked += line.n;
        } else if line.measure == Measure::Ended {
            self.ended += line.n;
        } else if let (Measure::Load, Ok(load)) = (line.measure, line.bin.parse::<u64>()) {
            self.loads += line.n;
            self.load += line.n * load;
        }
    }
}

/// The maximum number of days that are listed one by one.
const MOST_DAYS: i64 = 3_700;

fn every_day(days: &BTreeMap<Day, DayCounts>, from: Day, to: Day) -> Vec<DaySummary> {
    let last = to.number().min(from.number().saturating_add(MOST_DAYS));
    let none = DayCounts::default();
    (from.number()..=last)
        .map(|day| {
            let day = Day::from_number(day);
            let counts = days.get(&day).unwrap_or(&none);
            let load = share(counts.load, counts.loads);
            DaySummary { day, asked: counts.asked, ended: counts.ended, load }
        })
        .collect()
}

fn refusals(counts: &Bins) -> Vec<(&'static str, &'static str, u64)> {
    let mut refusals = Vec::new();
    for why in REFUSALS {
        for how in SEVERITIES {
            let n = n(counts, &format!("{why}/{how}"));
            if n > 0 {
                refusals.push((why, how, n));
            }
        }
    }
    refusals
}

fn actions(shown: &Bins, picked: &Bins, kinds: &[&'static str]) -> Vec<ActionSummary> {
    let of = |kind: &&'static str| {
        let (shown, picked) = (n(shown, kind), n(picked, kind));
        (shown + picked > 0).then_some(ActionSummary { kind, shown, picked })
    };
    kinds.iter().filter_map(of).collect()
}

fn n(counts: &Bins, bin: &str) -> u64 {
    counts.get(bin).copied().unwrap_or(0)
}

/// The share of a part in a whole; `None` if the whole is zero.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| number(part) / number(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(n: i64) -> Day {
        Day::from_number(n)
    }

    fn line(measure: Measure, on: i64, bin: &str, n: u64) -> StoredCount {
        StoredCount { scope: CountScope::All, measure, day: day(on), bin: bin.to_owned(), n }
    }

    #[test]
    fn nothing_says_nothing() {
        let none = InsightSummary::of(&[], day(3), day(4));
        assert_eq!((none.asks(), none.refusal_rate(), none.ended.expiry_rate()), (0, None, None));
        assert_eq!(none.days.len(), 2, "a day without anything is a day");
        assert_eq!(none.days[0].load, None);
        assert_eq!(InsightSummary::of(&[], day(4), day(3)).days, []);
        assert_eq!(none.calibration, Calibration::default());
    }

    /// HXPE-060: rates and trends cover the requested days only.
    #[test]
    fn rates_are_of_what_there_was() {
        let lines = [
            line(Measure::Asked, 1, "native", 9),
            line(Measure::Asked, 2, "hitl", 3),
            line(Measure::Asked, 2, "native", 1),
            line(Measure::Envelope, 2, "none", 2),
            line(Measure::Envelope, 2, "core", 2),
            line(Measure::Intent, 2, "refuse", 1),
            line(Measure::Intent, 2, "other", 1),
            line(Measure::Refusal, 2, "safety/hard", 1),
            line(Measure::Load, 2, "3", 1),
            line(Measure::Load, 2, "6", 2),
            line(Measure::Shown, 3, "expand", 4),
            line(Measure::Picked, 3, "expand", 1),
            line(Measure::Picked, 3, "other", 2),
            line(Measure::Ended, 3, "answered", 2),
            line(Measure::Ended, 3, "expired", 1),
            line(Measure::Ended, 3, "defaulted", 1),
            line(Measure::Verdict, 3, "followed", 2),
            line(Measure::Verdict, 3, "overruled", 1),
            line(Measure::Verdict, 3, "edited", 1),
            line(Measure::Verdict, 3, "open", 7),
            line(Measure::Reading, 3, "hasty", 1),
            line(Measure::Reading, 3, "read", 3),
            line(Measure::Reading, 3, "unopened", 9),
            line(Measure::Asked, 4, "native", 9),
        ];
        let summary = InsightSummary::of(&lines, day(2), day(3));
        assert_eq!(summary.asked, [("hitl".to_owned(), 3), ("native".to_owned(), 1)]);
        assert_eq!(summary.intents, [("refuse", 1), ("other", 1)]);
        assert_eq!(summary.refusals, [("safety", "hard", 1)]);
        assert_eq!(summary.refusal_rate(), Some(0.5), "of those with an envelope");
        let days: Vec<_> = summary.days.iter().map(|d| (d.asked, d.ended, d.load)).collect();
        assert_eq!(days, [(4, 0, Some(5.0)), (0, 4, None)]);
        let rates: Vec<_> = summary.actions.iter().map(|a| (a.kind, a.rate())).collect();
        assert_eq!(rates, [("expand", Some(0.25)), ("other", Some(1.0))]);
        assert_eq!(summary.ended.expiry_rate(), Some(0.5));
        let verdicts = summary.verdicts;
        assert_eq!((verdicts.edit_rate(), verdicts.overrule_rate()), (Some(0.25), Some(0.25)));
        assert_eq!(summary.reading.hasty_rate(), Some(0.25));
    }

    #[test]
    fn claims_are_compared_once_there_are_enough() {
        let mut lines =
            vec![line(Measure::Claimed, 1, "9", 19), line(Measure::Overruled, 1, "9", 5)];
        let few = InsightSummary::of(&lines, day(1), day(1)).calibration;
        assert_eq!((few.decisions, few.tenths), (19, None));
        lines.push(line(Measure::Claimed, 1, "0", 1));
        let enough = InsightSummary::of(&lines, day(1), day(1)).calibration;
        let tenths = enough.tenths.unwrap();
        assert_eq!((enough.decisions, tenths[9], tenths[0]), (20, (19, 5), (1, 0)));
    }
}
