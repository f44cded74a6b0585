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
    /// Where the list goes on.
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
}
