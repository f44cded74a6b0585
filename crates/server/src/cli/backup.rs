//! `countersign backup`: copies everything a server on SQLite needs into one folder, while the
//! server runs or is stopped, and verifies the copy before it reports success.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use gateway::audit::{AuditBaseline, AuditReport, check};
use gateway::sealed_head::HeadFile;
use gateway::vault::Vault;
use gateway::vault::file::KeyFile;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::Store;
use store::sqlite::Sqlite;

use super::audit::{installed_keys, print_report_text, report_json};
use super::output::{ProgressBar, say};
use super::{Exit, StoredDataArgs};
use crate::config::DatabaseLocation;

const DATABASE: &str = "countersign.db";
const KEYS: &str = "server-keys.json";
const FILES: &str = "files";

#[derive(Args)]
#[command(
    after_help = "The folder is a data folder: `countersign serve --data FOLDER` runs on it.\n\
                  Exits with 0 if the backup was written and is valid, 1 if it was written and is not \
                  valid, 4 if it could not be written."
)]
pub(super) struct BackupArgs {
    #[command(flatten)]
    stored: StoredDataArgs,
    /// The folder to write to; it must not exist, or be empty
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// Skip the database's own integrity check of the copy and the comparison of lists and deadlines
    /// with the requests
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The copied uploads.
#[derive(Default)]
struct CopiedUploads {
    count: u64,
    bytes: u64,
    /// The uploads whose content does not match their digest.
    damaged: Vec<String>,
}

impl BackupArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let config = self.stored.config()?;
        let database = match &config.location.database {
            DatabaseLocation::Sqlite(database) => database,
            DatabaseLocation::Postgres(_) => bail!(
                "the database is PostgreSQL: use pg_dump or your provider's backups, see \
                 docs/operations.md"
            ),
            DatabaseLocation::Memory => {
                bail!("there is nothing to back up: the database is in memory")
            }
        };
        if !database.exists() {
            bail!("there is no database at {}", database.display());
        }
        let keys = config.location.data.join(KEYS);
        if !keys.exists() {
            bail!(
                "there is no {}: name the data folder of this database with --data",
                keys.display()
            );
        }
        let to = free_destination(&self.to)?;
        let parent = to.parent().context("a backup cannot take the place of /")?;
        let mut prefix = to.file_name().unwrap_or_default().to_owned();
        prefix.push(".partial-");
        // Written next to the destination under a temporary name until it is complete; an
        // error deletes it.
        let draft = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .with_context(|| format!("cannot create a folder in {}", parent.display()))?;
        let folder = draft.path();

        // The order matters while a server writes. Nothing is ever reverted, so each part is copied
        // before the parts that it refers to:
        // 1. the newest block and the head of the feed: they are written after the data they name, so
        //    a database copied later contains that. Newer ones would keep the restored server from
        //    starting;
        // 2. the database;
        // 3. the signing keys: a key is stored before it signs, so every block of the copy has its
        //    key;
        // 4. the uploads: a file is stored before an answer names it.
        let (started, mut bar) = (Instant::now(), ProgressBar::new());
        let marked = HeadFile::of(&config.location.data).load()?;
        HeadFile::of(folder).change(|copy| copy.clone_from(&marked))?;
        let copy = folder.join(DATABASE);
        Sqlite::backup(database, &copy, &mut |done, all| bar.copied("database", done, all))
            .with_context(|| format!("cannot copy {}", database.display()))?;
        KeyFile::of(&config.location.data, None).copy_to(folder)?;
        // A bucket has its own backups, so its contents are not copied here.
        let uploads = match &config.location.bucket {
            Some(_) => CopiedUploads::default(),
            None => copy_uploads(&config.location.data.join(FILES), &folder.join(FILES), &mut bar)?,
        };
        sync(folder)?;
        let copied = started.elapsed();

        let checking = Instant::now();
        let store: Arc<dyn Store> = Arc::new(Sqlite::open_to_check(&copy)?);
        let keys = installed_keys(Arc::new(Vault::folder(folder)), &store).await?;
        let known = marked.sealed.map(|sealed| (sealed.n, sealed.hash));
        let against = AuditBaseline { keys, known, marked, quick: self.quick };
        let report = check(&store, &against, &mut |progress| bar.checked(progress)).await?;
        drop(store);
        drop(bar);

        // Keep a backup that fails verification too: it may be the only copy.
        let bytes = fs::metadata(&copy)?.len();
        fs::rename(folder, &to).with_context(|| format!("cannot create {}", to.display()))?;
        let _ = draft.keep();
        sync(parent)?;
        let (checked, elsewhere) =
            (checking.elapsed(), config.location.bucket.map(|at| at.to_string()));
        let done = FinishedBackup { to: &to, bytes, uploads, elsewhere, copied, report, checked };
        Ok(done.print_result(self.json))
    }
}

/// The destination, if it is free.
fn free_destination(to: &Path) -> anyhow::Result<PathBuf> {
    let context = || format!("cannot use {}", to.display());
    let mut inside = match fs::read_dir(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return absolute(to).with_context(context);
        }
        inside => inside.with_context(context)?,
    };
    if inside.next().is_some() {
        bail!("{} is not empty: name a folder that does not exist yet", to.display());
    }
    let to = to.canonicalize().with_context(context)?;
    // A mount point cannot be replaced by a rename.
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev());
    if let Some(parent) = to.parent()
        && device(&to)? != device(parent)?
    {
        bail!("{} is a mount point: name a folder in it", to.display());
    }
    Ok(to)
}

/// Copies every upload. An unfinished one has another kind of name, and nothing refers to it.
fn copy_uploads(from: &Path, to: &Path, bar: &mut ProgressBar) -> anyhow::Result<CopiedUploads> {
    let found = stored_uploads(from)?;
    let path = |root: &Path, (folder, name): &(String, String)| root.join(folder).join(name);
    let mut total = 0;
    for upload in &found {
        total += fs::metadata(path(from, upload))?.len();
    }
    let mut uploads = CopiedUploads::default();
    private_folder(to)?;
    for upload in &found {
        private_folder(&to.join(&upload.0))?;
        let (bytes, digest) = copy_file(&path(from, upload), &path(to, upload))?;
        uploads.count += 1;
        uploads.bytes += bytes;
        let name = format!("{}{}", upload.0, upload.1);
        if digest != name {
            uploads.damaged.push(name);
        }
        bar.copied("uploads", uploads.bytes, total);
    }
    for folder in names(to)? {
        sync(&to.join(folder))?;
    }
    sync(to)?;
    Ok(uploads)
}

/// Every upload of a folder: the two parts of its digest.
pub(super) fn stored_uploads(from: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for folder in names(from)?.into_iter().filter(|name| name.len() == 2) {
        let inside = names(&from.join(&folder))?.into_iter().filter(|name| name.len() == 62);
        found.extend(inside.map(|name| (folder.clone(), name)));
    }
    Ok(found)
}

/// The names in a folder that could be parts of a digest, in order; none if the folder
/// does not exist.
fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let context = || format!("cannot read {}", folder.display());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(context)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.with_context(context)?.file_name();
        let hex = |name: &str| name.bytes().all(|byte| byte.is_ascii_hexdigit());
        names.extend(name.into_string().ok().filter(|name| hex(name)));
    }
    names.sort();
    Ok(names)
}

/// Copies a file durably, readable by its owner only. Returns its size and its SHA-256.
fn copy_file(from: &Path, to: &Path) -> anyhow::Result<(u64, String)> {
    let copy = || -> std::io::Result<(u64, String)> {
        let mut source = File::open(from)?;
        let mut target = File::options().write(true).create_new(true).mode(0o600).open(to)?;
        let (mut size, mut hash, mut buffer) = (0, Sha256::new(), vec![0; 1 << 16]);
        loop {
            let read = source.read(&mut buffer)?;
            let part = buffer.get(..read).unwrap_or_default();
            if part.is_empty() {
                target.sync_all()?;
                return Ok((size, hex::encode(hash.finalize())));
            }
            target.write_all(part)?;
            hash.update(part);
            size += part.len() as u64;
        }
    };
    copy().with_context(|| format!("cannot copy {}", from.display()))
}

fn private_folder(path: &Path) -> anyhow::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot create {}", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Syncs a folder, so that the names in it are on disk.
fn sync(folder: &Path) -> anyhow::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("cannot write {}", folder.display()))
}

/// A finished backup.
struct FinishedBackup<'a> {
    to: &'a Path,
    bytes: u64,
    uploads: CopiedUploads,
    /// The bucket that contains the uploads, if any.
    elsewhere: Option<String>,
    copied: Duration,
    report: AuditReport,
    checked: Duration,
}

impl FinishedBackup<'_> {
    fn print_result(self, json: bool) -> Exit {
        let Self { to, bytes, uploads, elsewhere, copied, report, checked } = self;
        let holds = report.holds() && uploads.damaged.is_empty();
        if json {
            let mut shown = json!({
                "folder": to.display().to_string(),
                "valid": holds,
                "database_bytes": bytes,
                "uploads": uploads.count,
                "upload_bytes": uploads.bytes,
                "damaged_uploads": uploads.damaged,
                "seconds": copied.as_secs_f64(),
                "audit": report_json(&report, checked),
            });
            if let Some(bucket) = elsewhere {
                shown["uploads_not_copied"] = json!(bucket);
            }
            say!("{shown}");
        } else {
            for name in &uploads.damaged {
                say!("upload {name}: its content does not match its checksum");
            }
            print_report_text(&report, checked);
            say!(
                "Backed up to {}: a database of {}, {} uploads of {} ({:.1} s).",
                to.display(),
                size(bytes),
                uploads.count,
                size(uploads.bytes),
                copied.as_secs_f64()
            );
            if let Some(bucket) = elsewhere {
                say!(
                    "It contains no uploads: they are in {bucket}. Back up the bucket separately."
                );
            }
        }
        if holds { Exit::Done } else { Exit::Denied }
    }
}

fn size(bytes: u64) -> String {
    if bytes < 1 << 20 {
        return format!("{} KiB", bytes.div_ceil(1024));
    }
    let tenths = bytes.saturating_mul(10) >> 20;
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}
