//! What an agent lends for one ask: the token of an app of its own, by which its question is said. It
//! lies encrypted beside the ask until the message says that the ask is over, and nowhere else.

use channels::Secret;
use dialects::a2h;
use kernel::audit::Digest;
use kernel::{Actor, Ask, AskId, Command};
use store::{Outcome, StoreError};

use crate::gateway::{Gateway, Terms};
use crate::vault::cipher;

/// What it is called where it lies.
fn name() -> Digest {
    Digest::of(b"bot token")
}

impl Gateway {
    /// Asks with a token that was lent. It is kept before the ask is: none is ever there that should be
    /// said by an app we do not have.
    pub async fn run_with_bot_token(
        &self,
        terms: Terms,
        actor: Actor,
        command: impl Into<Command>,
        token: &str,
    ) -> Result<Outcome, StoreError> {
        let fresh = self.ids().ulid();
        let ask = AskId::new(fresh);
        let unkept = |why: &str| StoreError::Unavailable(why.into());
        let secrets = self.secrets().ok_or_else(|| unkept("nothing to keep a secret with"))?;
        let closed = cipher::close(&secrets.confided(ask), &name().0, token.as_bytes());
        let closed = closed.ok_or_else(|| unkept("a secret is too large"))?;
        self.store().put_secret(ask, name(), closed).await?;
        let outcome = self.run_under(fresh, terms, actor, command.into()).await;
        // Nothing was asked under this id. Where we cannot tell, what is left lies encrypted.
        if let Err(StoreError::Refused(_)) | Ok(Outcome { replayed: true, .. }) = &outcome {
            self.store().delete_secrets(ask, Some(name())).await?;
        }
        outcome
    }
}

impl Gateway {
    /// The token of the app that sends the messages of an ask: the agent's own, if it lent one, else
    /// `None` for ours. [`Gone`] where it lent one that is not there any more.
    pub async fn borrowed_bot_token(
        &self,
        ask: &Ask,
    ) -> Result<Result<Option<Secret>, Gone>, StoreError> {
        if !a2h::by_own_app(ask) {
            return Ok(Ok(None));
        }
        let Some(closed) = self.store().peek_secret(ask.id, name()).await? else {
            return Ok(Err(Gone));
        };
        let Some(secrets) = self.secrets() else { return Ok(Err(Gone)) };
        let plain = cipher::open(&secrets.confided(ask.id), &name().0, &closed);
        let token = plain.and_then(|plain| String::from_utf8(plain).ok());
        Ok(token.map(|token| Some(Secret::new(token))).ok_or(Gone))
    }

    /// Deletes the token that was lent for an ask: no message about it follows.
    pub async fn return_bot_token(&self, ask: &Ask) -> Result<(), StoreError> {
        if a2h::by_own_app(ask) {
            self.store().delete_secrets(ask.id, Some(name())).await?;
        }
        Ok(())
    }
}

/// The token that was lent is not there any more.
pub struct Gone;
