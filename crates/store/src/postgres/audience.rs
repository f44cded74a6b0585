//! Who on this node listens to the feed. Whoever begins to listen hears nothing of what was
//! acknowledged here before: its position comes after the commit, and the news of it later still.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::Subject;
use tokio::sync::broadcast;

use crate::{FEED, News};

/// Which subject moved to which version.
pub(super) type Event = (Subject, u64);

#[derive(Default)]
pub(super) struct Audience {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: Vec<Listener>,
    /// What this node writes and has not told yet, and whether it is committed.
    untold: BTreeMap<Event, bool>,
}

struct Listener {
    feed: broadcast::Sender<Arc<[News]>>,
    /// What was committed before it began to listen.
    before: BTreeSet<Event>,
}

/// Events about to be committed. They are forgotten with it, unless they were.
pub(super) struct Begun<'a> {
    audience: &'a Audience,
    events: Vec<Event>,
}

impl Audience {
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<[News]>> {
        let mut state = self.state();
        let committed = state.untold.iter().filter(|(_, committed)| **committed);
        let before = committed.map(|(event, _)| event.clone()).collect();
        let (feed, receiver) = broadcast::channel(FEED);
        state.listeners.push(Listener { feed, before });
        receiver
    }

    /// To be called before the commit: another node may number and announce what it finds at once.
    pub(super) fn begin(&self, events: impl IntoIterator<Item = Event>) -> Begun<'_> {
        let events: Vec<Event> = events.into_iter().collect();
        self.state().untold.extend(events.iter().map(|event| (event.clone(), false)));
        Begun { audience: self, events }
    }

    pub(super) fn tell(&self, news: Vec<News>) {
        let mut state = self.state();
        let events: Vec<Event> = news.iter().map(event).collect();
        for event in &events {
            state.untold.remove(event);
        }
        state.listeners.retain(|listener| listener.feed.receiver_count() > 0);
        let all: Arc<[News]> = news.into();
        for listener in &mut state.listeners {
            let heard = listener.hears(&all, &events);
            if !heard.is_empty() {
                // It may have left this very moment.
                let _ = listener.feed.send(heard);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Nearly always all of it, and then there is one copy for everybody.
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
    /// They are committed, and not told to whoever begins to listen from now on.
    pub(super) fn committed(mut self) {
        let mut state = self.audience.state();
        for event in self.events.drain(..) {
            // What is not there any more was told already.
            state.untold.entry(event).and_modify(|committed| *committed = true);
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
        News { change, lists: [].into() }
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
        audience.begin([named(1), named(2)]).committed();
        let begun = audience.begin([named(3)]);
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
        let begun = audience.begin([named(1)]);
        audience.tell(vec![news(1)]);
        begun.committed();
        drop(audience.begin([named(2)]));
        drop(audience.listen());
        audience.tell(vec![news(3)]);
        let state = audience.state();
        assert!(state.untold.is_empty() && state.listeners.is_empty());
    }
}
