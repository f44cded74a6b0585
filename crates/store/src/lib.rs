//! Storage: one trait, several backends, one set of checks.
//!
//! `decide` is pure and synchronous, so it runs where the data is: [`Store::transact`] loads the
//! asks a command names, takes the current time, decides, and commits the outcome atomically:
//! state, audit records, work and idempotency record.
//!
//! | module | contents |
//! |---|---|
//! | [`memory`] | everything in maps; for tests and as a readable reference |
//! | [`sqlite`] | the embedded default: one writer thread, group commit, a pool of readers |
//! | [`postgres`] | several nodes on one database |
//! | [`work_queue`] | effects outside the store, in lanes, and the webhook delivery log |
//! | [`followers`] | followers of the feed: their positions, and the work they write |
//! | [`listing`] | the lists an ask is in, and how lists are paged |
//! | `health` | whether the store is writable, and whether its data is damaged |
//! | `insights` | daily counts for charts |
//! | [`search`] | the full-text search index |
//! | `side` | the side table: anchors, codes, devices, drafts, secrets, snoozes |
//! | `sql` | what SQLite and PostgreSQL share: statements for both, and the methods built on them |
//! | `tasks` | tasks with their artifacts and ledgers, and the contracts of agent runtimes |
//! | `uploads` | the progress of uploads |
//! | `usage` | usage counters of agents, projects and people, for quotas |
//! | `suite` | the named checks that every backend passes |

mod chains;
mod columns;
mod consistency_check;
mod estimates;
pub mod followers;
mod health;
mod insights;
mod job;
mod leases;
pub mod listing;
pub mod memory;
mod messages;
mod migrations;
pub mod outage;
mod paging;
pub mod postgres;
mod receipts;
pub mod search;
mod side;
mod sql;
pub mod sqlite;
#[cfg(any(test, feature = "suite"))]
#[expect(
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "only tests use it"
)]
pub mod suite;
mod tasks;
mod uploads;
mod usage;
mod work;
pub mod work_queue;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::{Digest, Record, RecordRow};
use kernel::directory::Directory;
use kernel::question::SecretValues;
use kernel::seal::{Block, LARGEST};
use kernel::task::{Artifact, Entry};
use kernel::{
    AgentId, Ask, AskId, Envelope, FollowUp, HumanId, KeyId, ProjectId, Refusal, Subject, Task,
    TaskId, Time, UploadId,
};
use tokio::sync::broadcast;
use ulid::Ulid;

pub use chains::{ChainPage, StoredChain, StoredState};
pub use followers::{FollowerAdvance, FollowerStore};
pub use health::{Damage, Durability, Inspection, MOST_DAMAGES, StoreHealth};
pub use insights::{CountedRecords, CountsQuery, Grain, InsightStore};
pub use listing::{
    AskListPage, AskListQuery, Count, Cursor, ExpiringQuery, Filter, ListScope, Order,
};
pub use messages::{MOST_MESSAGES, Message, MessageQuery, MessageState, MessageStore};
pub use migrations::SchemaError;
pub use postgres::Postgres;
pub use receipts::{ReceiptSignature, ReceiptSignatures};
pub use search::{SearchIndex, SearchQuery};
pub use side::{
    AnchorStore, CODE_TRIES, CodeCheck, CodeStore, Device, DeviceStore, DraftStore, MOST_SNOOZED,
    SECRET_READABLE_FOR, SecretStore, SideCondition, SideErasure, SideKind, SideRow, SideSelection,
    SideStore, SnoozeStore, VerificationCode,
};
pub use tasks::{CONTRACT_DAYS, TASKS_COUNTED, TaskListQuery, TaskPage, TaskStore};
pub use uploads::{MOST_PIECES, MOST_UPLOADS, UPLOAD_KEPT, Upload, UploadPart, UploadStore};
pub use usage::{Charge, ChargeLifetime, UsageStore};
pub use work::{NotificationPlan, Work};
pub use work_queue::{BACKLOG_COUNTED, Backlog, ClaimedWork, DeliveryLog, Settlement, WorkQueue};

/// A command to run, with the idempotency key that makes a repeat harmless.
#[derive(Debug, Clone)]
pub struct Job {
    /// The command and its context.
    pub envelope: Envelope,
    /// Present when the caller may send the same request twice.
    pub idempotency: Option<Idempotency>,
    /// The finished upload whose bytes the new object consists of. The job marks it as used, so its
    /// bytes are kept.
    pub uses: Option<UploadId>,
    /// Encrypts the secret values of an answer. Without it a job with such values fails.
    pub cipher: Option<Arc<dyn SecretCipher>>,
}

/// Encrypts secret answers. The store never sees the key.
pub trait SecretCipher: fmt::Debug + Send + Sync {
    /// The secret values of an answer, encrypted. `None` if they are too large.
    fn encrypt(&self, ask: AskId, name: Digest, values: &SecretValues) -> Option<Vec<u8>>;
}

/// An idempotency key and a fingerprint of the request it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The namespace of the key: two callers may choose the same key.
    pub scope: String,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of the request.
    pub fingerprint: Digest,
    /// Whether the key is kept permanently, so that the ask can be found by it. Other keys are
    /// kept while the ask is open, and at least [`IDEMPOTENCY_HOURS`] after their use and after
    /// the ask ended.
    pub lasting: bool,
}

/// How long an idempotency key that is not lasting is kept at least, after its use and after the
/// end of its ask.
pub const IDEMPOTENCY_HOURS: u64 = 24;

/// The result of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// The ask that the job created or changed, in its current state.
    pub ask: Option<Ask>,
    /// The task that the job created or named, in its current state; also the task of a checkpoint
    /// that the job changed.
    pub task: Option<Box<Task>>,
    /// The artifact that the job created, changed or named. Absent on a replay: read it from the
    /// records of the task.
    pub artifact: Option<Box<Artifact>>,
    /// The ledger key that the job wrote. Absent on a replay: read it from the records of the task.
    pub entry: Option<Box<Entry>>,
    /// Whether this is the outcome of an earlier, identical request.
    pub replayed: bool,
    /// The task, and the last sequence number of its chain after this job, or after the earlier
    /// identical one. The records up to there are the state that the first caller saw.
    pub place: Option<(TaskId, u64)>,
    /// The time of the decision.
    pub at: Time,
}

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The kernel refused the command. Nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store cannot be read or written now; a retry may succeed.
    #[error("the database is not available")]
    Unavailable(#[source] BoxError),
    /// Stored data is invalid.
    #[error("the stored {what} cannot be read")]
    Damaged {
        /// The object being read.
        what: String,
        /// The reason it could not be read.
        #[source]
        source: BoxError,
    },
}

/// An error of a database driver.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A result whose error is [`StoreError`] by default.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The source of the time of a decision. `PostgreSQL` uses the clock of the database instead.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Time;
}

/// One committed change: a subject moved to a new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its position in the feed. Positions grow in commit order, and no commit later appears below
    /// a position that was already read.
    pub position: u64,
    /// The subject that changed.
    pub subject: Subject,
    /// The version it moved to.
    pub seq: u64,
    /// The time of the event.
    pub at: Time,
    /// The name of the event.
    pub what: String,
}

/// A block and its signature, a compact JWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBlock {
    /// The claims of the block.
    pub block: Block,
    /// The signed block.
    pub jws: String,
}

impl SealedBlock {
    /// Whether the block may follow `last` in a feed that ends at position `end`.
    fn follows(&self, last: Option<&Self>, end: u64) -> bool {
        let expected = last.map_or((1, Digest::ZERO, 1), |last| {
            (last.block.n + 1, last.block.hash(), last.block.end())
        });
        let block = &self.block;
        expected == (block.n, block.prev, block.first)
            && (1..=LARGEST).contains(&block.count)
            && block.end() <= end + 1
    }
}

/// A change as the feed announces it. For an ask it names the lists the ask is in after the change;
/// for a task it names the lists of the task and of the runtimes with new contracts. For other
/// subjects there are no lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedChange {
    /// The committed change.
    pub change: Change,
    /// The lists whose subscribers the change concerns.
    pub lists: Arc<[ListScope]>,
    /// The [follow-ups](kernel::follow_up) of the change, if this process committed it. A follower
    /// computes them again for events of other processes.
    pub follow_ups: Option<Arc<[FollowUp]>>,
}

/// How many batches of changes a receiver may lag behind before it misses some.
const FEED_CAPACITY: usize = 1024;

/// The given time plus a duration.
fn later(at: Time, more: Duration) -> Time {
    let millis = i64::try_from(more.as_millis()).unwrap_or(i64::MAX);
    Time::from_millis(at.millis().saturating_add(millis))
}

/// Stored asks: lookup by id, lists, and due times.
#[async_trait]
pub trait AskStore: Send + Sync {
    /// One ask as stored. The caller checks whether a deadline has passed in the meantime.
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>>;

    /// The ids of all asks after the given one, in order; at most `limit`. The verification uses
    /// it: an ask that cannot be read still has an id.
    async fn ask_ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>>;

    /// The ask that an idempotency key stands for, while the key is kept.
    async fn ask_by_idempotency_key(
        &self,
        scope: String,
        key: String,
        now: Time,
    ) -> Result<Option<AskId>>;

    /// A page of asks, in the order of the list.
    async fn list(&self, list: AskListQuery) -> Result<AskListPage>;

    /// The number of asks in a list: exact up to 10,000, estimated above. An estimate may be stale,
    /// but only while the list is certainly too long to be counted exactly.
    async fn count(&self, list: AskListQuery) -> Result<Count>;

    /// Open asks that are due before a given time, soonest first, including asks that stay open
    /// after their deadline. Asks whose deadline has already passed come first.
    async fn expiring(&self, wanted: ExpiringQuery) -> Result<Vec<Ask>>;

    /// Claims up to `limit` asks on which something is due at `now`, longest due first, until
    /// `now + lease`, so that several workers share the work. A
    /// change of an ask's wake-up time ends the claim. Two workers on the same ask do no harm: each
    /// decision is made on the current state, and the second one is refused.
    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>>;

    /// The next time at which something is due or a claim ends.
    async fn next_due(&self) -> Result<Option<Time>>;

    /// Claims up to `limit` asks of a project that ended at `since` or before and still have their
    /// text, longest ended first, until `now + lease`, so that several workers share them. Two
    /// workers on the same ask erase it only once.
    async fn claim_ended(
        &self,
        project: ProjectId,
        since: Time,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<AskId>>;

    /// Records that a person views an ask until the given time, or has stopped viewing it. Other
    /// people see this. It is not stored permanently.
    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()>;

    /// The people who view these asks at `now`, by name.
    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>>;
}

/// Which events of the feed to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedQuery {
    /// All events after a position, in feed order.
    After(u64),
    /// The events of the asks of these agents after a position, in feed order.
    Agents(Vec<AgentId>, u64),
    /// The events of the tasks of these projects after a position, in feed order.
    Tasks(Vec<ProjectId>, u64),
    /// The events of one subject after a version, in their order.
    Subject(Subject, u64),
}

/// Which block of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockQuery {
    /// The newest one.
    Last,
    /// The one that covers a feed position.
    At(u64),
}

/// The audit log: events in commit order, in the chain of each subject, and in signed blocks.
///
/// A reader that continues after the last position it received misses nothing and sees nothing
/// twice.
#[async_trait]
pub trait AuditFeed: Send + Sync {
    /// The changes that a query selects, oldest first, at most `limit`.
    async fn changes(&self, of: FeedQuery, limit: usize) -> Result<Vec<Change>>;

    /// Changes as they are committed. A receiver that lags misses some and must read the store.
    fn feed(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>>;

    /// The records that a query selects, as stored and oldest first, at most `limit`.
    async fn rows(&self, of: FeedQuery, limit: usize) -> Result<Vec<RecordRow>>;

    /// The same, opened and with their positions. Fails if a subject cannot be parsed.
    async fn records(&self, of: FeedQuery, limit: usize) -> Result<Vec<(u64, Record)>> {
        let rows = self.rows(of, limit).await?;
        rows.into_iter().map(|row| Ok((row.position, columns::record(row)?))).collect()
    }

    /// A subject's audit records after version `seq`, in order, at most `limit`.
    async fn chain(&self, subject: Subject, seq: u64, limit: usize) -> Result<Vec<Record>> {
        let rows = self.rows(FeedQuery::Subject(subject, seq), limit).await?;
        rows.into_iter().map(columns::record).collect()
    }

    /// The feed position of one record.
    async fn position(&self, subject: Subject, seq: u64) -> Result<Option<u64>> {
        let query = FeedQuery::Subject(subject, seq.saturating_sub(1));
        let found = self.changes(query, 1).await?;
        Ok(found.first().filter(|change| change.seq == seq).map(|change| change.position))
    }

    /// The position of the newest record; 0 if there is none.
    async fn last_position(&self) -> Result<u64>;

    /// Positions and hashes of the records after `position`, without their bodies, at most `limit`.
    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>>;

    /// The chains of the subjects whose names come after `after`, each complete and with its state
    /// at the same time. Stops after the subject that brings the total to `limit` records or more.
    async fn chains(&self, after: Option<String>, limit: usize) -> Result<ChainPage>;

    /// Appends a block. Returns `false` and changes nothing unless the block follows the last
    /// one by number, hash and position and its records exist. So two nodes that race cannot
    /// fork the chain.
    async fn append_block(&self, sealed: SealedBlock) -> Result<bool>;

    /// One block; `None` if there is none.
    async fn block(&self, which: BlockQuery) -> Result<Option<SealedBlock>>;

    /// Blocks after number `n`, in order, at most `limit`.
    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>>;
}

/// The files that belong to each ask or upload. Their bytes are stored elsewhere.
#[async_trait]
pub trait FileHolderStore: Send + Sync {
    /// Records that an ask or an upload holds the file with this digest. Call it before the file is
    /// stored, so that no stored file is without a holder.
    async fn record_file(&self, holder: Ulid, digest: Digest) -> Result<()>;

    /// The files that belong to this holder and to no other.
    async fn own_files(&self, holder: Ulid) -> Result<Vec<Digest>>;

    /// All holders of the file with this digest.
    async fn file_holders(&self, digest: Digest) -> Result<Vec<Ulid>>;

    /// Removes one file from a holder, or all of them.
    async fn forget_files(&self, holder: Ulid, only: Option<Digest>) -> Result<()>;
}

/// When keys were last used. This is not an event: losing a minute of it does no harm.
#[async_trait]
pub trait KeyUseStore: Send + Sync {
    /// Records when keys were last used.
    async fn touch_keys(&self, used: Vec<(KeyId, Time)>) -> Result<()>;

    /// When a key was last used.
    async fn key_used(&self, id: KeyId) -> Result<Option<Time>>;
}

/// The store, in named groups of methods. Every backend passes the checks of `suite`.
#[async_trait]
pub trait Store:
    AnchorStore
    + AskStore
    + AuditFeed
    + CodeStore
    + DeliveryLog
    + DeviceStore
    + DraftStore
    + FileHolderStore
    + FollowerStore
    + StoreHealth
    + InsightStore
    + KeyUseStore
    + MessageStore
    + ReceiptSignatures
    + WorkQueue
    + SearchIndex
    + SecretStore
    + SideStore
    + SideErasure
    + SnoozeStore
    + TaskStore
    + UploadStore
    + UsageStore
{
    /// Decides a job and commits its outcome. A refusal changes nothing. When this returns, the
    /// commit is on disk. A record that [erases](kernel::audit::Erasure) deletes the contents of
    /// earlier records of its subject.
    async fn transact(&self, job: Job) -> Result<JobOutcome>;

    /// The directory as of the last commit.
    fn directory(&self) -> Arc<Directory>;

    /// Deletes idempotency keys older than [`IDEMPOTENCY_HOURS`] unless their ask is open or ended
    /// since then, expired rows of the side table, old messages of closed asks, and old entries of
    /// the [delivery log](work_queue::LOG_DAYS). Returns the number of deleted keys.
    async fn sweep(&self, now: Time) -> Result<u64>;

    /// Fails if the store does not respond.
    async fn ping(&self) -> Result<()>;
}
