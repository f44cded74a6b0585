//! Low-priority requests that are listed together in a digest.

use kernel::Ask;

/// What waits for one person and is not urgent.
#[derive(Debug)]
pub struct WaitingRequests {
    /// The first requests, newest first.
    pub asks: Vec<Ask>,
    /// How many there are besides.
    pub more: u64,
}

impl WaitingRequests {
    /// How many requests wait, as a title.
    pub fn title(&self) -> String {
        match self.asks.len() as u64 + self.more {
            1 => "One request waits for you".to_owned(),
            n => format!("{n} requests wait for you"),
        }
    }
}
