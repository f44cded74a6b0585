//! The problems of a submitted form, their places, and the entered values.

use kernel::Refusal;
use kernel::form::Field;
use kernel::question::{AnswerError, Body, Question};
use kernel::text::reveal;

use crate::answer_form::edits;
use crate::answer_form::steps::Filled;
use crate::answer_form::submitted::{EDITS, PARAMS, Submitted};
use crate::components::words::Words;

/// The hidden inputs that authorise a form. They are not part of the answer.
pub(crate) const PROOFS: [&str; 2] = ["csrf", "token"];

/// The place of a problem in the answer form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The request as a whole.
    Page,
    /// The comment or reason.
    Comment,
    /// The options.
    Choice,
    /// The edited values as a whole.
    Edits,
    /// One edited value: the name of its block, and its index.
    Edit(&'static str, usize),
    Reply,
    /// A field of the form, by key.
    Field(String),
    /// A proof of personhood, by its provider.
    Proof(String),
}

impl Place {
    /// The id of the control on the page; `None` for the page itself.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Page => None,
            Self::Comment => Some("comment".to_owned()),
            Self::Choice => Some("options".to_owned()),
            Self::Edits => Some("edits".to_owned()),
            Self::Edit(name, n) => Some(format!("{name}-{n}")),
            Self::Reply => Some("reply".to_owned()),
            Self::Field(key) => Some(format!("field-{key}")),
            Self::Proof(provider) => Some(format!("proof-{provider}")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub place: Place,
    /// The label of the control, to distinguish fields in the summary.
    pub label: Option<Words>,
    /// The instruction for the person, in one sentence.
    pub message: String,
}

/// All problems of a form, in page order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormProblem {
    pub problems: Vec<Problem>,
}

impl FormProblem {
    pub fn one(place: Place, message: impl Into<String>) -> Self {
        Self { problems: vec![Problem { place, label: None, message: message.into() }] }
    }

    /// Adds a problem.
    pub fn add(&mut self, place: Place, label: Option<Words>, message: impl Into<String>) {
        self.problems.push(Problem { place, label, message: message.into() });
    }

    /// Keeps only the problems of these fields and the problems that belong to no field.
    #[must_use]
    pub fn about(mut self, concerns: impl Fn(&str) -> bool) -> Self {
        self.problems.retain(|problem| match &problem.place {
            Place::Field(key) => concerns(key),
            Place::Page
            | Place::Comment
            | Place::Choice
            | Place::Edits
            | Place::Edit(..)
            | Place::Reply
            | Place::Proof(_) => true,
        });
        self
    }

    /// The first field with a problem.
    pub fn first_field(&self) -> Option<&str> {
        self.problems.iter().find_map(|problem| match &problem.place {
            Place::Field(key) => Some(key.as_str()),
            Place::Page
            | Place::Comment
            | Place::Choice
            | Place::Edits
            | Place::Edit(..)
            | Place::Reply
            | Place::Proof(_) => None,
        })
    }

    /// The problem for an answer error on the form of this question.
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
            AnswerError::BadEdit { place, expected } => {
                Self::one(Place::Edits, format!("{place}: use {expected}"))
            }
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

    /// The problem for a refused answer that the person can correct. `None` if no input would help:
    /// the page then shows a [`Notice`](crate::Notice).
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
            | Refusal::BeingAnswered { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::SilenceTooWeak { .. }
            | Refusal::NotInline
            | Refusal::VerificationRequired { .. }
            | Refusal::VerificationFailed { .. }
            | Refusal::TooComplex { .. }
            | Refusal::Quota(_)
            | Refusal::InvalidAt { .. }
            | Refusal::Claims { .. }
            | Refusal::Exists { .. }
            | Refusal::DefaultForbidden
            | Refusal::Changed { .. }
            | Refusal::IdempotencyMismatch
            | Refusal::NoDeadline
            | Refusal::Precondition { .. }
            | Refusal::Immutable { .. }
            | Refusal::PastDeadline { .. }
            | Refusal::Stale { .. }
            | Refusal::NotDue => None,
        }
    }
}

/// The values that a person entered, to show them again. Secrets are not included.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pairs: Vec<(String, String)>,
    problem: FormProblem,
    held: Vec<(String, String)>,
    form: Option<Filled>,
    /// Whether the person has seen only some of the fields.
    partial: bool,
    /// The secrets and uploads that the browser carries, sealed.
    sealed: Option<String>,
}

impl Draft {
    /// Keeps the submitted values for this question, without the values of sensitive fields and
    /// without unchanged values.
    pub fn new(question: &Question, submitted: &Submitted, problem: FormProblem) -> Self {
        let (mut form, mut json) = (None, None);
        match question.body() {
            Body::Provide { form: fields } => form = Some(fields),
            Body::Approve { details, editable, .. } => {
                json = Some((EDITS, editable.offered(details)));
            }
            Body::Escalate { params, .. } => json = Some((PARAMS, params.clone())),
            Body::Choose { .. } | Body::Confirm { .. } | Body::Converse => {}
        }
        let secret = |name: &str| {
            let found = name.strip_prefix("field.").zip(form).map(|(key, form)| form.field(key));
            found.is_some_and(|field| field.is_none_or(Field::is_sensitive))
        };
        let untouched = |name: &str, value: &str| {
            json.as_ref().is_some_and(|(prefix, map)| edits::is_untouched(map, prefix, name, value))
        };
        let kept = |(name, value): &&(String, String)| {
            !PROOFS.contains(&name.as_str()) && !secret(name) && !untouched(name, value)
        };
        let pairs = submitted.pairs.iter().filter(kept).cloned().collect();
        let form = form
            .map(|form| Filled::new(form, &crate::answer_form::submitted::values(form, submitted)));
        Self { pairs, problem, held: Vec::new(), form, partial: false, sealed: None }
    }

    /// The same draft if the browser carries the sealed secrets and uploads. The page says that the
    /// person need not enter them again.
    #[must_use]
    pub fn carrying(
        mut self,
        question: &Question,
        submitted: &Submitted,
        sealed: Option<String>,
    ) -> Self {
        if sealed.is_some() {
            self.hold(question, submitted);
        }
        self.sealed = sealed;
        self
    }

    /// The sealed values that the browser carries.
    pub fn sealed(&self) -> Option<&str> {
        self.sealed.as_deref()
    }

    /// The same draft if the server keeps the secrets and uploads. The page says that the person
    /// need not enter them again.
    #[must_use]
    pub fn holding(mut self, question: &Question, submitted: &Submitted) -> Self {
        if matches!(question.body(), Body::Provide { .. }) {
            self.partial = true;
            self.hold(question, submitted);
        }
        self
    }

    /// Records which secrets and uploads were already submitted.
    fn hold(&mut self, question: &Question, submitted: &Submitted) {
        let Body::Provide { form } = question.body() else { return };
        for field in form.fields() {
            let name = format!("field.{}", field.key());
            let file = submitted.files.iter().rfind(|(of, _)| *of == name);
            if let Some((_, file)) = file {
                let words = format!(
                    "{} is uploaded ({} bytes). Choose another only to replace it.",
                    reveal(file.name()),
                    file.size()
                );
                self.held.push((name, words));
            } else if field.is_sensitive() && submitted.value(&name).is_some_and(|v| !v.is_empty())
            {
                let words = "You entered this already. Leave it empty to keep it.".to_owned();
                self.held.push((name, words));
            }
        }
    }

    /// Whether the person has seen a field of this name; if not, the agent's default applies.
    pub fn knows(&self, name: &str) -> bool {
        !self.partial || self.pairs.iter().any(|(key, _)| key == name)
    }

    /// The note about a kept value that cannot be shown.
    pub fn held(&self, name: &str) -> Option<&str> {
        self.held.iter().find(|(key, _)| key == name).map(|(_, words)| words.as_str())
    }

    /// The form with its current values.
    pub(crate) fn filled(&self) -> Option<&Filled> {
        self.form.as_ref()
    }

    /// The last value entered under a name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether an option was selected under a name.
    pub fn holds(&self, name: &str, value: &str) -> bool {
        self.pairs
            .iter()
            .any(|(key, held)| key == name && crate::answer_form::submitted::same(held, value))
    }

    /// The problems, in page order.
    pub fn problems(&self) -> &[Problem] {
        &self.problem.problems
    }

    /// The problem at one place.
    pub fn problem_at(&self, place: &Place) -> Option<&str> {
        let here = |problem: &&Problem| problem.place == *place;
        self.problems().iter().find(here).map(|problem| problem.message.as_str())
    }

    /// All text that the person wrote, to return it if the request was decided meanwhile.
    pub(crate) fn written(&self) -> String {
        let written = |name: &str| {
            matches!(name, "comment" | "reply")
                || [EDITS, PARAMS, "field"]
                    .iter()
                    .any(|block| name.strip_prefix(block).is_some_and(|rest| rest.starts_with('.')))
        };
        let texts =
            self.pairs.iter().filter(|(name, value)| written(name) && !value.trim().is_empty());
        texts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n")
    }
}
