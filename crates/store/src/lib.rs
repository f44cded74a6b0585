//! Where everything is kept: one trait, several backends, one set of checks.
//!
//! `decide` is pure and synchronous, so it is sent to the data: [`Store::transact`] loads the asks a
//! command names, stamps the moment, runs the rule, and makes its outcome durable, all or nothing:
//! state, audit records, outbox and idempotency record in one commit.
//!
//! | module | what it holds |
//! |---|---|
//! | [`memory`] | everything in maps; for tests and for reading the contract |
//! | [`sqlite`] | the embedded default: one writer thread, group commit, a pool of readers |
//! | [`postgres`] | many nodes on one database |
//! | [`outbox`] | work to be done outside, in lanes, and the log of what endpoints were told |
//! | [`listing`] | which lists an ask stands in, and how lists are paged |
//! | `health` | whether the store can be written, and whether anything in it is damaged |
//! | `insights` | counts of what happened |
//! | [`search`] | which words an ask is found by |
//! | `side` | what is kept beside the record: anchors, codes, devices, drafts, secrets, snoozes |
//! | `tasks` | tasks with their artifacts and ledgers, and what runtimes of agents have to do |
//! | `uploads` | bytes on their way, as far as they have come |
//! | `usage` | counters of what agents, projects and people use, for quotas |
//! | `suite` | the named checks every backend passes |

mod chains;
mod derived;
mod estimates;
mod health;
mod insights;
mod job;
mod leases;
pub mod listing;
pub mod memory;
mod messages;
mod migrations;
pub mod outage;
pub mod outbox;
mod paging;
pub mod postgres;
mod receipts;
mod rows;
pub mod search;
mod side;
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

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::{Digest, Record, Row};
use kernel::directory::Directory;
use kernel::seal::{Block, LARGEST};
use kernel::task::{Artifact, Entry};
use kernel::{
    AgentId, Ask, AskId, Envelope, HumanId, KeyId, ProjectId, Refusal, Subject, Task, TaskId, Time,
    UploadId,
};
use tokio::sync::broadcast;
use ulid::Ulid;

pub use chains::{Chain, Chains, Held};
pub use health::{Damage, Durability, Health, Inspection, MOST_DAMAGES};
pub use insights::{Counted, Counts, Grain, Insights};
pub use listing::{Count, Cursor, Expiring, Filter, List, Order, Page, Scope};
pub use messages::{MOST_MESSAGES, Message, MessageQuery, Messages, Sent};
pub use migrations::SchemaError;
pub use outbox::{BACKLOG_COUNTED, Backlog, Delivery, Outbox, Settlement};
pub use postgres::Postgres;
pub use receipts::ReceiptSignature;
pub use search::{Search, SearchIndex};
pub use side::{
    Anchors, CODE_TRIES, Code, CodeTried, Codes, Device, Devices, Drafts, MOST_SNOOZED,
    SECRET_READABLE_FOR, Secrets, Side, SideCondition, SideErasure, SideKind, SideRow, SideRows,
    Snoozes,
};
pub use tasks::{CONTRACT_DAYS, TASKS_COUNTED, TaskList, TaskPage, Tasks};
pub use uploads::{MOST_PIECES, MOST_UPLOADS, Piece, UPLOAD_KEPT, Upload, Uploads};
pub use usage::{Charge, Counting, Usage};

/// What a caller wants done, with the key that makes repeating it harmless.
#[derive(Debug, Clone)]
pub struct Job {
    /// The command and everything around it.
    pub envelope: Envelope,
    /// Present when the caller may send the same thing twice.
    pub idempotency: Option<Idempotency>,
    /// The upload whose bytes what is made consists of: with the job it is used, and its bytes stay.
    pub uses: Option<UploadId>,
}

/// The key under which a caller may repeat a request, and what the request was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Whose keys these are: two callers may choose the same key.
    pub scope: String,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of the request.
    pub fingerprint: Digest,
    /// Whether it is remembered for ever, so that the ask can be found by it; else as long as the ask
    /// is open, and at least [`IDEMPOTENCY_HOURS`] after its use and after the end of the ask.
    pub lasting: bool,
}

/// How long an idempotency key that is not lasting is remembered at least: after it was used, and after
/// the ask it stands for ended.
pub const IDEMPOTENCY_HOURS: u64 = 24;

/// What came of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The ask the job made or changed, as it is now.
    pub ask: Option<Ask>,
    /// The task the job made or was about, as it is now; also the one behind a checkpoint it changed.
    pub task: Option<Box<Task>>,
    /// The artifact the job made, changed, or named. A replay does not say: the record of the task does.
    pub artifact: Option<Box<Artifact>>,
    /// The key of a ledger the job wrote. A replay does not say: the record of the task does.
    pub entry: Option<Box<Entry>>,
    /// Whether this is the outcome of an earlier, identical request.
    pub replayed: bool,
    /// The task and where its chain ended with the job, or with the earlier one: its records up to
    /// there are what the first caller was shown.
    pub place: Option<(TaskId, u64)>,
    /// The moment the decision was made.
    pub at: Time,
}

/// Why a job came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The rules say no. Nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store cannot be written or read now; trying later may work.
    #[error("the store is not available")]
    Unavailable(#[source] BoxError),
    /// What is stored does not make sense.
    #[error("the stored {what} cannot be read")]
    Damaged {
        /// What was being read.
        what: String,
        /// Why it could not be.
        #[source]
        source: BoxError,
    },
}

/// Whatever a driver reports.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A shorthand.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What gives the store the moment of a decision. `PostgreSQL` asks its own clock instead.
pub trait Clock: Send + Sync + 'static {
    /// The moment.
    fn now(&self) -> Time;
}

/// One committed change: which subject moved to which version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its place in the feed; grows in commit order and never skips a late commit.
    pub position: u64,
    /// What changed.
    pub subject: Subject,
    /// The version it moved to.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// The name of the event.
    pub what: String,
}

/// A block with the signature over it, a compact JWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBlock {
    /// What it claims.
    pub block: Block,
    /// The same, signed.
    pub jws: String,
}

impl SealedBlock {
    /// Whether it may come behind `last` in a record that ends at position `end`.
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

/// A change as it is announced, with the lists its ask stands in from then on, or those of its task
/// and of the runtimes that have to do something about it; none for anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// What changed.
    pub change: Change,
    /// Who may care.
    pub lists: Arc<[Scope]>,
}

/// How many batches of changes a receiver may lag behind before it misses some.
const FEED: usize = 1024;

/// A moment and a while more.
fn later(at: Time, more: Duration) -> Time {
    let millis = i64::try_from(more.as_millis()).unwrap_or(i64::MAX);
    Time::from_millis(at.millis().saturating_add(millis))
}

/// Asks as they are stored: one by its id, lists of them, and what is due on them.
#[async_trait]
pub trait Asks: Send + Sync {
    /// One ask as stored; the caller judges whether a deadline has passed meanwhile.
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>>;

    /// The ids of every ask there is after the given one, in order; at most `limit`. For checking the
    /// record: what cannot be read has an id all the same.
    async fn ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>>;

    /// The ask a key stands for, as long as the key is remembered.
    async fn named(&self, scope: String, key: String, now: Time) -> Result<Option<AskId>>;

    /// A page of asks, in the order of the list.
    async fn list(&self, list: List) -> Result<Page>;

    /// How many asks are in a list: exact to 10,000, estimated above. An estimate may be older than
    /// the last changes, by fewer than would make the list one that is counted.
    async fn count(&self, list: List) -> Result<Count>;

    /// Open asks that are due until a moment, soonest first, also those that stay open when their
    /// deadline passes. Those whose deadline has passed already come first.
    async fn expiring(&self, wanted: Expiring) -> Result<Vec<Ask>>;

    /// Up to `limit` asks on which something is due at `now` and that nobody has claimed, longest
    /// due first.
    async fn due(&self, now: Time, limit: usize) -> Result<Vec<AskId>>;

    /// Claims up to `limit` of what is due at `now`, until `now + lease`, so that several workers
    /// share it. Whatever moves the wake-up of an ask ends its claim. Two who work on one ask all the
    /// same do no harm: a decision is made on the ask as it is, and who comes second is refused.
    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>>;

    /// When something is next due, or next to be claimed again.
    async fn next_due(&self) -> Result<Option<Time>>;

    /// Claims up to `limit` asks of a project that ended at `since` or before and still have their words,
    /// longest over first, until `now + lease`, so that several workers share them. Two who erase one ask all
    /// the same erase it once.
    async fn claim_over(
        &self,
        project: ProjectId,
        since: Time,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<AskId>>;

    /// Stores the signatures of receipts of asks that are at the version given with each; storing one
    /// again replaces it. Returns the asks that have changed since, of which nothing was stored.
    ///
    /// An erasure that changes what a receipt says deletes its signatures in the same transaction.
    async fn store_receipt_signatures(&self, new: Vec<ReceiptSignature>) -> Result<Vec<AskId>>;

    /// The name of the key that signed these claims about an ask, and the signature.
    async fn receipt_signature(
        &self,
        ask: AskId,
        claims: Digest,
    ) -> Result<Option<(String, Vec<u8>)>>;

    /// Notes that a person views an ask until a moment, or no longer. Others see it; it is not kept
    /// for good.
    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()>;

    /// Who views these asks at `now`, by name.
    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>>;
}

/// The record: what happened, in the order of commits, in the chain of each subject, and in signed
/// blocks.
#[async_trait]
pub trait AuditFeed: Send + Sync {
    /// Changes after `position`, oldest first, at most `limit`.
    async fn changes(&self, position: u64, limit: usize) -> Result<Vec<Change>>;

    /// What happened to the asks of these agents after `position`, oldest first, at most `limit`.
    /// Whoever goes on after the last position it was given misses nothing and sees nothing twice.
    async fn stream(
        &self,
        agents: Vec<AgentId>,
        position: u64,
        limit: usize,
    ) -> Result<Vec<Change>>;

    /// What happened to one ask after version `seq`, oldest first, at most `limit`.
    async fn history(&self, ask: AskId, seq: u64, limit: usize) -> Result<Vec<Change>>;

    /// Changes as they are committed. A receiver that lags misses some and must look for itself.
    fn feed(&self) -> broadcast::Receiver<Arc<[News]>>;

    /// A subject's audit records after `seq`, in order, at most `limit`.
    async fn records(&self, subject: Subject, seq: u64, limit: usize) -> Result<Vec<Record>>;

    /// All audit records after feed `position`, in feed order with their positions, at most `limit`.
    async fn all_records(&self, position: u64, limit: usize) -> Result<Vec<(u64, Record)>> {
        let rows = self.rows(position, limit).await?;
        rows.into_iter().map(|row| Ok((row.position, rows::record(row)?))).collect()
    }

    /// The position of the newest record; 0 if there is none.
    async fn last_position(&self) -> Result<u64>;

    /// The feed position of one record.
    async fn position(&self, subject: Subject, seq: u64) -> Result<Option<u64>>;

    /// Positions and hashes of the records after `position`, without their bodies, at most `limit`.
    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>>;

    /// Records after `position` in feed order as they lie there, at most `limit`.
    async fn rows(&self, position: u64, limit: usize) -> Result<Vec<Row>>;

    /// The chains of the subjects whose names come after `after`, each whole and with its state of
    /// the same moment. Stops behind the subject with which it has at least `limit` records.
    async fn chains(&self, after: Option<String>, limit: usize) -> Result<Chains>;

    /// Appends a block. `false`, and nothing changed, unless it follows the last one by number,
    /// hash and position and its records are there: whoever loses a race cannot fork the chain.
    async fn append_block(&self, sealed: SealedBlock) -> Result<bool>;

    /// The newest block.
    async fn last_block(&self) -> Result<Option<SealedBlock>>;

    /// Blocks after number `n`, in order, at most `limit`.
    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>>;

    /// The block that covers a feed position.
    async fn block_at(&self, position: u64) -> Result<Option<SealedBlock>>;
}

/// Which files were given to which ask or upload. Their bytes are elsewhere.
#[async_trait]
pub trait FileHolders: Send + Sync {
    /// Remembers that something, an ask or an upload, was given the file of this digest. Before the file
    /// itself is kept, so that none is there that belongs to nobody.
    async fn note_file(&self, holder: Ulid, digest: Digest) -> Result<()>;

    /// The files that were given to this one and to no other.
    async fn own_files(&self, holder: Ulid) -> Result<Vec<Digest>>;

    /// Everything that was given the file of this digest.
    async fn file_holders(&self, digest: Digest) -> Result<Vec<Ulid>>;

    /// Forgets that one was given one file.
    async fn forget_file(&self, holder: Ulid, digest: Digest) -> Result<()>;

    /// Forgets which files one was given.
    async fn forget_files(&self, holder: Ulid) -> Result<()>;
}

/// The store, in named groups of methods. Every backend passes the checks of `suite`.
#[async_trait]
pub trait Store:
    Anchors
    + Asks
    + AuditFeed
    + Codes
    + Devices
    + Drafts
    + FileHolders
    + Health
    + Insights
    + Messages
    + Outbox
    + SearchIndex
    + Secrets
    + Side
    + SideErasure
    + Snoozes
    + Tasks
    + Uploads
    + Usage
{
    /// Decides a job and makes its outcome durable. A refusal changes nothing. Acknowledged means
    /// on disk. A record that [erases](kernel::audit::Erasure) drops the contents of earlier records
    /// of its subject.
    async fn transact(&self, job: Job) -> Result<Outcome>;

    /// The directory as of the last commit.
    fn directory(&self) -> Arc<Directory>;

    /// Remembers when keys were last used. Not an event: losing a minute of it is no loss.
    async fn touch_keys(&self, used: Vec<(KeyId, Time)>) -> Result<()>;

    /// When a key was last used.
    async fn key_used(&self, id: KeyId) -> Result<Option<Time>>;

    /// Deletes idempotency keys older than [`IDEMPOTENCY_HOURS`] unless their ask is open or ended
    /// since then, rows of the side table that have expired, messages of asks that ended long ago, and
    /// the [delivery log](outbox::LOG_DAYS) of before; how many keys.
    async fn sweep(&self, now: Time) -> Result<u64>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<()>;
}
