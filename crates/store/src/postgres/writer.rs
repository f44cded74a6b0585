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

use super::batch::{Batch, Key};
use super::connect::Database;
use super::failure::Failure;
use super::{Published, load, write};
use crate::job::{self, Ahead};
use crate::{Clock, Job, Outcome, Result};

/// Jobs per transaction. More would delay the first one and gain nothing.
const BATCH: usize = 128;
/// Jobs that may wait. Beyond that, callers wait for room.
const QUEUE: usize = 4_096;
/// Concurrent transactions: one is decided and sent while others are being committed.
const WRITERS: usize = 3;
/// How long a transaction waits for the previous one to be sent while it collects jobs: the larger
/// it is, the less each job costs. Not longer, because the previous one may wait for a lock.
const GATHER: Duration = Duration::from_millis(5);
/// How often a job is tried after a conflict.
const TRIES: u32 = 8;

/// A job with the channel to its caller.
struct Queued {
    job: Job,
    ahead: Option<Ahead>,
    answer: oneshot::Sender<Result<Outcome>>,
    /// The deadline of the job. The caller then receives an error.
    until: Instant,
}

/// The handle to the writers. Dropping it ends them when the queue is empty.
pub(super) struct Writers {
    queue: mpsc::Sender<Queued>,
    patience: Duration,
}

/// Runs the jobs of a batch in one transaction. Its clones share everything.
#[derive(Clone)]
pub(super) struct BatchWriter {
    pub(super) database: Database,
    pub(super) published: Arc<Published>,
    pub(super) clock: Option<Arc<dyn Clock>>,
    /// Notified after every commit.
    pub(super) committed: Arc<Notify>,
    /// Usually held between `BEGIN` and `COMMIT`.
    pub(super) turn: Arc<Semaphore>,
}

/// The progress of a transaction.
struct Stage {
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
    pub(super) async fn run(&self, job: Job, ahead: Option<Ahead>) -> Result<Outcome, Failure> {
        let until = Instant::now() + self.patience;
        let (answer, outcome) = oneshot::channel();
        let queued = Queued { job, ahead, answer, until };
        let done = timeout_at(until, async {
            self.queue.send(queued).await.map_err(|_| Failure::Closed)?;
            outcome.await.map_err(|_| Failure::Closed)
        });
        Ok(done.await.map_err(|_| Failure::Slow)???)
    }
}

async fn work(writer: BatchWriter, waiting: Arc<Mutex<mpsc::Receiver<Queued>>>) {
    loop {
        let mut jobs = Vec::new();
        let mut queue = waiting.lock().await;
        if queue.recv_many(&mut jobs, BATCH).await == 0 {
            return;
        }
        let turn = timeout(GATHER, Arc::clone(&writer.turn).acquire_owned()).await;
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
    async fn finish(&self, mut jobs: Vec<Queued>, turn: Option<OwnedSemaphorePermit>) {
        if jobs.is_empty() {
            return;
        }
        match self.attempt(&mut jobs, turn).await {
            Ok(outcomes) => answer(jobs, outcomes),
            // One of the jobs conflicted with another transaction, or its data cannot be read: run
            // each one separately.
            Err(Failure::Conflict | Failure::Store(_)) => {
                for queued in jobs {
                    self.insist(queued).await;
                }
            }
            Err(failure) => {
                let failure = Arc::new(failure);
                let failed = || Err(Failure::Shared(Arc::clone(&failure)).into());
                let outcomes = jobs.iter().map(|_| failed()).collect();
                answer(jobs, outcomes);
            }
        }
    }

    async fn insist(&self, queued: Queued) {
        let mut one = vec![queued];
        for _ in 0..TRIES {
            match self.attempt(&mut one, None).await {
                Ok(outcomes) => return answer(one, outcomes),
                Err(Failure::Conflict) => {}
                Err(failure) => return answer(one, vec![Err(failure.into())]),
            }
        }
        answer(one, vec![Err(Failure::Conflict.into())]);
    }

    /// One transaction for all jobs. If the connection is lost before the commit was sent, nothing
    /// was done, and this is retried once on another connection.
    async fn attempt(
        &self,
        jobs: &mut [Queued],
        turn: Option<OwnedSemaphorePermit>,
    ) -> Result<Vec<Result<Outcome>>, Failure> {
        let mut stage = Stage { _turn: turn, committing: false };
        let mut spare = true;
        loop {
            let open = Open(Some(self.database.lend().await?));
            let done = self.database.within(self.transact(&open, jobs, &mut stage)).await;
            if let Some(client) = open.close() {
                self.database.take_back(client, done.as_ref().err());
            }
            match done {
                Err(failure) if spare && !stage.committing && failure.is_lost() => spare = false,
                done => return done,
            }
        }
    }

    async fn transact(
        &self,
        open: &Open,
        jobs: &mut [Queued],
        stage: &mut Stage,
    ) -> Result<Vec<Result<Outcome>>, Failure> {
        let Some(client) = &open.0 else { return Err(Failure::Closed) };
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
        jobs: &mut [Queued],
        stage: &mut Stage,
    ) -> Result<Vec<Result<Outcome>>, Failure> {
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
            batch.usable = load::whole_uploads(client, &uses).await?;
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
        *stage = Stage { _turn: None, committing: true };
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
struct Open(Option<Client>);

impl Open {
    fn close(mut self) -> Option<Client> {
        self.0.take()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        drop(self.0.take().map(Client::take));
    }
}

/// Runs one job in its transaction, and loads more data as the job needs it.
async fn decide(
    client: &Client,
    batch: &mut Batch,
    now: Time,
    queued: &mut Queued,
) -> Result<Result<Outcome>, Failure> {
    loop {
        let outcome = job::transact(batch, now, &queued.job, queued.ahead.take());
        let lacking = batch.lacking();
        if lacking.is_empty() {
            return Ok(outcome);
        }
        let found = Box::pin(load::more(client, &lacking)).await?;
        batch.load(lacking, found);
    }
}

fn answer(jobs: Vec<Queued>, outcomes: Vec<Result<Outcome>>) {
    for (queued, outcome) in jobs.into_iter().zip(outcomes) {
        // The caller may be gone.
        let _ = queued.answer.send(outcome);
    }
}

/// The subjects that the jobs name or create, and their idempotency keys.
fn named(jobs: &[Queued]) -> (BTreeSet<Subject>, BTreeSet<Key>) {
    let envelopes = || jobs.iter().map(|queued| &queued.job.envelope);
    let there = envelopes().flat_map(|envelope| job::named(&envelope.command));
    let keys = jobs.iter().filter_map(|queued| queued.job.idempotency.as_ref());
    let keys = keys.map(|key| (key.scope.clone(), key.key.clone()));
    (there.chain(envelopes().flat_map(job::made)).collect(), keys.collect())
}
