//! Streams: the events of agents' asks, resumed exactly.

use kernel::testing::{new_ask, yes};
use kernel::{AgentId, AskCommand, AskId, Subject};

use super::stage::{Stage, bot, person, spy};
use crate::Change;

fn named(name: &str) -> AgentId {
    name.parse().unwrap()
}

async fn ask(stage: &Stage, actor: kernel::Actor) -> AskId {
    stage.run(actor, AskCommand::Create(Box::new(new_ask()))).await.ask.unwrap().id
}

/// All events of a stream after a position, read in pages.
async fn all(stage: &Stage, agents: &[AgentId], mut after: u64, page: usize) -> Vec<Change> {
    let mut read = Vec::new();
    loop {
        let more = stage
            .store
            .changes(crate::FeedQuery::Agents(agents.to_vec(), after), page)
            .await
            .unwrap();
        let Some(last) = more.last() else { return read };
        assert!(more.len() <= page);
        after = last.position;
        read.extend(more);
    }
}

/// The same from the whole feed, filtered by the agent's asks.
async fn expected(stage: &Stage, asks: &[AskId], after: u64) -> Vec<Change> {
    let changes = stage.store.changes(crate::FeedQuery::After(after), 10_000).await.unwrap();
    let own = |change: &Change| match change.subject {
        Subject::Ask(id) => asks.contains(&id),
        _ => false,
    };
    changes.into_iter().filter(own).collect()
}

pub async fn a_stream_has_all_of_an_agent_and_nothing_else(stage: &Stage) {
    let mine = [ask(stage, bot()).await, ask(stage, bot()).await];
    let theirs = ask(stage, spy()).await;
    stage.run(person("olga"), AskCommand::Open(mine[0])).await;
    stage.run(spy(), AskCommand::Cancel(theirs, None)).await;
    stage.run(person("olga"), AskCommand::Answer(mine[0], yes())).await;
    stage.run(bot(), AskCommand::Cancel(mine[1], None)).await;
    let told = all(stage, &[named("bot")], 0, 100).await;
    assert_eq!(told, expected(stage, &mine, 0).await);
    let names: Vec<&str> = told.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(names, ["asked", "asked", "opened", "answered", "cancelled"]);
    assert_eq!(all(stage, &[named("nobody")], 0, 100).await, []);
    assert_eq!(all(stage, &[], 0, 100).await, []);
    let last = stage.store.last_position().await.unwrap();
    assert_eq!(last, told.last().unwrap().position);
    assert_eq!(
        stage.store.changes(crate::FeedQuery::Agents(vec![named("bot")], last), 10).await.unwrap(),
        []
    );
    assert_eq!(
        stage
            .store
            .changes(crate::FeedQuery::Agents(vec![named("bot")], u64::MAX), 10)
            .await
            .unwrap(),
        []
    );
}

pub async fn a_stream_goes_on_where_it_was_left(stage: &Stage) {
    for _ in 0..4 {
        let id = ask(stage, bot()).await;
        ask(stage, spy()).await;
        stage.run(person("olga"), AskCommand::Open(id)).await;
    }
    let whole = all(stage, &[named("bot")], 0, 1000).await;
    assert_eq!(whole.len(), 8);
    for page in [1, 2, 3, 7] {
        assert_eq!(all(stage, &[named("bot")], 0, page).await, whole, "in pages of {page}");
    }
    for (n, change) in whole.iter().enumerate() {
        assert_eq!(all(stage, &[named("bot")], change.position, 3).await, whole[n + 1..]);
    }
}

pub async fn a_stream_of_several_agents_is_merged(stage: &Stage) {
    let mut asks = Vec::new();
    for _ in 0..5 {
        asks.push(ask(stage, bot()).await);
        asks.push(ask(stage, spy()).await);
    }
    stage.run(bot(), AskCommand::Cancel(asks[0], None)).await;
    let both = [named("spy"), named("bot")];
    let whole = expected(stage, &asks, 0).await;
    assert_eq!(whole.len(), 11);
    for page in [1, 2, 4, 100] {
        assert_eq!(all(stage, &both, 0, page).await, whole, "in pages of {page}");
    }
}

pub async fn a_stream_misses_nothing_while_others_write(stage: &Stage) {
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..60 {
        let actor = if n % 2 == 0 { bot() } else { spy() };
        let job = stage.job(actor, AskCommand::Create(Box::new(new_ask())));
        let store = std::sync::Arc::clone(&stage.store);
        writers.spawn(async move { store.transact(job).await.unwrap() });
    }
    let both = vec![named("bot"), named("spy")];
    let (mut read, mut after) = (Vec::new(), 0);
    while read.len() < 60 {
        let more =
            stage.store.changes(crate::FeedQuery::Agents(both.clone(), after), 7).await.unwrap();
        after = more.last().map_or(after, |change| change.position);
        read.extend(more);
        tokio::task::yield_now().await;
    }
    writers.join_all().await;
    assert_eq!(read, all(stage, &both, 0, 1000).await, "read along, and read afterwards");
}

pub async fn the_history_of_an_ask_has_its_positions(stage: &Stage) {
    let id = ask(stage, bot()).await;
    ask(stage, bot()).await;
    stage.run(person("olga"), AskCommand::Open(id)).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let whole = expected(stage, &[id], 0).await;
    assert_eq!(
        stage.store.changes(crate::FeedQuery::Subject(Subject::Ask(id), 0), 100).await.unwrap(),
        whole
    );
    assert_eq!(
        stage.store.changes(crate::FeedQuery::Subject(Subject::Ask(id), 1), 1).await.unwrap(),
        whole[1..2]
    );
    assert_eq!(
        stage.store.changes(crate::FeedQuery::Subject(Subject::Ask(id), 3), 100).await.unwrap(),
        []
    );
}
