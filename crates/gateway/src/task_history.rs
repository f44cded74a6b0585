//! Tasks as they were: folded from their record, a stretch of it at a time.

use std::vec::IntoIter;

use kernel::audit::Record;
use kernel::{Entity, Subject, Task, TaskId};
use store::StoreError;

use crate::gateway::Gateway;

/// How many records are read at once.
const STRETCH: usize = 256;

/// The records of a task, one after the other. However many there are, no more than a stretch of them
/// is held.
pub struct Chain<'g> {
    gateway: &'g Gateway,
    task: TaskId,
    after: u64,
    read: IntoIter<Record>,
    ended: bool,
}

impl Gateway {
    /// The records of a task after the `after`-th, in order.
    pub fn chain(&self, task: TaskId, after: u64) -> Chain<'_> {
        Chain { gateway: self, task, after, read: IntoIter::default(), ended: false }
    }
}

impl Chain<'_> {
    /// The next one; nothing at the end.
    pub async fn next(&mut self) -> Result<Option<Record>, StoreError> {
        if self.read.len() == 0 && !self.ended {
            let subject = Subject::Task(self.task);
            let read = self.gateway.store().records(subject, self.after, STRETCH).await?;
            self.ended = read.len() < STRETCH;
            self.after = read.last().map_or(self.after, |last| last.seq);
            self.read = read.into_iter();
        }
        Ok(self.read.next())
    }
}

impl Gateway {
    /// A task after the records `until` lets through; nothing before it was written down.
    pub async fn task_then(
        &self,
        id: TaskId,
        until: impl Fn(&Record) -> bool,
    ) -> Result<Option<Task>, StoreError> {
        let damaged = |source: store::BoxError| StoreError::Damaged {
            what: Subject::Task(id).to_string(),
            source,
        };
        let mut task = None;
        let mut chain = self.chain(id, 0);
        while let Some(record) = chain.next().await?.filter(|record| until(record)) {
            let event = record.event().map_err(|broken| damaged(broken.into()))?;
            let next = kernel::evolve(task, &event, record.hash);
            task = Some(next.map_err(|misfit| damaged(misfit.into()))?);
        }
        Ok(match task {
            Some(Entity::Task(task)) => Some(*task),
            _ => None,
        })
    }
}
