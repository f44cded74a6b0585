//! From the embedded store to the shared one: everything, as it was, again and again, and not on
//! top of something else.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kernel::audit::Digest;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::insight::CountScope;
use kernel::testing::{new_ask, yes};
use kernel::{AskCommand, AskId, HumanId, Phase, Time};
use store::Work;
use store::followers::DELIVERIES;
use store::postgres::{DatabaseNotEmpty, Postgres};
use store::sqlite::{DatabaseLocked, Sqlite};
use store::suite::blocks::next_block;
use store::suite::insights::everything;
use store::suite::stage::{acme, bot, person};
use store::suite::tasks::{amend, begun, ledger, raise, story};
use store::suite::work_queue::{endpoint, settle_as};
use store::suite::{ManualClock, Stage};
use store::work_queue::{DeliveryLogQuery, WebhookDeliveryStatus};
use store::{
    Clock, Device, SideKind, SideRow, SideSelection, Store, StoreError, TaskListQuery,
    VerificationCode,
};

use super::support::{Database, missing, soon};

const SIDE: [SideKind; 7] = [
    SideKind::Anchor,
    SideKind::Code,
    SideKind::Device,
    SideKind::Draft,
    SideKind::Secret,
    SideKind::Snooze,
    SideKind::DeviceNotified,
];

fn file(folder: &Path) -> PathBuf {
    folder.join("store.db")
}

fn embedded(folder: &Path, hands: &Arc<ManualClock>) -> Stage {
    let clock = Arc::clone(hands) as Arc<dyn Clock>;
    let store = Sqlite::open(&file(folder), clock).unwrap();
    Stage::on(Arc::new(store), Arc::clone(hands), Box::new(()))
}

async fn take(store: &Postgres, folder: &Path) -> store::Result<(u64, u64)> {
    let mut last = (0, 0);
    let imported = store.import_sqlite(&file(folder), &mut |done, all| last = (done, all)).await?;
    assert_eq!(last, (imported.rows, imported.rows), "progress is reported to the end");
    Ok((imported.rows, imported.events))
}

/// Everything a store shows of what lies in it.
async fn shown(store: &dyn Store, asks: &[AskId]) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut seen = Vec::new();
    for id in asks {
        seen.push(store.ask(*id).await.unwrap());
    }
    let list = store::suite::stage::list(vec![acme()], &Phase::OPEN);
    let directory: Vec<String> = store.directory().keys().map(|key| format!("{key:?}")).collect();
    (
        seen,
        store.rows(store::FeedQuery::After(0), 1000).await.unwrap(),
        store
            .changes(store::FeedQuery::Agents(vec!["bot".parse().unwrap()], 0), 1000)
            .await
            .unwrap(),
        store.blocks(0, 100).await.unwrap(),
        (store.list(list).await.unwrap(), store.backlog().await.unwrap()),
        store.follower(DELIVERIES).await.unwrap(),
        (store.next_due().await.unwrap(), directory),
        side(store).await,
        told(store).await,
        tasks(store).await,
        store.counts(everything(vec![CountScope::All])).await.unwrap(),
    )
}

/// Every row of the side table.
async fn side(store: &dyn Store) -> Vec<SideRow> {
    let mut rows = Vec::new();
    for kind in SIDE {
        let found = store.side(kind, SideSelection::Prefix(String::new())).await.unwrap();
        assert!(!found.is_empty(), "{kind:?}");
        rows.extend(found);
    }
    rows
}

/// Keeps something of every kind.
async fn fill_side(stage: &Stage, ask: AskId) {
    let (store, until) = (&stage.store, stage.now().plus_seconds(600));
    let (olga, name): (HumanId, Digest) = ("olga".parse().unwrap(), Digest([7; 32]));
    store.anchor(3).await.unwrap();
    let code = VerificationCode {
        human: olga.clone(),
        means: name,
        hash: Digest::of(b"123456"),
        expires_at: until,
    };
    store.put_code(code).await.unwrap();
    let device = Device {
        name,
        human: olga.clone(),
        key: None,
        made_at: stage.now(),
        closed: b"closed\xff".to_vec(),
    };
    assert!(store.put_device(device).await.unwrap());
    assert!(store.record_notified(ask, name).await.unwrap());
    assert!(store.put_draft(ask, b"begun\xff".to_vec()).await.unwrap());
    store.put_secret(ask, name, b"secret\xff".to_vec()).await.unwrap();
    assert!(store.snooze(olga, ask, Some(until)).await.unwrap());
}

/// Tasks and what belongs to them.
async fn tasks(store: &dyn Store) -> impl PartialEq + std::fmt::Debug + use<> {
    let projects = vec!["acme".parse().unwrap()];
    let list = TaskListQuery { projects: projects.clone(), limit: 9, ..TaskListQuery::default() };
    let tasks = store.tasks(list.clone()).await.unwrap().tasks;
    let (mut artifacts, mut reviews) = (Vec::new(), Vec::new());
    for task in &tasks {
        for made in &task.delivered {
            artifacts.push(store.artifact(made.id).await.unwrap());
        }
        for review in &task.reviews {
            reviews.push(store.task_of_review(review.id).await.unwrap());
        }
    }
    let agent: kernel::AgentId = "bot".parse().unwrap();
    (
        (tasks, artifacts, reviews),
        store.entries(ledger(), None, 9).await.unwrap(),
        store.task_counts(list).await.unwrap(),
        store.records(store::FeedQuery::Tasks(projects, 0), 1000).await.unwrap(),
        store.contracts(agent.clone(), 0, 100).await.unwrap(),
        store.acked(agent).await.unwrap(),
        store.ended_tasks("acme".parse().unwrap(), Time::from_millis(i64::MAX), 9).await.unwrap(),
    )
}

/// What endpoints were told, and are to be told; under other numbers than there.
async fn told(store: &dyn Store) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut found = Vec::new();
    for webhook in store.directory().webhooks_after(None) {
        let wanted = DeliveryLogQuery { webhook: webhook.id, status: None, after: None, limit: 9 };
        let log = store.delivery_log(wanted).await.unwrap();
        found.push((webhook.clone(), log));
    }
    (found, store.lanes(Work::PEOPLE, Time::from_millis(i64::MAX), 9).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_there_as_it_was() {
    if missing() {
        return;
    }
    let (folder, hands) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let stage = embedded(folder.path(), &hands);
    stage.cast().await;
    let expiring = NewAsk { timeout: Some(60), on_expiry: NewOnExpiry::Fail, ..new_ask() };
    let mut asks = vec![stage.ask(expiring).await, stage.ask(new_ask()).await];
    stage.run(person("olga"), AskCommand::Answer(asks[1], yes())).await;
    let keyed = || stage.keyed(bot(), AskCommand::Create(Box::new(new_ask())), "once", "the same");
    asks.push(stage.store.transact(keyed()).await.unwrap().ask.unwrap().id);
    let block = next_block(&stage, None, 3).await;
    assert!(stage.store.append_block(block).await.unwrap());
    let webhook = endpoint(&stage).await;
    asks.push(stage.ask(new_ask()).await);
    stage.follow().await;
    let lane = webhook.to_string();
    let lease = Duration::from_secs(9);
    let claimed = stage.store.claim(&lane, stage.now(), lease, 9).await.unwrap();
    settle_as(&stage, webhook, &claimed[0], WebhookDeliveryStatus::Dead).await;
    asks.push(stage.ask(new_ask()).await);
    story(&stage).await;
    let task = begun(&stage).await;
    let amended = || stage.keyed(person("olga"), amend(task, "Leave out May."), "k", "amended");
    let place = stage.store.transact(amended()).await.unwrap().place;
    asks.push(stage.run(bot(), raise(task)).await.ask.unwrap().id);
    assert_eq!(stage.store.ack_contracts("bot".parse().unwrap(), 3).await.unwrap(), 3);
    assert!(!stage.store.count_next(1_000).await.unwrap().tally.is_empty());
    fill_side(&stage, asks[0]).await;
    let before = shown(&*stage.store, &asks).await;
    let (again, amended) = (keyed(), amended());

    let database = Database::new().await;
    let store = database.open(Arc::clone(&hands) as Arc<dyn Clock>).await;
    let busy = take(&store, folder.path()).await.unwrap_err();
    assert!(matches!(busy, StoreError::Unavailable(why) if why.is::<DatabaseLocked>()));
    drop(stage);
    let first = take(&store, folder.path()).await.unwrap();
    assert_eq!(take(&store, folder.path()).await.unwrap(), first, "again, with the same result");
    drop(store);

    let node = database.node(Arc::clone(&hands)).await;
    assert_eq!(format!("{:?}", shown(&*node.store, &asks).await), format!("{before:?}"));
    let replayed = node.store.transact(again).await.unwrap();
    assert!(replayed.replayed, "what was asked before is known");
    let replayed = node.store.transact(amended).await.unwrap();
    assert_eq!((replayed.replayed, replayed.place), (true, place), "and what was done to a task");
    let checkpoint = *asks.last().unwrap();
    let resumed = node.run(person("olga"), AskCommand::Answer(checkpoint, yes())).await.task;
    assert_eq!(resumed.unwrap().id, task, "tasks go on from there");
    let bot: kernel::AgentId = "bot".parse().unwrap();
    let contracts = node.store.contracts(bot, 0, 100).await.unwrap();
    assert!(contracts.is_sorted_by(|(one, _), (next, _)| one < next));
    assert_eq!(contracts.last().unwrap().1.task, task, "and so do their numbers");
    // It goes on from there: deadlines, deliveries, positions, blocks.
    hands.advance(61);
    assert_eq!(node.store.claim_due(node.now(), Duration::ZERO, 9).await.unwrap(), [asks[0]]);
    node.run(kernel::Actor::System, AskCommand::Expire(asks[0])).await;
    assert!(
        !node
            .store
            .claim(Work::PEOPLE, node.now(), Duration::from_secs(9), 9)
            .await
            .unwrap()
            .is_empty()
    );
    let last = node.store.block(store::BlockQuery::Last).await.unwrap().unwrap();
    let block = next_block(&node, Some(&last.block), 2).await;
    assert!(node.store.append_block(block).await.unwrap());
}

/// More was done there since: it is taken as well. Something was done here: nothing is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_of_its_own_is_not_replaced() {
    if missing() {
        return;
    }
    let (folder, hands) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let stage = embedded(folder.path(), &hands);
    stage.cast().await;
    drop(stage);
    let database = Database::new().await;
    let store = database.open(Arc::clone(&hands) as Arc<dyn Clock>).await;
    let (_, events) = take(&store, folder.path()).await.unwrap();
    let stage = embedded(folder.path(), &hands);
    let id = stage.ask(new_ask()).await;
    drop(stage);
    assert_eq!(take(&store, folder.path()).await.unwrap().1, events + 1);
    drop(store);

    let node = database.node(Arc::clone(&hands)).await;
    node.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let store = database.open(Arc::clone(&hands) as Arc<dyn Clock>).await;
    let refused = take(&store, folder.path()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(why) if why.is::<DatabaseNotEmpty>()));
    assert!(!node.seen(id).await.is_open(), "and nothing is lost");
}

/// Somebody who reads two tables locks them in the other order: the database ends the import, and
/// it is tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_meets_a_reader_is_tried_again() {
    if missing() {
        return;
    }
    let (folder, database) = (tempfile::tempdir().unwrap(), Database::new().await);
    let hands = ManualClock::new();
    let stage = embedded(folder.path(), &hands);
    stage.cast().await;
    drop(stage);
    let node = database.open(Arc::clone(&hands) as Arc<dyn Clock>).await;
    let (reader, watcher) = (database.raw().await, database.raw().await);
    reader.client.batch_execute("BEGIN; LOCK TABLE feed IN ACCESS SHARE MODE").await.unwrap();
    let waits = "SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE relname = 'feed' AND NOT granted";
    let reading = async {
        soon("the import waits for the reader", async || {
            watcher.client.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) > 0
        })
        .await;
        let rest = "LOCK TABLE record IN ACCESS SHARE MODE; COMMIT";
        reader.client.batch_execute(rest).await.unwrap();
    };
    let (taken, ()) = tokio::join!(take(&node, folder.path()), reading);
    let (rows, events) = taken.unwrap();
    assert!(rows > events && events > 0);
}
