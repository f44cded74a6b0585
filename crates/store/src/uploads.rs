//! Bytes on their way: what has arrived of each upload, so that it goes on where it stopped. The bytes
//! themselves lie elsewhere, in pieces.

use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::task::{Held, Party};
use kernel::{Time, UploadId};

use crate::Result;

/// How long an upload is kept that nobody goes on with, or of which nothing is made.
pub const UPLOAD_KEPT: Duration = Duration::from_hours(24);

/// How many pieces an upload may have: a list of so many still fits into a file of its own.
pub const MOST_PIECES: u64 = 10_000;

/// How many uploads somebody may have of which nothing is made.
pub const MOST_UPLOADS: usize = 100;

/// An upload, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// What it is called.
    pub id: UploadId,
    /// Who sends it. Nobody else is told that it is there.
    pub owner: Party,
    /// How many bytes it is to have, if that was said.
    pub length: Option<u64>,
    /// What sort of bytes, if that was said.
    pub media_type: Option<String>,
    /// How many have arrived.
    pub size: u64,
    /// In how many pieces.
    pub pieces: u64,
    /// What it is, once all of it has arrived.
    pub whole: Option<Held>,
    /// When something was last heard of it.
    pub at: Time,
}

impl Upload {
    /// One of which nothing has arrived yet.
    pub fn new(id: UploadId, owner: Party, at: Time) -> Self {
        let (length, media_type, whole) = (None, None, None);
        Self { id, owner, length, media_type, size: 0, pieces: 0, whole, at }
    }
}

/// A part of an upload, kept as a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// What it hashes to.
    pub digest: Digest,
    /// How many bytes it has.
    pub size: u64,
}

/// Nothing of this is an event: what is made of an upload is.
#[async_trait]
pub trait Uploads {
    /// Begins an upload. `false`, and nothing is kept, when its owner has [`MOST_UPLOADS`] of which
    /// nothing is made. That something is comes with [`Job::uses`](crate::Job::uses), together with
    /// what is made: whatever is refused leaves the upload as it was.
    async fn begin_upload(&self, upload: Upload) -> Result<bool>;

    /// One upload.
    async fn upload(&self, id: UploadId) -> Result<Option<Upload>>;

    /// Its pieces, in order.
    async fn pieces(&self, id: UploadId) -> Result<Vec<Piece>>;

    /// Appends a piece. `false`, and nothing changed, unless exactly `offset` bytes have arrived, more
    /// may come, and it has fewer than [`MOST_PIECES`]: of two who send the same part one wins.
    async fn append_piece(&self, id: UploadId, offset: u64, piece: Piece, at: Time)
    -> Result<bool>;

    /// Says what an upload is, now that all of it has arrived. `false`, and nothing changed, if it has
    /// another size, or is finished.
    async fn finish_upload(&self, id: UploadId, whole: Held, at: Time) -> Result<bool>;

    /// Gives up an upload of which nothing is made: it is as good as gone. `false` if there is none.
    async fn give_up_upload(&self, id: UploadId) -> Result<bool>;

    /// Gives up the uploads of which nothing was heard since `before` and nothing is made, and forgets
    /// those of which something is. Names at most `limit` that were given up, whenever that was: their
    /// bytes are to be taken away before they are forgotten.
    async fn given_up_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>>;

    /// Forgets an upload with its pieces.
    async fn forget_upload(&self, id: UploadId) -> Result<()>;
}
