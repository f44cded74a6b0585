//! A server with its people and agents, and the time it believes in.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use dialects::proof::Jwks;
use gateway::Gateway;
use gateway::audit::{self, AuditBaseline, AuditReport};
use kernel::directory::{Human, NewAgent, NewHuman};
use kernel::{Actor, Command, DirectoryCommand, Time};
use server::config::Settings;
use server::http::AppState;
use server::serve::Server;
use server::workers::{housekeeping, timers};
use store::Clock;
use tempfile::TempDir;

use crate::client::Client;

/// How long anything that crosses the network may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. Every story ends with [`World::end`].
pub(crate) struct World {
    clock: Arc<HandClock>,
    folder: TempDir,
    settings: Box<Settings>,
    server: Option<Server>,
    http: reqwest::Client,
    ended: bool,
}

impl World {
    /// `serve --dev`, with its fixed cast.
    pub(crate) async fn dev() -> Self {
        Self::with(dev()).await
    }

    /// A server with these settings, on some free port of loopback and a folder of its own.
    pub(crate) async fn with(settings: Settings) -> Self {
        Self::try_with(settings).await.unwrap()
    }

    /// The same, where the port may be taken.
    pub(crate) async fn try_with(settings: Settings) -> anyhow::Result<Self> {
        Box::pin(Self::begin(settings, HandClock::default(), |_| ())).await
    }

    /// A server on data that is there before it starts, at the moment it was left.
    pub(crate) async fn on(settings: Settings, now: Time, fill: impl FnOnce(&Path)) -> Self {
        let clock = HandClock(AtomicI64::new(now.millis()));
        Box::pin(Self::begin(settings, clock, fill)).await.unwrap()
    }

    async fn begin(
        mut settings: Settings,
        clock: HandClock,
        fill: impl FnOnce(&Path),
    ) -> anyhow::Result<Self> {
        log();
        let folder = tempfile::tempdir()?;
        settings.listen.get_or_insert_with(|| "127.0.0.1:0".to_owned());
        let data = folder.path().join("data");
        fill(&data);
        settings.data = Some(data);
        let clock = Arc::new(clock);
        let redirect = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder().redirect(redirect).no_proxy().build()?;
        let settings = Box::new(settings);
        let server = Some(start(&settings, &clock).await?);
        Ok(Self { clock, folder, settings, server, http, ended: false })
    }

    /// Stops the server and starts it again on the same data, on another port.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Stops the server; the data stays.
    pub(crate) async fn stop(&mut self) {
        self.server.take().unwrap().stop().await;
    }

    /// Starts it again with other settings, on the same data.
    pub(crate) async fn start_with(&mut self, settings: Settings) -> anyhow::Result<()> {
        let listen = Some("127.0.0.1:0".to_owned());
        let settings = Settings { data: self.settings.data.clone(), listen, ..settings };
        self.server = Some(start(&settings, &self.clock).await?);
        *self.settings = settings;
        Ok(())
    }

    /// Whenever it starts again, it is at the same address.
    pub(crate) fn keep_address(&mut self) {
        self.settings.listen = Some(self.address());
    }

    /// Starts it again.
    pub(crate) async fn start(&mut self) {
        self.server = Some(start(&self.settings, &self.clock).await.unwrap());
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn app(&self) -> &AppState {
        self.server().app()
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        &self.app().core.gateway
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `127.0.0.1:port`
    pub(crate) fn address(&self) -> String {
        self.server().listening()[0].to_string()
    }

    // Who calls.

    pub(crate) fn anonymous(&self) -> Client {
        Client::new(self.http.clone(), format!("http://{}", self.address()))
    }

    pub(crate) fn bearer(&self, secret: &str) -> Client {
        self.anonymous().bearer(secret)
    }

    /// `agent_dev` of project `dev`.
    pub(crate) fn agent(&self) -> Client {
        self.bearer("dev-agent-key")
    }

    /// `agent_dev_2` of project `dev2`.
    pub(crate) fn agent_2(&self) -> Client {
        self.bearer("dev-agent-key-2")
    }

    /// `user_dev`: owns both agents and administers.
    pub(crate) fn human(&self) -> Client {
        self.bearer("dev-human-token")
    }

    /// `user_dev_2`: a plain member of project `dev`.
    pub(crate) fn member(&self) -> Client {
        self.bearer("dev-human-token-2")
    }

    // Who there is.

    pub(crate) async fn add_agent(&self, id: &str, project: &str, owner: &str) {
        let (id, project, owner) =
            (id.parse().unwrap(), project.parse().unwrap(), owner.parse().unwrap());
        self.operate(DirectoryCommand::SaveAgent(NewAgent {
            id,
            project,
            owner,
            conversations: None,
        }))
        .await;
    }

    pub(crate) async fn add_to_group(&self, human: &str, group: &str) {
        let group = group.parse().unwrap();
        self.change(human, |human| human.groups.extend([group])).await;
    }

    pub(crate) async fn deactivate(&self, human: &str) {
        self.change(human, |human| human.active = false).await;
    }

    pub(crate) async fn move_to(&self, human: &str, projects: &[&str]) {
        let projects = projects.iter().map(|project| project.parse().unwrap()).collect();
        self.change(human, |human| human.projects = projects).await;
    }

    pub(crate) async fn change(&self, human: &str, change: impl FnOnce(&mut NewHuman)) {
        let directory = self.gateway().directory();
        let known = directory.human(&human.parse().unwrap()).unwrap().clone();
        let Human { id, profile, admin, active, projects, groups, skills, .. } = known;
        let profile = profile.value().cloned().unwrap();
        let mut new = NewHuman { id, profile, admin, active, projects, groups, skills };
        change(&mut new);
        self.operate(DirectoryCommand::SaveHuman(new)).await;
    }

    /// What the operator does.
    async fn operate(&self, command: impl Into<Command>) {
        self.gateway().run(Actor::System, command).await.unwrap();
    }

    // Time, and what happens by itself.

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Lets time pass. Nothing happens by itself before [`World::run_timers`], or so stories must
    /// assume: a worker looks too, whenever it likes.
    pub(crate) fn advance(&self, seconds: u64) {
        let millis = i64::try_from(seconds).unwrap() * 1000;
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// The time passes in which answers on pages can be undone.
    pub(crate) fn let_answers_stand(&self) {
        self.advance(5);
    }

    /// Everything that is due happens.
    pub(crate) async fn run_timers(&self) {
        timers::run_due(self.gateway()).await.unwrap();
    }

    /// What the server does once a minute.
    pub(crate) async fn tidy(&self) {
        housekeeping::clean_up(self.gateway(), &self.app().core.authenticator).await.unwrap();
    }

    /// Every public key this server ever had.
    pub(crate) fn keys(&self) -> Arc<Jwks> {
        Arc::new(self.app().core.receipts.signer().ever())
    }

    /// A check of the whole record.
    pub(crate) async fn audit(&self) -> AuditReport {
        let against = AuditBaseline { keys: self.keys(), ..AuditBaseline::default() };
        audit::check(self.gateway().store(), &against, &mut |_| ()).await.unwrap()
    }

    /// The end of every story: nothing waits in the outbox, and the record holds.
    pub(crate) async fn end(self) {
        self.end_with_dead(0).await;
    }

    /// The end of a story in which deliveries wait for what never answers: the record holds.
    pub(crate) async fn leave(mut self) {
        assert_eq!(self.audit().await.findings, [], "the record does not hold");
        self.stop().await;
        self.ended = true;
    }

    /// The end of a story in which so many deliveries were given up.
    pub(crate) async fn end_with_dead(mut self, dead: u64) {
        let deliveries = &self.app().notifier.deliveries;
        eventually("an empty outbox", async || {
            deliveries.drain().await.unwrap();
            self.gateway().store().backlog().await.unwrap().waiting == 0
        })
        .await;
        assert_eq!(self.gateway().store().backlog().await.unwrap().dead, dead, "given up");
        let report = self.audit().await;
        assert!(report.events > 0);
        assert_eq!(report.findings, [], "the record does not hold");
        self.stop().await;
        self.ended = true;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        assert!(self.ended || std::thread::panicking(), "a story ends with world.end()");
    }
}

async fn start(settings: &Settings, clock: &Arc<HandClock>) -> anyhow::Result<Server> {
    let clock: Arc<dyn Clock> = Arc::<HandClock>::clone(clock);
    Box::pin(Server::start(settings.clone().check()?, clock)).await
}

/// The settings of `serve --dev`.
pub(crate) fn dev() -> Settings {
    Settings { dev: Some(true), ..Settings::default() }
}

/// Looks again and again until it is so.
pub(crate) async fn eventually(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !so().await {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Gives up on what should have come over the network long ago.
pub(crate) async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, coming).await;
    waited.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A clock that stands still until it is moved.
struct HandClock(AtomicI64);

impl Default for HandClock {
    fn default() -> Self {
        let begin: Time = "2026-03-01T09:00:00Z".parse().unwrap();
        Self(AtomicI64::new(begin.millis()))
    }
}

impl Clock for HandClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Everything the process has logged so far, at debug level and above.
pub(crate) fn logged() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

fn log() {
    static ONCE: Once = Once::new();
    struct Kept;
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            LOG.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    ONCE.call_once(|| {
        let lines = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
        lines.json().with_writer(|| Kept).init();
    });
}
