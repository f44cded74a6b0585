//! Whether the agent wants a person's decision, and suggestions for its next request. Section 14 of
//! the protocol.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The agent's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A person decides: respond with 202.
    Human,
    /// No person decides: respond with 201 and [`skipped`].
    Skip,
}

/// Why a request made no valid choice. Respond with 400 and [`ChoiceError::body`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The request chose neither.
    #[error(
        "set `prefer_hitl: true` to let a person decide, or `skip_hitl: true` to continue \
             without"
    )]
    Required,
    /// The request chose both.
    #[error("`prefer_hitl` and `skip_hitl` cannot both be set")]
    Both,
}

impl Choice {
    /// The choice of a request (HITL-200). A request that continues a case has already chosen a
    /// person (HITL-201).
    pub fn of(request: &Value) -> Result<Self, ChoiceError> {
        let is = |name: &str| request.get(name).is_some_and(is_truthy);
        let human = is("prefer_hitl") || is("previous_case_id");
        match (human, is("skip_hitl")) {
            (true, false) => Ok(Self::Human),
            (false, true) => Ok(Self::Skip),
            (false, false) => Err(ChoiceError::Required),
            (true, true) => Err(ChoiceError::Both),
        }
    }
}

impl ChoiceError {
    /// The body of the 400.
    pub fn body(self) -> Value {
        let code = match self {
            Self::Required => "HITL_CHOICE_REQUIRED",
            Self::Both => "VALIDATION_ERROR",
        };
        json!({ "error": code, "message": self.to_string() })
    }
}

/// Truthiness as in JavaScript, which the protocol's own services use.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// How to improve the agent's next request (HITL-205).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    pub field: String,
    pub issue: String,
    /// What the agent can do.
    pub agent_action: String,
    pub impact: String,
    pub priority: Priority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    High,
    Medium,
    Low,
}

/// The body of a 200 or 201 with suggestions. An empty list means that the agent can stop.
#[must_use]
pub fn done(result: Map<String, Value>, suggestions: &[Suggestion]) -> Map<String, Value> {
    let mut body = result;
    body.insert("improvement_suggestions".to_owned(), json!(suggestions));
    body
}

/// The body of the 201 for a request that skipped the person.
#[must_use]
pub fn skipped(result: Map<String, Value>, suggestions: &[Suggestion]) -> Map<String, Value> {
    let mut body = done(result, suggestions);
    body.insert("hitl_skipped".to_owned(), json!(true));
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HITL-200, HITL-201: the whole table.
    #[test]
    fn the_choice() {
        let required = Err(ChoiceError::Required);
        for (request, expected) in [
            (json!({ "prefer_hitl": true }), Ok(Choice::Human)),
            (json!({ "skip_hitl": true }), Ok(Choice::Skip)),
            (json!({}), required),
            (json!({ "prefer_hitl": true, "skip_hitl": true }), Err(ChoiceError::Both)),
            (json!({ "prefer_hitl": false, "skip_hitl": true }), Ok(Choice::Skip)),
            (json!({ "prefer_hitl": true, "skip_hitl": false }), Ok(Choice::Human)),
            (json!({ "prefer_hitl": false, "skip_hitl": false }), required),
            (json!({ "prefer_hitl": null, "skip_hitl": 0 }), required),
            (json!({ "prefer_hitl": "yes" }), Ok(Choice::Human)),
            (json!({ "previous_case_id": "review_1" }), Ok(Choice::Human)),
            (json!({ "previous_case_id": "", "skip_hitl": true }), Ok(Choice::Skip)),
            (json!({ "previous_case_id": "review_1", "skip_hitl": true }), Err(ChoiceError::Both)),
            (json!([]), required),
        ] {
            assert_eq!(Choice::of(&request), expected, "{request}");
        }
        assert_eq!(ChoiceError::Required.body()["error"], "HITL_CHOICE_REQUIRED");
        assert_eq!(ChoiceError::Both.body()["error"], "VALIDATION_ERROR");
    }

    /// HITL-205.
    #[test]
    fn suggestions_stand_beside_the_result() {
        let text = str::to_owned;
        let suggestion = Suggestion {
            field: text("salary"),
            issue: text("missing"),
            agent_action: text("ask for it"),
            impact: text("better matches"),
            priority: Priority::High,
        };
        let result = Map::from_iter([(text("id"), json!(7))]);
        let body = Value::Object(skipped(result.clone(), &[suggestion]));
        assert_eq!(
            body,
            json!({
                "id": 7,
                "improvement_suggestions": [{
                    "field": "salary", "issue": "missing", "agent_action": "ask for it",
                    "impact": "better matches", "priority": "high",
                }],
                "hitl_skipped": true,
            })
        );
        assert_eq!(
            Value::Object(done(result, &[])),
            json!({ "id": 7, "improvement_suggestions": [] })
        );
    }
}
