//! `make bench`: how fast Countersign is beside the parts it is made of.
//!
//! Three processes on loopback: this one makes the load; the other two are this same binary, once
//! as the gateway and once as a bare baseline ([`baseline`]): axum with one writer thread that
//! commits one row and one audit row per request into `SQLite`, as durably as the gateway does, and
//! axum that answers a fixed JSON. Figures are ratios of one run: the machine cancels out.
//!
//! The two are measured in turns, so that a noisy neighbour meets both.

mod baseline;
mod gateway;
mod load;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use load::{Measured, Shot};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each side is measured this often, in turns, for this long.
const TURNS: u32 = 2;
const TURN: Duration = Duration::from_millis(2_500);

const KEY: &str = "dev-agent-key";
const ASK: &str = r#"{"action":"APPROVE","role":"owner","priority":"normal","timeout_seconds":3600,"fallback":"fail","agent_id":"bench","payload":{"item":"Refund €120.00 to Ada Lovelace for order 4711?","details":{"amount":"€120.00","recipient":"ada@example.com","order":4711},"context":"The parcel was lost; the carrier confirmed it this morning."}}"#;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next()) {
        (Some("gateway"), Some(folder)) => runtime.block_on(gateway::serve(Path::new(&folder))),
        (Some("baseline"), Some(folder)) => runtime.block_on(baseline::serve(Path::new(&folder))),
        (None, _) => runtime.block_on(Box::pin(measure())),
        (Some(other), _) => bail!("{other} is not known; run it without arguments"),
    }
}

async fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let gateway = Served::start("gateway", &folder.path().join("gateway"))?;
    let baseline = Served::start("baseline", &folder.path().join("baseline"))?;
    println!(
        "load: raw HTTP/1.1 on keep-alive connections, {} s a figure",
        (TURN * TURNS).as_secs()
    );
    println!(
        "{:<34}{:>12}{:>12}{:>8}{:>22}",
        "", "gateway/s", "bare/s", "ratio", "gateway p50, p99 ms"
    );

    let create = Shot::post("/hxp/v1/requests", KEY, ASK);
    for connections in [32, 256] {
        let name = format!("durable create, {connections} connections");
        let bare = Shot::post("/requests", KEY, ASK);
        compare(&name, connections, (&gateway, &create), (&baseline, &bare)).await?;
    }
    let created = load::once(gateway.address, &create).await?;
    let created: serde_json::Value = serde_json::from_slice(&created)?;
    let id = created["request_id"].as_str().context("a request id")?;
    let poll = Shot::get(&format!("/hxp/v1/requests/{id}"), KEY);
    let bare = Shot::get("/fixed", KEY);
    compare("poll, 32 connections", 32, (&gateway, &poll), (&baseline, &bare)).await
}

/// Measures both in turns and prints a line.
async fn compare(
    name: &str,
    connections: usize,
    ours: (&Served, &Shot),
    bare: (&Served, &Shot),
) -> anyhow::Result<()> {
    let (mut fast, mut base) = (Measured::default(), Measured::default());
    for _ in 0..TURNS {
        fast.add(load::fire(ours.0.address, ours.1, connections, TURN).await?);
        base.add(load::fire(bare.0.address, bare.1, connections, TURN).await?);
    }
    let ratio = fast.rate() / base.rate();
    let [half, most] = [0.5, 0.99].map(|part| fast.percentile(part).as_secs_f64() * 1_000.0);
    println!(
        "{name:<34}{:>12.0}{:>12.0}{ratio:>8.2}{:>22}",
        fast.rate(),
        base.rate(),
        format!("{half:.2}, {most:.2}")
    );
    Ok(())
}

/// One of the two, as a process; ends when dropped.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(role: &str, folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir(folder)?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg(role)
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let said = child.stdout.take().context("its output")?;
        BufReader::new(said).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("{role} said {line:?}"))?;
        Ok(Self { child, address })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Already gone or not: nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
