//! `countersign audit verify`: reads every chain from its first event and says what does not hold.
//! Works beside a running server and on a stopped one.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::time::Instant;

use anyhow::bail;
use clap::{Args, Subcommand};
use kernel::audit::{Broken, Verifier, Why};
use kernel::{Entity, Subject, evolve};
use store::Store;
use store::sqlite::Sqlite;

use super::{Exit, Local};
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
        let report = check(&store).await?;
        let seconds = started.elapsed().as_secs_f64();
        if verify.json {
            let broken: Vec<_> = report.broken.iter().map(ToString::to_string).collect();
            let shown = serde_json::json!({
                "valid": broken.is_empty(),
                "events": report.events,
                "subjects": report.subjects,
                "broken": broken,
            });
            println!("{shown}");
        } else if report.broken.is_empty() {
            println!(
                "The record holds: {} events of {} subjects, each in its chain ({seconds:.1} s).",
                report.events, report.subjects
            );
        } else {
            for broken in &report.broken {
                println!("{broken}");
            }
            println!("The record does NOT hold: {} breaks.", report.broken.len());
        }
        Ok(if report.broken.is_empty() { Exit::Done } else { Exit::Denied })
    }
}

struct Report {
    events: u64,
    subjects: usize,
    broken: Vec<Broken>,
}

/// One subject while its chain is read: the state its events give so far.
#[derive(Default)]
struct Chain {
    verifier: Verifier,
    state: Option<Entity>,
    broken: bool,
}

async fn check(store: &dyn Store) -> anyhow::Result<Report> {
    let mut chains: HashMap<Subject, Chain> = HashMap::new();
    let mut report = Report { events: 0, subjects: 0, broken: Vec::new() };
    let (mut position, mut shown) = (0, Instant::now());
    loop {
        let records = store.all_records(position, 1000).await?;
        if records.is_empty() {
            break;
        }
        for (at, record) in records {
            position = at;
            report.events += 1;
            let chain = chains.entry(record.subject.clone()).or_default();
            if chain.broken {
                continue;
            }
            let misfit = || Broken {
                subject: record.subject.clone(),
                seq: record.seq,
                why: Why::Content,
            };
            let outcome = chain.verifier.check(&record).and_then(|event| {
                chain.state =
                    Some(evolve(chain.state.take(), &event, record.hash).map_err(|_| misfit())?);
                Ok(())
            });
            if let Err(broken) = outcome {
                chain.broken = true;
                report.broken.push(broken);
            }
        }
        if shown.elapsed().as_millis() > 500 && std::io::stderr().is_terminal() {
            eprint!("\r{} events", report.events);
            let _ = std::io::stderr().flush();
            shown = Instant::now();
        }
    }
    report.subjects = chains.len();
    compare(store, chains, &mut report).await?;
    Ok(report)
}

/// Every subject's stored state must be what its events give.
async fn compare(
    store: &dyn Store,
    chains: HashMap<Subject, Chain>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let directory = store.directory();
    for (subject, chain) in chains {
        if chain.broken {
            continue;
        }
        let stored = match &subject {
            Subject::Ask(id) => store.ask(*id).await?.map(|ask| Entity::Ask(Box::new(ask))),
            other => directory.entity(other),
        };
        // A running server may have gone on since its records were read.
        let moved = |stored: &Entity| {
            chain.state.as_ref().is_some_and(|state| stored.head().seq > state.head().seq)
        };
        if stored != chain.state && !stored.as_ref().is_some_and(moved) {
            let seq = chain.verifier.head().map_or(0, |head| head.seq);
            report.broken.push(Broken { subject, seq, why: Why::Head });
        }
    }
    Ok(())
}
