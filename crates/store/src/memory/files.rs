//! Which files were given to which ask.

use kernel::AskId;
use kernel::audit::Digest;

use super::state::State;

impl State {
    pub(super) fn own_files(&self, ask: AskId) -> Vec<Digest> {
        let lone =
            |digest: &Digest| !self.files.iter().any(|(id, one)| id != &ask && one == digest);
        let given = self.files.iter().filter(|(id, _)| *id == ask).map(|(_, digest)| *digest);
        given.filter(lone).collect()
    }
}
