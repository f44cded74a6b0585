//! `X-Hub-Signature-256`: HMAC-SHA256 with the app secret over the bytes of the body. Also Meta's
//! verification request, a GET without a body that carries the configured verify token and expects
//! its challenge in return.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use url::Url;

use crate::{ForgedCall, SecretString, WebhookCall};

pub(super) fn verify(
    app_secret: &SecretString,
    verify_token: &SecretString,
    call: &WebhookCall<'_>,
) -> Result<(), ForgedCall> {
    if let Some(greeting) = VerificationRequest::of(call) {
        let same = greeting.token.as_bytes().ct_eq(verify_token.reveal().as_bytes());
        return bool::from(same).then_some(()).ok_or(ForgedCall("the verify token is wrong"));
    }
    let shown = call
        .header("x-hub-signature-256")
        .ok_or(ForgedCall("Meta's signature is missing or duplicated"))?;
    let same = signature(app_secret, call.body).as_bytes().ct_eq(shown.as_bytes());
    bool::from(same).then_some(()).ok_or(ForgedCall("Meta's signature is not valid"))
}

/// The signature that Meta computes.
pub(crate) fn signature(app_secret: &SecretString, body: &[u8]) -> String {
    // HMAC takes keys of any length, so this never fails.
    let mac = Hmac::<Sha256>::new_from_slice(app_secret.reveal().as_bytes()).map(|mut mac| {
        mac.update(body);
        mac.finalize().into_bytes()
    });
    format!("sha256={}", mac.map(hex::encode).unwrap_or_default())
}

/// Meta's verification request.
pub(super) struct VerificationRequest {
    token: String,
    /// The text that Meta expects in return.
    pub(super) challenge: String,
}

impl VerificationRequest {
    pub(super) fn of(call: &WebhookCall<'_>) -> Option<Self> {
        let url = Url::parse(call.url).ok().filter(|_| call.body.is_empty())?;
        let member = |name: &str| {
            let mut found = url.query_pairs().filter(|(key, _)| key == name);
            let value = found.next().map(|(_, value)| value.into_owned());
            value.filter(|_| found.next().is_none())
        };
        member("hub.mode").filter(|mode| mode == "subscribe")?;
        // The challenge is echoed, so it may contain only the characters that Meta uses.
        let plain =
            |text: &String| text.len() <= 100 && text.bytes().all(|b| b.is_ascii_alphanumeric());
        let challenge = member("hub.challenge").filter(plain)?;
        Some(Self { token: member("hub.verify_token")?, challenge })
    }
}
