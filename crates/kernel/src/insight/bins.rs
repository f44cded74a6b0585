//! The bins of numbers, and the statistics they allow.

use std::collections::BTreeMap;

/// Confidence in tenths. Each bin is named after its lower end.
pub const TENTHS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The cognitive load of a message.
pub(super) const LOADS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/// Durations. Each bin is named after its upper end in seconds, and the last one has none. Each is
/// about twice as long as the previous one, because seconds matter to a short wait and hours to a
/// long one.
pub const WAITS: [(&str, u64); 16] = [
    ("1", 1),
    ("5", 5),
    ("15", 15),
    ("30", 30),
    ("60", 60),
    ("120", 120),
    ("300", 300),
    ("900", 900),
    ("1800", 1_800),
    ("3600", 3_600),
    ("14400", 14_400),
    ("43200", 43_200),
    ("86400", 86_400),
    ("259200", 259_200),
    ("604800", 604_800),
    ("more", u64::MAX),
];

/// The bin of a share between 0 and 1.
pub(super) fn tenth(share: f64) -> Option<&'static str> {
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10, whole"
    )]
    let place = (share * 10.0).floor() as usize;
    TENTHS.get(place.min(TENTHS.len() - 1)).copied()
}

/// The bin of a load.
pub(super) fn load(load: f64) -> Option<&'static str> {
    if load.fract() != 0.0 || !(1.0..=10.0).contains(&load) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 10, whole"
    )]
    let place = load as usize;
    LOADS.get(place - 1).copied()
}

/// The bin of a duration in milliseconds. A negative duration counts as zero.
pub(super) fn wait(millis: i64) -> &'static str {
    let millis = u64::try_from(millis).unwrap_or(0);
    let within = |(_, end): &&(&str, u64)| millis <= end.saturating_mul(1000);
    WAITS.iter().find(within).map_or("more", |(name, _)| name)
}

/// An interval of seconds; the last bin has no upper end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The lower end, in seconds.
    pub from: u64,
    /// The upper end, in seconds; `None` for the last bin.
    pub to: Option<u64>,
}

/// Durations, counted in the bins of [`WAITS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; WAITS.len()],
}

impl Histogram {
    /// A histogram from counts by bin name; unknown names are ignored.
    pub(super) fn of(counts: &BTreeMap<String, u64>) -> Self {
        Self { counts: WAITS.map(|(name, _)| counts.get(name).copied().unwrap_or(0)) }
    }

    /// Each bin with its count.
    pub fn bins(&self) -> impl Iterator<Item = (Span, u64)> {
        let begins = std::iter::once(0).chain(WAITS.iter().map(|(_, end)| *end));
        begins.zip(WAITS).zip(self.counts).map(|((from, (_, end)), n)| {
            let to = (end != u64::MAX).then_some(end);
            (Span { from, to }, n)
        })
    }

    /// The total count.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The duration that this share of them did not exceed, estimated from the bins: values within
    /// a bin are assumed to be evenly distributed. In the last bin, which has no upper end, it is
    /// the lower end.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let wanted = share * number(total);
        let mut seen = 0;
        for (Span { from, to }, n) in self.bins() {
            let upto = seen + n;
            if n > 0 && number(upto) >= wanted {
                let into = ((wanted - number(seen)) / number(n)).max(0.0);
                let width = to.map_or(0, |to| to - from);
                return Some(number(from) + into * number(width));
            }
            seen = upto;
        }
        None
    }
}

/// A count as a number for calculations.
#[expect(clippy::cast_precision_loss, reason = "for shares, not for counting")]
pub(super) fn number(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPE-021, HXPE-017: both ends are included, and values beyond them are not.
    #[test]
    fn shares_and_loads_have_their_bins() {
        for (share, bin) in [
            (0.0, Some("0")),
            (-0.0, Some("0")),
            (0.099, Some("0")),
            (0.1, Some("1")),
            (0.35, Some("3")),
            (0.95, Some("9")),
            (1.0, Some("9")),
            (1.000_000_1, None),
            (-0.1, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(tenth(share), bin, "{share}");
        }
        for (given, bin) in [
            (1.0, Some("1")),
            (10.0, Some("10")),
            (3.5, None),
            (0.0, None),
            (11.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(load(given), bin, "{given}");
        }
    }

    #[test]
    fn a_while_is_in_the_first_bin_it_fits() {
        for (millis, bin) in [
            (i64::MIN, "1"),
            (0, "1"),
            (1_000, "1"),
            (1_001, "5"),
            (60_000, "60"),
            (604_800_000, "604800"),
            (604_800_001, "more"),
            (i64::MAX, "more"),
        ] {
            assert_eq!(wait(millis), bin, "{millis}");
        }
    }

    fn counted(counts: &[(&str, u64)]) -> Histogram {
        Histogram::of(&counts.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect())
    }

    #[test]
    fn the_middle_comes_from_the_bins() {
        assert_eq!(counted(&[]).percentile(0.5), None);
        assert_eq!(counted(&[("5", 1)]).percentile(0.5), Some(3.0));
        let four = counted(&[("5", 2), ("60", 2)]);
        assert_eq!((four.percentile(0.5), four.percentile(0.75)), (Some(5.0), Some(45.0)));
        assert_eq!(four.percentile(1.0), Some(60.0));
        let long = counted(&[("1", 1), ("more", 9)]);
        assert_eq!(long.percentile(0.9), Some(604_800.0), "nobody knows how much longer");
        assert_eq!(four.total(), 4);
        assert_eq!(counted(&[("7", 5)]).total(), 0, "a bin nobody knows is none");
    }
}
