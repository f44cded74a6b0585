//! `kill -9` of the database under load: callers are told to come back, whoever waits goes on
//! waiting, and what was acknowledged is there afterwards.

use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::agent::{Caller, until, within};
use super::cluster::Cluster;
use super::load::{Ended, Load};
use super::test_storage::Place;
use super::waiting::{WAYS, watched};

/// How long a user of the database that does not try again keeps its recovery from the log.
const RECOVERY: Duration = Duration::from_secs(30);
/// Agents that wait in each way.
const WAITING: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_goes_on_and_nothing_acknowledged_is_lost() {
    let Some(cluster) = Cluster::start() else { return };
    let place = Place::at(&cluster.url);
    let nodes = place.nodes();
    let callers: Vec<Caller> = nodes.iter().map(Caller::of).collect();
    let (mut ids, mut waiting) = (Vec::new(), JoinSet::new());
    for n in 0..WAITING * WAYS.len() {
        let (way, caller) = (WAYS[n % WAYS.len()], &callers[n / WAYS.len() % callers.len()]);
        let (_, id) = caller.ask("Deploy?").await.unwrap();
        ids.push(id.clone());
        let caller = caller.clone();
        // One connection only: whoever loses it has lost.
        waiting.spawn(async move {
            let told = way.wait(&caller, &id).await;
            (id, told.unwrap_or_else(|why| panic!("{way:?}: {why}")))
        });
    }
    until("everybody waits", async || watched(&callers).await == ids.len() as u64).await;
    let load = Load::default();
    let mut workers = load.start(&callers);
    load.more(50).await;

    for _ in 0..2 {
        cluster.kill();
        for caller in &callers {
            until("it is not ready", async || caller.ready().await == 503).await;
        }
        load.refusals(20).await;
        cluster.restart();
        for caller in &callers {
            until("it is ready", async || caller.ready().await == 200).await;
        }
        load.more(50).await;
    }
    load.stop();
    while let Some(ended) = workers.join_next().await {
        assert_eq!(ended.unwrap(), Ended::Stopped, "a request was not answered in time");
    }

    for (n, id) in ids.iter().enumerate() {
        // Often on another node than the one where its agent waits.
        let (status, said) = callers[n % callers.len()].resolve(id, "approved").await.unwrap();
        assert_eq!(status, 200, "{said}");
    }
    let told = tokio::time::timeout(Duration::from_secs(10), waiting.join_all()).await;
    for (id, at) in told.expect("everybody is told") {
        assert_eq!(callers[0].poll(&id).await["receipt"]["completed_at"], *at);
    }
    load.check(&callers[1]).await;
    for (node, caller) in nodes.into_iter().zip(&callers) {
        within(RECOVERY, "the recovery is logged", async || {
            caller.ask("Does it work again?").await.unwrap();
            let (failed, recovered, _) = outages(&node.stderr());
            failed == recovered
        })
        .await;
        let log = node.stderr();
        node.stop();
        logged_once_per_outage(&log);
    }
    let ended = place.sound().await;
    assert!(ended.values().all(|what| what == "answered"), "{ended:?}");
}

/// How often the log says that the database failed and that it recovered, and after how many
/// failures.
fn outages(log: &str) -> (usize, usize, u64) {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> = lines.filter(|line| line["dependency"] == "database").collect();
    let with = |message: &str| {
        let said = |line: &&Value| line["message"].as_str().is_some_and(|m| m.starts_with(message));
        lines.iter().filter(said).collect::<Vec<_>>()
    };
    let (failed, recovered) = (with("dependency failed"), with("dependency recovered"));
    let failures = recovered.iter().map(|line| line["failures"].as_u64().unwrap());
    (failed.len(), recovered.len(), failures.sum())
}

/// An outage begins with one line and ends with one, however often everybody tried meanwhile. The
/// second outage may begin before everybody got over the first one; then they are one in the log.
fn logged_once_per_outage(log: &str) {
    let (failed, recovered, failures) = outages(log);
    assert!(failed == recovered && (1..=2).contains(&failed), "{log}");
    assert!(failures > 34, "{failures}");
    let drivers = |line: &&str| line.contains("tokio_postgres") || line.contains("deadpool");
    assert_eq!(log.lines().filter(drivers).count(), 0, "{log}");
    let noise = ["the database is not available", "trying again", "not ready"];
    let noise: Vec<&str> =
        log.lines().filter(|line| noise.iter().any(|text| line.contains(text))).collect();
    assert!(noise.len() <= 8, "{noise:#?}");
}
