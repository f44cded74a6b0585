//! The order of everything, and who is told of it.
//!
//! A transaction leaves its events in `pending`; after its commit they get their positions in `feed`,
//! by one session at a time. So positions have no gap, nobody who follows them passes a late commit
//! over, and no transaction waits for another to get them. Whoever numbers tells the others with one
//! `NOTIFY`, apart from the transactions that write: inside one it would be a lock on the database.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use kernel::{AskId, Subject};
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;
use uuid::Uuid;

use super::connect::{Address, Link};
use super::{Failure, Published, read_ask, record, uuid};
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

/// Gives everything that is committed its position; how many there were.
pub(super) async fn number(client: &mut Client) -> Result<u64, Failure> {
    let mut numbered = 0;
    loop {
        let statement = client.prepare_cached("SELECT EXISTS (SELECT FROM pending)").await?;
        if !client.query_one(&statement, &[]).await?.try_get::<_, bool>(0)? {
            return Ok(numbered);
        }
        let transaction = client.transaction().await?;
        let lock = transaction.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
        transaction.query(&lock, &[&LOCK]).await?;
        let sql = "WITH taken AS (
                DELETE FROM pending
                WHERE n IN (SELECT n FROM pending ORDER BY n LIMIT $1)
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
}

/// Tells this node's listeners what any node committed.
pub(super) struct Announcer {
    pub(super) pool: Pool,
    pub(super) published: Arc<Published>,
    /// Rung when this node committed something or another told of something.
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
                tracing::warn!(%error, "the feed cannot be read; trying again");
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    async fn tell(&mut self) -> Result<(), Failure> {
        let mut client = self.pool.get().await?;
        if number(&mut client).await? > 0 {
            let statement = client.prepare_cached("SELECT pg_notify($1, '')").await?;
            client.query(&statement, &[&CHANNEL]).await?;
        }
        loop {
            let changes = record::changes(&client, self.told, PAGE).await?;
            let Some(last) = changes.last() else { return Ok(()) };
            self.told = last.position;
            if changes.iter().any(|change| !matches!(change.subject, Subject::Ask(_))) {
                self.published.refresh(&client).await?;
            }
            let news = listed(&client, changes).await?;
            // Without anybody listening there is nobody to tell.
            let _ = self.published.feed.send(news.into());
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
        let ask = read_ask(&row)?;
        lists.insert(ask.id, Scope::of(&ask).into());
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

/// Rings whenever another node tells of something, over a connection of its own.
pub(super) async fn listen(address: Address, news: Arc<Notify>) {
    loop {
        match address.link().await {
            Ok(link) => hear(link, &news).await,
            Err(error) => tracing::warn!(%error, "cannot listen to the other nodes"),
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn hear(Link { client, mut messages }: Link, news: &Notify) {
    let listen = async {
        if let Err(error) = client.batch_execute(&format!("LISTEN {CHANNEL}")).await {
            tracing::warn!(%error, "cannot listen to the other nodes");
        }
        // What was told before this is found by looking.
        news.notify_one();
        std::future::pending::<()>().await;
    };
    let hear = async {
        while let Some(Ok(message)) = messages.recv().await {
            if let AsyncMessage::Notification(_) = message {
                news.notify_one();
            }
        }
    };
    tokio::select! { () = listen => {}, () = hear => {} }
}
