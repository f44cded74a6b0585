//! The feed subscribers of this node. A new subscriber does not receive changes that
//! were acknowledged here before it subscribed, although they get their positions and
//! are announced later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::{FollowUp, Subject};
use tokio::sync::broadcast;

use crate::{FEED, News};

/// A subject and the version it moved to.
pub(super) type Event = (Subject, u64);

#[derive(Default)]
pub(super) struct Audience {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: Vec<Listener>,
    /// The events this node is writing and has not announced yet.
    untold: BTreeMap<Event, Untold>,
}

struct Untold {
    committed: bool,
    /// The follow-ups of the event, so that the followers of this node need not read it back.
    follow_ups: Arc<[FollowUp]>,
}

struct Listener {
    feed: broadcast::Sender<Arc<[News]>>,
    /// The events committed before the subscription.
    before: BTreeSet<Event>,
}

/// Events about to be committed. Dropping this removes them, unless they were committed.
pub(super) struct Begun<'a> {
    audience: &'a Audience,
    events: Vec<Event>,
}

impl Audience {
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<[News]>> {
        let mut state = self.state();
        let committed = state.untold.iter().filter(|(_, untold)| untold.committed);
        let before = committed.map(|(event, _)| event.clone()).collect();
        let (feed, receiver) = broadcast::channel(FEED);
        state.listeners.push(Listener { feed, before });
        receiver
    }

    /// Call this before the commit: another node may number and announce the events at once.
    pub(super) fn begin(
        &self,
        written: impl IntoIterator<Item = (Event, Arc<[FollowUp]>)>,
    ) -> Begun<'_> {
        let mut state = self.state();
        let mut events = Vec::new();
        for (event, follow_ups) in written {
            events.push(event.clone());
            state.untold.insert(event, Untold { committed: false, follow_ups });
        }
        Begun { audience: self, events }
    }

    pub(super) fn tell(&self, mut news: Vec<News>) {
        let mut state = self.state();
        let events: Vec<Event> = news.iter().map(event).collect();
        for (news, event) in news.iter_mut().zip(&events) {
            news.follow_ups = state.untold.remove(event).map(|untold| untold.follow_ups);
        }
        state.listeners.retain(|listener| listener.feed.receiver_count() > 0);
        let all: Arc<[News]> = news.into();
        for listener in &mut state.listeners {
            let heard = listener.hears(&all, &events);
            if !heard.is_empty() {
                // The subscriber may have just left.
                let _ = listener.feed.send(heard);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Usually all of it, and then all subscribers share one copy.
    fn hears(&mut self, all: &Arc<[News]>, events: &[Event]) -> Arc<[News]> {
        let before: BTreeSet<&Event> =
            events.iter().filter(|event| self.before.remove(event)).collect();
        if before.is_empty() {
            return Arc::clone(all);
        }
        all.iter().filter(|news| !before.contains(&event(news))).cloned().collect()
    }
}

impl Begun<'_> {
    /// The events are committed. Later subscribers do not receive them.
    pub(super) fn committed(mut self) {
        let mut state = self.audience.state();
        for event in self.events.drain(..) {
            // An event that is no longer there was announced already.
            state.untold.entry(event).and_modify(|untold| untold.committed = true);
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.audience.state();
        for event in &self.events {
            state.untold.remove(event);
        }
    }
}

fn event(news: &News) -> Event {
    (news.change.subject.clone(), news.change.seq)
}

#[cfg(test)]
mod tests {
    use kernel::Time;

    use super::*;
    use crate::Change;

    fn named(seq: u64) -> Event {
        (Subject::Project("acme".parse().unwrap()), seq)
    }

    fn news(seq: u64) -> News {
        let (subject, seq) = named(seq);
        let at = Time::from_millis(0);
        let change = Change { position: seq, subject, seq, at, what: "saved".to_owned() };
        News { change, lists: [].into(), follow_ups: None }
    }

    fn written(seq: u64) -> (Event, Arc<[FollowUp]>) {
        (named(seq), [].into())
    }

    fn heard(feed: &mut broadcast::Receiver<Arc<[News]>>) -> Vec<u64> {
        let mut heard = Vec::new();
        while let Ok(news) = feed.try_recv() {
            heard.extend(news.iter().map(|news| news.change.seq));
        }
        heard
    }

    #[test]
    fn what_was_committed_before_is_no_news() {
        let audience = Audience::default();
        let mut early = audience.listen();
        audience.begin([written(1), written(2)]).committed();
        let begun = audience.begin([written(3)]);
        let mut late = audience.listen();
        begun.committed();
        audience.tell(vec![news(1), news(2), news(3), news(4)]);
        assert_eq!(heard(&mut early), [1, 2, 3, 4]);
        assert_eq!(heard(&mut late), [3, 4], "what was under way is news");
        assert!(audience.state().untold.is_empty());
        audience.tell(vec![news(1)]);
        assert_eq!(heard(&mut late), [1]);
    }

    #[test]
    fn nothing_is_kept_for_long() {
        let audience = Audience::default();
        let begun = audience.begin([written(1)]);
        audience.tell(vec![news(1)]);
        begun.committed();
        drop(audience.begin([written(2)]));
        drop(audience.listen());
        audience.tell(vec![news(3)]);
        let state = audience.state();
        assert!(state.untold.is_empty() && state.listeners.is_empty());
    }
}
