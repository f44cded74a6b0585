//! Lists as ranges of the file's ordered sets.

use std::collections::BTreeSet;

use kernel::{Ask, AskId, Time};
use rusqlite::{Connection, params};

use super::query::{ask, ask_id};
use super::transaction::one;
use super::{failed, record};
use crate::columns::{int, similarity_column};
use crate::estimates::Estimates;
use crate::listing::{
    AskListPage, AskListQuery, ChangedAsk, Count, Deadline, ExpiringQuery, Filter, ListEntry,
};
use crate::paging::{self, ListRange, ListRows};
use crate::usage::CounterGrowth;
use crate::{Result, StoreError};

pub(super) fn list(conn: &Connection, list: &AskListQuery) -> Result<AskListPage> {
    // One transaction, so that the rows and their asks come from the same snapshot.
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let found = paging::page(&ListingRows(&moment), list)?;
    Ok(AskListPage { asks: asks(&moment, found.ids)?, next: found.next })
}

pub(super) fn asks(moment: &Connection, ids: impl IntoIterator<Item = AskId>) -> Result<Vec<Ask>> {
    let listed = |id: AskId| {
        ask(moment, id)?.ok_or_else(|| StoreError::Damaged {
            what: id.to_string(),
            source: "it is listed but missing".into(),
        })
    };
    ids.into_iter().map(listed).collect()
}

pub(super) fn count(
    conn: &Connection,
    estimates: &Estimates,
    list: &AskListQuery,
) -> Result<Count> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let position = record::last_position(&moment)?;
    if let Some(count) = estimates.find(list, position) {
        return Ok(count);
    }
    let count = paging::count(&ListingRows(&moment), list)?;
    if !count.exact {
        estimates.keep(list, position, count);
    }
    Ok(count)
}

/// Asks that are due soon: a range of each scope, merged.
pub(super) fn expiring(conn: &Connection, wanted: &ExpiringQuery) -> Result<Vec<Ask>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let after = wanted.after.map(|(at, id)| (at.millis(), id.ulid().to_bytes().to_vec()));
    // The empty blob sorts before every id.
    let (at, id) = after.unwrap_or((i64::MIN, Vec::new()));
    let mut found = BTreeSet::new();
    for scope in &wanted.scopes {
        let mut select = moment
            .prepare_cached(
                "SELECT at, id FROM deadline
                 WHERE scope = ?1 AND (at, id) > (?2, ?3) AND at <= ?4
                 ORDER BY at, id LIMIT ?5",
            )
            .map_err(failed)?;
        let params = params![scope.key(), at, id, wanted.until.millis(), int(wanted.limit)];
        let mut rows = select.query(params).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let at = Time::from_millis(row.get(0).map_err(failed)?);
            found.insert((at, ask_id(row, 1).map_err(failed)?));
        }
    }
    asks(&moment, found.into_iter().take(wanted.limit).map(|(_, id)| id))
}

/// Moves an ask from its old lists to its new ones.
pub(super) fn relist(
    conn: &Connection,
    moved: &ChangedAsk,
    counters: &mut CounterGrowth,
) -> Result<()> {
    let ask = &moved.after;
    let id = ask.id.ulid().to_bytes();
    let (old, new) = ListEntry::row_changes(moved);
    for entry in old {
        counters.listed(&entry, -1);
        conn.prepare_cached(
            "DELETE FROM listing WHERE scope = ?1 AND phase = ?2 AND rank = ?3 AND id = ?4",
        )
        .and_then(|mut delete| {
            delete.execute(params![entry.scope, entry.phase.as_str(), entry.rank, id])
        })
        .map_err(failed)?;
    }
    for entry in new {
        counters.listed(&entry, 1);
        conn.prepare_cached(
            "INSERT INTO listing
                 (scope, phase, rank, id, kind, priority, agent_label, project_label, fold)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                entry.scope,
                entry.phase.as_str(),
                entry.rank,
                id,
                ask.kind.as_str(),
                ask.priority.rank(),
                ask.labels.agent,
                ask.labels.project,
                moved.fold.map(similarity_column),
            ])
        })
        .map_err(failed)?;
    }
    let (old, new) = Deadline::row_changes(moved);
    for Deadline { scope, at } in old {
        conn.prepare_cached("DELETE FROM deadline WHERE scope = ?1 AND at = ?2 AND id = ?3")
            .and_then(|mut delete| delete.execute(params![scope, at.millis(), id]))
            .map_err(failed)?;
    }
    for Deadline { scope, at } in new {
        conn.prepare_cached("INSERT INTO deadline (scope, at, id) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![scope, at.millis(), id]))
            .map_err(failed)?;
    }
    Ok(())
}

struct ListingRows<'a>(&'a Connection);

impl ListRows for ListingRows<'_> {
    fn rows(
        &self,
        stretch: &ListRange,
        before: Option<AskId>,
        filter: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>> {
        // Longer than any id, and therefore sorted after all of them.
        const END: [u8; 17] = [0xff; 17];
        let before = before.map(|id| id.ulid().to_bytes());
        let before = before.as_ref().map_or(&END[..], |id| &id[..]);
        let kinds: String =
            filter.kinds.iter().flat_map(|kind| ["/", kind.as_str(), "/"]).collect();
        let mut select = self
            .0
            .prepare_cached(
                "SELECT id,
                        (?6 = '' OR instr(?6, '/' || kind || '/') > 0)
                        AND (?7 IS NULL OR priority = ?7)
                        AND (?8 IS NULL OR agent_label IS ?8)
                        AND (?9 IS NULL OR project_label IS ?9)
                        AND (?10 IS NULL OR fold IS ?10)
                 FROM listing
                 WHERE scope = ?1 AND phase = ?2 AND rank = ?3 AND id < ?4
                 ORDER BY id DESC LIMIT ?5",
            )
            .map_err(failed)?;
        select
            .query_map(
                params![
                    stretch.scope,
                    stretch.phase.as_str(),
                    stretch.rank,
                    before,
                    int(n),
                    kinds,
                    filter.priority.map(kernel::ask::Priority::rank),
                    filter.agent_label,
                    filter.project_label,
                    filter.fold.map(similarity_column),
                ],
                |row| Ok((ask_id(row, 0)?, row.get(1)?)),
            )
            .and_then(Iterator::collect)
            .map_err(failed)
    }

    fn oldest(&self, stretch: &ListRange) -> Result<Option<AskId>> {
        one(
            self.0,
            "SELECT id FROM listing WHERE scope = ?1 AND phase = ?2 AND rank = ?3
             ORDER BY id LIMIT 1",
            params![stretch.scope, stretch.phase.as_str(), stretch.rank],
            |row| ask_id(row, 0),
        )
    }
}
