//! Blocks around the real binary: killed between a commit and its block, killed under load, checked
//! and exported while it works, and what its anchor command gets to see.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::agent::Caller;
use super::support::{PATIENCE, Server, countersign, eventually, serve};

fn sealing(data: &Path, seconds: &str) -> Server {
    Server::start(serve(data).arg("--dev").args(["--seal-seconds", seconds]))
}

/// `audit verify --json`, which must find nothing wrong.
fn sound(data: &Path, more: &[&str]) -> Value {
    let mut verify = countersign();
    verify.args(["audit", "verify", "--json", "--data"]).arg(data).args(more);
    let out = verify.output().unwrap();
    let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
    assert_eq!(out.status.code(), Some(0), "{said}");
    serde_json::from_str(&said).unwrap()
}

fn last_block(report: &Value) -> String {
    let block = &report["last_block"];
    format!("{}:{}", block["n"], block["hash"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_committed_before_a_kill_is_sealed_after_it() {
    let data = tempfile::tempdir().unwrap();
    let server = sealing(data.path(), "86400");
    let caller = Caller::of(&server);
    for n in 0..20 {
        caller.ask(&format!("Number {n}?")).await.unwrap();
    }
    assert!(sound(data.path(), &[])["not_sealed"].as_u64().unwrap() >= 20);
    server.kill();
    let open = sound(data.path(), &[]);
    assert!(open["not_sealed"].as_u64().unwrap() >= 20, "{open}");

    let server = sealing(data.path(), "86400");
    let sealed = eventually("the start seals", || {
        let report = sound(data.path(), &[]);
        (report["blocks"].as_u64() > open["blocks"].as_u64()).then_some(report)
    });
    assert!(sealed["not_sealed"].as_u64().unwrap() < 20, "{sealed}");
    server.stop();
    let stopped = sound(data.path(), &["--since-block", &last_block(&sealed)]);
    assert_eq!(stopped["not_sealed"], 0, "a graceful stop seals everything");
}

/// The chain of blocks goes on through every kill and never forks; a check beside the running
/// server finds nothing wrong, and neither does one of an export made meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_under_load_leaves_one_chain() {
    let data = tempfile::tempdir().unwrap();
    let mut known: Option<String> = None;
    for round in 0..3 {
        let server = sealing(data.path(), "0");
        let asked = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for _ in 0..6 {
            let (caller, asked) = (Caller::of(&server), Arc::clone(&asked));
            workers.spawn(async move {
                while let Ok((status, id)) = caller.ask("Deploy?").await {
                    assert_eq!(status, 201);
                    asked.fetch_add(1, Ordering::Relaxed);
                    if caller.resolve(&id, "approved").await.is_err() {
                        return;
                    }
                }
            });
        }
        // Long enough for a block or two.
        let blocks = |report: &Value| report["blocks"].as_u64().unwrap();
        let before = blocks(&sound(data.path(), &[]));
        tokio::time::timeout(PATIENCE, async {
            while asked.load(Ordering::Relaxed) < 60 || blocks(&sound(data.path(), &[])) == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .expect("a block under load");
        let file = data.path().join("live.jsonl");
        let mut export = countersign();
        export.args(["audit", "export", "--data"]).arg(data.path()).arg("--out").arg(&file);
        assert!(export.status().unwrap().success());
        let exported = sound(data.path(), &["--export", file.to_str().unwrap()]);
        assert!(exported["events"].as_u64().unwrap() >= 60);
        server.kill();
        workers.join_all().await;

        let since: Vec<&str> =
            known.iter().flat_map(|known| ["--since-block", known.as_str()]).collect();
        let report = sound(data.path(), &since);
        assert!(blocks(&report) > before, "round {round}: {report}");
        known = Some(last_block(&report));
    }
}

/// The command gets the block and none of our secrets.
#[test]
fn the_anchor_command_sees_no_setting_of_ours() {
    let data = tempfile::tempdir().unwrap();
    let out = data.path().join("seen");
    let command = format!("cat > /dev/null; env > {0}.new && mv {0}.new {0}", out.display());
    let server = Server::start(
        serve(data.path())
            .arg("--dev")
            .env("COUNTERSIGN_SEAL_SECONDS", "0")
            .env("COUNTERSIGN_ANCHOR_COMMAND", command)
            .env("COUNTERSIGN_EVIDENCE_SECRET", "hush")
            .env("AGENT_API_KEYS", "hush-hush")
            .env("OPERATORS_OWN", "kept"),
    );
    let seen = eventually("the command runs", || std::fs::read_to_string(&out).ok());
    assert!(seen.contains("COUNTERSIGN_BLOCK_N=1\n"), "{seen}");
    assert!(seen.contains("OPERATORS_OWN=kept\n"), "{seen}");
    assert!(!seen.contains("hush"), "{seen}");
    server.stop();
}
