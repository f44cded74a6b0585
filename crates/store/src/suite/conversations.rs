//! Conversations that people begin: created once, listed by agent, continued from their newest ask.

use std::collections::BTreeSet;

use kernel::ask::Phase;
use kernel::directory::NewAgent;
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId, DirectoryCommand, Refusal};

use super::stage::{Stage, bot, inbox, list, person, spy};
use crate::StoreError;
use crate::listing::{AskListQuery, Filter, ListScope};
use crate::search::SearchQuery;

/// The conversations that people began with `bot`.
fn begun() -> ListScope {
    ListScope::Begun("bot".parse().unwrap())
}

async fn takes_conversations(stage: &Stage) {
    for (id, project, owner) in [("bot", "acme", "olga"), ("spy", "rival", "zoe")] {
        let (id, project) = (id.parse().unwrap(), project.parse().unwrap());
        let new = NewAgent { id, project, owner: human(owner), conversations: Some(true) };
        stage.run(Actor::System, DirectoryCommand::SaveAgent(new)).await;
    }
}

fn to(agent: &str, text: &str) -> AskCommand {
    AskCommand::Write(agent.parse().unwrap(), text.to_owned().into())
}

async fn write(stage: &Stage, who: &str, text: &str) -> AskId {
    let id = stage.run(person(who), to("bot", text)).await.ask.unwrap().id;
    stage.clock.advance(1);
    id
}

async fn reply(stage: &Stage, conversation: AskId) -> AskId {
    let command = AskCommand::Reply(conversation, Box::new(new_ask()));
    stage.run(bot(), command).await.ask.unwrap().id
}

/// A message that a person writes is closed at once: its retention starts then, even if no
/// agent ever replies.
pub async fn what_was_written_is_kept_as_long_as_anything_else(stage: &Stage) {
    takes_conversations(stage).await;
    let id = write(stage, "mark", "hi").await;
    let (now, lease) = (stage.now(), std::time::Duration::from_secs(30));
    let project: kernel::ProjectId = "acme".parse().unwrap();
    let over = stage.store.claim_ended(project, now, now, lease, 10).await.unwrap();
    assert_eq!(over, [id]);
}

pub async fn what_was_written_to_an_agent_is_listed(stage: &Stage) {
    takes_conversations(stage).await;
    let mut written = Vec::new();
    for who in ["mark", "nina", "mark"] {
        written.insert(0, write(stage, who, "hi").await);
    }
    stage.ask(new_ask()).await;
    stage.run(person("zoe"), to("spy", "psst")).await;
    reply(stage, written[0]).await;
    assert_eq!(stage.ids(begun(), &[Phase::Completed]).await, written);
    let first =
        stage.page(AskListQuery { limit: 2, ..list(vec![begun()], &[Phase::Completed]) }).await;
    let rest = AskListQuery { after: first.next, ..list(vec![begun()], &[Phase::Completed]) };
    assert_eq!(stage.page(rest).await.asks[0].id, written[2]);
    stage.run(Actor::System, AskCommand::Erase(written[1])).await;
    assert_eq!(stage.ids(begun(), &[Phase::Completed]).await, written, "where it was");
    // The message asks no one anything.
    assert_eq!(stage.ids(inbox("nina"), &Phase::OPEN).await, []);
}

pub async fn a_conversation_goes_on_from_its_newest_ask(stage: &Stage) {
    takes_conversations(stage).await;
    let opening = write(stage, "mark", "hi").await;
    let first = reply(stage, opening).await;
    stage.run(person("mark"), AskCommand::Answer(first, yes())).await;
    let second = reply(stage, opening).await;
    let third = reply(stage, opening).await;
    for (id, follows) in [(first, opening), (second, first), (third, second)] {
        assert_eq!(stage.seen(id).await.follows, Some(follows));
        assert_eq!(stage.seen(follows).await.followed_by, Some(id));
    }
    assert_eq!(stage.seen(opening).await.latest, Some(third));
    assert_eq!(stage.ids(inbox("mark"), &Phase::OPEN).await.len(), 2);
    let stolen = stage.attempt(spy(), AskCommand::Reply(opening, Box::new(new_ask()))).await;
    let unknown = Refusal::NotFound { what: "conversation" };
    assert!(matches!(stolen, Err(StoreError::Refused(refusal)) if refusal == unknown));
}

pub async fn of_many_replies_at_once_each_follows_another(stage: &Stage) {
    takes_conversations(stage).await;
    let opening = write(stage, "mark", "hi").await;
    let mut doing = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let job = stage.job(bot(), AskCommand::Reply(opening, Box::new(new_ask())));
        let store = std::sync::Arc::clone(&stage.store);
        doing.spawn(async move { store.transact(job).await.map(drop) });
    }
    for outcome in doing.join_all().await {
        outcome.unwrap();
    }
    let (mut seen, mut at) = (BTreeSet::new(), Some(opening));
    while let Some(id) = at {
        assert!(seen.insert(id), "no circle");
        let ask = stage.seen(id).await;
        at = ask.followed_by;
        if at.is_none() {
            assert_eq!(stage.seen(opening).await.latest, Some(id));
        }
    }
    assert_eq!(seen.len(), 13);
}

pub async fn what_was_written_is_written_once(stage: &Stage) {
    takes_conversations(stage).await;
    let send = async |text: &str, print: &str| {
        stage.store.transact(stage.keyed(person("mark"), to("bot", text), "key", print)).await
    };
    let first = send("hi", "hi").await.unwrap();
    let again = send("hi", "hi").await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.ask.unwrap().id, first.ask.unwrap().id);
    let other = send("ho", "ho").await;
    assert!(matches!(other, Err(StoreError::Refused(Refusal::IdempotencyMismatch))));
    assert_eq!(stage.ids(begun(), &[Phase::Completed]).await.len(), 1);
}

pub async fn a_conversation_is_found_by_its_words_until_they_are_erased(stage: &Stage) {
    takes_conversations(stage).await;
    let id = write(stage, "mark", "the aubergine invoice").await;
    let found = async || {
        let wanted = SearchQuery {
            words: "aubergine".to_owned(),
            scopes: Some(vec![inbox("mark")]),
            filter: Filter::default(),
            open: None,
            limit: 10,
        };
        while stage.store.index(7).await.unwrap() > 0 {}
        let found = stage.store.search(wanted).await.unwrap();
        found.iter().map(|ask| ask.id).collect::<Vec<_>>()
    };
    assert_eq!(found().await, [id]);
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    assert_eq!(found().await, []);
    // The agent of the conversation can continue it all the same.
    let next = stage.run(bot(), AskCommand::Reply(id, Box::new(new_ask()))).await;
    assert_eq!(next.ask.unwrap().follows, Some(id));
}
