//! Many waiting webhooks drain after their endpoint begins to answer, and creates continue
//! meanwhile. The endpoint holds its answers back until all are queued. Another agent sends the
//! creates, so that they queue no webhooks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{REQUEST_ID, create_many, create_shot};
use crate::gateway::{ASK, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::load::{fire, fire_until};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;
/// The agent without an endpoint.
const OTHER: &str = "dev-agent-key-2";
/// The timeout of the measurement.
const PATIENCE: Duration = Duration::from_mins(2);
/// The polling interval for the endpoint's count.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let gateway = ServerProcess::gateway(folder.path()).await?;
    let create = gateway.target(PreparedRequest::post("/hxp/v1/requests", OTHER, ASK));
    let calm = fire(&create, CONNECTIONS, scale.turn * scale.turns).await?;

    let endpoint = SlowEndpoint::open().await?;
    let hook = json!({
        "agent": "agent_dev", "events": ["ask.created"],
        "url": format!("http://{}/hook", endpoint.address),
    });
    let mut connection = HttpConnection::open(gateway.address).await?;
    connection.call(&PreparedRequest::post("/api/v1/webhooks", PERSON, &hook.to_string())).await?;
    create_many(gateway.address, scale.webhooks, &create_shot(), REQUEST_ID).await?;

    let (many, stop) = (scale.webhooks as u64, Arc::new(AtomicBool::new(false)));
    endpoint.answers.send_replace(true);
    let began = Instant::now();
    let look = async {
        while endpoint.heard.load(Ordering::Relaxed) < many && began.elapsed() < PATIENCE {
            tokio::time::sleep(LOOK).await;
        }
        stop.store(true, Ordering::Relaxed);
        anyhow::Ok(began.elapsed())
    };
    let load = fire_until(&create, CONNECTIONS, Arc::clone(&stop));
    let (busy, took) = tokio::try_join!(load, look)?;

    let heard = whole(endpoint.heard.load(Ordering::Relaxed));
    let all = Measurement::new(format!("{many} webhooks queued: taken"), heard, "calls");
    let drained = Measurement::new("… until all were taken", took.as_secs_f64(), "s");
    let meanwhile = Measurement::new("… creates meanwhile, 32 connections", busy.rate(), "/s");
    let note = format!("{}; undisturbed {}", busy.words(), calm.words());
    Ok(vec![
        all.against(whole(many)).goal(Goal::AtLeast(1.0)),
        drained,
        meanwhile.against(calm.rate()).goal(Goal::AtLeast(0.5)).note(note),
    ])
}

/// An endpoint that accepts everything, once it begins to answer.
struct SlowEndpoint {
    address: SocketAddr,
    answers: watch::Sender<bool>,
    heard: Arc<AtomicU64>,
    _serving: JoinSet<()>,
}

type EndpointState = (watch::Receiver<bool>, Arc<AtomicU64>);

async fn hear(State((mut answers, heard)): State<EndpointState>) {
    // Waiting calls are also answered when the sender is dropped.
    let _ = answers.wait_for(|answers| *answers).await;
    heard.fetch_add(1, Ordering::Relaxed);
}

impl SlowEndpoint {
    async fn open() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, heard) = (listener.local_addr()?, Arc::<AtomicU64>::default());
        let (answers, waiting) = watch::channel(false);
        let ear = (waiting, Arc::clone(&heard));
        let routes = Router::new().route("/hook", post(hear)).with_state(ear);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // This ends with the measurement.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, answers, heard, _serving: serving })
    }
}

#[expect(clippy::cast_precision_loss, reason = "thousands")]
fn whole(n: u64) -> f64 {
    n as f64
}
