//! The audit records and the feed: complete, in order, verifiable, erasable.

use std::collections::{BTreeMap, BTreeSet};

use kernel::audit::{Record, Verifier};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::evolve::Entity;
use kernel::question::{Answer, Reply};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId, DirectoryCommand, Subject};

use super::stage::{Stage, bot, person};
use super::tasks;
use crate::{Change, ListScope};

/// A few asks with different outcomes.
async fn play(stage: &Stage) -> Vec<AskId> {
    let mut asks = Vec::new();
    for n in 0..6 {
        let new = NewAsk { timeout: Some(60), on_expiry: NewOnExpiry::Answer(*yes()), ..new_ask() };
        let id = stage.ask(new).await;
        stage.clock.advance(1);
        match n % 3 {
            0 => {
                stage.run(person("olga"), AskCommand::Open(id)).await;
                stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
            }
            1 => {
                stage.run(bot(), AskCommand::Cancel(id, Some("not needed".into()))).await;
            }
            _ => {
                stage.run(Actor::System, AskCommand::Assign(id, human("mark"), None)).await;
            }
        }
        asks.push(id);
    }
    asks
}

async fn chain(stage: &Stage, subject: &Subject) -> Vec<Record> {
    stage.store.chain(subject.clone(), 0, 1000).await.unwrap()
}

/// The state a chain leads to; every link is checked.
fn replay(records: &[Record]) -> Entity {
    let mut verifier = Verifier::default();
    let mut state = None;
    for record in records {
        let event = verifier.check(record).unwrap();
        state = Some(kernel::evolve(state, &event, record.hash).unwrap());
    }
    state.unwrap()
}

pub async fn records_are_in_order(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Open(id)).await;
    stage.run(person("olga"), AskCommand::Progress(id, None)).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let records = chain(stage, &Subject::Ask(id)).await;
    let what: Vec<_> = records.iter().map(|record| (record.seq, record.what)).collect();
    assert_eq!(what, [(1, "asked"), (2, "opened"), (3, "progressed"), (4, "answered")]);
    assert_eq!(records[3].hash, stage.seen(id).await.head.hash);
}

pub async fn every_chain_verifies(stage: &Stage) {
    play(stage).await;
    let mut verifiers: BTreeMap<Subject, Verifier> = BTreeMap::new();
    for (_, record) in stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap() {
        verifiers.entry(record.subject.clone()).or_default().check(&record).unwrap();
    }
    for (subject, verifier) in verifiers {
        let head = match subject {
            Subject::Ask(id) => stage.seen(id).await.head,
            other => stage.store.directory().entity(&other).unwrap().head(),
        };
        assert_eq!(verifier.head(), Some(head));
    }
}

pub async fn state_is_the_replay_of_its_records(stage: &Stage) {
    for id in play(stage).await {
        let replayed = replay(&chain(stage, &Subject::Ask(id)).await);
        assert_eq!(replayed, Entity::Ask(Box::new(stage.seen(id).await)));
    }
}

pub async fn records_come_in_pages(stage: &Stage) {
    let id = play(stage).await[0];
    let whole = chain(stage, &Subject::Ask(id)).await;
    assert_eq!(stage.store.chain(Subject::Ask(id), 1, 1).await.unwrap(), whole[1..2]);
    assert_eq!(stage.store.chain(Subject::Ask(id), 3, 9).await.unwrap(), []);
    let all = stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap();
    let (mut joined, mut position) = (Vec::new(), 0);
    loop {
        let page = stage.store.records(crate::FeedQuery::After(position), 4).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        position = *last;
        joined.extend(page);
    }
    assert_eq!(joined, all);
}

pub async fn positions_grow(stage: &Stage) {
    play(stage).await;
    let changes = stage.store.changes(crate::FeedQuery::After(0), 1000).await.unwrap();
    assert!(changes.is_sorted_by(|one, next| one.position < next.position));
    let records = stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap();
    let told: Vec<Change> = records
        .into_iter()
        .map(|(position, record)| {
            let what = record.what.to_owned();
            Change { position, subject: record.subject, seq: record.seq, at: record.at, what }
        })
        .collect();
    assert_eq!(changes, told);
    let last = changes.last().unwrap().position;
    assert_eq!(stage.store.last_position().await.unwrap(), last);
    let middle = changes[4].position;
    assert_eq!(
        stage.store.changes(crate::FeedQuery::After(middle), 3).await.unwrap(),
        changes[5..8]
    );
}

pub async fn the_feed_tells_what_was_committed(stage: &Stage) {
    let mut feed = stage.store.feed();
    let position = stage
        .store
        .changes(crate::FeedQuery::After(0), 1000)
        .await
        .unwrap()
        .last()
        .unwrap()
        .position;
    play(stage).await;
    stage.attempt(bot(), AskCommand::Cancel(AskId::new(stage.draw()), None)).await.unwrap_err();
    let committed = stage.store.changes(crate::FeedQuery::After(position), 1000).await.unwrap();
    let mut heard = Vec::new();
    while heard.len() < committed.len() {
        heard.extend_from_slice(&feed.recv().await.unwrap());
    }
    for news in &heard {
        let Subject::Ask(id) = news.change.subject else {
            assert_eq!(*news.lists, []);
            continue;
        };
        let ask = stage.seen(id).await;
        assert!(news.lists.contains(&ListScope::Agent(ask.agent.clone())), "{news:?}");
        if news.change.seq == ask.head.seq {
            assert_eq!(*news.lists, ListScope::of(&ask));
        }
    }
    let heard: Vec<Change> = heard.into_iter().map(|news| news.change).collect();
    assert_eq!(heard, committed);
    assert!(feed.is_empty(), "a refusal is not told");
}

pub async fn erasing_keeps_the_chain_and_drops_the_words(stage: &Stage) {
    let asks = play(stage).await;
    for id in [asks[0], asks[1]] {
        let before = chain(stage, &Subject::Ask(id)).await;
        assert!(before[0].body.find("Refund").is_none(), "words are not in what is hashed");
        assert!(before[0].contents.iter().any(|content| content.to_string().contains("Refund")));
        stage.run(Actor::System, AskCommand::Erase(id)).await;
        let after = chain(stage, &Subject::Ask(id)).await;
        assert_eq!(after.len(), before.len() + 1);
        for (erased, was) in after.iter().zip(&before) {
            assert_eq!((&erased.body, erased.hash), (&was.body, was.hash));
            assert_eq!(erased.contents.len(), was.contents.len());
            assert!(erased.contents.iter().all(serde_json::Value::is_null));
        }
        assert_eq!(replay(&after), Entity::Ask(Box::new(stage.seen(id).await)));
        assert_eq!(stage.seen(id).await.question.value(), None);
    }
    let others: BTreeSet<AskId> = asks[2..].iter().copied().collect();
    for id in others {
        assert!(chain(stage, &Subject::Ask(id)).await[0].contents[0].is_object());
    }
}

/// The remaining contents of a chain, as one text.
fn words(records: &[Record]) -> String {
    records.iter().flat_map(|record| &record.contents).map(ToString::to_string).collect()
}

pub async fn erasing_a_checkpoint_drops_the_copy_in_its_task(stage: &Stage) {
    let task = tasks::begun(stage).await;
    let id = stage.run(bot(), tasks::raise(task)).await.ask.unwrap().id;
    let comment = Some("hush".to_owned());
    let reply = Reply { answer: Answer::Approved { edits: None }, comment };
    stage.run(person("olga"), AskCommand::Answer(id, Box::new(reply))).await;
    let before = chain(stage, &Subject::Task(task)).await;
    assert!(words(&before).contains("hush"));
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    let after = chain(stage, &Subject::Task(task)).await;
    assert!(!words(&after).contains("hush"));
    assert!(words(&after).contains("refunds cost"), "the task itself is not erased");
    assert_eq!(after.last().unwrap().what, "checkpoint_erased");
    assert_eq!(after[..before.len()].last().unwrap().hash, before.last().unwrap().hash);
    let kept = stage.store.task(task).await.unwrap().unwrap();
    assert_eq!(replay(&after), Entity::Task(Box::new(kept)));
}

pub async fn erasing_a_person_drops_what_they_wrote(stage: &Stage) {
    let (nina, mark) = (human("nina"), human("mark"));
    let id = stage.ask(new_ask()).await;
    stage.run(Actor::System, AskCommand::Assign(id, nina.clone(), None)).await;
    stage.run(person("nina"), AskCommand::Comment(id, "hush one".to_owned())).await;
    stage.run(bot(), AskCommand::Comment(id, "from the agent".to_owned())).await;
    let comment = Some("hush two".to_owned());
    let reply = Reply { answer: Answer::Approved { edits: None }, comment };
    stage.run(person("nina"), AskCommand::Answer(id, Box::new(reply))).await;
    stage.run(Actor::System, DirectoryCommand::EraseHuman(nina.clone())).await;
    let person = chain(stage, &Subject::Human(nina.clone())).await;
    assert_eq!(person.last().unwrap().what, "human_erased");
    assert!(person.iter().flat_map(|record| &record.contents).all(serde_json::Value::is_null));
    let entity = stage.store.directory().entity(&Subject::Human(nina.clone())).unwrap();
    assert_eq!(replay(&person), entity);
    stage.run(Actor::System, AskCommand::EraseWords(id, nina)).await;
    let records = chain(stage, &Subject::Ask(id)).await;
    let left = words(&records);
    assert!(!left.contains("hush") && left.contains("from the agent"), "{left}");
    assert!(left.contains("approved"), "the answer stays");
    assert_eq!(replay(&records), Entity::Ask(Box::new(stage.seen(id).await)));
    let other = chain(stage, &Subject::Human(mark)).await;
    assert!(other[0].contents[0].is_object());
}
