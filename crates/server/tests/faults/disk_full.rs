//! A full disk: a clear error, nothing acknowledged is lost, and recovery when space returns.

use std::path::Path;
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::{AGENT, Caller, HUMAN, until};
use super::support::{Server, clean, serve, verify};

/// More than fits on the small disks of these tests.
const TOO_MANY: usize = 2_000;

/// A file system of its own, gone when dropped.
struct Disk(TempDir);

impl Disk {
    /// Mounting is for root, and in many containers not even for root. Where it is not allowed the
    /// test says so and leaves the proof to the one that limits the size of files, which runs
    /// everywhere.
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "countersign-test"])
            .arg(folder.path())
            .output()
            .unwrap();
        if mounted.status.success() {
            return Some(Self(folder));
        }
        let why = String::from_utf8_lossy(&mounted.stderr).into_owned();
        eprintln!("SKIPPED: a full disk, because a small one cannot be mounted: {why}");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn resize(&self, size: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,size={size}")]).arg(self.path());
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a server that is still ending must not leave the mount behind.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Creates until the store refuses; what was acknowledged, and the refusal.
async fn fill(caller: &Caller) -> (Vec<String>, Value) {
    let body = json!({
        "action": "APPROVE",
        "payload": { "item": "Deploy?", "details": { "log": "x".repeat(8_000) } },
    });
    let mut kept = Vec::new();
    for _ in 0..TOO_MANY {
        let (status, said) = caller.post("/hxp/v1/requests", AGENT, &body).await.unwrap();
        match status {
            201 => kept.push(said["request_id"].as_str().unwrap().to_owned()),
            503 => return (kept, said),
            _ => panic!("{status}: {said}"),
        }
    }
    panic!("the disk never filled")
}

/// The error is the dialect's, everything can be read, and nothing can be half done.
async fn check_full(caller: &Caller, kept: &[String], refusal: &Value) {
    assert_eq!(refusal["error"], "unavailable");
    assert!(refusal["message"].is_string(), "{refusal}");
    let body = json!({ "action": "APPROVE", "payload": { "item": "x".repeat(60_000) } });
    let request = caller.request(Method::POST, "/hxp/v1/requests", AGENT).json(&body);
    let refused = request.send().await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "1");

    assert_eq!(caller.total().await, kept.len() as u64, "a refused create left something");
    for id in kept {
        assert_eq!(caller.poll(id).await["status"], "pending");
    }
    let (status, inbox) = caller.get("/hxp/v1/inbox", HUMAN).await.unwrap();
    assert_eq!((status, inbox["unresolved"].as_u64()), (200, Some(kept.len() as u64)));
    let (status, _) = caller.get("/healthz", HUMAN).await.unwrap();
    assert_eq!(status, 200);
    let ready = caller.request(Method::GET, "/readyz", HUMAN).send().await.unwrap();
    assert_eq!(ready.status(), 503, "a disk that takes no request is not ready");
    let ready: Value = ready.json().await.unwrap();
    assert_eq!(ready["status"], "the database is not writable");
    let reason = ready["reason"].as_str().unwrap();
    assert!(reason.contains("full") || reason.contains("disk I/O error"), "{reason}");
}

/// What was refused works again, and what was kept is as it was.
async fn check_recovered(caller: &Caller, kept: &[String]) {
    until("it is ready again", async || caller.ready().await == 200).await;
    let (status, id) = caller.ask("And now?").await.unwrap();
    assert_eq!(status, 201);
    assert_eq!(caller.resolve(&id, "approved").await.unwrap().0, 200);
    for id in kept {
        assert_eq!(caller.poll(id).await["status"], "pending");
    }
    assert_eq!(caller.resolve(&kept[0], "approved").await.unwrap().0, 200);
}

#[tokio::test]
async fn a_full_disk_is_said_and_survived() {
    let Some(disk) = Disk::new("3m") else { return };
    let data = disk.path().join("data");
    let server = Server::dev(&data);
    let caller = Caller::of(&server);
    let (kept, refusal) = fill(&caller).await;
    assert!(kept.len() > 20, "only {} fitted", kept.len());
    check_full(&caller, &kept, &refusal).await;
    let (code, said) = verify(&data);
    assert_eq!(code, Some(0), "{said}");

    // Space returns while the same process runs on.
    disk.resize("32m");
    check_recovered(&caller, &kept).await;
    server.stop();
    let (code, said) = verify(&data);
    assert_eq!(code, Some(0), "{said}");
}

/// Killed while the disk is full, started while it is full, and started once there is room.
#[tokio::test]
async fn a_kill_on_a_full_disk_loses_nothing() {
    let Some(disk) = Disk::new("3m") else { return };
    let data = disk.path().join("data");
    let server = Server::dev(&data);
    let (kept, _) = fill(&Caller::of(&server)).await;
    server.kill();
    // Whether it can start now is a matter of luck; that it says so and breaks nothing is not.
    match Server::try_start(serve(&data).arg("--dev")) {
        Ok(server) => server.kill(),
        Err((status, said)) => assert_eq!(status.code(), Some(4), "{said}"),
    }
    disk.resize("32m");
    let server = Server::dev(&data);
    check_recovered(&Caller::of(&server), &kept).await;
    server.stop();
    assert_eq!(verify(&data).0, Some(0));
}

/// The same without root: the system refuses to let files grow.
#[tokio::test]
async fn files_that_may_not_grow_are_said_and_survived() {
    let data = tempfile::tempdir().unwrap();
    let mut limited = clean(Command::new("sh"));
    // Blocks of 512 bytes (1024 in some shells). The signal would end the process.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8000; exec \"$@\"", "sh"]);
    let command = serve(data.path());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.arg(command.get_program()).args(command.get_args()).arg("--dev");
    let server = Server::start(&mut limited);
    let caller = Caller::of(&server);
    let (kept, refusal) = fill(&caller).await;
    assert!(kept.len() > 20, "only {} fitted", kept.len());
    check_full(&caller, &kept, &refusal).await;
    server.kill();
    assert_eq!(verify(data.path()).0, Some(0));

    let server = Server::dev(data.path());
    check_recovered(&Caller::of(&server), &kept).await;
    server.stop();
    assert_eq!(verify(data.path()).0, Some(0));
}
