//! What an attacker would try.

use serde_json::json;
use server::config::Settings;

use crate::client::{Reply, approve, provide, with};
use crate::pages::signed_in;
use crate::routing::ask_id;
use crate::world::{World, dev};

/// Credentials everybody knows open no store that is served for real.
#[tokio::test]
async fn a_store_of_dev_mode_is_not_served_without_it() {
    let mut world = World::dev().await;
    world.stop().await;
    let refused = world.start_with(Settings { dev: None, ..dev() }).await.unwrap_err();
    assert!(refused.to_string().contains("--dev"), "{refused}");
    world.start().await;
    world.end().await;
}

/// Keys from the settings belong to whoever holds them, in whatever order they are listed, and stop
/// working when they are no longer listed.
#[tokio::test]
async fn tokens_of_the_settings_are_not_mixed_up() {
    let secrets = |list: &[&str]| {
        Some(
            list.iter()
                .map(|secret| server::config::SecretString::new(*secret))
                .collect::<Vec<_>>(),
        )
    };
    let only_alice = Settings { human_tokens: secrets(&["alice", ""]), ..Settings::default() };
    let mut world = World::with(only_alice).await;
    let alice = world.bearer("alice").get("/api/v1/me").await.is(200)["id"].clone();
    world.anonymous().header("authorization", "Bearer ").get("/api/v1/me").await.is(401);
    world.stop().await;
    let both = Settings { human_tokens: secrets(&["bob", "alice"]), ..Settings::default() };
    world.start_with(both).await.unwrap();
    let bob = world.bearer("bob").get("/api/v1/me").await.is(200);
    assert_eq!(bob["admin"], false);
    assert_ne!(bob["id"], alice);
    assert_eq!(world.bearer("alice").get("/api/v1/me").await["id"], alice);
    world.stop().await;
    let only_bob = Settings { human_tokens: secrets(&["bob"]), ..Settings::default() };
    world.start_with(only_bob).await.unwrap();
    world.bearer("alice").get("/api/v1/me").await.problem(401, "unauthorized");
    world.end().await;
}

/// HXPX-045: what the reference server tells everybody is told so in `--dev` only.
#[tokio::test]
async fn figures_are_for_agents() {
    let keys = Some(vec![server::config::SecretString::new("agent-key")]);
    let world = World::with(Settings { agent_api_keys: keys, ..Settings::default() }).await;
    world.anonymous().get("/hxp/v1/stats").await.error(401, "unauthorized");
    world.bearer("agent-key").get("/hxp/v1/stats").await.is(200);
    world.end().await;
}

/// Nothing is kept for whoever has no session, or a form without its token.
#[tokio::test]
async fn uploads_need_a_session_and_its_token() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let ask = ask_id(&world.agent().ask(provide("file")).await);
    let body = "--f\r\nContent-Disposition: form-data; name=\"field.result\"; filename=\"a\"\r\n\r\n\
                hello\r\n--f--\r\n";
    let upload = |client: &crate::client::Client, path: &str| {
        let kind = "multipart/form-data; boundary=f";
        client.request(reqwest::Method::POST, path).header("content-type", kind).body(body)
    };
    let answer = format!("/asks/{ask}/answer");
    Reply::of(upload(&browser.client, &answer)).await.is(403);
    Reply::of(upload(&world.anonymous(), &answer)).await.is(401);
    Reply::of(upload(&world.anonymous(), "/sign-in")).await.is(401);
    let kept = std::fs::read_dir(world.folder().join("data/files")).unwrap().count();
    assert_eq!(kept, 0);
    world.end().await;
}

/// A file that was not uploaded to this request is only a claim.
#[tokio::test]
async fn files_are_not_claimed_by_their_digest() {
    let world = World::dev().await;
    let id = world.agent().ask(provide("file")).await;
    let claim =
        json!({ "sha256": "0".repeat(64), "name": "x", "size": 1, "media_type": "image/png" });
    world.human().resolve(&id, json!({ "result": claim })).await.error(422, "invalid_result");
    let reply = json!({ "answer": { "verdict": "provided", "values": { "result": claim } } });
    let path = format!("/api/v1/asks/{}/answer", ask_id(&id));
    world.human().post(&path, reply).await.problem(422, "answer-mismatch");
    world.human().resolve(&id, json!({ "result": "https://files.example/x.png" })).await.is(200);
    world.end().await;
}

/// A pool answers without names, in our own API too.
#[tokio::test]
async fn our_own_api_names_no_member_of_a_pool_to_agents() {
    let world = World::dev().await;
    let id = world.agent().ask(with(approve("x"), json!({ "role": "pool" }))).await;
    world.member().claim(&id).await.is(200);
    world.member().resolve(&id, json!({ "result": "approved" })).await.is(200);
    let path = format!("/api/v1/asks/{}", ask_id(&id));
    let seen = world.agent().get(&path).await.is(200);
    assert!(!seen.text.contains("user_dev_2"), "{}", seen.text);
    assert!(seen["result"]["by"]["id"].as_str().unwrap().starts_with("pool_member_"));
    assert!(world.human().get(&path).await.is(200).text.contains("user_dev_2"));
    world.end().await;
}

/// What was given as a secret is for the agent, not for the next person who looks.
#[tokio::test]
async fn secrets_are_not_shown_to_people_again() {
    let world = World::dev().await;
    let field = json!({ "key": "key", "label": "Key", "type": "text", "sensitive": true });
    let form = json!({ "fields": [field] });
    let question = json!({ "prompt": "Key?", "kind": "provide", "form": form });
    let created = world.agent().post("/api/v1/asks", json!({ "question": question })).await.is(201);
    let path = format!("/api/v1/asks/{}", created["id"].as_str().unwrap());
    let values = json!({ "key": "sk_live_canary" });
    let reply = json!({ "answer": { "verdict": "provided", "values": values } });
    let answered = world.human().post(&format!("{path}/answer"), reply).await.is(200);
    assert!(!answered.text.contains("canary"), "{}", answered.text);
    assert!(!world.human().get(&path).await.is(200).text.contains("canary"));
    assert!(world.agent().get(&path).await.is(200).text.contains("canary"));
    world.end().await;
}

/// Somebody must be able to administer.
#[tokio::test]
async fn the_last_administrator_stays() {
    let world = World::dev().await;
    let resign = json!({ "id": "user_dev", "projects": ["dev"] });
    world.human().save("people", resign).await.problem(403, "not-allowed");
    let impostor = json!({ "id": "system", "projects": ["dev"] });
    world.human().save("people", impostor).await.problem(422, "invalid-field");
    world.end().await;
}

/// On loopback only our own names are answered: a web page may let its name point here.
#[tokio::test]
async fn a_foreign_host_name_is_refused() {
    let world = World::dev().await;
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"] {
        let reply = world.agent().header("host", host).get("/hxp").await;
        assert_eq!(reply.status, 421, "{host}");
    }
    for host in ["localhost", "localhost:3402", "127.0.0.1:1", "[::1]:3402"] {
        world.agent().header("host", host).get("/hxp").await.is(200);
    }
    world.end().await;
}

/// Another website cannot sign this browser in with a link of its own.
#[tokio::test]
async fn signing_in_is_not_done_from_elsewhere() {
    let world = World::dev().await;
    let link = world.server().welcome().sign_in.clone().unwrap();
    let token = link.split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    let forged = visitor.clone().header("sec-fetch-site", "cross-site");
    forged.sign_in(&token).await.is(403);
    // A form that is none of ours, or was shown in another browser, has no token of this one.
    let shown = visitor.get(&format!("/sign-in?token={token}")).await.is(200);
    let csrf = crate::pages::csrf(&shown);
    let other = visitor.get("/sign-in").await.is(200);
    let other = other.header("set-cookie").split(';').next().unwrap().to_owned();
    let in_other = visitor.clone().header("cookie", &other);
    for (browser, csrf) in [(&visitor, ""), (&visitor, &*csrf), (&in_other, &csrf), (&in_other, "")]
    {
        let form = [("csrf", csrf), ("token", &*token)];
        browser.post_form("/sign-in", &form).await.is(403);
    }
    visitor.post_form("/sign-in", &[("token", &token)]).await.is(403);
    // None of this used the link up.
    visitor.sign_in(&token).await.is(303);
    world.end().await;
}

/// HTTP/2 names the host in the address of the request, where the same check applies.
#[tokio::test]
async fn a_name_that_is_not_ours_is_refused_over_http_2_too() {
    let world = World::dev().await;
    let stream = tokio::net::TcpStream::connect(world.address()).await.unwrap();
    let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
    let tasks = tokio_util::task::TaskTracker::new();
    let connection = tasks.spawn(connection);
    let mut status = async |authority: &str, host: Option<&'static str>| {
        let mut request = axum::http::Request::builder().uri(format!("http://{authority}/hxp"));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let (answer, _) = send.send_request(request.body(()).unwrap(), true).unwrap();
        answer.await.unwrap().status().as_u16()
    };
    for authority in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"] {
        assert_eq!(status(authority, None).await, 421, "{authority}");
        assert_eq!(status(authority, Some("localhost")).await, 421, "{authority}");
    }
    assert_eq!(status("localhost", Some("evil.example")).await, 421);
    for authority in ["localhost", "localhost:3402", "127.0.0.1:1", "[::1]:3402"] {
        assert_eq!(status(authority, None).await, 200, "{authority}");
    }
    connection.abort();
    // An absolute address over HTTP/1 goes before `Host`.
    let absolute = "GET http://evil.example/hxp HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = tokio::net::TcpStream::connect(world.address()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, absolute.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 421");
    world.end().await;
}

/// How an answer came is what the server knows, not what a program calls itself.
#[tokio::test]
async fn a_program_does_not_choose_how_an_answer_came() {
    let world = World::dev().await;
    for agent in ["countersign-cli/0.1.0", "Slackbot 1.0", "Mozilla/5.0 Firefox/140.0"] {
        let id = ask_id(&world.agent().ask(approve("Deploy?")).await);
        let human = world.human().header("user-agent", agent);
        let reply = json!({ "answer": { "verdict": "approved" } });
        let answered = human.post(&format!("/api/v1/asks/{id}/answer"), reply).await.is(200);
        assert_eq!(answered["result"]["via"], "api", "{agent}");
    }
    world.end().await;
}

/// Strange methods make no new series.
#[tokio::test]
async fn metrics_take_no_words_from_callers() {
    let world = World::dev().await;
    let strange = reqwest::Method::from_bytes(b"CANARYMETHOD").unwrap();
    Reply::of(world.anonymous().request(strange, "/healthz")).await.is(405);
    let metrics = world.anonymous().get("/metrics").await.is(200);
    assert!(!metrics.text.contains("CANARY"), "{}", metrics.text);
    assert!(metrics.text.contains("method=\"other\""));
    world.end().await;
}

/// A link for somebody who has no way in yet, made while the server runs.
#[tokio::test]
async fn an_administrator_makes_sign_in_links() {
    let world = World::dev().await;
    let path = "/api/v1/people/user_dev_2/link";
    world.member().post(path, json!({})).await.problem(403, "not-allowed");
    let made = world.human().post(path, json!({})).await.is(201);
    let token = made["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let signed = world.anonymous().sign_in(&token).await.is(303);
    let browser = crate::pages::browser_of(&world.anonymous(), &signed);
    let page = browser.client.get("/").await.is(200);
    assert!(page.text.contains("user_dev_2"));
    let nobody = "/api/v1/people/nobody/link";
    world.human().post(nobody, json!({})).await.problem(404, "not-found");
    world.end().await;
}
