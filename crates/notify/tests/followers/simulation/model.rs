//! What must be written: for each event exactly the deliveries that follow from its record.
//!
//! What follows from an event depends on the ask and the directory when the follower looks. So the
//! model computes the follow-ups of an event after its own commit and after every later one, until
//! the follower has passed the event. One of these lists must have been written, once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use kernel::{Event, Subject, Time, follow_ups};
use store::Work;
use store::followers::DELIVERIES;
use store::{AnnouncedChange, ClaimedWork, Store};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

/// An event of the feed.
struct Known {
    position: u64,
    event: Event,
    /// What followed from it, at each moment at which a follower may have looked.
    lists: Vec<Vec<Work>>,
}

/// A row of the outbox.
struct Written {
    /// The moment of the event it follows from.
    at: Time,
    effect: Work,
    /// How often it was executed.
    executed: usize,
    /// Whether a worker settled it as done.
    done: bool,
}

/// What the simulation knows of the feed and of the outbox.
#[derive(Default)]
pub(super) struct Model {
    events: Vec<Known>,
    /// The first event that the follower has not passed, as an index.
    pending: usize,
    /// The rows that workers saw, by their id. No id is used twice while a process has the store
    /// open.
    rows: BTreeMap<u64, Written>,
    /// What is wrong with single rows.
    wrong: Vec<String>,
}

/// How much a run has seen, so that one can tell that it was worth running.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) events: usize,
    pub(super) rows: usize,
    pub(super) repeated: usize,
    pub(super) kinds: BTreeSet<&'static str>,
}

impl Model {
    /// Before a commit: notes which events the follower has passed.
    pub(super) async fn before_commit(&mut self, store: &dyn Store) {
        let passed = store.follower(DELIVERIES).await.unwrap();
        while self.events.get(self.pending).is_some_and(|known| known.position <= passed) {
            self.pending += 1;
        }
    }

    /// After a commit: what follows from its events, and from those that the follower has not
    /// passed.
    pub(super) async fn after_commit(
        &mut self,
        store: &dyn Store,
        feed: &mut Receiver<Arc<[AnnouncedChange]>>,
    ) {
        let last = self.events.last().map_or(0, |known| known.position);
        for row in store.events_after(last, 1_000).await.unwrap() {
            let event = row.open().unwrap();
            self.events.push(Known { position: row.position, event, lists: Vec::new() });
        }
        let directory = store.directory();
        for known in &mut self.events[self.pending..] {
            let ask = match known.event.subject {
                Subject::Ask(id) => store.ask(id).await.unwrap(),
                _ => None,
            };
            let list = follow_ups(&known.event, ask.as_deref(), &directory);
            let list: Vec<Work> = list.into_iter().map(Work::from).collect();
            if !known.lists.contains(&list) {
                known.lists.push(list);
            }
        }
        self.compare(feed);
    }

    /// What a commit hands over in memory is what follows from its records. Only assignees may
    /// differ: one commit may notify the assignees once more and then add one, and the records are
    /// read with both.
    fn compare(&mut self, feed: &mut Receiver<Arc<[AnnouncedChange]>>) {
        loop {
            let news = match feed.try_recv() {
                Ok(news) => news,
                Err(TryRecvError::Empty) => return,
                Err(error) => panic!("{error}"),
            };
            for news in &*news {
                let (position, follow_ups) = (news.change.position, news.follow_ups.as_ref());
                let known = self.events.iter_mut().rev().find(|known| known.position == position);
                let handed_over = follow_ups.unwrap().iter().cloned().map(Work::from);
                let (known, handed_over) = (known.unwrap(), handed_over.collect::<Vec<_>>());
                if known.lists.last() == Some(&handed_over) {
                    continue;
                }
                if known.lists.last().map(|list| others(list)) != Some(others(&handed_over)) {
                    self.wrong.push(format!(
                        "event {position} was handed over with {handed_over:?}, its record gives {:?}",
                        known.lists
                    ));
                }
                known.lists.push(handed_over);
            }
        }
    }

    /// A worker executes a delivery that it claimed.
    pub(super) fn execute(&mut self, delivery: &ClaimedWork) {
        let (id, at) = (delivery.id, delivery.written_at);
        let new = || Written { at, effect: delivery.work.clone(), executed: 0, done: false };
        let row = self.rows.entry(id).or_insert_with(new);
        row.executed += 1;
        if row.at != at || row.effect != delivery.work {
            self.wrong.push(format!("delivery {id} was {:?}, now {:?}", row.effect, delivery.work));
        }
    }

    /// A worker settled a delivery as done.
    pub(super) fn finish(&mut self, id: u64) {
        self.rows.get_mut(&id).unwrap().done = true;
    }

    /// Everything has come to rest: whether each event became work exactly once.
    pub(super) fn judge(mut self) -> Result<Seen, String> {
        let mut wrong = std::mem::take(&mut self.wrong);
        let mut seen = Seen { events: self.events.len(), ..Seen::default() };
        let mut rows: BTreeMap<Time, Vec<Work>> = BTreeMap::new();
        let mut messages = BTreeSet::new();
        for (id, row) in self.rows {
            if !row.done {
                wrong.push(format!("delivery {id} is not done: {:?}", row.effect));
            }
            seen.rows += 1;
            seen.repeated += row.executed.saturating_sub(1);
            seen.kinds.insert(kind(&row.effect));
            if let Work::Webhook { webhook, message: told } = &row.effect
                && !messages.insert((*webhook, told.id.clone()))
            {
                wrong.push(format!("twice: message {} for {webhook}", told.id));
            }
            rows.entry(row.at).or_default().push(row.effect);
        }
        // One commit has one moment, and no two commits have the same.
        let mut commits: BTreeMap<Time, Vec<&Known>> = BTreeMap::new();
        for known in &self.events {
            commits.entry(known.event.at).or_default().push(known);
        }
        for (at, events) in &commits {
            let written = rows.remove(at).unwrap_or_default();
            if !matches(events, &written) {
                wrong.push(compared(events, &written));
            }
        }
        for (at, written) in rows {
            wrong.push(format!("without an event, at {at}: {written:?}"));
        }
        if wrong.is_empty() { Ok(seen) } else { Err(wrong.join("\n")) }
    }
}

/// All but the notifications of assignees.
fn others(follow_ups: &[Work]) -> Vec<&Work> {
    follow_ups.iter().filter(|effect| !matches!(effect, Work::Notify { .. })).collect()
}

/// Whether these rows are one list of each event.
fn matches(events: &[&Known], written: &[Work]) -> bool {
    let Some((first, others)) = events.split_first() else { return written.is_empty() };
    first.lists.iter().any(|list| {
        let mut left = written.to_vec();
        let all = list.iter().all(|effect| {
            let found = left.iter().position(|other| other == effect);
            found.map(|place| left.swap_remove(place)).is_some()
        });
        all && matches(others, &left)
    })
}

/// What was written for the events of a commit, and what should have been.
fn compared(events: &[&Known], written: &[Work]) -> String {
    let mut text = String::new();
    let most: usize = events.iter().map(|known| longest(known)).sum();
    let what = match written.len().cmp(&most) {
        std::cmp::Ordering::Less => "lost",
        std::cmp::Ordering::Equal => "other work",
        std::cmp::Ordering::Greater => "twice",
    };
    let _ = write!(text, "{what}: {} deliveries were written: {written:?}", written.len());
    for known in events {
        let (position, name) = (known.position, known.event.what.name());
        let _ = write!(text, "\n  event {position} ({name}) gives {:?}", known.lists);
    }
    text
}

fn longest(known: &Known) -> usize {
    known.lists.iter().map(Vec::len).max().unwrap_or_default()
}

fn kind(effect: &Work) -> &'static str {
    match effect {
        Work::Notify { .. } => "notify",
        Work::Close { .. } => "settle",
        Work::CallBack { .. } => "callback",
        Work::Webhook { message: told, .. } if told.topic.is_none() => "test of a webhook",
        Work::Webhook { .. } => "webhook",
        Work::DropFiles { .. } => "files",
        Work::EraseHuman { .. } => "person",
        _ => "other",
    }
}
