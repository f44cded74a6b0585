//! Artifacts that agents deliver: files with versions, fetched, used and shared.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use client::tasks::{Content, Operation};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    ChangeArgs, TaskCallerArgs, TaskCallerRole, change, given_params, read_operation, text,
};
use crate::cli::Exit;
use crate::cli::output::{report, say};
use crate::cli::remote::RemoteServer;

/// Larger files are uploaded separately: a call that contains them would be too large.
const INLINE: u64 = 512 * 1024;

/// How many times in a row a connection may break without receiving a byte.
const MAX_BROKEN_CONNECTIONS: u32 = 5;

#[derive(Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "Examples:\n  \
    countersign tasks commit task_… notes.md --type text\n  \
    countersign tasks commit task_… notes.md --artifact art_…   (the next version of it)")]
pub(super) struct ArtifactCommitArgs {
    /// The task
    task: String,
    /// The file, or - for standard input
    file: PathBuf,
    /// The type of the artifact
    #[arg(long = "type", value_name = "TEXT", default_value = "document")]
    sort: String,
    /// The artifact to add a version to [default: a new artifact]
    #[arg(long, value_name = "ID")]
    artifact: Option<String>,
    /// The name of the version [default: the next number]
    #[arg(long, value_name = "NAME")]
    version: Option<String>,
    /// The version it is based on [default: the newest]
    #[arg(long, value_name = "NAME")]
    parent: Option<String>,
    /// The media type, such as text/markdown
    #[arg(long, value_name = "TYPE")]
    media_type: Option<String>,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl ArtifactCommitArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Agent)).await?;
        let sort = self.media_type.as_deref().or_else(|| kind(&self.file));
        let mut payload = content(&server, &self.file, sort).await?.payload();
        if let Some(kind) = sort {
            payload["media_type"] = json!(kind);
        }
        let params = given_params([
            ("task_id", json!(self.task)),
            ("type", json!(self.sort)),
            ("payload", payload),
            ("art_id", json!(self.artifact)),
            ("version", json!(self.version)),
            ("parent_version", json!(self.parent)),
        ]);
        let made = change(&server, Operation::ArtifactCommit, params, self.terms).await?;
        let (id, version) = (text(&made, "/id"), text(&made, "/version"));
        report(self.caller.remote.json, &made, &format!("Delivered as {id} {version}."))?;
        Ok(Exit::Done)
    }
}

/// Text is sent as it is, other bytes in base64. A larger file is uploaded before, in parts.
async fn content(
    server: &RemoteServer,
    file: &Path,
    sort: Option<&str>,
) -> anyhow::Result<Content> {
    let unreadable = || format!("cannot read {}", file.display());
    if file.as_os_str() != "-" {
        let length = std::fs::metadata(file).with_context(unreadable)?.len();
        if length > INLINE {
            let opened = std::fs::File::open(file).with_context(unreadable)?;
            let part = |place, most| {
                let mut bytes = vec![0; most];
                opened.read_exact_at(&mut bytes, place)?;
                Ok(bytes)
            };
            let sent = server.client.tasks().upload::<anyhow::Error>(length, sort, part).await;
            return sent.with_context(|| format!("cannot send {}", file.display()));
        }
    }
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        bytes = std::fs::read(file).with_context(unreadable)?;
    }
    Ok(match String::from_utf8(bytes) {
        Ok(words) => Content::Words(words),
        Err(other) => Content::Bytes(other.into_bytes()),
    })
}

/// The media type by file extension, for types that pages can show.
fn kind(file: &Path) -> Option<&'static str> {
    Some(match file.extension()?.to_str()? {
        "md" => "text/markdown",
        "txt" => "text/plain",
        "json" => "application/json",
        "csv" => "text/csv",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "pdf" => "application/pdf",
        "diff" | "patch" => "text/x-diff",
        _ => return None,
    })
}

#[derive(Args)]
pub(super) struct ArtifactArgs {
    #[command(subcommand)]
    command: ArtifactCommand,
}

#[derive(Subcommand)]
enum ArtifactCommand {
    /// Fetch an artifact, and verify its checksum
    #[command(disable_version_flag = true)]
    #[command(after_help = "Examples:\n  \
        countersign tasks artifact get art_…\n  \
        countersign tasks artifact get art_… --version v1 --output notes.md\n\n\
        Exits with 1 if the bytes are not what was committed.")]
    Get {
        /// The artifact
        artifact: String,
        /// The version [default: the newest]
        #[arg(long, value_name = "NAME")]
        version: Option<String>,
        /// The file to write to, or - for standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
    /// Reference a version in another task
    #[command(disable_version_flag = true)]
    Reference {
        /// The artifact
        artifact: String,
        /// The version
        version: String,
        /// The task that references it
        #[arg(long, value_name = "TASK")]
        task: String,
        /// The task produced the version, instead of using it
        #[arg(long)]
        made: bool,
        #[command(flatten)]
        terms: ChangeArgs,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
    /// Share an artifact with another project
    Share {
        /// The artifact
        artifact: String,
        /// The project
        project: String,
        #[command(flatten)]
        terms: ChangeArgs,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
}

impl ArtifactArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            ArtifactCommand::Get { artifact, version, output, caller } => {
                let server = caller.connect(None).await?;
                let params =
                    given_params([("art_id", json!(artifact)), ("version", json!(version))]);
                let found = read_operation(&server, Operation::ArtifactGet, params).await?;
                if let Some(file) = output {
                    return fetch(&server, &found, &file).await;
                }
                shown(caller.remote.json, &found);
                Ok(Exit::Done)
            }
            ArtifactCommand::Reference { artifact, version, task, made, terms, caller } => {
                let server = caller.connect(Some(TaskCallerRole::Agent)).await?;
                let role = if made { "output" } else { "input" };
                let params = json!({
                    "art_id": artifact, "version": version, "by_task": task, "as": role,
                });
                let used = change(&server, Operation::ArtifactReference, params, terms).await?;
                let sentence = format!("{task} uses {artifact} {version}.");
                report(caller.remote.json, &used, &sentence)?;
                Ok(Exit::Done)
            }
            ArtifactCommand::Share { artifact, project, terms, caller } => {
                let server = caller.connect(Some(TaskCallerRole::Person)).await?;
                let params = json!({ "art_id": artifact, "project": project });
                let shared = change(&server, Operation::ArtifactShare, params, terms).await?;
                let sentence = format!("Tasks of {project} may use {artifact}.");
                report(caller.remote.json, &shared, &sentence)?;
                Ok(Exit::Done)
            }
        }
    }
}

/// Prints the metadata of a version.
fn shown(json: bool, artifact: &Value) {
    if json {
        say!("{artifact}");
        return;
    }
    let payload = &artifact["payload"];
    let (id, version, sort) =
        (text(artifact, "/id"), text(artifact, "/version"), text(artifact, "/type"));
    say!("{id} {version} ({sort})");
    let (kind, size) = (text(payload, "/kind"), &payload["size"]);
    say!("  {kind} of {size} bytes, {}", text(payload, "/checksum"));
    say!("  at {}", text(payload, "/uri"));
    let by = text(artifact, "/provenance/produced_by");
    say!("  made by {by}, {}", text(artifact, "/provenance/produced_at"));
}

/// Saves the bytes of a version, unless their checksum differs from the committed one. Only one
/// chunk is in memory at a time.
async fn fetch(server: &RemoteServer, artifact: &Value, file: &Path) -> anyhow::Result<Exit> {
    let wanted = text(artifact, "/payload/checksum").to_owned();
    let whole = artifact.pointer("/payload/size").and_then(Value::as_u64).unwrap_or_default();
    let artifact = serde_json::from_value(artifact.clone())?;
    let stdout = file.as_os_str() == "-";
    let beside = file.with_extension("part");
    let mut out: Box<dyn std::io::Write + Send> = if stdout {
        Box::new(std::io::stdout())
    } else {
        let made = std::fs::File::create(&beside);
        Box::new(made.with_context(|| format!("cannot write {}", beside.display()))?)
    };
    let (mut hash, mut size) = (Sha256::new(), 0_u64);
    let mut broken = 0;
    while size < whole {
        let tasks = server.client.tasks();
        let answer = tasks.content(&artifact, size).await.map_err(server.with_advice())?;
        let mut pieces = answer.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let Ok(piece) = piece else { break };
            broken = 0;
            hash.update(&piece);
            size += piece.len() as u64;
            out.write_all(&piece)?;
        }
        // Resume where it broke off, unless no more bytes arrive.
        broken += 1;
        if size < whole && broken > MAX_BROKEN_CONNECTIONS {
            bail!("the connection was interrupted {broken} times; run the command again");
        }
    }
    out.flush()?;
    drop(out);
    let found = format!("sha256:{}", hex::encode(hash.finalize()));
    if found != wanted {
        eprintln!("countersign: the checksum is wrong: {found}, expected {wanted}");
        return Ok(Exit::Denied);
    }
    if !stdout {
        std::fs::rename(&beside, file)
            .with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("{size} bytes in {}, checksum verified.", file.display());
    }
    Ok(Exit::Done)
}
