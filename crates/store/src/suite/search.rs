//! Full-text search: the newest matches, in one's own lists, and never erased text.

use kernel::ask::Route;
use kernel::command::NewAsk;
use kernel::question::{Question, QuestionBody, QuestionKind};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId};

use super::stage::{Stage, bot, inbox, person, spy};
use crate::listing::{Filter, ListScope};
use crate::search::{MAX_RESULTS, SearchQuery};

fn about(prompt: &str) -> NewAsk {
    let question = Question::new(prompt, None, new_ask().question.body().clone()).unwrap();
    NewAsk { question, ..new_ask() }
}

fn everywhere(words: &str) -> SearchQuery {
    let (words, filter) = (words.to_owned(), Filter::default());
    SearchQuery { words, scopes: None, filter, open: None, limit: MAX_RESULTS }
}

async fn up_to_date(stage: &Stage) {
    while stage.store.index(7).await.unwrap() > 0 {}
}

async fn found(stage: &Stage, wanted: SearchQuery) -> Vec<AskId> {
    up_to_date(stage).await;
    stage.store.search(wanted).await.unwrap().iter().map(|ask| ask.id).collect()
}

pub async fn every_word_counts_and_the_last_may_be_unfinished(stage: &Stage) {
    let ada = stage.ask(about("Refund order 4711 of Ada Lovelace?")).await;
    let bob = stage.ask(about("Refund order 7 of Bob O'Neil: \"quick\" \\ & | ! (now):*")).await;
    let cyrillic = stage.ask(about("Вернуть Ивану, 退款")).await;
    for (words, expected) in [
        ("refund", vec![bob, ada]),
        ("REFUND", vec![bob, ada]),
        ("re", vec![bob, ada]),
        ("refu", vec![bob, ada]),
        ("refun", vec![bob, ada]),
        ("refunds", vec![]),
        ("refund ada", vec![ada]),
        ("ada refund", vec![ada]),
        ("ada ref", vec![ada]),
        ("ad refund", vec![]),
        ("lovelac", vec![ada]),
        ("4711", vec![ada]),
        ("47", vec![ada]),
        ("7", vec![bob]),
        ("o'neil quick", vec![bob]),
        ("\"quick\" \\", vec![bob]),
        ("quick OR ada", vec![]),
        ("NOT refund", vec![]),
        ("вернуть", vec![cyrillic]),
        ("ивану вер", vec![cyrillic]),
        ("款", vec![cyrillic]),
        ("*", vec![]),
        ("", vec![]),
        ("\u{E000}", vec![]),
    ] {
        assert_eq!(found(stage, everywhere(words)).await, expected, "{words:?}");
    }
}

/// Comments, options, the agent's name and the comment of the answer are indexed.
pub async fn everything_that_was_said_is_looked_into(stage: &Stage) {
    let id = stage.ask(about("Deploy?")).await;
    let talk =
        Question::new("Hello", Some("a greeting".to_owned()), QuestionBody::Converse).unwrap();
    let other = stage.ask(NewAsk { question: talk, ..new_ask() }).await;
    stage.run(bot(), AskCommand::Comment(id, "the customer called".to_owned())).await;
    let mut reply = yes();
    reply.comment = Some("because of tuesday".to_owned());
    stage.run(person("olga"), AskCommand::Answer(id, reply)).await;
    for (words, expected) in [
        ("customer", vec![id]),
        ("tuesday deploy", vec![id]),
        ("greeting", vec![other]),
        ("bot", vec![other, id]),
        ("acme", vec![other, id]),
    ] {
        assert_eq!(found(stage, everywhere(words)).await, expected, "{words}");
    }
}

/// A search is limited to one's own lists, whichever other asks contain the word, and follows
/// changes of the lists.
pub async fn a_search_stays_in_its_lists(stage: &Stage) {
    let id = stage.ask(about("Refund Ada?")).await;
    let foreign = stage.run(spy(), AskCommand::Create(Box::new(about("Refund Eve?")))).await;
    let foreign = foreign.ask.unwrap().id;
    let pool = NewAsk { route: Route::Pool { group: None }, ..about("Refund the pool?") };
    let pooled = stage.ask(pool).await;
    let within =
        |scopes: Vec<ListScope>| SearchQuery { scopes: Some(scopes), ..everywhere("refund") };
    assert_eq!(found(stage, everywhere("refund")).await, [pooled, foreign, id]);
    assert_eq!(found(stage, within(vec![inbox("olga")])).await, [pooled, id]);
    assert_eq!(found(stage, within(vec![inbox("mark")])).await, []);
    assert_eq!(found(stage, within(vec![])).await, []);
    let directory = stage.store.directory();
    let mark = ListScope::inbox(directory.human(&human("mark")).unwrap());
    assert_eq!(found(stage, within(mark.clone())).await, [pooled]);
    stage.run(person("olga"), AskCommand::Assign(id, human("mark"), None)).await;
    assert_eq!(found(stage, within(mark)).await, [pooled, id]);
    let spied = Filter { agent: Some("spy".parse().unwrap()), ..Filter::default() };
    assert_eq!(
        found(stage, SearchQuery { filter: spied, ..everywhere("refund") }).await,
        [foreign]
    );
    let talks = Filter { kinds: vec![QuestionKind::Converse], ..Filter::default() };
    assert_eq!(found(stage, SearchQuery { filter: talks, ..everywhere("refund") }).await, []);
    stage.run(person("olga"), AskCommand::Answer(pooled, yes())).await;
    let open = |open| SearchQuery { open: Some(open), ..everywhere("refund") };
    assert_eq!(found(stage, open(true)).await, [foreign, id]);
    assert_eq!(found(stage, open(false)).await, [pooled]);
}

pub async fn the_newest_are_found(stage: &Stage) {
    let mut made = Vec::new();
    for n in 0..MAX_RESULTS + 10 {
        made.push(stage.ask(about(&format!("Approve request {n}"))).await);
        stage.clock.advance(1);
    }
    made.reverse();
    assert_eq!(found(stage, everywhere("approve")).await, made[..MAX_RESULTS]);
    assert_eq!(found(stage, everywhere("approve req")).await, made[..MAX_RESULTS]);
    assert_eq!(found(stage, SearchQuery { limit: 3, ..everywhere("appro") }).await, made[..3]);
    // Many asks contain the word, one of them is closed.
    let over = made.last().copied().unwrap();
    stage.run(Actor::System, AskCommand::Cancel(over, None)).await;
    let open = |open| SearchQuery { open: Some(open), ..everywhere("approve") };
    assert_eq!(found(stage, open(false)).await, [over]);
    assert_eq!(found(stage, open(true)).await, made[..MAX_RESULTS]);
}

/// An erased ask is not found, even if the index was not updated yet.
pub async fn what_was_erased_is_not_found(stage: &Stage) {
    let id = stage.ask(about("Refund Ada?")).await;
    let other = stage.ask(about("Refund Bob?")).await;
    assert_eq!(found(stage, everywhere("refund")).await, [other, id]);
    stage.run(Actor::System, AskCommand::Cancel(id, None)).await;
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    let before: Vec<AskId> =
        stage.store.search(everywhere("ada")).await.unwrap().iter().map(|ask| ask.id).collect();
    assert_eq!(before, []);
    assert_eq!(found(stage, everywhere("ada")).await, []);
    assert_eq!(found(stage, everywhere("refund")).await, [other]);
    assert_eq!(stage.store.index(7).await.unwrap(), 0, "nothing is left to do");
}
