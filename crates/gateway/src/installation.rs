//! What an installation keeps, wherever it keeps it: the store with its clock, the server's keys,
//! uploads, and the mark of the newest block.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use kernel::directory::Directory;
use store::memory::Memory;
use store::postgres::{Options, Postgres, Turn};
use store::sqlite::{Locked, Sqlite};
use store::{Clock, Durability, Health, Store, StoreError};

use crate::database::{Database, DatabaseUrl};
use crate::feed_head;
use crate::files::{Bucket, Files, make_private_folder};
use crate::sealed_head::{HeadFile, Heads, Loss, Sealed};
use crate::vault::Vault;
use crate::vault::shared::MasterKey;

/// Where an installation keeps its data, as the settings say.
#[derive(Debug, Clone)]
pub struct DataLocation {
    /// The data folder.
    pub data: PathBuf,
    /// The store.
    pub database: Database,
    /// The bucket files are kept in, if not beside it.
    pub bucket: Option<Box<Bucket>>,
    /// What the server's keys are encrypted with in a shared one.
    pub master_key: Option<MasterKey>,
}

/// An installation, opened.
pub struct Installation {
    /// The data.
    pub store: Arc<dyn Store>,
    /// What says when it is: the database's clock where many nodes share one.
    pub clock: Arc<dyn Clock>,
    /// The server's own keys.
    pub vault: Arc<Vault>,
    /// Uploads.
    pub files: Files,
    /// What was sealed here last.
    pub mark: HeadFile,
    /// Where the head of the feed is kept: the same file, except on nodes that share a database.
    pub head: HeadFile,
    /// The database, where nodes share one.
    shared: Option<Arc<Postgres>>,
}

impl Installation {
    /// Opens what the settings name, and makes what is not there yet. A clock that was set on purpose
    /// is the clock of everything.
    pub async fn open(
        place: &DataLocation,
        clock: Arc<dyn Clock>,
        set: bool,
    ) -> anyhow::Result<Self> {
        match &place.database {
            Database::Memory => Ok(Self {
                store: Arc::new(Memory::new(Arc::clone(&clock))),
                clock,
                vault: Arc::new(Vault::memory()),
                files: Files::ephemeral(),
                mark: HeadFile::none(),
                head: HeadFile::none(),
                shared: None,
            }),
            Database::Sqlite(path) => {
                make_private_folder(&place.data)?;
                let mark = HeadFile::of(&place.data);
                look_before_opening(path, &mark).await?;
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
                let home = Self {
                    store: Arc::new(store),
                    clock,
                    vault: Arc::new(Vault::folder_with(&place.data, place.master_key.clone())),
                    files: match &place.bucket {
                        Some(bucket) => Files::bucket(bucket, None)?,
                        None => Files::open(&place.data.join("files"))?,
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
            Database::Postgres(url) => {
                // Before anything is made there: a node that cannot serve leaves no trace.
                let master = master(place)?;
                let given = set.then(|| Arc::clone(&clock));
                let options = Options { clock: given, ..Options::default() };
                let store = Arc::new(joined(url, options).await?);
                report_durability(&store).await?;
                let home = Self {
                    clock: if set { clock } else { store.clock() },
                    vault: Arc::new(Vault::shared(Arc::clone(&store), master)),
                    files: match &place.bucket {
                        Some(bucket) => Files::bucket(bucket, Some(Arc::clone(&store)))?,
                        None => Files::shared(Arc::clone(&store)),
                    },
                    store: Arc::clone(&store) as Arc<dyn Store>,
                    shared: Some(store),
                    // Nodes come and go; what they sealed is kept elsewhere by the anchor command.
                    mark: HeadFile::none(),
                    head: HeadFile::of_node(&place.data),
                };
                home.report_lost().await?;
                Ok(home)
            }
        }
    }

    /// Refuses to go on where the server's keys are gone and the database is not new: with other keys
    /// it could prove nothing of what it signed before, and read nothing that was encrypted.
    pub async fn require_keys(&self) -> anyhow::Result<()> {
        let place = self.vault.place();
        let keys = self.vault.read().await.with_context(|| {
            format!(
                "the server's keys cannot be read: restore {place} from a backup of this \
                 installation, or make it readable for the user the server runs as"
            )
        })?;
        if keys.is_some() || self.store.last_position().await? == 0 {
            return Ok(());
        }
        bail!(
            "there are no server keys in {place}, but the database has a record: restore them from \
             a backup of this installation, or give the --data folder this database belongs to. If \
             they are lost for good, start once with --new-server-keys: receipts and blocks signed \
             before can then be checked only with public keys somebody kept, and what was encrypted \
             with the old keys cannot be read"
        );
    }

    /// A node goes on where the shared database has lost events: other nodes do, too. The loss is
    /// logged and written down, and `audit verify` on this node says it.
    async fn report_lost(&self) -> anyhow::Result<()> {
        let Some(head) = self.head.load()?.head else { return Ok(()) };
        let foreign = feed_head::is_foreign(&self.store, head).await?;
        let loss = feed_head::lost(&self.store, head).await?.filter(|_| !foreign);
        if let Some(loss) = &loss {
            tracing::error!(
                from = loss.from,
                to = loss.to,
                %loss,
                "the database has lost acknowledged events; look at its replication and backups"
            );
        }
        if loss.is_some() || foreign {
            let newest = feed_head::newest(&self.store).await?;
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

    /// Waits until no other node is just starting, and keeps them waiting until it is dropped: what
    /// the first start makes is made once.
    pub async fn turn(&self) -> anyhow::Result<Option<Turn>> {
        let Some(shared) = &self.shared else { return Ok(None) };
        let turn = shared.turn("start").await;
        Ok(Some(turn.context("another node is starting and does not finish")?))
    }
}

/// Checks the head of the feed without changing anything: a store that is opened for writing takes its
/// log into the file when it is closed, and what could be looked at or restored would be gone.
async fn look_before_opening(path: &Path, mark: &HeadFile) -> anyhow::Result<()> {
    let Some(head) = mark.load()?.head else { return Ok(()) };
    if !path.exists() {
        return refuse_loss(&feed_head::everything(head));
    }
    // One of an earlier version is checked once it is opened.
    let Ok(store) = Sqlite::open_to_check(path) else { return Ok(()) };
    require_head(&(Arc::new(store) as Arc<dyn Store>), mark).await
}

/// Refuses to go on where the database has lost events that were acknowledged.
async fn require_head(store: &Arc<dyn Store>, mark: &HeadFile) -> anyhow::Result<()> {
    let Some(head) = mark.load()?.head else { return Ok(()) };
    match feed_head::lost(store, head).await? {
        Some(loss) => refuse_loss(&loss),
        None => Ok(()),
    }
}

fn refuse_loss(loss: &Loss) -> anyhow::Result<()> {
    bail!(
        "{loss}. The database is older than what was acknowledged here, or damaged: keep its files, \
         look at the disk, and restore a backup; see docs/audit.md, \"Acknowledged events that are \
         missing\". To go on without these events, start once with --accept-loss"
    )
}

/// Says in the log how durable commits are.
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

/// Makes new keys for an installation that lost them. Refused while there are any.
pub async fn new_keys(place: &DataLocation) -> anyhow::Result<()> {
    let vault = vault(place, Access::Change).await?;
    let place = vault.place();
    ensure!(
        vault.read().await?.is_none(),
        "there are server keys in {place}: start without --new-server-keys, or move them away first"
    );
    vault.change(|_| Ok(())).await?;
    tracing::warn!(place, "made new server keys; what was signed with the old ones is not proven");
    Ok(())
}

/// Accepts that events are lost, so that a server can start on the database as it is. What was lost
/// stays written down.
pub async fn accept_loss(place: &DataLocation) -> anyhow::Result<()> {
    let mark = HeadFile::of(&place.data);
    let marked = mark.load()?;
    if let (Database::Sqlite(path), Some(head)) = (&place.database, marked.head)
        && !path.exists()
    {
        let loss = feed_head::everything(head);
        tracing::error!(from = loss.from, to = loss.to, %loss, "an operator accepted a loss");
        return mark.change(|marked| {
            *marked = Heads { lost: marked.lost.clone(), ..Heads::default() };
            marked.lost.push(Loss { accepted: true, ..loss });
        });
    }
    let store = look(place).await?;
    let loss = match marked.head {
        Some(head) => feed_head::lost(&store, head).await?,
        None => None,
    };
    let Some(loss) = loss else {
        bail!("nothing is lost here: start without --accept-loss");
    };
    let newest = feed_head::newest(&store).await?;
    let block = store.last_block().await?.map(|sealed| sealed.block);
    let block = block.map(|block| Sealed { n: block.n, hash: block.hash() });
    tracing::error!(from = loss.from, to = loss.to, %loss, "an operator accepted a loss");
    mark.change(|marked| {
        marked.lost.push(Loss { accepted: true, ..loss });
        marked.head = newest;
        // Blocks over what is lost are lost with it, and sealing goes on behind those that are left.
        let there = |kept: &Sealed| block.is_some_and(|last| kept.n <= last.n);
        marked.sealed = marked.sealed.filter(there).or(block);
    })
}

/// Opens a store only to look at it, whether or not servers run on it. Nothing is made or changed.
pub async fn look(place: &DataLocation) -> anyhow::Result<Arc<dyn Store>> {
    match &place.database {
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
pub async fn directory(place: &DataLocation) -> anyhow::Result<Arc<Directory>> {
    match &place.database {
        Database::Memory => bail!("there is nothing to look at: the database is in memory"),
        Database::Sqlite(path) => Ok(Sqlite::open_read_only(path)?.directory()),
        Database::Postgres(url) => {
            let store = Postgres::open_read_only(url.reveal(), Options::default()).await;
            Ok(store.with_context(|| format!("cannot open {url}"))?.directory())
        }
    }
}

/// The server's keys, whether or not servers run: to look at them only, or to change them too.
pub async fn vault(place: &DataLocation, to: Access) -> anyhow::Result<Arc<Vault>> {
    let url = match &place.database {
        Database::Memory => bail!("the database is in memory, and so are the server's keys"),
        Database::Sqlite(_) => {
            let master = place.master_key.clone();
            return Ok(Arc::new(Vault::folder_with(&place.data, master)));
        }
        Database::Postgres(url) => url,
    };
    let master = master(place)?;
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

pub async fn joined(url: &DatabaseUrl, options: Options) -> anyhow::Result<Postgres> {
    Postgres::open(url.reveal(), options).await.with_context(|| format!("cannot open {url}"))
}

async fn existing(url: &DatabaseUrl) -> anyhow::Result<Postgres> {
    let store = Postgres::open_to_check(url.reveal(), Options::default()).await;
    store.with_context(|| format!("cannot open {url}"))
}

pub fn master(place: &DataLocation) -> anyhow::Result<MasterKey> {
    place.master_key.clone().context(
        "master_key: nodes that share a database need the same one, to share the server's keys; \
         make it with `openssl rand -base64 32`",
    )
}
