//! Who waits for which ask. Waiters subscribe first and read afterwards, so no wake-up is lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kernel::{AskId, Subject};
use store::Change;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The registry of waiters.
#[derive(Clone, Default)]
pub struct Wake {
    waiting: Arc<Mutex<HashMap<AskId, watch::Sender<u64>>>>,
}

/// One waiter's subscription. Dropping it forgets the ask when nobody else waits for it.
pub struct Waiter {
    ask: AskId,
    changed: watch::Receiver<u64>,
    wake: Wake,
}

impl Wake {
    /// Subscribes to an ask. Read it after this, then wait.
    pub fn subscribe(&self, ask: AskId) -> Waiter {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = waiting.entry(ask).or_insert_with(|| watch::channel(0).0).subscribe();
        Waiter { ask, changed, wake: self.clone() }
    }

    /// How many asks are waited for.
    pub fn len(&self) -> usize {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Follows the store's feed until shutdown.
    pub async fn follow(self, mut feed: Receiver<Arc<[Change]>>, stop: CancellationToken) {
        loop {
            let batch = tokio::select! {
                () = stop.cancelled() => return,
                batch = feed.recv() => batch,
            };
            match batch {
                Ok(changes) => self.announce(&changes),
                // We missed some: everybody looks for themselves.
                Err(RecvError::Lagged(_)) => self.announce_all(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn announce(&self, changes: &[Change]) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            if let Subject::Ask(ask) = change.subject
                && let Some(sender) = waiting.get(&ask)
            {
                sender.send_modify(|n| *n += 1);
            }
        }
    }

    fn announce_all(&self) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for sender in waiting.values() {
            sender.send_modify(|n| *n += 1);
        }
    }
}

impl Waiter {
    /// Until the ask changes after this subscription, or after the last call.
    pub async fn changed(&mut self) {
        // The sender lives in the registry as long as this waiter does.
        let _ = self.changed.changed().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.wake.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.get(&self.ask)
            && sender.receiver_count() <= 1
        {
            waiting.remove(&self.ask);
        }
    }
}
