//! Lists as ranges of a sorted set.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use kernel::{Ask, AskId, Time};
use ulid::Ulid;

use super::MemoryState;
use crate::Result;
use crate::listing::{Deadline, ExpiringQuery, Filter, ListEntry, ListScope};
use crate::paging::{ListRange, ListRows};

impl ListRows for MemoryState {
    fn rows(
        &self,
        stretch: &ListRange,
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

    fn oldest(&self, stretch: &ListRange) -> Result<Option<AskId>> {
        let entry = entry(stretch);
        let start = (entry.clone(), Reverse(AskId::new(Ulid::max())));
        let end = (entry, Reverse(AskId::new(Ulid::nil())));
        Ok(self.listing.range(start..=end).next_back().map(|(_, Reverse(id))| *id))
    }
}

/// Asks that are due soon: a range of each scope, merged.
pub(super) fn expiring(state: &MemoryState, wanted: &ExpiringQuery) -> Vec<Ask> {
    let begin = || (Time::from_millis(i64::MIN), AskId::new(Ulid::nil()));
    let (at, id) = wanted.after.unwrap_or_else(begin);
    let mut found = BTreeSet::new();
    for scope in &wanted.scopes {
        let place = |at, id| (Deadline { scope: ListScope::key(scope), at }, id);
        let to = Bound::Included(place(wanted.until, AskId::new(Ulid::max())));
        let range = state.deadlines.range((Bound::Excluded(place(at, id)), to));
        found.extend(range.take(wanted.limit).map(|(deadline, id)| (deadline.at, *id)));
    }
    let asks = found.iter().take(wanted.limit).filter_map(|(_, id)| state.asks.get(id));
    asks.cloned().collect()
}

fn entry(stretch: &ListRange) -> ListEntry {
    ListEntry { scope: stretch.scope.clone(), phase: stretch.phase, rank: stretch.rank }
}
