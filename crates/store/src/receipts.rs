//! Stored signatures of receipts whose signing key is destroyed, or about to be.

use async_trait::async_trait;
use kernel::AskId;
use kernel::audit::Digest;

use crate::Result;

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

/// Storage of receipt signatures.
#[async_trait]
pub trait ReceiptSignatures: Send + Sync {
    /// Stores receipt signatures, each for the version of the ask given with it; storing one
    /// again replaces it. Returns the asks that have changed since that version. Nothing is
    /// stored for these.
    ///
    /// An erasure that changes the claims of a receipt deletes its signatures in
    /// the same transaction.
    async fn store_receipt_signatures(&self, new: Vec<ReceiptSignature>) -> Result<Vec<AskId>>;

    /// The id of the key that signed these claims about an ask, and the signature.
    async fn receipt_signature(
        &self,
        ask: AskId,
        claims: Digest,
    ) -> Result<Option<(String, Vec<u8>)>>;
}
