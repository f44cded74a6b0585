//! Low-priority requests that are listed together in a digest.

use kernel::Ask;

/// The low-priority requests that wait for one person.
#[derive(Debug)]
pub struct WaitingRequests {
    /// The first requests, newest first.
    pub asks: Vec<Ask>,
    /// How many further requests there are.
    pub more: u64,
}

impl WaitingRequests {
    /// The number of waiting requests, as a title.
    pub fn title(&self) -> String {
        match self.asks.len() as u64 + self.more {
            1 => "One request waits for you".to_owned(),
            n => format!("{n} requests wait for you"),
        }
    }
}
