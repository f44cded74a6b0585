//! The outbox: at least once, most urgent first, one worker at a time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::effect::Occasion;
use kernel::testing::{new_ask, yes};
use kernel::{AskId, Command, Effect};
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, spy};
use crate::{Backlog, Delivery, Settlement};

const LEASE: Duration = Duration::from_secs(30);

async fn claim(stage: &Stage) -> Vec<Delivery> {
    stage.store.claim(stage.now(), LEASE, 10).await.unwrap()
}

async fn settle(stage: &Stage, id: u64, settlement: Settlement) {
    stage.store.settle(vec![(id, settlement)]).await.unwrap();
}

fn about(delivery: &Delivery) -> AskId {
    delivery.effect.ask().unwrap()
}

async fn urgent(stage: &Stage, priority: Priority) -> AskId {
    stage.ask(NewAsk { priority, ..new_ask() }).await
}

pub async fn the_urgent_are_claimed_first(stage: &Stage) {
    let low = urgent(stage, Priority::Low).await;
    let first = urgent(stage, Priority::Normal).await;
    stage.clock.advance(1);
    let second = urgent(stage, Priority::Normal).await;
    let critical = urgent(stage, Priority::Critical).await;
    let order: Vec<AskId> = claim(stage).await.iter().map(about).collect();
    assert_eq!(order, [critical, first, second, low]);
}

pub async fn a_lease_keeps_others_away(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let claimed = claim(stage).await;
    assert_eq!(claimed.iter().map(about).collect::<Vec<_>>(), [id]);
    assert_eq!((claimed[0].attempt, claimed[0].written_at), (1, stage.now()));
    stage.clock.advance(29);
    assert_eq!(claim(stage).await, []);
}

pub async fn a_lease_that_ended_is_claimed_again(stage: &Stage) {
    stage.ask(new_ask()).await;
    let first = claim(stage).await;
    stage.clock.advance(30);
    let second = claim(stage).await;
    assert_eq!(second.len(), 1);
    assert_eq!((second[0].id, second[0].attempt), (first[0].id, 2));
}

pub async fn a_retry_waits_for_its_moment(stage: &Stage) {
    stage.ask(new_ask()).await;
    let claimed = claim(stage).await;
    let at = stage.now().plus_seconds(5);
    settle(stage, claimed[0].id, Settlement::Retry { at, error: "busy".into() }).await;
    assert_eq!(claim(stage).await, []);
    stage.clock.advance(5);
    let again = claim(stage).await;
    assert_eq!((again[0].id, again[0].attempt), (claimed[0].id, 2));
}

pub async fn the_dead_stay_and_show(stage: &Stage) {
    stage.ask(new_ask()).await;
    let alive = stage.ask(new_ask()).await;
    let claimed = claim(stage).await;
    settle(stage, claimed[0].id, Settlement::Dead { error: "no such address".into() }).await;
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 1, dead: 1 });
    stage.clock.advance(1000);
    let left = claim(stage).await;
    assert_eq!(left.iter().map(about).collect::<Vec<_>>(), [alive]);
    let at = stage.now();
    settle(stage, claimed[0].id, Settlement::Retry { at, error: "late".into() }).await;
    assert_eq!(claim(stage).await, [], "whose lease ended does not wake the dead");
}

pub async fn settling_twice_is_harmless(stage: &Stage) {
    stage.ask(new_ask()).await;
    let claimed = claim(stage).await;
    for _ in 0..2 {
        settle(stage, claimed[0].id, Settlement::Done).await;
    }
    let at = stage.now();
    settle(stage, claimed[0].id, Settlement::Retry { at, error: "late".into() }).await;
    settle(stage, claimed[0].id, Settlement::Dead { error: "late".into() }).await;
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog::default());
    stage.ask(new_ask()).await;
    let next = claim(stage).await;
    assert_ne!(next[0].id, claimed[0].id, "an id never names another delivery");
}

pub async fn what_is_split_is_tried_each_by_itself(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let claimed = claim(stage).await;
    let part = |n: u8, priority| {
        let device = Digest([n; 32]);
        Effect::Push { device, ask, why: Some(Occasion::Asked), priority }
    };
    let into = vec![part(1, Priority::Low), part(2, Priority::High)];
    let at = stage.now().plus_seconds(5);
    let split = Settlement::Split { into, at };
    for _ in 0..2 {
        settle(stage, claimed[0].id, split.clone()).await;
    }
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 3, dead: 0 });
    assert_eq!(claim(stage).await, [], "not before its time");
    stage.clock.advance(5);
    let parts = claim(stage).await;
    assert_eq!(
        parts.iter().map(|part| part.effect.clone()).collect::<Vec<_>>(),
        [part(2, Priority::High), part(1, Priority::Low)]
    );
    assert!(parts.iter().all(|part| part.attempt == 1 && part.id != claimed[0].id));
    settle(stage, parts[0].id, Settlement::Done).await;
    settle(stage, claimed[1].id, Settlement::Split { into: Vec::new(), at }).await;
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 1, dead: 0 });
    assert_eq!(about(&claimed[1]), other);
    stage.ask(new_ask()).await;
    let next = claim(stage).await;
    assert!(parts.iter().all(|part| part.id != next[0].id), "ids stay apart");
}

pub async fn an_effect_exists_if_its_event_does(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    stage.attempt(spy(), Command::Cancel(id, None)).await.unwrap_err();
    stage.attempt(person("olga"), Command::Ask(Box::new(new_ask()))).await.unwrap_err();
    assert_eq!(stage.store.backlog().await.unwrap().waiting, 1);
    stage.run(person("olga"), Command::Answer(id, yes())).await;
    stage.attempt(bot(), Command::Cancel(id, None)).await.unwrap_err();
    let claimed = claim(stage).await;
    assert!(matches!(claimed[0].effect, Effect::Settle { .. }), "ending goes before telling");
    assert!(matches!(claimed[1].effect, Effect::Notify { .. }));
    assert_eq!(claimed.len(), 2);
}

pub async fn many_claim_each_once(stage: &Stage) {
    for _ in 0..40 {
        stage.ask(new_ask()).await;
    }
    let mut workers = JoinSet::new();
    for _ in 0..16 {
        let (store, now) = (Arc::clone(&stage.store), stage.now());
        workers.spawn(async move { store.claim(now, LEASE, 4).await.unwrap() });
    }
    let claimed: Vec<u64> =
        workers.join_all().await.into_iter().flatten().map(|delivery| delivery.id).collect();
    assert_eq!(claimed.len(), 40);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 40);
}

pub async fn a_clock_gone_back_delays_nothing(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    for delivery in claim(stage).await {
        settle(stage, delivery.id, Settlement::Done).await;
    }
    stage.clock.advance(-3600);
    stage.run(person("olga"), Command::Answer(id, yes())).await;
    assert_eq!(claim(stage).await.len(), 1);
}
