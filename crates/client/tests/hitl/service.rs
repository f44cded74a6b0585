//! A service before the real server, and before one that breaks off.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use client::Client;
use client::hitl::Outcome;
use client::hitl::service::{
    CallStage, CallStore as _, CaseRunner, Decision, FileCallStore, NewCase, PendingCall,
    needs_human,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::fake::{Fake, json};
use crate::server::{KEY, Server};

#[expect(dead_code, reason = "its `main` is the example's own")]
#[path = "../../examples/hitl_service.rs"]
mod example;

/// The example in a process of its own, which is killed without a word.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(server: &Server, folder: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "service::in_a_process_of_its_own", "--ignored"])
            .env("HITL_SERVICE_FOLDER", folder)
            .env("HITL_SERVICE_COUNTERSIGN", &server.url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

#[expect(clippy::disallowed_methods, reason = "how the process is told what it is for")]
#[ignore = "started by the test that kills it"]
#[tokio::test]
async fn in_a_process_of_its_own() {
    let told = |name: &str| std::env::var(name).unwrap();
    let folder = PathBuf::from(told("HITL_SERVICE_FOLDER"));
    let address = folder.join("address");
    // The same address after a restart, because it is called back there.
    let listen = std::fs::read_to_string(&address).unwrap_or_else(|_| "127.0.0.1:0".to_owned());
    let listener = tokio::net::TcpListener::bind(listen).await.unwrap();
    let beside = folder.join("address.new");
    std::fs::write(&beside, listener.local_addr().unwrap().to_string()).unwrap();
    std::fs::rename(&beside, &address).unwrap();
    let countersign = Client::new(&told("HITL_SERVICE_COUNTERSIGN"), KEY).unwrap();
    example::serve(countersign, listener, &folder).await.unwrap();
}

async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_service_that_is_killed_mid_review_goes_on_once() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let http = reqwest::Client::new();
    let process = Process::start(&server, folder.path());
    let request = json!({ "amount": 120, "prefer_hitl": true, "why": "lost" });
    let accepted: Value = eventually("a 202", async || {
        let address = std::fs::read_to_string(folder.path().join("address")).ok()?;
        let sent =
            http.post(format!("http://{address}/refunds")).json(&request).send().await.ok()?;
        assert_eq!(sent.status(), 202);
        assert!(sent.headers().contains_key("retry-after"));
        sent.json().await.ok()
    })
    .await;
    let hitl = &accepted["hitl"];
    assert_eq!(
        (&accepted["status"], &hitl["type"]),
        (&json!("human_input_required"), &json!("approval"))
    );
    let case_id = hitl["case_id"].as_str().unwrap();

    drop(process);
    server.respond(hitl["review_url"].as_str().unwrap(), "approve", json!({})).await;

    let address = std::fs::read_to_string(folder.path().join("address")).unwrap();
    let result = async || {
        let shown = http.get(format!("http://{address}/refunds/{case_id}")).send().await.ok()?;
        shown.json::<Value>().await.ok()
    };
    let process = Process::start(&server, folder.path());
    let told = eventually("the refund", result).await;
    assert_eq!(told["result"]["refunded"], 120);
    drop(process);
    let _process = Process::start(&server, folder.path());
    eventually("it is up again", result).await;
    let book = std::fs::read_to_string(folder.path().join("refunds.txt")).unwrap();
    assert_eq!(book, format!("{case_id} 120\n"));
}

/// HITL-200, HITL-205, through the example's own routes.
#[tokio::test]
async fn the_example_asks_for_a_choice() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/refunds", listener.local_addr().unwrap());
    let (countersign, path) = (server.client(), folder.path().to_owned());
    let mut serving = JoinSet::new();
    serving.spawn(async move { drop(example::serve(countersign, listener, &path).await) });
    let http = reqwest::Client::new();
    for (request, status, member, expected) in [
        (json!({ "amount": 10 }), 200, "refunded", json!(10)),
        (json!({ "amount": 99 }), 400, "error", json!("HITL_CHOICE_REQUIRED")),
        (json!({ "amount": 99, "skip_hitl": true }), 201, "hitl_skipped", json!(true)),
        (
            json!({ "amount": 99, "skip_hitl": true, "why": "x" }),
            201,
            "improvement_suggestions",
            json!([]),
        ),
        (
            json!({ "amount": 99, "previous_case_id": "review_nope" }),
            400,
            "error",
            json!("invalid_request"),
        ),
    ] {
        let answer = http.post(&url).json(&request).send().await.unwrap();
        assert_eq!(answer.status(), status, "{request}");
        assert_eq!(answer.json::<Value>().await.unwrap()[member], expected, "{request}");
    }
}

/// A desk that notes what it goes on with, served at an address.
struct Desked {
    url: String,
    ran: Arc<Mutex<Vec<Decision>>>,
    _serving: JoinSet<()>,
}

impl Desked {
    async fn start(countersign: Client, folder: &Path) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let ran = Arc::<Mutex<Vec<Decision>>>::default();
        let noted = ran.clone();
        let desk = CaseRunner::builder(countersign, FileCallStore::open(folder).unwrap())
            .callback(format!("{url}/hitl/callback"))
            .on("pay", move |decision| {
                noted.lock().unwrap().push(decision);
                async { Err("the bank is closed".to_owned()) }
            })
            .build()
            .unwrap();
        let pay = async |body: String| {
            needs_human::<Body>("pay", NewCase::confirmation(&format!("Pay {body}?")), &body)
        };
        let lost = async || needs_human::<Body>("lost", NewCase::input("?"), &());
        let app =
            Router::new().route("/pay", post(pay)).route("/lost", post(lost)).layer(desk.layer());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        serving.spawn(async move { desk.run().await.unwrap() });
        Self { url, ran, _serving: serving }
    }

    async fn pay(&self, key: &str, body: &'static str) -> reqwest::Response {
        let request = reqwest::Client::new().post(format!("{}/pay", self.url)).body(body);
        request.header("idempotency-key", key).send().await.unwrap()
    }
}

/// The sum of the bytes, as the server signs it.
fn signature(secret: &str, body: &str) -> String {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn one_decision_however_often_it_is_told() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let desk = Desked::start(server.client(), folder.path()).await;

    let first: Value = desk.pay("order-1", "7").await.json().await.unwrap();
    let again: Value = desk.pay("order-1", "7").await.json().await.unwrap();
    assert_eq!(first["hitl"]["case_id"], again["hitl"]["case_id"], "one call, one case");
    assert_eq!(desk.pay("order-1", "8").await.status(), 409);
    let case_id = first["hitl"]["case_id"].as_str().unwrap();

    let http = reqwest::Client::new();
    let body = json!({ "event": "review.completed", "case_id": case_id, "result": { "action": "confirm" } });
    let body = body.to_string();
    let call = |signature: String, body: String| {
        let request = http.post(format!("{}/hitl/callback", desk.url)).body(body);
        request.header("X-HITL-Signature", signature).send()
    };
    let forged = call(signature("guessed", &body), body.clone()).await.unwrap();
    assert_eq!(forged.status(), 401);
    let other = body.replace(case_id, "review_other");
    let good = |body: &str| signature("dev-callback-secret", body);
    assert_eq!(call(good(&other), other.clone()).await.unwrap().status(), 404);

    // The person, the server's own callback, this one twice, and the desk that listens.
    server.respond(first["hitl"]["review_url"].as_str().unwrap(), "confirm", json!({})).await;
    for _ in 0..2 {
        assert_eq!(call(good(&body), body.clone()).await.unwrap().status(), 200);
    }
    let kept = FileCallStore::open(folder.path()).unwrap();
    let finished = eventually("it is over", async || match kept.all().unwrap().pop()?.stage {
        CallStage::Finished(finished) => Some(finished),
        _ => None,
    })
    .await;
    assert_eq!(finished.result, Err("the bank is closed".to_owned()), "how it ended, too");
    let second: Value = desk.pay("order-2", "9").await.json().await.unwrap();
    server.respond(second["hitl"]["review_url"].as_str().unwrap(), "cancel", json!({})).await;
    eventually("the second", async || (desk.ran.lock().unwrap().len() >= 2).then_some(())).await;
    let ran = desk.ran.lock().unwrap();
    let inputs: Vec<_> = ran.iter().map(|one| (one.input.clone(), one.attempt)).collect();
    assert_eq!(inputs, [(json!("7"), 1), (json!("9"), 1)]);
    for call in kept.all().unwrap() {
        let text = serde_json::to_string(&call).unwrap();
        assert!(!text.contains("submit_token"), "{text}");
    }
}

#[tokio::test]
async fn a_call_repeated_many_times_at_once_is_one() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let desk = Arc::new(Desked::start(server.client(), folder.path()).await);
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let desk = desk.clone();
        calls.spawn(async move { desk.pay("order-1", "7").await.json::<Value>().await.unwrap() });
    }
    let answers = calls.join_all().await;
    let case = |body: &Value| body["hitl"]["case_id"].clone();
    assert!(answers.iter().all(|body| case(body) == case(&answers[0])), "{answers:?}");
    // Any of the links will do: each repetition brought fresh ones.
    server.respond(answers[7]["hitl"]["review_url"].as_str().unwrap(), "confirm", json!({})).await;
    let kept = FileCallStore::open(folder.path()).unwrap();
    eventually("it is over", async || {
        matches!(kept.all().unwrap().first()?.stage, CallStage::Finished(_)).then_some(())
    })
    .await;
    assert_eq!((kept.all().unwrap().len(), desk.ran.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn what_was_under_way_when_it_was_killed() {
    let fake = Fake::start(|seen, _| match seen.path.as_str() {
        "/hitl/v1/cases" => json(202, &[], &json!({ "hitl": { "case_id": "review_lost" } })),
        _ => json(200, &[], &json!({})),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let kept = FileCallStore::open(folder.path()).unwrap();
    let call = |id: &str, stage| PendingCall {
        id: id.to_owned(),
        name: "pay".to_owned(),
        input: json!("5"),
        stage,
    };
    // Its agent never heard of it, so nobody shall be asked.
    kept.put(&call(
        "asking",
        CallStage::Asking { case: json!({ "type": "input" }), repeatable: false },
    ))
    .unwrap();
    // It ran, and nobody knows how far.
    let outcome = serde_json::from_value::<Outcome>(json!({ "status": "cancelled" })).unwrap();
    let decided = CallStage::Decided { case_id: "review_5".to_owned(), outcome, attempts: 1 };
    kept.put(&call("decided", decided)).unwrap();
    let desk = Desked::start(Client::new(&fake.base, "key").unwrap(), folder.path()).await;
    eventually("it went on", async || (!desk.ran.lock().unwrap().is_empty()).then_some(())).await;
    eventually("it was withdrawn", async || kept.get("asking").unwrap().is_none().then_some(()))
        .await;
    assert_eq!(fake.seen("/hitl/v1/cases")[0].header("idempotency-key"), Some("asking"));
    assert_eq!(fake.seen("/hitl/v1/reviews/review_lost/cancel").len(), 1);
    let ran = desk.ran.lock().unwrap().clone();
    assert_eq!((ran.len(), ran[0].attempt, ran[0].case_id.as_str()), (1, 2, "review_5"));
}

#[tokio::test]
async fn who_cannot_be_asked_is_told_so() {
    let fake = Fake::start(|_, before| match before {
        0 => json(
            400,
            &[],
            &json!({ "error": "invalid_request", "message": "previous_case_id: expected more" }),
        ),
        _ => json(
            400,
            &[],
            &json!({ "error": "invalid_request", "message": "prompt: expected less" }),
        ),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let desk = Desked::start(Client::new(&fake.base, "key").unwrap(), folder.path()).await;
    // What the agent said is told to the agent; what the service said is the service's fault.
    assert_eq!(desk.pay("a", "1").await.status(), 400);
    assert_eq!(desk.pay("b", "1").await.status(), 500);
    let lost = reqwest::Client::new().post(format!("{}/lost", desk.url)).send().await.unwrap();
    assert_eq!(lost.status(), 500, "nothing would go on with it");
    assert_eq!(FileCallStore::open(folder.path()).unwrap().all().unwrap(), []);
}
