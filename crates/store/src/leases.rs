//! Who works on which wake-up, for a store that only one process has open: such a claim need not
//! outlive the process, so nothing is written for it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel::{AskId, HumanId, Time};

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

    /// Claims those nobody has claimed, at most `limit`. `due` is what is due first, in order.
    pub(crate) fn claim(&self, now: Time, until: Time, due: Vec<Wake>, limit: usize) -> Vec<AskId> {
        let mut held = self.held();
        // What was claimed and is not due any more was worked on. Kept until its claim ends, it would
        // make everybody read past it: thousands in a flood.
        let last = due.last().copied();
        let there: HashSet<Wake> = due.iter().copied().collect();
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

/// From so many asks on, those nobody looks at any more are forgotten.
const MOST_LOOKED_AT: usize = 1_000;

/// Who looks at what, for a store that only one process has open. Whoever goes away is forgotten when
/// their time is up.
#[derive(Default)]
pub(crate) struct Viewers {
    held: Mutex<BTreeMap<AskId, BTreeMap<HumanId, Time>>>,
}

impl Viewers {
    /// Notes that somebody looks, or no longer.
    pub(crate) fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match until {
            Some(until) => {
                // As many as look at once are kept: what is long over goes when there are more.
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

    /// Who looks at these now.
    pub(crate) fn at(&self, asks: &[AskId], now: Time) -> Vec<(AskId, HumanId)> {
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

    /// A flood of one moment, in batches that are worked on before the next one is claimed.
    #[test]
    fn what_was_worked_on_is_forgotten() {
        let (leases, now, until) = (Leases::default(), Time::from_millis(5), Time::from_millis(99));
        let mut due: Vec<Wake> =
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
        let due: Vec<Wake> = (0..6_u128).map(|n| (now, AskId::new(Ulid::from(n)))).collect();
        let claim = |rows: &[Wake]| leases.claim(now, until, rows.to_vec(), 2);
        let first = claim(&due[..2]);
        assert_eq!(claim(&due[..4]), [due[2].1, due[3].1]);
        assert_eq!(leases.len(), 4);
        assert_eq!(first, [due[0].1, due[1].1]);
        // One reads less far than another has claimed.
        assert!(claim(&due[..2]).is_empty());
        assert_eq!(leases.len(), 4);
    }
}
