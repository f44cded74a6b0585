//! The problems of a submitted form, their places, and the entered values.

use kernel::Refusal;
use kernel::form::Field;
use kernel::question::{AnswerError, Question, QuestionBody};
use kernel::text::reveal;

use crate::answer_form::edits;
use crate::answer_form::steps::PartialForm;
use crate::answer_form::submitted::{EDITS, PARAMS, SubmittedForm};
use crate::components::wording::VisibleText;

/// The hidden inputs that authorise a form. They are not part of the answer.
pub(crate) const AUTHORIZATION_INPUTS: [&str; 2] = ["csrf", "token"];

/// The place of a problem in the answer form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemLocation {
    /// The request as a whole.
    Page,
    /// The comment or reason.
    Comment,
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

impl ProblemLocation {
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
pub struct InputProblem {
    pub place: ProblemLocation,
    /// The label of the control, to distinguish fields in the summary.
    pub label: Option<VisibleText>,
    /// The instruction for the person, in one sentence.
    pub message: String,
}

/// All problems of a form, in page order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormProblems {
    pub problems: Vec<InputProblem>,
}

impl FormProblems {
    pub fn one(place: ProblemLocation, message: impl Into<String>) -> Self {
        Self { problems: vec![InputProblem { place, label: None, message: message.into() }] }
    }

    /// Adds a problem.
    pub fn add(
        &mut self,
        place: ProblemLocation,
        label: Option<VisibleText>,
        message: impl Into<String>,
    ) {
        self.problems.push(InputProblem { place, label, message: message.into() });
    }

    /// Keeps only the problems of these fields and the problems that belong to no field.
    #[must_use]
    pub fn for_fields(mut self, concerns: impl Fn(&str) -> bool) -> Self {
        self.problems.retain(|problem| match &problem.place {
            ProblemLocation::Field(key) => concerns(key),
            ProblemLocation::Page
            | ProblemLocation::Comment
            | ProblemLocation::Choice
            | ProblemLocation::Edits
            | ProblemLocation::Edit(..)
            | ProblemLocation::Reply
            | ProblemLocation::Proof(_) => true,
        });
        self
    }

    /// The first field with a problem.
    pub fn first_field(&self) -> Option<&str> {
        self.problems.iter().find_map(|problem| match &problem.place {
            ProblemLocation::Field(key) => Some(key.as_str()),
            ProblemLocation::Page
            | ProblemLocation::Comment
            | ProblemLocation::Choice
            | ProblemLocation::Edits
            | ProblemLocation::Edit(..)
            | ProblemLocation::Reply
            | ProblemLocation::Proof(_) => None,
        })
    }

    /// The problem for an answer error on the form of this question.
    pub fn of(error: &AnswerError, question: &Question) -> Self {
        match error {
            AnswerError::WrongKind { .. } => Self::one(
                ProblemLocation::Page,
                "This answer does not fit the question. Please answer again.",
            ),
            AnswerError::UnknownOption => {
                Self::one(ProblemLocation::Choice, "Choose one of the options")
            }
            AnswerError::WrongCount { expected } => {
                Self::one(ProblemLocation::Choice, format!("Choose {expected}"))
            }
            AnswerError::ReasonRequired => {
                Self::one(ProblemLocation::Comment, "Write a reason: it goes back to the agent")
            }
            AnswerError::NotEditable => Self::one(
                ProblemLocation::Page,
                "The agent cannot take changed details here. Request changes instead.",
            ),
            AnswerError::BadEdit { place, expected } => {
                Self::one(ProblemLocation::Edits, format!("{place}: use {expected}"))
            }
            AnswerError::Empty => Self::one(ProblemLocation::Reply, "Write a reply"),
            AnswerError::BadText { field: "comment", expected } => {
                Self::one(ProblemLocation::Comment, format!("Use {expected}"))
            }
            AnswerError::BadText { expected, .. } => {
                Self::one(ProblemLocation::Page, format!("Use {expected}"))
            }
            AnswerError::Fields(errors) => {
                let form = match question.body() {
                    QuestionBody::Provide { form } => Some(form),
                    QuestionBody::Approve { .. }
                    | QuestionBody::Choose { .. }
                    | QuestionBody::Confirm { .. }
                    | QuestionBody::Escalate { .. }
                    | QuestionBody::Converse => None,
                };
                let problem = |error: &kernel::form::FieldError| {
                    let field = form.and_then(|form| form.field(&error.key));
                    InputProblem {
                        place: field.map_or(ProblemLocation::Page, |f| {
                            ProblemLocation::Field(f.key().to_owned())
                        }),
                        label: field.map(|field| VisibleText::of(field.label())),
                        message: error.message.clone(),
                    }
                };
                Self { problems: errors.iter().map(problem).collect() }
            }
        }
    }

    /// The problem for a refused answer that the person can correct. `None` if no input would help:
    /// the page then shows an [`ActionOutcome`](crate::ActionOutcome).
    pub fn of_refusal(refusal: &Refusal, question: &Question) -> Option<Self> {
        match refusal {
            Refusal::Answer(error) => Some(Self::of(error, question)),
            Refusal::Invalid { expected, .. } => {
                Some(Self::one(ProblemLocation::Page, format!("Expected {expected}")))
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
pub struct AnswerDraft {
    pairs: Vec<(String, String)>,
    problem: FormProblems,
    held: Vec<(String, String)>,
    form: Option<PartialForm>,
    /// Whether the person has seen only some of the fields.
    partial: bool,
    /// The secrets and uploads that the browser carries, sealed.
    sealed: Option<String>,
}

impl AnswerDraft {
    /// Keeps the submitted values for this question, without the values of sensitive fields and
    /// without unchanged values.
    pub fn new(question: &Question, submitted: &SubmittedForm, problem: FormProblems) -> Self {
        let (mut form, mut json) = (None, None);
        match question.body() {
            QuestionBody::Provide { form: fields } => form = Some(fields),
            QuestionBody::Approve { details, editable, .. } => {
                json = Some((EDITS, editable.offered(details)));
            }
            QuestionBody::Escalate { params, .. } => json = Some((PARAMS, params.clone())),
            QuestionBody::Choose { .. } | QuestionBody::Confirm { .. } | QuestionBody::Converse => {
            }
        }
        let secret = |name: &str| {
            let found = name.strip_prefix("field.").zip(form).map(|(key, form)| form.field(key));
            found.is_some_and(|field| field.is_none_or(Field::is_sensitive))
        };
        let untouched = |name: &str, value: &str| {
            json.as_ref().is_some_and(|(prefix, map)| edits::is_untouched(map, prefix, name, value))
        };
        let kept = |(name, value): &&(String, String)| {
            !AUTHORIZATION_INPUTS.contains(&name.as_str())
                && !secret(name)
                && !untouched(name, value)
        };
        let pairs = submitted.pairs.iter().filter(kept).cloned().collect();
        let form = form.map(|form| {
            PartialForm::new(form, &crate::answer_form::submitted::values(form, submitted))
        });
        Self { pairs, problem, held: Vec::new(), form, partial: false, sealed: None }
    }

    /// The same draft if the browser carries the sealed secrets and uploads. The page says that the
    /// person need not enter them again.
    #[must_use]
    pub fn with_sealed_values(
        mut self,
        question: &Question,
        submitted: &SubmittedForm,
        sealed: Option<String>,
    ) -> Self {
        if sealed.is_some() {
            self.note_kept_values(question, submitted);
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
    pub fn with_kept_values(mut self, question: &Question, submitted: &SubmittedForm) -> Self {
        if matches!(question.body(), QuestionBody::Provide { .. }) {
            self.partial = true;
            self.note_kept_values(question, submitted);
        }
        self
    }

    /// Records which secrets and uploads were already submitted.
    fn note_kept_values(&mut self, question: &Question, submitted: &SubmittedForm) {
        let QuestionBody::Provide { form } = question.body() else { return };
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
    pub fn has_field(&self, name: &str) -> bool {
        !self.partial || self.pairs.iter().any(|(key, _)| key == name)
    }

    /// The note about a kept value that cannot be shown.
    pub fn kept_note(&self, name: &str) -> Option<&str> {
        self.held.iter().find(|(key, _)| key == name).map(|(_, words)| words.as_str())
    }

    /// The form with its current values.
    pub(crate) fn filled(&self) -> Option<&PartialForm> {
        self.form.as_ref()
    }

    /// The last value entered under a name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether an option was selected under a name.
    pub fn is_selected(&self, name: &str, value: &str) -> bool {
        self.pairs.iter().any(|(key, held)| {
            key == name && crate::answer_form::submitted::same_value(held, value)
        })
    }

    /// The problems, in page order.
    pub fn problems(&self) -> &[InputProblem] {
        &self.problem.problems
    }

    /// The problem at one place.
    pub fn problem_at(&self, place: &ProblemLocation) -> Option<&str> {
        let here = |problem: &&InputProblem| problem.place == *place;
        self.problems().iter().find(here).map(|problem| problem.message.as_str())
    }

    /// All text that the person wrote, to return it if the request was decided meanwhile.
    pub(crate) fn written_text(&self) -> String {
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
