//! `GET /.well-known/jwks.json`: RFC 7517, with Ed25519 keys as in RFC 8037.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use kernel::Time;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A public key. Other parties' sets may hold keys of other types; those are read but never used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    /// `OKP` for Ed25519 keys.
    pub kty: String,
    /// The curve: `Ed25519` for keys that can be used here.
    #[serde(default)]
    pub crv: String,
    /// The public key, 32 bytes in base64url.
    #[serde(default)]
    pub x: String,
    /// The key id: the thumbprint of the three members above.
    #[serde(default)]
    pub kid: String,
    /// The algorithm: `EdDSA` for Ed25519 keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// The use of the key: `sig` for signatures.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// When the key was retired, in seconds since 1970. A signature dated then or later is not
    /// valid. Absent while the key is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
}

/// A set of trusted keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwks {
    /// The keys, in any order.
    pub keys: Vec<Jwk>,
}

impl Jwk {
    /// A key of this server, as published.
    pub fn of(key: &VerifyingKey) -> Self {
        Self::named(&BASE64_URL_SAFE_NO_PAD.encode(key.as_bytes()))
    }

    /// A key of this server from its 32 bytes in base64url.
    pub fn named(x: &str) -> Self {
        Self {
            kty: "OKP".to_owned(),
            crv: "Ed25519".to_owned(),
            kid: thumbprint(x),
            x: x.to_owned(),
            alg: Some("EdDSA".to_owned()),
            purpose: Some("sig".to_owned()),
            exp: None,
        }
    }

    /// The same key, retired at this time. The time is rounded up to full seconds.
    #[must_use]
    pub fn retired(self, at: Time) -> Self {
        let millis = at.millis();
        let begun = i64::from(millis.rem_euclid(1000) != 0);
        Self { exp: Some(millis.div_euclid(1000).saturating_add(begun)), ..self }
    }

    /// The key, if it is for Ed25519 signatures and its `kid` is its thumbprint.
    pub fn key(&self) -> Option<VerifyingKey> {
        let for_us = self.kty == "OKP"
            && self.crv == "Ed25519"
            && self.alg.as_deref().is_none_or(|alg| alg == "EdDSA")
            && self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && self.kid == thumbprint(&self.x);
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(&self.x).ok().filter(|_| for_us)?;
        let key = VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok()?;
        // Under a weak key, one signature is valid for many messages.
        Some(key).filter(|key| !key.is_weak())
    }
}

impl Jwks {
    /// The key with this id, and when it was retired.
    pub fn find(&self, kid: &str) -> Option<(VerifyingKey, Option<i64>)> {
        let mut named = self.keys.iter().filter(|key| key.kid == kid);
        named.find_map(|jwk| Some((jwk.key()?, jwk.exp)))
    }
}

/// RFC 7638: the hash of the required members in canonical form.
fn thumbprint(x: &str) -> String {
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8037, appendix A.
    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const KID: &str = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";

    fn key() -> Jwk {
        serde_json::from_value(serde_json::json!({
            "kty": "OKP", "crv": "Ed25519", "x": X, "kid": KID,
        }))
        .unwrap()
    }

    #[test]
    fn the_name_is_the_thumbprint_of_the_rfc() {
        assert_eq!(thumbprint(X), KID);
        let published = Jwk::of(&key().key().unwrap());
        assert_eq!((published.x.as_str(), published.kid.as_str()), (X, KID));
    }

    #[test]
    fn only_a_sound_key_under_its_own_name_is_used() {
        let harmed = |harm: fn(&mut Jwk)| {
            let mut jwk = key();
            harm(&mut jwk);
            jwk.key()
        };
        assert!(harmed(|_| ()).is_some());
        assert_eq!(harmed(|jwk| jwk.kty = "EC".to_owned()), None);
        assert_eq!(harmed(|jwk| jwk.crv = "X25519".to_owned()), None);
        assert_eq!(harmed(|jwk| jwk.alg = Some("ES256".to_owned())), None);
        assert_eq!(harmed(|jwk| jwk.purpose = Some("enc".to_owned())), None);
        assert_eq!(harmed(|jwk| jwk.kid = "mine".to_owned()), None);
        assert_eq!(harmed(|jwk| jwk.x.push('=')), None);
        // The neutral element: anyone can sign under this key.
        let weak = |jwk: &mut Jwk| {
            let mut bytes = [0; 32];
            bytes[0] = 1;
            jwk.x = BASE64_URL_SAFE_NO_PAD.encode(bytes);
            jwk.kid = thumbprint(&jwk.x);
        };
        assert_eq!(harmed(weak), None);
    }

    #[test]
    fn a_retired_key_says_since_when() {
        let retired = |millis| key().retired(Time::from_millis(millis)).exp;
        assert_eq!(retired(5_000), Some(5));
        assert_eq!(retired(5_001), Some(6), "what ended within that second was signed by it");
        let published = serde_json::to_value(key().retired(Time::from_millis(5_000))).unwrap();
        assert_eq!(published["exp"], 5);
        assert_eq!(serde_json::to_value(key()).unwrap().get("exp"), None);
    }

    #[test]
    fn keys_of_other_kinds_do_not_spoil_a_set() {
        let set: Jwks = serde_json::from_value(serde_json::json!({ "keys": [
            { "kty": "RSA", "kid": KID, "n": "AQAB", "e": "AQAB", "x5c": [] }, key(),
        ]}))
        .unwrap();
        assert!(set.find(KID).is_some());
        assert!(set.find("other").is_none());
    }
}
