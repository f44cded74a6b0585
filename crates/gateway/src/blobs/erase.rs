//! Deletes the bytes of an erased artifact. Files are stored by their content, so bytes that
//! another artifact or answer also holds stay until that is erased too.

use std::collections::BTreeMap;

use kernel::AskId;
use kernel::audit::Digest;
use kernel::task::Artifact;

use super::Blobs;

impl Blobs {
    /// Deletes the bytes of all versions of an artifact. After a failure halfway, the next
    /// attempt completes it.
    pub async fn erase(&self, artifact: &Artifact) -> anyhow::Result<()> {
        let mut pieces: BTreeMap<Digest, usize> = BTreeMap::new();
        let mut lists: BTreeMap<Digest, usize> = BTreeMap::new();
        for held in artifact.versions.iter().filter_map(|version| version.payload.bytes()) {
            // If the manifest is missing, an earlier attempt already deleted the pieces.
            if !self.files.has(&held.manifest).await? {
                continue;
            }
            let mut digests = self.open(&held).await?.digests();
            digests.sort_unstable();
            digests.dedup();
            digests.retain(|digest| *digest != held.manifest);
            for digest in digests {
                *pieces.entry(digest).or_default() += 1;
            }
            *lists.entry(held.manifest).or_default() += 1;
        }
        for (digest, versions) in pieces.into_iter().chain(lists) {
            self.release(artifact, digest, versions).await?;
        }
        self.files.delete_for(self.store(), artifact.id.ulid()).await
    }

    /// Gives up this many claims on a file, and deletes it if there are no others.
    async fn release(
        &self,
        artifact: &Artifact,
        digest: Digest,
        versions: usize,
    ) -> anyhow::Result<()> {
        let eraser = artifact.id.ulid();
        let (mut ours, mut elsewhere) = (Vec::new(), false);
        for holder in self.store().file_holders(digest).await? {
            if holder == eraser {
                continue;
            }
            // Answers of people hold files as well. Each version got its bytes under its own id.
            if self.store().ask(AskId::new(holder)).await?.is_some() {
                elsewhere = true;
            } else {
                ours.push(holder);
            }
        }
        elsewhere |= ours.len() > versions;
        for holder in ours.into_iter().take(versions) {
            self.store().forget_files(holder, Some(digest)).await?;
            self.store().release(holder).await?;
        }
        if elsewhere {
            tracing::info!(artifact.id = %artifact.id, "kept bytes that another artifact or \
                     answer uses");
            return Ok(());
        }
        self.files.delete_orphaned(self.store(), eraser, digest).await
    }
}
