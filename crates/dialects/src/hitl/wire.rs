//! The objects of HITL 0.7 and 0.8, field for field. Appendix C.

use kernel::Time;
use kernel::form::Progress;
use kernel::verification::{Level, Policy};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::hxp_experience::claims::Verdict;

/// The body of a 202 (section 6).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accepted {
    /// Always `human_input_required`.
    pub status: &'static str,
    /// What to tell the person.
    pub message: String,
    /// What the agent does now.
    pub hitl: Hitl,
    /// Free data of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Beside the protocol: what was found about the envelope it came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<Verdict>,
}

/// The `hitl` object (HITL-010 to HITL-027). Closed: nothing else may stand in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hitl {
    /// The version it validates against.
    pub spec_version: &'static str,
    /// `review_` and a ULID.
    pub case_id: String,
    /// The review page, with its token.
    pub review_url: String,
    /// Where to poll, with its own token.
    pub poll_url: String,
    /// Where to listen, with the same.
    pub events_url: String,
    /// Where the agent wants to be called back.
    pub callback_url: Option<String>,
    /// Where an agent submits what a person pressed elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_url: Option<String>,
    /// With this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_token: Option<String>,
    /// And only these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_actions: Option<Vec<&'static str>>,
    /// The review type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the person decides.
    pub prompt: String,
    /// As the service wrote it.
    pub timeout: String,
    /// What the agent does when nobody answers.
    pub default_action: &'static str,
    /// When it was made.
    pub created_at: Time,
    /// When it runs out.
    pub expires_at: Time,
    /// What goes with the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// When the agent sends the link again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_at: Option<Value>,
    /// The case it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_case_id: Option<String>,
    /// A declaration of the page's format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Value>,
    /// Which proofs of a person an answer needs (0.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_policy: Option<Policy>,
}

/// The body of a poll (section 8; HITL-090 to HITL-105).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Poll {
    /// Where it stands.
    pub status: &'static str,
    /// `review_` and a ULID.
    pub case_id: String,
    /// When it was made.
    pub created_at: Time,
    /// When somebody first looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Time>,
    /// When it runs out.
    pub expires_at: String,
    /// When it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Time>,
    /// What was answered; only once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Answered>,
    /// Who answered, where that is known and may be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_by: Option<RespondedBy>,
    /// How it was answered (0.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_context: Option<SubmissionContext>,
    /// When it ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Time>,
    /// What the agent does then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_action: Option<&'static str>,
    /// When it was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Time>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How far a form is filled; only while somebody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// When a reminder last went out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_sent_at: Option<Time>,
    /// The case that continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_case_id: Option<String>,
}

/// `result` (HITL-096 to HITL-098).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// What the person did.
    pub action: &'static str,
    /// What goes with it; may be empty.
    pub data: Map<String, Value>,
    /// The proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// `result.signature`: our receipt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signature {
    /// `EdDSA`.
    pub algorithm: &'static str,
    /// A compact JWS whose claims are the receipt's.
    pub value: String,
    /// When it ended, which is when it is signed as of.
    pub signed_at: Time,
    /// Where the keys are.
    pub signer: String,
}

/// `responded_by`: only what is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RespondedBy {
    /// What they are called.
    pub name: String,
}

/// `submission_context` of 0.8 (HITL-227).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmissionContext {
    /// `browser_submit` or `inline_submit`.
    pub mode: &'static str,
    /// The agent's words for how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_via: Option<String>,
    /// The agent's words for who.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_by: Option<SubmittedBy>,
    /// What came of the proofs of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_result: Option<VerificationResult>,
}

/// `verification_result` (HITL-228): the same whoever the provider is, and nothing of the proofs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerificationResult {
    /// Whether they were enough.
    pub satisfied: bool,
    /// Those that held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified_evidence: Vec<VerifiedEvidence>,
    /// What would have been enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_requirements: Vec<String>,
}

/// One proof that held.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has them")]
pub struct VerifiedEvidence {
    /// Which kind.
    pub proof_type: String,
    /// Whose.
    pub provider: String,
    /// How sure the provider is, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance_level: Option<Level>,
    /// Made for this case.
    pub bound_to_case: bool,
    /// Made for this action.
    pub bound_to_action: bool,
    /// Made lately enough.
    pub fresh: bool,
    /// Counted once only.
    pub single_use_enforced: bool,
    /// When that was found.
    pub verified_at: Time,
}

/// `submitted_by`, as an agent says it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmittedBy {
    /// Where.
    pub platform: String,
    /// Who, there.
    pub platform_user_id: String,
    /// What they are called there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// The body of an accepted answer (HITL-064).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Submitted {
    /// Always `completed`.
    pub status: &'static str,
    /// `review_` and a ULID.
    pub case_id: String,
    /// When.
    pub completed_at: Time,
    /// The case that continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_case_id: Option<String>,
}
