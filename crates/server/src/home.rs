//! What an installation keeps, wherever it keeps it: the store with its clock, the server's keys,
//! uploads, and the mark of the newest block.

use std::sync::Arc;

use anyhow::{Context, bail};
use kernel::directory::Directory;
use store::memory::Memory;
use store::postgres::{Options, Postgres, Turn};
use store::sqlite::{Locked, Sqlite};
use store::{Clock, Store, StoreError};

use crate::config::{Config, Database, DatabaseUrl};
use crate::files::{Files, make_private_folder};
use crate::mark::Mark;
use crate::vault::Vault;
use crate::vault::shared::MasterKey;

/// An installation, opened.
pub struct Home {
    /// The data.
    pub store: Arc<dyn Store>,
    /// What says when it is: the database's clock where many nodes share one.
    pub clock: Arc<dyn Clock>,
    /// The server's own keys.
    pub vault: Arc<Vault>,
    /// Uploads.
    pub files: Files,
    /// What was sealed here last.
    pub mark: Mark,
    /// The database, where nodes share one.
    shared: Option<Arc<Postgres>>,
}

impl Home {
    /// Opens what the settings name, and makes what is not there yet. A clock that was set on purpose
    /// is the clock of everything.
    pub async fn open(config: &Config, clock: Arc<dyn Clock>, set: bool) -> anyhow::Result<Self> {
        match &config.database {
            Database::Memory => Ok(Self {
                store: Arc::new(Memory::new(Arc::clone(&clock))),
                clock,
                vault: Arc::new(Vault::memory()),
                files: Files::ephemeral(),
                mark: Mark::none(),
                shared: None,
            }),
            Database::Sqlite(path) => {
                make_private_folder(&config.data)?;
                let store = Sqlite::open(path, Arc::clone(&clock)).map_err(|error| {
                    let what = match &error {
                        StoreError::Unavailable(why) if why.is::<Locked>() => format!(
                            "another countersign uses {}; stop it, or talk to it with --url",
                            path.display()
                        ),
                        _ => format!("cannot open {}", path.display()),
                    };
                    anyhow::Error::from(error).context(what)
                })?;
                Ok(Self {
                    store: Arc::new(store),
                    clock,
                    vault: Arc::new(Vault::folder(&config.data)),
                    files: match &config.bucket {
                        Some(bucket) => Files::bucket(bucket, None)?,
                        None => Files::open(&config.data.join("files"))?,
                    },
                    mark: Mark::of(&config.data),
                    shared: None,
                })
            }
            Database::Postgres(url) => {
                // Before anything is made there: a node that cannot serve leaves no trace.
                let master = master(config)?;
                let given = set.then(|| Arc::clone(&clock));
                let options = Options { clock: given, ..Options::default() };
                let store = Arc::new(joined(url, options).await?);
                Ok(Self {
                    clock: if set { clock } else { store.clock() },
                    vault: Arc::new(Vault::shared(Arc::clone(&store), master)),
                    files: match &config.bucket {
                        Some(bucket) => Files::bucket(bucket, Some(Arc::clone(&store)))?,
                        None => Files::shared(Arc::clone(&store)),
                    },
                    store: Arc::clone(&store) as Arc<dyn Store>,
                    shared: Some(store),
                    // Nodes come and go; what they sealed is kept elsewhere by the anchor command.
                    mark: Mark::none(),
                })
            }
        }
    }

    /// Waits until no other node is just starting, and keeps them waiting until it is dropped: what
    /// the first start makes is made once.
    pub async fn turn(&self) -> anyhow::Result<Option<Turn>> {
        let Some(shared) = &self.shared else { return Ok(None) };
        let turn = shared.turn("start").await;
        Ok(Some(turn.context("another node is starting and does not finish")?))
    }
}

/// Opens a store only to look at it, whether or not servers run on it. Nothing is made or changed.
pub async fn look(config: &Config) -> anyhow::Result<Arc<dyn Store>> {
    match &config.database {
        Database::Memory => bail!("there is nothing to look at: the database is in memory"),
        Database::Sqlite(path) => {
            if !path.exists() {
                bail!("there is no database at {}", path.display());
            }
            Ok(Arc::new(Sqlite::open_to_check(path)?))
        }
        Database::Postgres(url) => Ok(Arc::new(existing(url).await?)),
    }
}

/// Who and what there is at this moment, whether or not servers run.
pub async fn directory(config: &Config) -> anyhow::Result<Arc<Directory>> {
    match &config.database {
        Database::Memory => bail!("there is nothing to look at: the database is in memory"),
        Database::Sqlite(path) => Ok(Sqlite::open_read_only(path)?.directory()),
        Database::Postgres(url) => {
            let store = Postgres::open_read_only(url.reveal(), Options::default()).await;
            Ok(store.with_context(|| format!("cannot open {url}"))?.directory())
        }
    }
}

/// The server's keys, whether or not servers run: to look at them only, or to change them too.
pub async fn vault(config: &Config, to: Access) -> anyhow::Result<Arc<Vault>> {
    let url = match &config.database {
        Database::Memory => bail!("the database is in memory, and so are the server's keys"),
        Database::Sqlite(_) => return Ok(Arc::new(Vault::folder(&config.data))),
        Database::Postgres(url) => url,
    };
    let master = master(config)?;
    let store = match to {
        Access::Look => existing(url).await?,
        Access::Change => joined(url, Options::default()).await?,
    };
    Ok(Arc::new(Vault::shared(Arc::new(store), master)))
}

/// What somebody wants with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// See them.
    Look,
    /// Change them.
    Change,
}

pub(crate) async fn joined(url: &DatabaseUrl, options: Options) -> anyhow::Result<Postgres> {
    Postgres::open(url.reveal(), options).await.with_context(|| format!("cannot open {url}"))
}

async fn existing(url: &DatabaseUrl) -> anyhow::Result<Postgres> {
    let store = Postgres::open_to_check(url.reveal(), Options::default()).await;
    store.with_context(|| format!("cannot open {url}"))
}

pub(crate) fn master(config: &Config) -> anyhow::Result<MasterKey> {
    config.master_key.clone().context(
        "master_key: nodes that share a database need the same one, to share the server's keys; \
         make it with `openssl rand -base64 32`",
    )
}
