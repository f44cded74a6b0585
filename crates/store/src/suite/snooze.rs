//! Snoozed asks, and the people who view an ask.

use kernel::testing::{human, new_ask};

use super::stage::Stage;
use crate::MOST_SNOOZED;

/// A snooze lasts until its time, applies to one person, and leaves nothing in the audit log.
pub async fn what_was_snoozed_comes_back_by_itself(stage: &Stage) {
    let (one, two) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let before = stage.store.last_position().await.unwrap();
    let at = |seconds| stage.now().plus_seconds(seconds);
    let hide = async |ask, until| {
        assert!(stage.store.snooze(human("olga"), ask, until).await.unwrap());
    };
    let (soon, late) = (at(60), at(120));
    hide(one, Some(late)).await;
    hide(two, Some(soon)).await;
    let hidden = async |name: &str| stage.store.snoozed(human(name), stage.now()).await.unwrap();
    assert_eq!(hidden("olga").await, [(two, soon), (one, late)]);
    assert_eq!(hidden("mark").await, []);
    hide(two, Some(late)).await;
    assert_eq!(hidden("olga").await.len(), 2);
    hide(two, None).await;
    assert_eq!(hidden("olga").await, [(one, late)]);
    stage.clock.advance(120);
    assert_eq!(hidden("olga").await, []);
    stage.store.sweep(stage.now()).await.unwrap();
    assert_eq!(hidden("olga").await, []);
    assert_eq!(stage.store.last_position().await.unwrap(), before);
}

pub async fn so_many_can_be_snoozed_and_no_more(stage: &Stage) {
    let until = Some(stage.now().plus_seconds(60));
    let mut last = None;
    for _ in 0..MOST_SNOOZED {
        let ask = kernel::AskId::new(stage.draw());
        assert!(stage.store.snooze(human("olga"), ask, until).await.unwrap());
        last = Some(ask);
    }
    let one_more = kernel::AskId::new(stage.draw());
    assert!(!stage.store.snooze(human("olga"), one_more, until).await.unwrap());
    assert!(stage.store.snooze(human("olga"), last.unwrap(), until).await.unwrap(), "it is there");
    assert!(stage.store.snooze(human("mark"), one_more, until).await.unwrap(), "of each");
    assert_eq!(stage.store.snoozed(human("olga"), stage.now()).await.unwrap().len(), MOST_SNOOZED);
}

pub async fn who_views_is_known_for_a_while(stage: &Stage) {
    let (one, two) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let view = async |ask, name: &str, seconds: Option<u64>| {
        let until = seconds.map(|seconds| stage.now().plus_seconds(seconds));
        stage.store.view(ask, human(name), until).await.unwrap();
    };
    let viewers = async || stage.store.viewers(vec![one, two], stage.now()).await.unwrap();
    assert_eq!(viewers().await, []);
    view(one, "mark", Some(60)).await;
    view(one, "olga", Some(30)).await;
    view(two, "nina", Some(60)).await;
    assert_eq!(viewers().await.len(), 3);
    view(two, "nina", None).await;
    assert_eq!(viewers().await, [(one, human("mark")), (one, human("olga"))]);
    stage.clock.advance(30);
    assert_eq!(viewers().await, [(one, human("mark"))]);
    view(one, "mark", Some(60)).await;
    stage.clock.advance(59);
    assert_eq!(viewers().await, [(one, human("mark"))], "whoever goes on looking stays");
    stage.clock.advance(1);
    assert_eq!(viewers().await, []);
}
