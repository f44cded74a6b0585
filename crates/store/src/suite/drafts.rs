//! Answers that people began and have not sent.

use kernel::testing::{new_ask, yes};
use kernel::{Actor, AskCommand, AskId};
use ulid::Ulid;

use super::stage::{Stage, person};

/// HITL-137: the newest draft is stored, byte for byte, and is not an event.
pub async fn a_draft_is_kept_while_its_ask_is_open(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let before = stage.store.last_position().await.unwrap();
    assert_eq!(stage.store.draft(ask).await.unwrap(), None);
    assert!(stage.store.put_draft(ask, b"half\0".to_vec()).await.unwrap());
    assert!(stage.store.put_draft(ask, b"more\xff".to_vec()).await.unwrap());
    assert_eq!(stage.store.draft(ask).await.unwrap().as_deref(), Some(&b"more\xff"[..]));
    assert_eq!(stage.store.draft(other).await.unwrap(), None);
    assert_eq!(stage.store.last_position().await.unwrap(), before);
    // Other events of the ask do not delete it.
    stage.run(person("olga"), AskCommand::Open(ask)).await;
    assert!(stage.store.draft(ask).await.unwrap().is_some());
}

pub async fn a_draft_goes_with_the_end_of_its_ask(stage: &Stage) {
    for end in 0..2 {
        let ask = stage.ask(new_ask()).await;
        assert!(stage.store.put_draft(ask, b"half".to_vec()).await.unwrap());
        match end {
            0 => stage.run(person("olga"), AskCommand::Answer(ask, yes())).await,
            _ => stage.run(Actor::System, AskCommand::Cancel(ask, None)).await,
        };
        assert_eq!(stage.store.draft(ask).await.unwrap(), None);
        assert!(!stage.store.put_draft(ask, b"late".to_vec()).await.unwrap());
        assert_eq!(stage.store.draft(ask).await.unwrap(), None);
    }
}

pub async fn nobody_drafts_an_answer_to_nothing(stage: &Stage) {
    let nothing = AskId::new(Ulid::from(1_u128));
    assert!(!stage.store.put_draft(nothing, b"half".to_vec()).await.unwrap());
    assert_eq!(stage.store.draft(nothing).await.unwrap(), None);
}
