//! Who works on which wake-up, for a store that only one process has open: such a claim need not
//! outlive the process, so nothing is written for it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel::{AskId, Time};

/// When an ask is to be woken.
pub(crate) type Wake = (Time, AskId);

/// The claims that have not ended; as many as are worked on at once.
#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<AskId, Lease>>,
}

/// On one wake-up of an ask: when that moves, it is nobody's.
#[derive(Clone, Copy)]
struct Lease {
    wake: Time,
    until: Time,
}

impl Leases {
    /// How many wake-ups more than wanted must be read to find enough that are free.
    pub(crate) fn len(&self) -> usize {
        self.held().len()
    }

    /// Those nobody has claimed, at most `limit`.
    pub(crate) fn free(&self, now: Time, due: Vec<Wake>, limit: usize) -> Vec<AskId> {
        let held = self.held();
        let free = due.into_iter().filter(|wake| is_free(&held, *wake, now));
        free.take(limit).map(|(_, id)| id).collect()
    }

    /// Claims those nobody has claimed, at most `limit`.
    pub(crate) fn claim(&self, now: Time, until: Time, due: Vec<Wake>, limit: usize) -> Vec<AskId> {
        let mut held = self.held();
        held.retain(|_, lease| lease.until > now);
        let mut claimed = Vec::new();
        for (wake, id) in due {
            if claimed.len() < limit && is_free(&held, (wake, id), now) {
                held.insert(id, Lease { wake, until });
                claimed.push(id);
            }
        }
        claimed
    }

    /// When the first of these is to be claimed: what is claimed now, when its claim ends.
    pub(crate) fn next(&self, wakes: &[Wake]) -> Option<Time> {
        let held = self.held();
        let from = |(wake, id): &Wake| match held.get(id) {
            Some(lease) if lease.wake == *wake => lease.until,
            Some(_) | None => *wake,
        };
        wakes.iter().map(from).min()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<AskId, Lease>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_free(held: &HashMap<AskId, Lease>, (wake, id): Wake, now: Time) -> bool {
    held.get(&id).is_none_or(|lease| lease.wake != wake || lease.until <= now)
}
