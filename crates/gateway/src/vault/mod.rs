//! Where the server's own keys lie: in a file beside the embedded store, the private signing keys in it
//! encrypted under a key of another file; for many nodes in a row of the database they share, encrypted
//! under a key that is not in it.

pub mod cipher;
pub mod file;
pub mod shared;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::postgres::Postgres;

use crate::ids::random;
use crate::key_ring::StoredKey;
use file::KeyFile;
use shared::{MasterKey, SharedKeys};

/// Everything that lies there.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    pub evidence: String,
    pub seed: String,
    /// What receipts are signed with, oldest first. Earlier versions had none.
    #[serde(default)]
    pub(crate) signing: Vec<StoredKey>,
    /// What later versions keep here is kept.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Stored {
    fn fresh() -> Self {
        let drawn = || hex::encode(random::<32>());
        Self { evidence: drawn(), seed: drawn(), signing: Vec::new(), rest: Map::new() }
    }
}

/// One of the places.
pub enum Vault {
    /// As long as the process lives.
    Memory(MemoryKeys),
    /// A file only its owner can read.
    Folder(KeyFile),
    /// A row of the shared database.
    Shared(SharedKeys),
}

/// Keys that are gone with the process.
#[derive(Default)]
pub struct MemoryKeys(Mutex<Option<Stored>>);

impl Vault {
    /// Of a process that keeps nothing.
    pub fn memory() -> Self {
        Self::Memory(MemoryKeys::default())
    }

    /// Of a data folder that has its master key itself.
    pub fn folder(data: &Path) -> Self {
        Self::Folder(KeyFile::of(data, None))
    }

    /// Of a data folder, with the master key of the settings if there is one.
    pub fn folder_with(data: &Path, master: Option<MasterKey>) -> Self {
        Self::Folder(KeyFile::of(data, master))
    }

    /// Of nodes that share a database.
    pub fn shared(store: Arc<Postgres>, master: MasterKey) -> Self {
        Self::Shared(SharedKeys::new(store, master))
    }

    /// What is there, if anything ever was.
    pub async fn read(&self) -> anyhow::Result<Option<Stored>> {
        match self {
            Self::Memory(keys) => Ok(keys.held().clone()),
            Self::Folder(file) => file.read(),
            Self::Shared(keys) => Ok(keys.read().await?.map(|(_, stored)| stored)),
        }
    }

    /// Reads what is there or makes it, lets it be changed, and puts it back if it was. The change
    /// may be asked for again if another node was faster.
    pub async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Stored) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self {
            Self::Memory(keys) => {
                let mut held = keys.held();
                let mut stored = held.clone().unwrap_or_else(Stored::fresh);
                let changed = change(&mut stored)?;
                *held = Some(stored);
                Ok(changed)
            }
            Self::Folder(file) => file.change(change),
            Self::Shared(keys) => keys.change(&mut change).await,
        }
    }

    /// Has the signing keys of a data folder encrypted under the master key of the settings from now on,
    /// if there is one.
    pub fn adopt_master(&self) -> anyhow::Result<()> {
        match self {
            Self::Folder(file) => file.adopt(),
            Self::Memory(_) | Self::Shared(_) => Ok(()),
        }
    }

    /// Encrypts the keys under another master key, from now on the one to give to every server.
    pub async fn rewrap(&self, next: &MasterKey) -> anyhow::Result<()> {
        match self {
            Self::Memory(_) => bail!("the keys are in the memory of a process"),
            Self::Folder(file) => file.rewrap(next),
            Self::Shared(keys) => keys.rewrap(next).await,
        }
    }

    /// What it is called in a message.
    pub fn place(&self) -> String {
        match self {
            Self::Memory(_) => "the memory of this process".to_owned(),
            Self::Folder(file) => file.path().display().to_string(),
            Self::Shared(_) => "the database's row of server keys".to_owned(),
        }
    }

    pub fn damaged(&self) -> String {
        format!("{} is damaged", self.place())
    }
}

impl MemoryKeys {
    fn held(&self) -> std::sync::MutexGuard<'_, Option<Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
