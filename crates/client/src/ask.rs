//! An ask as the server shows it.

use dialects::proof::EvidenceStatus;
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::question::Answer;
use kernel::{Assurance, By, Via};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An ask as our own API shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// Its id.
    pub id: String,
    /// Its version.
    #[serde(default)]
    pub version: u64,
    /// `pending`, `opened`, `in_progress`, `completed`, `expired`, `cancelled` or `failed`.
    pub state: String,
    /// The kind of question.
    pub kind: String,
    /// What is asked.
    pub question: Option<Value>,
    /// The data that the agent attached to the ask; `None` once it was erased.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The labels that the ask was created with, each once and in alphabetical order.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How it ended; `None` while it is open.
    pub result: Option<Ended>,
    /// The signed receipt, once it is over.
    #[serde(default)]
    pub receipt: Option<String>,
    /// When and why what was said was called back, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Ask {
    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.result.is_some()
    }

    /// The verdict of the answer: `approved`, `rejected`, `chosen`, … Also of one that nobody gave or
    /// that was revoked: whether it counts, an [`Outcome`](crate::asking::Outcome) tells.
    pub fn verdict(&self) -> Option<&str> {
        self.result.as_ref()?.answer.as_ref()?.get("verdict")?.as_str()
    }
}

/// That an answer was called back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    /// When.
    pub at: String,
    /// Why, if that was said.
    #[serde(default)]
    pub reason: Option<String>,
}

/// How an ask ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// `completed`, `expired`, `failed` or `cancelled`.
    pub outcome: String,
    /// What was said; `None` if nobody said anything, or once it was erased.
    #[serde(default)]
    pub answer: Option<Value>,
    /// The words that go with it.
    #[serde(default)]
    pub comment: Option<String>,
    /// Who ended it.
    pub by: By,
    /// Through which door.
    #[serde(default)]
    pub via: Option<Via>,
    /// How sure the server is that it was them.
    #[serde(default)]
    pub assurance: Option<Assurance>,
    /// What the agent is to do, if it expired.
    #[serde(default)]
    pub report: Option<String>,
    /// Why it was cancelled.
    #[serde(default)]
    pub reason: Option<String>,
    /// When.
    pub at: String,
}

impl Ended {
    /// The answer, typed.
    pub fn said(&self) -> Option<Answer> {
        serde_json::from_value(self.answer.clone()?).ok()
    }

    /// Whether a person answered, as far as the server knows: neither time nor an agent's own word.
    /// The scripted people of a test server are people.
    pub fn is_by_a_person(&self) -> bool {
        matches!(self.by, By::Human(_) | By::LinkHolder) && self.assurance >= Some(Assurance::Link)
    }
}

/// A signed receipt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// The compact JWS: keep this.
    pub receipt: String,
    /// What it claims.
    pub claims: Value,
    /// The evidence that a passkey confirmed the answer: check it with
    /// [`verify_evidence`](crate::verify_evidence).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<PasskeyEvidence>>,
    /// Where that evidence is, if the assurance is `passkey`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_status: Option<EvidenceStatus>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_and_tags_are_fields_of_the_ask() {
        let ask = |more: Value| {
            let mut shown = json!({ "id": "ask_1", "state": "pending", "kind": "approve" });
            shown.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<Ask>(shown).unwrap()
        };
        let made = ask(json!({ "metadata": { "run": 7 }, "tags": ["finance", "eu"] }));
        assert_eq!(made.metadata.map(Value::Object), Some(json!({ "run": 7 })));
        assert_eq!(made.tags, ["finance", "eu"]);
        assert!(!made.rest.contains_key("metadata") && !made.rest.contains_key("tags"));
        let erased = ask(json!({ "metadata": null, "tags": [] }));
        assert_eq!((erased.metadata, erased.tags.len()), (None, 0));
    }
}
