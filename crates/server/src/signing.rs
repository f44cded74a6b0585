//! The installation's signing keys, ready to sign and to check.
//!
//! The keys lie in the data folder and change there: `countersign signing` rotates and revokes them
//! with or without a running server, which notices before it uses them again.

pub(crate) mod ring;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context, ensure};
use dialects::proof::{self, Jwks, ReceiptClaims, RevokedKey, Unproven};
use kernel::Time;
use kernel::text::is_storable;
use serde::Serialize;

use crate::ids::random;
use crate::secrets::{KeyFile, Stamp};
pub use ring::Revoked;
use ring::{Ring, StoredKey, first};

/// Signs and checks with the keys of the installation. Clones share them.
#[derive(Clone)]
pub struct Signer(Arc<Shared>);

struct Shared {
    /// Where the keys come from; none if they live as long as the process.
    file: Option<KeyFile>,
    held: RwLock<Held>,
}

struct Held {
    ring: Arc<Ring>,
    stamp: Option<Stamp>,
}

impl Signer {
    /// The keys of a data folder; the first one is made if there is none.
    pub fn open(data: &Path, now: Time) -> anyhow::Result<Self> {
        let file = KeyFile::of(data);
        let stored = file.change(|stored| {
            if stored.signing.is_empty() {
                stored.signing.push(first(&random(), now));
            }
            Ok(stored.signing.clone())
        })?;
        let ring = Ring::of(&stored).with_context(|| file.damaged())?;
        let held = Held { ring: Arc::new(ring), stamp: file.stamp() };
        Ok(Self(Arc::new(Shared { file: Some(file), held: RwLock::new(held) })))
    }

    /// The keys of a data folder, if it has some.
    pub fn find(data: &Path) -> anyhow::Result<Option<Self>> {
        let file = KeyFile::of(data);
        let Some(stored) = file.read()?.filter(|stored| !stored.signing.is_empty()) else {
            return Ok(None);
        };
        let ring = Ring::of(&stored.signing).with_context(|| file.damaged())?;
        let held = Held { ring: Arc::new(ring), stamp: file.stamp() };
        Ok(Some(Self(Arc::new(Shared { file: Some(file), held: RwLock::new(held) }))))
    }

    /// A key that lives as long as the process.
    pub fn ephemeral(now: Time) -> anyhow::Result<Self> {
        let ring = Arc::new(Ring::of(&[first(&random(), now)])?);
        let held = RwLock::new(Held { ring, stamp: None });
        Ok(Self(Arc::new(Shared { file: None, held })))
    }

    /// Signs claims about something that happened `at` a moment, with the key that was current then:
    /// signing again gives the same bytes, unless that key was revoked meanwhile.
    pub fn sign<T: Serialize>(&self, typ: &str, claims: &T, at: Time) -> String {
        self.ring().signs_at(at).sign(typ, claims)
    }

    /// Every public key there ever was: blocks that a revoked one signed stand in the chain of
    /// those that came after.
    pub fn ever(&self) -> Jwks {
        self.ring().ever().clone()
    }

    /// The public keys others check with: all but the revoked ones.
    pub fn jwks(&self) -> Jwks {
        self.ring().jwks()
    }

    /// The keys that were called back.
    pub fn revoked(&self) -> Vec<RevokedKey> {
        self.ring().revoked()
    }

    /// Checks a receipt of this installation.
    pub fn verify(&self, receipt: &str) -> Result<ReceiptClaims, Unproven> {
        proof::verify(receipt, &self.jwks())
    }

    /// The keys as they are now. Looking whether the file is another one costs less than a signature,
    /// so it is done every time: a revoked key signs nothing more.
    fn ring(&self) -> Arc<Ring> {
        let Shared { file, held } = &*self.0;
        let known = held.read().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = file else { return Arc::clone(&known.ring) };
        let stamp = file.stamp();
        if stamp == known.stamp {
            return Arc::clone(&known.ring);
        }
        drop(known);
        let mut held = held.write().unwrap_or_else(PoisonError::into_inner);
        if stamp != held.stamp {
            // Looked at once, whatever came of it: a file that cannot be read is said once.
            held.stamp = stamp;
            match read(file) {
                Ok(ring) => {
                    held.ring.tell_changes(&ring);
                    held.ring = Arc::new(ring);
                }
                Err(error) => tracing::error!(
                    error = format!("{error:#}"),
                    "the signing keys were changed and cannot be read; those known are used on"
                ),
            }
        }
        Arc::clone(&held.ring)
    }
}

/// A key as it is listed: never with its secret.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Its name.
    pub kid: String,
    /// When it was made.
    pub created_at: Time,
    /// Since when the next one signs; none for the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Time>,
    /// When and why it was called back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revoked>,
}

/// The keys of a data folder, oldest first.
pub fn list(data: &Path) -> anyhow::Result<Vec<Listed>> {
    let file = KeyFile::of(data);
    let stored = file.read()?;
    let stored = stored.with_context(|| format!("there is no {}", file.path().display()))?;
    let keys = stored.signing.into_iter();
    let listed = keys.map(|StoredKey { kid, created_at, retired_at, revoked, .. }| Listed {
        kid,
        created_at,
        retired_at,
        revoked,
    });
    Ok(listed.collect())
}

/// The public keys of a data folder, and those that were called back.
pub fn published(data: &Path) -> anyhow::Result<(Jwks, Vec<RevokedKey>)> {
    let ring = read(&KeyFile::of(data))?;
    Ok((ring.jwks(), ring.revoked()))
}

/// Every public key a data folder ever had, revoked ones too; `None` if it never had one.
pub fn ever(data: &Path) -> anyhow::Result<Option<Jwks>> {
    Ok(Signer::find(data)?.map(|signer| signer.ever()))
}

/// Makes a new key in a data folder. Gives its name and since when it signs.
pub fn rotate(data: &Path, now: Time) -> anyhow::Result<(String, Time)> {
    change(data, |keys| Ok(ring::rotate(keys, &random(), now)))
}

/// Calls a key of a data folder back. Gives the name of the new one, if it was the current one.
pub fn revoke(data: &Path, kid: &str, reason: &str, now: Time) -> anyhow::Result<Option<String>> {
    let fits = !reason.trim().is_empty() && is_storable(reason) && reason.chars().count() <= 1000;
    ensure!(fits, "the reason is a text of at most 1000 characters");
    change(data, |keys| ring::revoke(keys, kid, reason.to_owned(), &random(), now))
}

fn change<T>(
    data: &Path,
    change: impl FnOnce(&mut Vec<StoredKey>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let file = KeyFile::of(data);
    // Only a server makes the first one: anything else would be the wrong folder.
    ensure!(file.stamp().is_some(), "there is no {}", file.path().display());
    file.change(|stored| {
        ensure!(!stored.signing.is_empty(), "there is no signing key yet: start the server once");
        let changed = change(&mut stored.signing)?;
        Ring::of(&stored.signing).with_context(|| file.damaged())?;
        Ok(changed)
    })
}

fn read(file: &KeyFile) -> anyhow::Result<Ring> {
    let stored = file.read()?.with_context(|| format!("{} is gone", file.path().display()))?;
    Ring::of(&stored.signing).with_context(|| file.damaged())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(1_770_372_000_000).plus_seconds(seconds)
    }

    fn sign(signer: &Signer, seconds: u64) -> String {
        signer.sign("x+jwt", &json!({ "n": 1 }), at(seconds))
    }

    fn current(signer: &Signer) -> String {
        signer.jwks().keys.last().unwrap().kid.clone()
    }

    /// A file of an earlier version opens, keeps what it had and gets a key.
    #[test]
    fn old_files_get_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server-keys.json");
        let old = format!(r#"{{"evidence":"e","seed":"{}"}}"#, "5".repeat(64));
        fs::write(&path, old).unwrap();
        let signer = Signer::open(folder.path(), at(0)).unwrap();
        assert_eq!(signer.jwks().keys.len(), 1);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""evidence": "e""#), "{text}");
        let again = Signer::open(folder.path(), at(9)).unwrap();
        assert_eq!(again.jwks(), signer.jwks());
        // What ended before there was a key is signed with the first one.
        assert_eq!(
            again.sign("x+jwt", &json!({}), Time::from_millis(0)),
            signer.sign("x+jwt", &json!({}), at(0))
        );
    }

    /// A signer that runs sees what the command line does, at once.
    #[test]
    fn a_running_signer_follows_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::open(folder.path(), at(0)).unwrap();
        let (early, old) = (sign(&signer, 10), current(&signer));
        rotate(folder.path(), at(100)).unwrap();
        assert_ne!(current(&signer), old);
        assert_eq!(signer.jwks().keys.len(), 2, "the retired key is still published");
        assert_eq!(sign(&signer, 10), early, "byte for byte");
        assert_ne!(sign(&signer, 200), early);

        revoke(folder.path(), &old, "stolen", at(300)).unwrap();
        assert_eq!(signer.jwks().keys.len(), 1);
        assert_eq!(signer.revoked()[0].kid, old);
        let opened: Value = proof::jws::open(&sign(&signer, 10), "x+jwt", &signer.jwks()).unwrap();
        assert_eq!(opened, json!({ "n": 1 }));
    }

    /// What is damaged or gone stops nobody who knows the keys, and lets nobody start.
    #[test]
    fn a_spoilt_file_stops_no_one_who_runs() {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::open(folder.path(), at(0)).unwrap();
        let before = sign(&signer, 1);
        let path = folder.path().join("server-keys.json");
        let kept = fs::read_to_string(&path).unwrap();
        fs::write(&path, kept.replacen("\"secret\": \"", "\"secret\": \"00", 1)).unwrap();
        assert_eq!(sign(&signer, 1), before);
        assert!(Signer::open(folder.path(), at(0)).is_err());
        fs::remove_file(&path).unwrap();
        assert_eq!(sign(&signer, 1), before);
        fs::write(&path, kept).unwrap();
        assert_eq!(Signer::open(folder.path(), at(0)).unwrap().jwks(), signer.jwks());
    }
}
