//! The only place that reads the wall clock.
//!
//! In `--dev` the server has two clocks: its own, which can be moved and decides when things
//! expire, and the wall clock. Times that others compare with their own clock use the wall clock:
//! timestamps of signatures, and `iat` and `exp` of tokens (`Gateway::wall_time`).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use kernel::Time;
use store::Clock;

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsClock;

impl Clock for OsClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads this")]
    fn now(&self) -> Time {
        Time::new(jiff::Timestamp::now())
    }
}

/// A clock that can be moved ahead, for development mode.
pub struct MovableClock {
    inner: Arc<dyn Clock>,
    ahead_millis: AtomicI64,
}

impl MovableClock {
    /// A clock that follows another one until it is moved.
    pub fn new(inner: Arc<dyn Clock>) -> Self {
        Self { inner, ahead_millis: AtomicI64::new(0) }
    }

    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let moved = |ahead: i64| Some(ahead.saturating_add(by));
        // The closure always returns a value, so this cannot fail.
        let _ = self.ahead_millis.fetch_update(Ordering::SeqCst, Ordering::SeqCst, moved);
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Time {
        let ahead = self.ahead_millis.load(Ordering::SeqCst);
        Time::from_millis(self.inner.now().millis().saturating_add(ahead))
    }
}
