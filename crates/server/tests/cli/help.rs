//! Help, completions, and what happens to commands that do not exist.

use std::fmt::Write as _;

use super::run;
use super::support::countersign;

fn help(words: &[&str]) -> String {
    run(countersign().env("COLUMNS", "100").args(words).arg("--help")).ok()
}

/// The commands that the help lists, below any heading.
fn listed(help: &str, top: bool) -> Vec<String> {
    let from = if top { "Ask and answer:\n" } else { "Commands:\n" };
    let Some((_, commands)) = help.split_once(from) else { return Vec::new() };
    let commands = commands.split("\nOptions:").next().unwrap();
    let name = |line: &str| {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        name.split(' ').next().map(str::to_owned)
    };
    commands.lines().filter_map(name).filter(|name| name != "help").collect()
}

/// The options that many commands share. They are shown once, so that the help of a command in the
/// snapshot is what is its own.
const SHARED: [(&str, &[&str]); 3] = [
    ("a server", &["--url", "--profile"]),
    ("a running or stopped server", &["--offline", "--config"]),
    ("all commands", &["--help", "--version", "--json"]),
];

/// The help without the shared options and their descriptions.
fn own(help: &str) -> String {
    let shared = |line: &str| {
        let flag = line.trim_start().trim_start_matches("-h, ").trim_start_matches("-V, ");
        let flag = flag.split([' ', '\n']).next().unwrap();
        line.starts_with("  ") && SHARED.iter().any(|(_, flags)| flags.contains(&flag))
    };
    let (mut kept, mut skipping) = (String::new(), false);
    for line in help.lines() {
        let indent = line.len() - line.trim_start().len();
        // A description on lines of its own is further right than its option.
        skipping = shared(line) || (skipping && indent > 8);
        if !skipping {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// All help texts in one place.
#[test]
fn every_command_explains_itself() {
    let mut all = String::new();
    let mut left = vec![Vec::new()];
    let mut count = 0;
    while let Some(words) = left.pop() {
        let text = help(&words);
        let names = listed(&text, words.is_empty());
        for name in names.into_iter().rev() {
            let name: &str = name.leak();
            left.push([words.as_slice(), &[name]].concat());
        }
        let line = ["countersign"].iter().chain(&words).copied().collect::<Vec<_>>().join(" ");
        write!(all, "## {line}\n\n{}\n", own(&text)).unwrap();
        count += 1;
    }
    assert!(count > 100, "only {count} commands were found");
    insta::assert_snapshot!("help", all);
}

#[test]
fn the_shared_options_are_explained_once() {
    insta::assert_snapshot!("help_of_a_command", help(&["people", "show"]));
}

/// The help of the server fits on a screen, and settings that it does not show work all the same.
#[test]
fn the_help_of_serve_is_short() {
    let text = help(&["serve"]);
    assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
    assert!(text.contains("countersign config reference"), "{text}");
    assert!(!text.contains("--twilio-account"), "{text}");
    let hidden = run(countersign().args(["config", "check", "--twilio-account", "AC1"]));
    assert!(!hidden.err.contains("unexpected argument"), "{}", hidden.err);
    let top = help(&[]);
    assert!(top.lines().count() <= 70, "{} lines:\n{top}", top.lines().count());
}

/// Commands of earlier versions still exist.
#[test]
fn earlier_commands_are_aliases() {
    for line in [
        "show ask_1",
        "cancel ask_1",
        "callbacks ask_1",
        "export",
        "receipt ask_1",
        "revoke ask_1 --reason x",
        "write bot hello",
        "task list",
        "task artifact get art_1",
        "task ledger read project:dev key",
        "notices show",
        "notices add email:ada@example.com",
        "people add-agent bot --project dev --owner ada",
        "people add-project dev",
        "projects set dev --floor link --no-ladder",
        "groups set ops --member ada",
        "profile show",
        "signing list",
        "agent list",
        "project list",
        "person list",
        "group list",
        "key list",
        "session list",
        "webhook list",
        "channel list",
        "device list",
        "rule list",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--help"]).collect();
        let ran = run(countersign().args(&words));
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
}

#[test]
fn wrong_usage_is_an_error() {
    for words in [
        &["frobnicate"][..],
        &["serve", "--frobnicate"],
        &["ask"],
        &["ask", "x", "--priority", "urgent"],
        &["ask", "x", "--provide", "colour"],
        &["ask", "x", "--option", "a", "--message"],
        &["answer", "ask_1"],
        &["answer", "ask_1", "--approve", "--reject"],
        &["answer", "ask_1", "approve", "--approve"],
        &["keys"],
        &["keys", "create"],
        &["keys", "create", "--agent", "a", "--human", "b"],
        &["keys", "revoke", "nonsense"],
        &["agents", "set", "bot"],
        &["webhooks", "set", "hook_1"],
        &["people", "add", "not a name"],
        &["login", "--human", "ada"],
        &["login", "--token", "--local"],
        &["listen"],
        &["completions", "tcl"],
        &["wait", "x", "--up-to", "-1"],
        &[],
    ] {
        let ran = run(countersign().args(words));
        assert!(!ran.err.is_empty(), "{words:?}");
        ran.failed(64);
    }
}

#[test]
fn an_unknown_command_suggests_the_right_one() {
    let said = |line: &str| run(countersign().args(line.split(' '))).failed(64);
    assert_eq!(
        said("approve ask_1"),
        "countersign: there is no command `countersign approve ask_1`\n\nDid you mean:\n  \
         countersign answer ID --approve\n\n`countersign --help` lists all commands.\n"
    );
    assert!(said("people delete ada").contains("  countersign people erase\n"));
    assert!(said("indox").contains("  countersign inbox\n"));
    assert!(!said("frobnicate").contains("Did you mean"));
}

#[test]
fn version_and_help_are_no_errors() {
    assert!(run(countersign().arg("--version")).ok().starts_with("countersign 0."));
    run(countersign().args(["help", "ask"])).ok();
    run(countersign().args(["help", "tasks", "list"])).ok();
}

#[test]
fn completions_for_three_shells() {
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef countersign"),
        ("fish", "complete -c countersign"),
    ] {
        let script = run(countersign().args(["completions", shell])).ok();
        assert!(script.contains(mark), "{shell}: {script}");
        for word in ["inbox", "doctor", "login", "agents", "listen", "twilio-account"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// `countersign … | head -1` ends quietly.
#[test]
fn a_reader_that_closes_the_pipe_is_no_failure() {
    use std::process::Stdio;
    let mut child = countersign()
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(141));
}
