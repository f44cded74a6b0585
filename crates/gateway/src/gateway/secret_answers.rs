//! Secret answers: stored apart from the answer, encrypted, until the agent has read them.

use std::sync::Arc;

use kernel::audit::Digest;
use kernel::question::Confided;
use kernel::{Ask, AskCommand, Command, Envelope};
use store::StoreError;

use super::Gateway;
use crate::vault::cipher;

impl Gateway {
    /// Stores the secret values of an answer and returns their name. `None` if there are none, or
    /// if the reply does not answer the question.
    pub(super) async fn keep_secret_answer(
        &self,
        envelope: &Envelope,
    ) -> Result<Option<Digest>, StoreError> {
        // An answer with secret values is never held, so `HoldAnswer` answers immediately.
        let Command::Ask(
            AskCommand::Answer(id, reply)
            | AskCommand::HoldAnswer(id, reply)
            | AskCommand::AnswerWithProofs(id, reply, _)
            | AskCommand::AnswerWithPasskey(id, reply, _),
        ) = &envelope.command
        else {
            return Ok(None);
        };
        let (actor, command) = (&envelope.actor, &envelope.command);
        let ask = self.store().ask(*id).await?;
        let taken = match &ask {
            Some(ask) => self.considering(ask).await?.takes(actor, command.clone()).is_ok(),
            None => false,
        };
        let ask = ask.filter(|_| taken);
        let question = ask.as_ref().and_then(|ask| ask.question.value());
        // The decision itself refuses an invalid answer, with the reason.
        let checked = question.and_then(|question| {
            let reply = question.check((**reply).clone()).ok()?.into_reply();
            Some((question, reply))
        });
        let Some((question, mut reply)) = checked else { return Ok(None) };
        let confided = question.confide(&mut reply, &envelope.salts);
        if confided.is_empty() {
            return Ok(None);
        }
        let unkept = |why: &str| StoreError::Unavailable(why.into());
        let secrets = self.secrets().ok_or_else(|| unkept("nothing to keep a secret with"))?;
        let name = confided.name();
        let plain = serde_json::to_vec(&confided).map_err(|_| unkept("a secret is unreadable"))?;
        let closed = cipher::close(&secrets.confided(*id), &name.0, &plain);
        let closed = closed.ok_or_else(|| unkept("a secret is too large"))?;
        self.store().put_secret(*id, name, closed).await?;
        Ok(Some(name))
    }

    /// An ask as its agent reads it, with the secret values while they exist. The first such read
    /// starts the time after which they are deleted.
    pub async fn told(&self, ask: Arc<Ask>) -> Result<Arc<Ask>, StoreError> {
        let (Some(name), Some(secrets)) = (ask.confided(), self.secrets()) else { return Ok(ask) };
        let Some(closed) = self.store().read_secret(ask.id, name, self.now()).await? else {
            return Ok(ask);
        };
        let plain = cipher::open(&secrets.confided(ask.id), &name.0, &closed);
        let confided = plain.and_then(|plain| serde_json::from_slice::<Confided>(&plain).ok());
        match confided {
            Some(confided) => Ok(Arc::new(Arc::unwrap_or_clone(ask).told(&confided))),
            None => Err(StoreError::Damaged {
                what: format!("what was given in confidence to {}", ask.id),
                source: "it cannot be opened with this server's keys".into(),
            }),
        }
    }
}
