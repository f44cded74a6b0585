//! A `PostgreSQL` of its own, to be killed.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::place::{server, skipped};
use super::support::{clean, eventually};

pub(crate) struct Cluster {
    folder: TempDir,
    pub(crate) url: String,
}

impl Cluster {
    /// Nothing where there is no `PostgreSQL`. Says so, and in CI there must be one.
    pub(crate) fn start() -> Option<Self> {
        server()?;
        let folder = tempfile::tempdir().unwrap();
        let made = script("start", &folder).output().unwrap();
        if !made.status.success() {
            skipped("PostgreSQL is not installed here");
            return None;
        }
        let url = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        Some(Self { folder, url })
    }

    /// `kill -9`, the whole of it at once.
    pub(crate) fn kill(&self) {
        let file = self.folder.path().join("postgres/data/postmaster.pid");
        let first = fs::read_to_string(file).unwrap().lines().next().unwrap().parse().unwrap();
        // Held still, it has no more children while they are counted.
        signal("-STOP", &[first]);
        let family: Vec<u32> = [first].into_iter().chain(children(first)).collect();
        signal("-9", &family);
        eventually("it is dead", || family.iter().all(|id| !is_alive(*id)).then_some(()));
    }

    /// Starts it again, on what it had on disk.
    pub(crate) fn restart(&self) {
        assert!(script("again", &self.folder).status().unwrap().success());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = script("stop", &self.folder).status();
    }
}

fn script(verb: &str, folder: &TempDir) -> Command {
    let mut command = clean(Command::new("sh"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/postgres");
    command.arg(path).arg(verb).arg(folder.path());
    command
}

/// Some may have ended by themselves.
fn signal(name: &str, ids: &[u32]) {
    let mut kill = Command::new("kill");
    kill.arg(name).args(ids.iter().map(u32::to_string)).stderr(Stdio::null());
    kill.status().unwrap();
}

/// State and parent of a process, as the kernel writes them behind its name.
fn status(id: &str) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(") ")?;
    let mut words = behind.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let of_parent = |id: &String| status(id).is_some_and(|(_, its)| its == parent);
    let ids = processes.filter_map(|name| name.into_string().ok()).filter(of_parent);
    ids.map(|id| id.parse().unwrap()).collect()
}

fn is_alive(id: u32) -> bool {
    status(&id.to_string()).is_some_and(|(state, _)| state != "Z")
}
