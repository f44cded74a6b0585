//! Limits on the cost of a form, so that no question takes more memory or time than a small
//! multiple of its size.
//!
//! They apply when a question is created. Stored forms were created under earlier limits and are
//! read without them.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::error::FormError;
use super::kind::FieldKind;
use super::pattern::{CompiledPattern, Pattern};
use super::{Field, Form};

/// The maximum number of fields of a form, in all steps together.
pub const MAX_FIELDS: usize = 500;
/// The maximum number of options of one field.
pub const MAX_OPTIONS: usize = 1_000;
/// The maximum number of `allowed_values` of one field, and of values its condition compares with.
pub const MAX_ALLOWED: usize = 1_000;
/// The maximum number of options and `allowed_values` of a form, in all fields together.
pub const MAX_ALL_OPTIONS: usize = 10_000;
/// The maximum length of all patterns of a form in bytes. Each distinct pattern counts once.
pub const MAX_PATTERN_BYTES: usize = 8 << 10;
/// The maximum memory of all compiled patterns of a form, in bytes.
pub const MAX_COMPILED_BYTES: usize = 2 << 20;

/// The compiled patterns of a form. They stay in the cache while this value exists.
#[derive(Debug, Default)]
pub struct PreparedPatterns {
    compiled: Vec<Arc<CompiledPattern>>,
}

impl PreparedPatterns {
    /// The memory of the compiled patterns, in bytes.
    pub fn bytes(&self) -> usize {
        self.compiled.iter().map(|compiled| compiled.bytes()).sum()
    }
}

impl Form {
    /// Whether the form has a pattern, so that checking an answer may take noticeable time.
    pub fn has_patterns(&self) -> bool {
        self.fields().any(|field| field.pattern().is_some())
    }

    /// Compiles every valid pattern without a limit on their sum. Used for stored forms.
    pub fn compile(&self) -> PreparedPatterns {
        let patterns = self.fields().filter_map(Field::pattern);
        PreparedPatterns {
            compiled: patterns.filter_map(|pattern| pattern.compile().ok()).collect(),
        }
    }

    /// Checks the form against the limits and compiles its patterns, up to the first one that
    /// exceeds a limit.
    pub fn prepare(&self) -> Result<PreparedPatterns, FormError> {
        self.check_counts()?;
        let mut seen = HashSet::new();
        let mut written = 0;
        let mut prepared = PreparedPatterns::default();
        let mut compiled_bytes = 0;
        for field in self.fields() {
            let Some(pattern) = field.pattern() else { continue };
            if !seen.insert(pattern.as_str()) {
                continue;
            }
            let key = || field.key().to_owned();
            written += pattern.as_str().len();
            if written > MAX_PATTERN_BYTES {
                return Err(FormError::PatternsTooLong { key: key(), max: MAX_PATTERN_BYTES });
            }
            let compiled =
                pattern.compile().map_err(|reason| FormError::Pattern { key: key(), reason })?;
            compiled_bytes += compiled.bytes();
            if compiled_bytes > MAX_COMPILED_BYTES {
                return Err(FormError::PatternsTooLarge { key: key(), max: MAX_COMPILED_BYTES });
            }
            prepared.compiled.push(compiled);
        }
        Ok(prepared)
    }

    fn check_counts(&self) -> Result<(), FormError> {
        let mut fields = 0;
        let mut all = 0;
        for field in self.fields() {
            fields += 1;
            let key = || field.key().to_owned();
            let options = field.options().len();
            if options > MAX_OPTIONS {
                return Err(FormError::TooManyOptions { key: key(), max: MAX_OPTIONS });
            }
            let compared = field.spec().conditional.as_ref().map(|wire| &wire.value);
            let compared = compared.and_then(Value::as_array).map_or(0, Vec::len);
            let allowed = field.allowed_values().len();
            for (rule, count) in [("allowed_values", allowed), ("conditional.value", compared)] {
                if count > MAX_ALLOWED {
                    return Err(FormError::TooManyAllowed { key: key(), rule, max: MAX_ALLOWED });
                }
            }
            all += options + allowed + compared;
            if all > MAX_ALL_OPTIONS {
                return Err(FormError::TooManyOptions { key: key(), max: MAX_ALL_OPTIONS });
            }
        }
        if fields > MAX_FIELDS {
            return Err(FormError::TooManyFields { count: fields, max: MAX_FIELDS });
        }
        Ok(())
    }
}

impl Field {
    /// The pattern of the field, if it has one.
    fn pattern(&self) -> Option<&Pattern> {
        match self.kind() {
            FieldKind::Text(rules)
            | FieldKind::Textarea(rules)
            | FieldKind::Email(rules)
            | FieldKind::Url(rules)
            | FieldKind::Custom(_, rules) => rules.pattern(),
            FieldKind::Number(_)
            | FieldKind::Range { .. }
            | FieldKind::Date(_)
            | FieldKind::Boolean
            | FieldKind::Select(_)
            | FieldKind::Multiselect(_)
            | FieldKind::File => None,
        }
    }
}

/// Checks patterns outside a form, such as those of a JSON Schema, against the same limits. `Err`
/// names the pattern, shortened, and the limit.
pub fn check_patterns<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<usize, String> {
    let mut seen = HashSet::new();
    let (mut written, mut compiled) = (0, 0);
    for source in patterns {
        if !seen.insert(source) {
            continue;
        }
        let shown = super::error::shorten(source);
        written += source.len();
        if written > MAX_PATTERN_BYTES {
            return Err(format!("patterns of at most {MAX_PATTERN_BYTES} bytes together"));
        }
        let reason =
            |reason: String| format!("a supported regular expression, not `{shown}`: {reason}");
        let pattern = Pattern::parse("", source).map_err(|error| {
            let FormError::Pattern { reason: why, .. } = error else {
                return reason(error.to_string());
            };
            reason(why)
        })?;
        compiled += pattern.compile().map_err(reason)?.bytes();
        if compiled > MAX_COMPILED_BYTES {
            return Err(format!(
                "patterns that take at most {MAX_COMPILED_BYTES} bytes together when compiled; \
                 `{shown}` exceeds the limit"
            ));
        }
    }
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(fields: impl IntoIterator<Item = Value>) -> Form {
        let fields: Vec<Value> = fields.into_iter().collect();
        serde_json::from_value(json!({ "fields": fields })).unwrap()
    }

    fn with_pattern(n: usize, pattern: &str) -> Value {
        let validation = json!({ "pattern": pattern });
        json!({ "key": format!("k{n}"), "label": "L", "type": "text", "validation": validation })
    }

    /// 400 fields with `[^x]{700}` once compiled the pattern 800 times, for 2.6 GB.
    #[test]
    fn the_same_pattern_is_compiled_and_counted_once() {
        let same = form((0..400).map(|n| with_pattern(n, "[^x]{700}")));
        let prepared = same.prepare().unwrap();
        assert_eq!(prepared.compiled.len(), 1);
        assert!(prepared.bytes() < 1 << 20, "{}", prepared.bytes());
    }

    #[test]
    fn the_sum_of_compiled_patterns_is_limited() {
        let many = (0..400).map(|n| with_pattern(n, &format!("[^x]{{{}}}", 300 + n)));
        let error = form(many).prepare().unwrap_err();
        assert!(matches!(error, FormError::PatternsTooLarge { .. }), "{error}");
        assert!(error.to_string().starts_with("field `k"), "{error}");
        assert!(error.to_string().contains("2097152 bytes"), "{error}");
        let long = (0..40).map(|n| with_pattern(n, &format!("{n}{}", "ab".repeat(200))));
        let error = form(long).prepare().unwrap_err();
        assert!(matches!(error, FormError::PatternsTooLong { .. }), "{error}");
    }

    #[test]
    fn fields_and_options_are_limited() {
        let plain = |n: usize| json!({ "key": format!("k{n}"), "label": "L", "type": "text" });
        assert!(form((0..MAX_FIELDS).map(plain)).prepare().is_ok());
        let error = form((0..=MAX_FIELDS).map(plain)).prepare().unwrap_err();
        assert_eq!(error.to_string(), "a form can have at most 500 fields, but this one has 501");
        let options = |count: usize| -> Vec<Value> {
            (0..count).map(|n| json!({ "value": n.to_string(), "label": "O" })).collect()
        };
        let select = |n: usize, count: usize| json!({ "key": format!("k{n}"), "label": "L", "type": "select", "options": options(count) });
        assert!(form([select(0, MAX_OPTIONS)]).prepare().is_ok());
        let error = form([select(0, MAX_OPTIONS + 1)]).prepare().unwrap_err();
        assert!(error.to_string().contains("at most 1000"), "{error}");
        let error = form((0..11).map(|n| select(n, MAX_OPTIONS))).prepare().unwrap_err();
        assert!(error.to_string().contains("at most 10000"), "{error}");
        let allowed: Vec<usize> = (0..=MAX_ALLOWED).collect();
        let field = json!({ "key": "k", "label": "L", "type": "number",
            "validation": { "allowed_values": allowed } });
        assert!(matches!(form([field]).prepare(), Err(FormError::TooManyAllowed { .. })));
    }

    #[test]
    fn patterns_outside_of_forms_have_the_same_limits() {
        assert!(check_patterns(["[a-z]+", "[a-z]+"]).is_ok());
        assert!(check_patterns(["("]).unwrap_err().contains("unclosed group"));
        let many: Vec<String> = (0..100).map(|n| format!("[^x]{{{}}}", 600 + n)).collect();
        let error = check_patterns(many.iter().map(String::as_str)).unwrap_err();
        assert!(error.contains("2097152 bytes"), "{error}");
    }
}
