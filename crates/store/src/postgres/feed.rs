//! The order of everything, and who is told of it.
//!
//! A transaction leaves its events in `pending`; after its commit they get their positions in `feed`,
//! by one session at a time. So positions have no gap, nobody who follows them passes a late commit
//! over, and no transaction waits for another to get them. Whoever numbers tells the others with one
//! `NOTIFY`, apart from the transactions that write: inside one it would be a lock on the database.

use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Client;
use kernel::{AskId, Subject};
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;
use uuid::Uuid;

use super::connect::{Database, Link, on};
use super::failure::Failure;
use super::query::read_ask;
use super::{Published, record, uuid};
use crate::listing::Scope;
use crate::{Change, News, Result};

/// The channel nodes tell each other on.
const CHANNEL: &str = "countersign";
/// Held while positions are given out.
const LOCK: i64 = 0x636f_756e_7465_7273;
/// Events that get their positions in one go.
const NUMBERED: i64 = 2_000;
/// Changes read at once.
const PAGE: usize = 500;
/// How long a node goes without looking, should nobody tell it anything.
const LOOK: Duration = Duration::from_secs(1);

/// Gives everything that is committed its position.
pub(super) async fn number(client: &mut Client) -> Result<(), Failure> {
    let mut numbered = 0;
    loop {
        let sql = "SELECT EXISTS (SELECT FROM pending ORDER BY n LIMIT 1)";
        let statement = client.prepare_cached(sql).await?;
        if !client.query_one(&statement, &[]).await?.try_get::<_, bool>(0)? {
            break;
        }
        let transaction = client.transaction().await?;
        let lock = transaction.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
        transaction.query(&lock, &[&LOCK]).await?;
        // A statement of its own: it sees what whoever held the lock before has done.
        let sql = "WITH taken AS (
                DELETE FROM pending
                WHERE n = ANY (ARRAY (SELECT n FROM pending ORDER BY n LIMIT $1))
                RETURNING n, subject, seq, agent
            ), last AS (
                SELECT coalesce(max(position), 0) AS position FROM feed
            )
            INSERT INTO feed (position, subject, seq, agent)
            SELECT last.position + row_number() OVER (ORDER BY n), subject, seq, agent
            FROM taken, last";
        let statement = transaction.prepare_cached(sql).await?;
        numbered += transaction.execute(&statement, &[&NUMBERED]).await?;
        transaction.commit().await?;
    }
    if numbered > 0 {
        // Of this node's too. Should it get lost with the connection, they look every second.
        let statement = client.prepare_cached("SELECT pg_notify($1, '')").await?;
        client.query(&statement, &[&CHANNEL]).await?;
    }
    Ok(())
}

/// Tells this node's listeners what any node committed.
pub(super) struct Announcer {
    pub(super) database: Database,
    pub(super) published: Arc<Published>,
    /// Rung when this node committed something or any node numbered something.
    pub(super) news: Arc<Notify>,
    /// The last position that was told.
    pub(super) told: u64,
}

impl Announcer {
    pub(super) async fn run(mut self) {
        loop {
            // Nobody rings: the line may be down. The safety net looks anyway.
            let _ = tokio::time::timeout(LOOK, self.news.notified()).await;
            if let Err(error) = self.tell().await {
                warn(&error, "the feed cannot be read; trying again");
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    async fn tell(&mut self) -> Result<(), Failure> {
        loop {
            let (position, news) = on!(self.database, client => async {
                self.published.clock.look(client).await?;
                number(client).await?;
                let (position, changes) = record::news(&*client, self.told, PAGE).await?;
                if changes.iter().any(|change| !matches!(change.subject, Subject::Ask(_))) {
                    self.published.refresh(&*client).await?;
                }
                Ok((position, listed(client, changes).await?))
            })?;
            let Some(position) = position else { return Ok(()) };
            self.told = position;
            self.published.audience.tell(news);
        }
    }
}

/// Changes with the lists their asks stand in.
async fn listed(client: &Client, changes: Vec<Change>) -> Result<Vec<News>, Failure> {
    let asks: BTreeSet<AskId> = (changes.iter())
        .filter_map(|change| match change.subject {
            Subject::Ask(id) => Some(id),
            _ => None,
        })
        .collect();
    let ids: Vec<Uuid> = asks.iter().map(|id| uuid(id.ulid())).collect();
    let sql = "SELECT id, state FROM ask WHERE id = ANY ($1)";
    let statement = client.prepare_cached(sql).await?;
    let mut lists: HashMap<AskId, Arc<[Scope]>> = HashMap::new();
    for row in client.query(&statement, &[&ids]).await? {
        match read_ask(&row) {
            Ok(ask) => {
                lists.insert(ask.id, Scope::of(&ask).into());
            }
            // Whoever waits for it by name still hears, and so does everybody behind it.
            Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "in the feed"),
        }
    }
    let with_lists = |change: Change| {
        let found = match change.subject {
            Subject::Ask(id) => lists.get(&id).cloned(),
            _ => None,
        };
        News { change, lists: found.unwrap_or_default() }
    };
    Ok(changes.into_iter().map(with_lists).collect())
}

/// Rings whenever a node tells of something, over a connection of its own.
pub(super) async fn listen(database: Database, news: Arc<Notify>) {
    loop {
        let ended = match database.link().await {
            Ok(link) => hear(link, &news).await,
            Err(failure) => failure,
        };
        warn(&ended, "cannot listen to the other nodes; trying again");
        tokio::time::sleep(LOOK).await;
    }
}

/// Until the connection ends; why.
async fn hear((client, mut connection): Link, news: &Notify) -> Failure {
    let listen = format!("LISTEN {CHANNEL}");
    let mut listening = pin!(client.batch_execute(&listen));
    let mut began = false;
    loop {
        tokio::select! {
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => news.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return error.into(),
                None => return Failure::Closed,
            },
            done = &mut listening, if !began => match done {
                Ok(()) => {
                    began = true;
                    // What was told before this is found by looking.
                    news.notify_one();
                }
                Err(error) => return error.into(),
            },
        }
    }
}

fn warn(error: &Failure, what: &'static str) {
    tracing::warn!(error = error as &dyn std::error::Error, "{what}");
}
