//! The server's own keys: a file only its owner can read, beside the embedded store.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use kernel::audit::Digest;
use kernel::form::FileRef;
use kernel::{AskId, HumanId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::Secret;
use crate::ids::random;

const FILE: &str = "server-keys.json";

/// What the server keeps to itself.
pub struct Secrets {
    /// The secret of the HXP evidence hash.
    pub evidence: Secret,
    seed: [u8; 32],
}

#[derive(Serialize, Deserialize)]
struct Stored {
    evidence: String,
    seed: String,
}

impl Secrets {
    /// Reads the keys of a data folder, making them on first start.
    pub fn open(data: &Path, evidence: Option<Secret>) -> anyhow::Result<Self> {
        let path = data.join(FILE);
        let stored = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is damaged", path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => make(&path)?,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let mut seed = [0; 32];
        hex::decode_to_slice(&stored.seed, &mut seed)
            .with_context(|| format!("{} is damaged", path.display()))?;
        Ok(Self { evidence: evidence.unwrap_or_else(|| Secret::new(stored.evidence)), seed })
    }

    /// Keys that live as long as the process.
    pub fn ephemeral(evidence: Option<Secret>) -> Self {
        let drawn = || Secret::new(hex::encode(random::<32>()));
        Self { evidence: evidence.unwrap_or_else(drawn), seed: random() }
    }

    /// The mark on a file that says who uploaded it to which ask: derived, so that nothing has to be
    /// kept.
    pub fn upload(&self, ask: AskId, human: &HumanId, file: &FileRef) -> String {
        let claim = Digest::of_json(&(ask, human, file));
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"upload");
        hash.update(claim.0);
        hex::encode(hash.finalize())
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

/// Written to a new file and renamed, so that a crash leaves either no keys or whole ones.
fn make(path: &Path) -> anyhow::Result<Stored> {
    let stored =
        Stored { evidence: hex::encode(random::<32>()), seed: hex::encode(random::<32>()) };
    let draft = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(&stored)?)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn made_once_and_readable_by_the_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = Secrets::open(folder.path(), None).unwrap();
        let again = Secrets::open(folder.path(), None).unwrap();
        assert_eq!(first.evidence.reveal(), again.evidence.reveal());
        assert_eq!(first.csrf("a"), again.csrf("a"));
        assert_ne!(first.csrf("a"), first.csrf("b"));
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn damage_is_said_and_not_papered_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(Secrets::open(folder.path(), None).is_err());
    }
}
