//! The `PushSubscription` that a browser creates for a device.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use kernel::audit::Digest;
use p256::PublicKey;
use serde::{Deserialize, Serialize};
use url::Url;

use super::WebPush;
use super::encrypt::{AUTH, EncryptionKeys, POINT};

/// The longest accepted URL of a push service.
const LONGEST: usize = 2000;
/// The longest accepted name of a device.
const LONGEST_LABEL: usize = 100;

/// The subscription of a device. All of it is secret: anyone who has it can send messages
/// to the device.
#[derive(Clone, Serialize, Deserialize)]
pub struct PushSubscription {
    /// The URL at which the push service accepts messages for the device.
    pub endpoint: String,
    /// The device's public key.
    pub p256dh: String,
    /// The device's authentication secret.
    pub auth: String,
    /// The name of the device for display.
    pub label: String,
}

/// Why a subscription is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSubscription {
    /// The invalid field.
    pub field: &'static str,
    /// The accepted values.
    pub expected: &'static str,
}

impl PushSubscription {
    /// Checks that a browser can have created the subscription and that the server may call
    /// its push service.
    pub fn checked(self, push: &WebPush) -> Result<Self, InvalidSubscription> {
        let wrong = |field, expected| Err(InvalidSubscription { field, expected });
        if self.endpoint.len() > LONGEST {
            return wrong("endpoint", "at most 2000 characters");
        }
        if let Err(expected) = push.http.url(&self.endpoint) {
            return wrong("endpoint", expected);
        }
        if decoded::<POINT>(&self.p256dh)
            .is_none_or(|point| PublicKey::from_sec1_bytes(&point).is_err())
        {
            return wrong("keys.p256dh", "a P-256 public key: 65 bytes in base64url");
        }
        if decoded::<AUTH>(&self.auth).is_none() {
            return wrong("keys.auth", "16 bytes in base64url");
        }
        if self.label.contains('\0') || self.label.chars().count() > LONGEST_LABEL {
            return wrong("label", "at most 100 characters, without NUL");
        }
        Ok(self)
    }

    pub(super) fn recipient(&self) -> Option<EncryptionKeys> {
        let public = PublicKey::from_sec1_bytes(&decoded::<POINT>(&self.p256dh)?).ok()?;
        Some(EncryptionKeys { public, auth: decoded(&self.auth)? })
    }

    /// The push service, by its host name.
    pub fn service(&self) -> String {
        let url = Url::parse(&self.endpoint).ok();
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The id of the device.
    pub fn name(&self) -> Digest {
        Digest::of(self.endpoint.as_bytes())
    }

    /// The address that the channel `push` delivers to.
    pub fn address(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64.decode(text.trim_end_matches('=')).ok()?.try_into().ok()
}
