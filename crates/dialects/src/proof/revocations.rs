//! `GET /api/v1/receipts/revocations`: the revoked receipts and keys. The list is signed, so that
//! copies of it can be verified.

use kernel::Time;
use serde::{Deserialize, Serialize};

use super::jwks::Jwks;
use super::jws::{self, Unproven};

/// A page of the list. A receipt is on one page only; the keys are on every page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevocationClaims {
    /// The issuer.
    pub iss: String,
    /// The time of the list, in seconds since 1970.
    pub iat: i64,
    /// The revoked receipts, those of the newest asks first.
    pub revoked: Vec<RevokedReceipt>,
    /// The revoked keys. Nothing signed with them is valid.
    pub keys: Vec<RevokedKey>,
    /// The page holds ids below this one. Absent on the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The lowest id of this page; the next page holds the ids below it. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A revoked receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedReceipt {
    /// The id of the receipt.
    pub jti: String,
    /// When it was revoked.
    pub at: Time,
    /// Why it was revoked; `null` once the text was erased.
    pub reason: Option<String>,
}

/// A revoked signing key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedKey {
    /// The id of the key.
    pub kid: String,
    /// When it was revoked.
    pub at: Time,
    /// Why it was revoked.
    pub reason: String,
}

impl RevocationClaims {
    /// Verifies a page of the list and reads it.
    pub fn verify(page: &str, trusted: &Jwks) -> Result<Self, Unproven> {
        jws::open(page, super::REVOCATIONS, trusted)
    }

    /// Whether a receipt would be on this page if it were revoked. The list is in descending order
    /// of ids.
    pub fn covers(&self, jti: &str) -> bool {
        self.after.as_deref().is_none_or(|after| jti < after)
            && self.next.as_deref().is_none_or(|next| jti >= next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_covers_what_lies_between_its_ends() {
        let page = |after: Option<&str>, next: Option<&str>| RevocationClaims {
            iss: String::new(),
            iat: 0,
            revoked: Vec::new(),
            keys: Vec::new(),
            after: after.map(str::to_owned),
            next: next.map(str::to_owned),
        };
        assert!(page(None, None).covers("rcpt_5"));
        assert!(page(None, Some("rcpt_5")).covers("rcpt_5"), "the last one it holds");
        assert!(!page(None, Some("rcpt_5")).covers("rcpt_4"));
        assert!(!page(Some("rcpt_5"), None).covers("rcpt_5"));
        assert!(page(Some("rcpt_5"), None).covers("rcpt_4"));
        assert!(!page(Some("rcpt_5"), Some("rcpt_3")).covers("rcpt_2"));
    }
}
