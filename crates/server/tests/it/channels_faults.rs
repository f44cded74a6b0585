//! Platforms that are slow, down or gone: nothing is lost, nothing said twice, nobody held up.

use channels::testing::slack::{Fault, Workspace, person};
use serde_json::{Value, json};
use store::Message;

use crate::client::with;
use crate::fake_platforms::{ADA, id, in_slack, in_slack_as, now_says, posted, press};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::fake_webhook_receiver::deliver;
use crate::native::{approval, asked, yes};
use crate::notification_steps::{NOTICES, verified};
use crate::world::{World, dev, eventually};

/// Slack and mail; Ada is told in Slack first and by mail next, Bob by mail.
async fn both() -> (Workspace, Post, World) {
    let (slack, post) = (Workspace::begin().await.unwrap(), Post::open(&[]).await);
    let world = World::with(in_slack(&slack, post.carrying(dev()))).await;
    for human in ["user_dev", "user_dev_2"] {
        world.add_to_group(human, "ops").await;
    }
    in_slack_as(&world.human(), &slack, ADA).await;
    verified(&world.human(), &post, "ada@example.com").await;
    verified(&world.member(), &post, "bob@example.com").await;
    let order = json!({ "order": ["slack:U0ADA", "email:ada@example.com"] });
    world.human().put(NOTICES, order).await.is(200);
    (slack, post, world)
}

fn for_both() -> Value {
    with(approval(), json!({ "route": { "to": "pool", "group": "ops" } }))
}

/// So often a message was tried.
fn tries(slack: &Workspace) -> usize {
    slack.calls_of("chat.postMessage").len()
}

/// What a platform asks for is respected, and nobody who is told by other means waits for it.
#[tokio::test]
async fn slack_is_left_alone_for_as_long_as_it_wants() {
    let (slack, post, world) = both().await;
    let (had, letters) = (tries(&slack), post.letters().len());
    slack.next(Fault::Slower(600));
    let ask = asked(&world.agent(), for_both()).await;
    assert_eq!(post.letter(letters + 1).await.to, "bob@example.com");
    eventually("a try", async || tries(&slack) == had + 1).await;
    // Bob's chain ends with his letter; Ada's waits.
    waits(&world, 1).await;
    world.advance(599);
    waits(&world, 1).await;
    assert_eq!(tries(&slack), had + 1, "too early");
    let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
    let waiting = |one: &&Value| one["state"] == "waiting";
    let waiting = seen["messages"].as_array().unwrap().iter().find(waiting).unwrap().clone();
    assert_eq!((&waiting["channel"], &waiting["to"]), (&json!("slack"), &json!("user_dev")));
    assert!(!waiting["error"].as_str().unwrap().is_empty());
    world.advance(1);
    let message = posted(&slack, 2).await;
    // Told at last: the next means is for when they stay silent.
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), letters + 1);
    press(&world, &slack, &id(&message), "Approve", ADA).await;
    world.advance(900);
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    world.end().await;
}

/// A platform that keeps failing holds up nobody: the next means is tried, and it goes on by
/// itself.
#[tokio::test]
async fn after_three_failures_the_next_means_is_tried() {
    let (slack, post, world) = both().await;
    let (had, letters) = (tries(&slack), post.letters().len());
    for fault in [Fault::Status(503), Fault::Drop, Fault::Refusal("internal_error")] {
        slack.next(fault);
    }
    let ask = asked(&world.agent(), approval()).await;
    for (n, wait) in [(1, 1), (2, 2)] {
        eventually("a try", async || tries(&slack) == had + n).await;
        waits(&world, 1).await;
        assert_eq!(post.letters().len(), letters, "{n}");
        world.advance(wait);
        deliver(&world).await;
    }
    assert_eq!(post.letter(letters + 1).await.to, "ada@example.com");
    waits(&world, 1).await;
    world.advance(4);
    deliver(&world).await;
    let message = posted(&slack, 2).await;
    waits(&world, 0).await;
    assert_eq!((tries(&slack), post.letters().len()), (had + 4, letters + 1));
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    world.end().await;
}

/// A platform that never answers is given up on after a while; others are told meanwhile.
#[tokio::test]
async fn a_platform_that_hangs_holds_up_nobody() {
    let (slack, post, world) = both().await;
    let (had, letters) = (tries(&slack), post.letters().len());
    slack.next(Fault::Silence);
    let ask = asked(&world.agent(), for_both()).await;
    eventually("a try", async || tries(&slack) == had + 1).await;
    assert_eq!(post.letter(letters + 1).await.to, "bob@example.com");
    assert!(!world.app().notifier.deliveries.are_idle(), "it still hangs");
    // Answered meanwhile, there is nothing to tell when it is tried again.
    world.member().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 1).await;
    world.advance(1);
    waits(&world, 0).await;
    assert_eq!((tries(&slack), post.letters().len()), (had + 1, letters + 1));
    world.end().await;
}

/// The platform has taken it and the note is there, but the server died before it settled the
/// delivery: it is not said twice.
#[tokio::test]
async fn what_the_platform_has_taken_is_not_sent_again() {
    let (slack, _post, mut world) = both().await;
    let had = tries(&slack);
    slack.next(Fault::Status(500));
    let ask = asked(&world.agent(), approval()).await;
    eventually("a try", async || tries(&slack) == had + 1).await;
    waits(&world, 1).await;
    let ask_id = ask.rsplit('/').next().unwrap().parse().unwrap();
    let store = world.gateway().store();
    let note = store.messages(vec![ask_id]).await.unwrap().pop().unwrap();
    assert_eq!(note.posted, None);
    let taken = slack.messages().pop().map(|message| id(&message));
    store.put_message(Message { posted: taken.clone(), ..note }).await.unwrap();
    world.restart().await;
    world.advance(1);
    // It counts as told: what waits is the next means.
    waits(&world, 1).await;
    assert_eq!(tries(&slack), had + 1);
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(900);
    let over = now_says(&world, &slack, &taken.unwrap()).await;
    assert!(over.contains("Approved by"), "{over}");
    world.end().await;
}

/// That it is over is said when that can be said; where it never can, nothing is left behind.
#[tokio::test]
async fn what_is_over_is_said_when_it_can_be() {
    let (slack, _post, world) = both().await;
    slack.person(person("U0BOB", "bob@example.com"));
    let ask = asked(&world.agent(), approval()).await;
    let message = id(&posted(&slack, 2).await);
    waits(&world, 1).await;
    slack.next(Fault::Slower(30));
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    eventually("an update", async || slack.calls_of("chat.update").len() == 1).await;
    waits(&world, 2).await;
    world.advance(29);
    waits(&world, 2).await;
    assert_eq!(slack.calls_of("chat.update").len(), 1, "too early");
    world.advance(1);
    waits(&world, 1).await;
    assert_eq!(slack.calls_of("chat.update").len(), 2);
    world.advance(900);
    let over = now_says(&world, &slack, &message).await;
    assert!(over.contains("Approved by"), "{over}");
    // Somebody deleted the message meanwhile.
    let ask = asked(&world.agent(), approval()).await;
    let message = id(&posted(&slack, 3).await);
    waits(&world, 1).await;
    slack.delete(&message);
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(900);
    waits(&world, 0).await;
    world.end().await;
}

/// A platform that says when it takes more has not failed: until then nobody tries it, and it is
/// not held against any message that it had to wait.
#[tokio::test]
async fn what_waits_for_a_limit_is_neither_tried_nor_counted() {
    let (slack, post, world) = both().await;
    let (had, letters) = (tries(&slack), post.letters().len());
    slack.next(Fault::Slower(60));
    let first = asked(&world.agent(), approval()).await;
    eventually("a try", async || tries(&slack) == had + 1).await;
    waits(&world, 1).await;
    let second = asked(&world.agent(), approval()).await;
    waits(&world, 2).await;
    assert_eq!(tries(&slack), had + 1, "the second was told to wait by the first");
    // More often than a message is tried that fails.
    for n in 2..=20 {
        slack.next(Fault::Slower(60));
        world.advance(60);
        eventually("a try", async || {
            deliver(&world).await;
            tries(&slack) == had + n
        })
        .await;
        waits(&world, 2).await;
    }
    assert_eq!(post.letters().len(), letters, "nobody need be told by other means yet");
    world.advance(60);
    posted(&slack, 3).await;
    waits(&world, 2).await;
    assert_eq!(tries(&slack), had + 22);
    for ask in [first, second] {
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    }
    world.advance(900);
    waits(&world, 0).await;
    world.end().await;
}

/// After half an hour it counts like any other failure: the next means is tried.
#[tokio::test]
async fn a_platform_that_takes_nothing_for_long_has_failed() {
    let (slack, post, world) = both().await;
    let (had, letters) = (tries(&slack), post.letters().len());
    slack.next(Fault::Slower(1_800));
    let ask = asked(&world.agent(), approval()).await;
    eventually("a try", async || tries(&slack) == had + 1).await;
    waits(&world, 1).await;
    for n in 2..=4 {
        assert_eq!(post.letters().len(), letters, "{n}");
        slack.next(Fault::Slower(1));
        world.advance(if n == 2 { 1_800 } else { 4 });
        eventually("a try", async || {
            deliver(&world).await;
            tries(&slack) == had + n
        })
        .await;
        if n < 4 {
            waits(&world, 1).await;
        }
    }
    assert_eq!(post.letter(letters + 1).await.to, "ada@example.com");
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(900);
    waits(&world, 0).await;
    world.end().await;
}
