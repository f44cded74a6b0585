//! Load: the same request over and over on keep-alive connections, one at a time on each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::latency::Latencies;
use crate::scale::Scale;
use crate::wire::{Connection, Shot};

/// How long connections are warmed up before they count.
pub(crate) const WARM_UP: Duration = Duration::from_millis(300);

/// Somewhere to send something.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) shot: Shot,
}

/// What came of some seconds of load.
pub(crate) struct Measured {
    took: Duration,
    pub(crate) answers: Latencies,
}

impl Measured {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self { took: Duration::ZERO, answers: Latencies::new()? })
    }

    pub(crate) fn add(&mut self, other: &Self) -> anyhow::Result<()> {
        self.took += other.took;
        self.answers.merge(&other.answers)
    }

    /// Answers a second.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
    pub(crate) fn rate(&self) -> f64 {
        self.answers.len() as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }
}

/// Measures two in turns.
pub(crate) async fn in_turns(
    scale: &Scale,
    connections: usize,
    one: &Target,
    other: &Target,
) -> anyhow::Result<(Measured, Measured)> {
    let (mut first, mut second) = (Measured::new()?, Measured::new()?);
    for _ in 0..scale.turns {
        first.add(&fire(one, connections, scale.turn).await?)?;
        second.add(&fire(other, connections, scale.turn).await?)?;
    }
    Ok((first, second))
}

/// Sends as much as `connections` can, for a while.
pub(crate) async fn fire(
    target: &Target,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let end = Instant::now() + WARM_UP + time;
    fire_while(target, connections, move || Instant::now() < end).await
}

/// Sends as much as `connections` can, until told to stop.
pub(crate) async fn fire_until(
    target: &Target,
    connections: usize,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Measured> {
    fire_while(target, connections, move || !stop.load(Ordering::Relaxed)).await
}

async fn fire_while(
    target: &Target,
    connections: usize,
    go_on: impl Fn() -> bool + Clone + Send + 'static,
) -> anyhow::Result<Measured> {
    let begin = Instant::now() + WARM_UP;
    let mut workers = JoinSet::new();
    for _ in 0..connections {
        let (target, go_on) = (target.clone(), go_on.clone());
        workers.spawn(async move {
            let mut connection = Connection::open(target.address).await?;
            let mut answers = Latencies::new()?;
            while go_on() {
                let sent = Instant::now();
                connection.call(&target.shot).await?;
                if sent >= begin {
                    answers.add(sent.elapsed());
                }
            }
            anyhow::Ok(answers)
        });
    }
    let mut measured = Measured::new()?;
    while let Some(worker) = workers.join_next().await {
        measured.answers.merge(&worker??)?;
    }
    measured.took = begin.elapsed();
    Ok(measured)
}
