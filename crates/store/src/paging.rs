//! How a list is read from the ordered set: stretches merged into one order, a budget on how much
//! is looked at, and counts that become estimates above it.

use std::collections::{HashSet, VecDeque};

use kernel::AskId;
use kernel::ask::{Phase, Priority};

use crate::Result;
use crate::listing::{Count, Cursor, EXAMINED, Filter, List, MARGIN, Scope};

/// Rows fetched from one stretch at a time; a page fetches less when it wants less.
pub(crate) const CHUNK: usize = 500;

/// The rows of one scope, phase and rank; newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) scope: String,
    pub(crate) phase: Phase,
    pub(crate) rank: u8,
}

/// Where the rows come from.
pub(crate) trait Rows {
    /// Up to `n` asks of a stretch older than `before`, newest first, each with whether the filter
    /// lets it through.
    fn rows(
        &self,
        stretch: &Stretch,
        before: Option<AskId>,
        filter: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>>;

    /// The oldest ask of a stretch.
    fn oldest(&self, stretch: &Stretch) -> Result<Option<AskId>>;
}

/// A page before its asks are loaded.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) ids: Vec<AskId>,
    pub(crate) next: Option<Cursor>,
}

/// Reads one page.
pub(crate) fn page(rows: &impl Rows, list: &List) -> Result<Found> {
    let limit = list.limit.max(1);
    let mut merge = Merge::new(rows, list, limit.saturating_add(1).min(CHUNK));
    let mut found = Found::default();
    let mut examined = 0;
    let mut last = None;
    while found.ids.len() < limit && examined < EXAMINED {
        let Some((rank, ask, admitted)) = merge.next()? else { return Ok(found) };
        if admitted {
            found.ids.push(ask);
        }
        examined += 1;
        last = Some(Cursor { rank, ask });
    }
    found.next = if merge.next()?.is_some() { last } else { None };
    Ok(found)
}

/// Counts a list, exactly if no more than [`EXAMINED`] and [`MARGIN`] rows make it up.
pub(crate) fn count(rows: &impl Rows, list: &List) -> Result<Count> {
    let mut samples: Vec<Sample> = ranks(list)
        .iter()
        .flat_map(|rank| stretches(list, *rank))
        .map(|stretch| Sample { stretch, ..Sample::default() })
        .collect();
    // Small enough for every stretch to be sampled before the budget is spent.
    let chunk = (EXAMINED / samples.len().max(1)).clamp(1, CHUNK);
    let mut distinct = HashSet::new();
    let mut budget = EXAMINED + MARGIN;
    while budget > 0 && samples.iter().any(|sample| !sample.done) {
        for sample in samples.iter_mut().filter(|sample| !sample.done) {
            let n = chunk.min(budget);
            if n == 0 {
                break;
            }
            let more = rows.rows(&sample.stretch, sample.last, &list.filter, n)?;
            budget -= more.len();
            sample.take(&more, n);
            distinct.extend(more.iter().filter(|(_, admitted)| *admitted).map(|(id, _)| *id));
        }
    }
    for sample in samples.iter_mut().filter(|sample| !sample.done) {
        let beyond = rows.rows(&sample.stretch, sample.last, &list.filter, 1)?;
        sample.done = beyond.is_empty();
    }
    let seen = distinct.len() as u64;
    if samples.iter().all(|sample| sample.done) {
        return Ok(Count { n: seen, exact: true });
    }
    let mut estimate = 0_u128;
    for sample in &samples {
        estimate += sample.estimate(rows)?;
    }
    // An ask may stand in several stretches: as often in the rest as in what was looked at.
    let admitted: u64 = samples.iter().map(|sample| sample.admitted).sum();
    let estimate = estimate * u128::from(seen) / u128::from(admitted.max(1));
    Ok(Count { n: u64::try_from(estimate).unwrap_or(u64::MAX).max(seen), exact: false })
}

/// What was seen of one stretch.
#[derive(Default)]
struct Sample {
    stretch: Stretch,
    first: Option<AskId>,
    last: Option<AskId>,
    admitted: u64,
    done: bool,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { scope: String::new(), phase: Phase::Waiting, rank: 0 }
    }
}

impl Sample {
    fn take(&mut self, more: &[(AskId, bool)], wanted: usize) {
        self.first = self.first.or_else(|| more.first().map(|(id, _)| *id));
        self.last = more.last().map(|(id, _)| *id).or(self.last);
        self.admitted += more.iter().filter(|(_, admitted)| *admitted).count() as u64;
        self.done = more.len() < wanted;
    }

    /// How many rows the filter admits, if the rest of the stretch is as dense in time as the part
    /// that was looked at: ids tell when an ask was made.
    fn estimate(&self, rows: &impl Rows) -> Result<u128> {
        let admitted = u128::from(self.admitted);
        if self.done {
            return Ok(admitted);
        }
        let (Some(first), Some(last)) = (self.first, self.last) else { return Ok(admitted) };
        let oldest = rows.oldest(&self.stretch)?.unwrap_or(last);
        let span = |to: AskId| {
            let from = first.ulid().timestamp_ms();
            u128::from(from.saturating_sub(to.ulid().timestamp_ms()))
        };
        Ok((admitted * span(oldest)).checked_div(span(last)).unwrap_or(admitted).max(admitted))
    }
}

/// The ranks of a list in its order.
fn ranks(list: &List) -> Vec<u8> {
    if list.scopes.iter().any(Scope::ranked) {
        Priority::ALL.iter().map(|priority| priority.rank()).collect()
    } else {
        vec![0]
    }
}

/// Every stretch a list may have rows of, in its order.
pub(crate) fn every_stretch(list: &List) -> impl Iterator<Item = Stretch> {
    let after = list.after.map_or(0, |after| after.rank);
    let ranks = ranks(list).into_iter().filter(move |rank| *rank >= after);
    ranks.flat_map(|rank| stretches(list, rank))
}

fn stretches(list: &List, rank: u8) -> Vec<Stretch> {
    let scopes: std::collections::BTreeSet<String> = list.scopes.iter().map(Scope::key).collect();
    let phases: std::collections::BTreeSet<Phase> = list.phases.iter().copied().collect();
    scopes
        .iter()
        .flat_map(|scope| {
            phases.iter().map(|phase| Stretch { scope: scope.clone(), phase: *phase, rank })
        })
        .collect()
}

/// All stretches of a list in one order, each ask once.
struct Merge<'a, R> {
    rows: &'a R,
    list: &'a List,
    ranks: VecDeque<u8>,
    rank: u8,
    streams: Vec<Stream>,
    chunk: usize,
}

struct Stream {
    stretch: Stretch,
    before: Option<AskId>,
    buffer: VecDeque<(AskId, bool)>,
    chunk: usize,
    done: bool,
}

impl<'a, R: Rows> Merge<'a, R> {
    fn new(rows: &'a R, list: &'a List, chunk: usize) -> Self {
        let mut ranks = VecDeque::from(ranks(list));
        if let Some(after) = list.after {
            ranks.retain(|rank| *rank >= after.rank);
        }
        Self { rows, list, ranks, rank: 0, streams: Vec::new(), chunk }
    }

    fn next(&mut self) -> Result<Option<(u8, AskId, bool)>> {
        loop {
            for stream in &mut self.streams {
                stream.fill(self.rows, &self.list.filter)?;
            }
            let heads = self.streams.iter().filter_map(|stream| stream.buffer.front().copied());
            if let Some((ask, admitted)) = heads.max_by_key(|(ask, _)| *ask) {
                for stream in &mut self.streams {
                    if stream.buffer.front().is_some_and(|(head, _)| *head == ask) {
                        stream.buffer.pop_front();
                    }
                }
                return Ok(Some((self.rank, ask, admitted)));
            }
            let Some(rank) = self.ranks.pop_front() else { return Ok(None) };
            let after = self.list.after.filter(|after| after.rank == rank);
            let stream = |stretch| Stream {
                stretch,
                before: after.map(|after| after.ask),
                buffer: VecDeque::new(),
                chunk: self.chunk,
                done: false,
            };
            self.streams = stretches(self.list, rank).into_iter().map(stream).collect();
            self.rank = rank;
        }
    }
}

impl Stream {
    fn fill(&mut self, rows: &impl Rows, filter: &Filter) -> Result<()> {
        if self.done || !self.buffer.is_empty() {
            return Ok(());
        }
        let more = rows.rows(&self.stretch, self.before, filter, self.chunk)?;
        self.done = more.len() < self.chunk;
        self.before = more.last().map(|(ask, _)| *ask).or(self.before);
        self.buffer = more.into();
        // A filter that lets little through is read in growing strides.
        self.chunk = self.chunk.saturating_mul(2).min(CHUNK);
        Ok(())
    }
}
