//! An ask as the server shows it.

use dialects::proof::EvidenceStatus;
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::question::Answer;
use kernel::{ActorRef, AnswerInterface, Assurance};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An ask as our own API shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    pub id: String,
    #[serde(default)]
    pub version: u64,
    /// `pending`, `opened`, `in_progress`, `completed`, `expired`, `cancelled` or `failed`.
    pub state: String,
    /// The kind of question.
    pub kind: String,
    /// The question; `None` once it was erased.
    pub question: Option<Value>,
    /// The data that the agent attached to the ask; `None` once it was erased.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The labels that the ask was created with, each once and in alphabetical order.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How it ended; `None` while it is open.
    pub result: Option<Ended>,
    /// The signed receipt, once the ask is closed.
    #[serde(default)]
    pub receipt: Option<String>,
    /// When and why the answer was revoked, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
    /// All other members.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Ask {
    /// Whether the ask is closed.
    pub fn is_over(&self) -> bool {
        self.result.is_some()
    }

    /// The verdict of the answer: `approved`, `rejected`, `chosen`, … This includes defaults and
    /// revoked answers; an [`Outcome`](crate::asking::Outcome) says whether the answer counts.
    pub fn verdict(&self) -> Option<&str> {
        self.result.as_ref()?.answer.as_ref()?.get("verdict")?.as_str()
    }
}

/// The revocation of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    pub at: String,
    /// The reason, if one was given.
    #[serde(default)]
    pub reason: Option<String>,
}

/// How an ask ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// `completed`, `expired`, `failed` or `cancelled`.
    pub outcome: String,
    /// The answer; `None` if there was none, or once it was erased.
    #[serde(default)]
    pub answer: Option<Value>,
    #[serde(default)]
    pub comment: Option<String>,
    pub by: ActorRef,
    /// The channel of the answer.
    #[serde(default)]
    pub via: Option<AnswerInterface>,
    /// The assurance that it was this actor.
    #[serde(default)]
    pub assurance: Option<Assurance>,
    /// What the agent should do, if the ask expired.
    #[serde(default)]
    pub report: Option<String>,
    /// Why the ask was cancelled.
    #[serde(default)]
    pub reason: Option<String>,
    pub at: String,
}

impl Ended {
    /// The answer, typed.
    pub fn typed_answer(&self) -> Option<Answer> {
        serde_json::from_value(self.answer.clone()?).ok()
    }

    /// Whether a person answered, as far as the server knows, and neither the timeout nor the
    /// agent. The scripted people of a test server count as people.
    pub fn is_by_a_person(&self) -> bool {
        matches!(self.by, ActorRef::Human(_) | ActorRef::LinkHolder)
            && self.assurance >= Some(Assurance::Link)
    }
}

/// A signed receipt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// The compact JWS. Keep this.
    pub receipt: String,
    pub claims: Value,
    /// The evidence that a passkey confirmed the answer. Check it with
    /// [`verify_evidence`](crate::verify_evidence).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<PasskeyEvidence>>,
    /// Whether that evidence is available, if the assurance is `passkey`.
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
