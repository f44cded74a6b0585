//! Proves that one event is in a signed block.

use dialects::proof::record_check::{Inclusion, LinkedRecord};
use kernel::Subject;
use kernel::audit::Digest;
use kernel::seal;
use store::{Store, StoreError};

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// There is no such event.
    #[error("event not found")]
    NotFound,
    /// Its block is not closed yet.
    #[error("the event is not in a sealed block yet")]
    NotSealed,
    /// The stored data does not prove it.
    #[error("the stored block does not prove the event")]
    Broken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Proves event `seq` of a subject.
pub async fn proof(store: &dyn Store, subject: Subject, seq: u64) -> Result<Inclusion, NoProof> {
    let record = store.chain(subject.clone(), seq.saturating_sub(1), 1).await?;
    let record = record.into_iter().find(|record| record.seq == seq).ok_or(NoProof::NotFound)?;
    let position = store.position(subject, seq).await?.ok_or(NoProof::NotFound)?;
    let sealed = store.block(store::BlockQuery::At(position)).await?.ok_or(NoProof::NotSealed)?;
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
    let record = LinkedRecord { subject, seq, prev, hash, body: Some(record.body) };
    Ok(Inclusion { record, position, index, path, block: sealed.jws })
}
