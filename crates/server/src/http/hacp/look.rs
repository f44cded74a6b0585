//! The operations that only look: tasks, artifacts, ledgers, and what waits for somebody.

use dialects::hacp::read::TaskQuery;
use dialects::hacp::{HacpError, Params, Version, inbox, view};
use kernel::directory::Human;
use kernel::task::{Artifact, Party, Scope as Ledger};
use kernel::{Actor, ArtifactId, EntryId, Phase, Refusal, Task, TaskId};
use serde_json::{Value, json};
use store::{Cursor, Filter, List, Order, Scope, TaskList};

use super::Failure;
use super::act::stamped;
use super::ops::Shown;
use crate::http::App;

/// How many are shown where nobody says.
const USUAL: u64 = 50;

impl App {
    pub(super) async fn hacp_look(
        &self,
        actor: &Actor,
        version: Version,
        params: Params,
    ) -> Result<Shown, Failure> {
        match params {
            Params::Task(id) => {
                let task = self.hacp_task(actor, id).await?;
                Ok(stamped(view::task(&task, version), version).into())
            }
            Params::Tasks(query) => self.hacp_tasks(actor, version, query).await,
            Params::Artifact { id, version: named } => {
                let artifact = self.hacp_made(actor, id).await?;
                let shown = self.hacp_artifact(Some(&artifact), named.as_deref(), version);
                Ok(shown.ok_or(Refusal::NotFound { what: "version" })?.into())
            }
            Params::Entry { scope, key } => {
                self.may_read(actor, &scope)?;
                let Some(key) = key else {
                    return Ok(stamped(view::ledger(&scope), version).into());
                };
                let entry = self.gateway.store().entry(EntryId::of(scope.as_str(), &key)).await?;
                let shown = entry.map(|entry| stamped(view::entry(&entry, version), version));
                Ok(shown.unwrap_or(Value::Null).into())
            }
            Params::History { scope, key, page } => {
                self.may_read(actor, &scope)?;
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
                Ok(Shown { value: json!(shown.collect::<Vec<_>>()), next })
            }
            Params::Inbox(page) => self.hacp_inbox(actor, page.limit, page.cursor).await,
            _ => Err(HacpError::internal().into()),
        }
    }

    /// A task that somebody may see.
    pub(super) async fn hacp_task(&self, actor: &Actor, id: TaskId) -> Result<Task, Failure> {
        let task = self.gateway.store().task(id).await?;
        let task = task.filter(|task| task.is_shown_to(actor, &self.gateway.directory()));
        Ok(task.ok_or(Refusal::NotFound { what: "task" })?)
    }

    async fn hacp_tasks(
        &self,
        actor: &Actor,
        version: Version,
        query: TaskQuery,
    ) -> Result<Shown, Failure> {
        let TaskQuery { state, principal, assignee, project, parent, page } = query;
        let mut projects = self.hacp_projects(actor);
        // What an agent was given it sees, whichever project it is of.
        if Party::of(actor)
            .is_some_and(|own| matches!(own, Party::Agent(_)) && assignee == Some(own))
        {
            let directory = self.gateway.directory();
            projects = directory.projects().map(|project| project.id.clone()).collect();
        }
        if let Some(project) = project {
            projects.retain(|own| *own == project);
        }
        let after = page.cursor.map(|cursor| cursor.parse::<TaskId>().map_err(|_| bad_cursor()));
        let list = TaskList {
            projects,
            states: state.into_iter().collect(),
            assignee,
            principal,
            parent,
            after: after.transpose()?,
            limit: limit(page.limit),
        };
        let found = self.gateway.store().tasks(list).await?;
        let directory = self.gateway.directory();
        let shown = found.tasks.iter().filter(|task| task.is_shown_to(actor, &directory));
        let shown: Vec<_> = shown.map(|task| view::task(task, version)).collect();
        Ok(Shown { value: json!(shown), next: found.next.map(|id| id.to_string()) })
    }

    /// An artifact somebody may use: of a project of theirs, or of a task they see.
    pub(super) async fn hacp_made(
        &self,
        actor: &Actor,
        id: ArtifactId,
    ) -> Result<Artifact, Failure> {
        let missing = Refusal::NotFound { what: "artifact" };
        let artifact = self.gateway.store().artifact(id).await?;
        let artifact = artifact.ok_or_else(|| missing.clone())?;
        let projects = self.hacp_projects(actor);
        if projects.iter().any(|project| artifact.is_usable_in(project)) {
            return Ok(artifact);
        }
        let made_by = artifact.version(None).map(|version| version.produced_by);
        match made_by {
            Some(task) => {
                self.hacp_task(actor, task).await.map_err(|_| missing)?;
                Ok(artifact)
            }
            None => Err(missing.into()),
        }
    }

    /// The refusal for a ledger that is not somebody's to read.
    fn may_read(&self, actor: &Actor, scope: &Ledger) -> Result<(), Failure> {
        let directory = self.gateway.directory();
        let person = match actor {
            Actor::Human { id, .. } => directory.human(id),
            // An agent reads what whoever answers for it reads.
            Actor::Agent { id, .. } => {
                directory.agent(id).and_then(|agent| directory.human(&agent.owner))
            }
            _ => None,
        };
        let in_team = |human: &Human, name: &str| {
            human.admin || human.groups.iter().any(|group| group.as_str() == name)
        };
        let may = match scope.parts() {
            ("project", name) => {
                self.hacp_projects(actor).iter().any(|project| project.as_str() == name)
            }
            ("team", name) => person.is_some_and(|human| in_team(human, name)),
            (_, _) => true,
        };
        if may {
            return Ok(());
        }
        let why = "this ledger belongs to a project or a team you are not in";
        Err(Refusal::NotAllowed { why }.into())
    }

    /// What waits for somebody: the asks of tasks among those that were put to them (K-23).
    async fn hacp_inbox(
        &self,
        actor: &Actor,
        wanted: Option<u64>,
        cursor: Option<String>,
    ) -> Result<Shown, Failure> {
        let directory = self.gateway.directory();
        let Actor::Human { id, .. } = actor else {
            return Err(Refusal::NotAllowed { why: "only people have an inbox" }.into());
        };
        let Some(human) = directory.human(id) else {
            return Err(Refusal::NotAllowed { why: "this person cannot sign in" }.into());
        };
        let after = cursor.map(|cursor| cursor.parse().map_err(|_| bad_cursor())).transpose()?;
        let list = List {
            scopes: Scope::inbox(human),
            phases: Phase::OPEN.to_vec(),
            order: Order::Age,
            filter: Filter::default(),
            after: after.map(|ask| Cursor { rank: 0, ask }),
            limit: limit(wanted),
        };
        let page = self.gateway.put_to(human, list).await?;
        let mut items = Vec::new();
        for ask in &page.asks {
            let of = ask.checkpoint.as_ref().map(|held| held.task);
            let Some(task) = of.or_else(|| ask.review.as_ref().map(|review| review.task)) else {
                continue;
            };
            if let Some(task) = self.gateway.store().task(task).await? {
                items.extend(inbox::waits_for(id, &task, Some(ask)));
            }
        }
        let next = page.next.map(|next| next.ask.to_string());
        Ok(Shown { value: json!(items), next })
    }
}

/// How many are shown.
pub(super) fn limit(wanted: Option<u64>) -> usize {
    usize::try_from(wanted.unwrap_or(USUAL)).unwrap_or(usize::MAX)
}

/// 400 for a cursor nobody gave out.
pub(super) fn bad_cursor() -> HacpError {
    HacpError::field("params.cursor", "what hacp-next-cursor said")
}
