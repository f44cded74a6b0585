//! The one place that reads the wall clock.

use kernel::Time;
use store::Clock;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the place that may")]
    fn now(&self) -> Time {
        Time::new(jiff::Timestamp::now())
    }
}
