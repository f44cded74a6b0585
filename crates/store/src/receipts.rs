//! Stored signatures of receipts whose signing key is destroyed, or about to be.

use kernel::AskId;
use kernel::audit::Digest;

/// The signature under one receipt of an ask. An ask can have several receipts: agents and people
/// get different ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSignature {
    /// The ask of the receipt.
    pub ask: AskId,
    /// The version of the ask that the claims describe.
    pub version: u64,
    /// The digest of the signed claims, in canonical JSON.
    pub claims: Digest,
    /// The id of the signing key.
    pub kid: String,
    /// The signature over the claims.
    pub signature: Vec<u8>,
}
