//! The side table: when rows are deleted, and which of several racing writers succeeds.

use std::sync::Arc;

use kernel::audit::Digest;
use kernel::testing::{human, new_ask};
use tokio::task::JoinSet;

use super::stage::Stage;
use crate::{
    CODE_TRIES, CodeCheck, Device, SideCondition, SideKind, SideRow, SideSelection, Store,
    VerificationCode,
};

fn name(n: u8) -> Digest {
    Digest([n; 32])
}

fn row(kind: SideKind, key: &str, value: &[u8]) -> SideRow {
    SideRow {
        kind,
        key: key.to_owned(),
        ask: None,
        human: None,
        version: 0,
        expires_at: None,
        value: value.to_vec(),
    }
}

async fn values(store: &dyn Store, rows: SideSelection) -> Vec<Vec<u8>> {
    let found = store.side(SideKind::Code, rows).await.unwrap();
    found.into_iter().map(|row| row.value).collect()
}

/// A condition that does not hold changes nothing.
pub async fn a_row_is_written_on_its_condition(stage: &Stage) {
    let store = &*stage.store;
    let one = SideSelection::Key("a/1".to_owned());
    let put = async |key: &str, value: &[u8], condition| {
        store.put_side(row(SideKind::Code, key, value), condition).await.unwrap()
    };
    assert!(!put("a/1", b"none", SideCondition::Version(1)).await);
    assert!(put("a/1", b"one", SideCondition::Absent).await);
    assert!(!put("a/1", b"two", SideCondition::Absent).await);
    assert!(!put("a/1", b"two", SideCondition::Version(2)).await);
    assert_eq!(values(store, one.clone()).await, [b"one"]);
    assert!(put("a/1", b"two", SideCondition::Version(1)).await);
    assert!(!put("a/1", b"three", SideCondition::Version(1)).await, "it has moved on");
    assert!(put("a/1", b"three", SideCondition::Always).await);
    assert!(put("a/1", b"four", SideCondition::Version(3)).await);
    assert!(put("a/10", b"ten", SideCondition::Always).await);
    assert!(put("b/1", b"other", SideCondition::Always).await);
    assert_eq!(values(store, one.clone()).await, [b"four"], "not what begins with its key");
    let prefix = SideSelection::Prefix("a/".to_owned());
    assert_eq!(values(store, prefix.clone()).await, [&b"four"[..], b"ten"]);
    let deleted = store
        .delete_side(vec![
            (SideKind::Code, one),
            (SideKind::Code, prefix.clone()),
            (SideKind::Draft, SideSelection::Prefix("b/".to_owned())),
        ])
        .await
        .unwrap();
    assert_eq!(deleted, [1, 1, 0], "of each, and of this kind only");
    assert_eq!(values(store, prefix).await, Vec::<Vec<u8>>::new());
    assert_eq!(values(store, SideSelection::Key("b/1".to_owned())).await, [b"other"]);
}

/// Only expired rows are deleted.
pub async fn only_expired_rows_are_swept(stage: &Stage) {
    let now = stage.now();
    for (key, expires_at) in [("a", Some(now)), ("b", Some(now.plus_seconds(1))), ("c", None)] {
        let row = SideRow { expires_at, ..row(SideKind::Code, key, key.as_bytes()) };
        assert!(stage.store.put_side(row, SideCondition::Always).await.unwrap());
    }
    stage.store.sweep(now).await.unwrap();
    let all = SideSelection::Prefix(String::new());
    assert_eq!(values(&*stage.store, all.clone()).await, [b"b", b"c"]);
    stage.store.sweep(now.plus_seconds(1)).await.unwrap();
    assert_eq!(values(&*stage.store, all).await, [b"c"]);
}

/// However many attempts race, a code allows only its number of attempts.
pub async fn of_many_who_try_a_code_so_many_are_answered(stage: &Stage) {
    let code = VerificationCode {
        human: human("olga"),
        means: name(1),
        hash: Digest::of(b"123456"),
        expires_at: stage.now().plus_seconds(600),
    };
    stage.store.put_code(code).await.unwrap();
    let mut tries = JoinSet::new();
    for n in 0..CODE_TRIES * 3 {
        let (store, now) = (Arc::clone(&stage.store), stage.now());
        let wrong = Digest::of(n.to_string().as_bytes());
        tries.spawn(async move { store.try_code(human("olga"), name(1), wrong, now).await });
    }
    let mut left: Vec<Option<u32>> = tries
        .join_all()
        .await
        .into_iter()
        .map(|tried| match tried.unwrap() {
            CodeCheck::Wrong { left } => Some(left),
            CodeCheck::Gone => None,
            CodeCheck::Right => panic!("no code was right"),
        })
        .collect();
    left.sort_unstable();
    left.drain(..left.len() - CODE_TRIES as usize).for_each(|gone| assert_eq!(gone, None));
    assert_eq!(left, (0..CODE_TRIES).map(Some).collect::<Vec<_>>(), "each number once");
}

/// The rows about notified devices stay until the server has notified the devices that the
/// ask is closed.
pub async fn an_erased_ask_leaves_no_draft_secret_or_snooze(stage: &Stage) {
    let (erased, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let (store, until) = (&stage.store, stage.now().plus_seconds(60));
    for ask in [erased, other] {
        assert!(store.put_draft(ask, b"begun".to_vec()).await.unwrap());
        store.put_secret(ask, name(1), b"closed".to_vec()).await.unwrap();
        assert!(store.snooze(human("olga"), ask, Some(until)).await.unwrap());
        assert!(store.record_notified(ask, name(2)).await.unwrap());
    }
    store.erase_side_of_ask(erased).await.unwrap();
    assert_eq!(store.draft(erased).await.unwrap(), None);
    assert_eq!(store.peek_secret(erased, name(1)).await.unwrap(), None);
    assert_eq!(store.snoozed(human("olga"), stage.now()).await.unwrap(), [(other, until)]);
    assert_eq!(store.notified_devices(vec![erased]).await.unwrap(), [(erased, name(2))]);
    assert!(store.draft(other).await.unwrap().is_some());
    assert!(store.peek_secret(other, name(1)).await.unwrap().is_some());
}

pub async fn an_erased_person_leaves_no_code_device_or_snooze(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    let (store, now) = (&stage.store, stage.now());
    let until = now.plus_seconds(60);
    for (n, whose) in [(1, "olga"), (2, "mark")] {
        let device =
            Device { name: name(n), human: human(whose), key: None, made_at: now, closed: vec![n] };
        assert!(store.put_device(device).await.unwrap());
        assert!(store.record_notified(ask, name(n)).await.unwrap());
        assert!(store.snooze(human(whose), ask, Some(until)).await.unwrap());
        let (means, hash) = (name(n), Digest::of(b"123456"));
        let code = VerificationCode { human: human(whose), means, hash, expires_at: until };
        store.put_code(code).await.unwrap();
    }
    store.erase_side_of_human(&human("olga")).await.unwrap();
    let attempt = async |whose, n| {
        store.try_code(human(whose), name(n), Digest::of(b"123456"), now).await.unwrap()
    };
    assert_eq!(store.devices(vec![human("olga")]).await.unwrap(), []);
    assert_eq!(store.snoozed(human("olga"), now).await.unwrap(), []);
    assert_eq!(attempt("olga", 1).await, CodeCheck::Gone);
    assert_eq!(store.notified_devices(vec![ask]).await.unwrap(), [(ask, name(2))]);
    assert_eq!(store.devices(vec![human("mark")]).await.unwrap().len(), 1);
    assert_eq!(store.snoozed(human("mark"), now).await.unwrap(), [(ask, until)]);
    assert_eq!(attempt("mark", 2).await, CodeCheck::Right);
}
