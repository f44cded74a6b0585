//! A service that gives money back; large sums only by leave of a person. Kill it while somebody
//! decides, start it again, and the refund is made once.
//!
//! `COUNTERSIGN_API_KEY=dev-agent-key cargo run -p countersign-client --features service \
//!     --example hitl_service -- 127.0.0.1:8080 pending`

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::{Path as Segment, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use client::Client;
use client::hitl::Outcome;
use client::hitl::service::{
    CaseRunner, Choice, Decision, FileCallStore, NewCase, Priority, Suggestion, done, needs_human,
    skipped,
};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

/// What nobody has to be asked about.
const SMALL: u64 = 50;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let folder = arguments.next().unwrap_or_else(|| "pending".to_owned());
    serve(Client::from_env()?, TcpListener::bind(listen).await?, Path::new(&folder)).await
}

/// Serves until it is killed.
pub(crate) async fn serve(
    countersign: Client,
    listener: TcpListener,
    folder: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let calls = FileCallStore::open(folder.join("calls"))?;
    let book = folder.join("refunds.txt");
    let desk = CaseRunner::builder(countersign, calls)
        .callback(format!("http://{}/hitl/callback", listener.local_addr()?))
        .on("refund", move |decision| refund(book.clone(), decision))
        .build()?;
    let app = Router::new()
        .route("/refunds", post(ask))
        .route("/refunds/{case_id}", get(show))
        .layer(desk.layer())
        .with_state(desk.clone());
    tokio::select! {
        served = async { axum::serve(listener, app).await } => Ok(served?),
        ran = desk.run() => Ok(ran?),
    }
}

/// `POST /refunds`: an agent wants money given back.
async fn ask(Json(request): Json<Value>) -> Response {
    let amount = request["amount"].as_u64().unwrap_or_default();
    if amount <= SMALL {
        return Json(done(refunded(amount), &suggestions(&request))).into_response();
    }
    match Choice::of(&request) {
        Err(gate) => (StatusCode::BAD_REQUEST, Json(gate.body())).into_response(),
        Ok(Choice::Skip) => {
            let result = Map::from_iter([("refunded".to_owned(), json!(0))]);
            (StatusCode::CREATED, Json(skipped(result, &suggestions(&request)))).into_response()
        }
        Ok(Choice::Human) => {
            let case = NewCase::approval(&format!("Refund €{amount}?"))
                .context(json!({ "artifact": { "title": "Refund", "content": request["why"] } }))
                .timeout("24h", "reject")
                .continues(&request);
            needs_human::<Body>("refund", case, &json!({ "amount": amount })).into_response()
        }
    }
}

/// What goes on when a person decided. The case id stands in the book: whoever finds it there has
/// nothing left to do, should the service have been killed right after writing it.
async fn refund(book: PathBuf, decision: Decision) -> Result<Value, String> {
    let Outcome::Completed(answer) = &decision.outcome else { return Ok(json!({ "refunded": 0 })) };
    if answer.action != "approve" {
        return Ok(json!({ "refunded": 0, "because": answer.data.get("feedback") }));
    }
    let amount = decision.input["amount"].as_u64().unwrap_or_default();
    let written = tokio::fs::read_to_string(&book).await.unwrap_or_default();
    if !written.lines().any(|line| line.starts_with(&decision.case_id)) {
        let line = format!("{} {amount}\n", decision.case_id);
        write(&book, &line).await.map_err(|error| error.to_string())?;
    }
    Ok(Value::Object(refunded(amount)))
}

async fn write(book: &Path, line: &str) -> std::io::Result<()> {
    let mut file = tokio::fs::OpenOptions::new().create(true).append(true).open(book).await?;
    file.write_all(line.as_bytes()).await?;
    file.sync_all().await
}

/// `GET /refunds/{case_id}`: what became of it.
async fn show(State(desk): State<CaseRunner>, Segment(case_id): Segment<String>) -> Response {
    match desk.finished(&case_id).await {
        Ok(Some(finished)) => Json(json!({ "result": finished.result.ok() })).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn refunded(amount: u64) -> Map<String, Value> {
    Map::from_iter([("refunded".to_owned(), json!(amount))])
}

fn suggestions(request: &Value) -> Vec<Suggestion> {
    if request["why"].is_string() {
        return Vec::new();
    }
    vec![Suggestion {
        field: "why".to_owned(),
        issue: "nobody said why".to_owned(),
        agent_action: "say what went wrong with the order".to_owned(),
        impact: "people decide faster".to_owned(),
        priority: Priority::Medium,
    }]
}
