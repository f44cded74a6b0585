//! The installation's signing keys, for signing and verifying.
//!
//! The keys are in the vault and change there: `countersign signing` rotates and revokes them with
//! or without a running server. A server with a key file notices a change before it next uses the
//! keys. Nodes that share a database check every few seconds.

use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context, ensure};
use dialects::proof::{self, Jwks, ProofError, ReceiptClaims, RevokedKey};
use kernel::Time;
use kernel::text::is_storable;
use serde::Serialize;

use crate::ids::random;
use crate::key_ring::{self, KeyRing, PublishedKeys, StoredKey, first};
pub use crate::key_ring::{DestroyedBy, KeyRevocation};
use crate::vault::file::FileStamp;
use crate::vault::{Vault, VaultContent};

/// Signs and verifies with the keys of the installation. Clones share them.
#[derive(Clone)]
pub struct Signer(Arc<SignerState>);

struct SignerState {
    vault: Arc<Vault>,
    held: RwLock<LoadedKeys>,
}

struct LoadedKeys {
    ring: Arc<KeyRing>,
    seen: VaultVersion,
}

/// The known version of the vault, so that it is read again only after a change.
#[derive(PartialEq)]
enum VaultVersion {
    File(Option<FileStamp>),
    Row(Option<u64>),
    Ours,
}

impl Signer {
    /// The keys of a vault. Creates the first one if there is none.
    pub async fn open(vault: Arc<Vault>, now: Time) -> anyhow::Result<Self> {
        let made = |stored: &mut VaultContent| {
            if stored.signing.is_empty() {
                stored.signing.push(first(&random(), now));
            }
            Ok(())
        };
        vault.change(made).await?;
        let found = Self::find(Arc::clone(&vault)).await?;
        found.with_context(|| vault.damaged())
    }

    /// The keys of a vault, if it has any.
    pub async fn find(vault: Arc<Vault>) -> anyhow::Result<Option<Self>> {
        // Before the keys, so that a change meanwhile is noticed later.
        let seen = vault_version(&vault).await?;
        let Some(stored) = vault.read().await?.filter(|stored| !stored.signing.is_empty()) else {
            return Ok(None);
        };
        let ring = KeyRing::of(&stored.signing).with_context(|| vault.damaged())?;
        let held = RwLock::new(LoadedKeys { ring: Arc::new(ring), seen });
        Ok(Some(Self(Arc::new(SignerState { vault, held }))))
    }

    /// Signs claims about an event at this time, with the key of that time: signing again gives the
    /// same bytes, unless that key was revoked meanwhile.
    pub fn sign<T: Serialize>(&self, typ: &str, claims: &T, at: Time) -> String {
        self.ring().signing_key_at(at).sign(typ, claims)
    }

    /// Attaches a stored signature to a receipt: the bytes are the same as when it was signed.
    /// `None` if it is not the signature of these claims, or its key was revoked.
    pub fn attach(&self, claims: &ReceiptClaims, kid: &str, signature: &[u8]) -> Option<String> {
        proof::jws::attach(proof::RECEIPT, claims, kid, signature, &self.jwks())
    }

    /// Whether the key for events at this time was destroyed, so that its signatures are
    /// in the store.
    pub fn is_destroyed_at(&self, at: Time) -> bool {
        self.ring().is_destroyed_at(at)
    }

    /// The vault with the keys.
    pub fn vault(&self) -> &Vault {
        &self.0.vault
    }

    /// Every public key so far. A revoked key's blocks remain valid as part of the chain
    /// of later blocks.
    pub fn ever(&self) -> Jwks {
        self.ring().ever().clone()
    }

    /// The public keys for verifiers: all but the revoked ones.
    pub fn jwks(&self) -> Jwks {
        self.ring().jwks()
    }

    /// The revoked keys.
    pub fn revoked(&self) -> Vec<RevokedKey> {
        self.ring().revoked().to_vec()
    }

    /// The keys with their states, oldest first.
    pub async fn listed(&self) -> anyhow::Result<Vec<SigningKeySummary>> {
        list(&self.0.vault).await
    }

    /// Verifies a receipt of this installation.
    pub fn verify(&self, receipt: &str) -> Result<ReceiptClaims, ProofError> {
        proof::verify(receipt, &self.jwks())
    }

    /// The current keys. Checking the file for changes costs less than a signature, so it happens
    /// every time: a revoked key signs nothing more.
    fn ring(&self) -> Arc<KeyRing> {
        let SignerState { vault, held } = &*self.0;
        let known = held.read().unwrap_or_else(PoisonError::into_inner);
        let Vault::Folder(file) = &**vault else { return Arc::clone(&known.ring) };
        let now = VaultVersion::File(file.stamp());
        if now == known.seen {
            return Arc::clone(&known.ring);
        }
        drop(known);
        let read = file.read().and_then(|stored| ring_of(vault, stored));
        self.adopt_keys(now, read)
    }

    /// Checks whether another node changed the keys.
    pub async fn refresh(&self) -> anyhow::Result<()> {
        let SignerState { vault, held } = &*self.0;
        let Vault::Shared(keys) = &**vault else { return Ok(()) };
        let now = VaultVersion::Row(keys.version().await?);
        if held.read().unwrap_or_else(PoisonError::into_inner).seen != now {
            let read = vault.read().await.and_then(|stored| ring_of(vault, stored));
            self.adopt_keys(now, read);
        }
        Ok(())
    }

    fn adopt_keys(&self, now: VaultVersion, read: anyhow::Result<KeyRing>) -> Arc<KeyRing> {
        let mut held = self.0.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.seen != now {
            // Recorded even after a failure, so that unreadable keys are reported once.
            held.seen = now;
            match read {
                Ok(ring) => {
                    held.ring.log_changes(&ring);
                    held.ring = Arc::new(ring);
                }
                Err(error) => tracing::error!(
                    error = format!("{error:#}"),
                    "cannot read the changed signing keys; the server continues with the keys in \
                     memory"
                ),
            }
        }
        Arc::clone(&held.ring)
    }
}

async fn vault_version(vault: &Vault) -> anyhow::Result<VaultVersion> {
    Ok(match vault {
        Vault::Memory(_) => VaultVersion::Ours,
        Vault::Folder(file) => VaultVersion::File(file.stamp()),
        Vault::Shared(keys) => VaultVersion::Row(keys.version().await?),
    })
}

fn ring_of(vault: &Vault, stored: Option<VaultContent>) -> anyhow::Result<KeyRing> {
    let stored = stored.with_context(|| format!("{} is gone", vault.description()))?;
    KeyRing::of(&stored.signing).with_context(|| vault.damaged())
}

/// A key in a list, without its secret.
#[derive(Debug, Clone, Serialize)]
pub struct SigningKeySummary {
    /// The key id.
    pub kid: String,
    pub created_at: Time,
    /// The time from which its successor signs. Absent for the current key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Time>,
    /// When and why it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<KeyRevocation>,
    /// When its private half was destroyed, and by whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed: Option<DestroyedBy>,
}

/// The keys of a vault, oldest first.
pub async fn list(vault: &Vault) -> anyhow::Result<Vec<SigningKeySummary>> {
    let stored = vault.read().await?;
    let stored = stored.with_context(|| format!("{} not found", vault.description()))?;
    let keys = stored.signing.into_iter();
    let listed =
        keys.map(|StoredKey { kid, created_at, retired_at, revoked, destroyed, .. }| {
            SigningKeySummary { kid, created_at, retired_at, revoked, destroyed }
        });
    Ok(listed.collect())
}

/// The public keys of a vault, and the revoked ones.
pub async fn published(vault: &Vault) -> anyhow::Result<(Jwks, Vec<RevokedKey>)> {
    let stored = vault.read().await?.with_context(|| format!("{} is gone", vault.description()))?;
    let published = PublishedKeys::of(&stored.signing).with_context(|| vault.damaged())?;
    Ok((published.jwks(), published.revoked))
}

/// Every public key of a vault so far, including revoked ones. `None` if it never had one.
pub async fn ever(vault: Arc<Vault>) -> anyhow::Result<Option<Jwks>> {
    let Some(stored) = vault.read().await?.filter(|stored| !stored.signing.is_empty()) else {
        return Ok(None);
    };
    let published = PublishedKeys::of(&stored.signing).with_context(|| vault.damaged())?;
    Ok(Some(published.ever))
}

/// Destroys the private half of a retired key whose receipt signatures are stored. `false` if it
/// was already destroyed.
pub async fn destroy(vault: &Vault, kid: &str, by: DestroyedBy) -> anyhow::Result<bool> {
    change(vault, |keys| key_ring::destroy(keys, kid, by.clone())).await
}

/// Creates a new key. Returns its id and the time from which it signs.
pub async fn rotate(vault: &Vault, now: Time) -> anyhow::Result<(String, Time)> {
    change(vault, |keys| Ok(key_ring::rotate(keys, &random(), now))).await
}

/// Revokes a key. Returns the id of the new one, if it was the current one.
pub async fn revoke(
    vault: &Vault,
    kid: &str,
    reason: &str,
    now: Time,
) -> anyhow::Result<Option<String>> {
    let fits = !reason.trim().is_empty() && is_storable(reason) && reason.chars().count() <= 1000;
    ensure!(fits, "the reason must be a string of 1 to 1000 characters");
    change(vault, |keys| key_ring::revoke(keys, kid, reason.to_owned(), &random(), now)).await
}

async fn change<T>(
    vault: &Vault,
    mut change: impl FnMut(&mut Vec<StoredKey>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    // Only a server creates the first key. A command would create it in the wrong place.
    ensure!(vault.read().await?.is_some(), "{} not found", vault.description());
    let changed = |stored: &mut VaultContent| {
        ensure!(!stored.signing.is_empty(), "there is no signing key yet; start the server once");
        let changed = change(&mut stored.signing)?;
        KeyRing::of(&stored.signing).with_context(|| vault.damaged())?;
        Ok(changed)
    };
    vault.change(changed).await
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(1_770_372_000_000).plus_seconds(seconds)
    }

    async fn open(folder: &tempfile::TempDir, seconds: u64) -> anyhow::Result<Signer> {
        Signer::open(Arc::new(Vault::folder(folder.path())), at(seconds)).await
    }

    fn sign(signer: &Signer, seconds: u64) -> String {
        signer.sign("x+jwt", &json!({ "n": 1 }), at(seconds))
    }

    fn current(signer: &Signer) -> String {
        signer.jwks().keys.last().unwrap().kid.clone()
    }

    /// A file of an earlier version is readable, keeps its contents and gets a key.
    #[tokio::test]
    async fn old_files_get_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server-keys.json");
        let old = format!(r#"{{"evidence":"e","seed":"{}"}}"#, "5".repeat(64));
        fs::write(&path, old).unwrap();
        let signer = open(&folder, 0).await.unwrap();
        assert_eq!(signer.jwks().keys.len(), 1);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""evidence": "e""#), "{text}");
        let again = open(&folder, 9).await.unwrap();
        assert_eq!(again.jwks(), signer.jwks());
        // Events before the first key are signed with the first one.
        assert_eq!(
            again.sign("x+jwt", &json!({}), Time::from_millis(0)),
            signer.sign("x+jwt", &json!({}), at(0))
        );
    }

    /// A running signer immediately follows changes by the command line.
    #[tokio::test]
    async fn a_running_signer_follows_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let signer = open(&folder, 0).await.unwrap();
        let (early, old) = (sign(&signer, 10), current(&signer));
        rotate(&Vault::folder(folder.path()), at(100)).await.unwrap();
        assert_ne!(current(&signer), old);
        assert_eq!(signer.jwks().keys.len(), 2, "the retired key is still published");
        assert_eq!(sign(&signer, 10), early, "byte for byte");
        assert_ne!(sign(&signer, 200), early);

        revoke(&Vault::folder(folder.path()), &old, "stolen", at(300)).await.unwrap();
        assert_eq!(signer.jwks().keys.len(), 1);
        assert_eq!(signer.revoked()[0].kid, old);
        let opened: Value = proof::jws::open(&sign(&signer, 10), "x+jwt", &signer.jwks()).unwrap();
        assert_eq!(opened, json!({ "n": 1 }));
    }

    /// A damaged or missing file does not stop a running server, but prevents a start.
    #[tokio::test]
    async fn a_spoilt_file_stops_no_one_who_runs() {
        let folder = tempfile::tempdir().unwrap();
        let signer = open(&folder, 0).await.unwrap();
        let before = sign(&signer, 1);
        let path = folder.path().join("server-keys.json");
        let kept = fs::read_to_string(&path).unwrap();
        fs::write(&path, kept.replacen("\"sealed\": \"", "\"sealed\": \"00", 1)).unwrap();
        assert_eq!(sign(&signer, 1), before);
        assert!(open(&folder, 0).await.is_err());
        fs::remove_file(&path).unwrap();
        assert_eq!(sign(&signer, 1), before);
        fs::write(&path, kept).unwrap();
        assert_eq!(open(&folder, 0).await.unwrap().jwks(), signer.jwks());
    }
}
