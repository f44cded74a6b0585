//! HACP as it happens: server-sent events that resume, and JSON-RPC over a WebSocket.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::hacp::{begun, done, refused};
use crate::streams::{Events, Frame};
use crate::world::{World, soon};

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

/// The same operations as JSON-RPC 2.0: answers by id, errors with the protocol's own, lists, and what
/// happens without being asked for.
#[tokio::test]
async fn operations_over_a_socket() {
    let world = World::dev().await;
    let url = format!("ws://{}/hacp/ws?token=dev-human-token", world.address());
    let (mut socket, _) = soon("a socket", tokio_tungstenite::connect_async(url)).await.unwrap();
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
