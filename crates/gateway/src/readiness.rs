//! Checks whether the server can accept requests: it makes a small durable write and reverts it, at
//! most once a second for all callers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Durability, Store};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long a result is cached for all callers.
const CACHE_DURATION: Duration = Duration::from_secs(1);
/// The timeout of the write. After it, a load balancer should send traffic elsewhere.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// Whether the store can be written, by the last check.
#[derive(Default)]
pub struct Readiness {
    last: Mutex<Option<(Instant, ReadinessResult)>>,
}

/// The durability of the database, or why it cannot be written.
type ReadinessResult = Result<Option<Durability>, NotReady>;

/// Why the database is not writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady(pub String);

impl Readiness {
    /// Checks that the store answers, and tries a write unless there was one within
    /// the last second.
    pub async fn check(&self, store: &Arc<dyn Store>) -> ReadinessResult {
        store.ping().await.map_err(|error| NotReady(reason(&error)))?;
        let mut last = self.last.lock().await;
        if let Some((at, outcome)) = &*last
            && at.elapsed() < CACHE_DURATION
        {
            return outcome.clone();
        }
        let outcome = timeout(WRITE_TIMEOUT, write(store)).await.unwrap_or_else(|_| {
            Err(NotReady(format!("a write took longer than {} s", WRITE_TIMEOUT.as_secs())))
        });
        *last = Some((Instant::now(), outcome.clone()));
        outcome
    }
}

async fn write(store: &Arc<dyn Store>) -> ReadinessResult {
    let tried = async {
        store.probe_write().await?;
        store.durability().await
    };
    tried.await.map_err(|error| NotReady(reason(&error)))
}

/// The error and its causes. Contains no password and no stored data.
fn reason(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.ends_with(&more) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use store::memory::Memory;

    use super::*;
    use crate::clock::OsClock;

    #[tokio::test]
    async fn an_outcome_counts_for_everybody_for_a_second() {
        let readiness = Readiness::default();
        let store: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(OsClock)));
        let refused = Err(NotReady("the disk is full".to_owned()));
        *readiness.last.lock().await = Some((Instant::now(), refused.clone()));
        assert_eq!(readiness.check(&store).await, refused);
        let before = Instant::now().checked_sub(CACHE_DURATION).unwrap();
        *readiness.last.lock().await = Some((before, refused));
        assert_eq!(readiness.check(&store).await, Ok(None));
    }
}
