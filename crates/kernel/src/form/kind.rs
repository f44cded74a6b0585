//! The types of fields, each owning the rules that apply to it.

use super::{
    date::Moment,
    error::{FormError, shorten},
    number,
    pattern::Pattern,
    spec::{Bound, FieldSpec, FormChoice, Validation},
};
use serde_json::Number;
use std::{cmp::Ordering, collections::HashSet};

/// The maximum length of the name of a custom type, in bytes.
const MAX_CUSTOM: usize = 64;

/// The type of a field together with its limits.
///
/// A rule that a type would ignore is refused when the form is created, so every rule found here is
/// enforced.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// One line of text.
    Text(TextRules),
    /// Several lines of text.
    Textarea(TextRules),
    /// An email address.
    Email(TextRules),
    /// A URL with a host.
    Url(TextRules),
    /// A custom `x-…` type, answered as text. Options are stored for the page but not enforced,
    /// because the type defines their meaning.
    Custom(String, TextRules),
    /// A number, with optional bounds.
    Number(Bounds<Number>),
    /// A number between two bounds.
    Range {
        /// The smallest allowed value.
        min: Number,
        /// The largest allowed value.
        max: Number,
    },
    /// A calendar date or a timestamp.
    Date(Bounds<Moment>),
    /// A yes or no value.
    Boolean,
    /// One of several options.
    Select(FormChoices),
    /// Some of several options.
    Multiselect(FormChoices),
    /// A reference to a file.
    File,
}

impl FieldKind {
    /// The type and its rules, from the JSON of a field.
    pub(super) fn parse(spec: &FieldSpec) -> Result<Self, FormError> {
        let rules = RuleParser { spec, validation: spec.validation.as_ref() };
        let kind = match spec.kind.as_str() {
            "text" => Self::Text(rules.text()?),
            "textarea" => Self::Textarea(rules.text()?),
            "email" => Self::Email(rules.text()?),
            "url" => Self::Url(rules.text()?),
            "number" => Self::Number(rules.bounds()?),
            "range" => match rules.bounds()? {
                Bounds { min: Some(min), max: Some(max) } => Self::Range { min, max },
                Bounds { .. } => return Err(FormError::RangeBounds { key: spec.key.clone() }),
            },
            "date" => Self::Date(rules.bounds()?),
            "boolean" => Self::Boolean,
            "select" => Self::Select(rules.choices()?),
            "multiselect" => Self::Multiselect(rules.choices()?),
            "file" => Self::File,
            custom if is_custom(custom) => Self::Custom(custom.to_owned(), rules.text()?),
            other => {
                return Err(FormError::UnknownType { key: spec.key.clone(), name: shorten(other) });
            }
        };
        rules.apply_to(&kind)?;
        Ok(kind)
    }

    /// The name of the type in JSON.
    pub fn name(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Textarea(_) => "textarea",
            Self::Email(_) => "email",
            Self::Url(_) => "url",
            Self::Custom(name, _) => name,
            Self::Number(_) => "number",
            Self::Range { .. } => "range",
            Self::Date(_) => "date",
            Self::Boolean => "boolean",
            Self::Select(_) => "select",
            Self::Multiselect(_) => "multiselect",
            Self::File => "file",
        }
    }

    /// Whether values have an order that `gt` and `lt` can use.
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Number(_) | Self::Range { .. } | Self::Date(_) => true,
            Self::Text(_)
            | Self::Textarea(_)
            | Self::Email(_)
            | Self::Url(_)
            | Self::Custom(..)
            | Self::Boolean
            | Self::Select(_)
            | Self::Multiselect(_)
            | Self::File => false,
        }
    }

    /// Whether `minLength`, `maxLength` and `pattern` apply.
    fn is_text(&self) -> bool {
        match self {
            Self::Text(_)
            | Self::Textarea(_)
            | Self::Email(_)
            | Self::Url(_)
            | Self::Custom(..) => true,
            Self::Number(_)
            | Self::Range { .. }
            | Self::Date(_)
            | Self::Boolean
            | Self::Select(_)
            | Self::Multiselect(_)
            | Self::File => false,
        }
    }

    fn has_options(&self) -> bool {
        matches!(self, Self::Select(_) | Self::Multiselect(_) | Self::Custom(..))
    }
}

/// Limits on text. Lengths count characters, and `min_length` is at most `max_length`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextRules {
    min_length: Option<u64>,
    max_length: Option<u64>,
    pattern: Option<Pattern>,
}

impl TextRules {
    /// The minimum number of characters.
    pub fn min_length(&self) -> Option<u64> {
        self.min_length
    }

    /// The maximum number of characters.
    pub fn max_length(&self) -> Option<u64> {
        self.max_length
    }

    /// The pattern the whole value must match.
    pub fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }
}

/// An interval with optional ends; the lower end is at most the upper one.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds<T> {
    min: Option<T>,
    max: Option<T>,
}

impl<T> Bounds<T> {
    /// The lower end, which is itself allowed.
    pub fn min(&self) -> Option<&T> {
        self.min.as_ref()
    }

    /// The upper end, which is itself allowed.
    pub fn max(&self) -> Option<&T> {
        self.max.as_ref()
    }
}

/// At least one option, each with its own non-empty value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormChoices(Vec<FormChoice>);

impl FormChoices {
    /// The options in the order they are shown.
    pub fn iter(&self) -> impl Iterator<Item = &FormChoice> {
        self.0.iter()
    }

    /// Whether one of the options has this value.
    pub fn contains(&self, value: &str) -> bool {
        self.0.iter().any(|choice| choice.value == value)
    }
}

/// A value that can be a bound: a number or a date.
trait Limit: Sized {
    const EXPECTED: &'static str;
    fn read(bound: &Bound) -> Option<Self>;
    fn order(&self, other: &Self) -> Option<Ordering>;
}

impl Limit for Number {
    const EXPECTED: &'static str = "a number";

    fn read(bound: &Bound) -> Option<Self> {
        match bound {
            Bound::Number(number) => Some(number::normal(number)),
            Bound::Date(_) => None,
        }
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        number::compare(self, other)
    }
}

impl Limit for Moment {
    const EXPECTED: &'static str =
        "an ISO date like \"2026-01-31\", or a number of whole days since 1970-01-01";

    fn read(bound: &Bound) -> Option<Self> {
        match bound {
            Bound::Number(days) => Self::from_epoch_days(days),
            Bound::Date(text) => Self::parse(text),
        }
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        Some(self.compare(other))
    }
}

struct RuleParser<'a> {
    spec: &'a FieldSpec,
    validation: Option<&'a Validation>,
}

impl RuleParser<'_> {
    fn text(&self) -> Result<TextRules, FormError> {
        let key = &self.spec.key;
        let Some(rules) = self.validation else { return Ok(TextRules::default()) };
        let (min_length, max_length) = (rules.min_length, rules.max_length);
        if min_length.zip(max_length).is_some_and(|(min, max)| min > max) {
            return Err(FormError::Lengths { key: key.clone() });
        }
        let pattern = rules.pattern.as_deref().map(|p| Pattern::parse(key, p)).transpose()?;
        Ok(TextRules { min_length, max_length, pattern })
    }

    fn bounds<T: Limit>(&self) -> Result<Bounds<T>, FormError> {
        let key = || self.spec.key.clone();
        let read = |rule, bound: &Bound| {
            T::read(bound).ok_or_else(|| FormError::Bound {
                key: key(),
                rule,
                expected: T::EXPECTED,
            })
        };
        let min = self.validation.and_then(|v| v.min.as_ref());
        let max = self.validation.and_then(|v| v.max.as_ref());
        let min = min.map(|bound| read("min", bound)).transpose()?;
        let max = max.map(|bound| read("max", bound)).transpose()?;
        if min
            .as_ref()
            .zip(max.as_ref())
            .is_some_and(|(a, b)| a.order(b) == Some(Ordering::Greater))
        {
            return Err(FormError::Bounds { key: key() });
        }
        Ok(Bounds { min, max })
    }

    fn choices(&self) -> Result<FormChoices, FormError> {
        let key = || self.spec.key.clone();
        if self.spec.options.is_empty() {
            return Err(FormError::OptionsMissing { key: key(), kind: self.spec.kind.clone() });
        }
        let mut seen = HashSet::new();
        for FormChoice { value, .. } in &self.spec.options {
            if value.is_empty() {
                return Err(FormError::OptionEmpty { key: key() });
            }
            if !seen.insert(value) {
                return Err(FormError::DuplicateOption { key: key(), value: shorten(value) });
            }
        }
        Ok(FormChoices(self.spec.options.clone()))
    }

    /// Refuses rules that this kind would silently ignore.
    fn apply_to(&self, kind: &FieldKind) -> Result<(), FormError> {
        let refuse = |rule, hint| {
            let (key, kind) = (self.spec.key.clone(), kind.name().to_owned());
            Err(FormError::RuleDoesNotApply { key, rule, kind, hint })
        };
        if !self.spec.options.is_empty() && !kind.has_options() {
            return refuse("options", ", use type select or multiselect");
        }
        let Some(rules) = self.validation else { return Ok(()) };
        if !kind.is_text() {
            let hint = if kind.is_ordered() { ", use `min` and `max`" } else { "" };
            for (rule, given) in [
                ("minLength", rules.min_length.is_some()),
                ("maxLength", rules.max_length.is_some()),
                ("pattern", rules.pattern.is_some()),
            ] {
                if given {
                    return refuse(rule, if rule == "pattern" { "" } else { hint });
                }
            }
        }
        if !kind.is_ordered() {
            let hint = if kind.is_text() { ", use `minLength` and `maxLength`" } else { "" };
            for (rule, given) in [("min", rules.min.is_some()), ("max", rules.max.is_some())] {
                if given {
                    return refuse(rule, hint);
                }
            }
        }
        Ok(())
    }
}

fn is_custom(name: &str) -> bool {
    name.strip_prefix("x-").is_some_and(|rest| {
        !rest.is_empty()
            && name.len() <= MAX_CUSTOM
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(rest: &serde_json::Value) -> Result<FieldKind, FormError> {
        let mut wire = json!({"key": "k", "label": "K"});
        wire.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        FieldKind::parse(&serde_json::from_value(wire).unwrap())
    }

    /// HITL-133: every standard type, Countersign's own, and custom ones under their own name.
    #[test]
    fn every_type_is_known_by_its_name() {
        for name in
            ["text", "textarea", "number", "date", "email", "url", "boolean", "file", "x-colour"]
        {
            assert_eq!(parse(&json!({"type": name})).unwrap().name(), name);
        }
        for name in ["select", "multiselect"] {
            let options = json!([{"value": "a", "label": "A"}]);
            assert_eq!(parse(&json!({"type": name, "options": options})).unwrap().name(), name);
        }
        let range = json!({"type": "range", "validation": {"min": 1, "max": 1}});
        assert_eq!(parse(&range).unwrap().name(), "range");
    }

    /// HITL-132, HITL-134, C-11: rules that the published schema leaves open are enforced here.
    #[test]
    fn rules_that_make_no_sense_are_refused() {
        let two = json!([{"value": "a", "label": "A"}, {"value": "a", "label": "B"}]);
        for (wire, reason) in [
            (json!({"type": "string"}), "unknown type `string`"),
            (json!({"type": "x-"}), "unknown type"),
            (json!({"type": "x-<b>"}), "unknown type"),
            (json!({"type": "select"}), "needs at least one entry"),
            (json!({"type": "multiselect", "options": []}), "needs at least one entry"),
            (
                json!({"type": "select", "options": [{"value": "", "label": "-"}]}),
                "must not be empty",
            ),
            (json!({"type": "select", "options": two}), "`a` appears twice"),
            (json!({"type": "text", "options": two}), "`options` does not apply to a text field"),
            (json!({"type": "range"}), "both `min` and `max`"),
            (json!({"type": "range", "validation": {"min": 1}}), "both `min` and `max`"),
            (
                json!({"type": "number", "validation": {"min": 2, "max": 1}}),
                "`min` must not exceed `max`",
            ),
            (json!({"type": "number", "validation": {"min": "2"}}), "`min` must be a number"),
            (json!({"type": "date", "validation": {"max": "soon"}}), "`max` must be an ISO date"),
            (json!({"type": "date", "validation": {"max": 1_769_817_600}}), "days since"),
            (
                json!({"type": "date", "validation": {"min": "2026-02-01", "max": 20_484}}),
                "`min` must not exceed `max`",
            ),
            (
                json!({"type": "text", "validation": {"minLength": 2, "maxLength": 1}}),
                "`minLength` must not exceed",
            ),
            (json!({"type": "text", "validation": {"min": 1}}), "use `minLength`"),
            (json!({"type": "number", "validation": {"maxLength": 1}}), "use `min`"),
            (
                json!({"type": "boolean", "validation": {"pattern": "a"}}),
                "`pattern` does not apply",
            ),
            (json!({"type": "x-rating", "validation": {"max": 5}}), "`max` does not apply"),
        ] {
            let error = parse(&wire).unwrap_err().to_string();
            assert!(error.starts_with("field `k`: "), "{error}");
            assert!(error.contains(reason), "{wire}: {error}");
        }
    }
}
