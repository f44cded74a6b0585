//! What was wrong with a submitted form, where, and what the person had entered.

use kernel::Refusal;
use kernel::question::{AnswerError, Body, Question};

use super::form_body::Submitted;
use super::words::Words;

/// Where on the answer card something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The request as a whole.
    Page,
    /// The comment or reason.
    Comment,
    /// The options.
    Choice,
    /// The edited details of an approval.
    Edits,
    /// The changed parameters of a retry.
    Params,
    /// The free reply.
    Reply,
    /// A field of the form, by key.
    Field(String),
}

impl Place {
    /// The id of the control on the page; `None` for the page itself.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Page => None,
            Self::Comment => Some("comment".to_owned()),
            Self::Choice => Some("options".to_owned()),
            Self::Edits => Some("edits".to_owned()),
            Self::Params => Some("params".to_owned()),
            Self::Reply => Some("reply".to_owned()),
            Self::Field(key) => Some(format!("field-{key}")),
        }
    }
}

/// One thing to correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The label of the control, to tell fields apart in the summary.
    pub label: Option<Words>,
    /// What to do, in one sentence.
    pub message: String,
}

/// Everything that keeps a form from being an answer, in page order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormProblem {
    /// What to correct.
    pub problems: Vec<Problem>,
}

impl FormProblem {
    /// A single problem.
    pub fn one(place: Place, message: impl Into<String>) -> Self {
        Self { problems: vec![Problem { place, label: None, message: message.into() }] }
    }

    /// What an answer error means on the card of this question.
    pub fn of(error: &AnswerError, question: &Question) -> Self {
        match error {
            AnswerError::WrongKind { .. } => Self::one(
                Place::Page,
                "This answer does not fit the question. Please answer again.",
            ),
            AnswerError::UnknownOption => Self::one(Place::Choice, "Choose one of the options"),
            AnswerError::WrongCount { expected } => {
                Self::one(Place::Choice, format!("Choose {expected}"))
            }
            AnswerError::ReasonRequired => {
                Self::one(Place::Comment, "Write a reason: it goes back to the agent")
            }
            AnswerError::NotEditable => Self::one(
                Place::Page,
                "The agent cannot take changed details here. Request changes instead.",
            ),
            AnswerError::Empty => Self::one(Place::Reply, "Write a reply"),
            AnswerError::BadText { field: "comment", expected } => {
                Self::one(Place::Comment, format!("Use {expected}"))
            }
            AnswerError::BadText { expected, .. } => {
                Self::one(Place::Page, format!("Use {expected}"))
            }
            AnswerError::Fields(errors) => {
                let form = match question.body() {
                    Body::Provide { form } => Some(form),
                    Body::Approve { .. }
                    | Body::Choose { .. }
                    | Body::Confirm { .. }
                    | Body::Escalate { .. }
                    | Body::Converse => None,
                };
                let problem = |error: &kernel::form::FieldError| {
                    let field = form.and_then(|form| form.field(&error.key));
                    Problem {
                        place: field.map_or(Place::Page, |f| Place::Field(f.key().to_owned())),
                        label: field.map(|field| Words::of(field.label())),
                        message: error.message.clone(),
                    }
                };
                Self { problems: errors.iter().map(problem).collect() }
            }
        }
    }

    /// What a refused answer means on the card, where the person can correct it. `None` when
    /// nothing they enter would help: then the page shows a [`Notice`](super::Notice).
    pub fn of_refusal(refusal: &Refusal, question: &Question) -> Option<Self> {
        match refusal {
            Refusal::Answer(error) => Some(Self::of(error, question)),
            Refusal::Invalid { expected, .. } => {
                Some(Self::one(Place::Page, format!("Expected {expected}")))
            }
            Refusal::NotFound { .. }
            | Refusal::NotAllowed { .. }
            | Refusal::NotOver { .. }
            | Refusal::AlreadyAnswered { .. }
            | Refusal::AlreadyCancelled { .. }
            | Refusal::TimedOut { .. }
            | Refusal::TakenBy { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::NotInline
            | Refusal::Exists { .. }
            | Refusal::DefaultForbidden
            | Refusal::Changed { .. }
            | Refusal::IdempotencyMismatch
            | Refusal::NoDeadline
            | Refusal::NotDue => None,
        }
    }
}

/// What a person had entered, to be shown again. Secrets are not in it.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pairs: Vec<(String, String)>,
    problem: FormProblem,
}

impl Draft {
    /// Keeps what was submitted for this question, without the values of sensitive fields.
    pub fn new(question: &Question, submitted: &Submitted, problem: FormProblem) -> Self {
        let secret = |name: &str| match question.body() {
            Body::Provide { form } => name
                .strip_prefix("field.")
                .is_some_and(|key| form.field(key).is_none_or(kernel::form::Field::is_sensitive)),
            Body::Approve { .. }
            | Body::Choose { .. }
            | Body::Confirm { .. }
            | Body::Escalate { .. }
            | Body::Converse => false,
        };
        let kept = |(name, _): &&(String, String)| name != "csrf" && !secret(name);
        Self { pairs: submitted.pairs.iter().filter(kept).cloned().collect(), problem }
    }

    /// The last value entered under a name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether a value was ticked under a name.
    pub fn holds(&self, name: &str, value: &str) -> bool {
        self.pairs.iter().any(|(key, held)| key == name && super::form_body::same(held, value))
    }

    /// What to correct, in page order.
    pub fn problems(&self) -> &[Problem] {
        &self.problem.problems
    }

    /// The problem at one place.
    pub fn problem_at(&self, place: &Place) -> Option<&str> {
        let here = |problem: &&Problem| problem.place == *place;
        self.problems().iter().find(here).map(|problem| problem.message.as_str())
    }

    /// Everything the person wrote, to give back when the request was decided meanwhile.
    pub(crate) fn written(&self) -> String {
        let written = |name: &str| {
            matches!(name, "comment" | "reply" | "edits" | "params") || name.starts_with("field.")
        };
        let texts =
            self.pairs.iter().filter(|(name, value)| written(name) && !value.trim().is_empty());
        texts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n")
    }
}
