//! The task board: `GET /tasks`; and creating a task: `GET /tasks/new`, `POST /tasks`.

mod actions;
mod task_page;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use bytes::Bytes;
use gateway::blobs::Blobs;
use gateway::{CommandConditions, Gateway};
use kernel::audit::Digest;
use kernel::directory::Human;
use kernel::task::{AgentInput, Party, TaskCommand};
use kernel::{Actor, AgentId, Command, ProjectId, Task, TaskId};
use serde::{Deserialize, Serialize};
use store::{Count, Idempotency, ListScope, StoreError, TaskListQuery};
use views::components::query::PageQuery as Narrowed;
use views::site::paths;
use views::tasks::new::{self, NewTaskInput};
use views::tasks::room::TaskActionResult;
use views::tasks::{self, BoardColumn, ColumnTasks, QUERY_PARAMETERS, TaskBoardPage};
use views::{FormProblems, PageContext, SubmittedForm};

use super::{PageResult, html};
use crate::http::pages::live::{self, LiveList, SentState};
use crate::http::pages::visitor::{Visitor, Visitors};
use crate::http::services::Streaming;
use crate::http::{AppState, sse};

/// Renders the page of a task.
pub struct TaskPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) blobs: Blobs,
    pub(in crate::http) visitors: Arc<Visitors>,
}

/// The routes of tasks.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/tasks", get(board).post(create))
        .route("/tasks/new", get(show_new))
        .route("/tasks/live", get(follow_board))
        .route("/tasks/{id}", get(task_page::show))
        .route("/tasks/{id}/live", get(task_page::live))
        .route("/tasks/{id}/version", get(task_page::version))
        .route("/tasks/{id}/assign", get(task_page::back).post(actions::assign))
        .route("/tasks/{id}/cancel", get(task_page::back).post(actions::cancel))
        .route("/tasks/{id}/interrupt", get(task_page::back).post(actions::interrupt))
        .route("/tasks/{id}/amend", get(task_page::back).post(actions::amend))
        .route("/tasks/{id}/grant", get(task_page::back).post(actions::grant))
        .route("/tasks/{id}/transfer", get(task_page::back).post(actions::transfer))
        .route("/tasks/{id}/review", get(task_page::back).post(actions::review))
        .route("/tasks/{id}/remark", get(task_page::back).post(actions::remark))
}

/// The number of tasks in a column of the whole board, and in a column shown alone.
const FEW: usize = 8;
const MANY: usize = 40;
/// The most reads to fill a column.
const MAX_READS_PER_COLUMN: usize = 4;

/// The filters of the board.
pub(super) struct BoardFilter {
    pub(super) query: Narrowed,
    pub(super) list: TaskListQuery,
    agent: Option<AgentId>,
    column: Option<BoardColumn>,
}

impl BoardFilter {
    pub(super) fn from_query(gateway: &Gateway, human: &Human, pairs: &[(String, String)]) -> Self {
        let mut query = Narrowed::of(pairs, &QUERY_PARAMETERS);
        let mine = query.take("view", |name| (name == "mine").then_some(())).is_some();
        let mut projects = tasks::projects_of(human, &gateway.directory());
        let open = |id: &ProjectId| human.admin || projects.contains(id);
        let project = query.take("project", |name| name.parse().ok().filter(open));
        if let Some(project) = project {
            projects = vec![project];
        }
        let agent = query.parsed::<AgentId>("agent");
        let column = query.take("column", BoardColumn::named);
        let after = query.parsed::<TaskId>("after").filter(|_| column.is_some());
        let principal = mine.then(|| human.id.clone());
        let list = TaskListQuery { projects, principal, after, ..TaskListQuery::default() };
        Self { query, list, agent, column }
    }
}

async fn board(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = BoardFilter::from_query(&gateway, &visitor.human, &pairs);
    let columns = board_columns(&gateway, &visitor.actor, &wanted).await?;
    let directory = gateway.directory();
    let (me, query) = (&visitor.human, &wanted.query);
    let board = TaskBoardPage { me, directory: &directory, query, columns: &columns };
    Ok(html(StatusCode::OK, tasks::page(&visitor.frame, &board)))
}

/// The columns of the board, as this person sees them.
pub(super) async fn board_columns(
    gateway: &Gateway,
    actor: &Actor,
    wanted: &BoardFilter,
) -> Result<Vec<ColumnTasks>, StoreError> {
    let counts = gateway.store().task_counts(wanted.list.clone()).await?;
    let mut columns = Vec::new();
    for column in BoardColumn::ALL {
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
    wanted: &BoardFilter,
    column: BoardColumn,
    counted: &[Count],
) -> Result<ColumnTasks, StoreError> {
    let limit = if wanted.column.is_some() { MANY } else { FEW };
    let mut list = TaskListQuery { states: column.states().to_vec(), limit, ..wanted.list.clone() };
    let directory = gateway.directory();
    let shown = |task: &Task| {
        let of_agent = wanted.agent.as_ref().is_none_or(|agent| {
            task.assignee.agent() == Some(agent)
                || task.run.as_ref().is_some_and(|run| run.agent == *agent)
        });
        of_agent && task.is_visible_to(actor, &directory)
    };
    let mut tasks = Vec::new();
    for _ in 0..MAX_READS_PER_COLUMN {
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
    Ok(ColumnTasks { column, tasks, count, next })
}

fn new_task_page(
    gateway: &Gateway,
    visitor: &Visitor,
    begun: NewTaskInput<'_>,
    problems: &FormProblems,
) -> String {
    let (directory, once) = (gateway.directory(), gateway.ids().ulid().to_string());
    let begun = NewTaskInput { once: &once, ..begun };
    new::page(&visitor.frame, &visitor.human, &directory, begun, problems)
}

/// The parent of a new task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ParentQuery {
    parent: String,
}

/// `GET /tasks/new`
async fn show_new(
    State(gateway): State<Gateway>,
    Query(part): Query<ParentQuery>,
    visitor: Visitor,
) -> PageResult {
    // The parent must be a task id. Other text is not shown to anyone.
    let parent = part.parent.parse::<TaskId>().map(|id| id.to_string()).unwrap_or_default();
    let begun = NewTaskInput { parent: &parent, ..NewTaskInput::default() };
    Ok(html(StatusCode::OK, new_task_page(&gateway, &visitor, begun, &FormProblems::default())))
}

/// `POST /tasks`: a form that is sent twice creates one task.
async fn create(
    State(visitors): State<Arc<Visitors>>,
    State(task_pages): State<Arc<TaskPages>>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::NEW_TASK).await?;
    let refuse = |problem: &FormProblems| {
        let begun = NewTaskInput { sent: Some(&form), ..NewTaskInput::default() };
        let shown = new_task_page(&task_pages.gateway, &visitor, begun, problem);
        Ok(html(StatusCode::UNPROCESSABLE_ENTITY, shown))
    };
    let new = match new::parse_new_task(&form, &visitor.human) {
        Ok(new) => new,
        Err(problem) => return refuse(&problem),
    };
    let terms = CommandConditions {
        idempotency: form_idempotency(&visitor, &form, "create"),
        ..CommandConditions::default()
    };
    let command = Command::Task(Box::new(TaskCommand::Create(Box::new(new))));
    let task =
        match task_pages.gateway.run_with_conditions(terms, visitor.actor.clone(), command).await {
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
    let command = TaskCommand::Assign(task.id, agent, AgentInput::default());
    let command = Command::Task(Box::new(command));
    match task_pages.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::task(task.id)).into_response()),
        // The task was created nevertheless. The person can assign it on its page.
        Err(StoreError::Refused(refusal)) => {
            let told = TaskActionResult::Refused(refusal);
            task_pages.room(&visitor, &task, StatusCode::CONFLICT, Some(&told), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The idempotency key of a form, so that a double submission runs once.
pub(super) fn form_idempotency(
    visitor: &Visitor,
    form: &SubmittedForm,
    act: &str,
) -> Option<Idempotency> {
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
) -> PageResult {
    let (actor, sent) = (visitor.actor.clone(), SentState::from_query(&pairs));
    Ok(live::follow(gateway, &streaming, visitor, LiveBoard { pairs, actor, sent }))
}

/// A board on an open page.
struct LiveBoard {
    pairs: Vec<(String, String)>,
    actor: Actor,
    sent: SentState,
}

/// The difference from the state that the browser has.
#[derive(Serialize)]
struct BoardUpdate {
    /// Whether all columns are empty.
    empty: bool,
    /// The count of the inbox: requests that tasks wait for are there.
    inbox: String,
    /// Every column in order, with its HTML where the browser lacks it.
    columns: Vec<ColumnUpdate>,
}

#[derive(Serialize)]
struct ColumnUpdate {
    key: String,
    v: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

impl LiveList for LiveBoard {
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<ListScope> {
        BoardFilter::from_query(gateway, human, &self.pairs)
            .list
            .projects
            .into_iter()
            .map(ListScope::Tasks)
            .collect()
    }

    async fn update(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &PageContext,
    ) -> Result<(u64, Option<Bytes>), StoreError> {
        let wanted = BoardFilter::from_query(gateway, human, &self.pairs);
        let columns = board_columns(gateway, &self.actor, &wanted).await?;
        let directory = gateway.directory();
        let (me, query) = (human, &wanted.query);
        let board = TaskBoardPage { me, directory: &directory, query, columns: &columns };
        let drawn = tasks::columns(frame, &board);
        let digest = tasks::digest(&drawn);
        let parts = drawn.iter().map(|column| (column.key(), column.version.clone())).collect();
        let sent = SentState { digest: Some(digest), parts };
        let before = std::mem::replace(&mut self.sent, sent);
        if before.digest == Some(digest) {
            return Ok((digest, None));
        }
        let news = BoardUpdate {
            empty: tasks::is_empty(&drawn),
            inbox: gateway.count_waiting(human).await?.n.to_string(),
            columns: drawn
                .iter()
                .map(|column| ColumnUpdate {
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
