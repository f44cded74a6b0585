//! Whether something is a JSON Schema, and whether a value is what one wants.
//!
//! Both come from outside. References are refused before they come here, so nothing is read twice, and
//! patterns run in linear time.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

/// So many mistakes are told.
const TOLD: usize = 20;

fn validator(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(|error| error.to_string())
}

/// Why something is not a schema we can use.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    validator(schema).map(drop)
}

/// What is wrong with a value, or nothing.
pub(super) fn judge(schema: &Value, value: &Value) -> Option<Value> {
    let errors: Vec<Value> = match validator(schema) {
        Ok(validator) => validator
            .iter_errors(value)
            .take(TOLD)
            .map(|error| json!({ "path": error.instance_path().to_string(), "message": error.to_string() }))
            .collect(),
        Err(message) => vec![json!({ "path": "", "message": message })],
    };
    (!errors.is_empty()).then(|| json!({ "errors": errors }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2H-064, A2H-131.
    #[test]
    fn what_is_wrong_is_told_by_place() {
        let schema = json!({
            "type": "object",
            "properties": { "n": { "type": "integer", "minimum": 1 } },
            "required": ["n"],
        });
        assert_eq!(judge(&schema, &json!({ "n": 7 })), None);
        let wrong = judge(&schema, &json!({ "n": 0.5 })).unwrap();
        assert_eq!(wrong["errors"][0]["path"], "/n");
        assert!(judge(&schema, &json!("seven")).is_some());
        assert!(check(&schema).is_ok());
        for bad in
            [json!({ "type": "colour" }), json!({ "pattern": "(" }), json!({ "required": 7 })]
        {
            assert!(check(&bad).is_err(), "{bad}");
        }
        // What would make a pattern run for ever elsewhere is no pattern here.
        assert!(check(&json!({ "pattern": "(a+)+\\1" })).is_err());
    }
}
