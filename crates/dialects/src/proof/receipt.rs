//! `GET /api/v1/asks/{id}/receipt`: the claims of a receipt, field for field as in
//! `docs/receipts.md`.

use kernel::actor::{ActorRef, AnswerInterface, Assurance, AttestedIdentity, SenderVerification};
use kernel::ask::{Ask, DefaultAction, DisplayedContent, RecordedAnswer};
use kernel::audit::Digest;
use kernel::passkey_evidence::without_secrets;
use kernel::question::{Answer, QuestionKind, Reply};
use kernel::receipt::{QuestionDigests, Receipt, ReceiptOutcome};
use kernel::verification::{Proof, ProofAssurance};
use kernel::{AgentId, AskId, ProjectId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::jwks::Jwks;
use super::jws::{self, ProofError};
use crate::hxp_execution::pseudonym;

/// The version of these claims.
pub const VERSION: u64 = 1;
/// The prefix of a receipt's id; the rest is the ask's.
pub const PREFIX: &str = "rcpt_";

/// The claims of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptClaims {
    /// The version of these claims.
    pub v: u64,
    /// The issuer: the URL of the installation.
    pub iss: String,
    /// The id of the receipt.
    pub jti: String,
    /// The ask.
    pub sub: AskId,
    /// When the ask was closed, in seconds since 1970.
    pub iat: i64,
    /// The project of the agent.
    pub project: ProjectId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The kind of question.
    pub kind: QuestionKind,
    /// The complete prompt.
    pub prompt: String,
    /// The SHA-256 of the canonical JSON of the question.
    pub question_sha256: Digest,
    /// The SHA-256 of the canonical JSON of the displayed text, if `shown` is `question` or absent;
    /// otherwise of `null`, which claims nothing.
    pub shown_sha256: Digest,
    /// How much of the question the server displayed where it was answered: `question` for all of
    /// it, `summary` for a part, `nothing`. Absent without an answer and in older receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<DisplayedContent>,
    /// The outcome.
    pub outcome: ClaimedOutcome,
    /// The answer, without sensitive values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The comment on the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What the agent does because there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<DefaultAction>,
    /// The reason for cancelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who answered or cancelled the ask; `system` if it expired.
    pub by: ActorRef,
    /// The interface: `web`, `api`, `cli`, `link`, `inline`, `timer`, or a newer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The assurance about who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// The person, as reported by the agent that passed the answer on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attested: Option<AttestedIdentity>,
    /// How the server verified the sender of the email with the answer. Absent if the answer was
    /// not an email, or the sender was not verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<SenderVerification>,
    /// The valid proofs that a person was present, if the agent required them. They do not prove
    /// who it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<ProofOfPerson>,
    /// The time of creation.
    pub asked_at: Time,
    /// The time at which a person claimed the ask, otherwise the time of creation.
    pub taken_up_at: Time,
    /// The time at which the ask was closed.
    pub ended_at: Time,
    /// The keys of sensitive values that were provided but are not in `answer`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Whether the answer had a comment that was erased with the person who wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub comment_erased: bool,
    /// Whether the evidence that a passkey confirmed the answer, or how the sender of the email was
    /// verified, was erased with the person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evidence_erased: bool,
    /// The position of the event that closed the ask.
    pub audit: ReceiptPlace,
}

/// The outcome of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReceiptOutcome))]
#[serde(rename_all = "snake_case")]
pub enum ClaimedOutcome {
    /// Answered, or the default was taken.
    Completed,
    /// Expired.
    Expired,
    /// Expired, which counts as a failure.
    Failed,
    /// Cancelled.
    Cancelled,
}

/// A proof of a person that was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProofOfPerson {
    /// The kind of proof, such as `proof_of_human`.
    pub proof_type: String,
    /// The provider.
    pub provider: String,
    /// The assurance that the provider states, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<ProofAssurance>,
    /// When it was verified.
    pub verified_at: Time,
}

impl From<Proof> for ProofOfPerson {
    fn from(proof: Proof) -> Self {
        let Proof { proof_type, provider, assurance, verified_at, .. } = proof;
        Self { proof_type, provider, assurance, verified_at }
    }
}

/// The place of an event in the chain of `sub`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReceiptPlace))]
pub struct ReceiptPlace {
    /// The number of the event, from 1.
    pub seq: u64,
    /// The hash of the event.
    pub hash: Digest,
}

/// Whether a receipt names the person who answered for a pool.
#[derive(Clone, Copy)]
pub enum NameDisclosure<'a> {
    /// Names the person, for receipts that people see.
    Shown,
    /// Replaces the person with the HXP pseudonym made with this secret, for receipts that agents
    /// get.
    Hidden(&'a [u8]),
}

impl ReceiptClaims {
    /// The claims about an ask; `None` while it is open and once its text was erased.
    pub fn of(ask: &Ask, issuer: &str, names: NameDisclosure<'_>) -> Option<Self> {
        let receipt = Receipt::of(ask)?;
        let exhibit = QuestionDigests::of(ask)?;
        let shown = ask.deciding_answer().and_then(|answer| answer.shown);
        let by = |by: ActorRef| match (by, names) {
            (ActorRef::Human(human), NameDisclosure::Hidden(secret)) if ask.is_pooled() => {
                // A pseudonym is a valid name; if it were not, the receipt would name no person.
                let name = pseudonym(secret, ask.id, &human).parse();
                name.map_or(ActorRef::System, ActorRef::Human)
            }
            (by, NameDisclosure::Shown | NameDisclosure::Hidden(_)) => by,
        };
        let mut claims = Self {
            v: VERSION,
            iss: issuer.trim_end_matches('/').to_owned(),
            jti: id(ask.id),
            sub: receipt.ask,
            iat: receipt.ended_at.millis().div_euclid(1000),
            project: receipt.project,
            agent: receipt.agent,
            kind: receipt.kind,
            question_sha256: exhibit.question,
            shown_sha256: exhibit.displayed(shown),
            shown,
            prompt: exhibit.prompt,
            outcome: ClaimedOutcome::Failed,
            answer: None,
            comment: None,
            report: None,
            reason: None,
            by: ActorRef::System,
            via: None,
            assurance: None,
            attested: None,
            sender: None,
            proofs: receipt.proofs.into_iter().map(ProofOfPerson::from).collect(),
            asked_at: receipt.asked_at,
            taken_up_at: receipt.taken_up_at,
            ended_at: receipt.ended_at,
            redacted: Vec::new(),
            comment_erased: false,
            evidence_erased: false,
            audit: ReceiptPlace { seq: receipt.place.seq, hash: receipt.place.hash },
        };
        match receipt.outcome {
            ReceiptOutcome::Completed { reply, by: who, via, assurance, attested, sender } => {
                let (Reply { answer, comment }, redacted) =
                    without_secrets(reply?, ask.question.value());
                claims.outcome = ClaimedOutcome::Completed;
                (claims.answer, claims.comment, claims.redacted) =
                    (Some(answer), comment, redacted);
                // The person who wrote the comment was erased; the decision stays provable.
                claims.comment_erased =
                    ask.deciding_answer().is_some_and(|answer| ask.is_redacted(answer));
                claims.evidence_erased =
                    ask.deciding_answer().is_some_and(RecordedAnswer::evidence_erased);
                (claims.by, claims.attested) = (by(who), attested);
                // A domain may identify its owner, and agents may not know who answered for a pool.
                let named = matches!(names, NameDisclosure::Shown) || !ask.is_pooled();
                claims.sender = sender.filter(|_| named).map(|sender| *sender);
                (claims.via, claims.assurance) = (Some(via_name(via).to_owned()), Some(assurance));
            }
            ReceiptOutcome::Expired { report } => {
                (claims.outcome, claims.report) = (ClaimedOutcome::Expired, Some(report));
            }
            ReceiptOutcome::Failed => {}
            ReceiptOutcome::Cancelled { by: who, reason } => {
                (claims.outcome, claims.by, claims.reason) =
                    (ClaimedOutcome::Cancelled, by(who), reason);
            }
        }
        Some(claims)
    }
}

/// The id of an ask's receipt.
pub fn id(ask: AskId) -> String {
    ask.with_prefix(PREFIX)
}

/// Verifies a receipt with trusted keys and returns its claims.
pub fn verify(receipt: &str, trusted: &Jwks) -> Result<ReceiptClaims, ProofError> {
    let claims: Value = jws::open(receipt, super::RECEIPT, trusted)?;
    if claims.get("v").and_then(Value::as_u64) != Some(VERSION) {
        return Err(ProofError::Version);
    }
    serde_json::from_value(claims).map_err(|_| ProofError::Claims)
}

fn via_name(via: AnswerInterface) -> &'static str {
    match via {
        AnswerInterface::Api => "api",
        AnswerInterface::Web => "web",
        AnswerInterface::Cli => "cli",
        AnswerInterface::Push => "push",
        AnswerInterface::Slack => "slack",
        AnswerInterface::Email => "email",
        AnswerInterface::Sms => "sms",
        AnswerInterface::Whatsapp => "whatsapp",
        AnswerInterface::Telegram => "telegram",
        AnswerInterface::Webhook => "webhook",
        AnswerInterface::Link => "link",
        AnswerInterface::Inline => "inline",
        AnswerInterface::Timer => "timer",
        AnswerInterface::Script => "script",
    }
}

// `GET /api/v1/receipts/revocations`: the revoked receipts and keys. The list is signed, so that
// copies of it can be verified.

/// A page of the list. A receipt is on one page only; the keys are on every page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevocationClaims {
    /// The installation that signed the list.
    pub iss: String,
    /// The time of the list, in seconds since 1970.
    pub iat: i64,
    /// The revoked receipts, those of the newest asks first.
    pub revoked: Vec<RevokedReceipt>,
    /// The revoked keys. Nothing signed with them is valid.
    pub keys: Vec<RevokedKey>,
    /// The page holds ids below this one. Absent on the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The lowest id of this page; the next page holds the ids below it. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A revoked receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedReceipt {
    /// The id of the receipt.
    pub jti: String,
    /// When it was revoked.
    pub at: Time,
    /// Why it was revoked; `null` once the text was erased.
    pub reason: Option<String>,
}

/// A revoked signing key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedKey {
    /// The id of the key.
    pub kid: String,
    /// When it was revoked.
    pub at: Time,
    /// Why it was revoked.
    pub reason: String,
}

impl RevocationClaims {
    /// Verifies a page of the list and reads it.
    pub fn verify(page: &str, trusted: &Jwks) -> Result<Self, ProofError> {
        jws::open(page, super::REVOCATIONS, trusted)
    }

    /// Whether a receipt would be on this page if it were revoked. The list is in descending order
    /// of ids.
    pub fn covers(&self, jti: &str) -> bool {
        self.after.as_deref().is_none_or(|after| jti < after)
            && self.next.as_deref().is_none_or(|next| jti >= next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_covers_what_lies_between_its_ends() {
        let page = |after: Option<&str>, next: Option<&str>| RevocationClaims {
            iss: String::new(),
            iat: 0,
            revoked: Vec::new(),
            keys: Vec::new(),
            after: after.map(str::to_owned),
            next: next.map(str::to_owned),
        };
        assert!(page(None, None).covers("rcpt_5"));
        assert!(page(None, Some("rcpt_5")).covers("rcpt_5"), "the last one it holds");
        assert!(!page(None, Some("rcpt_5")).covers("rcpt_4"));
        assert!(!page(Some("rcpt_5"), None).covers("rcpt_5"));
        assert!(page(Some("rcpt_5"), None).covers("rcpt_4"));
        assert!(!page(Some("rcpt_5"), Some("rcpt_3")).covers("rcpt_2"));
    }
}
