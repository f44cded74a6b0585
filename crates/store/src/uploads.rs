//! Uploads in progress: how much of each has arrived, so that the client can resume it. The bytes
//! are stored elsewhere, in pieces.

use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::task::{Party, StoredContent};
use kernel::{Time, UploadId};

use crate::Result;

/// How long an idle or unused upload is kept.
pub const UPLOAD_KEPT: Duration = Duration::from_hours(24);

/// The most pieces of an upload: a list of this many still fits into one file.
pub const MOST_PIECES: u64 = 10_000;

/// The most unused uploads per owner.
pub const MOST_UPLOADS: usize = 100;

/// An upload and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The id of the upload.
    pub id: UploadId,
    /// The party that sends it. The server does not reveal it to anyone else.
    pub owner: Party,
    /// The announced size in bytes, if any.
    pub length: Option<u64>,
    /// The announced media type, if any.
    pub media_type: Option<String>,
    /// The number of bytes received.
    pub size: u64,
    /// The number of pieces received.
    pub pieces: u64,
    /// Size and digest of the content, once all of it has arrived.
    pub whole: Option<StoredContent>,
    /// The time of the last activity.
    pub at: Time,
}

impl Upload {
    /// An upload of which nothing has arrived yet.
    pub fn new(id: UploadId, owner: Party, at: Time) -> Self {
        let (length, media_type, whole) = (None, None, None);
        Self { id, owner, length, media_type, size: 0, pieces: 0, whole, at }
    }
}

/// A part of an upload, stored as a separate file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadPart {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// Storage of uploads. None of this is an event; the object created from an upload is.
#[async_trait]
pub trait UploadStore {
    /// Begins an upload. Returns `false` and stores nothing if its owner has [`MOST_UPLOADS`]
    /// unused ones. A job marks an upload as used with [`Job::uses`](crate::Job::uses), in the
    /// transaction that creates the object: a refusal leaves the upload unchanged.
    async fn begin_upload(&self, upload: Upload) -> Result<bool>;

    /// The upload with this id.
    async fn upload(&self, id: UploadId) -> Result<Option<Upload>>;

    /// Its pieces, in order.
    async fn pieces(&self, id: UploadId) -> Result<Vec<UploadPart>>;

    /// Appends a piece. Returns `false` and changes nothing unless exactly `offset` bytes have
    /// arrived, the upload is unfinished, and it has fewer than [`MOST_PIECES`] pieces. So if two
    /// clients send the same part, one wins.
    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: UploadPart,
        at: Time,
    ) -> Result<bool>;

    /// Marks an upload as complete. Returns `false` and changes nothing if its size differs, or if
    /// it is already finished.
    async fn finish_upload(&self, id: UploadId, whole: StoredContent, at: Time) -> Result<bool>;

    /// Discards an unused upload. Its bytes are deleted later. Returns `false` if there is none.
    async fn abandon_upload(&self, id: UploadId) -> Result<bool>;

    /// Discards the uploads without activity since `before` that are unused, and deletes the rows
    /// of those that are used. Returns at most `limit` discarded uploads, whenever they were
    /// discarded: the caller deletes their bytes before it calls [`UploadStore::forget_upload`].
    async fn abandoned_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>>;

    /// Deletes the rows of an upload and its pieces.
    async fn forget_upload(&self, id: UploadId) -> Result<()>;
}
