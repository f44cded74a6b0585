//! Counts of what happened, kept beside the record: what charts are drawn from.
//!
//! They are made from the record, a little behind it and in its order, and where they have come is
//! written down in the same commit as they are. So nobody who asks or answers waits for them, nothing
//! is counted twice, and what happened before there were any is counted too. How many are read depends
//! on days, projects and agents, and never on how many asks there were.
//!
//! They are kept as running totals: beside a bin and a day stands how many there were up to the end of
//! that day. What a stretch of days comes to is the difference of two of them, so a year costs what a
//! week costs, and a full house what an empty one does.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::audit::Row;
use kernel::insight::summary::Line;
use kernel::insight::{COUNTED, Day, Measure, Tally, Whose};
use kernel::{Ask, AskId, Subject};

use crate::Result;

/// Which counts are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Whose, each by itself.
    pub whose: Vec<Whose>,
    /// Of what.
    pub measures: Vec<Measure>,
    /// From which day.
    pub from: Day,
    /// To which day, and with it.
    pub to: Day,
    /// How finely.
    pub grain: Grain,
}

impl Counts {
    /// Each bin that is wanted, by its measure.
    pub(crate) fn bins(&self) -> Vec<(Measure, &'static str)> {
        let of = |measure: &Measure| {
            let measure = *measure;
            measure.bins().into_iter().map(move |bin| (measure, bin))
        };
        self.measures.iter().flat_map(of).collect()
    }
}

/// How finely counts are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Each day with anything by itself.
    Day,
    /// All of the days together, under the last of them.
    Span,
}

/// Running totals of one bin, in the order of their days, to what each day came to.
pub(crate) struct Steps {
    before: u64,
}

impl Steps {
    /// What there was before the first of them.
    pub(crate) fn from(before: u64) -> Self {
        Self { before }
    }

    /// What is new in the next one, if anything.
    pub(crate) fn to(&mut self, total: u64) -> Option<u64> {
        let new = total.saturating_sub(self.before);
        self.before = total;
        (new > 0).then_some(new)
    }
}

/// What was just counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many records were gone through; none if there were no more, or another node is at it.
    pub records: usize,
    /// What they came to.
    pub tally: Tally,
}

/// Counts. Every backend passes the checks of `suite`.
#[async_trait]
pub trait Insights {
    /// Counts on, by at most `limit` records; of several nodes one does it at a time.
    async fn count_on(&self, limit: usize) -> Result<Counted>;

    /// What was counted, as far as [`Insights::count_on`] has come.
    async fn counts(&self, wanted: Counts) -> Result<Vec<Line>>;

    /// Forgets what was counted on the days before one, at most `limit` counts of it; how many. Nothing
    /// is told of those days from then on, nor when more of them is counted.
    async fn forget_counts(&self, before: Day, limit: usize) -> Result<u64>;
}

/// Records that were read and not counted yet.
pub(crate) struct Behind {
    rows: Vec<Row>,
}

impl Behind {
    pub(crate) fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }

    /// Where they end.
    pub(crate) fn position(&self) -> Option<u64> {
        self.rows.last().map(|row| row.position)
    }

    /// The asks they are about, as far as they count for anything.
    pub(crate) fn asks(&self) -> std::collections::BTreeSet<AskId> {
        self.rows.iter().filter_map(about).collect()
    }

    /// What they come to. A record or an ask that cannot be read is for the verifier to find.
    pub(crate) fn counted(&self, asks: &BTreeMap<AskId, Ask>) -> Counted {
        let mut tally = Tally::default();
        for row in &self.rows {
            let Some(ask) = about(row).and_then(|id| asks.get(&id)) else { continue };
            if let Ok(event) = row.open() {
                tally.add(&event, ask);
            } else {
                let (subject, seq) = (&row.subject, row.seq);
                tracing::warn!(%subject, seq, "a record cannot be read and is not counted");
            }
        }
        Counted { records: self.rows.len(), tally }
    }
}

fn about(row: &Row) -> Option<AskId> {
    if !COUNTED.contains(&row.what.as_str()) {
        return None;
    }
    match row.subject.parse() {
        Ok(Subject::Ask(id)) => Some(id),
        Ok(_) | Err(_) => None,
    }
}
