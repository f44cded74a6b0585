//! Limits on a `response_schema`: its size, its depth, its patterns, and the keywords that make
//! validation slow. With them, the time and memory to compile a schema and to validate an answer
//! grow in proportion to their sizes.

use kernel::form::check_patterns;
use serde_json::Value;

/// Maximum size of a schema, in bytes of JSON.
const LONGEST_SCHEMA: usize = 64 << 10;
/// Maximum nesting of objects and lists in a schema.
const DEEPEST_SCHEMA: usize = 32;
/// Maximum number of objects, lists and values in a schema.
const MOST_NODES: usize = 10_000;
/// `unevaluatedProperties` and `unevaluatedItems` visit everything below them again, so each can
/// double the work.
const MOST_UNEVALUATED: usize = 4;

/// Counts collected while walking a schema.
#[derive(Default)]
struct SchemaCounts<'s> {
    nodes: usize,
    unevaluated: usize,
    patterns: Vec<&'s str>,
}

/// Checks a schema against the limits. The error names the accepted form.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("a JSON Schema".to_owned());
    }
    if schema.to_string().len() > LONGEST_SCHEMA {
        return Err("a JSON Schema of at most 64 KiB".to_owned());
    }
    let mut found = SchemaCounts::default();
    found.walk(schema, 0)?;
    if found.unevaluated > MOST_UNEVALUATED {
        return Err(format!(
            "a JSON Schema with at most {MOST_UNEVALUATED} uses of unevaluatedProperties and \
             unevaluatedItems"
        ));
    }
    check_patterns(found.patterns).map(drop).map_err(|why| format!("a JSON Schema with {why}"))
}

impl<'s> SchemaCounts<'s> {
    fn walk(&mut self, schema: &'s Value, depth: usize) -> Result<(), String> {
        self.nodes += 1;
        if depth > DEEPEST_SCHEMA {
            return Err(format!("a JSON Schema with at most {DEEPEST_SCHEMA} levels of nesting"));
        }
        if self.nodes > MOST_NODES {
            return Err(format!("a JSON Schema with at most {MOST_NODES} values"));
        }
        match schema {
            Value::Object(map) => {
                for (key, value) in map {
                    self.note(key, value)?;
                    self.walk(value, depth + 1)?;
                }
            }
            Value::Array(list) => {
                for value in list {
                    self.walk(value, depth + 1)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    /// A property may have the name of a keyword. Counting it then only uses up a little of the
    /// agent's budget.
    fn note(&mut self, key: &str, value: &'s Value) -> Result<(), String> {
        match (key, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                let expected =
                    "a JSON Schema without references; replace each $ref with the schema it names";
                return Err(expected.to_owned());
            }
            ("pattern", Value::String(pattern)) => self.patterns.push(pattern),
            ("patternProperties", Value::Object(patterns)) => {
                self.patterns.extend(patterns.keys().map(String::as_str));
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => self.unevaluated += 1,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// A schema of 26 KB once took 6.5 seconds and 1.1 GB to compile.
    #[test]
    fn patterns_of_a_schema_have_a_budget() {
        let property = |n: usize| {
            (
                format!("p{n}"),
                json!({ "type": "string", "pattern": format!("[^x]{{{}}}", 500 + n) }),
            )
        };
        let schema = |count| json!({ "type": "object", "properties": (0..count).map(property).collect::<Map<_, _>>() });
        assert!(check(&schema(2)).is_ok());
        let error = check(&schema(400)).unwrap_err();
        assert!(error.contains("2097152 bytes together when compiled"), "{error}");
        let keys: Map<String, Value> =
            (0..100).map(|n| (format!("^[^y]{{{}}}$", 600 + n), json!(true))).collect();
        assert!(check(&json!({ "patternProperties": keys })).is_err());
        let error = check(&json!({ "pattern": "(((a{100}){100}){100}){100}" })).unwrap_err();
        assert!(error.contains("size limit"), "{error}");
        assert!(check(&json!({ "pattern": "(" })).unwrap_err().contains("unclosed group"));
    }

    #[test]
    fn size_depth_and_slow_keywords_are_limited() {
        let nested = |depth: usize, keyword: &str| {
            (0..depth).fold(json!({ "type": "string" }), |inner, _| json!({ keyword: [inner] }))
        };
        assert!(check(&nested(15, "allOf")).is_ok());
        let error = check(&nested(40, "anyOf")).unwrap_err();
        assert!(error.contains("at most 32 levels of nesting"), "{error}");
        let wide = json!({ "enum": (0..12_000).collect::<Vec<_>>() });
        assert!(check(&wide).unwrap_err().contains("at most 10000 values"));
        let slow = (0..8).fold(
            json!({}),
            |inner, _| json!({ "allOf": [inner], "unevaluatedProperties": false }),
        );
        assert!(check(&slow).unwrap_err().contains("at most 4 uses of unevaluated"), "{slow}");
        for reference in ["$ref", "$dynamicRef"] {
            assert!(check(&json!({ "items": { reference: "#" } })).is_err());
        }
    }
}
