//! Files, stored by the SHA-256 of their content: in a directory, in the database, or in a bucket.
//! The store records the holders of each file: asks for answers, and uploads for their pieces.
//!
//! A file must not be deleted while another holder is being added. Adding therefore records the
//! holder first, and deleting prevents new holders of the same file until it is gone.

mod bucket;

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use kernel::audit::Digest;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path as Place;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use store::Store;
use store::postgres::Postgres;
use tokio::sync::RwLock;
use ulid::Ulid;

pub use bucket::Bucket;
use bucket::BucketAvailability;

/// The number of files per database read.
const PAGE: usize = 1000;

/// The storage of files.
#[derive(Clone)]
pub struct FileStorage(FileBackend);

#[derive(Clone)]
enum FileBackend {
    /// In an object store, each under its own name.
    Objects(Objects),
    /// In the database, so that every node has every file.
    Shared(Arc<Postgres>),
}

#[derive(Clone)]
struct Objects {
    store: Arc<dyn ObjectStore>,
    turns: FileLock,
    /// Whether the bucket answers, if it is one.
    answers: Option<Arc<BucketAvailability>>,
}

/// Coordinates adding and deleting files.
#[derive(Clone)]
enum FileLock {
    /// A single process needs only its own lock: many tasks may add files, or one may delete.
    Alone(Arc<RwLock<()>>),
    /// The nodes of this database coordinate through it.
    Nodes(Arc<Postgres>),
}

/// Why stored bytes cannot be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReadError {
    /// The storage does not answer at the moment.
    Away,
    /// The bytes are damaged.
    Damaged,
}

impl From<&anyhow::Error> for FileReadError {
    fn from(error: &anyhow::Error) -> Self {
        if error.is::<StorageUnavailable>() { Self::Away } else { Self::Damaged }
    }
}

/// The bucket or the database does not answer, or not in a usable way. Nothing is known to be lost,
/// and a retry may succeed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the file storage cannot be reached")]
pub struct StorageUnavailable;

/// The bytes stored under a digest do not match it.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the stored file {0} is damaged")]
pub struct DamagedFile(Digest);

impl FileStorage {
    /// Files in a directory.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        make_private_folder(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder)
            .with_context(|| format!("cannot use {}", folder.display()))?
            .with_fsync(true);
        Ok(Self::objects(Arc::new(store), FileLock::Alone(Arc::default()), None))
    }

    /// Files in memory.
    pub fn ephemeral() -> Self {
        Self::objects(Arc::new(InMemory::new()), FileLock::Alone(Arc::default()), None)
    }

    /// Files in the database.
    pub fn shared(store: Arc<Postgres>) -> Self {
        Self(FileBackend::Shared(store))
    }

    /// Files in a bucket. Nodes share it if they share this database.
    pub fn bucket(bucket: &Bucket, nodes: Option<Arc<Postgres>>) -> anyhow::Result<Self> {
        let turns = nodes.map_or_else(|| FileLock::Alone(Arc::default()), FileLock::Nodes);
        let answers = Arc::new(BucketAvailability::new(&bucket.to_string()));
        Ok(Self::objects(bucket::open(bucket)?, turns, Some(answers)))
    }

    fn objects(
        store: Arc<dyn ObjectStore>,
        turns: FileLock,
        answers: Option<Arc<BucketAvailability>>,
    ) -> Self {
        Self(FileBackend::Objects(Objects { store, turns, answers }))
    }

    /// Stores uploaded bytes for a holder and returns their digest.
    pub async fn store_for(
        &self,
        store: &dyn Store,
        holder: Ulid,
        bytes: Bytes,
    ) -> anyhow::Result<Digest> {
        let digest = Digest::of(&bytes);
        self.record_holder(store, holder, digest).await?;
        self.store_as(digest, bytes).await?;
        Ok(digest)
    }

    /// Deletes the files of a holder, except those of other holders. After a failure halfway, the
    /// next attempt completes it.
    pub async fn delete_for(&self, store: &dyn Store, holder: Ulid) -> anyhow::Result<()> {
        store.release(holder).await?;
        let objects = match &self.0 {
            FileBackend::Shared(shared) => return Ok(shared.drop_files(holder).await?),
            FileBackend::Objects(objects) => objects,
        };
        match &objects.turns {
            FileLock::Alone(lock) => {
                let _turn = lock.write().await;
                objects.delete(store.own_files(holder).await?).await?;
                store.forget_files(holder, None).await?;
            }
            FileLock::Nodes(nodes) => {
                let mut deletion = nodes.delete_files(holder).await?;
                while let Some(own) = deletion.next().await? {
                    objects.delete(own).await?;
                    deletion.confirm().await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes a file that was stored for a holder that no longer exists, with all its other files.
    pub async fn delete_orphaned(
        &self,
        store: &dyn Store,
        holder: Ulid,
        digest: Digest,
    ) -> anyhow::Result<()> {
        // Recording the file makes the deletion find it.
        self.record_holder(store, holder, digest).await?;
        self.delete_for(store, holder).await
    }

    async fn record_holder(
        &self,
        store: &dyn Store,
        holder: Ulid,
        digest: Digest,
    ) -> anyhow::Result<()> {
        let _turn = match &self.0 {
            FileBackend::Objects(Objects { turns: FileLock::Alone(lock), .. }) => {
                Some(lock.read().await)
            }
            // The database coordinates this itself.
            FileBackend::Objects(Objects { turns: FileLock::Nodes(_), .. })
            | FileBackend::Shared(_) => None,
        };
        store.record_file(holder, digest).await.context("cannot record the file")
    }

    /// Stores bytes and returns their digest. Storing the same bytes twice stores them once.
    pub async fn store(&self, bytes: Bytes) -> anyhow::Result<Digest> {
        let digest = Digest::of(&bytes);
        self.store_as(digest, bytes).await?;
        Ok(digest)
    }

    async fn store_as(&self, digest: Digest, bytes: Bytes) -> anyhow::Result<()> {
        match &self.0 {
            FileBackend::Objects(objects) => objects.put(&object_path(&digest), bytes).await,
            FileBackend::Shared(store) => {
                store.put_file(digest, &bytes).await.context(StorageUnavailable)
            }
        }
        .context("cannot store the file")
    }

    /// The bytes of a digest, checked against it. The error is [`StorageUnavailable`] if the
    /// storage does not answer, and [`DamagedFile`] if the bytes do not match.
    pub async fn read(&self, digest: &Digest) -> anyhow::Result<Option<Bytes>> {
        let found = match &self.0 {
            FileBackend::Objects(objects) => objects.get(&object_path(digest)).await,
            FileBackend::Shared(store) => store
                .file(digest)
                .await
                .map(|found| found.map(Bytes::from))
                .context(StorageUnavailable),
        };
        let Some(bytes) = found.context("cannot read the file")? else { return Ok(None) };
        anyhow::ensure!(Digest::of(&bytes) == *digest, DamagedFile(*digest));
        Ok(Some(bytes))
    }

    /// Whether the bytes of a digest exist, unchecked.
    pub async fn has(&self, digest: &Digest) -> anyhow::Result<bool> {
        Ok(match &self.0 {
            FileBackend::Objects(objects) => objects.has(&object_path(digest)).await?,
            FileBackend::Shared(store) => {
                store.has_file(digest).await.context(StorageUnavailable)?
            }
        })
    }

    /// The digests of all stored files.
    pub fn digests(&self) -> BoxStream<'static, anyhow::Result<Digest>> {
        match &self.0 {
            FileBackend::Objects(objects) => {
                let named = objects.store.list(None).map_err(|error| bucket::service_error(&error));
                named.try_filter_map(|found| async move { Ok(digest(&found.location)) }).boxed()
            }
            FileBackend::Shared(store) => {
                let store = Arc::clone(store);
                let page = move |after: Option<Digest>| {
                    let store = Arc::clone(&store);
                    async move {
                        let page = store.files(after.as_ref(), PAGE).await?;
                        let Some(last) = page.last().copied() else { return Ok(None) };
                        anyhow::Ok(Some((stream::iter(page).map(Ok), Some(last))))
                    }
                };
                stream::try_unfold(None, page).try_flatten().boxed()
            }
        }
    }

    /// Whether the bucket did not answer the last request. Other storages cannot fail on their own.
    pub fn is_unavailable(&self) -> bool {
        self.availability().is_some_and(BucketAvailability::is_unavailable)
    }

    /// Whether files are in a bucket, which can be unavailable.
    pub fn is_bucket(&self) -> bool {
        self.availability().is_some()
    }

    fn availability(&self) -> Option<&BucketAvailability> {
        match &self.0 {
            FileBackend::Objects(objects) => objects.answers.as_deref(),
            FileBackend::Shared(_) => None,
        }
    }

    /// Writes, reads and deletes a test object under a unique name.
    pub async fn test_access(&self, name: Ulid) -> anyhow::Result<()> {
        let FileBackend::Objects(objects) = &self.0 else { return Ok(()) };
        let (place, said) = (Place::from(format!("trial/{name}")), Bytes::from_static(b"trial"));
        objects.put(&place, said.clone()).await.context("cannot write there")?;
        let read = objects.get(&place).await.context("cannot read there")?;
        anyhow::ensure!(read == Some(said), "the bytes read back differ from the bytes written");
        objects.remove(vec![place]).await.context("cannot delete there")
    }
}

impl Objects {
    async fn put(&self, place: &Place, bytes: Bytes) -> anyhow::Result<()> {
        let began = Instant::now();
        self.note_availability(
            began,
            self.store.put(place, PutPayload::from(bytes)).await.map(drop),
        )
    }

    async fn get(&self, place: &Place) -> anyhow::Result<Option<Bytes>> {
        let began = Instant::now();
        let read = async { self.store.get(place).await?.bytes().await };
        self.note_availability(began, optional(read.await))
    }

    async fn has(&self, place: &Place) -> anyhow::Result<bool> {
        let began = Instant::now();
        Ok(self.note_availability(began, optional(self.store.head(place).await))?.is_some())
    }

    async fn delete(&self, digests: Vec<Digest>) -> anyhow::Result<()> {
        self.remove(digests.iter().map(object_path).collect())
            .await
            .context("cannot delete the files")
    }

    /// Waits for every deletion, even if others fail, so that none happens after this returns.
    async fn remove(&self, places: Vec<Place>) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut gone = self.store.delete_stream(stream::iter(places).map(Ok).boxed());
        let mut done = Ok(());
        while let Some(one) = gone.next().await {
            let one = self.note_availability(began, optional(one).map(drop));
            done = done.and(one);
        }
        done
    }

    /// The result of a request. It is recorded whether the bucket answered.
    fn note_availability<T>(
        &self,
        began: Instant,
        outcome: object_store::Result<T>,
    ) -> anyhow::Result<T> {
        let outcome = outcome.map_err(|error| bucket::service_error(&error));
        match &self.answers {
            Some(answers) => {
                answers.record_result(began, outcome.as_ref().err());
                outcome.context(StorageUnavailable)
            }
            None => outcome,
        }
    }
}

/// `None` if the object does not exist. A missing bucket is an error, not a missing object.
fn optional<T>(outcome: object_store::Result<T>) -> object_store::Result<Option<T>> {
    match outcome {
        Err(object_store::Error::NotFound { source, .. }) if !bucket::is_missing(&*source) => {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

/// The path of a file: two characters, then the rest, so that no directory has too many entries.
fn object_path(digest: &Digest) -> Place {
    let name = digest.to_string();
    let (folder, rest) = name.split_at(2);
    Place::from(format!("{folder}/{rest}"))
}

/// The digest of a path. `None` for other paths.
fn digest(place: &Place) -> Option<Digest> {
    let (folder, rest) = place.as_ref().split_once('/')?;
    let name = if folder.len() == 2 { format!("{folder}{rest}") } else { return None };
    name.parse().ok()
}

/// Creates a directory that only its owner can access.
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
    use crate::clock::OsClock;

    #[tokio::test]
    async fn kept_by_content_and_checked_when_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStorage::open(folder.path()).unwrap();
        let digest = files.store(Bytes::from_static(b"hello")).await.unwrap();
        assert_eq!(files.store(Bytes::from_static(b"hello")).await.unwrap(), digest);
        assert_eq!(files.read(&digest).await.unwrap().unwrap(), "hello");
        assert_eq!(files.read(&Digest::ZERO).await.unwrap(), None);
        let (store, ask) = (Memory::new(Arc::new(OsClock)), Ulid::nil());
        files.store_for(&store, ask, Bytes::from_static(b"mine")).await.unwrap();
        let mine = Digest::of(b"mine");
        for _ in 0..2 {
            files.delete_for(&store, ask).await.unwrap();
            assert_eq!(files.read(&mine).await.unwrap(), None);
        }
        let name = digest.to_string();
        std::fs::write(folder.path().join(&name[..2]).join(&name[2..]), "other").unwrap();
        assert!(files.read(&digest).await.is_err());
    }
}
