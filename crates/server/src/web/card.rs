//! The answer card: what a person can say to each kind of question. Every button says what it does.

use kernel::question::{Body, Choice, Pick, Question};
use serde_json::{Map, Value};

use super::facts::pretty;
use super::fields::{self, Control, Pickable, StepView};
use super::problem::{Draft, Place};
use super::words::{Words, subject};

/// Up to this many options are a button each.
const FEW: usize = 6;

/// Everything in the card.
#[derive(Debug, Clone)]
pub struct Card {
    /// What the person is asked to do.
    pub heading: &'static str,
    /// Whether it has uploads.
    pub multipart: bool,
    /// What is filled in before a button is pressed.
    pub body: CardBody,
    /// The buttons, the affirmative one first.
    pub buttons: Vec<Button>,
    /// A button that cannot be taken back, set apart.
    pub apart: Option<Button>,
    /// The comment box; a conversation has its reply box instead.
    pub comment: Option<Comment>,
}

/// The part of a card that depends on the kind of question.
#[derive(Debug, Clone)]
pub enum CardBody {
    /// Only buttons.
    Buttons {
        /// What was wrong with the button pressed before.
        error: Option<String>,
    },
    /// JSON the person may change first.
    Json(JsonBox),
    /// Options to pick from.
    Options {
        /// What was wrong with the choice.
        error: Option<String>,
        /// Radio buttons or check boxes.
        control: Control,
    },
    /// The fields of a form.
    Form(Vec<StepView>),
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

/// JSON to edit.
#[derive(Debug, Clone)]
pub struct JsonBox {
    /// Its name and id.
    pub name: &'static str,
    /// What opens it.
    pub summary: &'static str,
    /// What editing means.
    pub hint: &'static str,
    /// What is in it.
    pub value: String,
    /// How many lines to show.
    pub rows: usize,
    /// What was wrong with it.
    pub error: Option<String>,
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
    /// The name of the style: `yes`, `no`, `plain` or `grave`.
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
}

impl Button {
    fn act(tone: &'static str, value: &str, verb: &'static str) -> Self {
        let value = value.to_owned();
        Self { tone, name: "action", value, verb, object: None, consequence: None }
    }

    fn to(mut self, object: Option<Words>) -> Self {
        self.object = object;
        self
    }

    fn so(mut self, consequence: &str) -> Self {
        self.consequence = Some(Words::of(consequence));
        self
    }
}

impl Card {
    /// The card for a question, with what the person had entered before.
    pub fn new(question: &Question, draft: Option<&Draft>) -> Self {
        let typed = |name: &str| draft.and_then(|draft| draft.value(name)).unwrap_or("").to_owned();
        let error =
            |place: Place| draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned);
        let mut card = Self {
            heading: "Your answer",
            multipart: false,
            body: CardBody::Buttons { error: None },
            buttons: Vec::new(),
            apart: None,
            comment: Some(Comment {
                label: "Comment",
                hint: "Optional. Needed to request changes.",
                value: typed("comment"),
                error: error(Place::Comment),
            }),
        };
        match question.body() {
            Body::Approve { details, editable, reject_requires_reason } => {
                if *editable {
                    card.body = CardBody::Json(JsonBox {
                        name: "edits",
                        summary: "Edit the details before you approve",
                        hint: "The agent gets what stands here if you approve. Keep it valid JSON.",
                        ..json(details, draft, "edits", error(Place::Edits))
                    });
                }
                if let (true, Some(comment)) = (*reject_requires_reason, &mut card.comment) {
                    comment.label = "Reason or comment";
                    comment.hint = "Needed to reject or to request changes.";
                }
                let yes = match subject(question.prompt()) {
                    Some(subject) => Button::act("yes", "approve", "Approve:").to(Some(subject)),
                    None => {
                        Button::act("yes", "approve", "Approve").to(Some(Words::of("this request")))
                    }
                };
                card.buttons = approval(yes);
            }
            Body::Choose { options, pick, .. } => {
                choose(&mut card, options.choices(), *pick, draft);
            }
            Body::Provide { form } => {
                card.heading = "Fill in";
                card.multipart =
                    form.fields().any(|field| matches!(field.kind(), kernel::form::Kind::File));
                card.body = CardBody::Form(fields::steps(form, draft));
                let send = Button::act("yes", "provide", "Send to the agent");
                card.buttons.push(send.so("The agent goes on with what you filled in"));
            }
            Body::Confirm { items, yes, no } => {
                card.heading = "Confirm";
                if !items.is_empty() {
                    card.body = CardBody::Items(items.iter().map(Item::from).collect());
                }
                let go = Button::act("yes", "confirm", "Go ahead:").to(Some(Words::of(yes)));
                let stop = Button::act("no", "decline", "Do not:").to(Some(Words::of(no)));
                card.buttons = vec![
                    go.so("The agent does exactly what is listed"),
                    stop.so("The agent does none of it"),
                ];
            }
            Body::Escalate { params, .. } => {
                card.heading = "What should the agent do?";
                if !params.is_empty() {
                    card.body = CardBody::Json(JsonBox {
                        name: "params",
                        summary: "Change the parameters of the retry",
                        hint: "Only what you change is sent. Keep it valid JSON.",
                        ..json(params, draft, "params", error(Place::Params))
                    });
                }
                card.buttons = vec![
                    Button::act("yes", "retry", "Retry").so("The agent tries the same step again"),
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
                let send = Button::act("yes", "reply", "Send this reply");
                card.buttons.push(send.so("The agent reads it and goes on"));
            }
        }
        card
    }
}

fn approval(yes: Button) -> Vec<Button> {
    let no = Button::act("no", "reject", "Reject").to(Some(Words::of("this request")));
    vec![yes.so("The agent goes ahead"), no.so("The agent does not do it")]
}

fn choose(card: &mut Card, choices: &[Choice], pick: Pick, draft: Option<&Draft>) {
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
                    tone: "plain",
                    name: "choose",
                    value: choice.id.clone(),
                    verb: "Choose",
                    object: Some(Words::of(&choice.label)),
                    consequence: choice.description.as_deref().map(Words::of),
                })
                .collect();
        }
        Pick::One => {
            card.heading = "Choose one";
            card.body = CardBody::Options { error, control: Control::Radios(all()) };
            let send = Button::act("yes", "choose", "Send the option you picked");
            card.buttons.push(send.so("The agent goes on with it"));
        }
        Pick::Many => {
            card.heading = "Choose one or more";
            card.body = CardBody::Options { error, control: Control::Checks(all()) };
            let send = Button::act("yes", "choose", "Send the options you ticked");
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

fn json(
    map: &Map<String, Value>,
    draft: Option<&Draft>,
    name: &'static str,
    error: Option<String>,
) -> JsonBox {
    let value =
        draft.and_then(|draft| draft.value(name)).map_or_else(|| pretty(map), str::to_owned);
    let rows = value.lines().count().clamp(4, 18);
    JsonBox { name, summary: "", hint: "", value, rows, error }
}
