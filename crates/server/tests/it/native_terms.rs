//! Our own API: repeating a call, calls that depend on a version, calls that wait.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::native::{ASKS, approval, asked, yes};
use crate::world::{World, eventually, soon};

/// What a newcomer to the ask finds: `Location` leads there, and the tag is its version.
#[tokio::test]
async fn a_created_ask_says_where_it_is() {
    let world = World::dev().await;
    let created = world.agent().post(ASKS, approval()).await.is(201);
    assert_eq!(created.header("etag"), "\"1\"");
    assert_eq!(created.header("preference-applied"), "");
    let id = created["id"].as_str().unwrap();
    let place = created.header("location");
    assert_eq!(place, format!("{ASKS}/{id}"));
    assert_eq!(world.agent().get(place).await.is(200).json, created.json);
    let page = format!("http://localhost:{}/asks/{id}", world.server().listening()[0].port());
    assert_eq!(created["url"], page);
    assert_eq!(created["comments"], 0);
    assert_eq!((&created["result"], &created["receipt"]), (&Value::Null, &Value::Null));
    world.end().await;
}

/// The same key and body give the same ask as it is now, whoever answered it meanwhile.
#[tokio::test]
async fn a_key_makes_repeating_harmless() {
    let world = World::dev().await;
    let once = world.agent().header("idempotency-key", "k1");
    let first = once.post(ASKS, approval()).await.is(201);
    assert_eq!(first.header("idempotent-replayed"), "");
    let id = first["id"].as_str().unwrap();
    world.human().post(&format!("{ASKS}/{id}/answer"), yes()).await.is(200);
    let again = once.post(ASKS, approval()).await.is(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!((&again["id"], &again["state"]), (&first["id"], &json!("completed")));
    assert_eq!(again.header("etag"), format!("\"{}\"", again["version"]));
    assert_eq!(again.header("location"), first.header("location"));
    let other = json!({ "question": { "prompt": "Delete?", "kind": "approve" } });
    once.post(ASKS, other).await.problem(409, "idempotency-mismatch");
    // Another agent's keys are its own; so are those of another dialect.
    let theirs = world.agent_2().header("idempotency-key", "k1");
    assert_ne!(theirs.post(ASKS, approval()).await.is(201)["id"], first["id"]);
    let hxp = once.post("/hxp/v1/requests", crate::client::approve("x")).await.is(201);
    assert_eq!(hxp.header("idempotent-replayed"), "");
    world.end().await;
}

/// A replay after the deadline tells that it passed, not that the ask is open.
#[tokio::test]
async fn a_replay_after_the_deadline_is_over() {
    let world = World::dev().await;
    let once = world.agent().header("idempotency-key", "k1");
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": { "report": "abort" },
    });
    once.post(ASKS, timed.clone()).await.is(201);
    world.advance(5);
    let again = once.post(ASKS, timed).await.is(201);
    let expected = json!({
        "outcome": "expired", "answer": null, "comment": null, "by": { "kind": "system" },
        "via": null, "assurance": null, "attested": null, "report": "abort", "reason": null,
        "at": "2026-03-01T09:00:05.000Z",
    });
    assert_eq!((&again["state"], &again["result"]), (&json!("expired"), &expected));
    world.end().await;
}

#[tokio::test]
async fn of_many_with_one_key_one_asks() {
    let world = World::dev().await;
    let agent = world.agent().header("idempotency-key", "once");
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let agent = agent.clone();
        sent.spawn(async move { agent.post(ASKS, approval()).await.is(201) });
    }
    let replies = sent.join_all().await;
    let replayed = replies.iter().filter(|r| r.header("idempotent-replayed") == "true").count();
    assert_eq!(replayed, 19);
    assert!(replies.iter().all(|reply| reply["id"] == replies[0]["id"]));
    assert_eq!(world.human().inbox("").await["total"], 1);
    world.end().await;
}

/// Every act on an ask names the version it is about, or does not mind.
#[tokio::test]
async fn an_act_on_another_version_does_nothing() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let until = json!({ "until": "2026-03-01T10:00:00Z" });
    let acts: [(&Client, &str, Value); 5] = [
        (&human, "claim", json!({})),
        (&human, "assign", json!({ "to": "user_dev_2" })),
        (&agent, "extend", until),
        (&human, "answer", yes()),
        (&agent, "cancel", json!({})),
    ];
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 60, "on_expiry": "fail",
    });
    for (who, verb, body) in acts {
        let path = asked(&agent, timed.clone()).await;
        let act = format!("{path}/{verb}");
        for stale in ["\"7\"", "\"0\"", "W/\"1\"", "\"abc\""] {
            let refused = who.clone().header("if-match", stale).post(&act, body.clone()).await;
            let refused = refused.problem(412, "changed");
            assert!(
                refused["detail"].as_str().unwrap().contains("current version is 1"),
                "{}",
                refused.text
            );
        }
        for malformed in ["v1", "\"1\", \"2\"", "\"1"] {
            let refused = who.clone().header("if-match", malformed).post(&act, body.clone()).await;
            let refused = refused.problem(400, "invalid-field");
            assert_eq!(refused["errors"][0]["field"], "If-Match");
        }
        assert_eq!(agent.get(&path).await["version"], 1);
        // Whoever may not see the ask learns nothing of its version.
        let stranger =
            if verb == "extend" || verb == "cancel" { world.agent_2() } else { world.member() };
        let refused = stranger.header("if-match", "\"7\"").post(&act, body.clone()).await;
        refused.problem(404, "not-found");
        let done = who.clone().header("if-match", "\"1\"").post(&act, body.clone()).await.is(200);
        assert_eq!(done["version"], 2, "{}", done.text);
        let path = asked(&agent, timed.clone()).await;
        let any = who.clone().header("if-match", "*");
        any.post(&format!("{path}/{verb}"), body).await.is(200);
    }
    world.end().await;
}

/// Of many who saw the same version, one acts.
#[tokio::test]
async fn of_many_on_one_version_one_acts() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (human, path) = (world.human().header("if-match", "\"1\""), path.clone());
        let to = json!({ "to": "user_dev_2" });
        sent.spawn(async move { human.post(&format!("{path}/assign"), to).await.status });
    }
    let statuses = sent.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 412)), "{statuses:?}");
    world.end().await;
}

#[tokio::test]
async fn what_was_seen_is_not_told_again() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let with = |tag: &str| world.agent().header("if-none-match", tag);
    for same in ["\"1\"", "W/\"1\"", "\"5\", \"1\"", "*"] {
        let unchanged = with(same).get(&path).await.is(304);
        assert_eq!((unchanged.text.as_str(), unchanged.header("etag")), ("", "\"1\""));
        assert_eq!(unchanged.header("content-type"), "");
    }
    for other in ["\"2\"", "\"x\""] {
        assert_eq!(with(other).get(&path).await.is(200)["version"], 1);
    }
    let refused = with("v1").get(&path).await.problem(400, "invalid-field");
    assert_eq!(refused["errors"][0]["field"], "If-None-Match");
    // A stranger's tag opens nothing.
    let stranger = world.agent_2().header("if-none-match", "\"1\"");
    stranger.get(&path).await.problem(404, "not-found");
    world.end().await;
}

/// A wait ends with news for this caller: what it has seen already is none.
#[tokio::test]
async fn waiting_begins_at_the_version_seen() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    world.human().post(&format!("{path}/claim"), json!({})).await.is(200);
    let waiting = |tag: &str| {
        world.agent().header("if-none-match", tag).header("prefer", "respond-async, wait=600")
    };
    // Version 1 was seen, so there is news at once.
    let at_once = soon("what changed already", waiting("\"1\"").get(&path)).await.is(200);
    assert_eq!((&at_once["version"], at_once.header("preference-applied")), (&json!(2), "wait=60"));
    let answering = async {
        eventually("somebody who waits", async || world.gateway().wake().len() == 1).await;
        world.human().post(&format!("{path}/answer"), yes()).await.is(200)
    };
    let caller = waiting("\"2\"");
    let (seen, _) = tokio::join!(caller.get(&path), answering);
    assert_eq!(seen.is(200)["state"], "completed");
    // Time that passes without news is told as such.
    let quiet = asked(&world.agent(), approval()).await;
    let short = world.agent().header("prefer", "wait=1").header("if-none-match", "\"1\"");
    let unchanged = soon("the end of a second", short.get(&quiet)).await.is(304);
    assert_eq!(unchanged.header("preference-applied"), "wait=1");
    let plain = world.agent().header("prefer", "wait=0").get(&quiet).await.is(200);
    assert_eq!(plain.header("preference-applied"), "wait=0");
    let quoted = world.agent().header("prefer", "wait=\"1\"").header("if-none-match", "\"1\"");
    let unchanged = soon("the end of a second", quoted.get(&quiet)).await.is(304);
    assert_eq!(unchanged.header("preference-applied"), "wait=1");
    for malformed in ["wait", "wait=soon", "wait=-1", "wait=1.5"] {
        let caller = world.agent().header("prefer", malformed);
        let at_once = soon("an answer at once", caller.get(&quiet)).await.is(200);
        assert_eq!(at_once.header("preference-applied"), "");
    }
    assert_eq!(world.human().inbox("").await["total"], 1);
    world.end().await;
}

/// Asking and waiting in one call.
#[tokio::test]
async fn asking_may_wait_for_the_answer() {
    let world = World::dev().await;
    let waiting = world.agent().header("prefer", "wait=60").header("idempotency-key", "k");
    let answering = async {
        let mut id = Value::Null;
        eventually("an ask", async || {
            let inbox = world.human().inbox("").await;
            id = inbox["requests"][0]["request_id"].clone();
            id.is_string()
        })
        .await;
        eventually("somebody who waits", async || world.gateway().wake().len() == 1).await;
        world.human().resolve(id.as_str().unwrap(), json!({ "result": "approved" })).await.is(200)
    };
    let (seen, _) = tokio::join!(waiting.post(ASKS, approval()), answering);
    let seen = seen.is(201);
    assert_eq!(
        (&seen["state"], seen.header("preference-applied")),
        (&json!("completed"), "wait=60")
    );
    let again = soon("a replay of what is over", waiting.post(ASKS, approval())).await.is(201);
    assert_eq!((&again["id"], again.header("idempotent-replayed")), (&seen["id"], "true"));
    world.end().await;
}

/// Keys that are none are refused before anything happens.
#[tokio::test]
async fn bad_keys_change_nothing() {
    let world = World::dev().await;
    let long = "k".repeat(256);
    for key in ["", &long] {
        let refused = world.agent().header("idempotency-key", key).post(ASKS, approval()).await;
        let refused = refused.problem(400, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], "Idempotency-Key");
    }
    let twice = world.agent().header("idempotency-key", "a").header("idempotency-key", "b");
    let request = twice.request(Method::POST, ASKS).json(&approval());
    Reply::of(request).await.problem(400, "invalid-field");
    assert_eq!(world.human().inbox("").await["total"], 0);
    world.end().await;
}

/// What happens at a deadline needs one: everything but `stay_open` would never take effect.
#[tokio::test]
async fn what_happens_at_a_deadline_needs_a_timeout() {
    let world = World::dev().await;
    let answer = json!({ "answer": { "answer": { "verdict": "rejected" } } });
    for on_expiry in [json!("fail"), answer, json!({ "report": "skip" })] {
        for timeout in [None, Some(0)] {
            let mut body = approval();
            body["on_expiry"] = on_expiry.clone();
            if let Some(timeout) = timeout {
                body["timeout_seconds"] = json!(timeout);
            }
            let refused = world.agent().post(ASKS, body.clone()).await;
            let problem = refused.problem(422, "invalid-field");
            assert_eq!(problem["errors"][0]["field"], "on_expiry", "{}", problem.text);
            assert!(problem.text.contains("timeout_seconds"), "{}", problem.text);
            body["timeout_seconds"] = json!(60);
            world.agent().post(ASKS, body).await.is(201);
        }
    }
    let mut open = approval();
    open["on_expiry"] = json!("stay_open");
    world.agent().post(ASKS, open).await.is(201);
    world.end().await;
}

/// An agent that resumes after a weekend re-attaches to what it asked, as long as it is open and a
/// day longer; swept or not.
#[tokio::test]
async fn a_resumed_agent_does_not_ask_twice() {
    let world = World::dev().await;
    let agent = world.agent().header("idempotency-key", "thread-7/call-1");
    let first = agent.post(ASKS, approval()).await.is(201);
    let id = first["id"].clone();
    let again = async || {
        let again = agent.post(ASKS, approval()).await;
        (again["id"].clone(), again.header("idempotent-replayed").to_owned())
    };
    let replayed = (id.clone(), "true".to_owned());
    for _ in 0..3 {
        world.advance(3 * 24 * 3600);
        assert_eq!(again().await, replayed);
        world.gateway().store().sweep(world.now()).await.unwrap();
        assert_eq!(again().await, replayed);
    }
    let path = format!("{ASKS}/{}/answer", id.as_str().unwrap());
    let yes = json!({ "answer": { "verdict": "approved" } });
    world.human().post(&path, yes).await.is(200);
    world.advance(24 * 3600 - 1);
    world.gateway().store().sweep(world.now()).await.unwrap();
    assert_eq!(again().await, replayed, "a resumed agent finds the answer");
    world.advance(1);
    assert_ne!(again().await.0, id, "a day after the end the key is free");
    world.end().await;
}
