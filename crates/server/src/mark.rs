//! The newest block that was sealed here, in a file beside the keys. Who can write the database alone
//! could otherwise take blocks away, write another history, and have it sealed like any other.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use kernel::audit::Digest;
use serde::{Deserialize, Serialize};

use crate::vault::file::replace_file;

const FILE: &str = "sealed.json";

/// A block by number and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// Its number.
    pub n: u64,
    /// Its hash.
    pub hash: Digest,
}

/// Where the newest block is written down; nowhere if nothing outlives the process.
pub struct Mark {
    path: Option<PathBuf>,
}

impl Mark {
    /// The file of a data folder.
    pub fn of(data: &Path) -> Self {
        Self { path: Some(data.join(FILE)) }
    }

    /// For a store that lives as long as its process.
    pub fn none() -> Self {
        Self { path: None }
    }

    /// The block that was written down.
    pub fn read(&self) -> anyhow::Result<Option<Sealed>> {
        let Some(path) = &self.path else { return Ok(None) };
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes down a newer one.
    pub fn write(&self, sealed: Sealed) -> anyhow::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        replace_file(path, &serde_json::to_vec(&sealed)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_a_damaged_one_is_no_licence() {
        let folder = tempfile::tempdir().unwrap();
        let mark = Mark::of(folder.path());
        assert_eq!(mark.read().unwrap(), None);
        for n in [1, 2] {
            let sealed = Sealed { n, hash: Digest::of(&[7]) };
            mark.write(sealed).unwrap();
            assert_eq!(mark.read().unwrap(), Some(sealed));
        }
        std::fs::write(folder.path().join(FILE), "{}").unwrap();
        assert!(mark.read().unwrap_err().to_string().contains("is damaged"));
        Mark::none().write(Sealed { n: 1, hash: Digest::ZERO }).unwrap();
        assert_eq!(Mark::none().read().unwrap(), None);
    }
}
