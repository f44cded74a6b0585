//! What went out to people about asks.

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::audit::Digest;
use kernel::{AskId, Time};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::on;
use super::failure::Failure;
use super::{Postgres, uuid};
use crate::messages::{forgotten_before, oldest_first};
use crate::rows::{int, read_state, state};
use crate::{MOST_MESSAGES, Message, Messages, Result as Stored};

#[async_trait]
impl Messages for Postgres {
    async fn put_message(&self, message: Message) -> Stored<()> {
        let sql = "INSERT INTO message
                (name, ask, medium, recipient, at, posted, thread, over, updated_at, state)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (name) DO UPDATE SET posted = excluded.posted, thread = excluded.thread,
                over = excluded.over, updated_at = excluded.updated_at, state = excluded.state";
        let state = state("message", &message)?;
        let Message { name, ask, medium, to, at, posted, thread, over, updated_at, .. } = message;
        let (name, to, ask) = (&name.0[..], &to.0[..], uuid(ask.ulid()));
        let (at, updated_at) = (at.millis(), updated_at.millis());
        let row: [&(dyn ToSql + Sync); 10] =
            [&name, &ask, &medium, &to, &at, &posted, &thread, &over, &updated_at, &state];
        self.execute(sql, &row).await.map(drop)
    }

    async fn message(&self, name: Digest) -> Stored<Option<Message>> {
        let sql = "SELECT state FROM message WHERE name = $1";
        let name = &name.0[..];
        let found = on!(self.database, client => list(client, sql, &[&name]))?;
        Ok(found.into_iter().next())
    }

    async fn messages(&self, asks: Vec<AskId>) -> Stored<Vec<Message>> {
        let sql = "SELECT found.state FROM unnest($1::uuid[]) AS wanted (ask), LATERAL (
                SELECT state FROM message WHERE message.ask = wanted.ask
                ORDER BY at DESC, name LIMIT $2) AS found";
        let asks: Vec<Uuid> = asks.into_iter().map(|ask| uuid(ask.ulid())).collect();
        let limit = int(MOST_MESSAGES);
        let found = on!(self.database, client => list(client, sql, &[&asks, &limit]))?;
        Ok(oldest_first(found))
    }

    async fn posted(&self, medium: &str, posted: &str) -> Stored<Option<Message>> {
        let sql = "SELECT state FROM message WHERE medium = $1 AND posted = $2
            AND posted IS NOT NULL ORDER BY name LIMIT 1";
        let in_thread = "SELECT state FROM message WHERE medium = $1 AND thread = $2
            AND thread IS NOT NULL ORDER BY at DESC, name LIMIT 1";
        for sql in [sql, in_thread] {
            let found = on!(self.database, client => list(client, sql, &[&medium, &posted]))?;
            if let Some(found) = found.into_iter().next() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    async fn messages_to(&self, to: Digest, limit: usize) -> Stored<Vec<Message>> {
        let sql = "SELECT state FROM message WHERE recipient = $1 ORDER BY at DESC, name LIMIT $2";
        let (to, limit) = (&to.0[..], int(limit));
        Ok(on!(self.database, client => list(client, sql, &[&to, &limit]))?)
    }
}

async fn list(
    client: &Client,
    sql: &str,
    bound: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Message>, Failure> {
    let select = client.prepare_cached(sql).await?;
    let rows = client.query(&select, bound).await?;
    rows.iter().map(|row| Ok(read_state("message", row.try_get(0)?)?)).collect()
}

/// Forgets what says that its ask is over, a while afterwards; how many.
pub(super) async fn sweep(client: &Client, now: Time, limit: usize) -> Result<usize, Failure> {
    let sql = "DELETE FROM message WHERE name IN (
            SELECT name FROM message WHERE over AND updated_at <= $1
            ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let statement = client.prepare_cached(sql).await?;
    let gone = client.execute(&statement, &[&forgotten_before(now).millis(), &int(limit)]).await?;
    Ok(usize::try_from(gone).unwrap_or(limit))
}
