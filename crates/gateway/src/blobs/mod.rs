//! Bytes of any size, in constant memory.
//!
//! They are stored in pieces of at most [`PIECE_SIZE`] bytes, each under its own digest, together
//! with a manifest that lists the pieces. Every store for small files can therefore hold them. The
//! digest of the manifest determines the digest of every piece, so every part is verified before it
//! is served. A blob of one piece is its own manifest.
//!
//! | file | contents |
//! |---|---|
//! | `manifest` | the list of pieces |
//! | `receive` | uploads, which can be resumed |
//! | `open` | downloads, whole or in part |

mod erase;
mod manifest;
mod open;
mod receive;

use anyhow::Context;
use bytes::Bytes;
use kernel::audit::Digest;
use kernel::task::Party;
use kernel::{Actor, Time, UploadId};
use store::{Store, StoreError, UPLOAD_KEPT, Upload, UploadPart};
use ulid::Ulid;

use crate::files::{FileStorage, StorageUnavailable};
use crate::gateway::Gateway;
use manifest::Manifest;

pub use kernel::task::StoredContent;
pub use open::{Blob, TextPreview};
pub use receive::{UploadChunk, UploadError, UploadInterrupted, UploadProgress};

/// The largest piece. This much of an upload or download is in memory.
pub const PIECE_SIZE: usize = 4 << 20;

/// The number of abandoned uploads per read.
const BATCH: usize = 100;

#[derive(Clone)]
pub struct Blobs {
    files: FileStorage,
    gateway: Gateway,
}

/// Bytes for a new version or artifact. Until it exists, they may be deleted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedContent {
    pub held: StoredContent,
    /// The media type, if the sender named one.
    pub media_type: Option<String>,
    /// How they arrived.
    pub way: ContentSource,
}

/// How bytes arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentSource {
    /// With the call that uses them. They are held under this id.
    Along(Ulid),
    /// In an upload before the call.
    Before(UploadId),
}

impl Blobs {
    /// Blobs in these files, recorded in this store.
    pub fn new(files: FileStorage, gateway: Gateway) -> Self {
        Self { files, gateway }
    }

    fn store(&self) -> &dyn Store {
        &**self.gateway.store()
    }

    /// Deletes the small files of a holder, except those that another holds too.
    pub(crate) async fn drop_files(&self, holder: Ulid) -> anyhow::Result<()> {
        self.files.delete_for(self.store(), holder).await
    }

    /// Stores bytes that came with a call, before the call is decided, so that nothing refers to
    /// bytes the server does not have. [`Blobs::refused`] deletes them again.
    pub async fn store_inline(&self, bytes: Bytes) -> anyhow::Result<ReceivedContent> {
        let (holder, size) = (self.gateway.ids().ulid(), bytes.len() as u64);
        let checksum = Digest::of(&bytes);
        let mut pieces = Vec::new();
        for start in (0..bytes.len()).step_by(PIECE_SIZE) {
            let piece = bytes.slice(start..bytes.len().min(start + PIECE_SIZE));
            let size = piece.len() as u64;
            pieces.push(UploadPart { digest: self.store_file(holder, piece).await?, size });
        }
        let held = self.list(holder, checksum, size, &pieces).await?;
        Ok(ReceivedContent { held, media_type: None, way: ContentSource::Along(holder) })
    }

    /// A finished upload of this actor. It can be redeemed again for a day, so that a call
    /// can be repeated.
    pub async fn redeem_upload(
        &self,
        id: &str,
        actor: &Actor,
    ) -> Result<Option<ReceivedContent>, StoreError> {
        let Some(upload) = self.upload(id, actor).await? else { return Ok(None) };
        let Upload { id, whole: Some(held), media_type, .. } = upload else { return Ok(None) };
        Ok(Some(ReceivedContent { held, media_type, way: ContentSource::Before(id) }))
    }

    /// Cleans up after a refused call. Bytes that came with it are deleted. An upload stays with
    /// its sender for a day.
    pub async fn refused(&self, way: ContentSource) {
        let ContentSource::Along(holder) = way else { return };
        // The caller gets the refusal. Bytes that cannot be deleted do no harm.
        if let Err(error) = self.files.delete_for(self.store(), holder).await {
            tracing::warn!(
                error = format!("{error:#}"),
                "could not delete the bytes of a refused upload"
            );
        }
    }

    /// An upload of this actor. To everyone else it does not exist.
    pub async fn upload(&self, id: &str, actor: &Actor) -> Result<Option<Upload>, StoreError> {
        let (Ok(id), owner) = (id.parse::<UploadId>(), Party::of(actor)) else { return Ok(None) };
        let found = self.store().upload(id).await?;
        Ok(found.filter(|upload| Some(&upload.owner) == owner.as_ref()))
    }

    /// Whether the bucket did not answer the last request.
    pub fn is_storage_unavailable(&self) -> bool {
        self.files.is_unavailable()
    }

    /// Checks whether the bucket can be used, if there is one. The log has a line
    /// when that changes.
    pub async fn check_availability(&self) {
        if self.files.is_bucket()
            && let Err(error) = self.files.test_access(self.gateway.ids().ulid()).await
        {
            tracing::debug!(error = format!("{error:#}"), "bucket check failed");
        }
    }

    /// Discards an unused upload and deletes its bytes. `false` if there is none.
    pub async fn discard(&self, id: UploadId) -> anyhow::Result<bool> {
        let there = self.store().abandon_upload(id).await?;
        if there {
            self.delete_upload(id).await?;
        }
        Ok(there)
    }

    /// Deletes the bytes of abandoned uploads. Returns the number of uploads.
    pub async fn delete_abandoned_uploads(&self) -> anyhow::Result<usize> {
        let kept = i64::try_from(UPLOAD_KEPT.as_millis()).unwrap_or(i64::MAX);
        let before = Time::from_millis(self.gateway.now().millis().saturating_sub(kept));
        let mut total = 0;
        loop {
            let given_up = self.store().abandoned_uploads(before, BATCH).await?;
            let mut failed = None;
            for id in &given_up {
                match self.delete_upload(*id).await {
                    Ok(()) => total += 1,
                    // The others would fail too.
                    Err(error) if error.is::<StorageUnavailable>() => return Err(error),
                    // One failure must not block the others.
                    Err(error) => failed = Some(error),
                }
            }
            match failed {
                Some(error) => return Err(error),
                None if given_up.len() < BATCH => return Ok(total),
                None => {}
            }
        }
    }

    async fn delete_upload(&self, id: UploadId) -> anyhow::Result<()> {
        self.files.delete_for(self.store(), id.ulid()).await?;
        Ok(self.store().forget_upload(id).await?)
    }

    async fn store_file(&self, holder: Ulid, bytes: Bytes) -> anyhow::Result<Digest> {
        self.files.store_for(self.store(), holder, bytes).await
    }

    /// Stores the manifest of some pieces. A single piece needs none: its digest identifies it.
    async fn list(
        &self,
        holder: Ulid,
        checksum: Digest,
        size: u64,
        pieces: &[UploadPart],
    ) -> anyhow::Result<StoredContent> {
        if size == 0 || matches!(pieces, [one] if one.digest == checksum) {
            return Ok(StoredContent { checksum, size, manifest: checksum });
        }
        let list = Manifest::new(checksum, size, pieces).bytes();
        let manifest =
            self.store_file(holder, list.into()).await.context("cannot store the manifest")?;
        Ok(StoredContent { checksum, size, manifest })
    }
}

#[cfg(test)]
mod tests;
