//! `make faults`: see `docs/reliability.md`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail, ensure};
use clap::{Parser, ValueEnum};
use faults::campaign::{self, CampaignPlan, FaultKind, StorageBackend};
use faults::check::Invariant;
use faults::postgres::DatabaseLost;
use faults::report;
use tokio::signal::unix::{SignalKind, signal};

/// The number of attempts for a proof per backend, each with the next seed.
const PROOFS: u64 = 5;

/// Runs clients and faults against the real binary and checks that nothing acknowledged is lost.
#[derive(Parser)]
#[command(name = "countersign-faults")]
struct Arguments {
    /// The binary to test
    #[arg(long, value_name = "PATH")]
    binary: PathBuf,
    /// Against what
    #[arg(long, value_enum, default_value = "all")]
    backend: BackendChoice,
    /// How long faults are injected, per backend
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// The seed of the schedule; a random one by default
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Which faults, separated by commas: kill, database-kill, pause, disk-full, clock, cut,
    /// one-way, slow-disk, power-loss; all by default
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    faults: Vec<FaultKind>,
    /// Breaks durability on purpose (syncs report success and sync nothing, then the power fails)
    /// and succeeds if the checker reports lost acknowledgements
    #[arg(long)]
    prove: bool,
    /// Keeps the folder with data, logs and notes
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum BackendChoice {
    All,
    Sqlite,
    Postgres,
}

impl BackendChoice {
    fn backends(self) -> Vec<StorageBackend> {
        match self {
            Self::All => StorageBackend::ALL.to_vec(),
            Self::Sqlite => vec![StorageBackend::Sqlite],
            Self::Postgres => vec![StorageBackend::Postgres],
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    // The reason is the last line, with no backtrace after it: people read CI logs from the end.
    run().await.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

async fn run() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    ensure!(cfg!(target_os = "linux"), "faults are injected on Linux only");
    ensure!(arguments.binary.exists(), "there is no {}; build it", arguments.binary.display());
    let seed = arguments.seed.unwrap_or_else(drawn);
    let faults = match &arguments.faults[..] {
        _ if arguments.prove => vec![FaultKind::PowerLoss],
        [] => FaultKind::ALL.to_vec(),
        some => some.to_vec(),
    };
    eprintln!("seed {seed}");
    let mut campaigns = Vec::new();
    for backend in arguments.backend.backends() {
        campaigns.push(repeated(&arguments, backend, seed, &faults).await?);
    }
    println!("\n{}", report::table(&campaigns));
    println!("seed {seed}, {} s per backend", arguments.seconds);
    if arguments.prove {
        let found = campaigns.iter().all(|campaign| campaign.violated(Invariant::Lost) > 0);
        println!(
            "durability was broken on purpose, and {}",
            if found {
                "the checker reported it on every backend"
            } else {
                "THE CHECKER DID NOT REPORT IT"
            }
        );
        return Ok(if found { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let passed = campaigns.iter().all(report::Campaign::passed);
    for campaign in &campaigns {
        print!("{}", report::violations(campaign));
    }
    println!("{}", if passed { "every invariant held" } else { "INVARIANTS WERE VIOLATED" });
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one campaign against one backend.
///
/// Syncs that lie can leave PostgreSQL without a checkpoint to start from. The checker then has
/// nothing to read, so the proof is repeated with another seed: the checker itself has to
/// report the loss.
async fn repeated(
    arguments: &Arguments,
    backend: StorageBackend,
    seed: u64,
    faults: &[FaultKind],
) -> anyhow::Result<report::Campaign> {
    for seed in seed..seed + PROOFS {
        match campaign(arguments, backend, seed, faults).await {
            Err(error) if arguments.prove && error.is::<DatabaseLost>() => {
                eprintln!("{backend:?}: the database does not start any more with seed {seed}");
            }
            other => return other,
        }
    }
    bail!("{backend:?} did not start again in {PROOFS} proofs, so the checker had nothing to check")
}

async fn campaign(
    arguments: &Arguments,
    backend: StorageBackend,
    seed: u64,
    faults: &[FaultKind],
) -> anyhow::Result<report::Campaign> {
    let folder = tempfile::Builder::new().prefix("countersign-faults-").tempdir()?;
    // PostgreSQL runs as another user and needs access to its own directory.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711))?;
    let plan = CampaignPlan {
        binary: arguments.binary.canonicalize()?,
        folder: folder.path().to_owned(),
        backend,
        time: Duration::from_secs(arguments.seconds),
        seed,
        faults: faults.to_vec(),
        lying: arguments.prove,
    };
    // An interrupted run leaves no process behind.
    let campaign = tokio::select! {
        campaign = Box::pin(campaign::run(&plan)) => campaign,
        () = interrupted() => Err(anyhow!("interrupted")),
    };
    if arguments.keep {
        eprintln!("kept: {}", folder.keep().display());
    }
    campaign
}

/// Waits for a signal to end.
async fn interrupted() {
    let Ok(mut ended) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = ended.recv() => {}
    }
}

/// A seed that differs from run to run.
fn drawn() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("seed") % 1_000_000_000
}
