//! Lists: the rows of many stretches are fetched together, and merged here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use kernel::AskId;
use kernel::ask::Priority;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::failure::PostgresFailure;
use super::{ulid, uuid};
use crate::columns::{int, similarity_column};
use crate::listing::{AskListQuery, Filter};
use crate::paging::{ListRange, ListRows, every_stretch};
use crate::{Result, StoreError};

/// The rows fetched so far of the stretches of one list.
pub(super) struct FetchedList<'a> {
    list: &'a AskListQuery,
    stretches: BTreeMap<ListRange, Vec<FetchedRows>>,
    oldest: BTreeMap<ListRange, Option<AskId>>,
    lacking: RefCell<MissingRows>,
}

/// A part of a stretch: from `before` on, newest first.
struct FetchedRows {
    before: Option<AskId>,
    rows: Vec<(AskId, bool)>,
    /// Whether the part reaches the end of the stretch.
    whole: bool,
}

impl FetchedRows {
    /// The ask to continue after.
    fn end(&self) -> Option<AskId> {
        self.rows.last().map(|(id, _)| *id).or(self.before)
    }

    /// Whether the rows after `from` are in the part, or would be if more were fetched.
    fn leads_to(&self, from: Option<AskId>) -> bool {
        let begun = match (self.before, from) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(begins), Some(from)) => from <= begins,
        };
        begun && (self.whole || from.is_none() || from == self.before || from >= self.end())
    }
}

/// The rows a read turned out to need.
#[derive(Default)]
struct MissingRows {
    /// Each with the ask to continue after.
    rows: BTreeSet<(ListRange, Option<AskId>)>,
    oldest: BTreeSet<ListRange>,
}

/// A read needs rows that are not fetched yet.
#[derive(Debug, thiserror::Error)]
#[error("rows were not fetched yet")]
struct NotFetched;

impl<'a> FetchedList<'a> {
    /// Reads a list, and fetches as many rows as that takes, starting with `n` rows
    /// of every stretch.
    pub(super) async fn read<T>(
        moment: &Transaction<'_>,
        list: &'a AskListQuery,
        n: usize,
        read: impl Fn(&Self, &AskListQuery) -> Result<T>,
    ) -> Result<T, PostgresFailure> {
        let mut fetched = Self {
            list,
            stretches: BTreeMap::new(),
            oldest: BTreeMap::new(),
            lacking: RefCell::default(),
        };
        let mut n = n.max(1);
        fetched.fetch(moment, every_stretch(list).into_iter().collect(), n).await?;
        loop {
            let outcome = read(&fetched, list);
            let MissingRows { rows, oldest } = fetched.lacking.take();
            if rows.is_empty() && oldest.is_empty() {
                return Ok(outcome?);
            }
            // A read that needs more rows is likely to need many more.
            n = n.saturating_mul(4).min(5_000);
            fetched.fetch(moment, rows, n).await?;
            fetched.fetch_oldest(moment, oldest).await?;
        }
    }

    async fn fetch(
        &mut self,
        moment: &Transaction<'_>,
        wanted: BTreeSet<(ListRange, Option<AskId>)>,
        n: usize,
    ) -> Result<(), PostgresFailure> {
        if wanted.is_empty() {
            return Ok(());
        }
        let sql = "SELECT place, found.id,
                ($6 OR found.kind = ANY ($7)) AND ($8::smallint IS NULL OR found.priority = $8)
                AND ($9::text IS NULL OR found.agent_label IS NOT DISTINCT FROM $9)
                AND ($10::text IS NULL OR found.project_label IS NOT DISTINCT FROM $10)
                AND ($11::bigint IS NULL OR found.fold IS NOT DISTINCT FROM $11)
            FROM unnest($1::text[], $2::text[], $3::smallint[], $4::uuid[])
                WITH ORDINALITY AS wanted (scope, phase, rank, before, place)
            CROSS JOIN LATERAL (
                SELECT id, kind, priority, agent_label, project_label, fold FROM listing
                WHERE listing.scope = wanted.scope AND listing.phase = wanted.phase
                    AND listing.rank = wanted.rank AND listing.id < wanted.before
                ORDER BY id DESC LIMIT $5
            ) AS found
            ORDER BY place, found.id DESC";
        let statement = moment.prepare_cached(sql).await?;
        let (stretches, places): (Vec<ListRange>, Vec<Option<AskId>>) = wanted.into_iter().unzip();
        let Columns { scopes, phases, ranks } = Columns::of(&stretches);
        let before: Vec<Uuid> =
            places.iter().map(|id| id.map_or(Uuid::max(), |id| uuid(id.ulid()))).collect();
        let filter = &self.list.filter;
        let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.as_str()).collect();
        let priority = filter.priority.map(|priority: Priority| i16::from(priority.rank()));
        let folded = filter.fold.map(similarity_column);
        let params: [&(dyn ToSql + Sync); 11] = [
            &scopes,
            &phases,
            &ranks,
            &before,
            &int(n),
            &kinds.is_empty(),
            &kinds,
            &priority,
            &filter.agent_label,
            &filter.project_label,
            &folded,
        ];
        let mut found: Vec<Vec<(AskId, bool)>> = vec![Vec::new(); stretches.len()];
        for row in moment.query(&statement, &params).await? {
            let place: i64 = row.try_get(0)?;
            let at = usize::try_from(place - 1).unwrap_or_default();
            if let Some(rows) = found.get_mut(at) {
                rows.push((AskId::new(ulid(row.try_get(1)?)), row.try_get(2)?));
            }
        }
        for ((stretch, before), mut rows) in stretches.into_iter().zip(places).zip(found) {
            let parts = self.stretches.entry(stretch).or_default();
            let whole = rows.len() < n;
            match parts.iter_mut().find(|part| part.end() == before) {
                Some(part) => {
                    part.whole = whole;
                    part.rows.append(&mut rows);
                }
                None => parts.push(FetchedRows { before, rows, whole }),
            }
        }
        Ok(())
    }

    async fn fetch_oldest(
        &mut self,
        moment: &Transaction<'_>,
        stretches: BTreeSet<ListRange>,
    ) -> Result<(), PostgresFailure> {
        if stretches.is_empty() {
            return Ok(());
        }
        let sql = "SELECT (
                SELECT id FROM listing
                WHERE listing.scope = wanted.scope AND listing.phase = wanted.phase
                    AND listing.rank = wanted.rank
                ORDER BY id LIMIT 1
            )
            FROM unnest($1::text[], $2::text[], $3::smallint[])
                WITH ORDINALITY AS wanted (scope, phase, rank, place)
            ORDER BY place";
        let statement = moment.prepare_cached(sql).await?;
        let stretches: Vec<ListRange> = stretches.into_iter().collect();
        let Columns { scopes, phases, ranks } = Columns::of(&stretches);
        let rows = moment.query(&statement, &[&scopes, &phases, &ranks]).await?;
        for (stretch, row) in stretches.iter().zip(rows) {
            let oldest: Option<Uuid> = row.try_get(0)?;
            self.oldest.insert(stretch.clone(), oldest.map(|id| AskId::new(ulid(id))));
        }
        Ok(())
    }
}

/// Stretches, column by column.
struct Columns<'a> {
    scopes: Vec<&'a str>,
    phases: Vec<&'static str>,
    ranks: Vec<i16>,
}

impl<'a> Columns<'a> {
    fn of(stretches: &'a [ListRange]) -> Self {
        Self {
            scopes: stretches.iter().map(|stretch| stretch.scope.as_str()).collect(),
            phases: stretches.iter().map(|stretch| stretch.phase.as_str()).collect(),
            ranks: stretches.iter().map(|stretch| i16::from(stretch.rank)).collect(),
        }
    }
}

impl ListRows for FetchedList<'_> {
    fn rows(
        &self,
        stretch: &ListRange,
        before: Option<AskId>,
        _: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>> {
        let parts = self.stretches.get(stretch).map_or(&[][..], Vec::as_slice);
        // Two parts may overlap; the one that reaches furthest serves best.
        let part = parts.iter().filter(|part| part.leads_to(before)).min_by_key(|part| part.end());
        let Some(part) = part else {
            self.lacking.borrow_mut().rows.insert((stretch.clone(), before));
            return Err(StoreError::Unavailable(NotFetched.into()));
        };
        // Newest first.
        let from = before.map_or(0, |before| part.rows.partition_point(|(id, _)| *id >= before));
        let found: Vec<(AskId, bool)> = part.rows.iter().skip(from).take(n).copied().collect();
        if found.len() < n && !part.whole {
            self.lacking.borrow_mut().rows.insert((stretch.clone(), part.end()));
            return Err(StoreError::Unavailable(NotFetched.into()));
        }
        Ok(found)
    }

    fn oldest(&self, stretch: &ListRange) -> Result<Option<AskId>> {
        if let Some(oldest) = self.oldest.get(stretch) {
            return Ok(*oldest);
        }
        self.lacking.borrow_mut().oldest.insert(stretch.clone());
        Err(StoreError::Unavailable(NotFetched.into()))
    }
}
