//! Counts, in a map.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::insight::summary::Line;

use super::Memory;
use super::state::row;
use crate::insights::Behind;
use crate::{Counted, Counts, Insights, Result};

#[async_trait]
impl Insights for Memory {
    async fn count_on(&self, limit: usize) -> Result<Counted> {
        let mut state = self.state();
        let rows = state.after(state.counted, limit).map(|(place, record)| row(place, record));
        let behind = Behind::new(rows.collect());
        let Some(position) = behind.position() else { return Ok(Counted::default()) };
        let mut asks = BTreeMap::new();
        for id in behind.asks() {
            asks.extend(state.asks.get(&id).cloned().map(|ask| (id, ask)));
        }
        let counted = behind.counted(&asks);
        state.tally.merge(&counted.tally);
        state.counted = position;
        Ok(counted)
    }

    async fn counts(&self, wanted: Counts) -> Result<Vec<Line>> {
        let state = self.state();
        let cells = state.tally.cells().filter(|(cell, _)| {
            wanted.whose.contains(&cell.whose)
                && wanted.measures.contains(&cell.measure)
                && (wanted.from..=wanted.to).contains(&cell.day)
        });
        let line = |(cell, n): (&kernel::insight::Cell, u64)| Line {
            whose: cell.whose.clone(),
            measure: cell.measure,
            day: cell.day,
            bin: cell.bin.to_owned(),
            n,
        };
        Ok(cells.map(line).collect())
    }
}
