//! A store whose followers' methods a test replaces. Everything else goes to the real store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::{Digest, RecordRow};
use kernel::directory::Directory;
use kernel::insight::Day;
use kernel::insight::summary::StoredCount;
use kernel::task::{Artifact, Contract, Entry, LedgerScope as Ledger, StoredContent, TaskState};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, EntryId, HumanId, KeyId, ProjectId, ReviewId, Task, TaskId,
    Time, UploadId, WebhookId,
};
use store::Work;
use store::work_queue::{self, DeliveryLogEntry, DeliveryLogQuery};
use store::{
    AnnouncedChange, AskListPage, AskListQuery, AskStore, AuditFeed, Backlog, BlockQuery,
    ChainPage, Change, Charge, ClaimedWork, Count, CountedRecords, CountsQuery, DeliveryLog,
    Durability, ExpiringQuery, FeedQuery, FileHolderStore, FollowerAdvance, FollowerStore,
    InsightStore, Inspection, Job, JobOutcome, KeyUseStore, Message, MessageQuery, MessageStore,
    ReceiptSignature, ReceiptSignatures, Result, SealedBlock, SearchIndex, SearchQuery, Settlement,
    SideCondition, SideKind, SideRow, SideSelection, SideStore, Store, StoreHealth, TaskListQuery,
    TaskPage, TaskStore, Upload, UploadPart, UploadStore, UsageStore, WorkQueue,
};
use tokio::sync::broadcast;
use ulid::Ulid;

/// A store that asks `followers` wherever a follower reads or moves.
pub(crate) struct ReplacedFollowers {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) followers: Arc<dyn FollowerStore>,
}

#[async_trait]
impl FollowerStore for ReplacedFollowers {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        self.followers.follower(name).await
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<RecordRow>> {
        self.followers.events_after(position, limit).await
    }

    async fn advance(&self, step: FollowerAdvance) -> Result<bool> {
        self.followers.advance(step).await
    }

    async fn acquire_lead(
        &self,
        name: &'static str,
        node: Ulid,
        now: Time,
        lease: Duration,
    ) -> Result<bool> {
        self.followers.acquire_lead(name, node, now, lease).await
    }
}

macro_rules! delegate {
    ($group:ident: $($method:tt)*) => {
        delegate_methods! { $group [] $($method)* }
    };
}

/// Collects methods, then writes the whole implementation at once, because `async_trait` must see
/// it.
macro_rules! delegate_methods {
    ($group:ident [$($done:tt)*]) => {
        #[async_trait]
        impl $group for ReplacedFollowers { $($done)* }
    };
    ($group:ident [$($done:tt)*]
     async fn $name:ident(&self $(, $arg:ident: $kind:ty)*) -> $result:ty; $($rest:tt)*) => {
        delegate_methods! { $group [$($done)*
            async fn $name(&self $(, $arg: $kind)*) -> $result {
                self.store.$name($($arg),*).await
            }
        ] $($rest)* }
    };
    ($group:ident [$($done:tt)*]
     fn $name:ident(&self $(, $arg:ident: $kind:ty)*) -> $result:ty; $($rest:tt)*) => {
        delegate_methods! { $group [$($done)*
            fn $name(&self $(, $arg: $kind)*) -> $result {
                self.store.$name($($arg),*)
            }
        ] $($rest)* }
    };
}

delegate! { AskStore:
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>>;
    async fn ask_ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>>;
    async fn ask_by_idempotency_key(&self, scope: String, key: String, now: Time) -> Result<Option<AskId>>;
    async fn list(&self, list: AskListQuery) -> Result<AskListPage>;
    async fn count(&self, list: AskListQuery) -> Result<Count>;
    async fn expiring(&self, wanted: ExpiringQuery) -> Result<Vec<Ask>>;
    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>>;
    async fn next_due(&self) -> Result<Option<Time>>;
    async fn claim_ended(&self, project: ProjectId, since: Time, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>>;
    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()>;
    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>>;
}

delegate! { AuditFeed:
    async fn changes(&self, of: FeedQuery, limit: usize) -> Result<Vec<Change>>;
    fn feed(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>>;
    async fn last_position(&self) -> Result<u64>;
    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>>;
    async fn rows(&self, of: FeedQuery, limit: usize) -> Result<Vec<RecordRow>>;
    async fn chains(&self, after: Option<String>, limit: usize) -> Result<ChainPage>;
    async fn append_block(&self, sealed: SealedBlock) -> Result<bool>;
    async fn block(&self, which: BlockQuery) -> Result<Option<SealedBlock>>;
    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>>;
}

delegate! { FileHolderStore:
    async fn record_file(&self, holder: Ulid, digest: Digest) -> Result<()>;
    async fn own_files(&self, holder: Ulid) -> Result<Vec<Digest>>;
    async fn file_holders(&self, digest: Digest) -> Result<Vec<Ulid>>;
    async fn forget_files(&self, holder: Ulid, only: Option<Digest>) -> Result<()>;
}

delegate! { StoreHealth:
    async fn probe_write(&self) -> Result<()>;
    async fn durability(&self) -> Result<Option<Durability>>;
    async fn inspect(&self) -> Result<Inspection>;
}

delegate! { InsightStore:
    async fn count_next(&self, limit: usize) -> Result<CountedRecords>;
    async fn counts(&self, wanted: CountsQuery) -> Result<Vec<StoredCount>>;
    async fn forget_counts(&self, before: Day, limit: usize) -> Result<u64>;
}

delegate! { MessageStore:
    async fn put_message(&self, message: Message) -> Result<()>;
    async fn messages_by(&self, wanted: MessageQuery) -> Result<Vec<Message>>;
}

delegate! { WorkQueue:
    async fn claim(&self, lane: &str, now: Time, lease: Duration, limit: usize) -> Result<Vec<ClaimedWork>>;
    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>>;
    async fn settle(&self, settled: Vec<(u64, Settlement)>, log: Vec<work_queue::DeliveryLogUpdate>) -> Result<()>;
    async fn make_due(&self, work: Work, now: Time) -> Result<()>;
    async fn backlog(&self) -> Result<Backlog>;
}

delegate! { DeliveryLog:
    async fn delivery_log(&self, wanted: DeliveryLogQuery) -> Result<Vec<DeliveryLogEntry>>;
    async fn redeliver(&self, webhook: WebhookId, id: &str, now: Time) -> Result<Option<DeliveryLogEntry>>;
    async fn clear_delivery_log(&self, webhook: WebhookId, limit: usize) -> Result<usize>;
}

delegate! { KeyUseStore:
    async fn touch_keys(&self, used: Vec<(KeyId, Time)>) -> Result<()>;
    async fn key_used(&self, id: KeyId) -> Result<Option<Time>>;
}

delegate! { ReceiptSignatures:
    async fn store_receipt_signatures(&self, new: Vec<ReceiptSignature>) -> Result<Vec<AskId>>;
    async fn receipt_signature(&self, ask: AskId, claims: Digest) -> Result<Option<(String, Vec<u8>)>>;
}

delegate! { SearchIndex:
    async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>>;
    async fn index(&self, limit: usize) -> Result<usize>;
}

delegate! { SideStore:
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool>;
    async fn side(&self, kind: SideKind, rows: SideSelection) -> Result<Vec<SideRow>>;
    async fn delete_side(&self, rows: Vec<(SideKind, SideSelection)>) -> Result<Vec<u64>>;
}

delegate! { TaskStore:
    async fn task(&self, id: TaskId) -> Result<Option<Task>>;
    async fn tasks(&self, list: TaskListQuery) -> Result<TaskPage>;
    async fn projects_with_tasks(&self, agent: AgentId) -> Result<Vec<ProjectId>>;
    async fn task_counts(&self, list: TaskListQuery) -> Result<Vec<(TaskState, Count)>>;
    async fn ended_tasks(&self, project: ProjectId, since: Time, limit: usize) -> Result<Vec<TaskId>>;
    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>>;
    async fn entry(&self, id: EntryId) -> Result<Option<Entry>>;
    async fn entries(&self, scope: Ledger, after: Option<String>, limit: usize) -> Result<Vec<Entry>>;
    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<Ledger>>;
    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>>;
    async fn contracts(&self, agent: AgentId, n: u64, limit: usize) -> Result<Vec<(u64, Contract)>>;
    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64>;
    async fn acked(&self, agent: AgentId) -> Result<u64>;
    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64>;
}

delegate! { UploadStore:
    async fn begin_upload(&self, upload: Upload) -> Result<bool>;
    async fn upload(&self, id: UploadId) -> Result<Option<Upload>>;
    async fn pieces(&self, id: UploadId) -> Result<Vec<UploadPart>>;
    async fn append_piece(&self, id: UploadId, offset: u64, piece: UploadPart, at: Time) -> Result<bool>;
    async fn finish_upload(&self, id: UploadId, whole: StoredContent, at: Time) -> Result<bool>;
    async fn abandon_upload(&self, id: UploadId) -> Result<bool>;
    async fn abandoned_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>>;
    async fn forget_upload(&self, id: UploadId) -> Result<()>;
}

delegate! { UsageStore:
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>>;
    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>>;
    async fn release(&self, holder: Ulid) -> Result<()>;
}

delegate! { Store:
    async fn transact(&self, job: Job) -> Result<JobOutcome>;
    fn directory(&self) -> Arc<Directory>;
    async fn sweep(&self, now: Time) -> Result<u64>;
    async fn ping(&self) -> Result<()>;
}
