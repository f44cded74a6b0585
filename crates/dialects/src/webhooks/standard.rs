//! Standard Webhooks, §Payload: `type`, `timestamp` and `data`.

use kernel::Time;
use serde::Serialize;

use super::{News, TEST};
use crate::hacp::runtime::HarnessEvent;
use crate::native::AskView;

/// The body of a webhook.
#[derive(Debug, Clone, Serialize)]
pub struct Message<'a> {
    /// The event type.
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Time,
    /// The ask or the runtime event.
    data: Data<'a>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    /// An ask changed.
    Ask {
        /// The ask at the time of sending, with the receipt once it has ended; `null` in a test.
        ask: Option<Box<AskView<'a>>>,
    },
    /// An agent's runtime has an event to process.
    Duty {
        /// The event, as `runtime.peek` shows it.
        event: Box<HarnessEvent>,
    },
}

impl<'a> Message<'a> {
    /// The body for an event.
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
