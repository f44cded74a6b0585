//! Errors of a form ([`FormError`]) and of an answer to one ([`FieldError`]).

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a form or a field is refused.
///
/// Every message names the field and the expected value, so that the author of the form (often an
/// agent) can correct it without reading the source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// Both or neither of `fields` and `steps` were given.
    #[error("a form needs exactly one of `fields` and `steps`")]
    Layout,
    /// `steps` is an empty list.
    #[error("a form with `steps` needs at least one step")]
    NoSteps,
    /// The key is not an identifier.
    #[error(
        "field `{key}`: a key must start with a letter and contain only letters, digits and `_`"
    )]
    Key {
        /// The refused key, shortened.
        key: String,
    },
    /// Two fields share a key.
    #[error("field `{key}`: keys must be unique in a form, but this one appears twice")]
    DuplicateKey {
        /// The repeated key.
        key: String,
    },
    /// The label is too long to show.
    #[error("field `{key}`: a label can have at most {max} characters, but this one has {length}")]
    LabelTooLong {
        /// The key of the field.
        key: String,
        /// The number of characters the label has.
        length: usize,
        /// The number of characters it may have.
        max: usize,
    },
    /// The type is neither a known one nor `x-…`.
    #[error(
        "field `{key}`: unknown type `{name}`; expected text, textarea, number, date, email, url, \
         boolean, select, multiselect, range, file or a custom `x-…` name"
    )]
    UnknownType {
        /// The key of the field.
        key: String,
        /// The refused type, shortened.
        name: String,
    },
    /// A field with a choice has no options.
    #[error("field `{key}`: a {kind} field needs at least one entry in `options`")]
    OptionsMissing {
        /// The key of the field.
        key: String,
        /// The type of the field.
        kind: String,
    },
    /// An option has an empty value.
    #[error("field `{key}`: the value of an option must not be empty")]
    OptionEmpty {
        /// The key of the field.
        key: String,
    },
    /// Two options share a value.
    #[error("field `{key}`: option values must be unique, but `{value}` appears twice")]
    DuplicateOption {
        /// The key of the field.
        key: String,
        /// The repeated value, shortened.
        value: String,
    },
    /// A rule was given that does not apply to this type of field.
    #[error("field `{key}`: `{rule}` does not apply to a {kind} field{hint}")]
    RuleDoesNotApply {
        /// The key of the field.
        key: String,
        /// The rule, as spelled in JSON.
        rule: &'static str,
        /// The type of the field.
        kind: String,
        /// What to use instead; empty if there is no alternative.
        hint: &'static str,
    },
    /// The pattern cannot run in linear time.
    #[error("field `{key}`: `pattern` is not a supported regular expression: {reason}")]
    Pattern {
        /// The key of the field.
        key: String,
        /// The error of the regex engine, on one line.
        reason: String,
    },
    /// The form has too many fields.
    #[error("a form can have at most {max} fields, but this one has {count}")]
    TooManyFields {
        /// The number of fields it has.
        count: usize,
        /// The number of fields it may have.
        max: usize,
    },
    /// The field, or the form including it, has too many options.
    #[error(
        "field `{key}`: a field can have at most 1000 `options` and a form at most 10000; this \
         field exceeds {max}"
    )]
    TooManyOptions {
        /// The key of the field.
        key: String,
        /// The limit that is exceeded.
        max: usize,
    },
    /// The field compares with too many values.
    #[error("field `{key}`: `{rule}` can have at most {max} entries")]
    TooManyAllowed {
        /// The key of the field.
        key: String,
        /// `allowed_values` or `conditional.value`.
        rule: &'static str,
        /// The number of values it may have.
        max: usize,
    },
    /// The patterns of the form are too long together.
    #[error(
        "field `{key}`: the patterns of a form can have at most {max} bytes together; this \
         `pattern` exceeds the limit"
    )]
    PatternsTooLong {
        /// The key of the field whose pattern exceeds the limit.
        key: String,
        /// The maximum number of bytes.
        max: usize,
    },
    /// The compiled patterns of the form take too much memory together.
    #[error(
        "field `{key}`: the patterns of a form can take at most {max} bytes together when \
         compiled; this `pattern` exceeds the limit; use smaller repetitions"
    )]
    PatternsTooLarge {
        /// The key of the field whose pattern exceeds the limit.
        key: String,
        /// The maximum number of bytes.
        max: usize,
    },
    /// `minLength` is above `maxLength`.
    #[error("field `{key}`: `minLength` must not exceed `maxLength`")]
    Lengths {
        /// The key of the field.
        key: String,
    },
    /// `min` is above `max`.
    #[error("field `{key}`: `min` must not exceed `max`")]
    Bounds {
        /// The key of the field.
        key: String,
    },
    /// A range lacks one of its ends.
    #[error("field `{key}`: a range field needs both `min` and `max`")]
    RangeBounds {
        /// The key of the field.
        key: String,
    },
    /// A bound has the wrong type.
    #[error("field `{key}`: `{rule}` must be {expected}")]
    Bound {
        /// The key of the field.
        key: String,
        /// The bound: `min` or `max`.
        rule: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// `allowed_values` is empty or has an entry that is not of the field's type.
    #[error("field `{key}`: `allowed_values` must be a non-empty list of values of type {kind}")]
    AllowedValues {
        /// The key of the field.
        key: String,
        /// The type of the field.
        kind: String,
    },
    /// `default` is not of the field's type.
    #[error("field `{key}`: `default` must be a value of type {kind}")]
    Default {
        /// The key of the field.
        key: String,
        /// The type of the field.
        kind: String,
    },
    /// A sensitive field has a `default`.
    #[error("field `{key}`: a sensitive field cannot have a `default`; use `default_ref`")]
    SensitiveDefault {
        /// The key of the field.
        key: String,
    },
    /// `default_ref` is not a web address.
    #[error("field `{key}`: `default_ref` must be an http or https URL")]
    DefaultRef {
        /// The key of the field.
        key: String,
    },
    /// The condition names a field that does not come before this one.
    #[error(
        "field `{key}`: `conditional.field` must name an earlier field, but `{field}` is not one"
    )]
    ConditionField {
        /// The key of the field.
        key: String,
        /// The name that was not found, shortened.
        field: String,
    },
    /// The condition uses `gt` or `lt` on a field without an order.
    #[error("field `{key}`: `gt` and `lt` compare numbers and dates, `{field}` is of type {kind}")]
    ConditionOperator {
        /// The key of the field.
        key: String,
        /// The key of the field it depends on.
        field: String,
        /// The type of that field.
        kind: String,
    },
    /// The condition compares with a value the other field can never have.
    #[error("field `{key}`: `conditional.value` must be {expected} of type {kind}, like `{field}`")]
    ConditionValue {
        /// The key of the field.
        key: String,
        /// The key of the field it depends on.
        field: String,
        /// The type of that field.
        kind: String,
        /// `a value` or `a list of values`.
        expected: &'static str,
    },
}

impl FormError {
    /// The key of the field the error is about; `None` if it concerns the whole form.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Layout | Self::NoSteps | Self::TooManyFields { .. } => None,
            Self::Key { key }
            | Self::DuplicateKey { key }
            | Self::LabelTooLong { key, .. }
            | Self::UnknownType { key, .. }
            | Self::OptionsMissing { key, .. }
            | Self::OptionEmpty { key }
            | Self::DuplicateOption { key, .. }
            | Self::RuleDoesNotApply { key, .. }
            | Self::Pattern { key, .. }
            | Self::TooManyOptions { key, .. }
            | Self::TooManyAllowed { key, .. }
            | Self::PatternsTooLong { key, .. }
            | Self::PatternsTooLarge { key, .. }
            | Self::Lengths { key }
            | Self::Bounds { key }
            | Self::RangeBounds { key }
            | Self::Bound { key, .. }
            | Self::AllowedValues { key, .. }
            | Self::Default { key, .. }
            | Self::SensitiveDefault { key }
            | Self::DefaultRef { key }
            | Self::ConditionField { key, .. }
            | Self::ConditionOperator { key, .. }
            | Self::ConditionValue { key, .. } => Some(key),
        }
    }
}

/// What is wrong with an answer. The spelling of each code is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldErrorCode {
    /// A required field was left empty.
    Required,
    /// The value has the wrong JSON type and could not be read as the right one.
    WrongType,
    /// Fewer characters than `minLength`.
    TooShort,
    /// More characters than `maxLength`.
    TooLong,
    /// The value is below `min`.
    TooSmall,
    /// The value is above `max`.
    TooLarge,
    /// The value does not match `pattern`.
    Pattern,
    /// The value is not one of `options` or `allowed_values`.
    NotAnOption,
    /// Not an email address.
    InvalidEmail,
    /// Not a URL, or one with a refused scheme.
    InvalidUrl,
    /// Not an ISO 8601 date or RFC 3339 timestamp.
    InvalidDate,
    /// Not a reference to a file.
    InvalidFile,
    /// The form has no such field.
    UnknownField,
}

impl FieldErrorCode {
    /// The code as it appears in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::WrongType => "wrong_type",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::TooSmall => "too_small",
            Self::TooLarge => "too_large",
            Self::Pattern => "pattern",
            Self::NotAnOption => "not_an_option",
            Self::InvalidEmail => "invalid_email",
            Self::InvalidUrl => "invalid_url",
            Self::InvalidDate => "invalid_date",
            Self::InvalidFile => "invalid_file",
            Self::UnknownField => "unknown_field",
        }
    }
}

impl fmt::Display for FieldErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One refused answer: its field, a stable code, and a sentence for the person.
///
/// The message is built from the form alone, never from the submitted value, so it can be logged
/// and shown even for sensitive fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{key}: {message}")]
pub struct FieldError {
    /// The key of the field, or the unknown key that was submitted.
    pub key: String,
    /// The stable code of the error.
    pub code: FieldErrorCode,
    /// What the person should do, in one plain sentence.
    pub message: String,
}

/// A field error that does not yet know its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueError {
    pub(super) code: FieldErrorCode,
    pub(super) message: String,
}

impl ValueError {
    pub(super) fn new(code: FieldErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn on(self, key: &str) -> FieldError {
        FieldError { key: key.to_owned(), code: self.code, message: self.message }
    }
}

/// At most 60 characters of untrusted text, for use inside a message.
pub(super) fn shorten(text: &str) -> String {
    const MAX: usize = 60;
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MAX).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_a_code_is_the_same_in_json_and_in_text() {
        for name in [
            "required",
            "wrong_type",
            "too_short",
            "too_long",
            "too_small",
            "too_large",
            "pattern",
            "not_an_option",
            "invalid_email",
            "invalid_url",
            "invalid_date",
            "invalid_file",
            "unknown_field",
        ] {
            let code: FieldErrorCode = serde_json::from_value(name.into()).unwrap();
            assert_eq!(code.as_str(), name);
            assert_eq!(code.to_string(), name);
        }
    }

    #[test]
    fn long_names_are_shortened_by_characters() {
        assert_eq!(shorten("é"), "é");
        assert_eq!(shorten(&"é".repeat(1000)).chars().count(), 61);
    }
}
