//! Lookups in the webhook delivery log.

use kernel::WebhookId;
use kernel::testing::new_ask;

use super::stage::Stage;
use super::work_queue::{LEASE, claim_of, endpoint, message, settle_as};
use crate::work_queue::{
    DeliveryLogEntry, DeliveryLogQuery, LOG_DAYS, MOST_ATTEMPTS, WebhookDeliveryStatus,
};

async fn log(
    stage: &Stage,
    webhook: WebhookId,
    status: Option<WebhookDeliveryStatus>,
) -> Vec<DeliveryLogEntry> {
    let wanted = DeliveryLogQuery { webhook, status, after: None, limit: 100 };
    stage.store.delivery_log(wanted).await.unwrap()
}

pub async fn what_was_told_is_logged_newest_first(stage: &Stage) {
    let (one, other) = (endpoint(stage).await, endpoint(stage).await);
    let stands = [
        WebhookDeliveryStatus::Done,
        WebhookDeliveryStatus::Waiting,
        WebhookDeliveryStatus::Dead,
        WebhookDeliveryStatus::Done,
    ];
    for status in stands {
        stage.clock.advance(1);
        stage.ask(new_ask()).await;
        settle_as(stage, one, &claim_of(stage, one).await[0], status).await;
    }
    let all = log(stage, one, None).await;
    let found: Vec<WebhookDeliveryStatus> = all.iter().map(|logged| logged.status).collect();
    assert_eq!(found, stands.into_iter().rev().collect::<Vec<_>>());
    assert!(all.is_sorted_by(|one, next| one.message.at > next.message.at));
    assert_eq!(log(stage, other, None).await, [], "its own alone");
    for (status, n) in [
        (WebhookDeliveryStatus::Done, 2),
        (WebhookDeliveryStatus::Waiting, 1),
        (WebhookDeliveryStatus::Dead, 1),
    ] {
        let some = log(stage, one, Some(status)).await;
        assert_eq!(some.len(), n);
        assert!(some.iter().all(|logged| logged.status == status));
        assert_eq!(some[0].delivery.is_some(), status == WebhookDeliveryStatus::Waiting);
    }
    let attempt = &log(stage, one, Some(WebhookDeliveryStatus::Dead)).await[0].attempts[0];
    assert_eq!(attempt.answer.as_deref(), Some("a\u{0}b"));
    let mut after = None;
    let mut paged = Vec::new();
    loop {
        let wanted = DeliveryLogQuery { webhook: one, status: None, after, limit: 3 };
        let page = stage.store.delivery_log(wanted).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.message.at, last.message.id.clone()));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let backlog = stage.store.backlog().await.unwrap();
    assert_eq!(backlog.dead, 1, "a dead letter shows");
}

pub async fn a_log_shows_everything_once_while_it_is_settled(stage: &Stage) {
    const MANY: usize = 90;
    let webhook = endpoint(stage).await;
    for _ in 0..MANY {
        stage.ask(new_ask()).await;
    }
    stage.follow().await;
    let lane = webhook.to_string();
    let claim = async || stage.store.claim(&lane, stage.now(), LEASE, MANY).await.unwrap();
    for delivery in claim().await {
        settle_as(stage, webhook, &delivery, WebhookDeliveryStatus::Waiting).await;
    }
    stage.clock.advance(61);
    let again = claim().await;
    assert_eq!(again.len(), MANY);
    let settling = async {
        for delivery in &again {
            settle_as(stage, webhook, delivery, WebhookDeliveryStatus::Done).await;
        }
    };
    let reading = async {
        loop {
            let all = log(stage, webhook, None).await;
            assert_eq!(all.len(), MANY);
            if all.iter().all(|logged| logged.status == WebhookDeliveryStatus::Done) {
                return;
            }
        }
    };
    tokio::join!(settling, reading);
}

pub async fn what_was_given_up_is_told_again(stage: &Stage) {
    let webhook = endpoint(stage).await;
    stage.ask(new_ask()).await;
    let claimed = claim_of(stage, webhook).await;
    settle_as(stage, webhook, &claimed[0], WebhookDeliveryStatus::Dead).await;
    stage.clock.advance(3600);
    assert_eq!(claim_of(stage, webhook).await, []);
    let (id, store) = (message(&claimed[0]).id, &stage.store);
    assert_eq!(store.redeliver(webhook, "msg_unknown", stage.now()).await.unwrap(), None);
    let again = store.redeliver(webhook, &id, stage.now()).await.unwrap().unwrap();
    assert_eq!((again.status, again.next_at), (WebhookDeliveryStatus::Waiting, Some(stage.now())));
    assert_eq!(store.backlog().await.unwrap().dead, 0);
    // Repeated requests for a redelivery count once.
    store.redeliver(webhook, &id, stage.now()).await.unwrap().unwrap();
    let once = claim_of(stage, webhook).await;
    assert_eq!(once.len(), 1);
    assert_eq!(
        (message(&once[0]), once[0].attempt),
        (message(&claimed[0]), 1),
        "from the beginning"
    );
    settle_as(stage, webhook, &once[0], WebhookDeliveryStatus::Waiting).await;
    assert_eq!(claim_of(stage, webhook).await, [], "not before its time");
    store.redeliver(webhook, &id, stage.now()).await.unwrap().unwrap();
    let hurried = claim_of(stage, webhook).await;
    assert_eq!((hurried.len(), hurried[0].id), (1, once[0].id), "the same one, at once");
    settle_as(stage, webhook, &hurried[0], WebhookDeliveryStatus::Done).await;
    let logged = log(stage, webhook, None).await;
    assert_eq!((logged.len(), logged[0].attempts.len()), (1, 3));
    // A delivery that succeeded can be sent again, too.
    store.redeliver(webhook, &id, stage.now()).await.unwrap().unwrap();
    assert_eq!(claim_of(stage, webhook).await.len(), 1);
}

pub async fn the_log_is_kept_for_a_while(stage: &Stage) {
    let webhook = endpoint(stage).await;
    stage.ask(new_ask()).await;
    let claimed = claim_of(stage, webhook).await;
    for _ in 0..MOST_ATTEMPTS + 5 {
        settle_as(stage, webhook, &claimed[0], WebhookDeliveryStatus::Dead).await;
    }
    assert_eq!(log(stage, webhook, None).await[0].attempts.len(), MOST_ATTEMPTS);
    let days = LOG_DAYS * 24 * 60 * 60;
    stage.store.sweep(stage.now().plus_seconds(days - 1)).await.unwrap();
    assert_eq!(log(stage, webhook, None).await.len(), 1);
    stage.store.sweep(stage.now().plus_seconds(days)).await.unwrap();
    assert_eq!(log(stage, webhook, None).await, []);
}

pub async fn the_log_of_an_endpoint_is_forgotten_bit_by_bit(stage: &Stage) {
    let (one, other) = (endpoint(stage).await, endpoint(stage).await);
    for _ in 0..3 {
        stage.ask(new_ask()).await;
    }
    for webhook in [one, other] {
        for delivery in claim_of(stage, webhook).await {
            settle_as(stage, webhook, &delivery, WebhookDeliveryStatus::Dead).await;
        }
    }
    assert_eq!(stage.store.backlog().await.unwrap().dead, 6);
    for (limit, gone) in [(2, 2), (2, 1), (2, 0)] {
        assert_eq!(stage.store.clear_delivery_log(one, limit).await.unwrap(), gone);
    }
    assert_eq!((log(stage, one, None).await.len(), log(stage, other, None).await.len()), (0, 3));
    assert_eq!(stage.store.backlog().await.unwrap().dead, 3);
}
