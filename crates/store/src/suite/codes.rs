//! Verification codes sent to people's addresses.

use kernel::audit::Digest;
use kernel::testing::human;

use super::stage::Stage;
use crate::{CODE_TRIES, CodeCheck, VerificationCode};

fn hash(code: &str) -> Digest {
    Digest::of(code.as_bytes())
}

fn sent(stage: &Stage, whose: &str, to: u8, code: &str) -> VerificationCode {
    let expires_at = stage.now().plus_seconds(600);
    VerificationCode { human: human(whose), means: Digest([to; 32]), hash: hash(code), expires_at }
}

async fn keep(stage: &Stage, code: VerificationCode) {
    stage.store.put_code(code).await.unwrap();
}

async fn attempt(stage: &Stage, whose: &str, to: u8, code: &str) -> CodeCheck {
    let means = Digest([to; 32]);
    stage.store.try_code(human(whose), means, hash(code), stage.now()).await.unwrap()
}

/// A code counts for its person and address only, and leaves nothing in the audit log.
pub async fn a_code_counts_once(stage: &Stage) {
    let before = stage.store.last_position().await.unwrap();
    keep(stage, sent(stage, "olga", 1, "123456")).await;
    assert_eq!(attempt(stage, "mark", 1, "123456").await, CodeCheck::Gone);
    assert_eq!(attempt(stage, "olga", 2, "123456").await, CodeCheck::Gone);
    assert_eq!(attempt(stage, "olga", 1, "123456").await, CodeCheck::Right);
    assert_eq!(attempt(stage, "olga", 1, "123456").await, CodeCheck::Gone);
    // Only the last code sent counts.
    keep(stage, sent(stage, "olga", 1, "111111")).await;
    keep(stage, sent(stage, "olga", 1, "222222")).await;
    assert_eq!(attempt(stage, "olga", 1, "111111").await, CodeCheck::Wrong { left: 4 });
    assert_eq!(attempt(stage, "olga", 1, "222222").await, CodeCheck::Right);
    assert_eq!(stage.store.last_position().await.unwrap(), before);
}

pub async fn a_code_is_tried_so_often_and_no_more(stage: &Stage) {
    keep(stage, sent(stage, "olga", 1, "123456")).await;
    for left in (0..CODE_TRIES).rev() {
        assert_eq!(attempt(stage, "olga", 1, "000000").await, CodeCheck::Wrong { left });
    }
    assert_eq!(attempt(stage, "olga", 1, "123456").await, CodeCheck::Gone);
    // A new code starts with all attempts.
    keep(stage, sent(stage, "olga", 1, "654321")).await;
    assert_eq!(attempt(stage, "olga", 1, "654321").await, CodeCheck::Right);
}

pub async fn a_code_counts_for_a_while(stage: &Stage) {
    keep(stage, sent(stage, "olga", 1, "123456")).await;
    keep(stage, sent(stage, "olga", 2, "123456")).await;
    stage.clock.advance(599);
    stage.store.sweep(stage.now()).await.unwrap();
    assert_eq!(attempt(stage, "olga", 1, "123456").await, CodeCheck::Right);
    stage.clock.advance(1);
    assert_eq!(attempt(stage, "olga", 2, "123456").await, CodeCheck::Gone);
    stage.store.sweep(stage.now()).await.unwrap();
    assert_eq!(attempt(stage, "olga", 2, "123456").await, CodeCheck::Gone);
}
