//! The writer thread: the only one that writes, with many tasks per commit.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use super::transaction::WriteTransaction;
use super::{Published, SqliteFailure};
use crate::{Result, StoreError};

/// Tasks per commit. More would delay the first one and gain nothing.
const BATCH: usize = 256;

/// Tasks that may wait. Beyond that, callers wait for room in the queue.
const QUEUE: usize = 4_096;

/// A piece of work with the channel to its caller. Given the write transaction, it does its work
/// and returns an answer to be sent after the commit. Given a failure, it answers with that.
type WriteTask =
    Box<dyn FnOnce(Result<&mut WriteTransaction, &SqliteFailure>) -> Option<SendResult> + Send>;

/// Sends the result, or the failure of the commit instead.
type SendResult = Box<dyn FnOnce(Option<&SqliteFailure>) + Send>;

/// The handle to the thread. Dropping it finishes the queued work.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<WriteTask>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(transaction: WriteTransaction, published: Arc<Published>) -> Result<Self> {
        let (queue, tasks) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || WriterLoop { transaction, published }.run(tasks))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Does some work in the next commit and returns once that is on disk.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTransaction) -> Result<T> + Send + 'static,
    {
        let closed = || StoreError::Unavailable(SqliteFailure::Closed.into());
        let (sender, answer) = oneshot::channel();
        let task: WriteTask = Box::new(move |transaction| match transaction {
            Ok(transaction) => {
                let result = work(transaction);
                Some(Box::new(move |failure: Option<&SqliteFailure>| {
                    // A caller that has gone away does not revert the work.
                    let _ =
                        sender.send(failure.map_or(result, |failure| Err(to_store_error(failure))));
                }))
            }
            Err(failure) => {
                let _ = sender.send(Err(to_store_error(failure)));
                None
            }
        });
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(task).await.map_err(|_| closed())?;
        answer.await.map_err(|_| StoreError::Unavailable(SqliteFailure::Abandoned.into()))?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the database writer thread panicked");
        }
    }
}

fn to_store_error(failure: &SqliteFailure) -> StoreError {
    StoreError::Unavailable(failure.clone().into())
}

struct WriterLoop {
    transaction: WriteTransaction,
    published: Arc<Published>,
}

impl WriterLoop {
    fn run(mut self, mut queue: mpsc::Receiver<WriteTask>) {
        let mut batch = Vec::with_capacity(BATCH);
        while queue.blocking_recv_many(&mut batch, BATCH) > 0 {
            let mut tasks: VecDeque<WriteTask> = batch.drain(..).collect();
            // Usually one round. After a failure, the tasks that did not run yet run now.
            while !tasks.is_empty() {
                self.commit(&mut tasks);
            }
        }
    }

    /// One transaction: as many tasks as it can take, then all answers.
    fn commit(&mut self, tasks: &mut VecDeque<WriteTask>) {
        if let Err(failure) = self.transaction.begin() {
            for task in tasks.drain(..) {
                task(Err(&failure));
            }
            return;
        }
        let mut answers = Vec::with_capacity(tasks.len());
        let mut intact = true;
        while intact && let Some(task) = tasks.pop_front() {
            match catch_unwind(AssertUnwindSafe(|| task(Ok(&mut self.transaction)))) {
                Ok(answer) => answers.extend(answer),
                Err(_) => intact = false,
            }
            intact = intact && self.transaction.is_intact();
        }
        let news = self.transaction.take_news();
        let recent = &self.published.recent;
        let committed = if intact {
            recent.changing(&news, || self.transaction.commit())
        } else {
            Err(SqliteFailure::Abandoned)
        };
        match committed {
            Ok(()) => {
                // Publish before the answers: the caller that created a key may use it at once,
                // and a subscriber that starts after an answer does not receive the change that
                // led to it.
                self.published.publish(self.transaction.directory());
                if !news.is_empty() {
                    // A feed without receivers is not an error.
                    let _ = self.published.feed.send(news.into());
                }
                for answer in answers {
                    answer(None);
                }
            }
            Err(failure) => {
                tracing::error!(error = ?failure, "could not commit a transaction");
                self.transaction.abandon(self.published.directory());
                for answer in answers {
                    answer(Some(&failure));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::directory::NewProject;
    use kernel::testing::new_ask;
    use kernel::{Actor, AskCommand, DirectoryCommand, Refusal};

    use super::*;
    use crate::sqlite::{Sqlite, failed};
    use crate::suite::stage::bot;
    use crate::suite::{ManualClock, Stage};
    use crate::{Store, job};

    async fn stage() -> (Arc<Sqlite>, Stage, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let hands = ManualClock::new();
        let sqlite = Sqlite::open(&folder.path().join("store.db"), hands.clone()).unwrap();
        let sqlite = Arc::new(sqlite);
        let stage = Stage::on(Arc::clone(&sqlite) as Arc<dyn Store>, hands, Box::new(()));
        stage.cast().await;
        (sqlite, stage, folder)
    }

    fn project(name: &str) -> DirectoryCommand {
        DirectoryCommand::SaveProject(NewProject::plain(name.parse().unwrap()))
    }

    #[tokio::test]
    async fn a_panic_is_one_failure_and_not_the_end() {
        let (sqlite, stage, _folder) = stage().await;
        let poisoned = sqlite.in_writer(|_| -> Result<()> { panic!("on purpose") }).await;
        assert!(matches!(poisoned, Err(StoreError::Unavailable(_))));
        stage.run(Actor::System, project("after")).await;
    }

    #[tokio::test]
    async fn what_was_not_committed_does_not_show() {
        let (sqlite, stage, _folder) = stage().await;
        let mut feed = stage.store.feed();
        let (now, job) = (stage.now(), stage.job(Actor::System, project("ghost")));
        let lost = sqlite
            .in_writer(move |transaction| {
                job::transact(transaction, now, &job, None)?;
                // SQLite itself does this when the disk fails.
                transaction.conn().execute_batch("ROLLBACK").map_err(failed)
            })
            .await;
        assert!(matches!(lost, Err(StoreError::Unavailable(_))));
        let ghost = "ghost".parse().unwrap();
        assert!(stage.store.directory().project(&ghost).is_none());
        assert!(feed.try_recv().is_err());
        stage.run(Actor::System, project("ghost")).await;
        assert!(stage.store.directory().project(&ghost).is_some());
    }

    /// A cached ask is not read again, but changes to it since then count, even those of
    /// the same transaction.
    #[tokio::test]
    async fn what_was_read_lately_is_not_older_than_what_was_done() {
        let (sqlite, stage, _folder) = stage().await;
        let id = stage.ask(new_ask()).await;
        assert!(stage.seen(id).await.is_open());
        let cancel = || stage.job(Actor::System, AskCommand::Cancel(id, None));
        let (now, once, again) = (stage.now(), cancel(), cancel());
        let twice = sqlite
            .in_writer(move |transaction| {
                job::transact(transaction, now, &once, None)?;
                job::transact(transaction, now, &again, None)
            })
            .await;
        let taken = |refusal: &Refusal| matches!(refusal, Refusal::AlreadyCancelled { .. });
        assert!(matches!(&twice, Err(StoreError::Refused(refusal)) if taken(refusal)), "{twice:?}");
        assert!(!stage.seen(id).await.is_open());
    }

    /// Counters of open requests and of their bytes, counted anew from the tables.
    const COUNTED_ANEW: &str = "
        SELECT 'open_asks/' || scope AS name, count(*) AS used FROM listing
        WHERE phase IN ('waiting', 'engaged')
            AND substr(scope, 1, instr(scope, '/')) IN ('agent/', 'project/', 'human/')
        GROUP BY scope
        UNION ALL
        SELECT 'stored_bytes/' || account, sum(octet_length(state)) FROM (
            SELECT 'agent/' || (state ->> '$.asked.agent') AS account, state FROM ask
            UNION ALL SELECT 'project/' || (state ->> '$.asked.project'), state FROM ask
        ) GROUP BY account";

    /// The counters that differ from the tables they count, each as it is and as it should be.
    async fn wrong_counters(sqlite: &Sqlite) -> Vec<(String, i64, i64)> {
        let sql = format!(
            "SELECT name, COALESCE(usage.used, 0), COALESCE(anew.used, 0)
             FROM usage FULL JOIN ({COUNTED_ANEW}) AS anew USING (name)
             WHERE COALESCE(usage.used, 0) <> COALESCE(anew.used, 0)"
        );
        let found = sqlite.in_writer(move |transaction| {
            let mut select = transaction.conn().prepare(&sql).map_err(failed)?;
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            rows.and_then(Iterator::collect).map_err(failed)
        });
        found.await.unwrap()
    }

    /// Counters are written once for all jobs of a commit. A job that fails, or a commit that
    /// fails, counts nothing.
    #[tokio::test]
    async fn counters_match_the_tables_they_count() {
        let (sqlite, stage, _folder) = stage().await;
        let first = stage.ask(new_ask()).await;
        let create = || stage.job(bot(), AskCommand::Create(Box::new(new_ask())));
        let (now, second, third) = (stage.now(), create(), create());
        let id = second.envelope.subject().unwrap();
        let cancel = stage.job(Actor::System, AskCommand::Cancel(id, None));
        let again = stage.job(Actor::System, AskCommand::Cancel(id, None));
        let one_commit = sqlite.in_writer(move |transaction| {
            job::transact(transaction, now, &second, None)?;
            job::transact(transaction, now, &third, None)?;
            // A savepoint writes the counters of the jobs before it.
            transaction.savepoint(|_| Ok(()))?;
            job::transact(transaction, now, &cancel, None)?;
            assert!(job::transact(transaction, now, &again, None).is_err());
            Ok(())
        });
        one_commit.await.unwrap();
        assert_eq!(wrong_counters(&sqlite).await, []);
        let lost = create();
        let rolled_back = sqlite
            .in_writer(move |transaction| {
                job::transact(transaction, now, &lost, None)?;
                transaction.conn().execute_batch("ROLLBACK").map_err(failed)
            })
            .await;
        assert!(rolled_back.is_err());
        stage.run(Actor::System, AskCommand::Cancel(first, None)).await;
        stage.run(Actor::System, AskCommand::Erase(first)).await;
        assert_eq!(wrong_counters(&sqlite).await, []);
        let open = stage.store.used(vec!["open_asks/agent/bot".to_owned()]).await.unwrap();
        assert_eq!(open, [1]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn closing_finishes_what_is_queued() {
        let (sqlite, stage, folder) = stage().await;
        let jobs: Vec<_> =
            (0..50).map(|n| stage.job(Actor::System, project(&format!("p{n}")))).collect();
        let mut queued = tokio::task::JoinSet::new();
        for job in jobs {
            let store = Arc::clone(&stage.store);
            queued.spawn(async move { store.transact(job).await.map(drop) });
        }
        let hands = Arc::clone(&stage.clock);
        drop((stage, sqlite));
        for done in queued.join_all().await {
            done.unwrap();
        }
        let again = Sqlite::open(&folder.path().join("store.db"), hands).unwrap();
        assert_eq!(again.directory().projects().count(), 52);
    }
}
