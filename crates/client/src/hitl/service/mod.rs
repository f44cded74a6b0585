//! For services: turns "this call needs a person" into a 202, and continues the call after the
//! decision.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use client::Client;
//! # use client::hitl::Outcome;
//! # use client::hitl::service::{CaseRunner, FileCallStore, NewCase, needs_human};
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let runner = CaseRunner::builder(Client::from_env()?, FileCallStore::open("pending")?)
//!     .on("refund", async |decision| match decision.outcome {
//!         Outcome::Completed(done) if done.action == "approve" => Ok("refunded".into()),
//!         _ => Ok("not refunded".into()),
//!     })
//!     .build()?;
//! let refund = async || needs_human::<axum::body::Body>(
//!     "refund",
//!     NewCase::approval("Refund €120 to Ada?"),
//!     &serde_json::json!({ "order": 4711 }),
//! );
//! let app = axum::Router::new()
//!     .route("/refunds", axum::routing::post(refund))
//!     .layer(runner.layer());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! tokio::select! {
//!     served = axum::serve(listener, app) => served?,
//!     // Continues the calls that were pending when the service last stopped, and all later ones.
//!     ran = runner.run() => ran?,
//! }
//! # Ok(())
//! # }
//! ```
//!
//! **Guarantees.** A call is stored before its case is created, and a decision before it is acted
//! on, so a killed service loses neither. One decision starts its continuation once, however often
//! callbacks and polls report it. If the service is killed *while* a continuation runs, the
//! continuation starts again with a higher [`Decision::attempt`] and the same case id. Use the case
//! id as the idempotency key of its effect.

mod call_store;
mod choice;
mod layer;
mod new_case;
mod runner;
mod runner_calls;

pub use call_store::{CallStage, CallStore, FileCallStore, FinishedCall, PendingCall};
pub use choice::{Choice, ChoiceError, Priority, Suggestion, done, skipped};
pub use layer::{CaseFailure, CaseRunnerLayer, CaseRunnerService, NeedsHuman, needs_human};
pub use new_case::NewCase;
pub use runner::{CaseRunner, CaseRunnerBuilder, CaseRunnerError, Decision};
