//! Many waiting messages drain as fast as their channel accepts them, and creates continue
//! meanwhile. A simulated program of the operator is the channel: a token bucket with a rate per
//! second, which answers `429` with `Retry-After` when it is empty, as the platforms do. It is
//! empty until all messages are queued. Another agent sends the creates, whose people have no
//! notifications on this channel.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::create_many;
use crate::gateway::{AGENT, ASK};
use crate::http_client::PreparedRequest;
use crate::load::{fire, fire_until};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;
/// The agent without notifications.
const OTHER: &str = "dev-agent-key-2";
/// The timeout of the measurement.
const PATIENCE: Duration = Duration::from_mins(3);
/// The polling interval for the program's count.
const LOOK: Duration = Duration::from_millis(20);
/// The number of different recipients.
const RECIPIENTS: usize = 64;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let program = RateLimitedProgram::open(f64::from(scale.limit)).await?;
    let url = format!("http://{}/told", program.address);
    let gateway = ServerProcess::messenger(folder.path(), &url).await?;
    let create = gateway.target(PreparedRequest::post("/hxp/v1/requests", OTHER, ASK));
    let calm = fire(&create, CONNECTIONS, scale.turn * scale.turns).await?;

    for desk in 0..RECIPIENTS {
        let share = scale.messages / RECIPIENTS + usize::from(desk < scale.messages % RECIPIENTS);
        create_many(gateway.address, share, &put_at(desk), "/id").await?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    program.fill_from_now_on();
    let began = Instant::now();
    let look = async {
        while program.accepted_messages() < scale.messages && began.elapsed() < PATIENCE {
            tokio::time::sleep(LOOK).await;
        }
        stop.store(true, Ordering::Relaxed);
        anyhow::Ok(began.elapsed())
    };
    let load = fire_until(&create, CONNECTIONS, Arc::clone(&stop));
    let (busy, took) = tokio::try_join!(load, look)?;

    let (many, limit) = (scale.messages, f64::from(scale.limit));
    let heard = whole(program.accepted_messages());
    let all = Measurement::new(format!("{many} messages queued: taken"), heard, "messages");
    let bucket = program.bucket();
    let (again, refused) = (bucket.again, bucket.refused);
    let note = format!("{again} came twice; {refused} calls more than it took");
    drop(bucket);
    let rate = Measurement::new(
        "… in a second, of what the channel takes",
        heard / took.as_secs_f64(),
        "/s",
    );
    let meanwhile =
        Measurement::new("… creates while they go out, 32 connections", busy.rate(), "/s");
    let beside = format!("{}; undisturbed {}", busy.words(), calm.words());
    Ok(vec![
        all.against(whole(many)).goal(Goal::AtLeast(1.0)).note(note),
        Measurement::new("… until the channel had them all", took.as_secs_f64(), "s"),
        rate.against(limit).goal(Goal::AtLeast(0.9)),
        meanwhile.against(calm.rate()).goal(Goal::AtLeast(0.5)).note(beside),
    ])
}

/// A question to a named recipient.
fn put_at(desk: usize) -> PreparedRequest {
    let ask = json!({
        "question": { "kind": "approve", "prompt": "Refund €120.00 to Ada Lovelace for order 4711?" },
        "place": { "to": format!("webhook:desk-{desk}") },
    });
    PreparedRequest::post("/api/v1/asks", AGENT, &ask.to_string())
}

/// The operator's program, with a rate limit.
struct RateLimitedProgram {
    address: SocketAddr,
    bucket: Arc<Mutex<TokenBucket>>,
    _serving: JoinSet<()>,
}

/// The token bucket, and the accepted messages.
struct TokenBucket {
    /// The rate per second, and the capacity.
    limit: f64,
    left: f64,
    /// The start of the refill.
    since: Option<Instant>,
    heard: HashSet<String>,
    again: u64,
    refused: u64,
}

impl TokenBucket {
    fn take(&mut self, id: &str) -> bool {
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            self.left = (self.left + self.limit * (now - since).as_secs_f64()).min(self.limit);
        } else {
            self.since = None;
        }
        if self.left < 1.0 {
            self.refused += 1;
            return false;
        }
        self.left -= 1.0;
        if !self.heard.insert(id.to_owned()) {
            self.again += 1;
        }
        true
    }
}

async fn receive_message(
    State(bucket): State<Arc<Mutex<TokenBucket>>>,
    headers: HeaderMap,
    _: Bytes,
) -> Response {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
    if bucket.lock().unwrap_or_else(PoisonError::into_inner).take(id) {
        return StatusCode::NO_CONTENT.into_response();
    }
    (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response()
}

impl RateLimitedProgram {
    async fn open(limit: f64) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (heard, since) = (HashSet::new(), None);
        let bucket = TokenBucket { limit, left: 0.0, since, heard, again: 0, refused: 0 };
        let bucket = Arc::new(Mutex::new(bucket));
        let routes =
            Router::new().route("/told", post(receive_message)).with_state(Arc::clone(&bucket));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // This ends with the measurement.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, bucket, _serving: serving })
    }

    fn bucket(&self) -> std::sync::MutexGuard<'_, TokenBucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill_from_now_on(&self) {
        let mut bucket = self.bucket();
        (bucket.since, bucket.refused) = (Some(Instant::now()), 0);
    }

    fn accepted_messages(&self) -> usize {
        self.bucket().heard.len()
    }
}

#[expect(clippy::cast_precision_loss, reason = "thousands")]
fn whole(n: usize) -> f64 {
    n as f64
}
