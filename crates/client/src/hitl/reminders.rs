//! When to remind: at the times that the case names and when the service says so, once each
//! (HITL-160).

use std::time::Duration;

use jiff::Timestamp;

use super::clock::between;

/// A service announces a reminder shortly after its time; within this window it is the same
/// reminder.
const SAME: Duration = Duration::from_mins(1);

/// The reminders of one case.
pub(super) struct Reminders {
    started: Timestamp,
    /// The times, each with whether the reminder was sent.
    times: Vec<(Timestamp, bool)>,
}

impl Reminders {
    /// Reminders from before the start count as sent, because the first notification covers them.
    pub(super) fn new(times: &[Timestamp], started: Timestamp) -> Self {
        Self { started, times: times.iter().map(|at| (*at, *at <= started)).collect() }
    }

    /// The next reminder that the clock triggers.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.times.iter().filter(|(_, given)| !given).map(|(at, _)| *at).min()
    }

    /// Whether a reminder is due; several due reminders count as one.
    pub(super) fn take_due(&mut self, now: Timestamp) -> bool {
        let mut due = false;
        for (at, given) in &mut self.times {
            due |= !*given && *at <= now;
            *given |= *at <= now;
        }
        due
    }

    /// Whether the service's reminder was not sent before.
    pub(super) fn take_announced(&mut self, at: Timestamp) -> bool {
        if at <= self.started {
            return false;
        }
        let near = |known: Timestamp| between(known, at).max(between(at, known)) <= SAME;
        if let Some((_, given)) = self.times.iter_mut().find(|(known, _)| near(*known)) {
            return !std::mem::replace(given, true);
        }
        self.times.push((at, true));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn each_is_given_once_whoever_tells_first() {
        let mut reminders = Reminders::new(&[at(50), at(1000), at(5000)], at(100));
        assert_eq!(reminders.next(), Some(at(1000)));
        assert!(!reminders.take_due(at(999)));
        assert!(reminders.take_due(at(1000)));
        assert!(!reminders.take_announced(at(1002)), "the clock was first");
        assert!(reminders.take_announced(at(4999)), "the service is first");
        assert!(!reminders.take_due(at(5000)));
        assert!(reminders.take_announced(at(9000)), "one the case did not name");
        assert!(!reminders.take_announced(at(9000)), "told again");
        assert!(!reminders.take_announced(at(100)), "of a time before");
        assert_eq!(reminders.next(), None);
    }
}
