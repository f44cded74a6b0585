//! Showing that an address is one's own: a code is sent there, and entered here.

use std::time::Duration;

use kernel::directory::{Human, Means};
use kernel::{Actor, Command};
use store::{Code, CodeTried, StoreError};

use super::step::Came;
use crate::http::App;
use crate::ids::random;
use crate::mail::code::CodeLetter;

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
        let address = human.profile.value().and_then(|profile| profile.mail_address(&mark));
        let Some((_, address)) = address.filter(|_| self.carries(means)) else {
            return Ok(CodeSent::NoChannel);
        };
        if let Err(wait) = self.door.knocks().person(&human.id) {
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
        let letter = CodeLetter {
            id: format!("code.{}", self.gateway.ids().ulid()),
            to: address,
            at: now,
            code: &code,
            host: self.config.public_url.host_str().unwrap_or_default(),
            minutes: MINUTES,
        };
        Ok(match self.post(&letter.letter()).await {
            Came::Told => CodeSent::Sent,
            Came::Later { error, .. } | Came::Never { error } => {
                tracing::warn!(human.id = %human.id, error, "a code was not sent");
                CodeSent::Failed
            }
            Came::Nothing | Came::Held { .. } | Came::Gone => CodeSent::Failed,
        })
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
            let verify = Command::VerifyContact(human.id.clone(), means.clone());
            self.gateway.run(actor.clone(), verify).await?;
        }
        Ok(tried)
    }
}
