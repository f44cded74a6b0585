//! `countersign audit verify`: reads every chain from its first event and says what does not hold.
//! Works beside a running server and on a stopped one.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use clap::{Args, Subcommand};
use store::sqlite::Sqlite;

use super::output::say;
use super::{Exit, Stored};
use crate::audit::{Report, check};
use crate::config::Database;

#[derive(Args)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Check every chain: nothing altered, missing or inserted
    Verify(Verify),
}

#[derive(Args)]
struct Verify {
    #[command(flatten)]
    stored: Stored,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let AuditCommand::Verify(verify) = self.command;
        let config = verify.stored.config()?;
        let Database::Sqlite(path) = &config.database else {
            bail!("there is no record to check: the database is in memory");
        };
        if !path.exists() {
            bail!("there is no database at {}", path.display());
        }
        let started = Instant::now();
        let report = verify_file(path).await?;
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        let seconds = started.elapsed().as_secs_f64();
        if verify.json {
            let broken: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
            let shown = serde_json::json!({
                "valid": broken.is_empty(),
                "events": report.events,
                "subjects": report.subjects,
                "broken": broken,
            });
            say!("{shown}");
        } else if report.findings.is_empty() {
            say!(
                "The record holds: {} events of {} subjects, each in its chain ({seconds:.1} s).",
                report.events,
                report.subjects
            );
        } else {
            for broken in &report.findings {
                say!("{broken}");
            }
            say!("The record does NOT hold; found wrong: {}.", report.findings.len());
        }
        Ok(if report.findings.is_empty() { Exit::Done } else { Exit::Denied })
    }
}

/// Checks a file, twice if need be: a server may have changed who there is after the file was
/// opened. What is broken stays broken.
async fn verify_file(path: &Path) -> anyhow::Result<Report> {
    let first = check(&Sqlite::open_read_only(path)?, &mut progress()).await?;
    if first.findings.is_empty() {
        return Ok(first);
    }
    let mut again = check(&Sqlite::open_read_only(path)?, &mut progress()).await?;
    again.findings.retain(|finding| first.findings.contains(finding));
    Ok(again)
}

/// Counts on the terminal, twice a second.
fn progress() -> impl FnMut(u64) {
    let mut shown = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    move |events| {
        if terminal && shown.elapsed().as_millis() > 500 {
            eprint!("\r{events} events checked");
            // The count is a courtesy; a closed terminal is no reason to stop.
            let _ = std::io::stderr().flush();
            shown = Instant::now();
        }
    }
}
