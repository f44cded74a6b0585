//! Standard Webhooks 1.0: `whsec_` secrets, and an HMAC-SHA256 over `id.timestamp.body`, for
//! signing and verifying.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::Time;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

use crate::{ForgedCall, SecretString, WebhookCall};

/// The largest accepted difference between a call's timestamp and the clock, in seconds.
const WINDOW: i64 = 5 * 60;

/// The signature over the id of a call, its timestamp in seconds, and its body.
pub fn sign(secret: &[u8], id: &str, seconds: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length, so this never fails.
    let mac = Hmac::<Sha256>::new_from_slice(secret).map(|mut mac| {
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        mac.finalize().into_bytes()
    });
    format!("v1,{}", mac.map(|mac| BASE64_STANDARD.encode(mac)).unwrap_or_default())
}

/// The key that signs and verifies calls.
#[derive(Clone)]
pub(crate) struct WebhookKey(Vec<u8>);

impl fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl WebhookKey {
    /// Parses a secret: `whsec_` and 24 to 64 bytes in base64.
    pub(crate) fn read(secret: &SecretString) -> Option<Self> {
        let bytes = BASE64_STANDARD.decode(secret.reveal().strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// The id, timestamp and signature headers of a call.
    pub(crate) fn headers(&self, id: &str, at: Time, body: &[u8]) -> [(&'static str, String); 3] {
        let seconds = at.millis().div_euclid(1000).to_string();
        let signature = sign(&self.0, id, &seconds, body);
        [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", seconds),
            ("webhook-signature", signature),
        ]
    }

    /// Verifies that a holder of the same secret signed a call, within the accepted time.
    pub(crate) fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        let header = |name| call.header(name).filter(|value| !value.is_empty());
        let (Some(id), Some(seconds), Some(shown)) =
            (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"))
        else {
            return Err(ForgedCall(
                "webhook-id, webhook-timestamp and webhook-signature are required, exactly once \
                 each",
            ));
        };
        let at: i64 = seconds
            .parse()
            .map_err(|_| ForgedCall("webhook-timestamp must be in seconds since 1970"))?;
        let now = call.now.millis().div_euclid(1000);
        if now.saturating_sub(at).saturating_abs() > WINDOW {
            return Err(ForgedCall(
                "webhook-timestamp differs from the current time by more than five minutes; check \
                 the clocks",
            ));
        }
        let signed = sign(&self.0, id, seconds, call.body);
        let same = shown
            .split(' ')
            .fold(Choice::from(0), |same, one| same | one.as_bytes().ct_eq(signed.as_bytes()));
        if bool::from(same) {
            Ok(())
        } else {
            Err(ForgedCall("webhook-signature does not match the secret"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the Standard Webhooks libraries.
    #[test]
    fn signed_as_the_standard_has_it() {
        let key =
            WebhookKey::read(&SecretString::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).unwrap();
        let at = Time::from_millis(1_614_265_330_999);
        let [_, seconds, signature] =
            key.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at, br#"{"test": 2432232314}"#);
        assert_eq!(seconds.1, "1614265330");
        assert_eq!(signature.1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_has_its_form() {
        for secret in
            ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_?"]
        {
            assert!(WebhookKey::read(&SecretString::new(secret)).is_none(), "{secret}");
        }
    }
}
