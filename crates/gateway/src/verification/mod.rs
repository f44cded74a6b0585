//! Proofs that a person is there: whoever can check one is a [`Provider`]. What a proof must say, and
//! whether it is enough, is the kernel's to judge. HITL 0.8, §7.6; HITL-221.
//!
//! | module | what it holds |
//! |---|---|
//! | [`jwt`] | signed statements of a configured issuer, checked without calling anybody |
//!
//! A proof is looked at and let go: it is in no event, no log and no receipt.

pub mod jwt;

use std::sync::Arc;

use async_trait::async_trait;
use dialects::hitl::{self, Evidence, Type};
use kernel::question::Stance;
use kernel::verification::{Facts, Offer, Presented};
use kernel::{Ask, Time};
use serde_json::Value;
use url::Url;

use crate::jwt::KeySource;
use jwt::JwtProvider;

/// A provider of proofs as JWTs, as the settings name it.
#[derive(Debug, Clone)]
pub struct ProofIssuer {
    /// What policies call it.
    pub name: String,
    /// `iss`.
    pub issuer: String,
    /// `aud`.
    pub audience: String,
    /// Its keys.
    pub keys: KeySource,
    /// The claim that says how sure it is.
    pub assurance_claim: Option<String>,
    /// What people know it by.
    pub title: String,
    /// Where people go to prove it.
    pub start_url: Option<Url>,
}

/// Somebody who can tell whether a proof holds.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Its name, what it proves and in which forms.
    fn offer(&self) -> Offer;

    /// What people know it by.
    fn title(&self) -> &str;

    /// Where people go to get a proof, if there is such a place.
    fn start_url(&self) -> Option<&Url>;

    /// What a proof says, for whoever expects it to be made for this.
    async fn verify(
        &self,
        presentation: &Value,
        expected: &Expected,
        now: Time,
    ) -> Result<Facts, Unverified>;
}

/// What a proof should be made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The case.
    pub case_id: String,
    /// The action.
    pub action: &'static str,
    /// The challenge of the case.
    pub challenge: Option<String>,
}

impl Expected {
    /// What the proof of such an answer to an ask should be made for.
    pub fn of(ask: &Ask, stance: Stance) -> Self {
        let challenge =
            ask.verification.as_ref().and_then(|policy| policy.binding.challenge.clone());
        let action = Type::of(ask).named_action(stance);
        Self { case_id: hitl::case_id(ask.id), action, challenge }
    }

    /// What is said beside a proof is signed by nobody: it proves nothing, and may not contradict.
    fn contradicted_by(&self, evidence: &Evidence) -> Option<&'static str> {
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

/// Why nobody stands for a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unverified {
    /// It does not hold.
    Refused(&'static str),
    /// Nobody can tell now.
    Unavailable,
}

/// Nobody can tell now whether a proof holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// Everybody who was configured.
#[derive(Clone, Default)]
pub struct Providers {
    all: Vec<Arc<dyn Provider>>,
}

impl Providers {
    /// The providers of the settings.
    pub fn open(issuers: &[ProofIssuer]) -> anyhow::Result<Self> {
        let open = |issuer: &ProofIssuer| {
            JwtProvider::new(issuer.clone()).map(|one| Arc::new(one) as Arc<dyn Provider>)
        };
        Ok(Self { all: issuers.iter().map(open).collect::<anyhow::Result<_>>()? })
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Provider> {
        self.all.iter().map(AsRef::as_ref)
    }

    /// What they can prove.
    pub fn offers(&self) -> Vec<Offer> {
        self.iter().map(Provider::offer).collect()
    }

    /// The same in words, if there is anybody.
    pub fn words(&self) -> Option<String> {
        let one = |offer: Offer| {
            let Offer { provider, proof_types, formats, .. } = offer;
            format!("{} by {provider} as {}", proof_types.join(", "), formats.join(", "))
        };
        let words: Vec<String> = self.offers().into_iter().map(one).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The provider of this name.
    pub fn named(&self, name: &str) -> Option<&dyn Provider> {
        self.iter().find(|one| one.offer().provider == name)
    }

    /// What came, with what the providers say of it.
    pub async fn presented(
        &self,
        evidence: &[Evidence],
        expected: &Expected,
        now: Time,
    ) -> Result<Vec<Presented>, Unavailable> {
        let mut came = Vec::with_capacity(evidence.len());
        for one in evidence {
            let found = match self.verify(one, expected, now).await {
                Ok(facts) => Ok(facts),
                Err(Unverified::Refused(why)) => {
                    tracing::debug!(case.id = expected.case_id, why, "a proof does not hold");
                    Err(why.to_owned())
                }
                Err(Unverified::Unavailable) => return Err(Unavailable),
            };
            let Evidence { proof_type, provider, format, .. } = one.clone();
            came.push(Presented { proof_type, provider, format, found });
        }
        Ok(came)
    }

    async fn verify(
        &self,
        one: &Evidence,
        expected: &Expected,
        now: Time,
    ) -> Result<Facts, Unverified> {
        let provider = self.named(&one.provider);
        let provider = provider.ok_or(Unverified::Refused("nobody here can check it"))?;
        let offer = provider.offer();
        if !offer.proof_types.contains(&one.proof_type) || !offer.formats.contains(&one.format) {
            return Err(Unverified::Refused("its provider gives no such proof"));
        }
        if let Some(why) = expected.contradicted_by(one) {
            return Err(Unverified::Refused(why));
        }
        provider.verify(&one.presentation, expected, now).await
    }
}
