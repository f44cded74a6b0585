//! Timers: what is due, in which order, and when to check again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kernel::ask::DefaultAction;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId, Refusal};
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, refusal};
use crate::Clock;

async fn expiring(stage: &Stage, seconds: u64) -> AskId {
    stage.ask(NewAsk { timeout: Some(seconds), on_expiry: NewOnExpiry::Fail, ..new_ask() }).await
}

const LEASE: Duration = Duration::from_secs(30);

async fn claim(stage: &Stage, limit: usize) -> Vec<AskId> {
    stage.store.claim_due(stage.now(), LEASE, limit).await.unwrap()
}

/// What is due, claimed for no time, so that it can be claimed again at once.
async fn due(stage: &Stage) -> Vec<AskId> {
    stage.store.claim_due(stage.now(), Duration::ZERO, 10).await.unwrap()
}

pub async fn the_longest_due_comes_first(stage: &Stage) {
    let (late, early, never) =
        (expiring(stage, 30).await, expiring(stage, 10).await, expiring(stage, 1000).await);
    assert_eq!(due(stage).await, []);
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [early]);
    stage.clock.advance(20);
    assert_eq!(claim(stage, 1).await, [early]);
    let rest = claim(stage, 10).await;
    assert_eq!(rest, [late]);
    assert!(!rest.contains(&never));
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
    stage.run(bot(), AskCommand::Extend(id, until)).await;
    assert_eq!(stage.store.next_due().await.unwrap(), Some(until));
    stage.clock.advance(50);
    assert_eq!(due(stage).await, []);
    stage.clock.advance(50);
    assert_eq!(due(stage).await, [id]);
}

pub async fn what_is_over_wakes_nobody(stage: &Stage) {
    let (answered, cancelled, expired) =
        (expiring(stage, 10).await, expiring(stage, 10).await, expiring(stage, 10).await);
    stage.run(person("olga"), AskCommand::Answer(answered, yes())).await;
    stage.run(bot(), AskCommand::Cancel(cancelled, None)).await;
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [expired]);
    stage.run(Actor::System, AskCommand::Expire(expired)).await;
    assert_eq!(due(stage).await, []);
    assert_eq!(stage.store.next_due().await.unwrap(), None);
    let again = stage.attempt(Actor::System, AskCommand::Expire(expired)).await;
    assert_eq!(refusal(again), Refusal::NotDue);
}

pub async fn a_held_answer_wakes_and_the_deadline_waits(stage: &Stage) {
    let via = kernel::AnswerInterface::Web;
    let assurance = kernel::Assurance::Session;
    let olga = || Actor::Human { id: human("olga"), via, assurance };
    let (sent, undone) = (expiring(stage, 3).await, expiring(stage, 3).await);
    for id in [sent, undone] {
        let held = stage.run(olga(), AskCommand::HoldAnswer(id, yes())).await.ask.unwrap();
        assert_eq!(stage.store.ask(id).await.unwrap().as_deref(), Some(&held));
        assert!(held.is_open() && held.held_by() == Some(&human("olga")));
    }
    // Five seconds, but not beyond the deadline.
    assert_eq!(stage.store.next_due().await.unwrap(), Some(stage.now().plus_seconds(3)));
    stage.clock.advance(2);
    assert_eq!(due(stage).await, []);
    stage.run(olga(), AskCommand::UndoAnswer(undone)).await;
    stage.clock.advance(1);
    let mut both = due(stage).await;
    both.sort();
    assert_eq!(both, [sent, undone], "one takes effect, the other expires");
    stage.run(Actor::System, AskCommand::Expire(undone)).await;
    assert_eq!(due(stage).await, [sent]);
    let committed = stage.run(Actor::System, AskCommand::CommitHeld(sent)).await.ask.unwrap();
    assert_eq!(committed.phase(), kernel::Phase::Completed);
    assert_eq!(stage.store.ask(sent).await.unwrap().as_deref(), Some(&committed));
    assert_eq!(stage.store.next_due().await.unwrap(), None);
    let again = stage.attempt(Actor::System, AskCommand::CommitHeld(sent)).await;
    assert_eq!(refusal(again), Refusal::NotDue);
}

pub async fn reminders_then_deadline(stage: &Stage) {
    let at = |seconds| stage.clock.now().plus_seconds(seconds);
    let (reminder, deadline) = (at(10), at(60));
    let id = stage
        .ask(NewAsk {
            timeout: Some(60),
            on_expiry: NewOnExpiry::Report(DefaultAction::Skip),
            reminders: vec![reminder],
            ..new_ask()
        })
        .await;
    assert_eq!(stage.store.next_due().await.unwrap(), Some(reminder));
    stage.clock.advance(10);
    assert_eq!(due(stage).await, [id]);
    stage.run(Actor::System, AskCommand::Remind(id)).await;
    assert_eq!(due(stage).await, []);
    assert_eq!(stage.store.next_due().await.unwrap(), Some(deadline));
}

pub async fn a_claimed_wake_up_is_left_to_who_claimed_it(stage: &Stage) {
    let (first, second) = (expiring(stage, 10).await, expiring(stage, 20).await);
    assert_eq!(claim(stage, 10).await, []);
    stage.clock.advance(20);
    assert_eq!(claim(stage, 1).await, [first]);
    assert_eq!(due(stage).await, [second]);
    assert_eq!(stage.store.next_due().await.unwrap(), Some(stage.now()));
    assert_eq!(claim(stage, 10).await, [second]);
    assert_eq!(claim(stage, 10).await, []);
    let again = stage.now().plus_seconds(30);
    assert_eq!(stage.store.next_due().await.unwrap(), Some(again), "when the claims end");
    stage.run(Actor::System, AskCommand::Expire(first)).await;
    stage.run(Actor::System, AskCommand::Expire(second)).await;
    assert_eq!(stage.store.next_due().await.unwrap(), None);
}

pub async fn a_claim_that_ended_is_given_again(stage: &Stage) {
    let id = expiring(stage, 10).await;
    stage.clock.advance(10);
    assert_eq!(claim(stage, 10).await, [id]);
    stage.clock.advance(29);
    assert_eq!(claim(stage, 10).await, []);
    stage.clock.advance(1);
    assert_eq!(due(stage).await, [id]);
    assert_eq!(claim(stage, 10).await, [id]);
    assert_eq!(claim(stage, 10).await, []);
}

pub async fn what_moves_a_wake_up_ends_its_claim(stage: &Stage) {
    let at = |seconds| stage.clock.now().plus_seconds(seconds);
    let reminders = vec![at(10), at(12)];
    let id = stage.ask(NewAsk { reminders, ..new_ask() }).await;
    stage.clock.advance(10);
    assert_eq!(claim(stage, 10).await, [id]);
    stage.run(person("olga"), AskCommand::Open(id)).await;
    assert_eq!(claim(stage, 10).await, [], "looking at it moves nothing");
    stage.run(Actor::System, AskCommand::Remind(id)).await;
    stage.clock.advance(2);
    assert_eq!(claim(stage, 10).await, [id], "the next one is not claimed");
}

pub async fn of_many_who_claim_each_gets_others(stage: &Stage) {
    for _ in 0..40 {
        expiring(stage, 10).await;
    }
    stage.clock.advance(10);
    let mut workers = JoinSet::new();
    for _ in 0..16 {
        let (store, now) = (Arc::clone(&stage.store), stage.now());
        workers.spawn(async move { store.claim_due(now, LEASE, 4).await.unwrap() });
    }
    let mut claimed: Vec<AskId> = workers.join_all().await.into_iter().flatten().collect();
    // A worker that read while another was claiming may have got fewer.
    claimed.extend(claim(stage, 40).await);
    assert_eq!(claimed.len(), 40);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 40);
}

pub async fn two_who_fire_one_ask_fire_it_once(stage: &Stage) {
    let id = expiring(stage, 10).await;
    stage.clock.advance(10);
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let job = stage.job(Actor::System, AskCommand::Expire(id));
        let store = Arc::clone(&stage.store);
        workers.spawn(async move { store.transact(job).await });
    }
    let (fired, late): (Vec<_>, Vec<_>) =
        workers.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!(fired.len(), 1);
    assert!(late.into_iter().all(|late| refusal(late) == Refusal::NotDue));
    assert_eq!(
        stage
            .store
            .changes(crate::FeedQuery::Subject(kernel::Subject::Ask(id), 1), 10)
            .await
            .unwrap()
            .len(),
        1
    );
}
