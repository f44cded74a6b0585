//! Who wrote within the last day and can therefore receive messages without a template.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kernel::Time;

/// A day, less the time that a message takes to arrive.
const OPEN: u64 = 24 * 60 * 60 - 5 * 60;
/// The most entries that are kept. People without an entry receive the template.
const MOST: usize = 10_000;

/// The time of the last message from each number.
#[derive(Debug, Default)]
pub(super) struct Window(Mutex<HashMap<String, Time>>);

impl Window {
    /// Records a message from a number.
    pub(super) fn wrote(&self, number: &str, at: Time) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(number) {
            known.retain(|_, wrote| is_open(*wrote, at));
            if known.len() >= MOST {
                known.clear();
            }
        }
        let wrote = known.entry(number.to_owned()).or_insert(at);
        *wrote = at.max(*wrote);
    }

    /// Whether the number wrote within the last day, as far as is known.
    pub(super) fn is_open(&self, number: &str, now: Time) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(number).is_some_and(|wrote| is_open(*wrote, now))
    }
}

fn is_open(wrote: Time, now: Time) -> bool {
    now < wrote.plus_seconds(OPEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_for_a_day_and_never_too_large() {
        let window = Window::default();
        let begin = Time::from_millis(0);
        window.wrote("+1", begin.plus_seconds(10));
        window.wrote("+1", begin);
        assert!(window.is_open("+1", begin.plus_seconds(OPEN + 9)));
        assert!(!window.is_open("+1", begin.plus_seconds(OPEN + 10)));
        assert!(!window.is_open("+2", begin));
        for number in 0..MOST {
            window.wrote(&number.to_string(), begin.plus_seconds(OPEN + 10));
        }
        assert!(window.0.lock().unwrap().len() <= MOST);
        assert!(!window.0.lock().unwrap().contains_key("+1"), "the oldest go first");
    }
}
