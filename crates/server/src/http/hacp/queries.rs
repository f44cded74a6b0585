//! The operations that only read: tasks, artifacts, ledgers, and a person's inbox.

use std::collections::BTreeMap;

use dialects::hacp::read::TaskQuery;
use dialects::hacp::{HacpError, HacpVersion, OperationParams, inbox, view};
use kernel::actor::KeyScope;
use kernel::audit::Record;
use kernel::task::{Artifact, LedgerScope as Ledger, Party};
use kernel::{Actor, ArtifactId, EntryId, Phase, Refusal, Subject, Task, TaskId};
use serde_json::{Value, json};
use store::{AskListQuery, Cursor, Filter, ListScope, Order, StoreError, TaskListQuery};

use super::HacpFailure;
use super::commands::stamped;
use super::operations::OperationResult;
use crate::http::hacp::HacpOperations;

/// The default number of items on a page.
const DEFAULT_PAGE_SIZE: u64 = 50;
/// How many times a list is read again if its page is not full.
const MAX_READS_PER_PAGE: usize = 10;

impl HacpOperations {
    pub(super) async fn query(
        &self,
        actor: &Actor,
        version: HacpVersion,
        params: OperationParams,
    ) -> Result<OperationResult, HacpFailure> {
        match params {
            OperationParams::Task(id) => {
                let task = self.task(actor, id).await?;
                Ok(stamped(view::task(&task, version), version).into())
            }
            OperationParams::Tasks(query) => self.tasks(actor, version, query).await,
            OperationParams::Artifact { id, version: named } => {
                let artifact = self.artifacts(actor, id).await?;
                let shown = self.artifact(Some(&artifact), named.as_deref(), version);
                Ok(shown.ok_or(Refusal::NotFound { what: "version" })?.into())
            }
            OperationParams::Entry { scope, key } => {
                self.require_ledger_access(actor, &scope)?;
                let Some(key) = key else {
                    return Ok(stamped(view::ledger(&scope), version).into());
                };
                let entry = self.gateway.store().entry(EntryId::of(scope.as_str(), &key)).await?;
                let shown = entry.map(|entry| stamped(view::entry(&entry, version), version));
                Ok(shown.unwrap_or(Value::Null).into())
            }
            OperationParams::History { scope, key, page } => {
                self.require_ledger_access(actor, &scope)?;
                let after = match page.cursor.as_deref().map(str::parse::<u64>) {
                    None => 0,
                    Some(Ok(seq)) => seq,
                    Some(Err(_)) => return Err(bad_cursor().into()),
                };
                let (id, limit) = (EntryId::of(scope.as_str(), &key), limit(page.limit));
                let entries = self.gateway.store().entry_history(id, after, limit).await?;
                let next = entries.last().filter(|_| entries.len() == limit);
                let next = next.map(|entry| entry.head.seq.to_string());
                let shown = entries.iter().map(|entry| view::entry(entry, version));
                Ok(OperationResult::list(json!(shown.collect::<Vec<_>>()), next))
            }
            OperationParams::Inbox(page) => self.inbox(actor, page.limit, page.cursor).await,
            _ => Err(HacpError::internal().into()),
        }
    }

    /// A task the caller may see.
    pub(super) async fn task(&self, actor: &Actor, id: TaskId) -> Result<Task, HacpFailure> {
        let task = self.gateway.store().task(id).await?;
        let task = task.filter(|task| task.is_visible_to(actor, &self.gateway.directory()));
        Ok(task.ok_or(Refusal::NotFound { what: "task" })?)
    }

    async fn tasks(
        &self,
        actor: &Actor,
        version: HacpVersion,
        query: TaskQuery,
    ) -> Result<OperationResult, HacpFailure> {
        let TaskQuery { state, principal, assignee, project, parent, page } = query;
        let after = page.cursor.map(|cursor| cursor.parse::<TaskId>().map_err(|_| bad_cursor()));
        let (after, most) = (after.transpose()?, limit(page.limit));
        let states = state.into_iter().collect();
        let own = Party::of(actor).filter(|own| matches!(own, Party::Agent(_)));
        let directory = self.gateway.directory();
        let mut list = match actor {
            // The tasks of an agent are a list of their own. Those assigned to it now are a filter
            // like others.
            Actor::Agent { id, scope: KeyScope::Agent, .. } if assignee != own => {
                let agent = Some(id.clone());
                TaskListQuery { agent, states, after, limit: most, ..TaskListQuery::default() }
            }
            _ => {
                let mut projects = self.projects(actor).await?;
                // An agent sees the tasks assigned to it in all projects.
                if own.is_some() && assignee == own {
                    projects = directory.projects().map(|project| project.id.clone()).collect();
                }
                projects.retain(|one| project.as_ref().is_none_or(|only| one == only));
                let (assignee, principal) = (assignee.clone(), principal.clone());
                let agent = None;
                TaskListQuery {
                    projects,
                    states,
                    assignee,
                    principal,
                    parent,
                    agent,
                    after,
                    limit: most,
                }
            }
        };
        let is_wanted = |task: &Task| {
            project.as_ref().is_none_or(|project| task.project == *project)
                && assignee.as_ref().is_none_or(|who| task.assignee == *who)
                && principal.as_ref().is_none_or(|who| task.principal == *who)
                && parent.is_none_or(|parent| task.parent == Some(parent))
                && task.is_visible_to(actor, &directory)
        };
        let mut shown = Vec::new();
        for _ in 0..MAX_READS_PER_PAGE {
            let found = self.gateway.store().tasks(list.clone()).await?;
            let wanted = found.tasks.iter().filter(|task| is_wanted(task));
            shown.extend(wanted.map(|task| version.stamped(view::task(task, version))));
            list.after = found.next;
            list.limit = most.saturating_sub(shown.len());
            if found.next.is_none() || list.limit == 0 {
                break;
            }
        }
        Ok(OperationResult::list(json!(shown), list.after.map(|id| id.to_string())))
    }

    /// An artifact with the versions the caller may read. If there are none, the artifact is not
    /// found.
    pub(super) async fn artifacts(
        &self,
        actor: &Actor,
        id: ArtifactId,
    ) -> Result<Artifact, HacpFailure> {
        let missing = Refusal::NotFound { what: "artifact" };
        let artifact = self.gateway.store().artifact(id).await?;
        let artifact = artifact.ok_or_else(|| missing.clone())?;
        let directory = self.gateway.directory();
        let mut tasks = BTreeMap::new();
        if !artifact.is_fully_visible_to(actor, &directory) {
            for id in artifact.tasks() {
                tasks.insert(id, self.gateway.store().task(id).await?);
            }
        }
        Ok(artifact.visible_to(actor, &directory, &tasks).ok_or(missing)?)
    }

    /// Whether the caller sees an event of a task in one of their projects. Callers that see whole
    /// projects see all events, without a lookup.
    pub(super) async fn sees_event(
        &self,
        actor: &Actor,
        record: &Record,
    ) -> Result<bool, StoreError> {
        match (actor, &record.subject) {
            (Actor::Agent { scope: KeyScope::Agent, .. }, Subject::Task(id)) => {
                let task = self.gateway.store().task(*id).await?;
                let directory = self.gateway.directory();
                Ok(task.is_some_and(|task| task.is_visible_to(actor, &directory)))
            }
            (_, _) => Ok(true),
        }
    }

    /// Refuses a caller that may not read the ledger.
    fn require_ledger_access(&self, actor: &Actor, scope: &Ledger) -> Result<(), HacpFailure> {
        if scope.is_read_by(actor, &self.gateway.directory()) {
            return Ok(());
        }
        let why = "this ledger belongs to a project or team that you are not a member of";
        Err(Refusal::NotAllowed { why }.into())
    }

    /// A person's inbox: the asks of tasks among those addressed to them (K-23).
    async fn inbox(
        &self,
        actor: &Actor,
        wanted: Option<u64>,
        cursor: Option<String>,
    ) -> Result<OperationResult, HacpFailure> {
        let directory = self.gateway.directory();
        let Actor::Human { id, .. } = actor else {
            let why = "only people have an inbox; this is an agent key";
            return Err(Refusal::NotAllowed { why }.into());
        };
        let Some(human) = directory.human(id) else {
            let why = "this person is not active and cannot sign in";
            return Err(Refusal::NotAllowed { why }.into());
        };
        let after = cursor.map(|cursor| cursor.parse().map_err(|_| bad_cursor())).transpose()?;
        let list = AskListQuery {
            scopes: ListScope::inbox(human),
            phases: Phase::OPEN.to_vec(),
            order: Order::Age,
            filter: Filter::default(),
            after: after.map(|ask| Cursor { rank: 0, ask }),
            limit: limit(wanted),
        };
        let page = self.gateway.waiting_page(human, list).await?;
        let mut items = Vec::new();
        for ask in &page.asks {
            let of = ask.checkpoint.as_ref().map(|held| held.task);
            let Some(task) = of.or_else(|| ask.review.as_ref().map(|review| review.task)) else {
                continue;
            };
            if let Some(task) = self.gateway.store().task(task).await? {
                items.extend(inbox::open_item(id, &task, Some(ask)));
            }
        }
        let next = page.next.map(|next| next.ask.to_string());
        Ok(OperationResult::list(json!(items), next))
    }
}

/// The number of items on a page.
pub(super) fn limit(wanted: Option<u64>) -> usize {
    usize::try_from(wanted.unwrap_or(DEFAULT_PAGE_SIZE)).unwrap_or(usize::MAX)
}

/// 400 for a cursor that the server did not issue.
pub(super) fn bad_cursor() -> HacpError {
    HacpError::field(
        "params.cursor",
        "the value of the hacp-next-cursor header of the previous page",
    )
}
