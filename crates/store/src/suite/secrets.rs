//! Secret answers, and bot tokens that agents lend.

use std::sync::Arc;

use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::question::{Answer, Question, QuestionBody, Reply, SecretValues};
use kernel::testing::new_ask;
use kernel::{AskCommand, AskId};
use serde_json::json;

use super::stage::{Stage, person};
use crate::{Job, SECRET_READABLE_FOR, SecretCipher, SideKind, SideSelection, StoreError};

fn asks_for_a_secret() -> NewAsk {
    let field = json!({ "key": "token", "label": "Token", "type": "text", "sensitive": true });
    let form = serde_json::from_value(json!({ "fields": [field] })).unwrap();
    let question = Question::new("Which token?", None, QuestionBody::Provide { form }).unwrap();
    NewAsk { question, ..new_ask() }
}

fn name(n: u8) -> Digest {
    Digest([n; 32])
}

/// A secret can be read again for a while after its first read, and not later, whether or not
/// a sweep ran.
pub async fn a_secret_is_gone_a_while_after_it_was_read(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    let now = stage.now();
    let later = |seconds: u64| now.plus_seconds(seconds);
    let span = SECRET_READABLE_FOR.as_secs();
    let store = &stage.store;
    store.put_secret(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    // An unread secret does not expire.
    store.sweep(later(1000 * span)).await.unwrap();
    for moment in [now, later(span - 1), later(1)] {
        let read = store.read_secret(ask, name(1), moment).await.unwrap();
        assert_eq!(read.as_deref(), Some(&b"closed\xff"[..]), "{moment}");
    }
    assert_eq!(store.read_secret(ask, name(2), now).await.unwrap(), None);
    assert_eq!(store.read_secret(ask, name(1), later(span)).await.unwrap(), None);
    assert!(store.read_secret(ask, name(1), later(span - 1)).await.unwrap().is_some());
    store.sweep(later(span)).await.unwrap();
    assert_eq!(store.read_secret(ask, name(1), now).await.unwrap(), None, "swept");
}

/// The server can read a borrowed token as often as needed, even before its ask exists.
pub async fn a_borrowed_token_is_there_until_it_is_deleted(stage: &Stage) {
    let (store, ask) = (&stage.store, AskId::new(ulid::Ulid::from(7_u128)));
    store.put_secret(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    for _ in 0..2 {
        store.sweep(stage.now().plus_seconds(1000 * SECRET_READABLE_FOR.as_secs())).await.unwrap();
        let borrowed = store.peek_secret(ask, name(1)).await.unwrap();
        assert_eq!(borrowed.as_deref(), Some(&b"closed\xff"[..]));
    }
    assert_eq!(store.peek_secret(ask, name(2)).await.unwrap(), None);
    store.delete_secrets(ask, Some(name(1))).await.unwrap();
    assert_eq!(store.peek_secret(ask, name(1)).await.unwrap(), None);
}

pub async fn secrets_are_deleted_by_name_or_all_at_once(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let store = &stage.store;
    for (of, n) in [(ask, 1), (ask, 2), (ask, 3), (other, 1)] {
        store.put_secret(of, name(n), vec![n]).await.unwrap();
    }
    let read = async |of, n| store.read_secret(of, name(n), stage.now()).await.unwrap();
    store.delete_secrets(ask, Some(name(1))).await.unwrap();
    assert_eq!((read(ask, 1).await, read(ask, 2).await), (None, Some(vec![2])));
    store.delete_secrets(ask, None).await.unwrap();
    assert_eq!((read(ask, 2).await, read(ask, 3).await), (None, None));
    assert_eq!(read(other, 1).await, Some(vec![1]));
}

/// Writes the plain text and says so in its name.
#[derive(Debug)]
struct NoCipher;

impl SecretCipher for NoCipher {
    fn encrypt(&self, _: AskId, _: Digest, values: &SecretValues) -> Option<Vec<u8>> {
        serde_json::to_vec(values).ok()
    }
}

/// The secret values of an answer are written in the transaction that answers, and by no other.
pub async fn an_answer_and_its_secret_values_are_written_together(stage: &Stage) {
    let id = stage.ask(asks_for_a_secret()).await;
    let answer = || {
        let values = json!({ "token": "hush" });
        let answer = Answer::Provided { values: serde_json::from_value(values).unwrap() };
        AskCommand::Answer(id, Box::new(Reply { answer, comment: None }))
    };
    let refused = stage.attempt(person("olga"), answer()).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "there is no cipher: {refused:?}");
    assert!(stage.seen(id).await.is_open(), "an answer whose secret is not stored is not taken");
    let job = Job { cipher: Some(Arc::new(NoCipher)), ..stage.job(person("olga"), answer()) };
    stage.store.transact(job.clone()).await.unwrap();
    let name = stage.seen(id).await.secret_values_key().unwrap();
    let stored = stage.store.peek_secret(id, name).await.unwrap().unwrap();
    assert!(String::from_utf8(stored).unwrap().contains("hush"));
    let again = Job { cipher: Some(Arc::new(NoCipher)), ..stage.job(person("mark"), answer()) };
    stage.store.transact(again).await.unwrap_err();
    let rows = stage.store.side(SideKind::Secret, SideSelection::Asks(vec![id])).await.unwrap();
    assert_eq!(rows.len(), 1, "an answer that is refused leaves nothing");
}
