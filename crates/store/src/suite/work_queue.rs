//! The outbox: deliveries run at least once, those for people by priority, and one worker has each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::NotificationPlan;
use crate::Work;
use kernel::ask::CallbackResult;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::directory::{NewWebhook, WebhookFormat, WebhookScope};
use kernel::follow_up::{NotificationReason, WebhookMessage};
use kernel::testing::{human, new_ask, yes};
use kernel::{AskCommand, AskId, DirectoryCommand, Topic, WebhookId};
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, spy};
use crate::work_queue::{DeliveryLogUpdate, WebhookDeliveryAttempt, WebhookDeliveryStatus};
use crate::{Backlog, ClaimedWork, Settlement};

pub(super) const LEASE: Duration = Duration::from_secs(30);

async fn claim(stage: &Stage) -> Vec<ClaimedWork> {
    claim_lane(stage, Work::PEOPLE).await
}

async fn claim_lane(stage: &Stage, lane: &str) -> Vec<ClaimedWork> {
    stage.follow().await;
    stage.store.claim(lane, stage.now(), LEASE, 10).await.unwrap()
}

async fn settle(stage: &Stage, id: u64, settlement: Settlement) {
    stage.store.settle(vec![(id, settlement)], Vec::new()).await.unwrap();
}

fn about(delivery: &ClaimedWork) -> AskId {
    delivery.work.ask().unwrap()
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

pub async fn what_is_put_back_was_not_tried(stage: &Stage) {
    stage.ask(new_ask()).await;
    let first = claim(stage).await;
    let at = stage.now().plus_seconds(5);
    settle(stage, first[0].id, Settlement::Back { at }).await;
    assert_eq!(claim(stage).await, []);
    stage.clock.advance(5);
    let again = claim(stage).await;
    assert_eq!((again[0].id, again[0].attempt), (first[0].id, 1));
    settle(stage, again[0].id, Settlement::Dead { error: "no such address".into() }).await;
    settle(stage, again[0].id, Settlement::Back { at }).await;
    stage.clock.advance(1000);
    assert_eq!(claim(stage).await, [], "whose lease ended does not wake the dead");
}

pub async fn what_is_hastened_is_due_at_once_and_once(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    let reach = |tried: &[u8]| Work::NotificationStep {
        ask,
        why: NotificationReason::Asked,
        priority: Priority::Normal,
        plan: NotificationPlan {
            human: "ada".parse().unwrap(),
            since: stage.now(),
            tried: tried.iter().map(|n| Digest([*n; 32])).collect(),
        },
    };
    let first = claim(stage).await;
    let later = stage.now().plus_seconds(300);
    let into = vec![(later, reach(&[1]))];
    settle(stage, first[0].id, Settlement::Split { into }).await;
    assert_eq!(claim(stage).await, []);
    stage.store.make_due(reach(&[1, 2]), stage.now()).await.unwrap();
    let now = claim(stage).await;
    assert_eq!((now.len(), &now[0].work, now[0].attempt), (1, &reach(&[1, 2]), 1));
    settle(stage, now[0].id, Settlement::Done).await;
    // If no work of that name waits, it is written. Work without a name is always written.
    stage.store.make_due(reach(&[3]), stage.now()).await.unwrap();
    let notify = first[0].work.clone();
    for _ in 0..2 {
        stage.store.make_due(notify.clone(), stage.now()).await.unwrap();
    }
    let all: Vec<Work> = claim(stage).await.into_iter().map(|one| one.work).collect();
    assert_eq!(all, [reach(&[3]), notify.clone(), notify]);
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
        let (device, why) = (Digest([n; 32]), Some(NotificationReason::Asked));
        Work::Push { device, ask, why, priority, plan: None }
    };
    let [first, second] = [Priority::Low, Priority::High].map(|priority| part(1, priority));
    let elsewhere = part(2, Priority::Normal);
    let (soon, late) = (stage.now().plus_seconds(5), stage.now().plus_seconds(600));
    let into = vec![
        (soon, first.clone()),
        (soon, elsewhere.clone()),
        (late, part(1, Priority::Critical)),
        (soon, second.clone()),
    ];
    let split = Settlement::Split { into };
    for _ in 0..2 {
        settle(stage, claimed[0].id, split.clone()).await;
    }
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 5, dead: 0 });
    let of = async |part: &Work| claim_lane(stage, &part.lane()).await;
    assert_eq!(of(&first).await, [], "not before its time");
    stage.clock.advance(5);
    let [mut parts, others] = [of(&first).await, of(&elsewhere).await];
    let effects = |parts: &[ClaimedWork]| parts.iter().map(|p| p.work.clone()).collect::<Vec<_>>();
    assert_eq!(effects(&parts), [first, second], "in order of time");
    assert_eq!(effects(&others), [elsewhere]);
    parts.extend(others);
    assert!(parts.iter().all(|part| part.attempt == 1 && part.id != claimed[0].id));
    for part in &parts[1..] {
        settle(stage, part.id, Settlement::Done).await;
    }
    settle(stage, claimed[1].id, Settlement::Split { into: Vec::new() }).await;
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 2, dead: 0 });
    assert_eq!(about(&claimed[1]), other);
    stage.ask(new_ask()).await;
    let next = claim(stage).await;
    assert!(parts.iter().all(|part| part.id != next[0].id), "ids stay apart");
}

/// Work with a name waits once, however often it is written. After it is done or was given up, it
/// can be written again.
pub async fn what_has_a_name_waits_once(stage: &Stage) {
    for _ in 0..5 {
        stage.ask(new_ask()).await;
    }
    let claimed = claim(stage).await;
    let at = stage.now().plus_seconds(60);
    let gather = |whose: &str, at, tried| (at, Work::Digest { human: human(whose), at, tried });
    let mut wanted = claimed.iter();
    let mut want = async |into| {
        settle(stage, wanted.next().unwrap().id, Settlement::Split { into }).await;
        stage.store.backlog().await.unwrap()
    };
    let both = vec![gather("olga", at, Vec::new()), gather("olga", at, vec![Digest::ZERO])];
    assert_eq!(want(both).await.waiting, 5, "one of them");
    let others = vec![
        gather("olga", at, Vec::new()),
        gather("mark", at, Vec::new()),
        gather("olga", at.plus_seconds(60), Vec::new()),
    ];
    assert_eq!(want(others).await.waiting, 6, "what is not the same is another");
    stage.clock.advance(60);
    let found = claim(stage).await;
    let due: Vec<&Work> = found.iter().map(|one| &one.work).collect();
    let (olga, mark) = (gather("olga", at, Vec::new()).1, gather("mark", at, Vec::new()).1);
    assert!(due.len() == 5 && due.contains(&&olga) && due.contains(&&mark), "{due:?}");
    // The same holds while a worker has claimed it.
    assert_eq!(want(vec![gather("olga", at, Vec::new())]).await.waiting, 5);
    let id = |wanted: &Work| found.iter().find(|one| one.work == *wanted).unwrap().id;
    settle(stage, id(&olga), Settlement::Done).await;
    settle(stage, id(&mark), Settlement::Dead { error: "in vain".into() }).await;
    let again = vec![gather("olga", at, Vec::new()), gather("mark", at, Vec::new())];
    assert_eq!(want(again).await, Backlog { waiting: 4, dead: 1 });
}

pub async fn an_effect_exists_if_its_event_does(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    stage.attempt(spy(), AskCommand::Cancel(id, None)).await.unwrap_err();
    stage.attempt(person("olga"), AskCommand::Create(Box::new(new_ask()))).await.unwrap_err();
    stage.follow().await;
    assert_eq!(stage.store.backlog().await.unwrap().waiting, 1);
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    stage.attempt(bot(), AskCommand::Cancel(id, None)).await.unwrap_err();
    let claimed = claim(stage).await;
    assert!(matches!(claimed[0].work, Work::Close { .. }), "ending goes before telling");
    assert!(matches!(claimed[1].work, Work::Notify { .. }));
    assert_eq!(claimed.len(), 2);
}

pub async fn many_claim_each_once(stage: &Stage) {
    for _ in 0..40 {
        stage.ask(new_ask()).await;
    }
    stage.follow().await;
    let mut workers = JoinSet::new();
    for _ in 0..16 {
        let (store, now) = (Arc::clone(&stage.store), stage.now());
        workers.spawn(async move { store.claim(Work::PEOPLE, now, LEASE, 4).await.unwrap() });
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
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    assert_eq!(claim(stage).await.len(), 1);
}

/// A webhook endpoint that receives every event of the agent `bot`.
pub async fn endpoint(stage: &Stage) -> WebhookId {
    let id = WebhookId::new(stage.draw());
    let new = NewWebhook {
        id,
        of: WebhookScope::Agent("bot".parse().unwrap()),
        url: "https://agent.example/hook".to_owned(),
        events: Topic::ALL.into(),
        format: WebhookFormat::Standard,
        description: String::new(),
        enabled: true,
    };
    stage.run(person("olga"), DirectoryCommand::SaveWebhook(new)).await;
    id
}

pub(super) async fn claim_of(stage: &Stage, webhook: WebhookId) -> Vec<ClaimedWork> {
    claim_lane(stage, &webhook.to_string()).await
}

pub(super) fn message(delivery: &ClaimedWork) -> WebhookMessage {
    match &delivery.work {
        Work::Webhook { message: told, .. } => told.clone(),
        other => panic!("{other:?} tells nobody anything"),
    }
}

/// The log entry of an attempt with this result.
fn entry(
    stage: &Stage,
    webhook: WebhookId,
    delivery: &ClaimedWork,
    status: WebhookDeliveryStatus,
) -> DeliveryLogUpdate {
    let result = match status {
        WebhookDeliveryStatus::Done => CallbackResult::Taken { status: 200 },
        WebhookDeliveryStatus::Waiting | WebhookDeliveryStatus::Dead => {
            CallbackResult::Refused { status: 500 }
        }
    };
    let answer = (status != WebhookDeliveryStatus::Done).then(|| "a\u{0}b".to_owned());
    DeliveryLogUpdate {
        webhook,
        message: message(delivery),
        status,
        delivery: delivery.id,
        next_at: (status == WebhookDeliveryStatus::Waiting).then(|| stage.now().plus_seconds(60)),
        attempt: Some(WebhookDeliveryAttempt { at: stage.now(), result, answer }),
        at: stage.now(),
    }
}

pub async fn settle_as(
    stage: &Stage,
    webhook: WebhookId,
    delivery: &ClaimedWork,
    status: WebhookDeliveryStatus,
) {
    let entry = entry(stage, webhook, delivery, status);
    let settlement = match entry.next_at {
        Some(at) => Settlement::Retry { at, error: "500".to_owned() },
        None => Settlement::Done,
    };
    stage.store.settle(vec![(delivery.id, settlement)], vec![entry]).await.unwrap();
}

pub async fn a_lane_is_claimed_alone(stage: &Stage) {
    let (one, other) = (endpoint(stage).await, endpoint(stage).await);
    let url = Some("https://elsewhere.example/".to_owned());
    let id = stage.ask(NewAsk { callback: url, ..new_ask() }).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let people = claim(stage).await;
    assert!(people.iter().all(|delivery| delivery.work.lane() == Work::PEOPLE));
    assert_eq!(people.len(), 2);
    for webhook in [one, other] {
        let claimed = claim_of(stage, webhook).await;
        let topics: Vec<_> =
            claimed.iter().filter_map(|delivery| message(delivery).topic).collect();
        assert_eq!(topics, [Topic::Created, Topic::Answered]);
        assert_eq!(claim_of(stage, webhook).await, [], "leased");
    }
}

pub async fn lanes_are_told_with_whether_something_is_due(stage: &Stage) {
    let (one, other) = (endpoint(stage).await, endpoint(stage).await);
    for _ in 0..3 {
        stage.ask(new_ask()).await;
    }
    stage.follow().await;
    let lanes =
        async |after: &str, limit| stage.store.lanes(after, stage.now(), limit).await.unwrap();
    let [first, second] = [one, other].map(|webhook| webhook.to_string());
    let due = |lane: &String| (lane.clone(), true);
    assert_eq!(lanes(Work::PEOPLE, 9).await, [due(&first), due(&second)]);
    assert_eq!(lanes(Work::PEOPLE, 1).await, [due(&first)]);
    assert_eq!(lanes(&first, 9).await, [due(&second)]);
    for delivery in claim_of(stage, one).await {
        settle_as(stage, one, &delivery, WebhookDeliveryStatus::Waiting).await;
    }
    let claimed = claim_of(stage, other).await;
    let later = [(first.clone(), false), (second.clone(), false)];
    assert_eq!(lanes(Work::PEOPLE, 9).await, later, "to be tried later, and claimed");
    settle_as(stage, other, &claimed[0], WebhookDeliveryStatus::Done).await;
    let at = stage.now();
    let again = Settlement::Retry { at, error: "busy".to_owned() };
    settle(stage, claimed[1].id, again).await;
    assert_eq!(
        lanes(&first, 9).await,
        [due(&second)],
        "one can be, whatever becomes of the others"
    );
    for delivery in &claimed[1..] {
        settle_as(stage, other, delivery, WebhookDeliveryStatus::Done).await;
    }
    assert_eq!(lanes(Work::PEOPLE, 9).await, [(first, false)], "where nothing waits is no lane");
}
