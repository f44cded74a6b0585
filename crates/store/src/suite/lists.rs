//! Lists: ordered, paged without gaps, counted without scanning.

use std::collections::BTreeSet;

use kernel::ask::{Assignee, Labels, Phase, Priority, Route};
use kernel::command::NewAsk;
use kernel::directory::{EscalationStep, NewProject};
use kernel::question::{Question, QuestionBody, QuestionKind};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId, DirectoryCommand};

use super::stage::{Stage, acme, bot, ids, inbox, list, person, spy};
use crate::listing::{AskListPage, AskListQuery, Count, Filter, ListScope, MARGIN, MAX_EXAMINED};

async fn urgent(stage: &Stage, priority: Priority) -> AskId {
    stage.ask(NewAsk { priority, ..new_ask() }).await
}

/// Creates `n` asks at once.
async fn many(stage: &Stage, n: usize, new: &NewAsk) {
    at_once(stage, (0..n).map(|_| AskCommand::Create(Box::new(new.clone())))).await;
}

/// Runs the commands of an agent, all at once.
async fn at_once(stage: &Stage, commands: impl IntoIterator<Item = AskCommand>) {
    let mut doing = tokio::task::JoinSet::new();
    for command in commands {
        let job = stage.job(bot(), command);
        let store = std::sync::Arc::clone(&stage.store);
        doing.spawn(async move { store.transact(job).await.map(drop) });
    }
    for outcome in doing.join_all().await {
        outcome.unwrap();
    }
}

/// All asks of a list, and the number of pages.
async fn walk(stage: &Stage, mut list: AskListQuery) -> (Vec<AskId>, usize) {
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = stage.page(list.clone()).await;
        seen.extend(ids(&page));
        pages += 1;
        list.after = page.next;
        if list.after.is_none() {
            return (seen, pages);
        }
    }
}

pub async fn newest_come_first(stage: &Stage) {
    let mut made = Vec::new();
    for priority in [Priority::Low, Priority::Critical, Priority::Normal] {
        made.push(urgent(stage, priority).await);
        stage.clock.advance(1);
    }
    made.reverse();
    assert_eq!(stage.ids(acme(), &Phase::OPEN).await, made, "a project's list is not ranked");
    let agent = ListScope::Agent("bot".parse().unwrap());
    assert_eq!(stage.ids(agent, &Phase::OPEN).await, made);
}

pub async fn an_inbox_puts_the_urgent_first(stage: &Stage) {
    let low = urgent(stage, Priority::Low).await;
    let critical = urgent(stage, Priority::Critical).await;
    let older = urgent(stage, Priority::Normal).await;
    stage.clock.advance(1);
    let newer = urgent(stage, Priority::Normal).await;
    let order = stage.ids(inbox("olga"), &Phase::OPEN).await;
    assert_eq!(order, [critical, newer, older, low]);
}

pub async fn a_list_has_only_its_phases(stage: &Stage) {
    let waiting = stage.ask(new_ask()).await;
    let engaged = stage.ask(new_ask()).await;
    let completed = stage.ask(new_ask()).await;
    let cancelled = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Open(engaged)).await;
    stage.run(person("olga"), AskCommand::Answer(completed, yes())).await;
    stage.run(bot(), AskCommand::Cancel(cancelled, None)).await;
    for (phases, expected) in [
        (&[Phase::Waiting][..], vec![waiting]),
        (&[Phase::Completed], vec![completed]),
        (&Phase::OPEN, vec![engaged, waiting]),
        (&[Phase::Cancelled, Phase::Completed], vec![cancelled, completed]),
        (&[], vec![]),
    ] {
        assert_eq!(stage.ids(acme(), phases).await, expected, "{phases:?}");
    }
}

pub async fn an_ask_moves_when_its_phase_does(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    for (command, phase) in [
        (AskCommand::Open(id), Phase::Engaged),
        (AskCommand::Progress(id, None), Phase::Engaged),
        (AskCommand::Answer(id, yes()), Phase::Completed),
    ] {
        stage.run(person("olga"), command).await;
        for there in Phase::ALL {
            let listed = stage.ids(inbox("olga"), &[there]).await;
            assert_eq!(listed.contains(&id), there == phase, "{phase:?} in {there:?}");
        }
        assert_eq!(stage.page(list(vec![acme()], &[phase])).await.asks[0], stage.seen(id).await);
    }
}

pub async fn an_assigned_ask_enters_an_inbox(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    assert_eq!(stage.ids(inbox("mark"), &Phase::ALL).await, []);
    stage.run(person("olga"), AskCommand::Assign(id, human("mark"), None)).await;
    assert_eq!(stage.ids(inbox("mark"), &Phase::OPEN).await, [id]);
    stage.run(Actor::System, AskCommand::Assign(id, human("nina"), None)).await;
    assert_eq!(stage.ids(inbox("mark"), &Phase::ALL).await, []);
    assert_eq!(stage.ids(inbox("nina"), &Phase::OPEN).await, [id]);
    assert_eq!(stage.ids(inbox("olga"), &Phase::OPEN).await, [id], "its owner keeps it");
}

pub async fn an_escalated_ask_enters_an_inbox(stage: &Stage) {
    let ladder =
        vec![EscalationStep { after: 60, assignee: Assignee::Person { human: human("nina") } }];
    let plain = NewProject::plain("acme".parse().unwrap());
    stage
        .run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        )
        .await;
    let id = stage.ask(new_ask()).await;
    assert_eq!(stage.ids(inbox("nina"), &Phase::OPEN).await, []);
    stage.clock.advance(60);
    stage.run(Actor::System, AskCommand::Escalate(id)).await;
    assert_eq!(stage.ids(inbox("nina"), &Phase::OPEN).await, [id]);
    assert_eq!(stage.ids(inbox("nina"), &[Phase::Waiting]).await, [id], "nobody took it up");
}

pub async fn a_pool_is_its_members_inbox(stage: &Stage) {
    let open = stage.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() }).await;
    let legal = Route::Pool { group: Some("legal".parse().unwrap()) };
    let grouped = stage.ask(NewAsk { route: legal, ..new_ask() }).await;
    let directory = stage.store.directory();
    for (who, expected) in [("mark", vec![open]), ("nina", vec![grouped, open]), ("zoe", vec![])] {
        let scopes = ListScope::inbox(directory.human(&human(who)).unwrap());
        let page = stage.page(list(scopes, &Phase::OPEN)).await;
        assert_eq!(ids(&page), expected, "{who}");
    }
}

pub async fn an_ask_in_two_scopes_is_listed_once(stage: &Stage) {
    for _ in 0..5 {
        stage.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() }).await;
    }
    let scopes = ListScope::inbox(stage.store.directory().human(&human("olga")).unwrap());
    assert!(scopes.len() > 1);
    let list = AskListQuery { limit: 2, ..list(scopes, &Phase::OPEN) };
    let (seen, pages) = walk(stage, list.clone()).await;
    assert_eq!((seen.len(), pages), (5, 3));
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 5);
    assert_eq!(stage.store.count(list).await.unwrap(), Count { n: 5, exact: true });
}

pub async fn strangers_lists_are_empty(stage: &Stage) {
    stage.ask(new_ask()).await;
    let rival = ListScope::Project("rival".parse().unwrap());
    for scope in [rival, inbox("zoe"), ListScope::Agent("spy".parse().unwrap())] {
        let page = stage.page(list(vec![scope], &Phase::ALL)).await;
        assert_eq!(page, AskListPage { asks: vec![], next: None });
    }
    stage.run(spy(), AskCommand::Create(Box::new(new_ask()))).await;
    assert_eq!(stage.ids(acme(), &Phase::ALL).await.len(), 1);
}

pub async fn filters_narrow(stage: &Stage) {
    let question = Question::new("What now?", None, QuestionBody::Converse).unwrap();
    let label = |text: &str| Some(text.to_owned());
    let labels = Labels { agent: label("writer"), project: label("novel") };
    let talk = stage.ask(NewAsk { question, labels, ..new_ask() }).await;
    let labels = Labels { agent: label("writer"), project: None };
    let high = stage.ask(NewAsk { priority: Priority::High, labels, ..new_ask() }).await;
    let plain = stage.ask(new_ask()).await;
    let none = Filter::default();
    for (filter, expected) in [
        (none.clone(), vec![plain, high, talk]),
        (Filter { kinds: vec![QuestionKind::Converse], ..none.clone() }, vec![talk]),
        (
            Filter { kinds: vec![QuestionKind::Approve, QuestionKind::Choose], ..none.clone() },
            vec![plain, high],
        ),
        (Filter { priority: Some(Priority::High), ..none.clone() }, vec![high]),
        (Filter { agent_label: label("writer"), ..none.clone() }, vec![high, talk]),
        (Filter { project_label: label("novel"), ..none.clone() }, vec![talk]),
        (Filter { project_label: label("nov"), ..none.clone() }, vec![]),
    ] {
        let list = AskListQuery { filter, ..list(vec![acme()], &Phase::OPEN) };
        let page = stage.page(list.clone()).await;
        assert_eq!(ids(&page), expected, "{:?}", list.filter);
        let n = expected.len() as u64;
        assert_eq!(stage.store.count(list).await.unwrap(), Count { n, exact: true });
    }
}

pub async fn pages_join_without_gaps_while_others_ask(stage: &Stage) {
    let mut made = Vec::new();
    for _ in 0..25 {
        made.push(stage.ask(new_ask()).await);
        stage.clock.advance(1);
    }
    made.reverse();
    let mut list = AskListQuery { limit: 4, ..list(vec![acme()], &Phase::OPEN) };
    let mut seen = Vec::new();
    loop {
        let page = stage.page(list.clone()).await;
        seen.extend(ids(&page));
        list.after = page.next;
        if list.after.is_none() {
            break;
        }
        stage.ask(new_ask()).await;
        stage.clock.advance(1);
        // The ask that the cursor points at is closed; the cursor stays valid.
        stage.run(bot(), AskCommand::Cancel(*seen.last().unwrap(), None)).await;
    }
    assert_eq!(seen, made);
}

pub async fn an_inbox_pages_across_ranks(stage: &Stage) {
    for n in 0..20 {
        urgent(stage, Priority::ALL[n % 4]).await;
        stage.clock.advance(1);
    }
    let whole = stage.ids(inbox("olga"), &Phase::OPEN).await;
    assert_eq!(whole.len(), 20);
    for limit in [1, 3, 5, 7] {
        let list = AskListQuery { limit, ..list(vec![inbox("olga")], &Phase::OPEN) };
        let (seen, pages) = walk(stage, list).await;
        assert_eq!(seen, whole);
        assert_eq!(pages, 20_usize.div_ceil(limit));
    }
}

pub async fn the_last_page_says_so(stage: &Stage) {
    for _ in 0..6 {
        stage.ask(new_ask()).await;
    }
    let list = AskListQuery { limit: 3, ..list(vec![inbox("olga")], &Phase::OPEN) };
    let first = stage.page(list.clone()).await;
    assert_eq!(first.asks.len(), 3);
    let cursor = first.next.unwrap();
    assert_eq!((cursor.rank, cursor.ask), (Priority::Normal.rank(), first.asks[2].id));
    let last = stage.page(AskListQuery { after: Some(cursor), ..list }).await;
    assert_eq!((last.asks.len(), last.next), (3, None));
}

pub async fn a_page_that_looked_long_enough_goes_on(stage: &Stage) {
    let labels = Labels { agent: Some("writer".to_owned()), project: None };
    let rare = stage.ask(NewAsk { labels, ..new_ask() }).await;
    stage.clock.advance(1);
    many(stage, MAX_EXAMINED, &new_ask()).await;
    let filter = Filter { agent_label: Some("writer".to_owned()), ..Filter::default() };
    let list = AskListQuery { filter, ..list(vec![acme()], &Phase::OPEN) };
    let first = stage.page(list.clone()).await;
    assert_eq!(first.asks, []);
    assert!(first.next.is_some());
    let (seen, pages) = walk(stage, list).await;
    assert_eq!((seen, pages), (vec![rare], 2));
}

/// Revoking changes no other list, and the list of revoked asks is paged like any other.
pub async fn what_was_revoked_is_listed(stage: &Stage) {
    let over = [Phase::Completed, Phase::Expired, Phase::Cancelled, Phase::Failed];
    let mut revoked = Vec::new();
    for n in 0..5 {
        let id = stage.ask(new_ask()).await;
        stage.clock.advance(1);
        let end = if n == 2 { AskCommand::Cancel(id, None) } else { AskCommand::Answer(id, yes()) };
        stage.run(if n == 2 { bot() } else { person("olga") }, end).await;
        let before = stage.ids(inbox("olga"), &over).await;
        if n > 0 {
            stage.run(Actor::System, AskCommand::Revoke(id, "a mistake".to_owned())).await;
            revoked.insert(0, id);
        }
        assert_eq!(stage.ids(inbox("olga"), &over).await, before, "where it was");
        assert_eq!(stage.ids(ListScope::Revoked, &over).await, revoked);
    }
    let (seen, pages) =
        walk(stage, AskListQuery { limit: 3, ..list(vec![ListScope::Revoked], &over) }).await;
    assert_eq!((seen, pages), (revoked.clone(), 2));
    // An ask stays revoked after its text is erased.
    stage.run(Actor::System, AskCommand::Erase(revoked[0])).await;
    stage.run(Actor::System, AskCommand::Revoke(revoked[1], "again".to_owned())).await;
    assert_eq!(stage.ids(ListScope::Revoked, &over).await, revoked);
    assert_eq!(stage.ids(ListScope::Revoked, &Phase::OPEN).await, []);
}

pub async fn counts_are_exact_when_small(stage: &Stage) {
    let list = list(vec![inbox("olga")], &Phase::OPEN);
    assert_eq!(stage.store.count(list.clone()).await.unwrap(), Count { n: 0, exact: true });
    for n in 0..9 {
        urgent(stage, Priority::ALL[n % 4]).await;
    }
    let short = AskListQuery { limit: 2, ..list };
    assert_eq!(stage.store.count(short).await.unwrap(), Count { n: 9, exact: true });
}

pub async fn counts_are_estimates_when_large(stage: &Stage) {
    let list = list(vec![acme()], &Phase::OPEN);
    for _ in 0..20 {
        many(stage, MAX_EXAMINED / 20, &new_ask()).await;
        stage.clock.advance(10);
    }
    let exact = Count { n: MAX_EXAMINED as u64, exact: true };
    assert_eq!(stage.store.count(list.clone()).await.unwrap(), exact);
    for _ in 0..10 {
        many(stage, MAX_EXAMINED / 20, &new_ask()).await;
        stage.clock.advance(10);
    }
    let Count { n, exact } = stage.store.count(list).await.unwrap();
    assert!(!exact);
    assert!((13_000..17_000).contains(&n), "{n} for 15,000");
}

pub async fn a_list_that_became_short_is_counted(stage: &Stage) {
    many(stage, MAX_EXAMINED + MARGIN + 1, &new_ask()).await;
    let list = list(vec![acme()], &Phase::OPEN);
    let count = async || stage.store.count(list.clone()).await.unwrap();
    assert!(!count().await.exact);
    let cancel = async |n: usize| {
        let page = stage.page(AskListQuery { limit: n, ..list.clone() }).await;
        let commands = page.asks.iter().map(|ask| AskCommand::Cancel(ask.id, None));
        at_once(stage, commands).await;
    };
    cancel(1).await;
    cancel(MARGIN).await;
    let exact = Count { n: MAX_EXAMINED as u64, exact: true };
    assert_eq!(count().await, exact);
    at_once(stage, [AskCommand::Create(Box::new(new_ask()))]).await;
    assert_eq!(count().await, Count { n: exact.n + 1, exact: true });
}
