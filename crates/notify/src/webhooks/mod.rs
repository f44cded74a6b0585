//! Calls to webhook endpoints, and the callbacks of asks: the body, the signature (Standard
//! Webhooks), and when a failed call is repeated. `deliveries` makes the calls.
//!
//! | module | contents |
//! |---|---|
//! | [`sign`](mod@sign) | secrets, signatures, headers |
//! | [`schedule`] | when a failed call is repeated |

pub mod schedule;
pub mod sign;

use std::sync::Arc;

use dialects::hacp::runtime::HarnessEvent;
use dialects::native::Viewer;
use dialects::webhooks::{WebhookEvent, format};
use gateway::Gateway;
use gateway::receipts::Receipts;
use gateway::secrets::ServerSecrets;
use kernel::ask::AskState;
use kernel::directory::{Webhook, WebhookFormat};
use kernel::follow_up::WebhookMessage;
use kernel::{Ask, KeyId, Time, Topic};

use crate::callbacks::{Callbacks, OutgoingCall};
use crate::links::LinkBuilder;
use sign::{CallSigningSecret, HeaderFamily};

/// Makes the calls to webhook endpoints, and signs them.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) gateway: Gateway,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) receipts: Receipts,
    pub(crate) callbacks: Callbacks,
    pub(crate) links: LinkBuilder,
}

impl Webhooks {
    /// The secrets that sign the calls to an endpoint now: the newest, and the previous one while
    /// it is still valid.
    fn secrets(&self, webhook: &Webhook, now: Time) -> Vec<CallSigningSecret> {
        let of =
            |generation| CallSigningSecret(self.secrets.webhook_secret(webhook.id, generation));
        let mut secrets = vec![of(webhook.generation)];
        if webhook.previous_until.is_some_and(|until| now < until) {
            secrets.push(of(webhook.generation.saturating_sub(1)));
        }
        secrets
    }

    /// The newest secret of an endpoint, as its owner sees it once.
    pub fn secret(&self, webhook: &Webhook) -> String {
        CallSigningSecret(self.secrets.webhook_secret(webhook.id, webhook.generation)).encoded()
    }

    /// The secret that signs the callbacks of asks created with this key.
    pub fn callback_signer(&self, key: KeyId) -> CallSigningSecret {
        CallSigningSecret::derived(self.callbacks.secret(key).as_bytes())
    }

    /// The call to an endpoint; `None` if its format has nothing to say.
    pub(crate) fn call<'a>(
        &self,
        webhook: &'a Webhook,
        told: &WebhookMessage,
        about: CallSubject<'_>,
        now: Time,
    ) -> Option<OutgoingCall<'a>> {
        let body = format(webhook.format, self.webhook_news(told, about))?;
        let family = match webhook.format {
            WebhookFormat::Standard => HeaderFamily::Webhook,
            WebhookFormat::Humanlayer
            | WebhookFormat::HumanlayerV1beta1
            | WebhookFormat::HumanlayerV1beta3 => HeaderFamily::Svix,
        };
        let secrets = self.secrets(webhook, now);
        let headers = sign::headers(family, &secrets, &told.id, self.gateway.wall_time(), &body);
        Some(OutgoingCall { url: &webhook.url, headers, body, at: now })
    }

    /// The callback of a closed ask; `None` if the ask names no URL or its text was erased.
    pub(crate) fn callback<'a>(
        &self,
        ask: &'a Ask,
        receipt: Option<String>,
        now: Time,
    ) -> Option<OutgoingCall<'a>> {
        let callback = ask.callback.as_ref()?;
        let url = callback.url.value()?;
        let AskState::Over { place, .. } = &ask.state else { return None };
        let told = WebhookMessage::of(ask, Topic::ending(ask)?, place.seq, place.at);
        let about = CallSubject { ask: Some(ask), receipt, ..CallSubject::default() };
        let body = format(WebhookFormat::Standard, self.webhook_news(&told, about))?;
        let secrets = [self.callback_signer(callback.key)];
        let headers = sign::headers(
            HeaderFamily::Webhook,
            &secrets,
            &told.id,
            self.gateway.wall_time(),
            &body,
        );
        Some(OutgoingCall { url, headers, body, at: now })
    }

    /// An endpoint sees what the agent sees, without secret answers.
    fn webhook_news<'a>(
        &'a self,
        told: &'a WebhookMessage,
        about: CallSubject<'a>,
    ) -> WebhookEvent<'a> {
        let CallSubject { ask, receipt, duty, slack_message_ts } = about;
        WebhookEvent {
            told,
            ask,
            duty,
            viewer: Viewer::Agent(self.secrets.evidence.reveal().as_bytes()),
            base: self.links.base(),
            name: ask.and_then(|ask| self.receipts.respondent_name(ask)),
            receipt,
            slack_message_ts,
        }
    }
}

/// What a call is about.
#[derive(Default)]
pub(crate) struct CallSubject<'a> {
    /// The ask as it is now.
    pub(crate) ask: Option<&'a Ask>,
    /// The receipt of the ask, as agents get it.
    pub(crate) receipt: Option<String>,
    /// The contract for the runtime of an agent.
    pub(crate) duty: Option<HarnessEvent>,
    /// The id of the Slack message that asks it.
    pub(crate) slack_message_ts: Option<String>,
}
