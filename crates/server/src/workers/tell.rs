//! What goes out in a lane: calls to agents and endpoints, and letters.

use dialects::hacp::Version;
use kernel::ask::{CallbackResult, Dialect};
use kernel::audit::Digest;
use kernel::directory::Webhook;
use kernel::effect::Told;
use kernel::{Actor, Ask, AskCommand, AskId, DirectoryCommand, KeyId, Time, WebhookId};
use store::outbox::{Attempt, Entry, Standing};
use store::{Delivery, Settlement, StoreError};

use super::lanes::Done;
use super::outbox::{ATTEMPTS, Desk, count, retry_at};
use crate::callbacks::{self, Answered, Call};
use crate::webhooks::{About, schedule};
use ::channels::DeliveryError;

/// When a callback of HITL is tried again, in seconds after the attempt before (HITL-184). Then it is
/// given up: polling is the truth, and whoever wants to can have it tried once more.
const HITL_AGAIN: [u64; 3] = [1, 5, 30];
/// What an endpoint answers that is gone for good.
const GONE: u16 = 410;

impl Desk {
    /// Tells an endpoint what happened.
    pub(super) async fn tell(
        &self,
        delivery: &Delivery,
        id: WebhookId,
        told: &Told,
    ) -> Result<Done, StoreError> {
        let gateway = &self.app.gateway;
        let directory = gateway.directory();
        // It was removed: nobody wants to hear it any more.
        let Some(webhook) = directory.webhook(id) else {
            self.app.lanes.forget_endpoint(id);
            return Ok(Done::plainly(Settlement::Done));
        };
        let ask = match told.ask {
            Some(ask) => gateway.store().ask(ask).await?,
            None => None,
        };
        let slack_message_ts = match &ask {
            Some(ask) => self.app.slack_message_ts(ask).await?,
            None => None,
        };
        let duty = match &told.contract {
            Some(contract) => match self.app.harness_event(contract, Version::default()).await? {
                Some(duty) => Some(duty),
                // There is no such task any more.
                None => return Ok(Done::plainly(Settlement::Done)),
            },
            None => None,
        };
        let receipt = match &ask {
            Some(ask) => self.app.receipts.receipt_for(ask, &Actor::System).await?,
            None => None,
        };
        let now = gateway.now();
        let about = About { ask: ask.as_deref(), receipt, duty, slack_message_ts };
        let call = self.app.telling(webhook, told, about, now);
        let answered = match (webhook.disabled, call) {
            (Some(why), _) => Answered::unreached(why.reason()),
            (None, Some(call)) => self.app.callbacks.call(call).await,
            // Its words were erased, and this format has nothing to say without them.
            (None, None) => return Ok(Done::plainly(Settlement::Done)),
        };
        let gone = answered.result == (CallbackResult::Refused { status: GONE });
        if gone || webhook.disabled.is_some() {
            self.app.lanes.forget_endpoint(id);
        } else {
            self.app.lanes.note_endpoint(id, answered.error().as_deref());
        }
        if gone {
            tracing::warn!(webhook.id = %id, "an endpoint is gone; it is disabled");
            gateway.run(Actor::System, DirectoryCommand::WebhookGone(id)).await?;
        }
        Ok(told_so(webhook, told, delivery, answered, gateway.now()))
    }

    /// Tells the agent that its ask is over, at the address the ask named.
    pub(super) async fn call_back(
        &self,
        delivery: &Delivery,
        ask: AskId,
    ) -> Result<Done, StoreError> {
        let gateway = &self.app.gateway;
        let nothing = || Ok(Done::plainly(Settlement::Done));
        let Some(ask) = gateway.store().ask(ask).await? else { return nothing() };
        let now = gateway.now();
        let hitl = ask.dialect == Dialect::Hitl;
        let call = if hitl {
            let body = self.app.hitl_callback(&ask).await?;
            body.and_then(|body| self.hitl_call(&ask, body, now))
        } else {
            let receipt = self.app.receipts.receipt_for(&ask, &Actor::System).await?;
            self.app.calling_back(&ask, receipt, now)
        };
        // The words were erased, or somebody opened it again: there is nothing to tell.
        let Some(call) = call else { return nothing() };
        let answered = self.app.callbacks.call(call).await;
        let (error, not_before) = (answered.error(), answered.not_before);
        count("countersign_callbacks_total", error.is_none());
        let reached = !matches!(answered.result, CallbackResult::Unreached { .. });
        let again = !hitl || callbacks::may_help(&answered.result);
        match gateway.run(Actor::System, AskCommand::NoteCallback(ask.id, answered.result)).await {
            // Its words were erased meanwhile, and the address with them.
            Ok(_) | Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        let Some(error) = error else { return nothing() };
        let (now, attempt) = (gateway.now(), delivery.attempt);
        let next = if hitl {
            let place = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
            HITL_AGAIN.get(place).map(|seconds| now.plus_seconds(*seconds))
        } else {
            schedule::next(&ask.id.to_string(), attempt, now, not_before)
        };
        let settlement = if let Some(at) = next.filter(|_| again) {
            Settlement::Retry { at, error }
        } else {
            tracing::warn!(ask.id = %ask.id, error, "giving up a callback");
            Settlement::Dead { error }
        };
        Ok(Done { settlement, entry: None, answered: reached })
    }

    /// The call as HITL has it.
    fn hitl_call<'a>(&self, ask: &'a Ask, body: Vec<u8>, at: Time) -> Option<Call<'a>> {
        let callback = ask.callback.as_ref()?;
        let url = callback.url.value()?;
        let secret = self.app.callback_secret(callback.key);
        let signed_at = self.app.gateway.wall_time();
        let case = dialects::hitl::case_id(ask.id);
        let headers = callbacks::headers(&secret, case, signed_at, &body);
        Some(Call { url, headers, body, at })
    }

    /// Sends a sign-in link, as long as it works.
    pub(super) async fn mail_link(&self, delivery: &Delivery, key: KeyId, seed: &Digest) -> Done {
        // It was used, has expired, or there is nobody to send it to any more.
        let Some(email) = self.app.sign_in_email(key, seed) else {
            return Done::plainly(Settlement::Done);
        };
        Done::plainly(match self.app.send_email(&email).await {
            Ok(()) => Settlement::Done,
            Err(failed) => {
                let lasting = !matches!(failed, DeliveryError::Later { .. });
                let refused = lasting || delivery.attempt >= ATTEMPTS;
                let error = failed.to_string();
                if refused {
                    tracing::warn!(delivery.id, key.id = %key, error, "giving up a sign-in link");
                } else {
                    tracing::debug!(delivery.id, key.id = %key, error, "a sign-in link is sent later");
                }
                let at = retry_at(self.app.gateway.now(), delivery.attempt);
                if refused { Settlement::Dead { error } } else { Settlement::Retry { at, error } }
            }
        })
    }
}

/// What an answer means for a delivery: it was taken, is tried again, or is given up. What is given up
/// stays in the log, where it can be sent once more.
fn told_so(
    webhook: &Webhook,
    told: &Told,
    delivery: &Delivery,
    answered: Answered,
    now: Time,
) -> Done {
    let error = answered.error();
    let over =
        webhook.disabled.is_some() || answered.result == (CallbackResult::Refused { status: GONE });
    let next = match &error {
        Some(_) if !over => schedule::next(&told.id, delivery.attempt, now, answered.not_before),
        Some(_) | None => None,
    };
    let (status, settlement) = match (error, next) {
        (None, _) => (Standing::Done, Settlement::Done),
        (Some(error), Some(at)) => (Standing::Waiting, Settlement::Retry { at, error }),
        (Some(error), None) => {
            tracing::warn!(webhook.id = %webhook.id, told.id, error, "giving up a webhook");
            (Standing::Dead, Settlement::Done)
        }
    };
    metrics::counter!("countersign_webhooks_total", "result" => status.as_str()).increment(1);
    let reached = !matches!(answered.result, CallbackResult::Unreached { .. });
    let attempt = Attempt { at: now, result: answered.result, answer: answered.words };
    let entry = Entry {
        webhook: webhook.id,
        told: told.clone(),
        status,
        delivery: delivery.id,
        next_at: next,
        attempt: Some(attempt),
        at: now,
    };
    Done { settlement, entry: Some(entry), answered: reached }
}
