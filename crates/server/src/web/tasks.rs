//! The board of tasks, by where they stand; and the page on which one is written down.

use askama::Template;
use kernel::directory::{Agent, Directory, Human};
use kernel::task::{NewTask, OnSilence, Spec, State};
use kernel::{ProjectId, Task};

use super::fields::{Control, FieldView, Mark};
use super::problem::{FormProblem, Place, Problem};
use super::query::{Picker, Query};
use super::settings::controls::{Choice, Filled};
use super::task_acts::moment;
use super::task_words::{self as words_of, AUTONOMIES};
use super::when::When;
use super::words::Words;
use super::{Frame, Submitted, assets, paths, render};

/// The names the address of the board knows, in the order of its form.
pub const KNOWN: [&str; 5] = ["view", "project", "agent", "column", "after"];
/// More agents or projects than this are not chosen from a list.
const CHOICES: usize = 200;

/// One column of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Nobody has begun.
    Waiting,
    /// An agent works on it.
    Working,
    /// Somebody has to decide.
    Deciding,
    /// Something was delivered.
    Judging,
    /// It is over.
    Over,
}

impl Column {
    /// Every column, from left to right.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Working, Self::Deciding, Self::Judging, Self::Over];

    /// The states whose tasks stand in it.
    pub fn states(self) -> &'static [State] {
        match self {
            Self::Waiting => &[State::Created, State::Assigned],
            Self::Working => &[State::InProgress],
            Self::Deciding => &[State::Blocked],
            Self::Judging => &[State::ReviewReady, State::UnderReview],
            Self::Over => &[State::Accepted, State::Completed, State::Rejected],
        }
    }

    /// As an address says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Working => "working",
            Self::Deciding => "deciding",
            Self::Judging => "judging",
            Self::Over => "over",
        }
    }

    /// By that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Waiting => "Not begun",
            Self::Working => "In progress",
            Self::Deciding => "Needs a decision",
            Self::Judging => "To be judged",
            Self::Over => "Over",
        }
    }
}

/// What the board is made from.
#[derive(Debug, Clone, Copy)]
pub struct Board<'a> {
    /// Who looks.
    pub me: &'a Human,
    /// For names.
    pub directory: &'a Directory,
    /// What it is narrowed to.
    pub query: &'a Query,
    /// What stands in its columns; only one of them where a single column is looked at.
    pub columns: &'a [Filling],
}

/// One column with what stands in it.
#[derive(Debug, Clone)]
pub struct Filling {
    /// Which.
    pub column: Column,
    /// Newest first.
    pub tasks: Vec<Task>,
    /// How many there are, in words: `12`, or `1000+` where nobody counted further.
    pub count: String,
    /// Where there are more.
    pub next: Option<String>,
}

/// The board as HTML.
pub fn page(frame: &Frame, board: &Board<'_>) -> String {
    let &Board { me, directory, query, columns } = board;
    let row = |task: &Task| Row::new(task, me, directory, frame);
    let column = |filling: &Filling| Drawn {
        name: filling.column.name(),
        label: filling.column.label(),
        count: filling.count.clone(),
        rows: filling.tasks.iter().map(row).collect(),
        next: filling.next.clone(),
    };
    let place = query.without(&["column", "after"]);
    let mine = query.get("view") == Some("mine");
    render(&BoardPage {
        frame,
        columns: columns.iter().map(column).collect(),
        pickers: pickers(me, directory, query),
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
#[template(path = "tasks.html")]
struct BoardPage<'a> {
    frame: &'a Frame,
    columns: Vec<Drawn>,
    pickers: Vec<Picker>,
    alone: bool,
    narrowed: bool,
    mine: bool,
    all_href: String,
    mine_href: String,
    plain_href: String,
    board_href: String,
}

impl BoardPage<'_> {
    fn is_empty(&self) -> bool {
        self.columns.iter().all(|column| column.rows.is_empty())
    }
}

struct Drawn {
    name: &'static str,
    label: &'static str,
    count: String,
    rows: Vec<Row>,
    next: Option<String>,
}

/// One task on the board.
struct Row {
    href: String,
    goal: Words,
    state: &'static str,
    tone: &'static str,
    with: String,
    project: String,
    written: When,
    due: Option<When>,
    yours: bool,
}

impl Row {
    fn new(task: &Task, me: &Human, directory: &Directory, frame: &Frame) -> Self {
        let waits = matches!(task.state, State::Blocked | State::ReviewReady | State::UnderReview);
        let decides = match task.state {
            State::ReviewReady | State::UnderReview => task.reviewers().contains(&me.id),
            _ => task.is_decided_by(&me.id),
        };
        let open = !task.state.is_over();
        Self {
            href: paths::task(task.id),
            goal: words_of::goal(task),
            state: words_of::state(task),
            tone: words_of::tone(task),
            with: match &task.run {
                Some(run) if open => format!("the agent {}", run.agent),
                Some(_) | None => words_of::party(directory, &task.assignee),
            },
            project: task.project.to_string(),
            written: When::new(task.created_at, frame.now),
            due: task.due_at().filter(|_| open).map(|at| When::new(at, frame.now)),
            yours: waits && decides,
        }
    }
}

fn pickers(me: &Human, directory: &Directory, query: &Query) -> Vec<Picker> {
    let twice = |name: String| (name.clone(), name);
    let projects = projects_of(me, directory).into_iter().map(|id| twice(id.to_string()));
    let agents = directory.agents().filter(|agent| agent.is_known_to(me));
    let agents = agents.map(|agent| twice(agent.id.to_string()));
    vec![
        Picker::new(("project", "Project", "Every project"), projects, query),
        Picker::new(("agent", "Agent", "Every agent"), agents, query),
    ]
}

/// The projects whose tasks somebody sees; for an administrator as many as a list can hold.
pub fn projects_of(me: &Human, directory: &Directory) -> Vec<ProjectId> {
    let everything = directory.projects().map(|project| project.id.clone());
    if me.admin {
        everything.take(CHOICES).collect()
    } else {
        me.projects.iter().cloned().collect()
    }
}

const LABELS: [(&str, &str); 8] = [
    ("goal", "What is to be reached"),
    ("criteria", "It is good when"),
    ("project", "Project"),
    ("agent", "Give it to"),
    ("deadline", "Until when"),
    ("autonomy", "What its agent may do by itself"),
    ("delegable", "Handing it down"),
    ("page", ""),
];

fn label(name: &str) -> &'static str {
    LABELS.iter().find(|(known, _)| *known == name).map_or("", |(_, label)| *label)
}

/// The page on which a task is written down; `once` is good for one.
pub fn new_page(
    frame: &Frame,
    me: &Human,
    directory: &Directory,
    once: &str,
    sent: Option<&Submitted>,
    problems: &FormProblem,
) -> String {
    let filled = Filled { form: sent, problems };
    let twice = |id: ProjectId| (id.to_string(), id.to_string());
    let projects: Vec<Choice> = projects_of(me, directory).into_iter().map(twice).collect();
    let known = directory.agents().filter(|agent| agent.is_known_to(me)).take(CHOICES);
    let name = |agent: &Agent| (agent.id.to_string(), format!("{} in {}", agent.id, agent.project));
    let mut agents = vec![(String::new(), "Nobody yet".to_owned())];
    agents.extend(known.map(name));
    let autonomy: Vec<Choice> = AUTONOMIES
        .iter()
        .map(|(autonomy, name)| ((*name).to_owned(), words_of::autonomy(*autonomy).to_owned()))
        .collect();
    let first = me.projects.first().map(ToString::to_string).unwrap_or_default();
    let zone = super::task::zone(me);
    let fields = vec![
        filled
            .area("goal", label("goal"), "")
            .hint("In your words. It stays as you write it; later you can add to it.")
            .needed(),
        filled
            .area("criteria", label("criteria"), "")
            .hint("One condition per line. Whoever judges sees them as a checklist."),
        filled.one_of("project", label("project"), &projects, &first),
        filled.one_of("agent", label("agent"), &agents, "").hint("You can also give it out later."),
        filled
            .input("datetime-local", "deadline", label("deadline"), "")
            .hint(&format!("In {zone}. Leave it empty if there is no hurry.")),
        filled.one_of("autonomy", label("autonomy"), &autonomy, "autonomous"),
        filled.flag(
            "delegable",
            label("delegable"),
            "Its agent may give it to another agent",
            false,
        ),
    ];
    render(&NewPage { frame, fields, once, problems: &problems.problems })
}

#[derive(Template)]
#[template(path = "task_new.html")]
struct NewPage<'a> {
    frame: &'a Frame,
    fields: Vec<FieldView>,
    once: &'a str,
    problems: &'a [Problem],
}

/// The task a form means, or what is wrong with it.
pub fn written(sent: &Submitted, me: &Human) -> Result<NewTask, FormProblem> {
    let mut problem = FormProblem::default();
    let mut wrong = |name: &str, message: &str| {
        problem.add(Place::Field(name.to_owned()), Some(Words::of(label(name))), message);
    };
    let goal = sent.text("goal").unwrap_or_default().trim().to_owned();
    if goal.is_empty() {
        wrong("goal", "Say what is to be reached");
    }
    let zone = me.about().map_or(jiff::tz::TimeZone::UTC, kernel::directory::about::About::zone);
    let deadline = sent.value("deadline").filter(|text| !text.trim().is_empty());
    let deadline = match deadline.map(|text| moment(text, &zone)) {
        Some(None) => {
            wrong("deadline", "Choose a day and a time, or leave it empty");
            None
        }
        Some(at) => at,
        None => None,
    };
    let project = sent.value("project").map(str::parse::<ProjectId>).transpose();
    if project.is_err() {
        wrong("project", "Choose one of these projects");
    }
    let autonomy = sent.value("autonomy");
    let autonomy = AUTONOMIES.iter().find(|(_, name)| Some(*name) == autonomy);
    if !problem.problems.is_empty() {
        return Err(problem);
    }
    let criteria = sent.text("criteria").unwrap_or_default();
    let criteria = criteria.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(NewTask {
        project: project.ok().flatten(),
        sort: "task".to_owned(),
        spec: Spec {
            goal,
            acceptance_criteria: criteria.map(str::to_owned).collect(),
            ..Spec::default()
        },
        parent: None,
        deadline,
        max_duration: None,
        delegable: sent.value("delegable").is_some(),
        autonomy: autonomy.map(|(autonomy, _)| *autonomy).unwrap_or_default(),
        grants: Vec::new(),
        review_policy: None,
        on_silence: OnSilence::default(),
    })
}

/// What was refused, at the field it is about.
pub fn refused(refusal: &kernel::Refusal) -> FormProblem {
    use kernel::Refusal;
    let field = |name: &str, message: String| {
        let mut problem = FormProblem::default();
        problem.add(Place::Field(name.to_owned()), Some(Words::of(label(name))), message);
        problem
    };
    match refusal {
        Refusal::Invalid { field: "spec.goal", expected } => {
            field("goal", format!("Expected {expected}."))
        }
        Refusal::Invalid { field: "spec.acceptance_criteria" | "spec", expected } => {
            field("criteria", format!("Expected {expected}."))
        }
        Refusal::Invalid { field: "deadline", .. } => {
            field("deadline", "Choose a moment that is still to come.".to_owned())
        }
        Refusal::Invalid { field: "project", .. } => {
            field("project", "Choose a project you are a member of.".to_owned())
        }
        Refusal::IdempotencyMismatch => FormProblem::one(
            Place::Page,
            "This form was sent before, with other words, and that arrived. If this is another task, \
             write it down now.",
        ),
        other => super::settings::controls::refused(other, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_stands_in_one_column() {
        for state in State::ALL {
            let columns = Column::ALL.iter().filter(|column| column.states().contains(&state));
            assert_eq!(columns.count(), 1, "{state:?}");
        }
        for column in Column::ALL {
            assert_eq!(Column::named(column.name()), Some(column));
        }
    }
}
