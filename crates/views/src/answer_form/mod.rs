//! The answer form: the possible answers to each kind of question. Every button names its effect.

pub mod edits;
pub mod fields;
pub mod prefill;
pub mod problem;
pub mod second_step;
pub mod steps;
pub mod submitted;

use kernel::AskId;
use kernel::ask::Ask;
use kernel::form::{FieldKind, Form};
use kernel::question::{Choice, PickMode, Question, QuestionBody, Reply};
use url::Url;

use crate::PageContext;
use crate::answer::outcome;
use crate::answer_form::edits::Edits;
use crate::answer_form::fields::{Control, ControlOption, FieldView, StepView};
use crate::answer_form::problem::{AnswerDraft, FormProblems, ProblemLocation};
use crate::answer_form::steps::Stepper;
use crate::answer_form::submitted::{EDITS, PARAMS};
use crate::components::wording::{self, VisibleText, subject};
use crate::site::paths;

/// The label of an approval with edits, because the question shows the old values.
pub fn with_changes() -> String {
    t!("answer-approve-with-changes")
}

/// Up to this many options get one button each.
const FEW: usize = 6;

/// The context of an answer form: the inbox of a signed-in person, or a review link.
#[derive(Debug, Clone)]
pub struct AnswerFormContext {
    pub href: String,
    /// The name and value of the hidden input that authorises the form; it is the first input.
    pub proof: (&'static str, String),
    /// The key under which the browser stores the unsent form.
    pub keep: String,
    /// With a link, forms have one page per step and the server keeps the draft: the step to
    /// show, from 0.
    pub link: Option<usize>,
}

impl AnswerFormContext {
    /// The context of the inbox.
    pub fn inbox(id: AskId, frame: &PageContext) -> Self {
        let proof = ("csrf", frame.csrf.clone());
        Self { href: paths::answer(id), proof, keep: id.to_string(), link: None }
    }

    /// The context of a review link.
    pub fn link(case_id: &str, token: &str, step: usize) -> Self {
        Self {
            href: paths::review(case_id),
            proof: ("token", token.to_owned()),
            keep: format!("{case_id}.{step}"),
            link: Some(step),
        }
    }
}

/// The answer form.
#[derive(Debug, Clone)]
pub struct AnswerForm {
    pub desk: AnswerFormContext,
    /// The kind of answer, as a heading.
    pub heading: String,
    /// Whether it contains file uploads.
    pub multipart: bool,
    /// The controls above the buttons.
    pub body: AnswerFormBody,
    /// The buttons, the affirmative one first.
    pub buttons: Vec<AnswerButton>,
    /// The buttons that do not answer yet.
    pub minor: Vec<AnswerButton>,
    /// A button that cannot be undone, set apart.
    pub apart: Option<AnswerButton>,
    /// Secrets and uploads that were entered before, sealed.
    pub held: Option<String>,
    /// The comment field; a conversation has a reply field instead.
    pub comment: Option<CommentField>,
    /// The sign-in link that replaces the buttons that let the agent proceed.
    pub sign_in: Option<SignInPrompt>,
}

/// The sign-in link for answers that a review link alone does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInPrompt {
    pub href: String,
    pub label: String,
    /// The reason, and what it means.
    pub why: String,
}

/// The part of the form that depends on the kind of question.
#[derive(Debug, Clone)]
pub enum AnswerFormBody {
    /// The question needs no input besides a button press.
    Buttons {
        /// The problem with the button that was pressed before.
        error: Option<String>,
    },
    /// Values that the person may change first.
    Edits(Edits),
    /// Options to pick from.
    Options {
        /// The problem with the choice.
        error: Option<String>,
        /// Radio buttons or checkboxes.
        control: Control,
        /// The id of the option that the agent suggests.
        suggested: Option<String>,
    },
    /// The fields of a form.
    Form {
        /// All steps below each other, or only one.
        steps: Vec<StepView>,
        /// The position of that one step.
        stepper: Option<Stepper>,
    },
    /// The items of a confirmation.
    Items(Vec<ConfirmationItem>),
    /// A free reply.
    Reply {
        /// The text entered before.
        value: String,
        /// The problem with the text.
        error: Option<String>,
    },
}

/// One item of a confirmation.
#[derive(Debug, Clone)]
pub struct ConfirmationItem {
    pub label: VisibleText,
    /// An explanation of the item.
    pub note: Option<VisibleText>,
}

/// The comment field.
#[derive(Debug, Clone)]
pub struct CommentField {
    pub label: String,
    /// When a comment is required.
    pub hint: String,
    /// The text entered before.
    pub value: String,
    /// The problem with the text.
    pub error: Option<String>,
}

/// A button of the form.
#[derive(Debug, Clone)]
pub struct AnswerButton {
    /// The style class. It follows the consequence, not the verb: `danger` lets the agent do
    /// something destructive, `yes` and `primary` let it proceed, `safe` stops it, `plain` is
    /// one of several.
    pub tone: &'static str,
    pub name: &'static str,
    pub value: String,
    /// The action, in the server's words.
    pub verb: String,
    /// The object of the action, often in the agent's words.
    pub object: Option<VisibleText>,
    /// The consequence of pressing it.
    pub consequence: Option<VisibleText>,
    /// Whether it works on an incomplete form.
    pub anyway: bool,
    /// Whether the agent suggests it.
    pub suggested: bool,
}

impl AnswerButton {
    pub(crate) fn act(tone: &'static str, value: &str, verb: impl Into<String>) -> Self {
        Self {
            tone,
            name: "action",
            value: value.to_owned(),
            verb: verb.into(),
            object: None,
            consequence: None,
            anyway: false,
            suggested: false,
        }
    }

    /// A button with only the agent's label.
    fn labelled(tone: &'static str, value: &str, label: &str) -> Self {
        Self::act(tone, value, "").with_object(Some(VisibleText::of(label)))
    }

    /// A button that does not answer yet.
    fn minor(value: &str, verb: impl Into<String>) -> Self {
        Self { anyway: true, ..Self::act("quiet", value, verb) }
    }

    fn with_object(mut self, object: Option<VisibleText>) -> Self {
        self.object = object;
        self
    }

    pub(crate) fn with_consequence(mut self, consequence: &str) -> Self {
        self.consequence = Some(VisibleText::of(consequence));
        self
    }
}

/// Several things of which one is enough: "A or B".
pub(crate) fn one_of(things: impl Iterator<Item = String>) -> String {
    let either = |first: String, second: String| t!("answer-or", first = first, second = second);
    things.reduce(either).unwrap_or_default()
}

/// The value of the button that closes a request without an answer.
pub const CLOSE: &str = "close";

impl AnswerForm {
    /// The form for a question, with the values entered before. `careful` says that the ask needs a
    /// confirmation, so the buttons that let the agent proceed are marked as dangerous.
    pub fn new(
        question: &Question,
        careful: bool,
        draft: Option<&AnswerDraft>,
        desk: AnswerFormContext,
    ) -> Self {
        let risky = |label: &str| careful || wording::is_destructive(label);
        let go = if risky(question.prompt()) { "danger" } else { "yes" };
        let typed = |name: &str| draft.and_then(|draft| draft.value(name)).unwrap_or("").to_owned();
        let error = |place: ProblemLocation| {
            draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned)
        };
        // Only an approval supports a request for changes; other questions are answered
        // with a comment.
        let changes = matches!(question.body(), QuestionBody::Approve { .. });
        let mut card = Self {
            heading: t!("answer-heading"),
            multipart: false,
            body: AnswerFormBody::Buttons { error: None },
            buttons: Vec::new(),
            minor: Vec::new(),
            apart: None,
            held: draft.and_then(|draft| draft.sealed().map(str::to_owned)),
            comment: Some(CommentField {
                label: t!("answer-comment"),
                hint: if changes {
                    t!("answer-comment-for-changes")
                } else {
                    t!("answer-comment-optional")
                },
                value: typed("comment"),
                error: error(ProblemLocation::Comment),
            }),
            sign_in: None,
            desk,
        };
        match question.body() {
            QuestionBody::Approve { details, editable, reject_requires_reason, reject_options } => {
                let (summary, hint) = if editable.is_any() {
                    (t!("answer-edit"), t!("answer-edit-hint"))
                } else {
                    (t!("answer-propose"), t!("answer-propose-hint"))
                };
                let open = editable.offered(details);
                if !open.is_empty() {
                    let mut edits =
                        Edits::new(&open, editable.form(), (EDITS, &summary, &hint), draft);
                    if edits.fields.iter().all(FieldView::is_ticked) {
                        edits.summary = t!("answer-leave-out");
                        edits.hint = t!("answer-leave-out-hint");
                    }
                    card.body = AnswerFormBody::Edits(Edits { taken: editable.is_any(), ..edits });
                }
                let edited = matches!(
                    &card.body,
                    AnswerFormBody::Edits(edits) if edits.taken && edits.touched
                );
                if let (true, Some(comment)) = (*reject_requires_reason, &mut card.comment) {
                    comment.label = t!("answer-reason");
                    comment.hint = t!("answer-reason-needed");
                }
                let yes = match subject(question.prompt()) {
                    // The question shows the values before the change.
                    _ if edited => AnswerButton::act(go, "approve", with_changes()),
                    Some(subject) => AnswerButton::act(go, "approve", t!("answer-approve-subject"))
                        .with_object(Some(subject)),
                    None => AnswerButton::act(go, "approve", t!("answer-approve-request")),
                };
                card.buttons = approval(yes, reject_options);
            }
            QuestionBody::Choose { options, pick, suggested } => {
                let options = (options.choices(), suggested.as_deref());
                choose(&mut card, options, *pick, go, draft);
            }
            QuestionBody::Provide { form } => provide(&mut card, form, go, draft),
            QuestionBody::Confirm { items, yes, no } => {
                card.heading = t!("answer-confirm");
                if !items.is_empty() {
                    card.body =
                        AnswerFormBody::Items(items.iter().map(ConfirmationItem::from).collect());
                }
                let go = match wording::is_destructive(no) {
                    // The agent swapped the buttons: "no" is destructive, so "yes" is harmless.
                    true if !wording::is_destructive(yes) => "plain",
                    _ if go == "danger" || risky(yes) => "danger",
                    _ => "primary",
                };
                let (go, stop) = if wording::are_protocol_labels(yes, no) {
                    // The protocol's own labels: "Cancel" alone could be read as
                    // cancelling the order.
                    (
                        AnswerButton::act(go, "confirm", wording::go_ahead()),
                        AnswerButton::act("safe", "decline", wording::do_not_go_ahead()),
                    )
                } else {
                    let stop = if wording::is_destructive(no) { "danger" } else { "safe" };
                    (
                        AnswerButton::labelled(go, "confirm", yes),
                        AnswerButton::labelled(stop, "decline", no),
                    )
                };
                card.buttons = if items.is_empty() {
                    vec![go, stop]
                } else {
                    vec![
                        go.with_consequence(&t!("answer-confirm-effect")),
                        stop.with_consequence(&t!("answer-decline-effect")),
                    ]
                };
            }
            QuestionBody::Escalate { params, .. } => {
                card.heading = t!("answer-escalate");
                if !params.is_empty() {
                    let summary = t!("answer-edit-parameters");
                    let hint = t!("answer-edit-parameters-hint");
                    let edits = Edits::new(params, None, (PARAMS, &summary, &hint), draft);
                    card.body = AnswerFormBody::Edits(edits);
                }
                card.buttons = vec![
                    AnswerButton::act(go, "retry", t!("answer-retry"))
                        .with_consequence(&t!("answer-retry-effect")),
                    AnswerButton::act("plain", "skip", t!("answer-skip"))
                        .with_consequence(&t!("answer-skip-effect")),
                ];
                let abort = AnswerButton::act("grave", "abort", t!("answer-abort"));
                card.apart = Some(abort.with_consequence(&t!("answer-abort-effect")));
            }
            QuestionBody::Converse => {
                card.heading = t!("answer-reply");
                card.comment = None;
                card.body = AnswerFormBody::Reply {
                    value: typed("reply"),
                    error: error(ProblemLocation::Reply),
                };
                let send = AnswerButton::act(go, "reply", t!("answer-reply-send"));
                card.buttons.push(send.with_consequence(&t!("answer-reply-effect")));
            }
        }
        if changes {
            let changes = AnswerButton::minor("changes", t!("answer-request-changes"));
            card.minor.push(changes.with_consequence(&t!("answer-request-changes-effect")));
        }
        // These questions have no "no" button. With a link, every question has a separate
        // button to decline.
        let declinable =
            matches!(question.body(), QuestionBody::Choose { .. } | QuestionBody::Provide { .. });
        if declinable && card.desk.link.is_none() {
            let close = AnswerButton::minor(CLOSE, t!("answer-close"));
            card.minor.push(close.with_consequence(&t!("answer-close-effect")));
        }
        card
    }

    /// The form for a link that does not allow the answers that let the agent proceed. A sign-in
    /// link replaces them. The buttons that stop the agent, or return the request to it, stay.
    /// `because` is the reason, as in "This can't be undone."
    #[must_use]
    pub fn with_sign_in(mut self, question: &Question, href: String, because: &str) -> Self {
        let (label, only) = match question.body() {
            QuestionBody::Approve { .. } => {
                (t!("answer-sign-in-approve"), t!("answer-only-signed-in-approve"))
            }
            QuestionBody::Confirm { .. } => {
                (t!("answer-sign-in-confirm"), t!("answer-only-signed-in-confirm"))
            }
            QuestionBody::Choose { .. }
            | QuestionBody::Provide { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => {
                (t!("answer-sign-in-answer"), t!("answer-only-signed-in-answer"))
            }
        };
        let why = format!("{because} {only}");
        self.sign_in = Some(SignInPrompt { href, label, why });
        match question.body() {
            QuestionBody::Approve { .. } => {
                self.buttons.retain(|button| button.value != "approve" || button.name != "action");
                if let AnswerFormBody::Edits(edits) = &mut self.body {
                    // The person can still suggest other values with a request for changes.
                    edits.taken = false;
                    edits.summary = t!("answer-propose");
                    edits.hint = t!("answer-propose-hint");
                }
            }
            QuestionBody::Confirm { .. } => self.buttons.retain(|button| button.value == "decline"),
            QuestionBody::Escalate { .. } => {
                self.buttons.clear();
                self.body = AnswerFormBody::Buttons { error: None };
            }
            QuestionBody::Choose { options, .. } => {
                self.buttons.clear();
                self.body = AnswerFormBody::Items(
                    options.choices().iter().map(ConfirmationItem::from).collect(),
                );
                self.comment = None;
            }
            QuestionBody::Provide { .. } | QuestionBody::Converse => {
                self.heading = t!("answer-heading");
                self.buttons.clear();
                self.minor.clear();
                self.body = AnswerFormBody::Buttons { error: None };
                self.comment = None;
                self.multipart = false;
            }
        }
        self
    }
}

fn provide(card: &mut AnswerForm, form: &Form, go: &'static str, draft: Option<&AnswerDraft>) {
    card.heading = t!("answer-fill-in");
    card.multipart = form.fields().any(|field| matches!(field.kind(), FieldKind::File));
    let send = AnswerButton::act(go, "provide", t!("answer-provide"))
        .with_consequence(&t!("answer-provide-effect"));
    let Some(step) = card.desk.link else {
        card.body = AnswerFormBody::Form { steps: fields::steps(form, draft), stepper: None };
        card.buttons.push(send);
        return;
    };
    // The reply contains only the form, so there is no comment.
    card.comment = None;
    let (view, stepper) = steps::view(form, step, draft);
    // The next step may depend on the values of this one.
    let next = AnswerButton::act("yes", "next", t!("answer-continue"));
    card.buttons.push(if stepper.is_last { send } else { next });
    if let Some(back) = &stepper.back {
        let back = Some(back.clone());
        card.minor.push(AnswerButton::minor("back", t!("answer-back")).with_object(back));
    }
    let save = AnswerButton::minor("save", t!("answer-save"));
    card.minor.push(save.with_consequence(&t!("answer-save-effect")));
    let stepper = (stepper.total > 1).then_some(stepper);
    card.body = AnswerFormBody::Form { steps: vec![view], stepper };
}

/// A "yes" button, a "no" button for each reason that the agent offers, and a "no" button with
/// another reason or none.
fn approval(yes: AnswerButton, reasons: &[Choice]) -> Vec<AnswerButton> {
    let reason = |choice: &Choice| AnswerButton {
        name: "reject",
        consequence: choice.description.as_deref().map(VisibleText::of),
        ..AnswerButton::act("safe", &choice.id, t!("answer-reject-reason"))
            .with_object(Some(VisibleText::of(&choice.label)))
    };
    let no = AnswerButton::act("safe", "reject", t!("answer-reject-request"));
    [yes.with_consequence(&t!("answer-approve-effect"))]
        .into_iter()
        .chain(reasons.iter().map(reason))
        .chain([no.with_consequence(&t!("answer-reject-effect"))])
        .collect()
}

fn choose(
    card: &mut AnswerForm,
    (choices, suggested): (&[Choice], Option<&str>),
    pick: PickMode,
    go: &'static str,
    draft: Option<&AnswerDraft>,
) {
    let pickable = |choice: &Choice| ControlOption {
        value: choice.id.clone(),
        label: VisibleText::of(&choice.label),
        note: choice.description.as_deref().map(VisibleText::of),
        checked: draft.is_some_and(|draft| draft.is_selected("option", &choice.id)),
    };
    let all = || choices.iter().map(pickable).collect::<Vec<_>>();
    let error =
        draft.and_then(|draft| draft.problem_at(&ProblemLocation::Choice)).map(str::to_owned);
    match pick {
        PickMode::One if choices.len() <= FEW => {
            card.heading = t!("answer-choose-one");
            card.body = AnswerFormBody::Buttons { error };
            card.buttons = choices
                .iter()
                .map(|choice| AnswerButton {
                    // Only its label shows whether an option is destructive.
                    tone: if wording::is_destructive(&choice.label) { "danger" } else { "plain" },
                    name: "choose",
                    value: choice.id.clone(),
                    verb: t!("answer-choose-option"),
                    object: Some(VisibleText::of(&choice.label)),
                    consequence: choice.description.as_deref().map(VisibleText::of),
                    anyway: false,
                    suggested: suggested == Some(choice.id.as_str()),
                })
                .collect();
        }
        PickMode::One => {
            card.heading = t!("answer-choose-one");
            let suggested = suggested.map(str::to_owned);
            card.body =
                AnswerFormBody::Options { error, control: Control::Radios(all()), suggested };
            let send = AnswerButton::act(go, "choose", t!("answer-submit"));
            card.buttons.push(send.with_consequence(&t!("answer-submit-option-effect")));
        }
        PickMode::Many => {
            card.heading = t!("answer-choose-many");
            let suggested = suggested.map(str::to_owned);
            card.body =
                AnswerFormBody::Options { error, control: Control::Checks(all()), suggested };
            let send = AnswerButton::act(go, "choose", t!("answer-submit"));
            card.buttons.push(send.with_consequence(&t!("answer-submit-options-effect")));
        }
    }
}

impl From<&Choice> for ConfirmationItem {
    fn from(choice: &Choice) -> Self {
        let note = choice.description.as_deref().map(VisibleText::of);
        Self { label: VisibleText::of(&choice.label), note }
    }
}

// The step before an answer is sent if the agent requires a proof that a person gives it.

/// The prefix of the controls for proofs; the name of the provider follows.
pub const PROOF: &str = "proof.";

/// The content of the step.
#[derive(Debug, Clone)]
pub struct ProofStep {
    /// The pending answer, in a few words.
    pub answer: String,
    /// The style class of the button that sends it.
    pub tone: &'static str,
    /// The agent that requires the proof.
    pub agent: VisibleText,
    /// The providers that can confirm it.
    pub ways: Vec<ProofProvider>,
    /// The providers that have confirmed it.
    pub confirmed: Vec<String>,
    /// The values that a proof must contain: the case, the action, the challenge.
    pub made_for: Vec<(String, String)>,
    /// The problems with the submitted proofs.
    pub problem: FormProblems,
}

/// A provider that can confirm it.
#[derive(Debug, Clone)]
pub struct ProofProvider {
    /// The provider's name in policies.
    pub name: String,
    /// The provider's display name.
    pub title: VisibleText,
    /// The provider's page; without one, the person pastes the proof.
    pub href: Option<Url>,
}

impl ProofStep {
    /// The step for an answer to an ask.
    pub fn new(ask: &Ask, reply: &Reply, ways: Vec<ProofProvider>) -> Self {
        Self {
            answer: outcome::brief(reply, ask.question.value()),
            tone: second_step::tone(ask, reply),
            agent: VisibleText::of(ask.agent.as_str()),
            ways,
            confirmed: Vec::new(),
            made_for: Vec::new(),
            problem: FormProblems::default(),
        }
    }

    /// The providers, as one phrase.
    pub fn who(&self) -> String {
        one_of(self.ways.iter().map(|way| way.title.to_string()))
    }

    /// Whether the person has to paste a proof.
    pub fn takes_text(&self) -> bool {
        self.ways.iter().any(|way| way.href.is_none())
    }

    /// Whether the button can succeed.
    pub fn can_send(&self) -> bool {
        self.takes_text() || !self.confirmed.is_empty()
    }

    /// The problem with the proof of one provider.
    pub fn error(&self, name: &str) -> Option<&str> {
        let here =
            |place: &ProblemLocation| matches!(place, ProblemLocation::Proof(of) if of == name);
        let problem = self.problem.problems.iter().find(|problem| here(&problem.place));
        problem.map(|problem| problem.message.as_str())
    }
}
