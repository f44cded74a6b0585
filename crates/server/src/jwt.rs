//! Human tokens that somebody else issues: JWTs checked against a configured issuer and its keys.

use std::sync::Arc;

use anyhow::Context;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use kernel::directory::Directory;
use kernel::{HumanId, Time};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use crate::auth::Denied;
use crate::config::Jwt;

/// How long fetched keys are trusted: one the issuer withdrew stops working then.
const OLDEST_MILLIS: i64 = 10 * 60_000;
/// How long after a fetch the next one may come.
const AGAIN_MILLIS: i64 = 10_000;
/// The largest key set we read.
const LARGEST: usize = 256 * 1024;
/// Asymmetric algorithms only: a shared secret could be the issuer's public key.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Verifies the issuer's tokens.
pub struct JwtVerifier {
    issuer: Jwt,
    http: reqwest::Client,
    keys: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    keys: Option<(Arc<JwkSet>, Time)>,
    tried: Option<Time>,
}

#[derive(Clone, Deserialize)]
struct Claims {
    sub: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Option<bool>,
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
}

impl JwtVerifier {
    /// A verifier for one issuer. Its keys are fetched when first needed.
    pub fn new(issuer: Jwt) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(std::time::Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("cannot make an HTTP client")?;
        Ok(Self { issuer, http, keys: Mutex::default() })
    }

    /// The person a token names: its `sub` is their id, or its verified `email` is their address.
    pub async fn verify(
        &self,
        token: &str,
        directory: &Directory,
        now: Time,
    ) -> Result<HumanId, Denied> {
        let claims: Claims = self.claims(token, now).await?;
        let seconds = now.millis() / 1000;
        if claims.exp <= seconds || claims.nbf.is_some_and(|from| from > seconds + 60) {
            return Err(Denied::Unknown);
        }
        let by_id = claims.sub.parse().ok().and_then(|id: HumanId| directory.human(&id));
        let by_email = || {
            let email = claims.email.as_deref()?;
            directory.human_by_email(email).filter(|_| claims.email_verified == Some(true))
        };
        by_id.or_else(by_email).map(|human| human.id.clone()).ok_or(Denied::Unknown)
    }

    /// What a token of the issuer says. Whether it has run out is for the caller to judge.
    pub async fn claims<T: DeserializeOwned + Clone>(
        &self,
        token: &str,
        now: Time,
    ) -> Result<T, Denied> {
        let header = decode_header(token).map_err(|_| Denied::Unknown)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(Denied::Unknown);
        }
        let keys = self.keys_with(header.kid.as_deref(), now).await?;
        let jwk = match &header.kid {
            Some(kid) => keys.find(kid),
            None => keys.keys.first().filter(|_| keys.keys.len() == 1),
        }
        .ok_or(Denied::Unknown)?;
        let key = DecodingKey::from_jwk(jwk).map_err(|_| Denied::Unknown)?;
        let mut validation = Validation::new(header.alg);
        validation.set_issuer(&[&self.issuer.issuer]);
        validation.set_audience(&[&self.issuer.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Time is judged by our own clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Ok(decode::<T>(token, &key, &validation).map_err(|_| Denied::Unknown)?.claims)
    }

    /// The issuer's keys: fetched when first needed, when they are old, or when a token names one we
    /// do not know; but never more often than every ten seconds, whoever asks.
    async fn keys_with(&self, kid: Option<&str>, now: Time) -> Result<Arc<JwkSet>, Denied> {
        let mut known = self.keys.lock().await;
        let recent =
            |at: Time, millis| (0..millis).contains(&now.millis().saturating_sub(at.millis()));
        let just_tried = known.tried.is_some_and(|at| recent(at, AGAIN_MILLIS));
        if let Some((keys, at)) = &known.keys
            && recent(*at, OLDEST_MILLIS)
            && (just_tried || kid.is_none_or(|kid| keys.find(kid).is_some()))
        {
            return Ok(Arc::clone(keys));
        }
        if just_tried {
            return Err(Denied::Unavailable);
        }
        known.tried = Some(now);
        let keys = Arc::new(self.fetch().await.map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "cannot fetch the issuer's keys");
            Denied::Unavailable
        })?);
        known.keys = Some((Arc::clone(&keys), now));
        Ok(keys)
    }

    async fn fetch(&self) -> anyhow::Result<JwkSet> {
        let source = &self.issuer.jwks;
        if source.starts_with("http://") || source.starts_with("https://") {
            let mut answer = self.http.get(source).send().await?.error_for_status()?;
            let mut bytes = Vec::new();
            while let Some(chunk) = answer.chunk().await? {
                bytes.extend(chunk);
                anyhow::ensure!(bytes.len() <= LARGEST, "{source} is larger than 256 KiB");
            }
            return Ok(serde_json::from_slice(&bytes)?);
        }
        let bytes =
            tokio::fs::read(source).await.with_context(|| format!("cannot read {source}"))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
