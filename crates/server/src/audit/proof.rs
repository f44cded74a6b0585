//! The proof that one event stands in a signed block.

use kernel::Subject;
use kernel::audit::Digest;
use kernel::seal;
use serde::Serialize;
use store::{Store, StoreError};

/// What a verifier needs besides the public keys: hash the body behind `prev`, follow the path to
/// the root the block claims, check the block's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The event.
    pub record: Proven,
    /// Its place in the feed.
    pub position: u64,
    /// Its place in the block, from 0.
    pub index: u64,
    /// The hashes from it to the root, nearest first.
    pub path: Vec<Digest>,
    /// The block, signed.
    pub block: String,
}

/// One event as it was hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proven {
    /// Whose, by name.
    pub subject: String,
    /// Which.
    pub seq: u64,
    /// The hash of the one before.
    pub prev: Digest,
    /// Its hash.
    pub hash: Digest,
    /// Canonical JSON with commitments only.
    pub body: String,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// There is no such event.
    #[error("there is no such event")]
    NotFound,
    /// Its block is not closed yet.
    #[error("the event is in no block yet")]
    NotSealed,
    /// What is stored does not prove it.
    #[error("the stored block does not prove the event")]
    Broken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Proves event `seq` of a subject.
pub async fn proof(store: &dyn Store, subject: Subject, seq: u64) -> Result<Proof, NoProof> {
    let record = store.records(subject.clone(), seq.saturating_sub(1), 1).await?;
    let record = record.into_iter().find(|record| record.seq == seq).ok_or(NoProof::NotFound)?;
    let position = store.position(subject, seq).await?.ok_or(NoProof::NotFound)?;
    let sealed = store.block_at(position).await?.ok_or(NoProof::NotSealed)?;
    let block = &sealed.block;
    let count = usize::try_from(block.count.min(seal::LARGEST)).map_err(|_| NoProof::Broken)?;
    let hashes = store.hashes(block.first.saturating_sub(1), count).await?;
    let hashes: Vec<Digest> = hashes.into_iter().map(|(_, hash)| hash).collect();
    let index = position.saturating_sub(block.first);
    let path = usize::try_from(index).ok().and_then(|index| seal::path(&hashes, index));
    let path = path.ok_or(NoProof::Broken)?;
    if !seal::proves(record.hash, index, block.count, &path, block.root) {
        return Err(NoProof::Broken);
    }
    let (subject, prev, hash) = (record.subject.to_string(), record.prev, record.hash);
    let record = Proven { subject, seq, prev, hash, body: record.body };
    Ok(Proof { record, position, index, path, block: sealed.jws })
}
