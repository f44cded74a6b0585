//! Daily counts, in a map.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::insight::Day;
use kernel::insight::summary::StoredCount;

use super::Memory;
use super::state::row;
use crate::insights::UncountedRecords;
use crate::{CountedRecords, CountsQuery, Grain, InsightStore, Result};

#[async_trait]
impl InsightStore for Memory {
    async fn count_next(&self, limit: usize) -> Result<CountedRecords> {
        let mut state = self.state();
        let rows = state.after(state.counted, limit).map(|(place, record)| row(place, record));
        let behind = UncountedRecords::new(rows.collect());
        let Some(position) = behind.position() else { return Ok(CountedRecords::default()) };
        let mut asks = BTreeMap::new();
        for id in behind.asks() {
            asks.extend(state.asks.get(&id).cloned().map(|ask| (id, ask)));
        }
        let counted = behind.counted(&asks);
        state.tally.merge(&counted.tally);
        state.counted = position;
        Ok(counted)
    }

    async fn counts(&self, wanted: CountsQuery) -> Result<Vec<StoredCount>> {
        let state = self.state();
        let from = state.since.map_or(wanted.from, |since| wanted.from.max(since));
        let mut found: BTreeMap<(usize, usize, Day), u64> = BTreeMap::new();
        let bins = wanted.bins();
        for (cell, n) in state.tally.cells() {
            let day = match wanted.grain {
                Grain::Day => cell.day,
                Grain::Span => wanted.to,
            };
            let whose = wanted.whose.iter().position(|whose| *whose == cell.scope);
            let bin = bins.iter().position(|bin| *bin == (cell.measure, cell.bin));
            if let (Some(whose), Some(bin), true) =
                (whose, bin, (from..=wanted.to).contains(&cell.day))
            {
                *found.entry((whose, bin, day)).or_default() += n;
            }
        }
        let line = |((whose, bin, day), n): ((usize, usize, Day), u64)| {
            let (whose, (measure, bin)) = (wanted.whose.get(whose)?, bins.get(bin)?);
            let (whose, bin) = (whose.clone(), (*bin).to_owned());
            Some(StoredCount { scope: whose, measure: *measure, day, bin, n })
        };
        Ok(found.into_iter().filter_map(line).collect())
    }

    async fn forget_counts(&self, before: Day, _: usize) -> Result<u64> {
        let mut state = self.state();
        state.since = state.since.max(Some(before));
        Ok(state.tally.forget(before))
    }
}
