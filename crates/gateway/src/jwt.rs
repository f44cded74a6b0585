//! Verifies JWTs of a configured issuer: human tokens here, proofs of a person in `verification`.

use std::sync::Arc;

use anyhow::{Context, bail};
use jsonwebtoken::jwk::{
    AlgorithmParameters, Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use kernel::directory::Directory;
use kernel::{HumanId, Time};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::Clock;
use store::outage::Outage;
use tokio::sync::Mutex;

use crate::auth_error::Denied;

/// How long fetched keys are trusted. A key that the issuer withdrew stops working after this time.
const KEYS_MAX_AGE_MILLIS: i64 = 10 * 60_000;
/// The shortest time between two fetches.
const MIN_REFETCH_MILLIS: i64 = 10_000;
/// The largest key set that is read.
const MAX_KEY_SET_BYTES: usize = 256 * 1024;
/// Asymmetric algorithms only: with a symmetric one, the issuer's public key could be used
/// as the secret.
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

/// The accepted types of tokens that are used as credentials. `at+jwt` is RFC 9068.
const ACCESS_TOKENS: [&str; 2] = ["jwt", "at+jwt"];
/// The type of plain JWTs.
pub const PLAIN_JWT_TYPES: [&str; 1] = ["jwt"];

/// An issuer of human JWTs, from the settings.
#[derive(Debug, Clone)]
pub struct TokenIssuer {
    /// The `iss` claim.
    pub issuer: String,
    /// The `aud` claim.
    pub audience: String,
    /// Its keys: a URL or a file.
    pub jwks: String,
}

/// Verifies the issuer's tokens.
pub struct JwtVerifier {
    issuer: Issuer,
    /// The issuer's tokens have real times.
    wall_clock: Arc<dyn Clock>,
}

#[derive(Clone, Deserialize)]
struct JwtClaims {
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
    /// A verifier for one issuer. Its keys are fetched when they are first needed.
    pub fn new(settings: TokenIssuer, wall_clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let TokenIssuer { issuer, audience, jwks } = settings;
        let issuer = Issuer::new(issuer, audience, KeySource::At(jwks), &ACCESS_TOKENS)?;
        Ok(Self { issuer, wall_clock })
    }

    /// The person of a token: its `sub` is their id, or its verified `email` is their address.
    pub async fn verify(&self, token: &str, directory: &Directory) -> Result<HumanId, Denied> {
        let now = self.wall_clock.now();
        let claims: JwtClaims = self.issuer.claims(token, &["exp", "sub"], now).await?;
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
}

/// Where the keys of an issuer are.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// At a URL or in a file, as a JWKS.
    At(String),
    /// In the settings.
    Given(Arc<JwkSet>),
}

/// An issuer of JWTs for this server.
pub struct Issuer {
    name: String,
    audience: String,
    source: KeySource,
    /// The accepted values of `typ`, in lower case.
    types: &'static [&'static str],
    http: reqwest::Client,
    keys: Mutex<CachedJwks>,
    outage: Outage,
}

#[derive(Default)]
struct CachedJwks {
    keys: Option<(Arc<JwkSet>, Time)>,
    tried: Option<Time>,
}

impl Issuer {
    /// An issuer of this name, with tokens for this audience and of these types. A token without a
    /// type is accepted.
    pub fn new(
        name: String,
        audience: String,
        source: KeySource,
        types: &'static [&'static str],
    ) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .http1_only()
            .timeout(std::time::Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("cannot create an HTTP client")?;
        let outage = Outage::new(format!("keys of the token issuer {name}"));
        Ok(Self { name, audience, source, types, http, keys: Mutex::default(), outage })
    }

    /// The claims of a token that this issuer signed for this audience, and that has the required
    /// claims. The caller checks the times, by the server's own clock.
    pub async fn claims<T: DeserializeOwned>(
        &self,
        token: &str,
        required: &[&str],
        now: Time,
    ) -> Result<T, Denied> {
        let header = decode_header(token).map_err(|_| Denied::Unknown)?;
        if !ALGORITHMS.contains(&header.alg) || !self.accepts_header(&header) {
            return Err(Denied::Unknown);
        }
        let keys = self.keys_with(header.kid.as_deref(), now).await?;
        // A signing key and an encryption key may have the same id.
        let mut named = keys.keys.iter().filter(|key| match &header.kid {
            Some(kid) => key.common.key_id.as_ref() == Some(kid),
            None => keys.keys.len() == 1,
        });
        let jwk = named.find(|key| is_signing_key_for(key, header.alg)).ok_or(Denied::Unknown)?;
        let key = DecodingKey::from_jwk(jwk).map_err(|_| Denied::Unknown)?;
        let mut validation = Validation::new(header.alg);
        validation.set_issuer(&[&self.name]);
        validation.set_audience(&[&self.audience]);
        let required: Vec<&str> = required.iter().copied().chain(["iss", "aud"]).collect();
        validation.set_required_spec_claims(&required);
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let decoded = decode::<T>(token, &key, &validation);
        Ok(decoded.map_err(|_| Denied::Unknown)?.claims)
    }

    /// Whether the type of a token is accepted, and it has no critical extensions (RFC 7515
    /// §4.1.11). No extension is supported.
    fn accepts_header(&self, header: &Header) -> bool {
        let known_type = header.typ.as_ref().is_none_or(|typ| {
            let typ = typ.to_ascii_lowercase();
            self.types.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
        });
        known_type && header.crit.is_none()
    }

    /// The issuer's keys. They are fetched when first needed, when they are old, or when a token
    /// names an unknown key, but at most every ten seconds.
    async fn keys_with(&self, kid: Option<&str>, now: Time) -> Result<Arc<JwkSet>, Denied> {
        let source = match &self.source {
            KeySource::Given(keys) => return Ok(Arc::clone(keys)),
            KeySource::At(source) => source,
        };
        let mut known = self.keys.lock().await;
        let recent =
            |at: Time, millis| (0..millis).contains(&now.millis().saturating_sub(at.millis()));
        let just_tried = known.tried.is_some_and(|at| recent(at, MIN_REFETCH_MILLIS));
        if let Some((keys, at)) = &known.keys
            && recent(*at, KEYS_MAX_AGE_MILLIS)
            && (just_tried || kid.is_none_or(|kid| keys.find(kid).is_some()))
        {
            return Ok(Arc::clone(keys));
        }
        if just_tried {
            return Err(Denied::Unavailable);
        }
        known.tried = Some(now);
        let keys = Arc::new(self.fetch(source).await.map_err(|error| {
            self.outage.failed("sign-in", &format!("{error:#}"));
            Denied::Unavailable
        })?);
        self.outage.worked("sign-in");
        known.keys = Some((Arc::clone(&keys), now));
        Ok(keys)
    }

    async fn fetch(&self, source: &str) -> anyhow::Result<JwkSet> {
        if is_url(source) {
            let mut answer = self.http.get(source).send().await?.error_for_status()?;
            let mut bytes = Vec::new();
            while let Some(chunk) = answer.chunk().await? {
                bytes.extend(chunk);
                anyhow::ensure!(
                    bytes.len() <= MAX_KEY_SET_BYTES,
                    "{source} is larger than 256 KiB"
                );
            }
            return Ok(serde_json::from_slice(&bytes)?);
        }
        let bytes =
            tokio::fs::read(source).await.with_context(|| format!("cannot read {source}"))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// Whether a key is for verifying signatures with this algorithm (RFC 7517 §4.2 to §4.4). A key
/// that does not name its use is accepted.
fn is_signing_key_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let used = common.public_key_use.as_ref();
    let operations = common.key_operations.as_ref();
    used.is_none_or(|used| *used == PublicKeyUse::Signature)
        && operations.is_none_or(|operations| operations.contains(&KeyOperations::Verify))
        && common.key_algorithm.is_none_or(|named| named == KeyAlgorithm::from(algorithm))
}

/// Whether a key source is a URL and not a file.
pub fn is_url(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// A JWKS with public keys only.
pub fn public_keys(jwks: &Value) -> anyhow::Result<JwkSet> {
    let keys: JwkSet = serde_json::from_value(jwks.clone()).context("expected a JWKS")?;
    if keys.keys.is_empty() {
        bail!("expected at least one key");
    }
    if keys.keys.iter().any(|key| matches!(key.algorithm, AlgorithmParameters::OctetKey(_))) {
        bail!("expected public keys only, but there is a shared secret (`oct`)");
    }
    let given = jwks.get("keys").and_then(Value::as_array);
    if given.into_iter().flatten().any(|key| key.get("d").is_some()) {
        bail!("expected public keys only, but there is a private key (`d`)");
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_type_of_a_token_says_what_it_is_for() {
        let of = |types| {
            Issuer::new("i".to_owned(), "a".to_owned(), KeySource::At("f".to_owned()), types)
        };
        let (access, plain) = (of(&ACCESS_TOKENS).unwrap(), of(&PLAIN_JWT_TYPES).unwrap());
        for (typ, as_access, as_plain) in [
            (None, true, true),
            (Some("JWT"), true, true),
            (Some("application/jwt"), true, true),
            (Some("at+jwt"), true, false),
            (Some("application/at+JWT"), true, false),
            (Some("logout+jwt"), false, false),
            (Some("secevent+jwt"), false, false),
            (Some("dpop+jwt"), false, false),
            (Some(""), false, false),
        ] {
            let header = Header { typ: typ.map(str::to_owned), ..Header::new(Algorithm::EdDSA) };
            assert_eq!(access.accepts_header(&header), as_access, "{typ:?}");
            assert_eq!(plain.accepts_header(&header), as_plain, "{typ:?}");
            for crit in [Vec::new(), vec!["exp".to_owned()], vec!["b64".to_owned()]] {
                let header = Header { crit: Some(crit), ..header.clone() };
                assert!(!access.accepts_header(&header) && !plain.accepts_header(&header));
            }
        }
    }

    #[test]
    fn a_key_set_holds_public_keys_only() {
        let public = json!({ "kty": "OKP", "crv": "Ed25519", "x": "6JUQe4laSsX4QnhCjYpHCYhT8Mz5pk3Ve4xAqlObrHM" });
        let mut private = public.clone();
        private["d"] = json!("c2VjcmV0");
        let shared = json!({ "kty": "oct", "k": "c2VjcmV0" });
        assert_eq!(public_keys(&json!({ "keys": [public] })).unwrap().keys.len(), 1);
        for (keys, said) in [
            (json!({ "keys": [private] }), "a private key"),
            (json!({ "keys": [public, shared] }), "a shared secret"),
            (json!({ "keys": [] }), "at least one key"),
            (json!([public]), "a JWKS"),
        ] {
            let error = public_keys(&keys).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
