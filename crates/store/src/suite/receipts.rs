//! Stored signatures of receipts.

use kernel::audit::Digest;
use kernel::testing::{new_ask, yes};
use kernel::{Actor, AskCommand, AskId};

use super::stage::{Stage, person};
use crate::ReceiptSignature;

async fn over(stage: &Stage) -> (AskId, u64) {
    let ask = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(ask, yes())).await;
    (ask, version(stage, ask).await)
}

async fn version(stage: &Stage, ask: AskId) -> u64 {
    stage.store.ask(ask).await.unwrap().unwrap().head.seq
}

fn signed(ask: AskId, version: u64, n: u8) -> ReceiptSignature {
    let (claims, signature) = (Digest([n; 32]), vec![n; 64]);
    ReceiptSignature { ask, version, claims, kid: format!("kid{n}"), signature }
}

async fn found(stage: &Stage, ask: AskId, n: u8) -> Option<(String, Vec<u8>)> {
    stage.store.receipt_signature(ask, Digest([n; 32])).await.unwrap()
}

/// Each signature is stored under its ask and claims. Storing it again changes nothing, and nothing
/// is stored for an ask that has changed.
pub async fn a_signature_is_stored_for_the_version_it_was_made_of(stage: &Stage) {
    let ((ask, at), (other, other_at)) = (over(stage).await, over(stage).await);
    let new = vec![signed(ask, at, 1), signed(ask, at, 2), signed(other, other_at, 1)];
    for _ in 0..2 {
        assert_eq!(stage.store.store_receipt_signatures(new.clone()).await.unwrap(), []);
    }
    for (of, n) in [(ask, 1), (ask, 2), (other, 1)] {
        assert_eq!(found(stage, of, n).await, Some((format!("kid{n}"), vec![n; 64])));
    }
    assert_eq!(found(stage, other, 2).await, None);
    let replaced = ReceiptSignature { kid: "later".to_owned(), ..signed(other, other_at, 1) };
    stage.store.store_receipt_signatures(vec![replaced]).await.unwrap();
    assert_eq!(found(stage, other, 1).await.unwrap().0, "later");

    let nothing = AskId::new(ulid::Ulid::from(7_u128));
    let new = vec![signed(ask, at - 1, 3), signed(other, other_at, 3), signed(nothing, 1, 3)];
    let changed = stage.store.store_receipt_signatures(new).await.unwrap();
    assert_eq!(changed, [ask, nothing]);
    assert_eq!(found(stage, ask, 3).await, None);
    assert!(found(stage, other, 3).await.is_some());
    assert_eq!(stage.store.store_receipt_signatures(Vec::new()).await.unwrap(), []);
}

/// With the public key, a signature would confirm a guess of the erased text.
pub async fn signatures_go_with_the_words_they_sign(stage: &Stage) {
    let (ask, at) = over(stage).await;
    stage.store.store_receipt_signatures(vec![signed(ask, at, 1)]).await.unwrap();
    stage.run(person("olga"), AskCommand::Comment(ask, "there".to_owned())).await;
    assert!(found(stage, ask, 1).await.is_some(), "what is added changes no receipt");
    stage.run(Actor::System, AskCommand::Erase(ask)).await;
    assert_eq!(found(stage, ask, 1).await, None);
    let stale = stage.store.store_receipt_signatures(vec![signed(ask, at, 1)]).await.unwrap();
    assert_eq!(stale, [ask], "made before the erasure, stored after it");
    assert_eq!(found(stage, ask, 1).await, None);
}
