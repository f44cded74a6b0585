//! What the server derives and hashes with, and nobody else may know.

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::audit::Digest;
use kernel::form::FileRef;
use kernel::{AskId, By, HumanId, KeyId, WebhookId};
use sha2::{Digest as _, Sha256};

use crate::config::Secret;
use crate::vault::Vault;

/// What the server keeps to itself.
pub struct Secrets {
    /// The secret of the HXP evidence hash.
    pub evidence: Secret,
    seed: [u8; 32],
}

impl Secrets {
    /// Reads them, making them on first start. A secret from the settings wins over what lies there.
    pub async fn open(vault: &Vault, evidence: Option<Secret>) -> anyhow::Result<Self> {
        let stored = vault.change(|stored| Ok(stored.clone())).await?;
        let mut seed = [0; 32];
        hex::decode_to_slice(&stored.seed, &mut seed).with_context(|| vault.damaged())?;
        Ok(Self { evidence: evidence.unwrap_or_else(|| Secret::new(stored.evidence)), seed })
    }

    /// The mark on a file that says who uploaded it to which ask: derived, so that nothing has to be
    /// kept.
    pub fn upload(&self, ask: AskId, by: &By, file: &FileRef) -> String {
        let claim = Digest::of_json(&(ask, by, file));
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"upload");
        hash.update(claim.0);
        hex::encode(hash.finalize())
    }

    /// What the callbacks of cases made with this key are signed with: derived, so that nothing has to
    /// be kept, and so that a new key is a new secret.
    pub fn callback(&self, key: KeyId) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"callback");
        hash.update(key.ulid().to_bytes());
        hex::encode(hash.finalize())
    }

    /// What the calls to an endpoint are signed with: derived from its id and how often the secret was
    /// replaced, so that nothing has to be kept.
    pub fn webhook(&self, id: WebhookId, generation: u32) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"webhook");
        hash.update(id.ulid().to_bytes());
        hash.update(generation.to_be_bytes());
        hash.finalize().into()
    }

    /// What a draft of an answer to this ask is encrypted with: derived, so that nothing has to be kept.
    pub fn draft(&self, ask: AskId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"draft");
        hash.update(ask.ulid().to_bytes());
        hash.finalize().into()
    }

    /// The secret of a sign-in link that is sent by mail: derived, so that it is in no outbox.
    pub fn link(&self, seed: &Digest) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"link");
        hash.update(seed.0);
        BASE64_URL_SAFE_NO_PAD.encode(hash.finalize())
    }

    /// What is kept of a code that was sent to an address of somebody: without the seed, a million guesses
    /// would find it.
    pub fn code(&self, human: &HumanId, means: &Digest, code: &str) -> Digest {
        let claim = Digest::of_json(&(human, means, code));
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"code");
        hash.update(claim.0);
        Digest(hash.finalize().into())
    }

    /// What forms are sealed with that a browser carries from one request to the next.
    pub fn form(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"form");
        hash.finalize().into()
    }

    /// What is given in confidence with an answer to this ask is encrypted with this: derived, so that
    /// nothing has to be kept.
    pub fn confided(&self, ask: AskId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"confided");
        hash.update(ask.ulid().to_bytes());
        hash.finalize().into()
    }

    /// What push services know us by is made from this, or from the next if it is no key: derived, so
    /// that every node has it.
    pub fn vapid(&self, n: u8) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"vapid");
        hash.update([n]);
        hash.finalize().into()
    }

    /// What the addresses of people's devices are encrypted with.
    pub fn device(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"device");
        hash.finalize().into()
    }

    /// What an ask is called to the push service of a device: nobody can tell what it is, nor that
    /// others were told of the same.
    pub fn topic(&self, ask: AskId, device: &Digest) -> [u8; 24] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"topic");
        hash.update(ask.ulid().to_bytes());
        hash.update(device.0);
        let digest: [u8; 32] = hash.finalize().into();
        let mut topic = [0; 24];
        topic.copy_from_slice(&digest[..24]);
        topic
    }

    /// The token a browser session's forms must carry: derived, so that nothing has to be kept.
    pub fn csrf(&self, session: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"csrf");
        hash.update(session.as_bytes());
        hex::encode(hash.finalize())
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
        let first = Secrets::open(&vault, None).await.unwrap();
        let again = Secrets::open(&vault, None).await.unwrap();
        assert_eq!(first.evidence.reveal(), again.evidence.reveal());
        assert_eq!(first.csrf("a"), again.csrf("a"));
        assert_ne!(first.csrf("a"), first.csrf("b"));
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        assert_eq!(first.link(&one), again.link(&one));
        assert!(first.link(&one) != first.link(&two) && first.link(&one).len() == 43);
        let mode = fs::metadata(folder.path().join("server-keys.json")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}
