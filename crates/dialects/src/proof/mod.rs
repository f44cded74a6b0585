//! Proofs that can be checked without us: compact JWS (RFC 7515) signed with Ed25519 (RFC 8037).
//!
//! | module | what it holds |
//! |---|---|
//! | [`jws`] | signing, and a reading that takes nothing but what we would have written |
//! | [`jwks`] | public keys, each named by its thumbprint (RFC 7638) |
//! | [`receipt`] | what a receipt claims about an ask that is over |
//! | [`passkey`] | evidence that a passkey signed the answer of a receipt |
//! | [`words`](mod@words) | the same for people, with how sure it is |
//! | [`record`] | whether a receipt says what the installation recorded |
//! | [`revocations`] | which receipts and keys no longer count |
//! | [`inclusion`] | that a receipt's event stands in a sealed block of the record |
//!
//! Ed25519 draws no random numbers, so signing is pure: the same claims and key give the same bytes.

pub mod inclusion;
pub mod jwks;
pub mod jws;
pub mod passkey;
pub mod receipt;
pub mod record;
pub mod revocations;
pub mod words;

pub use jwks::{Jwk, Jwks};
pub use jws::{SecretKey, Unproven};
pub use passkey::{EvidenceError, EvidenceStatus, verify_enrolment, verify_evidence};
pub use receipt::{Names, ReceiptClaims, verify};
pub use record::{Differs, compare};
pub use revocations::{RevocationClaims, RevokedKey, RevokedReceipt};
pub use words::words;

/// The `typ` of a receipt.
pub const RECEIPT: &str = "receipt+jwt";
/// The `typ` of a list of revocations.
pub const REVOCATIONS: &str = "revocations+jwt";
/// The `typ` of a sealed block of the audit record.
pub const BLOCK: &str = "block+jwt";
