//! As HumanLayer tells it, and at the address one ask named.

use serde_json::{Value, json};

use crate::client::{Reply, with};
use crate::fake_webhook_receiver::{Hook, deliver};
use crate::webhooks::{answer, ask, at, deliveries, endpoint, expected};
use crate::world::{World, eventually};

async fn heard(hook: &Hook, n: usize) -> (axum::http::HeaderMap, Value) {
    hook.heard_times(n).await;
    let (headers, body) = hook.heard().pop().unwrap();
    (headers, serde_json::from_slice(&body).unwrap())
}

/// A2H-110, A2H-111, A2H-116, A2H-117: the envelope, with Svix's headers beside the standard ones.
#[tokio::test]
async fn an_envelope_as_humanlayer_sends_it() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let made = endpoint(&world, &hook.url, json!({ "format": "humanlayer" })).await;
    let question = json!({ "kind": "approve", "prompt": "refund", "details": { "order": 7 } });
    let body = json!({ "question": question, "metadata": { "thread": "t1" } });
    let id = world.agent().post("/api/v1/asks", body).await.is(201)["id"].clone();
    answer(&world, id.as_str().unwrap()).await;
    let (headers, body) = heard(&hook, 1).await;
    let secret = made["secret"].as_str().unwrap();
    for name in ["svix", "webhook"] {
        let signature = expected(secret, &hook.heard()[0], name);
        assert_eq!(headers[format!("{name}-signature").as_str()], signature.as_str());
    }
    assert_eq!(
        (&body["type"], &body["is_test"]),
        (&json!("function_call.completed"), &json!(false))
    );
    let event = &body["event"];
    assert_eq!(event["call_id"], id);
    assert_eq!(
        event["spec"],
        json!({ "fn": "refund", "kwargs": { "order": 7 }, "state": { "thread": "t1" } })
    );
    assert_eq!(
        (&event["status"]["approved"], &event["status"]["comment"]),
        (&json!(true), &json!("fine"))
    );
    assert!(event["status"]["receipt"].is_string());
    let members: Vec<&String> = event.as_object().unwrap().keys().collect();
    assert_eq!(members, ["run_id", "call_id", "spec", "status"], "decoders take no more");
    world.end().await;
}

/// What is told of a call is what its agent reads, in either form, whichever dialect asked.
#[tokio::test]
async fn what_is_told_is_what_would_be_read() {
    let world = World::dev().await;
    let (hook, bare) = (Hook::open(&[]).await, Hook::open(&[]).await);
    endpoint(&world, &hook.url, json!({ "format": "humanlayer" })).await;
    endpoint(&world, &bare.url, json!({ "format": "humanlayer-v1beta1" })).await;
    let agent = world.agent();
    let of = |call: &str, spec: Value| json!({ "run_id": "run", "call_id": call, "spec": spec });
    let spec = json!({ "fn": "refund", "kwargs": { "order": 7 }, "state": { "thread": "t1" },
        "channel": { "email": { "address": "ap@example.com" } },
        "reject_options": [{ "name": "later", "title": "Not now" }] });
    let call = agent.post("/humanlayer/v1/function_calls", of("call", spec)).await.is(200);
    let spec = json!({ "msg": "Which shop?", "subject": "Order 7", "state": { "thread": "t2" } });
    let contact = agent.post("/humanlayer/v1/contact_requests", of("contact", spec)).await.is(200);
    let question = json!({ "kind": "choose", "prompt": "Which?", "pick": "one", "options": [{ "id": "a", "label": "Ada" }, { "id": "b", "label": "Bea" }] });
    let native = json!({ "question": question, "metadata": { "thread": "t3" } });
    let native = agent.post("/api/v1/asks", native).await.is(201)["id"].clone();
    let ask_of = |call: &Reply| call["status"]["ask_id"].clone();
    for (n, (ask, verdict, kind, path)) in [
        (
            ask_of(&call),
            json!({ "verdict": "rejected", "option": "later" }),
            "function_call.completed",
            "function_calls/call".to_owned(),
        ),
        (
            ask_of(&contact),
            json!({ "verdict": "replied", "text": "The other one." }),
            "human_contact.completed",
            "contact_requests/contact".to_owned(),
        ),
        (
            native.clone(),
            json!({ "verdict": "chosen", "options": ["b"] }),
            "human_contact.completed",
            format!("human_contacts/{}", native.as_str().unwrap()),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = format!("/api/v1/asks/{}/answer", ask.as_str().unwrap());
        world.human().post(&answer, json!({ "answer": verdict })).await.is(200);
        let (_, body) = heard(&hook, n + 1).await;
        let (_, alone) = heard(&bare, n + 1).await;
        let read = agent.get(&format!("/humanlayer/v1/{path}")).await.is(200).json;
        assert_eq!(body, json!({ "is_test": false, "type": kind, "event": read }));
        assert_eq!(alone, read);
        assert!(read["status"]["receipt"].is_string(), "{read}");
        assert!(read["spec"]["state"]["thread"].is_string(), "{read}");
    }
    world.end().await;
}

/// A2H-112: the bare object, for receivers of before. A2H-115: what was not approved has words.
#[tokio::test]
async fn the_bare_object_as_it_was_before() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({ "format": "humanlayer-v1beta1" })).await;
    let id = ask(&world).await;
    let body = json!({ "answer": { "verdict": "rejected" } });
    world.human().post(&format!("/api/v1/asks/{id}/answer"), body).await.is(200);
    let (_, body) = heard(&hook, 1).await;
    assert_eq!(
        (&body["status"]["approved"], &body["status"]["comment"]),
        (&json!(false), &json!("Denied without a comment."))
    );
    let question = json!({ "kind": "choose", "prompt": "Which?", "pick": "one", "options": [{ "id": "a", "label": "Ada" }, { "id": "b", "label": "Bea" }] });
    let made = world.agent().post("/api/v1/asks", json!({ "question": question })).await;
    let made = made.is(201)["id"].as_str().unwrap().to_owned();
    let chosen = json!({ "answer": { "verdict": "chosen", "options": ["b"] } });
    world.human().post(&format!("/api/v1/asks/{made}/answer"), chosen).await.is(200);
    let (_, body) = heard(&hook, 2).await;
    assert_eq!(
        (&body["spec"]["msg"], &body["status"]["response"]),
        (&json!("Which?"), &json!("Bea"))
    );
    let withdrawn = ask(&world).await;
    let why = json!({ "reason": "moot" });
    world.agent().post(&format!("/api/v1/asks/{withdrawn}/cancel"), why).await.is(200);
    let (_, body) = heard(&hook, 3).await;
    assert_eq!(body["status"]["approved"], false);
    let why = body["status"]["comment"].as_str().unwrap();
    assert!(why.contains("cancelled") && why.contains("(moot)"), "{why}");
    world.end().await;
}

/// A2H-118: a test says that it is one, in every format.
#[tokio::test]
async fn a_test_says_that_it_is_one() {
    let world = World::dev().await;
    for (format, member, value) in [
        ("standard", "type", json!("webhook.test")),
        ("humanlayer", "is_test", json!(true)),
        ("humanlayer-v1beta1", "call_id", json!("test")),
    ] {
        let hook = Hook::open(&[]).await;
        let made = endpoint(&world, &hook.url, json!({ "format": format })).await;
        world.human().post(&at(&made, "/test"), json!({})).await.is(202);
        let (_, body) = heard(&hook, 1).await;
        assert_eq!(body[member], value, "{format}: {body}");
        eventually("the log", async || !deliveries(&world, &made).await.is_empty()).await;
        let logged = &deliveries(&world, &made).await[0];
        assert_eq!((&logged["type"], &logged["ask"]), (&json!("webhook.test"), &Value::Null));
    }
    world.end().await;
}

/// What is given in confidence is the agent's to read, once, and in no call.
#[tokio::test]
async fn what_is_given_in_confidence_is_in_no_call() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({})).await;
    let form =
        json!({ "fields": [{ "key": "pin", "type": "text", "label": "PIN", "sensitive": true }] });
    let question = json!({ "kind": "provide", "prompt": "PIN?", "form": form });
    let url = json!({ "question": question, "callback_url": hook.url });
    let made = world.agent().post("/api/v1/asks", url).await.is(201);
    let id = made["id"].as_str().unwrap();
    let body = json!({ "answer": { "verdict": "provided", "values": { "pin": "hush-4711" } } });
    world.human().post(&format!("/api/v1/asks/{id}/answer"), body).await.is(200);
    hook.heard_times(2).await;
    for (_, body) in hook.heard() {
        assert!(!std::str::from_utf8(&body).unwrap().contains("hush-4711"));
    }
    let told = world.agent().get(&format!("/api/v1/asks/{id}")).await.is(200);
    assert_eq!(told["result"]["answer"]["values"]["pin"], "hush-4711");
    world.end().await;
}

/// An ask of our own API names an address of its own; the call is signed with what belongs to its
/// key.
#[tokio::test]
async fn an_ask_names_where_to_tell_that_it_is_over() {
    let world = World::dev().await;
    let hook = Hook::open(&[500]).await;
    let question = json!({ "kind": "approve", "prompt": "Refund?" });
    let body = json!({ "question": question, "callback_url": hook.url });
    let inside = with(body.clone(), json!({ "callback_url": "https://10.0.0.1/" }));
    let refused = world.agent().post("/api/v1/asks", inside).await.problem(422, "invalid-field");
    assert_eq!(refused["errors"][0]["field"], "callback_url");
    let id =
        world.agent().post("/api/v1/asks", body).await.is(201)["id"].as_str().unwrap().to_owned();
    answer(&world, &id).await;
    hook.heard_times(1).await;
    let found = world.agent().get("/api/v1/callback-secret").await.is(200);
    world.human().get("/api/v1/callback-secret").await.problem(403, "not-allowed");
    let secret = found["secret"].as_str().unwrap();
    let call = hook.heard().remove(0);
    assert_eq!(call.0["webhook-signature"], expected(secret, &call, "webhook").as_str());
    let body: Value = serde_json::from_slice(&call.1).unwrap();
    assert_eq!((&body["type"], &body["data"]["ask"]["id"]), (&json!("ask.answered"), &json!(id)));
    // Tried again like any other, and its attempts are facts of the ask.
    let path = format!("/api/v1/asks/{id}/callbacks");
    eventually("the next attempt", async || {
        world.advance(6);
        deliver(&world).await;
        world.agent().get(&path).await["attempts"].as_array().unwrap().len() == 2
    })
    .await;
    let attempts = world.agent().get(&path).await["attempts"].clone();
    assert_eq!((&attempts[0]["status"], &attempts[1]["result"]), (&json!(500), &json!("taken")));
    let heard = hook.heard();
    assert_eq!(heard[0].0["webhook-id"], heard[1].0["webhook-id"]);
    world.agent().post(&path, json!({})).await.is(202);
    hook.heard_times(3).await;
    world.end().await;
}
