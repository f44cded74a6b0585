//! Opens the channels that are configured, with what the server gives them: clocks, keys, an HTTP
//! client for push services, and the outage log.

use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::Arc;

use channels::push::{GuardedHttp, PushSettings};
use channels::setup::{ChannelContext, ClockFn, OpenOutageLog, OutageLog};
use channels::terminal::TerminalSettings;
use channels::{ChannelRegistry, ChannelSettings};
use reqwest::Client;
use store::Clock;
use store::outage::Outage;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::guarded_http;
use gateway::secrets::ServerSecrets;
use gateway::ssrf_guard::OutboundPolicy;

/// What channels need beside their settings.
pub struct ChannelEnvironment<'a> {
    /// The server's clock, which can be moved in development.
    pub clock: &'a Arc<dyn Clock>,
    /// The clock that platforms go by.
    pub wall_clock: &'a Arc<dyn Clock>,
    /// Ends listeners when the server stops.
    pub stop: &'a CancellationToken,
}

/// Opens every channel that is configured.
pub fn open(
    settings: ChannelSettings,
    around: &ChannelEnvironment<'_>,
) -> anyhow::Result<ChannelRegistry> {
    let context = ChannelContext {
        clock: clock_fn(around.clock),
        wall_clock: clock_fn(around.wall_clock),
        stop: around.stop.clone(),
        outages: Box::new(OutageReporter),
    };
    ChannelRegistry::open(settings, &context).map_err(anyhow::Error::msg)
}

/// Adds to the settings what only a running server has: its keys, the HTTP client for push
/// services, its terminal.
pub fn complete(
    mut settings: ChannelSettings,
    secrets: &ServerSecrets,
    push: Option<(OutboundPolicy, String)>,
) -> anyhow::Result<ChannelSettings> {
    if let Some(replies) = settings.email.as_mut().and_then(|email| email.replies.as_mut()) {
        replies.key = secrets.reply_address_key();
    }
    settings.push = match push {
        None => None,
        Some((policy, contact)) => {
            let keys = (0..=u8::MAX).map(|n| secrets.vapid_key(n)).collect();
            Some(PushSettings { http: Arc::new(GuardedPushClient::new(policy)?), keys, contact })
        }
    };
    settings.terminal = std::io::stdout().is_terminal().then_some(TerminalSettings);
    Ok(settings)
}

fn clock_fn(clock: &Arc<dyn Clock>) -> ClockFn {
    let clock = Arc::clone(clock);
    Arc::new(move || clock.now())
}

/// Calls to push services, only where the policy permits.
struct GuardedPushClient {
    policy: Arc<OutboundPolicy>,
    client: Client,
}

impl GuardedPushClient {
    fn new(policy: OutboundPolicy) -> anyhow::Result<Self> {
        let policy = Arc::new(policy);
        Ok(Self { client: guarded_http::client(&policy)?, policy })
    }
}

impl GuardedHttp for GuardedPushClient {
    fn client(&self) -> Client {
        self.client.clone()
    }

    fn url(&self, text: &str) -> Result<Url, &'static str> {
        self.policy.address(text)
    }

    fn describe_error(&self, error: &reqwest::Error) -> &'static str {
        guarded_http::reason(error)
    }
}

/// Logs outages of what channels depend on.
struct OutageReporter;

impl OpenOutageLog for OutageReporter {
    fn open(&self, dependency: &str) -> Box<dyn OutageLog> {
        Box::new(OutageLogger(Outage::new(dependency)))
    }
}

struct OutageLogger(Outage);

impl OutageLog for OutageLogger {
    fn worked(&self, user: &str) {
        self.0.worked(user);
    }

    fn failed(&self, user: &str, error: &dyn Display) {
        self.0.failed(user, error);
    }
}
