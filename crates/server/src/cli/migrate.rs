//! `countersign migrate`: moves an installation from SQLite to PostgreSQL, and verifies both sides.
//! Positions, hashes, blocks and keys stay the same, so every receipt stays valid.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Args;
use gateway::audit::{AuditBaseline, AuditReport, check};
use gateway::files::FileStorage;
use gateway::installation::{open_shared, require_master_key};
use gateway::sealed_head::HeadFile;
use gateway::signing::Signer;
use gateway::vault::Vault;
use serde_json::json;
use store::postgres::{DatabaseNotEmpty, Postgres, SqliteImport};
use store::sqlite::{DatabaseLocked, Sqlite};
use store::{Store, StoreError};

use super::Exit;
use super::audit::{installed_keys, print_report_text, report_json};
use super::backup::stored_uploads;
use super::output::{ProgressBar, say};
use crate::config::{DatabaseLocation, DatabaseUrl, FilesUrl, SecretString, Settings, variable};

#[derive(Args)]
#[command(
    after_help = "Stop the server first. If the command fails, the target is unchanged. Repeating it \
                  replaces what was moved before, as long as no server has run on the target.\n\
                  Exits with 0 if everything was moved and is valid, 1 if the audit log of one side \
                  is not valid, 4 if the command failed."
)]
pub(super) struct MigrateArgs {
    /// The database to move: `sqlite:FILE`
    #[arg(long, value_name = "URL")]
    from: DatabaseUrl,
    /// The data folder with the keys and uploads [default: the folder of the file]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The target, an empty database: `postgres://…`
    #[arg(long, value_name = "URL")]
    to: DatabaseUrl,
    /// A bucket for the uploads, if they do not go into the database: `s3://BUCKET/PREFIX`
    #[arg(long, env = "COUNTERSIGN_FILES", hide_env_values = true, value_name = "URL")]
    files: Option<FilesUrl>,
    /// File that holds the master key of the new nodes [default: `COUNTERSIGN_MASTER_KEY`]
    #[arg(long, env = "COUNTERSIGN_MASTER_KEY_FILE", value_name = "FILE")]
    master_key_file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl MigrateArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let Self { from, data, to, files, master_key_file, json } = self;
        let master_key = variable("COUNTERSIGN_MASTER_KEY").map(SecretString::new);
        let master_key = master_key.filter(|_| master_key_file.is_none());
        let given = |database| Settings { database: Some(database), ..Settings::default() };
        let DatabaseLocation::Sqlite(file) = given(from).check()?.location.database else {
            bail!("--from: expected sqlite:FILE")
        };
        let nodes = Settings { database: Some(to), ..Settings::of_files() };
        let target = Settings { master_key, master_key_file, ..nodes.with_files(files) }.check()?;
        let DatabaseLocation::Postgres(url) = &target.location.database else {
            bail!("--to: expected postgres://…")
        };
        ensure!(file.exists(), "there is no database at {}", file.display());
        let folder = data.or_else(|| file.parent().map(Path::to_owned)).unwrap_or_default();
        let keys = Arc::new(Vault::folder_with(&folder, target.location.master_key.clone()));
        let stored = keys.read().await?.with_context(|| {
            format!(
                "there is no {}: name the data folder of this database with --data",
                keys.description()
            )
        })?;
        // Nodes could not sign with keys that are encrypted under another master key.
        Signer::find(Arc::clone(&keys)).await?;

        let (started, mut bar) = (Instant::now(), ProgressBar::new());
        let source: Arc<dyn Store> = Arc::new(Sqlite::open_to_check(&file)?);
        let before = checked(&source, keys, &HeadFile::of(&folder), &mut bar).await?;
        drop(source);
        if !before.holds() {
            drop(bar);
            print_report_text(&before, started.elapsed());
            say!("Nothing was moved.");
            return Ok(Exit::Denied);
        }
        let master = require_master_key(&target.location)?;
        let nodes = Arc::new(open_shared(url, store::postgres::PostgresOptions::default()).await?);
        let vault = Arc::new(Vault::shared(Arc::clone(&nodes), master));
        // Read it before anything changes: with another master key nothing could be stored there.
        vault.read().await?;
        let imported = import(&nodes, &file, &mut bar).await?;
        let there = match &target.location.bucket {
            Some(bucket) => FileStorage::bucket(bucket, Some(Arc::clone(&nodes)))?,
            None => FileStorage::shared(Arc::clone(&nodes)),
        };
        let uploads = upload(&folder.join("files"), &there, &mut bar).await?;
        vault
            .change(|there| {
                stored.clone_into(there);
                Ok(())
            })
            .await?;

        let after = checked(&(nodes as Arc<dyn Store>), vault, &HeadFile::none(), &mut bar).await?;
        drop(bar);
        let same = (after.events, after.last_block) == (before.events, before.last_block);
        let holds = after.holds() && same;
        if json {
            let moved = json!({
                "to": url.to_string(),
                "valid": holds,
                "rows": imported.rows,
                "events": imported.events,
                "uploads": uploads,
                "seconds": started.elapsed().as_secs_f64(),
                "audit": report_json(&after, started.elapsed()),
            });
            say!("{moved}");
        } else {
            print_report_text(&after, started.elapsed());
            if !same {
                say!("The target has another audit log: the source has {} events.", before.events);
            }
            let SqliteImport { rows, events } = imported;
            say!("Moved to {url}: {events} events, {rows} rows, {uploads} uploads.");
        }
        Ok(if holds { Exit::Done } else { Exit::Denied })
    }
}

async fn checked(
    store: &Arc<dyn Store>,
    vault: Arc<Vault>,
    mark: &HeadFile,
    bar: &mut ProgressBar,
) -> anyhow::Result<AuditReport> {
    let marked = mark.load()?;
    let known = marked.sealed.map(|sealed| (sealed.n, sealed.hash));
    let keys = installed_keys(vault, store).await?;
    let against = AuditBaseline { keys, known, marked, quick: false };
    Ok(check(store, &against, &mut |progress| bar.checked(progress)).await?)
}

async fn import(
    nodes: &Postgres,
    file: &Path,
    bar: &mut ProgressBar,
) -> anyhow::Result<SqliteImport> {
    let imported = nodes.import_sqlite(file, &mut |done, all| bar.counted("rows", done, all)).await;
    imported.map_err(|error| {
        let what = match &error {
            StoreError::Unavailable(why) if why.is::<DatabaseLocked>() => {
                format!("a server has {} open: stop it first", file.display())
            }
            StoreError::Unavailable(why) if why.is::<DatabaseNotEmpty>() => {
                return anyhow::anyhow!(DatabaseNotEmpty);
            }
            _ => "nothing was moved".to_owned(),
        };
        anyhow::Error::from(error).context(what)
    })
}

/// Copies every upload, checked against its digest.
async fn upload(from: &Path, to: &FileStorage, bar: &mut ProgressBar) -> anyhow::Result<usize> {
    let found = stored_uploads(from)?;
    for (n, (folder, name)) in found.iter().enumerate() {
        let path = from.join(folder).join(name);
        let bytes = std::fs::read(&path);
        let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
        let digest = to.store(Bytes::from(bytes)).await?;
        let whole = digest.to_string() == format!("{folder}{name}");
        ensure!(whole, "the upload {} is not what was uploaded", path.display());
        bar.counted("uploads", n as u64 + 1, found.len() as u64);
    }
    Ok(found.len())
}
