//! A cache of the estimated lengths of long lists: sampling thousands of rows for every page of an
//! inbox would cost far more than the page.
//!
//! An estimate is valid while so few changes happened since that the list is certainly still
//! too long to be counted. After that it is computed again, so a list that is short enough is
//! always counted exactly.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::listing::{AskListQuery, Count, MARGIN};

/// The most cached lists. Few lists are this long; beyond this number the cache is cleared.
const KEPT: usize = 256;

#[derive(Default)]
pub(crate) struct Estimates {
    kept: Mutex<HashMap<AskListQuery, CachedCount>>,
}

struct CachedCount {
    count: Count,
    /// The feed position at the time of the estimate.
    position: u64,
}

impl Estimates {
    /// The estimate, if it is still valid at this position.
    pub(crate) fn find(&self, list: &AskListQuery, position: u64) -> Option<Count> {
        let kept = self.kept();
        let found = kept.get(list)?;
        // A record changes one ask, which has at most one row in each scope.
        let gone = position.checked_sub(found.position)? * list.scopes.len() as u64;
        (gone <= MARGIN as u64).then_some(found.count)
    }

    pub(crate) fn keep(&self, list: &AskListQuery, position: u64, count: Count) {
        let mut kept = self.kept();
        if kept.len() >= KEPT && !kept.contains_key(list) {
            kept.clear();
        }
        kept.insert(list.clone(), CachedCount { count, position });
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<AskListQuery, CachedCount>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use kernel::Phase;

    use super::*;
    use crate::listing::{Filter, ListScope, Order};

    fn inbox(people: &[&str]) -> AskListQuery {
        let scopes = people.iter().map(|name| ListScope::Human(name.parse().unwrap())).collect();
        let (phases, filter) = (Phase::OPEN.to_vec(), Filter::default());
        AskListQuery { scopes, phases, order: Order::Urgency, filter, after: None, limit: 0 }
    }

    #[test]
    fn an_estimate_serves_until_the_list_might_be_short() {
        let (estimates, margin) = (Estimates::default(), MARGIN as u64);
        let count = Count { n: 12_000, exact: false };
        for list in [inbox(&["ann"]), inbox(&["ann", "bob"])] {
            assert_eq!(estimates.find(&list, 7), None);
            estimates.keep(&list, 7, count);
            let long = margin / list.scopes.len() as u64;
            assert_eq!(estimates.find(&list, 7), Some(count));
            assert_eq!(estimates.find(&list, 7 + long), Some(count));
            assert_eq!(estimates.find(&list, 8 + long), None);
            assert_eq!(estimates.find(&list, 6), None, "of a later moment");
        }
        assert_eq!(estimates.find(&inbox(&["bob"]), 7), None, "another list");
    }

    #[test]
    fn so_many_are_kept_and_no_more() {
        let estimates = Estimates::default();
        let count = Count { n: 12_000, exact: false };
        for n in 0..=KEPT {
            estimates.keep(&inbox(&[&format!("p{n}")]), 1, count);
        }
        assert_eq!(estimates.kept().len(), 1);
        assert_eq!(estimates.find(&inbox(&[&format!("p{KEPT}")]), 1), Some(count));
    }
}
