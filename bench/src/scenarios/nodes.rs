//! Nodes on their own PostgreSQL, compared with `pgbench` that writes the same two rows per create
//! into the same server, in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;

use super::create_shot;
use super::waiting::WaitMode;
use super::wake::pairs;
use crate::gateway::ASK;
use crate::load::{LoadResult, fire};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, processor_time_of_family, scratch};

const CONNECTIONS: usize = 32;
/// The script that starts and stops PostgreSQL, as in the tests.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/postgres");

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let Some(database) = DatabaseServer::start()? else {
        return Ok(vec![Measurement::missing(
            "nodes on PostgreSQL",
            "PostgreSQL is not installed here",
        )]);
    };
    let folder = scratch()?;
    database.prepare()?;
    let one = ServerProcess::node(&folder.path().join("one"), &database.url).await?;
    let first = one.target(create_shot());
    let other = async || ServerProcess::node(&folder.path().join("other"), &database.url).await;
    let (mut bare, mut alone, mut database_time) = (0.0, LoadResult::new()?, Duration::ZERO);
    let (mut left, mut right) = (LoadResult::new()?, LoadResult::new()?);
    for _ in 0..scale.turns {
        bare += database.pgbench(scale)? / f64::from(scale.turns);
        let before = database.processor_time()?;
        alone.add(&fire(&first, CONNECTIONS, scale.turn).await?)?;
        database_time += database.processor_time()?.saturating_sub(before);
        // A node that only follows also has a cost.
        let other = other().await?;
        let second = other.target(create_shot());
        let (here, there) = tokio::try_join!(
            fire(&first, CONNECTIONS / 2, scale.turn),
            fire(&second, CONNECTIONS / 2, scale.turn)
        )?;
        left.add(&here)?;
        right.add(&there)?;
    }
    let single = Measurement::new(
        "PostgreSQL: durable create, one node, 32 connections",
        alone.rate(),
        "/s",
    )
    .against(bare)
    .goal(Goal::AtLeast(0.38))
    .note(format!("{}; against pgbench, 32 clients", alone.words()));
    let micros = database_time.as_secs_f64() * 1e6 / alone.all_answers();
    let inside = Measurement::new("… processor time of the database for one create", micros, "µs")
        .goal(Goal::AtMost(130.0));
    let double =
        Measurement::new("… two nodes, 16 connections each", left.rate() + right.rate(), "/s")
            .against(alone.rate())
            .goal(Goal::AtLeast(0.9))
            .note(format!("{}; {}", left.words(), right.words()));
    let other = other().await?;
    let timed = pairs(one.address, other.address, WaitMode::WebSocket, scale.wakes).await?;
    let across =
        Measurement::new("… answer on one node → agent on the other: p99", timed.woken.p99(), "ms")
            .goal(Goal::AtMost(30.0))
            .note(format!(
                "WebSocket, p50 {:.2} ms; answer acknowledged {}; create {}",
                timed.woken.p50(),
                timed.acknowledged.words(),
                timed.created.words(),
            ));
    Ok(vec![single, inside, double, across])
}

/// A separate database server. It stops when it is dropped.
struct DatabaseServer {
    folder: TempDir,
    url: String,
}

impl DatabaseServer {
    fn start() -> anyhow::Result<Option<Self>> {
        let folder = scratch()?;
        let made = script("start", folder.path())?;
        let url = String::from_utf8(made.stdout)?.trim().to_owned();
        Ok(made.status.success().then_some(Self { folder, url }))
    }

    /// Prepares the tables and the script of `pgbench`: the two rows of a create.
    fn prepare(&self) -> anyhow::Result<()> {
        let tables = "CREATE TABLE bare_request (n bigserial PRIMARY KEY, body text NOT NULL);
             CREATE TABLE bare_audit (n bigserial PRIMARY KEY, request bigint NOT NULL,
                                      hash bytea NOT NULL, body text NOT NULL);";
        let made = Command::new("psql").args(["-q", "-c", tables, &self.url]).output()?;
        ensure!(made.status.success(), "psql: {}", String::from_utf8_lossy(&made.stderr));
        let body = ASK.replace('\'', "''");
        let write = format!(
            "WITH made AS (INSERT INTO bare_request (body) VALUES ('{body}') RETURNING n)
             INSERT INTO bare_audit (request, hash, body)
             SELECT n, sha256('{body}'::bytea), '{body}' FROM made;"
        );
        Ok(std::fs::write(self.write(), write.replace('\n', " "))?)
    }

    /// The processor time of the server so far, over all its processes, ended ones included.
    fn processor_time(&self) -> anyhow::Result<Duration> {
        let text =
            std::fs::read_to_string(self.folder.path().join("postgres/data/postmaster.pid"))?;
        let server = text.lines().next().context("no process id")?.trim().parse()?;
        processor_time_of_family(server)
    }

    fn write(&self) -> PathBuf {
        self.folder.path().join("write.sql")
    }

    /// Transactions per second, one round trip each.
    fn pgbench(&self, scale: &Scale) -> anyhow::Result<f64> {
        let seconds = scale.turn.as_secs_f64().ceil().to_string();
        let clients = CONNECTIONS.to_string();
        let ran = Command::new("pgbench")
            .args(["-n", "-M", "prepared", "-j", "2", "-c", &clients, "-T", &seconds, "-f"])
            .arg(self.write())
            .arg(&self.url)
            .output()
            .context("pgbench")?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
        let rate = rate.with_context(|| {
            format!("pgbench said {said}{}", String::from_utf8_lossy(&ran.stderr))
        })?;
        Ok(rate.parse()?)
    }
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        // The directory is deleted in any case.
        let _ = script("stop", self.folder.path());
    }
}

fn script(verb: &str, folder: &Path) -> std::io::Result<Output> {
    Command::new("sh").arg(SCRIPT).arg(verb).arg(folder).output()
}
