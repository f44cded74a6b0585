//! Bytes of any size, in constant memory.
//!
//! They are kept in pieces of at most [`PIECE`] bytes, each under its own digest, and a list of the
//! pieces is kept the same way: wherever small files can be kept, so can these. Whoever knows the digest
//! of the list knows the digest of every piece, so that no byte is handed out unchecked, whichever part
//! is wanted. What fits into one piece is its own list.
//!
//! | file | what it does |
//! |---|---|
//! | `manifest` | the list |
//! | `receive` | takes what comes, and goes on where it stopped |
//! | `open` | hands it out, whole or in part |

mod erase;
mod manifest;
mod open;
mod receive;

use anyhow::Context;
use bytes::Bytes;
use kernel::audit::Digest;
use kernel::task::Party;
use kernel::{Actor, Time, UploadId};
use store::{Piece, Store, StoreError, UPLOAD_KEPT, Upload};
use ulid::Ulid;

use crate::files::{Away, Files};
use crate::gateway::Gateway;
use manifest::Manifest;

pub use kernel::task::Held;
pub use open::{Blob, Text};
pub use receive::{Interrupted, Part, Progress, Stopped};

/// The largest piece: what is held in memory of one that comes or goes.
pub const PIECE: usize = 4 << 20;

/// How many uploads that were given up are looked up at once.
const BATCH: usize = 100;

/// Where they are kept.
#[derive(Clone)]
pub struct Blobs {
    files: Files,
    gateway: Gateway,
}

/// Bytes of which something is to be made. Until it is, they may be taken away again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The bytes.
    pub held: Held,
    /// What sort of bytes, if whoever sent them said.
    pub media_type: Option<String>,
    /// How they came.
    pub way: Way,
}

/// How bytes came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// With the call that makes something of them. They are held under this id.
    Along(Ulid),
    /// Before it.
    Before(UploadId),
}

impl Blobs {
    /// In these files, known to this store.
    pub fn new(files: Files, gateway: Gateway) -> Self {
        Self { files, gateway }
    }

    fn store(&self) -> &dyn Store {
        &**self.gateway.store()
    }

    /// Keeps bytes that came with a call, before it is decided: what is made is never of bytes we do
    /// not have. [`Blobs::refused`] takes them away again.
    pub async fn inline(&self, bytes: Bytes) -> anyhow::Result<Given> {
        let (holder, size) = (self.gateway.ids().ulid(), bytes.len() as u64);
        let checksum = Digest::of(&bytes);
        let mut pieces = Vec::new();
        for start in (0..bytes.len()).step_by(PIECE) {
            let piece = bytes.slice(start..bytes.len().min(start + PIECE));
            let size = piece.len() as u64;
            pieces.push(Piece { digest: self.give(holder, piece).await?, size });
        }
        let held = self.list(holder, checksum, size, &pieces).await?;
        Ok(Given { held, media_type: None, way: Way::Along(holder) })
    }

    /// An upload that is finished and whoever makes something of it sent. The same one may be redeemed
    /// again for a day, so that a call can be repeated.
    pub async fn redeem(&self, id: &str, actor: &Actor) -> Result<Option<Given>, StoreError> {
        let Some(upload) = self.upload(id, actor).await? else { return Ok(None) };
        let Upload { id, whole: Some(held), media_type, .. } = upload else { return Ok(None) };
        Ok(Some(Given { held, media_type, way: Way::Before(id) }))
    }

    /// Nothing came of a call. What came along with it is taken away; an upload is its sender's still,
    /// for a day.
    pub async fn refused(&self, way: Way) {
        let Way::Along(holder) = way else { return };
        // Whoever was refused learns that; what is left is in nobody's way.
        if let Err(error) = self.files.take_away(self.store(), holder).await {
            tracing::warn!(error = format!("{error:#}"), "the bytes of nothing stay");
        }
    }

    /// An upload of whoever acts; nobody else is told that it is there.
    pub async fn upload(&self, id: &str, actor: &Actor) -> Result<Option<Upload>, StoreError> {
        let (Ok(id), owner) = (id.parse::<UploadId>(), Party::of(actor)) else { return Ok(None) };
        let found = self.store().upload(id).await?;
        Ok(found.filter(|upload| Some(&upload.owner) == owner.as_ref()))
    }

    /// Whether the bucket they are in gave no answer when it was last asked.
    pub fn are_away(&self) -> bool {
        self.files.are_away()
    }

    /// Finds out whether the bucket they are in can be used, if they are in one. The log tells when that
    /// changes.
    pub async fn look(&self) {
        if self.files.are_elsewhere()
            && let Err(error) = self.files.try_out(self.gateway.ids().ulid()).await
        {
            tracing::debug!(error = format!("{error:#}"), "the bucket was tried out");
        }
    }

    /// Gives up an upload of which nothing is made, and takes its bytes away. `false` if there is none.
    pub async fn discard(&self, id: UploadId) -> anyhow::Result<bool> {
        let there = self.store().give_up_upload(id).await?;
        if there {
            self.forget(id).await?;
        }
        Ok(there)
    }

    /// Takes away the bytes of uploads nobody went on with; how many uploads.
    pub async fn sweep(&self) -> anyhow::Result<usize> {
        let kept = i64::try_from(UPLOAD_KEPT.as_millis()).unwrap_or(i64::MAX);
        let before = Time::from_millis(self.gateway.now().millis().saturating_sub(kept));
        let mut total = 0;
        loop {
            let given_up = self.store().given_up_uploads(before, BATCH).await?;
            let mut failed = None;
            for id in &given_up {
                match self.forget(*id).await {
                    Ok(()) => total += 1,
                    // Neither can the others.
                    Err(error) if error.is::<Away>() => return Err(error),
                    // One that cannot be taken away must not hold up the others.
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

    async fn forget(&self, id: UploadId) -> anyhow::Result<()> {
        self.files.take_away(self.store(), id.ulid()).await?;
        Ok(self.store().forget_upload(id).await?)
    }

    async fn give(&self, holder: Ulid, bytes: Bytes) -> anyhow::Result<Digest> {
        self.files.give(self.store(), holder, bytes).await
    }

    /// Keeps the list of some pieces. What is one piece needs none: its digest says it all.
    async fn list(
        &self,
        holder: Ulid,
        checksum: Digest,
        size: u64,
        pieces: &[Piece],
    ) -> anyhow::Result<Held> {
        if size == 0 || matches!(pieces, [one] if one.digest == checksum) {
            return Ok(Held { checksum, size, manifest: checksum });
        }
        let list = Manifest::new(checksum, size, pieces).bytes();
        let manifest = self.give(holder, list.into()).await.context("cannot keep the list")?;
        Ok(Held { checksum, size, manifest })
    }
}

#[cfg(test)]
mod tests;
