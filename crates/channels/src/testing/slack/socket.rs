//! Socket Mode: single-use tickets, hello, envelopes and acknowledgements.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::{Mutex as Waiting, mpsc};

use super::{Shared, Workspace};

enum SocketCommand {
    Say(Value),
    Drop,
}

pub(super) struct Sockets {
    inner: Mutex<Inner>,
    opened: (mpsc::UnboundedSender<()>, Waiting<mpsc::UnboundedReceiver<()>>),
    acknowledged: (mpsc::UnboundedSender<String>, Waiting<mpsc::UnboundedReceiver<String>>),
}

#[derive(Default)]
struct Inner {
    count: u64,
    tickets: HashSet<String>,
    open: Vec<mpsc::UnboundedSender<SocketCommand>>,
}

impl Default for Sockets {
    fn default() -> Self {
        let (opened, opening) = mpsc::unbounded_channel();
        let (acknowledged, acknowledging) = mpsc::unbounded_channel();
        Self {
            inner: Mutex::default(),
            opened: (opened, Waiting::new(opening)),
            acknowledged: (acknowledged, Waiting::new(acknowledging)),
        }
    }
}

impl Sockets {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ticket for one connection.
    pub(super) fn ticket(&self) -> String {
        let mut inner = self.inner();
        inner.count += 1;
        let ticket = format!("ticket-{}", inner.count);
        inner.tickets.insert(ticket.clone());
        ticket
    }
}

pub(super) async fn accept_socket(
    State(shared): State<Arc<Shared>>,
    Path(ticket): Path<String>,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !shared.sockets.inner().tickets.remove(&ticket) {
        return StatusCode::FORBIDDEN.into_response();
    }
    upgrade.on_upgrade(move |socket| run(shared, socket))
}

async fn run(shared: Arc<Shared>, mut socket: WebSocket) {
    let (out, mut outgoing) = mpsc::unbounded_channel();
    let hello = json!({ "type": "hello", "num_connections": 1, "connection_info": {} });
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    shared.sockets.inner().open.push(out);
    let _ = shared.sockets.opened.0.send(());
    loop {
        tokio::select! {
            out = outgoing.recv() => match out {
                Some(SocketCommand::Say(said)) => {
                    if socket.send(Message::text(said.to_string())).await.is_err() {
                        return;
                    }
                }
                Some(SocketCommand::Drop) | None => return,
            },
            said = socket.recv() => {
                let Some(Ok(said)) = said else { return };
                let said = said.to_text().ok().and_then(|text| serde_json::from_str(text).ok());
                let said: Value = said.unwrap_or_default();
                if let Some(id) = said["envelope_id"].as_str() {
                    let _ = shared.sockets.acknowledged.0.send(id.to_owned());
                }
            }
        }
    }
}

impl Workspace {
    /// Waits until a connection is open. Each connection counts once.
    pub async fn socket_opened(&self) {
        self.shared.sockets.opened.1.lock().await.recv().await;
    }

    /// Sends an envelope over the newest connection: `events_api` or `interactive`.
    pub fn say(&self, kind: &str, envelope: &str, payload: &Value) {
        self.out(
            0,
            SocketCommand::Say(json!({
                "type": kind, "envelope_id": envelope, "payload": payload,
                "accepts_response_payload": kind == "interactive",
            })),
        );
    }

    /// Sends an envelope over the connection before the newest.
    pub fn say_before(&self, kind: &str, envelope: &str, payload: &Value) {
        self.out(
            1,
            SocketCommand::Say(
                json!({ "type": kind, "envelope_id": envelope, "payload": payload }),
            ),
        );
    }

    /// Asks for a replacement of the newest connection, or reports that Socket Mode is disabled.
    pub fn disconnect(&self, reason: &str) {
        self.out(0, SocketCommand::Say(json!({ "type": "disconnect", "reason": reason })));
    }

    /// Breaks the newest connection.
    pub fn drop_socket(&self) {
        self.out(0, SocketCommand::Drop);
    }

    fn out(&self, back: usize, out: SocketCommand) {
        let inner = self.shared.sockets.inner();
        if let Some(socket) = inner.open.iter().rev().nth(back) {
            let _ = socket.send(out);
        }
    }

    /// Waits for the next acknowledged envelope.
    pub async fn acknowledged(&self) -> Option<String> {
        self.shared.sockets.acknowledged.1.lock().await.recv().await
    }

    /// Whether there is an acknowledgement that no test has read yet.
    pub async fn has_acknowledged(&self) -> bool {
        !self.shared.sockets.acknowledged.1.lock().await.is_empty()
    }
}
