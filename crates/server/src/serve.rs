//! Starting and stopping a server.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::{Context, bail};
use axum::extract::FromRef;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use gateway::Gateway;
use gateway::answer_files::AnswerFiles;
use gateway::auth::Authenticator;
use gateway::blobs::Blobs;
use gateway::bootstrap::{self, FirstSignIn, FirstStart};
use gateway::clock::MovableClock;
use gateway::data_eraser::DataEraser;
use gateway::feed_head;
use gateway::installation::Installation;
use gateway::jwt::JwtVerifier;
use gateway::key_destruction::KeyDestruction;
use gateway::login_rate_limit::LoginRateLimit;
use gateway::oidc::IdentityProvider;
use gateway::readiness::Readiness;
use gateway::receipts::Receipts;
use gateway::sealed_head::HeadFile;
use gateway::secrets::ServerSecrets;
use gateway::sessions::Sessions;
use gateway::signing::Signer;
use gateway::ssrf_guard::OutboundPolicy;
use gateway::streams::Streams;
use gateway::verification::ProofVerifiers;
use kernel::HumanId;
use notify::callbacks::Callbacks;
use notify::channel_setup::{self, ChannelEnvironment};
use notify::deliveries::runtime_contracts::RuntimeCommands;
use notify::operator_command::OperatorCommands;
use notify::sealer::Sealer;
use notify::{Notifier, NotifierDependencies, anchor, insights, sealer, search_index};
use store::Clock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, DatabaseLocation, variables};
use crate::connections::{ConnectionLimits, Connections};
use crate::http::api::DevServices;
use crate::http::callers::Callers;
use crate::http::services::{
    AppState, CoreServices, Operations, Services, StorageServices, Streaming,
};
use crate::http::{operations_router, refusal_router, router};
use crate::listener::Listener;
use crate::script::{Script, ScriptedPeople};
use crate::telemetry;
use crate::workers::{housekeeping, keys, retention, timers};

/// A server that runs until [`Server::stop`].
pub struct Server {
    app: AppState,
    feed_head: HeadFile,
    tasks: TaskTracker,
    stop: CancellationToken,
    listening: Vec<SocketAddr>,
    operations: Vec<SocketAddr>,
    welcome: Welcome,
}

/// The startup message, shown once.
pub struct Welcome {
    /// The result of the very first start.
    pub first: Option<FirstStart>,
    /// A one-time sign-in URL, if no administrator can sign in.
    pub sign_in: Option<String>,
    /// The administrator for whom another node printed such a URL, which still works.
    pub sign_in_elsewhere: Option<HumanId>,
}

impl Server {
    /// Opens the store, creates what the first start needs, listens, and starts the workers.
    pub async fn start(mut config: Config, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let script = config.scripted.as_deref().map(Script::read).transpose()?;
        let wall = Arc::clone(&clock);
        let movable = config.dev.then(|| Arc::new(MovableClock::new(Arc::clone(&clock))));
        let clock = movable.clone().map_or(clock, |movable| movable as Arc<dyn Clock>);
        let installation = Installation::open(&config.location, clock, movable.is_some()).await?;
        let start_lock = installation.start_lock().await?;
        installation.require_keys().await?;
        let Installation { store, clock, vault, files, mark, head, .. } = installation;
        // Only a movable clock differs from the clock of all others.
        let wall = if movable.is_some() { wall } else { Arc::clone(&clock) };
        let listeners = bind(&mut config)?;
        let listening =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        let operations_listeners =
            bind_addresses(&mut config.operations_listen).context("operations_listen")?;
        let operations = operations_listeners.iter().map(TcpListener::local_addr);
        let operations = operations.collect::<Result<Vec<_>, _>>()?;
        let tls = tls(&config).await?;
        let secrets = ServerSecrets::open(&vault, config.evidence_secret.clone()).await?;
        let secrets = Arc::new(secrets);
        let signer = Signer::open(vault, clock.now()).await?;
        let issuer = config.public_url.as_str().trim_end_matches('/').to_owned();
        let (sealed, signs) = (Arc::clone(&store), signer.clone());
        let sealer = Sealer::new(sealed, Arc::clone(&clock), signs, issuer.clone(), mark);
        let jwt =
            config.jwt.clone().map(|jwt| JwtVerifier::new(jwt, Arc::clone(&wall))).transpose()?;
        let login_rate_limit = LoginRateLimit::new(config.sign_in.limit);
        let authenticator = Arc::new(Authenticator::new(config.rate_limit, jwt, login_rate_limit));
        let providers = ProofVerifiers::open(&config.verification)?;
        let allowed = config.callback_allow.clone();
        let policy = OutboundPolicy { dev: config.dev, allowed };
        let contact = config.push_contact.clone().unwrap_or_else(|| issuer.clone());
        let push = config.push.then(|| (policy.clone(), contact));
        let callbacks = Callbacks::new(policy, Arc::clone(&secrets))?;
        let stop = CancellationToken::new();
        let settings = channel_setup::complete((*config.channels).clone(), &secrets, push)?;
        let around = ChannelEnvironment { clock: &clock, wall_clock: &wall, stop: &stop };
        let channels = channel_setup::open(settings, &around)?;
        let provider = config.sign_in.oidc.clone().map(IdentityProvider::new).transpose()?;
        let gateway =
            Gateway::new(store, clock).with_wall_clock(wall).with_secrets(Arc::clone(&secrets));
        // Metrics need a recorder first.
        let metrics = telemetry::metrics();
        let gateway = gateway.with_quotas(&config.quotas);
        // Last of all: a later failure must not lose a message that is shown only once.
        let welcome = prepare(&gateway, &config).await?;
        drop(start_lock);
        let dev = match movable {
            Some(clock) => {
                Some(DevServices { clock, players: scripted_people(&gateway, script).await? })
            }
            None => None,
        };
        let tasks = TaskTracker::new();
        let receipts = Receipts::new(gateway.clone(), signer, Arc::clone(&secrets), &issuer);
        let blobs = Blobs::new(files.clone(), gateway.clone());
        let answer_files = AnswerFiles::new(gateway.clone(), files.clone(), Arc::clone(&secrets));
        let key_destruction = KeyDestruction::new(gateway.clone(), receipts.clone());
        let erasure = DataEraser::new(gateway.clone(), blobs.clone());
        let callers = Callers::new(gateway.clone(), Arc::clone(&authenticator));
        let idle = config.sign_in.idle;
        let sessions = Sessions::new(gateway.clone(), Arc::clone(&authenticator), idle);
        let commands = OperatorCommands::new(variables());
        let notifier = Notifier::new(NotifierDependencies {
            gateway: gateway.clone(),
            secrets: Arc::clone(&secrets),
            receipts: receipts.clone(),
            authenticator: Arc::clone(&authenticator),
            sessions: sessions.clone(),
            erasure: erasure.clone(),
            channels,
            callbacks,
            runtimes: RuntimeCommands::new(config.runtime_commands.clone(), commands),
            links: config.links(),
            stop: stop.clone(),
            tasks: tasks.clone(),
        });
        let streaming = Streaming {
            streams: Streams::new(config.stream_limit),
            watchers: Streams::new(config.stream_limit),
            stop: stop.clone(),
            tasks: tasks.clone(),
        };
        let core = CoreServices {
            gateway,
            config: Arc::new(config),
            secrets,
            receipts,
            authenticator,
            sessions,
            callers,
            providers: Arc::new(providers),
            streaming,
        };
        let storage = StorageServices { blobs, answer_files, erasure, key_destruction };
        let sealer = Arc::new(sealer);
        let readiness = Readiness::default();
        let reported = Operations { readiness, metrics, sealer, files };
        let app = AppState::new(Services::new(core, storage, notifier, reported, provider, dev));
        let server = Self { app, feed_head: head, tasks, stop, listening, operations, welcome };
        server.start_workers();
        server.listen(listeners, tls)?;
        server.listen_for_operations(operations_listeners)?;
        Ok(server)
    }

    /// The addresses the server listens on.
    pub fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }

    /// The separate addresses for health, readiness and metrics, if any.
    pub fn operations(&self) -> &[SocketAddr] {
        &self.operations
    }

    /// The startup message for the operator.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// The state that the handlers share.
    pub fn app(&self) -> &AppState {
        &self.app
    }

    /// Stops gracefully: accepts no new connections, lets requests in flight and worker rounds
    /// finish, and seals the written records.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Err(error) = self.app.operations.sealer.seal().await {
            // The next start seals them.
            tracing::warn!(error = format!("{error:#}"), "cannot seal the last records");
        }
        let kept = feed_head::record_head(self.app.core.gateway.store(), &self.feed_head).await;
        if let Err(error) = kept {
            tracing::warn!(error = format!("{error:#}"), "cannot write the feed head file");
        }
    }

    fn start_workers(&self) {
        let gateway = &self.app.core.gateway;
        let feed = || gateway.store().feed();
        let stop = || self.stop.clone();
        let database = || Arc::clone(gateway.database());
        self.tasks.spawn(gateway.wake().clone().follow(feed(), stop()));
        self.tasks.spawn(timers::run(gateway.clone(), stop()));
        self.tasks.spawn(search_index::run(
            Arc::clone(gateway.store()),
            database(),
            feed(),
            stop(),
        ));
        let named = self.app.core.config.metrics_projects;
        let counted = Arc::clone(gateway.store());
        self.tasks.spawn(insights::run(counted, database(), feed(), named, stop()));
        self.app.notifier.start(feed);
        if let Some(dev) = Option::<DevServices>::from_ref(&self.app) {
            let players = Arc::clone(&dev.players);
            self.tasks.spawn(players.run(gateway.clone(), feed(), stop()));
        }
        let (app, config) = (&self.app, &self.app.core.config);
        self.tasks.spawn(sealer::run(
            Arc::clone(&app.operations.sealer),
            config.seal_every,
            feed(),
            stop(),
        ));
        let (store, kept) = (Arc::clone(gateway.store()), self.feed_head.clone());
        self.tasks.spawn(feed_head::run(store, kept, feed(), stop()));
        if let Some(command) = &config.anchor_command {
            let (store, command) = (Arc::clone(gateway.store()), command.clone());
            let commands = OperatorCommands::new(variables());
            self.tasks.spawn(anchor::run(
                store,
                commands,
                command,
                app.operations.sealer.newest(),
                stop(),
            ));
        }
        let (words, counts) = (config.retention, config.insights_retention);
        self.tasks.spawn(retention::run(gateway.clone(), words, counts, stop()));
        self.tasks.spawn(keys::run(app.core.receipts.signer().clone(), database(), stop()));
        self.tasks.spawn(housekeeping::run(
            gateway.clone(),
            Arc::clone(&self.app.core.authenticator),
            self.app.storage.blobs.clone(),
            self.app.operations.metrics.clone(),
            stop(),
        ));
    }

    fn listen(&self, sockets: Vec<TcpListener>, tls: Option<RustlsConfig>) -> anyhow::Result<()> {
        let tls = tls.map(RustlsAcceptor::new);
        let mut first: Option<Arc<Connections>> = None;
        for socket in sockets {
            let connections = first.get_or_insert_with(|| {
                Connections::new(ConnectionLimits::from_settings(&self.app.core.config))
            });
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

    /// Serves health, readiness and metrics on separate addresses, in plain HTTP: no credential
    /// is sent there.
    fn listen_for_operations(&self, sockets: Vec<TcpListener>) -> anyhow::Result<()> {
        for socket in sockets {
            let local = socket.local_addr()?.ip().is_loopback();
            let routes = operations_router(self.app.clone(), local);
            let connections = Connections::new(ConnectionLimits::operations());
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

/// Binds the main addresses. If the settings leave the port open, links use the port
/// that was chosen.
fn bind(config: &mut Config) -> anyhow::Result<Vec<TcpListener>> {
    let listeners = bind_addresses(&mut config.listen)?;
    if config.public_url.port() == Some(0) {
        let port = listeners.first().map(TcpListener::local_addr).transpose()?;
        // Setting the port of an http URL cannot fail.
        let _ = config.public_url.set_port(port.map(|address| address.port()));
    }
    Ok(listeners)
}

/// Binds the addresses. Of the two loopback addresses one is enough, because some machines have no
/// IPv6. Port 0 chooses a free port, the same for all addresses.
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
        // Another process on our port would receive our requests.
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

/// The people of a script. They answer requests created from now on.
async fn scripted_people(
    gateway: &Gateway,
    script: Option<Script>,
) -> anyhow::Result<Arc<ScriptedPeople>> {
    Ok(Arc::new(ScriptedPeople::new(
        script.unwrap_or_default(),
        gateway.store().last_position().await?,
    )))
}

async fn prepare(gateway: &Gateway, config: &Config) -> anyhow::Result<Welcome> {
    if !config.dev && bootstrap::is_dev_store(gateway) {
        bail!(
            "this data folder was used with --dev, so its credentials are publicly known; use \
             another --data, or revoke them with `countersign keys revoke`"
        );
    }
    if !config.agent_api_keys.is_empty() || !config.human_tokens.is_empty() {
        let (keys, tokens) = (&config.agent_api_keys, &config.human_tokens);
        bootstrap::apply_configured_credentials(gateway, keys, tokens, config.dev).await?;
    }
    if config.dev {
        bootstrap::create_dev_directory(gateway).await?;
        let sign_in = dev_sign_in(gateway, config).await?;
        return Ok(Welcome { first: None, sign_in, sign_in_elsewhere: None });
    }
    let first = bootstrap::first_start(gateway).await?;
    let shared = matches!(config.location.database, DatabaseLocation::Postgres(_));
    let (sign_in, sign_in_elsewhere) = match bootstrap::link_if_locked_out(gateway, shared).await? {
        FirstSignIn::Exists => (None, None),
        FirstSignIn::Link { secret } => (Some(config.links().sign_in(&secret)?), None),
        FirstSignIn::PrintedElsewhere { human } => (None, Some(human)),
    };
    Ok(Welcome { first, sign_in, sign_in_elsewhere })
}

async fn dev_sign_in(gateway: &Gateway, config: &Config) -> anyhow::Result<Option<String>> {
    let human = "user_dev".parse()?;
    let secret = bootstrap::create_sign_in_link(gateway, kernel::Actor::System, human).await?;
    Ok(Some(config.links().sign_in(&secret)?))
}
