//! The page of one request for the holder of its review link, in every state.

use askama::Template;
use kernel::directory::Directory;
use kernel::form::{Field, FieldKind};
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::verification::MOST;
use kernel::{Actor, Ask, Assurance, Time};
use serde::{Deserialize, Serialize};

use crate::answer::changes::ValueChange;
use crate::answer::outcome::OutcomeView;
use crate::answer_form::fields::{Control, RequirementMark};
use crate::answer_form::problem::{AUTHORIZATION_INPUTS, AnswerDraft, FormProblems, InputProblem};
use crate::answer_form::second_step::{SEALED_VALUES, SECOND_STEP_PROOF, SecondStep};
use crate::answer_form::steps::{self, PartialForm};
use crate::answer_form::submitted::{self, SubmittedForm};
use crate::answer_form::{AnswerForm, AnswerFormBody, AnswerFormContext, ProofStep};
use crate::banner::{ActionOutcome, Banner};
use crate::components::claims::SuggestedActionForm;
use crate::components::facts::FactValue;
use crate::question::QuestionView;
use crate::request::answering::AnsweringNote;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct ReviewPage<'a> {
    /// The request. The caller has checked that the token belongs to it.
    pub ask: &'a Ask,
    /// The id of the request in its URL.
    pub case_id: &'a str,
    /// The token that authorises the page's forms.
    pub token: &'a str,
    /// The actor that holds the token.
    pub holder: &'a Actor,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The step of a form to show, from 0.
    pub step: usize,
    /// The result of the person's last action.
    pub notice: Option<&'a ActionOutcome>,
    /// The values that were entered before.
    pub draft: Option<&'a AnswerDraft>,
    /// The confirmation in place of the answer form, if an answer is waiting for a proof.
    pub confirm: Option<&'a ProofStep>,
    /// The second step in place of the answer form.
    pub second: Option<&'a SecondStep>,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, review: &ReviewPage<'_>) -> String {
    render(&ReviewTemplate::new(frame, review))
}

/// The message on an open page when its request closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestClosed {
    /// The decision, as a heading.
    pub title: String,
    /// Who decided, and the consequences for the reader.
    pub text: Vec<String>,
}

/// How a request closed; `None` while it can be answered.
pub fn request_closed(ask: &Ask, directory: &Directory, now: Time) -> Option<RequestClosed> {
    let outcome = OutcomeView::of(ask, directory, now)?;
    let reply = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
    let how = match reply.map(|reply| &reply.answer).filter(|_| ask.revoked.is_none()) {
        Some(Answer::Approved { .. }) => "approved",
        Some(Answer::Rejected { .. }) => "rejected",
        Some(_) | None => "other",
    };
    let title = t!("review-closed", how = how, headline = outcome.headline);
    let text = [Some(outcome.sentence), outcome.next, Some(t!("review-closed-yours"))];
    Some(RequestClosed { title, text: text.into_iter().flatten().collect() })
}

/// The evidence that an answer through a link of this assurance gives, in plain words.
fn assurance_evidence(assurance: Assurance) -> String {
    if assurance >= Assurance::Link {
        t!("review-proves-address")
    } else {
        t!("review-proves-nothing")
    }
}

#[derive(Template)]
#[template(path = "review/review.html")]
struct ReviewTemplate<'a> {
    frame: &'a PageContext,
    case_id: &'a str,
    token: &'a str,
    href: String,
    /// The path of the event stream that reports the end, while the request can be answered here.
    watch: Option<String>,
    paper: QuestionView,
    place: String,
    banner: Option<Banner>,
    problems: &'a [InputProblem],
    outcome: Option<OutcomeView>,
    /// The evidence that an answer through this link gives.
    proves: String,
    /// The note if a person has just answered it.
    answering: Option<AnsweringNote>,
    /// The path to answer as a signed-in person, if the link alone is not enough.
    sign_in_href: Option<String>,
    card: Option<AnswerForm>,
    /// The form to pick one of the agent's actions, while that is possible.
    offer: Option<SuggestedActionForm>,
    /// Always `None`: holders of a link cannot comment.
    talk: Option<String>,
    confirm: Option<&'a ProofStep>,
    second: Option<&'a SecondStep>,
}

impl<'a> ReviewTemplate<'a> {
    fn new(frame: &'a PageContext, review: &ReviewPage<'a>) -> Self {
        let ReviewPage { ask, case_id, token, holder, directory, .. } = *review;
        let ReviewPage { step, notice, draft, confirm, second, .. } = *review;
        let now = frame.now;
        let outcome = OutcomeView::of(ask, directory, now);
        let open = outcome.is_none();
        let proven = ask.proven_by(holder, directory);
        let have = proven.map_or(Assurance::None, |(_, assurance)| assurance);
        let barred = open && ask.minimum_assurance > have;
        // While a held answer can still be undone, no one else can answer.
        let answering = AnsweringNote::of(ask, None, directory).filter(|_| open);
        let taken = barred || answering.is_some();
        let guarded = open && !taken && ask.approval_assurance() > have;
        let confirm = confirm.filter(|_| open && !taken);
        let second = second.filter(|_| open && !taken);
        let asked = open && !taken && confirm.is_none() && second.is_none();
        let card = ask.question.value().filter(|_| asked).map(|question| {
            let desk = AnswerFormContext::link(case_id, token, step);
            let card = AnswerForm::new(question, ask.needs_confirmation(), draft, desk);
            if !guarded {
                return card;
            }
            let because = if ask.is_irreversible() {
                t!("answer-irreversible")
            } else {
                t!("answer-critical")
            };
            card.with_sign_in(question, paths::request(ask.id), &because)
        });
        let lost =
            draft.filter(|_| !open).map(AnswerDraft::written_text).filter(|text| !text.is_empty());
        Self {
            frame,
            case_id,
            token,
            href: paths::review(case_id),
            watch: (card.is_some() || second.is_some() || answering.is_some())
                .then(|| paths::review_end(case_id)),
            paper: QuestionView::new(ask, now, open),
            place: if barred { t!("review-answers-signed-in") } else { t!("review-answers-link") },
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: match confirm {
                Some(confirm) => &confirm.problem.problems,
                None => {
                    draft.filter(|_| card.is_some()).map(AnswerDraft::problems).unwrap_or_default()
                }
            },
            offer: card.is_some().then(|| SuggestedActionForm {
                href: paths::review(case_id),
                proof: ("token", token.to_owned()),
            }),
            talk: None,
            proves: assurance_evidence(have),
            answering,
            sign_in_href: barred.then(|| paths::request(ask.id)),
            card,
            confirm,
            second,
            outcome,
        }
    }
}

// The unsent draft on a review page: one answer form, or a form with several steps.

/// Names that control the form and are not part of the draft.
const NON_DRAFT_INPUTS: [&str; 6] =
    ["action", "choose", "reject", "step", SECOND_STEP_PROOF, SEALED_VALUES];

/// The draft that is kept between two visits. It may contain secrets, so it is stored encrypted
/// and never printed.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ReviewDraft {
    /// The current step, from 0.
    pub step: usize,
    /// The entered values.
    #[serde(flatten)]
    pub form: SubmittedForm,
    /// The pressed button, while a proof of personhood is pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<(String, String)>,
    /// The proofs, by provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<(String, String)>,
}

impl ReviewDraft {
    /// Adds a proof. If there are too many, the oldest are dropped.
    pub fn add_proof(&mut self, proof: (String, String)) {
        self.proofs.retain(|held| *held != proof);
        self.proofs.push(proof);
        let extra = self.proofs.len().saturating_sub(MOST);
        self.proofs.drain(..extra);
    }

    /// The question and the answer that is waiting for a proof.
    pub fn pending_answer<'a>(&self, ask: &'a Ask) -> Option<(&'a Question, Reply)> {
        let question = ask.question.value().filter(|_| !self.awaiting.is_empty())?;
        let reply = submitted::reply(question, &self.submission()).ok()?;
        ask.verification.is_some().then_some((question, reply))
    }

    /// Merges a submitted form. A submitted step replaces the kept values of that step. Its secrets
    /// and uploads stay if the submission has none, because a page cannot show them again.
    pub fn merge(&mut self, question: &Question, sent: SubmittedForm) {
        let QuestionBody::Provide { form } = question.body() else {
            let entered = |(name, _): &(String, String)| {
                !AUTHORIZATION_INPUTS.contains(&name.as_str())
                    && !NON_DRAFT_INPUTS.contains(&name.as_str())
            };
            self.form.pairs = sent.pairs.into_iter().filter(entered).collect();
            return;
        };
        let step = sent.value("step").and_then(|n| n.parse().ok()).unwrap_or(self.step);
        self.step = step;
        for field in steps::fields(form, step) {
            self.merge_field(field, &sent);
        }
    }

    fn merge_field(&mut self, field: &Field, sent: &SubmittedForm) {
        let name = format!("field.{}", field.key());
        if let Some((_, file)) = sent.files.iter().rfind(|(of, _)| *of == name) {
            self.form.files.retain(|(of, _)| *of != name);
            self.form.files.push((name, file.clone()));
            return;
        }
        let values: Vec<&str> = sent.values(&name).collect();
        let stays = if field.is_sensitive() {
            values.iter().all(|value| value.is_empty())
        } else {
            // No ticked checkbox is an answer; any other control without a value was not
            // on the page.
            values.is_empty() && !matches!(field.kind(), FieldKind::Multiselect(_))
        };
        if !stays {
            self.form.pairs.retain(|(of, _)| *of != name);
            if values.is_empty() {
                // An empty selection is kept as an empty value; otherwise the default would return.
                self.form.pairs.push((name.clone(), String::new()));
            }
            self.form.pairs.extend(values.iter().map(|value| (name.clone(), (*value).to_owned())));
        }
    }

    /// Records which button was pressed. Proofs for another button do not count for it.
    pub fn await_proof(&mut self, sent: &SubmittedForm) {
        let pressed =
            |(name, _): &&(String, String)| matches!(name.as_str(), "action" | "choose" | "reject");
        let awaiting: Vec<_> = sent.pairs.iter().filter(pressed).cloned().collect();
        if awaiting != self.awaiting {
            self.proofs.clear();
        }
        self.awaiting = awaiting;
    }

    /// All entered values, with the pressed button.
    pub fn submission(&self) -> SubmittedForm {
        let mut whole = self.form.clone();
        whole.pairs.extend(self.awaiting.iter().cloned());
        whole
    }

    /// Whether the draft is empty.
    pub fn is_empty(&self) -> bool {
        self.form.pairs.is_empty() && self.form.files.is_empty()
    }

    /// The draft as the page shows it, with its problem.
    pub fn draft(&self, question: &Question, problem: FormProblems) -> AnswerDraft {
        AnswerDraft::new(question, &self.form, problem).with_kept_values(question, &self.form)
    }

    /// The step to show in place of this one: the next step that applies.
    pub fn nearest_step(&self, question: &Question, step: usize) -> usize {
        match (question.body(), self.filled(question)) {
            (QuestionBody::Provide { form }, Some(filled)) => {
                steps::nearest_step(form, &filled, step)
            }
            _ => 0,
        }
    }

    /// The form with its current values; `None` for other kinds of questions.
    pub fn filled(&self, question: &Question) -> Option<PartialForm> {
        let QuestionBody::Provide { form } = question.body() else { return None };
        let values =
            if self.is_empty() { form.defaults() } else { submitted::values(form, &self.form) };
        Some(PartialForm::new(form, &values))
    }
}
