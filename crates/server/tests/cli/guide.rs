//! The guide to our own API: every example in it runs as it stands there.

use std::path::Path;
use std::process::Command;

use server::config::variable;

use super::support::{Server, clean};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");

/// The examples, one after the other in one shell: later ones use what earlier ones made.
fn script() -> String {
    let guide = std::fs::read_to_string(Path::new(GUIDE)).unwrap();
    let blocks = guide.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.collect::<Vec<_>>().join("\necho\n")
}

/// curl, unless there is none: then the examples are skipped loudly, and in CI that is a failure.
fn curl() -> bool {
    let found =
        Command::new("curl").arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        assert!(variable("CI").as_deref() != Some("true"), "curl is needed in CI");
        eprintln!("SKIPPED: the examples of docs/api.md, because there is no curl");
    }
    found
}

#[test]
fn the_examples_of_the_guide_run() {
    if !curl() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let script = script().replace("http://localhost:3402", &server.url);
    let ran = clean(Command::new("sh")).args(["-e", "-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let wrong = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: {said}{wrong}", ran.status);
    for expected in [
        "\"kind\":\"agent\"",
        "\"label\":\"Frankfurt\"",
        "\"outcome\":\"completed\"",
        "\"name\":\"contract.txt\"",
        "event: ready",
        "event: answered",
        "\"valid\":true",
        "\"event\":\"asked\"",
        "\"id\":\"ops\"",
        "\"secret\":\"cs_agent_",
    ] {
        assert!(said.contains(expected), "{expected} is missing in {said}");
    }
    server.stop();
}
