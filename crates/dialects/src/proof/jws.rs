//! Compact JWS (RFC 7515), restricted to Ed25519, a header of three members, and one canonical
//! encoding. Verification rejects every token that this module would not have produced.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use kernel::Time;
use kernel::audit::canonical;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::jwks::{Jwk, Jwks};

/// Maximum size of a token, in bytes.
pub const LARGEST: usize = 16 << 20;
/// Maximum length of an encoded header.
const LONGEST_HEADER: usize = 1024;

/// Why a token is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The token is larger than [`LARGEST`].
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// The token does not have three parts.
    #[error("it does not consist of three parts separated by dots")]
    Shape,
    /// A part is not canonical base64url.
    #[error("its {0} is not base64url without padding")]
    Encoding(&'static str),
    /// The header is not the one this module writes.
    #[error("its header is not `alg`, `kid` and `typ` in canonical JSON")]
    Header,
    /// The algorithm is not allowed.
    #[error("its algorithm is not EdDSA")]
    Algorithm,
    /// The header requires an unknown extension.
    #[error("its header has `crit`, which Countersign never uses")]
    Critical,
    /// The token is of another type.
    #[error("it is not a {expected}")]
    Typ {
        /// The expected type.
        expected: &'static str,
    },
    /// The signing key is not trusted.
    #[error("its signing key {kid} is not trusted")]
    UnknownKey {
        /// The id of the key.
        kid: String,
    },
    /// The key did not sign this token, or the token was changed.
    #[error("the signature is not valid: the receipt was changed, or signed with another key")]
    Signature,
    /// The signature is valid, but the key was retired before.
    #[error("it is dated after the key that signed it was retired, at {at}")]
    RetiredKey {
        /// When the key was retired.
        at: Time,
    },
    /// The signature is valid, but the claims are not.
    #[error("its claims cannot be read, or are not canonical JSON")]
    Claims,
    /// The signature is valid, but the version is unknown.
    #[error("it is not of version 1")]
    Version,
}

impl ProofError {
    /// A stable code, the same in every language.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::Shape => "shape",
            Self::Encoding(_) => "encoding",
            Self::Header => "header",
            Self::Algorithm => "algorithm",
            Self::Critical => "critical",
            Self::Typ { .. } => "typ",
            Self::UnknownKey { .. } => "unknown-key",
            Self::Signature => "signature",
            Self::RetiredKey { .. } => "retired-key",
            Self::Claims => "claims",
            Self::Version => "version",
        }
    }
}

/// A signing key. It is never printed, and is wiped when dropped.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

impl SecretKey {
    /// The key from 32 random bytes.
    pub fn new(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public key.
    pub fn public(&self) -> Jwk {
        Jwk::of(&self.0.verifying_key())
    }

    /// Signs claims as canonical JSON. The same claims always give the same bytes.
    pub fn sign<T: Serialize>(&self, typ: &str, claims: &T) -> String {
        self.sign_text(&unsigned(&self.public().kid, typ, claims))
    }

    /// Signs a header and a payload that are already encoded, without checking them.
    pub fn sign_text(&self, signed: &str) -> String {
        let signature = self.0.sign(signed.as_bytes());
        format!("{signed}.{}", encode(&signature.to_bytes()))
    }
}

/// The signature part of a token.
pub fn signature(jws: &str) -> Option<Vec<u8>> {
    decode("signature", jws.rsplit_once('.')?.1).ok()
}

/// Combines a stored signature with its claims, which yields the bytes that were signed. `None` if
/// that key did not sign these claims or is not trusted.
pub fn attach<T: Serialize>(
    typ: &str,
    claims: &T,
    kid: &str,
    signature: &[u8],
    trusted: &Jwks,
) -> Option<String> {
    let (key, _) = trusted.find(kid)?;
    let unsigned = unsigned(kid, typ, claims);
    let made = Signature::from_slice(signature).ok()?;
    key.verify_strict(unsigned.as_bytes(), &made).ok()?;
    Some(format!("{unsigned}.{}", encode(signature)))
}

/// The encoded header and claims, which are signed.
fn unsigned<T: Serialize>(kid: &str, typ: &str, claims: &T) -> String {
    format!("{}.{}", encode(&header(kid, typ)), encode(&canonical(claims)))
}

/// Verifies a token and reads its claims.
pub fn open<T: DeserializeOwned>(
    jws: &str,
    typ: &'static str,
    trusted: &Jwks,
) -> Result<T, ProofError> {
    let claims = Parts::read(jws, typ)?.check(trusted)?;
    serde_json::from_value(claims).map_err(|_| ProofError::Claims)
}

/// The claims of a token, unverified. Use them only to find out whose keys to fetch.
pub fn peek<T: DeserializeOwned>(jws: &str, typ: &'static str) -> Result<T, ProofError> {
    let bytes = decode("payload", Parts::read(jws, typ)?.payload)?;
    serde_json::from_slice(&bytes).map_err(|_| ProofError::Claims)
}

/// The id of the key that a token names as its signer.
pub fn kid(jws: &str, typ: &'static str) -> Result<String, ProofError> {
    Parts::read(jws, typ).map(|parts| parts.kid)
}

/// A token with a valid header; its signature is not yet verified.
struct Parts<'a> {
    kid: String,
    signed: &'a str,
    payload: &'a str,
    signature: &'a str,
}

impl<'a> Parts<'a> {
    fn read(jws: &'a str, typ: &'static str) -> Result<Self, ProofError> {
        if jws.len() > LARGEST {
            return Err(ProofError::TooLarge);
        }
        let (signed, signature) = jws.rsplit_once('.').ok_or(ProofError::Shape)?;
        let (encoded, payload) = signed.split_once('.').ok_or(ProofError::Shape)?;
        if payload.contains('.') {
            return Err(ProofError::Shape);
        }
        if encoded.len() > LONGEST_HEADER {
            return Err(ProofError::Header);
        }
        let bytes = decode("header", encoded)?;
        let members: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|_| ProofError::Header)?;
        let text = |name| members.get(name).and_then(Value::as_str);
        if members.contains_key("crit") {
            return Err(ProofError::Critical);
        }
        if text("alg") != Some("EdDSA") {
            return Err(ProofError::Algorithm);
        }
        if text("typ") != Some(typ) {
            return Err(ProofError::Typ { expected: typ });
        }
        let kid = text("kid").ok_or(ProofError::Header)?.to_owned();
        // The header must be canonical: no further members, no duplicates, no spaces.
        if bytes != header(&kid, typ) {
            return Err(ProofError::Header);
        }
        Ok(Self { kid, signed, payload, signature })
    }

    fn check(self, trusted: &Jwks) -> Result<Value, ProofError> {
        let Self { kid, signed, payload, signature } = self;
        let signature = decode("signature", signature)?;
        let (key, retired) = trusted.find(&kid).ok_or(ProofError::UnknownKey { kid })?;
        let signature = Signature::from_slice(&signature).map_err(|_| ProofError::Signature)?;
        key.verify_strict(signed.as_bytes(), &signature).map_err(|_| ProofError::Signature)?;
        let bytes = decode("payload", payload)?;
        let claims: Value = serde_json::from_slice(&bytes).map_err(|_| ProofError::Claims)?;
        if canonical(&claims) != bytes {
            return Err(ProofError::Claims);
        }
        match retired.map(|seconds| Time::from_millis(seconds.saturating_mul(1000))) {
            Some(at) if latest_time(&claims).is_some_and(|date| date >= at) => {
                Err(ProofError::RetiredKey { at })
            }
            Some(_) | None => Ok(claims),
        }
    }
}

/// The latest time that the claims state: when they were issued, when a request ended, or when a
/// block was sealed.
fn latest_time(claims: &Value) -> Option<Time> {
    let issued = claims.get("iat").and_then(Value::as_i64);
    let issued = issued.map(|seconds| Time::from_millis(seconds.saturating_mul(1000)));
    let written = ["ended_at", "at"].into_iter().filter_map(|name| {
        let text = claims.get(name).and_then(Value::as_str)?;
        text.parse::<Time>().ok()
    });
    written.chain(issued).max()
}

fn header(kid: &str, typ: &str) -> Vec<u8> {
    canonical(&serde_json::json!({ "alg": "EdDSA", "kid": kid, "typ": typ }))
}

fn encode(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(part: &'static str, text: &str) -> Result<Vec<u8>, ProofError> {
    BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| ProofError::Encoding(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// RFC 8037, appendix A.4: the library produces the signature of the RFC.
    #[test]
    fn the_signature_of_the_rfc() {
        let seed = BASE64_URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A");
        let key = SecretKey::new(&seed.unwrap().try_into().unwrap());
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature = key.0.sign(signed.as_bytes());
        assert_eq!(
            encode(&signature.to_bytes()),
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        );
    }

    #[test]
    fn the_same_claims_give_the_same_bytes() {
        let key = SecretKey::new(&[7; 32]);
        let one = key.sign("x+jwt", &json!({ "b": 1, "a": [1e21, "é"] }));
        assert_eq!(one, key.sign("x+jwt", &json!({ "a": [1e21, "é"], "b": 1 })));
        let trusted = Jwks { keys: vec![key.public()] };
        let read: Value = open(&one, "x+jwt", &trusted).unwrap();
        assert_eq!(canonical(&read), r#"{"a":[1e+21,"é"],"b":1}"#.as_bytes());
        assert_eq!(format!("{key:?}"), "SecretKey { .. }");
    }

    /// A stored signature yields the same token again and is valid for no other.
    #[test]
    fn a_stored_signature_gives_the_same_bytes() {
        let (key, other) = (SecretKey::new(&[7; 32]), SecretKey::new(&[8; 32]));
        let trusted = Jwks { keys: vec![key.public(), other.public()] };
        let (claims, kid) = (json!({ "a": 1 }), key.public().kid);
        let signed = key.sign("x+jwt", &claims);
        let kept = signature(&signed).unwrap();
        assert_eq!(attach("x+jwt", &claims, &kid, &kept, &trusted), Some(signed));
        assert_eq!(attach("x+jwt", &json!({ "a": 2 }), &kid, &kept, &trusted), None);
        assert_eq!(attach("y+jwt", &claims, &kid, &kept, &trusted), None);
        assert_eq!(attach("x+jwt", &claims, &other.public().kid, &kept, &trusted), None);
        assert_eq!(attach("x+jwt", &claims, &kid, &kept[1..], &trusted), None);
        assert_eq!(attach("x+jwt", &claims, &kid, &kept, &Jwks::default()), None);
    }

    /// A thief of a retired key cannot sign anything new with it.
    #[test]
    fn what_is_dated_after_its_key_retired_is_refused() {
        let key = SecretKey::new(&[7; 32]);
        let at = Time::from_millis(1_770_372_000_000);
        let trusted = Jwks { keys: vec![key.public().retired(at)] };
        let read = |claims: Value| open::<Value>(&key.sign("x+jwt", &claims), "x+jwt", &trusted);
        let (before, after) = (1_770_371_999, 1_770_372_000);
        let refused = Err(ProofError::RetiredKey { at });
        assert!(read(json!({ "iat": before })).is_ok());
        assert!(read(json!({ "iat": before, "ended_at": "2026-02-06T09:59:59.999Z" })).is_ok());
        assert_eq!(read(json!({ "iat": after })), refused);
        let backdated = json!({ "iat": before, "ended_at": "2026-02-06T10:00:00.000Z" });
        assert_eq!(read(backdated), refused);
        assert_eq!(read(json!({ "at": "2026-02-06T10:00:00.000Z" })), refused);
    }

    /// A token of one type is never accepted as another, even with a valid signature.
    #[test]
    fn a_type_is_not_another() {
        let key = SecretKey::new(&[7; 32]);
        let trusted = Jwks { keys: vec![key.public()] };
        let block = key.sign("block+jwt", &json!({ "v": 1 }));
        let taken: Result<Value, _> = open(&block, "receipt+jwt", &trusted);
        assert_eq!(taken, Err(ProofError::Typ { expected: "receipt+jwt" }));
    }

    #[test]
    fn nothing_endless_is_read() {
        let none = Jwks::default();
        let endless = "a".repeat(LARGEST + 1);
        let read = |jws: &str| open::<Value>(jws, "x+jwt", &none);
        assert_eq!(read(&endless), Err(ProofError::TooLarge));
        assert_eq!(read(&format!("{}.a.a", "a".repeat(2000))), Err(ProofError::Header));
        let deep = encode("[".repeat(500).as_bytes());
        assert_eq!(read(&format!("{deep}.a.a")), Err(ProofError::Header));
    }
}
