//! The inbox in a terminal.

use std::io::Write;
use std::process::{Command, Stdio};

use super::support::{Server, clean};
use super::{asked, at, cli, masked, run};

#[test]
fn what_waits_is_listed_most_urgent_first() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    assert_eq!(cli(&server, &["inbox"]).ok(), "All caught up: no request waits for you.\n");
    asked(&server, &["A small thing\nin two lines?", "--priority", "low"]);
    asked(&server, &["The house burns?", "--priority", "critical"]);
    asked(&server, &["Hidden \u{202e}?", "--priority", "high"]);
    let listed = cli(&server, &["inbox"]).ok();
    insta::assert_snapshot!("inbox", masked(&listed));
    let json = cli(&server, &["inbox", "--json"]).json();
    assert_eq!(json["requests"].as_array().unwrap().len(), 3);
    assert_eq!(json["unresolved"], 3);
    // Somebody else has nothing to do.
    let other = run(at(&server, &["inbox"]).env("COUNTERSIGN_TOKEN", "dev-human-token-2")).ok();
    assert_eq!(other, "All caught up: no request waits for you.\n");
}

/// Types these lines at a terminal and gives what it showed.
fn typed(server: &Server, lines: &[&str]) -> Option<String> {
    let mut command = clean(Command::new("script"));
    command.env("COUNTERSIGN_URL", &server.url).env("TERM", "dumb");
    let inbox = format!("{} inbox", env!("CARGO_BIN_EXE_countersign"));
    command.args(["--quiet", "--return", "--command", &inbox, "/dev/null"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: answering in a terminal, because `script` is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    let shown = String::from_utf8(done.stdout).unwrap().replace('\r', "");
    assert_eq!(done.status.code(), Some(0), "{shown}");
    Some(shown)
}

#[test]
fn one_can_answer_in_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let approve = asked(&server, &["Deploy?"]);
    let Some(shown) = typed(&server, &["7", "1", "perhaps", "", "1", "approve", "after lunch"])
    else {
        return;
    };
    assert!(shown.contains("1 waiting\n"), "{shown}");
    assert!(shown.contains("There is no number 7 in the list."), "{shown}");
    assert!(shown.contains("“perhaps” does not answer this request"), "{shown}");
    assert!(shown.contains("→ approved (after lunch)\n    by user_dev"), "{shown}");
    assert!(shown.trim_end().ends_with("All caught up: no request waits for you."), "{shown}");
    let state = |id: &str| cli(&server, &["show", id, "--json"]).json()["state"].clone();
    assert_eq!(state(&approve), "completed");

    let choose = asked(&server, &["Which?", "--option", "a", "--option", "b"]);
    // Going back and leaving change nothing.
    let shown = typed(&server, &["1", "", "q"]).unwrap();
    assert!(shown.contains("2) b"), "{shown}");
    assert_eq!(state(&choose), "pending");
    let shown = typed(&server, &["1", "2", ""]).unwrap();
    assert!(shown.contains("→ b\n    by user_dev"), "{shown}");
}

/// What can't be undone or is critical is confirmed; whoever rejects it is not asked again.
#[test]
fn a_dangerous_answer_is_confirmed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let state = |id: &str| cli(&server, &["show", id, "--json"]).json()["state"].clone();
    let critical = asked(&server, &["Pay?", "--priority", "critical"]);
    let refused = cli(&server, &["answer", &critical, "approve"]).failed(4);
    assert!(refused.contains("This request is critical") && refused.contains("--yes"), "{refused}");
    assert_eq!(state(&critical), "pending");
    cli(&server, &["answer", &critical, "approve", "--yes"]).ok();
    let details = ["--details", r#"{"irreversible":true}"#];
    let fatal = asked(&server, &[&["Drop the table?"], &details[..]].concat());
    assert!(cli(&server, &["show", &fatal]).ok().contains("! This can't be undone"));
    let listed = cli(&server, &["inbox"]).ok();
    assert!(listed.contains("CAN'T BE UNDONE  Drop the table?"), "{listed}");
    if let Some(shown) = typed(&server, &["1", "approve", "", "no", "q"]) {
        assert!(shown.contains("This can't be undone. Your answer: approved."), "{shown}");
        assert!(shown.contains("Nothing was sent."), "{shown}");
        assert_eq!(state(&fatal), "pending");
    }
    cli(&server, &["answer", &fatal, "reject"]).ok();
    assert_eq!(state(&fatal), "completed");
}

#[test]
fn forms_are_filled_in_field_by_field() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let demo = cli(&server, &["demo", "--no-wait", "--json"]).json();
    let form = demo[2]["id"].as_str().unwrap().to_owned();
    let listed = cli(&server, &["inbox"]).ok();
    let place = listed.lines().position(|line| line.contains(&form)).unwrap();
    let number = listed.lines().nth(place - 1).unwrap().trim().split(' ').next().unwrap();
    let lines = [
        number,
        "Town Hall",
        "tomorrow",
        "",
        "",
        "",
        number,
        "Town Hall",
        "2026-12-01",
        "",
        "yes",
        "",
        "q",
    ];
    let Some(shown) = typed(&server, &lines) else { return };
    assert!(shown.contains("Guests (number, optional): "), "{shown}");
    assert!(shown.contains("Not accepted: "), "{shown}");
    assert!(
        shown.contains("→ venue=Town Hall day=2026-12-01 catering=true\n    by user_dev"),
        "{shown}"
    );
}
