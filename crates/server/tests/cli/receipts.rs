//! `receipt`, `verify` and `signing`: with a server, and with nothing but files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dialects::proof::BLOCK;
use kernel::audit::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Server, countersign};
use super::{Ran, asked, cli, run};

/// A folder with a stopped server's data, a receipt from it, and its keys.
struct Kept {
    folder: TempDir,
    id: String,
    receipt: String,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::dev(&folder.path().join("data"));
        let id = asked(&server, &["Refund order 7?"]);
        cli(&server, &["answer", &id, "approve"]).ok();
        let out = folder.path().join("receipt.jws");
        let said = cli(&server, &["receipt", &id, "--out", out.to_str().unwrap()]).ok();
        assert!(said.contains("countersign verify"), "{said}");
        let receipt = std::fs::read_to_string(&out).unwrap().trim().to_owned();
        assert_eq!(cli(&server, &["receipt", &id]).ok().trim(), receipt);
        let jwks = fetch(&format!("{}/.well-known/jwks.json", server.url));
        std::fs::write(folder.path().join("jwks.json"), jwks).unwrap();
        let question = cli(&server, &["show", &id, "--json"]).json()["question"].clone();
        std::fs::write(folder.path().join("question.json"), question.to_string()).unwrap();
        let kept = Self { folder, id, receipt };
        kept.keep_revocations(&server);
        server.stop();
        kept
    }

    fn keep_revocations(&self, server: &Server) {
        let list = fetch(&format!("{}/api/v1/receipts/revocations", server.url));
        std::fs::write(self.path("revocations.jws"), list).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// `verify` where the files are.
    fn verify(&self, args: &[&str]) -> Ran {
        run(verify(self.folder.path()).args(args))
    }
}

fn verify(folder: &Path) -> Command {
    let mut command = countersign();
    command.current_dir(folder).arg("verify");
    command
}

fn signing(data: &Path, args: &[&str]) -> Ran {
    run(countersign().arg("signing").args(args).arg("--data").arg(data))
}

/// What is at an address, with the tools every machine has.
fn fetch(url: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let (host, path) = address.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}

/// Ids, times, hashes and ports by their kind.
fn masked(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_end_matches(['.', ';', ',']);
        let end = &word[bare.len()..];
        let digits = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        let shown = if bare.len() == 64 && bare.chars().all(|c| c.is_ascii_hexdigit()) {
            "[hash]"
        } else if bare.len() == 24 && bare.starts_with('2') && bare.ends_with('Z') {
            "[time]"
        } else if bare.starts_with("http://localhost:") {
            "[url]"
        } else if bare.len() > 26 && bare[bare.len() - 26..].chars().all(digits) {
            "[id]"
        } else {
            bare
        };
        format!("{shown}{end}")
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_kept_receipt_is_checked_with_kept_keys_and_no_server() {
    let kept = Kept::new();
    let said = kept.verify(&["receipt.jws", "--jwks", "jwks.json"]).ok();
    insta::assert_snapshot!("verified", masked(&said));
    // The receipt itself, and standard input.
    kept.verify(&[&kept.receipt, "--jwks", "jwks.json"]).ok();
    let mut piped = verify(kept.folder.path());
    let file = std::fs::File::open(kept.path("receipt.jws")).unwrap();
    run(piped.args(["-", "--jwks", "jwks.json"]).stdin(Stdio::from(file))).ok();
    let all = [
        "receipt.jws",
        "--jwks=jwks.json",
        "--question=question.json",
        "--revocations=revocations.jws",
        "--json",
    ];
    let found = kept.verify(&all).json();
    assert_eq!(found["valid"], true, "{found}");
    assert_eq!(found["claims"]["sub"], json!(kept.id));
    assert_eq!(found["keys"], json!({ "source": "file", "place": "jwks.json" }));
    let notes = found["notes"].to_string();
    assert!(notes.contains("It is about the question in question.json."), "{notes}");
    assert!(notes.contains("It is not revoked, as of the list of"), "{notes}");
}

#[test]
fn what_does_not_hold_is_said_in_a_sentence() {
    let kept = Kept::new();
    let issuer = "--issuer=https://countersign.example";
    let (signed, signature) = kept.receipt.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { 'B' } else { 'A' };
    let forged = format!("{signed}.{other}{}", &signature[1..]);
    std::fs::write(kept.path("other.json"), r#"{"kind":"approve","prompt":"Refund order 8?"}"#)
        .unwrap();
    std::fs::write(kept.path("empty.json"), r#"{"keys":[]}"#).unwrap();
    for (args, why) in [
        (vec!["receipt.jws", "--jwks=jwks.json", issuer], ", not https://countersign"),
        (vec![&forged, "--jwks=jwks.json"], "the signature is not valid"),
        (vec!["receipt.jws", "--jwks=empty.json"], "is not trusted"),
        (
            vec!["receipt.jws", "--jwks=jwks.json", "--question=other.json"],
            "it is not about the question in other.json",
        ),
        (vec!["question.json", "--jwks=jwks.json"], "three parts"),
    ] {
        let ran = kept.verify(&args);
        assert_eq!(ran.code, 1, "{args:?}: {}{}", ran.out, ran.err);
        let first = ran.out.lines().next().unwrap();
        assert!(first.starts_with("The receipt is NOT valid: "), "{first}");
        assert!(first.contains(why) && first.ends_with('.'), "{first}");
        let json = kept.verify(&[args, vec!["--json"]].concat());
        let found: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((json.code, &found["valid"]), (1, &json!(false)));
    }
    for (args, why) in [
        (vec!["nothing.jws"], "cannot read nothing.jws"),
        (vec!["receipt.jws", "--jwks=nothing.json"], "cannot read nothing.json"),
        (vec!["receipt.jws", "--jwks=receipt.jws"], "is not a JSON Web Key Set"),
        (
            vec!["receipt.jws", "--jwks=jwks.json", "--revocations=receipt.jws"],
            "receipt.jws is not valid",
        ),
        (vec!["receipt.jws", "--jwks=jwks.json", "--question=receipt.jws"], "not a question"),
        (vec!["receipt.jws", "--jwks=jwks.json", "--proof=jwks.json"], "not a proof of inclusion"),
        (vec!["receipt.jws", "--data=nowhere"], "nowhere/server-keys.json is gone"),
        // Nobody is there to ask any more.
        (vec!["receipt.jws"], "cannot fetch http://localhost:"),
    ] {
        let said = kept.verify(&args).failed(4);
        assert!(said.contains(why), "{args:?}: {said}");
    }
    kept.verify(&[]).failed(64);
    // What the environment says about a server does not matter to whoever has the keys.
    let mut elsewhere = verify(kept.folder.path());
    elsewhere.env("COUNTERSIGN_DATA", "nowhere").args(["receipt.jws", "--jwks=jwks.json"]);
    run(&mut elsewhere).ok();
}

/// The data folder of the installation knows its keys, and what was revoked.
#[test]
fn the_data_folder_knows_more() {
    let kept = Kept::new();
    let found = kept.verify(&["receipt.jws", "--data=data", "--json"]).json();
    assert_eq!(found["keys"]["source"], "folder");
    assert!(found["notes"].to_string().contains("and was not revoked"), "{found}");
    std::fs::rename(kept.data(), kept.path("countersign-data")).unwrap();
    let found = kept.verify(&["receipt.jws", "--json"]).json();
    assert_eq!(found["keys"], json!({ "source": "folder", "place": "countersign-data" }));
    // Somebody else's receipt is not checked against these keys and called wrong without a word.
    let other = Kept::new();
    let ran = kept.verify(&[&other.receipt]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("is not trusted"), "{}", ran.out);
    assert!(ran.out.contains("the keys of the data folder countersign-data"), "{}", ran.out);
}

/// A revoked approval approves nothing, and an erased one tells nothing.
#[test]
fn what_was_revoked_or_erased_is_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["The secret plan?"]);
    cli(&server, &["erase", &id, "--yes"]).failed(4);
    cli(&server, &["answer", &id, "approve"]).ok();
    assert_eq!(cli(&server, &["wait", &id]).code, 0);
    cli(&server, &["revoke", &id, "--reason", "the wrong account"]).ok();
    let waited = cli(&server, &["wait", &id]);
    assert_eq!(waited.code, 1);
    assert!(waited.out.contains("→ approved, then revoked (the wrong account)"), "{}", waited.out);
    // Where nobody can be asked, nothing is erased without --yes.
    let refused = cli(&server, &["erase", &id]).failed(4);
    assert!(refused.contains("can't be undone") && refused.contains("--yes"), "{refused}");
    assert!(cli(&server, &["show", &id]).ok().contains("secret plan"));
    let said = cli(&server, &["erase", &id, "--yes"]).ok();
    assert!(said.contains("was erased"), "{said}");
    let shown = cli(&server, &["show", &id]).ok();
    assert!(!shown.contains("secret plan") && !shown.contains("wrong account"), "{shown}");
    assert!(cli(&server, &["receipt", &id]).failed(4).contains("erased"));
    server.stop();
}

/// Without keys the issuer is asked, and what that is worth is said.
#[test]
fn the_issuer_is_asked_last_and_it_is_said() {
    let kept = Kept::new();
    let server = Server::dev(&kept.data());
    let id = asked(&server, &["Go?"]);
    cli(&server, &["answer", &id, "reject"]).ok();
    let receipt = cli(&server, &["receipt", &id]).ok().trim().to_owned();
    let said = kept.verify(&[&receipt]).ok();
    assert!(said.contains("the issuer the receipt itself names"), "{said}");
    assert!(said.contains("It is not revoked, as of the list of"), "{said}");
    let early = cli(&server, &["revoke", &asked(&server, &["Go on?"]), "--reason", "x"]).failed(4);
    assert!(early.contains("no receipt yet"), "{early}");
    let said = cli(&server, &["revoke", &id, "--reason", "a stolen phone"]).ok();
    assert!(said.contains("is revoked: a stolen phone"), "{said}");
    let again = cli(&server, &["revoke", &id, "--reason", "another"]).ok();
    assert!(again.contains("a stolen phone"), "the first reason stands: {again}");
    let shown = cli(&server, &["show", &id]).ok();
    assert!(shown.contains("→ rejected, then revoked (a stolen phone)"), "{shown}");
    let ran = kept.verify(&[&receipt]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("it was revoked at") && ran.out.contains("a stolen phone"));
    // With a list that was kept, nobody needs to be asked; it must be this issuer's.
    kept.keep_revocations(&server);
    server.stop();
    let kept_list = ["--jwks=jwks.json", "--revocations=revocations.jws"];
    let ran = kept.verify(&[&[&*receipt][..], &kept_list].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("a stolen phone"), "{}", ran.out);
    let ran = kept.verify(&[&*receipt, "--data=data"]);
    assert!(ran.code == 1 && ran.out.contains("a stolen phone"), "{}{}", ran.out, ran.err);
    let strange = kept.verify(&[&["receipt.jws"][..], &kept_list].concat()).failed(4);
    assert!(strange.contains("the revocations are those of"), "{strange}");
}

/// Keys change beside a running server, which follows; old receipts stay valid, unless their key
/// was called back.
#[test]
fn keys_are_rotated_and_revoked_beside_a_running_server() {
    let kept = Kept::new();
    let data = kept.data();
    let list = || signing(&data, &["list", "--json"]).json().as_array().unwrap().clone();
    let before = list();
    assert_eq!(before.len(), 1);
    let first = before[0]["kid"].as_str().unwrap().to_owned();
    let server = Server::dev(&data);
    let published = || fetch(&format!("{}/.well-known/jwks.json", server.url));
    let said = signing(&data, &["rotate"]).ok();
    assert!(said.contains("signs from 2") && said.contains("stay valid"), "{said}");
    let second = list()[1]["kid"].as_str().unwrap().to_owned();
    assert!(said.starts_with(&second), "{said}");
    assert!(published().contains(&first) && published().contains(&second));
    let shown = signing(&data, &["list"]).ok();
    assert!(shown.contains("still trusted") && shown.contains("current"), "{shown}");
    kept.verify(&["receipt.jws", "--data=data"]).ok();

    signing(&data, &["revoke", "nobody", "--reason", "x"]).failed(4);
    signing(&data, &["revoke", &first]).failed(64);
    signing(&data, &["revoke", &first, "--reason", " "]).failed(4);
    signing(&data, &["revoke", &first, "--reason", "the disk was sold"]).ok();
    let again = signing(&data, &["revoke", &first, "--reason", "again"]).failed(4);
    assert!(again.contains("was already revoked"), "{again}");
    assert!(!published().contains(&first) && published().contains(&second));
    let ran = kept.verify(&["receipt.jws", "--data=data"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("was revoked at") && ran.out.contains("the disk was sold"));
    // Who kept the old keys needs the list to know.
    kept.verify(&["receipt.jws", "--jwks=jwks.json"]).ok();
    let said = signing(&data, &["revoke", &second, "--reason", "for good measure"]).ok();
    assert!(said.contains("signs from now on"), "{said}");
    let third = list()[2]["kid"].as_str().unwrap().to_owned();
    assert!(published().contains(&third) && !published().contains(&second));
    let log = server.stderr();
    assert!(log.contains("the signing key was rotated"), "{log}");
    assert!(log.contains("a signing key was revoked"), "{log}");
    // No secret is shown anywhere.
    let file = std::fs::read_to_string(data.join("server-keys.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let secret = crate::stolen_key::secret(&data, 2);
    assert!(!signing(&data, &["list", "--json"]).out.contains(&secret) && !log.contains(&secret));
    assert_eq!(file["signing"][0]["sealed"], Value::Null, "wiped");
    server.stop();
}

/// Moves the clock of a server in development an hour on.
fn an_hour_later(server: &Server) {
    let host = server.url.strip_prefix("http://").unwrap();
    let body = r#"{"advance":"1h"}"#;
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let request = format!(
        "POST /api/v1/dev/clock HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Authorization: Bearer dev-human-token\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// The private half of a retired key goes, its receipts stay.
#[test]
fn a_retired_key_is_destroyed_and_its_receipts_stay() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::dev(&data);
    let id = asked(&server, &["Refund order 7?"]);
    cli(&server, &["answer", &id, "approve"]).ok();
    let receipt = || cli(&server, &["receipt", &id]).ok();
    let before = receipt();
    std::fs::write(folder.path().join("receipt.jws"), &before).unwrap();
    let list = || signing(&data, &["list", "--json"]).json().as_array().unwrap().clone();
    let first = list()[0]["kid"].as_str().unwrap().to_owned();
    let destroy = |kid: &str| cli(&server, &["signing", "destroy", kid, "--yes"]);
    let current = destroy(&first).failed(4);
    assert!(current.contains("is the current key"), "{current}");
    signing(&data, &["rotate"]).ok();
    an_hour_later(&server);
    let unsure = cli(&server, &["signing", "destroy", &first]).failed(4);
    assert!(unsure.contains("repeat the command with --yes"), "{unsure}");
    let unknown = destroy("nobody").failed(4);
    assert!(unknown.contains(&first), "{unknown}");
    let said = destroy(&first).ok();
    assert!(said.contains("is destroyed; 1 signatures were stored."), "{said}");
    let again = destroy(&first).ok();
    assert!(again.contains("was destroyed before"), "{again}");
    assert_eq!(receipt(), before);
    let shown = signing(&data, &["list"]).ok();
    assert!(
        shown.contains("private half destroyed at") && shown.contains("by user_dev"),
        "{shown}"
    );
    let file = std::fs::read_to_string(data.join("server-keys.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["signing"][0]["sealed"], Value::Null);
    run(verify(folder.path()).args(["receipt.jws", "--data=data"])).ok();
    let log = server.stderr();
    assert!(log.contains("destroyed the private half of a signing key"), "{log}");
    server.stop();
}

/// A block of one event, sealed by hand with the folder's key, is found to hold the receipt's
/// event.
#[test]
fn a_proof_of_inclusion_is_checked_offline() {
    let kept = Kept::new();
    let conn = rusqlite::Connection::open(kept.data().join("countersign.db")).unwrap();
    let select = "SELECT prev, hash, body FROM record WHERE seq = 2 AND subject = ?1";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (prev, hash, body): ([u8; 32], [u8; 32], String) =
        conn.query_row(select, [&kept.id], row).unwrap();
    let root = Digest::of(&[&[0], hash.as_slice()].concat());
    let block = crate::stolen_key::stolen(&kept.data(), 0).sign(
        BLOCK,
        &json!({
            "v": 1, "iss": "https://countersign.example", "n": 7, "first": 1, "count": 1,
            "root": root, "prev": Digest::ZERO, "at": "2026-02-06T10:00:00.000Z",
        }),
    );
    let record = json!({
        "subject": kept.id, "seq": 2, "prev": Digest(prev), "hash": Digest(hash), "body": body,
    });
    let mut proof = json!({
        "record": record, "position": 1, "index": 0, "path": [], "block": block,
    });
    let check = |proof: &Value| {
        std::fs::write(kept.path("proof.json"), proof.to_string()).unwrap();
        kept.verify(&["receipt.jws", "--jwks=jwks.json", "--proof=proof.json"])
    };
    let said = check(&proof).ok();
    assert!(said.contains("Its event is in block 7 of the audit record, sealed at"), "{said}");
    proof["path"] = json!([root]);
    let ran = check(&proof);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the path does not lead from the record"), "{}", ran.out);
}

#[test]
fn there_must_be_keys_to_change() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["list"][..], &["rotate"], &["revoke", "x", "--reason", "y"]] {
        let said = signing(folder.path(), args).failed(4);
        assert!(said.contains("server-keys.json not found"), "{said}");
    }
    let memory = run(countersign().args(["signing", "list", "--database", "memory:"])).failed(4);
    assert!(memory.contains("in memory"), "{memory}");
}

#[test]
fn an_open_request_has_no_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::dev(folder.path());
    let id = asked(&server, &["Go?"]);
    let said = cli(&server, &["receipt", &id]).failed(4);
    assert!(said.contains("still open"), "{said}");
    assert!(!cli(&server, &["show", &id]).ok().contains("countersign receipts show"));
    cli(&server, &["answer", &id, "approve"]).ok();
    let shown = cli(&server, &["show", &id]).ok();
    assert!(shown.contains(&format!("countersign receipts show {id}")), "{shown}");
    let signed = cli(&server, &["receipt", &id, "--json"]).json();
    assert_eq!(signed["claims"]["sub"], json!(id));
    server.stop();
}

/// Every shared case of passkey evidence, as in the clients: with nothing but files.
#[test]
fn passkey_evidence_is_judged_as_in_the_clients() {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/vectors/passkeys.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(vectors).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: &Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    write("jwks.json", &vectors["jwks"]);
    for case in vectors["cases"].as_array().unwrap() {
        let name = &case["name"];
        write("receipt.json", &json!({ "receipt": case["jws"], "evidence": case["evidence"] }));
        let mut command = verify(folder.path());
        command.args(["receipt.json", "--jwks", "jwks.json"]);
        if let Some(origin) = case["origin"].as_str() {
            command.args(["--origin", origin]);
        }
        if case.get("enrolment").is_some() {
            write("enrolment.json", &case["enrolment"]);
            command.args(["--enrolment", "enrolment.json"]);
        }
        let ran = run(&mut command);
        if case["valid"] == true {
            let said = ran.ok();
            assert!(said.contains("signed this very answer"), "{name}: {said}");
        } else {
            assert_eq!(ran.code, 1, "{name}: {}", ran.err);
            assert!(ran.out.contains("The receipt is NOT valid"), "{name}: {}", ran.out);
        }
    }
    // Without the evidence it rests on the issuer's word, and the command says so.
    let plain = json!({ "receipt": vectors["cases"][0]["jws"] });
    write("receipt.json", &plain);
    let said = run(verify(folder.path()).args(["receipt.json", "--jwks", "jwks.json"])).ok();
    assert!(said.contains("give --evidence"), "{said}");
    write("evidence.json", &vectors["cases"][0]["evidence"]);
    let args = ["receipt.json", "--jwks", "jwks.json", "--evidence", "evidence.json"];
    run(verify(folder.path()).args(args)).ok();
}
