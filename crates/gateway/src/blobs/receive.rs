//! Uploads. Every received piece is stored and recorded, so an interrupted upload continues after
//! the last piece.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, TryStreamExt};
use kernel::audit::Digest;
use kernel::task::StoredContent;
use sha2::{Digest as _, Sha256};
use store::{MOST_PIECES, StoreError, Upload, UploadPart};
use tokio_util::sync::CancellationToken;

use super::{Blobs, PIECE_SIZE};

/// The longest time without data before the sender counts as gone.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The description of a part.
#[derive(Debug, Clone, Copy)]
pub struct UploadChunk {
    /// The offset of its first byte.
    pub offset: u64,
    /// Whether it is the last part.
    pub last: bool,
    /// The expected digest of the whole, if the sender named one.
    pub checksum: Option<Digest>,
    /// The size limit of the whole.
    pub limit: u64,
}

/// The progress of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadProgress {
    /// The number of received bytes.
    pub offset: u64,
    /// The blob, if the upload is complete.
    pub whole: Option<StoredContent>,
}

/// Why an upload stopped. The bytes received before are stored.
#[derive(Debug)]
pub enum UploadError {
    /// It was discarded meanwhile.
    Gone,
    /// The part belongs at another offset: this much was received.
    Elsewhere {
        /// The number of received bytes.
        offset: u64,
    },
    /// There are more bytes than announced.
    TooLong {
        /// The announced number of bytes.
        length: u64,
    },
    /// There are fewer bytes than announced.
    TooShort {
        /// The announced number of bytes.
        length: u64,
        /// The received number of bytes.
        offset: u64,
    },
    /// It exceeds the size limit.
    TooLarge,
    /// It arrived in more pieces than a manifest may have.
    TooManyPieces,
    /// It has another digest than announced.
    OtherChecksum {
        /// The actual digest.
        is: Digest,
    },
    /// The connection ended before the upload was complete.
    Interrupted(UploadInterrupted),
    /// Storing it failed. The log has the reason.
    Unkept,
    /// The store refused it.
    Store(StoreError),
}

/// Why the rest of an upload did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadInterrupted {
    /// The sender disconnected, or the server stops.
    BrokenOff,
    /// The sender was too slow.
    TooSlow,
}

impl From<StoreError> for UploadError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Blobs {
    /// Receives a part of an upload, as much of it as arrives.
    pub async fn append<E>(
        &self,
        upload: Upload,
        part: UploadChunk,
        body: impl Stream<Item = Result<Bytes, E>> + Unpin,
        stop: &CancellationToken,
    ) -> Result<UploadProgress, UploadError> {
        if part.offset != upload.size {
            return Err(UploadError::Elsewhere { offset: upload.size });
        }
        let hash = (upload.size == 0).then(Sha256::new);
        let mut taking =
            UploadReceiver { blobs: self, upload, part, buffer: BytesMut::new(), hash };
        taking.receive_all(body, stop).await?;
        taking.end().await
    }
}

/// An upload that is being received.
struct UploadReceiver<'a> {
    blobs: &'a Blobs,
    upload: Upload,
    part: UploadChunk,
    buffer: BytesMut,
    /// The hash of the bytes so far, if they start at the beginning.
    hash: Option<Sha256>,
}

impl UploadReceiver<'_> {
    async fn receive_all<E>(
        &mut self,
        mut body: impl Stream<Item = Result<Bytes, E>> + Unpin,
        stop: &CancellationToken,
    ) -> Result<(), UploadError> {
        let ended = loop {
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => break Err(UploadInterrupted::BrokenOff),
                next = tokio::time::timeout(IDLE_TIMEOUT, body.next()) => next,
            };
            match next {
                Ok(Some(Ok(bytes))) => self.receive_chunk(bytes).await?,
                Ok(Some(Err(_))) => break Err(UploadInterrupted::BrokenOff),
                Ok(None) => break Ok(()),
                Err(_) => break Err(UploadInterrupted::TooSlow),
            }
        };
        // Bytes from a connection that broke are stored too.
        self.flush().await?;
        ended.map_err(UploadError::Interrupted)
    }

    async fn receive_chunk(&mut self, mut bytes: Bytes) -> Result<(), UploadError> {
        let all = self.upload.size + (self.buffer.len() + bytes.len()) as u64;
        match self.upload.whole.map(|whole| whole.size).or(self.upload.length) {
            Some(length) if all > length => return Err(UploadError::TooLong { length }),
            _ if all > self.part.limit => return Err(UploadError::TooLarge),
            _ => {}
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&bytes);
        }
        while !bytes.is_empty() {
            let fits = bytes.split_to(bytes.len().min(PIECE_SIZE - self.buffer.len()));
            self.buffer.extend_from_slice(&fits);
            if self.buffer.len() == PIECE_SIZE {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Stores the received bytes as a piece, then records the piece.
    async fn flush(&mut self) -> Result<(), UploadError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.upload.pieces >= MOST_PIECES {
            return Err(UploadError::TooManyPieces);
        }
        let (id, offset) = (self.upload.id, self.upload.size);
        let bytes = std::mem::take(&mut self.buffer).freeze();
        let size = bytes.len() as u64;
        let accounts = self.blobs.gateway.quotas().accounts_of(&self.upload.owner);
        self.blobs.gateway.quotas().charge_bytes(accounts, None, id.ulid(), size).await?;
        let kept = self.blobs.store_file(id.ulid(), bytes).await;
        let piece = UploadPart { digest: kept.map_err(|error| self.storage_error(&error))?, size };
        let (store, now) = (self.blobs.store(), self.blobs.gateway.now());
        if !store.append_piece(id, offset, piece, now).await? {
            let Some(there) = store.upload(id).await? else {
                self.delete_orphaned_piece(piece.digest).await;
                return Err(UploadError::Gone);
            };
            // The piece may be this one: after a lost connection, the database does not say
            // whether it committed.
            let ours = there.size == offset + size
                && store.pieces(id).await?.last().is_some_and(|last| *last == piece);
            if !ours {
                return Err(UploadError::Elsewhere { offset: there.size });
            }
        }
        self.upload.size += size;
        self.upload.pieces += 1;
        Ok(())
    }

    /// Deletes a piece of an upload that no longer exists.
    async fn delete_orphaned_piece(&self, digest: Digest) {
        let Blobs { files, .. } = self.blobs;
        let gone = files.delete_orphaned(self.blobs.store(), self.upload.id.ulid(), digest).await;
        if let Err(error) = gone {
            let id = self.upload.id;
            tracing::warn!(error = format!("{error:#}"), upload.id = %id, "could not delete the \
                     bytes of a refused \
                     upload");
        }
    }

    /// Finishes the upload if all of it arrived.
    async fn end(self) -> Result<UploadProgress, UploadError> {
        let Upload { id, length, size: offset, whole, .. } = self.upload;
        if !self.part.last && length != Some(offset) && whole.is_none() {
            return Ok(UploadProgress { offset, whole });
        }
        if let Some(length) = length.filter(|length| *length != offset) {
            return Err(UploadError::TooShort { length, offset });
        }
        let whole = match whole {
            Some(whole) => {
                self.check(whole.checksum)?;
                whole
            }
            None => self.finished().await?,
        };
        // A concurrent call may have finished it, but from the same pieces.
        let store = self.blobs.store();
        if !store.finish_upload(id, whole, self.blobs.gateway.now()).await? {
            let there = store.upload(id).await?.ok_or(UploadError::Gone)?;
            if there.whole != Some(whole) {
                return Err(UploadError::Elsewhere { offset: there.size });
            }
        }
        Ok(UploadProgress { offset, whole: Some(whole) })
    }

    async fn finished(&self) -> Result<StoredContent, UploadError> {
        let Upload { id, size, .. } = self.upload;
        let pieces = self.blobs.store().pieces(id).await?;
        let checksum = match &self.hash {
            Some(hash) => Digest(hash.clone().finalize().into()),
            None => self.blobs.hashed(&pieces).await.map_err(|error| self.storage_error(&error))?,
        };
        self.check(checksum)?;
        let list = self.blobs.list(id.ulid(), checksum, size, &pieces).await;
        list.map_err(|error| self.storage_error(&error))
    }

    fn check(&self, is: Digest) -> Result<(), UploadError> {
        match self.part.checksum {
            Some(said) if said != is => Err(UploadError::OtherChecksum { is }),
            Some(_) | None => Ok(()),
        }
    }

    fn storage_error(&self, error: &anyhow::Error) -> UploadError {
        let id = self.upload.id;
        tracing::error!(error = format!("{error:#}"), upload.id = %id, "cannot store an upload");
        UploadError::Unkept
    }
}

impl Blobs {
    /// The digest of some pieces together.
    async fn hashed(&self, pieces: &[UploadPart]) -> anyhow::Result<Digest> {
        let read = futures_util::stream::iter(pieces.iter().map(anyhow::Ok));
        let hash = read.try_fold(Sha256::new(), |mut hash, piece| async move {
            let bytes = self.files.read(&piece.digest).await?;
            let bytes = bytes.ok_or_else(|| anyhow::anyhow!("a part is missing"))?;
            hash.update(&bytes);
            Ok(hash)
        });
        Ok(Digest(hash.await?.finalize().into()))
    }
}
