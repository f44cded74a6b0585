//! Several nodes on one database.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kernel::command::{NewAsk, NewOnExpiry};
use kernel::directory::NewProject;
use kernel::testing::{new_ask, yes};
use kernel::{Actor, AskCommand, AskId, DirectoryCommand, Refusal, Subject};
use store::Work;
use store::followers::DELIVERIES;
use store::suite::blocks::next_block;
use store::suite::stage::{acme, bot, person};
use store::suite::{ManualClock, Stage};
use store::{AnnouncedChange, Change, Clock, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinSet;
use tokio::time::timeout;
use ulid::Ulid;

use super::support::{Database, missing, shared, soon};

/// Two nodes with the cast of the suite in their database.
async fn two(database: &Database) -> (Stage, Stage) {
    let one = database.stage().await;
    let other = database.node(Arc::clone(&one.clock)).await;
    (one, other)
}

fn project(name: &str) -> DirectoryCommand {
    DirectoryCommand::SaveProject(NewProject::plain(name.parse().unwrap()))
}

/// The next `n` changes a node tells of, within bounds.
async fn hear(feed: &mut Receiver<Arc<[AnnouncedChange]>>, n: usize) -> Vec<Change> {
    let mut heard = Vec::new();
    while heard.len() < n {
        let news = timeout(Duration::from_secs(20), feed.recv()).await.unwrap().unwrap();
        heard.extend(news.iter().map(|news| news.change.clone()));
    }
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_sees_what_another_did() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let mut feed = other.store.feed();
    let id = one.ask(new_ask()).await;
    assert_eq!(other.seen(id).await, one.seen(id).await, "at once");
    assert!(other.ids(acme(), &kernel::ask::Phase::OPEN).await.contains(&id));
    let asked = hear(&mut feed, 1).await;
    assert_eq!((&asked[0].subject, asked[0].what.as_str()), (&Subject::Ask(id), "asked"));
    other.run(person("olga"), AskCommand::Answer(id, yes())).await;
    assert_eq!(one.seen(id).await, other.seen(id).await);
    assert_eq!(hear(&mut feed, 1).await[0].what, "answered", "its own, too");
}

/// Told, not found by looking around every second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_on_another_node_wakes_soon() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let mut feed = other.store.feed();
    let mut waits = Vec::new();
    for _ in 0..9 {
        let begun = std::time::Instant::now();
        one.ask(new_ask()).await;
        hear(&mut feed, 1).await;
        waits.push(begun.elapsed());
    }
    waits.sort();
    assert!(waits[4] < Duration::from_millis(700), "{waits:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_directory_is_known_everywhere() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let old = other.store.directory();
    one.run(Actor::System, project("later")).await;
    let later = "later".parse().unwrap();
    soon("the other node knows the project", async || {
        other.store.directory().project(&later).is_some()
    })
    .await;
    assert!(old.project(&later).is_none(), "a snapshot does not move");
    // Before it can have heard: whoever decides does so on the directory as it is.
    for n in 0..20 {
        let (first, second) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let name = format!("p{n}");
        first.run(Actor::System, project(&name)).await;
        let before = second.store.directory().project(&name.parse().unwrap()).cloned();
        second.run(Actor::System, project(&name)).await;
        let seq = |stage: &Stage| stage.store.directory().project(&name.parse().unwrap()).cloned();
        assert!(seq(second).is_some(), "{before:?}");
    }
    let last = |stage: &Stage| stage.store.directory().projects().count();
    soon("both have the same", async || last(&one) == 23 && last(&other) == 23).await;
    let chain = |n: u64| Subject::Project(format!("p{n}").parse().unwrap());
    for n in 0..20 {
        let records = one.store.chain(chain(n), 0, 10).await.unwrap();
        assert!(records.iter().zip(1..).all(|(record, seq)| record.seq == seq), "{records:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_answers_through_two_nodes_one_wins() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let id = one.ask(new_ask()).await;
    let mut answering = JoinSet::new();
    for n in 0..50 {
        let job = one.job(person("olga"), AskCommand::Answer(id, yes()));
        let store = shared(if n % 2 == 0 { &one } else { &other });
        answering.spawn(async move { store.transact(job).await });
    }
    let (won, lost): (Vec<_>, Vec<_>) =
        answering.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for late in lost {
        assert!(
            matches!(late, Err(StoreError::Refused(Refusal::AlreadyAnswered { .. }))),
            "{late:?}"
        );
    }
    assert_eq!(
        other
            .store
            .changes(store::FeedQuery::Subject(Subject::Ask(id), 1), 100)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_nodes_start_at_once() {
    if missing() {
        return;
    }
    let database = Arc::new(Database::new().await);
    let clock = ManualClock::new();
    let mut starting = JoinSet::new();
    for _ in 0..4 {
        let (database, clock) = (Arc::clone(&database), Arc::clone(&clock));
        starting.spawn(async move { database.open(clock as Arc<dyn Clock>).await });
    }
    let nodes: Vec<Stage> = (starting.join_all().await.into_iter())
        .map(|node| Stage::on(Arc::new(node), Arc::clone(&clock), Box::new(())))
        .collect();
    nodes[0].cast().await;
    let id = nodes[1].ask(new_ask()).await;
    nodes[2].run(person("olga"), AskCommand::Answer(id, yes())).await;
    assert!(!nodes[3].seen(id).await.is_open());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_is_the_same_everywhere_and_skips_nothing() {
    const ASKS: usize = 150;
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let begin = one.store.last_position().await.unwrap();
    let mut feeds = [one.store.feed(), other.store.feed()];
    let mut writing = JoinSet::new();
    for n in 0..ASKS {
        let job = one.job(bot(), AskCommand::Create(Box::new(new_ask())));
        let store = shared(if n % 2 == 0 { &one } else { &other });
        let answer =
            one.job(person("olga"), AskCommand::Answer(AskId::new(job.envelope.fresh), yes()));
        let elsewhere = shared(if n % 3 == 0 { &one } else { &other });
        writing.spawn(async move {
            store.transact(job).await.unwrap();
            elsewhere.transact(answer).await.unwrap();
        });
    }
    // Read along while they write, from either node, and never look back.
    let mut read: Vec<Change> = Vec::new();
    while read.len() < 2 * ASKS {
        let after = read.last().map_or(begin, |last| last.position);
        let node = if read.len().is_multiple_of(2) { &one } else { &other };
        read.extend(node.store.changes(store::FeedQuery::After(after), 7).await.unwrap());
    }
    writing.join_all().await;
    let positions: Vec<u64> = read.iter().map(|change| change.position).collect();
    let expected: Vec<u64> = (begin + 1..=begin + 2 * ASKS as u64).collect();
    assert_eq!(positions, expected, "without a gap");
    assert_eq!(other.store.changes(store::FeedQuery::After(begin), 1000).await.unwrap(), read);
    for feed in &mut feeds {
        assert_eq!(hear(feed, 2 * ASKS).await, read, "told in the same order");
        assert!(feed.is_empty());
    }
    let subjects: BTreeSet<&Subject> = read.iter().map(|change| &change.subject).collect();
    assert_eq!(subjects.len(), ASKS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_share_what_is_due_and_what_is_to_be_delivered() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    for _ in 0..30 {
        let timeout = Some(10);
        one.ask(NewAsk { timeout, on_expiry: NewOnExpiry::Fail, ..new_ask() }).await;
    }
    one.follow().await;
    one.clock.advance(10);
    let (now, lease) = (one.now(), Duration::from_secs(30));
    let (mut due, mut deliveries) = (Vec::new(), Vec::new());
    for node in [&one, &other, &one, &other] {
        due.extend(node.store.claim_due(now, lease, 10).await.unwrap());
        deliveries.extend(node.store.claim(Work::PEOPLE, now, lease, 10).await.unwrap());
    }
    assert_eq!(due.iter().collect::<BTreeSet<_>>().len(), 30);
    assert_eq!(due.len(), 30);
    let ids: BTreeSet<u64> = deliveries.iter().map(|delivery| delivery.id).collect();
    assert_eq!((ids.len(), deliveries.len()), (30, 30));
    // One of them dies: the other gets its share when the lease ends.
    one.clock.advance(30);
    assert_eq!(other.store.claim_due(one.now(), lease, 100).await.unwrap().len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_sealers_on_two_nodes_one_wins() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let mut last = None;
    for _ in 0..5 {
        let block = next_block(&one, last.as_ref(), 1).await;
        let (mine, theirs) =
            tokio::join!(one.store.append_block(block.clone()), other.store.append_block(block));
        assert_ne!(mine.unwrap(), theirs.unwrap());
        last = other.store.block(store::BlockQuery::Last).await.unwrap().map(|sealed| sealed.block);
    }
    assert_eq!(one.store.blocks(0, 10).await.unwrap().len(), 5);
}

/// A follower moves to another node when its own does not extend the lease any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_at_a_time_runs_a_follower() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let (one, other) = two(&database).await;
    let lease = Duration::from_secs(3);
    let lead = async |stage: &Stage, node: u128| {
        stage.store.acquire_lead(DELIVERIES, Ulid::from(node), one.now(), lease).await.unwrap()
    };
    assert!(lead(&one, 1).await);
    assert!(!lead(&other, 2).await);
    one.clock.advance(2);
    assert!(lead(&one, 1).await, "extended");
    one.clock.advance(2);
    assert!(!lead(&other, 2).await);
    one.clock.advance(1);
    assert!(lead(&other, 2).await, "the first node is dead");
    assert!(!lead(&one, 1).await);
    one.clock.advance(-3600);
    assert!(lead(&one, 1).await, "the lease is from before the clock was set back");
    assert!(!lead(&other, 2).await);
}
