//! Critical notifications leave at once: on an idle server, and while many notifications of low
//! priority wait for the same channel. A simulated program of the operator is the channel. Every
//! call of it takes as long as that of a platform, so that the others keep waiting.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::create_many;
use crate::gateway::{AGENT, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::latency::Latencies;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

/// The duration of one call of the channel.
const CALL: Duration = Duration::from_millis(50);
/// The pause between two critical requests, so that the server is idle before each.
const PAUSE: Duration = Duration::from_millis(20);
/// The timeout for one notification.
const PATIENCE: Duration = Duration::from_secs(30);
/// The number of different recipients of low priority.
const RECIPIENTS: usize = 64;
/// The slowest notification that meets the goal, in milliseconds.
const GOAL: f64 = 50.0;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let program = CriticalProgram::open().await?;
    let url = format!("http://{}/message", program.address);
    let gateway = ServerProcess::messenger(folder.path(), &url).await?;
    let mut agent = HttpConnection::open(gateway.address).await?;
    let idle = program.time_critical(&mut agent, scale.critical).await?;

    for recipient in 0..RECIPIENTS {
        let share = scale.low / RECIPIENTS + usize::from(recipient < scale.low % RECIPIENTS);
        create_many(gateway.address, share, &ask("low", recipient), "/id").await?;
    }
    let queued = waiting(gateway.address).await?;
    let busy = program.time_critical(&mut agent, scale.critical).await?;
    let left = waiting(gateway.address).await?;

    let what = "critical notification, from sending the request to the channel: p99";
    let alone = Measurement::new(what, idle.p99(), "ms").goal(Goal::AtMost(GOAL));
    let what = format!("… with {} of low priority queued: p99", scale.low);
    let beside = Measurement::new(what, busy.p99(), "ms").goal(Goal::AtMost(GOAL));
    let note = format!(
        "{}; {queued:.0} waited before and {left:.0} after; each call takes {} ms",
        busy.words(),
        CALL.as_millis(),
    );
    Ok(vec![alone.note(idle.words()), beside.note(note)])
}

/// A question for a recipient of the channel.
fn ask(priority: &str, recipient: usize) -> PreparedRequest {
    let ask = json!({
        "question": { "kind": "approve", "prompt": "Refund €120.00 for order 4711?" },
        "priority": priority,
        "place": { "to": format!("webhook:{priority}-{recipient}") },
    });
    PreparedRequest::post("/api/v1/asks", AGENT, &ask.to_string())
}

/// The number of deliveries that wait, as the server counts them.
async fn waiting(address: SocketAddr) -> anyhow::Result<f64> {
    let mut connection = HttpConnection::open(address).await?;
    connection.call(&PreparedRequest::get("/metrics", PERSON)).await?;
    let text = str::from_utf8(&connection.body)?;
    let value = text.lines().find_map(|line| line.strip_prefix("countersign_outbox_waiting "));
    Ok(value.context("no count of waiting deliveries")?.trim().parse()?)
}

/// The operator's program. It notes when each critical message comes.
struct CriticalProgram {
    address: SocketAddr,
    heard: Arc<CriticalArrivals>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct CriticalArrivals {
    at: Mutex<HashMap<String, Instant>>,
    rung: Notify,
}

impl CriticalArrivals {
    fn at(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn receive_message(State(heard): State<Arc<CriticalArrivals>>, body: Bytes) {
    let came = Instant::now();
    if let Ok(message) = serde_json::from_slice::<Value>(&body)
        && let Some(to) = message["to"].as_str()
        && to.starts_with("critical-")
    {
        heard.at().entry(to.to_owned()).or_insert(came);
        heard.rung.notify_one();
    }
    tokio::time::sleep(CALL).await;
}

impl CriticalProgram {
    async fn open() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, heard) = (listener.local_addr()?, Arc::<CriticalArrivals>::default());
        let routes =
            Router::new().route("/message", post(receive_message)).with_state(Arc::clone(&heard));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // This ends with the measurement.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, heard, _serving: serving })
    }

    /// Sends critical requests one after the other, and times each until its message comes.
    async fn time_critical(
        &self,
        agent: &mut HttpConnection,
        many: usize,
    ) -> anyhow::Result<Latencies> {
        let mut timed = Latencies::new()?;
        self.heard.at().clear();
        for n in 0..many {
            tokio::time::sleep(PAUSE).await;
            let sent = Instant::now();
            agent.call(&ask("critical", n)).await?;
            let came = tokio::time::timeout(PATIENCE, self.arrival(&format!("critical-{n}"))).await;
            timed.add(came.context("a critical notification did not come")? - sent);
        }
        Ok(timed)
    }

    async fn arrival(&self, to: &str) -> Instant {
        loop {
            // A permit is kept, so a message between the check and the wait is not missed.
            if let Some(came) = self.heard.at().get(to) {
                return *came;
            }
            self.heard.rung.notified().await;
        }
    }
}
