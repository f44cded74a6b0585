//! A proof as a JWT: a configured issuer states that it verified a person, for this case, action
//! and challenge. Verifying it needs no call.
//!
//! | claim | contents |
//! |---|---|
//! | `iss`, `aud` | as configured |
//! | `case_id`, `action` | the case and action of the proof |
//! | `challenge`, or `nonce` | the challenge of the case |
//! | `iat`, `exp` | the time of issue, and the expiry |
//! | `jti` | the id, for detecting repetitions |
//!
//! The proof need not identify the person, and such claims are ignored.

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::Digest;
use kernel::verification::{PROOF_OF_HUMAN, ProofAssurance, ProofFacts, ProviderOffer};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::{ProofIssuer, ProofPurpose, ProofVerifier, VerificationError};
use crate::auth_error::Denied;
use crate::jwt::{Issuer, PLAIN_JWT_TYPES};

/// The longest accepted token.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// An issuer of such JWTs.
pub struct JwtProvider {
    settings: ProofIssuer,
    issuer: Issuer,
}

#[derive(Deserialize)]
struct ProofClaims {
    iat: i64,
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    jti: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl JwtProvider {
    /// A provider with these settings.
    pub fn new(settings: ProofIssuer) -> anyhow::Result<Self> {
        let ProofIssuer { issuer, audience, keys, .. } = settings.clone();
        Ok(Self { settings, issuer: Issuer::new(issuer, audience, keys, &PLAIN_JWT_TYPES)? })
    }

    fn facts(&self, claims: &ProofClaims, expected: &ProofPurpose) -> ProofFacts {
        let text = |name: &str| claims.more.get(name).and_then(Value::as_str);
        let level = |name: &String| match text(name)? {
            "low" => Some(ProofAssurance::Low),
            "medium" => Some(ProofAssurance::Medium),
            "high" => Some(ProofAssurance::High),
            _ => None,
        };
        let moment = |seconds: i64| Time::from_millis(seconds.saturating_mul(1000));
        let challenge = text("challenge").or_else(|| text("nonce"));
        ProofFacts {
            // A token that is signed again or encoded differently is the same proof.
            digest: Digest::of_json(&json!([self.settings.issuer, claims.jti])),
            assurance: self.settings.assurance_claim.as_ref().and_then(level),
            bound_to_case: text("case_id") == Some(&expected.case_id),
            bound_to_action: text("action") == Some(expected.action),
            answers_challenge: challenge.is_some() && challenge == expected.challenge.as_deref(),
            issued_at: moment(claims.iat),
            expires_at: Some(moment(claims.exp)),
        }
    }
}

#[async_trait]
impl ProofVerifier for JwtProvider {
    fn offer(&self) -> ProviderOffer {
        ProviderOffer {
            provider: self.settings.name.clone(),
            proof_types: vec![PROOF_OF_HUMAN.to_owned()],
            formats: vec!["jwt".to_owned()],
            assurance: self.settings.assurance_claim.as_ref().map(|_| ProofAssurance::High),
        }
    }

    fn title(&self) -> &str {
        &self.settings.title
    }

    fn start_url(&self) -> Option<&Url> {
        self.settings.start_url.as_ref()
    }

    async fn verify(
        &self,
        presentation: &Value,
        expected: &ProofPurpose,
        now: Time,
    ) -> Result<ProofFacts, VerificationError> {
        let token = presentation.as_str().filter(|token| token.len() <= MAX_TOKEN_BYTES);
        let token = token.ok_or(VerificationError::Refused("it is not a JWT"))?;
        let claims = self.issuer.claims::<ProofClaims>(token, &["exp"], now).await;
        let claims = claims.map_err(|denied| match denied {
            Denied::Unavailable => VerificationError::Unavailable,
            Denied::Missing | Denied::Unknown | Denied::TooFast(_) | Denied::TooManyStreams => {
                VerificationError::Refused("its issuer did not sign it for this server")
            }
        })?;
        if claims.jti.is_empty() {
            return Err(VerificationError::Refused("its jti is empty"));
        }
        if claims.nbf.is_some_and(|from| from > now.millis() / 1000 + 60) {
            return Err(VerificationError::Refused("it is not valid yet"));
        }
        Ok(self.facts(&claims, expected))
    }
}
