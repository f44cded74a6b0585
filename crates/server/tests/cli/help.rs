//! Help, completions and what happens to words nobody knows.

use super::run;
use super::support::countersign;

fn help(words: &[&str]) -> String {
    run(countersign().env("COLUMNS", "100").args(words).arg("--help")).ok()
}

#[test]
fn every_command_explains_itself() {
    let mut all = Vec::new();
    let mut left = vec![Vec::new()];
    while let Some(words) = left.pop() {
        let text = help(&words);
        if let Some((_, commands)) = text.split_once("Commands:\n") {
            for line in commands.lines().take_while(|line| line.starts_with("  ")) {
                // Lines that go on are indented further.
                let name = line.trim_start().split(' ').next().unwrap().to_owned();
                if name != "help" && !line.starts_with("   ") {
                    let name: &str = name.leak();
                    left.push([words.as_slice(), &[name]].concat());
                }
            }
        }
        all.push((words, text));
    }
    assert!(all.len() > 18, "only {} commands were found", all.len());
    for (words, text) in all {
        let name = if words.is_empty() { "countersign".to_owned() } else { words.join("_") };
        insta::assert_snapshot!(format!("help_{name}"), text);
    }
}

#[test]
fn words_nobody_knows_are_usage_errors() {
    for words in [
        &["frobnicate"][..],
        &["serve", "--frobnicate"],
        &["ask"],
        &["ask", "x", "--priority", "urgent"],
        &["ask", "x", "--provide", "colour"],
        &["ask", "x", "--option", "a", "--message"],
        &["answer", "ask_1"],
        &["keys"],
        &["keys", "create"],
        &["keys", "create", "--agent", "a", "--human", "b"],
        &["keys", "revoke", "nonsense"],
        &["people", "add", "not a name"],
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
fn version_and_help_are_no_errors() {
    assert!(run(countersign().arg("--version")).ok().starts_with("countersign 0."));
    run(countersign().args(["help", "ask"])).ok();
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
        assert!(script.contains("inbox") && script.contains("doctor"), "{shell}");
    }
}

/// `countersign … | head -1` ends quietly.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
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
}
