//! HACP as it happens: server-sent events that resume, and JSON-RPC over a WebSocket.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use server::config::Settings;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::hacp::{begun, done, refused};
use crate::streams::{Events, Frame};
use crate::world::{World, dev, soon};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connected(world: &World, token: &str) -> Socket {
    let url = format!("ws://{}/hacp/ws?token={token}", world.address());
    soon("a socket", tokio_tungstenite::connect_async(url)).await.unwrap().0
}

/// The next answer, whatever else is told meanwhile; none if the server hangs up, and why.
async fn answered(socket: &mut Socket) -> Result<Value, u16> {
    loop {
        match soon("an answer", socket.next()).await.unwrap().unwrap() {
            Message::Text(text) => {
                let said: Value = serde_json::from_str(&text).unwrap();
                if said["method"].is_null() {
                    return Ok(said);
                }
            }
            Message::Close(close) => return Err(close.unwrap().code.into()),
            _ => {}
        }
    }
}

async fn called(socket: &mut Socket, method: &str, params: Value) -> Result<Value, u16> {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    // Whoever was hung up on learns it by reading.
    let _ = socket.send(Message::text(call.to_string())).await;
    answered(socket).await
}

/// The next event, which has this name.
async fn next(events: &mut Events, name: &str) -> Frame {
    let frame = events.next().await.unwrap();
    assert_eq!(frame.event, name, "{frame:?}");
    frame
}

/// Events have the names of what happened, and ids to go on behind.
#[tokio::test]
async fn events_resume_behind_the_last_one() {
    let world = World::dev().await;
    let path = "/hacp/v1/events";
    let mut live = Events::open(&world.human(), path).await;
    next(&mut live, "ready").await;
    let id = begun(&world, json!({})).await;
    let mut ids = Vec::new();
    for name in ["task.created", "task.assigned", "task.started"] {
        let frame = next(&mut live, name).await;
        assert_eq!(frame.data["task_id"], id.as_str());
        ids.push(frame.id);
    }
    let again = world.agent().header("last-event-id", &ids[0].to_string());
    let mut again = Events::open(&again, path).await;
    next(&mut again, "ready").await;
    assert_eq!(next(&mut again, "task.assigned").await.id, ids[1]);
    let seen = next(&mut again, "task.started").await;
    assert_eq!(
        (&seen.data["before"]["state"], &seen.data["after"]["state"]),
        (&json!("assigned"), &json!("in_progress"))
    );
    // Another project's agent hears nothing of it.
    let mut other = Events::open(&world.agent_2(), &format!("{path}?after=0")).await;
    next(&mut other, "ready").await;
    let theirs = json!({ "type": "x", "project": "dev2", "spec": { "goal": "y" } });
    let theirs = done(&world.human(), "task.create", theirs).await;
    let given = json!({ "task_id": theirs["id"], "agent_id": "agent_dev_2" });
    done(&world.human(), "task.assign", given).await;
    assert_eq!(other.next().await.unwrap().data["task_id"], theirs["id"]);
    refused(world.human().get("/hacp/v1/events?after=x").await, 400, "INVALID_SPEC");
    drop((live, again, other));
    world.end().await;
}

/// `max_seconds` ends the stream by itself, as upstream's client wants it; what is no such number
/// is refused by name.
#[tokio::test]
async fn a_stream_ends_when_it_was_told_to() {
    let world = World::dev().await;
    begun(&world, json!({})).await;
    let mut short = Events::open(&world.human(), "/hacp/v1/events?after=0&max_seconds=0.2").await;
    next(&mut short, "ready").await;
    for name in ["task.created", "task.assigned", "task.started"] {
        next(&mut short, name).await;
    }
    assert!(short.next().await.is_none(), "it ends, and nothing was lost before");
    for bad in ["0", "-1", "soon", "3601", "NaN", "inf", ""] {
        let path = format!("/hacp/v1/events?max_seconds={bad}");
        let reply = refused(world.human().get(&path).await, 400, "INVALID_SPEC");
        assert_eq!(reply["error"]["details"]["field"], "max_seconds", "{bad}");
    }
    world.end().await;
}

/// The same operations as JSON-RPC 2.0: answers by id, errors with the protocol's own, lists, and
/// what happens without being asked for.
#[tokio::test]
async fn operations_over_a_socket() {
    let world = World::dev().await;
    let mut socket = connected(&world, "dev-human-token").await;
    let create = json!({ "jsonrpc": "2.0", "id": 7, "method": "task.create",
        "params": { "type": "x", "spec": { "goal": "over a socket" }, "idempotency_key": "one" } });
    socket.send(Message::text(create.to_string())).await.unwrap();
    let (mut answer, mut news) = (Value::Null, Value::Null);
    while answer.is_null() || news.is_null() {
        let message = soon("an answer", socket.next()).await.unwrap().unwrap();
        let Message::Text(text) = message else { continue };
        let said: Value = serde_json::from_str(&text).unwrap();
        if said["id"] == 7 { answer = said } else { news = said }
    }
    assert_eq!(answer["result"]["state"], "created");
    assert_eq!(news["method"], "task.created");
    assert_eq!(news["params"]["event"]["task_id"], answer["result"]["id"]);
    for (sent, number) in [
        ("{".to_owned(), -32700),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "task.dance" }).to_string(), -32601),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "task.get", "params": {} }).to_string(),
            -32602,
        ),
    ] {
        socket.send(Message::text(sent)).await.unwrap();
        let message = soon("a refusal", socket.next()).await.unwrap().unwrap();
        let said: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        assert_eq!(said["error"]["code"], number, "{said}");
        assert!(said["error"]["data"]["code"].is_string());
    }
    drop(socket);
    world.end().await;
}

/// A credential is worth over a socket what it is worth elsewhere, at every call: one that was
/// revoked, or whose person was sent away, is worth nothing, and the socket closes.
#[tokio::test]
async fn a_socket_ends_with_its_credential() {
    let world = World::dev().await;
    for body in [json!({ "agent": "agent_dev" }), json!({ "human": "user_dev" })] {
        let issued = world.human().post("/api/v1/keys", body).await.is(201);
        let (id, secret) = (issued["id"].as_str().unwrap(), issued["secret"].as_str().unwrap());
        let mut socket = connected(&world, secret).await;
        assert!(called(&mut socket, "task.list", json!({})).await.unwrap()["result"].is_array());
        let mut events = Events::open(&world.bearer(secret), "/hacp/v1/events").await;
        next(&mut events, "ready").await;
        world.human().delete(&format!("/api/v1/keys/{id}")).await.is(204);
        let create = json!({ "type": "x", "spec": { "goal": "too late" } });
        let mut said = called(&mut socket, "task.create", create).await;
        if let Ok(refused) = &said {
            assert_eq!(refused["error"]["data"]["code"], "UNAUTHORIZED", "{refused}");
            said = answered(&mut socket).await;
        }
        assert_eq!(said, Err(1008));
        assert!(events.next().await.is_none());
    }
    let mut socket = connected(&world, "dev-human-token-2").await;
    assert!(called(&mut socket, "task.list", json!({})).await.is_ok());
    world.deactivate("user_dev_2").await;
    assert_eq!(answered(&mut socket).await, Err(1008));
    assert_eq!(done(&world.human(), "task.list", json!({})).await, json!([]));
    drop(socket);
    world.end().await;
}

/// Calls over a socket count towards the rate of a key like any other.
#[tokio::test]
async fn calls_over_a_socket_are_counted() {
    let world = World::with(Settings { rate_limit: Some(2), ..dev() }).await;
    let mut socket = connected(&world, "dev-agent-key").await;
    let mut codes = Vec::new();
    for _ in 0..8 {
        let said = called(&mut socket, "task.list", json!({})).await.unwrap();
        codes.push(said["error"]["data"]["code"].clone());
    }
    assert!(codes.contains(&json!("RATE_LIMITED")), "{codes:?}");
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "task.list", "params": {} });
    let batch = Value::Array(vec![one; 8]).to_string();
    socket.send(Message::text(batch)).await.unwrap();
    let said = answered(&mut socket).await.unwrap();
    let counted = said.as_array().unwrap().iter().filter(|one| one["error"].is_object());
    assert!(counted.count() > 0, "each call of a batch counts: {said}");
    drop(socket);
    world.end().await;
}

/// Whoever is put into a project hears of it from then on, and whoever leaves hears no more.
#[tokio::test]
async fn events_follow_a_person_from_project_to_project() {
    let world = World::dev().await;
    let mut events = Events::open(&world.member(), "/hacp/v1/events").await;
    next(&mut events, "ready").await;
    let create = async |project: &str, goal: &str| {
        let new = json!({ "type": "x", "project": project, "spec": { "goal": goal } });
        done(&world.human(), "task.create", new).await;
    };
    let goal = |frame: &Frame| frame.data["after"]["spec"]["goal"].clone();
    create("dev2", "not theirs").await;
    create("dev", "theirs").await;
    assert_eq!(goal(&next(&mut events, "task.created").await), "theirs");
    world.move_to("user_dev_2", &["dev2"]).await;
    create("dev", "no longer theirs").await;
    create("dev2", "theirs now").await;
    assert_eq!(goal(&next(&mut events, "task.created").await), "theirs now");
    drop(events);
    world.end().await;
}
