//! Secret answers: stored apart from the answer, encrypted, until the agent has read them.

use std::fmt;
use std::sync::Arc;

use kernel::audit::Digest;
use kernel::question::SecretValues;
use kernel::{Ask, AskId};
use store::{SecretCipher, StoreError};

use super::Gateway;
use crate::secrets::ServerSecrets;
use crate::vault::cipher;

/// Encrypts secret answers with a key of their ask.
struct AnswerCipher(Arc<ServerSecrets>);

impl fmt::Debug for AnswerCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerCipher")
    }
}

impl SecretCipher for AnswerCipher {
    fn encrypt(&self, ask: AskId, name: Digest, values: &SecretValues) -> Option<Vec<u8>> {
        let plain = serde_json::to_vec(values).ok()?;
        cipher::encrypt(&self.0.secret_answer_key(ask), &name.0, &plain)
    }
}

impl Gateway {
    /// Encrypts the secret values of an answer, in the transaction that stores the answer.
    pub(super) fn secret_cipher(&self) -> Option<Arc<dyn SecretCipher>> {
        let secrets = self.secrets.as_ref()?;
        Some(Arc::new(AnswerCipher(Arc::clone(secrets))))
    }

    /// An ask as its agent reads it, with the secret values while they exist. The first such read
    /// starts the time after which they are deleted.
    pub async fn with_secret_answers(&self, ask: Arc<Ask>) -> Result<Arc<Ask>, StoreError> {
        let (Some(name), Some(secrets)) = (ask.secret_values_key(), self.secrets()) else {
            return Ok(ask);
        };
        let Some(closed) = self.store().read_secret(ask.id, name, self.now()).await? else {
            return Ok(ask);
        };
        let plain = cipher::decrypt(&secrets.secret_answer_key(ask.id), &name.0, &closed);
        let confided = plain.and_then(|plain| serde_json::from_slice::<SecretValues>(&plain).ok());
        match confided {
            Some(confided) => Ok(Arc::new(Arc::unwrap_or_clone(ask).with_secrets(&confided))),
            None => Err(StoreError::Damaged {
                what: format!("the secret answer to {}", ask.id),
                source: "it cannot be decrypted with this server's keys".into(),
            }),
        }
    }
}
