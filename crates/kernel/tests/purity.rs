//! The manifests keep the kernel, the dialects and the views pure, and dependencies point one way,
//! between crates and between the modules of a crate. Nobody has to remember it: a crate that could
//! read a clock or open a socket does not get in unseen, and neither does a cycle.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const OURS: &str = "countersign-";

/// What the pure crates may name. A new name here is a decision: see the ADR on dependencies.
const PURE: [(&str, &[&str]); 3] = [
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
    (
        "views",
        &[
            "askama",
            "fluent-bundle",
            "hex",
            "icu_datetime",
            "icu_decimal",
            "icu_locale_core",
            "jiff",
            "jiff-icu",
            "pulldown-cmark",
            "serde",
            "serde_json",
            "sha2",
            "similar",
            "unic-langid",
            "url",
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
const DIRECTION: [(&str, &[&str]); 9] = [
    ("kernel", &[]),
    ("dialects", &["kernel"]),
    ("views", &["kernel", "dialects"]),
    ("channels", &["kernel", "dialects", "views"]),
    ("store", &["kernel"]),
    ("client", &["kernel", "dialects"]),
    ("gateway", &["kernel", "dialects", "views", "channels", "store"]),
    ("notify", &["kernel", "dialects", "views", "channels", "store", "gateway"]),
    (
        "server",
        &["kernel", "dialects", "views", "channels", "store", "gateway", "notify", "client"],
    ),
];

/// The crates whose top-level modules form no cycle. The kernel is one domain whose aggregates
/// share a vocabulary, so it is not one of them.
const ACYCLIC: [&str; 6] = ["channels", "gateway", "notify", "server", "store", "views"];

/// The crates of the use cases, and of what happens after a commit.
const USE_CASES: [&str; 2] = ["gateway", "notify"];

/// What no use case may name: these serve HTTP, render HTML or read settings.
const NOT_FOR_USE_CASES: [&str; 7] =
    ["askama", "axum", "axum-server", "clap", "hyper-util", "tower", "tower-http"];

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
fn use_cases_serve_no_http_render_no_html_and_read_no_settings() {
    let workspace = workspace();
    for name in USE_CASES {
        for found in &workspace[name] {
            let found = found.name.as_str();
            assert!(!NOT_FOR_USE_CASES.contains(&found), "{name} cannot use {found}");
        }
    }
}

#[test]
fn top_level_modules_form_no_cycle() {
    for name in ACYCLIC {
        let imports = module_imports(name);
        assert!(imports.len() > 5, "{name} has few modules; does this test still look at it?");
        if let Some(cycle) = cycle(&imports) {
            panic!("modules of {name} depend on each other: {}", cycle.join(" → "));
        }
    }
}

#[test]
fn a_cycle_is_found_and_a_tree_is_none() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = BTreeMap::<String, BTreeSet<String>>::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    let diamond = graph(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]);
    assert_eq!(cycle(&diamond), None);
    let ring = graph(&[("z", "a"), ("a", "b"), ("b", "c"), ("c", "a")]);
    assert_eq!(cycle(&ring).unwrap().len(), 4);
    let named = "use crate::{one::One, two};\nfn f() { crate::three::run() }\n// crate::four\n";
    let expected = ["one", "two", "three"].map(str::to_owned);
    assert_eq!(named_modules(named), BTreeSet::from(expected));
}

/// Which top-level module of a crate names which others. Tests may name anything.
fn module_imports(crate_name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
    let mut imports = BTreeMap::<String, BTreeSet<String>>::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let found = imports.entry(module.clone()).or_default();
        for source in sources(&path) {
            let text = fs::read_to_string(&source).unwrap();
            let production = text.split("#[cfg(test)]").next().unwrap_or_default();
            found.extend(named_modules(production).into_iter().filter(|named| *named != module));
        }
    }
    let modules: BTreeSet<String> = imports.keys().cloned().collect();
    for found in imports.values_mut() {
        found.retain(|named| modules.contains(named));
    }
    imports
}

/// The Rust files at a path, without those that only tests use.
fn sources(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap_or_default();
    if ["tests", "testing", "suite"].iter().any(|only_tests| stem == *only_tests) {
        return Vec::new();
    }
    if !path.is_dir() {
        let rust = path.extension().is_some_and(|kind| kind == "rs");
        return if rust { vec![path.to_owned()] } else { Vec::new() };
    }
    fs::read_dir(path).unwrap().flat_map(|entry| sources(&entry.unwrap().path())).collect()
}

/// The modules that a text names behind `crate::`, outside comments.
fn named_modules(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => found.extend(first_name(rest)),
            // A list: each of its items begins with a name, and lists within it are of one module.
            Some(list) => {
                let mut depth = 0;
                let mut begins = true;
                for (at, character) in list.char_indices() {
                    match character {
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        '{' => depth += 1,
                        ',' if depth == 0 => begins = true,
                        _ if character.is_whitespace() => {}
                        _ if begins => {
                            found.extend(first_name(&list[at..]));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

/// The name a text begins with, if it is one of a module.
fn first_name(text: &str) -> Option<String> {
    let name: String = text
        .chars()
        .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

/// A way through the graph that comes back to where it was, the first module named again at its
/// end.
fn cycle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        at: &str,
        graph: &BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = way.iter().position(|module| module == at) {
            let mut found = way[begin..].to_vec();
            found.push(at.to_owned());
            return Some(found);
        }
        if done.contains(at) {
            return None;
        }
        way.push(at.to_owned());
        let next = graph.get(at).into_iter().flatten();
        let found = next.into_iter().find_map(|next| visit(next, graph, way, done));
        way.pop();
        done.insert(at.to_owned());
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| visit(module, graph, &mut Vec::new(), &mut done))
}

/// A search for a type finds one type. Wire modules mirror their specification, and the client is
/// a library of its own whose users expect `Ask` and `Receipt`.
#[test]
fn public_type_names_occur_once() {
    // Two implementations, of which a feature selects one.
    const ALTERNATIVES: [&str; 1] = ["Passkeys"];
    let mut places = BTreeMap::<String, Vec<PathBuf>>::new();
    for (name, _) in DIRECTION.iter().filter(|(name, _)| *name != "client") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        for path in sources(&folder) {
            let is_wire = path.iter().any(|part| part.to_string_lossy().starts_with("wire"));
            let text = fs::read_to_string(&path).unwrap();
            let production = text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in production.lines().filter(|_| !is_wire).filter_map(public_type) {
                places.entry(name).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 1_000, "only {} types: does this test still read them?", places.len());
    places.retain(|name, places| places.len() > 1 && !ALTERNATIVES.contains(&name.as_str()));
    assert!(places.is_empty(), "used more than once: {places:#?}");
}

/// The type that a line declares, if other modules can use it.
fn public_type(line: &str) -> Option<String> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = match line.strip_prefix('(') {
        Some(scoped) => scoped.split_once(')')?.1,
        None => line,
    };
    let mut words = line.trim_start().splitn(2, ' ');
    let kind = words.next()?;
    let name = words.next().filter(|_| ["struct", "enum", "trait"].contains(&kind))?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    // A macro declares `$name`.
    Some(name[..end].to_owned()).filter(|name| !name.is_empty())
}

#[test]
fn declarations_are_recognised() {
    for (line, name) in [
        ("pub struct Ask {", Some("Ask")),
        ("    pub(in crate::http) enum ListOwner<'a> {", Some("ListOwner")),
        ("pub(super) trait SqlStore: Send {", Some("SqlStore")),
        ("pub struct Secret(String);", Some("Secret")),
        ("struct Private;", None),
        ("pub fn ask() {}", None),
        ("pub struct $name {", None),
    ] {
        assert_eq!(public_type(line).as_deref(), name, "{line}");
    }
}

#[test]
fn the_crates_are_there() {
    let workspace = workspace();
    for (name, _) in DIRECTION {
        assert!(workspace.contains_key(name), "{name} is gone; does this test still look at it?");
    }
}

#[test]
fn clippy_bans_the_ambient_clock_randomness_and_environment() {
    let bans = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clippy.toml"));
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
    let manifest = fs::read_to_string(manifest).unwrap();
    let ulid = manifest.lines().find(|line| line.starts_with("ulid = ")).unwrap();
    assert_eq!(ulid, "ulid = { version = \"3\", default-features = false }");
}
