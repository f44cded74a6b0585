//! What an agent lends for one ask: the token of an app of its own, by which its question is said. It
//! lies encrypted beside the ask until the message says that the ask is over, and nowhere else.

use ::channels::Secret;
use dialects::a2h;
use kernel::audit::Digest;
use kernel::{Actor, Ask, AskId, Command};
use store::{Outcome, StoreError};

use crate::gateway::{Gateway, Terms};
use crate::http::App;
use crate::vault::cipher;

/// What it is called where it lies.
fn name() -> Digest {
    Digest::of(b"bot token")
}

impl Gateway {
    /// Asks with a token that was lent. It is kept before the ask is: none is ever there that should be
    /// said by an app we do not have.
    pub(crate) async fn run_lending(
        &self,
        terms: Terms,
        actor: Actor,
        command: Command,
        token: &str,
    ) -> Result<Outcome, StoreError> {
        let fresh = self.ids().ulid();
        let ask = AskId::new(fresh);
        let unkept = |why: &str| StoreError::Unavailable(why.into());
        let secrets = self.secrets().ok_or_else(|| unkept("nothing to keep a secret with"))?;
        let closed = cipher::close(&secrets.confided(ask), &name().0, token.as_bytes());
        let closed = closed.ok_or_else(|| unkept("a secret is too large"))?;
        self.store().confide(ask, name(), closed).await?;
        let outcome = self.run_under(fresh, terms, actor, command).await;
        // Nothing was asked under this id. Where we cannot tell, what is left lies encrypted.
        if let Err(StoreError::Refused(_)) | Ok(Outcome { replayed: true, .. }) = &outcome {
            self.store().forget_confided(ask, Some(name())).await?;
        }
        outcome
    }
}

impl App {
    /// By which app an ask is said: the agent's own, if it lent one, or else ours. An error where it lent
    /// one that is not there any more.
    pub(crate) async fn lent(&self, ask: &Ask) -> Result<Result<Option<Secret>, Gone>, StoreError> {
        if !a2h::by_own_app(ask) {
            return Ok(Ok(None));
        }
        let Some(closed) = self.gateway.store().lent(ask.id, name()).await? else {
            return Ok(Err(Gone));
        };
        let plain = cipher::open(&self.secrets.confided(ask.id), &name().0, &closed);
        let token = plain.and_then(|plain| String::from_utf8(plain).ok());
        Ok(token.map(|token| Some(Secret::new(token))).ok_or(Gone))
    }

    /// Gives back what was lent: nothing is said about the ask any more.
    pub(crate) async fn give_back(&self, ask: &Ask) -> Result<(), StoreError> {
        if a2h::by_own_app(ask) {
            self.gateway.store().forget_confided(ask.id, Some(name())).await?;
        }
        Ok(())
    }
}

/// What was lent is not there any more.
pub(crate) struct Gone;
