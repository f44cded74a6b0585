//! Secrets: kept once, the same for everybody.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::stage::Stage;

pub async fn the_first_secret_is_kept(stage: &Stage) {
    let store = &stage.store;
    assert_eq!(store.secret("a").await.unwrap(), None);
    assert_eq!(store.keep_secret("a", vec![0, 255, 1]).await.unwrap(), [0, 255, 1]);
    assert_eq!(store.keep_secret("a", vec![2]).await.unwrap(), [0, 255, 1]);
    assert_eq!(store.keep_secret("b", Vec::new()).await.unwrap(), Vec::<u8>::new());
    assert_eq!(store.secret("a").await.unwrap(), Some(vec![0, 255, 1]));
    assert_eq!(store.secret("b").await.unwrap(), Some(Vec::new()));
    assert_eq!(store.secret("A").await.unwrap(), None);
}

pub async fn of_many_who_keep_a_secret_one_wins(stage: &Stage) {
    let mut keeping = JoinSet::new();
    for n in 0..20 {
        let store = Arc::clone(&stage.store);
        keeping.spawn(async move { store.keep_secret("key", vec![n; 32]).await.unwrap() });
    }
    let kept: BTreeSet<Vec<u8>> = keeping.join_all().await.into_iter().collect();
    assert_eq!(kept.len(), 1, "everybody was told of the same");
    assert_eq!(stage.store.secret("key").await.unwrap(), kept.into_iter().next());
}
