//! The ways in which an agent can wait for an answer.

use std::net::SocketAddr;

use anyhow::ensure;

use crate::gateway::AGENT;
use crate::http_client::{HttpConnection, PreparedRequest};

/// A way to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitMode {
    WebSocket,
    Sse,
    LongPoll,
    /// Server-sent events of a HITL case.
    Hitl,
}

impl WaitMode {
    pub(super) const ALL: [Self; 4] = [Self::WebSocket, Self::Sse, Self::LongPoll, Self::Hitl];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::WebSocket => "WebSocket",
            Self::Sse => "SSE",
            Self::LongPoll => "long poll",
            Self::Hitl => "HITL SSE",
        }
    }

    /// Begins to wait on its own connection. If the server confirms the beginning, this returns
    /// after the confirmation.
    pub(super) async fn wait(
        self,
        connection: &mut HttpConnection,
        id: &str,
    ) -> anyhow::Result<()> {
        connection.send(&self.shot(id)).await?;
        let begun = match self {
            Self::WebSocket => 101,
            Self::Sse | Self::Hitl => 200,
            Self::LongPoll => return Ok(()),
        };
        let status = connection.head().await?;
        ensure!(status == begun, "{} began with {status}", self.name());
        match self {
            // The whole first frame: the state of the ask.
            Self::Sse => connection.until(b"}\n\n").await?,
            Self::Hitl => connection.until(b"retry: 2000\n\n").await?,
            Self::WebSocket | Self::LongPoll => {}
        }
        Ok(())
    }

    /// Waits for the answer.
    pub(super) async fn answered(self, connection: &mut HttpConnection) -> anyhow::Result<()> {
        match self {
            Self::WebSocket => connection.until(br#""completed""#).await,
            Self::Sse => connection.until(b"event: answered").await,
            Self::Hitl => connection.until(b"event: review.completed").await,
            Self::LongPoll => {
                connection.answer().await?;
                connection.until(br#""state":"completed""#).await
            }
        }
    }

    /// Whether the server supports it.
    pub(super) async fn is_there(self, address: SocketAddr, id: &str) -> anyhow::Result<bool> {
        if self != Self::Sse {
            return Ok(true);
        }
        let mut connection = HttpConnection::open(address).await?;
        connection.send(&self.shot(id)).await?;
        Ok(connection.head().await? == 200)
    }

    fn shot(self, request: &str) -> PreparedRequest {
        let ask = native(request);
        match self {
            Self::WebSocket => PreparedRequest::get_with(
                &format!("/hxp/ws/{request}"),
                AGENT,
                "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                 sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            ),
            Self::Sse => PreparedRequest::get(&format!("/api/v1/asks/{ask}/events"), AGENT),
            Self::Hitl => {
                let case = request.replacen("hxp_", "review_", 1);
                PreparedRequest::get(&format!("/hitl/v1/reviews/{case}/events"), AGENT)
            }
            Self::LongPoll => PreparedRequest::get_with(
                &format!("/api/v1/asks/{ask}"),
                AGENT,
                "prefer: wait=60\r\n",
            ),
        }
    }
}

/// The id of an HXP request in the native API.
pub(super) fn native(request: &str) -> String {
    request.replacen("hxp_", "ask_", 1)
}
