//! Showing that an address is one's own: a code is sent there, and entered here.

use std::sync::Arc;
use std::time::Duration;

use ::channels::{Channel, OutboundMessage};
use gateway::ids::random;
use kernel::directory::{Human, Means};
use kernel::{Actor, DirectoryCommand};
use store::{Code, CodeTried, StoreError};

use super::step::Came;
use crate::http::App;
use views::email::verification_code::VerificationCodeEmail;
use views::message_card::MessageCard;

/// For how many minutes a code counts.
pub const MINUTES: u64 = 10;

/// What came of sending one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodeSent {
    /// It is on its way.
    Sent,
    /// Nothing can be sent to such an address here.
    NoChannel,
    /// Too many were sent; one more after this while.
    Wait(Duration),
    /// Whoever carries it did not take it.
    Failed,
}

impl App {
    /// Sends somebody a code to an address of theirs. It is sent at once and not from the outbox:
    /// whoever waits for it learns when it cannot come.
    pub(crate) async fn send_code(
        &self,
        human: &Human,
        means: &Means,
    ) -> Result<CodeSent, StoreError> {
        let mark = means.mark();
        let mail = human.profile.value().and_then(|profile| profile.mail_address(&mark));
        let address = mail.map(|(_, address)| address).or_else(|| means.address());
        let Some(address) = address.filter(|_| self.carries(means)) else {
            return Ok(CodeSent::NoChannel);
        };
        if let Err(wait) = self.authenticator.login_rate_limit().person(&human.id) {
            tracing::warn!(human.id = %human.id, "too many codes were asked for");
            return Ok(CodeSent::Wait(wait));
        }
        let code = format!("{:06}", u64::from_be_bytes(random()) % 1_000_000);
        let now = self.gateway.now();
        let kept = Code {
            human: human.id.clone(),
            means: mark,
            hash: self.secrets.code(&human.id, &mark, &code),
            expires_at: now.plus_seconds(MINUTES * 60),
        };
        self.gateway.store().put_code(kept).await?;
        let email = VerificationCodeEmail {
            id: format!("code.{}", self.gateway.ids().ulid()),
            to: address,
            at: now,
            code: &code,
            host: self.config.public_url.host_str().unwrap_or_default(),
            minutes: MINUTES,
        };
        let came = match (means, self.channels.named(means.kind())) {
            (Means::Email(_), _) | (_, None) => self.post(&email.email()).await,
            (_, Some(channel)) => self.post_code(&channel, &email).await,
        };
        Ok(match came {
            Came::Told => CodeSent::Sent,
            Came::Later { error, .. } | Came::OverQuota { error, .. } | Came::Never { error } => {
                tracing::warn!(human.id = %human.id, error, "a code was not sent");
                CodeSent::Failed
            }
            Came::Nothing | Came::Held { .. } | Came::Gone => CodeSent::Failed,
        })
    }

    /// Sends a code on a platform.
    async fn post_code(
        &self,
        channel: &Arc<dyn Channel>,
        email: &VerificationCodeEmail<'_>,
    ) -> Came {
        let VerificationCodeEmail { id, to, code, host, minutes, at } = email;
        // Not in the title, which locked screens show.
        let words = format!(
            "{code}. Enter it within {minutes} minutes where you were asked for it. If you did not ask \
             for a code, do nothing."
        );
        let link = self.link(views::site::paths::NOTICES);
        let message =
            channel.render(&MessageCard::plain(format!("A code for {host}"), words, link));
        let outbound = OutboundMessage::new(to, &message, id, *at);
        self.deliver(channel, outbound).await.map_or_else(|came| came, |_| Came::Told)
    }

    /// Takes a code somebody entered; if it is the one that was sent, the address is theirs.
    pub(crate) async fn enter_code(
        &self,
        actor: &Actor,
        human: &Human,
        means: &Means,
        code: &str,
    ) -> Result<CodeTried, StoreError> {
        let mark = means.mark();
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let hash = self.secrets.code(&human.id, &mark, &code);
        let (store, now) = (self.gateway.store(), self.gateway.now());
        let tried = store.try_code(human.id.clone(), mark, hash, now).await?;
        if tried == CodeTried::Right {
            let verify = DirectoryCommand::VerifyContact(human.id.clone(), means.clone());
            self.gateway.run(actor.clone(), verify).await?;
        }
        Ok(tried)
    }
}
