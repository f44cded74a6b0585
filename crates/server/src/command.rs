//! Commands of the operator's: run by `/bin/sh -c`, told something on standard input, and ended with
//! everything they started when nobody waits for them any more.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::config::variables;

/// How much of what a command complains about is kept: the end of it.
const COMPLAINT: usize = 1024;
/// The longest answer that is read: the beginning of it.
const ANSWER: usize = 64 * 1024;

/// How long what was said is read after the end: something left running may hold the pipes for ever.
const LINGER: Duration = Duration::from_millis(200);

/// What came of a command.
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What it said.
    pub(crate) answer: Vec<u8>,
    /// What it complained about.
    pub(crate) complaint: String,
}

/// Runs a command once. Dropping this ends it with everything it started.
pub(crate) async fn run(
    command: &str,
    told: &str,
    environment: &[(&str, String)],
) -> anyhow::Result<Ended> {
    let mut shell = Command::new("/bin/sh");
    // Our own settings, secrets among them, are none of its business.
    for name in variables() {
        shell.env_remove(name);
    }
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
    let mut group = Group::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let tell = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read it is welcome.
            let _ = stdin.write_all(format!("{told}\n").as_bytes()).await;
        }
    };
    // All at once: a command that answers before it has read everything must not wait for us, nor we
    // for what it left running with our end of a pipe in its hands.
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    let work = async {
        let read = first(stdout, &mut answer);
        let complained = last(stderr, &mut complaint);
        tokio::join!(tell, read, complained);
    };
    let status = {
        tokio::pin!(work);
        let ended = tokio::select! {
            () = &mut work => None,
            status = child.wait() => Some(status?),
        };
        match ended {
            Some(status) => {
                // What was said before the end is still in the pipes.
                let _ = tokio::time::timeout(LINGER, work).await;
                status
            }
            None => child.wait().await?,
        }
    };
    group.0 = None;
    Ok(Ended { status, answer, complaint: String::from_utf8_lossy(&complaint).trim().to_owned() })
}

/// The beginning of what is said; the rest is read and dropped.
async fn first(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    read(from, |said| {
        let room = ANSWER.saturating_sub(kept.len());
        kept.extend(said.iter().take(room));
    })
    .await;
}

/// The end of what is said.
async fn last(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    read(from, |said| {
        kept.extend(said);
        let surplus = kept.len().saturating_sub(COMPLAINT);
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

/// The process group of a command; ended when dropped, unless the command ended by itself.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Gone already is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_reads_answers_and_complains() {
        let said = "read line; echo \"got $line\"; echo alas >&2; exit 3";
        let ended = run(said, "{}", &[]).await.unwrap();
        assert_eq!((ended.status.code(), ended.complaint.as_str()), (Some(3), "alas"));
        assert_eq!(ended.answer, b"got {}\n");
    }

    /// More goes in and comes out than pipes hold, at the same time.
    #[tokio::test]
    async fn much_goes_in_and_out() {
        let told = "x".repeat(1 << 20);
        let ended = run("cat; cat /dev/zero | head -c 300000 >&2", &told, &[]).await.unwrap();
        assert!(ended.status.success());
        assert_eq!(ended.answer.len(), ANSWER);
        assert_eq!(ended.complaint.len(), COMPLAINT);
    }

    #[tokio::test]
    async fn what_it_left_behind_is_not_waited_for() {
        let left = run("sleep 600 & echo done", "", &[]);
        let ended = tokio::time::timeout(Duration::from_secs(20), left).await.unwrap().unwrap();
        assert_eq!(ended.answer, b"done\n");
    }

    #[tokio::test]
    async fn nobody_waiting_ends_it_with_everything_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let said = format!("sleep 600 & echo $! > {}; wait", file.display());
        let mut running = Box::pin(run(&said, "", &[]));
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

    /// Whether nobody has buried it yet.
    fn is_dead(pid: Pid) -> bool {
        let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
        std::fs::read_to_string(path).map_or(true, |stat| stat.contains(") Z"))
    }
}
