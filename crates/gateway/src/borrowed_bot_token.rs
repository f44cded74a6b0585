//! The bot token that an agent provides for one ask. The server sends the question with it.
//! It is stored encrypted beside the ask, and nowhere else, until the message shows that the
//! ask is closed.

use channels::SecretString;
use dialects::a2h;
use kernel::audit::Digest;
use kernel::{Actor, Ask, AskId, Command};
use store::{JobOutcome, StoreError};

use crate::gateway::{CommandConditions, Gateway};
use crate::vault::cipher;

/// The name under which it is stored.
fn name() -> Digest {
    Digest::of(b"bot token")
}

impl Gateway {
    /// Creates an ask with a borrowed bot token. The token is stored first, so that no ask needs a
    /// token the server does not have.
    pub async fn run_with_bot_token(
        &self,
        terms: CommandConditions,
        actor: Actor,
        command: impl Into<Command>,
        token: &str,
    ) -> Result<JobOutcome, StoreError> {
        let fresh = self.ids().ulid();
        let ask = AskId::new(fresh);
        let unkept = |why: &str| StoreError::Unavailable(why.into());
        let secrets = self
            .secrets()
            .ok_or_else(|| unkept("this server has no key to encrypt a secret with"))?;
        let closed = cipher::encrypt(&secrets.secret_answer_key(ask), &name().0, token.as_bytes());
        let closed = closed.ok_or_else(|| unkept("the secret is too large"))?;
        self.store().put_secret(ask, name(), closed).await?;
        let outcome = self.run_with_id(fresh, terms, actor, command.into()).await;
        // No ask was created under this id. If that is unknown, the token stays, encrypted.
        if let Err(StoreError::Refused(_)) | Ok(JobOutcome { replayed: true, .. }) = &outcome {
            self.store().delete_secrets(ask, Some(name())).await?;
        }
        outcome
    }
}

impl Gateway {
    /// The bot token for the messages of an ask: the agent's own if it provided one, or `None` for
    /// the one from the settings. [`BotTokenGone`] if the agent's token is no longer stored.
    pub async fn borrowed_bot_token(
        &self,
        ask: &Ask,
    ) -> Result<Result<Option<SecretString>, BotTokenGone>, StoreError> {
        if !a2h::is_sent_by_own_app(ask) {
            return Ok(Ok(None));
        }
        let Some(closed) = self.store().peek_secret(ask.id, name()).await? else {
            return Ok(Err(BotTokenGone));
        };
        let Some(secrets) = self.secrets() else { return Ok(Err(BotTokenGone)) };
        let plain = cipher::decrypt(&secrets.secret_answer_key(ask.id), &name().0, &closed);
        let token = plain.and_then(|plain| String::from_utf8(plain).ok());
        Ok(token.map(|token| Some(SecretString::new(token))).ok_or(BotTokenGone))
    }

    /// Deletes the borrowed token of an ask, because no further message follows.
    pub async fn return_bot_token(&self, ask: &Ask) -> Result<(), StoreError> {
        if a2h::is_sent_by_own_app(ask) {
            self.store().delete_secrets(ask.id, Some(name())).await?;
        }
        Ok(())
    }
}

/// The borrowed token is no longer stored.
pub struct BotTokenGone;
