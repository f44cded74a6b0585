//! The manifests keep the kernel and the dialects pure, and dependencies point one way. Nobody has
//! to remember it: a crate that could read a clock or open a socket does not get in unseen.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

const OURS: &str = "countersign-";

/// What the pure crates may name. A new name here is a decision: see the ADR on dependencies.
const PURE: [(&str, &[&str]); 2] = [
    (
        "kernel",
        &[
            "email_address",
            "hex",
            "imbl",
            "jiff",
            "regex-automata",
            "regex-syntax",
            "serde",
            "serde_json",
            "serde_json_canonicalizer",
            "serde_path_to_error",
            "sha2",
            "subtle",
            "thiserror",
            "ulid",
            "unicode-normalization",
            "unicode-script",
            "unicode-security",
            "url",
            "utoipa",
        ],
    ),
    (
        "dialects",
        &[
            "base64",
            "ed25519-dalek",
            "hex",
            "p256",
            "p384",
            "rsa",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "sha2",
            "subtle",
            "thiserror",
            "utoipa",
        ],
    ),
];

/// What no pure crate may name, whatever the list above says.
const IMPURE: [&str; 24] = [
    "async-trait",
    "axum",
    "axum-server",
    "chrono",
    "deadpool-postgres",
    "fastrand",
    "futures-util",
    "getrandom",
    "hyper",
    "lettre",
    "metrics",
    "object_store",
    "rand",
    "reqwest",
    "rusqlite",
    "rustls",
    "tempfile",
    "tokio",
    "tokio-postgres",
    "tokio-util",
    "tower",
    "tower-http",
    "tracing",
    "uuid",
];

/// Which of our crates may name which.
const DIRECTION: [(&str, &[&str]); 6] = [
    ("kernel", &[]),
    ("dialects", &["kernel"]),
    ("channels", &["kernel"]),
    ("store", &["kernel"]),
    ("client", &["kernel", "dialects"]),
    ("server", &["kernel", "dialects", "channels", "store", "client"]),
];

/// May use anything: nothing depends on them.
const LEAVES: [&str; 2] = ["bench", "fuzz"];

/// Tools that tests of any crate may use: they know nothing of the gateway.
const TEST_TOOLS: [&str; 1] = ["faults"];

/// One direct dependency of a crate.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    name: String,
    only_tests: bool,
}

/// Every crate of the workspace by its short name, with its direct dependencies.
fn workspace() -> BTreeMap<String, BTreeSet<Dependency>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {said}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dependency = |found: &Value| Dependency {
        name: found["name"].as_str().unwrap().to_owned(),
        only_tests: found["kind"] == "dev",
    };
    let package = |found: &Value| {
        let name = found["name"].as_str().unwrap();
        let name = name.strip_prefix(OURS).unwrap_or(name).to_owned();
        (name, found["dependencies"].as_array().unwrap().iter().map(dependency).collect())
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

#[test]
fn pure_crates_name_nothing_that_could_act() {
    let workspace = workspace();
    for (name, allowed) in PURE {
        let outside = |found: &&Dependency| !found.only_tests && !found.name.starts_with(OURS);
        for found in workspace[name].iter().filter(outside) {
            let found = found.name.as_str();
            assert!(!IMPURE.contains(&found), "{name} is pure and cannot use {found}");
            assert!(allowed.contains(&found), "{found} is new in {name}: pure, and with an ADR?");
        }
    }
}

#[test]
fn dependencies_point_one_way() {
    let allowed = BTreeMap::from(DIRECTION);
    for (name, dependencies) in &workspace() {
        if LEAVES.contains(&name.as_str()) {
            continue;
        }
        // Another crate is welcome if it knows nothing of the gateway.
        let allowed = allowed.get(name.as_str()).copied().unwrap_or_default();
        for found in dependencies {
            let Some(other) = found.name.strip_prefix(OURS) else { continue };
            // A crate names itself to switch on its own testing feature.
            let itself = other == name && found.only_tests;
            let tool = found.only_tests && TEST_TOOLS.contains(&other);
            assert!(itself || tool || allowed.contains(&other), "{name} cannot depend on {other}");
        }
    }
}

#[test]
fn the_six_crates_are_there() {
    let workspace = workspace();
    for (name, _) in DIRECTION {
        assert!(workspace.contains_key(name), "{name} is gone; does this test still look at it?");
    }
}

#[test]
fn clippy_bans_the_ambient_clock_randomness_and_environment() {
    let bans = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clippy.toml"));
    let bans = bans.unwrap();
    for banned in [
        "jiff::Timestamp::now",
        "jiff::Zoned::now",
        "std::time::SystemTime::now",
        "rand::rng",
        "std::env::var",
        "std::env::var_os",
        "std::env::vars",
        "tokio::spawn",
    ] {
        assert!(bans.contains(&format!("path = \"{banned}\"")), "clippy.toml must ban {banned}");
    }
}

/// With its `std` feature ulid would bring a random number generator into the pure crates.
#[test]
fn ulids_cannot_be_drawn_here() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let ulid = manifest.lines().find(|line| line.starts_with("ulid = ")).unwrap();
    assert_eq!(ulid, "ulid = { version = \"3\", default-features = false }");
}
