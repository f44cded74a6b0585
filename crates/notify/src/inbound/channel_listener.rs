//! Listens on the channels that have to be asked for messages, for as long as the server runs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use channels::{Channel, DeliveryError, InboundHandler, InboundMessage};
use serde_json::Value;
use store::outage::Outage;
use tokio_util::sync::CancellationToken;

use super::InboundProcessor;

/// How long a platform that cannot be reached is left alone, at first and at most.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);

/// Listens on one channel.
pub struct ChannelListener {
    inbound: InboundProcessor,
    channel: Arc<dyn Channel>,
}

#[async_trait]
impl InboundHandler for ChannelListener {
    async fn handle(&self, message: InboundMessage) -> Result<Option<Value>, DeliveryError> {
        let handled = self.inbound.handle(&self.channel, &message).await;
        handled.map_err(|error| DeliveryError::later(format!("{:#}", anyhow::Error::from(error))))
    }
}

impl ChannelListener {
    /// Listens on this channel.
    pub fn new(inbound: InboundProcessor, channel: Arc<dyn Channel>) -> Self {
        Self { inbound, channel }
    }

    /// Runs until shutdown. A platform that cannot be reached is retried with growing delays.
    pub async fn run(self, stop: CancellationToken) {
        let mut rest = FIRST_RETRY_DELAY;
        let outage = Outage::new(format!("channel {}", self.channel.name()));
        loop {
            let mut listening = self.channel.listen(&self);
            // After a while without a failure the next one counts as the first.
            let failed = tokio::select! {
                () = stop.cancelled() => return,
                ended = &mut listening => ended.err(),
                () = tokio::time::sleep(MAX_RETRY_DELAY) => {
                    outage.worked("listener");
                    rest = FIRST_RETRY_DELAY;
                    tokio::select! {
                        () = stop.cancelled() => return,
                        ended = &mut listening => ended.err(),
                    }
                }
            };
            let why = failed.map(|failed| failed.to_string()).unwrap_or_default();
            outage.failed("listener", &why);
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(rest) => {}
            }
            rest = (rest * 2).min(MAX_RETRY_DELAY);
        }
    }
}
