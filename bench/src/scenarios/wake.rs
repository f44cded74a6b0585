//! From a person's answer to the waiting agent. The clock starts when the answer is sent, so its
//! commit is part of the measurement. Compared with a durable commit under the same load: the
//! creates of the same agents, in the same seconds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::waiting::{WaitMode, native};
use super::{create_at, create_one};
use crate::gateway::PERSON;
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::latency::Latencies;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

/// Agents that ask and wait, each with a person who answers.
const PAIRS: usize = 16;
/// A long poll does not confirm its beginning. It has begun after this time.
const BEGUN: Duration = Duration::from_millis(20);

/// The measurements of one pair or of all.
pub(super) struct WakeTimes {
    pub(super) created: Latencies,
    pub(super) acknowledged: Latencies,
    pub(super) woken: Latencies,
}

impl WakeTimes {
    fn new() -> anyhow::Result<Self> {
        let empty = Latencies::new()?;
        Ok(Self { created: empty.clone(), acknowledged: empty.clone(), woken: empty })
    }
}

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let gateway = ServerProcess::gateway(&folder.path().join("gateway")).await?;
    let id = create_at(gateway.address).await?;
    let mut rows = Vec::new();
    for way in WaitMode::ALL {
        let what = format!("answer sent → agent has it, {}: p99", way.name());
        if !way.is_there(gateway.address, &id).await? {
            rows.push(Measurement::missing(what, "the server does not have it yet"));
            continue;
        }
        let timed = pairs(gateway.address, gateway.address, way, scale.wakes).await?;
        let row = Measurement::new(what, timed.woken.p99(), "ms").against(timed.created.p99());
        rows.push(row.goal(Goal::AtMost(3.0)).note(format!(
            "p50 {:.2} ms; answer acknowledged {}; create {}",
            timed.woken.p50(),
            timed.acknowledged.words(),
            timed.created.words(),
        )));
    }
    Ok(rows)
}

/// Runs agents on one node and people on another.
pub(super) async fn pairs(
    agents: SocketAddr,
    people: SocketAddr,
    way: WaitMode,
    wakes: usize,
) -> anyhow::Result<WakeTimes> {
    let left = Arc::new(AtomicUsize::new(wakes));
    let mut pairs = JoinSet::new();
    for _ in 0..PAIRS {
        pairs.spawn(pair(agents, people, way, Arc::clone(&left)));
    }
    let mut all = WakeTimes::new()?;
    while let Some(pair) = pairs.join_next().await {
        let timed = pair??;
        all.created.merge(&timed.created)?;
        all.acknowledged.merge(&timed.acknowledged)?;
        all.woken.merge(&timed.woken)?;
    }
    Ok(all)
}

async fn pair(
    agents: SocketAddr,
    people: SocketAddr,
    way: WaitMode,
    left: Arc<AtomicUsize>,
) -> anyhow::Result<WakeTimes> {
    let mut timed = WakeTimes::new()?;
    let mut agent = HttpConnection::open(agents).await?;
    let mut person = HttpConnection::open(people).await?;
    let take = |left: usize| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
        let sent = Instant::now();
        let id = create_one(&mut agent).await?;
        timed.created.add(sent.elapsed());

        let mut waiting = HttpConnection::open(agents).await?;
        way.wait(&mut waiting, &id).await?;
        tokio::time::sleep(BEGUN).await;

        let answer = PreparedRequest::post(
            &format!("/api/v1/asks/{}/answer", native(&id)),
            PERSON,
            r#"{"answer":{"verdict":"approved"}}"#,
        );
        let sent = Instant::now();
        let acknowledged = async {
            person.call(&answer).await?;
            anyhow::Ok(sent.elapsed())
        };
        let woken = async {
            way.answered(&mut waiting).await?;
            anyhow::Ok(sent.elapsed())
        };
        let (acknowledged, woken) = tokio::try_join!(acknowledged, woken)?;
        timed.acknowledged.add(acknowledged);
        timed.woken.add(woken);
    }
    Ok(timed)
}
