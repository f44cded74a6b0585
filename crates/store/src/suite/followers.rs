//! Followers: each event becomes work exactly once, whoever follows and wherever one stops.

use std::sync::Arc;
use std::time::Duration;

use crate::Work;
use kernel::AskCommand;
use kernel::testing::{new_ask, yes};
use tokio::task::JoinSet;
use ulid::Ulid;

use super::stage::{Stage, person};
use super::work_queue::LEASE;
use crate::followers::{DELIVERIES, FollowerAdvance};

pub async fn position_and_work_are_written_together(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let step = stage.next_step().await.unwrap();
    assert_eq!(stage.store.backlog().await.unwrap().waiting, 0, "a commit writes no such work");
    assert!(stage.store.advance(step.clone()).await.unwrap());
    assert_eq!(stage.store.follower(DELIVERIES).await.unwrap(), step.to);
    assert_eq!(stage.next_step().await, None);
    let claimed = stage.store.claim(Work::PEOPLE, stage.now(), LEASE, 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].work.ask(), Some(id));
}

pub async fn a_step_from_another_position_changes_nothing(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let step = stage.next_step().await.unwrap();
    assert!(stage.store.advance(step.clone()).await.unwrap());
    assert!(!stage.store.advance(step.clone()).await.unwrap(), "it was done");
    let ahead = FollowerAdvance { from: step.to + 1, to: step.to + 2, ..step.clone() };
    assert!(!stage.store.advance(ahead).await.unwrap(), "it is not there yet");
    assert_eq!(stage.store.follower(DELIVERIES).await.unwrap(), step.to);
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    stage.follow().await;
    assert_eq!(stage.store.backlog().await.unwrap().waiting, 2);
}

/// Two nodes may follow at once for a moment: one of them wins every step.
pub async fn of_many_who_follow_each_event_is_handled_by_one(stage: &Stage) {
    for _ in 0..30 {
        stage.ask(new_ask()).await;
    }
    let first = stage.next_step().await.unwrap();
    let mut followers = JoinSet::new();
    for _ in 0..8 {
        let (store, step) = (Arc::clone(&stage.store), first.clone());
        followers.spawn(async move { store.advance(step).await.unwrap() });
    }
    let won = followers.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1);
    stage.follow().await;
    assert_eq!(stage.store.backlog().await.unwrap().waiting, 30);
}

pub async fn the_follower_that_leads_can_extend_its_lease(stage: &Stage) {
    let (node, lease) = (Ulid::from(7), Duration::from_secs(3));
    assert!(stage.store.acquire_lead(DELIVERIES, node, stage.now(), lease).await.unwrap());
    stage.clock.advance(2);
    assert!(stage.store.acquire_lead(DELIVERIES, node, stage.now(), lease).await.unwrap());
}
