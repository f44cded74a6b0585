//! Emails, as what came of sending them.

use ::channels::{Channel, DeliveryError, OutboundMessage};
use kernel::KeyId;
use kernel::audit::Digest;
use kernel::directory::Holder;
use views::email::Email;
use views::email::sign_in::SignInEmail;

use super::step::Came;
use crate::http::App;
use crate::serve::sign_in_url;
use crate::workers::outbox::count;

/// For how many minutes a sign-in link works that is sent by email.
pub const SIGN_IN_MINUTES: u64 = 15;

impl App {
    /// Sends an email that is a notification.
    pub(crate) async fn post(&self, email: &Email) -> Came {
        // Emails cannot be sent any more; what there is to say goes on.
        if self.channels.email.is_none() {
            return Came::Gone;
        }
        match self.send_email(email).await {
            Ok(()) => Came::Told,
            Err(failed) => self.came(failed),
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
                "the mail server refuses this letter: smtp_url is not set any more",
            )),
        };
        count("countersign_letters_total", sent.is_ok());
        sent
    }

    /// One of our own addresses, as others reach it.
    pub(crate) fn link(&self, path: &str) -> String {
        let mut url = self.config.public_url.clone();
        url.set_path(path);
        url.into()
    }

    /// The email with a sign-in link that still works, if there is a person to send it to.
    pub fn sign_in_email(&self, key: KeyId, seed: &Digest) -> Option<Email> {
        let directory = self.gateway.directory();
        let key = directory.key(key).filter(|key| key.is_live(self.gateway.now()))?;
        let human = match &key.holder {
            Holder::Link { human, .. } => directory.human(human).filter(|human| human.active)?,
            Holder::Agent { .. }
            | Holder::Token { .. }
            | Holder::Session { .. }
            | Holder::Passkey { .. } => return None,
        };
        let url = sign_in_url(&self.config, &self.secrets.link(seed)).ok()?;
        let email = SignInEmail {
            id: key.id.to_string(),
            to: human.profile.value()?.email.as_deref()?,
            at: key.issued_at,
            url: &url,
            host: self.config.public_url.host_str().unwrap_or_default(),
            minutes: SIGN_IN_MINUTES,
        };
        Some(email.email())
    }
}
