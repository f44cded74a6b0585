//! Time, handed in: a test has a clock of its own.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// What time it is, and waiting.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
    /// Waits.
    fn sleep(&self, length: Duration) -> BoxFuture<'static, ()>;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where an agent reads the time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, length: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(length).boxed()
    }
}

/// `at` and `length` more; the end of time if that is beyond it.
pub(super) fn later(at: Timestamp, length: Duration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}

/// From `from` to `to`; nothing if that lies in the past.
pub(super) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}
