//! The entry point to the kernel: adds ids, salts and the actor to a command and sends it
//! to the store.
//!
//! Every read checks for expiry: an ask whose deadline has passed is first expired permanently and
//! then shown, so that no reader sees it open afterwards. The same holds for a held answer that can
//! no longer be undone.

mod prepare;
mod secret_answers;

use std::collections::HashSet;
use std::sync::Arc;

use kernel::ask::{DisplayedContent, DueAction};
use kernel::directory::{Directory, Human};
use kernel::notification_steps::waits_for;
use kernel::quota::Limits;
use kernel::{
    Actor, ActorRef, Ask, AskCommand, AskId, Command, Envelope, Loaded, Phase, Refusal,
    SenderVerification, Time, UploadId, World,
};
use store::outage::Outage;
use store::{
    AskListPage, AskListQuery, Clock, Count, ExpiringQuery, Filter, Idempotency, Job, JobOutcome,
    ListScope, Order, SearchQuery, Store, StoreError,
};
use ulid::Ulid;

use crate::ids::Ids;
use crate::quotas::Quotas;
use crate::secrets::ServerSecrets;
use crate::waiters::Wake;

/// The name under which handlers, streams and occasional workers report the state of the
/// database. They may not run again soon, so the worker that polls continuously reports the
/// recovery for them.
pub const DATABASE_USER: &str = "requests";

/// The most reads to fill a page of an inbox.
const MAX_READS_PER_PAGE: usize = 4;

/// Everything that handlers, workers and commands need to act.
#[derive(Clone)]
pub struct Gateway {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// The real time, which others use.
    wall_clock: Arc<dyn Clock>,
    ids: Ids,
    wake: Wake,
    secrets: Option<Arc<ServerSecrets>>,
    database: Arc<Outage>,
    quotas: Quotas,
}

/// Decides whether a command on an ask would be accepted now.
pub struct CommandCheck<'a> {
    gateway: &'a Gateway,
    loaded: Loaded,
}

impl CommandCheck<'_> {
    /// Whether the command would be accepted, without running it.
    pub fn accepts(&self, actor: &Actor, command: impl Into<Command>) -> Result<(), Refusal> {
        let Self { gateway, loaded } = self;
        let directory = gateway.directory();
        let world = World { now: gateway.now(), directory: &directory, loaded };
        let (actor, fresh, salts) = (actor.clone(), gateway.ids.ulid(), gateway.ids.salts());
        let shown = DisplayedContent::Nothing;
        let envelope = Envelope {
            actor,
            fresh,
            salts,
            expected: None,
            shown,
            sender: None,
            command: command.into(),
        };
        kernel::decide(&world, &envelope).map(drop)
    }
}

/// The conditions of a caller for a command.
#[derive(Debug, Clone, Default)]
pub struct CommandConditions {
    /// A repetition with this key runs the command only once.
    pub idempotency: Option<Idempotency>,
    /// The command is refused unless the ask is at this version.
    pub expected: Option<u64>,
    /// The upload whose bytes the command uses.
    pub uses: Option<UploadId>,
    /// The parts of the question that the server displayed, if the command answers one.
    pub shown: DisplayedContent,
    /// How the sender was verified, if the command came by email.
    pub sender: Option<SenderVerification>,
}

impl Gateway {
    /// A gateway to a store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let ids = Ids::new(Arc::clone(&clock));
        let wall_clock = Arc::clone(&clock);
        let database = Arc::new(Outage::new("database"));
        let quotas = Quotas::unlimited(Arc::clone(&store), Arc::clone(&clock));
        let (wake, secrets) = (Wake::default(), None);
        Self { store, clock, wall_clock, ids, wake, secrets, database, quotas }
    }

    /// Sets another clock for times that others compare with their own.
    #[must_use]
    pub fn with_wall_clock(self, wall_clock: Arc<dyn Clock>) -> Self {
        Self { wall_clock, ..self }
    }

    /// Sets the quotas.
    #[must_use]
    pub fn with_quotas(self, limits: &Limits) -> Self {
        Self { quotas: self.quotas.limited(limits), ..self }
    }

    /// Sets the keys that encrypt secret answers.
    #[must_use]
    pub fn with_secrets(self, secrets: Arc<ServerSecrets>) -> Self {
        Self { secrets: Some(secrets), ..self }
    }

    /// The server's time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The real time. In `--dev` the server's own time can be moved. Signatures and tokens that
    /// others compare with their clock must not move with it.
    pub fn wall_time(&self) -> Time {
        self.wall_clock.now()
    }

    /// The store, for reads that need no rules.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The state of the database. Its users report to it, and the log has one line when the
    /// database begins to fail and one when it recovers.
    pub fn database(&self) -> &Arc<Outage> {
        &self.database
    }

    /// The directory as of the last commit.
    pub fn directory(&self) -> Arc<Directory> {
        self.store.directory()
    }

    /// The source of ids and secrets.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The registry of waiters.
    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// The quotas of the installation.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// The keys that encrypt secret answers.
    pub fn secrets(&self) -> Option<&ServerSecrets> {
        self.secrets.as_deref()
    }

    /// Decides a command and makes its outcome durable.
    pub async fn run(
        &self,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<JobOutcome, StoreError> {
        self.run_with_conditions(CommandConditions::default(), actor, command).await
    }

    /// The same, under the caller's conditions.
    pub async fn run_with_conditions(
        &self,
        terms: CommandConditions,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<JobOutcome, StoreError> {
        self.run_with_id(self.ids.ulid(), terms, actor, command.into()).await
    }

    /// The same, with an id that was generated before.
    pub(crate) async fn run_with_id(
        &self,
        fresh: Ulid,
        terms: CommandConditions,
        actor: Actor,
        command: Command,
    ) -> Result<JobOutcome, StoreError> {
        let CommandConditions { idempotency, expected, uses, shown, sender } = terms;
        let (by, verb) = (actor.to_ref(), command.verb());
        let salts = self.ids.salts();
        let envelope = Envelope { actor, fresh, salts, expected, shown, sender, command };
        let about = match &envelope.command {
            Command::Directory(command) => Some(command.object(fresh)),
            Command::Ask(_) | Command::Task(_) => None,
        };
        let ask = envelope.command.ask();
        let erases = matches!(envelope.command, Command::Ask(AskCommand::Erase(_)));
        // Compiled patterns are held until the job is done, so that the store compiles none.
        let _prepared = self.prepare(&envelope).await?;
        self.quotas.check_command(&envelope, idempotency.as_ref()).await?;
        let cipher = self.secret_cipher();
        let outcome = self.store.transact(Job { envelope, idempotency, uses, cipher }).await;
        match &outcome {
            Err(StoreError::Unavailable(error)) => self.database.failed("commands", error),
            Err(StoreError::Refused(_) | StoreError::Damaged { .. }) | Ok(_) => {
                self.database.worked("commands");
            }
        }
        log_command(verb, &by, about.as_ref(), &outcome);
        if let (Ok(_), Some(ask), true) = (&outcome, ask, erases) {
            self.store.erase_side_of_ask(ask).await?;
        }
        outcome
    }

    /// The state that decides on an answer to this ask: the ask, and the task it belongs to.
    pub async fn command_check(&self, ask: &Ask) -> Result<CommandCheck<'_>, StoreError> {
        let of = ask.checkpoint.as_ref().map(|held| held.task);
        let of = of.or_else(|| ask.review.as_ref().map(|review| review.task));
        let mut loaded = Loaded { asks: [(ask.id, Some(ask.clone()))].into(), ..Loaded::default() };
        if let Some(id) = of {
            loaded.tasks.insert(id, self.store.task(id).await?);
        }
        Ok(CommandCheck { gateway: self, loaded })
    }

    /// The current state of an ask. A due held answer or deadline takes effect first.
    pub async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>, StoreError> {
        {
            let found = self.store.ask(id).await?;
            if found.as_deref().and_then(|ask| self.due_command(ask)).is_none() {
                return Ok(found);
            }
        }
        // Boxed because it is rare and large. Otherwise every read would reserve the space for it.
        Box::pin(self.run_due_command(id)).await
    }

    /// The current state of an ask, if this actor may see it. Otherwise refused like
    /// an unknown one.
    pub async fn visible_ask(&self, actor: &Actor, id: AskId) -> Result<Arc<Ask>, StoreError> {
        let directory = self.directory();
        let found = self.ask(id).await?.filter(|ask| ask.is_visible_to(actor, &directory));
        Ok(found.ok_or(Refusal::NotFound { what: "request" })?)
    }

    /// The command that must run before an ask is shown.
    fn due_command(&self, ask: &Ask) -> Option<Command> {
        match ask.due(self.now())? {
            DueAction::CommitHeld => Some(Command::Ask(AskCommand::CommitHeld(ask.id))),
            DueAction::Expire => Some(Command::Ask(AskCommand::Expire(ask.id))),
            DueAction::Remind | DueAction::Escalate => None,
        }
    }

    async fn run_due_command(&self, id: AskId) -> Result<Option<Arc<Ask>>, StoreError> {
        // Twice, because dropping a held answer can reveal an expired deadline.
        for _ in 0..2 {
            let found = self.store.ask(id).await?;
            let Some(command) = found.as_deref().and_then(|ask| self.due_command(ask)) else {
                return Ok(found);
            };
            match self.run(Actor::System, command).await {
                // Another caller was faster, and its result counts.
                Ok(_) | Err(StoreError::Refused(Refusal::NotDue)) => {}
                Err(error) => return Err(error),
            }
        }
        self.store.ask(id).await
    }

    /// A page of a list without overdue asks.
    pub async fn list(&self, list: AskListQuery) -> Result<AskListPage, StoreError> {
        loop {
            let page = self.store.list(list.clone()).await?;
            let is_overdue = |ask: &&Ask| self.due_command(ask).is_some();
            let overdue: Vec<AskId> =
                page.asks.iter().filter(is_overdue).map(|ask| ask.id).collect();
            if overdue.is_empty() {
                return Ok(page);
            }
            for id in overdue {
                self.run_due_command(id).await?;
            }
        }
    }

    /// A page of a person's inbox. Reading continues while the page is not full, because a pool may
    /// contain requests this person is not qualified for or has snoozed. The number of reads is
    /// limited, so a page may be short.
    pub async fn inbox(
        &self,
        human: &Human,
        list: AskListQuery,
    ) -> Result<AskListPage, StoreError> {
        let open = list.phases.iter().any(|phase| Phase::OPEN.contains(phase));
        let hidden = if open { self.snoozed(human).await? } else { HashSet::new() };
        // An answer that the person can still undo no longer waits for them.
        let waits = |ask: &Ask| ask.may_be_answered_by(human) && ask.held_by() != Some(&human.id);
        self.read_until_full(list, |ask| waits(ask) && !hidden.contains(&ask.id)).await
    }

    /// The same, including snoozed requests.
    pub async fn inbox_with_snoozed(
        &self,
        human: &Human,
        list: AskListQuery,
    ) -> Result<AskListPage, StoreError> {
        self.read_until_full(list, |ask| ask.may_be_answered_by(human)).await
    }

    /// A page of requests that wait for a person, without those they only own.
    pub async fn waiting_page(
        &self,
        human: &Human,
        list: AskListQuery,
    ) -> Result<AskListPage, StoreError> {
        let hidden = self.snoozed(human).await?;
        let waits = |ask: &Ask| ask.is_assigned_to(human) && waits_for(ask, human);
        self.read_until_full(list, |ask| waits(ask) && !hidden.contains(&ask.id)).await
    }

    async fn read_until_full(
        &self,
        mut list: AskListQuery,
        shown: impl Fn(&Ask) -> bool,
    ) -> Result<AskListPage, StoreError> {
        let wanted = list.limit;
        let mut asks = Vec::new();
        for _ in 0..MAX_READS_PER_PAGE {
            let page = self.list(list.clone()).await?;
            asks.extend(page.asks.into_iter().filter(|ask| shown(ask)));
            list.after = page.next;
            if asks.len() >= wanted || page.next.is_none() {
                break;
            }
            list.limit = wanted - asks.len();
        }
        Ok(AskListPage { asks, next: list.after })
    }

    /// The requests that a person has snoozed: a few hundred at most.
    pub async fn snoozed(&self, human: &Human) -> Result<HashSet<AskId>, StoreError> {
        let hidden = self.store.snoozed(human.id.clone(), self.now()).await?;
        Ok(hidden.into_iter().map(|(ask, _)| ask).collect())
    }

    /// The number of requests that wait for a person. Counted exactly if one page holds them all,
    /// so that pool requests for others are left out. Otherwise counted like a list.
    pub async fn count_waiting(&self, human: &Human) -> Result<Count, StoreError> {
        let open = AskListQuery {
            scopes: ListScope::inbox(human),
            phases: Phase::OPEN.to_vec(),
            order: Order::Urgency,
            filter: Filter::default(),
            after: None,
            limit: 100,
        };
        let page = self.inbox(human, open.clone()).await?;
        match page.next {
            None => Ok(Count { n: page.asks.len() as u64, exact: true }),
            Some(_) => self.count(open).await,
        }
    }

    /// Requests that expire soon, soonest first, that match the filter and `shown`, and where the
    /// next page begins. Expired ones are left out. The number of reads is limited as for an inbox,
    /// so a page may be short.
    pub async fn expiring(
        &self,
        mut wanted: ExpiringQuery,
        filter: &Filter,
        shown: impl Fn(&Ask) -> bool,
    ) -> Result<(Vec<Ask>, Option<(Time, AskId)>), StoreError> {
        let limit = wanted.limit;
        // Asks that stay open after their deadline keep their place in the index.
        wanted.after.get_or_insert_with(|| (self.now(), AskId::new(Ulid::nil())));
        let mut asks = Vec::new();
        for _ in 0..MAX_READS_PER_PAGE {
            let found = self.store.expiring(wanted.clone()).await?;
            let whole = found.len() < wanted.limit;
            wanted.after = found.last().and_then(|ask| Some((ask.due_at()?, ask.id)));
            for ask in found {
                if self.due_command(&ask).is_some() {
                    self.run_due_command(ask.id).await?;
                } else if filter.admits(&ask) && shown(&ask) {
                    asks.push(ask);
                }
            }
            if whole {
                return Ok((asks, None));
            }
            wanted.limit = limit.saturating_sub(asks.len());
            if wanted.limit == 0 {
                break;
            }
        }
        Ok((asks, wanted.after))
    }

    /// The asks that match a text search. Overdue ones expire first.
    pub async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>, StoreError> {
        let mut found = self.store.search(wanted).await?;
        for ask in &mut found {
            if self.due_command(ask).is_some()
                && let Some(now) = self.run_due_command(ask.id).await?
            {
                *ask = Arc::unwrap_or_clone(now);
            }
        }
        Ok(found)
    }

    /// The number of asks in a list.
    pub async fn count(&self, list: AskListQuery) -> Result<Count, StoreError> {
        self.store.count(list).await
    }
}

/// Logs and counts a command: names and ids, never texts.
fn log_command(
    verb: &'static str,
    by: &ActorRef,
    about: Option<&(&'static str, String)>,
    outcome: &Result<JobOutcome, StoreError>,
) {
    let result = match outcome {
        Ok(outcome) if outcome.replayed => "replayed",
        Ok(_) => "done",
        Err(StoreError::Refused(_)) => "refused",
        Err(StoreError::Unavailable(_) | StoreError::Damaged { .. }) => "failed",
    };
    metrics::counter!("countersign_commands_total", "verb" => verb, "result" => result)
        .increment(1);
    match outcome {
        Ok(JobOutcome { ask: Some(ask), .. }) => {
            tracing::debug!(ask.id = %ask.id, verb, %by, result, "decided");
        }
        Ok(JobOutcome { task: Some(task), .. }) => {
            tracing::debug!(task.id = %task.id, verb, %by, result, "decided");
        }
        Ok(JobOutcome { artifact: Some(made), .. }) => {
            tracing::debug!(artifact.id = %made.id, verb, %by, result, "decided");
        }
        Ok(_) => {
            let (kind, id) = (about.map(|about| about.0), about.map(|about| about.1.as_str()));
            let (actor, actor_id) = (by.kind(), by.id());
            tracing::info!(
                verb,
                object.kind = kind,
                object.id = id,
                actor.kind = actor,
                actor.id = actor_id,
                result,
                "directory changed"
            );
        }
        Err(StoreError::Refused(refusal)) => {
            tracing::debug!(verb, %by, code = refusal.code(), "refused");
        }
        // The handler that answers logs these, with their cause.
        Err(StoreError::Unavailable(_) | StoreError::Damaged { .. }) => {}
    }
}
