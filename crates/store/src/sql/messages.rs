//! Messages sent to people about asks.

use async_trait::async_trait;

use super::{SqlRow, SqlStore, ranges, values};
use crate::columns::{read_state, state};
use crate::messages::MessageQuery;
use crate::{MOST_MESSAGES, Message, MessageStore, Result};

#[async_trait]
impl<S: SqlStore> MessageStore for S {
    async fn put_message(&self, message: Message) -> Result<()> {
        let sql = "INSERT INTO message
                (name, ask, medium, recipient, at, posted, thread, over, updated_at, state)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (name) DO UPDATE SET posted = excluded.posted, thread = excluded.thread,
                over = excluded.over, updated_at = excluded.updated_at, state = excluded.state";
        let state = state("message", &message)?;
        let Message { name, ask, medium, to, at, posted, thread, over, updated_at, .. } = message;
        let row = values![name, ask, medium, to, at, posted, thread, over, updated_at, state];
        self.execute(sql, row).await.map(drop)
    }

    async fn messages_by(&self, wanted: MessageQuery) -> Result<Vec<Message>> {
        let rows = match wanted {
            MessageQuery::Name(name) => {
                self.query("SELECT state FROM message WHERE name = $1", values![name]).await?
            }
            MessageQuery::Asks(asks) => {
                let sql =
                    "SELECT state FROM message WHERE ask = $1 ORDER BY at DESC, name LIMIT $2";
                ranges(self, sql, asks, values![MOST_MESSAGES]).await?
            }
            MessageQuery::Posted { medium, posted } => {
                let sql = "SELECT state FROM message WHERE medium = $1 AND posted = $2
                    AND posted IS NOT NULL ORDER BY name LIMIT 1";
                self.query(sql, values![medium, posted]).await?
            }
            MessageQuery::Thread { medium, thread } => {
                let sql = "SELECT state FROM message WHERE medium = $1 AND thread = $2
                    AND thread IS NOT NULL ORDER BY at DESC, name LIMIT 1";
                self.query(sql, values![medium, thread]).await?
            }
            MessageQuery::To { to, limit } => {
                let sql = "SELECT state FROM message WHERE recipient = $1
                    ORDER BY at DESC, name LIMIT $2";
                self.query(sql, values![to, limit]).await?
            }
        };
        let read = |mut row: SqlRow| read_state("message", &row.get::<String>(0)?);
        rows.into_iter().map(read).collect()
    }
}
