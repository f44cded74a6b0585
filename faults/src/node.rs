//! The real binary as a child process, which can be started, paused, resumed and killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// The time limit for starting, and for stopping.
const PATIENCE: Duration = Duration::from_mins(1);
/// The master key of all nodes.
const MASTER_KEY: &str = "0f0e0d0c0b0a09080706050403020100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

const PUBLIC_URL: &str = "http://localhost:3402";

/// The settings of a node.
#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// The binary `countersign`.
    pub binary: PathBuf,
    pub data: PathBuf,
    /// The database that nodes share. If absent, `SQLite` in the data directory.
    pub database: Option<String>,
    /// Additional environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// The file for its output.
    pub log: PathBuf,
}

/// A node that keeps its port across restarts.
pub struct ServerNode {
    settings: NodeSettings,
    port: u16,
    child: Option<Child>,
}

impl ServerNode {
    /// A node with a free port.
    pub fn new(settings: NodeSettings) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self { settings, port, child: None })
    }

    /// The address it listens on.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn data(&self) -> &Path {
        &self.settings.data
    }

    /// Starts the process, without waiting until it is ready.
    pub fn start(&mut self) -> anyhow::Result<()> {
        ensure!(self.child.is_none(), "it runs already");
        let log = File::options().create(true).append(true).open(&self.settings.log)?;
        let mut command = self.command(&["serve", "--dev", "--listen", &self.address()]);
        // Nodes that share a database have one public URL: it is the issuer of their receipts.
        command.env("COUNTERSIGN_PUBLIC_URL", PUBLIC_URL);
        command.env("COUNTERSIGN_LOG_FORMAT", "json").stdout(Stdio::null()).stderr(log);
        command.envs(self.settings.environment.iter().map(|(name, value)| (name, value)));
        self.child = Some(command.spawn().context("cannot start countersign")?);
        Ok(())
    }

    /// Waits until it is ready. The error says why it ended, if it did.
    pub async fn ready(&mut self, http: &reqwest::Client) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            if self.is_ready(http).await {
                return Ok(());
            }
            if let Some(status) = self.ended()? {
                bail!("countersign ended: {status}: {}", self.log_tail());
            }
            ensure!(Instant::now() < until, "countersign is not ready: {}", self.log_tail());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether it reports that it is ready.
    pub async fn is_ready(&self, http: &reqwest::Client) -> bool {
        let url = format!("http://{}/readyz", self.address());
        http.get(&url).send().await.is_ok_and(|said| said.status().is_success())
    }

    /// The exit status, if it ended by itself.
    pub fn ended(&mut self) -> anyhow::Result<Option<std::process::ExitStatus>> {
        Ok(self.child.as_mut().map(Child::try_wait).transpose()?.flatten())
    }

    /// Sends `SIGKILL`, and waits until the process has ended.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Sends `SIGSTOP`: the process exists and does nothing.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.signal(Signal::STOP)
    }

    /// Sends `SIGCONT`: a paused process continues.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Sends `SIGTERM`, and waits until it has ended.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)?;
        let until = Instant::now() + PATIENCE;
        while self.ended()?.is_none() {
            ensure!(Instant::now() < until, "countersign does not stop");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child = None;
        Ok(())
    }

    /// Runs `audit verify`. Returns whether it found nothing, and its output.
    pub fn verify(&self) -> anyhow::Result<(bool, String)> {
        let out = self.command(&["audit", "verify"]).output()?;
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        Ok((out.status.success(), said))
    }

    /// The last lines of its log.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.settings.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// A command that inherits only `PATH` from the environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.settings.binary);
        let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        command.env_clear().env("PATH", path).stdin(Stdio::null());
        command.args(arguments).arg("--data").arg(&self.settings.data);
        if let Some(url) = &self.settings.database {
            command.args(["--database", url]).env("COUNTERSIGN_MASTER_KEY", MASTER_KEY);
        }
        command
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let child = self.child.as_ref().context("it does not run")?;
        let id = Pid::from_child(child);
        Ok(kill_process(id, signal)?)
    }
}

impl Drop for ServerNode {
    fn drop(&mut self) {
        // No process is left behind, however a run ends.
        let _ = self.kill();
    }
}
