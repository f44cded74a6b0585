//! Files in a bucket, as operators meet it: `doctor`, `files copy`, `backup`, `migrate`, and
//! settings that cannot be used.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::run;
use super::store_of_files::{Bucket, KEY, SECRET};
use super::support::{Server, countersign, serve};

fn with(command: &mut Command, secret: &str) {
    command.env("COUNTERSIGN_FILES_ACCESS_KEY_ID", KEY);
    command.env("COUNTERSIGN_FILES_SECRET_ACCESS_KEY", secret);
}

fn doctor(url: &str, secret: &str) -> super::Ran {
    let data = tempfile::tempdir().unwrap();
    let mut command = countersign();
    command.args(["doctor", "--data"]).arg(data.path()).args(["--files", url]);
    command.env("COUNTERSIGN_LISTEN", "127.0.0.1:0");
    with(&mut command, secret);
    run(&mut command)
}

/// Written, read and deleted; what cannot be done is said, and no secret is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_tries_the_bucket_out() {
    let mut bucket = Bucket::start().await;
    let good = doctor(&bucket.url(), SECRET).ok();
    assert!(good.contains("ok     files: s3://files/kept/here at http://127.0.0.1:"), "{good}");
    assert!(good.contains("can be written, read and deleted"), "{good}");
    assert!(good.contains("files_secret_access_key = \"(hidden)\""), "{good}");
    assert!(!good.contains(SECRET), "{good}");
    assert_eq!(bucket.objects(), Vec::<String>::new(), "nothing is left of it");
    for (url, secret, says) in [
        (bucket.url(), "somebody-elses", "cannot write there"),
        (bucket.url(), "somebody-elses", "SignatureDoesNotMatch"),
        (bucket.named("another"), SECRET, "NoSuchBucket"),
    ] {
        let ran = doctor(&url, secret);
        assert!(ran.code == 1 && ran.out.contains("WRONG  files: "), "{}", ran.out);
        assert!(ran.out.contains(says) && !ran.out.contains("somebody-elses"), "{}", ran.out);
    }
    bucket.go_away().await;
    let ran = doctor(&bucket.url(), SECRET);
    assert!(ran.code == 1 && ran.out.contains("cannot write there"), "{}", ran.out);
}

/// A bad address is said at the start, by the name of the setting.
#[test]
fn a_server_does_not_start_with_a_bad_address() {
    let data = tempfile::tempdir().unwrap();
    for (url, says) in [
        ("s3://", "files: expected s3://BUCKET/PREFIX"),
        ("https://s3.example.com/acme", "files: expected s3://BUCKET/PREFIX"),
        ("s3://acme", "region=REGION"),
        ("s3://acme?endpoint=http://s3.example.com", "without TLS"),
    ] {
        let refused = Server::try_start(serve(data.path()).args(["--files", url]));
        let Err((status, said)) = refused else { panic!("it started with {url}") };
        assert!(status.code() == Some(4) && said.contains(says), "{url}: {said}");
    }
    assert!(!data.path().join("countersign.db").exists(), "nothing was made");
}

fn copy(data: &Path, args: &[&str]) -> super::Ran {
    let mut command = countersign();
    command.args(["files", "copy", "--json", "--data"]).arg(data).args(args);
    with(&mut command, SECRET);
    run(&mut command)
}

fn keep(data: &Path, text: &str) -> String {
    let digest = kernel::audit::Digest::of(text.as_bytes()).to_string();
    let folder = data.join("files").join(&digest[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(&digest[2..]), text).unwrap();
    digest
}

/// From the folder to the bucket and back, as often as one likes: the names are the same, what is
/// there is passed over, and what is damaged does not travel.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_copied_to_a_bucket_and_back() {
    let bucket = Bucket::start().await;
    let data = tempfile::tempdir().unwrap();
    let mut kept = vec![keep(data.path(), "one"), keep(data.path(), "two")];
    std::fs::write(data.path().join("files").join(&kept[0][..2]).join("rest#1"), "half").unwrap();
    let url = bucket.url();
    let there = copy(data.path(), &["--to", &url]).json();
    assert_eq!((&there["copied"], &there["bytes"]), (&json!(2), &json!(6)));
    assert_eq!(there["there_before"], 0);
    kept.sort();
    assert_eq!(bucket.objects(), kept, "under the same names");
    let again = copy(data.path(), &["--to", &url]).json();
    assert_eq!((&again["copied"], &again["there_before"]), (&json!(0), &json!(2)));

    let spoilt = keep(data.path(), "three");
    let path = data.path().join("files").join(&spoilt[..2]).join(&spoilt[2..]);
    std::fs::write(path, "other").unwrap();
    let ran = copy(data.path(), &["--to", &url]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["damaged"]), (1, &json!([spoilt])), "{}", ran.err);
    assert_eq!(bucket.objects(), kept);

    let other = tempfile::tempdir().unwrap();
    let back = copy(other.path(), &["--from", &url]).json();
    assert_eq!(back["copied"], 2);
    for (digest, text) in [(keep(data.path(), "one"), "one"), (keep(data.path(), "two"), "two")] {
        let path = other.path().join("files").join(&digest[..2]).join(&digest[2..]);
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }
    for args in [&[][..], &["--from", &url, "--to", &url]] {
        let refused = copy(data.path(), args);
        assert!(
            refused.code == 4 && refused.err.contains("expected --to s3://"),
            "{}",
            refused.err
        );
    }
}

/// A server goes on with what was copied. What is in a bucket is not in a backup, and that is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_moves_to_a_bucket() {
    let bucket = Bucket::start().await;
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let (http, agent) = (reqwest::Client::new(), "dev-agent-key");
    let put = http.put(format!("{}/hacp/v1/uploads", server.url)).bearer_auth(agent);
    let kept: Value = put.body("in the folder").send().await.unwrap().json().await.unwrap();
    server.stop();
    assert_eq!(copy(data.path(), &["--to", &bucket.url()]).json()["copied"], 1);
    std::fs::remove_dir_all(data.path().join("files")).unwrap();

    let mut moved = serve(data.path());
    moved.args(["--dev", "--files", &bucket.url()]);
    with(&mut moved, SECRET);
    let server = Server::start(&mut moved);
    let path = format!("/hacp/v1/uploads/{}/content", kept["upload"].as_str().unwrap());
    let read = http.get(format!("{}{path}", server.url)).bearer_auth(agent).send().await.unwrap();
    assert_eq!(read.text().await.unwrap(), "in the folder");

    let to = tempfile::tempdir().unwrap();
    let mut backup = countersign();
    backup.args(["backup", "--data"]).arg(data.path()).arg("--to").arg(to.path().join("copy"));
    backup.env("COUNTERSIGN_FILES", bucket.url());
    with(&mut backup, SECRET);
    let said = run(&mut backup).ok();
    assert!(said.contains("It contains no uploads: they are in s3://files/kept/here"), "{said}");
    server.stop();
}
