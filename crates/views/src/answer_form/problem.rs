//! The problems of a submitted form, their places, and the entered values.

use kernel::Refusal;
use kernel::form::{Field, FieldError, FieldErrorCode, FieldKind, TextRules};
use kernel::question::{AnswerError, LONGEST_COMMENT, PickMode, Question, QuestionBody};
use kernel::text::reveal;

use crate::answer_form::edits;
use crate::answer_form::fields::limit;
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
            AnswerError::WrongKind { .. } => {
                Self::one(ProblemLocation::Page, t!("problem-other-question"))
            }
            AnswerError::UnknownOption => Self::one(ProblemLocation::Choice, t!("problem-choose")),
            AnswerError::WrongCount { .. } => {
                let message = match question.body() {
                    QuestionBody::Choose { pick: PickMode::Many, .. } => t!("problem-choose-some"),
                    _ => t!("problem-choose-one"),
                };
                Self::one(ProblemLocation::Choice, message)
            }
            AnswerError::ReasonRequired => {
                Self::one(ProblemLocation::Comment, t!("problem-reason"))
            }
            AnswerError::NotEditable => {
                Self::one(ProblemLocation::Page, t!("problem-not-editable"))
            }
            AnswerError::BadEdit { place, .. } => {
                Self::one(ProblemLocation::Edits, t!("problem-edit", place = place))
            }
            AnswerError::Empty => Self::one(ProblemLocation::Reply, t!("problem-reply")),
            AnswerError::BadText { field: "comment", .. } => {
                let message = t!("problem-comment", max = LONGEST_COMMENT);
                Self::one(ProblemLocation::Comment, message)
            }
            AnswerError::BadText { .. } => {
                Self::one(ProblemLocation::Page, t!("problem-answer-nul"))
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
                // The fields of an approval's edits are not controls of the page.
                let declared = match question.body() {
                    QuestionBody::Approve { editable, .. } => editable.form(),
                    _ => form,
                };
                let problem = |error: &FieldError| {
                    let field = form.and_then(|form| form.field(&error.key));
                    InputProblem {
                        place: field.map_or(ProblemLocation::Page, |f| {
                            ProblemLocation::Field(f.key().to_owned())
                        }),
                        label: field.map(|field| VisibleText::of(field.label())),
                        message: field_problem(
                            error,
                            declared.and_then(|form| form.field(&error.key)),
                        ),
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
            Refusal::Invalid { .. } => Some(Self::one(ProblemLocation::Page, t!("problem-answer"))),
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

/// A refused value of a form, as an instruction in the reader's language. The limits come from the
/// field.
fn field_problem(error: &FieldError, field: Option<&Field>) -> String {
    let kind = field.map(Field::kind);
    let rules = kind.and_then(text_rules);
    match error.code {
        FieldErrorCode::Required => match kind {
            Some(FieldKind::Number(_) | FieldKind::Range { .. }) => t!("problem-number"),
            Some(FieldKind::Date(_)) => t!("problem-date"),
            Some(FieldKind::Boolean) => t!("problem-boolean"),
            Some(FieldKind::Select(_)) => t!("problem-option"),
            Some(FieldKind::Multiselect(_)) => t!("problem-options"),
            Some(FieldKind::File) => t!("problem-file"),
            _ => t!("problem-fill-in"),
        },
        FieldErrorCode::WrongType => match kind {
            Some(FieldKind::Number(_) | FieldKind::Range { .. }) => t!("problem-number"),
            Some(FieldKind::Date(_)) => t!("problem-date-example"),
            Some(FieldKind::Boolean) => t!("problem-boolean"),
            Some(FieldKind::Select(_) | FieldKind::Multiselect(_)) => t!("problem-unknown-option"),
            Some(FieldKind::File) => t!("problem-file"),
            // A page sends text for each of the other kinds. Only a NUL character makes it wrong.
            _ => t!("problem-nul"),
        },
        FieldErrorCode::TooShort => {
            t!("problem-too-short", min = rules.and_then(TextRules::min_length).unwrap_or(1))
        }
        FieldErrorCode::TooLong => match rules.and_then(TextRules::max_length) {
            Some(max) => t!("problem-too-long", max = max),
            // The text is too long to check its format.
            None => t!("problem-shorter"),
        },
        FieldErrorCode::TooSmall => match kind {
            Some(FieldKind::Number(bounds)) => {
                t!("problem-number-min", min = bounds.min().map(limit).unwrap_or_default())
            }
            Some(FieldKind::Range { min, .. }) => t!("problem-number-min", min = limit(min)),
            Some(FieldKind::Date(bounds)) => {
                let min = bounds.min().map(ToString::to_string).unwrap_or_default();
                t!("problem-date-min", min = min)
            }
            _ => t!("problem-unknown-option"),
        },
        FieldErrorCode::TooLarge => match kind {
            Some(FieldKind::Number(bounds)) => {
                t!("problem-number-max", max = bounds.max().map(limit).unwrap_or_default())
            }
            Some(FieldKind::Range { max, .. }) => t!("problem-number-max", max = limit(max)),
            Some(FieldKind::Date(bounds)) => {
                let max = bounds.max().map(ToString::to_string).unwrap_or_default();
                t!("problem-date-max", max = max)
            }
            _ => t!("problem-unknown-option"),
        },
        FieldErrorCode::Pattern => t!("problem-pattern"),
        FieldErrorCode::NotAnOption => t!("problem-unknown-option"),
        FieldErrorCode::InvalidEmail => t!("problem-email"),
        FieldErrorCode::InvalidUrl => t!("problem-url"),
        FieldErrorCode::InvalidDate => t!("problem-date-example"),
        FieldErrorCode::InvalidFile => t!("problem-file"),
        FieldErrorCode::UnknownField => {
            t!("problem-unknown-field", key = VisibleText::beginning(&error.key, 60))
        }
    }
}

/// The rules of a field that takes a text.
fn text_rules(kind: &FieldKind) -> Option<&TextRules> {
    match kind {
        FieldKind::Text(rules)
        | FieldKind::Textarea(rules)
        | FieldKind::Email(rules)
        | FieldKind::Url(rules)
        | FieldKind::Custom(_, rules) => Some(rules),
        FieldKind::Number(_)
        | FieldKind::Range { .. }
        | FieldKind::Date(_)
        | FieldKind::Boolean
        | FieldKind::Select(_)
        | FieldKind::Multiselect(_)
        | FieldKind::File => None,
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
                let words = t!("field-file-kept", name = reveal(file.name()), bytes = file.size());
                self.held.push((name, words));
            } else if field.is_sensitive() && submitted.value(&name).is_some_and(|v| !v.is_empty())
            {
                self.held.push((name, t!("field-secret-kept")));
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
