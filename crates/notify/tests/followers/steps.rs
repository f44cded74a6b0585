//! One step of the follower at a time: what it reads, what it writes, and what a failure leaves.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use gateway::Gateway;
use kernel::ask::Priority;
use kernel::audit::RecordRow;
use kernel::command::NewAsk;
use kernel::testing::{new_ask, yes};
use kernel::{AskCommand, AskId, Time};
use notify::delivery_follower::{DeliveryFollower, DeliveryPlanner};
use store::Work;
use store::followers::DELIVERIES;
use store::memory::Memory;
use store::suite::stage::person;
use store::suite::{Guard, Stage};
use store::{
    AnnouncedChange, Clock, FollowerAdvance, FollowerStore, Settlement, Store, StoreError,
};
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

use super::replaced_followers::ReplacedFollowers;

/// Writes every follow-up as one delivery.
struct OneToOne;

#[async_trait]
impl DeliveryPlanner for OneToOne {
    async fn deliveries(
        &self,
        follow_ups: Vec<(Time, Work)>,
    ) -> Result<Vec<(Time, Work)>, StoreError> {
        Ok(follow_ups)
    }
}

/// What happens to the next call of `advance`.
enum Fault {
    /// It fails, and nothing was written.
    Lost,
    /// It fails after it was written: the answer of the database was lost.
    Unacknowledged,
    /// Another node moves the follower first.
    Overtaken,
    /// It says that it has begun, and waits until it may go on.
    Held { begun: Arc<Notify>, go_on: Arc<Notify> },
}

/// The followers of a store: counts what is read and written, and fails on demand.
struct Spy {
    store: Arc<dyn Store>,
    /// The number of events that were read back.
    read: AtomicUsize,
    /// The number of times a step was written.
    written: AtomicUsize,
    faults: Mutex<VecDeque<Fault>>,
    /// The position of an event whose bytes were changed; 0 for none.
    tampered: AtomicU64,
}

#[async_trait]
impl FollowerStore for Spy {
    async fn follower(&self, name: &'static str) -> store::Result<u64> {
        self.store.follower(name).await
    }

    async fn events_after(&self, position: u64, limit: usize) -> store::Result<Vec<RecordRow>> {
        let mut rows = self.store.events_after(position, limit).await?;
        self.read.fetch_add(rows.len(), Ordering::SeqCst);
        let tampered = self.tampered.load(Ordering::SeqCst);
        for row in rows.iter_mut().filter(|row| row.position == tampered) {
            row.body = row.body.replace("bot", "bat");
        }
        Ok(rows)
    }

    async fn advance(&self, step: FollowerAdvance) -> store::Result<bool> {
        let fault = self.faults.lock().unwrap().pop_front();
        let lost = || Err(StoreError::Unavailable("the connection was lost".into()));
        match fault {
            Some(Fault::Lost) => return lost(),
            Some(Fault::Unacknowledged) => {
                assert!(self.store.advance(step).await?);
                return lost();
            }
            Some(Fault::Overtaken) => assert!(self.store.advance(step.clone()).await?),
            Some(Fault::Held { begun, go_on }) => {
                begun.notify_one();
                go_on.notified().await;
            }
            None => {}
        }
        let done = self.store.advance(step).await?;
        self.written.fetch_add(usize::from(done), Ordering::SeqCst);
        Ok(done)
    }

    async fn acquire_lead(
        &self,
        name: &'static str,
        node: Ulid,
        now: Time,
        lease: Duration,
    ) -> store::Result<bool> {
        self.store.acquire_lead(name, node, now, lease).await
    }
}

/// A follower on a store in memory that has handled the creation of the people and agents.
struct Setup {
    stage: Stage,
    spy: Arc<Spy>,
    follower: Arc<DeliveryFollower>,
    feed: broadcast::Receiver<Arc<[AnnouncedChange]>>,
}

impl Setup {
    async fn new() -> Self {
        let stage = Stage::set(|clock| async {
            (Arc::new(Memory::new(clock)) as Arc<dyn Store>, Box::new(()) as Guard)
        })
        .await;
        let spy = Arc::new(Spy {
            store: Arc::clone(&stage.store),
            read: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
            faults: Mutex::default(),
            tampered: AtomicU64::new(0),
        });
        let followers = Arc::clone(&spy) as Arc<dyn FollowerStore>;
        let store = Arc::new(ReplacedFollowers { store: Arc::clone(&stage.store), followers });
        let clock = Arc::clone(&stage.clock) as Arc<dyn Clock>;
        let follower = DeliveryFollower::new(Gateway::new(store, clock), Arc::new(OneToOne));
        follower.catch_up().await.unwrap();
        spy.read.store(0, Ordering::SeqCst);
        spy.written.store(0, Ordering::SeqCst);
        let feed = stage.store.feed();
        Self { stage, spy, follower: Arc::new(follower), feed }
    }

    fn read(&self) -> usize {
        self.spy.read.load(Ordering::SeqCst)
    }

    fn written(&self) -> usize {
        self.spy.written.load(Ordering::SeqCst)
    }

    fn fail(&self, fault: Fault) {
        self.spy.faults.lock().unwrap().push_back(fault);
    }

    async fn stored(&self) -> u64 {
        self.stage.store.follower(DELIVERIES).await.unwrap()
    }

    async fn head(&self) -> u64 {
        self.stage.store.last_position().await.unwrap()
    }

    /// The next commit, as the process that made it announces it.
    fn announced(&mut self) -> Arc<[AnnouncedChange]> {
        self.feed.try_recv().unwrap()
    }

    async fn asks(&self, n: usize) -> Vec<AskId> {
        let mut asked = Vec::new();
        for _ in 0..n {
            asked.push(self.stage.ask(new_ask()).await);
        }
        asked
    }

    /// How many notifications wait for each ask.
    async fn waiting(&self) -> BTreeMap<AskId, usize> {
        let lease = Duration::from_mins(1);
        let mut found = BTreeMap::new();
        let claimed = self.stage.store.claim(Work::PEOPLE, self.stage.now(), lease, 10_000).await;
        for delivery in claimed.unwrap() {
            if let Some(ask) = delivery.work.ask() {
                *found.entry(ask).or_default() += 1;
            }
        }
        found
    }

    /// Each of these asks has exactly one notification.
    async fn notified_once(&self, asks: &[AskId]) {
        let expected: BTreeMap<AskId, usize> = asks.iter().map(|ask| (*ask, 1)).collect();
        assert_eq!(self.waiting().await, expected);
    }

    /// Runs the follower as the server does, until the token is cancelled.
    fn run(&self) -> (JoinSet<()>, CancellationToken) {
        let (follower, stop) = (Arc::clone(&self.follower), CancellationToken::new());
        let (feed, until) = (self.feed.resubscribe(), stop.clone());
        let mut running = JoinSet::new();
        running.spawn(async move { follower.run(feed, Arc::default(), until).await });
        (running, stop)
    }
}

#[tokio::test]
async fn events_that_were_handed_over_are_not_read_back() {
    let mut setup = Setup::new().await;
    let asks = setup.asks(3).await;
    for _ in 0..3 {
        let news = setup.announced();
        setup.follower.hand_over(&news);
    }
    assert!(setup.follower.step().await.unwrap());
    assert!(!setup.follower.step().await.unwrap(), "there is nothing more");
    assert_eq!(setup.read(), 0);
    assert_eq!(setup.written(), 1, "one commit for all three");
    assert_eq!(setup.stored().await, setup.head().await);
    setup.notified_once(&asks).await;
}

#[tokio::test]
async fn a_gap_in_what_was_handed_over_is_read_back() {
    let mut setup = Setup::new().await;
    let asks = setup.asks(3).await;
    let news = [setup.announced(), setup.announced(), setup.announced()];
    setup.follower.hand_over(&news[2]);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.read(), 3, "from the first that is missing");
    setup.notified_once(&asks).await;
}

#[tokio::test]
async fn events_that_were_handed_over_twice_or_late_are_handled_once() {
    let mut setup = Setup::new().await;
    let asks = setup.asks(3).await;
    let news = [setup.announced(), setup.announced(), setup.announced()];
    for place in [0, 0, 1, 0, 2, 1] {
        setup.follower.hand_over(&news[place]);
    }
    setup.follower.catch_up().await.unwrap();
    for late in &news {
        setup.follower.hand_over(late);
    }
    setup.follower.catch_up().await.unwrap();
    setup.notified_once(&asks).await;
}

#[tokio::test]
async fn events_of_another_process_are_read_back() {
    let mut setup = Setup::new().await;
    let asks = setup.asks(2).await;
    let (own, other) = (setup.announced(), setup.announced());
    let other: Vec<AnnouncedChange> =
        other.iter().map(|news| AnnouncedChange { follow_ups: None, ..news.clone() }).collect();
    setup.follower.hand_over(&own);
    setup.follower.hand_over(&other);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.read(), 1, "the one whose follow-ups this process does not know");
    setup.notified_once(&asks).await;
}

/// More than the follower keeps in memory: the oldest are read back.
#[tokio::test]
async fn a_follower_that_falls_far_behind_reads_back() {
    let mut setup = Setup::new().await;
    let asks = setup.asks(4).await;
    let first = setup.announced();
    setup.follower.hand_over(&first);
    let later = setup.announced();
    let many: Vec<AnnouncedChange> = later.iter().cycle().take(10_000).cloned().collect();
    setup.follower.hand_over(&many);
    setup.follower.catch_up().await.unwrap();
    assert!(setup.read() > 0, "the first was given up");
    setup.notified_once(&asks).await;
}

/// The feed holds 1,024 commits for a receiver that does not read.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_lags_misses_nothing() {
    let setup = Setup::new().await;
    let lagging = setup.stage.store.feed();
    let asks = setup.asks(1_100).await;
    let (follower, stop) = (Arc::clone(&setup.follower), CancellationToken::new());
    let (work, until) = (Arc::new(Notify::new()), stop.clone());
    let mut running = JoinSet::new();
    running.spawn(async move { follower.run(lagging, work, until).await });
    until_stored(&setup, setup.head().await).await;
    stop.cancel();
    running.join_all().await;
    setup.notified_once(&asks).await;
}

/// Under load there are always newer events in the store than the ones being handled. They are
/// announced too, so none is read back.
#[tokio::test(start_paused = true)]
async fn events_that_are_committed_during_a_step_are_not_read_back() {
    let setup = Setup::new().await;
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    setup.fail(Fault::Held { begun: Arc::clone(&begun), go_on: Arc::clone(&go_on) });
    let (running, stop) = setup.run();
    let mut asks = setup.asks(1).await;
    begun.notified().await;
    asks.extend(setup.asks(2).await);
    go_on.notify_one();
    until_stored(&setup, setup.head().await).await;
    stop.cancel();
    running.join_all().await;
    assert_eq!(setup.read(), 0);
    setup.notified_once(&asks).await;
}

#[tokio::test]
async fn a_refused_step_loses_and_repeats_nothing() {
    let mut setup = Setup::new().await;
    let mut asks = setup.asks(2).await;
    let (one, two) = (setup.announced(), setup.announced());
    setup.follower.hand_over(&one);
    setup.follower.hand_over(&two);
    setup.fail(Fault::Overtaken);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.written(), 0, "the other node wrote them");
    asks.extend(setup.asks(1).await);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.stored().await, setup.head().await);
    setup.notified_once(&asks).await;
}

#[tokio::test]
async fn a_step_that_failed_is_repeated() {
    fails_and_repeats(Fault::Lost).await;
}

#[tokio::test]
async fn a_step_whose_answer_was_lost_is_not_repeated() {
    fails_and_repeats(Fault::Unacknowledged).await;
}

async fn fails_and_repeats(fault: Fault) {
    let mut setup = Setup::new().await;
    let mut asks = setup.asks(2).await;
    let first = setup.announced();
    setup.follower.hand_over(&first);
    setup.fail(fault);
    assert!(setup.follower.catch_up().await.is_err());
    setup.follower.catch_up().await.unwrap();
    asks.extend(setup.asks(1).await);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.stored().await, setup.head().await);
    setup.notified_once(&asks).await;
}

/// A position that was not stored is a step of its own: when it fails, it is repeated too.
#[tokio::test]
async fn a_failure_to_store_the_position_loses_and_repeats_nothing() {
    for fault in [Fault::Lost, Fault::Unacknowledged, Fault::Overtaken] {
        let setup = Setup::new().await;
        let asks = setup.asks(1).await;
        setup.follower.catch_up().await.unwrap();
        setup.stage.run(person("olga"), AskCommand::Open(asks[0])).await;
        setup.fail(fault);
        let _ = setup.follower.catch_up().await;
        let more = setup.asks(1).await;
        setup.follower.catch_up().await.unwrap();
        assert_eq!(setup.stored().await, setup.head().await);
        setup.notified_once(&[asks, more].concat()).await;
    }
}

/// Lets the follower run until it has stored this position.
async fn until_stored(setup: &Setup, position: u64) {
    let stored = async {
        while setup.stored().await < position {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), stored).await.unwrap();
}

/// Lets the follower run for some time of its runtime. Nothing really waits.
async fn pass(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

#[tokio::test(start_paused = true)]
async fn events_without_work_cost_no_commit_of_their_own() {
    let setup = Setup::new().await;
    let asks = setup.asks(30).await;
    let (running, stop) = setup.run();
    until_stored(&setup, setup.head().await).await;
    let before = setup.written();
    for ask in &asks[..20] {
        setup.stage.run(person("olga"), AskCommand::Open(*ask)).await;
        pass(50).await;
    }
    assert_eq!(setup.written(), before, "less than a second has passed");
    assert_eq!(setup.stored().await + 20, setup.head().await);

    setup.stage.clock.advance(1);
    pass(1_001).await;
    assert_eq!(setup.written(), before + 1, "one commit for all of them, within a tick");
    assert_eq!(setup.stored().await, setup.head().await);

    for ask in &asks[20..] {
        setup.stage.run(person("olga"), AskCommand::Open(*ask)).await;
    }
    pass(50).await;
    assert_eq!(setup.written(), before + 1);
    stop.cancel();
    running.join_all().await;
    assert_eq!(setup.written(), before + 2, "a follower that stops stores its position");
    assert_eq!(setup.stored().await, setup.head().await);
}

#[tokio::test]
async fn an_unreadable_event_becomes_a_dead_letter_and_holds_up_no_other() {
    let setup = Setup::new().await;
    let asks = setup.asks(3).await;
    setup.spy.tampered.store(setup.head().await - 1, Ordering::SeqCst);
    setup.follower.catch_up().await.unwrap();
    assert_eq!(setup.stored().await, setup.head().await);
    let (store, lease) = (&setup.stage.store, Duration::from_mins(1));
    let claimed = store.claim(Work::PEOPLE, setup.stage.now(), lease, 10).await.unwrap();
    let mut notified = Vec::new();
    for delivery in claimed {
        let settlement = match delivery.work {
            Work::SetAside { position, error } => {
                assert_eq!(position, setup.head().await - 1);
                Settlement::Dead { error }
            }
            other => {
                notified.extend(other.ask());
                Settlement::Done
            }
        };
        store.settle(vec![(delivery.id, settlement)], Vec::new()).await.unwrap();
    }
    assert_eq!(notified, [asks[0], asks[2]]);
    let backlog = store.backlog().await.unwrap();
    assert_eq!((backlog.waiting, backlog.dead), (0, 1));
    // It is set aside once.
    setup.follower.catch_up().await.unwrap();
    assert_eq!(store.backlog().await.unwrap(), backlog);
}

#[tokio::test]
async fn only_critical_events_are_announced_as_critical() {
    let mut setup = Setup::new().await;
    let id = setup.stage.ask(new_ask()).await;
    let normal = setup.announced();
    assert!(!setup.follower.hand_over(&normal));
    setup.stage.ask(critical()).await;
    let critical = setup.announced();
    assert!(setup.follower.hand_over(&critical));
    setup.stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let answer = setup.announced();
    assert!(!setup.follower.hand_over(&answer));
}

/// The gathering pause is 20 ms. Only the time of the runtime passes here.
#[tokio::test(start_paused = true)]
async fn critical_events_do_not_wait_for_the_gathering_pause() {
    let setup = Setup::new().await;
    let (_running, _stop) = setup.run();
    pass(5).await;
    let mut took = Vec::new();
    for new in [new_ask(), critical()] {
        let begun = tokio::time::Instant::now();
        setup.stage.ask(new).await;
        let head = setup.head().await;
        while setup.stored().await < head {
            pass(1).await;
        }
        took.push(begun.elapsed());
    }
    assert!(took[0] >= Duration::from_millis(20), "{took:?}");
    assert!(took[1] < Duration::from_millis(5), "{took:?}");
}

fn critical() -> NewAsk {
    NewAsk { priority: Priority::Critical, ..new_ask() }
}
