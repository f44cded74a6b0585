//! Files in a bucket: what people upload and what agents deliver, against a real S3 server that
//! checks every signature.

use std::time::{Duration, Instant};

use gateway::blobs::PIECE_SIZE;
use kernel::audit::Digest;
use reqwest::Method;
use serde_json::{Value, json};
use server::config::{SecretString, Settings};
use server::workers::retention;

use crate::client::{Client, Reply};
use crate::hacp::refused;
use crate::hacp_artifacts::{UPLOADS, append, begin, committed, send, sum};
use crate::hitl::Case;
use crate::native::asked;
use crate::store_of_files::{Bucket, KEY, SECRET};
use crate::world::{World, dev, eventually, logged};

fn at(url: &str, secret: &str) -> Settings {
    Settings {
        files: Some(url.parse().unwrap()),
        files_access_key_id: Some(KEY.to_owned()),
        files_secret_access_key: Some(SecretString::new(secret)),
        ..dev()
    }
}

async fn world(bucket: &Bucket) -> World {
    World::with(at(&bucket.url(), SECRET)).await
}

fn form() -> Value {
    let field = json!({ "key": "report", "label": "Report", "type": "file", "required": true });
    json!({ "question": { "prompt": "The report?", "kind": "provide",
                          "form": { "fields": [field] } } })
}

async fn upload(who: &Client, path: &str, content: &str) -> Reply {
    let request = who.request(Method::POST, &format!("{path}/files?name=a.txt"));
    Reply::of(request.body(content.to_owned())).await
}

/// Asks for a file and answers with it; where the ask is, and where the file.
async fn filed(world: &World, content: &str) -> (String, String) {
    let path = asked(&world.agent(), form()).await;
    let file = upload(&world.human(), &path, content).await.is(201).json;
    let at = format!("{path}/files/{}", file["sha256"].as_str().unwrap());
    let answer = json!({ "answer": { "verdict": "provided", "values": { "report": file } } });
    world.human().post(&format!("{path}/answer"), answer).await.is(200);
    (path, at)
}

/// What whoever holds the link of a case uploads.
async fn by_link(world: &World, content: &'static str) -> Reply {
    let fields = json!([{ "key": "scan", "label": "Scan", "type": "file" }]);
    let context = json!({ "form": { "fields": fields } });
    let body = json!({ "type": "input", "prompt": "The scan?", "context": context });
    let case = Case::make(world, body).await;
    let there = format!("{}?name=b.txt&token={}", case.at("files"), case.review_token());
    Reply::of(world.anonymous().request(Method::POST, &there).body(content)).await
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// HACP-028: what people upload and what agents deliver is in the bucket, under the names it would
/// have in the folder, and nowhere else.
#[tokio::test]
async fn uploads_and_artifacts_are_kept_in_the_bucket() {
    let bucket = Bucket::start().await;
    let world = world(&bucket).await;
    let (_, file) = filed(&world, "from a person").await;
    assert_eq!(world.agent().get(&file).await.is(200).text, "from a person");

    by_link(&world, "by link").await.is(201);

    let (_, content) = committed(&world, json!({ "kind": "inline", "content": "made" })).await;
    assert_eq!(world.human().get(&content).await.is(200).text, "made");

    let mut kept: Vec<String> = ["from a person", "by link", "made"].map(digest).into();
    kept.sort();
    assert_eq!(bucket.objects(), kept);
    assert_eq!(std::fs::read(bucket.object(&digest("made"))).unwrap(), b"made");
    assert!(!world.folder().join("data/files").exists(), "nothing beside the database");
    let ready = world.anonymous().get("/readyz").await.is(200);
    assert_eq!(ready.json, json!({ "status": "ready" }));
    let metrics = world.anonymous().get("/metrics").await.is(200).text;
    assert!(metrics.contains("countersign_files_away 0"), "{metrics}");
    assert!(!logged().contains(SECRET), "the log knows the key");
    world.end().await;
}

/// HACP-028: an upload that comes in parts of any size is cut into pieces, goes on after a restart,
/// and any part of it can be read.
#[tokio::test]
async fn an_upload_in_pieces_goes_on_and_is_read_in_part() {
    let bucket = Bucket::start().await;
    let mut world = world(&bucket).await;
    let numbers: Vec<String> = (0..PIECE_SIZE / 4).map(|n| format!("{n:08x}")).collect();
    let text = numbers.concat();
    assert_eq!(text.len(), 2 * PIECE_SIZE);
    let text = text + "the end";
    let length = text.len().to_string();
    let path = begin(&world.agent(), &[("upload-length", &length)]).await;
    append(&world.agent(), &path, 0, &text[..PIECE_SIZE + 5]).await.is(204);
    assert_eq!(bucket.objects().len(), 2, "a whole piece and the rest of the part");
    world.restart().await;
    let agent = world.agent();
    let whole =
        append(&agent, &path, (PIECE_SIZE + 5) as u64, &text[PIECE_SIZE + 5..]).await.is(200);
    assert_eq!(whole["checksum"], sum(&text));
    let content = format!("{path}/content");
    assert!(agent.get(&content).await.is(200).text == text);
    let (from, to) = (PIECE_SIZE - 3, PIECE_SIZE + 8);
    let range = format!("bytes={from}-{}", to - 1);
    let part = send(&agent, Method::GET, &content, &[("range", &range)], "").await.is(206);
    assert_eq!(part.text, text[from..to]);

    // Damage in one piece is no reason to withhold another.
    let piece = digest(&text[..PIECE_SIZE]);
    std::fs::write(bucket.object(&piece), "spoilt").unwrap();
    refused(agent.get(&content).await, 500, "INTERNAL");
    let last = send(&agent, Method::GET, &content, &[("range", "bytes=-7")], "").await.is(206);
    assert_eq!(last.text, "the end");
    std::fs::remove_file(bucket.object(&piece)).unwrap();
    refused(agent.get(&content).await, 500, "INTERNAL");

    agent.delete(&path).await.is(204);
    assert_eq!(bucket.objects(), Vec::<String>::new(), "never mind");
    world.end().await;
}

/// HACP-028: what is not what it was said to be is not finished, and what was spoilt in the bucket
/// is not handed out, in any dialect.
#[tokio::test]
async fn what_is_spoilt_is_noticed() {
    let bucket = Bucket::start().await;
    let world = world(&bucket).await;
    let wrong = [("upload-checksum", &*sum("other"))];
    refused(send(&world.agent(), Method::PUT, UPLOADS, &wrong, "this").await, 400, "INVALID_SPEC");
    assert_eq!(bucket.objects(), Vec::<String>::new(), "it was not kept");

    let (_, file) = filed(&world, "whole").await;
    let (_, content) = committed(&world, json!({ "kind": "inline", "content": "whole too" })).await;
    for text in ["whole", "whole too"] {
        std::fs::write(bucket.object(&digest(text)), "spoilt").unwrap();
    }
    world.agent().get(&file).await.problem(500, "internal");
    refused(world.agent().get(&content).await, 500, "INTERNAL");
    world.end().await;
}

/// A call that needs a file says when to try again, in the words of its dialect; everything else
/// works, and nothing is half done.
async fn everything_else_works(world: &World, file: Option<&str>) {
    let path = asked(&world.agent(), form()).await;
    let unkept = upload(&world.human(), &path, "new").await.problem(503, "unavailable");
    assert!(unkept.header("retry-after").parse::<u32>().is_ok());
    assert_eq!(world.agent().get(&path).await.is(200)["version"], 1, "as it was");
    let put = send(&world.agent(), Method::PUT, UPLOADS, &[], "new").await;
    assert_eq!(refused(put, 503, "UNAVAILABLE")["error"]["retryable"], true);
    crate::hitl::refused(by_link(world, "new").await, 503, "unavailable");
    if let Some(file) = file {
        world.agent().get(file).await.problem(503, "unavailable");
    }
    let ready = world.anonymous().get("/readyz").await.is(200);
    assert_eq!(ready["files"], "the bucket does not respond");
    let metrics = world.anonymous().get("/metrics").await.is(200).text;
    assert!(metrics.contains("countersign_files_away 1"), "{metrics}");
}

#[tokio::test]
async fn wrong_keys_keep_nothing_and_are_not_logged() {
    let bucket = Bucket::start().await;
    let world = World::with(at(&bucket.url(), "somebody-elses")).await;
    everything_else_works(&world, None).await;
    assert_eq!(bucket.objects(), Vec::<String>::new());
    let log = logged();
    assert!(log.contains("SignatureDoesNotMatch"), "it says why");
    assert!(!log.contains("somebody-elses"), "the log knows the key");
    world.end().await;
}

/// A bucket that is not there is not a file that is not there: nothing counts as gone.
#[tokio::test]
async fn a_bucket_that_is_not_there_is_no_loss() {
    let bucket = Bucket::start().await;
    let world = world(&bucket).await;
    let (path, file) = filed(&world, "kept").await;
    let aside = bucket.folder().with_file_name("aside");
    std::fs::rename(bucket.folder(), &aside).unwrap();
    everything_else_works(&world, Some(&file)).await;
    world.human().post(&format!("{path}/erase"), json!({})).await.is(200);
    let deliveries = &world.app().notifier.deliveries;
    deliveries.drain().await.unwrap();
    assert_eq!(world.gateway().store().backlog().await.unwrap().waiting, 1, "still to be erased");
    std::fs::rename(&aside, bucket.folder()).unwrap();
    world.advance(3600);
    eventually("it to be erased", async || {
        deliveries.drain().await.unwrap();
        !bucket.objects().contains(&digest("kept"))
    })
    .await;
    world.end().await;
}

/// Away and back: what had arrived is there, the same calls succeed, and somebody notices by
/// themselves.
#[tokio::test]
async fn a_bucket_that_was_away_is_used_when_it_is_back() {
    let mut bucket = Bucket::start().await;
    let world = world(&bucket).await;
    let (_, file) = filed(&world, "kept").await;
    let path = begin(&world.agent(), &[("upload-length", "8")]).await;
    append(&world.agent(), &path, 0, "half").await.is(204);
    bucket.go_away().await;
    everything_else_works(&world, Some(&file)).await;
    refused(append(&world.agent(), &path, 4, "half").await, 503, "UNAVAILABLE");
    assert_eq!(world.agent().get(&path).await.is(200)["offset"], 4, "no more has arrived");

    bucket.come_back().await;
    world.app().storage.blobs.check_availability().await;
    assert_eq!(world.anonymous().get("/readyz").await.json, json!({ "status": "ready" }));
    assert_eq!(world.agent().get(&file).await.is(200).text, "kept");
    let whole = append(&world.agent(), &path, 4, "half").await.is(200);
    assert_eq!(whole["checksum"], sum("halfhalf"));
    world.end().await;
}

/// A bucket that takes a request and says nothing is given up after its time.
#[tokio::test]
async fn a_bucket_that_says_nothing_is_not_waited_for() {
    let bucket = Bucket::start().await;
    let world = world(&bucket).await;
    let (_, file) = filed(&world, "kept").await;
    bucket.hold_up(true);
    let begun = Instant::now();
    refused(send(&world.agent(), Method::PUT, UPLOADS, &[], "new").await, 503, "UNAVAILABLE");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let other = asked(&world.agent(), form()).await;
    world.agent().get(&other).await.is(200);
    bucket.hold_up(false);
    assert_eq!(world.agent().get(&file).await.is(200).text, "kept");
    world.end().await;
}

/// What is erased, by hand or by age, or given up, leaves the bucket; what another was given too
/// stays, and what cannot go now goes later.
#[tokio::test]
async fn what_is_erased_leaves_the_bucket() {
    let mut bucket = Bucket::start().await;
    let settings =
        Settings { retention: Some("30d".parse().unwrap()), ..at(&bucket.url(), SECRET) };
    let world = World::with(settings).await;
    let deliveries = &world.app().notifier.deliveries;
    let (by_hand, _) = filed(&world, "the same").await;
    let (_, stays) = filed(&world, "the same").await;
    filed(&world, "alone").await;
    let left = begin(&world.agent(), &[]).await;
    append(&world.agent(), &left, 0, "left behind").await.is(204);
    assert_eq!(bucket.objects().len(), 3);
    world.human().post(&format!("{by_hand}/erase"), json!({})).await.is(200);
    eventually("it to be erased", async || {
        deliveries.drain().await.unwrap();
        world.gateway().store().backlog().await.unwrap().waiting == 0
    })
    .await;
    assert_eq!(world.agent().get(&stays).await.is(200).text, "the same");

    world.advance(31 * 24 * 3600);
    bucket.go_away().await;
    assert!(world.app().storage.blobs.delete_abandoned_uploads().await.is_err(), "not now");
    retention::erase(world.gateway(), world.app().core.config.retention).await.unwrap();
    // Far more often than anything else is tried.
    for _ in 0..14 {
        deliveries.drain().await.unwrap();
        world.advance(3601);
    }
    assert_eq!(bucket.objects().len(), 3);
    bucket.come_back().await;
    eventually("all of it to be erased", async || {
        deliveries.drain().await.unwrap();
        world.app().storage.blobs.delete_abandoned_uploads().await.unwrap();
        bucket.objects().is_empty()
    })
    .await;
    world.end().await;
}
