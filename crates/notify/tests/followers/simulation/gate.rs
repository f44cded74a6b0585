//! Places where the simulation interrupts a follower or a worker: there others run, a call fails,
//! or the process dies.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::RecordRow;
use notify::delivery_follower::DeliveryPlanner;
use store::Work;
use store::{FollowerAdvance, FollowerStore, Result, Store, StoreError};
use ulid::Ulid;

/// Something of a process that runs in steps.
pub(super) type Running = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

#[derive(Default)]
struct Pause {
    /// Where it waits, if it does.
    at: Option<String>,
    /// Whether the call fails there.
    fails: bool,
    /// Whether nothing is interrupted any more.
    open: bool,
}

/// The gate of one process.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<Pause>>);

impl Gate {
    /// Waits here until the simulation goes on.
    pub(super) async fn pause(&self, place: impl Into<String>) -> Result<()> {
        if self.0.lock().unwrap().open {
            return Ok(());
        }
        self.0.lock().unwrap().at = Some(place.into());
        poll_fn(|_| match self.0.lock().unwrap().at {
            Some(_) => Poll::Pending,
            None => Poll::Ready(()),
        })
        .await;
        if std::mem::take(&mut self.0.lock().unwrap().fails) {
            return Err(StoreError::Unavailable("the connection was lost".into()));
        }
        Ok(())
    }

    /// From now on nothing is interrupted.
    pub(super) fn open(&self) {
        self.0.lock().unwrap().open = true;
    }

    /// Goes on until the next pause, whose place it returns, or to the end.
    pub(super) async fn resume(
        &self,
        running: &mut Running,
        fails: bool,
    ) -> std::result::Result<String, Result<()>> {
        {
            let mut pause = self.0.lock().unwrap();
            pause.fails = fails;
            pause.at = None;
        }
        poll_fn(|context| match running.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Err(done)),
            Poll::Pending => match &self.0.lock().unwrap().at {
                Some(place) => Poll::Ready(Ok(place.clone())),
                // It waits for the thread of the database.
                None => Poll::Pending,
            },
        })
        .await
    }
}

/// How a store writes the step of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Work and position in one commit, as every store does.
    Together,
    /// Broken on purpose: the work, and then the position.
    WorkFirst,
    /// Broken on purpose: the position, and then the work.
    PositionFirst,
    /// Broken on purpose: the work alone.
    WorkAlone,
    /// Broken on purpose: nobody checks where the follower is.
    Unchecked,
}

/// The followers of a store, interrupted before and after every call.
pub(super) struct GatedFollowers {
    pub(super) store: Arc<dyn Store>,
    pub(super) gate: Gate,
    pub(super) rule: Rule,
}

impl GatedFollowers {
    async fn write(&self, step: FollowerAdvance) -> Result<bool> {
        let position = FollowerAdvance { work: Vec::new(), ..step.clone() };
        let work = |at: u64| FollowerAdvance { from: at, to: at, ..step.clone() };
        let stored = || self.store.follower(step.follower);
        match self.rule {
            Rule::Together => self.store.advance(step).await,
            Rule::WorkAlone => self.store.advance(work(step.from)).await,
            Rule::WorkFirst => {
                if !self.store.advance(work(step.from)).await? {
                    return Ok(false);
                }
                self.gate.pause("between work and position").await?;
                self.store.advance(position).await
            }
            Rule::PositionFirst => {
                if !self.store.advance(position).await? {
                    return Ok(false);
                }
                self.gate.pause("between position and work").await?;
                self.store.advance(work(stored().await?)).await
            }
            Rule::Unchecked => {
                let from = stored().await?;
                self.store.advance(FollowerAdvance { from, to: step.to.max(from), ..step }).await
            }
        }
    }
}

#[async_trait]
impl FollowerStore for GatedFollowers {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        self.gate.pause("before it reads its position").await?;
        let position = self.store.follower(name).await?;
        self.gate.pause(format!("after it read its position, {position}")).await?;
        Ok(position)
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<RecordRow>> {
        self.gate.pause(format!("before it reads back the events after {position}")).await?;
        let rows = self.store.events_after(position, limit).await?;
        self.gate.pause(format!("after it read back {} events", rows.len())).await?;
        Ok(rows)
    }

    async fn advance(&self, step: FollowerAdvance) -> Result<bool> {
        let text =
            format!("of {}..={} with {} deliveries", step.from + 1, step.to, step.work.len());
        self.gate.pause(format!("before the commit {text}")).await?;
        let done = self.write(step).await?;
        let done_text = if done { "done" } else { "refused" };
        self.gate.pause(format!("after the commit {text}, {done_text}")).await?;
        Ok(done)
    }

    async fn acquire_lead(
        &self,
        name: &'static str,
        node: Ulid,
        now: Time,
        lease: Duration,
    ) -> Result<bool> {
        self.store.acquire_lead(name, node, now, lease).await
    }
}

/// Writes every follow-up as one delivery that is due at the moment of its event, so that the model
/// finds the event of each row.
pub(super) struct GatedPlan(pub(super) Gate);

#[async_trait]
impl DeliveryPlanner for GatedPlan {
    async fn deliveries(&self, follow_ups: Vec<(Time, Work)>) -> Result<Vec<(Time, Work)>> {
        self.0.pause(format!("while it plans {} follow-ups", follow_ups.len())).await?;
        Ok(follow_ups)
    }
}
