//! Runs commands that the operator configured: with `/bin/sh -c`, input on standard input. A
//! command that is no longer awaited is killed with every process it started.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// How many bytes of standard error are kept, counted from its end.
const MAX_STDERR_BYTES: usize = 1024;
/// How many bytes of standard output are kept, counted from its beginning.
const MAX_STDOUT_BYTES: usize = 64 * 1024;

/// How long output is read after the command ended: a process that it left running may hold the
/// pipes open forever.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_millis(200);

/// Runs commands of the operator. Clones share the list of hidden variables.
#[derive(Clone)]
pub struct OperatorCommands {
    hidden: Arc<[String]>,
}

impl OperatorCommands {
    /// Commands inherit the environment without these variables: the server's settings, which
    /// include secrets.
    pub fn new(hidden: Vec<String>) -> Self {
        Self { hidden: hidden.into() }
    }

    /// Runs a command once. Dropping the future kills the command with every process it started.
    pub(crate) async fn run(
        &self,
        command: &str,
        input: &str,
        environment: &[(&str, String)],
    ) -> anyhow::Result<CommandOutput> {
        let mut shell = Command::new("/bin/sh");
        for name in &*self.hidden {
            shell.env_remove(name);
        }
        run(shell, command, input, environment).await
    }
}

/// How a command ended, and its output.
pub(crate) struct CommandOutput {
    pub(crate) status: ExitStatus,
    /// The beginning of standard output.
    pub(crate) answer: Vec<u8>,
    /// The end of standard error.
    pub(crate) complaint: String,
}

async fn run(
    mut shell: Command,
    command: &str,
    input: &str,
    environment: &[(&str, String)],
) -> anyhow::Result<CommandOutput> {
    let mut child = shell
        .arg("-c")
        .arg(command)
        .envs(environment.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .context("cannot run the command")?;
    let mut group = ProcessGroup::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A command need not read its input.
            let _ = stdin.write_all(format!("{input}\n").as_bytes()).await;
        }
    };
    // All three at once: a command may write before it has read all of its input, and a process
    // that it left running may hold a pipe open.
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    let work = async {
        let read = first(stdout, &mut answer);
        let complained = last(stderr, &mut complaint);
        tokio::join!(write, read, complained);
    };
    let status = {
        tokio::pin!(work);
        let ended = tokio::select! {
            () = &mut work => None,
            status = child.wait() => Some(status?),
        };
        match ended {
            Some(status) => {
                // Output that the command wrote before it ended is still in the pipes.
                let _ = tokio::time::timeout(OUTPUT_GRACE_PERIOD, work).await;
                status
            }
            None => child.wait().await?,
        }
    };
    group.0 = None;
    Ok(CommandOutput {
        status,
        answer,
        complaint: String::from_utf8_lossy(&complaint).trim().to_owned(),
    })
}

/// Keeps the beginning of a stream; reads and drops the rest.
async fn first(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    read(from, |said| {
        let room = MAX_STDOUT_BYTES.saturating_sub(kept.len());
        kept.extend(said.iter().take(room));
    })
    .await;
}

/// Keeps the end of a stream.
async fn last(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    read(from, |said| {
        kept.extend(said);
        let surplus = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..surplus);
    })
    .await;
}

async fn read(from: Option<impl AsyncRead + Unpin>, mut keep: impl FnMut(&[u8])) {
    let Some(mut from) = from else { return };
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        keep(buffer.get(..n).unwrap_or_default());
    }
}

/// The process group of a command. Killed when dropped, unless the command ended by itself.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> OperatorCommands {
        OperatorCommands::new(Vec::new())
    }

    #[tokio::test]
    async fn a_command_reads_input_and_writes_output_and_errors() {
        let said = "read line; echo \"got $line\"; echo alas >&2; exit 3";
        let ended = commands().run(said, "{}", &[]).await.unwrap();
        assert_eq!((ended.status.code(), ended.complaint.as_str()), (Some(3), "alas"));
        assert_eq!(ended.answer, b"got {}\n");
    }

    #[tokio::test]
    async fn input_and_output_may_be_larger_than_a_pipe() {
        let input = "x".repeat(1 << 20);
        let command = "cat; cat /dev/zero | head -c 300000 >&2";
        let ended = commands().run(command, &input, &[]).await.unwrap();
        assert!(ended.status.success());
        assert_eq!(ended.answer.len(), MAX_STDOUT_BYTES);
        assert_eq!(ended.complaint.len(), MAX_STDERR_BYTES);
    }

    #[tokio::test]
    async fn hidden_variables_are_not_inherited() {
        let inherits_path = async |hidden: &[&str]| {
            let hidden = hidden.iter().map(|&name| name.to_owned()).collect();
            let output = OperatorCommands::new(hidden).run("export -p", "", &[]).await.unwrap();
            String::from_utf8_lossy(&output.answer).contains(" PATH=")
        };
        assert!(inherits_path(&[]).await);
        assert!(!inherits_path(&["PATH"]).await);
    }

    #[tokio::test]
    async fn a_process_that_it_left_running_is_not_awaited() {
        let commands = commands();
        let left = commands.run("sleep 600 & echo done", "", &[]);
        let ended = tokio::time::timeout(Duration::from_secs(20), left).await.unwrap().unwrap();
        assert_eq!(ended.answer, b"done\n");
    }

    #[tokio::test]
    async fn dropping_it_kills_every_process_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let said = format!("sleep 600 & echo $! > {}; wait", file.display());
        let commands = commands();
        let mut running = Box::pin(commands.run(&said, "", &[]));
        let pid = loop {
            tokio::select! {
                _ = &mut running => panic!("it ended by itself"),
                () = tokio::task::yield_now() => {}
            }
            let written = std::fs::read_to_string(&file).unwrap_or_default();
            if written.ends_with('\n') {
                break Pid::from_raw(written.trim().parse().unwrap()).unwrap();
            }
        };
        drop(running);
        while rustix::process::test_kill_process(pid).is_ok() && !is_dead(pid) {
            tokio::task::yield_now().await;
        }
    }

    /// Whether it ended and its parent has not waited for it yet.
    fn is_dead(pid: Pid) -> bool {
        let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
        std::fs::read_to_string(path).map_or(true, |stat| stat.contains(") Z"))
    }
}
