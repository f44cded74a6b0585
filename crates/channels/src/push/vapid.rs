//! Identifies the server to push services: RFC 8292. The key is derived from the server's own key.
//! Every node and every copy of the installation has it, and it need not be stored.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use kernel::Time;
use p256::SecretKey;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde_json::json;
use url::Url;

/// How long a token is valid, in seconds. The standard allows a day.
const SECONDS: u64 = 12 * 60 * 60;

/// Signs tokens for push services.
pub(super) struct Vapid {
    key: SigningKey,
    public: String,
    contact: String,
}

impl Vapid {
    /// Signs with the first valid key. The contact for operators of push services is an email
    /// address or a page.
    pub(super) fn new(keys: &[[u8; 32]], contact: String) -> Option<Self> {
        let key = keys.iter().find_map(|key| SecretKey::from_slice(key).ok())?;
        let public = BASE64.encode(key.public_key().to_sec1_point(false).as_bytes());
        Some(Self { key: SigningKey::from(key), public, contact })
    }

    /// The public key that browsers need to accept messages from this server.
    pub(super) fn public(&self) -> &str {
        &self.public
    }

    /// The `Authorization` header of a call to this URL.
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
