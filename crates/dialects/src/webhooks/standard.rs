//! Standard Webhooks, §Payload: `type`, `timestamp` and `data`.

use kernel::Time;
use serde::Serialize;

use super::{News, TEST};
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
struct Data<'a> {
    /// The ask as it is when this is sent, with the receipt once it has ended; `null` in a test.
    ask: Option<AskView<'a>>,
}

impl<'a> Message<'a> {
    /// What is told.
    pub fn of(news: News<'a>) -> Self {
        let News { told, ask, viewer, base, receipt, .. } = news;
        Self {
            kind: told.topic.map_or(TEST, kernel::Topic::as_str),
            timestamp: told.at,
            data: Data { ask: ask.map(|ask| AskView::of(ask, viewer, base, receipt)) },
        }
    }
}
