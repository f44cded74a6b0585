//! A deterministic simulation of the delivery follower and of the workers that execute deliveries.
//!
//! Agents, people and operators run random commands through the kernel and a store. One or two
//! nodes follow the feed, and one or two workers claim and settle. They run in one thread. Before
//! and after every call of the store the simulation decides from its seed what happens next: the
//! node goes on, others go on, the call fails, or the process dies with everything it had in
//! memory. In the end everything comes to rest, and the [model](model) compares the rows that were
//! written with what follows from the records.
//!
//! A failing seed prints what happened, step by step, and how to run it again.
//!
//! A run has 60 such decisions, about 23 events and 20 deliveries. Measured on two cores that
//! others used too, a debug build makes 150 runs or 9,000 decisions a second in memory, and 19 runs
//! or 1,100 decisions a second on `SQLite`, where every commit is synced.

mod actors;
mod dice;
mod gate;
mod model;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::Gateway;
use kernel::{Actor, Command};
use notify::delivery_follower::DeliveryFollower;
use store::Work;
use store::memory::Memory;
use store::sqlite::Sqlite;
use store::suite::{Guard, ManualClock, Stage};
use store::{AnnouncedChange, Clock, FollowerStore, Settlement, Store};
use tokio::sync::broadcast::Receiver;

use super::replaced_followers::ReplacedFollowers;
use actors::Known;
use dice::Dice;
use gate::{Gate, GatedFollowers, GatedPlan, Rule, Running};
use model::{Model, Seen};

/// How many steps a run has before everything comes to rest.
const STEPS: usize = 60;
/// How long a worker may take for what it claimed.
const LEASE: Duration = Duration::from_mins(1);
/// The environment variable that runs one seed.
const SEED: &str = "SIMULATION_SEED";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    Memory,
    Sqlite,
}

/// A process that follows the feed.
struct Node {
    name: usize,
    gate: Gate,
    follower: Arc<DeliveryFollower>,
    feed: Receiver<Arc<[AnnouncedChange]>>,
    running: Option<Running>,
}

/// A process that executes deliveries.
#[derive(Default)]
struct Worker {
    gate: Gate,
    running: Option<Running>,
}

struct Simulation {
    dice: Dice,
    rule: Rule,
    stage: Stage,
    feed: Receiver<Arc<[AnnouncedChange]>>,
    known: Known,
    nodes: Vec<Node>,
    workers: Vec<Worker>,
    model: Arc<Mutex<Model>>,
    story: Vec<String>,
}

impl Simulation {
    async fn new(seed: u64, backend: Backend, rule: Rule, folder: &Path) -> Self {
        let clock = ManualClock::new();
        let (store, guard): (Arc<dyn Store>, Guard) = match backend {
            Backend::Memory => (Arc::new(Memory::new(Arc::clone(&clock) as _)), Box::new(())),
            Backend::Sqlite => {
                let file = folder.join(format!("{seed}.db"));
                (Arc::new(Sqlite::open(&file, Arc::clone(&clock) as _).unwrap()), Box::new(()))
            }
        };
        let feed = store.feed();
        let stage = Stage::on(store, clock, guard);
        let mut dice = Dice::new(seed);
        let (nodes, workers) = (1 + dice.below(2), 1 + dice.below(2));
        let mut new = Self {
            dice,
            rule,
            stage,
            feed,
            known: Known::default(),
            nodes: Vec::new(),
            workers: (0..workers).map(|_| Worker::default()).collect(),
            model: Arc::default(),
            story: Vec::new(),
        };
        new.nodes = (1..=nodes).map(|name| new.node(name)).collect();
        for command in kernel::testing::everyone().into_iter().chain([actors::project()]) {
            new.commit(Actor::System, command.into()).await;
        }
        new
    }

    /// A process that begins with an empty memory.
    fn node(&self, name: usize) -> Node {
        let (gate, store) = (Gate::default(), Arc::clone(&self.stage.store));
        let gated =
            GatedFollowers { store: Arc::clone(&store), gate: gate.clone(), rule: self.rule };
        let followers = Arc::new(gated) as Arc<dyn FollowerStore>;
        let clock = Arc::clone(&self.stage.clock) as Arc<dyn Clock>;
        let feed = store.feed();
        let gateway = Gateway::new(Arc::new(ReplacedFollowers { store, followers }), clock);
        let follower = DeliveryFollower::new(gateway, Arc::new(GatedPlan(gate.clone())));
        Node { name, gate, follower: Arc::new(follower), feed, running: None }
    }

    fn tell(&mut self, what: String) {
        self.story.push(what);
    }

    async fn step(&mut self) {
        match self.dice.below(100) {
            0..30 => {
                let (actor, command) =
                    actors::command(&mut self.dice, &mut self.known, &self.stage);
                self.commit(actor, command).await;
            }
            30..35 => {
                let seconds = 1 + self.dice.below(90);
                self.stage.clock.advance(i64::try_from(seconds).unwrap());
                self.tell(format!("{seconds} seconds pass"));
                while let Some(command) = actors::due(&self.stage).await {
                    self.commit(Actor::System, command.into()).await;
                }
            }
            35..80 => {
                let place = self.dice.below(self.nodes.len());
                self.follow(place).await;
            }
            _ => {
                let place = self.dice.below(self.workers.len());
                self.work(place).await;
            }
        }
    }

    /// Runs a command. No two commits have the same moment.
    async fn commit(&mut self, actor: Actor, command: Command) {
        self.stage.clock.advance(1);
        let verb = command.verb();
        let store = Arc::clone(&self.stage.store);
        let mut model = std::mem::take(&mut *self.model.lock().unwrap());
        model.before_commit(&*store).await;
        let done = self.stage.attempt(actor, command).await;
        model.after_commit(&*store, &mut self.feed).await;
        *self.model.lock().unwrap() = model;
        let position = store.last_position().await.unwrap();
        match done {
            Ok(outcome) => {
                let about = outcome.ask.map(|ask| ask.id);
                self.tell(format!("{verb} {about:?}: committed up to {position}"));
                self.known.asks.extend(about.filter(|id| !self.known.asks.contains(id)));
            }
            Err(refused) => self.tell(format!("{verb}: refused, {refused}")),
        }
    }

    /// A node begins, goes on, fails or dies.
    async fn follow(&mut self, place: usize) {
        let luck = self.dice.below(100);
        let name = self.nodes[place].name;
        if luck < 8 {
            // Its memory and whatever it was doing are gone.
            let again = self.node(name);
            self.nodes[place] = again;
            self.tell(format!("node {name} dies and starts again"));
            return;
        }
        let node = &mut self.nodes[place];
        let mut running = if let Some(running) = node.running.take() {
            running
        } else {
            let handed = hand_over(&mut self.dice, node);
            let whole = self.dice.chance(30);
            self.story.push(format!("node {name} begins, {handed}"));
            let follower = Arc::clone(&self.nodes[place].follower);
            Box::pin(async move {
                if whole { follower.catch_up().await } else { follower.step().await.map(drop) }
            })
        };
        let node = &mut self.nodes[place];
        let fails = luck < 14;
        let went = node.gate.resume(&mut running, fails).await;
        let text = match went {
            Ok(at) => {
                node.running = Some(running);
                format!("node {name} waits {at}")
            }
            Err(Ok(())) => format!("node {name} is done"),
            Err(Err(error)) => format!("node {name} failed: {error}"),
        };
        let text = if fails { format!("a call fails: {text}") } else { text };
        self.tell(text);
    }

    /// A worker begins, goes on, fails or dies.
    async fn work(&mut self, place: usize) {
        let luck = self.dice.below(100);
        if luck < 10 {
            self.workers[place] = Worker::default();
            self.tell(format!("worker {} dies and starts again", place + 1));
            return;
        }
        let running = self.workers[place].running.take();
        let mut running = if let Some(running) = running {
            running
        } else {
            let lane = self.lane().await;
            self.claim(lane, self.workers[place].gate.clone(), false)
        };
        let worker = &mut self.workers[place];
        let went = worker.gate.resume(&mut running, luck < 15).await;
        let text = match went {
            Ok(at) => {
                worker.running = Some(running);
                format!("waits {at}")
            }
            Err(Ok(())) => "is done".to_owned(),
            Err(Err(error)) => format!("failed: {error}"),
        };
        self.tell(format!("worker {} {text}", place + 1));
    }

    /// A lane in which something waits.
    async fn lane(&mut self) -> String {
        let lanes = self.stage.store.lanes(Work::PEOPLE, self.stage.now(), 100).await.unwrap();
        let mut lanes: Vec<String> = lanes.into_iter().map(|(lane, _)| lane).collect();
        lanes.push(Work::PEOPLE.to_owned());
        self.dice.pick(&lanes).cloned().unwrap()
    }

    /// Claims some deliveries, executes them and settles them.
    fn claim(&mut self, lane: String, gate: Gate, all: bool) -> Running {
        let (store, now) = (Arc::clone(&self.stage.store), self.stage.now());
        let (model, limit) = (Arc::clone(&self.model), 1 + self.dice.below(5));
        let retry = !all && self.dice.chance(10);
        Box::pin(async move {
            let claimed = store.claim(&lane, now, LEASE, limit).await?;
            gate.pause(format!("with {} deliveries of lane {lane:?}", claimed.len())).await?;
            for delivery in &claimed {
                model.lock().unwrap().execute(delivery);
            }
            gate.pause("before it settles").await?;
            let ids: Vec<u64> = claimed.iter().map(|delivery| delivery.id).collect();
            let settlement = if retry {
                Settlement::Retry { at: now.plus_seconds(10), error: "503".to_owned() }
            } else {
                Settlement::Done
            };
            let settled = ids.iter().map(|id| (*id, settlement.clone())).collect();
            store.settle(settled, Vec::new()).await?;
            for id in ids.into_iter().filter(|_| !retry) {
                model.lock().unwrap().finish(id);
            }
            gate.pause("after it settled").await
        })
    }

    /// All processes die. One node catches up, and one worker executes everything.
    async fn rest(&mut self) {
        self.nodes = vec![self.node(1)];
        self.workers = vec![Worker::default()];
        self.tell("all processes die; one node and one worker go on undisturbed".to_owned());
        self.nodes[0].gate.open();
        self.workers[0].gate.open();
        // A broken rule may need many tries, or never come to an end.
        for _ in 0..3 {
            let _ = self.nodes[0].follower.catch_up().await;
        }
        for _ in 0..STEPS * 10 {
            if self.stage.store.backlog().await.unwrap().waiting == 0 {
                return;
            }
            self.stage.clock.advance(61);
            let lanes = self.stage.store.lanes(Work::PEOPLE, self.stage.now(), 100).await.unwrap();
            let lanes = lanes.into_iter().map(|(lane, _)| lane);
            for lane in lanes.chain([Work::PEOPLE.to_owned()]) {
                let gate = self.workers[0].gate.clone();
                self.claim(lane, gate, true).await.unwrap();
            }
        }
    }
}

/// Hands over what was committed since, or only a part of it: a receiver may lag, and a node does
/// not know the follow-ups of what another node committed.
fn hand_over(dice: &mut Dice, node: &mut Node) -> String {
    let (mut handed, mut missed, mut foreign) = (0, 0, 0);
    while let Ok(news) = node.feed.try_recv() {
        match dice.below(10) {
            0 | 1 => missed += 1,
            2 | 3 => {
                foreign += 1;
                let news: Vec<AnnouncedChange> = news
                    .iter()
                    .map(|news| AnnouncedChange { follow_ups: None, ..news.clone() })
                    .collect();
                node.follower.hand_over(&news);
            }
            _ => {
                handed += 1;
                node.follower.hand_over(&news);
            }
        }
    }
    format!("{handed} commits were handed over, {foreign} of other nodes, {missed} missed")
}

/// One run. Returns what it has seen, or what went wrong with its story.
async fn simulate(seed: u64, backend: Backend, rule: Rule, folder: &Path) -> Result<Seen, String> {
    let mut simulation = Simulation::new(seed, backend, rule, folder).await;
    for _ in 0..STEPS {
        simulation.step().await;
    }
    simulation.rest().await;
    let model = std::mem::take(&mut *simulation.model.lock().unwrap());
    model.judge().map_err(|wrong| {
        let mut text = format!("seed {seed} on {backend:?} with {rule:?}:\n{wrong}\n\nThe steps:\n");
        for (n, step) in simulation.story.iter().enumerate() {
            let _ = writeln!(text, "{n:4}  {step}");
        }
        let backend = format!("{backend:?}").to_lowercase();
        let _ = write!(
            text,
            "\nRun it again with:\n  {SEED}={seed} cargo test -p countersign-notify --test followers {backend}"
        );
        text
    })
}

/// The seed that a person wants to run again.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
fn wanted() -> Option<u64> {
    std::env::var(SEED).ok().map(|seed| seed.parse().unwrap())
}

/// Runs the seeds below `n`, or the one that is wanted.
async fn holds(backend: Backend, n: u64) {
    let folder = tempfile::tempdir().unwrap();
    let seeds = wanted().map_or(0..n, |seed| seed..seed + 1);
    let (begun, mut all) = (Instant::now(), Seen::default());
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let seen = simulate(seed, backend, Rule::Together, folder.path()).await;
        let seen = seen.unwrap_or_else(|story| panic!("{story}"));
        all.events += seen.events;
        all.rows += seen.rows;
        all.repeated += seen.repeated;
        all.kinds.extend(seen.kinds);
    }
    println!("{count} runs in {:?}: {all:?}", begun.elapsed());
    if count == n {
        let every =
            ["notify", "settle", "callback", "webhook", "test of a webhook", "files", "person"];
        assert_eq!(all.kinds, BTreeSet::from(every), "the runs are worth something");
        assert!(all.repeated > 0, "workers died with something in their hands");
    }
}

#[tokio::test(start_paused = true)]
async fn each_event_becomes_work_once_in_memory() {
    holds(Backend::Memory, 1_000).await;
}

#[tokio::test(start_paused = true)]
async fn each_event_becomes_work_once_in_sqlite() {
    holds(Backend::Sqlite, 100).await;
}

/// How many of the first runs find that a store breaks the rule, and a report of one of them.
async fn found(rule: Rule) -> (usize, String) {
    let (folder, mut reports) = (tempfile::tempdir().unwrap(), Vec::new());
    for seed in 0..100 {
        reports.extend(simulate(seed, Backend::Memory, rule, folder.path()).await.err());
    }
    println!("{rule:?}: {} of 100 runs find it", reports.len());
    (reports.len(), reports.first().cloned().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_store_that_writes_work_first_is_found() {
    let (n, report) = found(Rule::WorkFirst).await;
    assert!(n > 0 && report.contains("twice: "), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_moves_first_is_found() {
    let (n, report) = found(Rule::PositionFirst).await;
    assert!(n > 0 && report.contains("lost: "), "{report}");
    assert!(report.contains("waits between position and work"), "the story tells it: {report}");
    assert!(report.contains("SIMULATION_SEED="), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_moves_is_found() {
    let (n, report) = found(Rule::WorkAlone).await;
    assert!(n > 0 && report.contains("twice: "), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_check_the_position_is_found() {
    let (n, report) = found(Rule::Unchecked).await;
    assert!(n > 0 && report.contains("twice: "), "{report}");
}
