//! Load: the same requests repeatedly on keep-alive connections, one at a time on each, or a
//! sequence of several requests, each of which needs the previous answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use crate::http_client::{HttpConnection, PreparedRequest};
use crate::latency::Latencies;
use crate::scale::Scale;
use crate::server_process::processor_time;

/// The warm-up time of connections, which does not count.
pub(crate) const WARM_UP: Duration = Duration::from_millis(300);

/// A server and the requests for it.
#[derive(Clone)]
pub(crate) struct LoadTarget {
    pub(crate) address: SocketAddr,
    /// The process that answers.
    pub(crate) process: u32,
    /// The requests, which all connections send in turn.
    pub(crate) shots: Arc<[PreparedRequest]>,
    /// The number of requests sent so far. All connections and turns share it, so that every
    /// request is sent equally often: servers limit how often one case is polled.
    pub(crate) sent: Arc<AtomicUsize>,
}

/// The requests of one connection.
pub(crate) trait RequestSequence: Clone + Send + 'static {
    /// The next request, given the last answer, which is empty at first.
    fn next(&mut self, answer: &[u8]) -> anyhow::Result<PreparedRequest>;
}

/// The requests of a target, in turn.
#[derive(Clone)]
struct Rounds {
    shots: Arc<[PreparedRequest]>,
    sent: Arc<AtomicUsize>,
}

impl RequestSequence for Rounds {
    fn next(&mut self, _: &[u8]) -> anyhow::Result<PreparedRequest> {
        let sent = self.sent.fetch_add(1, Ordering::Relaxed);
        let shot = self.shots.get(sent % self.shots.len().max(1)).context("nothing to send")?;
        Ok(shot.clone())
    }
}

/// The result of some seconds of load.
pub(crate) struct LoadResult {
    took: Duration,
    pub(crate) answers: Latencies,
    /// The number of answers, including the warm-up.
    all: u64,
    /// The processor time of the answering process for all of them, including background work.
    processor: Duration,
}

impl LoadResult {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            took: Duration::ZERO,
            answers: Latencies::new()?,
            all: 0,
            processor: Duration::ZERO,
        })
    }

    pub(crate) fn add(&mut self, other: &Self) -> anyhow::Result<()> {
        self.took += other.took;
        self.all += other.all;
        self.processor += other.processor;
        self.answers.merge(&other.answers)
    }

    /// The number of answers per second.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
    pub(crate) fn rate(&self) -> f64 {
        self.answers.len() as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }

    /// The number of answers, including the warm-up.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
    pub(crate) fn all_answers(&self) -> f64 {
        self.all.max(1) as f64
    }

    /// Processor time of the answering process per answer, in microseconds. More stable than a rate
    /// if others use the machine.
    pub(crate) fn processor_micros(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / self.all_answers()
    }

    /// The details beside a rate.
    pub(crate) fn words(&self) -> String {
        format!("{}, {:.0} µs of processor", self.answers.words(), self.processor_micros())
    }
}

/// Measures two targets in turns.
pub(crate) async fn in_turns(
    scale: &Scale,
    connections: usize,
    one: &LoadTarget,
    other: &LoadTarget,
) -> anyhow::Result<(LoadResult, LoadResult)> {
    let (mut first, mut second) = (LoadResult::new()?, LoadResult::new()?);
    for _ in 0..scale.turns {
        first.add(&fire(one, connections, scale.turn).await?)?;
        second.add(&fire(other, connections, scale.turn).await?)?;
    }
    Ok((first, second))
}

/// Sends as many requests as `connections` can, for some time.
pub(crate) async fn fire(
    target: &LoadTarget,
    connections: usize,
    time: Duration,
) -> anyhow::Result<LoadResult> {
    let end = Instant::now() + WARM_UP + time;
    fire_while(target, connections, move || Instant::now() < end).await
}

/// Sends as many requests as `connections` can, until it is stopped.
pub(crate) async fn fire_until(
    target: &LoadTarget,
    connections: usize,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<LoadResult> {
    fire_while(target, connections, move || !stop.load(Ordering::Relaxed)).await
}

async fn fire_while(
    target: &LoadTarget,
    connections: usize,
    go_on: impl Fn() -> bool + Clone + Send + 'static,
) -> anyhow::Result<LoadResult> {
    let rounds = Rounds { shots: Arc::clone(&target.shots), sent: Arc::clone(&target.sent) };
    run_workers(target, std::iter::repeat_n(rounds, connections), go_on).await
}

/// Measures two request sequences in turns, with the same number of connections.
pub(crate) async fn sequences_in_turns(
    scale: &Scale,
    connections: usize,
    target: &LoadTarget,
    (one, other): (impl RequestSequence, impl RequestSequence),
) -> anyhow::Result<(LoadResult, LoadResult)> {
    let (mut first, mut second) = (LoadResult::new()?, LoadResult::new()?);
    for _ in 0..scale.turns {
        first.add(&run_sequence(target, connections, scale.turn, &one).await?)?;
        second.add(&run_sequence(target, connections, scale.turn, &other).await?)?;
    }
    Ok((first, second))
}

async fn run_sequence(
    target: &LoadTarget,
    connections: usize,
    time: Duration,
    story: &impl RequestSequence,
) -> anyhow::Result<LoadResult> {
    let end = Instant::now() + WARM_UP + time;
    let stories = std::iter::repeat_n(story.clone(), connections);
    run_workers(target, stories, move || Instant::now() < end).await
}

async fn run_workers(
    target: &LoadTarget,
    stories: impl Iterator<Item = impl RequestSequence>,
    go_on: impl Fn() -> bool + Clone + Send + 'static,
) -> anyhow::Result<LoadResult> {
    let begin = Instant::now() + WARM_UP;
    let used = processor_time(target.process)?;
    let mut workers = JoinSet::new();
    for mut story in stories {
        let (address, go_on) = (target.address, go_on.clone());
        workers.spawn(async move {
            let mut connection = HttpConnection::open(address).await?;
            let (mut answers, mut all) = (Latencies::new()?, 0);
            while go_on() {
                let shot = story.next(&connection.body)?;
                let sent = Instant::now();
                connection.call(&shot).await?;
                all += 1;
                if sent >= begin {
                    answers.add(sent.elapsed());
                }
            }
            anyhow::Ok((answers, all))
        });
    }
    let mut measured = LoadResult::new()?;
    while let Some(worker) = workers.join_next().await {
        let (answers, all) = worker??;
        measured.answers.merge(&answers)?;
        measured.all += all;
    }
    measured.processor = processor_time(target.process)?.saturating_sub(used);
    measured.took = begin.elapsed();
    Ok(measured)
}
