use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use kernel::directory::NewProject;
use kernel::{AnswerInterface, Assurance, DirectoryCommand};
use store::Clock;
use store::memory::Memory;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::clock::{MovableClock, OsClock};
use crate::gateway::CommandConditions;

const LIMIT: u64 = 64 << 20;

struct Scene {
    blobs: Blobs,
    clock: Arc<MovableClock>,
    folder: TempDir,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(MovableClock::new(Arc::new(OsClock)));
    let store = Arc::new(Memory::new(Arc::clone(&clock) as Arc<dyn Clock>));
    let gateway = Gateway::new(store, Arc::clone(&clock) as Arc<dyn Clock>);
    Scene { blobs: Blobs::new(FileStorage::open(folder.path()).unwrap(), gateway), clock, folder }
}

/// Bytes without repetitions.
fn sample(size: usize) -> Bytes {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..size).map(next).collect()
}

fn person(name: &str) -> Actor {
    Actor::Human {
        id: name.parse().unwrap(),
        via: AnswerInterface::Api,
        assurance: Assurance::Session,
    }
}

impl Scene {
    async fn begin(&self, length: Option<u64>) -> Upload {
        let id = UploadId::new(self.blobs.gateway.ids().ulid());
        let owner = Party::of(&person("ann")).unwrap();
        let begun = Upload { length, ..Upload::new(id, owner, self.blobs.gateway.now()) };
        assert!(self.blobs.store().begin_upload(begun.clone()).await.unwrap());
        begun
    }

    /// Uses an upload.
    async fn make_of(&self, id: UploadId) {
        let project = DirectoryCommand::SaveProject(NewProject::plain("of-it".parse().unwrap()));
        let terms = CommandConditions { uses: Some(id), ..CommandConditions::default() };
        self.blobs.gateway.run_with_conditions(terms, Actor::System, project).await.unwrap();
    }

    /// Sends frames, and breaks the connection after them if requested.
    async fn send(
        &self,
        upload: &Upload,
        part: UploadChunk,
        frames: &[Bytes],
        breaks: bool,
    ) -> Result<UploadProgress, UploadError> {
        let upload = self.blobs.store().upload(upload.id).await.unwrap().unwrap();
        let end = if breaks { Some(Err("gone")) } else { None };
        let body = stream::iter(frames.iter().cloned().map(Ok).chain(end));
        self.blobs.append(upload, part, body, &CancellationToken::new()).await
    }

    async fn read(&self, held: &StoredContent, range: Range<u64>) -> anyhow::Result<Vec<u8>> {
        let pieces: Vec<Bytes> = self.blobs.open(held).await?.read(range).try_collect().await?;
        Ok(pieces.concat())
    }

    fn file(&self, digest: &Digest) -> std::path::PathBuf {
        let name = digest.to_string();
        self.folder.path().join(&name[..2]).join(&name[2..])
    }

    fn files(&self) -> usize {
        let folders = std::fs::read_dir(self.folder.path()).unwrap();
        folders.map(|one| std::fs::read_dir(one.unwrap().path()).unwrap().count()).sum()
    }
}

fn part(offset: u64) -> UploadChunk {
    UploadChunk { offset, last: false, checksum: None, limit: LIMIT }
}

/// HACP-028: every part is the same as what was uploaded.
#[tokio::test]
async fn what_is_held_comes_back_whole_and_in_part() {
    let scene = scene();
    let bytes = sample(2 * PIECE_SIZE + 5);
    let held = scene.blobs.store_inline(bytes.clone()).await.unwrap().held;
    assert_eq!((held.checksum, held.size), (Digest::of(&bytes), bytes.len() as u64));
    let (piece, size) = (PIECE_SIZE as u64, held.size);
    for range in [
        0..size,
        0..0,
        0..1,
        5..9,
        piece - 1..piece + 1,
        piece..2 * piece,
        2 * piece - 3..size,
        size - 1..size,
        size..size,
    ] {
        let wanted = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        let read = scene.read(&held, range.clone()).await.unwrap();
        assert!(read == bytes[wanted], "{range:?}");
    }
    let nothing = scene.blobs.store_inline(Bytes::new()).await.unwrap().held;
    assert_eq!(scene.read(&nothing, 0..0).await.unwrap(), b"");
    let again = scene.blobs.store_inline(bytes).await.unwrap().held;
    assert_eq!(again, held, "the same bytes are kept once");
}

/// HACP-028: a damaged piece ends the stream before any of it is served, a damaged
/// manifest before anything.
#[tokio::test]
async fn what_is_damaged_is_not_handed_out() {
    let scene = scene();
    let bytes = sample(2 * PIECE_SIZE + 5);
    let held = scene.blobs.store_inline(bytes.clone()).await.unwrap().held;
    let second = Digest::of(&bytes[PIECE_SIZE..2 * PIECE_SIZE]);
    for damage in [Some("other"), None] {
        match damage {
            Some(other) => std::fs::write(scene.file(&second), other).unwrap(),
            None => std::fs::remove_file(scene.file(&second)).unwrap(),
        }
        let blob = scene.blobs.open(&held).await.unwrap();
        let read: Vec<_> = blob.read(0..held.size).collect().await;
        let [Ok(first), Err(_)] = &read[..] else { panic!("{} parts", read.len()) };
        assert!(*first == bytes[..PIECE_SIZE]);
        assert!(scene.read(&held, 0..9).await.is_ok(), "what is not damaged can be read");
    }
    std::fs::write(scene.file(&held.manifest), "{}").unwrap();
    assert!(scene.blobs.open(&held).await.is_err());
}

/// HACP-028: a manifest of other bytes than the audit log names is rejected, and pieces that do not
/// form the whole together are never served as the whole.
#[tokio::test]
async fn a_list_that_lies_is_found_out() {
    let scene = scene();
    let (holder, size) = (Ulid::nil(), 8);
    let digest = scene.blobs.store_file(holder, Bytes::from_static(b"pieces")).await.unwrap();
    let other = scene.blobs.store_file(holder, Bytes::from_static(b"aa")).await.unwrap();
    let pieces = [UploadPart { digest, size: 6 }, UploadPart { digest: other, size: 2 }];
    let checksum = Digest::of(b"piecesbb");
    let held = scene.blobs.list(holder, checksum, size, &pieces).await.unwrap();
    let blob = scene.blobs.open(&held).await.unwrap();
    let read: Vec<_> = blob.read(0..size).collect().await;
    assert!(matches!(&read[..], [Ok(_), Err(_)]), "the end is held back");
    for (checksum, size) in [(Digest::ZERO, size), (checksum, 7)] {
        assert!(scene.blobs.open(&StoredContent { checksum, size, ..held }).await.is_err());
    }
    let short = scene.blobs.list(holder, checksum, size, &pieces[..1]).await.unwrap();
    assert!(scene.blobs.open(&short).await.is_err());
    let wrong = [UploadPart { digest, size: 5 }, UploadPart { digest: other, size: 3 }];
    let wrong = scene.blobs.list(holder, checksum, size, &wrong).await.unwrap();
    assert!(scene.read(&wrong, 0..2).await.is_err());
}

#[tokio::test]
async fn words_are_shown_as_far_as_wanted() {
    let scene = scene();
    let words = |text: &str, whole| Some(TextPreview { text: text.to_owned(), whole });
    for (bytes, limit, shown) in [
        (&b""[..], 9, words("", true)),
        (b"hello", 9, words("hello", true)),
        (b"hello", 5, words("hello", true)),
        (b"hello", 2, words("he", false)),
        ("säge".as_bytes(), 2, words("s", false)),
        (b"s\xff\xff", 9, None),
        (b"s\xff\xff", 2, None),
        (b"s\xc3", 9, None),
    ] {
        let held = scene.blobs.store_inline(Bytes::copy_from_slice(bytes)).await.unwrap().held;
        assert_eq!(scene.blobs.text(&held, limit).await.unwrap(), shown, "{bytes:?}");
    }
}

/// HACP-028: bytes before a break are stored, and the rest completes the same whole.
#[tokio::test]
async fn an_upload_goes_on_behind_a_break() {
    let scene = scene();
    let bytes = sample(PIECE_SIZE + 1000);
    let length = bytes.len() as u64;
    let upload = scene.begin(Some(length)).await;
    let first = PIECE_SIZE + 10;
    let frames = [bytes.slice(..7), bytes.slice(7..first)];
    let broken = scene.send(&upload, part(0), &frames, true).await;
    assert!(matches!(broken, Err(UploadError::Interrupted(_))));
    let first = first as u64;
    for wrong in [0, first - 1, length] {
        let stopped = scene.send(&upload, part(wrong), &[bytes.slice(..1)], false).await;
        assert!(matches!(stopped, Err(UploadError::Elsewhere { offset }) if offset == first));
    }
    let rest = [bytes.slice(PIECE_SIZE + 10..)];
    let said = UploadChunk { checksum: Some(Digest::ZERO), ..part(first) };
    let stopped = scene.send(&upload, said, &rest, false).await;
    assert!(matches!(stopped, Err(UploadError::OtherChecksum { is }) if is == Digest::of(&bytes)));
    // All bytes are there. Only the checksum is still missing.
    let said = UploadChunk { checksum: Some(Digest::of(&bytes)), ..part(length) };
    let progress = scene.send(&upload, said, &[], false).await.unwrap();
    let held = progress.whole.unwrap();
    assert_eq!((held.checksum, held.size), (Digest::of(&bytes), length));
    assert!(scene.read(&held, 0..length).await.unwrap() == bytes);
    let again = scene.send(&upload, part(length), &[], false).await.unwrap();
    assert_eq!(again, progress, "whoever did not hear it is told again");
}

#[tokio::test]
async fn an_upload_has_the_size_that_was_said() {
    let scene = scene();
    let upload = scene.begin(Some(4)).await;
    let word = |text: &'static str| [Bytes::from_static(text.as_bytes())];
    let long = scene.send(&upload, part(0), &word("hello"), false).await;
    assert!(matches!(long, Err(UploadError::TooLong { length: 4 })));
    let last = UploadChunk { last: true, ..part(0) };
    let short = scene.send(&upload, last, &word("hel"), false).await;
    assert!(matches!(short, Err(UploadError::TooShort { length: 4, offset: 3 })));
    let whole = scene.send(&upload, part(3), &word("p"), false).await.unwrap().whole.unwrap();
    assert_eq!(whole.checksum, Digest::of(b"help"));
    let more = scene.send(&upload, part(4), &word("!"), false).await;
    assert!(matches!(more, Err(UploadError::TooLong { length: 4 })), "it is finished");
    let open = scene.begin(None).await;
    let progress = scene.send(&open, part(0), &word("any"), false).await.unwrap();
    assert_eq!(progress, UploadProgress { offset: 3, whole: None });
    let large = UploadChunk { limit: 5, ..part(3) };
    let large = scene.send(&open, large, &word("thing"), false).await;
    assert!(matches!(large, Err(UploadError::TooLarge)));
    let last = UploadChunk { last: true, ..part(3) };
    assert!(scene.send(&open, last, &[], false).await.unwrap().whole.is_some());
}

/// HACP-028: an upload belongs to its sender. Unused bytes are deleted after a day, unless another
/// holder has them too.
#[tokio::test]
async fn an_upload_is_its_senders_for_a_day() {
    let scene = scene();
    let (used, left) = (scene.begin(None).await, scene.begin(None).await);
    let last = UploadChunk { last: true, ..part(0) };
    let both = Bytes::from_static(b"both");
    for (upload, own) in [(&used, "used"), (&left, "left")] {
        scene.send(upload, part(0), std::slice::from_ref(&both), false).await.unwrap();
        let own = [Bytes::from_static(own.as_bytes())];
        scene.send(upload, UploadChunk { offset: 4, ..last }, &own, false).await.unwrap();
    }
    assert_eq!(scene.files(), 5, "one piece of both, one of each, two lists");
    let (id, ann) = (used.id.to_string(), person("ann"));
    assert_eq!(scene.blobs.redeem_upload(&id, &person("bob")).await.unwrap(), None);
    assert_eq!(scene.blobs.redeem_upload("upl_", &ann).await.unwrap(), None);
    let open = scene.begin(None).await;
    assert_eq!(
        scene.blobs.redeem_upload(&open.id.to_string(), &ann).await.unwrap(),
        None,
        "not finished"
    );
    let redeemed = scene.blobs.redeem_upload(&id, &ann).await.unwrap().unwrap();
    assert_eq!(scene.blobs.redeem_upload(&id, &ann).await.unwrap().as_ref(), Some(&redeemed));
    scene.make_of(used.id).await;
    assert!(!scene.blobs.discard(used.id).await.unwrap(), "something is made of it");
    assert_eq!(scene.blobs.delete_abandoned_uploads().await.unwrap(), 0);
    scene.clock.advance(UPLOAD_KEPT + Duration::from_secs(1));
    assert_eq!(scene.blobs.delete_abandoned_uploads().await.unwrap(), 2);
    assert_eq!(scene.blobs.delete_abandoned_uploads().await.unwrap(), 0);
    assert_eq!(scene.files(), 3);
    assert_eq!(scene.read(&redeemed.held, 0..8).await.unwrap(), b"bothused");
    assert!(scene.blobs.store().upload(left.id).await.unwrap().is_none());
}

/// Bytes of a refused call are deleted, unless another holder has them too.
#[tokio::test]
async fn what_came_with_a_refused_call_is_taken_away() {
    let scene = scene();
    let (own, both) = (Bytes::from_static(b"own"), Bytes::from_static(b"both"));
    let stays = scene.blobs.store_inline(both.clone()).await.unwrap();
    for bytes in [own, both] {
        let goes = scene.blobs.store_inline(bytes).await.unwrap();
        scene.blobs.refused(goes.way).await;
    }
    assert_eq!(scene.files(), 1);
    assert_eq!(scene.read(&stays.held, 0..4).await.unwrap(), b"both");
}

/// An upload whose bytes cannot be deleted does not block the others.
#[tokio::test]
async fn one_that_cannot_go_holds_up_no_other() {
    let scene = scene();
    let (stuck, free) = (scene.begin(None).await, scene.begin(None).await);
    for (upload, bytes) in [(&stuck, "stuck"), (&free, "free")] {
        scene.send(upload, part(0), &[Bytes::from_static(bytes.as_bytes())], false).await.unwrap();
    }
    let file = scene.file(&Digest::of(b"stuck"));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir_all(file.join("in the way")).unwrap();
    scene.clock.advance(UPLOAD_KEPT + Duration::from_secs(1));
    assert!(scene.blobs.delete_abandoned_uploads().await.is_err());
    assert!(!scene.file(&Digest::of(b"free")).exists());
    std::fs::remove_dir_all(&file).unwrap();
    assert_eq!(scene.blobs.delete_abandoned_uploads().await.unwrap(), 1, "and it goes in its turn");
}
