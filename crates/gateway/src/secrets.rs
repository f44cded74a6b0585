//! The server's secrets, for deriving keys and for hashing.

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::audit::Digest;
use kernel::form::FileRef;
use kernel::{ActorRef, AskId, HumanId, KeyId, WebhookId};
use sha2::{Digest as _, Sha256};

use crate::vault::{Vault, VaultContent};
use channels::SecretString;

/// The server's secrets.
pub struct ServerSecrets {
    /// The secret of the HXP evidence hash.
    pub evidence: SecretString,
    seed: [u8; 32],
}

impl ServerSecrets {
    /// Reads the secrets, and creates them on first start. A secret from the settings overrides
    /// the stored one.
    pub async fn open(vault: &Vault, evidence: Option<SecretString>) -> anyhow::Result<Self> {
        let stored = vault.change(|stored| Ok(stored.clone())).await?;
        Self::of(vault, stored, evidence)
    }

    /// Reads the secrets of an installation that has some, and changes nothing. `None` if it has
    /// none.
    pub async fn read(vault: &Vault) -> anyhow::Result<Option<Self>> {
        let stored = vault.read().await?;
        stored.map(|stored| Self::of(vault, stored, None)).transpose()
    }

    fn of(
        vault: &Vault,
        stored: VaultContent,
        evidence: Option<SecretString>,
    ) -> anyhow::Result<Self> {
        let mut seed = [0; 32];
        hex::decode_to_slice(&stored.seed, &mut seed).with_context(|| vault.damaged())?;
        Ok(Self { evidence: evidence.unwrap_or_else(|| SecretString::new(stored.evidence)), seed })
    }

    /// Derives a key for one purpose, which reveals nothing about the others.
    fn derive(&self, purpose: &[u8], of: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(purpose);
        for part in of {
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// The upload token of a file, which proves who uploaded it to which ask. Derived, so it need
    /// not be stored.
    pub fn upload_token(&self, ask: AskId, by: &ActorRef, file: &FileRef) -> String {
        let claim = Digest::of_json(&(ask, by, file));
        hex::encode(self.derive(b"upload", &[&claim.0]))
    }

    /// The secret that signs the callbacks of cases that were created with this key. Derived, so it
    /// need not be stored, and a new key has a new secret.
    pub fn callback_secret(&self, key: KeyId) -> String {
        hex::encode(self.derive(b"callback", &[&key.ulid().to_bytes()]))
    }

    /// The signing secret of a webhook endpoint. Derived from its id and its generation, so it need
    /// not be stored.
    pub fn webhook_secret(&self, id: WebhookId, generation: u32) -> [u8; 32] {
        self.derive(b"webhook", &[&id.ulid().to_bytes(), &generation.to_be_bytes()])
    }

    /// The key that encrypts drafts of answers to this ask. Derived, so it need not be stored.
    pub fn draft_key(&self, ask: AskId) -> [u8; 32] {
        self.derive(b"draft", &[&ask.ulid().to_bytes()])
    }

    /// The secret of a sign-in link in an email. Derived, so that no outbox contains it.
    pub fn sign_in_secret(&self, seed: &Digest) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.derive(b"link", &[&seed.0]))
    }

    /// The stored hash of a code that was sent to an address of a person. Without the seed, a
    /// million guesses would find the code.
    pub fn code_hash(&self, human: &HumanId, means: &Digest, code: &str) -> Digest {
        let claim = Digest::of_json(&(human, means, code));
        Digest(self.derive(b"code", &[&claim.0]))
    }

    /// The key that seals forms that a browser carries between requests.
    pub fn form_key(&self) -> [u8; 32] {
        self.derive(b"form", &[])
    }

    /// The key that encrypts secret answers to this ask. Derived, so it need not be stored.
    pub fn secret_answer_key(&self, ask: AskId) -> [u8; 32] {
        self.derive(b"confided", &[&ask.ulid().to_bytes()])
    }

    /// A candidate for the VAPID key, or the next one if it is not a valid key. Derived, so that
    /// every node has it.
    pub fn vapid_key(&self, n: u8) -> [u8; 32] {
        self.derive(b"vapid", &[&[n]])
    }

    /// The key that encrypts the push subscriptions of devices.
    pub fn device_key(&self) -> [u8; 32] {
        self.derive(b"device", &[])
    }

    /// The topic of an ask at the push service of a device. It reveals neither the ask nor that
    /// other devices got the same.
    pub fn push_topic(&self, ask: AskId, device: &Digest) -> [u8; 24] {
        let digest: [u8; 32] = self.derive(b"topic", &[&ask.ulid().to_bytes(), &device.0]);
        let mut topic = [0; 24];
        topic.copy_from_slice(&digest[..24]);
        topic
    }

    /// The token on a button of a message. It is short, because platforms limit its length, and
    /// unpredictable if guesses are counted.
    pub fn button_mac(&self, ask: AskId, said: &str) -> String {
        let mark = self.derive(b"button", &[&ask.ulid().to_bytes(), said.as_bytes()]);
        BASE64_URL_SAFE_NO_PAD.encode(&mark[..12])
    }

    /// The review link of a message to an address that the agent named. Derived, so that sending it
    /// again creates no other link.
    pub fn review_token(&self, message: &Digest) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.derive(b"review", &[&message.0]))
    }

    /// The key that signs reply addresses.
    pub fn reply_address_key(&self) -> [u8; 32] {
        self.derive(b"replies", &[])
    }

    /// The CSRF token of a browser session. Derived, so it need not be stored.
    pub fn csrf_token(&self, session: &str) -> String {
        hex::encode(self.derive(b"csrf", &[session.as_bytes()]))
    }
}

#[cfg(any(test, feature = "testing"))]
impl ServerSecrets {
    /// Publicly known secrets.
    pub fn for_tests() -> Self {
        Self { evidence: SecretString::new("evidence"), seed: [7; 32] }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn made_once_and_readable_by_the_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::folder(folder.path());
        let first = ServerSecrets::open(&vault, None).await.unwrap();
        let again = ServerSecrets::open(&vault, None).await.unwrap();
        assert_eq!(first.evidence.reveal(), again.evidence.reveal());
        assert_eq!(first.csrf_token("a"), again.csrf_token("a"));
        assert_ne!(first.csrf_token("a"), first.csrf_token("b"));
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        assert_eq!(first.sign_in_secret(&one), again.sign_in_secret(&one));
        assert!(
            first.sign_in_secret(&one) != first.sign_in_secret(&two)
                && first.sign_in_secret(&one).len() == 43
        );
        let mode = fs::metadata(folder.path().join("server-keys.json")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}
