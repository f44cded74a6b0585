//! Proofs that anyone can verify without this server: compact JWS (RFC 7515) signed with Ed25519
//! (RFC 8037).
//!
//! | module | content |
//! |---|---|
//! | [`jws`] | signing, and verification that accepts only canonical tokens |
//! | [`jwks`] | public keys, each named by its thumbprint (RFC 7638) |
//! | [`receipt`] | the claims of a receipt about a closed ask; the revoked receipts and keys |
//! | [`passkey`] | evidence that a passkey signed the answer of a receipt |
//! | [`explanation`] | a receipt in sentences for people, with its assurance |
//! | [`record_check`] | whether a receipt matches the installation's records, and the proof that its event is in a sealed block of the audit log |
//!
//! Ed25519 uses no random numbers, so signing is pure: the same claims and key give the same bytes.

pub mod explanation;
pub mod jwks;
pub mod jws;
pub mod passkey;
pub mod receipt;
pub mod record_check;

pub use explanation::explain;
pub use jwks::{Jwk, Jwks};
pub use jws::{ProofError, SecretKey};
pub use passkey::{EvidenceError, EvidenceStatus, verify_enrolment, verify_evidence};
pub use receipt::{NameDisclosure, ReceiptClaims, verify};
pub use receipt::{RevocationClaims, RevokedKey, RevokedReceipt};
pub use record_check::{RecordMismatch, compare};

/// The `typ` of a receipt.
pub const RECEIPT: &str = "receipt+jwt";
/// The `typ` of a list of revocations.
pub const REVOCATIONS: &str = "revocations+jwt";
/// The `typ` of a sealed block of the audit log.
pub const BLOCK: &str = "block+jwt";
