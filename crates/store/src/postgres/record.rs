//! Reads the feed on a connection that has more to do.

use deadpool_postgres::{Client, GenericClient};
use kernel::audit::RecordRow;

use super::failure::PostgresFailure;
use super::statements::select;
use crate::listing::ListScope;
use crate::sql::audit_feed::{CHANGE, RECORD, change, events_after, last, record_row};
use crate::sql::{SqlDialect, values};
use crate::{AnnouncedChange, Change};

pub(super) async fn changes(
    client: &impl GenericClient,
    position: u64,
    limit: usize,
) -> Result<Vec<Change>, PostgresFailure> {
    let sql = events_after(SqlDialect::Postgres, CHANGE);
    let rows = select(client, &sql, &values![position, limit]).await?;
    rows.into_iter().map(|row| Ok(change(row)?)).collect()
}

pub(super) async fn rows(
    client: &impl GenericClient,
    position: u64,
    limit: usize,
) -> Result<Vec<RecordRow>, PostgresFailure> {
    let sql = events_after(SqlDialect::Postgres, RECORD);
    let rows = select(client, &sql, &values![position, limit]).await?;
    rows.into_iter().map(|row| Ok(record_row(row)?)).collect()
}

pub(super) async fn last_position(client: &impl GenericClient) -> Result<u64, PostgresFailure> {
    let row = select(client, last(SqlDialect::Postgres), &[]).await?.pop();
    Ok(row.map_or(Ok(0), |mut row| row.get(0))?)
}

/// Changes to announce.
pub(super) struct AnnouncedPage {
    pub(super) news: Vec<AnnouncedChange>,
    /// The last position of the changes; `None` if there are none.
    pub(super) end: Option<u64>,
    /// Whether no further changes follow.
    pub(super) is_last: bool,
}

/// Skips a record without a readable subject: it must not block the announcement of the
/// records after it.
pub(super) async fn news(
    client: &Client,
    position: u64,
    limit: usize,
) -> Result<AnnouncedPage, PostgresFailure> {
    let sql = events_after(SqlDialect::Postgres, &format!("{CHANGE}, lists, position"));
    let rows = select(client, &sql, &values![position, limit]).await?;
    let is_last = rows.len() < limit;
    let (mut news, mut end) = (Vec::with_capacity(rows.len()), None);
    for mut row in rows {
        let lists = ListScope::read(&row.get::<String>(5)?).into();
        end = Some(row.get(6)?);
        match change(row) {
            Ok(change) => news.push(AnnouncedChange { change, lists, follow_ups: None }),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "skipped an event of the feed that cannot be read; no one is notified of it"
                );
            }
        }
    }
    Ok(AnnouncedPage { news, end, is_last })
}
