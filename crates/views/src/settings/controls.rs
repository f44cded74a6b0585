//! The fields of settings forms. They keep the entered values and show their problems.

use kernel::Refusal;

use crate::answer_form::fields::{
    Control, ControlOption, FieldView, InputControl, RequirementMark,
};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::wording::VisibleText;

/// A submitted form and its problems.
#[derive(Debug, Clone, Copy)]
pub struct FormDraft<'a> {
    /// The submitted values; without them, the current settings are shown.
    pub form: Option<&'a SubmittedForm>,
    pub problems: &'a FormProblems,
}

/// An option: its value and its label.
pub type SelectOption = (String, String);

impl FormDraft<'_> {
    /// A text field.
    pub fn text(&self, name: &str, label: &str, current: &str) -> FieldView {
        self.input("text", name, label, current)
    }

    /// A one-line field of this HTML type.
    pub fn input(&self, kind: &'static str, name: &str, label: &str, current: &str) -> FieldView {
        let input = InputControl {
            kind,
            value: self.value(name, current),
            placeholder: String::new(),
            attributes: Vec::new(),
            suggestions: Vec::new(),
        };
        self.field(name, label, Control::Input(input))
    }

    /// A text area.
    pub fn area(&self, name: &str, label: &str, current: &str) -> FieldView {
        let (value, placeholder) = (self.value(name, current), String::new());
        self.field(name, label, Control::Area { value, placeholder, rows: 3, mono: false })
    }

    /// A list of which one option is selected.
    pub fn one_of(
        &self,
        name: &str,
        label: &str,
        choices: &[SelectOption],
        current: &str,
    ) -> FieldView {
        let value = self.value(name, current);
        let pick = |(sent, shown): &SelectOption| pickable(sent, shown, *sent == value);
        let options = choices.iter().map(pick).collect();
        self.field(name, label, Control::Select(options))
    }

    /// A group of checkboxes.
    pub fn some_of(
        &self,
        name: &str,
        label: &str,
        choices: &[SelectOption],
        current: impl Fn(&str) -> bool,
    ) -> FieldView {
        let ticked = |sent: &str| match self.form {
            Some(form) => form.values(name).any(|value| value == sent),
            None => current(sent),
        };
        let pick = |(sent, shown): &SelectOption| pickable(sent, shown, ticked(sent));
        let options = choices.iter().map(pick).collect();
        self.field(name, label, Control::Checks(options))
    }

    /// A single checkbox.
    pub fn flag(&self, name: &str, label: &str, yes: &str, current: bool) -> FieldView {
        self.some_of(name, label, &[("yes".to_owned(), yes.to_owned())], |_| current)
    }

    pub(super) fn value(&self, name: &str, current: &str) -> String {
        match self.form {
            Some(form) => form.text(name).unwrap_or_default(),
            None => current.to_owned(),
        }
    }

    pub(super) fn field(&self, name: &str, label: &str, control: Control) -> FieldView {
        let place = ProblemLocation::Field(name.to_owned());
        let wrong = self.problems.problems.iter().find(|problem| problem.place == place);
        FieldView {
            id: format!("field-{name}"),
            name: name.to_owned(),
            label: VisibleText::of(label),
            hint: None,
            rules: None,
            condition: None,
            when: None,
            mark: RequirementMark::None,
            insist: false,
            secret: false,
            held: None,
            error: wrong.map(|problem| problem.message.clone()),
            control,
        }
    }
}

pub(super) fn pickable(value: &str, label: &str, checked: bool) -> ControlOption {
    ControlOption { value: value.to_owned(), label: VisibleText::of(label), note: None, checked }
}

impl FieldView {
    /// The same field with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl AsRef<str>) -> Self {
        self.hint = Some(VisibleText::of(hint.as_ref()));
        self
    }

    /// The same field, marked as required.
    #[must_use]
    pub fn mark_required(mut self) -> Self {
        (self.mark, self.insist) = (RequirementMark::Required, true);
        self
    }
}

/// The message for a value that is not what the field takes.
pub(crate) fn expected_text(expected: &str) -> String {
    t!("settings-expected", expected = expected)
}

/// The refusal as a problem of its field; `label` names the fields of the form.
pub fn refused(refusal: &Refusal, label: impl Fn(&str) -> Option<String>) -> FormProblems {
    let at = |field: &str| {
        label(field)
            .map(|label| (ProblemLocation::Field(field.to_owned()), VisibleText::of(&label)))
    };
    let (place, message) = match refusal {
        Refusal::Invalid { field, expected } => (at(field), expected_text(expected)),
        Refusal::InvalidAt { field, expected } => (at(field), expected_text(expected)),
        Refusal::Exists { what: "email address" } => (at("email"), t!("settings-email-taken")),
        other => {
            let mut text = other.to_string();
            // Refusals begin in lower case, because they usually follow a colon.
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            (None, format!("{text}."))
        }
    };
    let mut problem = FormProblems::default();
    let (place, label) =
        place.map_or((ProblemLocation::Page, None), |(place, label)| (place, Some(label)));
    problem.add(place, label, message);
    problem
}
