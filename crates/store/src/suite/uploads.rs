//! Uploads in progress.

use kernel::audit::Digest;
use kernel::task::{Party, StoredContent};
use kernel::testing::{human, new_ask};
use kernel::{AskCommand, Refusal, Time, UploadId};

use super::stage::{Stage, bot, person, refusal};
use crate::{Job, JobOutcome, MOST_UPLOADS, Result, Upload, UploadPart};

fn new(stage: &Stage) -> Upload {
    let id = UploadId::new(stage.draw());
    Upload::new(id, Party::Human(human("olga")), stage.now())
}

async fn begin(stage: &Stage) -> UploadId {
    let upload = new(stage);
    assert!(stage.store.begin_upload(upload.clone()).await.unwrap());
    upload.id
}

fn piece(n: u8, size: u64) -> UploadPart {
    UploadPart { digest: Digest([n; 32]), size }
}

fn whole(size: u64) -> StoredContent {
    StoredContent { checksum: Digest([7; 32]), size, manifest: Digest([8; 32]) }
}

async fn append(stage: &Stage, id: UploadId, offset: u64, piece: UploadPart) -> bool {
    stage.store.append_piece(id, offset, piece, stage.now()).await.unwrap()
}

async fn size(stage: &Stage, id: UploadId) -> Option<u64> {
    stage.store.upload(id).await.unwrap().map(|upload| upload.size)
}

fn ask() -> AskCommand {
    AskCommand::Create(Box::new(new_ask()))
}

/// Runs a job that uses an upload.
async fn make_of(stage: &Stage, id: UploadId) -> Result<JobOutcome> {
    let job = Job { uses: Some(id), ..stage.job(bot(), ask()) };
    stage.store.transact(job).await
}

/// Asserts that an upload cannot be used and that nothing was created.
async fn of_no_use(stage: &Stage, id: UploadId) {
    let before = stage.store.last_position().await.unwrap();
    assert_eq!(refusal(make_of(stage, id).await), Refusal::NotFound { what: "upload" });
    assert_eq!(stage.store.last_position().await.unwrap(), before);
}

async fn given_up(stage: &Stage, seconds: i64) -> Vec<UploadId> {
    let before = Time::from_millis(stage.now().millis() + seconds * 1000);
    stage.store.abandoned_uploads(before, 10).await.unwrap()
}

/// HACP-028: the progress is known, piece by piece; nothing of it is in the audit log.
pub async fn an_upload_goes_on_where_it_stopped(stage: &Stage) {
    let before = stage.store.last_position().await.unwrap();
    let media_type = Some("text/plain".to_owned());
    let begun = Upload { length: Some(1 << 40), media_type, ..new(stage) };
    let (store, id) = (&stage.store, begun.id);
    assert!(store.begin_upload(begun.clone()).await.unwrap());
    assert_eq!(store.upload(id).await.unwrap(), Some(begun.clone()));
    assert_eq!(store.upload(UploadId::new(stage.draw())).await.unwrap(), None);
    stage.clock.advance(5);
    assert!(append(stage, id, 0, piece(1, 4)).await);
    assert!(append(stage, id, 4, piece(2, 1 << 33)).await);
    assert!(append(stage, id, 4 + (1 << 33), piece(1, 2)).await);
    assert_eq!(store.pieces(id).await.unwrap(), [piece(1, 4), piece(2, 1 << 33), piece(1, 2)]);
    let now = Upload { size: 6 + (1 << 33), pieces: 3, at: stage.now(), ..begun };
    assert_eq!(store.upload(id).await.unwrap(), Some(now));
    let other = begin(stage).await;
    assert_eq!(store.pieces(other).await.unwrap(), []);
    assert_eq!(store.last_position().await.unwrap(), before);
}

pub async fn of_two_who_send_the_same_part_one_wins(stage: &Stage) {
    let id = begin(stage).await;
    for n in 0..3 {
        let offset = u64::from(n) * 4;
        let (one, other) = tokio::join!(
            append(stage, id, offset, piece(n, 4)),
            append(stage, id, offset, piece(n, 4))
        );
        assert!(one ^ other);
    }
    assert!(!append(stage, id, 11, piece(9, 1)).await, "before its end");
    assert!(!append(stage, id, 13, piece(9, 1)).await, "behind it");
    assert!(!append(stage, UploadId::new(stage.draw()), 0, piece(9, 1)).await, "of nothing");
    assert_eq!(stage.store.pieces(id).await.unwrap(), [piece(0, 4), piece(1, 4), piece(2, 4)]);
}

pub async fn an_upload_that_is_finished_stays_as_it_is(stage: &Stage) {
    let (store, id, now) = (&stage.store, begin(stage).await, stage.now());
    assert!(append(stage, id, 0, piece(1, 4)).await);
    of_no_use(stage, id).await;
    assert!(!store.finish_upload(id, whole(5), now).await.unwrap(), "of another size");
    assert!(store.finish_upload(id, whole(4), now).await.unwrap());
    assert!(!store.finish_upload(id, whole(4), now).await.unwrap(), "twice");
    assert!(!append(stage, id, 4, piece(2, 4)).await);
    assert_eq!(store.upload(id).await.unwrap().unwrap().whole, Some(whole(4)));
    let empty = begin(stage).await;
    assert!(store.finish_upload(empty, whole(0), now).await.unwrap());
}

pub async fn so_many_uploads_and_no_more(stage: &Stage) {
    let first = begin(stage).await;
    for _ in 1..MOST_UPLOADS {
        begin(stage).await;
    }
    assert!(!stage.store.begin_upload(new(stage)).await.unwrap());
    let mark = Upload { owner: Party::Human(human("mark")), ..new(stage) };
    assert!(stage.store.begin_upload(mark).await.unwrap(), "of each");
    assert!(stage.store.finish_upload(first, whole(0), stage.now()).await.unwrap());
    assert!(!stage.store.begin_upload(new(stage)).await.unwrap(), "finished, but of no use yet");
    make_of(stage, first).await.unwrap();
    assert!(stage.store.begin_upload(new(stage)).await.unwrap(), "what is used does not count");
}

pub async fn what_nobody_goes_on_with_is_given_up(stage: &Stage) {
    let (old, finished) = (begin(stage).await, begin(stage).await);
    assert!(append(stage, old, 0, piece(1, 4)).await);
    assert!(stage.store.finish_upload(finished, whole(0), stage.now()).await.unwrap());
    stage.clock.advance(10);
    let young = begin(stage).await;
    let told = begin(stage).await;
    assert!(stage.store.abandon_upload(told).await.unwrap());
    assert!(!stage.store.abandon_upload(told).await.unwrap());
    assert_eq!(given_up(stage, -20).await, [told], "asked for, however young");
    assert_eq!(given_up(stage, -5).await, [old, finished, told]);
    assert_eq!(given_up(stage, -5).await, [old, finished, told], "until they are forgotten");
    for id in [old, finished, told] {
        assert_eq!(size(stage, id).await, None);
        assert!(!append(stage, id, 4, piece(2, 4)).await);
        of_no_use(stage, id).await;
        stage.store.forget_upload(id).await.unwrap();
        assert_eq!(stage.store.pieces(id).await.unwrap(), []);
    }
    assert_eq!(given_up(stage, -5).await, []);
    assert_eq!(size(stage, young).await, Some(0));
}

/// A refused or repeated job leaves an upload unchanged.
pub async fn what_is_refused_uses_no_upload(stage: &Stage) {
    let (store, id) = (&stage.store, begin(stage).await);
    assert!(store.finish_upload(id, whole(0), stage.now()).await.unwrap());
    let refused = Job { uses: Some(id), ..stage.job(person("olga"), ask()) };
    refusal(store.transact(refused).await);
    store.transact(stage.keyed(bot(), ask(), "once", "text")).await.unwrap();
    let repeated = Job { uses: Some(id), ..stage.keyed(bot(), ask(), "once", "text") };
    assert!(store.transact(repeated).await.unwrap().replayed);
    assert!(store.abandon_upload(id).await.unwrap());
}

pub async fn what_something_is_made_of_is_not_given_up(stage: &Stage) {
    let (store, id) = (&stage.store, begin(stage).await);
    assert!(append(stage, id, 0, piece(1, 4)).await);
    assert!(store.finish_upload(id, whole(4), stage.now()).await.unwrap());
    stage.clock.advance(10);
    for _ in 0..2 {
        make_of(stage, id).await.unwrap();
    }
    assert!(!store.abandon_upload(id).await.unwrap());
    assert_eq!(given_up(stage, -5).await, []);
    assert_eq!(size(stage, id).await, Some(4), "whoever repeats themselves still finds it");
    assert_eq!(given_up(stage, 5).await, []);
    assert_eq!(size(stage, id).await, None);
    assert_eq!(store.pieces(id).await.unwrap(), []);
}
