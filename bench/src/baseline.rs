//! The bare parts without the gateway: axum, and a writer thread with the same group commit.

use std::path::Path;
use std::thread;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// The same batch and queue sizes as in the gateway's store.
const BATCH: usize = 256;
const QUEUE: usize = 4_096;

struct InsertJob {
    body: Vec<u8>,
    hash: Vec<u8>,
    done: oneshot::Sender<i64>,
}

/// Serves until the process ends. Prints its address first.
pub(crate) async fn serve(folder: &Path) -> anyhow::Result<()> {
    let conn = Connection::open(folder.join("bare.db"))?;
    let _: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    conn.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA cache_size = -32768;
         CREATE TABLE request (n INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
         CREATE TABLE audit (n INTEGER PRIMARY KEY, request INTEGER NOT NULL, hash BLOB NOT NULL,
                             body TEXT NOT NULL) STRICT;",
    )?;
    let (queue, jobs) = mpsc::channel(QUEUE);
    thread::Builder::new().name("writer".to_owned()).spawn(move || write(&conn, jobs))?;
    let app = Router::new()
        .route("/requests", post(create))
        .route("/readyz", get(|| async {}))
        .route("/fixed", get(|| async { Json(fixed()) }))
        .with_state(queue);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}

async fn create(
    State(queue): State<mpsc::Sender<InsertJob>>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), StatusCode> {
    let parsed: Value = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let body = serde_json::to_vec(&parsed).map_err(|_| StatusCode::BAD_REQUEST)?;
    let hash = Sha256::digest(&body).to_vec();
    let (done, kept) = oneshot::channel();
    let gone = |_| StatusCode::SERVICE_UNAVAILABLE;
    queue
        .send(InsertJob { body, hash, done })
        .await
        .map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let n = kept.await.map_err(gone)?;
    Ok((StatusCode::CREATED, Json(json!({ "request_id": n, "status": "pending" }))))
}

/// Writes one row and one audit row per job, many jobs per commit, and answers after the commit.
fn write(conn: &Connection, mut jobs: mpsc::Receiver<InsertJob>) {
    let mut batch = Vec::with_capacity(BATCH);
    while jobs.blocking_recv_many(&mut batch, BATCH) > 0 {
        let mut kept = Vec::with_capacity(batch.len());
        let written = (|| {
            conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for job in batch.drain(..) {
                let body = String::from_utf8_lossy(&job.body);
                let n = conn
                    .prepare_cached("INSERT INTO request (body) VALUES (?1)")?
                    .insert(params![body])?;
                conn.prepare_cached("INSERT INTO audit (request, hash, body) VALUES (?1, ?2, ?3)")?
                    .execute(params![n, job.hash, body])?;
                kept.push((job.done, n));
            }
            conn.prepare_cached("COMMIT")?.execute([])
        })();
        if let Err(error) = written {
            eprintln!("baseline: {error}");
            return;
        }
        for (done, n) in kept {
            // A client that disconnected needs no answer.
            let _ = done.send(n);
        }
    }
}

/// A JSON of the same length as the answer to a poll.
fn fixed() -> Value {
    json!({
        "request_id": "hxp_01M7ESC0G6FCNM4ERR15MW7Y5Z", "action": "APPROVE", "role": "owner",
        "priority": "normal", "timeout_seconds": 3600, "fallback": "fail", "agent_id": "bench",
        "project_id": null, "metadata": {}, "created_at": "2026-11-15T05:02:38.086Z",
        "expires_at": "2026-11-15T06:02:38.086Z", "status": "pending", "receipt": null,
        "payload": {
            "item": "Refund €120.00 to Ada Lovelace for order 4711?",
            "details": { "amount": "€120.00", "recipient": "ada@example.com", "order": 4711 },
            "context": "The parcel was lost; the carrier confirmed it this morning.",
        },
    })
}
