//! Latencies in an HDR histogram with three significant digits.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Longer durations are recorded as this.
const LONGEST_MICROS: u64 = 60_000_000;
const DIGITS: u8 = 3;

/// A distribution of durations.
#[derive(Clone)]
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self(Histogram::new_with_bounds(1, LONGEST_MICROS, DIGITS)?))
    }

    pub(crate) fn add(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(LONGEST_MICROS));
    }

    pub(crate) fn merge(&mut self, other: &Self) -> anyhow::Result<()> {
        Ok(self.0.add(&other.0)?)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len()
    }

    /// The duration of this percentile, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "a minute of microseconds fits")]
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        self.0.value_at_percentile(percent) as f64 / 1_000.0
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(50.0)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.percentile(99.0)
    }

    /// Formats the result as `p50 1.20 ms, p99 8.00 ms`.
    pub(crate) fn words(&self) -> String {
        format!("p50 {:.2} ms, p99 {:.2} ms", self.p50(), self.p99())
    }
}
