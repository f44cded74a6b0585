//! `/channels/{medium}/{name}`: receives the calls of chat and email platforms. The signature over
//! the bytes of each call is checked before anything is parsed. The server responds within the few
//! seconds that platforms allow.

use std::sync::Arc;
use std::time::Duration;

use ::channels::inbound::InboundContent;
use ::channels::{WebhookCall, slack};
use axum::Router;
use axum::body::Body;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use channels::registry::ChannelRegistry;
use gateway::Gateway;
use notify::inbound::InboundProcessor;

use super::problem::ApiProblem;
use super::{AppState, body};
use crate::config::Config;
use crate::http::services::Streaming;

/// How long a platform waits for the response. Slack has the shortest timeout, three seconds. Work
/// that takes longer continues in the background.
const PLATFORM_TIMEOUT: Duration = Duration::from_millis(2500);

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/channels/{medium}/{name}", post(inbound_call).get(inbound_call))
        // The URLs of apps that were set up for HumanLayer (A2H-083).
        .route("/a2h/v1/slack/{name}", post(slack_call))
        .route("/humanlayer/v1/slack/{name}", post(slack_call))
}

async fn slack_call(
    calls: State<Arc<InboundCalls>>,
    Path(name): Path<String>,
    uri: OriginalUri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiProblem> {
    inbound_call(calls, Path((slack::NAME.to_owned(), name)), uri, headers, body).await
}

async fn inbound_call(
    State(inbound_calls): State<Arc<InboundCalls>>,
    Path((medium, name)): Path<(String, String)>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiProblem> {
    let Some(channel) = inbound_calls.channels.named(&medium) else {
        let detail = "this channel is not configured on this server";
        return Err(ApiProblem::new(404, "not-found").detail(detail));
    };
    let bytes = body::read(body, inbound_calls.config.body_limit).await?;
    let url = inbound_calls.public_url(&uri);
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(key, value)| {
            (key.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let call = WebhookCall {
        url: &url,
        name: &name,
        headers: &headers,
        body: &bytes,
        now: inbound_calls.gateway.wall_time(),
    };
    if let Err(forged) = channel.verify(&call) {
        tracing::warn!(channel = medium, error = %forged, "refused a channel webhook call: its \
                     signature is not valid");
        metrics::counter!("countersign_knocks_total", "channel" => medium, "result" => "forged")
            .increment(1);
        return Err(ApiProblem::new(401, "unauthorized").detail(forged.to_string()));
    }
    let parsed = match channel.parse(&call) {
        Ok(parsed) => parsed,
        Err(unread) => {
            tracing::warn!(channel = medium, error = %unread, "cannot parse a channel webhook \
                     call");
            return Err(ApiProblem::new(400, "invalid-field").detail(unread.to_string()));
        }
    };
    metrics::counter!("countersign_knocks_total", "channel" => medium, "result" => "heard")
        .increment(1);
    // A submitted form stays open without a response, so the person can send it again.
    let sheet =
        parsed.inbound.iter().any(|one| matches!(one.what, InboundContent::Submitted { .. }));
    let inbound = inbound_calls.inbound.clone();
    let taking = inbound_calls.streaming.tasks.spawn(async move {
        let mut answer = parsed.answer;
        for one in &parsed.inbound {
            let said = inbound.handle(&channel, one).await?;
            answer = said.map(|said| ("application/json", said.to_string())).or(answer);
        }
        Ok::<_, store::StoreError>(answer)
    });
    match tokio::time::timeout(PLATFORM_TIMEOUT, taking).await {
        Ok(Ok(Ok(Some((kind, text))))) => {
            Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
        }
        Err(_) if sheet => Err(ApiProblem::new(503, "unavailable").detail("the call timed out")),
        // Work that takes longer continues in the background.
        Err(_) | Ok(Ok(Ok(None))) => Ok(StatusCode::OK.into_response()),
        Ok(Ok(Err(error))) => Err(error.into()),
        Ok(Err(_)) => Err(ApiProblem::new(500, "internal")),
    }
}

/// Receives the calls of chat and email platforms.
pub struct InboundCalls {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) channels: Arc<ChannelRegistry>,
    pub(in crate::http) inbound: InboundProcessor,
    pub(in crate::http) streaming: Streaming,
}

impl InboundCalls {
    /// The URL as the platform called it, because signatures cover it.
    fn public_url(&self, uri: &Uri) -> String {
        let mut url = self.config.public_url.clone();
        url.set_path(uri.path());
        url.set_query(uri.query());
        url.into()
    }
}
