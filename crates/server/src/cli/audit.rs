//! `countersign audit verify`: reads every chain from its first event and says what does not hold.
//! Works beside a running server and on a stopped one.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use anyhow::bail;
use clap::{Args, Subcommand};
use store::sqlite::Sqlite;

use super::{Exit, Local};
use crate::audit::check;
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
    local: Local,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let AuditCommand::Verify(verify) = self.command;
        let config = verify.local.config()?;
        let Database::Sqlite(path) = &config.database else {
            bail!("there is no record to check: the database is in memory");
        };
        if !path.exists() {
            bail!("there is no database at {}", path.display());
        }
        let store = Sqlite::open_read_only(path)?;
        let started = Instant::now();
        let report = check(&store, &mut progress()).await?;
        let seconds = started.elapsed().as_secs_f64();
        if verify.json {
            let broken: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
            let shown = serde_json::json!({
                "valid": broken.is_empty(),
                "events": report.events,
                "subjects": report.subjects,
                "broken": broken,
            });
            println!("{shown}");
        } else if report.findings.is_empty() {
            println!(
                "The record holds: {} events of {} subjects, each in its chain ({seconds:.1} s).",
                report.events, report.subjects
            );
        } else {
            for broken in &report.findings {
                println!("{broken}");
            }
            println!("The record does NOT hold: {} breaks.", report.findings.len());
        }
        Ok(if report.findings.is_empty() { Exit::Done } else { Exit::Denied })
    }
}

/// Counts on the terminal, twice a second.
fn progress() -> impl FnMut(u64) {
    let mut shown = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    move |events| {
        if terminal && shown.elapsed().as_millis() > 500 {
            eprint!("\r{events} events");
            // The count is a courtesy; a closed terminal is no reason to stop.
            let _ = std::io::stderr().flush();
            shown = Instant::now();
        }
    }
}
