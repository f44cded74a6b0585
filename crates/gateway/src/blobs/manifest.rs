//! The list of the pieces that bytes are stored in.

use anyhow::{Context, ensure};
use kernel::audit::{Digest, canonical};
use kernel::task::StoredContent;
use serde::{Deserialize, Serialize};
use store::UploadPart;

/// A manifest as it is stored. It never changes, and its digest is in the audit log.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// The digest of the whole.
    sha256: Digest,
    /// The size of the whole.
    size: u64,
    /// The digest and size of each piece.
    pieces: Vec<(Digest, u64)>,
}

impl Manifest {
    pub(super) fn new(sha256: Digest, size: u64, pieces: &[UploadPart]) -> Self {
        let pieces = pieces.iter().map(|piece| (piece.digest, piece.size)).collect();
        Self { sha256, size, pieces }
    }

    /// The stored form.
    pub(super) fn bytes(&self) -> Vec<u8> {
        canonical(self)
    }

    /// The pieces of a blob. Fails if the manifest does not belong to it.
    pub(super) fn read(bytes: &[u8], held: &StoredContent) -> anyhow::Result<Vec<UploadPart>> {
        let list: Self = serde_json::from_slice(bytes).context("the manifest cannot be read")?;
        let said = (list.sha256, list.size);
        ensure!(said == (held.checksum, held.size), "the manifest belongs to other bytes");
        let sum = list.pieces.iter().try_fold(0_u64, |sum, (_, size)| sum.checked_add(*size));
        ensure!(sum == Some(held.size), "the manifest is missing parts");
        let piece = |(digest, size)| UploadPart { digest, size };
        Ok(list.pieces.into_iter().map(piece).collect())
    }
}
