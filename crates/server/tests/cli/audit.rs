//! `audit verify`: beside a running server, on a stopped one, and on a record that was altered.

use std::path::Path;

use rusqlite::Connection;

use super::support::{Server, countersign, verify};
use super::{asked, cli, run};

#[test]
fn a_sound_record_holds_with_the_server_running_and_stopped() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["Go?"]);
    cli(&server, &["answer", &id, "approve"]).ok();
    let (code, said) = verify(data.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("The audit log is valid: "), "{said}");
    server.stop();
    assert_eq!(verify(data.path()).0, Some(0));
    let mut json = countersign();
    json.args(["audit", "verify", "--json"]).env("COUNTERSIGN_DATA", data.path());
    let report = run(&mut json).json();
    assert_eq!(report["valid"], true);
    assert_eq!(report["broken"], serde_json::json!([]));
    assert!(report["events"].as_u64().unwrap() > report["subjects"].as_u64().unwrap());
}

#[test]
fn there_must_be_something_to_check() {
    let data = tempfile::tempdir().unwrap();
    let (code, said) = verify(data.path());
    assert_eq!(code, Some(4));
    assert!(said.contains("database not found at"), "{said}");
    let memory = run(countersign().args(["audit", "verify", "--database", "memory:"])).failed(4);
    assert!(memory.contains("a database in memory cannot be opened"), "{memory}");
    std::fs::write(data.path().join("countersign.db"), "not a database").unwrap();
    assert_eq!(verify(data.path()).0, Some(4));
}

/// A record, its export, and how both are checked.
#[test]
fn an_export_is_checked_anywhere() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["Go?"]);
    cli(&server, &["answer", &id, "approve"]).ok();
    server.stop();
    let file = data.path().join("audit.jsonl");
    let path = file.to_str().unwrap();
    let audit = |args: &[&str]| run(countersign().arg("audit").args(args));
    let data_path = data.path().to_str().unwrap();
    audit(&["export", "--data", data_path, "--out", path]).ok();

    let stored = audit(&["verify", "--json", "--data", data_path]).json();
    let exported = audit(&["verify", "--json", "--export", path]).json();
    for same in ["valid", "events", "subjects", "blocks", "last_block", "not_sealed"] {
        assert_eq!(stored[same], exported[same], "{same}");
    }
    assert_eq!(stored["not_sealed"], 0);
    let said = audit(&["verify", "--export", path]);
    assert!(said.err.contains("give --jwks with keys you trust"), "{}", said.err);
    assert!(said.ok().contains("Not sealed yet: 0"));

    // With the keys somebody kept, and from standard input.
    let text = std::fs::read_to_string(&file).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let jwks = data.path().join("jwks.json");
    std::fs::write(&jwks, header["header"]["jwks"].to_string()).unwrap();
    let jwks = jwks.to_str().unwrap();
    let mut piped = countersign();
    piped.args(["audit", "verify", "--export", "-", "--jwks", jwks]);
    piped.stdin(std::fs::File::open(&file).unwrap());
    let said = run(&mut piped);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    std::fs::write(data.path().join("none.json"), "{\"keys\":[]}").unwrap();
    let none = data.path().join("none.json");
    let said = audit(&["verify", "--data", data_path, "--jwks", none.to_str().unwrap()]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("block 1: its signature does not verify"), "{}", said.out);

    // A block somebody wrote down.
    let known = format!("1:{}", block_hash(&text));
    audit(&["verify", "--data", data_path, "--since-block", &known]).ok();
    let other = format!("1:{}", "ab".repeat(32));
    let said = audit(&["verify", "--export", path, "--since-block", &other]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("is not in the chain"), "{}", said.out);
    audit(&["verify", "--since-block", "one"]).failed(64);

    // Cut off, or none at all.
    std::fs::write(&file, &text[..text.len() - 200]).unwrap();
    let said = audit(&["verify", "--export", path]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("the export is incomplete: it ends after line"), "{}", said.out);
    std::fs::write(&file, "hello\n").unwrap();
    let said = audit(&["verify", "--export", path]).failed(4);
    assert!(said.contains("this is not an export"), "{said}");
    audit(&["verify", "--export", "/nowhere/at/all"]).failed(4);
}

fn block_hash(export: &str) -> String {
    let block = export.lines().find(|line| line.starts_with("{\"block\"")).unwrap();
    let block: serde_json::Value = serde_json::from_str(block).unwrap();
    block["block"]["hash"].as_str().unwrap().to_owned()
}

/// Flips one byte in one row, in whichever way a hand in the file would.
fn alter(data: &Path, sql: &str, id: &str) {
    let conn = Connection::open(data.join("countersign.db")).unwrap();
    let ulid = id.trim_start_matches("ask_");
    let changed = conn.execute(sql, [format!("%{ulid}")]).unwrap();
    assert!(changed > 0, "{sql}");
}

#[test]
fn an_altered_record_is_named() {
    for (sql, said_of_it) in [
        (
            "UPDATE record SET body = replace(body, 'agent_dev', 'agent_dew') WHERE seq = 1 AND subject LIKE ?1",
            "event 1",
        ),
        (
            "UPDATE record SET contents = replace(contents, 'approved', 'rejected') WHERE seq = 2 AND subject LIKE ?1",
            "event 2",
        ),
        ("UPDATE record SET hash = zeroblob(32) WHERE seq = 2 AND subject LIKE ?1", "event 2"),
        ("UPDATE record SET at = at + 1 WHERE seq = 2 AND subject LIKE ?1", "event 2"),
        ("DELETE FROM record WHERE seq = 1 AND subject LIKE ?1", "event 2"),
        ("DELETE FROM record WHERE seq = 2 AND subject LIKE ?1", "event 1"),
        ("DELETE FROM record WHERE subject LIKE ?1", "event 1"),
        ("DELETE FROM ask WHERE ?1 <> ''", "it has events but no state"),
        ("UPDATE ask SET state = '{}' WHERE ?1 <> ''", "cannot be read"),
        ("UPDATE ask SET state = 'nonsense' WHERE ?1 <> ''", "cannot be read"),
        ("UPDATE ask SET state = replace(state, 'approved', 'rejected') WHERE ?1 <> ''", "event 2"),
        (
            "UPDATE ask SET version = version + 1, state = replace(state, '\"seq\":2', '\"seq\":3') WHERE ?1 <> ''",
            "event 2",
        ),
    ] {
        let data = tempfile::tempdir().unwrap();
        let server = Server::dev(data.path());
        let id = asked(&server, &["Go?"]);
        cli(&server, &["answer", &id, "approve"]).ok();
        server.stop();
        alter(data.path(), sql, &id);
        let (code, said) = verify(data.path());
        assert_eq!(code, Some(1), "{sql}: {said}");
        // What does not match the states is said before what is wrong with the record.
        let named = |line: &str| line.contains(&id) && line.contains(said_of_it);
        assert!(said.lines().any(named), "{sql}: {said}");
        assert!(said.contains("The audit log is NOT valid"), "{sql}: {said}");
        let mut json = countersign();
        let ran = run(json.args(["audit", "verify", "--json", "--data"]).arg(data.path()));
        assert_eq!(ran.code, 1);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report["valid"], false);
        assert!(report["broken"].to_string().contains(&id), "{report}");
    }
}

/// What was sealed here once must be there, without anybody having to remember a block.
#[test]
fn blocks_that_were_taken_away_are_missed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    asked(&server, &["Go?"]);
    server.stop();
    assert_eq!(verify(data.path()).0, Some(0));
    let store = Connection::open(data.path().join("countersign.db")).unwrap();
    assert!(store.execute("DELETE FROM block", []).unwrap() > 0);
    drop(store);
    let (code, said) = verify(data.path());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is not in the chain"), "{said}");
}

/// A key that was called back takes nothing out of the record it signed: what came after it stands
/// on those blocks.
#[test]
fn an_export_knows_the_keys_that_were_called_back() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    asked(&server, &["Go?"]);
    server.stop();
    let path = data.path().to_str().unwrap();
    let at = |args: &[&str]| run(countersign().args(args).args(["--data", path]));
    let listed = at(&["signing", "list", "--json"]).json();
    let kid = listed[0]["kid"].as_str().unwrap();
    at(&["signing", "revoke", kid, "--reason", "leaked"]).ok();
    let file = data.path().join("audit.jsonl");
    at(&["audit", "export", "--out", file.to_str().unwrap()]).ok();
    assert_eq!(verify(data.path()).0, Some(0));
    let checked = run(countersign().args(["audit", "verify", "--export", file.to_str().unwrap()]));
    assert_eq!(checked.code, 0, "{}", checked.out);
}
