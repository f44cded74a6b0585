//! `GET /api/v1/asks/{id}/receipt/proof`: that the event a receipt names stands in a sealed block of
//! the audit record.

use kernel::audit::Digest;
use serde::{Deserialize, Serialize};

use super::jwks::Jwks;
use super::jws::{self, Unproven};
use super::receipt::ReceiptClaims;

/// The way from one record to the signed root of its block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct Linked {
    /// Whose chain.
    pub subject: String,
    /// Its place there.
    pub seq: u64,
    /// The hash of the one before.
    pub prev: Digest,
    /// Its own.
    pub hash: Digest,
    /// What was hashed, with commitments in place of words.
    pub body: String,
}

/// What a block claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockClaims {
    /// The version of these claims.
    pub v: u64,
    /// Who signed.
    pub iss: String,
    /// Its number, from 1.
    pub n: u64,
    /// The position of its first record.
    pub first: u64,
    /// How many records it seals.
    pub count: u64,
    /// The root of their tree.
    pub root: Digest,
    /// The hash of the block before.
    pub prev: Digest,
    /// When it was closed.
    pub at: kernel::Time,
}

/// Why a proof of inclusion shows nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotIncluded {
    /// The record is not what its hash says.
    #[error("the record does not have the hash it claims")]
    Hash,
    /// The record is another event than the receipt's.
    #[error("the record is not the event this receipt names")]
    OtherEvent,
    /// The block is not one.
    #[error("the block does not count: {0}")]
    Block(Unproven),
    /// The path leads elsewhere.
    #[error("the path does not lead from the record to the root of the block")]
    Path,
}

impl Inclusion {
    /// Checks everything: the link, that it is the receipt's event, the path, and the block.
    pub fn check(
        &self,
        receipt: &ReceiptClaims,
        trusted: &Jwks,
    ) -> Result<BlockClaims, NotIncluded> {
        let record = &self.record;
        let linked = Digest::of(&[record.prev.0.as_slice(), record.body.as_bytes()].concat());
        if linked != record.hash {
            return Err(NotIncluded::Hash);
        }
        let same = record.subject == receipt.sub.to_string()
            && record.seq == receipt.audit.seq
            && record.hash == receipt.audit.hash;
        if !same {
            return Err(NotIncluded::OtherEvent);
        }
        let block: BlockClaims =
            jws::open(&self.block, super::BLOCK, trusted).map_err(NotIncluded::Block)?;
        if block.v != 1 {
            return Err(NotIncluded::Block(Unproven::Version));
        }
        match root(record.hash, self.index, block.count, &self.path) {
            Some(root) if root == block.root => Ok(block),
            Some(_) | None => Err(NotIncluded::Path),
        }
    }
}

/// The root a path leads to: RFC 9162, section 2.1.3.2.
fn root(hash: Digest, index: u64, count: u64, path: &[Digest]) -> Option<Digest> {
    let mut last = count.checked_sub(1).filter(|last| index <= *last)?;
    let mut index = index;
    let mut here = Digest::of(&[&[0], hash.0.as_slice()].concat());
    for sibling in path {
        if last == 0 {
            return None;
        }
        let pair = if index & 1 == 1 || index == last {
            while index & 1 == 0 && index != 0 {
                (index, last) = (index >> 1, last >> 1);
            }
            [sibling.0, here.0]
        } else {
            [here.0, sibling.0]
        };
        here = Digest::of(&[&[1], pair.concat().as_slice()].concat());
        (index, last) = (index >> 1, last >> 1);
    }
    (last == 0).then_some(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(n: u64) -> Digest {
        Digest::of(&n.to_be_bytes())
    }

    /// RFC 6962, section 2.1, as it is written there.
    fn tree(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(&[]),
            [one] => Digest::of(&[&[0], one.0.as_slice()].concat()),
            many => {
                let (left, right) = many.split_at(half(many.len()));
                Digest::of(&[&[1], tree(left).0.as_slice(), &tree(right).0].concat())
            }
        }
    }

    fn half(n: usize) -> usize {
        n.next_power_of_two() / 2
    }

    fn path(index: usize, leaves: &[Digest]) -> Vec<Digest> {
        if leaves.len() < 2 {
            return Vec::new();
        }
        let (left, right) = leaves.split_at(half(leaves.len()));
        let (mut way, sibling) = if index < left.len() {
            (path(index, left), tree(right))
        } else {
            (path(index - left.len(), right), tree(left))
        };
        way.push(sibling);
        way
    }

    #[test]
    fn every_leaf_of_every_tree_leads_to_its_root_and_nowhere_else() {
        for count in 1..=33_u64 {
            let leaves: Vec<Digest> = (0..count).map(leaf).collect();
            let whole = tree(&leaves);
            for index in 0..count {
                let way = path(usize::try_from(index).unwrap(), &leaves);
                assert_eq!(root(leaf(index), index, count, &way), Some(whole), "{index}/{count}");
                assert_ne!(root(leaf(count), index, count, &way), Some(whole));
                assert_ne!(
                    root(leaf(index), index, count, &[way, vec![whole]].concat()),
                    Some(whole)
                );
            }
            assert_eq!(root(leaf(0), count, count, &[]), None);
        }
        assert_eq!(root(leaf(0), 0, 0, &[]), None);
    }
}
