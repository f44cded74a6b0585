//! Typed forms: the fields a person fills in, and the validation of their answers.
//!
//! A [`Form`] is one list of fields or several steps of them, in the JSON of HITL's `context.form`
//! (§10.3). HXP's PROVIDE is a form with one field ([`Form::single`]). A constructed form is valid,
//! so no other code checks it again.
//!
//! Layout: [`FieldSpec`] is the wire format, [`FieldKind`] the types with their limits, [`Field`]
//! one field, [`Condition`] its visibility. `coerce` reads a value as its type, `check` applies the
//! limits, `validate` walks the form, and `budget` limits the cost of a form.

mod budget;
mod check;
mod coerce;
mod condition;
mod date;
mod error;
mod field;
mod file;
mod kind;
mod number;
mod pattern;
mod spec;
mod validate;
mod values;

pub use budget::{
    MAX_ALL_OPTIONS, MAX_ALLOWED, MAX_COMPILED_BYTES, MAX_FIELDS, MAX_OPTIONS, MAX_PATTERN_BYTES,
    PreparedPatterns, check_patterns,
};
pub use condition::{Condition, Operator};
pub use date::Moment;
pub use error::{FieldError, FieldErrorCode, FormError};
pub use field::Field;
pub use file::{FileRef, FileRefError};
pub use kind::{Bounds, FieldKind, FormChoices, TextRules};
pub use pattern::Pattern;
pub use spec::{Bound, Conditional, FieldSpec, FormChoice, Validation};
pub use validate::FormProgress;
pub use values::{REDACTED, Values};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A form whose keys are unique and whose conditions refer to earlier fields.
///
/// Its JSON is HITL's: exactly one of `fields` and `steps`, and an optional `session_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Form {
    layout: Layout,
    session_id: Option<String>,
}

/// How the fields of a form are arranged.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// All fields on one page.
    Single(Vec<Field>),
    /// One page after the other; at least one.
    Steps(Vec<FormStep>),
}

/// One page of a form with several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormStep))]
#[serde(deny_unknown_fields)]
pub struct FormStep {
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    fields: Vec<Field>,
}

impl FormStep {
    /// Creates a step; one without fields is a summary.
    pub fn new(title: impl Into<String>, description: Option<String>, fields: Vec<Field>) -> Self {
        Self { title: title.into(), description, fields }
    }

    /// Heading of the step.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Text below the heading.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The fields of this step, in order; none for a summary.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}

impl Form {
    /// Creates a form on one page.
    pub fn of_fields(fields: Vec<Field>) -> Result<Self, FormError> {
        Self::new(Layout::Single(fields), None)
    }

    /// Creates a form in steps; refused without any.
    pub fn of_steps(steps: Vec<FormStep>) -> Result<Self, FormError> {
        Self::new(Layout::Steps(steps), None)
    }

    /// Creates a form with a single field, as in HXP's PROVIDE. Refused only if the field has a
    /// condition, because there is no earlier field to refer to.
    pub fn single(field: Field) -> Result<Self, FormError> {
        Self::of_fields(vec![field])
    }

    /// The same form, resumable under this session id (HITL-137).
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// How the fields are arranged.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The session under which a partly filled form is stored, if its author named one.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The number of pages, at least 1.
    pub fn step_count(&self) -> usize {
        match &self.layout {
            Layout::Single(_) => 1,
            Layout::Steps(steps) => steps.len(),
        }
    }

    /// All fields, hidden ones too, in form order.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.fields_by_step().map(|(_, field)| field)
    }

    /// The field with this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields().find(|field| field.key() == key)
    }

    /// The initial values: a page shows them, and passes them to [`Form::visible`], before the
    /// person has typed anything.
    pub fn defaults(&self) -> Map<String, Value> {
        self.fields()
            .filter_map(|field| Some((field.key().to_owned(), field.default_value()?.clone())))
            .collect()
    }

    fn new(layout: Layout, session_id: Option<String>) -> Result<Self, FormError> {
        if matches!(&layout, Layout::Steps(steps) if steps.is_empty()) {
            return Err(FormError::NoSteps);
        }
        let mut form = Self { layout, session_id };
        let conditions = form.conditions()?;
        for (field, condition) in form.fields_mut().zip(conditions) {
            field.set_condition(condition);
        }
        Ok(form)
    }

    /// One entry per field, in form order, each resolved against the fields before it.
    fn conditions(&self) -> Result<Vec<Option<Condition>>, FormError> {
        let mut earlier: HashMap<&str, &Field> = HashMap::new();
        let mut conditions = Vec::new();
        for field in self.fields() {
            let key = field.key();
            let resolve = |wire: &Conditional| {
                Condition::resolve(key, wire, earlier.get(wire.field.as_str()).copied())
            };
            conditions.push(field.spec().conditional.as_ref().map(resolve).transpose()?);
            if earlier.insert(key, field).is_some() {
                return Err(FormError::DuplicateKey { key: key.to_owned() });
            }
        }
        Ok(conditions)
    }

    /// Fields in form order with the index of their step.
    fn fields_by_step(&self) -> impl Iterator<Item = (usize, &Field)> {
        let (single, steps) = match &self.layout {
            Layout::Single(fields) => (fields.as_slice(), [].as_slice()),
            Layout::Steps(steps) => ([].as_slice(), steps.as_slice()),
        };
        let stepped = steps.iter().enumerate();
        let stepped = stepped.flat_map(|(i, step)| step.fields.iter().map(move |f| (i, f)));
        single.iter().map(|field| (0, field)).chain(stepped)
    }

    fn fields_mut(&mut self) -> impl Iterator<Item = &mut Field> {
        let (single, steps) = match &mut self.layout {
            Layout::Single(fields) => (fields.as_mut_slice(), [].as_mut_slice()),
            Layout::Steps(steps) => ([].as_mut_slice(), steps.as_mut_slice()),
        };
        single.iter_mut().chain(steps.iter_mut().flat_map(|step| step.fields.iter_mut()))
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Form))]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<Field>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<FormStep>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

#[cfg(feature = "openapi")]
crate::openapi::same_as!(Form, Wire);

impl TryFrom<Wire> for Form {
    type Error = FormError;

    fn try_from(wire: Wire) -> Result<Self, FormError> {
        let layout = match (wire.fields, wire.steps) {
            (Some(fields), None) => Layout::Single(fields),
            (None, Some(steps)) => Layout::Steps(steps),
            (Some(_), Some(_)) | (None, None) => return Err(FormError::Layout),
        };
        Self::new(layout, wire.session_id)
    }
}

impl From<Form> for Wire {
    fn from(form: Form) -> Self {
        let (fields, steps) = match form.layout {
            Layout::Single(fields) => (Some(fields), None),
            Layout::Steps(steps) => (None, Some(steps)),
        };
        Self { fields, steps, session_id: form.session_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(key: &str) -> Value {
        json!({"key": key, "label": "L", "type": "text"})
    }

    fn shown_if(key: &str, field: &str) -> Value {
        let conditional = json!({"field": field, "operator": "eq", "value": "x"});
        json!({"key": key, "label": "L", "type": "text", "conditional": conditional})
    }

    /// HITL-130, HITL-131: the shape of the upstream multi-step example survives a round trip.
    #[test]
    fn forms_are_written_as_they_were_read() {
        for wire in [
            json!({"fields": [text("a"), shown_if("b", "a")]}),
            json!({"fields": []}),
            json!({
                "steps": [
                    {"title": "One", "description": "First", "fields": [text("a")]},
                    {"title": "Two", "fields": [shown_if("b", "a")]},
                    {"title": "Review", "fields": []},
                ],
                "session_id": "s1",
            }),
        ] {
            let form: Form = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&form).unwrap(), wire);
        }
    }

    /// HITL-130, HITL-131, HITL-132, HITL-135.
    #[test]
    fn a_form_that_exists_is_valid() {
        for (wire, reason) in [
            (json!({}), "exactly one of `fields` and `steps`"),
            (json!({"fields": [], "steps": []}), "exactly one of `fields` and `steps`"),
            (json!({"steps": []}), "at least one step"),
            (json!({"steps": [{"fields": []}]}), "missing field `title`"),
            (json!({"steps": [{"title": "T"}]}), "missing field `fields`"),
            (json!({"steps": [{"title": "T", "fields": [], "icon": 1}]}), "unknown field `icon`"),
            (json!({"fields": [], "title": "T"}), "unknown field `title`"),
            (json!({"fields": [text("a"), text("a")]}), "field `a`: keys must be unique"),
            (
                json!({"steps": [{"title": "1", "fields": [text("a")]}, {"title": "2", "fields": [text("a")]}]}),
                "field `a`: keys must be unique",
            ),
            (json!({"fields": [shown_if("b", "a"), text("a")]}), "must name an earlier field"),
            (json!({"fields": [shown_if("b", "b")]}), "must name an earlier field"),
            (json!({"fields": [shown_if("b", "nope")]}), "`nope` is not one"),
        ] {
            let error = serde_json::from_value::<Form>(wire.clone()).unwrap_err().to_string();
            assert!(error.contains(reason), "{wire}: {error}");
        }
    }

    /// HXPX-030, HXPX-032, HXPX-033: PROVIDE is a form with one field.
    #[test]
    fn provide_is_a_form_with_one_field() {
        let mut spec = FieldSpec::new("result", "How many?", "number");
        spec.required = true;
        spec.validation = Some(Validation { max: Some(10.into()), ..Validation::default() });
        let form = Form::single(Field::try_from(spec).unwrap()).unwrap();

        let submit = |value: Value| {
            let submitted = Map::from_iter([("result".to_owned(), value)]);
            form.validate(&submitted)
        };
        assert_eq!(submit(json!("7")).unwrap().get("result"), Some(&json!(7)));
        assert_eq!(submit(json!(99_999)).unwrap_err()[0].code, FieldErrorCode::TooLarge);
        assert_eq!(submit(json!("")).unwrap_err()[0].code, FieldErrorCode::Required);

        let lonely: Field = serde_json::from_value(shown_if("b", "a")).unwrap();
        assert!(matches!(Form::single(lonely), Err(FormError::ConditionField { .. })));
    }

    #[test]
    fn defaults_are_collected() {
        let mut wire = text("a");
        wire["default"] = json!("x");
        let form: Form = serde_json::from_value(json!({"fields": [wire, text("b")]})).unwrap();
        assert_eq!(Value::Object(form.defaults()), json!({"a": "x"}));
    }
}
