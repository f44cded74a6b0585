//! The board of tasks: `GET /tasks`; and writing one down: `GET /tasks/new`, `POST /tasks`.

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect};
use gateway::Terms;
use kernel::audit::Digest;
use kernel::directory::Human;
use kernel::task::{Given, Party, TaskCommand};
use kernel::{Actor, AgentId, Command, ProjectId, Task, TaskId};
use serde::Deserialize;
use store::{Count, Idempotency, StoreError, TaskList};

use super::{Page, Visitor, html};
use crate::http::{App, Shared};
use views::components::query::Query as Narrowed;
use views::site::paths;
use views::tasks::new::{self, Begun};
use views::tasks::room::Told;
use views::tasks::{self, Board, Column, Filling, KNOWN};
use views::{FormProblem, Submitted};

/// How many a column shows beside others, and how many it shows alone.
const FEW: usize = 8;
const MANY: usize = 40;
/// How often a column that is not full yet is read on.
const ROUNDS: usize = 4;

/// What somebody wants to see of the board.
pub(super) struct Wanted {
    pub(super) query: Narrowed,
    pub(super) list: TaskList,
    agent: Option<AgentId>,
    column: Option<Column>,
}

impl Wanted {
    pub(super) fn of(app: &App, human: &Human, pairs: &[(String, String)]) -> Self {
        let mut query = Narrowed::of(pairs, &KNOWN);
        let mine = query.take("view", |name| (name == "mine").then_some(())).is_some();
        let mut projects = tasks::projects_of(human, &app.gateway.directory());
        let open = |id: &ProjectId| human.admin || projects.contains(id);
        let project = query.take("project", |name| name.parse().ok().filter(open));
        if let Some(project) = project {
            projects = vec![project];
        }
        let agent = query.parsed::<AgentId>("agent");
        let column = query.take("column", Column::named);
        let after = query.parsed::<TaskId>("after").filter(|_| column.is_some());
        let principal = mine.then(|| human.id.clone());
        let list = TaskList { projects, principal, after, ..TaskList::default() };
        Self { query, list, agent, column }
    }
}

pub(super) async fn board(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let wanted = Wanted::of(&app, &visitor.human, &pairs);
    let columns = app.columns(&visitor.actor, &wanted).await?;
    let directory = app.gateway.directory();
    let (me, query) = (&visitor.human, &wanted.query);
    let board = Board { me, directory: &directory, query, columns: &columns };
    Ok(html(StatusCode::OK, tasks::page(&visitor.frame, &board)))
}

impl App {
    /// The columns of the board, as somebody sees them.
    pub(super) async fn columns(
        &self,
        actor: &Actor,
        wanted: &Wanted,
    ) -> Result<Vec<Filling>, StoreError> {
        let counts = self.gateway.store().task_counts(wanted.list.clone()).await?;
        let mut columns = Vec::new();
        for column in Column::ALL {
            if wanted.column.is_some_and(|only| only != column) {
                continue;
            }
            let counted = counts.iter().filter(|(state, _)| column.states().contains(state));
            let counted: Vec<Count> = counted.map(|(_, count)| *count).collect();
            columns.push(self.filled(actor, wanted, column, &counted).await?);
        }
        Ok(columns)
    }

    /// One column of the board. Tasks an agent has to do with are picked from what is read, so such a
    /// column may come out short.
    async fn filled(
        &self,
        actor: &Actor,
        wanted: &Wanted,
        column: Column,
        counted: &[Count],
    ) -> Result<Filling, StoreError> {
        let limit = if wanted.column.is_some() { MANY } else { FEW };
        let mut list = TaskList { states: column.states().to_vec(), limit, ..wanted.list.clone() };
        let directory = self.gateway.directory();
        let shown = |task: &Task| {
            let of_agent = wanted.agent.as_ref().is_none_or(|agent| {
                task.assignee.agent() == Some(agent)
                    || task.run.as_ref().is_some_and(|run| run.agent == *agent)
            });
            of_agent && task.is_shown_to(actor, &directory)
        };
        let mut tasks = Vec::new();
        for _ in 0..ROUNDS {
            let page = self.gateway.store().tasks(list.clone()).await?;
            tasks.extend(page.tasks.into_iter().filter(|task| shown(task)));
            list.after = page.next;
            if tasks.len() >= limit || page.next.is_none() {
                break;
            }
            list.limit = limit - tasks.len();
        }
        let next = list.after.map(|after| {
            let there = wanted.query.with("column", column.name());
            there.with("after", after.to_string()).href(paths::TASKS)
        });
        let count = match (&wanted.agent, &next) {
            (None, _) => {
                let n: u64 = counted.iter().map(|count| count.n).sum();
                let exact = counted.iter().all(|count| count.exact);
                if exact { n.to_string() } else { format!("{n}+") }
            }
            (Some(_), None) => tasks.len().to_string(),
            (Some(_), Some(_)) => format!("{}+", tasks.len()),
        };
        Ok(Filling { column, tasks, count, next })
    }

    fn new_task_page(&self, visitor: &Visitor, begun: Begun<'_>, problems: &FormProblem) -> String {
        let (directory, once) = (self.gateway.directory(), self.gateway.ids().ulid().to_string());
        let begun = Begun { once: &once, ..begun };
        new::page(&visitor.frame, &visitor.human, &directory, begun, problems)
    }
}

/// What a new task is to be part of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    parent: String,
}

/// `GET /tasks/new`
pub(super) async fn show_new(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(part): Query<Part>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    // Only a task is ever part of something: other words are not put before anybody.
    let parent = part.parent.parse::<TaskId>().map(|id| id.to_string()).unwrap_or_default();
    let begun = Begun { parent: &parent, ..Begun::default() };
    Ok(html(StatusCode::OK, app.new_task_page(&visitor, begun, &FormProblem::default())))
}

/// `POST /tasks`: what is sent twice is written down once.
pub(super) async fn create(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::NEW_TASK).await?;
    let refuse = |problem: &FormProblem| {
        let begun = Begun { sent: Some(&form), ..Begun::default() };
        let shown = app.new_task_page(&visitor, begun, problem);
        Ok(html(StatusCode::UNPROCESSABLE_ENTITY, shown))
    };
    let new = match new::written(&form, &visitor.human) {
        Ok(new) => new,
        Err(problem) => return refuse(&problem),
    };
    let terms = Terms { idempotency: once(&visitor, &form, "create"), ..Terms::default() };
    let command = Command::Task(Box::new(TaskCommand::Create(Box::new(new))));
    let task = match app.gateway.run_on(terms, visitor.actor.clone(), command).await {
        Ok(outcome) => outcome.task,
        Err(StoreError::Refused(refusal)) => return refuse(&new::refused(&refusal)),
        Err(error) => return Err(error.into()),
    };
    let Some(task) = task else { return Ok(Redirect::to(paths::TASKS).into_response()) };
    let agent = form.value("agent").and_then(|name| name.parse::<AgentId>().ok());
    let given = task.assignee != Party::Human(visitor.human.id.clone());
    let Some(agent) = agent.filter(|_| !given) else {
        return Ok(Redirect::to(&paths::task(task.id)).into_response());
    };
    let command = TaskCommand::Assign(task.id, agent, Given::default());
    let command = Command::Task(Box::new(command));
    match app.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::task(task.id)).into_response()),
        // It is written down all the same; whom it is given to can be said in its room.
        Err(StoreError::Refused(refusal)) => {
            let told = Told::Refused(refusal);
            app.room(&visitor, &task, StatusCode::CONFLICT, Some(&told), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What keeps a form from being done twice, by an impatient thumb or a browser.
pub(super) fn once(visitor: &Visitor, form: &Submitted, act: &str) -> Option<Idempotency> {
    let key = form.value("once").filter(|key| (1..=64).contains(&key.len()))?.to_owned();
    let said = form.pairs.iter().filter(|(name, _)| name != "csrf");
    let said: Vec<_> = said.collect();
    Some(Idempotency {
        scope: format!("task-page/{act}/{}", visitor.human.id),
        key,
        fingerprint: Digest::of_json(&said),
        lasting: false,
    })
}
