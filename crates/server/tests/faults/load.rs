//! Agents and people at work, and what servers said yes to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::agent::{Caller, until};

const WORKERS: usize = 12;

/// What was acknowledged: requests, and the receipt of those that were answered.
#[derive(Default)]
struct Acknowledged {
    created: Vec<String>,
    receipts: BTreeMap<String, Value>,
}

#[derive(Clone, Default)]
pub(crate) struct Load {
    known: Arc<Mutex<Acknowledged>>,
    /// How often somebody was told to come back later.
    refused: Arc<AtomicUsize>,
    stop: CancellationToken,
}

/// How a worker ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was told to.
    Stopped,
    /// No server was left.
    Gone,
}

impl Load {
    /// Workers, each with a server of its own to begin with; when that is gone they go on with the
    /// others.
    pub(crate) fn start(&self, servers: &[Caller]) -> JoinSet<Ended> {
        let mut workers = JoinSet::new();
        for n in 0..WORKERS {
            let mut mine = servers.to_vec();
            mine.rotate_left(n % servers.len());
            workers.spawn(self.clone().work(mine));
        }
        workers
    }

    /// Tells the workers to stop.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    pub(crate) fn created(&self) -> usize {
        self.known.lock().unwrap().created.len()
    }

    /// Until so many more were told to come back later.
    pub(crate) async fn refusals(&self, n: usize) {
        let enough = self.refused.load(Ordering::Relaxed) + n;
        until("callers are refused", async || self.refused.load(Ordering::Relaxed) >= enough).await;
    }

    /// Until so many more are acknowledged.
    pub(crate) async fn more(&self, n: usize) {
        let enough = self.created() + n;
        until("requests are acknowledged", async || self.created() >= enough).await;
    }

    /// Creates, then two people answer at once.
    async fn work(self, servers: Vec<Caller>) -> Ended {
        let mut open = None;
        for caller in servers {
            while !self.stop.is_cancelled() {
                let id = match open.take() {
                    Some(id) => id,
                    None => match caller.ask("Deploy v2.1?").await {
                        Ok((201, id)) => {
                            self.known.lock().unwrap().created.push(id.clone());
                            id
                        }
                        Ok((status, _)) => {
                            self.refused(status).await;
                            continue;
                        }
                        Err(_) => break,
                    },
                };
                if self.answer(&caller, &id).await.is_err() {
                    // Perhaps it was kept; the next server knows.
                    open = Some(id);
                    break;
                }
            }
        }
        if self.stop.is_cancelled() { Ended::Stopped } else { Ended::Gone }
    }

    async fn answer(&self, caller: &Caller, id: &str) -> reqwest::Result<()> {
        let both = tokio::join!(caller.resolve(id, "approved"), caller.resolve(id, "rejected"));
        let mut lost = Ok(());
        for answered in [both.0, both.1] {
            match answered {
                Ok((200, said)) => {
                    let receipt = said["receipt"].clone();
                    let earlier =
                        self.known.lock().unwrap().receipts.insert(id.to_owned(), receipt);
                    assert_eq!(earlier, None, "two receipts for {id}");
                }
                Ok((409, _)) => {}
                Ok((status, _)) => self.refused(status).await,
                Err(error) => lost = Err(error),
            }
        }
        lost
    }

    /// Nothing but "later" is an excuse, and it is heeded, if not for as long as it says.
    async fn refused(&self, status: u16) {
        assert_eq!(status, 503);
        self.refused.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    /// Everything acknowledged is there as it was acknowledged.
    pub(crate) async fn check(&self, caller: &Caller) {
        let (created, receipts) = {
            let known = self.known.lock().unwrap();
            (known.created.clone(), known.receipts.clone())
        };
        for id in &created {
            let request = caller.poll(id).await;
            let status = request["status"].as_str().unwrap();
            if let Some(receipt) = receipts.get(id) {
                assert_eq!(status, "completed");
                assert_eq!(&request["receipt"], receipt, "the receipt of {id} changed");
            } else {
                // Its answer may have been kept without anybody being told.
                assert!(["pending", "completed"].contains(&status), "{request}");
            }
        }
    }
}
