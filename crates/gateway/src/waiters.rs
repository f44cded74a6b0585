//! The registry of waiters: for an ask, a key, a person, or a whole list. Waiters subscribe first
//! and read afterwards, so no change is lost. A change costs only those who wait for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::Subject;
use store::{AnnouncedChange, Change, ListScope};
use tokio::sync::Notify;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// The most changes that are kept for a slow listener. A listener with more of them reads the
/// current state instead.
const MAX_QUEUED_CHANGES: usize = 64;

/// The registry of waiters.
#[derive(Clone, Default)]
pub struct Wake {
    waiting: Arc<Mutex<WaiterMap>>,
}

#[derive(Default)]
struct WaiterMap {
    subjects: HashMap<Subject, Vec<Arc<WaiterSlot>>>,
    lists: HashMap<ListScope, Vec<Arc<WaiterSlot>>>,
}

/// The subject or list to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WakeTopic {
    /// Any change of this subject.
    Subject(Subject),
    /// Any change of an ask in this list.
    List(ListScope),
}

/// One waiter in the registry.
struct WaiterSlot {
    woken: Notify,
    /// The changes, for waiters that asked for them.
    heard: Option<Mutex<ObservedChanges>>,
}

/// The changes since the last call.
#[derive(Debug, Default)]
pub struct ObservedChanges {
    /// In the order of their commits, each once.
    pub changes: Vec<Change>,
    /// There were more changes than are kept.
    pub missed: bool,
}

/// One waiter's subscription. Dropping it removes topics without other waiters.
pub struct Waiter {
    topics: Vec<WakeTopic>,
    ear: Arc<WaiterSlot>,
    wake: Wake,
}

impl Wake {
    /// Subscribes to be woken. Read the state after this, then wait.
    pub fn subscribe(&self, topics: impl IntoIterator<Item = WakeTopic>) -> Waiter {
        self.register(topics, None)
    }

    /// Subscribes to receive the changes.
    pub fn subscribe_to_changes(&self, topics: impl IntoIterator<Item = WakeTopic>) -> Waiter {
        self.register(topics, Some(Mutex::default()))
    }

    fn register(
        &self,
        topics: impl IntoIterator<Item = WakeTopic>,
        heard: Option<Mutex<ObservedChanges>>,
    ) -> Waiter {
        let ear = Arc::new(WaiterSlot { woken: Notify::new(), heard });
        let topics: Vec<WakeTopic> = topics.into_iter().collect();
        let mut waiting = self.waiting();
        for topic in &topics {
            match topic.clone() {
                WakeTopic::Subject(subject) => waiting.subjects.entry(subject).or_default(),
                WakeTopic::List(scope) => waiting.lists.entry(scope).or_default(),
            }
            .push(Arc::clone(&ear));
        }
        drop(waiting);
        Waiter { topics, ear, wake: self.clone() }
    }

    /// The number of asks with waiters.
    pub fn len(&self) -> usize {
        let asks = |subject: &&Subject| matches!(subject, Subject::Ask(_));
        self.waiting().subjects.keys().filter(asks).count()
    }

    /// Whether there are no waiters.
    pub fn is_empty(&self) -> bool {
        let waiting = self.waiting();
        waiting.subjects.is_empty() && waiting.lists.is_empty()
    }

    /// Follows the store's feed until shutdown.
    pub async fn follow(self, mut feed: Receiver<Arc<[AnnouncedChange]>>, stop: CancellationToken) {
        loop {
            let batch = tokio::select! {
                () = stop.cancelled() => return,
                batch = feed.recv() => batch,
            };
            match batch {
                Ok(news) => self.announce(&news),
                // Some changes were missed, so all waiters read the current state.
                Err(RecvError::Lagged(_)) => self.announce_all(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn announce(&self, batch: &[AnnouncedChange]) {
        let waiting = self.waiting();
        for AnnouncedChange { change, lists, .. } in batch {
            let subjects = waiting.subjects.get(&change.subject);
            let lists = lists.iter().filter_map(|scope| waiting.lists.get(scope));
            for ear in subjects.into_iter().chain(lists).flatten() {
                ear.notify(change);
            }
        }
    }

    fn announce_all(&self) {
        let waiting = self.waiting();
        for ear in waiting.subjects.values().chain(waiting.lists.values()).flatten() {
            ear.mark_missed();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaiterMap> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaiterSlot {
    fn notify(&self, change: &Change) {
        if let Some(mut heard) = self.observed() {
            if heard.changes.len() >= MAX_QUEUED_CHANGES {
                heard.changes = Vec::new();
                heard.missed = true;
            }
            // An ask may be in several lists of one listener.
            let known = heard.changes.last().is_some_and(|last| last.position == change.position);
            if !known && !heard.missed {
                heard.changes.push(change.clone());
            }
        }
        self.woken.notify_one();
    }

    fn mark_missed(&self) {
        if let Some(mut heard) = self.observed() {
            *heard = ObservedChanges { changes: Vec::new(), missed: true };
        }
        self.woken.notify_one();
    }

    fn observed(&self) -> Option<MutexGuard<'_, ObservedChanges>> {
        Some(self.heard.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Waiter {
    /// Waits for a change after this subscription, or after the last call.
    pub async fn changed(&mut self) {
        self.ear.woken.notified().await;
    }

    /// The changes since the last call. Empty for waiters that only want to be woken.
    pub fn take_changes(&mut self) -> ObservedChanges {
        self.ear.observed().map(|mut heard| std::mem::take(&mut *heard)).unwrap_or_default()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.wake.waiting();
        for topic in &self.topics {
            match topic {
                WakeTopic::Subject(subject) => {
                    unsubscribe(&mut waiting.subjects, subject, &self.ear);
                }
                WakeTopic::List(scope) => unsubscribe(&mut waiting.lists, scope, &self.ear),
            }
        }
    }
}

fn unsubscribe<T: Eq + Hash>(
    waiting: &mut HashMap<T, Vec<Arc<WaiterSlot>>>,
    topic: &T,
    ear: &Arc<WaiterSlot>,
) {
    let Some(ears) = waiting.get_mut(topic) else { return };
    if let Some(place) = ears.iter().position(|one| Arc::ptr_eq(one, ear)) {
        ears.swap_remove(place);
    }
    if ears.is_empty() {
        waiting.remove(topic);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use kernel::{AskId, Time};
    use ulid::Ulid;

    use super::*;

    fn ask(n: u128) -> Subject {
        Subject::Ask(AskId::new(Ulid::from(n)))
    }

    fn list(name: &str) -> ListScope {
        ListScope::Human(name.parse().unwrap())
    }

    fn news(position: u64, n: u128, lists: &[&str]) -> AnnouncedChange {
        let (at, what) = (Time::from_millis(0), "opened".to_owned());
        let change = Change { position, subject: ask(n), seq: 1, at, what };
        AnnouncedChange {
            change,
            lists: lists.iter().map(|name| list(name)).collect(),
            follow_ups: None,
        }
    }

    fn woken(waiter: &mut Waiter) -> bool {
        waiter.changed().now_or_never().is_some()
    }

    #[test]
    fn only_those_who_care_are_woken_and_once() {
        let wake = Wake::default();
        let mut one = wake.subscribe([WakeTopic::Subject(ask(1))]);
        let mut other = wake.subscribe([WakeTopic::Subject(ask(2)), WakeTopic::List(list("ann"))]);
        assert_eq!(wake.len(), 2);
        wake.announce(&[news(1, 1, &["bob"])]);
        assert_eq!((woken(&mut one), woken(&mut other)), (true, false));
        wake.announce(&[news(2, 2, &["ann"]), news(3, 3, &["ann"])]);
        assert_eq!((woken(&mut one), woken(&mut other)), (false, true));
        assert_eq!((woken(&mut one), woken(&mut other)), (false, false));
        wake.announce_all();
        assert_eq!((woken(&mut one), woken(&mut other)), (true, true));
        drop(one);
        assert_eq!(wake.len(), 1);
        drop(other);
        assert!(wake.is_empty());
    }

    #[test]
    fn a_listener_hears_each_change_once_and_knows_what_it_missed() {
        let wake = Wake::default();
        let mut both =
            wake.subscribe_to_changes([WakeTopic::List(list("ann")), WakeTopic::List(list("bob"))]);
        let heard = |waiter: &mut Waiter| {
            let heard = waiter.take_changes();
            let positions: Vec<u64> = heard.changes.iter().map(|c| c.position).collect();
            (positions, heard.missed)
        };
        wake.announce(&[news(1, 1, &["ann", "bob"]), news(2, 2, &["cid"]), news(3, 3, &["bob"])]);
        assert_eq!(heard(&mut both), (vec![1, 3], false));
        assert_eq!(heard(&mut both), (vec![], false));
        let flood: Vec<AnnouncedChange> =
            (10..=10 + MAX_QUEUED_CHANGES as u64).map(|n| news(n, 1, &["ann"])).collect();
        wake.announce(&flood);
        assert_eq!(heard(&mut both), (vec![], true));
        wake.announce(&[news(200, 1, &["ann"])]);
        assert_eq!(heard(&mut both), (vec![200], false));
        wake.announce_all();
        assert_eq!(heard(&mut both), (vec![], true));
    }
}
