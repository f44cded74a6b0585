//! Writing to an agent from a terminal.

use super::support::Server;
use super::{at, cli, run};

#[test]
fn a_conversation_begins_in_a_terminal() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let closed = cli(&server, &["write", "agent_dev", "hello"]).failed(4);
    assert!(closed.contains("does not accept conversations"), "{closed}");
    let agent = ["people", "add-agent", "agent_dev", "--project", "dev", "--owner", "user_dev"];
    cli(&server, &[&agent[..], &["--conversations", "true"]].concat()).ok();
    // Whoever saves it without a word of that changes nothing.
    cli(&server, &agent).ok();
    let shown = cli(&server, &["write", "agent_dev", "Please refund order 7"]).ok();
    assert!(shown.contains("Please refund order 7"), "{shown}");
    let colleague = run(at(&server, &["write", "agent_dev", "And 8", "--json"])
        .env("COUNTERSIGN_TOKEN", "dev-human-token-2"));
    let written = colleague.json();
    assert_eq!(written["result"]["answer"]["text"], "And 8");
    let nowhere = cli(&server, &["write", "agent_dev", "--address", "--json"]).ok();
    assert!(nowhere.contains(r#"{"email":null}"#), "{nowhere}");
    let nowhere = cli(&server, &["write", "agent_dev", "--address"]).failed(4);
    assert!(nowhere.contains("mail_replies is not set"), "{nowhere}");
    cli(&server, &["write", "agent_dev"]).failed(64);
    cli(&server, &["write", "agent_dev", "--address", "hello"]).failed(64);
    let empty = cli(&server, &["write", "agent_dev", " "]).failed(4);
    assert!(empty.contains("1 to 10000 characters"), "{empty}");
}
