//! Files, kept by the SHA-256 of their content: beside the database, in it, or in a bucket. The store
//! knows who was given which: asks what answers them, uploads of any size their pieces.
//!
//! Nothing may be taken away that somebody else is just given. Whoever gives notes it first, and whoever
//! takes away keeps others from noting the same until it is gone.

mod bucket;

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

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

use bucket::Answers;
pub use bucket::Bucket;

/// How many files the database names at once.
const PAGE: usize = 1000;

/// Where files are kept.
#[derive(Clone)]
pub struct Files(Kept);

#[derive(Clone)]
enum Kept {
    /// Each under its own name.
    Objects(Objects),
    /// In the database, so that every node has what any node was given.
    Shared(Arc<Postgres>),
}

#[derive(Clone)]
struct Objects {
    store: Arc<dyn ObjectStore>,
    turns: Turns,
    /// Of a bucket, whether it answers.
    answers: Option<Arc<Answers>>,
}

/// Whose turn it is to give or to take away.
#[derive(Clone)]
enum Turns {
    /// Only this process does, so that a lock of its own is enough: many may give a file, or one may
    /// take files away.
    Alone(Arc<RwLock<()>>),
    /// The nodes of this database do.
    Nodes(Arc<Postgres>),
}

/// Why bytes that are there cannot be handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Not now: where they are kept gives no answer.
    Away,
    /// Not as they are.
    Damaged,
}

impl From<&anyhow::Error> for Unread {
    fn from(error: &anyhow::Error) -> Self {
        if error.is::<Away>() { Self::Away } else { Self::Damaged }
    }
}

/// The bucket or the database files are in gives no answer, or not one we can use. Nothing is known to
/// be lost: trying again may help.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("files are out of reach")]
pub struct Away;

/// What is kept under a digest is something else.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the stored file {0} is damaged")]
pub struct Damaged(Digest);

impl Files {
    /// In a folder.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        make_private_folder(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder)
            .with_context(|| format!("cannot use {}", folder.display()))?
            .with_fsync(true);
        Ok(Self::objects(Arc::new(store), Turns::Alone(Arc::default()), None))
    }

    /// As long as the process lives.
    pub fn ephemeral() -> Self {
        Self::objects(Arc::new(InMemory::new()), Turns::Alone(Arc::default()), None)
    }

    /// In the database.
    pub fn shared(store: Arc<Postgres>) -> Self {
        Self(Kept::Shared(store))
    }

    /// In a bucket, which nodes share if they share this database.
    pub fn bucket(bucket: &Bucket, nodes: Option<Arc<Postgres>>) -> anyhow::Result<Self> {
        let turns = nodes.map_or_else(|| Turns::Alone(Arc::default()), Turns::Nodes);
        let answers = Arc::new(Answers::new(&bucket.to_string()));
        Ok(Self::objects(bucket::open(bucket)?, turns, Some(answers)))
    }

    fn objects(store: Arc<dyn ObjectStore>, turns: Turns, answers: Option<Arc<Answers>>) -> Self {
        Self(Kept::Objects(Objects { store, turns, answers }))
    }

    /// Keeps what was uploaded for somebody and gives its digest.
    pub async fn give(
        &self,
        store: &dyn Store,
        holder: Ulid,
        bytes: Bytes,
    ) -> anyhow::Result<Digest> {
        let digest = Digest::of(&bytes);
        self.note(store, holder, digest).await?;
        self.keep_as(digest, bytes).await?;
        Ok(digest)
    }

    /// Takes away what somebody was given, except what another was given too. What fails halfway is done
    /// by the next attempt.
    pub async fn take_away(&self, store: &dyn Store, holder: Ulid) -> anyhow::Result<()> {
        store.release(holder).await?;
        let objects = match &self.0 {
            Kept::Shared(shared) => return Ok(shared.drop_files(holder).await?),
            Kept::Objects(objects) => objects,
        };
        match &objects.turns {
            Turns::Alone(lock) => {
                let _turn = lock.write().await;
                objects.delete(store.own_files(holder).await?).await?;
                store.forget_files(holder).await?;
            }
            Turns::Nodes(nodes) => {
                let mut leaving = nodes.leaving(holder).await?;
                while let Some(own) = leaving.some().await? {
                    objects.delete(own).await?;
                    leaving.gone().await?;
                }
            }
        }
        Ok(())
    }

    /// Takes away a file that was kept for somebody who is gone already, with all else of theirs.
    pub async fn take_back(
        &self,
        store: &dyn Store,
        holder: Ulid,
        digest: Digest,
    ) -> anyhow::Result<()> {
        // What is noted is found.
        self.note(store, holder, digest).await?;
        self.take_away(store, holder).await
    }

    async fn note(&self, store: &dyn Store, holder: Ulid, digest: Digest) -> anyhow::Result<()> {
        let _turn = match &self.0 {
            Kept::Objects(Objects { turns: Turns::Alone(lock), .. }) => Some(lock.read().await),
            // The database has turns of its own.
            Kept::Objects(Objects { turns: Turns::Nodes(_), .. }) | Kept::Shared(_) => None,
        };
        store.note_file(holder, digest).await.context("cannot note the file")
    }

    /// Keeps some bytes and gives their digest. Keeping the same bytes twice keeps them once.
    pub async fn keep(&self, bytes: Bytes) -> anyhow::Result<Digest> {
        let digest = Digest::of(&bytes);
        self.keep_as(digest, bytes).await?;
        Ok(digest)
    }

    async fn keep_as(&self, digest: Digest, bytes: Bytes) -> anyhow::Result<()> {
        match &self.0 {
            Kept::Objects(objects) => objects.put(&place(&digest), bytes).await,
            Kept::Shared(store) => store.keep_file(digest, &bytes).await.context(Away),
        }
        .context("cannot keep the file")
    }

    /// The bytes behind a digest, checked against it. Where they cannot be had the error is [`Away`],
    /// where they are something else [`Damaged`].
    pub async fn read(&self, digest: &Digest) -> anyhow::Result<Option<Bytes>> {
        let found = match &self.0 {
            Kept::Objects(objects) => objects.get(&place(digest)).await,
            Kept::Shared(store) => {
                store.file(digest).await.map(|found| found.map(Bytes::from)).context(Away)
            }
        };
        let Some(bytes) = found.context("cannot read the file")? else { return Ok(None) };
        anyhow::ensure!(Digest::of(&bytes) == *digest, Damaged(*digest));
        Ok(Some(bytes))
    }

    /// Whether the bytes behind a digest are there, unchecked.
    pub async fn has(&self, digest: &Digest) -> anyhow::Result<bool> {
        Ok(match &self.0 {
            Kept::Objects(objects) => objects.has(&place(digest)).await?,
            Kept::Shared(store) => store.has_file(digest).await.context(Away)?,
        })
    }

    /// The digests of all that is kept.
    pub fn all(&self) -> BoxStream<'static, anyhow::Result<Digest>> {
        match &self.0 {
            Kept::Objects(objects) => {
                let named = objects.store.list(None).map_err(|error| bucket::said(&error));
                named.try_filter_map(|found| async move { Ok(digest(&found.location)) }).boxed()
            }
            Kept::Shared(store) => {
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

    /// Whether a bucket gave no answer when it was last asked. Nothing else can be away by itself.
    pub fn are_away(&self) -> bool {
        self.answers().is_some_and(Answers::are_missing)
    }

    /// Whether there is a bucket that could be away.
    pub fn are_elsewhere(&self) -> bool {
        self.answers().is_some()
    }

    fn answers(&self) -> Option<&Answers> {
        match &self.0 {
            Kept::Objects(objects) => objects.answers.as_deref(),
            Kept::Shared(_) => None,
        }
    }

    /// Writes something, reads it and takes it away again, under a name nothing else has.
    pub async fn try_out(&self, name: Ulid) -> anyhow::Result<()> {
        let Kept::Objects(objects) = &self.0 else { return Ok(()) };
        let (place, said) = (Place::from(format!("trial/{name}")), Bytes::from_static(b"trial"));
        objects.put(&place, said.clone()).await.context("cannot write there")?;
        let read = objects.get(&place).await.context("cannot read there")?;
        anyhow::ensure!(read == Some(said), "what was written there is not what is read there");
        objects.remove(vec![place]).await.context("cannot delete there")
    }
}

impl Objects {
    async fn put(&self, place: &Place, bytes: Bytes) -> anyhow::Result<()> {
        self.heard(self.store.put(place, PutPayload::from(bytes)).await.map(drop))
    }

    async fn get(&self, place: &Place) -> anyhow::Result<Option<Bytes>> {
        let read = async { self.store.get(place).await?.bytes().await };
        self.heard(found(read.await))
    }

    async fn has(&self, place: &Place) -> anyhow::Result<bool> {
        Ok(self.heard(found(self.store.head(place).await))?.is_some())
    }

    async fn delete(&self, digests: Vec<Digest>) -> anyhow::Result<()> {
        self.remove(digests.iter().map(place).collect()).await.context("cannot delete the files")
    }

    /// Every one is waited for, whatever became of the others: none may go after we are done here.
    async fn remove(&self, places: Vec<Place>) -> anyhow::Result<()> {
        let mut gone = self.store.delete_stream(stream::iter(places).map(Ok).boxed());
        let mut done = Ok(());
        while let Some(one) = gone.next().await {
            let one = self.heard(found(one).map(drop));
            done = done.and(one);
        }
        done
    }

    /// What a store said, and that a bucket said something.
    fn heard<T>(&self, outcome: object_store::Result<T>) -> anyhow::Result<T> {
        let outcome = outcome.map_err(|error| bucket::said(&error));
        match &self.answers {
            Some(answers) => {
                answers.note(outcome.as_ref().err());
                outcome.context(Away)
            }
            None => outcome,
        }
    }
}

/// Nothing, if it is not there. A bucket that is not there is no file that is not there.
fn found<T>(outcome: object_store::Result<T>) -> object_store::Result<Option<T>> {
    match outcome {
        Err(object_store::Error::NotFound { source, .. }) if !bucket::is_missing(&*source) => {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

/// Two letters, then the rest: no folder has too many names in it.
fn place(digest: &Digest) -> Place {
    let name = digest.to_string();
    let (folder, rest) = name.split_at(2);
    Place::from(format!("{folder}/{rest}"))
}

/// The other way round; nothing for what is something else.
fn digest(place: &Place) -> Option<Digest> {
    let (folder, rest) = place.as_ref().split_once('/')?;
    let name = if folder.len() == 2 { format!("{folder}{rest}") } else { return None };
    name.parse().ok()
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
