//! `countersign audit verify` verifies the audit log of a store, running or stopped, or an export
//! of it; `countersign audit export` writes an export.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use dialects::proof::Jwks;
use gateway::audit::{AuditBaseline, AuditExport, AuditReport, check, check_export};
use gateway::clock::OsClock;
use gateway::feed_head;
use gateway::installation::{self, KeyAccess};
use gateway::sealed_head::{HeadFile, Heads};
use gateway::signing::{self, Signer};
use gateway::vault::Vault;
use kernel::audit::Digest;
use serde_json::{Value, json};
use store::{Clock, Store};

use super::output::{ProgressBar, say};
use super::{Exit, StoredDataArgs};
use crate::config::DatabaseLocation;

#[derive(Args)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Verify that no event in the audit log was altered, removed, inserted or moved
    #[command(
        after_help = "Exits with 0 if the audit log is valid, 1 if not, 4 if it cannot be read."
    )]
    Verify(AuditVerifyArgs),
    /// Export the audit log as JSON Lines
    Export(AuditExportArgs),
}

#[derive(Args)]
struct AuditVerifyArgs {
    #[command(flatten)]
    stored: StoredDataArgs,
    /// Verify an export instead of a database; `-` for standard input
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Public keys (JWKS) for the signatures [default: those of the data folder or the export]
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,
    /// A block that the log must contain, as NUMBER:HASH
    #[arg(long, value_name = "N:HASH", value_parser = known)]
    since_block: Option<(u64, Digest)>,
    /// Skip the database's own integrity check and the comparison of lists, deadlines and search
    /// index with the requests
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct AuditExportArgs {
    #[command(flatten)]
    stored: StoredDataArgs,
    /// Begin after this position, at the start of a block
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    after: u64,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn known(text: &str) -> Result<(u64, Digest), String> {
    let parsed =
        text.split_once(':').and_then(|(n, hash)| Some((n.parse().ok()?, hash.parse().ok()?)));
    parsed.ok_or_else(|| "expected the number of a block, a colon and its hash in hex".to_owned())
}

impl AuditArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            AuditCommand::Verify(verify) => verify.run().await,
            AuditCommand::Export(export) => export.run().await,
        }
    }
}

impl AuditVerifyArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let keys = self.jwks.as_deref().map(read_jwks).transpose()?;
        let own_keys = keys.is_none() && self.export.is_some();
        let started = Instant::now();
        let mut bar = ProgressBar::new();
        let mut show = |progress| bar.checked(progress);
        let report = if let Some(path) = &self.export {
            let (lines, size) = lines(path)?;
            check_export(lines, size, keys, self.since_block, &mut show).await
        } else {
            let config = self.stored.config()?;
            // Read it before the store: a store read later contains at least this block.
            let marked = match config.location.database {
                DatabaseLocation::Memory => Heads::default(),
                DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => {
                    HeadFile::of(&config.location.data).load()?
                }
            };
            let store = installation::open_read_only(&config.location).await?;
            let keys = match keys {
                Some(keys) => keys,
                None => {
                    installed_keys(
                        installation::vault(&config.location, KeyAccess::Look).await?,
                        &store,
                    )
                    .await?
                }
            };
            let marked = own_heads(marked, &config.location.database, &store).await?;
            let sealed = marked.sealed.map(|sealed| (sealed.n, sealed.hash));
            let known = self.since_block.or(sealed);
            let against = AuditBaseline { keys, known, marked, quick: self.quick };
            check(&store, &against, &mut show).await.map_err(anyhow::Error::from)
        };
        drop(bar);
        let report = report?;
        print_report(&report, started.elapsed(), own_keys, self.json);
        Ok(if report.holds() { Exit::Done } else { Exit::Denied })
    }
}

/// The sealed heads that belong to this database. A node stores no block, and its data directory
/// may have been used with another database before. That is not damage of this one.
async fn own_heads(
    marked: Heads,
    database: &DatabaseLocation,
    store: &Arc<dyn Store>,
) -> anyhow::Result<Heads> {
    let DatabaseLocation::Postgres(_) = database else { return Ok(marked) };
    match marked.head {
        Some(head) if !feed_head::is_foreign(store, head).await? => {
            Ok(Heads { sealed: None, ..marked })
        }
        Some(_) | None => Ok(Heads::default()),
    }
}

/// The lines of an export, and its size in bytes; 0 if unknown.
fn lines(path: &Path) -> anyhow::Result<(Box<dyn io::BufRead + Send>, u64)> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(io::stdin())), 0));
    }
    let context = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(context)?;
    let size = file.metadata().with_context(context)?.len();
    Ok((Box::new(BufReader::with_capacity(1 << 20, file)), size))
}

fn print_report(report: &AuditReport, took: Duration, own_keys: bool, json: bool) {
    if json {
        say!("{}", report_json(report, took));
        return;
    }
    print_report_text(report, took);
    if own_keys {
        eprintln!(
            "Signatures were checked with the keys the export brought along; give --jwks with keys \
             you trust to know who signed it."
        );
    }
}

fn rate(report: &AuditReport, took: Duration) -> u64 {
    let rate = u128::from(report.events) * 1000 / took.as_millis().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// The result of a verification as JSON.
pub(super) fn report_json(report: &AuditReport, took: Duration) -> Value {
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| json!({ "what": finding.to_string(), "where": finding.location() }))
        .collect();
    let broken: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    json!({
        "valid": report.holds(),
        "events": report.events,
        "subjects": report.subjects,
        "blocks": report.blocks,
        "last_block": report.last_block.map(|(n, hash)| json!({ "n": n, "hash": hash })),
        "not_sealed": report.unsealed,
        "seconds": took.as_secs_f64(),
        "events_per_second": rate(report, took),
        "broken": broken,
        "findings": findings,
        "more": report.more,
        "notes": report.notes,
    })
}

/// Prints the result of a verification as text.
pub(super) fn print_report_text(report: &AuditReport, took: Duration) {
    for finding in &report.findings {
        say!("{finding}");
    }
    if report.more > 0 {
        say!("… and {} more", report.more);
    }
    for note in &report.notes {
        say!("Note: {note}");
    }
    let AuditReport { events, subjects, blocks, unsealed, .. } = report;
    if report.holds() {
        let (seconds, rate) = (took.as_secs_f64(), rate(report, took));
        say!(
            "The audit log is valid: {events} events of {subjects} subjects, {blocks} signed blocks \
             ({seconds:.1} s, {rate} events/s)."
        );
        if let Some((n, hash)) = report.last_block {
            say!("Last block: {n}:{hash}");
        }
        say!("Not sealed yet: {unsealed}");
    } else {
        let found = report.findings.len() as u64 + report.more;
        say!("The audit log is NOT valid. Problems: {found}. Events: {events}.");
    }
}

impl AuditExportArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let config = self.stored.config()?;
        let store = installation::open_read_only(&config.location).await?;
        let vault = installation::vault(&config.location, KeyAccess::Look).await?;
        let none = format!("there is no key to sign the export with in {}", vault.description());
        let signer = Signer::find(vault).await?.context(none)?;
        let last = store.block(store::BlockQuery::Last).await?;
        let issuer = last.map_or_else(
            || config.public_url.as_str().trim_end_matches('/').to_owned(),
            |sealed| sealed.block.issuer,
        );
        let mut export =
            AuditExport::begin(store, signer, issuer, OsClock.now(), self.after).await?;
        let mut out: Box<dyn Write> = match &self.out {
            Some(path) => {
                let file = File::create(path);
                let file = file.with_context(|| format!("cannot write {}", path.display()))?;
                Box::new(BufWriter::new(file))
            }
            None => Box::new(BufWriter::new(io::stdout())),
        };
        while let Some(lines) = export.next().await? {
            out.write_all(&lines).context("cannot write the export")?;
        }
        out.flush().context("cannot write the export")?;
        Ok(Exit::Done)
    }
}

fn read_jwks(path: &Path) -> anyhow::Result<Arc<Jwks>> {
    let read = || -> anyhow::Result<Jwks> { Ok(serde_json::from_slice(&std::fs::read(path)?)?) };
    let keys = read().with_context(|| format!("cannot use the keys in {}", path.display()))?;
    Ok(Arc::new(keys))
}

/// The keys of the installation, including revoked ones: their earlier signatures stay part of the
/// audit log. A store without blocks needs no keys.
pub(super) async fn installed_keys(
    vault: Arc<Vault>,
    store: &Arc<dyn Store>,
) -> anyhow::Result<Arc<Jwks>> {
    let place = vault.description();
    let jwks = match signing::ever(vault).await? {
        Some(jwks) => jwks,
        None if store.block(store::BlockQuery::Last).await?.is_some() => {
            bail!("there are no keys in {place} to verify the blocks with: pass --data or --jwks")
        }
        None => Jwks::default(),
    };
    Ok(Arc::new(jwks))
}
