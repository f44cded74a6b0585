//! Sends sign-in links by email.

use std::sync::Arc;

use channels::DeliveryError;
use gateway::Gateway;
use gateway::secrets::ServerSecrets;
use kernel::KeyId;
use kernel::audit::Digest;
use kernel::directory::CredentialKind;
use store::{ClaimedWork, Settlement};
use views::email::Email;
use views::email::sign_in::SignInEmail;
use views::locale::{self, ReaderLocale};

use crate::attempts::{ATTEMPTS, retry_at};
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;

/// For how many minutes a sign-in link works that is sent by email.
pub const SIGN_IN_MINUTES: u64 = 15;

/// Sends sign-in links.
pub(crate) struct SignInLinks {
    pub(super) gateway: Gateway,
    pub(super) secrets: Arc<ServerSecrets>,
    pub(super) links: LinkBuilder,
    pub(super) outgoing: Outgoing,
}

impl SignInLinks {
    /// Sends a sign-in link, if it still works.
    pub(crate) async fn send(
        &self,
        delivery: &ClaimedWork,
        key: KeyId,
        seed: &Digest,
    ) -> Settlement {
        // The link was used, has expired, or its person no longer has an address.
        let Some(email) = self.email(key, seed) else { return Settlement::Done };
        match self.outgoing.send_email(&email).await {
            Ok(()) => Settlement::Done,
            Err(failed) => {
                let lasting = !matches!(failed, DeliveryError::Later { .. });
                let refused = lasting || delivery.attempt >= ATTEMPTS;
                let error = failed.to_string();
                if refused {
                    tracing::warn!(delivery.id, key.id = %key, error, "sign-in email failed after \
                     the last attempt, giving \
                     up");
                } else {
                    tracing::debug!(delivery.id, key.id = %key, error, "sign-in email failed, \
                     will retry");
                }
                let at = retry_at(self.gateway.now(), delivery.attempt);
                if refused { Settlement::Dead { error } } else { Settlement::Retry { at, error } }
            }
        }
    }

    /// The email with a sign-in link that still works, if its person has an address.
    fn email(&self, key: KeyId, seed: &Digest) -> Option<Email> {
        let directory = self.gateway.directory();
        let key = directory.key(key).filter(|key| key.is_live(self.gateway.now()))?;
        let human = match &key.kind {
            CredentialKind::Link { human, .. } => {
                directory.human(human).filter(|human| human.active)?
            }
            CredentialKind::Agent { .. }
            | CredentialKind::Token { .. }
            | CredentialKind::Session { .. }
            | CredentialKind::Passkey { .. } => return None,
        };
        let url = self.links.sign_in(&self.secrets.sign_in_secret(seed)).ok()?;
        let email = SignInEmail {
            id: key.id.to_string(),
            to: human.profile.value()?.email.as_deref()?,
            at: key.issued_at,
            url: &url,
            host: self.links.host(),
            minutes: SIGN_IN_MINUTES,
        };
        Some(locale::with(ReaderLocale::of(human), || email.email()))
    }
}
