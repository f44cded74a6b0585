//! A progress bar on the terminal. Errors of the terminal are ignored.

use gateway::audit::Progress;

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the bar is updated.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Bar {
    terminal: bool,
    started: Instant,
    shown: Instant,
}

impl Bar {
    const WIDTH: u64 = 30;

    pub(super) fn new() -> Self {
        let (terminal, now) = (io::stderr().is_terminal(), Instant::now());
        Self { terminal, started: now, shown: now }
    }

    /// Shows the progress of a verification.
    pub(super) fn checked(&mut self, progress: Progress) {
        let Progress { done, total, events } = progress;
        let started = self.started;
        self.show(done, total, || {
            let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
            let rate = events.saturating_mul(1000) / millis;
            if total == 0 {
                format!("{events} events  {rate} events/s")
            } else {
                format!("{rate} events/s")
            }
        });
    }

    /// Shows the progress of a copy, in bytes.
    pub(super) fn copied(&mut self, what: &str, done: u64, total: u64) {
        self.show(done, total, || format!("{what}, {} of {} MiB", done >> 20, total >> 20));
    }

    /// Shows the progress of a count.
    pub(super) fn counted(&mut self, what: &str, done: u64, total: u64) {
        self.show(done, total, || format!("{done} of {total} {what}"));
    }

    /// Shows the progress of reading a file, in bytes; its length may be unknown.
    pub(super) fn read(&mut self, messages: u64, done: u64, total: u64) {
        self.show(done, total, || format!("{messages} messages, {} MiB", done >> 20));
    }

    /// Clears the bar before a line of the result.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn show(&mut self, done: u64, total: u64, says: impl FnOnce() -> String) {
        if !self.terminal || self.shown.elapsed() < SHOWN_EVERY {
            return;
        }
        self.shown = Instant::now();
        let bar = (done.min(total) * 100).checked_div(total).map(|percent| {
            let full = usize::try_from(percent * Self::WIDTH / 100).unwrap_or(0);
            let rest = usize::try_from(Self::WIDTH).unwrap_or(0).saturating_sub(full);
            format!("[{}{}] {percent:3} %  ", "#".repeat(full), ".".repeat(rest))
        });
        let mut terminal = io::stderr();
        let _ = write!(terminal, "\r\x1b[K{}{}", bar.unwrap_or_default(), says());
        let _ = terminal.flush();
    }
}

/// The next output begins on a clean line.
impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
