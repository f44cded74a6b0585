//! Jobs by the batch: whoever waits while a transaction is committed shares the next one. Several
//! such transactions run at once on a node, and any number of nodes beside it; what two of them want
//! at the same time is settled by the locks of the rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadpool_postgres::{Pool, Transaction};
use futures_util::try_join;
use kernel::audit::Digest;
use kernel::{Ask, AskId, Command, Time};
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::JoinSet;

use super::books::{Batch, Key};
use super::{Failure, Published, Watch, read_ask, ulid, uuid, write};
use crate::job::{self, Ahead, Remembered};
use crate::{Job, Outcome, Result, StoreError};

/// Jobs in one transaction. More makes the first wait longer and gains nothing.
const BATCH: usize = 128;
/// Jobs that may wait. Beyond that, callers wait for room.
const QUEUE: usize = 4_096;
/// Transactions at once: one is decided and sent while another is on its way to the disk.
const WRITERS: usize = 3;
/// How often a job that met another one is tried.
const TRIES: u32 = 8;

/// A job with the way back to whoever wants it done.
struct Queued {
    job: Job,
    ahead: Option<Ahead>,
    answer: oneshot::Sender<Result<Outcome>>,
}

/// The way to the writers. Dropping it ends them when the queue is empty.
pub(super) struct Writers {
    queue: mpsc::Sender<Queued>,
}

/// What a writer works with.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) pool: Pool,
    pub(super) published: Arc<Published>,
    pub(super) watch: Watch,
    /// Rung after every commit.
    pub(super) committed: Arc<Notify>,
}

impl Writers {
    pub(super) fn start(desk: &Desk, tasks: &mut JoinSet<()>) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..WRITERS {
            tasks.spawn(work(desk.clone(), Arc::clone(&waiting)));
        }
        Self { queue }
    }

    pub(super) async fn run(&self, job: Job, ahead: Option<Ahead>) -> Result<Outcome> {
        let (answer, outcome) = oneshot::channel();
        let closed = || StoreError::Unavailable(Failure::Closed.into());
        self.queue.send(Queued { job, ahead, answer }).await.map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }
}

async fn work(desk: Desk, waiting: Arc<Mutex<mpsc::Receiver<Queued>>>) {
    loop {
        let mut jobs = Vec::new();
        if waiting.lock().await.recv_many(&mut jobs, BATCH).await == 0 {
            return;
        }
        // Whoever changes the directory has it to itself, and only for as long as that takes.
        let (alone, together): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|queued| changes_directory(&queued.job.envelope.command));
        desk.finish(together).await;
        for queued in alone {
            desk.finish(vec![queued]).await;
        }
    }
}

fn changes_directory(command: &Command) -> bool {
    !matches!(command, Command::Ask(_)) && command.ask().is_none()
}

impl Desk {
    /// Does the jobs, together if possible, else one by one, and answers.
    async fn finish(&self, mut jobs: Vec<Queued>) {
        if jobs.is_empty() {
            return;
        }
        match self.attempt(&mut jobs).await {
            Ok(outcomes) => answer(jobs, outcomes),
            // Another transaction got in the way of one of them: each for itself, then.
            Err(Failure::Conflict) => {
                for queued in jobs {
                    self.insist(queued).await;
                }
            }
            Err(failure) => {
                let failure = Arc::new(failure);
                for queued in jobs {
                    let told =
                        StoreError::Unavailable(Failure::Shared(Arc::clone(&failure)).into());
                    // Whoever is gone does not want to know.
                    let _ = queued.answer.send(Err(told));
                }
            }
        }
    }

    async fn insist(&self, queued: Queued) {
        let mut one = vec![queued];
        for _ in 0..TRIES {
            match self.attempt(&mut one).await {
                Ok(outcomes) => return answer(one, outcomes),
                Err(Failure::Conflict) => {}
                Err(failure) => return answer(one, vec![Err(failure.into())]),
            }
        }
        answer(one, vec![Err(StoreError::Unavailable(Failure::Conflict.into()))]);
    }

    /// One transaction for all of them.
    async fn attempt(&self, jobs: &mut [Queued]) -> Result<Vec<Result<Outcome>>, Failure> {
        let alone = jobs.iter().any(|queued| changes_directory(&queued.job.envelope.command));
        let mut client = self.pool.get().await?;
        let transaction = client.transaction().await?;
        let (asks, keys) = named(jobs);
        let ((version, clock), found, remembered) = try_join!(
            head(&transaction, alone),
            load(&transaction, &asks),
            recall(&transaction, &keys),
        )?;
        let now = self.watch.now(clock);
        let directory = self.published.at(&transaction, version).await?;
        let mut batch = Batch::new(directory);
        batch.load(asks, found);
        batch.remember(remembered);
        let mut outcomes = Vec::with_capacity(jobs.len());
        for queued in jobs {
            outcomes.push(decide(&transaction, &mut batch, now, queued).await?);
        }
        let (directory, out) = batch.into_parts();
        if !out.is_empty() {
            write::write(&transaction, &out, now).await?;
        }
        transaction.commit().await?;
        if !out.entities.is_empty() {
            self.published.publish(version + 1, directory);
        }
        if !out.records.is_empty() {
            self.committed.notify_one();
        }
        Ok(outcomes)
    }
}

/// One job on the books of its transaction, which are completed as it turns out to need more.
async fn decide(
    transaction: &Transaction<'_>,
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
        let found = load(transaction, &lacking).await?;
        batch.load(lacking, found);
    }
}

fn answer(jobs: Vec<Queued>, outcomes: Vec<Result<Outcome>>) {
    for (queued, outcome) in jobs.into_iter().zip(outcomes) {
        // Whoever is gone does not want to know.
        let _ = queued.answer.send(outcome);
    }
}

/// The asks and idempotency keys the jobs name.
fn named(jobs: &[Queued]) -> (BTreeSet<AskId>, Vec<Key>) {
    let asks = jobs.iter().filter_map(|queued| match &queued.job.envelope.command {
        Command::Ask(_) => Some(AskId::new(queued.job.envelope.fresh)),
        other => other.ask(),
    });
    let keys = jobs.iter().filter_map(|queued| queued.job.idempotency.as_ref());
    let keys: BTreeSet<Key> = keys.map(|key| (key.scope.clone(), key.key.clone())).collect();
    (asks.collect(), keys.into_iter().collect())
}

/// The version of the directory and the time of the database.
async fn head(transaction: &Transaction<'_>, alone: bool) -> Result<(u64, Time), Failure> {
    let sql = if alone {
        "SELECT version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
         FROM directory FOR UPDATE"
    } else {
        "SELECT version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM directory"
    };
    let statement = transaction.prepare_cached(sql).await?;
    let row = transaction.query_one(&statement, &[]).await?;
    let (version, millis): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok((version.unsigned_abs(), Time::from_millis(millis)))
}

/// Asks, locked in the order of their ids, so that two transactions never wait for each other.
async fn load(transaction: &Transaction<'_>, ids: &BTreeSet<AskId>) -> Result<Vec<Ask>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT id, state FROM ask WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
    let statement = transaction.prepare_cached(sql).await?;
    let ids: Vec<uuid::Uuid> = ids.iter().map(|id| uuid(id.ulid())).collect();
    let rows = transaction.query(&statement, &[&ids]).await?;
    rows.iter().map(|row| read_ask(row).map_err(Failure::from)).collect()
}

async fn recall(
    transaction: &Transaction<'_>,
    keys: &[Key],
) -> Result<Vec<(Key, Option<Remembered>)>, Failure> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT scope, key, fingerprint, ask, at FROM idempotency
        WHERE (scope, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))";
    let statement = transaction.prepare_cached(sql).await?;
    let (scopes, names): (Vec<&str>, Vec<&str>) =
        keys.iter().map(|(scope, key)| (scope.as_str(), key.as_str())).unzip();
    let rows = transaction.query(&statement, &[&scopes, &names]).await?;
    rows.iter()
        .map(|row| {
            let fingerprint: &[u8] = row.try_get(2)?;
            let ask: Option<uuid::Uuid> = row.try_get(3)?;
            let remembered = Remembered {
                fingerprint: fingerprint
                    .try_into()
                    .map_or_else(|_| Digest::of(fingerprint), Digest),
                ask: ask.map(|id| AskId::new(ulid(id))),
                at: Time::from_millis(row.try_get(4)?),
            };
            Ok(((row.try_get(0)?, row.try_get(1)?), Some(remembered)))
        })
        .collect()
}
