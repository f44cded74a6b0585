//! Standard Webhooks, §Payload: `type`, `timestamp` and `data`.

use kernel::Time;
use serde::Serialize;

use super::{News, TEST};
use crate::hacp::runtime::HarnessEvent;
use crate::native::AskView;

/// What is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Message<'a> {
    /// What happened.
    #[serde(rename = "type")]
    kind: &'static str,
    /// When it happened.
    timestamp: Time,
    /// To what.
    data: Data<'a>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    /// Something happened to an ask.
    Ask {
        /// The ask as it is when this is sent, with the receipt once it has ended; `null` in a test.
        ask: Option<Box<AskView<'a>>>,
    },
    /// The runtime of an agent has something to do.
    Duty {
        /// What, as `runtime.peek` shows it.
        event: Box<HarnessEvent>,
    },
}

impl<'a> Message<'a> {
    /// What is told.
    pub fn of(news: News<'a>) -> Self {
        let News { told, ask, duty, viewer, base, receipt, .. } = news;
        let data = match duty {
            Some(event) => Data::Duty { event: Box::new(event) },
            None => {
                Data::Ask { ask: ask.map(|ask| Box::new(AskView::of(ask, viewer, base, receipt))) }
            }
        };
        Self { kind: told.topic.map_or(TEST, kernel::Topic::as_str), timestamp: told.at, data }
    }
}
