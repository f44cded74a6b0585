//! The case runner: it creates cases, stores calls, and continues them after the decision.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell, mpsc};

use super::call_store::{CallStage, CallStore, FinishedCall, PendingCall};
use super::layer::CaseRunnerLayer;
use crate::hitl::clock::{between, later};
use crate::hitl::{Case, Clock, Expired, Follower, HitlError, JudgedBy, Outcome, SystemClock};
use crate::{Client, ClientError};

/// How soon following a case is tried again after a failure.
const RETRY_AFTER: Duration = Duration::from_mins(5);
/// How long finished calls are stored.
const RETENTION: Duration = Duration::from_hours(30 * 24);

/// The input of a continuation.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The case id, the same for every attempt. Use it as the idempotency key of the effect.
    pub case_id: String,
    /// The data that the handler stored for the continuation.
    pub input: Value,
    /// The decision. On [`Outcome::Expired`] the *agent* executes the default; the service only
    /// learns that no one decided.
    pub outcome: Outcome,
    /// 1, unless the service was killed while the continuation ran.
    pub attempt: u32,
}

/// Why a case runner failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseRunnerError {
    /// No continuation has this name.
    #[error("unknown continuation {0:?}")]
    NoContinuation(String),
    /// The agent repeated a call with different content.
    #[error("this Idempotency-Key was already used with another call")]
    Repeated,
    /// The callback URL is not valid.
    #[error("{0} is not a valid callback URL")]
    BadCallback(String),
    /// The case runner is already running.
    #[error("this service is already running")]
    RunsAlready,
    /// The store of pending calls failed.
    #[error("pending calls cannot be stored")]
    Pending(#[from] io::Error),
    /// The call to Countersign failed.
    #[error("the case could not be created")]
    Client(#[from] ClientError),
    /// A case or a callback is not valid.
    #[error(transparent)]
    Hitl(#[from] HitlError),
}

impl CaseRunnerError {
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Client(error) => error.is_passing(),
            Self::Pending(_) => true,
            Self::Hitl(error) => error.is_passing(),
            Self::NoContinuation(_) | Self::Repeated | Self::BadCallback(_) | Self::RunsAlready => {
                false
            }
        }
    }
}

type Continuation =
    Arc<dyn Fn(Decision) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

pub struct CaseRunnerBuilder {
    client: Client,
    pending: Arc<dyn CallStore>,
    continuations: HashMap<String, Continuation>,
    callback: Option<String>,
    clock: Arc<dyn Clock>,
}

impl CaseRunnerBuilder {
    /// Registers the continuation for calls with this `name`. An error also ends the call: it is
    /// stored, and there is no retry.
    #[must_use]
    pub fn on<F, T>(mut self, name: &str, then: F) -> Self
    where
        F: Fn(Decision) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let then: Continuation = Arc::new(move |decision| Box::pin(then(decision)));
        self.continuations.insert(name.to_owned(), then);
        self
    }

    /// Sets the URL where Countersign can call this service. The layer handles a POST to its path.
    /// Without a callback URL the runner waits for decisions, which is as reliable but slightly
    /// slower.
    #[must_use]
    pub fn callback(mut self, url: impl Into<String>) -> Self {
        self.callback = Some(url.into());
        self
    }

    /// Replaces the clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub fn build(self) -> Result<CaseRunner, CaseRunnerError> {
        let callback = match self.callback {
            None => None,
            Some(url) => {
                let path = Url::parse(&url).map(|url| url.path().to_owned());
                let path = path.map_err(|_| CaseRunnerError::BadCallback(url.clone()))?;
                Some(CallbackTarget { url, path })
            }
        };
        let (news, inbox) = mpsc::unbounded_channel();
        Ok(CaseRunner(Arc::new(RunnerInner {
            follower: Follower::new()?.clock(self.clock.clone()),
            client: self.client,
            pending: self.pending,
            continuations: self.continuations,
            callback,
            secret: OnceCell::new(),
            clock: self.clock,
            ledger: Mutex::new(()),
            now: std::sync::Mutex::default(),
            news,
            inbox: std::sync::Mutex::new(Some(inbox)),
        })))
    }
}

pub(super) struct CallbackTarget {
    pub(super) url: String,
    pub(super) path: String,
}

/// The state of this process.
#[derive(Default)]
pub(super) struct RunnerState {
    /// The call id by case id.
    pub(super) cases: HashMap<String, String>,
    /// Whether the calls from before a restart are loaded.
    pub(super) knows_all: bool,
    /// Calls whose cases are being created.
    pub(super) asking: HashSet<String>,
    /// Calls whose continuations run.
    running: HashSet<String>,
}

pub(super) struct RunnerInner {
    pub(super) client: Client,
    pub(super) follower: Follower,
    pub(super) pending: Arc<dyn CallStore>,
    pub(super) continuations: HashMap<String, Continuation>,
    pub(super) callback: Option<CallbackTarget>,
    pub(super) secret: OnceCell<String>,
    pub(super) clock: Arc<dyn Clock>,
    /// Held while a call moves from one stage to the next.
    pub(super) ledger: Mutex<()>,
    pub(super) now: std::sync::Mutex<RunnerState>,
    /// Calls that need work.
    pub(super) news: mpsc::UnboundedSender<String>,
    pub(super) inbox: std::sync::Mutex<Option<mpsc::UnboundedReceiver<String>>>,
}

/// Holds the calls that wait for a person, and continues them after the decision. Cheap to clone.
#[derive(Clone)]
pub struct CaseRunner(pub(super) Arc<RunnerInner>);

impl CaseRunner {
    /// A runner that asks through `client` and stores its calls in `pending`.
    pub fn builder(client: Client, pending: impl CallStore) -> CaseRunnerBuilder {
        CaseRunnerBuilder {
            client,
            pending: Arc::new(pending),
            continuations: HashMap::new(),
            callback: None,
            clock: Arc::new(SystemClock),
        }
    }

    /// The layer for the service's routes.
    pub fn layer(&self) -> CaseRunnerLayer {
        CaseRunnerLayer { desk: self.clone() }
    }

    /// The result of a call by its case; `None` if it is not finished or does not exist.
    pub async fn finished(&self, case_id: &str) -> Result<Option<FinishedCall>, CaseRunnerError> {
        let Some(id) = self.call_for_case(case_id).await? else { return Ok(None) };
        Ok(match self.load(&id).await? {
            Some(PendingCall { stage: CallStage::Finished(finished), .. }) => Some(finished),
            _ => None,
        })
    }

    /// Waits for decisions and continues their calls, those from before a restart first. Calls only
    /// continue while this runs. It returns only with an error; dropping it has the effect of a
    /// kill.
    pub async fn run(&self) -> Result<(), CaseRunnerError> {
        let taken = self.0.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut inbox = taken.ok_or(CaseRunnerError::RunsAlready)?;
        let mut attended = HashSet::new();
        let mut work: FuturesUnordered<BoxFuture<'_, Result<String, CaseRunnerError>>> =
            FuturesUnordered::new();
        loop {
            // Calls from before a restart, and calls whose caller disconnected.
            for call in self.load_all().await? {
                if attended.insert(call.id.clone()) {
                    work.push(Box::pin(self.process(call.id)));
                }
            }
            let mut pause = self.0.clock.sleep(RETRY_AFTER);
            loop {
                tokio::select! {
                    Some(id) = inbox.recv() => {
                        attended.insert(id.clone());
                        work.push(Box::pin(self.process(id)));
                    }
                    Some(done) = work.next() => drop(attended.remove(&done?)),
                    () = &mut pause => break,
                }
            }
        }
    }

    /// Processes a call until it needs nothing more.
    async fn process(&self, id: String) -> Result<String, CaseRunnerError> {
        loop {
            let Some(call) = self.load(&id).await? else { return Ok(id) };
            match call.stage {
                CallStage::Asking { repeatable: true, .. } => return Ok(id),
                // The agent received no response and cannot repeat the call, so no person should be
                // asked.
                CallStage::Asking { ref case, repeatable: false } => {
                    self.withdraw(&id, case).await?;
                    return Ok(id);
                }
                CallStage::Waiting { ref case } => {
                    let case = Case::read(case)?;
                    let outcome = self.wait_for_decision(&case).await;
                    self.store_decision(&case.case_id, outcome).await?;
                }
                CallStage::Decided { .. } => {
                    self.run_continuation(call).await?;
                    return Ok(id);
                }
                CallStage::Finished(FinishedCall { at, .. }) => {
                    if later(at, RETENTION) < self.0.clock.now() {
                        let gone = id.clone();
                        self.blocking(move |pending| pending.remove(&gone)).await?;
                    }
                    return Ok(id);
                }
            }
        }
    }

    /// Waits for the decision, even while Countersign is unavailable.
    async fn wait_for_decision(&self, case: &Case) -> Outcome {
        loop {
            if let Ok(outcome) = self.0.follower.wait(case).await {
                return outcome;
            }
            // A refusal or an invalid response is not a decision, so keep waiting until the expiry.
            let left = between(self.0.clock.now(), case.expires_at);
            if left.is_zero() {
                return Outcome::Expired(Expired {
                    default_action: case.default_action.clone(),
                    expired_at: case.expires_at,
                    judged_by: JudgedBy::Clock,
                });
            }
            self.0.clock.sleep(RETRY_AFTER.min(left)).await;
        }
    }

    /// Stores a decision. The first one counts; later ones and repetitions change nothing.
    pub(super) async fn store_decision(
        &self,
        case_id: &str,
        outcome: Outcome,
    ) -> Result<Option<String>, CaseRunnerError> {
        let Some(id) = self.call_for_case(case_id).await? else { return Ok(None) };
        let _held = self.0.ledger.lock().await;
        if let Some(mut call) = self.load(&id).await?
            && matches!(call.stage, CallStage::Waiting { .. })
        {
            call.stage = CallStage::Decided { case_id: case_id.to_owned(), outcome, attempts: 0 };
            self.save(&call).await?;
        }
        Ok(Some(id))
    }

    /// Runs the continuation, unless it runs already, and stores its result.
    async fn run_continuation(&self, mut call: PendingCall) -> Result<(), CaseRunnerError> {
        let then = self.0.continuations.get(&call.name).cloned();
        let then = then.ok_or_else(|| CaseRunnerError::NoContinuation(call.name.clone()))?;
        let held = self.0.ledger.lock().await;
        // Both the callback and the poll can lead here.
        let stage = self.load(&call.id).await?.map(|call| call.stage);
        let Some(CallStage::Decided { case_id, outcome, attempts }) = stage else { return Ok(()) };
        if !self.with_state(|now| now.running.insert(call.id.clone())) {
            return Ok(());
        }
        let attempt = attempts + 1;
        let kept = (case_id.clone(), outcome.clone());
        call.stage = CallStage::Decided { case_id: kept.0, outcome: kept.1, attempts: attempt };
        if let Err(error) = self.save(&call).await {
            // Otherwise it would count as running, and never run again.
            self.with_state(|now| now.running.remove(&call.id));
            return Err(error);
        }
        drop(held);
        let decision = Decision {
            case_id: case_id.clone(),
            input: call.input.clone(),
            outcome: outcome.clone(),
            attempt,
        };
        let result = then(decision).await;
        let finished = FinishedCall { case_id, outcome, result, at: self.0.clock.now() };
        call.stage = CallStage::Finished(finished);
        // Under the lock, so that another caller that has just loaded the decision still sees that
        // the continuation runs, and does not run it again.
        let _held = self.0.ledger.lock().await;
        let saved = self.save(&call).await;
        self.with_state(|now| now.running.remove(&call.id));
        saved
    }
}
