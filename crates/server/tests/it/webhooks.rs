//! Webhooks: signed as the standard has it, tried for most of a day, never twice under two names,
//! and nobody waits for somebody else's endpoint.

use std::collections::BTreeSet;
use std::time::Duration;

use kernel::directory::{NewWebhook, WebhookFormat, WebhookScope};
use kernel::{Actor, DirectoryCommand, Time, Topic, WebhookId};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use store::Work;

use crate::client::{Reply, approve, with};
use crate::fake_webhook_receiver::{Hook, deliver};
use crate::world::{World, eventually};

pub(crate) const HOOKS: &str = "/api/v1/webhooks";

/// An endpoint of `agent_dev`, as the API made it, with its secret.
pub(crate) async fn endpoint(world: &World, url: &str, more: Value) -> Reply {
    let body = with(json!({ "agent": "agent_dev", "url": url }), more);
    world.human().post(HOOKS, body).await.is(201)
}

pub(crate) fn at(endpoint: &Reply, below: &str) -> String {
    format!("{HOOKS}/{}{below}", endpoint["id"].as_str().unwrap())
}

pub(crate) async fn ask(world: &World) -> String {
    let question = json!({ "kind": "approve", "prompt": "Refund?", "details": { "order": 7 } });
    let made = world.agent().post("/api/v1/asks", json!({ "question": question })).await.is(201);
    made["id"].as_str().unwrap().to_owned()
}

pub(crate) async fn answer(world: &World, ask: &str) {
    let body = json!({ "answer": { "verdict": "approved" }, "comment": "fine" });
    world.human().post(&format!("/api/v1/asks/{ask}/answer"), body).await.is(200);
}

pub(crate) async fn deliveries(world: &World, endpoint: &Reply) -> Vec<Value> {
    let found = world.human().get(&at(endpoint, "/deliveries")).await.is(200);
    found["deliveries"].as_array().unwrap().clone()
}

/// The one delivery there is, once it has been tried so often.
async fn tried(world: &World, endpoint: &Reply, times: usize) -> Value {
    eventually("an attempt", async || {
        let all = deliveries(world, endpoint).await;
        all.first().is_some_and(|one| one["attempts"].as_array().unwrap().len() >= times)
    })
    .await;
    let mut all = deliveries(world, endpoint).await;
    assert_eq!(all.len(), 1);
    let one = all.remove(0);
    assert_eq!(one["attempts"].as_array().unwrap().len(), times, "{one}");
    one
}

fn time(value: &Value) -> Time {
    value.as_str().unwrap().parse().unwrap()
}

/// What the published library says the signature of a call must be.
pub(crate) fn expected(
    secret: &str,
    call: &(axum::http::HeaderMap, bytes::Bytes),
    name: &str,
) -> String {
    let (headers, body) = call;
    let text = |part: &str| headers[format!("{name}-{part}").as_str()].to_str().unwrap();
    let library = Webhook::new(secret).unwrap();
    library.sign(text("id"), text("timestamp").parse().unwrap(), body).unwrap()
}

/// Told once, under one id, with the receipt, signed as `standardwebhooks` signs.
#[tokio::test]
async fn an_endpoint_is_told_how_it_ended() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let id = ask(&world).await;
    answer(&world, &id).await;
    hook.heard_times(1).await;
    let call = hook.heard().remove(0);
    assert_eq!(call.0["content-type"], "application/json");
    assert_eq!(call.0["webhook-signature"], expected(secret, &call, "webhook").as_str());
    assert_eq!(call.0["webhook-timestamp"], (world.now().millis() / 1000).to_string().as_str());
    let body: Value = serde_json::from_slice(&call.1).unwrap();
    assert_eq!(body["type"], "ask.answered");
    assert_eq!(time(&body["timestamp"]), world.now());
    let ask = &body["data"]["ask"];
    assert_eq!((&ask["id"], &ask["state"]), (&json!(id), &json!("completed")));
    assert_eq!(ask["result"]["answer"]["verdict"], "approved");
    let receipt = world.agent().get(&format!("/api/v1/asks/{id}")).await["receipt"].clone();
    assert_eq!(ask["receipt"], receipt, "the proof comes along");
    let logged = tried(&world, &made, 1).await;
    assert_eq!((&logged["status"], &logged["type"]), (&json!("done"), &json!("ask.answered")));
    assert_eq!(call.0["webhook-id"], logged["id"].as_str().unwrap());
    // The secret is in no answer, page of the log or row of the record but the one that made it.
    let again = world.human().get(&at(&made, "")).await.is(200);
    assert!(!again.text.contains(secret) && again["secret"].is_null(), "{}", again.text);
    assert!(!crate::world::logged().contains(secret));
    world.end().await;
}

/// HXP's and HITL's asks are told of like our own, each event under a name of its own.
#[tokio::test]
async fn asks_of_every_dialect_are_told_of() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let all: Vec<&str> = Topic::ALL.into_iter().map(Topic::as_str).collect();
    endpoint(&world, &hook.url, json!({ "events": all })).await;
    let hxp = world.agent().ask(approve("x")).await;
    world.human().resolve(&hxp, json!({ "result": "rejected", "feedback": "no" })).await.is(200);
    let case = crate::hitl::Case::make(&world, crate::hitl::approval()).await;
    case.respond(json!({ "action": "edit", "data": { "feedback": "smaller" } })).await;
    let cancelled = ask(&world).await;
    world.agent().post(&format!("/api/v1/asks/{cancelled}/cancel"), json!({})).await.is(200);
    eventually("the end", async || {
        let ends = |body: &str| body.contains(r#""type":"ask.cancelled""#);
        hook.heard().iter().any(|(_, body)| ends(std::str::from_utf8(body).unwrap()))
    })
    .await;
    let heard = hook.heard();
    let kinds: Vec<String> = heard
        .iter()
        .map(|(_, body)| {
            let body: Value = serde_json::from_slice(body).unwrap();
            body["type"].as_str().unwrap().to_owned()
        })
        .collect();
    for kind in ["ask.created", "ask.answered", "ask.cancelled"] {
        assert!(kinds.iter().any(|heard| heard == kind), "{kind}: {kinds:?}");
    }
    let ids: BTreeSet<&str> =
        heard.iter().map(|(headers, _)| headers["webhook-id"].to_str().unwrap()).collect();
    assert_eq!(ids.len(), heard.len(), "an id names one event");
    world.end().await;
}

/// Tried for most of a day under one id, each time with a fresh moment and signature; then a dead
/// letter that somebody sends again.
#[tokio::test]
async fn what_is_not_taken_is_sent_again_for_hours() {
    let world = World::dev().await;
    let hook = Hook::open(&[500, 404, 302, 429, 503, 500, 500, 500]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    let secret = made["secret"].as_str().unwrap().to_owned();
    answer(&world, &ask(&world).await).await;
    let begun = world.now();
    for n in 1..8 {
        let logged = tried(&world, &made, n).await;
        assert_eq!(logged["status"], "waiting");
        let left = time(&logged["next_at"]).millis() - world.now().millis();
        let left = u64::try_from(left / 1000).unwrap();
        world.advance(left.saturating_sub(1));
        deliver(&world).await;
        assert_eq!(hook.heard().len(), n, "not before its time");
        world.advance(2);
        deliver(&world).await;
    }
    let logged = tried(&world, &made, 8).await;
    assert_eq!((&logged["status"], &logged["next_at"]), (&json!("dead"), &Value::Null));
    let last = &logged["attempts"][7];
    assert_eq!((&last["result"], &last["status"]), (&json!("refused"), &json!(500)));
    assert_eq!(last["answer"].as_str().unwrap().len(), 300, "the beginning of what it said");
    let hours = world.now().seconds_since(begun) / 3600;
    assert!((15..20).contains(&hours), "{hours} hours");
    assert_eq!(world.gateway().store().backlog().await.unwrap().dead, 1, "a dead letter shows");
    let metrics = world.anonymous().get("/metrics").await.text;
    assert!(metrics.contains("countersign_outbox_dead 1"), "{metrics}");
    let dead = world.human().get(&at(&made, "/deliveries?status=dead")).await.is(200);
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 1);
    world.advance(1000);
    let id = logged["id"].as_str().unwrap();
    let again = at(&made, &format!("/deliveries/{id}/redeliver"));
    world.member().post(&again, json!({})).await.problem(404, "not-found");
    assert_eq!(world.human().post(&again, json!({})).await.is(202)["status"], "waiting");
    assert_eq!(tried(&world, &made, 9).await["status"], "done");
    let heard = hook.heard();
    assert_eq!(heard.len(), 9);
    let mut moments = BTreeSet::new();
    for call in &heard {
        assert_eq!(call.0["webhook-id"], id, "one id however often");
        assert_eq!(call.0["webhook-signature"], expected(&secret, call, "webhook").as_str());
        moments.insert(call.0["webhook-timestamp"].to_str().unwrap().to_owned());
    }
    assert_eq!(moments.len(), 9, "a moment of its own each time");
    let unknown = at(&made, "/deliveries/msg_unknown/redeliver");
    world.human().post(&unknown, json!({})).await.problem(404, "not-found");
    world.end().await;
}

/// A redirection is not followed, and whoever asks for time gets it.
#[tokio::test]
async fn an_endpoint_may_ask_for_time() {
    let world = World::dev().await;
    let hook = Hook::open(&[503]).await;
    hook.ask_for("3600");
    let made = endpoint(&world, &hook.url, json!({})).await;
    answer(&world, &ask(&world).await).await;
    let logged = tried(&world, &made, 1).await;
    assert_eq!(time(&logged["next_at"]), world.now().plus_seconds(3600));
    world.advance(3599);
    deliver(&world).await;
    assert_eq!(hook.heard().len(), 1);
    world.advance(1);
    deliver(&world).await;
    assert_eq!(tried(&world, &made, 2).await["status"], "done");
    world.end().await;
}

/// Both secrets sign for a while, so that a receiver that knows either is not left out.
#[tokio::test]
async fn a_secret_is_replaced_without_missing_anything() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    let rotated =
        world.human().post(&at(&made, "/rotate"), json!({ "grace_seconds": 60 })).await.is(200);
    let (old, new) = (made["secret"].as_str().unwrap(), rotated["secret"].as_str().unwrap());
    assert_ne!(old, new);
    assert_eq!(rotated["secret_version"], 2);
    let signatures = async |n: usize| {
        answer(&world, &ask(&world).await).await;
        hook.heard_times(n).await;
        let call = hook.heard().pop().unwrap();
        let sent = call.0["webhook-signature"].to_str().unwrap().to_owned();
        (sent, expected(new, &call, "webhook"), expected(old, &call, "webhook"))
    };
    let (sent, by_new, by_old) = signatures(1).await;
    assert_eq!(sent, format!("{by_new} {by_old}"));
    world.advance(60);
    let (sent, by_new, _) = signatures(2).await;
    assert_eq!(sent, by_new);
    world.human().post(&at(&made, "/rotate"), json!({ "grace_seconds": 0 })).await.is(200);
    let (sent, by_new, by_old) = signatures(3).await;
    assert!(!sent.contains(&by_new) && !sent.contains(&by_old), "what leaked is worth nothing");
    world.end().await;
}

/// 410 means: never again. What comes later is not even written; enabling it is a person's to do.
#[tokio::test]
async fn an_endpoint_that_is_gone_is_disabled() {
    let world = World::dev().await;
    let hook = Hook::open(&[410]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    answer(&world, &ask(&world).await).await;
    let logged = tried(&world, &made, 1).await;
    assert_eq!(logged["status"], "dead");
    let shown = world.human().get(&at(&made, "")).await.is(200);
    assert_eq!((&shown["enabled"], &shown["disabled"]), (&json!(false), &json!("gone")));
    answer(&world, &ask(&world).await).await;
    deliver(&world).await;
    assert_eq!(hook.heard().len(), 1);
    let id = logged["id"].as_str().unwrap();
    let again = at(&made, &format!("/deliveries/{id}/redeliver"));
    world.human().post(&again, json!({})).await.problem(403, "not-allowed");
    world.human().post(&at(&made, "/test"), json!({})).await.problem(403, "not-allowed");
    let body = json!({ "agent": "agent_dev", "url": hook.url });
    assert_eq!(world.human().put(&at(&made, ""), body).await.is(200)["enabled"], true);
    world.human().post(&again, json!({})).await.is(202);
    assert_eq!(tried(&world, &made, 2).await["status"], "done");
    world.end().await;
}

/// What waits for an endpoint that is disabled meanwhile is a dead letter, not a call.
#[tokio::test]
async fn what_waits_for_a_disabled_endpoint_is_kept() {
    let world = World::dev().await;
    let hook = Hook::open(&[500]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    answer(&world, &ask(&world).await).await;
    tried(&world, &made, 1).await;
    let body = json!({ "agent": "agent_dev", "url": hook.url, "enabled": false });
    world.human().put(&at(&made, ""), body.clone()).await.is(200);
    world.advance(10);
    deliver(&world).await;
    let logged = tried(&world, &made, 2).await;
    assert_eq!((&logged["status"], hook.heard().len()), (&json!("dead"), 1));
    assert_eq!(logged["attempts"][1]["error"], "the endpoint is disabled");
    world.human().put(&at(&made, ""), with(body, json!({ "enabled": true }))).await.is(200);
    let id = logged["id"].as_str().unwrap();
    world.human().post(&at(&made, &format!("/deliveries/{id}/redeliver")), json!({})).await.is(202);
    assert_eq!(tried(&world, &made, 3).await["status"], "done");
    // With an endpoint go its dead letters: nobody could send them.
    hook.answers.lock().unwrap().push(410);
    answer(&world, &ask(&world).await).await;
    eventually("a dead letter", async || {
        world.gateway().store().backlog().await.unwrap().dead == 1
    })
    .await;
    world.human().delete(&at(&made, "")).await.is(204);
    assert_eq!(world.gateway().store().backlog().await.unwrap().dead, 0);
    world.human().get(&at(&made, "")).await.problem(404, "not-found");
    world.end().await;
}

/// An endpoint that never answers holds up one call at a time: its own. Others hear at once, and so
/// do people.
#[tokio::test]
async fn nobody_waits_for_somebody_elses_endpoint() {
    let world = World::dev().await;
    let (hung, quick) = (Hook::held(&[]).await, Hook::open(&[]).await);
    let made = endpoint(&world, &hung.url, json!({})).await;
    endpoint(&world, &quick.url, json!({})).await;
    for _ in 0..80 {
        answer(&world, &ask(&world).await).await;
    }
    quick.heard_times(80).await;
    assert_eq!(hung.heard().len(), 1, "one call, while nobody answers");
    let store = world.gateway().store();
    eventually("people were told", async || {
        let mine = store.claim(Work::PEOPLE, world.now(), Duration::ZERO, 1).await.unwrap();
        mine.is_empty()
    })
    .await;
    eventually("nothing else waits", async || {
        let lanes = store.lanes(Work::PEOPLE, world.now(), 9).await.unwrap();
        let names = lanes.iter().map(|(lane, _)| lane.as_str());
        names.eq([made["id"].as_str().unwrap()])
    })
    .await;
    hung.release();
    eventually("the rest", async || hung.heard().len() == 80).await;
    let ids: BTreeSet<String> = (hung.heard().iter())
        .map(|(headers, _)| headers["webhook-id"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 80, "each once");
    world.end().await;
}

/// Refused when it is named, and not called when it is there all the same.
#[tokio::test]
async fn calls_go_nowhere_inside() {
    let world = World::dev().await;
    for bad in [
        "https://10.0.0.1/hook",
        "http://agent.example/hook",
        "https://169.254.169.254/latest",
        "ftp://agent.example/",
        "https://user:pass@agent.example/",
        "hook",
        "",
    ] {
        let body = json!({ "agent": "agent_dev", "url": bad });
        let refused = world.human().post(HOOKS, body).await.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], "url", "{bad}");
    }
    // Written by an operator whose settings allowed it then.
    let new = NewWebhook {
        id: WebhookId::new(world.gateway().ids().ulid()),
        of: WebhookScope::Agent("agent_dev".parse().unwrap()),
        url: "https://10.0.0.1/hook".to_owned(),
        events: Topic::ENDINGS.into(),
        format: WebhookFormat::Standard,
        description: String::new(),
        enabled: true,
    };
    world.gateway().run(Actor::System, DirectoryCommand::SaveWebhook(new)).await.unwrap();
    let made = world.human().get(HOOKS).await.is(200);
    let made = world
        .human()
        .get(&format!("{HOOKS}/{}", made["webhooks"][0]["id"].as_str().unwrap()))
        .await;
    answer(&world, &ask(&world).await).await;
    let logged = tried(&world, &made, 1).await;
    assert_eq!(logged["attempts"][0]["error"], "outgoing calls to this URL are not allowed");
    world.human().delete(&at(&made, "")).await.is(204);
    world.advance(60);
    world.end().await;
}

/// What was committed is told, whatever becomes of the server meanwhile.
#[tokio::test]
async fn a_restart_loses_nothing() {
    let mut world = World::dev().await;
    let hook = Hook::held(&[]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    answer(&world, &ask(&world).await).await;
    hook.heard_times(1).await;
    // It hangs up in the middle of the call; the lease ends.
    world.restart().await;
    hook.release();
    world.advance(61);
    assert_eq!(tried(&world, &made, 1).await["status"], "done");
    let heard = hook.heard();
    assert_eq!(heard[0].0["webhook-id"], heard[1].0["webhook-id"], "told twice, under one id");
    world.end().await;
}
