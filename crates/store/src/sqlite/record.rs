//! Reads the feed on a connection that has more to do.

use kernel::audit::RecordRow;
use rusqlite::Connection;

use super::statements::query;
use crate::sql::audit_feed::{CHANGE, RECORD, change, events_after, last, record_row};
use crate::sql::{SqlDialect, values};
use crate::{Change, Result};

pub(super) fn changes(conn: &Connection, position: u64, limit: usize) -> Result<Vec<Change>> {
    let sql = events_after(SqlDialect::Sqlite, CHANGE);
    query(conn, &sql, &values![position, limit])?.into_iter().map(change).collect()
}

pub(super) fn rows(conn: &Connection, position: u64, limit: usize) -> Result<Vec<RecordRow>> {
    let sql = events_after(SqlDialect::Sqlite, RECORD);
    query(conn, &sql, &values![position, limit])?.into_iter().map(record_row).collect()
}

pub(super) fn last_position(conn: &Connection) -> Result<u64> {
    let row = query(conn, last(SqlDialect::Sqlite), &[])?.pop();
    row.map_or(Ok(0), |mut row| row.get(0))
}
