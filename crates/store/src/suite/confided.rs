//! What was given in confidence with an answer.

use kernel::audit::Digest;
use kernel::testing::new_ask;

use super::stage::Stage;
use crate::CONFIDED_FOR;

fn name(n: u8) -> Digest {
    Digest([n; 32])
}

/// It can be read again for a while after it was first read, and is gone then, swept or not.
pub async fn what_was_confided_is_gone_a_while_after_it_was_read(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    let now = stage.now();
    let later = |seconds: u64| now.plus_seconds(seconds);
    let span = CONFIDED_FOR.as_secs();
    let store = &stage.store;
    store.confide(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    // However long nobody reads it.
    store.sweep(later(1000 * span)).await.unwrap();
    for moment in [now, later(span - 1), later(1)] {
        let read = store.confided(ask, name(1), moment).await.unwrap();
        assert_eq!(read.as_deref(), Some(&b"closed\xff"[..]), "{moment}");
    }
    assert_eq!(store.confided(ask, name(2), now).await.unwrap(), None);
    assert_eq!(store.confided(ask, name(1), later(span)).await.unwrap(), None);
    assert!(store.confided(ask, name(1), later(span - 1)).await.unwrap().is_some());
    store.sweep(later(span)).await.unwrap();
    assert_eq!(store.confided(ask, name(1), now).await.unwrap(), None, "swept");
}

/// What we need ourselves is there as often as we need it, whether or not its ask is yet.
pub async fn what_was_lent_is_there_until_it_is_forgotten(stage: &Stage) {
    let (store, ask) = (&stage.store, kernel::AskId::new(ulid::Ulid::from(7_u128)));
    store.confide(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    for _ in 0..2 {
        store.sweep(stage.now().plus_seconds(1000 * CONFIDED_FOR.as_secs())).await.unwrap();
        let lent = store.lent(ask, name(1)).await.unwrap();
        assert_eq!(lent.as_deref(), Some(&b"closed\xff"[..]));
    }
    assert_eq!(store.lent(ask, name(2)).await.unwrap(), None);
    store.forget_confided(ask, Some(name(1))).await.unwrap();
    assert_eq!(store.lent(ask, name(1)).await.unwrap(), None);
}

pub async fn what_was_confided_is_forgotten_by_name_or_whole(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let store = &stage.store;
    for (of, n) in [(ask, 1), (ask, 2), (ask, 3), (other, 1)] {
        store.confide(of, name(n), vec![n]).await.unwrap();
    }
    let read = async |of, n| store.confided(of, name(n), stage.now()).await.unwrap();
    store.forget_confided(ask, Some(name(1))).await.unwrap();
    assert_eq!((read(ask, 1).await, read(ask, 2).await), (None, Some(vec![2])));
    store.forget_confided(ask, None).await.unwrap();
    assert_eq!((read(ask, 2).await, read(ask, 3).await), (None, None));
    assert_eq!(read(other, 1).await, Some(vec![1]));
}
