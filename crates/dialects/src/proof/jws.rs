//! Compact JWS (RFC 7515), narrowed to what we write: Ed25519 and nothing else, a header of three
//! members, and one spelling for everything. Whoever reads takes nothing we would not have written.

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

/// The longest text that is looked at, in bytes.
pub const LARGEST: usize = 16 << 20;
/// The longest header that is looked at, encoded.
const LONGEST_HEADER: usize = 1024;

/// Why a text is no proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// More than [`LARGEST`].
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// Not three parts.
    #[error("it is not three parts with dots between them")]
    Shape,
    /// Not base64url in its one spelling.
    #[error("its {0} is not base64url without padding")]
    Encoding(&'static str),
    /// Not the header we write.
    #[error("its header is not `alg`, `kid` and `typ` in canonical JSON")]
    Header,
    /// Signed in a way that does not count.
    #[error("its algorithm is not EdDSA")]
    Algorithm,
    /// It demands what we do not know.
    #[error("its header has `crit`, which nothing of ours has")]
    Critical,
    /// Another kind of text.
    #[error("it is not a {expected}")]
    Typ {
        /// What it was taken for.
        expected: &'static str,
    },
    /// Signed by somebody we do not know.
    #[error("the key {kid} that is said to have signed it is not among the trusted ones")]
    UnknownKey {
        /// The name of the key.
        kid: String,
    },
    /// Not signed with that key, or changed since.
    #[error("the signature does not fit: it was changed, or signed with another key")]
    Signature,
    /// Signed, but with a key that had been retired by then.
    #[error("it is dated after the key that signed it was retired, at {at}")]
    RetiredKey {
        /// Since when the key signs nothing.
        at: Time,
    },
    /// Signed, but not what it should be.
    #[error("what it claims cannot be read, or is not in canonical JSON")]
    Claims,
    /// Signed, but of another version.
    #[error("it is not of version 1")]
    Version,
}

impl Unproven {
    /// One word, the same in every language.
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

/// A key that signs. Never shown, and wiped when it is dropped.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

impl SecretKey {
    /// The key made of 32 bytes that nobody can guess.
    pub fn new(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// What others check with.
    pub fn public(&self) -> Jwk {
        Jwk::of(&self.0.verifying_key())
    }

    /// Signs claims as canonical JSON. The same claims always give the same bytes.
    pub fn sign<T: Serialize>(&self, typ: &str, claims: &T) -> String {
        self.sign_text(&unsigned(&self.public().kid, typ, claims))
    }

    /// Signs a header and a payload that are encoded already, whatever they say.
    pub fn sign_text(&self, signed: &str) -> String {
        let signature = self.0.sign(signed.as_bytes());
        format!("{signed}.{}", encode(&signature.to_bytes()))
    }
}

/// The signature of a text that was signed here.
pub fn signature(jws: &str) -> Option<Vec<u8>> {
    decode("signature", jws.rsplit_once('.')?.1).ok()
}

/// Puts a stored signature to the claims it was made for: the same bytes as when they were signed.
/// `None` if that key did not sign these claims, or is not trusted.
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

/// Header and claims, encoded: what is signed.
fn unsigned<T: Serialize>(kid: &str, typ: &str, claims: &T) -> String {
    format!("{}.{}", encode(&header(kid, typ)), encode(&canonical(claims)))
}

/// Checks a signed text and reads what it claims.
pub fn open<T: DeserializeOwned>(
    jws: &str,
    typ: &'static str,
    trusted: &Jwks,
) -> Result<T, Unproven> {
    let claims = Parts::read(jws, typ)?.check(trusted)?;
    serde_json::from_value(claims).map_err(|_| Unproven::Claims)
}

/// What a text claims, without any reason to believe it: to know whom to ask for keys.
pub fn peek<T: DeserializeOwned>(jws: &str, typ: &'static str) -> Result<T, Unproven> {
    let bytes = decode("payload", Parts::read(jws, typ)?.payload)?;
    serde_json::from_slice(&bytes).map_err(|_| Unproven::Claims)
}

/// The name of the key a text is said to be signed with.
pub fn kid(jws: &str, typ: &'static str) -> Result<String, Unproven> {
    Parts::read(jws, typ).map(|parts| parts.kid)
}

/// A text with a header of ours; its signature is still to be checked.
struct Parts<'a> {
    kid: String,
    signed: &'a str,
    payload: &'a str,
    signature: &'a str,
}

impl<'a> Parts<'a> {
    fn read(jws: &'a str, typ: &'static str) -> Result<Self, Unproven> {
        if jws.len() > LARGEST {
            return Err(Unproven::TooLarge);
        }
        let (signed, signature) = jws.rsplit_once('.').ok_or(Unproven::Shape)?;
        let (encoded, payload) = signed.split_once('.').ok_or(Unproven::Shape)?;
        if payload.contains('.') {
            return Err(Unproven::Shape);
        }
        if encoded.len() > LONGEST_HEADER {
            return Err(Unproven::Header);
        }
        let bytes = decode("header", encoded)?;
        let members: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|_| Unproven::Header)?;
        let text = |name| members.get(name).and_then(Value::as_str);
        if members.contains_key("crit") {
            return Err(Unproven::Critical);
        }
        if text("alg") != Some("EdDSA") {
            return Err(Unproven::Algorithm);
        }
        if text("typ") != Some(typ) {
            return Err(Unproven::Typ { expected: typ });
        }
        let kid = text("kid").ok_or(Unproven::Header)?.to_owned();
        // One spelling: no other member, none twice, no space.
        if bytes != header(&kid, typ) {
            return Err(Unproven::Header);
        }
        Ok(Self { kid, signed, payload, signature })
    }

    fn check(self, trusted: &Jwks) -> Result<Value, Unproven> {
        let Self { kid, signed, payload, signature } = self;
        let signature = decode("signature", signature)?;
        let (key, retired) = trusted.find(&kid).ok_or(Unproven::UnknownKey { kid })?;
        let signature = Signature::from_slice(&signature).map_err(|_| Unproven::Signature)?;
        key.verify_strict(signed.as_bytes(), &signature).map_err(|_| Unproven::Signature)?;
        let bytes = decode("payload", payload)?;
        let claims: Value = serde_json::from_slice(&bytes).map_err(|_| Unproven::Claims)?;
        if canonical(&claims) != bytes {
            return Err(Unproven::Claims);
        }
        match retired.map(|seconds| Time::from_millis(seconds.saturating_mul(1000))) {
            Some(at) if dated(&claims).is_some_and(|date| date >= at) => {
                Err(Unproven::RetiredKey { at })
            }
            Some(_) | None => Ok(claims),
        }
    }
}

/// The latest moment that claims name as their own: when they were issued, when a request ended, when
/// a block was sealed.
fn dated(claims: &Value) -> Option<Time> {
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

fn decode(part: &'static str, text: &str) -> Result<Vec<u8>, Unproven> {
    BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| Unproven::Encoding(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// RFC 8037, appendix A.4: the library under us signs what the RFC signs.
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

    /// A signature that was taken off and kept gives the same bytes again, and fits nothing else.
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

    /// Whoever steals a retired key can sign nothing new with it.
    #[test]
    fn what_is_dated_after_its_key_retired_is_refused() {
        let key = SecretKey::new(&[7; 32]);
        let at = Time::from_millis(1_770_372_000_000);
        let trusted = Jwks { keys: vec![key.public().retired(at)] };
        let read = |claims: Value| open::<Value>(&key.sign("x+jwt", &claims), "x+jwt", &trusted);
        let (before, after) = (1_770_371_999, 1_770_372_000);
        let refused = Err(Unproven::RetiredKey { at });
        assert!(read(json!({ "iat": before })).is_ok());
        assert!(read(json!({ "iat": before, "ended_at": "2026-02-06T09:59:59.999Z" })).is_ok());
        assert_eq!(read(json!({ "iat": after })), refused);
        let backdated = json!({ "iat": before, "ended_at": "2026-02-06T10:00:00.000Z" });
        assert_eq!(read(backdated), refused);
        assert_eq!(read(json!({ "at": "2026-02-06T10:00:00.000Z" })), refused);
    }

    /// Nothing is taken for something else, however well it is signed.
    #[test]
    fn a_type_is_not_another() {
        let key = SecretKey::new(&[7; 32]);
        let trusted = Jwks { keys: vec![key.public()] };
        let block = key.sign("block+jwt", &json!({ "v": 1 }));
        let taken: Result<Value, _> = open(&block, "receipt+jwt", &trusted);
        assert_eq!(taken, Err(Unproven::Typ { expected: "receipt+jwt" }));
    }

    #[test]
    fn nothing_endless_is_read() {
        let none = Jwks::default();
        let endless = "a".repeat(LARGEST + 1);
        let read = |jws: &str| open::<Value>(jws, "x+jwt", &none);
        assert_eq!(read(&endless), Err(Unproven::TooLarge));
        assert_eq!(read(&format!("{}.a.a", "a".repeat(2000))), Err(Unproven::Header));
        let deep = encode("[".repeat(500).as_bytes());
        assert_eq!(read(&format!("{deep}.a.a")), Err(Unproven::Header));
    }
}
