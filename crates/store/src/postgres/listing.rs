//! Lists: the rows are fetched from many stretches at once, and put in order here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use kernel::AskId;
use kernel::ask::Priority;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::failure::Failure;
use super::{ulid, uuid};
use crate::listing::{Filter, List};
use crate::paging::{Rows, Stretch, every_stretch};
use crate::rows::int;
use crate::{Result, StoreError};

/// What was fetched of the stretches of one list so far.
pub(super) struct Fetched<'a> {
    list: &'a List,
    stretches: BTreeMap<Stretch, Part>,
    oldest: BTreeMap<Stretch, Option<AskId>>,
    lacking: RefCell<Lacking>,
}

/// The beginning of a stretch.
#[derive(Default)]
struct Part {
    rows: Vec<(AskId, bool)>,
    whole: bool,
}

/// What a reading turned out to need.
#[derive(Default)]
struct Lacking {
    rows: BTreeSet<Stretch>,
    oldest: BTreeSet<Stretch>,
}

/// Why a reading could not go on.
#[derive(Debug, thiserror::Error)]
#[error("rows were not fetched yet")]
struct NotFetched;

impl<'a> Fetched<'a> {
    /// Reads a list, fetching as much as that takes: `n` rows of every stretch to begin with.
    pub(super) async fn read<T>(
        moment: &Transaction<'_>,
        list: &'a List,
        n: usize,
        read: impl Fn(&Self, &List) -> Result<T>,
    ) -> Result<T, Failure> {
        let mut fetched = Self {
            list,
            stretches: BTreeMap::new(),
            oldest: BTreeMap::new(),
            lacking: RefCell::default(),
        };
        let mut n = n.max(1);
        fetched.fetch(moment, every_stretch(list).collect(), n).await?;
        loop {
            let outcome = read(&fetched, list);
            let Lacking { rows, oldest } = fetched.lacking.take();
            if rows.is_empty() && oldest.is_empty() {
                return Ok(outcome?);
            }
            // Whoever needs more is likely to need much more.
            n = n.saturating_mul(4).min(5_000);
            fetched.fetch(moment, rows, n).await?;
            fetched.fetch_oldest(moment, oldest).await?;
        }
    }

    async fn fetch(
        &mut self,
        moment: &Transaction<'_>,
        stretches: BTreeSet<Stretch>,
        n: usize,
    ) -> Result<(), Failure> {
        if stretches.is_empty() {
            return Ok(());
        }
        let sql = "SELECT place, found.id,
                ($6 OR found.kind = ANY ($7)) AND ($8::smallint IS NULL OR found.priority = $8)
                AND ($9::text IS NULL OR found.agent_label IS NOT DISTINCT FROM $9)
                AND ($10::text IS NULL OR found.project_label IS NOT DISTINCT FROM $10)
            FROM unnest($1::text[], $2::text[], $3::smallint[], $4::uuid[])
                WITH ORDINALITY AS wanted (scope, phase, rank, before, place)
            CROSS JOIN LATERAL (
                SELECT id, kind, priority, agent_label, project_label FROM listing
                WHERE listing.scope = wanted.scope AND listing.phase = wanted.phase
                    AND listing.rank = wanted.rank AND listing.id < wanted.before
                ORDER BY id DESC LIMIT $5
            ) AS found
            ORDER BY place, found.id DESC";
        let statement = moment.prepare_cached(sql).await?;
        let stretches: Vec<Stretch> = stretches.into_iter().collect();
        let Columns { scopes, phases, ranks } = Columns::of(&stretches);
        let before: Vec<Uuid> = stretches.iter().map(|stretch| self.before(stretch)).collect();
        let filter = &self.list.filter;
        let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.as_str()).collect();
        let priority = filter.priority.map(|priority: Priority| i16::from(priority.rank()));
        let params: [&(dyn ToSql + Sync); 10] = [
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
        ];
        let mut found: Vec<Vec<(AskId, bool)>> = vec![Vec::new(); stretches.len()];
        for row in moment.query(&statement, &params).await? {
            let place: i64 = row.try_get(0)?;
            let at = usize::try_from(place - 1).unwrap_or_default();
            if let Some(rows) = found.get_mut(at) {
                rows.push((AskId::new(ulid(row.try_get(1)?)), row.try_get(2)?));
            }
        }
        for (stretch, mut rows) in stretches.into_iter().zip(found) {
            let part = self.stretches.entry(stretch).or_default();
            part.whole = rows.len() < n;
            part.rows.append(&mut rows);
        }
        Ok(())
    }

    /// Where a stretch was left, or where the list goes on.
    fn before(&self, stretch: &Stretch) -> Uuid {
        let last = self.stretches.get(stretch).and_then(|part| part.rows.last());
        let cursor = self.list.after.filter(|after| after.rank == stretch.rank);
        let last = last.map(|(id, _)| *id).or_else(|| cursor.map(|after| after.ask));
        last.map_or(Uuid::max(), |id| uuid(id.ulid()))
    }

    async fn fetch_oldest(
        &mut self,
        moment: &Transaction<'_>,
        stretches: BTreeSet<Stretch>,
    ) -> Result<(), Failure> {
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
        let stretches: Vec<Stretch> = stretches.into_iter().collect();
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
    fn of(stretches: &'a [Stretch]) -> Self {
        Self {
            scopes: stretches.iter().map(|stretch| stretch.scope.as_str()).collect(),
            phases: stretches.iter().map(|stretch| stretch.phase.as_str()).collect(),
            ranks: stretches.iter().map(|stretch| i16::from(stretch.rank)).collect(),
        }
    }
}

impl Rows for Fetched<'_> {
    fn rows(
        &self,
        stretch: &Stretch,
        before: Option<AskId>,
        _: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>> {
        let part = self.stretches.get(stretch);
        let rows = part.map_or(&[][..], |part| part.rows.as_slice());
        // Newest first.
        let from = before.map_or(0, |before| rows.partition_point(|(id, _)| *id >= before));
        let found: Vec<(AskId, bool)> = rows.iter().skip(from).take(n).copied().collect();
        if found.len() < n && !part.is_some_and(|part| part.whole) {
            self.lacking.borrow_mut().rows.insert(stretch.clone());
            return Err(StoreError::Unavailable(NotFetched.into()));
        }
        Ok(found)
    }

    fn oldest(&self, stretch: &Stretch) -> Result<Option<AskId>> {
        if let Some(oldest) = self.oldest.get(stretch) {
            return Ok(*oldest);
        }
        self.lacking.borrow_mut().oldest.insert(stretch.clone());
        Err(StoreError::Unavailable(NotFetched.into()))
    }
}
