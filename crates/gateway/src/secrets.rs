//! What the server derives and hashes with, and nobody else may know.

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::audit::Digest;
use kernel::form::FileRef;
use kernel::{AskId, By, HumanId, KeyId, WebhookId};
use sha2::{Digest as _, Sha256};

use crate::vault::Vault;
use channels::Secret;

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

    /// What is made from the seed for one purpose, and tells nothing of any other.
    fn derive(&self, purpose: &[u8], of: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(purpose);
        for part in of {
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// The mark on a file that says who uploaded it to which ask: derived, so that nothing has to be
    /// kept.
    pub fn upload(&self, ask: AskId, by: &By, file: &FileRef) -> String {
        let claim = Digest::of_json(&(ask, by, file));
        hex::encode(self.derive(b"upload", &[&claim.0]))
    }

    /// What the callbacks of cases made with this key are signed with: derived, so that nothing has to
    /// be kept, and so that a new key is a new secret.
    pub fn callback(&self, key: KeyId) -> String {
        hex::encode(self.derive(b"callback", &[&key.ulid().to_bytes()]))
    }

    /// What the calls to an endpoint are signed with: derived from its id and how often the secret was
    /// replaced, so that nothing has to be kept.
    pub fn webhook(&self, id: WebhookId, generation: u32) -> [u8; 32] {
        self.derive(b"webhook", &[&id.ulid().to_bytes(), &generation.to_be_bytes()])
    }

    /// What a draft of an answer to this ask is encrypted with: derived, so that nothing has to be kept.
    pub fn draft(&self, ask: AskId) -> [u8; 32] {
        self.derive(b"draft", &[&ask.ulid().to_bytes()])
    }

    /// The secret of a sign-in link that is sent by mail: derived, so that it is in no outbox.
    pub fn link(&self, seed: &Digest) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.derive(b"link", &[&seed.0]))
    }

    /// What is kept of a code that was sent to an address of somebody: without the seed, a million guesses
    /// would find it.
    pub fn code(&self, human: &HumanId, means: &Digest, code: &str) -> Digest {
        let claim = Digest::of_json(&(human, means, code));
        Digest(self.derive(b"code", &[&claim.0]))
    }

    /// What forms are sealed with that a browser carries from one request to the next.
    pub fn form(&self) -> [u8; 32] {
        self.derive(b"form", &[])
    }

    /// What is given in confidence with an answer to this ask is encrypted with this: derived, so that
    /// nothing has to be kept.
    pub fn confided(&self, ask: AskId) -> [u8; 32] {
        self.derive(b"confided", &[&ask.ulid().to_bytes()])
    }

    /// What push services know us by is made from this, or from the next if it is no key: derived, so
    /// that every node has it.
    pub fn vapid(&self, n: u8) -> [u8; 32] {
        self.derive(b"vapid", &[&[n]])
    }

    /// What the addresses of people's devices are encrypted with.
    pub fn device(&self) -> [u8; 32] {
        self.derive(b"device", &[])
    }

    /// What an ask is called to the push service of a device: nobody can tell what it is, nor that
    /// others were told of the same.
    pub fn topic(&self, ask: AskId, device: &Digest) -> [u8; 24] {
        let digest: [u8; 32] = self.derive(b"topic", &[&ask.ulid().to_bytes(), &device.0]);
        let mut topic = [0; 24];
        topic.copy_from_slice(&digest[..24]);
        topic
    }

    /// The mark on a button of a message: short, because platforms carry little, and guessed by nobody
    /// whose guesses are counted.
    pub fn button(&self, ask: AskId, said: &str) -> String {
        let mark = self.derive(b"button", &[&ask.ulid().to_bytes(), said.as_bytes()]);
        BASE64_URL_SAFE_NO_PAD.encode(&mark[..12])
    }

    /// The review link of a message that went where an agent wanted: derived, so that sending it again
    /// draws no other.
    pub fn review(&self, message: &Digest) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.derive(b"review", &[&message.0]))
    }

    /// What the addresses are signed with to which people write back.
    pub fn replies(&self) -> [u8; 32] {
        self.derive(b"replies", &[])
    }

    /// The token a browser session's forms must carry: derived, so that nothing has to be kept.
    pub fn csrf(&self, session: &str) -> String {
        hex::encode(self.derive(b"csrf", &[session.as_bytes()]))
    }
}

#[cfg(any(test, feature = "testing"))]
impl Secrets {
    /// Secrets everybody knows.
    pub fn for_tests() -> Self {
        Self { evidence: Secret::new("evidence"), seed: [7; 32] }
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
