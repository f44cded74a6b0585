//! Proofs that a person is present. A [`ProofVerifier`] verifies them. The kernel decides what a
//! proof must contain and whether it is sufficient. HITL 0.8, §7.6; HITL-221.
//!
//! | module | contents |
//! |---|---|
//! | [`jwt`] | signed statements of a configured issuer, verified without a call |
//!
//! Proofs are verified and discarded: no event, log or receipt contains them.

pub mod jwt;

use std::sync::Arc;

use async_trait::async_trait;
use dialects::hitl::{self, CaseType, SubmittedEvidence};
use kernel::question::AnswerKind;
use kernel::verification::{PresentedProof, ProofFacts, ProviderOffer};
use kernel::{Ask, Time};
use serde_json::Value;
use url::Url;

use crate::jwt::KeySource;
use jwt::JwtProvider;

/// A provider of proofs as JWTs, from the settings.
#[derive(Debug, Clone)]
pub struct ProofIssuer {
    /// Its name in policies.
    pub name: String,
    /// The `iss` claim.
    pub issuer: String,
    /// The `aud` claim.
    pub audience: String,
    pub keys: KeySource,
    /// The claim with the level of assurance.
    pub assurance_claim: Option<String>,
    /// Its display name.
    pub title: String,
    /// The page where people get a proof.
    pub start_url: Option<Url>,
}

/// A provider that verifies proofs.
#[async_trait]
pub trait ProofVerifier: Send + Sync {
    /// Its name, and the kinds and formats of its proofs.
    fn offer(&self) -> ProviderOffer;

    /// Its display name.
    fn title(&self) -> &str;

    /// The page where people get a proof, if there is one.
    fn start_url(&self) -> Option<&Url>;

    /// Verifies a proof that should be for `expected`.
    async fn verify(
        &self,
        presentation: &Value,
        expected: &ProofPurpose,
        now: Time,
    ) -> Result<ProofFacts, VerificationError>;
}

/// The purpose that a proof must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofPurpose {
    pub case_id: String,
    pub action: &'static str,
    /// The challenge of the case.
    pub challenge: Option<String>,
}

impl ProofPurpose {
    /// The purpose of the proof for such an answer to an ask.
    pub fn of(ask: &Ask, stance: AnswerKind) -> Self {
        let challenge =
            ask.verification.as_ref().and_then(|policy| policy.binding.challenge.clone());
        let action = CaseType::of(ask).named_action(stance);
        Self { case_id: hitl::case_id(ask.id), action, challenge }
    }

    /// The fields beside a proof are not signed: they prove nothing, but must not contradict it.
    fn contradicted_by(&self, evidence: &SubmittedEvidence) -> Option<&'static str> {
        let challenge = self.challenge.as_deref();
        let said = [
            ("case_id", Some(self.case_id.as_str()), "its binding names another case"),
            ("action", Some(self.action), "its binding names another action"),
            ("challenge", challenge, "its binding names another challenge"),
        ];
        said.into_iter().find_map(|(key, expected, why)| {
            let given = evidence.binding.get(key).and_then(Value::as_str)?;
            (expected != Some(given)).then_some(why)
        })
    }
}

/// Why a proof was not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerificationError {
    /// The proof is invalid.
    Refused(&'static str),
    /// It cannot be verified at the moment.
    Unavailable,
}

/// A proof cannot be verified at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifierUnavailable;

/// All configured providers.
#[derive(Clone, Default)]
pub struct ProofVerifiers {
    all: Vec<Arc<dyn ProofVerifier>>,
}

impl ProofVerifiers {
    /// The providers in the settings.
    pub fn open(issuers: &[ProofIssuer]) -> anyhow::Result<Self> {
        let open = |issuer: &ProofIssuer| {
            JwtProvider::new(issuer.clone()).map(|one| Arc::new(one) as Arc<dyn ProofVerifier>)
        };
        Ok(Self { all: issuers.iter().map(open).collect::<anyhow::Result<_>>()? })
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn ProofVerifier> {
        self.all.iter().map(AsRef::as_ref)
    }

    /// The kinds of proofs that they verify.
    pub fn offers(&self) -> Vec<ProviderOffer> {
        self.iter().map(ProofVerifier::offer).collect()
    }

    /// The same as text. `None` without providers.
    pub fn description(&self) -> Option<String> {
        let one = |offer: ProviderOffer| {
            let ProviderOffer { provider, proof_types, formats, .. } = offer;
            format!("{} by {provider} as {}", proof_types.join(", "), formats.join(", "))
        };
        let words: Vec<String> = self.offers().into_iter().map(one).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The provider of this name.
    pub fn named(&self, name: &str) -> Option<&dyn ProofVerifier> {
        self.iter().find(|one| one.offer().provider == name)
    }

    /// The presented evidence, with the results of its verification.
    pub async fn check_evidence(
        &self,
        evidence: &[SubmittedEvidence],
        expected: &ProofPurpose,
        now: Time,
    ) -> Result<Vec<PresentedProof>, VerifierUnavailable> {
        let mut came = Vec::with_capacity(evidence.len());
        for one in evidence {
            let found = match self.verify(one, expected, now).await {
                Ok(facts) => Ok(facts),
                Err(VerificationError::Refused(why)) => {
                    tracing::debug!(case.id = expected.case_id, why, "refused a proof of presence");
                    Err(why.to_owned())
                }
                Err(VerificationError::Unavailable) => return Err(VerifierUnavailable),
            };
            let SubmittedEvidence { proof_type, provider, format, .. } = one.clone();
            came.push(PresentedProof { proof_type, provider, format, found });
        }
        Ok(came)
    }

    async fn verify(
        &self,
        one: &SubmittedEvidence,
        expected: &ProofPurpose,
        now: Time,
    ) -> Result<ProofFacts, VerificationError> {
        let provider = self.named(&one.provider);
        let provider = provider
            .ok_or(VerificationError::Refused("its provider is not configured on this server"))?;
        let offer = provider.offer();
        if !offer.proof_types.contains(&one.proof_type) || !offer.formats.contains(&one.format) {
            return Err(VerificationError::Refused(
                "its provider does not offer this kind of proof",
            ));
        }
        if let Some(why) = expected.contradicted_by(one) {
            return Err(VerificationError::Refused(why));
        }
        provider.verify(&one.presentation, expected, now).await
    }
}
