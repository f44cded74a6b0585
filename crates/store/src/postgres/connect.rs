//! Connections: a pool with limits and time-outs, and single ones for those who listen.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio::sync::mpsc;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Failure;
use super::tls::Trust;
use crate::{Result, StoreError};

/// Connections of one node, those that listen aside.
const CONNECTIONS: usize = 16;
/// How long a caller waits for one of them.
const WAIT: Duration = Duration::from_secs(5);
/// How long the database may take to let us in.
const CONNECT: Duration = Duration::from_secs(5);
/// What each connection asks of the database: nothing of ours takes this long unless it is stuck.
const LIMITS: &str = "-c statement_timeout=30s -c lock_timeout=10s \
                      -c idle_in_transaction_session_timeout=30s -c default_transaction_isolation=read\\ committed";

/// Where the database is, and how to get there.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    tls: MakeRustlsConnect,
}

/// A connection of one's own, with what the database says unasked.
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) messages: mpsc::UnboundedReceiver<Result<AsyncMessage, tokio_postgres::Error>>,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=…&sslrootcert=…`. As with other
    /// clients, `prefer` and `require` encrypt and trust whoever answers; `verify-full` checks the
    /// certificate, against `sslrootcert` if it is given, else against those the system trusts.
    pub(super) fn read(url: &str) -> Result<Self> {
        let bad = |error: crate::BoxError| StoreError::Unavailable(error);
        let (url, trust) = Trust::read(url)?;
        let mut config: Config =
            url.parse().map_err(|error: tokio_postgres::Error| bad(error.into()))?;
        if trust.is_strict() {
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("countersign");
        config.connect_timeout(CONNECT);
        config.keepalives_idle(Duration::from_secs(30));
        let options = match config.get_options() {
            Some(options) => format!("{LIMITS} {options}"),
            None => LIMITS.to_owned(),
        };
        config.options(options);
        Ok(Self { config, tls: MakeRustlsConnect::new(trust.config()?) })
    }

    pub(super) fn pool(&self) -> Result<Pool> {
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(
            self.config.clone(),
            self.tls.clone(),
            ManagerConfig { recycling_method },
        );
        let timeouts = Timeouts { wait: Some(WAIT), create: Some(CONNECT), recycle: Some(CONNECT) };
        Pool::builder(manager)
            .max_size(CONNECTIONS)
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable(error.into()))
    }

    pub(super) async fn link(&self) -> Result<Link, Failure> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        let (tell, messages) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(message) =
                std::future::poll_fn(|context| connection.poll_message(context)).await
            {
                // Whoever listened is gone; so is the connection then.
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Link { client, messages })
    }
}
