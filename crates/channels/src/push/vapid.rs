//! Who we are to push services: RFC 8292. The key is derived from the server's own, so every node has
//! it, a copy of an installation too, and nothing has to be kept.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use kernel::Time;
use p256::SecretKey;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde_json::json;
use url::Url;

/// How long a proof is good for. A day is the most that is allowed.
const SECONDS: u64 = 12 * 60 * 60;

/// Signs for us.
pub(super) struct Vapid {
    key: SigningKey,
    public: String,
    contact: String,
}

impl Vapid {
    /// Signs with the first of these that is a key. A push service may write to the contact: an email
    /// address or a page.
    pub(super) fn new(keys: &[[u8; 32]], contact: String) -> Option<Self> {
        let key = keys.iter().find_map(|key| SecretKey::from_slice(key).ok())?;
        let public = BASE64.encode(key.public_key().to_sec1_point(false).as_bytes());
        Some(Self { key: SigningKey::from(key), public, contact })
    }

    /// What browsers must know to let us in.
    pub(super) fn public(&self) -> &str {
        &self.public
    }

    /// The `Authorization` of a call to this address.
    pub(super) fn authorization(&self, to: &Url, now: Time) -> String {
        let claims = json!({
            "aud": to.origin().ascii_serialization(),
            "exp": now.plus_seconds(SECONDS).millis().div_euclid(1000),
            "sub": self.contact,
        });
        let header = BASE64.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let signed = format!("{header}.{}", BASE64.encode(claims.to_string()));
        let signature: Signature = self.key.sign(signed.as_bytes());
        format!("vapid t={signed}.{}, k={}", BASE64.encode(signature.to_bytes()), self.public)
    }
}
