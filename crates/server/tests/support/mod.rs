//! The real binary as a child process: started on a free port, watched, ended by its id.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long anything may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// `countersign` with an environment of its own.
pub(crate) fn countersign() -> Command {
    clean(Command::new(env!("CARGO_BIN_EXE_countersign")))
}

/// A command that sees nothing of the environment of the tests but where programs are.
pub(crate) fn clean(mut command: Command) -> Command {
    let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    command.env_clear().env("PATH", path).stdin(Stdio::null());
    command
}

/// A server that runs until it is ended or dropped.
pub(crate) struct Server {
    child: Child,
    logs: TempDir,
    /// Where it listens, without a slash at the end.
    pub(crate) url: String,
    /// From the start of the process until it was ready.
    pub(crate) took: Duration,
}

impl Server {
    /// `serve --dev` on a data folder.
    pub(crate) fn dev(data: &Path) -> Self {
        Self::start(serve(data).arg("--dev"))
    }

    /// Any command that ends up serving; its standard output must say where.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|(status, said)| panic!("{status}: {said}"))
    }

    /// The same, for a server that may refuse: then how it exited and what it said.
    pub(crate) fn try_start(command: &mut Command) -> Result<Self, (ExitStatus, String)> {
        let logs = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(logs.path().join(name)).unwrap();
        let started = Instant::now();
        let child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
        let mut server = Self { child, logs, url: String::new(), took: Duration::ZERO };
        loop {
            // The data folder is the last thing it names before it is ready.
            let said = server.stdout();
            if let Some((before, _)) = said.split_once("  Data  ") {
                let inbox = before.lines().find_map(|line| line.trim().strip_prefix("Inbox "));
                inbox.unwrap().trim().trim_end_matches('/').clone_into(&mut server.url);
                server.took = started.elapsed();
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait().unwrap() {
                return Err((status, server.stderr()));
            }
            assert!(started.elapsed() < PATIENCE, "not ready: {said}{}", server.stderr());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> &str {
        self.url.rsplit_once(':').unwrap().1
    }

    /// What it printed.
    pub(crate) fn stdout(&self) -> String {
        fs::read_to_string(self.logs.path().join("out")).unwrap()
    }

    /// What it logged.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.logs.path().join("err")).unwrap()
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), self.id().to_string()]);
        assert!(kill.status().unwrap().success());
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually("the server ends", || self.child.try_wait().unwrap())
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        let status = self.ended();
        assert!(status.success(), "{status}: {}", self.stderr());
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended or not: nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `serve` on a free port of loopback with a data folder.
pub(crate) fn serve(data: impl AsRef<OsStr>) -> Command {
    let mut command = countersign();
    // From the environment, so that a test may give the flags.
    command.env("COUNTERSIGN_LISTEN", "127.0.0.1:0").env("COUNTERSIGN_LOG_FORMAT", "json");
    command.arg("serve").arg("--data").arg(data);
    command
}

/// Looks until there is something to see.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < until, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// `audit verify` on a data folder.
pub(crate) fn verify(data: &Path) -> (Option<i32>, String) {
    let out = countersign().args(["audit", "verify", "--data"]).arg(data).output().unwrap();
    let said = [out.stdout, out.stderr].concat();
    (out.status.code(), String::from_utf8(said).unwrap())
}
