//! Uploads, kept by the SHA-256 of their content. The store knows who was given which: asks what
//! answers them, uploads of any size their pieces.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use kernel::audit::Digest;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use store::Store;
use store::postgres::Postgres;
use tokio::sync::RwLock;
use ulid::Ulid;

/// Where uploads are kept.
#[derive(Clone)]
pub struct Files(Kept);

#[derive(Clone)]
enum Kept {
    /// Only this process has them, so that a lock of its own is enough: many may give a file, or one
    /// may take files away.
    Objects(Arc<dyn ObjectStore>, Arc<RwLock<()>>),
    /// In the database, so that every node has what any node was given.
    Shared(Arc<Postgres>),
}

impl Files {
    /// In a folder.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        make_private_folder(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder)
            .with_context(|| format!("cannot use {}", folder.display()))?
            .with_fsync(true);
        Ok(Self(Kept::Objects(Arc::new(store), Arc::default())))
    }

    /// As long as the process lives.
    pub fn ephemeral() -> Self {
        Self(Kept::Objects(Arc::new(InMemory::new()), Arc::default()))
    }

    /// In the database.
    pub fn shared(store: Arc<Postgres>) -> Self {
        Self(Kept::Shared(store))
    }

    /// Keeps what was uploaded for somebody and gives its digest.
    pub async fn give(
        &self,
        store: &dyn Store,
        holder: Ulid,
        bytes: Bytes,
    ) -> anyhow::Result<Digest> {
        let _turn = match &self.0 {
            Kept::Objects(_, lock) => Some(lock.read().await),
            Kept::Shared(_) => None,
        };
        store.note_file(holder, Digest::of(&bytes)).await.context("cannot note the file")?;
        self.keep(bytes).await
    }

    /// Takes away what somebody was given, except what another was given too. What fails halfway is done
    /// by the next attempt.
    pub async fn take_away(&self, store: &dyn Store, holder: Ulid) -> anyhow::Result<()> {
        match &self.0 {
            Kept::Shared(shared) => shared.drop_files(holder).await?,
            Kept::Objects(objects, lock) => {
                let _turn = lock.write().await;
                for digest in store.own_files(holder).await? {
                    match objects.delete(&path(&digest)).await {
                        Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                        Err(error) => return Err(error).context("cannot delete the file"),
                    }
                }
                store.forget_files(holder).await?;
            }
        }
        Ok(())
    }

    /// Keeps some bytes and gives their digest. Keeping the same bytes twice keeps them once.
    pub async fn keep(&self, bytes: Bytes) -> anyhow::Result<Digest> {
        let digest = Digest::of(&bytes);
        match &self.0 {
            Kept::Objects(objects, _) => {
                let put = objects.put(&path(&digest), PutPayload::from(bytes)).await;
                put.map(drop).map_err(anyhow::Error::from)
            }
            Kept::Shared(store) => store.keep_file(digest, &bytes).await.map_err(Into::into),
        }
        .context("cannot keep the file")?;
        Ok(digest)
    }

    /// The bytes behind a digest, checked against it.
    pub async fn read(&self, digest: &Digest) -> anyhow::Result<Option<Bytes>> {
        let found = match &self.0 {
            Kept::Objects(objects, _) => object(&**objects, digest).await,
            Kept::Shared(store) => match store.file(digest).await {
                Ok(found) => Ok(found.map(Bytes::from)),
                Err(error) => Err(error.into()),
            },
        };
        let Some(bytes) = found.context("cannot read the file")? else { return Ok(None) };
        anyhow::ensure!(Digest::of(&bytes) == *digest, "the stored file {digest} is damaged");
        Ok(Some(bytes))
    }
}

async fn object(objects: &dyn ObjectStore, digest: &Digest) -> anyhow::Result<Option<Bytes>> {
    match objects.get(&path(digest)).await {
        Ok(found) => Ok(Some(found.bytes().await?)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn path(digest: &Digest) -> object_store::path::Path {
    let name = digest.to_string();
    let (folder, rest) = name.split_at(2);
    object_store::path::Path::from(format!("{folder}/{rest}"))
}

/// Makes a folder that is nobody else's business.
pub fn make_private_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use store::memory::Memory;

    use super::*;
    use crate::clock::SystemClock;

    #[tokio::test]
    async fn kept_by_content_and_checked_when_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let digest = files.keep(Bytes::from_static(b"hello")).await.unwrap();
        assert_eq!(files.keep(Bytes::from_static(b"hello")).await.unwrap(), digest);
        assert_eq!(files.read(&digest).await.unwrap().unwrap(), "hello");
        assert_eq!(files.read(&Digest::ZERO).await.unwrap(), None);
        let (store, ask) = (Memory::new(Arc::new(SystemClock)), Ulid::nil());
        files.give(&store, ask, Bytes::from_static(b"mine")).await.unwrap();
        let mine = Digest::of(b"mine");
        for _ in 0..2 {
            files.take_away(&store, ask).await.unwrap();
            assert_eq!(files.read(&mine).await.unwrap(), None);
        }
        let name = digest.to_string();
        std::fs::write(folder.path().join(&name[..2]).join(&name[2..]), "other").unwrap();
        assert!(files.read(&digest).await.is_err());
    }
}
