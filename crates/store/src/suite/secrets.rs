//! Secret answers, and bot tokens that agents lend.

use kernel::audit::Digest;
use kernel::testing::new_ask;

use super::stage::Stage;
use crate::SECRET_READABLE_FOR;

fn name(n: u8) -> Digest {
    Digest([n; 32])
}

/// It can be read again for a while after it was first read, and is gone then, swept or not.
pub async fn a_secret_is_gone_a_while_after_it_was_read(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    let now = stage.now();
    let later = |seconds: u64| now.plus_seconds(seconds);
    let span = SECRET_READABLE_FOR.as_secs();
    let store = &stage.store;
    store.put_secret(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    // However long nobody reads it.
    store.sweep(later(1000 * span)).await.unwrap();
    for moment in [now, later(span - 1), later(1)] {
        let read = store.read_secret(ask, name(1), moment).await.unwrap();
        assert_eq!(read.as_deref(), Some(&b"closed\xff"[..]), "{moment}");
    }
    assert_eq!(store.read_secret(ask, name(2), now).await.unwrap(), None);
    assert_eq!(store.read_secret(ask, name(1), later(span)).await.unwrap(), None);
    assert!(store.read_secret(ask, name(1), later(span - 1)).await.unwrap().is_some());
    store.sweep(later(span)).await.unwrap();
    assert_eq!(store.read_secret(ask, name(1), now).await.unwrap(), None, "swept");
}

/// What we need ourselves is there as often as we need it, whether or not its ask is yet.
pub async fn a_borrowed_token_is_there_until_it_is_deleted(stage: &Stage) {
    let (store, ask) = (&stage.store, kernel::AskId::new(ulid::Ulid::from(7_u128)));
    store.put_secret(ask, name(1), b"closed\xff".to_vec()).await.unwrap();
    for _ in 0..2 {
        store.sweep(stage.now().plus_seconds(1000 * SECRET_READABLE_FOR.as_secs())).await.unwrap();
        let borrowed = store.peek_secret(ask, name(1)).await.unwrap();
        assert_eq!(borrowed.as_deref(), Some(&b"closed\xff"[..]));
    }
    assert_eq!(store.peek_secret(ask, name(2)).await.unwrap(), None);
    store.delete_secrets(ask, Some(name(1))).await.unwrap();
    assert_eq!(store.peek_secret(ask, name(1)).await.unwrap(), None);
}

pub async fn secrets_are_deleted_by_name_or_all_at_once(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let store = &stage.store;
    for (of, n) in [(ask, 1), (ask, 2), (ask, 3), (other, 1)] {
        store.put_secret(of, name(n), vec![n]).await.unwrap();
    }
    let read = async |of, n| store.read_secret(of, name(n), stage.now()).await.unwrap();
    store.delete_secrets(ask, Some(name(1))).await.unwrap();
    assert_eq!((read(ask, 1).await, read(ask, 2).await), (None, Some(vec![2])));
    store.delete_secrets(ask, None).await.unwrap();
    assert_eq!((read(ask, 2).await, read(ask, 3).await), (None, None));
    assert_eq!(read(other, 1).await, Some(vec![1]));
}
