//! The stream of an agent.

use std::collections::VecDeque;

use bytes::Bytes;
use gateway::wake::{Topic, Waiter};
use kernel::{AgentId, Subject};
use store::{Change, Scope};

use super::{BATCH, Line, Turn, is_left_out, mark};
use crate::http::problem::Problem;
use crate::http::sse::{self, HEARTBEAT, Source};

/// The stream of the asks of an agent, or of its project, from a position on.
pub(super) struct OfAgent {
    line: Line,
    waiter: Waiter,
    scope: Scope,
    /// The last position that was sent.
    after: u64,
    marks: VecDeque<Bytes>,
    changes: VecDeque<Change>,
    /// Whether the store may have more.
    stale: bool,
}

impl OfAgent {
    pub(super) async fn begin(
        line: Line,
        scope: Scope,
        seen: Option<u64>,
    ) -> Result<Self, Problem> {
        let list = Topic::List(scope.clone());
        let waiter = line.streams.gateway.wake().subscribe(line.credential.topics().chain([list]));
        let last = line.streams.gateway.store().last_position().await?;
        // A position after the last one is from another store, so the server cannot know which
        // events were missed.
        let lost = seen.is_some_and(|seen| seen > last);
        let after = seen.unwrap_or(last).min(last);
        let mut marks = VecDeque::from([sse::first(&mark(after, "ready"))]);
        marks.extend(lost.then(|| mark(after, "reset")));
        let changes = VecDeque::new();
        Ok(Self { line, waiter, scope, after, marks, changes, stale: true })
    }

    /// The agents whose asks the stream covers.
    fn agents(&self) -> Vec<AgentId> {
        match &self.scope {
            Scope::Project(project) => {
                let directory = self.line.streams.gateway.directory();
                let members = directory.agents().filter(|agent| agent.project == *project);
                members.map(|agent| agent.id.clone()).collect()
            }
            Scope::Agent(id) => vec![id.clone()],
            Scope::Human(_)
            | Scope::Pool(..)
            | Scope::Revoked
            | Scope::Kind(_)
            | Scope::By(_)
            | Scope::Begun(_)
            | Scope::Tasks(_)
            | Scope::Runtime(_) => Vec::new(),
        }
    }
}

impl Source for OfAgent {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(mark) = self.marks.pop_front() {
                return Some(mark);
            }
            // The backlog may be long: nothing more of it is sent once the key is revoked.
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            let gateway = &self.line.streams.gateway;
            if let Some(change) = self.changes.front() {
                let Subject::Ask(id) = change.subject else { return None };
                if is_left_out(change) {
                    self.after = change.position;
                    self.changes.pop_front();
                    continue;
                }
                let framed = match Box::pin(gateway.ask(id)).await {
                    Ok(Some(ask)) => Box::pin(self.line.frame(change, &ask)).await,
                    Ok(None) => return None,
                    Err(error) => Err(error),
                };
                match framed {
                    Ok(frame) => {
                        self.after = change.position;
                        self.changes.pop_front();
                        return Some(frame);
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else if self.stale {
                match gateway.store().stream(self.agents(), self.after, BATCH).await {
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
