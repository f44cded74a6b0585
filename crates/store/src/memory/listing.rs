//! Lists as ranges of a sorted set.

use std::cmp::Reverse;
use std::ops::Bound;

use kernel::AskId;
use ulid::Ulid;

use super::State;
use crate::Result;
use crate::listing::{Entry, Filter};
use crate::paging::{Rows, Stretch};

impl Rows for State {
    fn rows(
        &self,
        stretch: &Stretch,
        before: Option<AskId>,
        filter: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>> {
        let entry = entry(stretch);
        let start = match before {
            Some(id) => Bound::Excluded((entry.clone(), Reverse(id))),
            None => Bound::Included((entry.clone(), Reverse(AskId::new(Ulid::max())))),
        };
        let end = Bound::Included((entry, Reverse(AskId::new(Ulid::nil()))));
        let rows =
            self.listing.range((start, end)).take(n).map(|(_, Reverse(id))| {
                (*id, self.asks.get(id).is_some_and(|ask| filter.admits(ask)))
            });
        Ok(rows.collect())
    }

    fn oldest(&self, stretch: &Stretch) -> Result<Option<AskId>> {
        let entry = entry(stretch);
        let start = (entry.clone(), Reverse(AskId::new(Ulid::max())));
        let end = (entry, Reverse(AskId::new(Ulid::nil())));
        Ok(self.listing.range(start..=end).next_back().map(|(_, Reverse(id))| *id))
    }
}

fn entry(stretch: &Stretch) -> Entry {
    Entry { scope: stretch.scope.clone(), phase: stretch.phase, rank: stretch.rank }
}
