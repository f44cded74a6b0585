//! What people have hidden from their own lists.

use kernel::{AskId, HumanId, Time};
use rusqlite::{Connection, params};

use super::failed;
use super::query::ask_id;
use crate::rows::int;
use crate::{MOST_SNOOZED, Result};

/// Hides an ask, if there is room, or shows it again.
pub(super) fn put(
    conn: &Connection,
    human: &HumanId,
    ask: AskId,
    until: Option<Time>,
) -> Result<bool> {
    let ask = ask.ulid().to_bytes();
    let Some(until) = until else {
        conn.prepare_cached("DELETE FROM snooze WHERE human = ?1 AND ask = ?2")
            .and_then(|mut drop| drop.execute(params![human.as_str(), ask]))
            .map_err(failed)?;
        return Ok(true);
    };
    let sql = "INSERT INTO snooze (human, ask, until)
         SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM snooze WHERE human = ?1 AND ask = ?2)
             OR (SELECT count(*) FROM (SELECT 1 FROM snooze WHERE human = ?1 LIMIT ?4)) < ?4
         ON CONFLICT (human, ask) DO UPDATE SET until = ?3";
    conn.prepare_cached(sql)
        .and_then(|mut put| {
            put.execute(params![human.as_str(), ask, until.millis(), int(MOST_SNOOZED)])
        })
        .map(|rows| rows == 1)
        .map_err(failed)
}

/// What a person has hidden.
pub(super) fn of(conn: &Connection, human: &HumanId, now: Time) -> Result<Vec<(AskId, Time)>> {
    let sql = "SELECT ask, until FROM snooze WHERE human = ?1 AND until > ?2 ORDER BY until, ask";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let hidden = |row: &rusqlite::Row<'_>| Ok((ask_id(row, 0)?, Time::from_millis(row.get(1)?)));
    select
        .query_map(params![human.as_str(), now.millis()], hidden)
        .and_then(Iterator::collect)
        .map_err(failed)
}

/// Forgets what is hidden no longer.
pub(super) fn sweep(conn: &Connection, now: Time) -> Result<()> {
    conn.prepare_cached("DELETE FROM snooze WHERE until <= ?1")
        .and_then(|mut drop| drop.execute([now.millis()]))
        .map(drop)
        .map_err(failed)
}
