//! The task board, by state.

pub mod actions;
pub mod new;
pub mod review;
pub mod room;
pub mod timeline;
pub mod versions;

use askama::Template;
use kernel::audit::Digest;
use kernel::directory::{Directory, Human};
use kernel::task::TaskState;
use kernel::{ProjectId, Task};

use crate::components::query::{FilterField, PageQuery};
use crate::components::relative_time::RelativeTime;
use crate::components::task_labels as words_of;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The query parameters of the board, in the order of its form.
pub const QUERY_PARAMETERS: [&str; 5] = ["view", "project", "agent", "column", "after"];
/// The maximum number of agents or projects in a list.
pub(crate) const CHOICES: usize = 200;

/// One column of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardColumn {
    /// Work has not started.
    Waiting,
    /// An agent is working on it.
    Working,
    /// A person has to decide.
    Deciding,
    /// A delivery is waiting for review.
    Judging,
    /// It is closed.
    Over,
}

impl BoardColumn {
    /// Every column, from left to right.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Working, Self::Deciding, Self::Judging, Self::Over];

    /// The states of the tasks in this column.
    pub fn states(self) -> &'static [TaskState] {
        match self {
            Self::Waiting => &[TaskState::Created, TaskState::Assigned],
            Self::Working => &[TaskState::InProgress],
            Self::Deciding => &[TaskState::Blocked],
            Self::Judging => &[TaskState::ReviewReady, TaskState::UnderReview],
            Self::Over => &[TaskState::Accepted, TaskState::Completed, TaskState::Rejected],
        }
    }

    /// The name in the URL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Working => "working",
            Self::Deciding => "deciding",
            Self::Judging => "judging",
            Self::Over => "over",
        }
    }

    /// The column with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The heading of the column.
    pub fn label(self) -> String {
        match self {
            Self::Waiting => t!("tasks-column-not-started"),
            Self::Working => t!("tasks-column-in-progress"),
            Self::Deciding => t!("tasks-column-blocked"),
            Self::Judging => t!("tasks-column-in-review"),
            Self::Over => t!("tasks-column-closed"),
        }
    }
}

/// The input of the board.
#[derive(Debug, Clone, Copy)]
pub struct TaskBoardPage<'a> {
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The filter of the board.
    pub query: &'a PageQuery,
    /// The columns with their tasks; only one if a single column is selected.
    pub columns: &'a [ColumnTasks],
}

/// One column with its tasks.
#[derive(Debug, Clone)]
pub struct ColumnTasks {
    pub column: BoardColumn,
    /// The tasks, newest first.
    pub tasks: Vec<Task>,
    /// The number of tasks, as text: `12`, or `1000+` above the counting limit.
    pub count: String,
    /// The path of the next page.
    pub next: Option<String>,
}

/// Renders the board as HTML.
pub fn page(frame: &PageContext, board: &TaskBoardPage<'_>) -> String {
    let &TaskBoardPage { me, directory, query, .. } = board;
    let columns = columns(frame, board);
    let place = query.without(&["column", "after"]);
    let mine = query.get("view") == Some("mine");
    render(&TaskBoardTemplate {
        frame,
        digest: digest(&columns),
        live: query.href(paths::TASKS_LIVE),
        columns,
        pickers: filter_fields(me, directory, query),
        alone: query.get("column").is_some(),
        narrowed: query.get("project").is_some() || query.get("agent").is_some(),
        mine,
        all_href: place.without(&["view"]).href(paths::TASKS),
        mine_href: place.with("view", "mine").href(paths::TASKS),
        plain_href: place.without(&["project", "agent"]).href(paths::TASKS),
        board_href: place.href(paths::TASKS),
    })
}

#[derive(Template)]
#[template(path = "tasks/board.html")]
struct TaskBoardTemplate<'a> {
    frame: &'a PageContext,
    columns: Vec<ColumnView>,
    /// Identifies this version of the board; `live` is the path of its event stream.
    digest: u64,
    live: String,
    pickers: Vec<FilterField>,
    alone: bool,
    narrowed: bool,
    mine: bool,
    all_href: String,
    mine_href: String,
    plain_href: String,
    board_href: String,
}

impl TaskBoardTemplate<'_> {
    fn is_empty(&self) -> bool {
        is_empty(&self.columns)
    }
}

/// One rendered column.
#[derive(Template)]
#[template(path = "tasks/column.html")]
pub struct ColumnView {
    name: &'static str,
    label: String,
    count: String,
    rows: Vec<TaskRow>,
    next: Option<String>,
    alone: bool,
    /// Identifies this version of the column; relative times do not count.
    pub version: String,
}

impl ColumnView {
    fn new(filling: &ColumnTasks, frame: &PageContext, board: &TaskBoardPage<'_>) -> Self {
        let row = |task: &Task| TaskRow::new(task, board.me, board.directory, frame);
        let rows: Vec<TaskRow> = filling.tasks.iter().map(row).collect();
        let each = filling.tasks.iter().zip(&rows).map(|(task, row)| {
            let due = row.due.as_ref().map(|due| (due.soon, due.past));
            (task.id, task.head.seq, row.yours, due)
        });
        let each: Vec<_> = each.collect();
        let about = format!("{}{:?}{each:?}", filling.count, filling.next);
        let mut version = Digest::of(about.as_bytes()).to_string();
        version.truncate(8);
        Self {
            name: filling.column.name(),
            label: filling.column.label(),
            count: filling.count.clone(),
            rows,
            next: filling.next.clone(),
            alone: board.query.get("column").is_some(),
            version,
        }
    }

    /// The id of the element on the page.
    pub fn key(&self) -> String {
        format!("in-{}", self.name)
    }

    /// Renders the column as HTML.
    pub fn html(&self) -> String {
        render(self)
    }
}

/// Renders the columns of a board.
pub fn columns(frame: &PageContext, board: &TaskBoardPage<'_>) -> Vec<ColumnView> {
    board.columns.iter().map(|filling| ColumnView::new(filling, frame, board)).collect()
}

/// Whether all columns are empty.
pub fn is_empty(columns: &[ColumnView]) -> bool {
    columns.iter().all(|column| column.rows.is_empty())
}

/// Identifies a version of the board.
pub fn digest(columns: &[ColumnView]) -> u64 {
    let all: Vec<&str> = columns.iter().flat_map(|one| [one.name, &one.version]).collect();
    let digest = Digest::of(all.join(" ").as_bytes());
    digest.0.first_chunk().copied().map(u64::from_be_bytes).unwrap_or_default()
}

/// One task on the board.
struct TaskRow {
    key: String,
    href: String,
    goal: VisibleText,
    state: String,
    tone: &'static str,
    with: String,
    project: String,
    written: RelativeTime,
    due: Option<RelativeTime>,
    yours: bool,
}

impl TaskRow {
    fn new(task: &Task, me: &Human, directory: &Directory, frame: &PageContext) -> Self {
        let waits = matches!(
            task.state,
            TaskState::Blocked | TaskState::ReviewReady | TaskState::UnderReview
        );
        let decides = match task.state {
            TaskState::ReviewReady | TaskState::UnderReview => task.reviewers().contains(&me.id),
            _ => task.is_decided_by(&me.id),
        };
        let open = !task.state.is_closed();
        Self {
            key: task.id.to_string(),
            href: paths::task(task.id),
            goal: words_of::goal(task),
            state: words_of::state(task),
            tone: words_of::tone(task),
            with: match &task.run {
                Some(run) if open => t!("actor-agent", id = run.agent.as_str()),
                Some(_) | None => words_of::party(directory, &task.assignee),
            },
            project: task.project.to_string(),
            written: RelativeTime::new(task.created_at, frame.now),
            due: task.due_at().filter(|_| open).map(|at| RelativeTime::new(at, frame.now)),
            yours: waits && decides,
        }
    }
}

fn filter_fields(me: &Human, directory: &Directory, query: &PageQuery) -> Vec<FilterField> {
    let twice = |name: String| (name.clone(), name);
    let projects = projects_of(me, directory).into_iter().map(|id| twice(id.to_string()));
    let agents = directory.agents().filter(|agent| agent.accepts_messages_from(me));
    let agents = agents.map(|agent| twice(agent.id.to_string()));
    vec![
        FilterField::new(
            ("project", t!("common-project"), t!("filter-every-project")),
            projects,
            query,
        ),
        FilterField::new(("agent", t!("common-agent"), t!("filter-every-agent")), agents, query),
    ]
}

/// The projects whose tasks a person may see; for an administrator, as many as a list can hold.
pub fn projects_of(me: &Human, directory: &Directory) -> Vec<ProjectId> {
    let everything = directory.projects().map(|project| project.id.clone());
    if me.admin {
        everything.take(CHOICES).collect()
    } else {
        me.projects.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_stands_in_one_column() {
        for state in TaskState::ALL {
            let columns = BoardColumn::ALL.iter().filter(|column| column.states().contains(&state));
            assert_eq!(columns.count(), 1, "{state:?}");
        }
        for column in BoardColumn::ALL {
            assert_eq!(BoardColumn::named(column.name()), Some(column));
        }
    }
}
