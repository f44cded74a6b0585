//! Connections: a pool with limits, on which everything ends in time, and one for whoever listens.

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

use super::failure::{Failure, Fault};
use super::{address, migrate};
use crate::{Clock, Result, StoreError};

/// How a node uses its database.
#[derive(Clone)]
pub struct Options {
    /// Whose clock says when something is decided: the database's if none is given, which is the
    /// same for all nodes.
    pub clock: Option<Arc<dyn Clock>>,
    /// Connections of this node, besides the one that listens. No fewer than eight are used.
    pub connections: usize,
    /// How long the database may take to let us in, and a caller waits for a free connection.
    pub connect: Duration,
    /// How long one statement may take, waiting for locks included.
    pub statement: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: None,
            connections: 16,
            connect: Duration::from_secs(5),
            statement: Duration::from_secs(10),
        }
    }
}

/// Does something on a connection, and once more on another if the first was lost on the way: so it
/// must bear a repetition. A macro, because a closure could not say that its future may move between
/// threads.
macro_rules! on {
    ($database:expr, $client:ident => $work:expr) => {{
        let database: &$crate::postgres::connect::Database = &$database;
        let mut spare = true;
        loop {
            let mut lent = database.lend().await?;
            let done = {
                let $client = &mut lent;
                database.within(async { $work.await }).await
            };
            database.take_back(lent, done.as_ref().err());
            match done {
                Err(failure) if spare && failure.is_lost() => spare = false,
                done => break done,
            }
        }
    }};
}
pub(super) use on;

/// Writers, the announcer and a few readers.
const FEWEST: usize = 8;

/// The way to the database.
#[derive(Clone)]
pub(super) struct Database {
    pool: Pool,
    config: Config,
    tls: MakeRustlsConnect,
    connect: Duration,
    /// How long some work may take in all, whatever the database says or does not say.
    pub(super) call: Duration,
}

/// A connection of one's own, and what drives it.
pub(super) type Link = (
    tokio_postgres::Client,
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
);

impl Database {
    pub(super) fn new(url: &str, options: &Options, read_only: bool) -> Result<Self> {
        let (mut config, trust) = address::read(url)?;
        let millis = options.statement.as_millis();
        // Every query of ours finds a few rows by an index, and so it joins them. A plan made while
        // a table was small must not scan it when it has grown. What the address asks for comes last
        // and wins.
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
            .max_size(options.connections.max(FEWEST))
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        let call = options.statement + options.connect;
        Ok(Self { pool, config, tls, connect: options.connect, call })
    }

    /// Brings the schema up to date, however long that takes.
    pub(super) async fn migrate(&self) -> Result<(), Failure> {
        let mut client = self.pool.get().await?;
        migrate::migrate(&mut client, migrate::MIGRATIONS).await
    }

    /// A connection, if one can be had in time.
    pub(super) async fn lend(&self) -> Result<Client, Failure> {
        Ok(self.pool.get().await?)
    }

    /// Some work on a connection, if it is done in time.
    pub(super) async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        timeout(self.call, work).await.unwrap_or(Err(Failure::Slow))
    }

    /// Takes back what was lent, unless it is of no use to the next one.
    pub(super) fn take_back(&self, client: Client, failure: Option<&Failure>) {
        match failure {
            // Whoever got a slow one would wait behind what still runs there; in place of one that is
            // not durable, a fresh one is set up.
            Some(Failure::Slow | Failure::NotDurable(_)) => drop(Client::take(client)),
            // What took this one away took others, too, and not all of them know yet.
            Some(failure) if failure.is_lost() => {
                drop(Client::take(client));
                self.pool.retain(|_, _| false);
            }
            Some(_) | None => {}
        }
    }

    pub(super) async fn link(&self) -> Result<Link, Failure> {
        let connecting = self.config.connect(self.tls.clone());
        match timeout(self.connect, connecting).await {
            Ok(link) => link.map_err(|error| Failure::Connection(Fault::from(error).into())),
            Err(_) => Err(Failure::Slow),
        }
    }
}

/// What `synchronous_commit` must not be: a commit would be acknowledged before it is on the disk of
/// the database server, or of the standby servers it waits for.
const WEAK: [&str; 3] = ["off", "local", "remote_write"];

/// Whether a commit under this `synchronous_commit` is durable when it is acknowledged.
pub(super) fn is_durable(synchronous_commit: &str) -> bool {
    !WEAK.contains(&synchronous_commit)
}

/// Why a connection is not used.
pub(super) fn not_durable(setting: &str) -> String {
    format!(
        "synchronous_commit is {setting} although this session set it to on, so acknowledged requests \
         could be lost; connect without a connection pooler that resets session settings, or set \
         synchronous_commit = on for this database"
    )
}

/// Raises `synchronous_commit` to `on` where the server, the role or the address asks for less. A
/// stronger setting stays. A connection on which that has no effect is not used.
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
