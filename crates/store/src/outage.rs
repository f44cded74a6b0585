//! One log line when a dependency begins to fail, and one when it works again.
//!
//! Workers retry every few seconds and requests arrive all the time. A log line per failure would
//! repeat the same message and hide the others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A user that has not failed for this long no longer counts as failing, even if it did not retry.
const STALE: Duration = Duration::from_secs(10);

/// The state of one dependency, as its users see it.
///
/// It counts as failing from the first failure of any user until every user that failed has either
/// succeeded again or not failed for ten seconds while others succeed. So a database that can be
/// read but not written is still failing.
pub struct Outage {
    dependency: String,
    failing: AtomicBool,
    state: Mutex<OutageState>,
}

#[derive(Default)]
struct OutageState {
    since: Option<Instant>,
    failures: u64,
    /// The users that failed and have not succeeded since, with the time of their last failure.
    users: BTreeMap<String, Instant>,
}

impl Outage {
    /// A dependency that works, with the name that the log uses.
    pub fn new(dependency: impl Into<String>) -> Self {
        Self {
            dependency: dependency.into(),
            failing: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Whether the dependency is failing.
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    /// Records a failure. The first failure is logged as a warning, further ones at `debug`.
    pub fn failed(&self, user: &str, error: &(impl fmt::Display + ?Sized)) {
        self.failed_at(Instant::now(), user, error);
    }

    fn failed_at(&self, now: Instant, user: &str, error: &(impl fmt::Display + ?Sized)) {
        let dependency = &*self.dependency;
        let mut state = self.state();
        state.failures += 1;
        state.users.insert(user.to_owned(), now);
        if state.since.is_none() {
            state.since = Some(now);
            self.failing.store(true, Ordering::Release);
            tracing::warn!(
                dependency,
                user,
                %error,
                "dependency failed, will retry; recovery will be logged"
            );
        } else {
            tracing::debug!(dependency, user, %error, "dependency still fails");
        }
    }

    /// Records a success. This is nearly free while the dependency works.
    pub fn worked(&self, user: &str) {
        if self.is_failing() {
            self.worked_at(Instant::now(), user);
        }
    }

    /// Records a success of a call that began at this time. It does not count if a later call of
    /// the same user has failed meanwhile: a slow response does not describe the current state.
    pub fn worked_since(&self, user: &str, began: Instant) {
        if self.is_failing() && self.state().users.get(user).is_none_or(|failed| *failed < began) {
            self.worked_at(Instant::now(), user);
        }
    }

    fn worked_at(&self, now: Instant, user: &str) {
        let mut state = self.state();
        state.users.remove(user);
        state.users.retain(|_, failed| now.saturating_duration_since(*failed) < STALE);
        if !state.users.is_empty() {
            return;
        }
        let Some(since) = state.since.take() else { return };
        let failures = std::mem::take(&mut state.failures);
        self.failing.store(false, Ordering::Release);
        let seconds = now.saturating_duration_since(since).as_secs();
        tracing::info!(dependency = &*self.dependency, failures, seconds, "dependency recovered");
    }

    /// Records the outcome of one use.
    pub fn note<T, E: fmt::Display>(&self, user: &str, outcome: &Result<T, E>) {
        match outcome {
            Ok(_) => self.worked(user),
            Err(error) => self.failed(user, error),
        }
    }

    fn state(&self) -> MutexGuard<'_, OutageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The lines logged at `info` and above.
    fn logged(story: impl FnOnce(&Outage)) -> Vec<String> {
        let kept = Kept::default();
        let writer = kept.clone();
        let lines = tracing_subscriber::fmt().with_writer(move || writer.clone()).without_time();
        let lines = lines.with_max_level(tracing::Level::INFO).with_ansi(false).finish();
        tracing::subscriber::with_default(lines, || story(&Outage::new("database")));
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn thirty_four_failures_are_one_line_and_their_end_another() {
        let lines = logged(|outage| {
            outage.worked("timers");
            for _ in 0..17 {
                outage.failed("timers", "connection refused");
                outage.failed("outbox", "connection refused");
            }
            assert!(outage.is_failing());
            outage.worked("timers");
            outage.worked("timers");
            assert!(outage.is_failing(), "the outbox still fails");
            outage.worked("outbox");
            assert!(!outage.is_failing());
            outage.worked("outbox");
        });
        let [began, ended] = lines.as_slice() else { panic!("{lines:#?}") };
        assert!(began.contains("WARN") && began.contains("dependency failed"), "{began}");
        assert!(began.contains("connection refused") && began.contains("database"), "{began}");
        assert!(ended.contains("INFO") && ended.contains("dependency recovered"), "{ended}");
        assert!(ended.contains("failures=34") && ended.contains("seconds=0"), "{ended}");
    }

    #[test]
    fn a_user_that_does_not_try_again_does_not_keep_it_failing() {
        let lines = logged(|outage| {
            let start = Instant::now();
            outage.failed_at(start, "keys", "gone");
            outage.failed_at(start, "timers", "gone");
            outage.worked_at(start + STALE / 2, "timers");
            assert!(outage.is_failing());
            outage.worked_at(start + STALE, "timers");
            assert!(!outage.is_failing());
        });
        assert!(lines[1].contains("failures=2") && lines[1].contains("seconds=10"), "{lines:#?}");
    }

    #[test]
    fn a_second_outage_is_told_anew() {
        let lines = logged(|outage| {
            for _ in 0..2 {
                outage.failed("timers", "gone");
                outage.worked("timers");
            }
        });
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert!(lines[3].contains("failures=1"), "{lines:#?}");
    }

    #[test]
    fn a_slow_success_from_before_a_failure_does_not_count() {
        let outage = Outage::new("bucket");
        let began = Instant::now();
        outage.failed("files", "no answer");
        outage.worked_since("files", began);
        assert!(outage.is_failing());
        outage.worked_since("files", Instant::now());
        assert!(!outage.is_failing());
    }
}
