//! The door to the kernel: puts ids, salts and actor around a command and sends it to the data.
//!
//! Expiry is judged here at every read: an ask whose deadline has passed is first expired for good,
//! then shown, so that nobody ever sees it open again. So is a held answer that can no longer be undone.

mod prepare;
mod secret_answers;

use std::collections::HashSet;
use std::sync::Arc;

use kernel::ask::{Due, Shown};
use kernel::directory::{Directory, Human};
use kernel::quota::Limits;
use kernel::reach::waits_for;
use kernel::{
    Actor, Ask, AskCommand, AskId, By, Command, Envelope, Loaded, Phase, Refusal,
    SenderVerification, Time, UploadId, World,
};
use store::outage::Outage;
use store::{
    Clock, Count, Expiring, Filter, Idempotency, Job, List, Order, Outcome, Page, Scope, Search,
    Store, StoreError,
};
use ulid::Ulid;

use crate::ids::Ids;
use crate::quotas::Quotas;
use crate::secrets::Secrets;
use crate::wake::Wake;

/// Handlers, streams and workers that run now and then, as users of the database. They may not come
/// back soon, so the worker that looks all the time says for them that the database works again.
pub const REQUESTS: &str = "requests";

/// How often a page of an inbox that is not full yet is read on.
const ROUNDS: usize = 4;

/// Everything a handler, a worker or a command needs to act.
#[derive(Clone)]
pub struct Gateway {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// What shows the time everybody else goes by.
    wall_clock: Arc<dyn Clock>,
    ids: Ids,
    wake: Wake,
    secrets: Option<Arc<Secrets>>,
    database: Arc<Outage>,
    quotas: Quotas,
}

/// Everything by which it is told whether a command on an ask would be taken now.
pub struct Considering<'a> {
    gateway: &'a Gateway,
    loaded: Loaded,
}

impl Considering<'_> {
    /// Whether it would be taken, without doing it.
    pub fn takes(&self, actor: &Actor, command: impl Into<Command>) -> Result<(), Refusal> {
        let Self { gateway, loaded } = self;
        let directory = gateway.directory();
        let world = World { now: gateway.now(), directory: &directory, loaded };
        let (actor, fresh, salts) = (actor.clone(), gateway.ids.ulid(), gateway.ids.salts());
        let shown = Shown::Nothing;
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

/// What a caller makes a command depend on.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Sending it again with this key does it once.
    pub idempotency: Option<Idempotency>,
    /// It is refused unless the ask is at this version.
    pub expected: Option<u64>,
    /// The upload whose bytes what is made consists of.
    pub uses: Option<UploadId>,
    /// What the server displayed of the question, where the command answers one.
    pub shown: Shown,
    /// How the sender of the email was verified that the command came with.
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

    /// The same, with another clock for what others compare with their own time.
    #[must_use]
    pub fn with_wall_clock(self, wall_clock: Arc<dyn Clock>) -> Self {
        Self { wall_clock, ..self }
    }

    /// The same, with quotas.
    #[must_use]
    pub fn with_quotas(self, limits: &Limits) -> Self {
        Self { quotas: self.quotas.limited(limits), ..self }
    }

    /// The same, with what it takes to keep what is given in confidence.
    #[must_use]
    pub fn keeping(self, secrets: Arc<Secrets>) -> Self {
        Self { secrets: Some(secrets), ..self }
    }

    /// The moment.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The time everybody else goes by. In `--dev` the server's own time can be moved; signatures and
    /// tokens that others compare with their clock must not move with it.
    pub fn wall_time(&self) -> Time {
        self.wall_clock.now()
    }

    /// The store, for reads that need no rule.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether the database works: those who use it say so here, and the log has one line when it
    /// begins to fail and one when it works again.
    pub fn database(&self) -> &Arc<Outage> {
        &self.database
    }

    /// The directory as of the last commit.
    pub fn directory(&self) -> Arc<Directory> {
        self.store.directory()
    }

    /// Where ids and secrets are drawn.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Who waits.
    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// The quotas of the installation.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// What it keeps secrets with.
    pub fn secrets(&self) -> Option<&Secrets> {
        self.secrets.as_deref()
    }

    /// Decides a command and makes its outcome durable.
    pub async fn run(
        &self,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<Outcome, StoreError> {
        self.run_on(Terms::default(), actor, command).await
    }

    /// The same, on the caller's terms.
    pub async fn run_on(
        &self,
        terms: Terms,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<Outcome, StoreError> {
        self.run_under(self.ids.ulid(), terms, actor, command.into()).await
    }

    /// The same, under an id that was drawn before.
    pub(crate) async fn run_under(
        &self,
        fresh: Ulid,
        terms: Terms,
        actor: Actor,
        command: Command,
    ) -> Result<Outcome, StoreError> {
        let Terms { idempotency, expected, uses, shown, sender } = terms;
        let (by, verb) = (actor.by(), command.verb());
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
        self.quotas.keep(&envelope, idempotency.as_ref()).await?;
        // Kept before the answer is decided: an answer never commits to what we do not have.
        let kept = self.keep_secret_answer(&envelope).await?;
        let outcome = self.store.transact(Job { envelope, idempotency, uses }).await;
        match &outcome {
            Err(StoreError::Unavailable(error)) => self.database.failed("commands", error),
            Err(StoreError::Refused(_) | StoreError::Damaged { .. }) | Ok(_) => {
                self.database.worked("commands");
            }
        }
        note(verb, &by, about.as_ref(), &outcome);
        match (&outcome, ask, kept) {
            (
                Err(StoreError::Refused(_)) | Ok(Outcome { replayed: true, .. }),
                Some(ask),
                Some(name),
            ) => {
                // Whoever was refused learns that; what is left lies encrypted and names no answer.
                if let Err(error) = self.store.delete_secrets(ask, Some(name)).await {
                    tracing::warn!(%error, ask.id = %ask, "a secret of no answer stays");
                }
            }
            (Ok(_), Some(ask), None) if erases => self.store.erase_side_of_ask(ask).await?,
            _ => {}
        }
        outcome
    }

    /// What an answer to this ask is judged by: the ask, and the task it is a point of.
    pub async fn considering(&self, ask: &Ask) -> Result<Considering<'_>, StoreError> {
        let of = ask.checkpoint.as_ref().map(|held| held.task);
        let of = of.or_else(|| ask.review.as_ref().map(|review| review.task));
        let mut loaded = Loaded { asks: [(ask.id, Some(ask.clone()))].into(), ..Loaded::default() };
        if let Some(id) = of {
            loaded.tasks.insert(id, self.store.task(id).await?);
        }
        Ok(Considering { gateway: self, loaded })
    }

    /// An ask as it is now: what is due is done first, be it a held answer or a deadline.
    pub async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>, StoreError> {
        {
            let found = self.store.ask(id).await?;
            if found.as_deref().and_then(|ask| self.overdue(ask)).is_none() {
                return Ok(found);
            }
        }
        // Boxed, because it is rare and large: everybody who waits with a read would carry room for
        // it.
        Box::pin(self.brought_up_to_date(id)).await
    }

    /// An ask as it is now, if this actor may see it; else refused as one that is not there.
    pub async fn visible(&self, actor: &Actor, id: AskId) -> Result<Arc<Ask>, StoreError> {
        let directory = self.directory();
        let found = self.ask(id).await?.filter(|ask| ask.is_shown_to(actor, &directory));
        Ok(found.ok_or(Refusal::NotFound { what: "request" })?)
    }

    /// What has to be done to an ask before anybody sees it.
    fn overdue(&self, ask: &Ask) -> Option<Command> {
        match ask.due(self.now())? {
            Due::CommitHeld => Some(Command::Ask(AskCommand::CommitHeld(ask.id))),
            Due::Expire => Some(Command::Ask(AskCommand::Expire(ask.id))),
            Due::Remind | Due::Escalate => None,
        }
    }

    async fn brought_up_to_date(&self, id: AskId) -> Result<Option<Arc<Ask>>, StoreError> {
        // Twice, because a held answer that is dropped leaves the deadline that waited for it.
        for _ in 0..2 {
            let found = self.store.ask(id).await?;
            let Some(command) = found.as_deref().and_then(|ask| self.overdue(ask)) else {
                return Ok(found);
            };
            match self.run(Actor::System, command).await {
                // Somebody was faster; what they left is the truth.
                Ok(_) | Err(StoreError::Refused(Refusal::NotDue)) => {}
                Err(error) => return Err(error),
            }
        }
        self.store.ask(id).await
    }

    /// A page of a list in which nothing is overdue.
    pub async fn list(&self, list: List) -> Result<Page, StoreError> {
        loop {
            let page = self.store.list(list.clone()).await?;
            let is_overdue = |ask: &&Ask| self.overdue(ask).is_some();
            let overdue: Vec<AskId> =
                page.asks.iter().filter(is_overdue).map(|ask| ask.id).collect();
            if overdue.is_empty() {
                return Ok(page);
            }
            for id in overdue {
                self.brought_up_to_date(id).await?;
            }
        }
    }

    /// A page of a person's inbox: it is read on while a page is not full, because a pool may hold
    /// requests this person is not qualified for, or has hidden for a while; but not for ever: such a
    /// page may come out short.
    pub async fn inbox(&self, human: &Human, list: List) -> Result<Page, StoreError> {
        let open = list.phases.iter().any(|phase| Phase::OPEN.contains(phase));
        let hidden = if open { self.hidden(human).await? } else { HashSet::new() };
        // What they have answered and can still undo is no longer theirs to do.
        let waits = |ask: &Ask| ask.admits(human) && ask.held_by() != Some(&human.id);
        self.read_on(list, |ask| waits(ask) && !hidden.contains(&ask.id)).await
    }

    /// The same, with what they have hidden.
    pub async fn shown(&self, human: &Human, list: List) -> Result<Page, StoreError> {
        self.read_on(list, |ask| ask.admits(human)).await
    }

    /// A page of what was put to a person and waits for them, without what they only own.
    pub async fn put_to(&self, human: &Human, list: List) -> Result<Page, StoreError> {
        let hidden = self.hidden(human).await?;
        let waits = |ask: &Ask| ask.is_put_to(human) && waits_for(ask, human);
        self.read_on(list, |ask| waits(ask) && !hidden.contains(&ask.id)).await
    }

    async fn read_on(
        &self,
        mut list: List,
        shown: impl Fn(&Ask) -> bool,
    ) -> Result<Page, StoreError> {
        let wanted = list.limit;
        let mut asks = Vec::new();
        for _ in 0..ROUNDS {
            let page = self.list(list.clone()).await?;
            asks.extend(page.asks.into_iter().filter(|ask| shown(ask)));
            list.after = page.next;
            if asks.len() >= wanted || page.next.is_none() {
                break;
            }
            list.limit = wanted - asks.len();
        }
        Ok(Page { asks, next: list.after })
    }

    /// What a person has hidden from their lists for a while; a few hundred at most.
    pub async fn hidden(&self, human: &Human) -> Result<HashSet<AskId>, StoreError> {
        let hidden = self.store.snoozed(human.id.clone(), self.now()).await?;
        Ok(hidden.into_iter().map(|(ask, _)| ask).collect())
    }

    /// How many requests wait for a person. Counted where a page holds them all, so that what a pool
    /// holds for others is left out; else as lists are counted.
    pub async fn waiting(&self, human: &Human) -> Result<Count, StoreError> {
        let open = List {
            scopes: Scope::inbox(human),
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

    /// What is due soon, soonest first, of what the filter and `shown` let through; and where it goes
    /// on. Deadlines that have passed are left out. As many are looked at as for a page of an inbox, so
    /// it may come out short.
    pub async fn expiring(
        &self,
        mut wanted: Expiring,
        filter: &Filter,
        shown: impl Fn(&Ask) -> bool,
    ) -> Result<(Vec<Ask>, Option<(Time, AskId)>), StoreError> {
        let limit = wanted.limit;
        // Asks that stay open when their deadline passes keep their place in the index.
        wanted.after.get_or_insert_with(|| (self.now(), AskId::new(Ulid::nil())));
        let mut asks = Vec::new();
        for _ in 0..ROUNDS {
            let found = self.store.expiring(wanted.clone()).await?;
            let whole = found.len() < wanted.limit;
            wanted.after = found.last().and_then(|ask| Some((ask.due_at()?, ask.id)));
            for ask in found {
                if self.overdue(&ask).is_some() {
                    self.brought_up_to_date(ask.id).await?;
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

    /// What is found by its words; what has run out meanwhile is made so first.
    pub async fn search(&self, wanted: Search) -> Result<Vec<Ask>, StoreError> {
        let mut found = self.store.search(wanted).await?;
        for ask in &mut found {
            if self.overdue(ask).is_some()
                && let Some(now) = self.brought_up_to_date(ask.id).await?
            {
                *ask = Arc::unwrap_or_clone(now);
            }
        }
        Ok(found)
    }

    /// How many asks are in a list.
    pub async fn count(&self, list: List) -> Result<Count, StoreError> {
        self.store.count(list).await
    }
}

/// What was done, for the log and the metrics: names and ids, never words.
fn note(
    verb: &'static str,
    by: &By,
    about: Option<&(&'static str, String)>,
    outcome: &Result<Outcome, StoreError>,
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
        Ok(Outcome { ask: Some(ask), .. }) => {
            tracing::debug!(ask.id = %ask.id, verb, %by, result, "decided");
        }
        Ok(Outcome { task: Some(task), .. }) => {
            tracing::debug!(task.id = %task.id, verb, %by, result, "decided");
        }
        Ok(Outcome { artifact: Some(made), .. }) => {
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
        // Said with its cause where it is answered.
        Err(StoreError::Unavailable(_) | StoreError::Damaged { .. }) => {}
    }
}
