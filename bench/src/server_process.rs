//! The processes under load, and their resource usage.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::http_client::{HttpConnection, PreparedRequest};
use crate::load::LoadTarget;

/// The timeout for the first answer of a server.
const PATIENCE: Duration = Duration::from_mins(1);

/// The unit of processor times in `/proc`. Linux has had no other for decades.
const TICK: Duration = Duration::from_millis(10);

/// A server in its own process. It stops when it is dropped.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start of the process to its first answer.
    pub(crate) started: Duration,
}

impl ServerProcess {
    /// Starts this binary in one of its roles.
    pub(crate) async fn start(role: &str, folder: &Path) -> anyhow::Result<Self> {
        Self::run(role, folder, None).await
    }

    /// Starts one of the nodes on a database.
    pub(crate) async fn node(folder: &Path, database: &str) -> anyhow::Result<Self> {
        Self::run("node", folder, Some(database)).await
    }

    /// Starts a gateway that notifies people through a program at this URL.
    pub(crate) async fn messenger(folder: &Path, program: &str) -> anyhow::Result<Self> {
        Self::run("messenger", folder, Some(program)).await
    }

    async fn run(role: &str, folder: &Path, with: Option<&str>) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let began = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .arg(role)
            .arg(folder)
            .args(with)
            .stdout(Stdio::piped())
            .stderr(log(folder)?)
            .spawn()?;
        let mut line = String::new();
        let said = child.stdout.take().context("its output")?;
        BufReader::new(said).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("{role} said {line:?}"))?;
        let mut served = Self { child, address, started: Duration::ZERO };
        served.answers(began).await?;
        Ok(served)
    }

    /// Starts the gateway of this binary.
    pub(crate) async fn gateway(folder: &Path) -> anyhow::Result<Self> {
        Self::start("gateway", folder).await
    }

    /// Starts the real binary, if it was built.
    pub(crate) async fn countersign(binary: &Path, folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let began = Instant::now();
        let child = Command::new(binary)
            .args(["serve", "--dev", "--listen", &address.to_string(), "--data"])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(log(folder)?)
            .spawn()?;
        let mut served = Self { child, address, started: Duration::ZERO };
        served.answers(began).await?;
        Ok(served)
    }

    /// Waits for the first answer.
    async fn answers(&mut self, began: Instant) -> anyhow::Result<()> {
        let ready = PreparedRequest::get("/readyz", "none");
        while began.elapsed() < PATIENCE {
            if let Ok(mut connection) = HttpConnection::open(self.address).await {
                connection.call(&ready).await?;
                self.started = began.elapsed();
                return Ok(());
            }
            ensure!(self.child.try_wait()?.is_none(), "the server ended at once");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        anyhow::bail!("the server does not answer")
    }

    /// A target with one request.
    pub(crate) fn target(&self, shot: PreparedRequest) -> LoadTarget {
        self.targets(vec![shot])
    }

    /// A target with several requests, sent in turn.
    pub(crate) fn targets(&self, shots: Vec<PreparedRequest>) -> LoadTarget {
        let (address, process) = (self.address, self.child.id());
        LoadTarget { address, process, shots: shots.into(), sent: Arc::default() }
    }

    /// The resident memory, in KiB.
    pub(crate) fn rss(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .context("this system has no /proc")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?;
        Ok(kib.trim().parse()?)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have ended already. No process is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processor time of a process so far, over all threads.
pub(crate) fn processor_time(process: u32) -> anyhow::Result<Duration> {
    Ok(ProcessUsage::of(process)?.own)
}

/// The processor time of a process and its child processes so far, ended ones included.
pub(crate) fn processor_time_of_family(parent: u32) -> anyhow::Result<Duration> {
    let first = ProcessUsage::of(parent)?;
    let mut total = first.own + first.ended_children;
    for entry in std::fs::read_dir("/proc").context("this system has no /proc")? {
        let Some(process) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end while the list is read; its parent counts it then.
        if let Ok(usage) = ProcessUsage::of(process)
            && usage.parent == parent
        {
            total += usage.own + usage.ended_children;
        }
    }
    Ok(total)
}

/// The usage of one process, as `/proc` reports it.
struct ProcessUsage {
    parent: u32,
    own: Duration,
    ended_children: Duration,
}

impl ProcessUsage {
    fn of(process: u32) -> anyhow::Result<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))
            .context("this system has no /proc")?;
        // The name may contain anything, including parentheses. The fields after the last
        // one are numbers.
        let (_, rest) = stat.rsplit_once(") ").context("no name")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |n: usize| -> anyhow::Result<u32> {
            Ok(fields.get(n).context("too few fields")?.parse()?)
        };
        Ok(Self {
            parent: number(1)?,
            own: TICK * (number(11)? + number(12)?),
            ended_children: TICK * (number(13)? + number(14)?),
        })
    }
}

fn log(folder: &Path) -> anyhow::Result<Stdio> {
    let file = std::fs::File::options().create(true).append(true).open(folder.join("log"))?;
    Ok(file.into())
}

/// The directory of this binary. It is on a disk, which the temporary directory may not be.
pub(crate) fn build_folder() -> anyhow::Result<PathBuf> {
    let binary = std::env::current_exe()?;
    Ok(binary.parent().context("a folder")?.to_owned())
}

/// A directory on a disk. It is deleted when it is dropped.
pub(crate) fn scratch() -> anyhow::Result<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(build_folder()?)?)
}

/// The limit for open files and connections of this process, which its child processes inherit.
pub(crate) fn files_allowed() -> anyhow::Result<usize> {
    let limits =
        std::fs::read_to_string("/proc/self/limits").context("this system has no /proc")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).context("no limit")?;
    Ok(if soft == "unlimited" { usize::MAX } else { soft.parse()? })
}
