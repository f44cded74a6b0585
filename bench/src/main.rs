//! `make bench`: the speed of Countersign compared with its bare parts, and its capacity.
//!
//! ```text
//! this process: load ──▶ gateway   (this binary again, the server as it is)
//!                    ──▶ baseline  (this binary again, the bare parts)
//!                    ──▶ nodes     (this binary again, on a PostgreSQL of their own, beside pgbench)
//! ```
//!
//! Everything is on loopback and bounded in count and time ([`scale`]). The baseline is axum with
//! one writer thread that commits one row and one audit row per request into SQLite, as durably as
//! the gateway does, and axum that answers a fixed JSON. The relevant figures are ratios within
//! one run, so the machine cancels out. Both sides are measured in turns, so that a noisy
//! neighbour affects both.
//!
//! | module | contents |
//! |---|---|
//! | [`scenarios`] | the measurements, one file each |
//! | [`load`], [`http_client`], [`latency`] | generating the load and timing it |
//! | [`server_process`], [`gateway`], [`baseline`] | the processes under load |
//! | [`fill`], [`people`], [`tasks`], [`insights`] | their initial data |
//! | [`report`] | the table, its files, and the changes since the last one |

mod baseline;
mod fill;
mod gateway;
mod http_client;
mod insights;
mod latency;
mod load;
mod people;
mod report;
mod scale;
mod scenarios;
mod server_process;
mod tasks;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use report::BenchReport;
use scale::Scale;
use scenarios::Scenario;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "countersign-bench [--quick | --smoke] [--out DIR] [SCENARIO...]";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["gateway", folder] => {
            runtime.block_on(gateway::serve(gateway::settings(Path::new(folder))))
        }
        ["node", folder, database] => {
            runtime.block_on(gateway::serve(gateway::node(Path::new(folder), database)?))
        }
        ["messenger", folder, program] => {
            runtime.block_on(gateway::serve(gateway::messenger(Path::new(folder), program)))
        }
        ["baseline", folder] => runtime.block_on(baseline::serve(Path::new(folder))),
        ["fill-people", folder, people] => {
            runtime.block_on(Box::pin(people::run(Path::new(folder), people.parse()?)))
        }
        ["fill-insights", folder, messages] => {
            runtime.block_on(Box::pin(insights::run(Path::new(folder), messages.parse()?)))
        }
        ["fill-tasks", folder, tasks, events] => runtime.block_on(Box::pin(tasks::run(
            Path::new(folder),
            tasks.parse()?,
            events.parse()?,
        ))),
        ["fill", folder, asks, due] => {
            runtime.block_on(Box::pin(fill::run(Path::new(folder), asks.parse()?, due)))
        }
        _ => {
            let plan = BenchArgs::read(&words)?;
            runtime.block_on(Box::pin(plan.run()))
        }
    }
}

/// The parsed command line.
struct BenchArgs {
    scale: Scale,
    scenarios: Vec<Scenario>,
    /// The directory of the results. Results of a partial run go elsewhere.
    out: PathBuf,
}

impl BenchArgs {
    fn read(words: &[&str]) -> anyhow::Result<Self> {
        let (mut scale, mut out, mut named) = (Scale::FULL, None, Vec::new());
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--quick" => scale = Scale::QUICK,
                "--smoke" => scale = Scale::SMOKE,
                "--out" => out = Some(PathBuf::from(words.next().context(USAGE)?)),
                name => match Scenario::named(name) {
                    Some(scenario) => named.push(scenario),
                    None => bail!("{USAGE}\n{name} is none of: {}", Scenario::names()),
                },
            }
        }
        let whole = named.is_empty();
        let kept = whole && scale.name == Scale::FULL.name;
        let default =
            if kept { report::folder() } else { server_process::build_folder()?.join("bench") };
        let scenarios = if whole { Scenario::ALL.to_vec() } else { named };
        Ok(Self { scale, scenarios, out: out.unwrap_or(default) })
    }

    async fn run(self) -> anyhow::Result<()> {
        let mut report = BenchReport::new(self.scale.name);
        for scenario in self.scenarios {
            eprintln!("{scenario:?} …");
            let rows = Box::pin(scenario.run(&self.scale)).await;
            report.add(rows.with_context(|| format!("{scenario:?}"))?);
        }
        report.compare();
        println!("{}", report.table());
        let file = report.write(&self.out)?;
        println!("written to {}", file.display());
        Ok(())
    }
}
