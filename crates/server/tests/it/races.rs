//! Many at once.

use futures_util::future::join_all;
use serde_json::json;

use crate::client::{approve, with};
use crate::world::World;

/// HXPX-059: of twenty answers at once one wins, and the receipt is the winner's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_twenty_answers_one_wins() {
    let world = World::dev().await;
    for _ in 0..3 {
        let id = world.agent().ask(with(approve("x"), json!({ "role": "pool" }))).await;
        let answers = (0..20).map(|n| {
            let person = if n % 2 == 0 { world.human() } else { world.member() };
            let id = &id;
            async move {
                let body = json!({ "result": "approved", "reason": format!("number {n}") });
                person.resolve(id, body).await
            }
        });
        let (won, lost): (Vec<_>, Vec<_>) =
            join_all(answers).await.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 19));
        for reply in lost {
            reply.error(409, "conflict");
        }
        assert_eq!(world.agent().poll(&id).await["receipt"], won[0]["receipt"]);
    }
    world.end().await;
}

/// HXPX-059: an answer and a timeout at once: one of them, and both sides agree which.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_and_a_timeout_agree() {
    let world = World::dev().await;
    let timed = json!({ "timeout_seconds": 10, "fallback": "fail" });
    for _ in 0..10 {
        let id = world.agent().ask(with(approve("x"), timed.clone())).await;
        let human = world.human();
        let answer = human.resolve(&id, json!({ "result": "approved" }));
        let late = async {
            world.advance(10);
            world.run_timers().await;
        };
        let (answer, ()) = tokio::join!(answer, late);
        let end = world.agent().poll(&id).await.is(200);
        match answer.status {
            200 => assert_eq!(end["receipt"], answer["receipt"]),
            408 => assert_eq!(end["status"], "failed"),
            _ => panic!("{answer:?}"),
        }
    }
    world.end().await;
}

/// HXPX-059: answer and cancel, and two claims.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_and_claims_have_one_winner_too() {
    let world = World::dev().await;
    let pool = with(approve("x"), json!({ "role": "pool" }));
    for _ in 0..10 {
        let id = world.agent().ask(pool.clone()).await;
        let (agent, human, member) = (world.agent(), world.human(), world.member());
        let body = json!({ "result": "approved" });
        let (answer, cancel) = tokio::join!(human.resolve(&id, body), agent.cancel(&id));
        let mut statuses = [answer.status, cancel.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);

        let id = world.agent().ask(pool.clone()).await;
        let (one, other) = tokio::join!(human.claim(&id), member.claim(&id));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }
    world.end().await;
}

/// HXPX-022: the same create twenty times at once is one request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_at_once_is_still_one() {
    let world = World::dev().await;
    let agent = world.agent().header("idempotency-key", "once");
    let creates = (0..20).map(|_| agent.post("/hxp/v1/requests", approve("x")));
    let replies = join_all(creates).await;
    let first = replies[0]["request_id"].clone();
    let mut replayed = 0;
    for reply in replies {
        let reply = reply.is(201);
        assert_eq!(reply["request_id"], first);
        replayed += usize::from(reply.header("idempotent-replayed") == "true");
    }
    assert_eq!(replayed, 19);
    assert_eq!(world.agent().list("").await["total"], 1);
    world.end().await;
}

/// Pages read while others write show everything exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_hold_under_concurrent_writes() {
    let world = World::dev().await;
    let agent = world.agent();
    let mut before = Vec::new();
    for _ in 0..30 {
        before.push(agent.ask(approve("x")).await);
    }
    let writing = async {
        join_all((0..20).map(|_| agent.ask(approve("y")))).await;
    };
    let reading = async {
        let mut seen = Vec::new();
        let mut query = "?limit=7".to_owned();
        loop {
            let page = agent.list(&query).await.is(200);
            seen.extend(page.ids().into_iter().map(str::to_owned));
            let Some(cursor) = page["cursor"].as_str() else { return seen };
            query = format!("?limit=7&cursor={cursor}");
        }
    };
    let ((), seen) = tokio::join!(writing, reading);
    for id in &before {
        assert_eq!(seen.iter().filter(|other| *other == id).count(), 1);
    }
    world.end().await;
}
