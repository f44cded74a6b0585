//! The embedded default: one file, one writer thread, a few readers.
//!
//! ```text
//! transact, settle, claim … ──▶ queue ──▶ writer: BEGIN IMMEDIATE, a savepoint per task, COMMIT
//!                                              │ then: directory, feed, answers
//! ask, list, due, records … ──▶ queue ──▶ readers, each with its own read-only connection
//! ```
//!
//! When a call returns, its commit is on disk: the log is synced at every commit, and one commit
//! serves all callers that waited for the previous sync. No call blocks its async task.

mod ask_cache;
mod backup;
mod connect;
mod failure;
mod followers;
mod health;
mod import_source;
mod insights;
mod listing;
mod migrate;
mod purge;
mod query;
mod reader;
mod record;
mod search;
mod statements;
mod task_rows;
mod transaction;
mod work_queue;
mod writer;

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use kernel::directory::Directory;
use kernel::{Ask, AskId, HumanId, ProjectId, Time};
use rusqlite::Connection;
use tokio::sync::broadcast;

use failure::failed;

use crate::estimates::Estimates;
use crate::job::{self, EarlyDecision};
use crate::leases::{Leases, Viewers, WakeUp};
use crate::listing::{AskListPage, AskListQuery, Count, ExpiringQuery};
use crate::sql::{self, SWEPT_ROWS};
use crate::{
    AnnouncedChange, AskStore, Clock, FEED_CAPACITY, Job, JobOutcome, Result, SearchIndex,
    SearchQuery, Store, StoreError, later,
};
use ask_cache::AskCache;
pub(crate) use import_source::ImportSource;
use reader::Readers;
use search::IndexWriter;
use transaction::WriteTransaction;
use writer::Writer;

/// A store in one `SQLite` file. Dropping it finishes the queued work and closes the file.
pub struct Sqlite {
    // Dropped in this order: the writer is the last connection and checkpoints the log.
    readers: Readers,
    writer: Option<Writer>,
    published: Arc<Published>,
    clock: Option<Arc<dyn Clock>>,
    leases: Leases,
    /// The claims of closed asks whose text is to be erased.
    over: Leases,
    viewers: Viewers,
    /// `None` in a read-only store.
    index: Option<IndexWriter>,
    _lock: Option<File>,
}

/// The state all handles share: what the writer publishes after a commit, and the cache
/// of recent asks.
struct Published {
    directory: RwLock<Arc<Directory>>,
    feed: broadcast::Sender<Arc<[AnnouncedChange]>>,
    recent: AskCache,
    estimates: Estimates,
}

impl Published {
    fn new(directory: Arc<Directory>) -> Arc<Self> {
        let (feed, _) = broadcast::channel(FEED_CAPACITY);
        Arc::new(Self {
            directory: RwLock::new(directory),
            feed,
            recent: AskCache::default(),
            estimates: Estimates::default(),
        })
    }

    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, directory: &Arc<Directory>) {
        let mut published = self.directory.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&published, directory) {
            *published = Arc::clone(directory);
        }
    }
}

impl Sqlite {
    /// Opens the file, creates it if it does not exist, and migrates its schema. Only one process
    /// at a time may have it open like this.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let lock = connect::lock(path)?;
        let mut conn = connect::writer(path)?;
        migrate::migrate(&mut conn, migrate::MIGRATIONS)?;
        let published = Published::new(Arc::new(query::directory(&conn)?));
        let transaction = WriteTransaction::new(conn, Arc::clone(&published))?;
        let writer = Writer::start(transaction, Arc::clone(&published))?;
        let index = Some(IndexWriter::open(path)?);
        let readers = Readers::start(path)?;
        let (writer, clock, lock) = (Some(writer), Some(clock), Some(lock));
        let (leases, over, viewers) = (Leases::default(), Leases::default(), Viewers::default());
        Ok(Self { readers, writer, published, clock, leases, over, viewers, index, _lock: lock })
    }

    /// Opens a file for reading, even while a server has it open. The directory is the one at this
    /// time, and every write fails with [`StoreError::Unavailable`].
    pub fn open_read_only(path: &Path) -> Result<Self> {
        let conn = connect::reader(path)?;
        migrate::check_current(&conn, migrate::MIGRATIONS)?;
        Self::open_for_reading(path, Arc::new(query::directory(&conn)?))
    }

    /// Opens a file to verify it: like [`Sqlite::open_read_only`], with an empty directory, so that
    /// one damaged row does not prevent the check of the others.
    pub fn open_to_check(path: &Path) -> Result<Self> {
        migrate::check_current(&connect::reader(path)?, migrate::MIGRATIONS)?;
        Self::open_for_reading(path, Arc::default())
    }

    fn open_for_reading(path: &Path, directory: Arc<Directory>) -> Result<Self> {
        let published = Published::new(directory);
        let readers = Readers::start(path)?;
        Ok(Self {
            readers,
            writer: None,
            published,
            clock: None,
            leases: Leases::default(),
            over: Leases::default(),
            viewers: Viewers::default(),
            index: None,
            _lock: None,
        })
    }

    /// Limits the file to this many pages, so that tests can fill the disk.
    #[cfg(any(test, feature = "suite"))]
    #[doc(hidden)]
    pub async fn limit_pages(&self, pages: u32) -> Result<()> {
        self.in_writer(move |transaction| {
            let limit = format!("PRAGMA max_page_count = {pages}");
            transaction.conn().query_row(&limit, [], |_| Ok(())).map_err(failed)
        })
        .await
    }

    /// Indexes at most `limit` changes. Returns how many.
    async fn catch_up(&self, index: &IndexWriter, limit: usize) -> Result<usize> {
        let from = index.run(|conn| search::index_position(conn)).await?;
        let place = from.clone();
        match self.readers.run(move |conn| search::unindexed_changes(conn, &place, limit)).await? {
            Some(behind) if behind.is_empty() => Ok(0),
            Some(behind) => {
                if behind.erased_any() {
                    index.truncate_logs();
                }
                index.run(move |conn| search::catch_up(conn, &from, &behind)).await
            }
            None => {
                tracing::warn!("the search index belongs to another database; rebuilding it");
                index.run(search::clear_index).await?;
                Ok(limit)
            }
        }
    }

    /// The first wake-ups up to and including a time: `n`, plus as many as may be claimed already.
    async fn wakes(&self, until: Time, n: usize) -> Result<Vec<WakeUp>> {
        let n = n.saturating_add(self.leases.len());
        self.readers.run(move |conn| query::wakes(conn, until, n)).await
    }

    async fn in_writer<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTransaction) -> Result<T> + Send + 'static,
    {
        match &self.writer {
            Some(writer) => writer.run(work).await,
            None => Err(StoreError::Unavailable(SqliteFailure::ReadOnly.into())),
        }
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn transact(&self, job: Job) -> Result<JobOutcome> {
        let read_only = || StoreError::Unavailable(SqliteFailure::ReadOnly.into());
        let clock = Arc::clone(self.clock.as_ref().ok_or_else(read_only)?);
        // Hashing and canonical JSON are a third of the work, so they run here and not on the
        // only writer thread.
        let ahead = EarlyDecision::decide(self.directory(), clock.now(), &job);
        self.in_writer(move |writing| job::transact(writing, clock.now(), &job, ahead)).await
    }

    fn directory(&self) -> Arc<Directory> {
        self.published.directory()
    }

    async fn sweep(&self, now: Time) -> Result<u64> {
        // Devices, drafts and secret answers are deleted without an event.
        if let Some(index) = &self.index {
            index.truncate_logs();
        }
        sql::sweep(self, now).await?;
        let mut total = 0;
        loop {
            let sweep = move |conn: &Connection| query::sweep(conn, now, SWEPT_ROWS);
            let swept = self.in_writer(move |writing| writing.savepoint(sweep)).await?;
            total += swept.forgotten as u64;
            if swept.seen < SWEPT_ROWS {
                return Ok(total);
            }
        }
    }

    async fn ping(&self) -> Result<()> {
        self.readers.run(query::ping).await?;
        match &self.writer {
            Some(writer) => writer.run(|_| Ok(())).await,
            None => Ok(()),
        }
    }
}

#[async_trait]
impl AskStore for Sqlite {
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>> {
        if self.writer.is_none() {
            // Another process may write, and this one would not notice, so do not use the cache.
            return self.readers.run(move |conn| Ok(query::ask(conn, id)?.map(Arc::new))).await;
        }
        let miss = match self.published.recent.find(id) {
            Ok(ask) => return Ok(Some(ask)),
            Err(miss) => miss,
        };
        let published = Arc::clone(&self.published);
        let read = move |conn: &Connection| {
            let found = query::sized_ask(conn, id)?;
            Ok(found.map(|(ask, size)| {
                let ask = Arc::new(ask);
                published.recent.keep(&miss, &ask, size);
                ask
            }))
        };
        self.readers.run(read).await
    }

    async fn ask_ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>> {
        sql::ask_ids(self, after, limit).await
    }

    async fn ask_by_idempotency_key(
        &self,
        scope: String,
        key: String,
        now: Time,
    ) -> Result<Option<AskId>> {
        sql::ask_of_key(self, scope, key, now).await
    }

    async fn list(&self, list: AskListQuery) -> Result<AskListPage> {
        self.readers.run(move |conn| listing::list(conn, &list)).await
    }

    async fn count(&self, list: AskListQuery) -> Result<Count> {
        // Count the whole list, whatever the page position and limit.
        let list = AskListQuery { after: None, limit: 0, ..list };
        let published = Arc::clone(&self.published);
        self.readers.run(move |conn| listing::count(conn, &published.estimates, &list)).await
    }

    async fn expiring(&self, wanted: ExpiringQuery) -> Result<Vec<Ask>> {
        self.readers.run(move |conn| listing::expiring(conn, &wanted)).await
    }

    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>> {
        Ok(self.leases.claim(now, later(now, lease), self.wakes(now, limit).await?, limit))
    }

    async fn next_due(&self) -> Result<Option<Time>> {
        Ok(self.leases.next(&self.wakes(Time::from_millis(i64::MAX), 1).await?))
    }

    async fn claim_ended(
        &self,
        project: ProjectId,
        since: Time,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<AskId>> {
        let n = limit.saturating_add(self.over.len());
        let over =
            self.readers.run(move |conn| query::ended_asks(conn, &project, since, n)).await?;
        Ok(self.over.claim(now, later(now, lease), over, limit))
    }

    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()> {
        self.viewers.view(ask, human, until);
        Ok(())
    }

    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>> {
        Ok(self.viewers.viewers_of(&asks, now))
    }
}

#[async_trait]
impl SearchIndex for Sqlite {
    async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>> {
        self.readers.run(move |conn| search::search(conn, &wanted)).await
    }

    async fn index(&self, limit: usize) -> Result<usize> {
        let read_only = || StoreError::Unavailable(SqliteFailure::ReadOnly.into());
        let index = self.index.as_ref().ok_or_else(read_only)?;
        let changes = self.catch_up(index, limit).await?;
        // Run it even while there is more to index: on a busy server there always is.
        let unfinished = index.purge().await?;
        Ok(changes.max(usize::from(unfinished)))
    }
}

/// Another process has the file open for writing: the source of the
/// [`Unavailable`](StoreError::Unavailable) error of [`Sqlite::open`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another process has this database open")]
pub struct DatabaseLocked;

/// Why a write or read failed.
#[derive(Debug, Clone, thiserror::Error)]
enum SqliteFailure {
    #[error("the commit failed, and no waiting change was saved")]
    Commit(#[source] Arc<rusqlite::Error>),
    #[error("a database task panicked; nothing was saved")]
    Abandoned,
    #[error("the database is closed")]
    Closed,
    #[error("the database was opened read-only")]
    ReadOnly,
    #[error("the file system does not support a write-ahead log; SQLite offered {0:?}")]
    NoWal(String),
    #[error("another process uses the copy while it is written")]
    CopyInUse,
}
