//! The files that belong to each ask or upload.

use kernel::audit::Digest;
use ulid::Ulid;

use super::state::MemoryState;

impl MemoryState {
    pub(super) fn own_files(&self, holder: Ulid) -> Vec<Digest> {
        let lone =
            |digest: &Digest| !self.files.iter().any(|(id, one)| id != &holder && one == digest);
        let given = self.files.iter().filter(|(id, _)| *id == holder).map(|(_, digest)| *digest);
        given.filter(lone).collect()
    }
}
