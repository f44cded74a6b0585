//! Messages sent to people about asks.

use async_trait::async_trait;
use kernel::Time;
use rusqlite::{Connection, Params, params};

use super::{Sqlite, failed};
use crate::messages::{MessageQuery, forgotten_before};
use crate::rows::{int, read_state, state};
use crate::{MOST_MESSAGES, Message, Messages, Result};

const PUT: &str = "INSERT INTO message
        (name, ask, medium, recipient, at, posted, thread, over, updated_at, state)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (name) DO UPDATE
        SET posted = ?6, thread = ?7, over = ?8, updated_at = ?9, state = ?10";

#[async_trait]
impl Messages for Sqlite {
    async fn put_message(&self, message: Message) -> Result<()> {
        self.write(move |ledger| ledger.savepoint(|conn| put(conn, &message))).await
    }

    async fn find_messages(&self, wanted: MessageQuery) -> Result<Vec<Message>> {
        self.readers.run(move |conn| find(conn, &wanted)).await
    }
}

fn find(conn: &Connection, wanted: &MessageQuery) -> Result<Vec<Message>> {
    match wanted {
        MessageQuery::Name(name) => {
            list(conn, "SELECT state FROM message WHERE name = ?1", [name.0])
        }
        MessageQuery::Asks(asks) => {
            let sql = "SELECT state FROM message WHERE ask = ?1 ORDER BY at DESC, name LIMIT ?2";
            let mut found = Vec::new();
            for ask in asks {
                let bound = params![ask.ulid().to_bytes(), int(MOST_MESSAGES)];
                found.extend(list(conn, sql, bound)?);
            }
            Ok(found)
        }
        MessageQuery::Posted { medium, posted } => {
            let sql = "SELECT state FROM message WHERE medium = ?1 AND posted = ?2
                 AND posted IS NOT NULL ORDER BY name LIMIT 1";
            list(conn, sql, [medium, posted])
        }
        MessageQuery::Thread { medium, thread } => {
            let sql = "SELECT state FROM message WHERE medium = ?1 AND thread = ?2
                 AND thread IS NOT NULL ORDER BY at DESC, name LIMIT 1";
            list(conn, sql, [medium, thread])
        }
        MessageQuery::To { to, limit } => {
            let sql =
                "SELECT state FROM message WHERE recipient = ?1 ORDER BY at DESC, name LIMIT ?2";
            list(conn, sql, params![to.0, int(*limit)])
        }
    }
}

fn list(conn: &Connection, sql: &str, bound: impl Params) -> Result<Vec<Message>> {
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let found = select.query_map(bound, |row| row.get::<_, String>(0)).map_err(failed)?;
    found.map(|state| read_state("message", &state.map_err(failed)?)).collect()
}

fn put(conn: &Connection, message: &Message) -> Result<()> {
    let Message { name, ask, medium, to, at, posted, thread, over, updated_at, .. } = message;
    let (ask, at, updated_at) = (ask.ulid().to_bytes(), at.millis(), updated_at.millis());
    let state = state("message", message)?;
    conn.prepare_cached(PUT)
        .and_then(|mut put| {
            put.execute(params![
                name.0, ask, medium, to.0, at, posted, thread, over, updated_at, state
            ])
        })
        .map(drop)
        .map_err(failed)
}

/// Deletes old messages that show that their ask is closed. Returns how many.
pub(super) fn sweep(conn: &Connection, now: Time, limit: usize) -> Result<usize> {
    let sql = "DELETE FROM message WHERE rowid IN (
            SELECT rowid FROM message WHERE over = 1 AND updated_at <= ?1 LIMIT ?2)";
    conn.prepare_cached(sql)
        .and_then(|mut drop| drop.execute(params![forgotten_before(now).millis(), int(limit)]))
        .map_err(failed)
}
