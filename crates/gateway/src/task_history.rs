//! Earlier states of tasks, computed from their events in groups.

use std::vec::IntoIter;

use kernel::audit::Record;
use kernel::{Entity, Subject, Task, TaskId};
use store::StoreError;

use crate::gateway::Gateway;

/// The number of records per read.
const RECORDS_PER_READ: usize = 256;

/// The records of a task in order. Only one group is in memory at a time.
pub struct TaskHistory<'g> {
    gateway: &'g Gateway,
    task: TaskId,
    after: u64,
    read: IntoIter<Record>,
    ended: bool,
}

impl Gateway {
    /// The records of a task after number `after`, in order.
    pub fn task_history(&self, task: TaskId, after: u64) -> TaskHistory<'_> {
        TaskHistory { gateway: self, task, after, read: IntoIter::default(), ended: false }
    }
}

impl TaskHistory<'_> {
    /// The next record. `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Record>, StoreError> {
        if self.read.len() == 0 && !self.ended {
            let subject = Subject::Task(self.task);
            let read = self.gateway.store().chain(subject, self.after, RECORDS_PER_READ).await?;
            self.ended = read.len() < RECORDS_PER_READ;
            self.after = read.last().map_or(self.after, |last| last.seq);
            self.read = read.into_iter();
        }
        Ok(self.read.next())
    }
}

impl Gateway {
    /// The state of a task after the records up to the first that `until` rejects. `None` if
    /// there are none.
    pub async fn task_at(
        &self,
        id: TaskId,
        until: impl Fn(&Record) -> bool,
    ) -> Result<Option<Task>, StoreError> {
        let damaged = |source: store::BoxError| StoreError::Damaged {
            what: Subject::Task(id).to_string(),
            source,
        };
        let mut task = None;
        let mut chain = self.task_history(id, 0);
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
