//! The room of one task: its goal, its state, the pending decisions, the deliveries and their
//! reviews, and its timeline. It can also show the task at an earlier time.

use askama::Template;
use kernel::ask::Ask;
use kernel::directory::{Directory, Human};
use kernel::task::{CheckpointOutcome, Party, TaskState};
use kernel::{AskId, Refusal, Task, TaskId};

use crate::banner::{ActionOutcome, Banner};
use crate::components::diff::DiffPart;
use crate::components::facts::TextBlock;
use crate::components::relative_time::RelativeTime;
use crate::components::task_labels as words_of;
use crate::components::wording::{self, VisibleText};
use crate::request::timeline::TimelineEntry;
use crate::site::{assets, paths};
use crate::tasks::actions::TaskActions;
use crate::tasks::review::{self, ReviewForm, ReviewView};
use crate::tasks::timeline::TaskTimelineRow;
use crate::tasks::versions::{TaskDeliveries, VersionsView};
use crate::{PageContext, SubmittedForm, render};

/// The number of decisions that a room shows in full.
pub const MAX_DECISIONS: usize = 20;
/// The number of entries in other growing lists; the audit log has the rest.
const MAX_LISTED: usize = 20;

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct TaskRoomPage<'a> {
    /// The task in its current or in an earlier state. The caller has checked that `me` may see it.
    pub task: &'a Task,
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The context of the task.
    pub around: &'a TaskContext,
    /// The result of the last action.
    pub told: Option<&'a TaskActionResult>,
    /// The values of a refused form: its name and its content.
    pub draft: Option<(&'a str, &'a SubmittedForm)>,
    /// An idempotency token for the forms.
    pub once: &'a str,
}

/// The context of a task, as the handler loads it.
#[derive(Debug, Clone, Default)]
pub struct TaskContext {
    /// The asks of its newest decisions that the reader may see.
    pub asks: Vec<Ask>,
    pub deliveries: TaskDeliveries,
    /// The newest events, or the selected ones.
    pub trail: Vec<TimelineEntry>,
    /// The sequence number where earlier events continue.
    pub earlier: Option<u64>,
    /// The parent task, if the reader may see it.
    pub parent: Option<Task>,
    /// The number of its last event, if an earlier state is shown.
    pub last: Option<u64>,
}

/// The result of a form.
#[derive(Debug, Clone)]
pub enum TaskActionResult {
    /// It succeeded: a title and an explanation.
    Done(String, String),
    Refused(Refusal),
    /// It was incomplete.
    Wrong(String),
}

impl TaskActionResult {
    fn banner(&self, task: &Task, directory: &Directory, frame: &PageContext) -> Banner {
        let wrong = |title: String, text: String| Banner {
            tone: "no",
            role: "alert",
            title,
            text,
            written: None,
            answered: None,
        };
        match self {
            Self::Done(title, text) => Banner {
                tone: "yes",
                role: "status",
                title: title.clone(),
                text: text.clone(),
                written: None,
                answered: None,
            },
            Self::Wrong(expected) => {
                wrong(t!("task-wrong"), t!("task-wrong-text", expected = expected))
            }
            Self::Refused(Refusal::NotAllowed { .. }) => {
                let who = wording::person_name(directory, &task.principal);
                wrong(t!("common-not-allowed"), t!("task-not-yours", who = who))
            }
            Self::Refused(
                Refusal::Precondition { .. } | Refusal::Stale { .. } | Refusal::Immutable { .. },
            ) => {
                let now = words_of::state(task);
                wrong(t!("task-moved-on"), t!("task-moved-on-text", state = now))
            }
            Self::Refused(refusal) => {
                ActionOutcome::Refused(refusal.clone()).banner(directory, frame.now, None)
            }
        }
    }
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, room: &TaskRoomPage<'_>) -> String {
    render(&TaskRoomTemplate::new(frame, room))
}

#[derive(Template)]
#[template(path = "tasks/room.html")]
struct TaskRoomTemplate<'a> {
    frame: &'a PageContext,
    id: String,
    title: VisibleText,
    goal: TextBlock,
    short: bool,
    sort: VisibleText,
    project: String,
    criteria: Vec<VisibleText>,
    state: String,
    tone: &'static str,
    steps: Vec<TaskStage>,
    with: String,
    yours: bool,
    principal: String,
    written: RelativeTime,
    due: Option<RelativeTime>,
    decisions: Vec<CheckpointRow>,
    more_decisions: usize,
    pending: Option<String>,
    versions: VersionsView,
    judged: Newest<ReviewView>,
    remarks: bool,
    card: Option<ReviewForm>,
    acts: TaskActions,
    facts: TaskFacts,
    trail: Vec<TaskTimelineRow>,
    earlier: Option<String>,
    then: Option<EarlierState>,
    banner: Option<Banner>,
    links: TaskLinks,
    once: &'a str,
    zone: String,
}

/// The earlier state that is shown.
struct EarlierState {
    at: RelativeTime,
    seq: u64,
    last: u64,
}

/// The paths of the page's forms.
struct TaskLinks {
    here: String,
    live: String,
    assign: String,
    interrupt: String,
    amend: String,
    grant: String,
    transfer: String,
    cancel: String,
    review: String,
    remark: String,
    part: String,
}

/// One stage of a task.
struct TaskStage {
    label: String,
    /// `done`, `now`, `left` or `skipped`.
    how: &'static str,
    word: String,
}

/// One checkpoint of the task.
struct CheckpointRow {
    href: String,
    kind: String,
    prompt: VisibleText,
    raised: String,
    at: RelativeTime,
    tone: &'static str,
    outcome: String,
    over: Option<RelativeTime>,
    said: Option<VisibleText>,
    open: bool,
    irreversible: bool,
}

/// Further facts: the newest of each list, and the number of older ones.
struct TaskFacts {
    chain: Newest<(String, String, String, RelativeTime)>,
    steering: Newest<(String, VisibleText, RelativeTime)>,
    grants: Newest<(String, VisibleText, String, RelativeTime)>,
    autonomy: String,
    delegable: bool,
    reviewers: String,
    parent: Option<(String, VisibleText)>,
    inputs: Vec<VisibleText>,
    run: Option<String>,
    revision: u64,
}

/// The newest entries of a growing list, and the number of older ones.
struct Newest<T> {
    shown: Vec<T>,
    before: usize,
}

impl<T> Newest<T> {
    fn of(mut all: Vec<T>) -> Self {
        let before = all.len().saturating_sub(MAX_LISTED);
        Self { shown: all.split_off(before), before }
    }
}

impl<'a> TaskRoomTemplate<'a> {
    fn new(frame: &'a PageContext, room: &TaskRoomPage<'a>) -> Self {
        let TaskRoomPage { task, me, directory, around, told, draft, once } = *room;
        let now = frame.now;
        let live = around.last.is_none();
        let judged = review::review_views(task, directory, now);
        let spec = task.spec.value();
        let goal =
            spec.map_or_else(|| wording::erased().to_string(), |spec| spec.goal.trim().to_owned());
        let entered = |act: &str| draft.filter(|(name, _)| *name == act).map(|(_, sent)| sent);
        let error = match told {
            Some(TaskActionResult::Wrong(text)) => entered("review").map(|_| text.as_str()),
            Some(TaskActionResult::Done(..) | TaskActionResult::Refused(_)) | None => None,
        };
        let card = ReviewForm::new(task, me, directory, entered("review"), error).filter(|_| live);
        let kept = draft.map(|(name, sent)| (name.to_owned(), sent.clone()));
        let shown = task.checkpoints.len().saturating_sub(MAX_DECISIONS);
        let decisions = task.checkpoints.iter().skip(shown).rev();
        let decisions: Vec<CheckpointRow> = decisions
            .map(|raised| CheckpointRow::new(raised, task.id, &around.asks, directory, now))
            .collect();
        let (at, head) = (around.last.map(|_| task.head.seq), task.head);
        Self {
            frame,
            id: task.id.to_string(),
            title: words_of::goal(task),
            short: goal.chars().count() <= 200 && !goal.contains('\n'),
            goal: TextBlock::new("goal".to_owned(), &goal),
            sort: VisibleText::of(&task.sort),
            project: task.project.to_string(),
            criteria: spec
                .iter()
                .flat_map(|spec| &spec.acceptance_criteria)
                .map(|text| VisibleText::of(text))
                .collect(),
            state: words_of::state(task),
            tone: words_of::tone(task),
            steps: task_stages(task),
            with: words_of::party(directory, &task.assignee),
            yours: task.assignee.human() == Some(&me.id),
            principal: wording::person_name(directory, &task.principal),
            written: RelativeTime::new(task.created_at, now),
            due: task.due_at().map(|at| RelativeTime::new(at, now)),
            pending: decisions.iter().find(|one| one.open && live).map(|one| one.href.clone()),
            decisions,
            more_decisions: shown,
            versions: VersionsView::new(task, &around.deliveries, &judged, now),
            judged: Newest::of(judged),
            remarks: live && task.is_decided_by(&me.id),
            card,
            acts: if live {
                TaskActions::new(task, me, directory, kept)
            } else {
                TaskActions::default()
            },
            facts: TaskFacts::new(task, directory, around.parent.as_ref(), now),
            trail: (around.trail.iter().rev())
                .map(|entry| TaskTimelineRow::new(entry, task, at, directory, now))
                .collect(),
            earlier: around
                .earlier
                .map(|seq| format!("{}?before={seq}#trail", paths::task(task.id))),
            then: around.last.map(|last| EarlierState {
                at: RelativeTime::new(head.at, now),
                seq: head.seq,
                last,
            }),
            banner: told.map(|told| told.banner(task, directory, frame)),
            links: TaskLinks::new(task),
            once,
            zone: zone(me),
        }
    }

    /// The number of waiting requests, before the title of the browser tab.
    fn count(&self) -> String {
        self.frame.waiting.filter(|n| *n > 0).map(|n| format!("({n}) ")).unwrap_or_default()
    }
}

/// The name of a person's time zone.
pub fn zone(me: &Human) -> String {
    let named = me.profile_settings().and_then(|about| about.time_zone.clone());
    named.unwrap_or_else(|| "UTC".to_owned())
}

impl TaskLinks {
    fn new(task: &Task) -> Self {
        let act = |name: &str| paths::task_act(task.id, name);
        Self {
            here: paths::task(task.id),
            live: paths::task_live(task.id, task.head.seq),
            assign: act("assign"),
            interrupt: act("interrupt"),
            amend: act("amend"),
            grant: act("grant"),
            transfer: act("transfer"),
            cancel: act("cancel"),
            review: act("review"),
            remark: act("remark"),
            part: paths::new_subtask(task.id),
        }
    }
}

/// The stages of a task, with its progress.
fn task_stages(task: &Task) -> Vec<TaskStage> {
    let well = words_of::ended_well(task);
    let (here, label) = match task.state {
        TaskState::Created => (0, t!("task-stage-created")),
        TaskState::Assigned => (1, t!("task-stage-assigned")),
        TaskState::InProgress if !task.reviews.is_empty() => {
            (2, t!("task-stage-in-progress-again"))
        }
        TaskState::InProgress => (2, t!("task-stage-in-progress")),
        TaskState::Blocked => (2, t!("task-state-blocked")),
        TaskState::ReviewReady => (3, t!("task-stage-delivered")),
        TaskState::UnderReview => (4, t!("task-state-under-review")),
        TaskState::Accepted => (5, t!("task-state-done")),
        TaskState::Completed if well => (5, t!("task-state-done")),
        TaskState::Completed => (5, t!("task-state-cancelled")),
        TaskState::Rejected => (5, t!("task-state-rejected")),
    };
    let reached = [
        true,
        !task.chain.is_empty() && task.run.is_some(),
        task.started_at.is_some(),
        !task.delivered.is_empty(),
        !task.reviews.is_empty(),
        task.state.is_closed(),
    ];
    let names = [
        t!("task-stage-created"),
        t!("task-stage-assigned"),
        t!("task-stage-in-progress"),
        t!("task-stage-delivered"),
        t!("task-stage-reviewed"),
        t!("task-state-done"),
    ];
    let stage = |(n, (name, reached)): (usize, (String, bool))| {
        let (how, word) = match n {
            n if n == here => ("now", t!("task-stage-is-now")),
            n if n < here && reached => ("done", t!("task-stage-is-done")),
            n if n < here => ("skipped", t!("task-stage-is-skipped")),
            _ => ("left", t!("task-stage-is-left")),
        };
        TaskStage { label: if n == here { label.clone() } else { name }, how, word }
    };
    names.into_iter().zip(reached).enumerate().map(stage).collect()
}

impl CheckpointRow {
    fn new(
        raised: &kernel::task::RaisedCheckpoint,
        task: TaskId,
        asks: &[Ask],
        directory: &Directory,
        now: kernel::Time,
    ) -> Self {
        let ask = asks.iter().find(|ask| ask.id == raised.ask);
        let question = ask.and_then(|ask| ask.question.value());
        let (tone, mut outcome, over) = words_of::outcome(&raised.outcome, directory, now);
        let said = match &raised.outcome {
            CheckpointOutcome::Resolved(resolution) => resolution.details.value(),
            CheckpointOutcome::Pending | CheckpointOutcome::Expired { .. } => None,
        };
        let beside = ask.and_then(|ask| ask.checkpoint.as_ref()?.details.value());
        let proposed = beside.map_or(0, |beside| beside.proposed_actions.len());
        if let Some(said) = said.filter(|_| proposed > 0) {
            let allowed = said.approved_actions.len();
            outcome =
                t!("task-decision-actions", outcome = outcome, allowed = allowed, count = proposed);
        }
        let said = said.and_then(|said| {
            let words = [&said.choice, &said.input, &said.comment];
            let words: Vec<&str> = words.into_iter().filter_map(|text| text.as_deref()).collect();
            (!words.is_empty()).then(|| VisibleText::of(&words.join("\n")))
        });
        Self {
            href: ask.map_or_else(|| paths::task(task), |ask| paths::request(ask.id)),
            kind: words_of::checkpoint(raised.kind),
            prompt: question.map_or_else(
                || VisibleText::of(&t!("task-decision-hidden")),
                |question| VisibleText::beginning(question.prompt(), 400),
            ),
            raised: match raised.raised_by {
                kernel::task::RaisedBy::Agent => words_of::party(directory, &raised.worker),
                kernel::task::RaisedBy::Human => t!("task-decision-by-principal"),
                kernel::task::RaisedBy::System => "Countersign".to_owned(),
            },
            at: RelativeTime::new(raised.at, now),
            tone,
            outcome,
            over,
            said,
            open: matches!(raised.outcome, CheckpointOutcome::Pending) && ask.is_some(),
            irreversible: ask.is_some_and(|ask| ask.is_irreversible()),
        }
    }
}

impl TaskFacts {
    fn new(task: &Task, directory: &Directory, parent: Option<&Task>, now: kernel::Time) -> Self {
        let name = |party: &Party| words_of::party(directory, party);
        let chain = task.chain.iter().map(|step| {
            let at = RelativeTime::new(step.at, now);
            (name(&step.from), name(&step.to), words_of::handover(step.via), at)
        });
        let steering = task.steering.iter().map(|said| {
            let text = said.text.value().map_or_else(wording::erased, |text| VisibleText::of(text));
            (words_of::intent(said.intent), text, RelativeTime::new(said.at, now))
        });
        let grants = task.permissions(now).map(|one| {
            let (grant, until) = (one.grant, words_of::grant_validity(&one, now));
            let may = words_of::permission_effect(grant.decision);
            (may, VisibleText::of(&grant.scope), until, RelativeTime::new(grant.granted_at, now))
        });
        let inputs = task.spec.value().into_iter().flat_map(|spec| &spec.inputs);
        let inputs = inputs.map(|input| match input {
            kernel::task::TaskInput::Artifact { id, version } => {
                VisibleText::of(&format!("{id} {version}"))
            }
            kernel::task::TaskInput::Resource { uri, .. } => VisibleText::of(uri),
        });
        let reviewers: Vec<String> =
            task.reviewers().iter().map(|id| wording::person_name(directory, id)).collect();
        Self {
            chain: Newest::of(chain.collect()),
            steering: Newest::of(steering.collect()),
            grants: Newest::of(grants.collect()),
            autonomy: words_of::autonomy(task.autonomy),
            delegable: task.delegable,
            reviewers: reviewers.join(", "),
            parent: parent.map(|parent| (paths::task(parent.id), words_of::goal(parent))),
            inputs: inputs.collect(),
            run: task.run.as_ref().map(|run| run.id.to_string()),
            revision: task.revision,
        }
    }
}

/// The newest decisions of a task, which its room shows in full.
pub fn decisions(task: &Task) -> Vec<AskId> {
    task.checkpoints.iter().rev().take(MAX_DECISIONS).map(|raised| raised.ask).collect()
}
