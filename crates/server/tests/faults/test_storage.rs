//! Where servers keep their data: a folder of their own for one, or a database of their own for any
//! number of nodes, on the `PostgreSQL` that `DATABASE_URL` names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio_postgres::{NoTls, Row};

use super::support::{Server, countersign, serve};

/// Every node of every test has the same one.
pub(crate) const MASTER_KEY: &str =
    "0f0e0d0c0b0a09080706050403020100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

pub(crate) struct Place {
    data: TempDir,
    database: Option<Database>,
}

/// A database, and the server it is dropped from in the end if it was made for one test.
struct Database {
    url: String,
    made: Option<(String, String)>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self { data: tempfile::tempdir().unwrap(), database: None }
    }

    /// Nothing if there is no server. Says so, and in CI there must be one.
    pub(crate) async fn postgres() -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let server = server()?;
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("faults_{}_{n}", std::process::id());
        query(&server, &format!("CREATE DATABASE {name}")).await;
        let (before, _) = server.rsplit_once('/').unwrap();
        let url = format!("{before}/{name}");
        Some(Self::of(Database { url, made: Some((server, name)) }))
    }

    /// A database that is somebody else's to drop.
    pub(crate) fn at(url: &str) -> Self {
        Self::of(Database { url: url.to_owned(), made: None })
    }

    fn of(database: Database) -> Self {
        Self { data: tempfile::tempdir().unwrap(), database: Some(database) }
    }

    /// The address of the database that nodes share.
    pub(crate) fn url(&self) -> &str {
        &self.database.as_ref().unwrap().url
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_some()
    }

    /// As many servers as may run here at once, or two.
    pub(crate) fn nodes(&self) -> Vec<Server> {
        (0..if self.is_shared() { 2 } else { 1 }).map(|_| self.dev()).collect()
    }

    pub(crate) fn serve(&self) -> Command {
        self.with_database(serve(self.data.path()))
    }

    /// The same with another way to the database.
    pub(crate) fn through(&self, url: &str) -> Command {
        with(serve(self.data.path()), url)
    }

    pub(crate) fn dev(&self) -> Server {
        Server::start(self.serve().arg("--dev"))
    }

    /// `audit verify`: how it exited and what it said.
    pub(crate) fn verify(&self) -> (Option<i32>, String) {
        let mut verify = countersign();
        verify.args(["audit", "verify", "--data"]).arg(self.data.path());
        let out = self.with_database(verify).output().unwrap();
        let said = [out.stdout, out.stderr].concat();
        (out.status.code(), String::from_utf8(said).unwrap())
    }

    fn with_database(&self, command: Command) -> Command {
        match &self.database {
            Some(database) => with(command, &database.url),
            None => command,
        }
    }

    /// The folder of a server that is alone.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// The names of the events of each subject, read behind the servers' backs.
    pub(crate) async fn events(&self) -> Vec<(String, String)> {
        self.pairs("SELECT subject, what FROM record ORDER BY subject, seq").await
    }

    /// What is still to be delivered: which effect, and how often it was tried.
    pub(crate) async fn outbox(&self) -> Vec<(String, String)> {
        self.pairs("SELECT effect, CAST(attempt AS text) FROM work ORDER BY id").await
    }

    /// Runs a statement behind the servers' backs. A server that is alone must not run meanwhile.
    pub(crate) async fn execute(&self, sql: &str) {
        if let Some(database) = &self.database {
            query(&database.url, sql).await;
            return;
        }
        let conn = rusqlite::Connection::open(self.data.path().join("countersign.db")).unwrap();
        conn.execute_batch(sql).unwrap();
    }

    async fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        if let Some(database) = &self.database {
            return query(&database.url, sql)
                .await
                .iter()
                .map(|row| (row.get(0), row.get(1)))
                .collect();
        }
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let file = self.data.path().join("countersign.db");
        let conn = rusqlite::Connection::open_with_flags(file, flags).unwrap();
        conn.busy_timeout(Duration::from_secs(5)).unwrap();
        let mut select = conn.prepare(sql).unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// What holds after every fault: the record is as it was written, nothing ended twice, and
    /// nothing is to be delivered that did not happen. How each ask ended.
    pub(crate) async fn sound(&self) -> BTreeMap<String, String> {
        let (code, said) = self.verify();
        assert_eq!(code, Some(0), "{said}");
        let over = ["answered", "defaulted", "cancelled", "expired", "failed"];
        let (mut asked, mut ended) = (BTreeSet::new(), BTreeMap::new());
        for (subject, what) in self.events().await {
            if over.contains(&what.as_str()) {
                let before = ended.insert(subject.clone(), what.clone());
                assert_eq!(before, None, "{subject} ended twice, then {what}");
            }
            asked.extend(["asked", "task_created"].contains(&&*what).then_some(subject));
        }
        for (effect, _) in self.outbox().await {
            let effect: Value = serde_json::from_str(&effect).unwrap();
            let about = [&effect["ask"], &effect["told"]["ask"], &effect["task"]];
            let about = about.into_iter().find_map(Value::as_str);
            assert!(asked.contains(about.unwrap()), "{effect} is of no event");
        }
        ended
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some((server, name)) = self.made.take() else { return };
        // A runtime cannot wait inside another. A server that is gone took the database along.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let sql = format!("DROP DATABASE {name} WITH (FORCE)");
            runtime.unwrap().block_on(query(&server, &sql));
        });
        let _ = dropped.join();
    }
}

fn with(mut command: Command, url: &str) -> Command {
    command.args(["--database", url]);
    with_key(command)
}

/// A command that knows what the server's keys are encrypted with.
pub(crate) fn with_key(mut command: Command) -> Command {
    command.env("COUNTERSIGN_MASTER_KEY", MASTER_KEY);
    command
}

/// The server to make databases on, if there is one.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
pub(crate) fn server() -> Option<String> {
    let server = std::env::var("DATABASE_URL").ok();
    if server.is_none() {
        skipped("DATABASE_URL names no PostgreSQL server");
    }
    server
}

/// Says why a test does nothing. In CI that is a failure.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
pub(crate) fn skipped(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped: {why}");
}

/// Runs a statement on a connection of its own.
pub(crate) async fn query(url: &str, sql: &str) -> Vec<Row> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::select! {
        rows = client.query(sql, &[]) => rows.unwrap(),
        ended = connection => panic!("the connection ended: {ended:?}"),
    }
}
