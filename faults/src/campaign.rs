//! A run against one backend: clients at work, one fault after the other, and a final
//! read of everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::check::check;
use crate::client::{AGENT, CallResult, NodeClient, OWNER};
use crate::disk::{self, FaultyDisk};
use crate::load::{ClientLoad, sha256, text};
use crate::node::{NodeSettings, ServerNode};
use crate::observations::{FinalAsk, ObservationKind, ObservationLog};
use crate::postgres::PostgresCluster;
use crate::power_loss::{self, UnsyncedFate};
use crate::proxy::{FaultProxy, ProxyMode};
use crate::random::SeededRandom;
use crate::receiver::WebhookReceiver;
use crate::report::Campaign;

/// The time limit for recovery after a fault.
const RECOVERY: Duration = Duration::from_mins(1);
/// The number of acknowledgements after a fault that show recovery.
const RECOVERED: usize = 15;
/// How long the run waits for deliveries at the end, and how far the clock is moved ahead
/// meanwhile: over all but the last retries of a delivery.
const DELIVERY: Duration = Duration::from_mins(1);
const STEP_AHEAD_MS: i64 = 40 * 60 * 1000;
const STEPS_AHEAD: i64 = 6;
/// The largest step of the clock.
const HOUR_MS: u64 = 60 * 60 * 1000;
/// The number of clients that read everything back.
const READERS: usize = 6;

/// The storage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageBackend {
    /// One node with an embedded database.
    Sqlite,
    /// Two nodes on one `PostgreSQL`.
    Postgres,
}

impl StorageBackend {
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// `kill -9` of a node.
    Kill,
    /// `kill -9` of the database.
    DatabaseKill,
    /// `SIGSTOP` of a node, and `SIGCONT`.
    Pause,
    /// Every write fails because no space is left.
    DiskFull,
    /// The wall clock is set ahead or back, and then corrected.
    Clock,
    /// Connections are cut: between clients and nodes, or nodes and the database.
    Cut,
    /// The same connections carry bytes in one direction only.
    OneWay,
    /// Writes and syncs take long.
    SlowDisk,
    /// All data that was not synced is lost.
    PowerLoss,
}

impl FaultKind {
    pub const ALL: [Self; 9] = [
        Self::Kill,
        Self::DatabaseKill,
        Self::Pause,
        Self::DiskFull,
        Self::Clock,
        Self::Cut,
        Self::OneWay,
        Self::SlowDisk,
        Self::PowerLoss,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::DatabaseKill => "database-kill",
            Self::Pause => "pause",
            Self::DiskFull => "disk-full",
            Self::Clock => "clock",
            Self::Cut => "cut",
            Self::OneWay => "one-way",
            Self::SlowDisk => "slow-disk",
            Self::PowerLoss => "power-loss",
        }
    }

    fn applies_to(self, backend: StorageBackend) -> bool {
        self != Self::DatabaseKill || backend == StorageBackend::Postgres
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FaultKind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|fault| fault.name() == text);
        found.with_context(|| format!("unknown fault {text:?}; known faults: {}", names()))
    }
}

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct CampaignPlan {
    /// The binary `countersign`.
    pub binary: PathBuf,
    /// The directory of this run.
    pub folder: PathBuf,
    pub backend: StorageBackend,
    /// How long faults are injected.
    pub time: Duration,
    /// The seed of the schedule.
    pub seed: u64,
    /// The kinds of faults.
    pub faults: Vec<FaultKind>,
    /// Whether syncs lie, so that durability is broken and the checker must find it.
    pub lying: bool,
}

/// Runs a campaign.
pub async fn run(plan: &CampaignPlan) -> anyhow::Result<Campaign> {
    let mut dice = SeededRandom::new(plan.seed);
    let history = ObservationLog::default();
    let mut stage = CampaignRun::set(plan, &history, dice.split()).await?;
    let mut faults = vec!["none"];
    let load = ClientLoad::new(stage.bases(), history.clone());
    let clients = load.start(&mut dice)?;
    let until = Instant::now() + plan.time;
    let mut queue = Vec::new();
    while Instant::now() < until {
        if queue.is_empty() {
            queue = plan.faults.clone();
            queue.retain(|fault| fault.applies_to(plan.backend));
            dice.shuffle(&mut queue);
        }
        let Some(fault) = queue.pop() else { bail!("no fault applies to {}", plan.backend.name()) };
        // A slow machine has acknowledged nothing yet that a power loss could take away.
        while plan.lying && history.acknowledged() < RECOVERED {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        history.next_window();
        faults.push(fault.name());
        stage.window(fault).await?;
        // After one power loss the checker has to report the data that the lying syncs lost.
        // PostgreSQL survives one, because it starts from the data that was durable before the
        // first client. It does not survive a second one: the writes of its recovery were never
        // synced.
        if plan.lying {
            break;
        }
    }
    load.stop();
    clients.join_all().await;
    stage.read_back().await?;
    stage.end()?;
    let events = history.events();
    let verdict = check(&events);
    Ok(Campaign { backend: plan.backend.name(), faults, events, verdict })
}

/// The servers of a run, and everything that faults affect.
struct CampaignRun {
    backend: StorageBackend,
    lying: bool,
    history: ObservationLog,
    dice: SeededRandom,
    http: reqwest::Client,
    nodes: Vec<ServerNode>,
    /// The disks of the nodes. If nodes share a database, the last one is the database's disk.
    disks: Vec<FaultyDisk>,
    cluster: Option<PostgresCluster>,
    /// Between clients and nodes, and between nodes and the database.
    clients: Vec<FaultProxy>,
    databases: Vec<FaultProxy>,
    receiver: WebhookReceiver,
}

impl CampaignRun {
    async fn set(
        plan: &CampaignPlan,
        history: &ObservationLog,
        mut dice: SeededRandom,
    ) -> anyhow::Result<Self> {
        let folder = power_loss::resolved(&plan.folder)?;
        let shim = disk::compile(&folder)?;
        let mut disks = Vec::new();
        let (cluster, database) = match plan.backend {
            StorageBackend::Sqlite => (None, None),
            StorageBackend::Postgres => {
                let place = folder.join("postgres");
                std::fs::create_dir(&place)?;
                let disk = FaultyDisk::new(
                    &shim,
                    PostgresCluster::data(&place),
                    folder.join("database-state"),
                )?;
                let cluster = PostgresCluster::start(&place, disk.environment())?;
                let url = cluster.url.clone();
                (Some(cluster), Some((disk, url)))
            }
        };
        let url = database.as_ref().map(|(_, url)| url.as_str());
        let (mut nodes, mut databases) = (Vec::new(), Vec::new());
        for n in 0..if database.is_some() { 2 } else { 1 } {
            let through = match url {
                Some(url) => {
                    let (proxy, through) = FaultProxy::start_for_url(url, 5432).await?;
                    databases.push(proxy);
                    Some(through)
                }
                None => None,
            };
            let (node, disk) = node(plan, &folder, &shim, n, through)?;
            nodes.push(node);
            disks.push(disk);
        }
        disks.extend(database.map(|(disk, _)| disk));
        let http = reqwest::Client::builder().timeout(Duration::from_secs(5)).build()?;
        for node in &mut nodes {
            node.start()?;
            node.ready(&http).await?;
        }
        let mut clients = Vec::new();
        for node in &nodes {
            clients.push(FaultProxy::start(node.address()).await?);
        }
        let receiver = WebhookReceiver::start(history.clone(), dice.split()).await?;
        let (backend, lying, history) = (plan.backend, plan.lying, history.clone());
        let stage = Self {
            backend,
            lying,
            history,
            dice,
            http,
            nodes,
            disks,
            cluster,
            clients,
            databases,
            receiver,
        };
        stage.endpoint().await?;
        // Data from before the first client counts as durable, whether or not it was synced.
        if plan.faults.contains(&FaultKind::PowerLoss) {
            for disk in &stage.disks {
                disk.track()?;
            }
        }
        if plan.lying {
            for disk in &stage.disks {
                disk.lie()?;
            }
        }
        Ok(stage)
    }

    /// The URLs that clients call.
    fn bases(&self) -> Vec<String> {
        self.clients.iter().map(|proxy| format!("http://{}", proxy.address)).collect()
    }

    /// Subscribes the receiver to the events of acknowledged creates and answers.
    async fn endpoint(&self) -> anyhow::Result<()> {
        let url = &self.receiver.url;
        let events = ["ask.created", "ask.answered"];
        let hook = json!({ "agent": "agent_dev", "url": url, "events": events });
        match NodeClient::new(&self.bases(), 0)?.post("/api/v1/webhooks", OWNER, &hook).await {
            CallResult::Done(_) => Ok(()),
            other => bail!("the webhook endpoint cannot be added: {other:?}"),
        }
    }

    fn note(&self, said: String) {
        eprintln!("{}: {said}", self.backend.name());
        self.history.add(ObservationKind::Fault(said));
    }

    async fn sleep(&mut self, least: u64, most: u64) {
        let (least, most) = (Duration::from_millis(least), Duration::from_millis(most));
        tokio::time::sleep(self.dice.between(least, most)).await;
    }

    /// Injects a fault, heals it, and waits until the servers have recovered.
    async fn window(&mut self, fault: FaultKind) -> anyhow::Result<()> {
        self.sleep(300, 1000).await;
        match fault {
            FaultKind::Kill => self.kill().await?,
            FaultKind::DatabaseKill => self.database_kill().await?,
            FaultKind::Pause => self.pause().await?,
            FaultKind::DiskFull => self.disk_full().await?,
            FaultKind::Clock => self.clock().await?,
            FaultKind::Cut => self.lines(&[ProxyMode::Cut], 500, 2000).await,
            FaultKind::OneWay => {
                self.lines(&[ProxyMode::NoRequests, ProxyMode::NoResponses], 1000, 4000).await;
            }
            FaultKind::SlowDisk => self.slow_disk().await?,
            FaultKind::PowerLoss => self.power_loss().await?,
        }
        self.recovered().await
    }

    /// Draws one of the nodes.
    fn draw(&mut self) -> usize {
        self.dice.index(self.nodes.len())
    }

    fn node(&mut self, n: usize) -> anyhow::Result<&mut ServerNode> {
        self.nodes.get_mut(n).context("no such node")
    }

    async fn kill(&mut self) -> anyhow::Result<()> {
        let n = self.draw();
        self.note(format!("kill -9 of node {n}"));
        self.node(n)?.kill()?;
        self.verify_now()?;
        self.sleep(0, 800).await;
        self.node(n)?.start()?;
        self.note(format!("node {n} started"));
        Ok(())
    }

    /// The data on disk after a crash must verify before any repair. A shared database is verified
    /// at the end, when it runs again.
    fn verify_now(&mut self) -> anyhow::Result<()> {
        if self.backend == StorageBackend::Sqlite {
            let (sound, said) = self.node(0)?.verify()?;
            self.history.add(ObservationKind::Verified { sound, said });
        }
        Ok(())
    }

    async fn database_kill(&mut self) -> anyhow::Result<()> {
        self.note("kill -9 of PostgreSQL".to_owned());
        let cluster = self.cluster.as_ref().context("no database of its own")?;
        cluster.kill()?;
        self.sleep(0, 800).await;
        self.restart_database()
    }

    fn restart_database(&self) -> anyhow::Result<()> {
        if let Some(cluster) = &self.cluster {
            cluster.restart()?;
            self.note("PostgreSQL started".to_owned());
        }
        Ok(())
    }

    async fn pause(&mut self) -> anyhow::Result<()> {
        let n = self.draw();
        self.note(format!("SIGSTOP of node {n}"));
        self.node(n)?.pause()?;
        self.sleep(500, 4000).await;
        self.node(n)?.resume()?;
        self.note(format!("SIGCONT of node {n}"));
        Ok(())
    }

    /// The disk with the data.
    fn data_disk(&self) -> anyhow::Result<&FaultyDisk> {
        self.disks.last().context("no disk")
    }

    async fn disk_full(&mut self) -> anyhow::Result<()> {
        self.note("the disk is full".to_owned());
        self.data_disk()?.set_full(true)?;
        self.sleep(500, 2500).await;
        self.data_disk()?.set_full(false)?;
        self.note("there is space again".to_owned());
        Ok(())
    }

    async fn clock(&mut self) -> anyhow::Result<()> {
        let by = i64::try_from(self.dice.below(HOUR_MS)).unwrap_or(0);
        let by = if self.dice.one_in(2) { -by } else { by };
        self.note(format!("the clock is set by {by} ms"));
        self.set_clock(by)?;
        self.sleep(500, 2000).await;
        self.set_clock(0)?;
        self.note("the clock is right again".to_owned());
        Ok(())
    }

    fn set_clock(&self, millis: i64) -> anyhow::Result<()> {
        self.disks.iter().try_for_each(|disk| disk.set_clock(millis))
    }

    /// Sets the state of one or all connections between clients and nodes, or between nodes
    /// and the database.
    async fn lines(&mut self, states: &[ProxyMode], least: u64, most: u64) {
        let line = self.dice.pick(states).copied().unwrap_or(ProxyMode::Cut);
        let between_nodes = !self.databases.is_empty() && self.dice.one_in(2);
        let all = self.dice.one_in(3);
        let n = self.draw();
        let what = if between_nodes { "nodes and the database" } else { "clients and nodes" };
        let which = if all { "all".to_owned() } else { format!("node {n}") };
        self.note(format!("{line:?} between {what} ({which})"));
        let proxies = if between_nodes { &self.databases } else { &self.clients };
        for (_, proxy) in proxies.iter().enumerate().filter(|(i, _)| all || *i == n) {
            proxy.set(line);
        }
        self.sleep(least, most).await;
        for proxy in self.databases.iter().chain(&self.clients) {
            proxy.set(ProxyMode::Up);
        }
        self.note("all connections work again".to_owned());
    }

    async fn slow_disk(&mut self) -> anyhow::Result<()> {
        let millis = 2 + self.dice.below(25);
        self.note(format!("every write takes {millis} ms more"));
        self.data_disk()?.set_slow(Duration::from_millis(millis))?;
        self.sleep(1000, 3000).await;
        self.data_disk()?.set_slow(Duration::ZERO)?;
        self.note("the disk is fast again".to_owned());
        Ok(())
    }

    async fn power_loss(&mut self) -> anyhow::Result<()> {
        // A disk that lies about its syncs may leave a database that cannot be opened.
        let torn = !self.lying && self.dice.one_in(2);
        let survives = if torn { UnsyncedFate::SomeSectors } else { UnsyncedFate::Nothing };
        match &self.cluster {
            Some(cluster) => cluster.kill()?,
            None => self.node(0)?.kill()?,
        }
        let mut dice = self.dice.split();
        let forgotten = self.data_disk()?.lose_power(survives, &mut dice)?;
        self.note(format!("power loss, {survives:?} survives: {forgotten:?}"));
        if self.cluster.is_some() {
            return self.restart_database();
        }
        self.verify_now()?;
        self.sleep(0, 300).await;
        self.node(0)?.start()
    }

    async fn recovered(&mut self) -> anyhow::Result<()> {
        let (since, enough) = (Instant::now(), self.history.acknowledged() + RECOVERED);
        let mut ended = Vec::new();
        for n in 0..self.nodes.len() {
            if let Some(status) = self.node(n)?.ended()? {
                ended.push(format!("node {n} ended: {status}: {}", self.node(n)?.log_tail()));
                self.node(n)?.kill()?;
                self.node(n)?.start()?;
            }
        }
        for said in ended {
            self.history.add(ObservationKind::Unexpected { doing: "running".to_owned(), said });
        }
        while self.history.acknowledged() < enough || !self.are_ready().await {
            // PostgreSQL ends if it cannot write its log, and an operator restarts it.
            if self.cluster.as_ref().is_some_and(|cluster| !cluster.is_alive()) {
                self.note("PostgreSQL ended by itself".to_owned());
                self.restart_database()?;
            }
            if since.elapsed() > RECOVERY {
                let said =
                    self.nodes.iter().map(ServerNode::log_tail).collect::<Vec<_>>().join("\n");
                self.history.add(ObservationKind::NotRecovered { said });
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.note(format!("recovered after {:.1} s", since.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Whether every node reports that it is ready.
    async fn are_ready(&self) -> bool {
        for node in &self.nodes {
            if !node.is_ready(&self.http).await {
                return false;
            }
        }
        true
    }

    /// Waits for webhooks, then reads everything that was acknowledged.
    async fn read_back(&mut self) -> anyhow::Result<()> {
        if !self.lying {
            self.webhooks().await?;
        }
        let (mut asks, mut uploads, mut tasks) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for event in self.history.events() {
            match event.what {
                ObservationKind::Created { ask, .. } => drop(asks.insert(ask)),
                ObservationKind::Uploaded { path, .. } => drop(uploads.insert(path)),
                ObservationKind::TaskStep { task, .. } => drop(tasks.insert(task)),
                _ => {}
            }
        }
        self.note(format!(
            "reading back {} asks, {} uploads, {} tasks",
            asks.len(),
            uploads.len(),
            tasks.len()
        ));
        let all = asks.into_iter().map(ReadBack::Ask);
        let all = all
            .chain(uploads.into_iter().map(ReadBack::Upload))
            .chain(tasks.into_iter().map(ReadBack::Task));
        let mut parts: BTreeMap<usize, Vec<ReadBack>> = BTreeMap::new();
        for (n, read) in all.enumerate() {
            parts.entry(n % READERS).or_default().push(read);
        }
        let mut readers = JoinSet::new();
        for (n, part) in parts {
            let (caller, history) = (NodeClient::new(&self.bases(), n)?, self.history.clone());
            readers.spawn(async move {
                let mut reader = ReadBackClient { caller, history };
                for read in part {
                    reader.read(read).await;
                }
            });
        }
        readers.join_all().await;
        Ok(())
    }

    async fn webhooks(&mut self) -> anyhow::Result<()> {
        let since = Instant::now();
        let mut steps = 0;
        loop {
            let (mut expected, mut heard) = (BTreeSet::new(), BTreeSet::new());
            for event in self.history.events() {
                match event.what {
                    ObservationKind::Created { ask, .. } => {
                        expected.insert(("ask.created", ask));
                    }
                    ObservationKind::Answered { ask, .. } => {
                        expected.insert(("ask.answered", ask));
                    }
                    ObservationKind::Heard { topic, ask } => drop(heard.insert((topic, ask))),
                    _ => {}
                }
            }
            let missing = expected
                .into_iter()
                .filter(|(topic, ask)| !heard.contains(&((*topic).to_owned(), ask.clone())));
            let missing = missing.count();
            if missing == 0 || since.elapsed() > DELIVERY {
                self.note(format!("webhooks settled, {missing} missing"));
                self.history.add(ObservationKind::WebhooksSettled);
                return Ok(());
            }
            // Retries have growing delays, and a delivery of a dead node is free after a minute, so
            // the clock runs faster here.
            if steps < STEPS_AHEAD
                && since.elapsed() > Duration::from_secs(2) * u32::try_from(steps)?
            {
                steps += 1;
                self.set_clock(steps * STEP_AHEAD_MS)?;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Stops the nodes and verifies the audit log.
    fn end(&mut self) -> anyhow::Result<()> {
        for n in 0..self.nodes.len() {
            if let Err(error) = self.node(n)?.stop() {
                let said = format!("{error:#}");
                self.history
                    .add(ObservationKind::Unexpected { doing: "stopping".to_owned(), said });
                self.node(n)?.kill()?;
            }
        }
        let (sound, said) = self.node(0)?.verify()?;
        self.history.add(ObservationKind::Verified { sound, said });
        Ok(())
    }
}

fn node(
    plan: &CampaignPlan,
    folder: &Path,
    shim: &Path,
    n: usize,
    database: Option<String>,
) -> anyhow::Result<(ServerNode, FaultyDisk)> {
    let place = folder.join(format!("node-{n}"));
    let data = place.join("data");
    std::fs::create_dir_all(&data)?;
    let disk = FaultyDisk::new(shim, data.clone(), place.join("state"))?;
    let environment = disk.environment();
    let (binary, log) = (plan.binary.clone(), place.join("log"));
    let node = ServerNode::new(NodeSettings { binary, data, database, environment, log })?;
    Ok((node, disk))
}

/// An object to read back.
enum ReadBack {
    Ask(String),
    Upload(String),
    Task(String),
}

/// A client that reads back acknowledged data.
struct ReadBackClient {
    caller: NodeClient,
    history: ObservationLog,
}

impl ReadBackClient {
    async fn read(&mut self, read: ReadBack) {
        let (subject, read) = match read {
            ReadBack::Ask(ask) => (ask.clone(), self.ask(&ask).await),
            ReadBack::Upload(path) => (path.clone(), self.upload(&path).await),
            ReadBack::Task(task) => (task.clone(), self.task(&task).await),
        };
        match read {
            Ok(what) => self.history.add(what),
            Err(CallResult::Missing(said)) => {
                self.history.add(ObservationKind::Missing { what: subject, said });
            }
            Err(other) => {
                let (doing, said) = (format!("reading back {subject}"), format!("{other:?}"));
                self.history.add(ObservationKind::Unexpected { doing, said });
            }
        }
    }

    async fn ask(&mut self, ask: &str) -> Result<ObservationKind, CallResult> {
        let said = self.get(&format!("/api/v1/asks/{ask}"), AGENT).await?;
        let comments = self.get(&format!("/api/v1/asks/{ask}/comments"), AGENT).await?;
        let list = comments.get("comments").and_then(Value::as_array);
        let comments = list.into_iter().flatten().map(|comment| text(comment, "/text")).collect();
        let answer = said.pointer("/result/comment").and_then(Value::as_str).map(ToOwned::to_owned);
        let state = text(&said, "/state");
        if state == "completed" {
            let path = format!("/api/v1/asks/{ask}/receipt");
            let receipt = self.bytes(&path).await?;
            let receipt = String::from_utf8_lossy(&receipt).into_owned();
            self.history.add(ObservationKind::Receipt { ask: ask.to_owned(), receipt });
        }
        let found = FinalAsk { prompt: text(&said, "/question/prompt"), state, answer, comments };
        Ok(ObservationKind::FinalAsk { ask: ask.to_owned(), found })
    }

    async fn upload(&mut self, path: &str) -> Result<ObservationKind, CallResult> {
        let bytes = self.bytes(path).await?;
        Ok(ObservationKind::FinalUpload { path: path.to_owned(), sha256: sha256(&bytes) })
    }

    async fn task(&mut self, task: &str) -> Result<ObservationKind, CallResult> {
        let body = json!({ "params": { "task_id": task } });
        let mut tries = 0;
        loop {
            match self.caller.post("/hacp/v1/ops/audit.replay", OWNER, &body).await {
                CallResult::Done(said) => {
                    let actions = said.as_array().into_iter().flatten();
                    let actions = actions.map(|event| text(event, "/action")).collect();
                    return Ok(ObservationKind::FinalTask { task: task.to_owned(), actions });
                }
                CallResult::Unknown if tries < 20 => tries += 1,
                other => return Err(other),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn get(&mut self, path: &str, credential: &str) -> Result<Value, CallResult> {
        let mut tries = 0;
        loop {
            match self.caller.get(path, credential).await {
                CallResult::Done(said) => return Ok(said),
                CallResult::Unknown if tries < 20 => tries += 1,
                other => return Err(other),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn bytes(&mut self, path: &str) -> Result<Vec<u8>, CallResult> {
        let mut tries = 0;
        loop {
            match self.caller.bytes(path, AGENT).await {
                Ok(bytes) => return Ok(bytes),
                Err(CallResult::Unknown) if tries < 20 => tries += 1,
                Err(other) => return Err(other),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_and_an_unknown_one_is_refused_with_the_list() {
        for fault in FaultKind::ALL {
            assert_eq!(fault.to_string().parse::<FaultKind>().unwrap(), fault);
        }
        let refused = "power".parse::<FaultKind>().unwrap_err().to_string();
        assert!(refused.starts_with("unknown fault \"power\"; known faults: kill, database-kill"));
    }
}
