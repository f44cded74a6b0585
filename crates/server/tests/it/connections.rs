//! Connections: silent ones keep nobody out, there is a limit, and operators have an address of
//! their own.

use futures_util::StreamExt;
use serde_json::json;
use server::config::Settings;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::client::{Client, approve};
use crate::native::{approval, asked};
use crate::streams::Events;
use crate::world::{World, dev, eventually, soon};

const LIMIT: usize = 8;

fn limited() -> Settings {
    Settings { connection_limit: Some(LIMIT), ..dev() }
}

/// A caller that opens a connection for every request.
fn fresh(base: &str) -> Client {
    let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    Client::new(http, base.to_owned())
}

fn main_address(world: &World) -> Client {
    fresh(&format!("http://{}", world.address()))
}

/// 1,050 connections that said nothing took `/healthz` down. Here it is 1,050 for eight places.
#[tokio::test]
async fn silent_connections_do_not_keep_others_out() {
    let world = World::with(limited()).await;
    let mut silent = Vec::new();
    for _ in 0..1050 {
        silent.push(soon("a connection", TcpStream::connect(world.address())).await.unwrap());
        if silent.len() % 150 == 0 {
            let health = main_address(&world).get("/healthz").await.is(200);
            assert_eq!(health["status"], "ok");
        }
    }
    let agent = main_address(&world).bearer("dev-agent-key");
    let id = agent.ask(approve("Deploy?")).await;
    agent.poll(&id).await.is(200);
    // All but a few were closed to make room.
    let mut byte = [0];
    let closed = soon("the end", silent[0].read(&mut byte)).await;
    assert_eq!(closed.unwrap_or(0), 0);
    drop(silent);
    world.end().await;
}

/// Streams and WebSockets are never closed for others. When they take every place, a new connection
/// is told so at once, in its own dialect; the operations address still answers.
#[tokio::test]
async fn streams_live_on_and_the_rest_is_refused() {
    let operations_listen = Some("127.0.0.1:0".to_owned());
    let world = World::with(Settings { operations_listen, ..limited() }).await;
    let agent = main_address(&world).bearer("dev-agent-key");
    let id = agent.ask(approve("Deploy?")).await;
    let url = format!("ws://{}/hxp/ws/{id}?token=dev-agent-key", world.address());
    let request = url.into_client_request().unwrap();
    let (mut socket, _) = soon("a WebSocket", connect_async(request)).await.unwrap();
    let mut streams = Vec::new();
    for _ in 1..LIMIT {
        let mut stream = Events::open(&agent, "/api/v1/events").await;
        stream.expect("ready").await;
        streams.push(stream);
    }

    for (path, code) in [
        ("/hxp/v1/requests", "/error"),
        ("/hitl/v1/reviews/x/status", "/error"),
        ("/a2h/v1/project", "/error/code"),
        ("/hacp/v1/health", "/error/code"),
        ("/api/v1/me", "/type"),
        ("/healthz", "/type"),
    ] {
        let refused = agent.get(path).await.is(503);
        assert_eq!(refused.header("retry-after"), "5", "{path}");
        assert_eq!(refused.header("connection"), "close", "{path}");
        let code = refused.json.pointer(code).and_then(|code| code.as_str()).unwrap_or_default();
        assert!(code.to_lowercase().ends_with("unavailable"), "{path}: {}", refused.text);
    }
    let operations = fresh(&format!("http://{}", world.server().operations()[0]));
    assert_eq!(operations.get("/healthz").await.is(200)["status"], "ok");
    assert_eq!(operations.get("/readyz").await.is(200)["status"], "ready");
    let metrics = operations.get("/metrics").await.is(200).text;
    for line in
        ["countersign_connections ", "countersign_connections_refused_total{reason=\"total\"}"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }

    // Those that are there go on, and a place that becomes free is taken.
    drop(streams.pop());
    let free = async || agent.get("/api/v1/me").await.status == 200;
    eventually("a free place", free).await;
    asked(&agent, approval()).await;
    for stream in &mut streams {
        stream.expect("asked").await;
    }
    world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    let frame = soon("a frame", socket.next()).await.unwrap().unwrap();
    assert!(frame.to_text().unwrap().contains(&id), "{frame}");
    drop((streams, socket));
    world.end().await;
}

/// Metrics move to the operations address, health is on both, and nothing else is there.
#[tokio::test]
async fn the_operations_address() {
    let settings = Settings {
        operations_listen: Some("localhost:0".to_owned()),
        metrics_projects: None,
        ..dev()
    };
    let world = World::with(settings).await;
    let operations = fresh(&format!("http://{}", world.server().operations()[0]));
    for path in ["/healthz", "/readyz", "/metrics"] {
        operations.get(path).await.is(200);
        operations.clone().header("host", "evil.example").get(path).await.is(421);
    }
    for path in ["/", "/sign-in", "/api/v1/me", "/hxp", "/docs"] {
        operations.clone().bearer("dev-human-token").get(path).await.problem(404, "not-found");
    }
    let main = world.anonymous();
    main.get("/healthz").await.is(200);
    main.get("/readyz").await.is(200);
    main.get("/metrics").await.is(404);
    world.end().await;
}

/// `/metrics` needs no credential, so it names no projects unless the settings ask for them.
#[tokio::test]
async fn metrics_name_no_projects_unless_asked() {
    for (metrics_projects, project) in [(None, "quietproject"), (Some(true), "loudproject")] {
        let world = World::with(Settings { metrics_projects, ..dev() }).await;
        let human = world.human();
        human.save("projects", json!({ "id": project })).await.saved();
        let agent = json!({ "id": "bot", "project": project, "owner": "user_dev" });
        human.save("agents", agent).await.saved();
        let key = human.post("/api/v1/keys", json!({ "agent": "bot" })).await.is(201);
        let bot = world.bearer(key["secret"].as_str().unwrap());
        asked(&bot, approval()).await;
        let shown = match metrics_projects {
            None => "countersign_insights_total{measure=".to_owned(),
            Some(_) => format!("countersign_insights_total{{project=\"{project}\",measure="),
        };
        let metrics = async || world.anonymous().get("/metrics").await.is(200).text;
        eventually("the counts", async || metrics().await.contains(&shown)).await;
        assert_eq!(metrics().await.contains(project), metrics_projects.is_some());
        world.end().await;
    }
}
