//! Messages sent to people about asks.

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::Time;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::on;
use super::failure::Failure;
use super::{Postgres, uuid};
use crate::messages::{MessageQuery, forgotten_before};
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

    async fn find_messages(&self, wanted: MessageQuery) -> Stored<Vec<Message>> {
        Ok(on!(self.database, client => find(client, &wanted))?)
    }
}

async fn find(client: &Client, wanted: &MessageQuery) -> Result<Vec<Message>, Failure> {
    match wanted {
        MessageQuery::Name(name) => {
            let sql = "SELECT state FROM message WHERE name = $1";
            list(client, sql, &[&&name.0[..]]).await
        }
        MessageQuery::Asks(asks) => {
            let sql = "SELECT found.state FROM unnest($1::uuid[]) AS wanted (ask), LATERAL (
                    SELECT state FROM message WHERE message.ask = wanted.ask
                    ORDER BY at DESC, name LIMIT $2) AS found";
            let asks: Vec<Uuid> = asks.iter().map(|ask| uuid(ask.ulid())).collect();
            list(client, sql, &[&asks, &int(MOST_MESSAGES)]).await
        }
        MessageQuery::Posted { medium, posted } => {
            let sql = "SELECT state FROM message WHERE medium = $1 AND posted = $2
                AND posted IS NOT NULL ORDER BY name LIMIT 1";
            list(client, sql, &[medium, posted]).await
        }
        MessageQuery::Thread { medium, thread } => {
            let sql = "SELECT state FROM message WHERE medium = $1 AND thread = $2
                AND thread IS NOT NULL ORDER BY at DESC, name LIMIT 1";
            list(client, sql, &[medium, thread]).await
        }
        MessageQuery::To { to, limit } => {
            let sql =
                "SELECT state FROM message WHERE recipient = $1 ORDER BY at DESC, name LIMIT $2";
            list(client, sql, &[&&to.0[..], &int(*limit)]).await
        }
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

/// Deletes old messages that show that their ask is closed. Returns how many.
pub(super) async fn sweep(client: &Client, now: Time, limit: usize) -> Result<usize, Failure> {
    let sql = "DELETE FROM message WHERE name IN (
            SELECT name FROM message WHERE over AND updated_at <= $1
            ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let statement = client.prepare_cached(sql).await?;
    let gone = client.execute(&statement, &[&forgotten_before(now).millis(), &int(limit)]).await?;
    Ok(usize::try_from(gone).unwrap_or(limit))
}
