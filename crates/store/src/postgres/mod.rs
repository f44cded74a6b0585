//! Many nodes on one `PostgreSQL`: nodes keep nothing that another could not read.
//!
//! ```text
//! transact ──▶ queue ──▶ writers: BEGIN, lock and load, decide, write, COMMIT; a batch each
//!                              │ rings
//!                              ▼
//!                         announcer: positions for what was committed, NOTIFY, then this node's feed
//!                              ▲ rings
//! other nodes ──NOTIFY──▶ listener                 ask, list, due, records … ──▶ pool
//! ```
//!
//! Rows of asks are locked by whoever decides on them; the directory is one row that whoever changes
//! it locks. Nothing else is shared: see `docs/adr/0017-many-nodes.md`.

mod block;
mod books;
mod chain;
mod connect;
mod feed;
mod listing;
mod migrate;
mod outbox;
mod query;
mod record;
mod tls;
mod write;
mod writer;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient, Pool, PoolError};
use kernel::audit::{Digest, Record, Row};
use kernel::directory::Directory;
use kernel::{AgentId, Ask, AskId, KeyId, Subject, Time};
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinSet;
use tokio_postgres::error::SqlState;
use ulid::Ulid;
use uuid::Uuid;

use crate::job::Ahead;
use crate::listing::{Count, List, Page};
use crate::migrations::SchemaError;
use crate::{
    Backlog, BoxError, Chains, Change, Clock, Delivery, FEED, Job, News, Outcome, Result,
    SealedBlock, Settlement, Store, StoreError,
};
use connect::Address;
use feed::{Announcer, number};
use writer::{Desk, Writers};

/// Idempotency keys forgotten in one go: a sweep of millions lets others in between.
const SWEPT: usize = 2_000;

/// A store in a `PostgreSQL` database, one of any number on it.
pub struct Postgres {
    pool: Pool,
    published: Arc<Published>,
    watch: Watch,
    writers: Writers,
    /// Writers, announcer and listener; they end with the store.
    _tasks: JoinSet<()>,
}

/// Whose clock says when something is decided.
#[derive(Clone)]
pub enum Watch {
    /// The database's: the same for all nodes.
    Database,
    /// One that is given, for tests.
    Given(Arc<dyn Clock>),
}

impl Watch {
    fn now(&self, database: Time) -> Time {
        match self {
            Self::Database => database,
            Self::Given(clock) => clock.now(),
        }
    }
}

/// What a node shows to its own: the directory as it knows it, and what happened.
struct Published {
    directory: RwLock<(u64, Arc<Directory>)>,
    feed: broadcast::Sender<Arc<[News]>>,
}

impl Published {
    fn get(&self) -> (u64, Arc<Directory>) {
        let (version, directory) = &*self.directory.read().unwrap_or_else(PoisonError::into_inner);
        (*version, Arc::clone(directory))
    }

    /// Never goes back.
    fn publish(&self, version: u64, directory: Arc<Directory>) {
        let mut published = self.directory.write().unwrap_or_else(PoisonError::into_inner);
        if version > published.0 {
            *published = (version, directory);
        }
    }

    /// Brings the directory up to date.
    async fn refresh(&self, client: &impl GenericClient) -> Result<(), Failure> {
        let (known, mut directory) = self.get();
        let (version, entities) = query::entities(client, known).await?;
        if version > known {
            let changed = Arc::make_mut(&mut directory);
            entities.into_iter().for_each(|entity| changed.put(entity));
            self.publish(version, directory);
        }
        Ok(())
    }

    /// The directory of at least this version.
    async fn at(
        &self,
        client: &impl GenericClient,
        version: u64,
    ) -> Result<Arc<Directory>, Failure> {
        if self.get().0 < version {
            self.refresh(client).await?;
        }
        Ok(self.get().1)
    }
}

impl Postgres {
    /// Connects, brings the schema up to date, and joins the other nodes.
    pub async fn open(url: &str, watch: Watch) -> Result<Self> {
        let address = Address::read(url)?;
        let pool = address.pool()?;
        let mut client = pool.get().await.map_err(Failure::from)?;
        migrate::migrate(&mut client, migrate::MIGRATIONS).await?;
        let (feed, _) = broadcast::channel(FEED);
        let directory = RwLock::default();
        let published = Arc::new(Published { directory, feed });
        published.refresh(&client).await?;
        // Whatever was committed before is no news.
        number(&mut client).await?;
        let told = record::last_position(&client).await?;
        drop(client);
        let news = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        let desk = Desk {
            pool: pool.clone(),
            published: Arc::clone(&published),
            watch: watch.clone(),
            committed: Arc::clone(&news),
        };
        let writers = Writers::start(&desk, &mut tasks);
        let (heard, announced) = (Arc::clone(&news), Arc::clone(&published));
        tasks.spawn(Announcer { pool: pool.clone(), published: announced, news, told }.run());
        tasks.spawn(feed::listen(address, heard));
        Ok(Self { pool, published, watch, writers, _tasks: tasks })
    }

    async fn client(&self) -> Result<Client, Failure> {
        Ok(self.pool.get().await?)
    }

    /// A connection on which everything committed before has its position.
    async fn numbered(&self) -> Result<Client, Failure> {
        let mut client = self.client().await?;
        number(&mut client).await?;
        Ok(client)
    }
}

#[async_trait]
impl Store for Postgres {
    async fn transact(&self, job: Job) -> Result<Outcome> {
        let ahead = match &self.watch {
            Watch::Given(clock) => Ahead::decide(self.directory(), clock.now(), &job),
            // The moment is the database's to say.
            Watch::Database => None,
        };
        self.writers.run(job, ahead).await
    }

    fn directory(&self) -> Arc<Directory> {
        self.published.get().1
    }

    async fn ask(&self, id: AskId) -> Result<Option<Ask>> {
        Ok(query::ask(&self.client().await?, id).await?)
    }

    async fn ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>> {
        Ok(query::ids(&self.client().await?, after, limit).await?)
    }

    async fn list(&self, list: List) -> Result<Page> {
        Ok(query::list(&mut self.client().await?, &list).await?)
    }

    async fn count(&self, list: List) -> Result<Count> {
        Ok(query::count(&mut self.client().await?, &list).await?)
    }

    async fn due(&self, now: Time, limit: usize) -> Result<Vec<AskId>> {
        Ok(query::due(&self.client().await?, now, limit).await?)
    }

    async fn next_due(&self) -> Result<Option<Time>> {
        Ok(query::next_due(&self.client().await?).await?)
    }

    async fn claim(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<Delivery>> {
        Ok(outbox::claim(&self.client().await?, now, lease, limit).await?)
    }

    async fn settle(&self, settled: Vec<(u64, Settlement)>) -> Result<()> {
        Ok(outbox::settle(&mut self.client().await?, &settled).await?)
    }

    async fn backlog(&self) -> Result<Backlog> {
        Ok(outbox::backlog(&self.client().await?).await?)
    }

    async fn changes(&self, position: u64, limit: usize) -> Result<Vec<Change>> {
        Ok(record::changes(&self.numbered().await?, position, limit).await?)
    }

    async fn stream(
        &self,
        agents: Vec<AgentId>,
        position: u64,
        limit: usize,
    ) -> Result<Vec<Change>> {
        Ok(record::stream(&self.numbered().await?, &agents, position, limit).await?)
    }

    async fn history(&self, ask: AskId, seq: u64, limit: usize) -> Result<Vec<Change>> {
        Ok(record::history(&self.numbered().await?, ask, seq, limit).await?)
    }

    fn feed(&self) -> broadcast::Receiver<Arc<[News]>> {
        self.published.feed.subscribe()
    }

    async fn records(&self, subject: Subject, seq: u64, limit: usize) -> Result<Vec<Record>> {
        Ok(record::chain(&self.client().await?, &subject, seq, limit).await?)
    }

    async fn all_records(&self, position: u64, limit: usize) -> Result<Vec<(u64, Record)>> {
        Ok(record::all(&self.numbered().await?, position, limit).await?)
    }

    async fn last_position(&self) -> Result<u64> {
        Ok(record::last_position(&self.numbered().await?).await?)
    }

    async fn position(&self, subject: Subject, seq: u64) -> Result<Option<u64>> {
        Ok(record::position(&self.numbered().await?, &subject, seq).await?)
    }

    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>> {
        Ok(record::hashes(&self.numbered().await?, position, limit).await?)
    }

    async fn rows(&self, position: u64, limit: usize) -> Result<Vec<Row>> {
        Ok(record::rows(&self.numbered().await?, position, limit).await?)
    }

    async fn chains(&self, after: Option<String>, limit: usize) -> Result<Chains> {
        Ok(chain::chains(&mut self.numbered().await?, after.as_deref(), limit).await?)
    }

    async fn append_block(&self, sealed: SealedBlock) -> Result<bool> {
        Ok(block::append(&mut self.numbered().await?, &sealed).await?)
    }

    async fn last_block(&self) -> Result<Option<SealedBlock>> {
        Ok(block::last(&self.client().await?).await?)
    }

    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>> {
        Ok(block::after(&self.client().await?, n, limit).await?)
    }

    async fn block_at(&self, position: u64) -> Result<Option<SealedBlock>> {
        Ok(block::holding(&self.client().await?, position).await?)
    }

    async fn anchored(&self) -> Result<Option<u64>> {
        Ok(block::anchored(&self.client().await?).await?)
    }

    async fn anchor(&self, n: u64) -> Result<()> {
        Ok(block::anchor(&self.client().await?, n).await?)
    }

    async fn touch_keys(&self, used: Vec<(KeyId, Time)>) -> Result<()> {
        Ok(query::touch_keys(&self.client().await?, &used).await?)
    }

    async fn key_used(&self, id: KeyId) -> Result<Option<Time>> {
        Ok(query::key_used(&self.client().await?, id).await?)
    }

    async fn sweep(&self, now: Time) -> Result<u64> {
        let mut total = 0;
        loop {
            let swept = query::sweep(&self.client().await?, now, SWEPT).await?;
            total += swept;
            if swept < SWEPT as u64 {
                return Ok(total);
            }
        }
    }

    async fn ping(&self) -> Result<()> {
        let client = self.client().await?;
        client.query_one("SELECT 1", &[]).await.map_err(Failure::from)?;
        Ok(())
    }
}

/// Why something came to nothing.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Another transaction was there first; trying again will see what it did.
    #[error("another transaction was there first")]
    Conflict,
    #[error("the database did not do it")]
    Database(#[source] tokio_postgres::Error),
    #[error("no connection to the database")]
    Pool(#[source] PoolError),
    #[error(transparent)]
    Store(StoreError),
    #[error("the store is closed")]
    Closed,
    #[error(transparent)]
    Shared(Arc<Failure>),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let met = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ];
        if error.code().is_some_and(|code| met.contains(code)) {
            Self::Conflict
        } else {
            Self::Database(error)
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self::Store(error.into())
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error,
            other => Self::Unavailable(other.into()),
        }
    }
}

fn damaged(what: &str, source: impl Into<BoxError>) -> Failure {
    Failure::Store(StoreError::Damaged { what: what.to_owned(), source: source.into() })
}

/// An ask from its id and state.
fn read_ask(row: &tokio_postgres::Row) -> Result<Ask, Failure> {
    let state: &str = row.try_get(1)?;
    serde_json::from_str(state).map_err(|error| {
        let id = row.try_get(0).map(|id| AskId::new(ulid(id)).to_string());
        damaged(id.as_deref().unwrap_or("ask"), error)
    })
}

/// A digest from its column. One of the wrong length is turned into another that matches nothing,
/// so that whoever compares it finds out.
fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or_else(|_| Digest::of(bytes), Digest)
}

fn uuid(id: Ulid) -> Uuid {
    Uuid::from_bytes(id.to_bytes())
}

fn ulid(id: Uuid) -> Ulid {
    Ulid::from_bytes(id.into_bytes())
}

/// Numbers as the database has them. Ours never reach the top bit.
fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A number as we have it; what was stored by [`int`] is never negative.
fn uint(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}
