//! Sends emails and messages through the channels, and counts them.

use std::sync::Arc;

use channels::{Channel, ChannelRegistry, DeliveryError, OutboundMessage, PostedMessage};
use gateway::Gateway;
use views::email::Email;

use crate::attempts::{AttemptResult, count};

/// Sends through the channels that are configured.
#[derive(Clone)]
pub(crate) struct Outgoing {
    pub(crate) gateway: Gateway,
    pub(crate) channels: Arc<ChannelRegistry>,
}

impl Outgoing {
    /// Sends an email that is a notification.
    pub(crate) async fn notify_by_email(&self, email: &Email) -> AttemptResult {
        // Email is not configured any more; the next contact method is tried.
        if self.channels.email.is_none() {
            return AttemptResult::Gone;
        }
        match self.send_email(email).await {
            Ok(()) => AttemptResult::Sent,
            Err(failed) => AttemptResult::failed(failed, &self.gateway),
        }
    }

    /// Sends an email, and counts it.
    pub(crate) async fn send_email(&self, email: &Email) -> Result<(), DeliveryError> {
        let sent = match &self.channels.email {
            Some(channel) => {
                let message = email.message();
                let now = self.gateway.now();
                let outbound = OutboundMessage::new(&email.to, &message, &email.id, now);
                channel.deliver(outbound).await.map(|_| ())
            }
            None => Err(DeliveryError::never(
                "the email cannot be sent because smtp_url is no longer set",
            )),
        };
        count("countersign_letters_total", sent.is_ok());
        sent
    }

    /// Sends a notification that needs no further handling.
    pub(crate) async fn notify(
        &self,
        channel: &Arc<dyn Channel>,
        outbound: OutboundMessage<'_>,
    ) -> AttemptResult {
        match self.deliver(channel, outbound).await {
            Ok(_) => AttemptResult::Sent,
            Err(failed) => failed,
        }
    }

    /// Sends a message on its channel, and counts it.
    pub(crate) async fn deliver(
        &self,
        channel: &Arc<dyn Channel>,
        outbound: OutboundMessage<'_>,
    ) -> Result<PostedMessage, AttemptResult> {
        let sent = channel.deliver(outbound).await;
        count_message(channel.name(), "sent", &sent);
        sent.map_err(|failed| AttemptResult::failed(failed, &self.gateway))
    }
}

/// Counts a message that was sent or updated on a channel.
pub(crate) fn count_message<T>(
    channel: &'static str,
    what: &'static str,
    outcome: &Result<T, DeliveryError>,
) {
    let result = match outcome {
        Ok(_) => "done",
        Err(DeliveryError::Later { .. }) => "later",
        Err(DeliveryError::Never { .. } | DeliveryError::Gone { .. }) => "refused",
    };
    metrics::counter!("countersign_messages_total", "channel" => channel, "what" => what, "result" => result)
        .increment(1);
}
