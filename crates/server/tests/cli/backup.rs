//! `backup`: beside a server under load, of one that stopped or died, and when it cannot be made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::{Client, Method};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::support::{Server, clean, countersign, eventually, serve, verify};
use super::{Ran, asked, cli, run};

const AGENT: &str = "dev-agent-key";
const HUMAN: &str = "dev-human-token";

fn backup(data: &Path, to: &Path) -> Command {
    let mut command = countersign();
    command.arg("backup").arg("--data").arg(data).arg("--to").arg(to);
    command
}

/// A data folder of a server that stopped, with one answered ask in it.
fn stopped() -> (TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::dev(&data);
    let id = asked(&server, &["Go?"]);
    cli(&server, &["answer", &id, "approve"]).ok();
    server.stop();
    (folder, data, id)
}

/// What lies in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Calls one server; the answer must have this status.
struct Calls {
    http: Client,
    url: String,
}

impl Calls {
    fn of(server: &Server) -> Self {
        Self { http: Client::new(), url: server.url.clone() }
    }

    async fn send(&self, method: Method, path: &str, who: &str, body: Value) -> (u16, String) {
        let request = self.http.request(method, format!("{}{path}", self.url)).bearer_auth(who);
        let sent = match body {
            Value::Null => request,
            Value::String(text) => request.header("content-type", "text/plain").body(text),
            body => request.json(&body),
        };
        let answer = sent.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn json(&self, method: Method, path: &str, who: &str, body: Value) -> Value {
        let (status, text) = self.send(method, path, who, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn ask(&self, question: Value) -> String {
        let ask = self.json(Method::POST, "/api/v1/asks", AGENT, json!({ "question": question }));
        ask.await["id"].as_str().unwrap().to_owned()
    }

    /// Asks for a file and gives one; where it is found.
    async fn file(&self, content: &str) -> String {
        let field = json!({ "key": "f", "label": "File", "type": "file", "required": true });
        let form = json!({ "fields": [field] });
        let id = self.ask(json!({ "prompt": "Which?", "kind": "provide", "form": form })).await;
        let path = format!("/api/v1/asks/{id}");
        let upload = format!("{path}/files?name=a.txt");
        let file = self.json(Method::POST, &upload, HUMAN, json!(content)).await;
        let answer = json!({ "answer": { "verdict": "provided", "values": { "f": file } } });
        self.json(Method::POST, &format!("{path}/answer"), HUMAN, answer).await;
        format!("{path}/files/{}", file["sha256"].as_str().unwrap())
    }
}

/// Eight agents that ask until they are told to stop; what was acknowledged to them.
struct Load {
    acknowledged: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
    agents: JoinSet<()>,
}

impl Load {
    fn on(server: &Server) -> Self {
        let acknowledged = Arc::<Mutex<Vec<String>>>::default();
        let (stop, mut agents) = (CancellationToken::new(), JoinSet::new());
        for _ in 0..8 {
            let (calls, acknowledged) = (Calls::of(server), Arc::clone(&acknowledged));
            let stop = stop.clone();
            agents.spawn(async move {
                while !stop.is_cancelled() {
                    let id = calls.ask(json!({ "prompt": "Go?", "kind": "approve" })).await;
                    acknowledged.lock().unwrap_or_else(PoisonError::into_inner).push(id);
                }
            });
        }
        Self { acknowledged, stop, agents }
    }

    fn so_far(&self) -> Vec<String> {
        self.acknowledged.lock().unwrap().clone()
    }

    /// So many more than were there.
    async fn goes_on(&self, before: usize) {
        let acknowledged = Arc::clone(&self.acknowledged);
        let more = move || (acknowledged.lock().unwrap().len() > before + 20).then_some(());
        spawn_blocking(|| eventually("creates go on", more)).await.unwrap();
    }

    async fn end(self) {
        self.stop.cancel();
        self.agents.join_all().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_beside_a_server_under_load_has_all_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // A block every second, so that marks and keys change while they are copied.
    let server = Server::start(serve(&data).arg("--dev").env("COUNTERSIGN_SEAL_SECONDS", "0"));
    let file = Calls::of(&server).file("the content").await;
    let answered = asked(&server, &["Refund?"]);
    cli(&server, &["answer", &answered, "approve"]).ok();
    let receipt = folder.path().join("receipt.jws");
    cli(&server, &["receipt", &answered, "--out", receipt.to_str().unwrap()]).ok();

    let load = Load::on(&server);
    let mut backups = Vec::new();
    for round in 0..3 {
        load.goes_on(load.so_far().len()).await;
        let (data, to) = (data.clone(), folder.path().join(format!("backup-{round}")));
        let before = load.so_far();
        let mut command = backup(&data, &to);
        let report = spawn_blocking(move || run(command.arg("--json")).json()).await.unwrap();
        assert_eq!(report["valid"], true, "{report}");
        assert_eq!(report["audit"]["valid"], true, "{report}");
        assert_eq!((&report["uploads"], &report["upload_bytes"]), (&json!(1), &json!(11)));
        backups.push((to, before));
        let mut rotate = countersign();
        run(rotate.args(["signing", "rotate", "--data"]).arg(&data)).ok();
    }
    load.goes_on(load.so_far().len()).await;
    load.end().await;
    server.stop();

    for (to, before) in &backups {
        assert_eq!(
            names(to),
            ["countersign.db", "files", "master.key", "sealed.json", "server-keys.json"]
        );
        assert_eq!((mode(to), mode(&to.join("countersign.db"))), (0o700, 0o600));
        assert_eq!(mode(&to.join("server-keys.json")), 0o600);
        assert_eq!(mode(&to.join("master.key")), 0o600);
        let (code, said) = verify(to);
        assert_eq!(code, Some(0), "{said}");
        let proven = run(countersign().arg("verify").arg(&receipt).arg("--data").arg(to)).ok();
        assert!(proven.contains("The receipt is valid."), "{proven}");

        let restored = Server::dev(to);
        let calls = Calls::of(&restored);
        for id in before {
            let path = format!("/api/v1/asks/{id}");
            assert_eq!(calls.send(Method::GET, &path, AGENT, Value::Null).await.0, 200, "{id}");
        }
        let (status, content) = calls.send(Method::GET, &file, AGENT, Value::Null).await;
        assert_eq!((status, content.as_str()), (200, "the content"));
        cli(&restored, &["receipt", &answered]).ok();
        // It goes on from there: what is new is sealed behind what was.
        asked(&restored, &["And now?"]);
        restored.stop();
        let (code, said) = verify(to);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("Not sealed yet: 0"), "{said}");
    }
}

#[test]
fn a_stopped_server_is_backed_up_and_a_backup_too() {
    let (folder, data, id) = stopped();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let said = run(&mut backup(&data, &first)).ok();
    assert!(said.contains("The audit log is valid: "), "{said}");
    assert!(said.contains(&format!("Backed up to {}", first.display())), "{said}");
    // An empty folder will do as well, whoever may look into it until then.
    fs::create_dir(&second).unwrap();
    run(&mut backup(&first, &second)).ok();
    assert_eq!(mode(&second), 0o700);
    let server = Server::dev(&second);
    assert_eq!(cli(&server, &["show", &id, "--json"]).json()["state"], "completed");
    server.stop();

    // A database elsewhere is in the backup under the usual name.
    let elsewhere = folder.path().join("elsewhere.db");
    fs::rename(data.join("countersign.db"), &elsewhere).unwrap();
    let third = folder.path().join("third");
    let mut command = backup(&data, &third);
    run(command.arg("--database").arg(format!("sqlite:{}", elsewhere.display()))).ok();
    assert_eq!(verify(&third).0, Some(0));
}

/// The log of a server that died holds what the file does not have yet.
#[test]
fn a_server_that_died_is_backed_up_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (data, to) = (folder.path().join("data"), folder.path().join("backup"));
    let server = Server::dev(&data);
    let id = asked(&server, &["Go?"]);
    server.kill();
    run(&mut backup(&data, &to)).ok();
    cli(&Server::dev(&to), &["show", &id]).ok();
}

#[test]
fn what_cannot_be_backed_up_is_said_and_leaves_nothing() {
    let (folder, data, _) = stopped();
    let to = folder.path().join("backup");
    let refused = |command: &mut Command| run(command).failed(4);
    let nothing = refused(&mut backup(&folder.path().join("nowhere"), &to));
    assert!(nothing.contains("there is no database at"), "{nothing}");
    let memory = refused(backup(&data, &to).args(["--database", "memory:"]));
    assert!(memory.contains("the database is in memory"), "{memory}");
    for url in ["postgres://db.example/countersign", "postgresql://u:secret@db.example/x"] {
        let postgres = refused(backup(&data, &to).env("COUNTERSIGN_DATABASE", url));
        assert!(postgres.contains("use pg_dump or your provider's backups"), "{postgres}");
        assert!(postgres.contains("docs/operations.md") && !postgres.contains("secret"));
    }
    let full = refused(&mut backup(&data, &data));
    assert!(full.contains("is not empty"), "{full}");
    let file = data.join("countersign.db");
    assert!(refused(&mut backup(&data, &file)).contains("cannot use"));
    let far = folder.path().join("not/there");
    assert!(refused(&mut backup(&data, &far)).contains("cannot create a folder in"));
    run(countersign().args(["backup", "--data"]).arg(&data)).failed(64);

    // A database of another version, which this program could not check.
    let conn = Connection::open(&file).unwrap();
    conn.execute("INSERT INTO migration VALUES (99, 'later', 'x')", []).unwrap();
    assert!(refused(&mut backup(&data, &to)).contains("version 99"));
    conn.execute("DELETE FROM migration WHERE version = 99", []).unwrap();
    drop(conn);

    fs::remove_file(data.join("server-keys.json")).unwrap();
    let keyless = refused(&mut backup(&data, &to));
    assert!(keyless.contains("server-keys.json: name the data folder"), "{keyless}");
    assert_eq!(names(folder.path()), ["data"]);
}

/// The system refuses to let files grow, as a full disk would.
#[test]
fn a_full_disk_leaves_nothing_that_looks_like_a_backup() {
    let (folder, data, _) = stopped();
    let filler = "CREATE TABLE filler (x); INSERT INTO filler VALUES (randomblob(9000000));";
    Connection::open(data.join("countersign.db")).unwrap().execute_batch(filler).unwrap();
    let to = folder.path().join("backup");
    let mut limited = clean(Command::new("sh"));
    // Blocks of 512 bytes (1024 in some shells). The signal would end the process.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8000; exec \"$@\"", "sh"]);
    let command = backup(&data, &to);
    limited.arg(command.get_program()).args(command.get_args());
    let said = run(&mut limited).failed(4);
    assert!(said.contains("cannot copy"), "{said}");
    assert_eq!(names(folder.path()), ["data"]);
    run(&mut backup(&data, &to)).ok();
}

/// A copy of what does not hold is kept, since it may be all there is; and it is said.
#[test]
fn what_does_not_hold_is_said() {
    let (folder, data, _) = stopped();
    let upload = data.join("files").join("ab").join("c".repeat(62));
    fs::create_dir_all(upload.parent().unwrap()).unwrap();
    fs::write(&upload, "not what this is named by").unwrap();
    // Half an upload is nobody's.
    fs::write(upload.with_extension("part#1"), "half").unwrap();
    let told = |name: &str| {
        let to = folder.path().join(name);
        let Ran { code, out, err } = run(backup(&data, &to).arg("--json"));
        assert_eq!(code, 1, "{out}{err}");
        assert!(to.join("countersign.db").exists());
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["valid"], false, "{report}");
        report
    };
    let report = told("damaged");
    assert_eq!(report["damaged_uploads"], json!([format!("ab{}", "c".repeat(62))]));
    assert_eq!(report["uploads"], 1);
    assert_eq!(report["audit"]["valid"], true);
    fs::remove_file(&upload).unwrap();
    let conn = Connection::open(data.join("countersign.db")).unwrap();
    conn.execute("UPDATE record SET hash = zeroblob(32) WHERE position = 3", []).unwrap();
    drop(conn);
    assert_eq!(told("altered")["audit"]["valid"], false);
    let said = run(&mut backup(&data, &folder.path().join("again")));
    assert_eq!(said.code, 1);
    assert!(said.out.contains("The audit log is NOT valid"), "{}", said.out);
}
