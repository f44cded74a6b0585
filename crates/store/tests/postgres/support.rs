//! Databases to try things on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::postgres::{Postgres, PostgresOptions};
use store::suite::{ManualClock, Stage};
use store::{Clock, Store};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

/// The server to make databases on.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
fn server() -> Option<String> {
    std::env::var("DATABASE_URL").ok()
}

/// Whether there is no server. Says so, and in CI there must be one.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
pub(crate) fn missing() -> bool {
    if server().is_some() {
        return false;
    }
    assert!(std::env::var("CI").is_err(), "DATABASE_URL must name a PostgreSQL server");
    eprintln!("skipped: DATABASE_URL names no PostgreSQL server");
    true
}

/// A database of its own, dropped in the end.
pub(crate) struct Database {
    name: String,
    pub(crate) url: String,
}

impl Database {
    pub(crate) async fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let server = server().unwrap();
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("cs_{}_{n}", std::process::id());
        run(&server, &format!("CREATE DATABASE {name}")).await;
        let (before, _) = server.rsplit_once('/').unwrap();
        Self { url: format!("{before}/{name}"), name }
    }

    pub(crate) async fn open(&self, clock: Arc<dyn Clock>) -> Postgres {
        Postgres::open(&self.url, with(clock)).await.unwrap()
    }

    /// A node with the cast of the suite in it.
    pub(crate) async fn stage(&self) -> Stage {
        let stage = self.node(ManualClock::new()).await;
        stage.cast().await;
        stage
    }

    /// A node beside others.
    pub(crate) async fn node(&self, clock: Arc<ManualClock>) -> Stage {
        let store = self.open(Arc::clone(&clock) as Arc<dyn Clock>).await;
        Stage::on(Arc::new(store), clock, Box::new(()))
    }

    /// A connection behind the store's back.
    pub(crate) async fn raw(&self) -> Raw {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        #[expect(clippy::disallowed_methods, reason = "ends with the connection")]
        let driver = tokio::spawn(async move { drop(connection.await) });
        Raw { client, driver }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, sql) =
            (server().unwrap(), format!("DROP DATABASE {} WITH (FORCE)", self.name));
        // A runtime cannot wait inside another.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(run(&server, &sql));
        });
        dropped.join().unwrap();
    }
}

async fn run(server: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    tokio::select! {
        done = client.batch_execute(sql) => done.unwrap(),
        ended = connection => panic!("the connection ended: {ended:?}"),
    }
}

pub(crate) struct Raw {
    pub(crate) client: Client,
    driver: JoinHandle<()>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

pub(crate) fn with(clock: Arc<dyn Clock>) -> PostgresOptions {
    PostgresOptions { clock: Some(clock), ..PostgresOptions::default() }
}

/// Little patience, so that tests need little.
pub(crate) fn hasty(clock: Arc<dyn Clock>) -> PostgresOptions {
    let (connect, statement) = (Duration::from_millis(500), Duration::from_millis(500));
    PostgresOptions { connect, statement, ..with(clock) }
}

/// What becomes true within a few seconds.
pub(crate) async fn soon(what: &str, mut is: impl AsyncFnMut() -> bool) {
    for _ in 0..200 {
        if is().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("not within five seconds: {what}");
}

pub(crate) fn shared(stage: &Stage) -> Arc<dyn Store> {
    Arc::clone(&stage.store)
}
