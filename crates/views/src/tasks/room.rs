//! The room of one task: its goal, its state, the pending decisions, the deliveries and their
//! reviews, and its timeline. It can also show the task at an earlier time.

use askama::Template;
use kernel::ask::Ask;
use kernel::directory::{Directory, Human};
use kernel::task::{Outcome, Party, State};
use kernel::{AskId, Refusal, Task, TaskId};

use crate::banner::{Banner, Notice};
use crate::components::diff::Part;
use crate::components::facts::Block;
use crate::components::task as words_of;
use crate::components::when::When;
use crate::components::words::{self, Words};
use crate::request::timeline::Entry;
use crate::site::{assets, paths};
use crate::tasks::actions::Acts;
use crate::tasks::review::{self, Card, Judged};
use crate::tasks::timeline::Step;
use crate::tasks::versions::{Deliveries, Versions};
use crate::{Frame, Submitted, render};

/// The number of decisions that a room shows in full.
pub const DECISIONS: usize = 20;
/// The number of entries in other growing lists; the audit log has the rest.
const LISTED: usize = 20;

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// The task in its current or in an earlier state. The caller has checked that `me` may see it.
    pub task: &'a Task,
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The context of the task.
    pub around: &'a Around,
    /// The result of the last action.
    pub told: Option<&'a Told>,
    /// The values of a refused form: its name and its content.
    pub draft: Option<(&'a str, &'a Submitted)>,
    /// An idempotency token for the forms.
    pub once: &'a str,
}

/// The context of a task, as the handler loads it.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The asks of its newest decisions that the reader may see.
    pub asks: Vec<Ask>,
    pub deliveries: Deliveries,
    /// The newest events, or the selected ones.
    pub trail: Vec<Entry>,
    /// The sequence number where earlier events continue.
    pub earlier: Option<u64>,
    /// The parent task, if the reader may see it.
    pub parent: Option<Task>,
    /// The number of its last event, if an earlier state is shown.
    pub last: Option<u64>,
}

/// The result of a form.
#[derive(Debug, Clone)]
pub enum Told {
    /// It succeeded: a title and an explanation.
    Done(&'static str, &'static str),
    Refused(Refusal),
    /// It was incomplete.
    Wrong(&'static str),
}

impl Told {
    fn banner(&self, task: &Task, directory: &Directory, frame: &Frame) -> Banner {
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
                title: (*title).to_owned(),
                text: (*text).to_owned(),
                written: None,
                answered: None,
            },
            Self::Wrong(expected) => wrong(
                "Something needs to be corrected".to_owned(),
                format!("{expected}. Nothing was changed, and what you entered is still there."),
            ),
            Self::Refused(Refusal::NotAllowed { .. }) => {
                let who = words::person(directory, &task.principal);
                let text = format!("Nothing was changed. {who} answers for this task.");
                wrong("You cannot do this".to_owned(), text)
            }
            Self::Refused(
                Refusal::Precondition { .. } | Refusal::Stale { .. } | Refusal::Immutable { .. },
            ) => {
                let now = words_of::state(task).to_lowercase();
                let text = format!("Nothing was changed. Where it stands now: {now}.");
                wrong("The task has gone on meanwhile".to_owned(), text)
            }
            Self::Refused(refusal) => {
                Notice::Refused(refusal.clone()).banner(directory, frame.now, None)
            }
        }
    }
}

/// Renders the page as HTML.
pub fn page(frame: &Frame, room: &Room<'_>) -> String {
    render(&RoomPage::new(frame, room))
}

#[derive(Template)]
#[template(path = "tasks/room.html")]
struct RoomPage<'a> {
    frame: &'a Frame,
    id: String,
    title: Words,
    goal: Block,
    short: bool,
    sort: Words,
    project: String,
    criteria: Vec<Words>,
    state: &'static str,
    tone: &'static str,
    steps: Vec<Stage>,
    with: String,
    yours: bool,
    principal: String,
    written: When,
    due: Option<When>,
    decisions: Vec<Decision>,
    more_decisions: usize,
    pending: Option<String>,
    versions: Versions,
    judged: Newest<Judged>,
    remarks: bool,
    card: Option<Card>,
    acts: Acts,
    facts: Known,
    trail: Vec<Step>,
    earlier: Option<String>,
    then: Option<Then>,
    banner: Option<Banner>,
    links: Links,
    once: &'a str,
    zone: String,
}

/// The earlier state that is shown.
struct Then {
    at: When,
    seq: u64,
    last: u64,
}

/// The paths of the page's forms.
struct Links {
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
struct Stage {
    label: &'static str,
    /// `done`, `now`, `left` or `skipped`.
    how: &'static str,
    word: &'static str,
}

/// One checkpoint of the task.
struct Decision {
    href: String,
    kind: &'static str,
    prompt: Words,
    raised: String,
    at: When,
    tone: &'static str,
    outcome: String,
    over: Option<When>,
    said: Option<Words>,
    open: bool,
    irreversible: bool,
}

/// Further facts: the newest of each list, and the number of older ones.
struct Known {
    chain: Newest<(String, String, &'static str, When)>,
    steering: Newest<(&'static str, Words, When)>,
    grants: Newest<(&'static str, Words, String, When)>,
    autonomy: &'static str,
    delegable: bool,
    reviewers: String,
    parent: Option<(String, Words)>,
    inputs: Vec<Words>,
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
        let before = all.len().saturating_sub(LISTED);
        Self { shown: all.split_off(before), before }
    }
}

impl<'a> RoomPage<'a> {
    fn new(frame: &'a Frame, room: &Room<'a>) -> Self {
        let Room { task, me, directory, around, told, draft, once } = *room;
        let now = frame.now;
        let live = around.last.is_none();
        let judged = review::judged(task, directory, now);
        let spec = task.spec.value();
        let goal =
            spec.map_or_else(|| words::erased().to_string(), |spec| spec.goal.trim().to_owned());
        let entered = |act: &str| draft.filter(|(name, _)| *name == act).map(|(_, sent)| sent);
        let error = match told {
            Some(Told::Wrong(text)) => entered("review").map(|_| *text),
            Some(Told::Done(..) | Told::Refused(_)) | None => None,
        };
        let card = Card::new(task, me, directory, entered("review"), error).filter(|_| live);
        let kept = draft.map(|(name, sent)| (name.to_owned(), sent.clone()));
        let shown = task.checkpoints.len().saturating_sub(DECISIONS);
        let decisions = task.checkpoints.iter().skip(shown).rev();
        let decisions: Vec<Decision> = decisions
            .map(|raised| Decision::new(raised, task.id, &around.asks, directory, now))
            .collect();
        let (at, head) = (around.last.map(|_| task.head.seq), task.head);
        Self {
            frame,
            id: task.id.to_string(),
            title: words_of::goal(task),
            short: goal.chars().count() <= 200 && !goal.contains('\n'),
            goal: Block::new("goal".to_owned(), &goal),
            sort: Words::of(&task.sort),
            project: task.project.to_string(),
            criteria: spec
                .iter()
                .flat_map(|spec| &spec.acceptance_criteria)
                .map(|text| Words::of(text))
                .collect(),
            state: words_of::state(task),
            tone: words_of::tone(task),
            steps: steps(task),
            with: words_of::party(directory, &task.assignee),
            yours: task.assignee.human() == Some(&me.id),
            principal: words::person(directory, &task.principal),
            written: When::new(task.created_at, now),
            due: task.due_at().map(|at| When::new(at, now)),
            pending: decisions.iter().find(|one| one.open && live).map(|one| one.href.clone()),
            decisions,
            more_decisions: shown,
            versions: Versions::new(task, &around.deliveries, &judged, now),
            judged: Newest::of(judged),
            remarks: live && task.is_decided_by(&me.id),
            card,
            acts: if live { Acts::new(task, me, directory, kept) } else { Acts::default() },
            facts: Known::new(task, directory, around.parent.as_ref(), now),
            trail: (around.trail.iter().rev())
                .map(|entry| Step::new(entry, task, at, directory, now))
                .collect(),
            earlier: around
                .earlier
                .map(|seq| format!("{}?before={seq}#trail", paths::task(task.id))),
            then: around.last.map(|last| Then { at: When::new(head.at, now), seq: head.seq, last }),
            banner: told.map(|told| told.banner(task, directory, frame)),
            links: Links::new(task),
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
    let named = me.about().and_then(|about| about.time_zone.clone());
    named.unwrap_or_else(|| "UTC".to_owned())
}

impl Links {
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
            part: paths::part_of(task.id),
        }
    }
}

/// The stages of a task, with its progress.
fn steps(task: &Task) -> Vec<Stage> {
    let well = words_of::ended_well(task);
    let (here, label): (usize, &'static str) = match task.state {
        State::Created => (0, "Written down"),
        State::Assigned => (1, "Given to an agent"),
        State::InProgress if !task.reviews.is_empty() => (2, "In progress again"),
        State::InProgress => (2, "In progress"),
        State::Blocked => (2, "Waits for a decision"),
        State::ReviewReady => (3, "Delivered"),
        State::UnderReview => (4, "Being judged"),
        State::Accepted => (5, "Done"),
        State::Completed if well => (5, "Done"),
        State::Completed => (5, "Called off"),
        State::Rejected => (5, "Rejected"),
    };
    let reached = [
        true,
        !task.chain.is_empty() && task.run.is_some(),
        task.started_at.is_some(),
        !task.delivered.is_empty(),
        !task.reviews.is_empty(),
        task.state.is_over(),
    ];
    let names = ["Written down", "Given to an agent", "In progress", "Delivered", "Judged", "Done"];
    let stage = |(n, (name, reached)): (usize, (&'static str, bool))| {
        let (how, word) = match n {
            n if n == here => ("now", "now"),
            n if n < here && reached => ("done", "done"),
            n if n < here => ("skipped", "not needed"),
            _ => ("left", "to come"),
        };
        Stage { label: if n == here { label } else { name }, how, word }
    };
    names.into_iter().zip(reached).enumerate().map(stage).collect()
}

impl Decision {
    fn new(
        raised: &kernel::task::Raised,
        task: TaskId,
        asks: &[Ask],
        directory: &Directory,
        now: kernel::Time,
    ) -> Self {
        let ask = asks.iter().find(|ask| ask.id == raised.ask);
        let question = ask.and_then(|ask| ask.question.value());
        let (tone, mut outcome, over) = words_of::outcome(&raised.outcome, directory, now);
        let said = match &raised.outcome {
            Outcome::Resolved(resolution) => resolution.said.value(),
            Outcome::Pending | Outcome::Expired { .. } => None,
        };
        let beside = ask.and_then(|ask| ask.checkpoint.as_ref()?.beside.value());
        let proposed = beside.map_or(0, |beside| beside.proposed_actions.len());
        if let Some(said) = said.filter(|_| proposed > 0) {
            let allowed = said.approved_actions.len();
            outcome = format!("{outcome}, {allowed} of {proposed} actions allowed");
        }
        let said = said.and_then(|said| {
            let words = [&said.choice, &said.input, &said.comment];
            let words: Vec<&str> = words.into_iter().filter_map(|text| text.as_deref()).collect();
            (!words.is_empty()).then(|| Words::of(&words.join("\n")))
        });
        Self {
            href: ask.map_or_else(|| paths::task(task), |ask| paths::request(ask.id)),
            kind: words_of::checkpoint(raised.kind),
            prompt: question.map_or_else(
                || Words::of("A question that is not yours to read"),
                |question| Words::beginning(question.prompt(), 400),
            ),
            raised: match raised.raised_by {
                kernel::task::RaisedBy::Agent => words_of::party(directory, &raised.worker),
                kernel::task::RaisedBy::Human => "whoever answers for the task".to_owned(),
                kernel::task::RaisedBy::System => "Countersign".to_owned(),
            },
            at: When::new(raised.at, now),
            tone,
            outcome,
            over,
            said,
            open: matches!(raised.outcome, Outcome::Pending) && ask.is_some(),
            irreversible: ask.is_some_and(|ask| ask.is_irreversible()),
        }
    }
}

impl Known {
    fn new(task: &Task, directory: &Directory, parent: Option<&Task>, now: kernel::Time) -> Self {
        let name = |party: &Party| words_of::party(directory, party);
        let chain = task.chain.iter().map(|step| {
            let at = When::new(step.at, now);
            (name(&step.from), name(&step.to), words_of::handover(step.via), at)
        });
        let steering = task.steering.iter().map(|said| {
            let text = said.text.value().map_or_else(words::erased, |text| Words::of(text));
            (words_of::intent(said.intent), text, When::new(said.at, now))
        });
        let grants = task.permissions(now).map(|one| {
            let (grant, until) = (one.grant, words_of::until(&one, now));
            let may = words_of::leave(grant.decision);
            (may, Words::of(&grant.scope), until, When::new(grant.granted_at, now))
        });
        let inputs = task.spec.value().into_iter().flat_map(|spec| &spec.inputs);
        let inputs = inputs.map(|input| match input {
            kernel::task::Input::Artifact { id, version } => Words::of(&format!("{id} {version}")),
            kernel::task::Input::Resource { uri, .. } => Words::of(uri),
        });
        let reviewers: Vec<String> =
            task.reviewers().iter().map(|id| words::person(directory, id)).collect();
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
    task.checkpoints.iter().rev().take(DECISIONS).map(|raised| raised.ask).collect()
}
