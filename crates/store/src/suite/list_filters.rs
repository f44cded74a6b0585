//! Intersections of lists, lists by similarity key, and asks that are due soon.

use kernel::ask::{Phase, Priority, Route, SimilarityKey};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{Answer, Question, QuestionBody, QuestionKind, Reply};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId};

use super::stage::{Stage, bot, ids, inbox, list, person, spy};
use crate::listing::{AskListQuery, Count, ExpiringQuery, Filter, ListScope, MAX_EXAMINED, Order};

fn named(prompt: &str) -> NewAsk {
    let question = Question::new(prompt, None, new_ask().question.body().clone()).unwrap();
    NewAsk { question, ..new_ask() }
}

fn talk() -> NewAsk {
    let question = Question::new("What now?", None, QuestionBody::Converse).unwrap();
    NewAsk { question, ..new_ask() }
}

async fn as_spy(stage: &Stage, new: NewAsk) -> AskId {
    stage.run(spy(), AskCommand::Create(Box::new(new))).await.ask.unwrap().id
}

/// All asks of a list, page by page.
async fn walk(stage: &Stage, mut list: AskListQuery) -> Vec<AskId> {
    let mut seen = Vec::new();
    loop {
        let page = stage.page(list.clone()).await;
        seen.extend(ids(&page));
        list.after = page.next;
        if list.after.is_none() {
            return seen;
        }
    }
}

pub async fn everything_is_in_the_lists_of_kinds(stage: &Stage) {
    let approve = stage.ask(new_ask()).await;
    let other = as_spy(stage, talk()).await;
    let urgent = stage.ask(NewAsk { priority: Priority::Critical, ..talk() }).await;
    let all = list(ListScope::everything(), &Phase::OPEN);
    let by_urgency = AskListQuery { order: Order::Urgency, ..all.clone() };
    assert_eq!(walk(stage, by_urgency).await, [urgent, other, approve]);
    assert_eq!(walk(stage, AskListQuery { limit: 1, ..all }).await, [urgent, other, approve]);
    let talks = list(vec![ListScope::Kind(QuestionKind::Converse)], &Phase::OPEN);
    assert_eq!(walk(stage, talks).await, [urgent, other]);
}

/// In any interleaving, and with pages of any size.
pub async fn a_narrowed_list_is_where_lists_meet(stage: &Stage) {
    let mut made = Vec::new();
    for n in 0..40 {
        let priority = Priority::ALL[n % 3];
        let route = if n % 5 == 0 { Route::Pool { group: None } } else { Route::Owner };
        let base = if n % 4 == 0 { talk() } else { new_ask() };
        let new = NewAsk { priority, route, ..base };
        let id = if n % 7 == 0 { as_spy(stage, new).await } else { stage.ask(new).await };
        stage.clock.advance(1);
        made.push(id);
        if n % 6 == 0 && n % 7 != 0 {
            stage.run(person("olga"), AskCommand::Answer(id, Box::new(answer(n)))).await;
        }
    }
    let none = Filter::default();
    let (bot, acme) = ("bot".parse().unwrap(), "acme".parse().unwrap());
    let filters = [
        Filter { agent: Some(bot), ..none.clone() },
        Filter { project: Some(acme), ..none.clone() },
        Filter { kinds: vec![QuestionKind::Converse], ..none.clone() },
        Filter { kinds: vec![QuestionKind::Converse, QuestionKind::Choose], ..none.clone() },
        Filter { by: Some(human("olga")), ..none.clone() },
        Filter { priority: Some(Priority::High), ..none.clone() },
        Filter {
            agent: Some("bot".parse().unwrap()),
            project: Some("acme".parse().unwrap()),
            kinds: vec![QuestionKind::Converse],
            ..none.clone()
        },
        Filter { agent: Some("spy".parse().unwrap()), by: Some(human("olga")), ..none },
    ];
    let olga = ListScope::inbox(stage.store.directory().human(&human("olga")).unwrap());
    for scopes in [ListScope::everything(), olga, vec![inbox("olga")]] {
        for order in [Order::Urgency, Order::Age] {
            let whole = AskListQuery { order, ..list(scopes.clone(), &Phase::ALL) };
            let all = stage.page(whole.clone()).await.asks;
            assert!(all.len() > 20);
            for filter in &filters {
                let fits = all.iter().filter(|ask| filter.admits(ask));
                let expected: Vec<AskId> = fits.map(|ask| ask.id).collect();
                for limit in [1, 3, 100] {
                    let list = AskListQuery { filter: filter.clone(), limit, ..whole.clone() };
                    let seen = walk(stage, list.clone()).await;
                    assert_eq!(seen, expected, "{order:?} {limit} {filter:?}");
                    let n = expected.len() as u64;
                    let count = stage.store.count(list).await.unwrap();
                    assert_eq!(count, Count { n, exact: true }, "{filter:?}");
                }
            }
        }
    }
}

fn answer(n: usize) -> Reply {
    if n.is_multiple_of(4) {
        Reply { answer: Answer::Replied { text: "so".to_owned() }, comment: None }
    } else {
        *yes()
    }
}

/// A few matches among many asks, at the far end of both lists, are on the first page.
pub async fn what_is_rare_is_found_without_reading_the_rest(stage: &Stage) {
    let rare = stage.ask(talk()).await;
    stage.clock.advance(1);
    let jobs = (0..MAX_EXAMINED).map(|_| AskCommand::Create(Box::new(new_ask())));
    let mut doing = tokio::task::JoinSet::new();
    for command in jobs {
        let (job, store) = (stage.job(bot(), command), std::sync::Arc::clone(&stage.store));
        doing.spawn(async move { store.transact(job).await.map(drop) });
    }
    for outcome in doing.join_all().await {
        outcome.unwrap();
    }
    let filter = Filter { kinds: vec![QuestionKind::Converse], ..Filter::default() };
    let page = stage.page(AskListQuery { filter, ..list(vec![inbox("olga")], &Phase::OPEN) }).await;
    assert_eq!((ids(&page), page.next), (vec![rare], None));
}

/// Open asks of one agent that differ only in their numbers have the same similarity key.
pub async fn what_is_nearly_the_same_has_one_key(stage: &Stage) {
    let one = stage.ask(named("Refund order 7 of Ada?")).await;
    let two = stage.ask(named("Refund order 4711 of Ada?")).await;
    let other = stage.ask(named("Refund order 7 of Bob?")).await;
    let fold = |ask: &kernel::Ask| ask.similarity_key().unwrap();
    let key = fold(&stage.seen(one).await);
    let members = async |key: SimilarityKey| {
        let filter =
            Filter { fold: Some(key), agent: Some("bot".parse().unwrap()), ..Filter::default() };
        walk(stage, AskListQuery { filter, ..list(vec![inbox("olga")], &Phase::OPEN) }).await
    };
    assert_eq!(members(key).await, [two, one]);
    assert_eq!(members(fold(&stage.seen(other).await)).await, [other]);
    stage.run(person("olga"), AskCommand::Open(one)).await;
    assert_eq!(members(key).await, [two, one], "wherever it moves");
    stage.run(person("olga"), AskCommand::Answer(two, yes())).await;
    assert_eq!(members(key).await, [one]);
}

/// Soonest first, in the lists of people, pools and kinds; a changed deadline moves the ask.
pub async fn what_runs_out_soon_comes_first(stage: &Stage) {
    let begun = stage.now();
    let until = |seconds| begun.plus_seconds(seconds);
    let timed = |seconds, base: NewAsk| NewAsk {
        timeout: Some(seconds),
        on_expiry: NewOnExpiry::Fail,
        ..base
    };
    let late = stage.ask(timed(300, new_ask())).await;
    let soon = stage.ask(timed(100, talk())).await;
    let pool = timed(200, NewAsk { route: Route::Pool { group: None }, ..new_ask() });
    let pooled = stage.ask(pool).await;
    stage.ask(new_ask()).await;
    // It stays open after its deadline, but is listed as due all the same.
    let stays = stage.ask(NewAsk { timeout: Some(50), ..new_ask() }).await;
    let directory = stage.store.directory();
    let olga = ListScope::inbox(directory.human(&human("olga")).unwrap());
    let read = async |scopes: &[ListScope], seconds: u64, limit: usize| {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let wanted =
                ExpiringQuery { scopes: scopes.to_vec(), until: until(seconds), after, limit };
            let asks = stage.store.expiring(wanted).await.unwrap();
            let Some(last) = asks.last() else { return seen };
            after = last.due_at().map(|at| (at, last.id));
            seen.extend(asks.iter().map(|ask| ask.id));
        }
    };
    for limit in [1, 2, 10] {
        assert_eq!(read(&olga, 300, limit).await, [stays, soon, pooled, late]);
        assert_eq!(read(&ListScope::everything(), 300, limit).await, [stays, soon, pooled, late]);
    }
    assert_eq!(read(&olga, 299, 10).await, [stays, soon, pooled]);
    stage.run(person("olga"), AskCommand::Answer(stays, yes())).await;
    assert_eq!(read(&olga, 299, 10).await, [soon, pooled]);
    assert_eq!(read(&[ListScope::Kind(QuestionKind::Converse)], 300, 10).await, [soon]);
    assert_eq!(read(&[inbox("mark")], 300, 10).await, []);
    stage.run(bot(), AskCommand::Extend(soon, until(250))).await;
    assert_eq!(read(&olga, 300, 10).await, [pooled, soon, late]);
    stage.run(person("olga"), AskCommand::Assign(late, human("mark"), None)).await;
    assert_eq!(read(&[inbox("mark")], 300, 10).await, [late]);
    stage.run(person("mark"), AskCommand::Answer(late, yes())).await;
    stage.run(Actor::System, AskCommand::Cancel(pooled, None)).await;
    assert_eq!(read(&olga, 300, 10).await, [soon]);
}
