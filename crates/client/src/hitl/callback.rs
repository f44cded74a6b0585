//! The callback that a service sends when a case is closed. Section 13 of the protocol.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

use super::outcome::{CaseStatus, CaseTerms, Outcome};
use super::{HitlError, Result};

/// The header with the signature.
pub const SIGNATURE: &str = "X-HITL-Signature";

/// A callback with a valid signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    pub case_id: String,
    pub outcome: Outcome,
}

/// Verifies the signature over the raw body before parsing any of it, and then parses it. Services
/// may deliver the same callback twice.
pub fn verify_callback(secret: &str, body: &[u8], signature: Option<&str>) -> Result<Callback> {
    let hex = signature.and_then(|text| text.strip_prefix("sha256="));
    // The protocol requires lower-case hex.
    let plain = |text: &&str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let given = hex.filter(plain).and_then(|text| hex::decode(text).ok());
    let given = given.ok_or(HitlError::BadSignature)?;
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| HitlError::BadSignature)?;
    mac.update(body);
    // This compares in constant time.
    mac.verify_slice(&given).map_err(|_| HitlError::BadSignature)?;
    read(body)
}

fn read(body: &[u8]) -> Result<Callback> {
    let malformed = |what: &str| HitlError::Malformed(format!("the callback: {what}"));
    let event: CallbackBody =
        serde_json::from_slice(body).map_err(|error| malformed(&error.to_string()))?;
    let told = CaseStatus::read(body, &event.case_id)?;
    let status = event.event.strip_prefix("review.").unwrap_or_default();
    let terms = CaseTerms {
        default_action: "skip".to_owned(),
        expires_at: event.timestamp.unwrap_or(Timestamp::UNIX_EPOCH),
    };
    let outcome = told.outcome(status, &terms)?;
    let outcome =
        outcome.ok_or_else(|| malformed(&format!("{:?} is not a final event", event.event)))?;
    Ok(Callback { case_id: event.case_id, outcome })
}

#[derive(serde::Deserialize)]
struct CallbackBody {
    event: String,
    case_id: String,
    timestamp: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "dev-callback-secret";

    fn signed(body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(body);
        format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
    }

    /// HITL-182.
    #[test]
    fn only_what_was_signed_is_read() {
        let body =
            br#"{"event":"review.completed","case_id":"review_1","result":{"action":"approve"}}"#;
        let good = signed(body);
        let callback = verify_callback(SECRET, body, Some(&good)).unwrap();
        assert_eq!(callback.case_id, "review_1");
        assert!(matches!(callback.outcome, Outcome::Completed(done) if done.action == "approve"));
        let upper = good.to_uppercase().replace("SHA256", "sha256");
        let bare = good.trim_start_matches("sha256=").to_owned();
        for wrong in
            [None, Some(""), Some("sha256="), Some(&*upper), Some(&*bare), Some(&good[..70])]
        {
            let refused = verify_callback(SECRET, body, wrong);
            assert!(matches!(refused, Err(HitlError::BadSignature)), "{wrong:?}");
        }
        let spaced = [&body[..], b" "].concat();
        assert!(matches!(
            verify_callback(SECRET, &spaced, Some(&good)),
            Err(HitlError::BadSignature)
        ));
        assert!(matches!(
            verify_callback("other", body, Some(&good)),
            Err(HitlError::BadSignature)
        ));
    }

    #[test]
    fn what_ends_nothing_is_malformed() {
        for body in [
            &br#"{"event":"review.opened","case_id":"review_1"}"#[..],
            br#"{"event":"review.completed","case_id":"review_1"}"#,
            br#"{"event":"review.completed"}"#,
            b"[]",
            b"",
        ] {
            let refused = verify_callback(SECRET, body, Some(&signed(body)));
            assert!(matches!(refused, Err(HitlError::Malformed(_))), "{refused:?}");
        }
    }
}
