//! The page of one request, in every state.

pub mod answering;
pub mod claim;
pub mod related;
pub mod timeline;

use askama::Template;
use kernel::ask::Route;
use kernel::directory::{Directory, Human};
use kernel::follow_up::NotificationReason;
use kernel::form::FileRef;
use kernel::question::Answer;
use kernel::text::reveal;
use kernel::{Ask, HumanId, Task, Time};

use crate::answer::changes::ValueChange;
use crate::answer::outcome::OutcomeView;
use crate::answer_form::fields::{Control, RequirementMark};
use crate::answer_form::problem::{AnswerDraft, InputProblem};
use crate::answer_form::second_step::SecondStep;
use crate::answer_form::{AnswerForm, AnswerFormBody, AnswerFormContext};
use crate::banner::{ActionOutcome, Banner};
use crate::components::claims::SuggestedActionForm;
use crate::components::facts::FactValue;
use crate::components::relative_time::RelativeTime;
use crate::components::task_labels::{goal, state};
use crate::components::wording::{self, VisibleText};
use crate::question::QuestionView;
use crate::request::answering::AnsweringNote;
use crate::request::claim::{ClaimNote, OVER};
use crate::request::related::{RequestContext, RequestContextView};
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct RequestPage<'a> {
    /// The request. The caller has checked that `me` may see it.
    pub ask: &'a Ask,
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The people it can be reassigned to; empty if there are none.
    pub people: &'a [HumanId],
    /// The result of the person's last action.
    pub notice: Option<&'a ActionOutcome>,
    /// The entered values of an answer that was refused.
    pub draft: Option<&'a AnswerDraft>,
    /// The related requests and activity.
    pub around: &'a RequestContext,
    /// The second step, shown in place of the answer form.
    pub step: Option<&'a SecondStep>,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, request: &RequestPage<'_>) -> String {
    render(&RequestTemplate::new(frame, request))
}

#[derive(Template)]
#[template(path = "request/request.html")]
struct RequestTemplate<'a> {
    frame: &'a PageContext,
    id: String,
    paper: QuestionView,
    place: String,
    links: RequestLinks,
    around: RequestContextView,
    task: Option<&'a RequestTask>,
    trail: Vec<timeline::RequestTimelineRow>,
    more_trail: bool,
    proof: Option<&'a ReceiptView>,
    files: Vec<(String, String)>,
    step: Option<&'a SecondStep>,
    /// Whether the reader can extend the deadline.
    extendable: bool,
    open: bool,
    banner: Option<Banner>,
    problems: &'a [InputProblem],
    outcome: Option<OutcomeView>,
    /// The note if another person has claimed it.
    claim: Option<ClaimNote>,
    /// The note if a person has just answered it.
    answering: Option<AnsweringNote>,
    card: Option<AnswerForm>,
    /// The form to pick one of the agent's actions, while that is possible.
    offer: Option<SuggestedActionForm>,
    /// The path to answer the agent's questions.
    talk: Option<String>,
    claim_href: Option<String>,
    people: Vec<(String, String)>,
}

/// The paths of the page's forms and streams.
struct RequestLinks {
    assign: String,
    comment: String,
    extend: String,
    snooze: String,
    looking: String,
    end: String,
    receipt: String,
    here: String,
}

impl RequestLinks {
    fn of(ask: &Ask) -> Self {
        let id = ask.id;
        Self {
            assign: paths::assign(id),
            comment: paths::comment(id),
            extend: paths::extend(id),
            snooze: paths::snooze(id),
            looking: paths::looking(id),
            end: paths::request_end(id, ask.claim.as_ref().map(|claim| &claim.human)),
            receipt: paths::receipt(id),
            here: paths::request(id),
        }
    }
}

impl<'a> RequestTemplate<'a> {
    fn new(frame: &'a PageContext, request: &RequestPage<'a>) -> Self {
        let RequestPage { ask, me, directory, people, notice, draft, around, step } = *request;
        let now = frame.now;
        let question = ask.question.value();
        let outcome = OutcomeView::of(ask, directory, now);
        let open = outcome.is_none() && question.is_some();
        // While a held answer can still be undone, no one else can answer, not even the owner.
        let answering = ask.held_by().filter(|_| open);
        let mine = answering == Some(&me.id);
        let mine_said = ask.held.as_ref().filter(|_| mine).and_then(|held| held.vote.reply.value());
        let held = ask.claimed_by_other(me).filter(|_| me.id != ask.owner).or(answering);
        let desk = AnswerFormContext::inbox(ask.id, frame);
        let card = question
            .filter(|_| open && held.is_none() && step.is_none() && ask.may_be_answered_by(me))
            .map(|question| AnswerForm::new(question, ask.needs_confirmation(), draft, desk));
        let name = |id: &HumanId| (id.to_string(), wording::person_name(directory, id));
        let carried = |step: &SecondStep| {
            step.hidden.iter().find(|(name, _)| name == OVER).map(|(_, value)| value.clone())
        };
        let over = step.and_then(carried).or_else(|| draft?.value(OVER).map(str::to_owned));
        let over = over.as_deref();
        let lost =
            draft.filter(|_| !open).map(AnswerDraft::written_text).filter(|text| !text.is_empty());
        Self {
            frame,
            id: ask.id.to_string(),
            paper: QuestionView::new(ask, now, outcome.is_none()).answered_with(mine_said),
            place: assignment_reason(ask, me, directory),
            links: RequestLinks::of(ask),
            around: RequestContextView::new(around, ask, me, directory, now),
            task: around.task.as_ref(),
            trail: (around.trail.entries.iter())
                .map(|entry| timeline::RequestTimelineRow::new(entry, question, directory, now))
                .collect(),
            more_trail: around.trail.more,
            proof: around.proof.as_ref(),
            files: files(ask),
            step: step.filter(|_| open && held.is_none()),
            extendable: open && held.is_none() && ask.expires_at.is_some(),
            open,
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: draft
                .filter(|_| card.is_some())
                .map(AnswerDraft::problems)
                .unwrap_or_default(),
            claim: ClaimNote::of(ask, me, directory, over, step.is_some()).filter(|_| open),
            answering: AnsweringNote::of(ask, Some(&me.id), directory).filter(|_| open),
            claim_href: (open && held.is_none() && ask.claim.is_none() && ask.is_pooled())
                .then(|| paths::claim(ask.id)),
            offer: card.is_some().then(|| SuggestedActionForm {
                href: paths::pick(ask.id),
                proof: ("csrf", frame.csrf.clone()),
            }),
            talk: card.is_some().then(|| paths::comment(ask.id)),
            people: if card.is_some() { people.iter().map(name).collect() } else { Vec::new() },
            card,
            outcome,
        }
    }

    /// Whether a person started it, so that there is no question from the agent.
    fn begun(&self) -> bool {
        self.around.talk.as_ref().is_some_and(|talk| talk.begun)
    }

    /// Whether the reader has answered it and can still undo that.
    fn mine(&self) -> bool {
        self.answering.as_ref().is_some_and(AnsweringNote::is_mine)
    }

    /// The number of waiting requests, before the title of the browser tab.
    fn count(&self) -> String {
        self.frame.waiting.filter(|n| *n > 0).map(|n| format!("({n}) ")).unwrap_or_default()
    }
}

/// The uploaded files of an answer, with their paths.
fn files(ask: &Ask) -> Vec<(String, String)> {
    let reply = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
    let Some(Answer::Provided { values }) = reply.map(|reply| &reply.answer) else {
        return Vec::new();
    };
    let file = |(_, value): (&str, &serde_json::Value)| {
        let file: FileRef = serde_json::from_value(value.clone()).ok()?;
        let name = VisibleText::of(file.name());
        let shown = t!("answer-file", name = name, bytes = file.size());
        Some((shown, paths::file(ask.id, file.sha256())))
    };
    values.iter().filter_map(file).collect()
}

/// Why this person sees the request.
fn assignment_reason(ask: &Ask, me: &Human, directory: &Directory) -> String {
    if ask.starts_conversation() {
        return t!("request-answers-agent");
    }
    match &ask.claim {
        Some(claim) if claim.human == me.id => return t!("request-answers-me"),
        Some(claim) => {
            let name = wording::person_name(directory, &claim.human);
            return t!("request-answers-claimed", name = name);
        }
        None => {}
    }
    match &ask.route {
        Route::Pool { group: None } => t!("request-answers-pool"),
        Route::Pool { group: Some(group) } => {
            t!("request-answers-group", group = group.to_string())
        }
        Route::Owner | Route::Delegate | Route::Person { .. } if ask.owner == me.id => {
            t!("request-answers-owner")
        }
        Route::Owner | Route::Delegate | Route::Person { .. } => {
            t!("request-answers-picked", owner = wording::person_name(directory, &ask.owner))
        }
    }
}

// The task that a request belongs to.

/// The task of a request, as the page of the request shows it.
#[derive(Debug, Clone)]
pub struct RequestTask {
    /// The path of its room.
    pub href: String,
    pub goal: VisibleText,
    pub state: String,
    /// Whether the answer reviews a delivery of the task. Otherwise the task waits for the answer.
    pub reviews: bool,
}

impl RequestTask {
    /// The task as the page of this request shows it.
    pub fn new(task: &Task, ask: &Ask) -> Self {
        Self {
            href: paths::task(task.id),
            goal: goal(task),
            state: state(task),
            reviews: ask.review.is_some(),
        }
    }
}

// The receipt on the page of a closed request, and the result of verifying it.

/// The receipt of a closed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptView {
    /// The receipt exists.
    Signed {
        /// The id of the receipt.
        id: String,
        /// The result, if the person requested a verification.
        checked: Option<ReceiptVerification>,
    },
    /// The request's text was erased, so its receipt can no longer be created.
    Erased,
}

/// The result of verifying a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptVerification {
    /// The individual checks.
    pub lines: Vec<ReceiptCheck>,
    /// The statements of the receipt, as sentences.
    pub words: Vec<String>,
}

/// One check of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptCheck {
    pub found: CheckResult,
    /// The check as a sentence.
    pub text: String,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    Holds,
    /// It cannot be checked yet.
    Later,
    Fails,
}

impl CheckResult {
    /// The style class.
    pub fn tone(self) -> &'static str {
        match self {
            Self::Holds => "yes",
            Self::Later => "over",
            Self::Fails => "no",
        }
    }

    /// The same as a word, for screen readers.
    pub fn word(self) -> String {
        match self {
            Self::Holds => t!("check-holds"),
            Self::Later => t!("check-later"),
            Self::Fails => t!("check-fails"),
        }
    }
}

impl ReceiptVerification {
    /// Adds a check.
    pub fn add_check(&mut self, found: CheckResult, text: impl Into<String>) {
        self.lines.push(ReceiptCheck { found, text: text.into() });
    }

    /// Whether no check failed.
    pub fn holds(&self) -> bool {
        self.lines.iter().all(|line| line.found != CheckResult::Fails)
    }
}

// The notifications about a request: their channel, their time, and whether they arrived.

#[derive(Debug, Clone)]
pub struct NotificationRecord {
    /// The channel: `slack`, `email`.
    pub medium: String,
    /// The recipient; `None` if the agent named an address.
    pub human: Option<HumanId>,
    pub occasion: NotificationReason,
    /// When the first attempt was made.
    pub at: Time,
    pub status: NotificationStatus,
}

/// The delivery status of a notification.
#[derive(Debug, Clone)]
pub enum NotificationStatus {
    /// The platform has not accepted it yet; the server will retry.
    Waiting { error: String },
    /// The platform accepted it.
    Sent,
    /// It arrived on a device.
    Delivered,
    /// The person opened it.
    Read,
    /// It did not arrive, and the server will not retry.
    Failed { error: String },
}

/// A notification, as the page shows it.
#[derive(Debug, Clone)]
pub struct NotificationRow {
    /// The channel and the recipient: "Slack, Ada Lovelace".
    pub what: String,
    /// The status in a word: "sent", "read", "failed".
    pub state: String,
    pub failed: bool,
    /// The reason of a failure.
    pub error: Option<String>,
    /// When the first attempt was made.
    pub at: RelativeTime,
}

impl NotificationRow {
    /// The notification for a reader who may see the request.
    pub fn new(message: &NotificationRecord, directory: &Directory, now: Time) -> Self {
        let whom = match &message.human {
            Some(human) => wording::person_name(directory, human),
            None => t!("notified-address"),
        };
        let channel = channel_label(&message.medium);
        let what = match message.occasion {
            NotificationReason::Asked => t!("notified-asked", channel = channel, who = whom),
            NotificationReason::Assigned => t!("notified-assigned", channel = channel, who = whom),
            NotificationReason::Reminder => t!("notified-reminder", channel = channel, who = whom),
            NotificationReason::Escalated => {
                t!("notified-escalated", channel = channel, who = whom)
            }
        };
        let (state, error) = match &message.status {
            NotificationStatus::Waiting { error } => (t!("notified-waiting"), Some(error)),
            NotificationStatus::Sent => (t!("notified-sent"), None),
            NotificationStatus::Delivered => (t!("notified-delivered"), None),
            NotificationStatus::Read => (t!("notified-read"), None),
            NotificationStatus::Failed { error } => (t!("notified-failed"), Some(error)),
        };
        Self {
            what,
            state,
            failed: error.is_some(),
            error: error.filter(|error| !error.is_empty()).map(|error| reveal(error)),
            at: RelativeTime::new(message.at, now),
        }
    }
}

/// The display name of a channel.
pub fn channel_label(medium: &str) -> String {
    match medium {
        "email" => t!("channel-email"),
        "sms" => t!("channel-sms"),
        "devices" => t!("channel-device"),
        "slack" => "Slack".to_owned(),
        "whatsapp" => "WhatsApp".to_owned(),
        "telegram" => "Telegram".to_owned(),
        "webhook" => "Webhook".to_owned(),
        other => other.to_owned(),
    }
}
