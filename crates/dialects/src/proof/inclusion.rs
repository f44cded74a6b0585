//! `GET /api/v1/asks/{id}/receipt/proof`: proves that the event a receipt names is in a sealed
//! block of the audit log.

use kernel::audit::Digest;
use kernel::seal::{self, Block};
use serde::{Deserialize, Serialize};

use super::jwks::Jwks;
use super::jws::{self, Unproven};
use super::receipt::ReceiptClaims;

/// The way from one record to the signed root of its block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inclusion {
    /// The record.
    pub record: Linked,
    /// Its place in the feed.
    pub position: u64,
    /// Its place among the leaves of the block.
    pub index: u64,
    /// The siblings on the way up.
    pub path: Vec<Digest>,
    /// The signed block.
    pub block: String,
}

/// One link of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LinkedRecord))]
pub struct Linked {
    /// Whose chain.
    pub subject: String,
    /// Its place there.
    pub seq: u64,
    /// The hash of the one before.
    pub prev: Digest,
    /// Its own.
    pub hash: Digest,
    /// What was hashed, with commitments in place of words. An agent does not get it where it
    /// would name the people of a pool; the proof does not need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// Why a proof of inclusion is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotIncluded {
    /// The record does not have the hash it claims.
    #[error("the record does not have the hash it claims")]
    Hash,
    /// The record is not the event that the receipt names.
    #[error("the record is not the event this receipt names")]
    OtherEvent,
    /// The block is not valid.
    #[error("the block does not count: {0}")]
    Block(Unproven),
    /// The path does not lead to the root of the block.
    #[error("the path does not lead from the record to the root of the block")]
    Path,
}

impl Inclusion {
    /// Checks everything: the record's hash, that it is the receipt's event, the path, and the
    /// block.
    pub fn check(&self, receipt: &ReceiptClaims, trusted: &Jwks) -> Result<Block, NotIncluded> {
        let record = &self.record;
        let is_linked = |body: &String| {
            Digest::of(&[record.prev.0.as_slice(), body.as_bytes()].concat()) == record.hash
        };
        if !record.body.as_ref().is_none_or(is_linked) {
            return Err(NotIncluded::Hash);
        }
        let same = record.subject == receipt.sub.to_string()
            && record.seq == receipt.audit.seq
            && record.hash == receipt.audit.hash;
        if !same {
            return Err(NotIncluded::OtherEvent);
        }
        let block: Block =
            jws::open(&self.block, super::BLOCK, trusted).map_err(NotIncluded::Block)?;
        let placed = block.first.checked_add(self.index) == Some(self.position);
        if placed && seal::proves(record.hash, self.index, block.count, &self.path, block.root) {
            Ok(block)
        } else {
            Err(NotIncluded::Path)
        }
    }
}
