//! Uploads, in a map.

use async_trait::async_trait;
use kernel::task::Held;
use kernel::{Time, UploadId};

use super::Memory;
use crate::{MOST_PIECES, MOST_UPLOADS, Piece, Result, Upload, Uploads};

pub(super) struct Kept {
    upload: Upload,
    pieces: Vec<Piece>,
    used: bool,
    given_up: bool,
}

impl Kept {
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
impl Uploads for Memory {
    async fn begin_upload(&self, upload: Upload) -> Result<bool> {
        let mut state = self.state();
        let unused = |kept: &Kept| !kept.given_up && !kept.used;
        let own = |kept: &&Kept| unused(kept) && kept.upload.owner == upload.owner;
        let room = state.uploads.values().filter(own).count() < MOST_UPLOADS;
        if room {
            let (id, pieces) = (upload.id, Vec::new());
            state.uploads.insert(id, Kept { upload, pieces, used: false, given_up: false });
        }
        Ok(room)
    }

    async fn upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let state = self.state();
        let kept = state.uploads.get(&id).filter(|kept| !kept.given_up);
        Ok(kept.map(|kept| kept.upload.clone()))
    }

    async fn pieces(&self, id: UploadId) -> Result<Vec<Piece>> {
        Ok(self.state().uploads.get(&id).map(|kept| kept.pieces.clone()).unwrap_or_default())
    }

    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: Piece,
        at: Time,
    ) -> Result<bool> {
        let mut state = self.state();
        let fits = |kept: &&mut Kept| {
            kept.is_open() && kept.upload.size == offset && kept.upload.pieces < MOST_PIECES
        };
        let Some(kept) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        kept.upload.size += piece.size;
        kept.upload.pieces += 1;
        kept.upload.at = at;
        kept.pieces.push(piece);
        Ok(true)
    }

    async fn finish_upload(&self, id: UploadId, whole: Held, at: Time) -> Result<bool> {
        let mut state = self.state();
        let fits = |kept: &&mut Kept| kept.is_open() && kept.upload.size == whole.size;
        let Some(kept) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        kept.upload.whole = Some(whole);
        kept.upload.at = at;
        Ok(true)
    }

    async fn give_up_upload(&self, id: UploadId) -> Result<bool> {
        let mut state = self.state();
        let fits = |kept: &&mut Kept| !kept.given_up && !kept.used;
        let Some(kept) = state.uploads.get_mut(&id).filter(fits) else { return Ok(false) };
        kept.given_up = true;
        Ok(true)
    }

    async fn given_up_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>> {
        let mut state = self.state();
        state.uploads.retain(|_, kept| !kept.used || kept.upload.at >= before);
        for kept in state.uploads.values_mut().filter(|kept| !kept.used) {
            kept.given_up |= kept.upload.at < before;
        }
        let given_up = state.uploads.iter().filter(|(_, kept)| kept.given_up);
        Ok(given_up.map(|(id, _)| *id).take(limit).collect())
    }

    async fn forget_upload(&self, id: UploadId) -> Result<()> {
        self.state().uploads.remove(&id);
        Ok(())
    }
}
