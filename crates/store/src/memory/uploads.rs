//! Uploads, in a map.

use async_trait::async_trait;
use kernel::task::StoredContent;
use kernel::{Time, UploadId};

use super::Memory;
use crate::{MOST_PIECES, MOST_UPLOADS, Result, Upload, UploadPart, UploadStore};

pub(super) struct StoredUpload {
    upload: Upload,
    pieces: Vec<UploadPart>,
    used: bool,
    given_up: bool,
}

impl StoredUpload {
    fn is_open(&self) -> bool {
        !self.given_up && self.upload.whole.is_none()
    }

    /// Whether a job may use it.
    pub(super) fn is_whole(&self) -> bool {
        !self.given_up && self.upload.whole.is_some()
    }

    pub(super) fn use_up(&mut self, at: Time) {
        self.used = true;
        self.upload.at = at;
    }
}

#[async_trait]
impl UploadStore for Memory {
    async fn begin_upload(&self, upload: Upload) -> Result<bool> {
        let mut state = self.state();
        let unused = |stored: &StoredUpload| !stored.given_up && !stored.used;
        let own = |stored: &&StoredUpload| unused(stored) && stored.upload.owner == upload.owner;
        let room = state.uploads.values().filter(own).count() < MOST_UPLOADS;
        if room {
            let (id, pieces) = (upload.id, Vec::new());
            state.uploads.insert(id, StoredUpload { upload, pieces, used: false, given_up: false });
        }
        Ok(room)
    }

    async fn upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let state = self.state();
        let stored = state.uploads.get(&id).filter(|stored| !stored.given_up);
        Ok(stored.map(|stored| stored.upload.clone()))
    }

    async fn pieces(&self, id: UploadId) -> Result<Vec<UploadPart>> {
        Ok(self.state().uploads.get(&id).map(|stored| stored.pieces.clone()).unwrap_or_default())
    }

    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: UploadPart,
        at: Time,
    ) -> Result<bool> {
        let mut state = self.state();
        let fits = |stored: &&mut StoredUpload| {
            stored.is_open() && stored.upload.size == offset && stored.upload.pieces < MOST_PIECES
        };
        let Some(stored) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        stored.upload.size += piece.size;
        stored.upload.pieces += 1;
        stored.upload.at = at;
        stored.pieces.push(piece);
        Ok(true)
    }

    async fn finish_upload(&self, id: UploadId, whole: StoredContent, at: Time) -> Result<bool> {
        let mut state = self.state();
        let fits =
            |stored: &&mut StoredUpload| stored.is_open() && stored.upload.size == whole.size;
        let Some(stored) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        stored.upload.whole = Some(whole);
        stored.upload.at = at;
        Ok(true)
    }

    async fn abandon_upload(&self, id: UploadId) -> Result<bool> {
        let mut state = self.state();
        let fits = |stored: &&mut StoredUpload| !stored.given_up && !stored.used;
        let Some(stored) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        stored.given_up = true;
        Ok(true)
    }

    async fn abandoned_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>> {
        let mut state = self.state();
        state.uploads.retain(|_, stored| !stored.used || stored.upload.at >= before);
        for stored in state.uploads.values_mut().filter(|stored| !stored.used) {
            stored.given_up |= stored.upload.at < before;
        }
        let given_up = state.uploads.iter().filter(|(_, stored)| stored.given_up);
        Ok(given_up.map(|(id, _)| *id).take(limit).collect())
    }

    async fn forget_upload(&self, id: UploadId) -> Result<()> {
        self.state().uploads.remove(&id);
        Ok(())
    }
}
