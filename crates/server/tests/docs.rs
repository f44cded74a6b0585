//! What the documents promise and a machine can check: links lead somewhere, paths exist, every
//! setting and every error code is explained, every requirement names a test that is there.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel::topic::Topic;
use server::config::{Settings, variables};
use server::http::problem::PAGES;

#[path = "docs/rust_blocks.rs"]
mod rust_blocks;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every Markdown file under a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| path.extension().is_some_and(|kind| kind == "md"));
    found
}

/// Every document people read, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "clients/python/README.md",
        "clients/typescript/README.md",
    ];
    let top = top.into_iter().map(|name| root.join(name));
    let all = top.chain(markdown(&root.join("docs")));
    all.map(|path| (path.clone(), fs::read_to_string(&path).unwrap_or_default())).collect()
}

/// The lines outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// What stands in backticks on a line, and the line without it.
fn backticks(line: &str) -> (Vec<&str>, String) {
    let mut parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // An odd backtick opens nothing.
        parts.pop();
    }
    let quoted = parts.iter().skip(1).step_by(2).copied().collect();
    let rest: Vec<&str> = parts.iter().step_by(2).copied().collect();
    (quoted, rest.join("`"))
}

/// The targets of `[text](target)` and of pictures.
fn links(line: &str) -> Vec<&str> {
    let linked = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let pictures = line.split("src=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    linked.chain(pictures).map(|(to, _)| to).collect()
}

/// Packages show their READMEs elsewhere, so these link to the repository.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// How a heading is linked to.
fn slug(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_documents_are_there() {
    let wrong: Vec<String> = documents()
        .into_iter()
        .filter(|(_, text)| text.trim().is_empty())
        .map(|(path, _)| format!("{} is missing or empty", path.display()))
        .collect();
    none(&wrong);
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for line in prose(&text) {
            let (_, line) = backticks(line);
            for link in links(&line) {
                let ours = link.strip_prefix(REPOSITORY);
                if ours.is_none() && (link.contains("://") || link.starts_with("mailto:")) {
                    continue;
                }
                let link = ours.unwrap_or(link);
                let (file, heading) =
                    link.split_once('#').map_or((link, None), |(f, h)| (f, Some(h)));
                let target = match file {
                    "" => path.clone(),
                    file if ours.is_some() => root().join(file),
                    file => path.parent().unwrap().join(file),
                };
                let found = target.exists()
                    && heading.is_none_or(|heading| {
                        let text = fs::read_to_string(&target).unwrap_or_default();
                        prose(&text).any(|line| line.starts_with('#') && slug(line) == heading)
                    });
                if !found {
                    wrong.push(format!("{}: {link} leads nowhere", path.display()));
                }
            }
        }
    }
    none(&wrong);
}

/// The navigation: a page that `docs/README.md` does not link is not found.
#[test]
fn every_page_is_in_the_list_of_pages() {
    let docs = root().join("docs");
    let listed = read("docs/README.md");
    let own_lists = ["adr", "errors", "conformance", "examples"];
    let wrong: Vec<String> = markdown(&docs)
        .iter()
        .map(|path| path.strip_prefix(&docs).unwrap())
        .filter(|page| !own_lists.iter().any(|folder| page.starts_with(folder)))
        .filter(|page| page != &Path::new("README.md"))
        .filter(|page| !listed.contains(&format!("]({})", page.display())))
        .map(|page| format!("docs/README.md does not link {}", page.display()))
        .collect();
    none(&wrong);
    for folder in ["adr", "errors", "conformance"] {
        assert!(listed.contains(&format!("]({folder}/README.md)")), "{folder} is not linked");
    }
}

/// What people type into a search box is in a heading.
#[test]
fn headings_have_the_terms_that_people_search_for() {
    let pages = documents().into_iter().filter(|(path, _)| path.starts_with(root().join("docs")));
    let headings: Vec<String> = pages
        .flat_map(|(_, text)| {
            prose(&text)
                .filter(|line| line.starts_with('#'))
                .map(str::to_lowercase)
                .collect::<Vec<_>>()
        })
        .collect();
    let wrong: Vec<String> = [
        "quickstart",
        "approve a tool call",
        "langgraph",
        "openai agents",
        "pydantic ai",
        "vercel ai sdk",
        "mcp",
        "a choice, a value, a form, a file",
        "wait, poll, stream, webhook",
        "verify webhook signatures",
        "receipts",
        "audit log",
        "slack",
        "email",
        "sms",
        "whatsapp",
        "telegram",
        "push",
        "escalation",
        "out of office",
        "on-call",
        "quiet hours",
        "sso",
        "oidc",
        "passkeys",
        "roles",
        "api keys",
        "systemd",
        "container",
        "kubernetes",
        "reverse proxy",
        "tls",
        "postgresql and multiple nodes",
        "backup",
        "restore",
        "upgrade",
        "metrics",
        "logs",
        "alerts",
        "retention",
        "gdpr",
        "rate limits",
        "quotas",
        "idempotency",
        "security model",
        "encryption at rest",
        "troubleshooting",
        "test agents without people",
        "glossary",
        "error codes",
        "events reference",
        "configuration",
        "cli reference",
        "api reference",
    ]
    .into_iter()
    .filter(|term| !headings.iter().any(|heading| heading.contains(term)))
    .map(|term| format!("no page has a heading with `{term}`"))
    .collect();
    none(&wrong);
}

/// Every guide says what can go wrong.
#[test]
fn every_guide_says_what_can_go_wrong() {
    // Lists, measurements, and pages that are about nothing else.
    let others = ["README", "glossary", "performance", "security", "troubleshooting"];
    let docs = root().join("docs");
    let folders = ["adr", "errors", "conformance", "schemas", "examples"];
    let wrong: Vec<String> = documents()
        .into_iter()
        .filter(|(path, _)| path.starts_with(&docs))
        .filter(|(path, _)| !folders.iter().any(|folder| path.starts_with(docs.join(folder))))
        .filter(|(path, _)| {
            path.ends_with("channels/README.md")
                || !others.contains(&&*path.file_stem().unwrap().to_string_lossy())
        })
        .filter(|(_, text)| {
            !prose(text).any(|line| line == "## What can go wrong" || line == "## Errors")
        })
        .map(|(path, _)| format!("{}: no heading `What can go wrong`", path.display()))
        .collect();
    none(&wrong);
}

/// Every name of an event stands in a row of the reference.
#[test]
fn every_event_is_explained() {
    let text = read("docs/events.md");
    let explained = |name: &str| {
        text.lines().any(|line| line.starts_with('|') && line.contains(&format!("`{name}`")))
    };
    let stored = read("crates/kernel/tests/stored/record.jsonl");
    let names: BTreeSet<&str> = stored
        .lines()
        .filter_map(|line| line.strip_prefix("{\"name\":\"")?.split_once('"'))
        .map(|(name, _)| name)
        .collect();
    assert!(names.len() > 50, "only {} events were found", names.len());
    let mut wrong: Vec<String> = names
        .iter()
        .filter(|name| !explained(name))
        .map(|name| format!("docs/events.md does not explain `{name}`"))
        .collect();
    let webhooks = read("docs/webhooks.md");
    let unlisted = Topic::ALL.iter().filter(|topic| {
        !webhooks.contains(&format!("| `{topic}` |")) || !text.contains(&format!("`{topic}`"))
    });
    wrong.extend(unlisted.map(|topic| format!("`{topic}` is missing in a list of webhooks")));
    none(&wrong);
}

/// Paths of the repository in backticks, unless they have a placeholder such as `<name>`.
#[test]
fn paths_exist() {
    let root = root();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for quoted in prose(&text).flat_map(|line| backticks(line).0) {
            let file = quoted.split("::").next().unwrap_or(quoted);
            let ours = ["crates/", "bench/", "clients/", "deploy/", "docs/", "faults/", "fuzz/"]
                .iter()
                .any(|folder| file.starts_with(folder));
            if ours && file.chars().all(plain) && !root.join(file).exists() {
                wrong.push(format!("{}: `{file}` is not there", path.display()));
            }
        }
    }
    none(&wrong);
}

#[test]
fn every_error_code_has_a_page_and_is_listed() {
    let pages = markdown(&root().join("docs/errors"));
    let pages: BTreeSet<String> = pages
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "README")
        .collect();
    let codes: BTreeSet<String> = PAGES.iter().map(|(code, _)| (*code).to_owned()).collect();
    assert_eq!(pages, codes, "docs/errors on the left, PAGES in problem.rs on the right");
    let index = read("docs/errors/README.md");
    let wrong: Vec<String> = codes
        .iter()
        .filter(|code| !index.contains(&format!("]({code}.md)")))
        .map(|code| format!("docs/errors/README.md does not link {code}.md"))
        .collect();
    none(&wrong);
}

#[test]
fn every_code_of_a_dialect_is_explained() {
    let mut wrong = Vec::new();
    for (page, codes) in [
        ("docs/hxp-execution.md", dialects::hxp_execution::CODES),
        ("docs/hitl.md", dialects::hitl::CODES),
        ("docs/a2h.md", dialects::a2h::CODES),
    ] {
        let text = read(page);
        let unexplained = codes.iter().filter(|code| !text.contains(&format!("| `{code}` |")));
        wrong.extend(unexplained.map(|code| format!("{page} has no row for `{code}`")));
    }
    none(&wrong);
}

/// Flag, variable and key of every setting stand in one row.
#[test]
fn every_setting_is_explained() {
    let text = read("docs/configuration.md");
    let command = Settings::augment_args(clap::Command::new("settings"));
    let mut wrong = Vec::new();
    for setting in command.get_arguments() {
        let names = [
            format!("`--{}`", setting.get_long().unwrap()),
            format!("`{}`", setting.get_env().unwrap().to_string_lossy()),
            format!("`{}`", setting.get_id()),
        ];
        let explained =
            |line: &str| line.starts_with('|') && names.iter().all(|name| line.contains(name));
        if !text.lines().any(explained) {
            wrong.push(format!("docs/configuration.md has no row with {}", names.join(", ")));
        }
    }
    none(&wrong);
}

/// Variables that are no settings: the file they stand in, what commands and the tests of agents
/// read, and what an anchor command gets.
const OTHERS: [&str; 9] = [
    "COUNTERSIGN_CONFIG",
    "COUNTERSIGN_URL",
    "COUNTERSIGN_API_KEY",
    "COUNTERSIGN_TOKEN",
    "COUNTERSIGN_PROFILE",
    "COUNTERSIGN_BIN",
    "COUNTERSIGN_BLOCK_N",
    "COUNTERSIGN_BLOCK_ROOT",
    "COUNTERSIGN_BLOCK_HASH",
];

/// Pages that name variables which the server ignores: those of others, and those of the past.
const NAME_OTHERS: [&str; 2] = ["docs/configuration.md", "CHANGELOG.md"];

/// A deployment, a page or an example only names variables that something reads.
#[test]
fn every_variable_is_known() {
    let mut known: BTreeSet<String> = variables().into_iter().collect();
    known.extend(OTHERS.into_iter().map(str::to_owned));
    let pages = documents().into_iter().map(|(path, _)| path);
    let pages = pages
        .filter(|path| NAME_OTHERS.iter().all(|page| !path.ends_with(page)))
        .filter(|path| !path.starts_with(root().join("docs/adr")))
        .filter(|path| !path.starts_with(root().join("docs/conformance")));
    let paths = files(&root().join("deploy")).into_iter().chain(pages);
    let (mut seen, mut wrong) = (0, Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        for name in text.split(|c| !word(c)).filter(|name| name.starts_with("COUNTERSIGN_")) {
            seen += 1;
            // `COUNTERSIGN_…` stands for all of them.
            if name != "COUNTERSIGN_" && !known.contains(name) {
                wrong.push(format!("{}: nothing reads {name}", path.display()));
            }
        }
    }
    assert!(seen > 50, "only {seen} variables were found");
    none(&wrong);
}

/// House rule: a dependency says what it saves and how it would go.
#[test]
fn every_dependency_is_accounted_for() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let text = read("docs/adr/0010-dependencies.md");
    let wrong: Vec<String> = manifest["workspace"]["dependencies"]
        .as_table()
        .unwrap()
        .iter()
        .filter(|(_, dependency)| dependency.get("path").is_none())
        .filter(|(name, _)| !text.contains(&format!("\n| {name} |")))
        .map(|(name, _)| format!("docs/adr/0010-dependencies.md has no row for {name}"))
        .collect();
    none(&wrong);
}

/// A row of a conformance table: `| HXPX-001 | requirement | tests |`.
struct Row<'a> {
    id: &'a str,
    /// What its number follows: `HXPX` in `HXPX-001`.
    series: &'a str,
    number: u32,
    tests: &'a str,
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let mut cells = str::split(line, '|').map(str::trim).skip(1);
        let (id, _, tests) = (cells.next()?, cells.next()?, cells.next()?);
        let (series, number) = id.rsplit_once('-')?;
        Some(Row { id, series, number: number.parse().ok()?, tests })
    };
    text.lines().filter_map(row).collect()
}

/// The numbers a table says it does not have: never given out, or still to come.
fn absent(text: &str) -> BTreeSet<u32> {
    let said = ["Numbers that were not given out", "Numbers still to come"];
    let lines = text.lines().filter(|line| said.iter().any(|begin| line.starts_with(begin)));
    let ranges = lines.filter_map(|line| line.rsplit_once(": ")).flat_map(|(_, list)| {
        list.trim_end_matches('.').split(", ").map(|one| one.split_once('–').unwrap_or((one, one)))
    });
    ranges
        .flat_map(|(from, to)| from.parse::<u32>().unwrap()..=to.parse::<u32>().unwrap())
        .collect()
}

/// No requirement is left out unsaid, and each names tests as `path/to/file.rs::test_name`, or in a
/// program that speaks with the SDKs, `path/to/file.py::story`.
#[test]
fn every_requirement_names_a_test() {
    let mut wrong = Vec::new();
    for path in markdown(&root().join("docs/conformance")) {
        if path.ends_with("README.md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let rows = rows(&text);
        assert!(!rows.is_empty(), "{} has no rows", path.display());
        let absent = absent(&text);
        let expected = (1..).filter(|number| !absent.contains(number));
        // A second series, of what was chosen where sources disagree, says in words what it leaves
        // out.
        let required = rows.iter().filter(|row| row.series == rows[0].series);
        for (row, expected) in required.zip(expected) {
            if row.number != expected {
                wrong.push(format!("{}: number {expected} is missing before it", row.id));
                break;
            }
        }
        for row in &rows {
            let (tests, rest) = backticks(row.tests);
            if tests.is_empty() || rest.contains("TBD") {
                wrong.push(format!("{}: no test yet", row.id));
            }
            for test in tests {
                if !exists(test) {
                    wrong.push(format!("{}: there is no {test}", row.id));
                }
            }
        }
    }
    none(&wrong);
}

fn exists(test: &str) -> bool {
    let Some((file, name)) = test.rsplit_once("::") else { return false };
    let text = fs::read_to_string(root().join(file)).unwrap_or_default();
    let is_python = Path::new(file).extension().is_some_and(|kind| kind == "py");
    text.contains(&format!("{} {name}(", if is_python { "def" } else { "fn" }))
}
