//! The stream of a person.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use gateway::Gateway;
use gateway::wake::{Topic, Waiter};
use kernel::{Ask, HumanId, Subject};
use store::{Change, Scope};

use super::{Line, Turn, is_left_out, mark};
use crate::http::problem::Problem;
use crate::http::sse::{self, HEARTBEAT, Source};

/// The live stream of the asks a person may see.
pub(super) struct OfPerson {
    line: Line,
    waiter: Waiter,
    id: HumanId,
    scopes: Vec<Scope>,
    marks: VecDeque<Bytes>,
    changes: VecDeque<Change>,
}

impl OfPerson {
    pub(super) async fn begin(line: Line, id: HumanId, seen: Option<u64>) -> Result<Self, Problem> {
        let scopes = scopes(&line.streams.gateway, &id);
        let waiter = listen(&line, &scopes);
        let last = line.streams.gateway.store().last_position().await?;
        let mut marks = VecDeque::from([sse::first(&mark(last, "ready"))]);
        marks.extend(seen.filter(|seen| *seen != last).map(|_| mark(last, "reset")));
        Ok(Self { line, waiter, id, scopes, marks, changes: VecDeque::new() })
    }

    /// Takes the changes from the waiter. `None` if the stream cannot continue.
    async fn hear(&mut self) -> Option<()> {
        let mut heard = self.waiter.heard();
        let about_me = |change: &Change| matches!(&change.subject, Subject::Human(_));
        let mut missed = heard.missed;
        if missed || heard.changes.iter().any(about_me) {
            let now = scopes(&self.line.streams.gateway, &self.id);
            // The person's lists changed, and the asks in the new lists were not sent.
            if now != self.scopes {
                missed = true;
                self.waiter = listen(&self.line, &now);
                self.scopes = now;
            }
        }
        let told =
            |change: &Change| matches!(change.subject, Subject::Ask(_)) && !is_left_out(change);
        heard.changes.retain(told);
        self.changes.extend(heard.changes);
        if missed {
            self.changes.clear();
            let last = loop {
                match self.line.streams.gateway.store().last_position().await {
                    Ok(last) => break last,
                    Err(error) => self.line.pause(&error).await?,
                }
            };
            self.marks.push_back(mark(last, "reset"));
        }
        Some(())
    }
}

fn scopes(gateway: &Gateway, id: &HumanId) -> Vec<Scope> {
    gateway.directory().human(id).map(Scope::inbox).unwrap_or_default()
}

fn listen(line: &Line, scopes: &[Scope]) -> Waiter {
    let lists = scopes.iter().cloned().map(Topic::List);
    line.streams.gateway.wake().listen(line.credential.topics().chain(lists))
}

impl Source for OfPerson {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(mark) = self.marks.pop_front() {
                return Some(mark);
            }
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            if let Some(change) = self.changes.front() {
                let Subject::Ask(id) = change.subject else { return None };
                let found = match Box::pin(self.line.streams.gateway.ask(id)).await {
                    Ok(found) => found,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let directory = self.line.streams.gateway.directory();
                let admits =
                    |ask: &Arc<Ask>| directory.human(&self.id).is_some_and(|h| ask.admits(h));
                // A pool may contain asks that this person is not qualified to answer.
                let Some(ask) = found.filter(admits) else {
                    self.changes.pop_front();
                    continue;
                };
                match Box::pin(self.line.frame(change, &ask)).await {
                    Ok(frame) => {
                        self.changes.pop_front();
                        return Some(frame);
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else {
                match self.line.wait(&mut self.waiter).await {
                    Turn::Woken => self.hear().await?,
                    Turn::Idle => return Some(HEARTBEAT),
                    Turn::Over => return None,
                }
            }
        }
    }
}
