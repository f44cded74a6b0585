//! Jobs in batches: jobs that wait during a commit share the next transaction. Several such
//! transactions run at once on a node, and on any number of nodes. Row locks resolve
//! conflicts between them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Client;
use kernel::{AskCommand, Command, Subject, Time, UploadId};
use tokio::sync::{Mutex, Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::batch::{Batch, ScopedKey};
use super::connect::PostgresPool;
use super::failure::PostgresFailure;
use super::{Published, load, write};
use crate::job::{self, EarlyDecision};
use crate::{Clock, Job, JobOutcome, Result};

/// Jobs per transaction. More would delay the first one and gain nothing.
const BATCH: usize = 128;
/// Jobs that may wait. Beyond that, callers wait for room.
const QUEUE: usize = 4_096;
/// Concurrent transactions: one is decided and sent while others are being committed.
const WRITERS: usize = 3;
/// How long a transaction waits for the previous one to be sent while it collects jobs: the larger
/// it is, the less each job costs. Not longer, because the previous one may wait for a lock.
const MAX_BATCH_WAIT: Duration = Duration::from_millis(5);
/// How often a job is tried after a conflict.
const TRIES: u32 = 8;

/// A job with the channel to its caller.
struct QueuedJob {
    job: Job,
    ahead: Option<EarlyDecision>,
    answer: oneshot::Sender<Result<JobOutcome>>,
    /// The deadline of the job. The caller then receives an error.
    until: Instant,
}

/// The handle to the writers. Dropping it ends them when the queue is empty.
pub(super) struct Writers {
    queue: mpsc::Sender<QueuedJob>,
    patience: Duration,
}

/// Runs the jobs of a batch in one transaction. Its clones share everything.
#[derive(Clone)]
pub(super) struct BatchWriter {
    pub(super) database: PostgresPool,
    pub(super) published: Arc<Published>,
    pub(super) clock: Option<Arc<dyn Clock>>,
    /// Notified after every commit.
    pub(super) committed: Arc<Notify>,
    /// Usually held between `BEGIN` and `COMMIT`.
    pub(super) turn: Arc<Semaphore>,
}

/// The progress of a transaction.
struct TransactionProgress {
    /// The permit, held until the transaction is sent.
    _turn: Option<OwnedSemaphorePermit>,
    committing: bool,
}

impl Writers {
    pub(super) fn start(writer: &BatchWriter, tasks: &mut JoinSet<()>) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..WRITERS {
            tasks.spawn(work(writer.clone(), Arc::clone(&waiting)));
        }
        Self { queue, patience: writer.database.call * 2 }
    }

    /// Runs a job, or fails after the time limit. A job that has not begun by then is not
    /// run any more.
    pub(super) async fn run(
        &self,
        job: Job,
        ahead: Option<EarlyDecision>,
    ) -> Result<JobOutcome, PostgresFailure> {
        let until = Instant::now() + self.patience;
        let (answer, outcome) = oneshot::channel();
        let queued = QueuedJob { job, ahead, answer, until };
        let done = timeout_at(until, async {
            self.queue.send(queued).await.map_err(|_| PostgresFailure::Closed)?;
            outcome.await.map_err(|_| PostgresFailure::Closed)
        });
        Ok(done.await.map_err(|_| PostgresFailure::Slow)???)
    }
}

async fn work(writer: BatchWriter, waiting: Arc<Mutex<mpsc::Receiver<QueuedJob>>>) {
    loop {
        let mut jobs = Vec::new();
        let mut queue = waiting.lock().await;
        if queue.recv_many(&mut jobs, BATCH).await == 0 {
            return;
        }
        let turn = timeout(MAX_BATCH_WAIT, Arc::clone(&writer.turn).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok);
        while jobs.len() < BATCH
            && let Ok(queued) = queue.try_recv()
        {
            jobs.push(queued);
        }
        drop(queue);
        let now = Instant::now();
        jobs.retain(|queued| queued.until > now);
        // A job that changes the directory runs alone, and only for as long as that takes.
        let (alone, together): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|queued| changes_directory(&queued.job.envelope.command));
        writer.finish(together, turn).await;
        for queued in alone {
            writer.finish(vec![queued], None).await;
        }
    }
}

fn changes_directory(command: &Command) -> bool {
    match command {
        // Such an answer also records the use of the passkey, so that no other node
        // accepts it again.
        Command::Directory(_) | Command::Ask(AskCommand::AnswerWithPasskey(..)) => true,
        Command::Ask(_) | Command::Task(_) => false,
    }
}

impl BatchWriter {
    /// Runs the jobs, together if possible, else one by one, and answers.
    async fn finish(&self, mut jobs: Vec<QueuedJob>, turn: Option<OwnedSemaphorePermit>) {
        if jobs.is_empty() {
            return;
        }
        match self.attempt(&mut jobs, turn).await {
            Ok(outcomes) => answer(jobs, outcomes),
            // One of the jobs conflicted with another transaction, or its data cannot be read: run
            // each one separately.
            Err(PostgresFailure::Conflict | PostgresFailure::Store(_)) => {
                for queued in jobs {
                    self.retry_alone(queued).await;
                }
            }
            Err(failure) => {
                let failure = Arc::new(failure);
                let failed = || Err(PostgresFailure::Shared(Arc::clone(&failure)).into());
                let outcomes = jobs.iter().map(|_| failed()).collect();
                answer(jobs, outcomes);
            }
        }
    }

    async fn retry_alone(&self, queued: QueuedJob) {
        let mut one = vec![queued];
        for _ in 0..TRIES {
            match self.attempt(&mut one, None).await {
                Ok(outcomes) => return answer(one, outcomes),
                Err(PostgresFailure::Conflict) => {}
                Err(failure) => return answer(one, vec![Err(failure.into())]),
            }
        }
        answer(one, vec![Err(PostgresFailure::Conflict.into())]);
    }

    /// One transaction for all jobs. If the connection is lost before the commit was sent, nothing
    /// was done, and this is retried once on another connection.
    async fn attempt(
        &self,
        jobs: &mut [QueuedJob],
        turn: Option<OwnedSemaphorePermit>,
    ) -> Result<Vec<Result<JobOutcome>>, PostgresFailure> {
        let mut stage = TransactionProgress { _turn: turn, committing: false };
        let mut spare = true;
        loop {
            let open = OpenTransaction(Some(self.database.checkout().await?));
            let done = self.database.within(self.transact(&open, jobs, &mut stage)).await;
            if let Some(client) = open.close() {
                self.database.check_in(client, done.as_ref().err());
            }
            match done {
                Err(failure) if spare && !stage.committing && failure.is_lost() => spare = false,
                done => return done,
            }
        }
    }

    async fn transact(
        &self,
        open: &OpenTransaction,
        jobs: &mut [QueuedJob],
        stage: &mut TransactionProgress,
    ) -> Result<Vec<Result<JobOutcome>>, PostgresFailure> {
        let Some(client) = &open.0 else { return Err(PostgresFailure::Closed) };
        let done = self.work(client, jobs, stage).await;
        if !stage.committing {
            client.batch_execute("ROLLBACK").await?;
        }
        done
    }

    /// From `BEGIN` to `COMMIT`, which is skipped if nothing changed.
    async fn work(
        &self,
        client: &Client,
        jobs: &mut [QueuedJob],
        stage: &mut TransactionProgress,
    ) -> Result<Vec<Result<JobOutcome>>, PostgresFailure> {
        let alone = jobs.iter().any(|queued| changes_directory(&queued.job.envelope.command));
        let (subjects, keys) = named(jobs);
        let loaded = Box::pin(load::begin(client, alone, &subjects, &keys)).await?;
        self.published.clock.set(loaded.now);
        let now = self.clock.as_ref().map_or(loaded.now, |clock| clock.now());
        let directory = self.published.at(client, loaded.version).await?;
        let mut batch = Batch::new(directory);
        batch.load(subjects, loaded.found);
        batch.remember(loaded.remembered);
        let uses: Vec<UploadId> = jobs.iter().filter_map(|queued| queued.job.uses).collect();
        if !uses.is_empty() {
            batch.usable = load::usable_uploads(client, &uses).await?;
        }
        let mut outcomes = Vec::with_capacity(jobs.len());
        for queued in jobs {
            outcomes.push(decide(client, &mut batch, now, queued).await?);
        }
        let (directory, out) = batch.into_parts();
        if out.is_empty() {
            return Ok(outcomes);
        }
        write::write(client, &out, now).await?;
        let events = out.records.iter().map(|(record, _)| (record.subject.clone(), record.seq));
        let uncommitted = self.published.subscribers.begin(events.zip(out.follow_ups));
        *stage = TransactionProgress { _turn: None, committing: true };
        client.batch_execute("COMMIT").await?;
        uncommitted.committed();
        if !out.entities.is_empty() {
            self.published.publish(loaded.version + 1, directory);
        }
        self.committed.notify_one();
        Ok(outcomes)
    }
}

/// A connection with an open transaction. If it is dropped before it is closed, the connection is
/// closed too, so that no one else gets it in the middle of a transaction.
struct OpenTransaction(Option<Client>);

impl OpenTransaction {
    fn close(mut self) -> Option<Client> {
        self.0.take()
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        drop(self.0.take().map(Client::take));
    }
}

/// Runs one job in its transaction, and loads more data as the job needs it.
async fn decide(
    client: &Client,
    batch: &mut Batch,
    now: Time,
    queued: &mut QueuedJob,
) -> Result<Result<JobOutcome>, PostgresFailure> {
    loop {
        let outcome = job::transact(batch, now, &queued.job, queued.ahead.take());
        let lacking = batch.take_missing();
        if lacking.is_empty() {
            return Ok(outcome);
        }
        let found = Box::pin(load::load_more(client, &lacking)).await?;
        batch.load(lacking, found);
    }
}

fn answer(jobs: Vec<QueuedJob>, outcomes: Vec<Result<JobOutcome>>) {
    for (queued, outcome) in jobs.into_iter().zip(outcomes) {
        // The caller may be gone.
        let _ = queued.answer.send(outcome);
    }
}

/// The subjects that the jobs name or create, and their idempotency keys.
fn named(jobs: &[QueuedJob]) -> (BTreeSet<Subject>, BTreeSet<ScopedKey>) {
    let envelopes = || jobs.iter().map(|queued| &queued.job.envelope);
    let there = envelopes().flat_map(|envelope| job::named_subjects(&envelope.command));
    let keys = jobs.iter().filter_map(|queued| queued.job.idempotency.as_ref());
    let keys = keys.map(|key| (key.scope.clone(), key.key.clone()));
    (there.chain(envelopes().flat_map(job::created_subjects)).collect(), keys.collect())
}
