//! Signs calls as [Standard Webhooks](channels::standard_webhooks) specifies, with each valid
//! secret. Svix, which `HumanLayer`'s receivers use, is the same with other header names (A2H-116).

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kernel::Time;
use sha2::{Digest, Sha256};

/// A secret that signs calls.
#[derive(Clone, PartialEq, Eq)]
pub struct CallSigningSecret(pub [u8; 32]);

impl CallSigningSecret {
    /// A secret derived from another one.
    pub fn derived(other: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"whsec");
        hash.update(other);
        Self(hash.finalize().into())
    }

    /// The secret in the format of Standard Webhooks.
    pub fn encoded(&self) -> String {
        format!("whsec_{}", BASE64_STANDARD.encode(self.0))
    }

    fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        channels::standard_webhooks::sign(&self.0, id, &seconds.to_string(), body)
    }
}

impl fmt::Debug for CallSigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The names of the headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFamily {
    /// The header names of Standard Webhooks: `webhook-…`.
    Webhook,
    /// `svix-…`, and `webhook-…` beside it.
    Svix,
}

/// The headers of a call: its id, the time, and a signature by each secret, the newest first.
pub fn headers(
    family: HeaderFamily,
    secrets: &[CallSigningSecret],
    id: &str,
    at: Time,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let seconds = at.millis().div_euclid(1000);
    let signatures: Vec<String> =
        secrets.iter().map(|secret| secret.sign(id, seconds, body)).collect();
    let values = [id.to_owned(), seconds.to_string(), signatures.join(" ")];
    let named = |names: [&'static str; 3]| names.into_iter().zip(values.clone());
    let mut headers: Vec<_> =
        named(["webhook-id", "webhook-timestamp", "webhook-signature"]).collect();
    if family == HeaderFamily::Svix {
        headers.extend(named(["svix-id", "svix-timestamp", "svix-signature"]));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2H-116; the vector of the Standard Webhooks libraries' own tests.
    #[test]
    fn signed_as_the_standard_has_it() {
        let mut secret = CallSigningSecret([0; 32]);
        let known = BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        secret.0[..24].copy_from_slice(&known);
        // HMAC fills a short key up with zeros, so this is the 24-byte key of the vector.
        let signed =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_secret_signs_under_each_name() {
        let (new, old) = (CallSigningSecret([1; 32]), CallSigningSecret([2; 32]));
        let at = Time::from_millis(1_770_000_000_999);
        let headers = headers(HeaderFamily::Svix, &[new.clone(), old.clone()], "msg_1", at, b"{}");
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names[..3], ["webhook-id", "webhook-timestamp", "webhook-signature"]);
        assert_eq!(names[3..], ["svix-id", "svix-timestamp", "svix-signature"]);
        let both = format!(
            "{} {}",
            new.sign("msg_1", 1_770_000_000, b"{}"),
            old.sign("msg_1", 1_770_000_000, b"{}")
        );
        assert_eq!((&headers[2].1, &headers[5].1), (&both, &both));
        assert_eq!(format!("{new:?}"), "Secret");
    }
}
