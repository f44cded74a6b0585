//! Clients made for the protocol's own server, unchanged.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use server::config::{DEFAULT_PORT, Settings, variable};
use sha2::{Digest, Sha256};

use crate::client::{Client, Reply, approve, provide, with};
use crate::world::{World, dev, eventually};

/// Python, unless there is none: then the story is skipped loudly, and in CI it fails.
fn python() -> bool {
    let found =
        Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        assert!(variable("CI").as_deref() != Some("true"), "python3 is needed in CI");
        eprintln!("SKIPPED: the client in Python, because there is no python3");
    }
    found
}

/// A dev server on the port such clients expect, or on another if that one is taken.
async fn on_the_usual_port() -> World {
    let usual = Settings { listen: Some(format!("127.0.0.1:{DEFAULT_PORT}")), ..dev() };
    match World::try_with(usual).await {
        Ok(world) => world,
        Err(_) => World::dev().await,
    }
}

/// Makes calls with the Python client and gives what came of each.
fn python_calls(world: &World, calls: &Value) -> impl Future<Output = Vec<Value>> + use<> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/upstream_client.py");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).arg(calls.to_string()).env("HXP_TEST_INTERVAL", "0.02");
    command.env_remove("http_proxy").env("NO_PROXY", "*");
    // On the usual port nothing is configured at all.
    if world.server().listening()[0].port() != DEFAULT_PORT {
        command.env("HXP_TEST_SERVER", format!("http://{}", world.address()));
    }
    async move {
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Waits for the one open request and gives it.
async fn waiting(world: &World) -> Value {
    let mut found = Value::Null;
    eventually("a request in the inbox", async || {
        found = world.human().inbox("").await.is(200)["requests"][0].clone();
        !found.is_null()
    })
    .await;
    found
}

fn id(request: &Value) -> &str {
    request["request_id"].as_str().unwrap()
}

/// HXPX-078, HXPX-079, HXPX-080: it asks, polls, and understands every answer.
#[tokio::test]
async fn the_python_client_needs_no_configuration() {
    if !python() {
        return;
    }
    let world = on_the_usual_port().await;
    let calls = json!([
        { "call": "decide", "with": {
            "question": "Which database?", "options": ["PostgreSQL", "SQLite"],
            "context": "A small team", "default_option": "SQLite", "priority": "high",
            "metadata": { "agent_framework": "plain" } } },
        { "call": "approve", "with": { "item": "Deploy" } },
        { "call": "approve", "with": {
            "item": "Pay", "details": { "amount": 7 }, "reject_requires_reason": true } },
        { "call": "provide", "with": {
            "prompt": "How many?", "input_type": "number", "validation": { "min": 1 },
            "placeholder": "7" }, "client": { "project_id": "shop" } },
        { "call": "decide", "with": {
            "question": "Go on?", "options": ["yes", "no"], "default_option": "no",
            "timeout_seconds": 60, "fallback": "default" } },
        { "call": "approve", "with": { "item": "Hurry", "timeout_seconds": 60, "fallback": "fail" } },
        { "call": "approve", "with": { "item": "Never mind" } },
        { "call": "approve", "with": { "item": "" } },
        { "call": "wait", "with": { "request_id": "hxp_nothing" } },
        { "call": "approve", "with": { "item": "x" }, "client": { "api_key": "wrong" } },
    ]);
    let running = python_calls(&world, &calls);
    let human = world.human();
    let people = async {
        let first = waiting(&world).await;
        let sent = json!({
            "action": "DECIDE", "role": "owner", "priority": "high", "timeout_seconds": 0,
            "fallback": "pause", "agent_id": "default-agent", "project_id": null,
            "metadata": { "agent_framework": "plain" },
        });
        for (key, value) in sent.as_object().unwrap() {
            assert_eq!(first[key], *value, "{key}");
        }
        human
            .resolve(id(&first), json!({ "result": "PostgreSQL", "reason": "known" }))
            .await
            .is(200);
        let approval = waiting(&world).await;
        human.resolve(id(&approval), json!({ "result": "approved" })).await.is(200);
        let payment = waiting(&world).await;
        human
            .resolve(id(&payment), json!({ "result": "rejected" }))
            .await
            .error(422, "reason_required");
        human.resolve(id(&payment), json!({ "result": "rejected", "reason": "no" })).await.is(200);
        let number = waiting(&world).await;
        assert_eq!(number["project_id"], "shop");
        human.resolve(id(&number), json!({ "result": "12" })).await.is(200);
        for _ in ["default", "fail"] {
            waiting(&world).await;
            world.advance(60);
            world.run_timers().await;
        }
        let unwanted = waiting(&world).await;
        world.agent().cancel(id(&unwanted)).await.is(200);
    };
    let (outcomes, ()) = tokio::join!(running, people);
    let [
        decided,
        approved,
        rejected,
        provided,
        defaulted,
        failed,
        cancelled,
        empty,
        unknown,
        wrong,
    ] = <[Value; 10]>::try_from(outcomes).unwrap();
    let answer = |outcome: &Value| {
        assert_eq!(outcome["evidence_hash"].as_str().unwrap().len(), 64, "{outcome}");
        (outcome["result"].clone(), outcome["reason"].clone(), outcome["completed_by"].clone())
    };
    let by = |result: Value, reason: Value| (result, reason, json!("user_dev"));
    assert_eq!(answer(&decided), by(json!("PostgreSQL"), json!("known")));
    assert_eq!(answer(&approved), by(json!("approved"), Value::Null));
    assert_eq!(answer(&rejected), by(json!("rejected"), json!("no")));
    assert_eq!(answer(&provided), by(json!(12), Value::Null));
    assert_eq!(
        (&defaulted["result"], &defaulted["completed_by"]),
        (&json!("no"), &json!("system"))
    );
    assert_eq!(defaulted["duration_seconds"], 60);
    for (outcome, state) in [(failed, "failed"), (cancelled, "cancelled")] {
        assert_eq!(outcome["raised"], "HXPError");
        assert_eq!(outcome["details"]["status"], state);
    }
    for (outcome, code) in
        [(empty, "invalid_payload"), (unknown, "not_found"), (wrong, "unauthorized")]
    {
        assert_eq!(
            (&outcome["raised"], &outcome["details"]["error"]),
            (&json!("HXPError"), &json!(code))
        );
        assert!(!outcome["message"].as_str().unwrap().is_empty());
    }
    world.end().await;
}

/// HXPX-052, HXPX-080: `expired` without a receipt is a timeout to such clients, as it should be.
#[tokio::test]
async fn the_python_client_is_told_of_expiry() {
    if !python() {
        return;
    }
    let world = World::dev().await;
    let report = json!({
        "question": { "prompt": "Go?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": { "report": "skip" },
    });
    let asked = world.agent().post("/api/v1/asks", report).await.is(201);
    let request = asked["id"].as_str().unwrap().replace("ask_", "hxp_");
    world.advance(5);
    let calls = json!([{ "call": "wait", "with": { "request_id": request } }]);
    let outcomes = python_calls(&world, &calls).await;
    assert_eq!(outcomes[0]["raised"], "HXPTimeoutError");
    world.end().await;
}

/// HXPX-081: what the protocol's web page sends and reads: `dev-human-token`, texts for numbers,
/// `data.receipt`, `err.message`. It is served from a loopback address: opened from a file it has
/// no origin, and then a person's token does not work, because a frame on any website looks the
/// same.
#[tokio::test]
async fn the_web_client_of_the_protocol_works() {
    let world = World::dev().await;
    let page = world.human().header("origin", "http://localhost:8000");
    let id = world.agent().ask(provide("number")).await;
    let from_a_file = world.human().header("origin", "null").inbox("").await;
    from_a_file.error(401, "unauthorized");
    let assigned = world.agent().ask(approve("x")).await;
    world.human().claim(&assigned).await.is(200);
    let inbox = page.inbox("").await.is(200);
    assert_eq!(inbox.header("access-control-allow-origin"), "http://localhost:8000");
    let shown: Vec<&str> = inbox["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| request["status"].as_str().unwrap())
        .collect();
    assert_eq!(shown, ["assigned", "pending"]);
    let wrong = page.resolve(&id, json!({ "result": "many" })).await.error(422, "invalid_result");
    assert!(wrong["message"].as_str().unwrap().contains("number"), "{}", wrong.text);
    let done = page.resolve(&id, json!({ "result": "42" })).await.is(200);
    assert_eq!(done["receipt"]["result"], 42);
    let reason = json!({ "result": "rejected", "reason": "later" });
    page.resolve(&assigned, reason).await.is(200);
    assert_eq!(page.inbox("").await["unresolved"], 0);
    world.end().await;
}

/// Ends the process it holds.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// HXPX-082: `PORT`, `SERVER_SECRET`, `AGENT_API_KEYS`, `HUMAN_TOKENS` mean what they mean there.
#[tokio::test]
async fn the_variables_of_the_protocols_server_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .arg("serve")
        .current_dir(folder.path())
        .env("PORT", port.to_string())
        .env("SERVER_SECRET", "shared with nobody")
        .env("AGENT_API_KEYS", "key-one, key-two")
        .env("HUMAN_TOKENS", "token-one,token-two")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _running = Running(server.unwrap());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let base = format!("http://127.0.0.1:{port}");
    eventually("the server", async || {
        http.get(format!("{base}/healthz")).send().await.is_ok_and(|reply| reply.status() == 200)
    })
    .await;
    let with_key = |secret: &str| Client::new(http.clone(), base.clone()).bearer(secret);
    for key in ["key-one", "key-two"] {
        let pool = with(approve("Deploy"), json!({ "role": "pool" }));
        let id = with_key(key).ask(pool).await;
        let inbox: Reply = with_key("token-two").inbox("").await.is(200);
        assert_eq!(inbox.ids(), [id.as_str()]);
        let done =
            with_key("token-one").resolve(&id, json!({ "result": "approved" })).await.is(200);
        let at = done["receipt"]["completed_at"].as_str().unwrap();
        let hash = Sha256::digest(format!("{id}approved{at}shared with nobody"));
        assert_eq!(done["receipt"]["evidence_hash"], hex::encode(hash));
        with_key("token-one").list("").await.error(401, "unauthorized");
    }
    with_key("dev-agent-key").list("").await.error(401, "unauthorized");
}
