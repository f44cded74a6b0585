//! Messages sent to people about asks.

use kernel::AskId;
use kernel::audit::Digest;
use kernel::follow_up::NotificationReason;
use kernel::testing::human;
use serde_json::json;

use super::stage::Stage;
use crate::work_queue::LOG_DAYS;
use crate::{Message, MessageState};

fn message(stage: &Stage, ask: AskId, n: u8) -> Message {
    Message {
        name: Digest([n; 32]),
        ask,
        medium: "slack".to_owned(),
        to: Digest([9; 32]),
        human: Some(human("olga")),
        why: NotificationReason::Asked,
        since: None,
        at: stage.now(),
        standing: MessageState::Waiting { error: "busy".to_owned() },
        posted: None,
        thread: None,
        place: json!({}),
        code: Some("A7".to_owned()),
        over: false,
        updated_at: stage.now(),
    }
}

async fn put(stage: &Stage, message: &Message) {
    stage.store.put_message(message.clone()).await.unwrap();
}

fn some_ask(n: u128) -> AskId {
    AskId::new(ulid::Ulid::from(n))
}

/// A message is found by its id on the platform once it is posted. It leaves nothing in
/// the audit log.
pub async fn a_message_is_kept_as_it_last_was(stage: &Stage) {
    let before = stage.store.last_position().await.unwrap();
    let mut one = message(stage, some_ask(1), 1);
    put(stage, &one).await;
    assert_eq!(stage.store.posted("slack", "C1/1.2").await.unwrap(), None);
    stage.clock.advance(5);
    (one.standing, one.updated_at) = (MessageState::Sent, stage.now());
    (one.posted, one.place) = (Some("C1/1.2".to_owned()), json!({ "channel": "C1" }));
    put(stage, &one).await;
    assert_eq!(stage.store.message(one.name).await.unwrap().as_ref(), Some(&one));
    assert_eq!(stage.store.posted("slack", "C1/1.2").await.unwrap().as_ref(), Some(&one));
    assert_eq!(stage.store.posted("sms", "C1/1.2").await.unwrap(), None);
    // Of several in a thread, the newest is found; a message id takes precedence over a thread id.
    for (n, thread) in [(2, "C1/0.1"), (3, "C1/0.1"), (4, "C1/1.2")] {
        stage.clock.advance(1);
        put(stage, &Message { thread: Some(thread.to_owned()), ..message(stage, some_ask(1), n) })
            .await;
    }
    let posted = async |id: &str| {
        let found = stage.store.posted("slack", id).await.unwrap();
        found.map(|message| message.name.0[0])
    };
    assert_eq!((posted("C1/0.1").await, posted("C1/1.2").await), (Some(3), Some(1)));
    assert_eq!(stage.store.message(Digest([7; 32])).await.unwrap(), None);
    assert_eq!(stage.store.last_position().await.unwrap(), before);
}

pub async fn messages_are_found_by_ask_and_by_address(stage: &Stage) {
    for (n, ask) in [(3, 1), (1, 1), (2, 2)] {
        put(stage, &message(stage, some_ask(ask), n)).await;
        stage.clock.advance(1);
    }
    let other = Message { to: Digest([8; 32]), ..message(stage, some_ask(1), 4) };
    put(stage, &other).await;
    let names = |found: Vec<Message>| found.iter().map(|one| one.name.0[0]).collect::<Vec<_>>();
    for (asks, expected) in [(vec![1], &[3, 1, 4][..]), (vec![3], &[]), (vec![2, 1], &[3, 1, 2, 4])]
    {
        let asks = asks.into_iter().map(some_ask).collect();
        assert_eq!(names(stage.store.messages(asks).await.unwrap()), expected);
    }
    assert_eq!(
        names(
            stage
                .store
                .messages_by(crate::MessageQuery::To { to: Digest([9; 32]), limit: 2 })
                .await
                .unwrap()
        ),
        [2, 1]
    );
}

/// While its ask is open, the message may have to be updated.
pub async fn a_message_is_forgotten_a_while_after_its_ask_is_over(stage: &Stage) {
    let open = message(stage, some_ask(1), 1);
    let over = Message { over: true, ..message(stage, some_ask(2), 2) };
    put(stage, &open).await;
    put(stage, &over).await;
    stage.clock.advance(i64::try_from(LOG_DAYS).unwrap() * 86_400 - 1);
    stage.store.sweep(stage.now()).await.unwrap();
    assert!(stage.store.message(over.name).await.unwrap().is_some());
    stage.clock.advance(1);
    stage.store.sweep(stage.now()).await.unwrap();
    assert_eq!(stage.store.message(over.name).await.unwrap(), None);
    assert!(stage.store.message(open.name).await.unwrap().is_some());
}
