//! Built-in TLS, and no plain HTTP beyond loopback. The key in `fixtures` is a test key, known to
//! everybody; its certificate is for `localhost` and signs itself.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Certificate, Client, redirect};
use serde_json::{Value, json};

use super::agent::{AGENT, signed_in_with};
use super::support::{Server, serve};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults/fixtures").join(name)
}

fn client() -> Client {
    let pem = std::fs::read(fixture("test-only-cert.pem")).unwrap();
    Client::builder()
        .tls_certs_only([Certificate::from_pem(&pem).unwrap()])
        .redirect(redirect::Policy::none())
        .timeout(Duration::from_secs(10))
        .build()
        .unwrap()
}

#[tokio::test]
async fn https_works_and_the_cookie_is_bound_to_the_host() {
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path());
    command.arg("--dev").arg("--tls-cert").arg(fixture("test-only-cert.pem"));
    let server = Server::start(command.arg("--tls-key").arg(fixture("test-only-key.pem")));
    assert!(server.url.starts_with("https://localhost:"), "{}", server.url);

    let http = client();
    let body = json!({ "action": "APPROVE", "payload": { "item": "Deploy?" } });
    let create = http.post(format!("{}/hxp/v1/requests", server.url)).bearer_auth(AGENT);
    let answer = create.json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    let created: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let secure = format!("wss://localhost:{}/hxp/ws/", server.port());
    assert!(created["ws_url"].as_str().unwrap().starts_with(&secure), "{created}");

    let said = server.stdout();
    let link = said.lines().find_map(|line| line.trim().strip_prefix("Sign in")).unwrap().trim();
    assert!(link.starts_with("https://localhost:"), "{link}");
    let token = link.rsplit_once("token=").unwrap().1;
    let answer = signed_in_with(&http, &server.url, token).await;
    assert_eq!(answer.status(), 303);
    let mut cookies = answer.headers().get_all("set-cookie").iter();
    for name in ["__Host-countersign=", "__Host-countersign-browser="] {
        let cookie = cookies.next().unwrap().to_str().unwrap();
        assert!(cookie.starts_with(name), "{cookie}");
        for part in ["Secure", "HttpOnly", "Path=/", "SameSite=Lax"] {
            assert!(cookie.split("; ").any(|other| other == part), "{part} is missing: {cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
    }

    // Plain HTTP on the same port is not served.
    let plain = server.url.replacen("https", "http", 1);
    assert!(http.get(format!("{plain}/healthz")).send().await.is_err());
    server.stop();
}

#[test]
fn a_certificate_that_cannot_be_used_is_said_before_anything_is_made() {
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path());
    command.arg("--tls-cert").arg(fixture("test-only-key.pem"));
    command.arg("--tls-key").arg(fixture("test-only-key.pem"));
    let Err((status, said)) = Server::try_start(&mut command) else { panic!("it started") };
    assert_eq!(status.code(), Some(4));
    assert!(said.contains("cannot use tls_cert and tls_key"), "{said}");
    // The next start is still the first.
    let first = Server::start(&mut serve(data.path()));
    assert!(first.stdout().contains("Agent key"), "{}", first.stdout());
}

/// HXPX-005: plain HTTP beyond loopback only when told.
#[test]
fn plain_http_beyond_loopback_is_refused() {
    let data = tempfile::tempdir().unwrap();
    for (more, says) in [
        (&[][..], "refusing to listen on 0.0.0.0:0 without TLS"),
        (&["--dev"][..], "it can listen on a loopback address only"),
    ] {
        let mut command = serve(data.path().join("never"));
        let refused = Server::try_start(command.args(["--listen", "0.0.0.0:0"]).args(more));
        let Err((status, said)) = refused else { panic!("it started") };
        assert_eq!(status.code(), Some(4));
        assert!(said.contains(says), "{said}");
    }
    assert!(!data.path().join("never").exists());
}
