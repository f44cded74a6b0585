//! A cache of recently read asks. An agent that polls reads the same row again and again until a
//! person answers. The cache keeps asks from their second read on, so that thousands of polls cost
//! a map lookup each. It does not keep asks that are read once, by a waiting agent or by a page:
//! there may be far more of those.
//!
//! A change removes its asks from the cache before it is committed, and nothing is cached during
//! the commit: a hit is never older than any other read. The cache is only for a store with a
//! single writing process.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::{Ask, AskId, Subject};

use crate::AnnouncedChange;

const SHARDS: usize = 32;
/// The total stored size of the asks of one generation in one shard. There are two generations:
/// when the young one is full, the old one is dropped. Together they take some tens of megabytes,
/// because asks are larger in memory.
const GENERATION: usize = 384 * 1024;
/// Larger asks are not cached: they would displace many others that are polled as often.
const LARGEST: usize = 8 * 1024;
/// How many ids a shard remembers as read once.
const ONCE: usize = 1024;

#[derive(Default)]
pub(super) struct AskCache {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    young: HashMap<AskId, CachedAsk>,
    old: HashMap<AskId, CachedAsk>,
    /// The total size of the young generation.
    size: usize,
    /// The ids that were read once.
    once: HashSet<AskId>,
    /// The number of changes in this shard.
    changes: u64,
    /// The number of asks of this shard in the current commit.
    changing: u32,
}

#[derive(Clone)]
struct CachedAsk {
    ask: Arc<Ask>,
    size: usize,
}

/// Marks the start of a read. If the shard changes meanwhile, the result is not cached.
pub(super) struct CacheMiss {
    id: AskId,
    changes: u64,
    /// Whether the ask was read before.
    again: bool,
}

impl AskCache {
    /// The cached ask, or else the start of a read.
    pub(super) fn find(&self, id: AskId) -> Result<Arc<Ask>, CacheMiss> {
        let mut shard = self.shard(id);
        if let Some(cached) = shard.young.get(&id) {
            return Ok(Arc::clone(&cached.ask));
        }
        if let Some(cached) = shard.old.remove(&id) {
            shard.put(id, cached.clone());
            return Ok(cached.ask);
        }
        let again = shard.was_read(id);
        Err(CacheMiss { id, changes: shard.changes, again })
    }

    /// Caches a read ask of this size, unless it may be stale already.
    pub(super) fn keep(&self, miss: &CacheMiss, ask: &Arc<Ask>, size: usize) {
        if size > LARGEST || !miss.again {
            return;
        }
        let mut shard = self.shard(miss.id);
        if shard.changes == miss.changes && shard.changing == 0 {
            shard.put(miss.id, CachedAsk { ask: Arc::clone(ask), size });
        }
    }

    /// Removes the asks that a commit changes, and keeps reads that began before its end out
    /// of the cache.
    pub(super) fn changing<T>(&self, news: &[AnnouncedChange], commit: impl FnOnce() -> T) -> T {
        let asks = || {
            news.iter().filter_map(|news| match news.change.subject {
                Subject::Ask(id) => Some(id),
                _ => None,
            })
        };
        for id in asks() {
            let mut shard = self.shard(id);
            shard.changing += 1;
            shard.old.remove(&id);
            if let Some(cached) = shard.young.remove(&id) {
                shard.size -= cached.size;
            }
        }
        let committed = commit();
        for id in asks() {
            let mut shard = self.shard(id);
            shard.changing -= 1;
            shard.changes += 1;
        }
        committed
    }

    fn shard(&self, id: AskId) -> MutexGuard<'_, Shard> {
        // The last byte of an id is random.
        let [.., last] = id.ulid().to_bytes();
        // In bounds: a remainder is smaller than the divisor.
        let shard = &self.shards[usize::from(last) % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn put(&mut self, id: AskId, cached: CachedAsk) {
        if self.size >= GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
        }
        self.size += cached.size;
        // Two reads of the same ask may have raced.
        if let Some(same) = self.young.insert(id, cached) {
            self.size -= same.size;
        }
    }

    /// Whether the id was read before, as far as remembered; records this read.
    fn was_read(&mut self, id: AskId) -> bool {
        if self.once.remove(&id) {
            return true;
        }
        if self.once.len() >= ONCE {
            self.once.clear();
        }
        self.once.insert(id);
        false
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, new_ask};
    use ulid::Ulid;

    use super::*;
    use crate::Change;

    fn ask(n: u128) -> Arc<Ask> {
        let mut cast = Cast::new();
        let made = cast.ask(new_ask());
        let mut ask = cast.seen(made).clone();
        ask.id = AskId::new(Ulid::from(n));
        Arc::new(ask)
    }

    fn change(ask: &Ask) -> AnnouncedChange {
        let (subject, what) = (Subject::Ask(ask.id), "answered".to_owned());
        let change = Change { position: 1, subject, seq: 2, at: ask.head.at, what };
        AnnouncedChange { change, lists: [].into(), follow_ups: None }
    }

    fn keep(recent: &AskCache, ask: &Arc<Ask>, size: usize) {
        for _ in 0..2 {
            let Err(miss) = recent.find(ask.id) else { panic!("it is there already") };
            recent.keep(&miss, ask, size);
        }
    }

    #[test]
    fn what_is_read_once_is_not_kept() {
        let (recent, ask) = (AskCache::default(), ask(7));
        let Err(miss) = recent.find(ask.id) else { panic!("nobody has read it") };
        recent.keep(&miss, &ask, 1);
        let Err(miss) = recent.find(ask.id) else { panic!("it was read once") };
        recent.keep(&miss, &ask, 1);
        assert!(recent.find(ask.id).is_ok());
        for n in 1..=3 * ONCE as u128 {
            let _ = recent.find(AskId::new(Ulid::from(n * SHARDS as u128)));
        }
        assert!(recent.shard(AskId::new(Ulid::from(0))).once.len() <= ONCE);
    }

    #[test]
    fn what_was_changed_is_read_again() {
        let (recent, ask) = (AskCache::default(), ask(7));
        keep(&recent, &ask, 1);
        assert_eq!(recent.find(ask.id).ok().unwrap(), ask);
        recent.changing(&[change(&ask)], || ());
        assert!(recent.find(ask.id).is_err());
    }

    #[test]
    fn what_changed_while_it_was_read_is_not_kept() {
        let (recent, ask) = (AskCache::default(), ask(7));
        assert!(recent.find(ask.id).is_err());
        let Err(miss) = recent.find(ask.id) else { panic!("it is there already") };
        recent.changing(&[change(&ask)], || ());
        recent.keep(&miss, &ask, 1);
        let Err(miss) = recent.find(ask.id) else { panic!("it was changed meanwhile") };
        recent.changing(&[change(&ask)], || recent.keep(&miss, &ask, 1));
        assert!(recent.find(ask.id).is_err(), "it may be what was there before the commit");
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let (recent, used) = (AskCache::default(), ask(0));
        keep(&recent, &used, LARGEST);
        for n in 1..300 {
            // All in the shard of the first.
            keep(&recent, &ask(n * SHARDS as u128), LARGEST);
            assert!(recent.find(used.id).is_ok(), "after {n} others");
        }
        let shard = recent.shard(used.id);
        assert!((shard.young.len() + shard.old.len()) * LARGEST <= 2 * (GENERATION + LARGEST));
        assert_eq!(shard.size, shard.young.len() * LARGEST);
    }

    #[test]
    fn a_large_one_is_not_kept() {
        let (recent, ask) = (AskCache::default(), ask(7));
        keep(&recent, &ask, LARGEST + 1);
        assert!(recent.find(ask.id).is_err());
    }
}
