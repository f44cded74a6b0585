//! stub
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Form {}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Values(Map<String, Value>);
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("x")]
pub struct FieldError {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub current_step: u32,
    pub total_steps: u32,
    pub completed_fields: u32,
    pub total_fields: u32,
}
impl Values {
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }
}
impl Form {
    pub fn validate(&self, _m: &Map<String, Value>) -> Result<Values, Vec<FieldError>> {
        Err(vec![])
    }
}
