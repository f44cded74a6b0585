//! The task board: `GET /tasks`; and creating a task: `GET /tasks/new`, `POST /tasks`.

mod actions;
mod room;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use bytes::Bytes;
use gateway::blobs::Blobs;
use gateway::{Gateway, Terms};
use kernel::audit::Digest;
use kernel::directory::Human;
use kernel::task::{Given, Party, TaskCommand};
use kernel::{Actor, AgentId, Command, ProjectId, Task, TaskId};
use serde::{Deserialize, Serialize};
use store::{Count, Idempotency, Scope, StoreError, TaskList};
use views::components::query::Query as Narrowed;
use views::site::paths;
use views::tasks::new::{self, Begun};
use views::tasks::room::Told;
use views::tasks::{self, Board, Column, Filling, KNOWN};
use views::{FormProblem, Frame, Submitted};

use super::{Page, html};
use crate::http::pages::live::{self, Looked, Sent};
use crate::http::pages::visitors::{Visitor, Visitors};
use crate::http::services::Streaming;
use crate::http::{Shared, sse};

/// Renders the page of a task.
pub struct TaskPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) blobs: Blobs,
    pub(in crate::http) visitors: Arc<Visitors>,
}

/// The routes of tasks.
pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/tasks", get(board).post(create))
        .route("/tasks/new", get(show_new))
        .route("/tasks/live", get(follow_board))
        .route("/tasks/{id}", get(room::show))
        .route("/tasks/{id}/live", get(room::live))
        .route("/tasks/{id}/version", get(room::version))
        .route("/tasks/{id}/assign", get(room::back).post(actions::assign))
        .route("/tasks/{id}/cancel", get(room::back).post(actions::cancel))
        .route("/tasks/{id}/interrupt", get(room::back).post(actions::interrupt))
        .route("/tasks/{id}/amend", get(room::back).post(actions::amend))
        .route("/tasks/{id}/grant", get(room::back).post(actions::grant))
        .route("/tasks/{id}/transfer", get(room::back).post(actions::transfer))
        .route("/tasks/{id}/review", get(room::back).post(actions::review))
        .route("/tasks/{id}/remark", get(room::back).post(actions::remark))
}

/// The number of tasks in a column of the whole board, and in a column shown alone.
const FEW: usize = 8;
const MANY: usize = 40;
/// The most reads to fill a column.
const ROUNDS: usize = 4;

/// The filters of the board.
pub(super) struct Wanted {
    pub(super) query: Narrowed,
    pub(super) list: TaskList,
    agent: Option<AgentId>,
    column: Option<Column>,
}

impl Wanted {
    pub(super) fn of(gateway: &Gateway, human: &Human, pairs: &[(String, String)]) -> Self {
        let mut query = Narrowed::of(pairs, &KNOWN);
        let mine = query.take("view", |name| (name == "mine").then_some(())).is_some();
        let mut projects = tasks::projects_of(human, &gateway.directory());
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

async fn board(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> Page {
    let wanted = Wanted::of(&gateway, &visitor.human, &pairs);
    let columns = board_columns(&gateway, &visitor.actor, &wanted).await?;
    let directory = gateway.directory();
    let (me, query) = (&visitor.human, &wanted.query);
    let board = Board { me, directory: &directory, query, columns: &columns };
    Ok(html(StatusCode::OK, tasks::page(&visitor.frame, &board)))
}

/// The columns of the board, as this person sees them.
pub(super) async fn board_columns(
    gateway: &Gateway,
    actor: &Actor,
    wanted: &Wanted,
) -> Result<Vec<Filling>, StoreError> {
    let counts = gateway.store().task_counts(wanted.list.clone()).await?;
    let mut columns = Vec::new();
    for column in Column::ALL {
        if wanted.column.is_some_and(|only| only != column) {
            continue;
        }
        let counted = counts.iter().filter(|(state, _)| column.states().contains(state));
        let counted: Vec<Count> = counted.map(|(_, count)| *count).collect();
        columns.push(filled(gateway, actor, wanted, column, &counted).await?);
    }
    Ok(columns)
}

/// One column of the board. With a filter by agent, matching tasks are selected after the read, so
/// the column may not be full.
async fn filled(
    gateway: &Gateway,
    actor: &Actor,
    wanted: &Wanted,
    column: Column,
    counted: &[Count],
) -> Result<Filling, StoreError> {
    let limit = if wanted.column.is_some() { MANY } else { FEW };
    let mut list = TaskList { states: column.states().to_vec(), limit, ..wanted.list.clone() };
    let directory = gateway.directory();
    let shown = |task: &Task| {
        let of_agent = wanted.agent.as_ref().is_none_or(|agent| {
            task.assignee.agent() == Some(agent)
                || task.run.as_ref().is_some_and(|run| run.agent == *agent)
        });
        of_agent && task.is_shown_to(actor, &directory)
    };
    let mut tasks = Vec::new();
    for _ in 0..ROUNDS {
        let page = gateway.store().tasks(list.clone()).await?;
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

fn new_task_page(
    gateway: &Gateway,
    visitor: &Visitor,
    begun: Begun<'_>,
    problems: &FormProblem,
) -> String {
    let (directory, once) = (gateway.directory(), gateway.ids().ulid().to_string());
    let begun = Begun { once: &once, ..begun };
    new::page(&visitor.frame, &visitor.human, &directory, begun, problems)
}

/// The parent of a new task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    parent: String,
}

/// `GET /tasks/new`
async fn show_new(
    State(gateway): State<Gateway>,
    Query(part): Query<Part>,
    visitor: Visitor,
) -> Page {
    // The parent must be a task id. Other text is not shown to anyone.
    let parent = part.parent.parse::<TaskId>().map(|id| id.to_string()).unwrap_or_default();
    let begun = Begun { parent: &parent, ..Begun::default() };
    Ok(html(StatusCode::OK, new_task_page(&gateway, &visitor, begun, &FormProblem::default())))
}

/// `POST /tasks`: a form that is sent twice creates one task.
async fn create(
    State(visitors): State<Arc<Visitors>>,
    State(task_pages): State<Arc<TaskPages>>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::NEW_TASK).await?;
    let refuse = |problem: &FormProblem| {
        let begun = Begun { sent: Some(&form), ..Begun::default() };
        let shown = new_task_page(&task_pages.gateway, &visitor, begun, problem);
        Ok(html(StatusCode::UNPROCESSABLE_ENTITY, shown))
    };
    let new = match new::written(&form, &visitor.human) {
        Ok(new) => new,
        Err(problem) => return refuse(&problem),
    };
    let terms = Terms { idempotency: once(&visitor, &form, "create"), ..Terms::default() };
    let command = Command::Task(Box::new(TaskCommand::Create(Box::new(new))));
    let task = match task_pages.gateway.run_on(terms, visitor.actor.clone(), command).await {
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
    match task_pages.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::task(task.id)).into_response()),
        // The task was created nevertheless. The person can assign it on its page.
        Err(StoreError::Refused(refusal)) => {
            let told = Told::Refused(refusal);
            task_pages.room(&visitor, &task, StatusCode::CONFLICT, Some(&told), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The idempotency key of a form, so that a double submission runs once.
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

// `GET /tasks/live`: live updates of an open board, column by column.

async fn follow_board(
    State(gateway): State<Gateway>,
    State(streaming): State<Streaming>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> Page {
    let (actor, sent) = (visitor.actor.clone(), Sent::said(&pairs));
    Ok(live::follow(gateway, &streaming, visitor, Columns { pairs, actor, sent }))
}

/// A board on an open page.
struct Columns {
    pairs: Vec<(String, String)>,
    actor: Actor,
    sent: Sent,
}

/// The difference from the state that the browser has.
#[derive(Serialize)]
struct News {
    /// Whether all columns are empty.
    empty: bool,
    /// The count of the inbox: requests that tasks wait for are there.
    inbox: String,
    /// Every column in order, with its HTML where the browser lacks it.
    columns: Vec<ColumnNews>,
}

#[derive(Serialize)]
struct ColumnNews {
    key: String,
    v: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

impl Looked for Columns {
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<Scope> {
        Wanted::of(gateway, human, &self.pairs)
            .list
            .projects
            .into_iter()
            .map(Scope::Tasks)
            .collect()
    }

    async fn news(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &Frame,
    ) -> Result<(u64, Option<Bytes>), StoreError> {
        let wanted = Wanted::of(gateway, human, &self.pairs);
        let columns = board_columns(gateway, &self.actor, &wanted).await?;
        let directory = gateway.directory();
        let (me, query) = (human, &wanted.query);
        let board = Board { me, directory: &directory, query, columns: &columns };
        let drawn = tasks::columns(frame, &board);
        let digest = tasks::digest(&drawn);
        let parts = drawn.iter().map(|column| (column.key(), column.version.clone())).collect();
        let sent = Sent { digest: Some(digest), parts };
        let before = std::mem::replace(&mut self.sent, sent);
        if before.digest == Some(digest) {
            return Ok((digest, None));
        }
        let news = News {
            empty: tasks::is_empty(&drawn),
            inbox: gateway.waiting(human).await?.n.to_string(),
            columns: drawn
                .iter()
                .map(|column| ColumnNews {
                    key: column.key(),
                    v: column.version.clone(),
                    html: (before.parts.get(&column.key()) != Some(&column.version))
                        .then(|| column.html()),
                })
                .collect(),
        };
        Ok((digest, Some(sse::frame(digest, "news", &news))))
    }
}
