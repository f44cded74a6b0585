//! The actions of clients and the responses to them, in order. The checker uses nothing else.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest text of an event in a report.
const SHOWN: usize = 220;

/// Something that a client or the campaign observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The time since the start of the run.
    pub at: Duration,
    /// The window of the run. Each injects one fault and ends when the servers have recovered.
    pub window: usize,
    pub what: ObservationKind,
}

/// The kinds of observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationKind {
    /// A fault was injected, changed or healed.
    Fault(String),
    /// A create was acknowledged.
    Created { ask: String, key: String, prompt: String },
    /// An answer was sent. Whether it was accepted is unknown.
    AnswerSent { ask: String, comment: String },
    /// An answer was acknowledged as the winner.
    Answered { ask: String, comment: String },
    /// A comment was sent.
    CommentSent { ask: String, text: String },
    /// A comment was acknowledged.
    Commented { ask: String, text: String },
    /// An observer saw a version of an ask: in a read, or in the response to its own call.
    Seen { ask: String, observer: usize, version: u64, state: String },
    /// A receipt was read.
    Receipt { ask: String, receipt: String },
    /// An upload was acknowledged. Its bytes can be read at the path.
    Uploaded { path: String, sha256: String },
    /// A step of a task was acknowledged.
    TaskStep { name: String, task: String, action: String },
    /// The webhook endpoint was called.
    Heard { topic: String, ask: String },
    /// Acknowledged data does not exist when it is read.
    Missing { what: String, said: String },
    /// A server gave an answer that no fault excuses.
    Unexpected { doing: String, said: String },
    /// The final state of an ask.
    FinalAsk { ask: String, found: FinalAsk },
    /// The final SHA-256 of an upload's bytes.
    FinalUpload { path: String, sha256: String },
    /// The final actions of a task, in order.
    FinalTask { task: String, actions: Vec<String> },
    /// The run waited for webhooks as long as retries take. No further ones follow.
    WebhooksSettled,
    /// `audit verify` ran.
    Verified { sound: bool, said: String },
    /// The servers did not recover in time after a fault.
    NotRecovered { said: String },
}

/// The final state of an ask.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FinalAsk {
    pub prompt: String,
    pub state: String,
    /// The comment of the answer that counts.
    pub answer: Option<String>,
    pub comments: Vec<String>,
}

impl ObservationKind {
    /// The ask, upload or task this is about.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Created { ask, .. }
            | Self::AnswerSent { ask, .. }
            | Self::Answered { ask, .. }
            | Self::CommentSent { ask, .. }
            | Self::Commented { ask, .. }
            | Self::Seen { ask, .. }
            | Self::Receipt { ask, .. }
            | Self::Heard { ask, .. }
            | Self::FinalAsk { ask, .. } => Some(ask),
            Self::Uploaded { path, .. } | Self::FinalUpload { path, .. } => Some(path),
            Self::TaskStep { task, .. } | Self::FinalTask { task, .. } => Some(task),
            Self::Missing { what, .. } => Some(what),
            Self::Fault(_)
            | Self::Unexpected { .. }
            | Self::WebhooksSettled
            | Self::Verified { .. }
            | Self::NotRecovered { .. } => None,
        }
    }

    /// Whether this is an acknowledgement by a server.
    pub fn is_acknowledgement(&self) -> bool {
        matches!(
            self,
            Self::Created { .. }
                | Self::Answered { .. }
                | Self::Commented { .. }
                | Self::Uploaded { .. }
                | Self::TaskStep { .. }
        )
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = format!("{:?}", self.what);
        // Receipts are long. The checker reports where two of them differ.
        let shown: String = what.chars().take(SHOWN).collect();
        let more = if shown.len() < what.len() { "…" } else { "" };
        write!(f, "{:>9.3}s  {shown}{more}", self.at.as_secs_f64())
    }
}

/// The shared record of all observations in a run.
#[derive(Clone)]
pub struct ObservationLog {
    started: Instant,
    inner: Arc<Mutex<LogState>>,
}

#[derive(Default)]
struct LogState {
    window: usize,
    events: Vec<Observation>,
    acknowledged: usize,
}

impl Default for ObservationLog {
    fn default() -> Self {
        Self { started: Instant::now(), inner: Arc::default() }
    }
}

impl ObservationLog {
    /// Adds an event to the current window.
    pub fn add(&self, what: ObservationKind) {
        self.with(|inner| {
            inner.acknowledged += usize::from(what.is_acknowledgement());
            let event = Observation { at: self.started.elapsed(), window: inner.window, what };
            inner.events.push(event);
        });
    }

    /// Begins the next window and returns its number.
    pub fn next_window(&self) -> usize {
        self.with(|inner| {
            inner.window += 1;
            inner.window
        })
    }

    /// The number of acknowledgements so far.
    pub fn acknowledged(&self) -> usize {
        self.with(|inner| inner.acknowledged)
    }

    /// A copy of all events.
    pub fn events(&self) -> Vec<Observation> {
        self.with(|inner| inner.events.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut LogState) -> T) -> T {
        f(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
