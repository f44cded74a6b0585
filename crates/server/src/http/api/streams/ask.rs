//! The stream of one ask.

use std::collections::VecDeque;

use bytes::Bytes;
use gateway::wake::{Topic, Waiter};
use kernel::{Ask, AskId, AskState, Subject};
use store::Change;

use super::{BATCH, Line, Turn, is_left_out};
use crate::http::envelope_headers;
use crate::http::problem::Problem;
use crate::http::sse::{self, HEARTBEAT, Source};

/// The stream of one ask until it is closed.
pub(super) struct OfAsk {
    line: Line,
    waiter: Waiter,
    id: AskId,
    /// The last version that was sent.
    seq: u64,
    first: Option<Bytes>,
    changes: VecDeque<Change>,
    stale: bool,
    over: bool,
}

impl OfAsk {
    /// `None` if the ask is closed and the caller has received the last event.
    pub(super) async fn begin(
        line: Line,
        id: AskId,
        seen: Option<u64>,
    ) -> Result<Option<Self>, Problem> {
        let own = Topic::Subject(Subject::Ask(id));
        let waiter = line.streams.gateway.wake().subscribe(line.credential.topics().chain([own]));
        let ask = line.streams.gateway.visible(&line.credential.actor, id).await?;
        let mut before = ask.head.seq.saturating_sub(1);
        // Find the newest event that the stream sends. The first event of an ask is always sent.
        let newest = loop {
            let newest = line.streams.gateway.store().history(id, before, 1).await?;
            match newest.into_iter().next() {
                Some(newest) if is_left_out(&newest) => before = before.saturating_sub(1),
                Some(newest) => break newest,
                None => {
                    let detail = "the history of this request is gone";
                    return Err(Problem::new(500, "internal").detail(detail));
                }
            }
        };
        let over = decided(&ask, newest.seq);
        if over && seen.is_some_and(|seen| seen >= newest.position) {
            return Ok(None);
        }
        let ask = line.told(ask).await?;
        let prelude = envelope_headers::prelude_event(&ask).unwrap_or_default();
        let first = [prelude.as_bytes(), &line.frame(&newest, &ask).await?].concat();
        let first = Some(sse::first(&Bytes::from(first)));
        let (seq, changes) = (newest.seq, VecDeque::new());
        Ok(Some(Self { line, waiter, id, seq, first, changes, stale: true, over }))
    }
}

impl Source for OfAsk {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.first.take() {
                return Some(first);
            }
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            let gateway = &self.line.streams.gateway;
            if let Some(change) = self.changes.front() {
                if is_left_out(change) {
                    self.seq = change.seq;
                    self.changes.pop_front();
                    continue;
                }
                let found = match Box::pin(gateway.ask(self.id)).await {
                    Ok(found) => found,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let actor = &self.line.credential.actor;
                let ask = found.filter(|ask| ask.is_shown_to(actor, &gateway.directory()))?;
                let ask = match Box::pin(self.line.told(ask)).await {
                    Ok(ask) => ask,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let frame = match Box::pin(self.line.frame(change, &ask)).await {
                    Ok(frame) => frame,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                self.seq = change.seq;
                self.over = decided(&ask, change.seq);
                self.changes.pop_front();
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if self.stale {
                match gateway.store().history(self.id, self.seq, BATCH).await {
                    Ok(more) => {
                        self.stale = more.len() == BATCH;
                        self.changes = more.into();
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else {
                match self.line.wait(&mut self.waiter).await {
                    Turn::Woken => self.stale = true,
                    Turn::Idle => return Some(HEARTBEAT),
                    Turn::Over => return None,
                }
            }
        }
    }
}

/// Whether an ask is closed, and this version or an earlier one closed it.
fn decided(ask: &Ask, version: u64) -> bool {
    matches!(&ask.state, AskState::Over { place, .. } if place.seq <= version)
}
