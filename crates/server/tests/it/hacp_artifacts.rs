//! HACP: the bytes of artifacts, sent in parts, committed, fetched.

use gateway::blobs::PIECE_SIZE;
use kernel::audit::Digest;
use reqwest::Method;
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{Client, Reply};
use crate::hacp::{begun, done, op, refused, state};
use crate::world::{World, dev};

pub(crate) const UPLOADS: &str = "/hacp/v1/uploads";

pub(crate) async fn send(
    who: &Client,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<reqwest::Body>,
) -> Reply {
    let request = who.request(method, path);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    Reply::of(request.body(body)).await
}

pub(crate) async fn begin(who: &Client, headers: &[(&str, &str)]) -> String {
    let begun = send(who, Method::POST, UPLOADS, headers, "").await.is(201);
    assert_eq!(begun.header("upload-offset"), "0");
    let id = begun["upload"].as_str().unwrap();
    let path = format!("{UPLOADS}/{id}");
    assert_eq!(begun.header("location"), path);
    path
}

pub(crate) async fn append(who: &Client, path: &str, offset: u64, body: &str) -> Reply {
    let offset = offset.to_string();
    send(who, Method::PATCH, path, &[("upload-offset", &offset)], body.to_owned()).await
}

/// Sends all of it at once, and gives how a commit names it.
async fn put(who: &Client, body: &'static str) -> String {
    let kept = send(who, Method::PUT, UPLOADS, &[], body).await.is(201);
    assert_eq!(kept["checksum"], sum(body));
    assert_eq!(kept["size"], body.len());
    format!("upload:{}", kept["upload"].as_str().unwrap())
}

pub(crate) fn sum(text: &str) -> String {
    format!("sha256:{}", Digest::of(text.as_bytes()))
}

fn delivery(task: &str, payload: &Value) -> Value {
    json!({ "task_id": task, "type": "report", "payload": payload })
}

/// What was committed, and where its bytes are.
pub(crate) async fn committed(world: &World, payload: Value) -> (Value, String) {
    let task = begun(world, json!({})).await;
    let made = done(&world.agent(), "artifact.commit", delivery(&task, &payload)).await;
    let uri = made["payload"]["uri"].as_str().unwrap();
    let at = uri.find("/hacp/v1/artifacts/").unwrap_or_else(|| panic!("{uri}"));
    let path = uri[at..].to_owned();
    (made, path)
}

/// HACP-021, HACP-028: in parts from the agent, by name into a commit, to whoever may read it and
/// to nobody else.
#[tokio::test]
async fn an_artifact_goes_from_its_agent_to_whoever_may_read_it() {
    let world = World::dev().await;
    let agent = world.agent();
    let text = "# Report\nAll is well.\n";
    let length = text.len().to_string();
    let kind = ("content-type", "text/markdown");
    let path = begin(&agent, &[("upload-length", &length), kind]).await;
    let part = append(&agent, &path, 0, &text[..9]).await.is(204);
    assert_eq!(part.header("upload-offset"), "9");
    let stands = agent.get(&path).await.is(200);
    assert_eq!((&stands["offset"], &stands["complete"]), (&json!(9), &json!(false)));
    let head = send(&agent, Method::HEAD, &path, &[], "").await.is(200);
    assert_eq!((head.header("upload-offset"), head.header("upload-length")), ("9", &*length));
    assert_eq!(head.header("upload-complete"), "?0");
    let whole = append(&agent, &path, 9, &text[9..]).await.is(200);
    assert_eq!((&whole["checksum"], &whole["size"]), (&json!(sum(text)), &json!(text.len())));
    assert_eq!(send(&agent, Method::HEAD, &path, &[], "").await.header("upload-complete"), "?1");
    assert_eq!(agent.get(&format!("{path}/content")).await.is(200).text, text);

    let uri = format!("upload:{}", path.rsplit_once('/').unwrap().1);
    let (made, content) = committed(&world, json!({ "kind": "blob", "uri": uri })).await;
    assert_eq!(made["payload"]["checksum"], sum(text));
    assert_eq!(made["payload"]["media_type"], "text/markdown");
    for who in [world.agent(), world.human(), world.member()] {
        let read = who.get(&content).await.is(200);
        assert_eq!(read.text, text);
        assert_eq!(read.header("content-type"), "application/octet-stream");
        assert_eq!(read.header("content-disposition"), "attachment");
        assert_eq!(read.header("x-content-type-options"), "nosniff");
        assert_eq!(read.header("etag"), format!("\"{}\"", sum(text)));
        assert_eq!(read.header("content-length"), length);
    }
    refused(world.agent_2().get(&content).await, 404, "NOT_FOUND");
    let share = json!({ "art_id": made["id"], "project": "dev2" });
    done(&world.human(), "artifact.share", share).await;
    // An agent there reads it once a task of its own uses it.
    refused(world.agent_2().get(&content).await, 404, "NOT_FOUND");
    let theirs = json!({ "type": "x", "project": "dev2", "spec": { "goal": "Read it" } });
    let theirs = done(&world.human(), "task.create", theirs).await["id"].clone();
    let given = json!({ "task_id": theirs, "agent_id": "agent_dev_2" });
    done(&world.human(), "task.assign", given).await;
    let using = json!({ "art_id": made["id"], "version": "v1", "by_task": theirs, "as": "input" });
    done(&world.agent_2(), "artifact.reference", using).await;
    assert_eq!(world.agent_2().get(&content).await.is(200).text, text);
    let other = content.replace("/v1/content", "/v9/content");
    refused(agent.get(&other).await, 404, "NOT_FOUND");
    refused(agent.get(&content.replace("art_", "art_x")).await, 404, "NOT_FOUND");
    // What something is made of stays.
    refused(agent.delete(&path).await, 400, "INVALID_SPEC");
    world.end().await;
}

#[tokio::test]
async fn a_part_of_an_artifact_can_be_read() {
    let world = World::dev().await;
    let agent = world.agent();
    let payload = json!({ "kind": "inline", "content": "0123456789" });
    let (_, path) = committed(&world, payload).await;
    let tag = format!("\"{}\"", sum("0123456789"));
    let get = async |headers: &[(&str, &str)]| send(&agent, Method::GET, &path, headers, "").await;
    for (range, text, place) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
    ] {
        let part = get(&[("range", range)]).await.is(206);
        assert_eq!((part.text.as_str(), part.header("content-range")), (text, place));
        assert_eq!(part.header("content-length"), text.len().to_string());
    }
    let nothing = refused(get(&[("range", "bytes=10-")]).await, 416, "INVALID_SPEC");
    assert_eq!(nothing["error"]["details"]["field"], "Range");
    assert_eq!(nothing.header("content-range"), "bytes */10");
    assert_eq!(get(&[("range", "bytes=0-1,4-5")]).await.is(200).text, "0123456789");
    assert_eq!(get(&[("range", "bytes=0-1"), ("if-range", &tag)]).await.is(206).text, "01");
    get(&[("range", "bytes=0-1"), ("if-range", "\"x\"")]).await.is(200);
    assert_eq!(get(&[("if-none-match", &tag)]).await.is(304).text, "");
    let head = send(&agent, Method::HEAD, &path, &[], "").await.is(200);
    assert_eq!((head.header("content-length"), head.header("accept-ranges")), ("10", "bytes"));
    world.end().await;
}

/// HACP-028: words, other bytes in base64 and whole addresses are held like uploads.
#[tokio::test]
async fn what_comes_with_a_commit_is_held_too() {
    let world = World::dev().await;
    for (payload, text) in [
        (json!({ "kind": "diff", "content": "-a\n+b\n" }), "-a\n+b\n"),
        (json!({ "kind": "inline", "content": "aGk=", "encoding": "base64" }), "hi"),
        (json!({ "kind": "blob", "uri": "data:text/plain,a%20b" }), "a b"),
        (json!({ "kind": "inline", "content": "" }), ""),
    ] {
        let (made, path) = committed(&world, payload).await;
        assert_eq!(made["payload"]["checksum"], sum(text));
        assert_eq!(world.human().get(&path).await.is(200).text, text);
    }
    let task = begun(&world, json!({})).await;
    let elsewhere =
        json!({ "kind": "ref", "uri": "https://example.com/x", "checksum": sum("x"), "size": 1 });
    let made = done(&world.agent(), "artifact.commit", delivery(&task, &elsewhere)).await;
    assert_eq!(made["payload"]["uri"], "https://example.com/x");
    let path = format!("/hacp/v1/artifacts/{}/versions/v1/content", made["id"].as_str().unwrap());
    let missing = refused(world.agent().get(&path).await, 404, "NOT_FOUND");
    assert_eq!(missing["error"]["details"]["uri"], "https://example.com/x");
    world.end().await;
}

/// HACP-028: what is said of bytes must be so, or nothing is delivered.
#[tokio::test]
async fn what_is_not_as_it_was_said_is_not_delivered() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let task = begun(&world, json!({})).await;
    let uri = put(&agent, "all of it").await;
    let theirs = put(&human, "of somebody else").await;
    let open = begin(&agent, &[]).await;
    let open = format!("upload:{}", open.rsplit_once('/').unwrap().1);
    for (payload, field) in [
        (json!({ "kind": "blob", "uri": uri, "checksum": sum("other") }), "checksum"),
        (json!({ "kind": "blob", "uri": uri, "size": 8 }), "size"),
        (json!({ "kind": "inline", "content": "x", "checksum": sum("y") }), "checksum"),
        (json!({ "kind": "blob", "uri": theirs }), "uri"),
        (json!({ "kind": "blob", "uri": open }), "uri"),
        (json!({ "kind": "blob", "uri": "upload:nothing" }), "uri"),
        (json!({ "kind": "blob", "uri": "data:nothing" }), "uri"),
    ] {
        let reply = op(&agent, "artifact.commit", delivery(&task, &payload)).await;
        let reply = refused(reply, 400, "INVALID_SPEC");
        assert_eq!(reply["error"]["details"]["field"], format!("params.payload.{field}"));
        assert_eq!(state(&world, &task).await, "in_progress");
    }
    let payload = json!({ "kind": "blob", "uri": uri, "checksum": sum("all of it"), "size": 9 });
    done(&agent, "artifact.commit", delivery(&task, &payload)).await;
    world.end().await;
}

#[tokio::test]
async fn an_upload_that_cannot_be_read_changes_nothing() {
    let world = World::with(Settings { artifact_limit: Some(100), ..dev() }).await;
    let agent = world.agent();
    let field = |reply: Reply, status, name: &str| {
        let reply =
            refused(reply, status, if status == 413 { "TOO_LARGE" } else { "INVALID_SPEC" });
        if status == 400 {
            assert_eq!(reply["error"]["details"]["field"], name, "{}", reply.text);
        }
    };
    for (headers, body, status, name) in [
        (("upload-length", "many"), "", 400, "Upload-Length"),
        (("upload-length", "-1"), "", 400, "Upload-Length"),
        (("upload-length", "101"), "", 413, ""),
        (("content-type", "nonsense"), "", 400, "Content-Type"),
        (("x-nothing", ""), "bytes", 400, "body"),
    ] {
        field(send(&agent, Method::POST, UPLOADS, &[headers], body).await, status, name);
    }
    let bad = sum("other");
    for (headers, body, status, name) in [
        (("upload-checksum", "md5:x"), "bytes".to_owned(), 400, "Upload-Checksum"),
        (("upload-checksum", bad.as_str()), "bytes".to_owned(), 400, "Upload-Checksum"),
        (("upload-length", "4"), "bytes".to_owned(), 400, "Upload-Length"),
        (("upload-length", "6"), "bytes".to_owned(), 400, "Upload-Length"),
        (("x-nothing", ""), "x".repeat(101), 413, ""),
    ] {
        field(send(&agent, Method::PUT, UPLOADS, &[headers], body).await, status, name);
    }
    // Of unknown length, so that only what comes shows that it is too much.
    let parts = ["x".repeat(60), "y".repeat(60)].map(Ok::<_, std::io::Error>);
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(parts));
    field(send(&agent, Method::PUT, UPLOADS, &[], body).await, 413, "");
    assert_eq!(kept(&world), 0, "what was not whole is not kept");

    let path = begin(&agent, &[("upload-length", "9")]).await;
    append(&agent, &path, 0, "four").await.is(204);
    let patch = async |headers: &[(&str, &str)]| {
        send(&agent, Method::PATCH, &path, headers, "bytes!").await
    };
    field(patch(&[]).await, 400, "Upload-Offset");
    field(patch(&[("upload-offset", "1e1")]).await, 400, "Upload-Offset");
    field(
        patch(&[("upload-offset", "4"), ("upload-complete", "yes")]).await,
        400,
        "Upload-Complete",
    );
    field(patch(&[("upload-offset", "4")]).await, 400, "Upload-Length");
    for offset in ["0", "5"] {
        let elsewhere = refused(patch(&[("upload-offset", offset)]).await, 409, "CONFLICT");
        assert_eq!(elsewhere.header("upload-offset"), "4");
        assert_eq!(elsewhere["error"]["details"]["offset"], 4);
    }
    let early = [("upload-offset", "4"), ("upload-complete", "?1")];
    let early = send(&agent, Method::PATCH, &path, &early, "").await;
    field(early, 400, "Upload-Length");
    assert_eq!(agent.get(&path).await["offset"], 4);
    append(&agent, &path, 4, "bytes").await.is(200);
    assert_eq!(append(&agent, &path, 9, "").await.is(200)["checksum"], sum("fourbytes"));
    agent.delete(&path).await.is(204);
    refused(agent.get(&path).await, 404, "NOT_FOUND");
    assert_eq!(kept(&world), 0);
    let wrong = send(&agent, Method::DELETE, UPLOADS, &[], "").await;
    refused(wrong, 405, "METHOD_NOT_ALLOWED");
    world.end().await;
}

/// How many files there are.
fn kept(world: &World) -> usize {
    let folders = std::fs::read_dir(world.folder().join("data/files")).unwrap();
    folders.map(|one| std::fs::read_dir(one.unwrap().path()).unwrap().count()).sum()
}

#[tokio::test]
async fn an_upload_is_nobody_elses() {
    let world = World::dev().await;
    let path = begin(&world.agent(), &[]).await;
    for who in [world.agent_2(), world.human()] {
        refused(who.get(&path).await, 404, "NOT_FOUND");
        refused(append(&who, &path, 0, "x").await, 404, "NOT_FOUND");
        refused(who.delete(&path).await, 404, "NOT_FOUND");
        refused(who.get(&format!("{path}/content")).await, 404, "NOT_FOUND");
    }
    refused(world.agent().get(&format!("{path}/content")).await, 404, "NOT_FOUND");
    world.agent().get(&path).await.is(200);
    world.end().await;
}

/// Uploads go after a day; what was made of them does not.
#[tokio::test]
async fn what_nobody_went_on_with_is_taken_away() {
    let world = World::dev().await;
    let agent = world.agent();
    let uri = put(&agent, "of use").await;
    let (_, content) = committed(&world, json!({ "kind": "blob", "uri": uri })).await;
    let path = begin(&agent, &[]).await;
    append(&agent, &path, 0, "of none").await.is(204);
    assert_eq!(kept(&world), 2);
    world.advance(23 * 3600);
    assert_eq!(world.app().storage.blobs.delete_abandoned_uploads().await.unwrap(), 0);
    world.advance(2 * 3600);
    assert_eq!(world.app().storage.blobs.delete_abandoned_uploads().await.unwrap(), 1);
    assert_eq!(kept(&world), 1);
    refused(agent.get(&path).await, 404, "NOT_FOUND");
    assert_eq!(agent.get(&content).await.is(200).text, "of use");
    world.end().await;
}

/// HACP-028: bytes that are no longer what they were are not handed out.
#[tokio::test]
async fn damaged_bytes_are_not_handed_out() {
    let world = World::dev().await;
    let agent = world.agent();
    let damage = |bytes: &[u8]| {
        let name = Digest::of(bytes).to_string();
        let file = world.folder().join("data/files").join(&name[..2]).join(&name[2..]);
        std::fs::write(file, "as it is").unwrap();
    };
    let (_, path) = committed(&world, json!({ "kind": "inline", "content": "as it was" })).await;
    damage(b"as it was");
    refused(agent.get(&path).await, 500, "INTERNAL");

    let large = "x".repeat(PIECE_SIZE) + "the end";
    let put = send(&agent, Method::PUT, UPLOADS, &[], large.clone()).await.is(201);
    let path = format!("{UPLOADS}/{}/content", put["upload"].as_str().unwrap());
    assert!(agent.get(&path).await.is(200).text == large);
    damage(b"the end");
    let read = agent.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(read.status(), 200);
    assert!(read.bytes().await.is_err(), "it ends before its end");
    let part = [("range", "bytes=0-9")];
    send(&agent, Method::GET, &path, &part, "").await.is(206);
    world.end().await;
}

/// HACP-028: of what is refused nothing stays, however it came, and however often it is tried.
#[tokio::test]
async fn what_is_refused_fills_no_disk() {
    let world = World::dev().await;
    let agent = world.agent();
    let new = json!({ "type": "x", "spec": { "goal": "y" } });
    let task = done(&world.human(), "task.create", new).await;
    let task = task["id"].as_str().unwrap().to_owned();
    let early = json!({ "kind": "inline", "content": "nobody gave it to me" });
    for _ in 0..3 {
        let reply = op(&agent, "artifact.commit", delivery(&task, &early)).await;
        assert!(!reply["error"].is_null(), "{}", reply.text);
        assert_eq!(kept(&world), 0);
    }
    let other = json!({ "kind": "inline", "content": "x", "checksum": sum("y") });
    refused(op(&agent, "artifact.commit", delivery(&task, &other)).await, 400, "INVALID_SPEC");
    assert_eq!(kept(&world), 0);
    let uri = put(&agent, "sent before").await;
    let before = json!({ "kind": "blob", "uri": uri });
    let reply = op(&agent, "artifact.commit", delivery(&task, &before)).await;
    assert!(!reply["error"].is_null(), "{}", reply.text);
    assert_eq!(kept(&world), 1, "it may still be of use");
    world.advance(25 * 3600);
    assert_eq!(world.app().storage.blobs.delete_abandoned_uploads().await.unwrap(), 1);
    assert_eq!(kept(&world), 0);
    world.end().await;
}

/// Saying again what is so already gives the same back, also under a key.
#[tokio::test]
async fn what_is_so_already_is_answered_alike() {
    let world = World::dev().await;
    let (made, _) = committed(&world, json!({ "kind": "inline", "content": "one" })).await;
    let version = made["version"].clone();
    let task = begun(&world, json!({})).await;
    let reference = json!({ "by_task": task, "art_id": made["id"], "version": version });
    let share = json!({ "art_id": made["id"], "project": "dev2" });
    for (who, operation, params) in
        [(world.agent(), "artifact.reference", reference), (world.human(), "artifact.share", share)]
    {
        let path = format!("/hacp/v1/ops/{operation}");
        let keyed = json!({ "params": params, "idempotency_key": "once" });
        let first = who.post(&path, keyed.clone()).await.is(200).json;
        assert_eq!(first["id"], made["id"]);
        for body in [keyed, json!({ "params": params }), json!({ "params": params })] {
            let again = who.post(&path, body).await.is(200).json;
            assert_eq!((&again["id"], &again["version"]), (&made["id"], &version), "{operation}");
        }
    }
    world.end().await;
}
