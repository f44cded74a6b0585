//! Whoever reads slowly costs no memory: an agent is read to from the store, a person is told to
//! look.

use kernel::{Actor, AskCommand};
use serde_json::json;

use crate::native::asked;
use crate::streams::Events;
use crate::world::World;

/// More than are kept for a listener and a connection has room for, together.
const CHANGES: usize = 200;

#[tokio::test]
async fn who_reads_slowly_misses_nothing_or_is_told() {
    let world = World::dev().await;
    let context = "x".repeat(64 * 1024);
    let question = json!({ "prompt": "Deploy?", "kind": "approve", "context": context });
    let path = asked(&world.agent(), json!({ "question": question })).await;
    let mut agent = Events::open(&world.agent(), "/api/v1/events").await;
    let mut person = Events::open(&world.human(), "/api/v1/events").await;
    let id = path.rsplit_once('/').unwrap().1.parse().unwrap();
    let hand_on = async |n: usize| {
        let to = ["user_dev", "user_dev_2"][n % 2].parse().unwrap();
        world.gateway().run(Actor::System, AskCommand::Assign(id, to, None)).await.unwrap();
    };
    for n in 0..CHANGES {
        hand_on(n).await;
    }
    agent.expect("ready").await;
    for version in 2..2 + CHANGES {
        assert_eq!(agent.expect("assigned").await.data["version"], version);
    }
    person.expect("ready").await;
    let mut version = 1;
    while let Some(frame) = person.next().await.filter(|frame| frame.event != "reset") {
        version += 1;
        assert_eq!(frame.data["version"], version);
    }
    assert!(version < 1 + CHANGES, "everything was told");
    // From there on everything is told again.
    hand_on(CHANGES).await;
    let mut last = person.next().await.unwrap();
    while last.data["version"] != 2 + CHANGES {
        last = person.next().await.unwrap();
    }
    world.end().await;
}
