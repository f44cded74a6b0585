//! Connections: a pool with limits and timeouts, and separate connections for listeners.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Client, ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
    Timeouts,
};
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{DatabaseError, PostgresFailure};
use super::{address, migrate};
use crate::{Clock, Result, StoreError};

/// How a node uses its database.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The clock for decisions. By default it is the clock of the database, which all nodes share.
    pub clock: Option<Arc<dyn Clock>>,
    /// Connections of this node, besides the one that listens. At least eight are used.
    pub connections: usize,
    /// How long connecting may take, and how long a caller waits for a free connection.
    pub connect: Duration,
    /// How long one statement may take, including waiting for locks.
    pub statement: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            clock: None,
            connections: 16,
            connect: Duration::from_secs(5),
            statement: Duration::from_secs(10),
        }
    }
}

/// Runs some work on a connection, and once more on another if the first was lost. So the work
/// must be safe to repeat. This is a macro, because a closure could not express that its
/// future is `Send`.
macro_rules! on {
    ($database:expr, $client:ident => $work:expr) => {{
        let database: &$crate::postgres::connect::PostgresPool = &$database;
        let mut spare = true;
        loop {
            let mut lent = database.checkout().await?;
            let done = {
                let $client = &mut lent;
                database.within(async { $work.await }).await
            };
            database.check_in(lent, done.as_ref().err());
            match done {
                Err(failure) if spare && failure.is_lost() => spare = false,
                done => break done,
            }
        }
    }};
}
pub(super) use on;

/// Enough for the writers, the announcer and a few readers.
const MIN_CONNECTIONS: usize = 8;

/// The connection pool and its settings.
#[derive(Clone)]
pub(super) struct PostgresPool {
    pool: Pool,
    config: Config,
    tls: MakeRustlsConnect,
    connect: Duration,
    /// The time limit for one piece of work, even if the database does not respond.
    pub(super) call: Duration,
}

/// A separate connection, and the future that drives it.
pub(super) type DedicatedConnection = (
    tokio_postgres::Client,
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
);

impl PostgresPool {
    pub(super) fn new(url: &str, options: &PostgresOptions, read_only: bool) -> Result<Self> {
        let (mut config, trust) = address::read(url)?;
        let millis = options.statement.as_millis();
        // Every query here finds a few rows by an index, and joins must use the index too. A plan
        // made while a table was small must not scan it when it has grown. Settings from the URL
        // come last and win.
        let limits = format!(
            "-c statement_timeout={millis} -c lock_timeout={millis} \
             -c idle_in_transaction_session_timeout={millis} -c client_min_messages=warning -c jit=off \
             -c enable_seqscan=off -c enable_bitmapscan=off \
             -c enable_hashjoin=off -c enable_mergejoin=off \
             -c default_transaction_read_only={read_only} {}",
            config.get_options().unwrap_or_default()
        );
        config.options(limits.trim_end());
        config.application_name("countersign");
        config.connect_timeout(options.connect);
        config.keepalives_idle(Duration::from_secs(30));
        config.tcp_user_timeout(options.statement + options.connect);
        let tls = MakeRustlsConnect::new(trust.config()?);
        let manager = Manager::from_config(
            config.clone(),
            tls.clone(),
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let wait = Some(options.connect);
        let mut pool = Pool::builder(manager);
        if !read_only {
            pool = pool.post_create(Hook::async_fn(|client, _| Box::pin(commit_durably(client))));
        }
        let pool = pool
            .max_size(options.connections.max(MIN_CONNECTIONS))
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        let call = options.statement + options.connect;
        Ok(Self { pool, config, tls, connect: options.connect, call })
    }

    /// Migrates the schema, without a time limit.
    pub(super) async fn migrate(&self) -> Result<(), PostgresFailure> {
        let mut client = self.pool.get().await?;
        migrate::migrate(&mut client, migrate::MIGRATIONS).await
    }

    /// A connection from the pool, or an error after the timeout.
    pub(super) async fn checkout(&self) -> Result<Client, PostgresFailure> {
        Ok(self.pool.get().await?)
    }

    /// Runs some work with the time limit.
    pub(super) async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, PostgresFailure>>,
    ) -> Result<T, PostgresFailure> {
        timeout(self.call, work).await.unwrap_or(Err(PostgresFailure::Slow))
    }

    /// Returns a connection to the pool, unless the next user could not use it.
    pub(super) fn check_in(&self, client: Client, failure: Option<&PostgresFailure>) {
        match failure {
            // The next user of a slow connection would wait for the statement that still runs
            // there. A connection that is not durable is replaced by a new one.
            Some(PostgresFailure::Slow | PostgresFailure::NotDurable(_)) => {
                drop(Client::take(client));
            }
            // The cause that closed this connection has probably closed others, and the pool does
            // not know yet.
            Some(failure) if failure.is_lost() => {
                drop(Client::take(client));
                self.pool.retain(|_, _| false);
            }
            Some(_) | None => {}
        }
    }

    pub(super) async fn connect_dedicated(&self) -> Result<DedicatedConnection, PostgresFailure> {
        let connecting = self.config.connect(self.tls.clone());
        match timeout(self.connect, connecting).await {
            Ok(link) => {
                link.map_err(|error| PostgresFailure::Connection(DatabaseError::from(error).into()))
            }
            Err(_) => Err(PostgresFailure::Slow),
        }
    }
}

/// Values of `synchronous_commit` that are refused: a commit would be acknowledged before it is on
/// the disk of the database server, or of the standby servers it waits for.
const NOT_DURABLE: [&str; 3] = ["off", "local", "remote_write"];

/// Whether a commit under this `synchronous_commit` is durable when it is acknowledged.
pub(super) fn is_durable(synchronous_commit: &str) -> bool {
    !NOT_DURABLE.contains(&synchronous_commit)
}

/// The reason a connection is refused.
pub(super) fn not_durable(setting: &str) -> String {
    format!(
        "synchronous_commit is {setting} although this session set it to on, so acknowledged requests \
         could be lost; connect without a connection pooler that resets session settings, or set \
         synchronous_commit = on for this database"
    )
}

/// Raises `synchronous_commit` to `on` where the server, the role or the URL sets less. A stronger
/// setting stays. A connection on which that has no effect is refused.
async fn commit_durably(client: &mut ClientWrapper) -> Result<(), HookError> {
    if is_durable(&synchronous_commit(client).await?) {
        return Ok(());
    }
    let raise = "SET SESSION synchronous_commit = on";
    client.batch_execute(raise).await.map_err(HookError::Backend)?;
    let after = synchronous_commit(client).await?;
    if is_durable(&after) { Ok(()) } else { Err(HookError::message(not_durable(&after))) }
}

async fn synchronous_commit(client: &ClientWrapper) -> Result<String, HookError> {
    let row = client.query_one("SHOW synchronous_commit", &[]).await.map_err(HookError::Backend)?;
    row.try_get(0).map_err(HookError::Backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_wait_for_the_disk_are_durable() {
        for (setting, durable) in [
            ("on", true),
            ("remote_apply", true),
            ("remote_write", false),
            ("local", false),
            ("off", false),
        ] {
            assert_eq!(is_durable(setting), durable, "{setting}");
        }
    }
}
