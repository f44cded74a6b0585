//! The data of an installation, wherever it is: the store with its clock, the server's keys,
//! uploads, and the sealed head.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use kernel::directory::Directory;
use store::memory::Memory;
use store::postgres::{ClusterLock, Postgres, PostgresOptions};
use store::sqlite::{DatabaseLocked, Sqlite};
use store::{Clock, Durability, Store, StoreError, StoreHealth};

use crate::database::{DatabaseLocation, DatabaseUrl};
use crate::feed_head;
use crate::files::{Bucket, FileStorage, make_private_folder};
use crate::sealed_head::{HeadFile, Heads, LostEvents, SealedHead};
use crate::vault::Vault;
use crate::vault::shared::MasterKey;

/// Where an installation stores its data, from the settings.
#[derive(Debug, Clone)]
pub struct DataLocation {
    /// The data directory.
    pub data: PathBuf,
    pub database: DatabaseLocation,
    /// The bucket for files, if they are in one.
    pub bucket: Option<Box<Bucket>>,
    /// The key that encrypts the server's keys in a shared database.
    pub master_key: Option<MasterKey>,
}

/// An open installation.
pub struct Installation {
    pub store: Arc<dyn Store>,
    /// The clock: that of the database if nodes share one.
    pub clock: Arc<dyn Clock>,
    /// The server's own keys.
    pub vault: Arc<Vault>,
    pub files: FileStorage,
    /// The block that was sealed last.
    pub mark: HeadFile,
    /// The file with the head of the feed: the same file, except on nodes that share a database.
    pub head: HeadFile,
    /// The database, if nodes share one.
    shared: Option<Arc<Postgres>>,
}

impl Installation {
    /// Opens the installation in the settings, and creates what does not exist yet. A clock that
    /// was set explicitly is used for everything.
    pub async fn open(
        place: &DataLocation,
        clock: Arc<dyn Clock>,
        set: bool,
    ) -> anyhow::Result<Self> {
        match &place.database {
            DatabaseLocation::Memory => Ok(Self {
                store: Arc::new(Memory::new(Arc::clone(&clock))),
                clock,
                vault: Arc::new(Vault::memory()),
                files: FileStorage::ephemeral(),
                mark: HeadFile::none(),
                head: HeadFile::none(),
                shared: None,
            }),
            DatabaseLocation::Sqlite(path) => {
                make_private_folder(&place.data)?;
                let mark = HeadFile::of(&place.data);
                check_head_before_opening(path, &mark).await?;
                let store = Sqlite::open(path, Arc::clone(&clock)).map_err(|error| {
                    let what = match &error {
                        StoreError::Unavailable(why) if why.is::<DatabaseLocked>() => format!(
                            "another Countersign process is using {}; stop it, or connect to it \
                             with --url",
                            path.display()
                        ),
                        _ => format!("cannot open {}", path.display()),
                    };
                    anyhow::Error::from(error).context(what)
                })?;
                let home = Self {
                    store: Arc::new(store),
                    clock,
                    vault: Arc::new(Vault::folder_with(&place.data, place.master_key.clone())),
                    files: match &place.bucket {
                        Some(bucket) => FileStorage::bucket(bucket, None)?,
                        None => FileStorage::open(&place.data.join("files"))?,
                    },
                    head: mark.clone(),
                    mark,
                    shared: None,
                };
                home.require_keys().await?;
                home.vault.adopt_master()?;
                require_head(&home.store, &home.head).await?;
                Ok(home)
            }
            DatabaseLocation::Postgres(url) => {
                // Before anything is created: a node that cannot start leaves no trace.
                let master = require_master_key(place)?;
                let given = set.then(|| Arc::clone(&clock));
                let options = PostgresOptions { clock: given, ..PostgresOptions::default() };
                let store = Arc::new(open_shared(url, options).await?);
                report_durability(&store).await?;
                let home = Self {
                    clock: if set { clock } else { store.clock() },
                    vault: Arc::new(Vault::shared(Arc::clone(&store), master)),
                    files: match &place.bucket {
                        Some(bucket) => FileStorage::bucket(bucket, Some(Arc::clone(&store)))?,
                        None => FileStorage::shared(Arc::clone(&store)),
                    },
                    store: Arc::clone(&store) as Arc<dyn Store>,
                    shared: Some(store),
                    // Nodes are replaceable. The anchor command stores their
                    // sealed blocks elsewhere.
                    mark: HeadFile::none(),
                    head: HeadFile::of_node(&place.data),
                };
                home.report_lost_events().await?;
                Ok(home)
            }
        }
    }

    /// Fails if the server's keys are missing and the database is not new: with other keys the
    /// server could neither prove its earlier signatures nor decrypt its stored data.
    pub async fn require_keys(&self) -> anyhow::Result<()> {
        let place = self.vault.description();
        let keys = self.vault.read().await.with_context(|| {
            format!(
                "the server's keys cannot be read: restore {place} from a backup of this \
                 installation, or make it readable for the user that runs the server"
            )
        })?;
        if keys.is_some() || self.store.last_position().await? == 0 {
            return Ok(());
        }
        bail!(
            "there are no server keys in {place}, but the database has data: restore the keys \
             from a backup of this installation, or set --data to the folder that belongs to this \
             database. If the keys are permanently lost, start once with --new-server-keys: \
             earlier receipts and blocks can then be verified only with saved public keys, and \
             data encrypted with the old keys cannot be read"
        );
    }

    /// Reports that a shared database has lost events. The node continues, because other nodes do
    /// so too. The loss is logged and recorded, and `audit verify` on this node reports it.
    async fn report_lost_events(&self) -> anyhow::Result<()> {
        let Some(head) = self.head.load()?.head else { return Ok(()) };
        let foreign = feed_head::is_foreign(&self.store, head).await?;
        let loss = feed_head::loss_since(&self.store, head).await?.filter(|_| !foreign);
        if let Some(loss) = &loss {
            tracing::error!(
                from = loss.from,
                to = loss.to,
                %loss,
                "the database lost acknowledged events; check its replication and backups"
            );
        }
        if loss.is_some() || foreign {
            let newest = feed_head::current_head(&self.store).await?;
            self.head.change(|marked| {
                if foreign {
                    marked.lost.clear();
                }
                marked.lost.extend(loss);
                marked.head = newest;
            })?;
        }
        Ok(())
    }

    /// Waits until no other node is starting, and makes others wait until it is dropped, so that
    /// only one first start happens.
    pub async fn start_lock(&self) -> anyhow::Result<Option<ClusterLock>> {
        let Some(shared) = &self.shared else { return Ok(None) };
        let lock = shared.lock("start").await;
        Ok(Some(lock.context("another node is starting and has not finished in time")?))
    }
}

/// Checks the head of the feed without changing anything. A store that is opened for writing
/// merges its log into the file when it is closed, which would destroy data that could be
/// examined or restored.
async fn check_head_before_opening(path: &Path, mark: &HeadFile) -> anyhow::Result<()> {
    let Some(head) = mark.load()?.head else { return Ok(()) };
    if !path.exists() {
        return refuse_loss(&feed_head::total_loss(head));
    }
    // A store of an earlier version is checked after it is opened.
    let Ok(store) = Sqlite::open_to_check(path) else { return Ok(()) };
    require_head(&(Arc::new(store) as Arc<dyn Store>), mark).await
}

/// Fails if the database has lost acknowledged events.
async fn require_head(store: &Arc<dyn Store>, mark: &HeadFile) -> anyhow::Result<()> {
    let Some(head) = mark.load()?.head else { return Ok(()) };
    match feed_head::loss_since(store, head).await? {
        Some(loss) => refuse_loss(&loss),
        None => Ok(()),
    }
}

fn refuse_loss(loss: &LostEvents) -> anyhow::Result<()> {
    bail!(
        "{loss}. The database is older than the events that were acknowledged here, or damaged: \
         keep its files, check the disk, and restore a backup; see docs/audit.md, \"Acknowledged \
         events that are missing\". To continue without these events, start once with --accept-loss"
    )
}

/// Logs how durable commits are.
async fn report_durability(store: &Postgres) -> anyhow::Result<()> {
    let Some(found) = store.durability().await? else { return Ok(()) };
    for warning in found.warnings() {
        tracing::warn!("{warning}");
    }
    let Durability { fsync, full_page_writes, synchronous_commit, synchronous_standby_names } =
        found;
    tracing::info!(
        fsync,
        full_page_writes,
        synchronous_commit,
        synchronous_standby_names,
        "durability settings of the database"
    );
    Ok(())
}

/// Creates new keys for an installation that lost them. Refused while there are any.
pub async fn new_keys(place: &DataLocation) -> anyhow::Result<()> {
    let vault = vault(place, KeyAccess::Change).await?;
    let place = vault.description();
    ensure!(
        vault.read().await?.is_none(),
        "there are server keys in {place}: start without --new-server-keys, or move the keys away \
         first"
    );
    vault.change(|_| Ok(())).await?;
    tracing::warn!(
        place,
        "created new server keys; receipts and blocks signed with the old keys can no longer be \
         verified with this server's keys"
    );
    Ok(())
}

/// Accepts that events are lost, so that a server can start on the database as it is. The
/// loss stays recorded.
pub async fn accept_loss(place: &DataLocation) -> anyhow::Result<()> {
    let mark = HeadFile::of(&place.data);
    let marked = mark.load()?;
    if let (DatabaseLocation::Sqlite(path), Some(head)) = (&place.database, marked.head)
        && !path.exists()
    {
        let loss = feed_head::total_loss(head);
        tracing::error!(from = loss.from, to = loss.to, %loss, "an operator accepted a loss");
        return mark.change(|marked| {
            *marked = Heads { lost: marked.lost.clone(), ..Heads::default() };
            marked.lost.push(LostEvents { accepted: true, ..loss });
        });
    }
    let store = open_read_only(place).await?;
    let loss = match marked.head {
        Some(head) => feed_head::loss_since(&store, head).await?,
        None => None,
    };
    let Some(loss) = loss else {
        bail!("no events are missing: start without --accept-loss");
    };
    let newest = feed_head::current_head(&store).await?;
    let block = store.block(store::BlockQuery::Last).await?.map(|sealed| sealed.block);
    let block = block.map(|block| SealedHead { n: block.n, hash: block.hash() });
    tracing::error!(from = loss.from, to = loss.to, %loss, "an operator accepted a loss");
    mark.change(|marked| {
        marked.lost.push(LostEvents { accepted: true, ..loss });
        marked.head = newest;
        // Blocks that cover lost events are lost too. Sealing continues after the remaining ones.
        let there = |kept: &SealedHead| block.is_some_and(|last| kept.n <= last.n);
        marked.sealed = marked.sealed.filter(there).or(block);
    })
}

/// Opens a store for reading, whether or not servers run on it. Creates and changes nothing.
pub async fn open_read_only(place: &DataLocation) -> anyhow::Result<Arc<dyn Store>> {
    match &place.database {
        DatabaseLocation::Memory => {
            bail!("a database in memory cannot be opened by another process")
        }
        DatabaseLocation::Sqlite(path) => {
            if !path.exists() {
                bail!("database not found at {}", path.display());
            }
            Ok(Arc::new(Sqlite::open_to_check(path)?))
        }
        DatabaseLocation::Postgres(url) => Ok(Arc::new(open_existing(url).await?)),
    }
}

/// The current directory, whether or not servers run.
pub async fn directory(place: &DataLocation) -> anyhow::Result<Arc<Directory>> {
    match &place.database {
        DatabaseLocation::Memory => {
            bail!("a database in memory cannot be opened by another process")
        }
        DatabaseLocation::Sqlite(path) => Ok(Sqlite::open_read_only(path)?.directory()),
        DatabaseLocation::Postgres(url) => {
            let store = Postgres::open_read_only(url.reveal(), PostgresOptions::default()).await;
            Ok(store.with_context(|| format!("cannot open {url}"))?.directory())
        }
    }
}

/// The server's keys, for reading or for changing, whether or not servers run.
pub async fn vault(place: &DataLocation, to: KeyAccess) -> anyhow::Result<Arc<Vault>> {
    let url = match &place.database {
        DatabaseLocation::Memory => {
            bail!("the database is in memory, and so are the server's keys")
        }
        DatabaseLocation::Sqlite(_) => {
            let master = place.master_key.clone();
            return Ok(Arc::new(Vault::folder_with(&place.data, master)));
        }
        DatabaseLocation::Postgres(url) => url,
    };
    let master = require_master_key(place)?;
    let store = match to {
        KeyAccess::Look => open_existing(url).await?,
        KeyAccess::Change => open_shared(url, PostgresOptions::default()).await?,
    };
    Ok(Arc::new(Vault::shared(Arc::new(store), master)))
}

/// The kind of access to keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAccess {
    /// The caller only reads them.
    Look,
    /// The caller may change them.
    Change,
}

pub async fn open_shared(url: &DatabaseUrl, options: PostgresOptions) -> anyhow::Result<Postgres> {
    Postgres::open(url.reveal(), options).await.with_context(|| format!("cannot open {url}"))
}

async fn open_existing(url: &DatabaseUrl) -> anyhow::Result<Postgres> {
    let store = Postgres::open_to_check(url.reveal(), PostgresOptions::default()).await;
    store.with_context(|| format!("cannot open {url}"))
}

pub fn require_master_key(place: &DataLocation) -> anyhow::Result<MasterKey> {
    place.master_key.clone().context(
        "master_key: nodes that share a database need the same master_key; create one with \
         `openssl rand -base64 32`",
    )
}
