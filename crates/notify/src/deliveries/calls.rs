//! Calls webhook endpoints, and the callback URLs of asks.

use dialects::hacp::HacpVersion;
use dialects::hitl;
use gateway::runtime_contracts::harness_event;
use kernel::ask::{CallbackResult, Dialect};
use kernel::directory::Webhook;
use kernel::follow_up::WebhookMessage;
use kernel::{Actor, Ask, AskCommand, AskId, DirectoryCommand, Time, WebhookId};
use store::work_queue::{DeliveryLogUpdate, WebhookDeliveryAttempt, WebhookDeliveryStatus};
use store::{ClaimedWork, Settlement, StoreError};

use super::Deliveries;
use super::lanes::SettledDelivery;
use crate::attempts::count;
use crate::callbacks::{self, CallResponse, OutgoingCall};
use crate::people::slack_message_ts;
use crate::webhooks::{CallSubject, schedule};

/// When a callback of HITL is repeated, in seconds after the previous attempt (HITL-184). Then it
/// is given up: polling is authoritative, and an operator can have the callback repeated.
const HITL_RETRY_SECONDS: [u64; 3] = [1, 5, 30];
/// The status of an endpoint that no longer exists.
const STATUS_GONE: u16 = 410;

impl Deliveries {
    /// Calls an endpoint.
    pub(super) async fn call_webhook(
        &self,
        delivery: &ClaimedWork,
        id: WebhookId,
        told: &WebhookMessage,
    ) -> Result<SettledDelivery, StoreError> {
        let gateway = &self.gateway;
        let directory = gateway.directory();
        // The endpoint was removed.
        let Some(webhook) = directory.webhook(id) else {
            self.lanes.forget_endpoint(id);
            return Ok(SettledDelivery::without_log_entry(Settlement::Done));
        };
        let ask = match told.ask {
            Some(ask) => gateway.store().ask(ask).await?,
            None => None,
        };
        let slack_message_ts = match &ask {
            Some(ask) => slack_message_ts(&**gateway.store(), ask).await?,
            None => None,
        };
        let duty = match &told.contract {
            Some(contract) => {
                match harness_event(&**gateway.store(), contract, HacpVersion::default()).await? {
                    Some(duty) => Some(duty),
                    // There is no such task any more.
                    None => return Ok(SettledDelivery::without_log_entry(Settlement::Done)),
                }
            }
            None => None,
        };
        let receipt = match &ask {
            Some(ask) => self.receipts.receipt_for(ask, &Actor::System).await?,
            None => None,
        };
        let now = gateway.now();
        let about = CallSubject { ask: ask.as_deref(), receipt, duty, slack_message_ts };
        let call = self.webhooks.call(webhook, told, about, now);
        let answered = match (webhook.disabled, call) {
            (Some(why), _) => CallResponse::unreached(why.reason()),
            (None, Some(call)) => self.callbacks.call(call).await,
            // The text was erased, and this format has nothing to say without it.
            (None, None) => return Ok(SettledDelivery::without_log_entry(Settlement::Done)),
        };
        let gone = answered.result == (CallbackResult::Refused { status: STATUS_GONE });
        if gone || webhook.disabled.is_some() {
            self.lanes.forget_endpoint(id);
        } else {
            self.lanes.note_endpoint(id, answered.error().as_deref());
        }
        if gone {
            tracing::warn!(webhook.id = %id, "disabled a webhook endpoint that answered 410 Gone");
            gateway.run(Actor::System, DirectoryCommand::WebhookGone(id)).await?;
        }
        Ok(settle_webhook(webhook, told, delivery, answered, gateway.now()))
    }

    /// Calls the URL that an ask named, when the ask is closed.
    pub(super) async fn call_back(
        &self,
        delivery: &ClaimedWork,
        ask: AskId,
    ) -> Result<SettledDelivery, StoreError> {
        let gateway = &self.gateway;
        let nothing = || Ok(SettledDelivery::without_log_entry(Settlement::Done));
        let Some(ask) = gateway.store().ask(ask).await? else { return nothing() };
        let now = gateway.now();
        let is_hitl = ask.dialect == Dialect::Hitl;
        let call = if is_hitl {
            let body = self.hitl_callback(&ask).await?;
            body.and_then(|body| self.hitl_call(&ask, body, now))
        } else {
            let receipt = self.receipts.receipt_for(&ask, &Actor::System).await?;
            self.webhooks.callback(&ask, receipt, now)
        };
        // The text was erased, or the ask was reopened.
        let Some(call) = call else { return nothing() };
        let answered = self.callbacks.call(call).await;
        let (error, not_before) = (answered.error(), answered.not_before);
        count("countersign_callbacks_total", error.is_none());
        let reached = !matches!(answered.result, CallbackResult::Unreached { .. });
        let again = !is_hitl || callbacks::is_retryable(&answered.result);
        match gateway.run(Actor::System, AskCommand::NoteCallback(ask.id, answered.result)).await {
            // The text was erased meanwhile, and the URL with it.
            Ok(_) | Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        let Some(error) = error else { return nothing() };
        let (now, attempt) = (gateway.now(), delivery.attempt);
        let next = if is_hitl {
            let place = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
            HITL_RETRY_SECONDS.get(place).map(|seconds| now.plus_seconds(*seconds))
        } else {
            schedule::next(&ask.id.to_string(), attempt, now, not_before)
        };
        let settlement = if let Some(at) = next.filter(|_| again) {
            Settlement::Retry { at, error }
        } else {
            tracing::warn!(ask.id = %ask.id, error, "callback failed after the last attempt, \
                                                     giving up");
            Settlement::Dead { error }
        };
        Ok(SettledDelivery { settlement, entry: None, answered: reached })
    }

    /// A callback of HITL.
    fn hitl_call<'a>(&self, ask: &'a Ask, body: Vec<u8>, at: Time) -> Option<OutgoingCall<'a>> {
        let callback = ask.callback.as_ref()?;
        let url = callback.url.value()?;
        let secret = self.callbacks.secret(callback.key);
        let signed_at = self.gateway.wall_time();
        let case = hitl::case_id(ask.id);
        let headers = callbacks::headers(&secret, case, signed_at, &body);
        Some(OutgoingCall { url, headers, body, at })
    }

    /// The body of a callback of HITL; `None` if the case is open or its text was erased.
    async fn hitl_callback(&self, ask: &Ask) -> Result<Option<Vec<u8>>, StoreError> {
        let name = self.receipts.respondent_name(ask);
        let signature = self.receipts.hitl_signature(ask).await?;
        let callback = hitl::callback(ask, name, signature);
        Ok(callback.and_then(|callback| serde_json::to_vec(&callback).ok()))
    }
}

/// Settles a webhook delivery by the endpoint's response. A delivery that is given up stays in the
/// log, from where it can be sent again.
fn settle_webhook(
    webhook: &Webhook,
    told: &WebhookMessage,
    delivery: &ClaimedWork,
    answered: CallResponse,
    now: Time,
) -> SettledDelivery {
    let error = answered.error();
    let over = webhook.disabled.is_some()
        || answered.result == (CallbackResult::Refused { status: STATUS_GONE });
    let next = match &error {
        Some(_) if !over => schedule::next(&told.id, delivery.attempt, now, answered.not_before),
        Some(_) | None => None,
    };
    let (status, settlement) = match (error, next) {
        (None, _) => (WebhookDeliveryStatus::Done, Settlement::Done),
        (Some(error), Some(at)) => {
            (WebhookDeliveryStatus::Waiting, Settlement::Retry { at, error })
        }
        (Some(error), None) => {
            tracing::warn!(webhook.id = %webhook.id, told.id, error, "webhook delivery failed \
                     after the last attempt, \
                     giving up");
            (WebhookDeliveryStatus::Dead, Settlement::Done)
        }
    };
    metrics::counter!("countersign_webhooks_total", "result" => status.as_str()).increment(1);
    let reached = !matches!(answered.result, CallbackResult::Unreached { .. });
    let attempt =
        WebhookDeliveryAttempt { at: now, result: answered.result, answer: answered.words };
    let entry = DeliveryLogUpdate {
        webhook: webhook.id,
        message: told.clone(),
        status,
        delivery: delivery.id,
        next_at: next,
        attempt: Some(attempt),
        at: now,
    };
    SettledDelivery { settlement, entry: Some(entry), answered: reached }
}
