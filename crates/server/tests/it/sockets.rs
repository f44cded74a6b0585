//! Agents that listen instead of polling.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use server::config::Settings;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::client::{approve, decide, provide, with};
use crate::routing::ask_id;
use crate::world::{World, dev, eventually, soon};

struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

#[derive(Debug, PartialEq)]
enum Heard {
    Frame(Value),
    Closed(u16),
}

impl Socket {
    /// Connects, or tells the status and code of the refusal.
    async fn connect(url: &str, bearer: Option<&str>) -> Result<Self, (u16, String)> {
        let mut request = url.into_client_request().unwrap();
        if let Some(secret) = bearer {
            let value = format!("Bearer {secret}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        match soon("a WebSocket", connect_async(request)).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => {
                let body: Value =
                    serde_json::from_slice(response.body().as_deref().unwrap()).unwrap();
                Err((response.status().as_u16(), body["error"].as_str().unwrap().to_owned()))
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// An agent's subscription, by the address the protocol's text gives.
    async fn of_agent(world: &World, id: &str) -> Self {
        let url = format!("ws://{}/hxp/ws/{id}", world.address());
        Self::connect(&url, Some("dev-agent-key")).await.unwrap()
    }

    async fn next(&mut self) -> Heard {
        loop {
            match soon("a frame", self.0.next()).await {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Frame(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Close(frame))) => {
                    return Heard::Closed(frame.unwrap().code.into());
                }
                Some(Ok(_)) => {}
                other => panic!("the socket broke: {other:?}"),
            }
        }
    }

    async fn frame(&mut self) -> Value {
        match self.next().await {
            Heard::Frame(frame) => frame,
            Heard::Closed(code) => panic!("closed with {code}"),
        }
    }
}

/// HXPX-066, HXPX-067, HXPX-070: every address and every way to show the key.
#[tokio::test]
async fn both_addresses_and_both_ways_to_show_the_key() {
    let world = World::dev().await;
    let created = world.agent().post("/hxp/v1/requests", approve("x")).await.is(201);
    let id = created["request_id"].as_str().unwrap();
    let ws_url = created["ws_url"].as_str().unwrap().to_owned();
    assert_eq!(ws_url, format!("ws://{}/hxp/ws/{id}", world.address()));
    assert!(created["poll_url"].as_str().unwrap().starts_with('/'));
    let by_query = format!("ws://{}/hxp/ws?request_id={id}", world.address());
    let key = Some("dev-agent-key");
    let mut sockets = Vec::new();
    for (url, bearer) in [
        (ws_url.clone(), key),
        (by_query.clone(), key),
        (format!("{ws_url}?token=dev-agent-key"), None),
        (format!("{by_query}&token=dev-agent-key"), None),
    ] {
        sockets.push(Socket::connect(&url, bearer).await.unwrap());
    }
    let done = world.human().resolve(id, json!({ "result": "approved" })).await.is(200);
    for socket in &mut sockets {
        let frame = socket.frame().await;
        assert_eq!(frame, json!({ "event": "completed", "receipt": done["receipt"] }));
        assert_eq!(socket.next().await, Heard::Closed(1000));
    }
    world.end().await;
}

/// HXPX-067: beyond loopback `ws_url` is built from the public address, never from `Host`.
#[tokio::test]
async fn ws_url_comes_from_the_public_address() {
    let public = Settings { public_url: Some("https://ask.example".parse().unwrap()), ..dev() };
    let world = World::with(public).await;
    let forged = world.agent().header("host", "ask.example");
    let created = forged.post("/hxp/v1/requests", approve("x")).await.is(201);
    let id = created["request_id"].as_str().unwrap();
    assert_eq!(created["ws_url"], format!("wss://ask.example/hxp/ws/{id}"));
    world.end().await;
}

/// A key that was revoked while its agent listened learns nothing more.
#[tokio::test]
async fn a_revoked_key_hears_nothing_more() {
    let world = World::dev().await;
    let body = json!({ "agent": "agent_dev" });
    let issued = world.human().post("/api/v1/keys", body).await.is(201);
    let (key, secret) = (issued["id"].clone(), issued["secret"].as_str().unwrap().to_owned());
    let id = world.agent().ask(provide("text")).await;
    let url = format!("ws://{}/hxp/ws/{id}", world.address());
    let mut socket = Socket::connect(&url, Some(&secret)).await.unwrap();
    let path = format!("/api/v1/keys/{}", key.as_str().unwrap());
    world.human().delete(&path).await.is(204);
    world.human().resolve(&id, json!({ "result": "s3cret" })).await.is(200);
    assert_eq!(socket.next().await, Heard::Closed(1008));
    world.end().await;
}

/// The socket closes as soon as the key is revoked, although nothing happens to the request.
#[tokio::test]
async fn a_socket_closes_with_its_key() {
    let world = World::dev().await;
    let body = json!({ "agent": "agent_dev" });
    let issued = world.human().post("/api/v1/keys", body).await.is(201);
    let id = world.agent().ask(provide("text")).await;
    let url = format!("ws://{}/hxp/ws/{id}", world.address());
    let mut socket = Socket::connect(&url, issued["secret"].as_str()).await.unwrap();
    let path = format!("/api/v1/keys/{}", issued["id"].as_str().unwrap());
    world.human().delete(&path).await.is(204);
    assert_eq!(socket.next().await, Heard::Closed(1008));
    world.end().await;
}

/// HXPX-070: refused with an HTTP status, before any upgrade.
#[tokio::test]
async fn strangers_are_refused_before_the_upgrade() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("x")).await;
    let by_path = |id: &str| format!("ws://{}/hxp/ws/{id}", world.address());
    let unauthorized = Some((401, "unauthorized".to_owned()));
    let not_found = Some((404, "not_found".to_owned()));
    let refused = async |url: String, bearer| Socket::connect(&url, bearer).await.err();
    assert_eq!(refused(by_path(&id), None).await, unauthorized);
    assert_eq!(refused(by_path(&id), Some("nobody")).await, unauthorized);
    assert_eq!(refused(by_path(&id), Some("dev-human-token")).await, unauthorized);
    assert_eq!(refused(format!("{}?token=nobody", by_path(&id)), None).await, unauthorized);
    // A request nobody knows is 401 as well without a key: ids cannot be probed.
    assert_eq!(refused(by_path("hxp_nothing"), None).await, unauthorized);
    let key = Some("dev-agent-key");
    assert_eq!(refused(by_path(&id), Some("dev-agent-key-2")).await, not_found);
    assert_eq!(refused(by_path("hxp_nothing"), key).await, not_found);
    assert_eq!(refused(by_path("hxp_01JNB000000000000000000000"), key).await, not_found);
    assert_eq!(refused(format!("ws://{}/hxp/ws", world.address()), key).await, not_found);
    // Without an upgrade it is said what is missing.
    world.agent().get(&format!("/hxp/ws/{id}")).await.error(400, "invalid_body");
    world.end().await;
}

/// HXPX-070: open mode lets anyone watch who knows the id.
#[tokio::test]
async fn open_mode_needs_no_key() {
    let world = World::with(Settings { open_websockets: Some(true), ..dev() }).await;
    let id = world.agent().ask(approve("x")).await;
    let url = format!("ws://{}/hxp/ws/{id}", world.address());
    let mut socket = Socket::connect(&url, None).await.unwrap();
    world.human().claim(&id).await.is(200);
    assert_eq!(socket.frame().await["event"], "assigned");
    let unknown = format!("ws://{}/hxp/ws/hxp_01JNB000000000000000000000", world.address());
    assert_eq!(Socket::connect(&unknown, None).await.err().unwrap().0, 404);
    drop(socket);
    world.end().await;
}

/// HXPX-068: what happens is told as it happens.
#[tokio::test]
async fn a_listener_hears_what_happens() {
    let world = World::dev().await;
    let id = world.agent().ask(with(approve("x"), json!({ "role": "pool" }))).await;
    let mut socket = Socket::of_agent(&world, &id).await;
    world.member().claim(&id).await.is(200);
    let assigned = socket.frame().await;
    assert_eq!(assigned["event"], "assigned");
    let name = assigned["assigned_to"].as_str().unwrap();
    assert!(name.starts_with("pool_member_"), "{name}");
    let done = world.member().resolve(&id, json!({ "result": "rejected" })).await.is(200);
    assert_eq!(done["receipt"]["completed_by"], name);
    let frame = socket.frame().await;
    assert_eq!(frame, json!({ "event": "completed", "receipt": done["receipt"] }));
    assert_eq!(socket.next().await, Heard::Closed(1000));

    let owned = world.agent().ask(approve("x")).await;
    let mut socket = Socket::of_agent(&world, &owned).await;
    world.human().claim(&owned).await.is(200);
    assert_eq!(socket.frame().await, json!({ "event": "assigned", "assigned_to": "user_dev" }));
    // Handed on, it is assigned again.
    let path = format!("/api/v1/asks/{}/assign", ask_id(&owned));
    world.human().post(&path, json!({ "to": "user_dev_2" })).await.is(200);
    assert_eq!(socket.frame().await, json!({ "event": "assigned", "assigned_to": "user_dev_2" }));
    world.agent().cancel(&owned).await.is(200);
    assert_eq!(socket.frame().await["event"], "cancelled");
    assert_eq!(socket.next().await, Heard::Closed(1000));
    world.end().await;
}

/// HXPX-068: timeouts are told, each in its way.
#[tokio::test]
async fn a_listener_hears_timeouts() {
    let world = World::dev().await;
    let agent = world.agent();
    let timed = |fallback: &str| json!({ "timeout_seconds": 5, "fallback": fallback });
    let failing = agent.ask(with(approve("x"), timed("fail"))).await;
    let body = with(decide("?", &["a", "b"]), timed("default"));
    let defaulting = agent.ask(with(body, json!({ "payload": { "default_option": "a" } }))).await;
    let report = json!({
        "question": { "prompt": "Go?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": { "report": "skip" },
    });
    let native = agent.post("/api/v1/asks", report).await.is(201);
    let expiring = native["id"].as_str().unwrap().replace("ask_", "hxp_");
    let mut failed = Socket::of_agent(&world, &failing).await;
    let mut defaulted = Socket::of_agent(&world, &defaulting).await;
    let mut expired = Socket::of_agent(&world, &expiring).await;
    world.advance(5);
    world.run_timers().await;
    let frame = failed.frame().await;
    assert_eq!(
        (&frame["event"], &frame["receipt"]["status"]),
        (&json!("failed"), &json!("failed"))
    );
    let frame = defaulted.frame().await;
    assert_eq!((&frame["event"], &frame["receipt"]["result"]), (&json!("completed"), &json!("a")));
    assert_eq!(expired.frame().await["event"], "expired");
    for mut socket in [failed, defaulted, expired] {
        assert_eq!(socket.next().await, Heard::Closed(1000));
    }
    world.end().await;
}

/// HXPX-069: who comes late hears how it stands, in every state.
#[tokio::test]
async fn who_comes_late_hears_the_end() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let timed = |fallback: &str| json!({ "timeout_seconds": 5, "fallback": fallback });
    let completed = agent.ask(provide("text")).await;
    human.resolve(&completed, json!({ "result": "whole" })).await.is(200);
    let cancelled = agent.ask(approve("x")).await;
    agent.cancel(&cancelled).await.is(200);
    let failed = agent.ask(with(approve("x"), timed("fail"))).await;
    let body = with(decide("?", &["a", "b"]), timed("default"));
    let defaulted = agent.ask(with(body, json!({ "payload": { "default_option": "a" } }))).await;
    let assigned = agent.ask(approve("x")).await;
    human.claim(&assigned).await.is(200);
    // No timer runs: the deadline is judged when somebody looks.
    world.advance(5);
    for (id, event) in [
        (completed, "completed"),
        (cancelled, "cancelled"),
        (failed, "failed"),
        (defaulted, "completed"),
    ] {
        let mut socket = Socket::of_agent(&world, &id).await;
        let frame = socket.frame().await;
        assert_eq!(frame["event"], event);
        assert_eq!(frame["receipt"], agent.poll(&id).await["receipt"]);
        assert_eq!(socket.next().await, Heard::Closed(1000));
    }
    let mut socket = Socket::of_agent(&world, &assigned).await;
    assert_eq!(socket.frame().await, json!({ "event": "assigned", "assigned_to": "user_dev" }));
    drop(socket);
    world.end().await;
}

/// HXPX-068: nobody hears of other requests, and talking back is ignored.
#[tokio::test]
async fn a_listener_hears_of_its_own_request_only() {
    let world = World::dev().await;
    let own = world.agent().ask(approve("own")).await;
    let other = world.agent().ask(approve("other")).await;
    let mut socket = Socket::of_agent(&world, &own).await;
    socket.0.send(Message::text(r#"{"result":"approved"}"#)).await.unwrap();
    socket.0.send(Message::Ping(bytes::Bytes::from_static(b"x"))).await.unwrap();
    world.human().resolve(&other, json!({ "result": "approved" })).await.is(200);
    world.human().resolve(&own, json!({ "result": "rejected" })).await.is(200);
    let frame = socket.frame().await;
    assert_eq!(frame["receipt"]["request_id"], own);
    assert_eq!(frame["receipt"]["result"], "rejected");
    world.end().await;
}

/// HXPX-071: who leaves is forgotten; who only polls misses nothing.
#[tokio::test]
async fn who_leaves_is_forgotten() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("x")).await;
    let mut socket = Socket::of_agent(&world, &id).await;
    assert_eq!(world.gateway().wake().len(), 1);
    socket.0.close(None).await.unwrap();
    drop(socket);
    eventually("nobody to wait", async || world.gateway().wake().is_empty()).await;
    let done = world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    assert_eq!(world.agent().poll(&id).await["receipt"], done["receipt"]);
    world.end().await;
}

/// HXPX-071: a server that stops says so (1001), and does not end before it has.
#[tokio::test]
async fn a_server_that_stops_says_so() {
    let mut world = World::dev().await;
    let id = world.agent().ask(approve("x")).await;
    let mut socket = Socket::of_agent(&world, &id).await;
    let wake = world.gateway().wake().clone();
    // Until it is asked, the client does not answer the server's goodbye.
    world.stop().await;
    assert!(wake.is_empty(), "the server ended before its listeners were told");
    assert_eq!(socket.next().await, Heard::Closed(1001));
    world.start().await;
    let mut again = Socket::of_agent(&world, &id).await;
    world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    assert_eq!(again.frame().await["event"], "completed");
    world.end().await;
}

/// HXPE-054: a subscriber that asks for it is told the envelope first, and nobody else.
#[tokio::test]
async fn a_prelude_is_sent_to_whoever_asks_for_it() {
    let world = World::dev().await;
    let hxp = crate::envelope_asks::envelope();
    let id = world.agent().ask(with(approve("x"), json!({ "hxp": hxp }))).await;
    let url = format!("ws://{}/hxp/ws/{id}", world.address());
    let mut asking =
        Socket::connect(&format!("{url}?prelude=1"), Some("dev-agent-key")).await.unwrap();
    let mut plain = Socket::of_agent(&world, &id).await;
    assert_eq!(asking.frame().await, json!({ "hxp": hxp }));
    world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    for socket in [&mut asking, &mut plain] {
        assert_eq!(socket.frame().await["event"], "completed");
        assert_eq!(socket.next().await, Heard::Closed(1000));
    }
    world.end().await;
}
