//! Telling endpoints what happens: what is sent, signed as Standard Webhooks has it, and when it is
//! tried again.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sign`](mod@sign) | secrets as they are shown, signatures, headers |
//! | [`schedule`] | when what was not taken is sent again |
//!
//! What is to be told is an effect, written with the event; the `lanes` of the workers send it.

pub mod schedule;
pub mod sign;

use dialects::hacp::runtime::HarnessEvent;
use dialects::native::Viewer;
use dialects::webhooks::{News, format};
use kernel::ask::AskState;
use kernel::directory::{Format, Webhook};
use kernel::effect::Told;
use kernel::{Ask, KeyId, Time, Topic};

use crate::callbacks::Call;
use crate::http::App;
use sign::{Family, Secret};

impl App {
    /// What an endpoint's calls are signed with at the moment: with the secret of before as well, while
    /// it still counts.
    pub fn webhook_secrets(&self, webhook: &Webhook, now: Time) -> Vec<Secret> {
        let of = |generation| Secret(self.secrets.webhook(webhook.id, generation));
        let mut secrets = vec![of(webhook.generation)];
        if webhook.previous_until.is_some_and(|until| now < until) {
            secrets.push(of(webhook.generation.saturating_sub(1)));
        }
        secrets
    }

    /// The newest secret of an endpoint, as it is shown once.
    pub fn webhook_secret(&self, webhook: &Webhook) -> String {
        Secret(self.secrets.webhook(webhook.id, webhook.generation)).shown()
    }

    /// What the callbacks of asks made with this key are signed with.
    pub fn callback_signer(&self, key: KeyId) -> Secret {
        Secret::of(self.callback_secret(key).as_bytes())
    }

    /// The call that tells an endpoint; none, if there is nothing to tell.
    pub(crate) fn telling<'a>(
        &self,
        webhook: &'a Webhook,
        told: &Told,
        about: About<'_>,
        now: Time,
    ) -> Option<Call<'a>> {
        let body = format(webhook.format, self.tidings(told, about))?;
        let family = match webhook.format {
            Format::Standard => Family::Webhook,
            Format::Humanlayer | Format::HumanlayerV1beta1 | Format::HumanlayerV1beta3 => {
                Family::Svix
            }
        };
        let secrets = self.webhook_secrets(webhook, now);
        let headers = sign::headers(family, &secrets, &told.id, self.gateway.wall_time(), &body);
        Some(Call { url: &webhook.url, headers, body, at: now })
    }

    /// The call that tells an agent at the address its ask named that this is over; none, if there is
    /// nothing to tell.
    pub(crate) fn calling_back<'a>(
        &self,
        ask: &'a Ask,
        receipt: Option<String>,
        now: Time,
    ) -> Option<Call<'a>> {
        let callback = ask.callback.as_ref()?;
        let url = callback.url.value()?;
        let AskState::Over { place, .. } = &ask.state else { return None };
        let told = Told::of(ask, Topic::ending(ask)?, place.seq, place.at);
        let about = About { ask: Some(ask), receipt, ..About::default() };
        let body = format(Format::Standard, self.tidings(&told, about))?;
        let secrets = [self.callback_signer(callback.key)];
        let headers =
            sign::headers(Family::Webhook, &secrets, &told.id, self.gateway.wall_time(), &body);
        Some(Call { url, headers, body, at: now })
    }

    /// An endpoint looks as the agent does, and learns nothing that was given in confidence.
    fn tidings<'a>(&'a self, told: &'a Told, about: About<'a>) -> News<'a> {
        let About { ask, receipt, duty, slack_message_ts } = about;
        News {
            told,
            ask,
            duty,
            viewer: Viewer::Agent(self.secrets.evidence.reveal().as_bytes()),
            base: self.config.public_url.as_str(),
            name: ask.and_then(|ask| self.receipts.respondent(ask)),
            receipt,
            slack_message_ts,
        }
    }
}

/// What an endpoint is told about.
#[derive(Default)]
pub(crate) struct About<'a> {
    /// The ask as it is now.
    pub(crate) ask: Option<&'a Ask>,
    /// The receipt of the ask as agents get it.
    pub(crate) receipt: Option<String>,
    /// What the runtime of an agent has to do.
    pub(crate) duty: Option<HarnessEvent>,
    /// The message in Slack that asks it.
    pub(crate) slack_message_ts: Option<String>,
}
