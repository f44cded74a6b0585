//! Closed asks that still have their text, and the files of each holder.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kernel::audit::Digest;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::testing::{new_ask, yes};
use kernel::{Actor, AskCommand, AskId, ProjectId, Time};
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, spy};

const LEASE: Duration = Duration::from_secs(30);

fn acme() -> ProjectId {
    "acme".parse().unwrap()
}

async fn claim_until(stage: &Stage, since: Time, limit: usize) -> Vec<AskId> {
    stage.store.claim_ended(acme(), since, stage.now(), LEASE, limit).await.unwrap()
}

async fn claim(stage: &Stage) -> Vec<AskId> {
    claim_until(stage, stage.now(), 10).await
}

async fn answered(stage: &Stage) -> AskId {
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    id
}

/// HITL-152: whatever the outcome, the ask that ended first comes first, and none before its time.
pub async fn the_longest_over_comes_first(stage: &Stage) {
    let begun = stage.now();
    let expiring = NewAsk { timeout: Some(30), on_expiry: NewOnExpiry::Fail, ..new_ask() };
    let (open, expired) = (stage.ask(new_ask()).await, stage.ask(expiring).await);
    stage.clock.advance(10);
    let answered = answered(stage).await;
    stage.clock.advance(10);
    let cancelled = stage.ask(new_ask()).await;
    stage.run(bot(), AskCommand::Cancel(cancelled, None)).await;
    stage.clock.advance(50);
    stage.run(Actor::System, AskCommand::Expire(expired)).await;
    assert_eq!(claim_until(stage, begun.plus_seconds(9), 10).await, []);
    assert_eq!(claim_until(stage, begun.plus_seconds(10), 10).await, [answered]);
    stage.clock.advance(30);
    assert_eq!(claim_until(stage, stage.now(), 2).await, [answered, cancelled]);
    let rest = claim(stage).await;
    assert_eq!(rest, [expired], "nobody erases {open}, which is open");
}

/// Each project has its own list, and a claim does not scan those of others.
pub async fn what_is_over_is_found_by_project(stage: &Stage) {
    let own = answered(stage).await;
    let new = AskCommand::Create(Box::new(new_ask()));
    let other = stage.run(spy(), new).await.ask.unwrap().id;
    stage.run(person("zoe"), AskCommand::Answer(other, yes())).await;
    let rival: ProjectId = "rival".parse().unwrap();
    let now = stage.now();
    assert_eq!(claim(stage).await, [own]);
    assert_eq!(stage.store.claim_ended(rival, now, now, LEASE, 9).await.unwrap(), [other]);
}

/// Erased asks are not claimed again, and later events of other asks change nothing.
pub async fn what_is_erased_is_not_over_any_more(stage: &Stage) {
    let (gone, stays) = (answered(stage).await, answered(stage).await);
    let reason = AskCommand::Revoke(stays, "a mistake".to_owned());
    stage.run(Actor::System, reason).await;
    stage.run(Actor::System, AskCommand::Erase(gone)).await;
    assert_eq!(claim(stage).await, [stays]);
    stage.run(Actor::System, AskCommand::Erase(stays)).await;
    stage.clock.advance(1000);
    assert_eq!(claim(stage).await, []);
}

pub async fn what_is_claimed_is_left_to_who_claimed_it(stage: &Stage) {
    let (first, second) = (answered(stage).await, answered(stage).await);
    assert_eq!(claim_until(stage, stage.now(), 1).await, [first]);
    assert_eq!(claim(stage).await, [second]);
    assert_eq!(claim(stage).await, []);
    stage.clock.advance(30);
    assert_eq!(claim(stage).await, [first, second], "whoever had them is gone");
}

pub async fn of_many_who_erase_each_gets_others(stage: &Stage) {
    for _ in 0..20 {
        answered(stage).await;
    }
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (store, now) = (Arc::clone(&stage.store), stage.now());
        workers.spawn(async move { store.claim_ended(acme(), now, now, LEASE, 4).await.unwrap() });
    }
    let mut claimed: Vec<AskId> = workers.join_all().await.into_iter().flatten().collect();
    // A worker that read while another was claiming may have got fewer.
    claimed.extend(claim_until(stage, stage.now(), 20).await);
    assert_eq!(claimed.len(), 20);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 20);
}

pub async fn a_file_is_its_asks_own_until_another_has_it(stage: &Stage) {
    let (one, other) = (stage.ask(new_ask()).await.ulid(), stage.draw());
    let (lone, shared) = (Digest::of(b"lone"), Digest::of(b"shared"));
    for (holder, digest) in [(one, lone), (one, shared), (one, shared), (other, shared)] {
        stage.store.record_file(holder, digest).await.unwrap();
    }
    assert_eq!(stage.store.own_files(one).await.unwrap(), [lone]);
    assert_eq!(stage.store.own_files(other).await.unwrap(), []);
    stage.store.forget_files(one, None).await.unwrap();
    stage.store.forget_files(one, None).await.unwrap();
    assert_eq!(stage.store.own_files(one).await.unwrap(), []);
    assert_eq!(stage.store.own_files(other).await.unwrap(), [shared]);
}
