//! A separate `PostgreSQL` that can be killed and restarted, created by `.ci/postgres`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/postgres");
/// The time limit for processes to die after `SIGKILL`.
const PATIENCE: Duration = Duration::from_secs(20);

/// `PostgreSQL` did not start again with its data on disk.
#[derive(Debug)]
pub struct DatabaseLost;

impl std::fmt::Display for DatabaseLost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgreSQL did not start again")
    }
}

impl std::error::Error for DatabaseLost {}

/// A running database server. It stops when it is dropped.
pub struct PostgresCluster {
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// The connection URL.
    pub url: String,
}

impl PostgresCluster {
    /// Creates one in a directory. Fails if `PostgreSQL` is not installed. The environment
    /// variables are added to those of its processes.
    pub fn start(folder: &Path, environment: Vec<(OsString, OsString)>) -> anyhow::Result<Self> {
        let mut command = script("start", folder, &environment);
        let made = command.stderr(Stdio::inherit()).output().context("cannot run .ci/postgres")?;
        ensure!(made.status.success(), "PostgreSQL cannot be started; is it installed?");
        let url = String::from_utf8(made.stdout)?.trim().to_owned();
        Ok(Self { folder: folder.to_owned(), environment, url })
    }

    /// The data directory of a server that is started in this directory.
    pub fn data(folder: &Path) -> PathBuf {
        folder.join("postgres/data")
    }

    /// Sends `SIGKILL` to the postmaster and all of its children at once.
    pub fn kill(&self) -> anyhow::Result<()> {
        let first = self.postmaster().context("PostgreSQL does not run")?;
        // A stopped postmaster starts no further children while they are listed.
        signal(first, Signal::STOP);
        let family: Vec<i32> = [first].into_iter().chain(children(first)?).collect();
        for id in &family {
            signal(*id, Signal::KILL);
        }
        let until = Instant::now() + PATIENCE;
        while family.iter().any(|id| is_alive(*id)) {
            ensure!(Instant::now() < until, "PostgreSQL does not die");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Starts it again with its data on disk.
    pub fn restart(&self) -> anyhow::Result<()> {
        let status = script("again", &self.folder, &self.environment).status()?;
        if status.success() { Ok(()) } else { Err(DatabaseLost.into()) }
    }

    /// Whether its postmaster is alive. It ends by itself when its disk is full for too long.
    pub fn is_alive(&self) -> bool {
        self.postmaster().is_some_and(is_alive)
    }

    fn postmaster(&self) -> Option<i32> {
        let file = Self::data(&self.folder).join("postmaster.pid");
        fs::read_to_string(file).ok()?.lines().next()?.parse().ok()
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        let _ = script("stop", &self.folder, &[]).status();
    }
}

fn script(verb: &str, folder: &Path, environment: &[(OsString, OsString)]) -> Command {
    let mut command = Command::new("sh");
    let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    command.env_clear().env("PATH", path).stdin(Stdio::null());
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.arg(SCRIPT).arg(verb).arg(folder);
    command
}

/// Sends a signal. The process may have ended already.
fn signal(id: i32, signal: Signal) {
    if let Some(id) = Pid::from_raw(id) {
        let _ = kill_process(id, signal);
    }
}

/// State and parent of a process, which the kernel writes after its name.
fn status(id: &str) -> Option<(String, i32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(") ")?;
    let mut words = behind.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

fn children(parent: i32) -> anyhow::Result<Vec<i32>> {
    let names =
        fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let of_parent = |id: &String| status(id).is_some_and(|(_, its)| its == parent);
    Ok(names.filter(of_parent).filter_map(|id| id.parse().ok()).collect())
}

fn is_alive(id: i32) -> bool {
    status(&id.to_string()).is_some_and(|(state, _)| state != "Z")
}
