//! The load driver still drives: every scenario once, as small as it gets. Figures of such a run
//! mean nothing; that there is one for everything the server has does.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
fn every_scenario_still_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_countersign-bench"))
        .args(["--smoke", "--out"])
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{}", String::from_utf8_lossy(&run.stderr));

    let report = report(folder.path()).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let whats: Vec<&str> = rows.iter().map(|row| row["what"].as_str().unwrap()).collect();
    for part in [
        "start to",
        "create",
        "poll",
        "WebSocket",
        "SSE",
        "long poll",
        "idle",
        "open asks",
        "PostgreSQL",
        "operations on tasks",
        "whole history",
        "tasks: a page",
        "critical notification",
        "messages counted",
    ] {
        assert!(whats.iter().any(|what| what.contains(part)), "no figure for {part}: {whats:?}");
    }
    for row in rows.iter().filter(|row| !row["figure"].is_null()) {
        let figure = row["figure"].as_f64().unwrap();
        assert!(figure.is_finite(), "{row}");
        assert!(said.contains(row["what"].as_str().unwrap()), "{row} is not in the table");
    }
    // Counted, not timed: these hold on any machine.
    for what in ["100 expiries in one second: fired", "… of those that were due"] {
        let row = rows.iter().find(|row| row["what"] == what).unwrap();
        assert_eq!(row["met"], true, "{row}");
    }
}

#[test]
fn what_it_does_not_know_it_says() {
    let run = Command::new(env!("CARGO_BIN_EXE_countersign-bench")).arg("fly").output().unwrap();
    assert!(!run.status.success());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("fly is none of: start, create"), "{said}");
}

fn report(folder: &Path) -> anyhow::Result<Value> {
    let mut files = std::fs::read_dir(folder)?
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<Vec<_>, _>>()?;
    files.sort();
    let [json, markdown] = files.as_slice() else { anyhow::bail!("not two files: {files:?}") };
    anyhow::ensure!(std::fs::read_to_string(markdown)?.contains("| what | figure |"));
    Ok(serde_json::from_slice(&std::fs::read(json)?)?)
}
