//! How a list is read from the ordered set: stretches merged into one order, intersections of
//! lists, a budget on how many rows are examined, and counts that become estimates above it.

use std::collections::{BTreeSet, HashSet, VecDeque};

use kernel::AskId;
use kernel::ask::{Phase, Priority};
use ulid::Ulid;

use crate::Result;
use crate::listing::{AskListQuery, Count, Cursor, Filter, ListScope, MARGIN, MAX_EXAMINED, Order};

/// Rows fetched from one stretch at a time; a small page fetches fewer.
pub(crate) const CHUNK: usize = 500;

/// The cost of one seek in a stretch: the budget allows two hundred of them.
const SEEK: usize = MAX_EXAMINED / 200;

/// The rows of one scope, phase and rank, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListRange {
    pub(crate) scope: String,
    pub(crate) phase: Phase,
    pub(crate) rank: u8,
}

/// The source of the rows.
pub(crate) trait ListRows {
    /// Up to `n` asks of a stretch older than `before`, newest first, each with whether it
    /// matches the filter.
    fn rows(
        &self,
        stretch: &ListRange,
        before: Option<AskId>,
        filter: &Filter,
        n: usize,
    ) -> Result<Vec<(AskId, bool)>>;

    /// The oldest ask of a stretch.
    fn oldest(&self, stretch: &ListRange) -> Result<Option<AskId>>;
}

/// A page before its asks are loaded.
#[derive(Debug, Default)]
pub(crate) struct FoundPage {
    pub(crate) ids: Vec<AskId>,
    pub(crate) next: Option<Cursor>,
}

pub(crate) fn page(rows: &impl ListRows, list: &AskListQuery) -> Result<FoundPage> {
    let limit = list.limit.max(1);
    let mut walk = Walk::new(rows, list, limit.saturating_add(1).min(CHUNK));
    let mut found = FoundPage::default();
    let mut last = None;
    while found.ids.len() < limit && walk.spent < MAX_EXAMINED {
        match walk.next()? {
            WalkStep::Ask { rank, ask, admitted } => {
                if admitted {
                    found.ids.push(ask);
                }
                last = Some(Cursor { rank, ask });
            }
            WalkStep::Spent(place) => {
                found.next = Some(place);
                return Ok(found);
            }
            WalkStep::End => return Ok(found),
        }
    }
    found.next = match walk.next()? {
        WalkStep::Ask { .. } | WalkStep::Spent(_) => last,
        WalkStep::End => None,
    };
    Ok(found)
}

/// Counts a list, exactly if it has no more than [`MAX_EXAMINED`] plus [`MARGIN`] rows.
pub(crate) fn count(rows: &impl ListRows, list: &AskListQuery) -> Result<Count> {
    if list.filter.needs_intersection() {
        return count_intersection(rows, list);
    }
    let mut samples: Vec<Sample> = stretches(&list.scopes, list, &ranks(list))
        .into_iter()
        .map(|stretch| Sample { stretch, ..Sample::default() })
        .collect();
    // Small enough to sample every stretch before the budget is used up.
    let chunk = (MAX_EXAMINED / samples.len().max(1)).clamp(1, CHUNK);
    let mut distinct = HashSet::new();
    let mut budget = MAX_EXAMINED + MARGIN;
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
    // An ask may be in several stretches. Assume the same share of duplicates in the rest as
    // in the sample.
    let admitted: u64 = samples.iter().map(|sample| sample.admitted).sum();
    let estimate = estimate * u128::from(seen) / u128::from(admitted.max(1));
    Ok(Count { n: u64::try_from(estimate).unwrap_or(u64::MAX).max(seen), exact: false })
}

/// Counts an intersection of lists as far as one page would read: the rest cannot be estimated.
fn count_intersection(rows: &impl ListRows, list: &AskListQuery) -> Result<Count> {
    let mut walk = Walk::new(rows, list, CHUNK);
    let mut n = 0;
    while walk.spent < MAX_EXAMINED {
        match walk.next()? {
            WalkStep::Ask { admitted, .. } => n += u64::from(admitted),
            WalkStep::Spent(_) => return Ok(Count { n, exact: false }),
            WalkStep::End => return Ok(Count { n, exact: true }),
        }
    }
    let exact = matches!(walk.next()?, WalkStep::End);
    Ok(Count { n, exact })
}

/// The rows examined in one stretch.
#[derive(Default)]
struct Sample {
    stretch: ListRange,
    first: Option<AskId>,
    last: Option<AskId>,
    admitted: u64,
    done: bool,
}

impl Default for ListRange {
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

    /// The number of rows that match the filter, if the rest of the stretch is as dense in time as
    /// the examined part: ids contain the creation time of an ask.
    fn estimate(&self, rows: &impl ListRows) -> Result<u128> {
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

/// The ranks of a list, most urgent first.
fn ranks(list: &AskListQuery) -> Vec<u8> {
    match list.filter.priority {
        Some(priority) => vec![priority.rank()],
        None => Priority::ALL.iter().map(|priority| priority.rank()).collect(),
    }
}

/// The ranks that are read together, in order: all ranks at once if the list is ordered by age.
fn groups(list: &AskListQuery) -> VecDeque<(u8, Vec<u8>)> {
    let ranks = ranks(list);
    match list.order {
        Order::Age => [(0, ranks)].into(),
        Order::Urgency => {
            let after = list.after.map_or(0, |after| after.rank);
            ranks.into_iter().filter(|rank| *rank >= after).map(|rank| (rank, vec![rank])).collect()
        }
    }
}

/// Every stretch a list may have rows in, each with the ask to continue after.
pub(crate) fn every_stretch(list: &AskListQuery) -> Vec<(ListRange, Option<AskId>)> {
    let meeting = list.filter.intersections();
    let unions: Vec<&[ListScope]> =
        [&list.scopes[..]].into_iter().chain(meeting.iter().map(Vec::as_slice)).collect();
    let mut all = Vec::new();
    for (group, ranks) in groups(list) {
        let before = begins(list, group);
        for scopes in &unions {
            let stretches = stretches(scopes, list, &ranks);
            all.extend(stretches.into_iter().map(|stretch| (stretch, before)));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The ask to continue after in a group of ranks.
fn begins(list: &AskListQuery, group: u8) -> Option<AskId> {
    list.after.filter(|after| after.rank == group).map(|after| after.ask)
}

fn stretches(scopes: &[ListScope], list: &AskListQuery, ranks: &[u8]) -> Vec<ListRange> {
    let scopes: BTreeSet<String> = scopes.iter().map(ListScope::key).collect();
    let phases: BTreeSet<Phase> = list.phases.iter().copied().collect();
    let mut all = Vec::new();
    for scope in &scopes {
        for phase in &phases {
            let stretch =
                |rank: &u8| ListRange { scope: scope.clone(), phase: *phase, rank: *rank };
            all.extend(ranks.iter().map(stretch));
        }
    }
    all
}

/// The next item of a list.
enum WalkStep {
    /// An ask, and whether it matches the filter.
    Ask { rank: u8, ask: AskId, admitted: bool },
    /// The budget is used up; the list continues here.
    Spent(Cursor),
    /// The list has ended.
    End,
}

/// The asks of a list in its order, each once. An ask of a filtered list is in a stretch of every
/// union. The union that is furthest ahead says where the others continue, so rows that they do not
/// share are skipped and not read.
struct Walk<'a, R> {
    rows: &'a R,
    list: &'a AskListQuery,
    meeting: Vec<Vec<ListScope>>,
    groups: VecDeque<(u8, Vec<u8>)>,
    rank: u8,
    unions: Vec<Union>,
    chunk: usize,
    /// How many rows were examined.
    spent: usize,
}

impl<'a, R: ListRows> Walk<'a, R> {
    fn new(rows: &'a R, list: &'a AskListQuery, chunk: usize) -> Self {
        let (groups, meeting) = (groups(list), list.filter.intersections());
        Self { rows, list, meeting, groups, rank: 0, unions: Vec::new(), chunk, spent: 0 }
    }

    fn next(&mut self) -> Result<WalkStep> {
        loop {
            if let Some(heads) = self.heads()? {
                self.spent += 1;
                let furthest = heads.iter().map(|(ask, _)| *ask).min();
                let Some((ask, (_, admitted))) = furthest.zip(heads.first().copied()) else {
                    return Ok(WalkStep::End);
                };
                if heads.iter().all(|(head, _)| *head == ask) {
                    self.unions.iter_mut().for_each(|union| union.drop_head(ask));
                    return Ok(WalkStep::Ask { rank: self.rank, ask, admitted });
                }
                let behind = above(ask);
                for union in &mut self.unions {
                    self.spent += union.seek(ask, behind) * SEEK;
                }
                if self.spent >= MAX_EXAMINED {
                    return Ok(WalkStep::Spent(Cursor { rank: self.rank, ask: behind }));
                }
                continue;
            }
            let Some((rank, ranks)) = self.groups.pop_front() else { return Ok(WalkStep::End) };
            let before = begins(self.list, rank);
            let union = |scopes: &Vec<ListScope>| {
                let stretches = stretches(scopes, self.list, &ranks).into_iter();
                Union(stretches.map(|one| Stream::new(one, before, self.chunk)).collect())
            };
            self.unions = [&self.list.scopes].into_iter().chain(&self.meeting).map(union).collect();
            self.rank = rank;
        }
    }

    /// The next ask of each union; `None` if one of them has ended.
    fn heads(&mut self) -> Result<Option<Vec<(AskId, bool)>>> {
        let mut heads = Vec::with_capacity(self.unions.len());
        for union in &mut self.unions {
            let Some(head) = union.head(self.rows, &self.list.filter)? else { return Ok(None) };
            heads.push(head);
        }
        Ok((!heads.is_empty()).then_some(heads))
    }
}

/// The smallest cursor after which a list continues with this very ask.
fn above(ask: AskId) -> AskId {
    AskId::new(Ulid::from(u128::from(ask.ulid()).saturating_add(1)))
}

/// Several stretches merged into one order.
struct Union(Vec<Stream>);

impl Union {
    fn head(&mut self, rows: &impl ListRows, filter: &Filter) -> Result<Option<(AskId, bool)>> {
        for stream in &mut self.0 {
            stream.fill(rows, filter)?;
        }
        let heads = self.0.iter().filter_map(|stream| stream.buffer.front().copied());
        Ok(heads.max_by_key(|(ask, _)| *ask))
    }

    fn drop_head(&mut self, ask: AskId) {
        for stream in &mut self.0 {
            if stream.buffer.front().is_some_and(|(head, _)| *head == ask) {
                stream.buffer.pop_front();
            }
        }
    }

    /// Skips rows newer than `ask`. Returns how many streams must query again.
    fn seek(&mut self, ask: AskId, behind: AskId) -> usize {
        let mut missed = 0;
        for stream in &mut self.0 {
            while stream.buffer.front().is_some_and(|(head, _)| *head > ask) {
                stream.buffer.pop_front();
            }
            if stream.buffer.is_empty() && !stream.done {
                stream.before = Some(behind);
                missed += 1;
            }
        }
        missed
    }
}

struct Stream {
    stretch: ListRange,
    before: Option<AskId>,
    buffer: VecDeque<(AskId, bool)>,
    chunk: usize,
    done: bool,
}

impl Stream {
    fn new(stretch: ListRange, before: Option<AskId>, chunk: usize) -> Self {
        Self { stretch, before, buffer: VecDeque::new(), chunk, done: false }
    }

    fn fill(&mut self, rows: &impl ListRows, filter: &Filter) -> Result<()> {
        if self.done || !self.buffer.is_empty() {
            return Ok(());
        }
        let more = rows.rows(&self.stretch, self.before, filter, self.chunk)?;
        self.done = more.len() < self.chunk;
        self.before = more.last().map(|(ask, _)| *ask).or(self.before);
        self.buffer = more.into();
        // If few rows match the filter, read in growing chunks.
        self.chunk = self.chunk.saturating_mul(2).min(CHUNK);
        Ok(())
    }
}
