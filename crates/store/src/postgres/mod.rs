//! Several nodes on one `PostgreSQL` database: a node keeps no state that another could not read.
//!
//! ```text
//! transact ──▶ queue ──▶ writers: BEGIN, lock and load, decide, write, COMMIT; a batch each
//!                              │ notifies
//!                              ▼
//!                         announcer: positions for new commits, NOTIFY, then this node's feed
//!                              ▲ notifies
//! other nodes ──NOTIFY──▶ listener                 ask, list, due, records … ──▶ pool
//! ```
//!
//! A transaction locks the rows of the asks it decides on. A transaction that changes the directory
//! holds an exclusive lock. Nothing else is shared: see `docs/adr/0017-many-nodes.md`.

mod address;
mod batch;
mod clock;
mod cluster;
mod connect;
mod due_asks;
mod failure;
mod feed;
mod files;
mod followers;
mod health;
mod insights;
mod listing;
mod load;
mod migrate;
mod query;
mod record;
mod search;
mod sqlite_import;
mod statements;
mod subscribers;
mod task_rows;
mod tls;
mod viewers;
mod work_queue;
mod write;
mod writer;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient};
use kernel::directory::Directory;
use kernel::{Ask, AskId, HumanId, ProjectId, Time};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use ulid::Ulid;
use uuid::Uuid;

pub use address::{BadAddress, redacted};
pub use cluster::ClusterLock;
pub use connect::PostgresOptions;
pub use files::FileDeletion;
pub use sqlite_import::{DatabaseNotEmpty, SqliteImport};

use crate::estimates::Estimates;
use crate::job::EarlyDecision;
use crate::listing::{AskListPage, AskListQuery, Count, ExpiringQuery};
use crate::sql::{self, SWEPT_ROWS};
use crate::{AskStore, Clock, Job, JobOutcome, Result, SearchIndex, SearchQuery, Store};
use clock::DatabaseClock;
use connect::{PostgresPool, on};
use failure::PostgresFailure;
use feed::{Announcer, number};
use subscribers::Subscribers;
use writer::{BatchWriter, Writers};

/// A store in a `PostgreSQL` database; any number of nodes can share it.
pub struct Postgres {
    database: PostgresPool,
    published: Arc<Published>,
    clock: Option<Arc<dyn Clock>>,
    estimates: Estimates,
    /// `None` in a read-only store.
    writers: Option<Writers>,
    /// Writers, announcer and listener; they end with the store.
    _tasks: JoinSet<()>,
}

/// The shared state of a node: the directory as it knows it, and the feed.
#[derive(Default)]
struct Published {
    directory: RwLock<(u64, Arc<Directory>)>,
    subscribers: Subscribers,
    clock: Arc<DatabaseClock>,
}

impl Published {
    fn get(&self) -> (u64, Arc<Directory>) {
        let (version, directory) = &*self.directory.read().unwrap_or_else(PoisonError::into_inner);
        (*version, Arc::clone(directory))
    }

    /// Publishes a directory. The version never decreases.
    fn publish(&self, version: u64, directory: Arc<Directory>) {
        let mut published = self.directory.write().unwrap_or_else(PoisonError::into_inner);
        if version > published.0 {
            *published = (version, directory);
        }
    }

    /// Updates the directory from the database.
    async fn refresh(&self, client: &impl GenericClient) -> Result<(), PostgresFailure> {
        let (known, mut directory) = self.get();
        let (version, entities) = query::entities(client, known).await?;
        if version > known {
            let changed = Arc::make_mut(&mut directory);
            for entity in entities {
                changed.put(entity);
            }
            self.publish(version, directory);
        }
        Ok(())
    }

    /// The directory, at least at this version.
    async fn at(
        &self,
        client: &impl GenericClient,
        version: u64,
    ) -> Result<Arc<Directory>, PostgresFailure> {
        if self.get().0 < version {
            self.refresh(client).await?;
        }
        Ok(self.get().1)
    }
}

impl Postgres {
    /// Connects to `postgres://…`, migrates the schema, and joins the other nodes. No error
    /// contains the password; [`redacted`] shows a URL without it.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self> {
        let database = PostgresPool::new(url, &options, false)?;
        database.migrate().await?;
        let published = Arc::new(Published::default());
        let position = on!(database, client => async {
            published.clock.read(client).await?;
            published.refresh(&*client).await?;
            // Earlier commits are not announced.
            number(client).await?;
            record::last_position(&*client).await
        })?;
        let news = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        let writer = BatchWriter {
            database: database.clone(),
            published: Arc::clone(&published),
            clock: options.clock.clone(),
            committed: Arc::clone(&news),
            turn: Arc::new(Semaphore::new(1)),
        };
        let writers = Some(Writers::start(&writer, &mut tasks));
        let heard = Arc::clone(&news);
        let announcer = Announcer {
            database: database.clone(),
            published: Arc::clone(&published),
            news,
            announced: position,
        };
        tasks.spawn(announcer.run());
        tasks.spawn(feed::listen(database.clone(), heard));
        let (clock, estimates) = (options.clock, Estimates::default());
        Ok(Self { database, published, clock, estimates, writers, _tasks: tasks })
    }

    /// Opens a database for reading. The directory is the one at this time, the feed announces
    /// nothing, and every write fails with [`StoreError::Unavailable`](crate::StoreError).
    pub async fn open_read_only(url: &str, options: PostgresOptions) -> Result<Self> {
        let store = Self::open_to_check(url, options).await?;
        on!(store.database, client => store.published.refresh(&*client))?;
        Ok(store)
    }

    /// Opens a database to verify it: like [`Postgres::open_read_only`], with an empty directory,
    /// so that one damaged row does not prevent the check of the others.
    pub async fn open_to_check(url: &str, options: PostgresOptions) -> Result<Self> {
        let database = PostgresPool::new(url, &options, true)?;
        on!(database, client => migrate::check_current(client, migrate::MIGRATIONS))?;
        let (published, estimates) = (Arc::default(), Estimates::default());
        let tasks = JoinSet::new();
        Ok(Self { database, published, clock: None, estimates, writers: None, _tasks: tasks })
    }

    /// The clock of the database, as known to this node.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.published.clock) as Arc<dyn Clock>
    }

    /// Assigns positions to all commits so far, unless this store is read-only.
    async fn number(&self, client: &mut Client) -> Result<(), PostgresFailure> {
        if self.writers.is_some() { number(client).await } else { Ok(()) }
    }

    fn writers(&self) -> Result<&Writers, PostgresFailure> {
        self.writers.as_ref().ok_or(PostgresFailure::ReadOnly)
    }
}

#[async_trait]
impl Store for Postgres {
    async fn transact(&self, job: Job) -> Result<JobOutcome> {
        let writers = self.writers()?;
        // Without our own clock, the database provides the time, so nothing can be decided ahead.
        let ahead = (self.clock.as_ref())
            .and_then(|clock| EarlyDecision::decide(self.directory(), clock.now(), &job));
        Ok(writers.run(job, ahead).await?)
    }

    fn directory(&self) -> Arc<Directory> {
        self.published.get().1
    }

    async fn sweep(&self, now: Time) -> Result<u64> {
        self.writers()?;
        sql::sweep(self, now).await?;
        let mut total = 0;
        loop {
            let swept = on!(self.database, client => query::sweep(client, now, SWEPT_ROWS))?;
            total += swept.forgotten;
            let alone = swept.forgotten + swept.renewed > 0;
            if swept.seen < SWEPT_ROWS || !alone {
                return Ok(total);
            }
        }
    }

    async fn ping(&self) -> Result<()> {
        Ok(on!(self.database, client => query::ping(client))?)
    }
}

#[async_trait]
impl AskStore for Postgres {
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>> {
        Ok(on!(self.database, client => query::ask(client, id))?.map(Arc::new))
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
        Ok(on!(self.database, client => query::list(client, &list))?)
    }

    async fn count(&self, list: AskListQuery) -> Result<Count> {
        // Count the whole list, whatever the page position and limit.
        let list = AskListQuery { after: None, limit: 0, ..list };
        Ok(on!(self.database, client => query::count(client, &self.estimates, &list))?)
    }

    async fn expiring(&self, wanted: ExpiringQuery) -> Result<Vec<Ask>> {
        Ok(on!(self.database, client => query::expiring(client, &wanted))?)
    }

    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>> {
        self.writers()?;
        Ok(on!(self.database, client => due_asks::claim_due(client, now, lease, limit))?)
    }

    async fn next_due(&self) -> Result<Option<Time>> {
        Ok(on!(self.database, client => due_asks::next_due(client))?)
    }

    async fn claim_ended(
        &self,
        project: ProjectId,
        since: Time,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<AskId>> {
        self.writers()?;
        Ok(
            on!(self.database, client => due_asks::claim_ended(client, &project, since, now, lease, limit))?,
        )
    }

    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()> {
        self.writers()?;
        Ok(on!(self.database, client => viewers::view(client, ask, &human, until))?)
    }

    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>> {
        Ok(on!(self.database, client => viewers::viewers(client, &asks, now))?)
    }
}

#[async_trait]
impl SearchIndex for Postgres {
    async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>> {
        Ok(on!(self.database, client => search::search(client, &wanted))?)
    }

    async fn index(&self, limit: usize) -> Result<usize> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            self.number(client).await?;
            search::index(client, limit).await
        })?)
    }
}

fn uuid(id: Ulid) -> Uuid {
    Uuid::from_bytes(id.to_bytes())
}

fn ulid(id: Uuid) -> Ulid {
    Ulid::from_bytes(id.into_bytes())
}
