//! `GET /api/v1/receipts/revocations`: which receipts and keys no longer count. Signed, so that it
//! can be kept and carried.

use kernel::Time;
use serde::{Deserialize, Serialize};

use super::jwks::Jwks;
use super::jws::{self, Unproven};

/// A page of the list. A receipt of an ask stands on one page only; the keys stand on every page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevocationClaims {
    /// Who signed.
    pub iss: String,
    /// As of when, in seconds since 1970.
    pub iat: i64,
    /// Receipts that were called back, those of the newest asks first.
    pub revoked: Vec<RevokedReceipt>,
    /// Keys that no longer count, nor anything signed with them.
    pub keys: Vec<RevokedKey>,
    /// Where this page begins: it holds what comes after this id. Absent on the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Where it ends and the next one begins. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A receipt that was called back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedReceipt {
    /// Its id.
    pub jti: String,
    /// When.
    pub at: Time,
    /// Why; `null` once the words were erased.
    pub reason: Option<String>,
}

/// A signing key that was called back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedKey {
    /// Its name.
    pub kid: String,
    /// When.
    pub at: Time,
    /// Why.
    pub reason: String,
}

impl RevocationClaims {
    /// Checks a page of the list and reads it.
    pub fn verify(page: &str, trusted: &Jwks) -> Result<Self, Unproven> {
        jws::open(page, super::REVOCATIONS, trusted)
    }

    /// Whether a receipt would stand on this page if it were revoked. The list goes from high ids to
    /// low ones.
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
