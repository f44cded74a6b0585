//! Timers: what is due, in which order, and when to look again.

use kernel::ask::DefaultAction;
use kernel::command::{NewAsk, Silence};
use kernel::testing::{new_ask, yes};
use kernel::{Actor, AskId, Command, Refusal};

use super::stage::{Stage, bot, person, refusal};
use crate::Clock;

async fn expiring(stage: &Stage, seconds: u64) -> AskId {
    stage.ask(NewAsk { timeout: Some(seconds), on_expiry: Silence::Fail, ..new_ask() }).await
}

async fn due(stage: &Stage) -> Vec<AskId> {
    stage.store.due(stage.now(), 10).await.unwrap()
}

pub async fn the_longest_due_comes_first(stage: &Stage) {
    let (late, early, never) =
        (expiring(stage, 30).await, expiring(stage, 10).await, expiring(stage, 1000).await);
    assert_eq!(due(stage).await, []);
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [early]);
    stage.clock.advance(20);
    assert_eq!(due(stage).await, [early, late]);
    assert_eq!(stage.store.due(stage.now(), 1).await.unwrap(), [early]);
    assert!(!due(stage).await.contains(&never));
}

pub async fn next_due_is_the_earliest(stage: &Stage) {
    assert_eq!(stage.store.next_due().await.unwrap(), None);
    stage.ask(new_ask()).await;
    assert_eq!(stage.store.next_due().await.unwrap(), None);
    expiring(stage, 30).await;
    expiring(stage, 10).await;
    assert_eq!(stage.store.next_due().await.unwrap(), Some(stage.now().plus_seconds(10)));
}

pub async fn extending_moves_the_wake_up(stage: &Stage) {
    let id = expiring(stage, 10).await;
    let until = stage.now().plus_seconds(100);
    stage.run(bot(), Command::Extend(id, until)).await;
    assert_eq!(stage.store.next_due().await.unwrap(), Some(until));
    stage.clock.advance(50);
    assert_eq!(due(stage).await, []);
    stage.clock.advance(50);
    assert_eq!(due(stage).await, [id]);
}

pub async fn what_is_over_wakes_nobody(stage: &Stage) {
    let (answered, cancelled, expired) =
        (expiring(stage, 10).await, expiring(stage, 10).await, expiring(stage, 10).await);
    stage.run(person("olga"), Command::Answer(answered, yes())).await;
    stage.run(bot(), Command::Cancel(cancelled, None)).await;
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [expired]);
    stage.run(Actor::System, Command::Expire(expired)).await;
    assert_eq!(due(stage).await, []);
    assert_eq!(stage.store.next_due().await.unwrap(), None);
    let again = stage.attempt(Actor::System, Command::Expire(expired)).await;
    assert_eq!(refusal(again), Refusal::NotDue);
}

pub async fn reminders_then_deadline(stage: &Stage) {
    let at = |seconds| stage.clock.now().plus_seconds(seconds);
    let (reminder, deadline) = (at(10), at(60));
    let id = stage
        .ask(NewAsk {
            timeout: Some(60),
            on_expiry: Silence::Report(DefaultAction::Skip),
            reminders: vec![reminder],
            ..new_ask()
        })
        .await;
    assert_eq!(stage.store.next_due().await.unwrap(), Some(reminder));
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [id]);
    stage.run(Actor::System, Command::Remind(id)).await;
    assert_eq!(due(stage).await, []);
    assert_eq!(stage.store.next_due().await.unwrap(), Some(deadline));
}
