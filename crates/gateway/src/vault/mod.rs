//! The storage of the server's own keys. With the embedded store, they are in a file, and the
//! private signing keys in it are encrypted under a key in another file. Nodes that share a
//! database keep them in one of its rows, encrypted under a key that is not in the database.

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

/// The stored content.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct VaultContent {
    pub evidence: String,
    pub seed: String,
    /// The signing keys for receipts, oldest first. Earlier versions had none.
    #[serde(default)]
    pub(crate) signing: Vec<StoredKey>,
    /// Fields of later versions are preserved.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl VaultContent {
    fn generate() -> Self {
        let drawn = || hex::encode(random::<32>());
        Self { evidence: drawn(), seed: drawn(), signing: Vec::new(), rest: Map::new() }
    }
}

/// The storage of the keys.
pub enum Vault {
    /// In memory, lost with the process.
    Memory(MemoryKeys),
    /// A file that only its owner can read.
    Folder(KeyFile),
    /// A row of the shared database.
    Shared(SharedKeys),
}

/// Keys in memory, lost with the process.
#[derive(Default)]
pub struct MemoryKeys(Mutex<Option<VaultContent>>);

impl Vault {
    /// The keys of a process that stores nothing.
    pub fn memory() -> Self {
        Self::Memory(MemoryKeys::default())
    }

    /// The keys in a data directory that contains its own master key.
    pub fn folder(data: &Path) -> Self {
        Self::Folder(KeyFile::of(data, None))
    }

    /// The keys in a data directory, with the master key from the settings if there is one.
    pub fn folder_with(data: &Path, master: Option<MasterKey>) -> Self {
        Self::Folder(KeyFile::of(data, master))
    }

    /// The keys of nodes that share a database.
    pub fn shared(store: Arc<Postgres>, master: MasterKey) -> Self {
        Self::Shared(SharedKeys::new(store, master))
    }

    /// The stored content, if there is any.
    pub async fn read(&self) -> anyhow::Result<Option<VaultContent>> {
        match self {
            Self::Memory(keys) => Ok(keys.lock().clone()),
            Self::Folder(file) => file.read(),
            Self::Shared(keys) => Ok(keys.read().await?.map(|(_, stored)| stored)),
        }
    }

    /// Reads or creates the content, applies a change, and stores it if it differs. The change may
    /// be called again if another node was faster.
    pub async fn change<T>(
        &self,
        mut change: impl FnMut(&mut VaultContent) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self {
            Self::Memory(keys) => {
                let mut held = keys.lock();
                let mut stored = held.clone().unwrap_or_else(VaultContent::generate);
                let changed = change(&mut stored)?;
                *held = Some(stored);
                Ok(changed)
            }
            Self::Folder(file) => file.change(change),
            Self::Shared(keys) => keys.change(&mut change).await,
        }
    }

    /// Encrypts the signing keys of a data directory under the master key from the settings, if
    /// there is one.
    pub fn adopt_master(&self) -> anyhow::Result<()> {
        match self {
            Self::Folder(file) => file.adopt(),
            Self::Memory(_) | Self::Shared(_) => Ok(()),
        }
    }

    /// Encrypts the keys under another master key, which every server needs from now on.
    pub async fn rewrap(&self, next: &MasterKey) -> anyhow::Result<()> {
        match self {
            Self::Memory(_) => bail!("the keys are in the memory of another process"),
            Self::Folder(file) => file.rewrap(next),
            Self::Shared(keys) => keys.rewrap(next).await,
        }
    }

    /// The name of the place in a message.
    pub fn description(&self) -> String {
        match self {
            Self::Memory(_) => "the memory of this process".to_owned(),
            Self::Folder(file) => file.path().display().to_string(),
            Self::Shared(_) => "the database's server keys record".to_owned(),
        }
    }

    pub fn damaged(&self) -> String {
        format!("{} is damaged", self.description())
    }
}

impl MemoryKeys {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<VaultContent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
