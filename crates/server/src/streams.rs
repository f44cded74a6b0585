//! Long connections, counted: so many to a credential and no more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::Subject;

use crate::auth::Denied;

/// The streams that are open.
pub struct Streams {
    /// The most for one credential; 0 for no limit.
    most: u32,
    open: Mutex<HashMap<Subject, u32>>,
}

/// What is streamed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Server-sent events.
    Events,
    /// A WebSocket.
    Socket,
    /// The bytes of an artifact, coming or going.
    Bytes,
}

/// One open stream; it is counted until this is dropped.
pub struct Held {
    streams: Arc<Streams>,
    who: Option<Subject>,
    wire: Wire,
}

impl Streams {
    /// So many to a credential; 0 for no limit.
    pub fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// One more for a key, or for a person whose token is not ours. Who showed no credential, where
    /// that is allowed, is not counted.
    pub fn open(self: &Arc<Self>, who: Option<Subject>, wire: Wire) -> Result<Held, Denied> {
        if let Some(who) = &who {
            let mut open = self.lock();
            let count = open.entry(who.clone()).or_default();
            if self.most > 0 && *count >= self.most {
                return Err(Denied::TooManyStreams);
            }
            *count += 1;
        }
        wire.gauge().increment(1);
        Ok(Held { streams: Arc::clone(self), who, wire })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire {
    fn gauge(self) -> metrics::Gauge {
        match self {
            Self::Events => metrics::gauge!("countersign_event_streams"),
            Self::Socket => metrics::gauge!("countersign_websockets"),
            Self::Bytes => metrics::gauge!("countersign_transfers"),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.wire.gauge().decrement(1);
        let Some(who) = &self.who else { return };
        let mut open = self.streams.lock();
        if let Some(count) = open.get_mut(who) {
            *count -= 1;
            if *count == 0 {
                open.remove(who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_credential_has_its_own_count_and_both_wires_share_it() {
        let who = |name: &str| Some(Subject::Human(name.parse().unwrap()));
        let streams = Streams::new(2);
        let one = streams.open(who("ann"), Wire::Events).ok();
        let two = streams.open(who("ann"), Wire::Socket).ok();
        assert!(one.is_some() && two.is_some());
        let refused = |name| streams.open(who(name), Wire::Events).err();
        assert_eq!(refused("ann"), Some(Denied::TooManyStreams));
        assert_eq!(refused("bob"), None);
        drop(one);
        assert_eq!(refused("ann"), None);
        drop(two);
        assert!(streams.lock().is_empty(), "nobody is remembered who is gone");
        let free = Streams::new(0);
        let many: Vec<_> = (0..500).map(|_| free.open(who("ann"), Wire::Events)).collect();
        assert!(many.iter().all(Result::is_ok));
        assert!((0..9).all(|_| streams.open(None, Wire::Socket).is_ok()));
    }
}
