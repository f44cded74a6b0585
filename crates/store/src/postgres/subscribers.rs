//! The feed subscribers of this node. A new subscriber does not receive changes that
//! were acknowledged here before it subscribed, although they get their positions and
//! are announced later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::{FollowUp, Subject};
use tokio::sync::broadcast;

use crate::{AnnouncedChange, FEED_CAPACITY};

/// A subject and the version it moved to.
pub(super) type SubjectVersion = (Subject, u64);

#[derive(Default)]
pub(super) struct Subscribers {
    state: Mutex<SubscriberState>,
}

#[derive(Default)]
struct SubscriberState {
    subscriptions: Vec<Subscription>,
    /// The events this node is writing and has not announced yet.
    unannounced: BTreeMap<SubjectVersion, Unannounced>,
}

struct Unannounced {
    committed: bool,
    /// The follow-ups of the event, so that the followers of this node need not read it back.
    follow_ups: Arc<[FollowUp]>,
}

struct Subscription {
    feed: broadcast::Sender<Arc<[AnnouncedChange]>>,
    /// The events committed before the subscription.
    before: BTreeSet<SubjectVersion>,
}

/// Events about to be committed. Dropping this removes them, unless they were committed.
pub(super) struct UncommittedEvents<'a> {
    subscribers: &'a Subscribers,
    events: Vec<SubjectVersion>,
}

impl Subscribers {
    pub(super) fn subscribe(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>> {
        let mut state = self.state();
        let committed = state.unannounced.iter().filter(|(_, unannounced)| unannounced.committed);
        let before = committed.map(|(event, _)| event.clone()).collect();
        let (feed, receiver) = broadcast::channel(FEED_CAPACITY);
        state.subscriptions.push(Subscription { feed, before });
        receiver
    }

    /// Call this before the commit: another node may number and announce the events at once.
    pub(super) fn begin(
        &self,
        written: impl IntoIterator<Item = (SubjectVersion, Arc<[FollowUp]>)>,
    ) -> UncommittedEvents<'_> {
        let mut state = self.state();
        let mut events = Vec::new();
        for (event, follow_ups) in written {
            events.push(event.clone());
            state.unannounced.insert(event, Unannounced { committed: false, follow_ups });
        }
        UncommittedEvents { subscribers: self, events }
    }

    pub(super) fn announce(&self, mut news: Vec<AnnouncedChange>) {
        let mut state = self.state();
        let events: Vec<SubjectVersion> = news.iter().map(event).collect();
        for (news, event) in news.iter_mut().zip(&events) {
            news.follow_ups =
                state.unannounced.remove(event).map(|unannounced| unannounced.follow_ups);
        }
        state.subscriptions.retain(|one| one.feed.receiver_count() > 0);
        let all: Arc<[AnnouncedChange]> = news.into();
        for subscription in &mut state.subscriptions {
            let selected = subscription.select(&all, &events);
            if !selected.is_empty() {
                // The subscriber may have just left.
                let _ = subscription.feed.send(selected);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SubscriberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Usually all of it, and then all subscribers share one copy.
    fn select(
        &mut self,
        all: &Arc<[AnnouncedChange]>,
        events: &[SubjectVersion],
    ) -> Arc<[AnnouncedChange]> {
        let before: BTreeSet<&SubjectVersion> =
            events.iter().filter(|event| self.before.remove(event)).collect();
        if before.is_empty() {
            return Arc::clone(all);
        }
        all.iter().filter(|news| !before.contains(&event(news))).cloned().collect()
    }
}

impl UncommittedEvents<'_> {
    /// The events are committed. Later subscribers do not receive them.
    pub(super) fn committed(mut self) {
        let mut state = self.subscribers.state();
        for event in self.events.drain(..) {
            // An event that is no longer there was announced already.
            state.unannounced.entry(event).and_modify(|unannounced| unannounced.committed = true);
        }
    }
}

impl Drop for UncommittedEvents<'_> {
    fn drop(&mut self) {
        let mut state = self.subscribers.state();
        for event in &self.events {
            state.unannounced.remove(event);
        }
    }
}

fn event(news: &AnnouncedChange) -> SubjectVersion {
    (news.change.subject.clone(), news.change.seq)
}

#[cfg(test)]
mod tests {
    use kernel::Time;

    use super::*;
    use crate::Change;

    fn named(seq: u64) -> SubjectVersion {
        (Subject::Project("acme".parse().unwrap()), seq)
    }

    fn news(seq: u64) -> AnnouncedChange {
        let (subject, seq) = named(seq);
        let at = Time::from_millis(0);
        let change = Change { position: seq, subject, seq, at, what: "saved".to_owned() };
        AnnouncedChange { change, lists: [].into(), follow_ups: None }
    }

    fn written(seq: u64) -> (SubjectVersion, Arc<[FollowUp]>) {
        (named(seq), [].into())
    }

    fn heard(feed: &mut broadcast::Receiver<Arc<[AnnouncedChange]>>) -> Vec<u64> {
        let mut heard = Vec::new();
        while let Ok(news) = feed.try_recv() {
            heard.extend(news.iter().map(|news| news.change.seq));
        }
        heard
    }

    #[test]
    fn what_was_committed_before_is_no_news() {
        let subscribers = Subscribers::default();
        let mut early = subscribers.subscribe();
        subscribers.begin([written(1), written(2)]).committed();
        let uncommitted = subscribers.begin([written(3)]);
        let mut late = subscribers.subscribe();
        uncommitted.committed();
        subscribers.announce(vec![news(1), news(2), news(3), news(4)]);
        assert_eq!(heard(&mut early), [1, 2, 3, 4]);
        assert_eq!(heard(&mut late), [3, 4], "what was under way is news");
        assert!(subscribers.state().unannounced.is_empty());
        subscribers.announce(vec![news(1)]);
        assert_eq!(heard(&mut late), [1]);
    }

    #[test]
    fn nothing_is_kept_for_long() {
        let subscribers = Subscribers::default();
        let uncommitted = subscribers.begin([written(1)]);
        subscribers.announce(vec![news(1)]);
        uncommitted.committed();
        drop(subscribers.begin([written(2)]));
        drop(subscribers.subscribe());
        subscribers.announce(vec![news(3)]);
        let state = subscribers.state();
        assert!(state.unannounced.is_empty() && state.subscriptions.is_empty());
    }
}
