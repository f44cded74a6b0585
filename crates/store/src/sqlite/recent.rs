//! Asks read lately. An agent that polls reads the same row again and again until somebody answers;
//! it is fetched and parsed once.
//!
//! A change drops what it changed before anybody is told of it, so a hit is never older than an
//! acknowledged write. Only for a store that is the only one to write.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::{Ask, AskId, Subject};

use crate::News;

const SHARDS: usize = 32;
/// Asks of one generation in one shard. There are two: when the young one is full, the old one goes.
const GENERATION: usize = 64;
/// Larger ones are not kept, so that what is kept stays within some tens of megabytes.
const LARGEST: usize = 4 * 1024;

#[derive(Default)]
pub(super) struct Recent {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    young: HashMap<AskId, Arc<Ask>>,
    old: HashMap<AskId, Arc<Ask>>,
    /// How often something here was changed.
    changes: u64,
}

/// Says that a read has begun: what was changed meanwhile is not kept.
pub(super) struct Begun {
    id: AskId,
    changes: u64,
}

impl Recent {
    /// An ask that was read lately, or else the beginning of reading it.
    pub(super) fn find(&self, id: AskId) -> Result<Arc<Ask>, Begun> {
        let mut shard = self.shard(id);
        if let Some(ask) = shard.young.get(&id) {
            return Ok(Arc::clone(ask));
        }
        match shard.old.remove(&id) {
            Some(ask) => {
                shard.put(id, Arc::clone(&ask));
                Ok(ask)
            }
            None => Err(Begun { id, changes: shard.changes }),
        }
    }

    /// Keeps what was read, of this size, unless it may be out of date already.
    pub(super) fn keep(&self, begun: &Begun, ask: &Ask, size: usize) {
        if size > LARGEST {
            return;
        }
        let mut shard = self.shard(begun.id);
        if shard.changes == begun.changes {
            shard.put(begun.id, Arc::new(ask.clone()));
        }
    }

    /// Drops what was changed.
    pub(super) fn forget(&self, news: &[News]) {
        for News { change, .. } in news {
            if let Subject::Ask(id) = change.subject {
                let mut shard = self.shard(id);
                shard.changes += 1;
                shard.young.remove(&id);
                shard.old.remove(&id);
            }
        }
    }

    fn shard(&self, id: AskId) -> MutexGuard<'_, Shard> {
        // The end of an id is random.
        let [.., last] = id.ulid().to_bytes();
        // A remainder is smaller than what it was divided by.
        let shard = &self.shards[usize::from(last) % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn put(&mut self, id: AskId, ask: Arc<Ask>) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(id, ask);
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, new_ask};
    use ulid::Ulid;

    use super::*;
    use crate::Change;

    fn ask(n: u128) -> Ask {
        let mut cast = Cast::new();
        let made = cast.ask(new_ask());
        let mut ask = cast.seen(made).clone();
        ask.id = AskId::new(Ulid::from(n));
        ask
    }

    fn change(ask: &Ask) -> News {
        let (subject, what) = (Subject::Ask(ask.id), "answered".to_owned());
        let change = Change { position: 1, subject, seq: 2, at: ask.head.at, what };
        News { change, lists: [].into() }
    }

    fn keep(recent: &Recent, ask: &Ask) {
        let Err(begun) = recent.find(ask.id) else { panic!("it is there already") };
        recent.keep(&begun, ask, 1);
    }

    #[test]
    fn what_was_changed_is_read_again() {
        let (recent, ask) = (Recent::default(), ask(7));
        keep(&recent, &ask);
        assert_eq!(*recent.find(ask.id).ok().unwrap(), ask);
        recent.forget(&[change(&ask)]);
        assert!(recent.find(ask.id).is_err());
    }

    #[test]
    fn what_changed_while_it_was_read_is_not_kept() {
        let (recent, ask) = (Recent::default(), ask(7));
        let Err(begun) = recent.find(ask.id) else { panic!("it is there already") };
        recent.forget(&[change(&ask)]);
        recent.keep(&begun, &ask, 1);
        assert!(recent.find(ask.id).is_err());
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let (recent, used) = (Recent::default(), ask(0));
        keep(&recent, &used);
        for n in 1..300 {
            // All in the shard of the first.
            keep(&recent, &ask(n * SHARDS as u128));
            assert!(recent.find(used.id).is_ok(), "after {n} others");
        }
        let shard = recent.shard(used.id);
        assert!(shard.young.len() + shard.old.len() <= 2 * GENERATION);
    }

    #[test]
    fn a_large_one_is_not_kept() {
        let (recent, ask) = (Recent::default(), ask(7));
        let Err(begun) = recent.find(ask.id) else { panic!("it is there already") };
        recent.keep(&begun, &ask, LARGEST + 1);
        assert!(recent.find(ask.id).is_err());
    }
}
