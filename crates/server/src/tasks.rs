//! Tasks as they were: folded from their record.

use kernel::audit::Record;
use kernel::{Entity, Subject, Task, TaskId};
use store::StoreError;

use crate::http::App;

impl App {
    /// A task after the records `until` lets through; nothing before it was written down.
    pub(crate) async fn task_then(
        &self,
        id: TaskId,
        until: impl Fn(&Record) -> bool,
    ) -> Result<Option<Task>, StoreError> {
        let damaged = |source: store::BoxError| StoreError::Damaged {
            what: Subject::Task(id).to_string(),
            source,
        };
        let mut task = None;
        for record in self.gateway.records_of(id).await?.iter().take_while(|record| until(record)) {
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
