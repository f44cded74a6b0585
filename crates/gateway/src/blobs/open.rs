//! Downloads, whole or in part. Every piece is checked against its digest before any of
//! it is served.

use std::ops::Range;

use anyhow::{Context, ensure};
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt, stream};
use kernel::audit::Digest;
use kernel::task::StoredContent;
use sha2::{Digest as _, Sha256};
use store::UploadPart;

use super::Blobs;
use super::manifest::Manifest;
use crate::files::FileStorage;

/// A blob that can be read.
pub struct Blob {
    files: FileStorage,
    held: StoredContent,
    pieces: Vec<UploadPart>,
}

/// The beginning of a blob that is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPreview {
    pub text: String,
    /// Whether this is the whole text.
    pub whole: bool,
}

/// The state of a download.
struct BlobDownload {
    files: FileStorage,
    /// The requested range, counted from the beginning of the next piece.
    wanted: Range<u64>,
    pieces: std::vec::IntoIter<UploadPart>,
    /// The hash so far and the expected digest, if the whole is read.
    whole: Option<(Sha256, Digest)>,
}

impl Blobs {
    /// Opens a blob. Fails if its manifest was changed.
    pub async fn open(&self, held: &StoredContent) -> anyhow::Result<Blob> {
        let pieces = if held.manifest == held.checksum {
            vec![UploadPart { digest: held.checksum, size: held.size }]
        } else {
            let list = self.files.read(&held.manifest).await?.context("the manifest is missing")?;
            Manifest::read(&list, held)?
        };
        Ok(Blob { files: self.files.clone(), held: *held, pieces })
    }

    /// The first bytes of a blob, at most `limit`.
    pub async fn first(&self, held: &StoredContent, limit: u64) -> anyhow::Result<Bytes> {
        let read = |mut first: Vec<u8>, piece: Bytes| async move {
            first.extend_from_slice(&piece);
            Ok(first)
        };
        let blob = self.open(held).await?;
        let first = blob.read(0..held.size.min(limit)).try_fold(Vec::new(), read).await?;
        Ok(first.into())
    }

    /// The beginning of a text, at most `limit` bytes. `None` if the blob is not text.
    pub async fn text(
        &self,
        held: &StoredContent,
        limit: usize,
    ) -> anyhow::Result<Option<TextPreview>> {
        let bytes = self.first(held, limit as u64).await?;
        let whole = bytes.len() as u64 == held.size;
        let text = match String::from_utf8(bytes.into()) {
            Ok(text) => Some(text),
            // The limit splits a character.
            Err(error) if !whole && error.utf8_error().error_len().is_none() => {
                let end = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(end);
                String::from_utf8(bytes).ok()
            }
            Err(_) => None,
        };
        Ok(text.map(|text| TextPreview { text, whole }))
    }
}

impl Blob {
    /// The digests of its pieces.
    pub(super) fn digests(&self) -> Vec<Digest> {
        self.pieces.iter().map(|piece| piece.digest).collect()
    }

    /// The bytes of a range. A damaged piece ends the stream before any of it is served. For the
    /// whole blob, the last piece is served only if the digest of the whole matches.
    pub fn read(self, range: Range<u64>) -> impl Stream<Item = anyhow::Result<Bytes>> + Send {
        let whole = range == (0..self.held.size);
        let reading = BlobDownload {
            files: self.files,
            wanted: range,
            pieces: self.pieces.into_iter(),
            whole: whole.then(|| (Sha256::new(), self.held.checksum)),
        };
        stream::try_unfold(reading, BlobDownload::next)
    }
}

impl BlobDownload {
    async fn next(mut self) -> anyhow::Result<Option<(Bytes, Self)>> {
        while !self.wanted.is_empty() {
            let piece = self.pieces.next().context("the manifest is too short")?;
            let Range { start, end } = self.wanted;
            self.wanted = start.saturating_sub(piece.size)..end.saturating_sub(piece.size);
            if start >= piece.size {
                continue;
            }
            let bytes = self.files.read(&piece.digest).await?.context("a part is missing")?;
            ensure!(bytes.len() as u64 == piece.size, "a part has the wrong size");
            if let Some((hash, checksum)) = &mut self.whole {
                hash.update(&bytes);
                let last = self.wanted.is_empty();
                ensure!(
                    !last || Digest(hash.clone().finalize().into()) == *checksum,
                    "the checksum of the content is wrong"
                );
            }
            // Both are within the piece, which is in memory.
            let place = |at: u64| usize::try_from(at.min(piece.size)).unwrap_or(usize::MAX);
            return Ok(Some((bytes.slice(place(start)..place(end)), self)));
        }
        Ok(None)
    }
}
