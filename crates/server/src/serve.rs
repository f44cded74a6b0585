//! Starting and stopping a server.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::{Context, bail};
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use gateway::Gateway;
use gateway::answer_files::AnswerFiles;
use gateway::auth::Authenticator;
use gateway::blobs::Blobs;
use gateway::bootstrap::{self, FirstStart, WayIn};
use gateway::clock::MovableClock;
use gateway::erasure::Erasure;
use gateway::feed_head;
use gateway::installation::Installation;
use gateway::jwt::JwtVerifier;
use gateway::key_destruction::KeyDestruction;
use gateway::login_rate_limit::LoginRateLimit;
use gateway::oidc::Provider;
use gateway::passkeys::Passkeys;
use gateway::readiness::Readiness;
use gateway::receipts::Receipts;
use gateway::secrets::Secrets;
use gateway::signing::Signer;
use gateway::ssrf_guard::Policy;
use gateway::streams::Streams;
use gateway::verification::Providers;
use kernel::HumanId;
use store::Clock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callbacks::Callbacks;
use crate::channels::open::{self, ChannelEnvironment};
use crate::config::{Config, Database};
use crate::connections::{Connections, Limits};
use crate::http::api::Dev;
use crate::http::callers::Callers;
use crate::http::channels::Listening;
use crate::http::hacp::PageEnds;
use crate::http::{App, Shared, operations_router, refusal_router, router};
use crate::listener::Listener;
use crate::script::{Players, Script};
use crate::telemetry;
use crate::workers::lanes::Lanes;
use crate::workers::outbox::Desk;
use crate::workers::sealer::Sealer;
use crate::workers::{
    anchor, counter, devices, housekeeping, indexer, keys, retention, sealer, timers,
};

/// A server that runs until [`Server::stop`].
pub struct Server {
    app: Shared,
    tasks: TaskTracker,
    stop: CancellationToken,
    listening: Vec<SocketAddr>,
    operations: Vec<SocketAddr>,
    welcome: Welcome,
}

/// What is told once, at the start.
pub struct Welcome {
    /// Made on the very first start.
    pub first: Option<FirstStart>,
    /// A one-time sign-in address, when no administrator has a way in.
    pub sign_in: Option<String>,
    /// The administrator for whom another node printed such an address, which still works.
    pub sign_in_elsewhere: Option<HumanId>,
}

impl Server {
    /// Opens the store, makes what the first start needs, listens, and starts the workers.
    pub async fn start(mut config: Config, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let script = config.scripted.as_deref().map(Script::read).transpose()?;
        let wall = Arc::clone(&clock);
        let movable = config.dev.then(|| Arc::new(MovableClock::new(Arc::clone(&clock))));
        let clock = movable.clone().map_or(clock, |movable| movable as Arc<dyn Clock>);
        let installation = Installation::open(&config.location, clock, movable.is_some()).await?;
        let turn = installation.turn().await?;
        installation.require_keys().await?;
        let Installation { store, clock, vault, files, mark, head, .. } = installation;
        // Only a clock that can be moved differs from the one everybody else goes by.
        let wall = if movable.is_some() { wall } else { Arc::clone(&clock) };
        let listeners = bind(&mut config)?;
        let listening =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        let operations_listeners =
            bind_addresses(&mut config.operations_listen).context("operations_listen")?;
        let operations = operations_listeners.iter().map(TcpListener::local_addr);
        let operations = operations.collect::<Result<Vec<_>, _>>()?;
        let tls = tls(&config).await?;
        let secrets = Secrets::open(&vault, config.evidence_secret.clone()).await?;
        let secrets = Arc::new(secrets);
        let signer = Signer::open(vault, clock.now()).await?;
        let issuer = config.public_url.as_str().trim_end_matches('/').to_owned();
        let (sealed, signs) = (Arc::clone(&store), signer.clone());
        let sealer = Sealer::new(sealed, Arc::clone(&clock), signs, issuer.clone(), mark);
        let jwt =
            config.jwt.clone().map(|jwt| JwtVerifier::new(jwt, Arc::clone(&wall))).transpose()?;
        let login_rate_limit = LoginRateLimit::new(config.sign_in.limit);
        let authenticator = Arc::new(Authenticator::new(config.rate_limit, jwt, login_rate_limit));
        let providers = Providers::open(&config.verification)?;
        let allowed = config.callback_allow.clone();
        let policy = Policy { dev: config.dev, allowed };
        let contact = config.push_contact.clone().unwrap_or_else(|| issuer.clone());
        let push = config.push.then(|| (policy.clone(), contact));
        let callbacks = Callbacks::new(policy)?;
        let stop = CancellationToken::new();
        let settings = open::complete((*config.channels).clone(), &secrets, push)?;
        let around = ChannelEnvironment { clock: &clock, wall_clock: &wall, stop: &stop };
        let channels = open::open(settings, &around)?;
        let provider = config.sign_in.oidc.clone().map(Provider::new).transpose()?;
        let gateway =
            Gateway::new(store, clock).with_wall_clock(wall).keeping(Arc::clone(&secrets));
        // Nothing is counted before there is a recorder.
        let metrics = telemetry::metrics();
        let gateway = gateway.with_quotas(&config.quotas);
        // Last of all: nothing that fails later may swallow what is told only once.
        let welcome = prepare(&gateway, &config).await?;
        drop(turn);
        let dev = match movable {
            Some(clock) => Some(Dev { clock, players: players(&gateway, script).await? }),
            None => None,
        };
        let tasks = TaskTracker::new();
        let receipts = Receipts::new(gateway.clone(), signer, Arc::clone(&secrets), &issuer);
        let blobs = Blobs::new(files.clone(), gateway.clone());
        let answer_files = AnswerFiles::new(gateway.clone(), files.clone(), Arc::clone(&secrets));
        let key_destruction = KeyDestruction::new(gateway.clone(), receipts.clone());
        let erasure = Erasure::new(gateway.clone(), blobs.clone());
        let callers = Callers::new(gateway.clone(), Arc::clone(&authenticator));
        let app = Shared::new(App {
            gateway,
            secrets,
            receipts,
            authenticator,
            callers,
            passkeys: Passkeys::new(&config.public_url),
            provider,
            channels,
            dev,
            files,
            blobs,
            answer_files,
            erasure,
            callbacks,
            lanes: Lanes::default(),
            providers,
            sealer: Arc::new(sealer),
            feed_head: head,
            readiness: Readiness::default(),
            metrics,
            streams: Streams::new(config.stream_limit),
            watchers: Streams::new(config.stream_limit),
            key_destruction,
            told: PageEnds::default(),
            stop: stop.clone(),
            tasks: tasks.clone(),
            config: Arc::new(config),
        });
        let server = Self { app, tasks, stop, listening, operations, welcome };
        server.work();
        server.listen(listeners, tls)?;
        server.listen_for_operations(operations_listeners)?;
        Ok(server)
    }

    /// Where it listens.
    pub fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }

    /// Where health, readiness and metrics are served apart, if they are.
    pub fn operations(&self) -> &[SocketAddr] {
        &self.operations
    }

    /// What to tell whoever started it.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// What its handlers share.
    pub fn app(&self) -> &Shared {
        &self.app
    }

    /// Ends gracefully: no new connections, requests in flight end, workers finish their round, and
    /// what was written is sealed.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Err(error) = self.app.sealer.seal().await {
            // The next start does it.
            tracing::warn!(error = format!("{error:#}"), "cannot seal the last records");
        }
        let kept = feed_head::keep(self.app.gateway.store(), &self.app.feed_head).await;
        if let Err(error) = kept {
            tracing::warn!(error = format!("{error:#}"), "cannot keep the head of the feed");
        }
    }

    fn work(&self) {
        let gateway = &self.app.gateway;
        let feed = || gateway.store().feed();
        let stop = || self.stop.clone();
        let database = || Arc::clone(gateway.database());
        self.tasks.spawn(gateway.wake().clone().follow(feed(), stop()));
        self.tasks.spawn(timers::run(gateway.clone(), stop()));
        self.tasks.spawn(indexer::run(Arc::clone(gateway.store()), database(), feed(), stop()));
        let named = self.app.config.metrics_projects;
        let counted = Arc::clone(gateway.store());
        self.tasks.spawn(counter::run(counted, database(), feed(), named, stop()));
        self.tasks.spawn(Desk::new(self.app.clone()).run(feed()));
        self.tasks.spawn(devices::run(self.app.clone(), feed()));
        for channel in self.app.channels.addressable() {
            let app = self.app.clone();
            self.tasks.spawn(Listening { app, channel }.run());
        }
        if let Some(dev) = &self.app.dev {
            let players = Arc::clone(&dev.players);
            self.tasks.spawn(players.run(gateway.clone(), feed(), stop()));
        }
        let (app, config) = (&self.app, &self.app.config);
        self.tasks.spawn(sealer::run(Arc::clone(&app.sealer), config.seal_every, feed(), stop()));
        let (store, kept) = (Arc::clone(gateway.store()), app.feed_head.clone());
        self.tasks.spawn(feed_head::run(store, kept, feed(), stop()));
        if let Some(command) = &config.anchor_command {
            let (store, command) = (Arc::clone(gateway.store()), command.clone());
            self.tasks.spawn(anchor::run(store, command, app.sealer.newest(), stop()));
        }
        let (words, counts) = (config.retention, config.insights_retention);
        self.tasks.spawn(retention::run(gateway.clone(), words, counts, stop()));
        self.tasks.spawn(keys::run(app.receipts.signer().clone(), database(), stop()));
        self.tasks.spawn(housekeeping::run(
            gateway.clone(),
            Arc::clone(&self.app.authenticator),
            self.app.blobs.clone(),
            self.app.metrics.clone(),
            stop(),
        ));
    }

    fn listen(&self, sockets: Vec<TcpListener>, tls: Option<RustlsConfig>) -> anyhow::Result<()> {
        let tls = tls.map(RustlsAcceptor::new);
        let mut first: Option<Arc<Connections>> = None;
        for socket in sockets {
            let connections =
                first.get_or_insert_with(|| Connections::new(Limits::of(&self.app.config)));
            let routes = router(self.app.clone());
            let listener = Listener::new(
                socket,
                tls.clone(),
                routes,
                refusal_router(),
                Arc::clone(connections),
            )?;
            self.tasks.spawn(listener.run(self.tasks.clone(), self.stop.clone()));
        }
        Ok(())
    }

    /// Health, readiness and metrics on their own address, in plain HTTP: no credential travels there.
    fn listen_for_operations(&self, sockets: Vec<TcpListener>) -> anyhow::Result<()> {
        for socket in sockets {
            let local = socket.local_addr()?.ip().is_loopback();
            let routes = operations_router(self.app.clone(), local);
            let connections = Connections::new(Limits::operations());
            let listener = Listener::new(socket, None, routes, refusal_router(), connections)?;
            self.tasks.spawn(listener.run(self.tasks.clone(), self.stop.clone()));
        }
        Ok(())
    }
}

async fn tls(config: &Config) -> anyhow::Result<Option<RustlsConfig>> {
    let Some((cert, key)) = &config.tls else { return Ok(None) };
    let usable = RustlsConfig::from_pem_file(cert, key).await;
    Ok(Some(usable.context("cannot use tls_cert and tls_key")?))
}

/// Binds the main address. Links lead to the port that was free, if the settings left it open.
fn bind(config: &mut Config) -> anyhow::Result<Vec<TcpListener>> {
    let listeners = bind_addresses(&mut config.listen)?;
    if config.public_url.port() == Some(0) {
        let port = listeners.first().map(TcpListener::local_addr).transpose()?;
        // An http address takes any port.
        let _ = config.public_url.set_port(port.map(|address| address.port()));
    }
    Ok(listeners)
}

/// Binds what can be bound. Of the two loopback addresses one is enough: some machines have no
/// IPv6. Port 0 is a free one, the same on all of them.
fn bind_addresses(addresses: &mut [SocketAddr]) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut failed = None;
    for address in addresses {
        if address.port() == 0
            && let Some(first) = listeners.first().map(TcpListener::local_addr).transpose()?
        {
            address.set_port(first.port());
        }
        match TcpListener::bind(*address) {
            Ok(listener) => {
                listener.set_nonblocking(true)?;
                *address = listener.local_addr()?;
                listeners.push(listener);
            }
            Err(error) => {
                let refused = anyhow::Error::from(error);
                failed = Some(refused.context(format!("cannot listen on {address}")));
            }
        }
    }
    if let Some(error) = failed {
        // Somebody else on our port would get what is meant for us.
        let taken = |error: &anyhow::Error| {
            let cause = error.downcast_ref::<std::io::Error>();
            cause.is_some_and(|cause| cause.kind() == ErrorKind::AddrInUse)
        };
        if listeners.is_empty() || taken(&error) {
            return Err(error);
        }
        tracing::warn!(error = format!("{error:#}"), "listening on one address only");
    }
    Ok(listeners)
}

/// The people of a script. They answer what is asked from now on.
async fn players(gateway: &Gateway, script: Option<Script>) -> anyhow::Result<Arc<Players>> {
    Ok(Arc::new(Players::new(script.unwrap_or_default(), gateway.store().last_position().await?)))
}

async fn prepare(gateway: &Gateway, config: &Config) -> anyhow::Result<Welcome> {
    if !config.dev && bootstrap::is_dev_store(gateway) {
        bail!(
            "this data folder was used with --dev, so everybody knows its credentials: use another \
             --data, or revoke them with `countersign keys revoke`"
        );
    }
    if !config.agent_api_keys.is_empty() || !config.human_tokens.is_empty() {
        let (keys, tokens) = (&config.agent_api_keys, &config.human_tokens);
        bootstrap::configured(gateway, keys, tokens, config.dev).await?;
    }
    if config.dev {
        bootstrap::dev(gateway).await?;
        let sign_in = dev_sign_in(gateway, config).await?;
        return Ok(Welcome { first: None, sign_in, sign_in_elsewhere: None });
    }
    let first = bootstrap::first_start(gateway).await?;
    let shared = matches!(config.location.database, Database::Postgres(_));
    let (sign_in, sign_in_elsewhere) = match bootstrap::link_if_locked_out(gateway, shared).await? {
        WayIn::Exists => (None, None),
        WayIn::Link { secret } => (Some(sign_in_url(config, &secret)?), None),
        WayIn::PrintedElsewhere { human } => (None, Some(human)),
    };
    Ok(Welcome { first, sign_in, sign_in_elsewhere })
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
