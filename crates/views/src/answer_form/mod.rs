//! The answer card: what a person can say to each kind of question. Every button says what it does.

pub mod conditions;
pub mod confirm;
pub mod edits;
pub mod fields;
pub mod prefill;
pub mod problem;
pub mod second_step;
pub mod steps;
pub mod submitted;

use kernel::AskId;
use kernel::form::{Form, Kind};
use kernel::question::{Body, Choice, Pick, Question};

use crate::Frame;
use crate::answer_form::edits::Edits;
use crate::answer_form::fields::{Control, FieldView, Pickable, StepView};
use crate::answer_form::problem::{Draft, Place};
use crate::answer_form::steps::Stepper;
use crate::answer_form::submitted::{EDITS, PARAMS};
use crate::components::words::{self, Words, subject};
use crate::site::paths;

/// What the button of an edited approval says: the question's own words no longer hold.
pub const WITH_CHANGES: &str = "Approve with changes";
/// Up to this many options are a button each.
const FEW: usize = 6;

/// Where a card lies: in the inbox of somebody we know, or before whoever holds the review link.
#[derive(Debug, Clone)]
pub struct Desk {
    /// Where the card is posted.
    pub href: String,
    /// What shows that it may be: the name and value of a hidden input, the first of the form.
    pub proof: (&'static str, String),
    /// Under which name the browser keeps what is half filled in.
    pub keep: String,
    /// With the link, forms come step by step and are kept on the server: the step to show, from 0.
    pub link: Option<usize>,
}

impl Desk {
    /// In the inbox.
    pub fn inbox(id: AskId, frame: &Frame) -> Self {
        let proof = ("csrf", frame.csrf.clone());
        Self { href: paths::answer(id), proof, keep: id.to_string(), link: None }
    }

    /// Before whoever holds the link.
    pub fn link(case_id: &str, token: &str, step: usize) -> Self {
        Self {
            href: paths::review(case_id),
            proof: ("token", token.to_owned()),
            keep: format!("{case_id}.{step}"),
            link: Some(step),
        }
    }
}

/// Everything in the card.
#[derive(Debug, Clone)]
pub struct Card {
    /// Where it lies.
    pub desk: Desk,
    /// What the person is asked to do.
    pub heading: &'static str,
    /// Whether it has uploads.
    pub multipart: bool,
    /// What is filled in before a button is pressed.
    pub body: CardBody,
    /// The buttons, the affirmative one first.
    pub buttons: Vec<Button>,
    /// The buttons that answer nothing yet.
    pub minor: Vec<Button>,
    /// A button that cannot be taken back, set apart.
    pub apart: Option<Button>,
    /// Secrets and uploads that were entered before, sealed.
    pub held: Option<String>,
    /// The comment box; a conversation has its reply box instead.
    pub comment: Option<Comment>,
    /// The way to sign in, in place of what lets the agent proceed.
    pub sign_in: Option<SignIn>,
}

/// Where somebody signs in to give the answers that a link alone is not enough for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// Where that is.
    pub href: String,
    /// What stands on the button.
    pub label: &'static str,
    /// Why, in one sentence.
    pub why: String,
}

/// The part of a card that depends on the kind of question.
#[derive(Debug, Clone)]
pub enum CardBody {
    /// Only buttons.
    Buttons {
        /// What was wrong with the button pressed before.
        error: Option<String>,
    },
    /// Values the person may change first.
    Edits(Edits),
    /// Options to pick from.
    Options {
        /// What was wrong with the choice.
        error: Option<String>,
        /// Radio buttons or check boxes.
        control: Control,
        /// The id of the option the agent suggests.
        suggested: Option<String>,
    },
    /// The fields of a form.
    Form {
        /// All steps below each other, or only one.
        steps: Vec<StepView>,
        /// Where that one stands.
        stepper: Option<Stepper>,
    },
    /// What is about to happen, item by item.
    Items(Vec<Item>),
    /// A free reply.
    Reply {
        /// What was written already.
        value: String,
        /// What was wrong with it.
        error: Option<String>,
    },
}

/// One item of a confirmation.
#[derive(Debug, Clone)]
pub struct Item {
    /// What it is.
    pub label: Words,
    /// More about it.
    pub note: Option<Words>,
}

/// The comment box.
#[derive(Debug, Clone)]
pub struct Comment {
    /// Its label.
    pub label: &'static str,
    /// When it is needed.
    pub hint: &'static str,
    /// What was written already.
    pub value: String,
    /// What was wrong with it.
    pub error: Option<String>,
}

/// A button and what it does.
#[derive(Debug, Clone)]
pub struct Button {
    /// The name of the style. It follows the consequence, not the verb: `danger` lets the agent do
    /// something destructive, `yes` and `primary` let it proceed, `safe` stops it, `plain` is one of
    /// several.
    pub tone: &'static str,
    /// What is sent: name.
    pub name: &'static str,
    /// What is sent: value.
    pub value: String,
    /// What it does, in our words.
    pub verb: &'static str,
    /// What it does it to, often in the agent's words.
    pub object: Option<Words>,
    /// What follows from it.
    pub consequence: Option<Words>,
    /// Whether it works on a form that is not filled in.
    pub anyway: bool,
    /// Whether it is what the agent suggests.
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

    /// A button with the agent's label and no word of ours.
    fn labelled(tone: &'static str, value: &str, label: &str) -> Self {
        Self::act(tone, value, "").to(Some(Words::of(label)))
    }

    /// A button that answers nothing yet.
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

/// What the button sends that closes a request without an answer.
pub const CLOSE: &str = "close";

impl Card {
    /// The card for a question, with what the person had entered before. `careful` says that the ask
    /// needs a confirmation, so that what lets the agent proceed looks dangerous.
    pub fn new(question: &Question, careful: bool, draft: Option<&Draft>, desk: Desk) -> Self {
        let risky = |label: &str| careful || words::is_destructive(label);
        let go = if risky(question.prompt()) { "danger" } else { "yes" };
        let typed = |name: &str| draft.and_then(|draft| draft.value(name)).unwrap_or("").to_owned();
        let error =
            |place: Place| draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned);
        // Only an approval takes a request for changes; any other question is answered, with a comment.
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
                    // The question names the values that were changed.
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
                    // The agent turned the buttons round: its "no" destroys, so its "yes" keeps.
                    true if !words::is_destructive(yes) => "plain",
                    _ if go == "danger" || risky(yes) => "danger",
                    _ => "primary",
                };
                let (go, stop) = if words::are_bare(yes, no) {
                    // The protocol's own labels: "Cancel" alone could mean to cancel the order.
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
        // These have no "no" of their own. Behind a link any question can be declined elsewhere.
        let declinable = matches!(question.body(), Body::Choose { .. } | Body::Provide { .. });
        if declinable && card.desk.link.is_none() {
            let close = Button::quiet(CLOSE, "Close without an answer");
            card.minor.push(close.so("The agent is told so, with your comment as the reason"));
        }
        card
    }

    /// The card for somebody whose link is not enough for what lets the agent proceed: in its place is
    /// the way to sign in. What stops the agent, or sends the request back to it, stays. `because` says
    /// what makes it so, as in "This can't be undone".
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
                    // They can still be suggested, with a request for changes.
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
    // What goes back is the form and nothing beside it.
    card.comment = None;
    let (view, stepper) = steps::view(form, step, draft);
    // Which step is next may depend on what is entered on this one.
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

/// Yes, no for each reason the agent offers, and no for another one or none.
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
                    // Which option is the dangerous one, only its label can say.
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
