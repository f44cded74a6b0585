//! Sending a request back, approving it with another detail, and writing out what became of it.

use serde_json::Value;

use super::support::Server;
use super::{asked, cli};

#[test]
fn what_was_answered_is_written_out() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let first = asked(&server, &["=Pay 40?", "--approve"]);
    let silent = cli(&server, &["answer", &first, "--changes"]);
    assert_eq!(silent.code, 64, "{}", silent.err);
    let both = cli(&server, &["answer", &first, "approve", "--changes", "-c", "less"]);
    assert_eq!(both.code, 64, "{}", both.err);
    cli(&server, &["answer", &first, "--changes", "-c", "less, please"]).ok();
    let second = asked(&server, &["Pay 30?", "--approve"]);
    let edited = cli(&server, &["answer", &second, "approve", "--edit", "amount=20"]);
    assert_eq!(edited.code, 4, "the agent cannot take that: {}", edited.err);
    cli(&server, &["answer", &second, "approve"]).ok();

    let lines = cli(&server, &["export"]).ok();
    let asks: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> = asks.iter().map(|ask| ask["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&second, &first]);
    let file = data.path().join("history.csv");
    let path = file.to_str().unwrap();
    let args = ["export", "--format", "csv", "--out", path, "--agent", "agent_dev", "--all"];
    assert_eq!(cli(&server, &args).ok(), "");
    let table = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<&str> = table.split("\r\n").collect();
    assert_eq!((rows.len(), rows[3]), (4, ""));
    assert!(rows[1].contains("Pay 30?") && rows[1].contains("approved"), "{table}");
    assert!(rows[2].contains("'=Pay 40?") && rows[2].contains("\"less, please\""), "{table}");
    assert!(rows[2].contains("changes_requested"), "{table}");
    assert_eq!(cli(&server, &["export", "--outcome", "expired"]).ok(), "");
    assert_eq!(cli(&server, &["export", "--outcome", "lost"]).code, 4);
}
