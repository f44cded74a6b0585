//! Daily counts, derived from the audit log, from which charts are drawn.
//!
//! A background task counts the records in order, shortly after their commit, and stores its
//! position in the same commit as the counts. So no request waits for it, nothing is counted twice,
//! and events from before the first run are counted too. The cost of a query depends on days,
//! projects and agents, and never on the number of asks.
//!
//! Counts are stored as running totals: each row holds the total of a bin up to the end of its day.
//! The count over a range of days is the difference of two totals, so a year costs as much as a
//! week, whatever the volume.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::audit::RecordRow;
use kernel::insight::summary::StoredCount;
use kernel::insight::{COUNTED_EVENTS, CountScope, Day, Measure, Tally};
use kernel::{Ask, AskId, Subject};

use crate::Result;

/// A query for counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountsQuery {
    /// The owners of the counts, each counted separately.
    pub whose: Vec<CountScope>,
    /// The measures to count.
    pub measures: Vec<Measure>,
    /// The first day.
    pub from: Day,
    /// The last day, inclusive.
    pub to: Day,
    /// The granularity of the result.
    pub grain: Grain,
}

impl CountsQuery {
    /// Each requested bin with its measure.
    pub(crate) fn bins(&self) -> Vec<(Measure, &'static str)> {
        let of = |measure: &Measure| {
            let measure = *measure;
            measure.bins().into_iter().map(move |bin| (measure, bin))
        };
        self.measures.iter().flat_map(of).collect()
    }
}

/// The granularity of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Each day that has counts, separately.
    Day,
    /// All days together, under the last one.
    Span,
}

/// Turns the running totals of one bin, in the order of days, into the counts of each day.
pub(crate) struct DailyIncreases {
    before: u64,
}

impl DailyIncreases {
    /// Starts with the total before the first day.
    pub(crate) fn from(before: u64) -> Self {
        Self { before }
    }

    /// The increase over the previous total; `None` if there is none.
    pub(crate) fn to(&mut self, total: u64) -> Option<u64> {
        let new = total.saturating_sub(self.before);
        self.before = total;
        (new > 0).then_some(new)
    }
}

/// The result of one counting step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedRecords {
    /// The number of records counted; 0 if there were no more, or if another node is counting.
    pub records: usize,
    /// The counts of these records.
    pub tally: Tally,
}

/// Storage of counts. Every backend passes the checks of `suite`.
#[async_trait]
pub trait InsightStore {
    /// Counts at most `limit` further records. With several nodes, one counts at a time.
    async fn count_next(&self, limit: usize) -> Result<CountedRecords>;

    /// The counts, as far as [`InsightStore::count_next`] has progressed.
    async fn counts(&self, wanted: CountsQuery) -> Result<Vec<StoredCount>>;

    /// Deletes the counts of the days before a given one, at most `limit` rows; returns how many.
    /// From then on those days have no counts, even if more of their records are counted later.
    async fn forget_counts(&self, before: Day, limit: usize) -> Result<u64>;
}

/// Records that were read and not counted yet.
pub(crate) struct UncountedRecords {
    rows: Vec<RecordRow>,
}

impl UncountedRecords {
    pub(crate) fn new(rows: Vec<RecordRow>) -> Self {
        Self { rows }
    }

    /// The position of the last record.
    pub(crate) fn position(&self) -> Option<u64> {
        self.rows.last().map(|row| row.position)
    }

    /// The asks of the records that count.
    pub(crate) fn asks(&self) -> std::collections::BTreeSet<AskId> {
        self.rows.iter().filter_map(about).collect()
    }

    /// The counts of the records. Unreadable records and asks are skipped: the
    /// verification reports them.
    pub(crate) fn counted(&self, asks: &BTreeMap<AskId, Ask>) -> CountedRecords {
        let mut tally = Tally::default();
        for row in &self.rows {
            let Some(ask) = about(row).and_then(|id| asks.get(&id)) else { continue };
            if let Ok(event) = row.open() {
                tally.add(&event, ask);
            } else {
                let (subject, seq) = (&row.subject, row.seq);
                tracing::warn!(%subject, seq, "skipped a record that cannot be read; insights do \
                                               not count it");
            }
        }
        CountedRecords { records: self.rows.len(), tally }
    }
}

fn about(row: &RecordRow) -> Option<AskId> {
    if !COUNTED_EVENTS.contains(&row.what.as_str()) {
        return None;
    }
    match row.subject.parse() {
        Ok(Subject::Ask(id)) => Some(id),
        Ok(_) | Err(_) => None,
    }
}
