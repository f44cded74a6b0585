//! Blocks, which seal the audit log.
//!
//! A chain shows that one subject's events belong together. It cannot show that the newest events,
//! or a whole subject, are missing. So records are closed into blocks in feed order: each has the
//! root of a Merkle tree over their hashes (RFC 6962), the hash of the previous block, and a
//! signature. A few hashes then prove that a record is in a block, and a verifier who knows one
//! block knows that nothing before it changed.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit::{Digest, canonical};
use crate::time::Time;

/// The maximum number of records in a block. A proof reads the hashes of one block, so this bounds
/// its cost.
pub const LARGEST: u64 = 16_384;

/// A Merkle tree that grows at its right end and keeps only the roots of its full subtrees. Its
/// memory grows with the logarithm of the number of records.
#[derive(Debug, Clone, Default)]
pub struct MerkleTree {
    /// The number of leaves and the root of each full subtree, from the largest, on the left, to
    /// the smallest.
    peaks: Vec<(u64, Digest)>,
    len: u64,
}

impl MerkleTree {
    /// Adds the hash of the next record.
    pub fn push(&mut self, record: Digest) {
        let (mut size, mut root) = (1, leaf(record));
        while let Some((_, left)) = self.peaks.pop_if(|(peak, _)| *peak == size) {
            (size, root) = (size * 2, node(left, root));
        }
        self.peaks.push((size, root));
        self.len += 1;
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The root over all records; without any, the hash of the empty string.
    pub fn root(&self) -> Digest {
        let roots = self.peaks.iter().rev().map(|(_, root)| *root);
        roots.reduce(|right, left| node(left, right)).unwrap_or_else(|| Digest::of(&[]))
    }
}

impl Extend<Digest> for MerkleTree {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, records: I) {
        records.into_iter().for_each(|record| self.push(record));
    }
}

/// The hashes that lead from the record at `index` to the root over all `records`, nearest first.
/// `None` if there is no such record.
pub fn path(records: &[Digest], index: usize) -> Option<Vec<Digest>> {
    let mut rest = records;
    let mut index = index;
    rest.get(index)?;
    let mut path = Vec::new();
    while rest.len() > 1 {
        let (left, right) = rest.split_at(rest.len().next_power_of_two() / 2);
        let other;
        if index < left.len() {
            (rest, other) = (left, right);
        } else {
            index -= left.len();
            (rest, other) = (right, left);
        }
        let mut tree = MerkleTree::default();
        tree.extend(other.iter().copied());
        path.push(tree.root());
    }
    path.reverse();
    Some(path)
}

/// Whether `path` leads from a record at `index` to the root over `count` records.
pub fn proves(record: Digest, index: u64, count: u64, path: &[Digest], root: Digest) -> bool {
    if index >= count {
        return false;
    }
    // RFC 9162, section 2.1.3.2.
    let (mut place, mut last) = (index, count - 1);
    let mut found = leaf(record);
    for other in path {
        if last == 0 {
            return false;
        }
        if place % 2 == 1 || place == last {
            found = node(*other, found);
            while place != 0 && place.is_multiple_of(2) {
                (place, last) = (place / 2, last / 2);
            }
        } else {
            found = node(found, *other);
        }
        (place, last) = (place / 2, last / 2);
    }
    last == 0 && found == root
}

fn leaf(record: Digest) -> Digest {
    let mut hash = Sha256::new();
    hash.update([0]);
    hash.update(record.0);
    Digest(hash.finalize().into())
}

fn node(left: Digest, right: Digest) -> Digest {
    let mut hash = Sha256::new();
    hash.update([1]);
    hash.update(left.0);
    hash.update(right.0);
    Digest(hash.finalize().into())
}

/// The content of a block, which is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Claims", into = "Claims")]
pub struct Block {
    /// The server that closed it.
    pub issuer: String,
    /// Its number, from 1.
    pub n: u64,
    /// The feed position of its first record.
    pub first: u64,
    /// The number of records it covers, without gaps.
    pub count: u64,
    /// The root of the Merkle tree over their hashes.
    pub root: Digest,
    /// The hash of the previous block, [`Digest::ZERO`] for the first.
    pub prev: Digest,
    /// When it was closed.
    pub at: Time,
}

/// The JSON form of the claims.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    v: u8,
    iss: String,
    n: u64,
    first: u64,
    count: u64,
    root: Digest,
    prev: Digest,
    at: Time,
}

impl TryFrom<Claims> for Block {
    type Error = &'static str;

    fn try_from(claims: Claims) -> Result<Self, Self::Error> {
        if claims.v != 1 {
            return Err("expected version 1");
        }
        let Claims { iss, n, first, count, root, prev, at, .. } = claims;
        Ok(Self { issuer: iss, n, first, count, root, prev, at })
    }
}

impl From<Block> for Claims {
    fn from(block: Block) -> Self {
        let Block { issuer, n, first, count, root, prev, at } = block;
        Self { v: 1, iss: issuer, n, first, count, root, prev, at }
    }
}

impl Block {
    /// The `typ` header of its signature.
    pub const TYP: &'static str = "block+jwt";

    /// Its canonical JSON: exactly the bytes that are signed and hashed.
    pub fn claims(&self) -> Vec<u8> {
        canonical(self)
    }

    /// The hash of the block, which the next block contains.
    pub fn hash(&self) -> Digest {
        Digest::of(&self.claims())
    }

    /// Reads signed claims. Only the canonical spelling is accepted, because a block has one hash.
    pub fn read(claims: &[u8]) -> Option<Self> {
        let block: Self = serde_json::from_slice(claims).ok()?;
        (block.claims() == claims).then_some(block)
    }

    /// The feed position after its last record.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// A block that fails verification, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {n}: {flaw}")]
pub struct BlockError {
    /// The number of the block.
    pub n: u64,
    /// The check that failed.
    pub flaw: BlockFault,
}

/// The ways in which a block fails verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// A block is missing before it, or it occurs twice.
    #[error("the block before it is missing, or the block is duplicated")]
    Number,
    /// It does not contain the hash of the previous block.
    #[error("it does not follow the block before it")]
    Prev,
    /// It does not begin where the previous block ended.
    #[error("it does not start where the previous block ended")]
    Place,
    /// It covers no records, or too many.
    #[error("it covers no records, or more than a block can have")]
    Size,
    /// It is dated before the previous block.
    #[error("it is dated before the block before it")]
    Dated,
    /// The hashes of its records do not give its root.
    #[error("its records do not have its Merkle root: a record was altered or moved")]
    Root,
    /// Some of the records it covers are missing, or there are too many.
    #[error("records that it covers are missing, or there are extra records")]
    Records,
    /// Its signature does not verify with the known keys.
    #[error("its signature does not verify")]
    Signature,
    /// The columns contradict the signed claims.
    #[error("its columns do not match the signed values")]
    Columns,
}

/// Verifies blocks and the records they cover in one stream: each block comes before its records,
/// and records without a block are counted. Verification continues after a failure.
#[derive(Debug, Default)]
pub struct BlockVerifier {
    last: Option<LastBlock>,
    /// Accepts any block as the first.
    anywhere: bool,
    open: Option<OpenBlock>,
    unsealed: u64,
}

#[derive(Debug, Clone, Copy)]
struct LastBlock {
    n: u64,
    hash: Digest,
    end: u64,
    at: Time,
}

#[derive(Debug)]
struct OpenBlock {
    n: u64,
    end: u64,
    count: u64,
    root: Digest,
    tree: MerkleTree,
}

impl BlockVerifier {
    /// For an export that does not begin with the first record: the first block is accepted as it
    /// is.
    pub fn from_anywhere() -> Self {
        Self { anywhere: true, ..Self::default() }
    }

    /// Checks the next block, whose records follow.
    pub fn block(&mut self, block: &Block, unsound: &mut impl FnMut(BlockError)) {
        self.finish(unsound);
        let mut flawed = |flaw| unsound(BlockError { n: block.n, flaw });
        let last = self.last;
        let (n, prev, first) = last.map_or((1, Digest::ZERO, 1), |l| (l.n + 1, l.hash, l.end));
        if last.is_some() || !self.anywhere {
            if block.n != n {
                flawed(BlockFault::Number);
            } else if block.prev != prev {
                flawed(BlockFault::Prev);
            }
            if block.first != first {
                flawed(BlockFault::Place);
            }
        }
        if last.is_some_and(|last| block.at < last.at) {
            flawed(BlockFault::Dated);
        }
        if self.unsealed > 0 {
            flawed(BlockFault::Place);
            self.unsealed = 0;
        }
        if block.count == 0 || block.count > LARGEST {
            flawed(BlockFault::Size);
        } else {
            let (n, end, count, root) = (block.n, block.end(), block.count, block.root);
            self.open = Some(OpenBlock { n, end, count, root, tree: MerkleTree::default() });
        }
        self.last =
            Some(LastBlock { n: block.n, hash: block.hash(), end: block.end(), at: block.at });
    }

    /// Adds the next record.
    pub fn record(&mut self, position: u64, hash: Digest, unsound: &mut impl FnMut(BlockError)) {
        if self.open.as_ref().is_some_and(|open| position >= open.end) {
            self.finish(unsound);
        }
        let Some(open) = &mut self.open else {
            self.unsealed += 1;
            return;
        };
        open.tree.push(hash);
        if position + 1 == open.end {
            self.finish(unsound);
        }
    }

    /// Checks the last block, after its last record.
    pub fn finish(&mut self, unsound: &mut impl FnMut(BlockError)) {
        let Some(open) = self.open.take() else { return };
        let flaw = if open.tree.len() != open.count {
            BlockFault::Records
        } else if open.tree.root() != open.root {
            BlockFault::Root
        } else {
            return;
        };
        unsound(BlockError { n: open.n, flaw });
    }

    /// The number of records after the last block.
    pub fn unsealed(&self) -> u64 {
        self.unsealed
    }

    /// The number and hash of the last block; `None` before the first.
    pub fn last(&self) -> Option<(u64, Digest)> {
        self.last.map(|last| (last.n, last.hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(texts: &[&str]) -> Vec<Digest> {
        texts.iter().map(|text| Digest::of(text.as_bytes())).collect()
    }

    fn root(records: &[Digest]) -> Digest {
        let mut tree = MerkleTree::default();
        tree.extend(records.iter().copied());
        tree.root()
    }

    /// The definition of RFC 6962, section 2.1, word for word.
    fn defined(records: &[Digest]) -> Digest {
        match records {
            [] => Digest::of(&[]),
            [one] => leaf(*one),
            many => {
                let (left, right) = many.split_at(many.len().next_power_of_two() / 2);
                node(defined(left), defined(right))
            }
        }
    }

    #[test]
    fn the_root_is_that_of_rfc_6962() {
        let texts: Vec<String> = (0..70).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for n in 0..texts.len() {
            let records = digests(&texts[..n]);
            assert_eq!(root(&records), defined(&records), "{n}");
        }
        // An independently computed value: sha256(0x00 || 32 zero bytes).
        let known = "7f9c9e31ac8256ca2f258583df262dbc7d6f68f2a03043d5c99a4ae5a7396ce9";
        assert_eq!(root(&[Digest::ZERO]).to_string(), known);
    }

    fn block(n: u64, first: u64, records: &[Digest], prev: Digest) -> Block {
        Block {
            issuer: "https://ask.example.com".to_owned(),
            n,
            first,
            count: records.len() as u64,
            root: root(records),
            prev,
            at: Time::from_millis(1_770_372_000_000),
        }
    }

    #[test]
    fn claims_have_one_spelling() {
        let block = block(1, 1, &digests(&["a"]), Digest::ZERO);
        let claims = String::from_utf8(block.claims()).unwrap();
        assert!(
            claims.starts_with(r#"{"at":"2026-02-06T10:00:00.000Z","count":1,"first":1,"iss":"#)
        );
        assert!(claims.ends_with(r#","v":1}"#), "{claims}");
        assert_eq!(Block::read(claims.as_bytes()), Some(block));
        for other in [
            claims.replace("\"v\":1", "\"v\":2"),
            claims.replace("\"v\":1", "\"v\":1,\"w\":1"),
            claims.replace("\"n\":1", "\"n\": 1"),
            claims.replace("000Z", "000000Z"),
        ] {
            assert_eq!(Block::read(other.as_bytes()), None, "{other}");
        }
    }

    /// Verifies blocks and records and returns the failures.
    fn found(blocks: &[Block], records: &[(u64, Digest)]) -> (Vec<(u64, BlockFault)>, u64) {
        let (mut found, mut seals) = (Vec::new(), BlockVerifier::default());
        let mut note = |unsound: BlockError| found.push((unsound.n, unsound.flaw));
        let mut blocks = blocks.iter().peekable();
        for (position, hash) in records {
            while let Some(block) = blocks.next_if(|block| block.first <= *position) {
                seals.block(block, &mut note);
            }
            seals.record(*position, *hash, &mut note);
        }
        blocks.for_each(|block| seals.block(block, &mut note));
        seals.finish(&mut note);
        let unsealed = seals.unsealed();
        (found, unsealed)
    }

    #[test]
    fn each_flaw_is_named() {
        let records = digests(&["a", "b", "c", "d", "e", "f", "g"]);
        let feed: Vec<(u64, Digest)> = (1..).zip(records.iter().copied()).collect();
        let one = block(1, 1, &records[..2], Digest::ZERO);
        let two = block(2, 3, &records[2..3], one.hash());
        let three = block(3, 4, &records[3..6], two.hash());
        let all = [one.clone(), two.clone(), three.clone()];
        assert_eq!(found(&all, &feed), (vec![], 1));
        assert_eq!(found(&[], &feed), (vec![], 7));

        let mut altered = feed.clone();
        altered[4].1 = records[0];
        assert_eq!(found(&all, &altered).0, [(3, BlockFault::Root)]);
        let mut swapped = feed.clone();
        (swapped[0].1, swapped[1].1) = (records[1], records[0]);
        assert_eq!(found(&all, &swapped).0, [(1, BlockFault::Root)]);
        let dropped: Vec<_> = feed.iter().copied().filter(|(at, _)| *at != 5).collect();
        assert_eq!(found(&all, &dropped).0, [(3, BlockFault::Records)]);
        assert_eq!(found(&all, &feed[..4]).0, [(3, BlockFault::Records)]);
        assert_eq!(found(&all, &feed[..3]).0, [(3, BlockFault::Records)]);

        let without_two = [one.clone(), three.clone()];
        assert!(found(&without_two, &feed).0.contains(&(3, BlockFault::Number)));
        let forged = Block { prev: Digest::ZERO, ..two.clone() };
        let broken = found(&[one.clone(), forged, three.clone()], &feed).0;
        assert_eq!(broken, [(2, BlockFault::Prev), (3, BlockFault::Prev)]);
        let earlier = Block { at: Time::from_millis(0), ..three.clone() };
        assert_eq!(found(&[one.clone(), two.clone(), earlier], &feed).0, [(3, BlockFault::Dated)]);
        let empty = Block { count: 0, ..three };
        assert!(
            found(&[one.clone(), two.clone(), empty], &feed).0.contains(&(3, BlockFault::Size))
        );
        let later = Block { first: 4, ..two };
        assert!(found(&[one, later], &feed).0.contains(&(2, BlockFault::Place)));
    }
}
