//! A store with the people and agents of [`kernel::testing`] in it, and a clock that tests control.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use kernel::actor::{Actor, AnswerInterface, Assurance, KeyScope};
use kernel::ask::Phase;
use kernel::audit::{Digest, Salts};
use kernel::command::NewAsk;
use kernel::testing::{everyone, human};
use kernel::{Ask, AskCommand, AskId, Command, Envelope, KeyId, Refusal, Subject, Time};
use ulid::Ulid;

use crate::followers::{DELIVERIES, FollowerAdvance};
use crate::listing::{AskListPage, AskListQuery, Filter, ListScope, Order};
use crate::{Clock, Idempotency, Job, JobOutcome, Result, Store, StoreError};

/// Something that must live as long as the store: a folder, a database.
pub type Guard = Box<dyn Any + Send + Sync>;

/// A clock that tests control.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock at the time the kernel's tests begin.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_770_372_000_000)))
    }

    /// Moves the clock.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A store with people and agents in it.
pub struct Stage {
    pub store: Arc<dyn Store>,
    pub clock: Arc<ManualClock>,
    drawn: AtomicU64,
    _guard: Guard,
}

impl Stage {
    /// Opens an empty store and creates the people and agents.
    pub async fn set<F, O>(open: F) -> Self
    where
        F: FnOnce(Arc<dyn Clock>) -> O,
        O: Future<Output = (Arc<dyn Store>, Guard)>,
    {
        let clock = ManualClock::new();
        let (store, guard) = open(Arc::clone(&clock) as Arc<dyn Clock>).await;
        let stage = Self::on(store, clock, guard);
        stage.cast().await;
        stage
    }

    /// A stage on a store that may already contain them.
    pub fn on(store: Arc<dyn Store>, clock: Arc<ManualClock>, guard: Guard) -> Self {
        Self { store, clock, drawn: AtomicU64::new(0), _guard: guard }
    }

    /// Creates the people and agents of [`kernel::testing::Cast`].
    pub async fn cast(&self) {
        for command in everyone() {
            self.run(Actor::System, command).await;
        }
    }

    /// Runs after every check: derived data matches the states.
    pub async fn is_sound(&self) {
        while self.store.index(1_000).await.unwrap() > 0 {}
        assert_eq!(self.store.inspect().await.unwrap().damages, []);
        self.store.probe_write().await.unwrap();
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A fresh id with the current time.
    pub fn draw(&self) -> Ulid {
        let n = self.drawn.fetch_add(1, Ordering::SeqCst);
        Ulid::from_parts(self.now().millis().try_into().unwrap(), n.into())
    }

    pub fn envelope(&self, actor: Actor, command: impl Into<Command>) -> Envelope {
        let fresh = self.draw();
        let seed = Digest::of(&fresh.to_bytes()).0;
        let shown = kernel::ask::DisplayedContent::Nothing;
        let salts = Salts::new(seed);
        Envelope {
            actor,
            fresh,
            salts,
            expected: None,
            shown,
            sender: None,
            command: command.into(),
        }
    }

    pub fn job(&self, actor: Actor, command: impl Into<Command>) -> Job {
        Job { idempotency: None, uses: None, cipher: None, envelope: self.envelope(actor, command) }
    }

    /// A job with an idempotency key: the same `text` is the same request.
    pub fn keyed(&self, actor: Actor, command: impl Into<Command>, key: &str, text: &str) -> Job {
        let scope = match &actor {
            Actor::Agent { id, .. } => id.to_string(),
            Actor::Human { id, .. } => id.to_string(),
            Actor::LinkHolder { ask, .. } | Actor::Relay { ask, .. } | Actor::Guest { ask, .. } => {
                ask.to_string()
            }
            Actor::System => "system".to_owned(),
        };
        let fingerprint = Digest::of(text.as_bytes());
        let key = key.to_owned();
        let idempotency = Some(Idempotency { scope, key, fingerprint, lasting: false });
        Job { idempotency, ..self.job(actor, command) }
    }

    /// The same with a lasting key.
    pub fn named(&self, actor: Actor, command: impl Into<Command>, key: &str, text: &str) -> Job {
        let mut job = self.keyed(actor, command, key, text);
        job.idempotency.as_mut().unwrap().lasting = true;
        job
    }

    pub async fn attempt(&self, actor: Actor, command: impl Into<Command>) -> Result<JobOutcome> {
        self.store.transact(self.job(actor, command)).await
    }

    pub async fn run(&self, actor: Actor, command: impl Into<Command>) -> JobOutcome {
        self.attempt(actor, command).await.unwrap()
    }

    /// Follows the feed to its end and writes the follow-ups to the outbox.
    pub async fn follow(&self) {
        while let Some(step) = self.next_step().await {
            assert!(self.store.advance(step).await.unwrap(), "nobody else follows");
        }
    }

    /// The next step of the delivery follower; `None` at the end of the feed.
    pub async fn next_step(&self) -> Option<FollowerAdvance> {
        let from = self.store.follower(DELIVERIES).await.unwrap();
        let records = self.store.records(crate::FeedQuery::After(from), 100).await.unwrap();
        let to = records.last()?.0;
        let (mut work, directory) = (Vec::new(), self.store.directory());
        for (_, record) in records {
            let ask = match record.subject {
                Subject::Ask(id) => self.store.ask(id).await.unwrap(),
                _ => None,
            };
            let event = record.event().unwrap();
            let follow_ups = kernel::follow_ups(&event, ask.as_deref(), &directory);
            work.extend(follow_ups.into_iter().map(|one| (self.now(), one.into())));
        }
        Some(FollowerAdvance { follower: DELIVERIES, from, to, work })
    }

    pub async fn ask(&self, new: NewAsk) -> AskId {
        self.run(bot(), AskCommand::Create(Box::new(new))).await.ask.unwrap().id
    }

    pub async fn seen(&self, id: AskId) -> Ask {
        Arc::unwrap_or_clone(self.store.ask(id).await.unwrap().unwrap())
    }

    pub async fn page(&self, list: AskListQuery) -> AskListPage {
        self.store.list(list).await.unwrap()
    }

    /// The ids of the first hundred asks of a list.
    pub async fn ids(&self, scope: ListScope, phases: &[Phase]) -> Vec<AskId> {
        ids(&self.page(list(vec![scope], phases)).await)
    }
}

/// A list of up to a hundred asks, without a filter.
pub fn list(scopes: Vec<ListScope>, phases: &[Phase]) -> AskListQuery {
    let (phases, filter) = (phases.to_vec(), Filter::default());
    let people = scopes.iter().any(|one| matches!(one, ListScope::Human(_) | ListScope::Pool(..)));
    let order = if people { Order::Urgency } else { Order::Age };
    AskListQuery { scopes, phases, order, filter, after: None, limit: 100 }
}

pub fn ids(page: &AskListPage) -> Vec<AskId> {
    page.asks.iter().map(|ask| ask.id).collect()
}

pub fn person(name: &str) -> Actor {
    Actor::Human { id: human(name), via: AnswerInterface::Api, assurance: Assurance::Session }
}

fn agent(name: &str, project: &str) -> Actor {
    let (id, project) = (name.parse().unwrap(), project.parse().unwrap());
    Actor::Agent { id, project, key: KeyId::new(Ulid::from(1_u128)), scope: KeyScope::Agent }
}

pub fn bot() -> Actor {
    agent("bot", "acme")
}

pub fn spy() -> Actor {
    agent("spy", "rival")
}

pub fn acme() -> ListScope {
    ListScope::Project("acme".parse().unwrap())
}

pub fn inbox(name: &str) -> ListScope {
    ListScope::Human(human(name))
}

/// The refusal of a job that must have been refused.
pub fn refusal(outcome: Result<JobOutcome>) -> Refusal {
    match outcome {
        Err(StoreError::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, got {other:?}"),
    }
}
