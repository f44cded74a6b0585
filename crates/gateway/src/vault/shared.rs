//! The row of the shared database. It is encrypted, so that read access to the database does
//! not allow signing.

use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use store::postgres::Postgres;

use super::{VaultContent, cipher};
use crate::ids::random;
use channels::SecretString;

/// The name of the row, which is part of the authenticated data.
const NAME: &str = "server-keys";
/// How often a change is retried after a conflict with another node.
const MAX_ATTEMPTS: usize = 16;

/// The key that every node has and the database does not: 32 bytes.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// Parses 64 hexadecimal digits or Base64.
    pub fn read(secret: &SecretString) -> anyhow::Result<Self> {
        let text = secret.reveal().trim();
        let bytes = hex::decode(text).ok().or_else(|| BASE64_STANDARD.decode(text).ok());
        let key = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let expected = "master_key: expected 32 random bytes in Base64 or as 64 hexadecimal \
                        digits; create one with `openssl rand -base64 32`";
        Ok(Self(key.context(expected)?))
    }

    /// A new random key.
    pub fn generate() -> Self {
        Self(random())
    }

    /// The content of a key file.
    pub fn encoded(&self) -> String {
        format!("{}\n", BASE64_STANDARD.encode(self.0))
    }

    /// Encrypts a signing key, bound to its id.
    pub fn seal(&self, kid: &str, secret: &str) -> anyhow::Result<String> {
        let closed = cipher::encrypt(&self.0, &associated_data(kid), secret.as_bytes());
        Ok(hex::encode(closed.context("cannot encrypt a signing key")?))
    }

    /// Decrypts a signing key with this id that was encrypted under this key.
    pub fn unseal(&self, kid: &str, sealed: &str) -> Option<String> {
        let plain = cipher::decrypt(&self.0, &associated_data(kid), &hex::decode(sealed).ok()?)?;
        String::from_utf8(plain).ok()
    }

    /// Encrypts data. The result differs every time.
    pub fn encrypt(&self, plain: &[u8]) -> anyhow::Result<Vec<u8>> {
        let closed = cipher::encrypt(&self.0, NAME.as_bytes(), plain);
        closed.context("cannot encrypt the server's keys")
    }

    /// Decrypts data that was encrypted under this key and not changed since.
    pub fn decrypt(&self, closed: &[u8]) -> anyhow::Result<Vec<u8>> {
        cipher::decrypt(&self.0, NAME.as_bytes(), closed).context(
            "the server's keys in the database cannot be decrypted with this master_key; set the \
             master_key that they were created with on every node",
        )
    }
}

fn associated_data(kid: &str) -> Vec<u8> {
    format!("signing-key {kid}").into_bytes()
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(hidden)")
    }
}

/// The row, with the key that decrypts it.
pub struct SharedKeys {
    store: Arc<Postgres>,
    master: MasterKey,
}

impl SharedKeys {
    /// The row of a database.
    pub fn new(store: Arc<Postgres>, master: MasterKey) -> Self {
        Self { store, master }
    }

    /// The content of the row, with its version.
    pub async fn read(&self) -> anyhow::Result<Option<(u64, VaultContent)>> {
        let Some((version, closed)) = self.store.secret(NAME).await? else { return Ok(None) };
        let plain = self.master.decrypt(&closed)?;
        let stored = serde_json::from_slice(&plain);
        let stored = stored.context("the server keys in the database is damaged")?;
        Ok(Some((version, stored)))
    }

    /// The version of the row, without decrypting it.
    pub async fn version(&self) -> anyhow::Result<Option<u64>> {
        Ok(self.store.secret(NAME).await?.map(|(version, _)| version))
    }

    pub async fn change<T>(
        &self,
        change: &mut impl FnMut(&mut VaultContent) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.read().await?;
            let mut stored =
                before.as_ref().map_or_else(VaultContent::generate, |(_, stored)| stored.clone());
            let changed = change(&mut stored)?;
            if before.as_ref().is_some_and(|(_, before)| *before == stored) {
                return Ok(changed);
            }
            let version = before.map_or(0, |(version, _)| version);
            let closed = self.master.encrypt(&serde_json::to_vec(&stored)?)?;
            if self.store.put_secret(NAME, version, closed).await? {
                return Ok(changed);
            }
        }
        bail!("other processes keep changing the server's keys; try again")
    }

    /// Encrypts the content under another key, which every node needs from now on.
    pub async fn rewrap(&self, next: &MasterKey) -> anyhow::Result<()> {
        let found = self.store.secret(NAME).await?;
        let (version, closed) = found.context("there are no server keys in the database yet")?;
        let closed = next.encrypt(&self.master.decrypt(&closed)?)?;
        let put = self.store.put_secret(NAME, version, closed).await?;
        ensure!(put, "another process changed the server's keys; try again");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> anyhow::Result<MasterKey> {
        MasterKey::read(&SecretString::new(text))
    }

    #[test]
    fn either_notation_and_nothing_else() {
        let hex = "0f".repeat(32);
        let base64 = BASE64_STANDARD.encode([15; 32]);
        assert_eq!(key(&hex).unwrap().0, key(&format!(" {base64}\n")).unwrap().0);
        for wrong in ["", "secret", &hex[2..], &format!("{hex}0f")] {
            let error = key(wrong).err().unwrap().to_string();
            assert!(error.contains("openssl rand"), "{error}");
        }
    }

    #[test]
    fn only_the_same_key_opens_and_nothing_may_be_changed() {
        let (one, other) = (key(&"01".repeat(32)).unwrap(), key(&"02".repeat(32)).unwrap());
        let closed = one.encrypt(b"words").unwrap();
        assert_eq!(one.decrypt(&closed).unwrap(), b"words");
        assert_ne!(one.encrypt(b"words").unwrap(), closed);
        assert!(other.decrypt(&closed).unwrap_err().to_string().contains("master_key"));
        for place in 0..closed.len() {
            let mut changed = closed.clone();
            changed[place] ^= 1;
            assert!(one.decrypt(&changed).is_err(), "{place}");
        }
        assert!(one.decrypt(&closed[..10]).is_err());
    }
}
