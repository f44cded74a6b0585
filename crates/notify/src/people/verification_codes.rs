//! Codes that verify a contact method: the server sends a code to the address, and the person
//! enters it.

use std::sync::Arc;
use std::time::Duration;

use channels::{Channel, OutboundMessage};
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::ids::random;
use gateway::secrets::ServerSecrets;
use kernel::directory::{ContactMethod, Human};
use kernel::{Actor, DirectoryCommand};
use store::{CodeCheck, StoreError, VerificationCode};

use super::contact_methods::ContactMethods;
use crate::attempts::AttemptResult;
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;
use views::email::verification_code::VerificationCodeEmail;
use views::locale::{self, ReaderLocale};
use views::message_card::MessageCard;
use views::t;

/// For how many minutes a code is valid.
pub const CODE_VALID_MINUTES: u64 = 10;

/// The result of sending a code.
#[derive(Debug, PartialEq, Eq)]
pub enum CodeSent {
    /// The channel accepted it.
    Sent,
    /// This server has no channel for such an address.
    NoChannel,
    /// Too many were sent; the next one is allowed after this time.
    Wait(Duration),
    /// The channel did not accept it.
    Failed,
}

/// Sends and checks codes.
#[derive(Clone)]
pub struct VerificationCodes {
    pub(crate) gateway: Gateway,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) contacts: ContactMethods,
    pub(crate) links: LinkBuilder,
    pub(crate) outgoing: Outgoing,
}

impl VerificationCodes {
    /// Sends a code to an address of a person. It is sent at once and not as a delivery, so that
    /// the person who waits for it learns that it failed.
    pub async fn send(&self, human: &Human, means: &ContactMethod) -> Result<CodeSent, StoreError> {
        let mark = means.digest();
        let mail = human.profile.value().and_then(|profile| profile.email_address(&mark));
        let address = mail.map(|(_, address)| address).or_else(|| means.address());
        let Some(address) = address.filter(|_| self.contacts.has_channel(means)) else {
            return Ok(CodeSent::NoChannel);
        };
        if let Err(wait) = self.authenticator.login_rate_limit().count_person(&human.id) {
            tracing::warn!(human.id = %human.id, "too many verification codes requested");
            return Ok(CodeSent::Wait(wait));
        }
        let code = format!("{:06}", u64::from_be_bytes(random()) % 1_000_000);
        let now = self.gateway.now();
        let kept = VerificationCode {
            human: human.id.clone(),
            means: mark,
            hash: self.secrets.code_hash(&human.id, &mark, &code),
            expires_at: now.plus_seconds(CODE_VALID_MINUTES * 60),
        };
        self.gateway.store().put_code(kept).await?;
        let email = VerificationCodeEmail {
            id: format!("code.{}", self.gateway.ids().ulid()),
            to: address,
            at: now,
            code: &code,
            host: self.links.host(),
            minutes: CODE_VALID_MINUTES,
        };
        let sent = match (means, self.contacts.channels.named(means.kind())) {
            (ContactMethod::Email(_), _) | (_, None) => {
                let email = locale::with(ReaderLocale::of(human), || email.email());
                self.outgoing.notify_by_email(&email).await
            }
            (_, Some(channel)) => {
                locale::scope(ReaderLocale::of(human), self.send_card(&channel, &email)).await
            }
        };
        Ok(match sent {
            AttemptResult::Sent => CodeSent::Sent,
            AttemptResult::Later { error, .. }
            | AttemptResult::OverQuota { error, .. }
            | AttemptResult::Refused { error } => {
                tracing::warn!(human.id = %human.id, error, "could not send a verification code");
                CodeSent::Failed
            }
            AttemptResult::NotNeeded | AttemptResult::Held { .. } | AttemptResult::Gone => {
                CodeSent::Failed
            }
        })
    }

    /// Sends a code on a platform.
    async fn send_card(
        &self,
        channel: &Arc<dyn Channel>,
        email: &VerificationCodeEmail<'_>,
    ) -> AttemptResult {
        let VerificationCodeEmail { id, to, code, host, minutes, at } = email;
        // Not in the title, because locked screens show it.
        let words = t!("code-text", code = code, minutes = minutes);
        let link = self.links.page(views::site::paths::NOTIFICATION_SETTINGS);
        let message =
            channel.render(&MessageCard::plain(t!("code-title", host = host), words, link));
        let outbound = OutboundMessage::new(to, &message, id, *at);
        self.outgoing.notify(channel, outbound).await
    }

    /// Checks a code that a person entered. The right code verifies the address.
    pub async fn check_code(
        &self,
        actor: &Actor,
        human: &Human,
        means: &ContactMethod,
        code: &str,
    ) -> Result<CodeCheck, StoreError> {
        let mark = means.digest();
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let hash = self.secrets.code_hash(&human.id, &mark, &code);
        let (store, now) = (self.gateway.store(), self.gateway.now());
        let tried = store.try_code(human.id.clone(), mark, hash, now).await?;
        if tried == CodeCheck::Right {
            let verify = DirectoryCommand::VerifyContact(human.id.clone(), means.clone());
            self.gateway.run(actor.clone(), verify).await?;
        }
        Ok(tried)
    }
}
