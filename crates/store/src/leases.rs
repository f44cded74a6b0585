//! Claims on wake-ups, for a store that only one process has open. Such a claim need not outlive
//! the process, so it is not stored.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel::{AskId, HumanId, Time};

/// The wake-up time of an ask.
pub(crate) type WakeUp = (Time, AskId);

/// The claims that have not ended; as many as are in progress at once.
#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<AskId, Lease>>,
}

/// A claim on one wake-up of an ask. It ends when the wake-up time changes.
#[derive(Clone, Copy)]
struct Lease {
    wake: Time,
    until: Time,
}

impl Leases {
    /// How many wake-ups more than the limit must be read to find enough unclaimed ones.
    pub(crate) fn len(&self) -> usize {
        self.held().len()
    }

    /// Claims the unclaimed asks, at most `limit`. `due` holds the earliest wake-ups, in order.
    pub(crate) fn claim(
        &self,
        now: Time,
        until: Time,
        due: Vec<WakeUp>,
        limit: usize,
    ) -> Vec<AskId> {
        let mut held = self.held();
        // A claimed wake-up that is no longer due was handled. If it stayed until its claim ends,
        // every reader would have to skip it: thousands after a burst.
        let last = due.last().copied();
        let there: HashSet<WakeUp> = due.iter().copied().collect();
        held.retain(|id, lease| {
            let wake = (lease.wake, *id);
            lease.until > now && (there.contains(&wake) || last.is_some_and(|last| wake > last))
        });
        let mut claimed = Vec::new();
        for (wake, id) in due {
            if claimed.len() < limit && is_free(&held, (wake, id), now) {
                held.insert(id, Lease { wake, until });
                claimed.push(id);
            }
        }
        claimed
    }

    /// The earliest time one of these can be claimed: its wake-up time, or the end of its claim.
    pub(crate) fn next(&self, wakes: &[WakeUp]) -> Option<Time> {
        let held = self.held();
        let from = |(wake, id): &WakeUp| match held.get(id) {
            Some(lease) if lease.wake == *wake => lease.until,
            Some(_) | None => *wake,
        };
        wakes.iter().map(from).min()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<AskId, Lease>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_free(held: &HashMap<AskId, Lease>, (wake, id): WakeUp, now: Time) -> bool {
    held.get(&id).is_none_or(|lease| lease.wake != wake || lease.until <= now)
}

/// From this many asks on, stale entries are removed.
const MOST_LOOKED_AT: usize = 1_000;

/// The people who view each ask, for a store that only one process has open. An entry
/// expires by itself.
#[derive(Default)]
pub(crate) struct Viewers {
    held: Mutex<BTreeMap<AskId, BTreeMap<HumanId, Time>>>,
}

impl Viewers {
    /// Records that a person views an ask, or has stopped.
    pub(crate) fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match until {
            Some(until) => {
                // Remove entries that expired a minute ago once there are many.
                if held.len() >= MOST_LOOKED_AT {
                    held.retain(|_, people| {
                        people.values().any(|end| end.plus_seconds(60) > until)
                    });
                }
                held.entry(ask).or_default().insert(human, until);
            }
            None => {
                held.entry(ask).or_default().remove(&human);
            }
        }
    }

    /// The people who view these asks now.
    pub(crate) fn viewers_of(&self, asks: &[AskId], now: Time) -> Vec<(AskId, HumanId)> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for ask in asks {
            let people = held.get(ask).into_iter().flatten().filter(|(_, until)| **until > now);
            found.extend(people.map(|(human, _)| (*ask, human.clone())));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    /// A burst of asks due at the same time, in batches that are handled before the next
    /// one is claimed.
    #[test]
    fn what_was_worked_on_is_forgotten() {
        let (leases, now, until) = (Leases::default(), Time::from_millis(5), Time::from_millis(99));
        let mut due: Vec<WakeUp> =
            (0..1_000_u128).map(|n| (now, AskId::new(Ulid::from(n)))).collect();
        while !due.is_empty() {
            let read = due.iter().take(leases.len() + 10).copied().collect();
            let claimed = leases.claim(now, until, read, 10);
            assert_eq!(claimed.len(), 10);
            assert!(leases.len() <= 20, "{} are held", leases.len());
            due.retain(|(_, id)| !claimed.contains(id));
        }
        assert!(leases.claim(now, until, Vec::new(), 10).is_empty());
        assert_eq!(leases.len(), 0);
    }

    #[test]
    fn what_is_worked_on_is_left_alone() {
        let (leases, now, until) = (Leases::default(), Time::from_millis(5), Time::from_millis(99));
        let due: Vec<WakeUp> = (0..6_u128).map(|n| (now, AskId::new(Ulid::from(n)))).collect();
        let claim = |rows: &[WakeUp]| leases.claim(now, until, rows.to_vec(), 2);
        let first = claim(&due[..2]);
        assert_eq!(claim(&due[..4]), [due[2].1, due[3].1]);
        assert_eq!(leases.len(), 4);
        assert_eq!(first, [due[0].1, due[1].1]);
        // One worker reads less far than another has claimed.
        assert!(claim(&due[..2]).is_empty());
        assert_eq!(leases.len(), 4);
    }
}
