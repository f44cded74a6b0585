//! The audit records and the feed.
//!
//! A damaged row is returned wherever its subject can be parsed: the verification reports what is
//! wrong with it. Only a row without a readable subject is a store error.

use std::sync::Arc;

use async_trait::async_trait;
use kernel::audit::{Digest, RecordRow};
use tokio::sync::broadcast;

use super::{
    SqlDialect, SqlRow, SqlStore, SqlValue, Statements, blocks, chains, one, ranges, values,
};
use crate::columns::subject;
use crate::{
    AnnouncedChange, AuditFeed, BlockQuery, ChainPage, Change, FeedQuery, Result, SealedBlock,
};

/// The columns of a change.
pub(crate) const CHANGE: &str = "position, subject, seq, at, what";
/// The columns of a record as stored.
pub(crate) const RECORD: &str = "position, subject, seq, at, what, prev, hash, body, contents";

#[async_trait]
impl<S: SqlStore> AuditFeed for S {
    async fn changes(&self, of: FeedQuery, limit: usize) -> Result<Vec<Change>> {
        self.number_events().await?;
        let rows = page(self, CHANGE, of, limit, numbered(S::DIALECT)).await?;
        rows.into_iter().map(change).collect()
    }

    async fn rows(&self, of: FeedQuery, limit: usize) -> Result<Vec<RecordRow>> {
        // The chain of a subject is complete even where an event has no position yet.
        let source = if matches!(of, FeedQuery::Subject(..)) {
            S::DIALECT.pick("record", "record LEFT JOIN feed USING (subject, seq)")
        } else {
            self.number_events().await?;
            numbered(S::DIALECT)
        };
        let rows = page(self, RECORD, of, limit, source).await?;
        rows.into_iter().map(record_row).collect()
    }

    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>> {
        self.number_events().await?;
        let of = FeedQuery::After(position);
        let rows = select(self, "position, hash", of, limit, numbered(S::DIALECT)).await?;
        rows.into_iter().map(|mut row| Ok((row.get(0)?, row.get(1)?))).collect()
    }

    fn feed(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>> {
        self.subscribe()
    }

    async fn last_position(&self) -> Result<u64> {
        self.number_events().await?;
        let row = one(self, last(S::DIALECT), Vec::new()).await?;
        row.map_or(Ok(0), |mut row| row.get(0))
    }

    async fn chains(&self, after: Option<String>, limit: usize) -> Result<ChainPage> {
        self.number_events().await?;
        self.snapshot((after, limit), |sql, (after, limit)| {
            Box::pin(chains::chains(sql, after.as_deref(), *limit))
        })
        .await
    }

    async fn append_block(&self, sealed: SealedBlock) -> Result<bool> {
        self.write(sealed, |sql, sealed| Box::pin(blocks::append(sql, sealed))).await
    }

    async fn block(&self, which: BlockQuery) -> Result<Option<SealedBlock>> {
        let row = match which {
            BlockQuery::Last => one(self, blocks::LAST, Vec::new()).await?,
            BlockQuery::At(position) => one(self, blocks::AT, values![position]).await?,
        };
        let block = row.map(blocks::read).transpose()?;
        Ok(block.filter(|sealed| match which {
            BlockQuery::Last => true,
            BlockQuery::At(position) => position < sealed.block.end(),
        }))
    }

    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>> {
        let rows = self.query(blocks::AFTER, values![n, limit]).await?;
        rows.into_iter().map(blocks::read).collect()
    }
}

/// The events that have a position.
fn numbered(dialect: SqlDialect) -> &'static str {
    dialect.pick("record", "feed JOIN record USING (subject, seq)")
}

/// The events after a position.
pub(crate) fn events_after(dialect: SqlDialect, columns: &str) -> String {
    let source = numbered(dialect);
    format!("SELECT {columns} FROM {source} WHERE position > $1 ORDER BY position LIMIT $2")
}

/// The last position of the feed; 0 if it is empty.
pub(crate) fn last(dialect: SqlDialect) -> &'static str {
    dialect.pick(
        "SELECT coalesce(max(position), 0) FROM record",
        "SELECT coalesce(max(position), 0) FROM feed",
    )
}

pub(super) async fn last_position(sql: &mut dyn Statements) -> Result<u64> {
    let row = sql.query(last(sql.dialect()), &[]).await?.pop();
    row.map_or(Ok(0), |mut row| row.get(0))
}

/// A page in the order of the feed. A page of several agents or projects merges their positions
/// first and reads only the chosen rows, so that no more than a page of records is transferred.
async fn page<S: SqlStore>(
    store: &S,
    columns: &str,
    of: FeedQuery,
    limit: usize,
    source: &str,
) -> Result<Vec<SqlRow>> {
    let keys = match &of {
        FeedQuery::After(_) | FeedQuery::Subject(..) => 1,
        FeedQuery::Agents(agents, _) => agents.len(),
        FeedQuery::Tasks(projects, _) => projects.len(),
    };
    if keys <= 1 {
        return select(store, columns, of, limit, source).await;
    }
    let positions = S::DIALECT.pick("record", "feed");
    let found = select(store, "position", of, limit, positions).await?;
    let found = found.into_iter().map(|mut row| row.get::<u64>(0));
    let mut found = found.collect::<Result<Vec<_>>>()?;
    found.sort_unstable();
    found.dedup();
    found.truncate(limit);
    let sql = format!("SELECT {columns} FROM {source} WHERE position = ANY ($1) ORDER BY position");
    store.query(&sql, values![found.into_iter().collect::<SqlValue>()]).await
}

async fn select<S: SqlStore>(
    store: &S,
    columns: &str,
    of: FeedQuery,
    limit: usize,
    source: &str,
) -> Result<Vec<SqlRow>> {
    let select = format!("SELECT {columns} FROM {source}");
    match of {
        FeedQuery::After(position) => {
            let sql = format!("{select} WHERE position > $1 ORDER BY position LIMIT $2");
            store.query(&sql, values![position, limit]).await
        }
        FeedQuery::Subject(subject, seq) => {
            let sql = format!("{select} WHERE subject = $1 AND seq > $2 ORDER BY seq LIMIT $3");
            store.query(&sql, values![subject.to_string(), seq, limit]).await
        }
        FeedQuery::Agents(agents, position) => {
            let sql =
                format!("{select} WHERE agent = $1 AND position > $2 ORDER BY position LIMIT $3");
            ranges(store, &sql, &agents, values![position, limit]).await
        }
        FeedQuery::Tasks(projects, position) => {
            let sql =
                format!("{select} WHERE project = $1 AND position > $2 ORDER BY position LIMIT $3");
            ranges(store, &sql, &projects, values![position, limit]).await
        }
    }
}

pub(crate) fn change(mut row: SqlRow) -> Result<Change> {
    let seq = row.get(2)?;
    Ok(Change {
        position: row.get(0)?,
        subject: subject(&row.any_text(1).unwrap_or_default(), seq)?,
        seq,
        at: row.get(3)?,
        what: row.get(4)?,
    })
}

/// One record as stored, even if it was tampered with. It has position 0 if it has none yet.
pub(crate) fn record_row(mut row: SqlRow) -> Result<RecordRow> {
    Ok(RecordRow {
        position: row.get::<Option<u64>>(0)?.unwrap_or_default(),
        subject: row.any_text(1).unwrap_or_default(),
        seq: row.get(2)?,
        at: row.get(3)?,
        what: row.any_text(4).unwrap_or_default(),
        prev: row.get(5)?,
        hash: row.get(6)?,
        body: row.any_text(7).unwrap_or_default(),
        contents: row.any_text(8),
    })
}
