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
use kernel::form::{Form, Kind};
use kernel::question::{Body, Choice, Pick, Question, Reply};
use url::Url;

use crate::Frame;
use crate::answer::outcome;
use crate::answer_form::edits::Edits;
use crate::answer_form::fields::{Control, FieldView, Pickable, StepView};
use crate::answer_form::problem::{Draft, FormProblem, Place};
use crate::answer_form::steps::Stepper;
use crate::answer_form::submitted::{EDITS, PARAMS};
use crate::components::words::{self, Words, subject};
use crate::site::paths;

/// The label of an approval with edits, because the question shows the old values.
pub const WITH_CHANGES: &str = "Approve with changes";
/// Up to this many options get one button each.
const FEW: usize = 6;

/// The context of an answer form: the inbox of a signed-in person, or a review link.
#[derive(Debug, Clone)]
pub struct Desk {
    pub href: String,
    /// The name and value of the hidden input that authorises the form; it is the first input.
    pub proof: (&'static str, String),
    /// The key under which the browser stores the unsent form.
    pub keep: String,
    /// With a link, forms have one page per step and the server keeps the draft: the step to
    /// show, from 0.
    pub link: Option<usize>,
}

impl Desk {
    /// The context of the inbox.
    pub fn inbox(id: AskId, frame: &Frame) -> Self {
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
pub struct Card {
    pub desk: Desk,
    /// The kind of answer, as a heading.
    pub heading: &'static str,
    /// Whether it contains file uploads.
    pub multipart: bool,
    /// The controls above the buttons.
    pub body: CardBody,
    /// The buttons, the affirmative one first.
    pub buttons: Vec<Button>,
    /// The buttons that do not answer yet.
    pub minor: Vec<Button>,
    /// A button that cannot be undone, set apart.
    pub apart: Option<Button>,
    /// Secrets and uploads that were entered before, sealed.
    pub held: Option<String>,
    /// The comment field; a conversation has a reply field instead.
    pub comment: Option<Comment>,
    /// The sign-in link that replaces the buttons that let the agent proceed.
    pub sign_in: Option<SignIn>,
}

/// The sign-in link for answers that a review link alone does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub href: String,
    pub label: &'static str,
    /// The reason, in one sentence.
    pub why: String,
}

/// The part of the form that depends on the kind of question.
#[derive(Debug, Clone)]
pub enum CardBody {
    /// Only buttons.
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
    Items(Vec<Item>),
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
pub struct Item {
    pub label: Words,
    /// An explanation of the item.
    pub note: Option<Words>,
}

/// The comment field.
#[derive(Debug, Clone)]
pub struct Comment {
    pub label: &'static str,
    /// When a comment is required.
    pub hint: &'static str,
    /// The text entered before.
    pub value: String,
    /// The problem with the text.
    pub error: Option<String>,
}

/// A button of the form.
#[derive(Debug, Clone)]
pub struct Button {
    /// The style class. It follows the consequence, not the verb: `danger` lets the agent do
    /// something destructive, `yes` and `primary` let it proceed, `safe` stops it, `plain` is
    /// one of several.
    pub tone: &'static str,
    pub name: &'static str,
    pub value: String,
    /// The action, in the server's words.
    pub verb: &'static str,
    /// The object of the action, often in the agent's words.
    pub object: Option<Words>,
    /// The consequence of pressing it.
    pub consequence: Option<Words>,
    /// Whether it works on an incomplete form.
    pub anyway: bool,
    /// Whether the agent suggests it.
    pub suggested: bool,
}

impl Button {
    pub(crate) fn act(tone: &'static str, value: &str, verb: &'static str) -> Self {
        Self {
            tone,
            name: "action",
            value: value.to_owned(),
            verb,
            object: None,
            consequence: None,
            anyway: false,
            suggested: false,
        }
    }

    /// A button with only the agent's label.
    fn labelled(tone: &'static str, value: &str, label: &str) -> Self {
        Self::act(tone, value, "").to(Some(Words::of(label)))
    }

    /// A button that does not answer yet.
    fn quiet(value: &str, verb: &'static str) -> Self {
        Self { anyway: true, ..Self::act("quiet", value, verb) }
    }

    fn to(mut self, object: Option<Words>) -> Self {
        self.object = object;
        self
    }

    pub(crate) fn so(mut self, consequence: &str) -> Self {
        self.consequence = Some(Words::of(consequence));
        self
    }
}

/// The value of the button that closes a request without an answer.
pub const CLOSE: &str = "close";

impl Card {
    /// The form for a question, with the values entered before. `careful` says that the ask needs a
    /// confirmation, so the buttons that let the agent proceed are marked as dangerous.
    pub fn new(question: &Question, careful: bool, draft: Option<&Draft>, desk: Desk) -> Self {
        let risky = |label: &str| careful || words::is_destructive(label);
        let go = if risky(question.prompt()) { "danger" } else { "yes" };
        let typed = |name: &str| draft.and_then(|draft| draft.value(name)).unwrap_or("").to_owned();
        let error =
            |place: Place| draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned);
        // Only an approval supports a request for changes; other questions are answered
        // with a comment.
        let changes = matches!(question.body(), Body::Approve { .. });
        let mut card = Self {
            heading: "Your answer",
            multipart: false,
            body: CardBody::Buttons { error: None },
            buttons: Vec::new(),
            minor: Vec::new(),
            apart: None,
            held: draft.and_then(|draft| draft.sealed().map(str::to_owned)),
            comment: Some(Comment {
                label: "Comment",
                hint: if changes {
                    "Optional. Needed to request changes."
                } else {
                    "Optional. It goes to the agent with your answer."
                },
                value: typed("comment"),
                error: error(Place::Comment),
            }),
            sign_in: None,
            desk,
        };
        match question.body() {
            Body::Approve { details, editable, reject_requires_reason, reject_options } => {
                let (summary, hint) = if editable.is_any() {
                    (
                        "Edit the details before you approve",
                        "The agent gets what stands here if you approve.",
                    )
                } else {
                    ("Suggest other details", "They go back to the agent when you request changes.")
                };
                let open = editable.offered(details);
                if !open.is_empty() {
                    let mut edits =
                        Edits::new(&open, editable.form(), (EDITS, summary, hint), draft);
                    if edits.fields.iter().all(FieldView::is_ticked) {
                        edits.summary = "Leave something out";
                        edits.hint = "If you approve, the agent does only what is ticked.";
                    }
                    card.body = CardBody::Edits(Edits { taken: editable.is_any(), ..edits });
                }
                let edited = matches!(
                    &card.body,
                    CardBody::Edits(edits) if edits.taken && edits.touched
                );
                if let (true, Some(comment)) = (*reject_requires_reason, &mut card.comment) {
                    comment.label = "Reason or comment";
                    comment.hint = "Needed to reject or to request changes.";
                }
                let yes = match subject(question.prompt()) {
                    // The question shows the values before the change.
                    _ if edited => Button::act(go, "approve", WITH_CHANGES),
                    Some(subject) => Button::act(go, "approve", "Approve:").to(Some(subject)),
                    None => {
                        Button::act(go, "approve", "Approve").to(Some(Words::of("this request")))
                    }
                };
                card.buttons = approval(yes, reject_options);
            }
            Body::Choose { options, pick, suggested } => {
                let options = (options.choices(), suggested.as_deref());
                choose(&mut card, options, *pick, go, draft);
            }
            Body::Provide { form } => provide(&mut card, form, go, draft),
            Body::Confirm { items, yes, no } => {
                card.heading = "Confirm";
                if !items.is_empty() {
                    card.body = CardBody::Items(items.iter().map(Item::from).collect());
                }
                let go = match words::is_destructive(no) {
                    // The agent swapped the buttons: "no" is destructive, so "yes" is harmless.
                    true if !words::is_destructive(yes) => "plain",
                    _ if go == "danger" || risky(yes) => "danger",
                    _ => "primary",
                };
                let (go, stop) = if words::are_bare(yes, no) {
                    // The protocol's own labels: "Cancel" alone could be read as
                    // cancelling the order.
                    (
                        Button::act(go, "confirm", words::GO_AHEAD),
                        Button::act("safe", "decline", words::DO_NOT_GO_AHEAD),
                    )
                } else {
                    let stop = if words::is_destructive(no) { "danger" } else { "safe" };
                    (Button::labelled(go, "confirm", yes), Button::labelled(stop, "decline", no))
                };
                card.buttons = if items.is_empty() {
                    vec![go, stop]
                } else {
                    vec![
                        go.so("The agent does exactly what is listed"),
                        stop.so("The agent does none of it"),
                    ]
                };
            }
            Body::Escalate { params, .. } => {
                card.heading = "What should the agent do?";
                if !params.is_empty() {
                    let summary = "Change the parameters of the retry";
                    let hint = "Only what you change is sent, and only if you press Retry.";
                    let edits = Edits::new(params, None, (PARAMS, summary, hint), draft);
                    card.body = CardBody::Edits(edits);
                }
                card.buttons = vec![
                    Button::act(go, "retry", "Retry").so("The agent tries the same step again"),
                    Button::act("plain", "skip", "Skip this step")
                        .so("The agent goes on without it"),
                ];
                let abort = Button::act("grave", "abort", "Abort the whole task");
                card.apart = Some(abort.so("The agent stops. This cannot be undone."));
            }
            Body::Converse => {
                card.heading = "Your reply";
                card.comment = None;
                card.body = CardBody::Reply { value: typed("reply"), error: error(Place::Reply) };
                let send = Button::act(go, "reply", "Send this reply");
                card.buttons.push(send.so("The agent reads it and goes on"));
            }
        }
        if changes {
            let changes = Button::quiet("changes", "Request changes");
            card.minor.push(changes.so("Goes back to the agent with your comment"));
        }
        // These questions have no "no" button. With a link, every question has a separate
        // button to decline.
        let declinable = matches!(question.body(), Body::Choose { .. } | Body::Provide { .. });
        if declinable && card.desk.link.is_none() {
            let close = Button::quiet(CLOSE, "Close without an answer");
            card.minor.push(close.so("The agent is told so, with your comment as the reason"));
        }
        card
    }

    /// The form for a link that does not allow the answers that let the agent proceed. A sign-in
    /// link replaces them. The buttons that stop the agent, or return the request to it, stay.
    /// `because` is the reason, as in "This can't be undone".
    #[must_use]
    pub fn signing_in(mut self, question: &Question, href: String, because: &str) -> Self {
        let (label, act) = match question.body() {
            Body::Approve { .. } => ("Sign in to approve", "approve it"),
            Body::Confirm { .. } => ("Sign in to confirm", "confirm it"),
            Body::Choose { .. } | Body::Provide { .. } | Body::Escalate { .. } | Body::Converse => {
                ("Sign in to answer", "let the agent go on")
            }
        };
        let why = format!("{because}, so only somebody who is signed in can {act}.");
        self.sign_in = Some(SignIn { href, label, why });
        match question.body() {
            Body::Approve { .. } => {
                self.buttons.retain(|button| button.value != "approve" || button.name != "action");
                if let CardBody::Edits(edits) = &mut self.body {
                    // The person can still suggest other values with a request for changes.
                    edits.taken = false;
                    edits.summary = "Suggest other details";
                    edits.hint = "They go back to the agent when you request changes.";
                }
            }
            Body::Confirm { .. } => self.buttons.retain(|button| button.value == "decline"),
            Body::Escalate { .. } => {
                self.buttons.clear();
                self.body = CardBody::Buttons { error: None };
            }
            Body::Choose { options, .. } => {
                self.buttons.clear();
                self.body = CardBody::Items(options.choices().iter().map(Item::from).collect());
                self.comment = None;
            }
            Body::Provide { .. } | Body::Converse => {
                self.heading = "Your answer";
                self.buttons.clear();
                self.minor.clear();
                self.body = CardBody::Buttons { error: None };
                self.comment = None;
                self.multipart = false;
            }
        }
        self
    }
}

fn provide(card: &mut Card, form: &Form, go: &'static str, draft: Option<&Draft>) {
    card.heading = "Fill in";
    card.multipart = form.fields().any(|field| matches!(field.kind(), Kind::File));
    let send = Button::act(go, "provide", "Send to the agent")
        .so("The agent goes on with what you filled in");
    let Some(step) = card.desk.link else {
        card.body = CardBody::Form { steps: fields::steps(form, draft), stepper: None };
        card.buttons.push(send);
        return;
    };
    // The reply contains only the form, so there is no comment.
    card.comment = None;
    let (view, stepper) = steps::view(form, step, draft);
    // The next step may depend on the values of this one.
    let next = Button::act("yes", "next", "Go on to the next step");
    card.buttons.push(if stepper.is_last { send } else { next });
    if let Some(back) = &stepper.back {
        card.minor.push(Button::quiet("back", "Go back:").to(Some(back.clone())));
    }
    let save = Button::quiet("save", "Save and finish later");
    card.minor.push(save.so("Open the same link to go on"));
    let stepper = (stepper.total > 1).then_some(stepper);
    card.body = CardBody::Form { steps: vec![view], stepper };
}

/// A "yes" button, a "no" button for each reason that the agent offers, and a "no" button with
/// another reason or none.
fn approval(yes: Button, reasons: &[Choice]) -> Vec<Button> {
    let reason = |choice: &Choice| Button {
        name: "reject",
        consequence: choice.description.as_deref().map(Words::of),
        ..Button::act("safe", &choice.id, "Reject:").to(Some(Words::of(&choice.label)))
    };
    let no = Button::act("safe", "reject", "Reject").to(Some(Words::of("this request")));
    [yes.so("The agent goes ahead")]
        .into_iter()
        .chain(reasons.iter().map(reason))
        .chain([no.so("The agent does not do it")])
        .collect()
}

fn choose(
    card: &mut Card,
    (choices, suggested): (&[Choice], Option<&str>),
    pick: Pick,
    go: &'static str,
    draft: Option<&Draft>,
) {
    let pickable = |choice: &Choice| Pickable {
        value: choice.id.clone(),
        label: Words::of(&choice.label),
        note: choice.description.as_deref().map(Words::of),
        checked: draft.is_some_and(|draft| draft.holds("option", &choice.id)),
    };
    let all = || choices.iter().map(pickable).collect::<Vec<_>>();
    let error = draft.and_then(|draft| draft.problem_at(&Place::Choice)).map(str::to_owned);
    match pick {
        Pick::One if choices.len() <= FEW => {
            card.heading = "Choose one";
            card.body = CardBody::Buttons { error };
            card.buttons = choices
                .iter()
                .map(|choice| Button {
                    // Only its label shows whether an option is destructive.
                    tone: if words::is_destructive(&choice.label) { "danger" } else { "plain" },
                    name: "choose",
                    value: choice.id.clone(),
                    verb: "Choose",
                    object: Some(Words::of(&choice.label)),
                    consequence: choice.description.as_deref().map(Words::of),
                    anyway: false,
                    suggested: suggested == Some(choice.id.as_str()),
                })
                .collect();
        }
        Pick::One => {
            card.heading = "Choose one";
            let suggested = suggested.map(str::to_owned);
            card.body = CardBody::Options { error, control: Control::Radios(all()), suggested };
            let send = Button::act(go, "choose", "Send the option you picked");
            card.buttons.push(send.so("The agent goes on with it"));
        }
        Pick::Many => {
            card.heading = "Choose one or more";
            let suggested = suggested.map(str::to_owned);
            card.body = CardBody::Options { error, control: Control::Checks(all()), suggested };
            let send = Button::act(go, "choose", "Send the options you ticked");
            card.buttons.push(send.so("The agent goes on with them"));
        }
    }
}

impl From<&Choice> for Item {
    fn from(choice: &Choice) -> Self {
        let note = choice.description.as_deref().map(Words::of);
        Self { label: Words::of(&choice.label), note }
    }
}

// The step before an answer is sent if the agent requires a proof that a person gives it.

/// The prefix of the controls for proofs; the name of the provider follows.
pub const PROOF: &str = "proof.";

/// The content of the step.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// The pending answer, in a few words.
    pub answer: String,
    /// The style class of the button that sends it.
    pub tone: &'static str,
    /// The agent that requires the proof.
    pub agent: Words,
    /// The providers that can confirm it.
    pub ways: Vec<Way>,
    /// The providers that have confirmed it.
    pub confirmed: Vec<String>,
    /// The values that a proof must contain: the case, the action, the challenge.
    pub made_for: Vec<(&'static str, String)>,
    /// The problems with the submitted proofs.
    pub problem: FormProblem,
}

/// A provider that can confirm it.
#[derive(Debug, Clone)]
pub struct Way {
    /// The provider's name in policies.
    pub name: String,
    /// The provider's display name.
    pub title: Words,
    /// The provider's page; without one, the person pastes the proof.
    pub href: Option<Url>,
}

impl Confirm {
    /// The step for an answer to an ask.
    pub fn new(ask: &Ask, reply: &Reply, ways: Vec<Way>) -> Self {
        Self {
            answer: outcome::brief(reply, ask.question.value()),
            tone: second_step::tone(ask, reply),
            agent: Words::of(ask.agent.as_str()),
            ways,
            confirmed: Vec::new(),
            made_for: Vec::new(),
            problem: FormProblem::default(),
        }
    }

    /// The providers, as one phrase.
    pub fn who(&self) -> String {
        let titles: Vec<&str> = self.ways.iter().map(|way| way.title.as_str()).collect();
        titles.join(" or ")
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
        let here = |place: &Place| matches!(place, Place::Proof(of) if of == name);
        let problem = self.problem.problems.iter().find(|problem| here(&problem.place));
        problem.map(|problem| problem.message.as_str())
    }
}
