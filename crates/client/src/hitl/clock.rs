//! A clock as a parameter, so that tests can supply their own.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// A source of time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    fn sleep(&self, length: Duration) -> BoxFuture<'static, ()>;
}

/// The system clock.
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

/// The time `length` after `at`, or the maximum time if that overflows.
pub(super) fn later(at: Timestamp, length: Duration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}

/// The time from `from` to `to`; zero if `to` is in the past.
pub(super) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}
