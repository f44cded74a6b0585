//! Starting and stopping a server.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use store::memory::Memory;
use store::sqlite::Sqlite;
use store::{Clock, Store};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Door;
use crate::bootstrap::{self, FirstStart};
use crate::channels::Channels;
use crate::channels::terminal::Terminal;
use crate::config::{Config, Database};
use crate::files::{Files, make_private_folder};
use crate::gateway::Gateway;
use crate::http::{App, Shared, router};
use crate::jwt::JwtVerifier;
use crate::secrets::Secrets;
use crate::telemetry;
use crate::workers::{housekeeping, outbox, timers};

/// How long a connection may take to send its headers.
const HEADERS: Duration = Duration::from_secs(15);
/// How long requests in flight may take to end.
const GRACE: Duration = Duration::from_secs(10);

/// A server that runs until [`Server::stop`].
pub struct Server {
    app: Shared,
    tasks: TaskTracker,
    stop: CancellationToken,
    handle: Handle<SocketAddr>,
    listening: Vec<SocketAddr>,
    welcome: Welcome,
}

/// What is told once, at the start.
pub struct Welcome {
    /// Made on the very first start.
    pub first: Option<FirstStart>,
    /// A one-time sign-in address, when no administrator has a way in.
    pub sign_in: Option<String>,
}

impl Server {
    /// Opens the store, makes what the first start needs, listens, and starts the workers.
    pub async fn start(config: Config, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let store = open_store(&config, Arc::clone(&clock))?;
        let gateway = Gateway::new(store, clock);
        let welcome = prepare(&gateway, &config).await?;
        let (secrets, files) = match config.database {
            Database::Memory => {
                (Secrets::ephemeral(config.evidence_secret.clone()), Files::ephemeral())
            }
            Database::Sqlite(_) => (
                Secrets::open(&config.data, config.evidence_secret.clone())?,
                Files::open(&config.data.join("files"))?,
            ),
        };
        let jwt = config.jwt.clone().map(JwtVerifier::new).transpose()?;
        let door = Arc::new(Door::new(config.rate_limit, jwt));
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let app = Arc::new(App {
            gateway,
            secrets,
            door,
            files,
            metrics: telemetry::metrics(),
            stop: stop.clone(),
            tasks: tasks.clone(),
            config,
        });
        let listeners = bind(&app.config.listen)?;
        let listening =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        let handle = Handle::new();
        let mut server = Self { app, tasks, stop, handle, listening, welcome };
        server.work();
        server.listen(listeners).await?;
        Ok(server)
    }

    /// Where it listens.
    pub fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }

    /// What to tell whoever started it.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// What its handlers share.
    pub fn app(&self) -> &Shared {
        &self.app
    }

    /// Ends gracefully: no new connections, requests in flight end, workers finish their round.
    pub async fn stop(self) {
        self.stop.cancel();
        self.handle.graceful_shutdown(Some(GRACE));
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn work(&self) {
        let gateway = &self.app.gateway;
        let terminal = Terminal::new(self.app.config.public_url.clone());
        let channels = if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
            Channels::default().with(terminal)
        } else {
            Channels::default()
        };
        let feed = || gateway.store().feed();
        let stop = || self.stop.clone();
        self.tasks.spawn(gateway.wake().clone().follow(feed(), stop()));
        self.tasks.spawn(timers::run(gateway.clone(), stop()));
        self.tasks.spawn(outbox::run(gateway.clone(), Arc::new(channels), feed(), stop()));
        self.tasks.spawn(housekeeping::run(
            gateway.clone(),
            Arc::clone(&self.app.door),
            self.app.metrics.clone(),
            stop(),
        ));
    }

    async fn listen(&mut self, listeners: Vec<TcpListener>) -> anyhow::Result<()> {
        let tls = match &self.app.config.tls {
            None => None,
            Some((cert, key)) => Some(
                RustlsConfig::from_pem_file(cert, key)
                    .await
                    .context("cannot use tls_cert and tls_key")?,
            ),
        };
        for listener in listeners {
            let service = router(Arc::clone(&self.app)).into_make_service();
            let handle = self.handle.clone();
            match &tls {
                None => {
                    let mut server = axum_server::from_tcp(listener)?.handle(handle);
                    patience(server.http_builder());
                    self.tasks.spawn(async move { ended(server.serve(service).await) });
                }
                Some(tls) => {
                    let mut server =
                        axum_server::from_tcp_rustls(listener, tls.clone())?.handle(handle);
                    patience(server.http_builder());
                    self.tasks.spawn(async move { ended(server.serve(service).await) });
                }
            }
        }
        Ok(())
    }
}

/// Whoever connects and says nothing is not waited for.
fn patience(http: &mut Builder<TokioExecutor>) {
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    http.http2().timer(TokioTimer::new()).keep_alive_interval(Some(HEADERS));
}

fn ended(outcome: std::io::Result<()>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "a listener failed");
    }
}

/// Binds what can be bound. Of the two loopback addresses one is enough: some machines have no
/// IPv6. The second gets the port the first was given.
fn bind(addresses: &[SocketAddr]) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut failed = None;
    for address in addresses {
        let mut address = *address;
        if let Some(first) = listeners.first() {
            address.set_port(first.local_addr()?.port());
        }
        match TcpListener::bind(address) {
            Ok(listener) => {
                listener.set_nonblocking(true)?;
                listeners.push(listener);
            }
            Err(error) => {
                failed = Some(anyhow::anyhow!("cannot listen on {address}: {error}"));
            }
        }
    }
    match failed {
        Some(error) if listeners.is_empty() => Err(error),
        Some(error) => {
            tracing::warn!(error = %error, "listening on one address only");
            Ok(listeners)
        }
        None => Ok(listeners),
    }
}

/// Opens the store. One process at a time.
pub fn open_store(config: &Config, clock: Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Store>> {
    match &config.database {
        Database::Memory => Ok(Arc::new(Memory::new(clock))),
        Database::Sqlite(path) => {
            make_private_folder(&config.data)?;
            let store = Sqlite::open(path, clock)
                .with_context(|| format!("cannot open {}", path.display()))?;
            Ok(Arc::new(store))
        }
    }
}

async fn prepare(gateway: &Gateway, config: &Config) -> anyhow::Result<Welcome> {
    if !config.dev && bootstrap::is_dev_store(gateway) {
        bail!(
            "this data folder was used with --dev, so everybody knows its credentials: use another \
             --data, or revoke them with `countersign keys revoke`"
        );
    }
    if !config.agent_api_keys.is_empty() || !config.human_tokens.is_empty() {
        bootstrap::configured(gateway, &config.agent_api_keys, &config.human_tokens).await?;
    }
    if config.dev {
        bootstrap::dev(gateway).await?;
        return Ok(Welcome { first: None, sign_in: dev_sign_in(gateway, config).await? });
    }
    let first = bootstrap::first_start(gateway).await?;
    let link = bootstrap::link_if_locked_out(gateway).await?;
    let sign_in = link.map(|(_, secret)| sign_in_url(config, &secret)).transpose()?;
    Ok(Welcome { first, sign_in })
}

async fn dev_sign_in(gateway: &Gateway, config: &Config) -> anyhow::Result<Option<String>> {
    let human = "user_dev".parse()?;
    let secret = bootstrap::link(gateway, kernel::Actor::System, human).await?;
    Ok(Some(sign_in_url(config, &secret)?))
}

/// Where a one-time link leads.
pub fn sign_in_url(config: &Config, secret: &str) -> anyhow::Result<String> {
    Ok(config.public_url.join(&format!("sign-in?token={secret}"))?.into())
}
