//! The objects of HITL 0.7 and 0.8, field for field. Appendix C.

use kernel::Time;
use kernel::form::FormProgress;
use kernel::verification::{ProofAssurance, VerificationPolicy};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::hxp_experience::claims::EnvelopeVerdict;

/// The body of a 202 (section 6).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accepted {
    /// Always `human_input_required`.
    pub status: &'static str,
    /// The text for the person.
    pub message: String,
    /// The case as the agent handles it.
    pub hitl: Hitl,
    /// The service's own data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The findings about the envelope. Not part of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<EnvelopeVerdict>,
}

/// The `hitl` object (HITL-010 to HITL-027). It has no further members.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hitl {
    /// The version of the schema it matches.
    pub spec_version: &'static str,
    /// `review_` and a ULID.
    pub case_id: String,
    /// The review page, with its token.
    pub review_url: String,
    /// The status URL, with its own token.
    pub poll_url: String,
    /// The event stream, with the same token.
    pub events_url: String,
    /// The URL that receives the result.
    pub callback_url: Option<String>,
    /// The URL where an agent submits an action that a person took elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_url: Option<String>,
    /// The token for `submit_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_token: Option<String>,
    /// The actions allowed at `submit_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_actions: Option<Vec<&'static str>>,
    #[serde(rename = "type")]
    pub kind: String,
    /// The question for the person.
    pub prompt: String,
    /// The timeout as the service wrote it.
    pub timeout: String,
    /// What the agent does without an answer.
    pub default_action: &'static str,
    pub created_at: Time,
    pub expires_at: Time,
    /// Details that belong to the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// When the agent sends the link again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_at: Option<Value>,
    /// The case that this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_case_id: Option<String>,
    /// A declaration of the page's format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Value>,
    /// The proofs of a person that an answer needs (0.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_policy: Option<VerificationPolicy>,
}

/// The body of a poll (section 8; HITL-090 to HITL-105).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Poll {
    pub status: &'static str,
    /// `review_` and a ULID.
    pub case_id: String,
    pub created_at: Time,
    /// When a person first opened the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Time>,
    pub expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Time>,
    /// Present once the case is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Answered>,
    /// The person who answered, if known and if the agent may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_by: Option<RespondedBy>,
    /// How it was answered (0.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_context: Option<SubmissionContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Time>,
    /// What the agent does after the case expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Time>,
    /// Why the case was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How far a form is filled in; present only while a person fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<FormProgress>,
    /// When the last reminder was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_sent_at: Option<Time>,
    /// The case that continues this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_case_id: Option<String>,
}

/// `result` (HITL-096 to HITL-098).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// The person's action.
    pub action: &'static str,
    /// The data of the action; may be empty.
    pub data: Map<String, Value>,
    /// The signed receipt, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// `result.signature`: the receipt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signature {
    /// Always `EdDSA`.
    pub algorithm: &'static str,
    /// A compact JWS whose claims are the receipt's.
    pub value: String,
    /// When the case ended. The receipt is dated to this time.
    pub signed_at: Time,
    /// The URL of the public keys.
    pub signer: String,
}

/// `responded_by`: only verified information.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RespondedBy {
    pub name: String,
}

/// `submission_context` of 0.8 (HITL-227).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmissionContext {
    /// `browser_submit` or `inline_submit`.
    pub mode: &'static str,
    /// The channel, as the agent attests it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_via: Option<String>,
    /// The person, as the agent attests them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_by: Option<SubmittedBy>,
    /// The result of verifying proofs of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_result: Option<VerificationResult>,
}

/// `verification_result` (HITL-228): the same for every provider, without the proofs themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerificationResult {
    /// Whether the proofs meet the policy.
    pub satisfied: bool,
    /// The valid proofs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified_evidence: Vec<VerifiedEvidence>,
    /// The requirements that were not met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_requirements: Vec<String>,
}

/// A valid proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol defines them")]
pub struct VerifiedEvidence {
    pub proof_type: String,
    pub provider: String,
    /// The provider's assurance level, if it states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance_level: Option<ProofAssurance>,
    /// The proof was made for this case.
    pub bound_to_case: bool,
    /// The proof was made for this action.
    pub bound_to_action: bool,
    /// The proof was recent enough.
    pub fresh: bool,
    /// The proof was accepted only once.
    pub single_use_enforced: bool,
    pub verified_at: Time,
}

/// `submitted_by`, as an agent attests it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmittedBy {
    pub platform: String,
    /// The person's id on that platform.
    pub platform_user_id: String,
    /// The person's name on that platform.
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
    pub completed_at: Time,
    /// The case that continues this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_case_id: Option<String>,
}
