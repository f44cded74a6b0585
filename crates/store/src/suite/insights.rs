//! Counts: equal to those of the audit log, each counted once, and no more rows than days and bins.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernel::ask::NewExperienceEnvelope;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::insight::summary::StoredCount;
use kernel::insight::{CountScope, Day, InsightSummary, Measure, Tally};
use kernel::testing::{claims, new_ask, no, yes};
use kernel::{Actor, AskCommand, AskId, Subject};
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, spy};
use crate::{CountsQuery, Grain};

fn saying() -> NewAsk {
    let mut said = claims();
    said.content.insert("cognition".to_owned(), serde_json::json!({ "load": 7 }));
    NewAsk { claims: Some(Box::new(NewExperienceEnvelope { ..*said })), ..new_ask() }
}

/// An ask with an envelope that was opened, picked from and rejected, an ask without an answer, and
/// an ask of another agent.
pub async fn story(stage: &Stage) -> AskId {
    let id = stage.ask(saying()).await;
    stage.clock.advance(40);
    stage.run(person("olga"), AskCommand::Open(id)).await;
    stage.run(person("olga"), AskCommand::Pick(id, 2)).await;
    stage.clock.advance(100);
    stage.run(person("olga"), AskCommand::Answer(id, no())).await;
    let silent = NewAsk { timeout: Some(30), on_expiry: NewOnExpiry::Fail, ..new_ask() };
    let silent = stage.ask(silent).await;
    let other = stage.run(spy(), AskCommand::Create(Box::new(saying()))).await.ask.unwrap().id;
    stage.clock.advance(86_400);
    stage.run(Actor::System, AskCommand::Expire(silent)).await;
    stage.run(person("zoe"), AskCommand::Answer(other, yes())).await;
    id
}

/// Counts to the end, a few records at a time. Returns the counts.
async fn count(stage: &Stage) -> Tally {
    let mut all = Tally::default();
    loop {
        let counted = stage.store.count_next(3).await.unwrap();
        if counted.records == 0 {
            return all;
        }
        all.merge(&counted.tally);
    }
}

pub fn everything(whose: Vec<CountScope>) -> CountsQuery {
    let (from, to) = (Day::from_number(0), Day::from_number(100_000));
    CountsQuery { whose, measures: Measure::ALL.to_vec(), from, to, grain: Grain::Day }
}

fn whose() -> Vec<CountScope> {
    let acme = || "acme".parse().unwrap();
    let agent = CountScope::Agent(acme(), "bot".parse().unwrap());
    vec![
        CountScope::All,
        CountScope::Project(acme()),
        agent,
        CountScope::Project("rival".parse().unwrap()),
    ]
}

async fn lines(stage: &Stage, whose: Vec<CountScope>) -> Vec<StoredCount> {
    let mut lines = stage.store.counts(everything(whose)).await.unwrap();
    lines.sort_by_key(|line| (line.scope.clone(), line.measure, line.day, line.bin.clone()));
    lines
}

/// The same counts, computed from all records at once.
async fn folded(stage: &Stage) -> Tally {
    let mut tally = Tally::default();
    for (_, record) in stage.store.records(crate::FeedQuery::After(0), 10_000).await.unwrap() {
        if let Subject::Ask(id) = record.subject {
            tally.add(&record.event().unwrap(), &stage.seen(id).await);
        }
    }
    tally
}

/// HXPE-060: in steps or at once, the counts are a fold over the audit log.
pub async fn counts_are_those_of_the_record(stage: &Stage) {
    story(stage).await;
    let counted = count(stage).await;
    let whole = folded(stage).await;
    assert_eq!(counted, whole);
    let mut expected = BTreeMap::new();
    for (cell, n) in whole.cells().filter(|(cell, _)| whose().contains(&cell.scope)) {
        expected.insert((cell.scope.clone(), cell.measure, cell.day, cell.bin.to_owned()), n);
    }
    let kept = lines(stage, whose()).await;
    let found: BTreeMap<_, _> = kept
        .iter()
        .map(|line| ((line.scope.clone(), line.measure, line.day, line.bin.clone()), line.n))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(kept.len(), expected.len(), "each is there once");
    // Further events add up.
    story(stage).await;
    count(stage).await;
    let all = lines(stage, vec![CountScope::All]).await;
    let (from, to) = (Day::from_number(0), Day::of(stage.now()));
    let summary = InsightSummary::of(&all, from, to);
    assert_eq!((summary.asks(), summary.ended.failed, summary.verdicts.overruled), (6, 2, 2));
    assert_eq!(summary.first_view.total(), 2);
    assert_eq!(summary.load[6], 4);
    let only = CountsQuery {
        measures: vec![Measure::Ended],
        to: Day::of(stage.now()).before(1),
        ..everything(vec![CountScope::All])
    };
    let earlier = stage.store.counts(only).await.unwrap();
    let earlier: Vec<_> = earlier.iter().map(|line| (line.measure, line.n)).collect();
    assert!(!earlier.is_empty() && earlier.iter().all(|(of, _)| *of == Measure::Ended));
    assert!(earlier.iter().map(|(_, n)| n).sum::<u64>() < 6, "not those of the last day");
}

/// The count of a range of days is the sum of its days, wherever it begins and ends. Late counts
/// are included in all later totals.
pub async fn a_stretch_of_days_is_the_sum_of_its_days(stage: &Stage) {
    for _ in 0..3 {
        story(stage).await;
        stage.clock.advance(2 * 86_400);
    }
    // The clock of another node is slow: its events belong to days that other nodes have passed.
    stage.clock.advance(-5 * 86_400);
    story(stage).await;
    count(stage).await;
    let first = folded(stage).await.cells().map(|(cell, _)| cell.day.number()).min().unwrap();
    for from in first - 1..first + 12 {
        for to in from - 1..first + 12 {
            let (from, to) = (Day::from_number(from), Day::from_number(to));
            let days = CountsQuery { from, to, ..everything(whose()) };
            let mut sums = BTreeMap::new();
            for line in stage.store.counts(days.clone()).await.unwrap() {
                assert!((from..=to).contains(&line.day));
                *sums.entry((line.scope, line.measure, line.bin)).or_insert(0) += line.n;
            }
            let span = CountsQuery { grain: Grain::Span, ..days };
            let told = stage.store.counts(span).await.unwrap();
            assert_eq!(told.len(), sums.len(), "each is told once");
            let told = told.into_iter().map(|line| {
                assert_eq!(line.day, to);
                ((line.scope, line.measure, line.bin), line.n)
            });
            assert_eq!(told.collect::<BTreeMap<_, _>>(), sums, "{from} to {to}");
        }
    }
}

/// Old counts can be deleted. Deleting them does not change the others.
pub async fn old_counts_are_forgotten(stage: &Stage) {
    for _ in 0..4 {
        story(stage).await;
        stage.clock.advance(2 * 86_400);
    }
    count(stage).await;
    let before = lines(stage, whose()).await;
    let first = before.iter().map(|line| line.day.number()).min().unwrap();
    let since = Day::from_number(first + 5);
    let (old, kept): (Vec<StoredCount>, Vec<StoredCount>) =
        before.into_iter().partition(|line| line.day < since);
    assert!(!old.is_empty() && !kept.is_empty());
    let mut gone = 0;
    loop {
        let some = stage.store.forget_counts(since, 7).await.unwrap();
        if some == 0 {
            break;
        }
        gone += some;
    }
    assert!(gone > 0);
    assert_eq!(lines(stage, whose()).await, kept);
    let spans = |lines: &[StoredCount]| lines.iter().map(|line| line.n).sum::<u64>();
    let span = CountsQuery { grain: Grain::Span, ..everything(whose()) };
    assert_eq!(spans(&stage.store.counts(span).await.unwrap()), spans(&kept));
    // Deleting fewer days does not bring them back, and counting continues.
    assert_eq!(stage.store.forget_counts(Day::from_number(first), 7).await.unwrap(), 0);
    assert_eq!(lines(stage, whose()).await, kept);
    story(stage).await;
    let new = count(stage).await;
    let new = new.cells().filter(|(cell, _)| whose().contains(&cell.scope));
    let all = spans(&kept) + new.map(|(_, n)| n).sum::<u64>();
    assert_eq!(spans(&lines(stage, whose()).await), all);
}

pub async fn of_many_who_count_nothing_is_counted_twice(stage: &Stage) {
    for _ in 0..3 {
        story(stage).await;
    }
    let mut workers = JoinSet::new();
    for _ in 0..6 {
        let store = Arc::clone(&stage.store);
        workers.spawn(async move {
            let mut own = Tally::default();
            for _ in 0..20 {
                own.merge(&store.count_next(2).await.unwrap().tally);
            }
            own
        });
    }
    let mut told = Tally::default();
    for own in workers.join_all().await {
        told.merge(&own);
    }
    told.merge(&count(stage).await);
    let whole = folded(stage).await;
    assert_eq!(told, whole, "each was told to one of them");
    let asked = lines(stage, vec![CountScope::All]).await;
    let asked = asked.iter().filter(|line| line.measure == Measure::Asked);
    assert_eq!(asked.map(|line| line.n).sum::<u64>(), 9);
}

/// Privacy: counts contain no text, and stay when the text is erased.
pub async fn counts_stay_when_words_go(stage: &Stage) {
    let id = story(stage).await;
    count(stage).await;
    let before = lines(stage, whose()).await;
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    assert!(count(stage).await.is_empty());
    assert_eq!(lines(stage, whose()).await, before);
    // An ask that is erased before it is counted counts as far as its remaining data allows.
    let late = stage.ask(saying()).await;
    stage.run(bot(), AskCommand::Cancel(late, None)).await;
    stage.run(Actor::System, AskCommand::Erase(late)).await;
    let counted = count(stage).await;
    let measures: Vec<Measure> = counted.cells().map(|(cell, _)| cell.measure).collect();
    assert!(measures.contains(&Measure::Asked) && measures.contains(&Measure::Ended));
    assert!(!measures.contains(&Measure::Intent));
}

/// Many asks of one day produce as many lines as one ask.
pub async fn what_is_read_does_not_grow_with_asks(stage: &Stage) {
    let one = |id: AskId| async move {
        stage.run(person("olga"), AskCommand::Open(id)).await;
        stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    };
    one(stage.ask(saying()).await).await;
    count(stage).await;
    let few = lines(stage, whose()).await;
    for _ in 0..50 {
        one(stage.ask(saying()).await).await;
    }
    count(stage).await;
    let many = lines(stage, whose()).await;
    assert_eq!(many.len(), few.len());
    let asked = |lines: &[StoredCount]| {
        let own =
            |line: &&StoredCount| line.measure == Measure::Asked && line.scope == CountScope::All;
        lines.iter().filter(own).map(|line| line.n).sum::<u64>()
    };
    assert_eq!((asked(&few), asked(&many)), (1, 51));
}
