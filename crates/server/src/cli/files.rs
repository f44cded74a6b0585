//! `countersign files copy`: copies uploads and artifacts to a bucket, or back. Each file is
//! checked against its digest on the way. Files that exist already are skipped, so the command
//! can be repeated.

use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use clap::{Args, Subcommand};
use futures_util::{StreamExt, TryStreamExt, stream};
use gateway::files::{DamagedFile, FileStorage};
use gateway::installation::open_shared;
use kernel::audit::Digest;
use serde_json::json;
use store::postgres::PostgresOptions;

use super::output::{ProgressBar, say};
use super::{Exit, StoredDataArgs};
use crate::config::{DatabaseLocation, FilesUrl, Settings};

/// Concurrent copies: each file is in memory.
const AT_ONCE: usize = 8;

#[derive(Args)]
pub(super) struct FilesArgs {
    #[command(subcommand)]
    verb: FilesCommand,
}

#[derive(Subcommand)]
enum FilesCommand {
    /// Copy all files; nothing is deleted
    Copy(FilesCopyArgs),
}

#[derive(Args)]
#[command(
    after_help = "Without --from or --to, the files are beside the database: in the folder `files`, or \
                  in the database itself if nodes share one. Stop the servers, copy, then start them \
                  with the new `files` setting. The keys of the bucket come from the settings or the \
                  AWS variables.\n\
                  Exits with 0 if all files were copied, 1 if a damaged file was not copied, 4 if the \
                  command failed."
)]
struct FilesCopyArgs {
    #[command(flatten)]
    stored: StoredDataArgs,
    /// The bucket to copy from: `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "URL")]
    from: Option<FilesUrl>,
    /// The bucket to copy to: `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "URL")]
    to: Option<FilesUrl>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of copying one file.
enum FileCopyResult {
    Now(u64),
    Before,
    Damaged(Digest),
}

impl FilesArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            FilesCommand::Copy(copy) => copy.run().await,
        }
    }
}

impl FilesCopyArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let Self { stored, from, to, json } = self;
        if from.is_some() == to.is_some() {
            bail!("expected --to s3://BUCKET/PREFIX, or --from s3://BUCKET/PREFIX to copy back");
        }
        let settings = stored.settings()?;
        let (source, shown_source) = place(&settings, from).await?;
        let (target, shown_target) = place(&settings, to).await?;
        let (started, mut bar) = (Instant::now(), ProgressBar::new());
        let all: Vec<Digest> = source.digests().try_collect().await?;
        let (mut copied, mut bytes, mut before, mut damaged) = (0_u64, 0, 0_u64, Vec::new());
        let each = stream::iter(&all).map(|digest| copy(&source, &target, *digest));
        let mut each = each.buffer_unordered(AT_ONCE);
        let mut done = 0;
        while let Some(one) = each.try_next().await? {
            match one {
                FileCopyResult::Now(size) => (copied, bytes) = (copied + 1, bytes + size),
                FileCopyResult::Before => before += 1,
                FileCopyResult::Damaged(digest) => damaged.push(digest.to_string()),
            }
            done += 1;
            bar.counted("files", done, all.len() as u64);
        }
        drop(bar);
        let seconds = started.elapsed().as_secs_f64();
        if json {
            say!(
                "{}",
                json!({
                    "from": shown_source, "to": shown_target, "copied": copied, "bytes": bytes,
                    "there_before": before, "damaged": damaged, "seconds": seconds,
                })
            );
        } else {
            for name in &damaged {
                say!("file {name}: its content does not match its checksum; it was not copied");
            }
            say!(
                "From {shown_source} to {shown_target}: {copied} files of {bytes} bytes copied, \
                 {before} existed already ({seconds:.1} s)."
            );
        }
        Ok(if damaged.is_empty() { Exit::Done } else { Exit::Denied })
    }
}

/// A file store, and its display name.
async fn place(settings: &Settings, at: Option<FilesUrl>) -> anyhow::Result<(FileStorage, String)> {
    let config = settings.clone().with_files(at).check()?;
    if let Some(bucket) = &config.location.bucket {
        return Ok((FileStorage::bucket(bucket, None)?, bucket.to_string()));
    }
    match &config.location.database {
        DatabaseLocation::Memory => bail!("the database is in memory, and so are the files"),
        DatabaseLocation::Sqlite(_) => {
            let folder = config.location.data.join("files");
            Ok((FileStorage::open(&folder)?, folder.display().to_string()))
        }
        DatabaseLocation::Postgres(url) => {
            let store = Arc::new(open_shared(url, PostgresOptions::default()).await?);
            Ok((FileStorage::shared(store), url.to_string()))
        }
    }
}

async fn copy(
    from: &FileStorage,
    to: &FileStorage,
    digest: Digest,
) -> anyhow::Result<FileCopyResult> {
    if to.has(&digest).await? {
        return Ok(FileCopyResult::Before);
    }
    match from.read(&digest).await {
        Ok(Some(bytes)) => {
            let size = bytes.len() as u64;
            to.store(bytes).await?;
            Ok(FileCopyResult::Now(size))
        }
        // The file was deleted meanwhile.
        Ok(None) => Ok(FileCopyResult::Before),
        Err(error) if error.is::<DamagedFile>() => Ok(FileCopyResult::Damaged(digest)),
        Err(error) => Err(error),
    }
}
