//! Applies quotas: before a call does anything, its use is checked against the counters of the
//! store, or added to them.
//!
//! The store counts open requests and stored bytes as they change. They are read here before a new
//! request is decided. Concurrent requests do not see each other, so a quota can be exceeded by the
//! number of requests in flight. Everything per hour or day is added and compared in one
//! transaction, so it is exact on any number of nodes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kernel::ask::Route;
use kernel::command::NewAsk;
use kernel::directory::Directory;
use kernel::quota::{Account, AccountKind, Limits, Metric, QuotaExceeded, resets_at};
use kernel::task::Party;
use kernel::{
    Actor, AgentId, Ask, AskCommand, Command, Envelope, HumanId, ProjectId, Refusal, Time,
};
use store::{Charge, ChargeLifetime, Clock, Idempotency, Store, StoreError};
use ulid::Ulid;

/// How long a count that is far from its limit is cached, in milliseconds.
const CACHE_MILLIS: i64 = 1_000;
/// A count is far from its limit below this percentage of it.
const FAR_PERCENT: u64 = 90;
/// A limit below this is always looked up, because it can be reached within a second.
const MIN_CACHED_LIMIT: u64 = 1_000;

/// The limits of the installation, and a cache of counters that are far from theirs.
#[derive(Clone)]
pub struct Quotas {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    limits: Arc<Limits>,
    read: Arc<Mutex<HashMap<String, Time>>>,
}

impl Quotas {
    /// The counters of this store, without limits: for commands that work on it without a server.
    pub fn unlimited(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, limits: Arc::new(Limits::unlimited()), read: Arc::default() }
    }

    /// The same counters with these limits, and the defaults for the others.
    #[must_use]
    pub fn limited(self, limits: &Limits) -> Self {
        let limits = limits.clone().or(&Limits::defaults());
        for (name, limit) in limits.iter() {
            if let Some((per, metric)) = name.split_once('.') {
                let (per, metric) = (per.to_owned(), metric.to_owned());
                #[expect(clippy::cast_precision_loss, reason = "a limit in a metric is a float")]
                metrics::gauge!("countersign_quota_limit", "per" => per, "quota" => metric)
                    .set(limit as f64);
            }
        }
        Self { limits: Arc::new(limits), ..self }
    }

    /// The limit of one account. `None` for no limit.
    pub fn limit(
        &self,
        directory: &Directory,
        of: &QuotaAccount<'_>,
        metric: Metric,
    ) -> Option<u64> {
        let project = of.project.and_then(|id| directory.project(id));
        self.limits.limit(project, of.account.per(), metric)
    }

    fn is_far_from_limit(&self, name: &str, now: Time) -> bool {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.get(name).is_some_and(|at| now.millis().saturating_sub(at.millis()) < CACHE_MILLIS)
    }

    fn cache_far_from_limit(&self, name: String, now: Time) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropping all entries is safe: they are looked up again.
        if read.len() > 10_000 {
            read.clear();
        }
        read.insert(name, now);
    }
}

/// An account, and the project whose limits may apply to it.
pub struct QuotaAccount<'a> {
    /// The account whose use is counted.
    pub account: Account,
    /// The project it acts in.
    pub project: Option<&'a ProjectId>,
}

/// The accounts of an actor: an agent with its project, or a person.
pub fn accounts(actor: &Actor) -> Vec<Account> {
    match actor {
        Actor::Agent { id, project, .. } => {
            vec![Account::Agent(id.clone()), Account::Project(project.clone())]
        }
        Actor::Human { id, .. } => vec![Account::Person(id.clone())],
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            Vec::new()
        }
    }
}

fn refused(exceeded: QuotaExceeded) -> StoreError {
    let (per, quota) = (exceeded.per.as_str(), exceeded.metric.as_str());
    metrics::counter!("countersign_quota_refused_total", "per" => per, "quota" => quota)
        .increment(1);
    Refusal::Quota(exceeded).into()
}

impl Quotas {
    /// Checks that a command is within the quotas of its sender, and counts the
    /// recipients it names.
    pub(crate) async fn check_command(
        &self,
        envelope: &Envelope,
        idempotency: Option<&Idempotency>,
    ) -> Result<(), StoreError> {
        let Actor::Agent { id, project, .. } = &envelope.actor else { return Ok(()) };
        if !envelope.command.creates_ask()
            && !matches!(envelope.command, Command::Ask(AskCommand::Nudge(..)))
        {
            return Ok(());
        }
        // A repeated call gets its earlier outcome, even if a quota is used up by now.
        if let Some(Idempotency { scope, key, .. }) = idempotency
            && self
                .store
                .ask_by_idempotency_key(scope.clone(), key.clone(), self.clock.now())
                .await?
                .is_some()
        {
            return Ok(());
        }
        let directory = self.store.directory();
        let asked = match &envelope.command {
            Command::Ask(AskCommand::Create(new) | AskCommand::Reply(_, new)) => Some(&**new),
            _ => None,
        };
        if envelope.command.creates_ask() {
            let mut wanted = Vec::new();
            for account in accounts(&envelope.actor) {
                wanted.push((account.clone(), Metric::OpenAsks));
                wanted.push((account, Metric::StoredBytes));
            }
            let owner = directory.agent(id).map(|agent| agent.owner.clone());
            let person = asked.and_then(named_person).or(owner);
            wanted.extend(person.map(|person| (Account::Person(person), Metric::OpenAsks)));
            self.check_counters(project, wanted).await?;
        }
        let recipients = match (&envelope.command, asked) {
            (Command::Ask(AskCommand::Nudge(_, urge)), _) => {
                urge.people.iter().map(ToString::to_string).collect()
            }
            (_, Some(new)) => recipients(new),
            _ => Vec::new(),
        };
        for recipient in recipients {
            let accounts = accounts(&envelope.actor);
            let until = resets_at(Metric::Recipients, self.clock.now()).unwrap_or(Time::LAST);
            let kind = ChargeLifetime::OnceUntil(until, recipient);
            self.charge(&accounts, Some(project), (Metric::Recipients, 1), kind).await?;
        }
        Ok(())
    }

    /// Refuses if one of these counters has reached its limit.
    async fn check_counters(
        &self,
        project: &ProjectId,
        wanted: Vec<(Account, Metric)>,
    ) -> Result<(), StoreError> {
        let (directory, now) = (self.store.directory(), self.clock.now());
        let mut checks = Vec::new();
        for (account, metric) in wanted {
            let per = account.per();
            let of = QuotaAccount { account, project: Some(project) };
            let Some(limit) = self.limit(&directory, &of, metric) else { continue };
            let name = of.account.counter(metric, now);
            if limit < MIN_CACHED_LIMIT || !self.is_far_from_limit(&name, now) {
                checks.push((name, per, metric, limit));
            }
        }
        if checks.is_empty() {
            return Ok(());
        }
        let names = checks.iter().map(|(name, ..)| name.clone()).collect();
        let used = self.store.used(names).await?;
        for ((name, per, metric, limit), used) in checks.into_iter().zip(used) {
            if used >= limit {
                return Err(refused(QuotaExceeded::new(metric, per, limit, now)));
            }
            if used < limit / 100 * FAR_PERCENT {
                self.cache_far_from_limit(name, now);
            }
        }
        Ok(())
    }

    /// Adds to the counters of these accounts, or refuses and adds nothing.
    async fn charge(
        &self,
        accounts: &[Account],
        project: Option<&ProjectId>,
        used: (Metric, u64),
        kind: ChargeLifetime,
    ) -> Result<(), StoreError> {
        self.charge_all(accounts, project, &[(used, kind)]).await
    }

    /// The same for several metrics at once.
    async fn charge_all(
        &self,
        accounts: &[Account],
        project: Option<&ProjectId>,
        used: &[((Metric, u64), ChargeLifetime)],
    ) -> Result<(), StoreError> {
        let (directory, now) = (self.store.directory(), self.clock.now());
        let mut charges = Vec::new();
        let mut limited: Vec<(Metric, AccountKind, u64)> = Vec::new();
        for ((metric, by), kind) in used {
            for account in accounts {
                let (name, per) = (account.counter(*metric, now), account.per());
                let of = QuotaAccount { account: account.clone(), project };
                // Use without a limit is not counted, except for counters that have no window,
                // because a limit may be set later.
                let limit = self.limit(&directory, &of, *metric);
                if limit.is_none() && metric.window().is_some() {
                    continue;
                }
                charges.push(Charge { name, by: *by, limit, kind: kind.clone() });
                limited.push((*metric, per, limit.unwrap_or(0)));
            }
        }
        if charges.is_empty() {
            return Ok(());
        }
        let exceeded = self.store.charge(charges).await?;
        match exceeded.and_then(|place| limited.get(place)) {
            Some((metric, per, limit)) => {
                Err(refused(QuotaExceeded::new(*metric, *per, *limit, now)))
            }
            None => Ok(()),
        }
    }

    /// Counts an upload of an actor, before its first byte is read.
    pub async fn charge_upload(
        &self,
        actor: &Actor,
        project: Option<&ProjectId>,
    ) -> Result<(), StoreError> {
        let mut accounts = accounts(actor);
        accounts.extend(project_account(&accounts, project));
        let until = resets_at(Metric::Uploads, self.clock.now()).unwrap_or(Time::LAST);
        let kind = ChargeLifetime::Until(until);
        self.charge(&accounts, project, (Metric::Uploads, 1), kind).await
    }

    /// Counts the bytes of a file until its holder is gone.
    pub async fn charge_bytes(
        &self,
        mut accounts: Vec<Account>,
        project: Option<&ProjectId>,
        holder: Ulid,
        bytes: u64,
    ) -> Result<(), StoreError> {
        accounts.extend(project_account(&accounts, project));
        let kind = ChargeLifetime::Held(holder);
        self.charge(&accounts, project, (Metric::StoredBytes, bytes), kind).await
    }

    /// The accounts of the sender of an upload.
    pub fn accounts_of(&self, party: &Party) -> Vec<Account> {
        match party {
            Party::Human(id) => vec![Account::Person(id.clone())],
            Party::Agent(id) => {
                let directory = self.store.directory();
                let project = directory.agent(id).map(|agent| agent.project.clone());
                let project = project.map(Account::Project);
                [Account::Agent(id.clone())].into_iter().chain(project).collect()
            }
        }
    }

    /// Counts a message about an ask to a person or channel, and its copies. `Some` names the
    /// used-up quota: the message must be sent when its next window begins.
    pub async fn charge_notification(
        &self,
        ask: &Ask,
        human: Option<&HumanId>,
        copies: u64,
    ) -> Result<Option<QuotaExceeded>, StoreError> {
        let senders = [Account::Agent(ask.agent.clone()), Account::Project(ask.project.clone())];
        let mut accounts = senders.to_vec();
        accounts.extend(human.cloned().map(Account::Person));
        let used = [self.one_notification()];
        let exceeded = exceeded_quota(self.charge_all(&accounts, Some(&ask.project), &used).await)?;
        if exceeded.is_some() || copies == 0 {
            return Ok(exceeded);
        }
        // The person is not charged for the copies that an agent sends to others.
        let ((metric, _), kind) = self.one_notification();
        let used = [((metric, copies), kind)];
        exceeded_quota(self.charge_all(&senders, Some(&ask.project), &used).await)
    }

    /// Counts a digest for its recipient. `Some` names the used-up quota.
    pub async fn charge_digest(
        &self,
        human: &HumanId,
    ) -> Result<Option<QuotaExceeded>, StoreError> {
        let accounts = [Account::Person(human.clone())];
        exceeded_quota(self.charge_all(&accounts, None, &[self.one_notification()]).await)
    }

    /// Counts a digest for an agent whose requests it mentions, and for its project: one
    /// notification, and the person as a recipient of the day.
    pub async fn charge_digest_of(
        &self,
        (agent, project): (&AgentId, &ProjectId),
        human: &HumanId,
    ) -> Result<Option<QuotaExceeded>, StoreError> {
        let accounts = [Account::Agent(agent.clone()), Account::Project(project.clone())];
        let until = resets_at(Metric::Recipients, self.clock.now()).unwrap_or(Time::LAST);
        let recipient = ChargeLifetime::OnceUntil(until, human.to_string());
        let used = [self.one_notification(), ((Metric::Recipients, 1), recipient)];
        exceeded_quota(self.charge_all(&accounts, Some(project), &used).await)
    }

    fn one_notification(&self) -> ((Metric, u64), ChargeLifetime) {
        let until = resets_at(Metric::Notifications, self.clock.now()).unwrap_or(Time::LAST);
        ((Metric::Notifications, 1), ChargeLifetime::Until(until))
    }
}

/// The used-up quota, if there is one.
fn exceeded_quota(charged: Result<(), StoreError>) -> Result<Option<QuotaExceeded>, StoreError> {
    match charged {
        Ok(()) => Ok(None),
        Err(StoreError::Refused(Refusal::Quota(exceeded))) => Ok(Some(exceeded)),
        Err(error) => Err(error),
    }
}

/// The project, unless it is already among them.
fn project_account(accounts: &[Account], project: Option<&ProjectId>) -> Option<Account> {
    let project = Account::Project(project?.clone());
    (!accounts.contains(&project)).then_some(project)
}

fn named_person(new: &NewAsk) -> Option<HumanId> {
    match &new.route {
        Route::Person { human } => Some(human.clone()),
        Route::Owner | Route::Delegate | Route::Pool { .. } => None,
    }
}

/// The people and addresses that an agent names, as digests that do not reveal them.
fn recipients(new: &NewAsk) -> Vec<String> {
    let places = new.posting_address.iter().map(|place| &place.contact_method).chain(&new.copies);
    let places = places.map(|means| means.digest().to_string());
    places.chain(named_person(new).map(|human| human.to_string())).collect()
}
