//! Where the server's own keys lie: in a file beside the embedded store; for many nodes in a row of
//! the database they share, encrypted under a key that is not in it.

pub(crate) mod cipher;
pub(crate) mod file;
pub(crate) mod shared;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::postgres::Postgres;

use crate::ids::random;
use crate::signing::ring::StoredKey;
use file::KeyFile;
use shared::{MasterKey, SharedKeys};

/// Everything that lies there.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) evidence: String,
    pub(crate) seed: String,
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

    /// Of a data folder.
    pub fn folder(data: &Path) -> Self {
        Self::Folder(KeyFile::of(data))
    }

    /// Of nodes that share a database.
    pub(crate) fn shared(store: Arc<Postgres>, master: MasterKey) -> Self {
        Self::Shared(SharedKeys::new(store, master))
    }

    /// What is there, if anything ever was.
    pub(crate) async fn read(&self) -> anyhow::Result<Option<Stored>> {
        match self {
            Self::Memory(keys) => Ok(keys.held().clone()),
            Self::Folder(file) => file.read(),
            Self::Shared(keys) => Ok(keys.read().await?.map(|(_, stored)| stored)),
        }
    }

    /// Reads what is there or makes it, lets it be changed, and puts it back if it was. The change
    /// may be asked for again if another node was faster.
    pub(crate) async fn change<T>(
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

    /// What it is called in a message.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Memory(_) => "the memory of this process".to_owned(),
            Self::Folder(file) => file.path().display().to_string(),
            Self::Shared(_) => "the database's row of server keys".to_owned(),
        }
    }

    pub(crate) fn damaged(&self) -> String {
        format!("{} is damaged", self.place())
    }
}

impl MemoryKeys {
    fn held(&self) -> std::sync::MutexGuard<'_, Option<Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
