//! The Rust blocks of the pages, compiled. The pages show lines of this file;
//! `docs/examples/pages/run-tests` compares them.

#![expect(dead_code, reason = "compiled, and run only where a test calls it")]

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use client::Client;
use client::hitl::Outcome;
use client::hitl::service::{CaseRunner, Choice, FileCallStore, NewCase, needs_human, skipped};
use serde_json::{Map, Value};
use tokio::net::TcpListener;

type Done = Result<(), Box<dyn std::error::Error>>;

/// `README.md`.
#[rustfmt::skip]
async fn readme() -> Done {
    let refund = Client::from_env()?.ask("Refund €120 to Ada?").approve().detail("order", 4711).wait().await?;
    if refund.is_approved() { println!("refunding, approved by {}", refund.who()); }
    Ok(())
}

/// `docs/receipts.md`.
fn receipts() -> Done {
    let keys: dialects::proof::Jwks = serde_json::from_str(&std::fs::read_to_string("jwks.json")?)?;
    let receipt = std::fs::read_to_string("receipt.jws")?;
    let claims = dialects::proof::verify(receipt.trim(), &keys)?;
    println!("{}", dialects::proof::explain(&claims).join("\n"));
    Ok(())
}

/// A call of a webhook, with the secret of its endpoint.
fn received() -> (String, Vec<u8>, HeaderMap) {
    Default::default()
}

/// `docs/webhooks.md`.
fn webhook() -> Done {
    let (secret, body, headers) = received();
    standardwebhooks::Webhook::new(&secret)?.verify(&body, &headers)?;
    Ok(())
}

#[expect(clippy::unused_async, reason = "a real payment waits for another service")]
async fn pay(_case_id: &str, _input: Value) -> Result<Value, String> {
    Ok(Value::Null)
}

/// `docs/hitl-clients.md`.
#[rustfmt::skip]
#[expect(clippy::items_after_statements, reason = "the page shows it in this order")]
async fn hitl_service(listener: TcpListener) -> Done {
    let runner = CaseRunner::builder(Client::from_env()?, FileCallStore::open("pending")?)
        .callback("https://refunds.example/hitl/callback") // optional: without it, the runner listens
        .on("refund", async |decision| match decision.outcome {
            Outcome::Completed(answer) if answer.action == "approve" => pay(&decision.case_id, decision.input).await,
            _ => Ok("not refunded".into()),
        })
        .build()?;

    async fn refund(Json(request): Json<Value>) -> Response {
        match Choice::of(&request) {
            Err(gate) => (StatusCode::BAD_REQUEST, Json(gate.body())).into_response(),
            Ok(Choice::Skip) => (StatusCode::CREATED, Json(skipped(Map::new(), &[]))).into_response(),
            Ok(Choice::Human) => {
                let case = NewCase::approval("Refund €120?").timeout("24h", "reject").continues(&request);
                needs_human::<Body>("refund", case, &request)
            }
        }
    }

    let app = Router::new().route("/refunds", post(refund)).layer(runner.layer());
    tokio::select! { served = axum::serve(listener, app) => served?, ran = runner.run() => ran? }
    Ok(())
}
