//! What nobody should send: each gets its documented error, and nothing changes.

use reqwest::Method;
use serde_json::{Value, json};
use server::config::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Reply, approve, decide, provide, with};
use crate::world::{World, dev, soon};

const REQUESTS: &str = "/hxp/v1/requests";

/// HXPX-007: every error of every call is JSON of one shape, whatever the body is.
#[tokio::test]
async fn bodies_that_are_no_json_objects() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(approve("Deploy")).await;
    let resolve = format!("{REQUESTS}/{id}/resolve");
    let cancel = format!("{REQUESTS}/{id}/cancel");
    let broken: [&[u8]; 6] = [b"{", b"{\"action\":", b"nonsense", b"\xff\xfe", b"{} {}", b"\x00"];
    for body in broken {
        agent.post_raw(REQUESTS, body.to_vec()).await.error(400, "invalid_json");
        agent.post_raw(&cancel, body.to_vec()).await.error(400, "invalid_json");
        agent.post_raw("/hxp/v1/receipts/verify", body.to_vec()).await.error(400, "invalid_json");
        human.post_raw(&resolve, body.to_vec()).await.error(400, "invalid_json");
        let rules = human.post_raw("/hxp/v1/delegation/rules", body.to_vec()).await;
        rules.error(400, "invalid_json");
    }
    for body in ["[]", "null", "1", "\"text\""] {
        agent.post_raw(REQUESTS, body).await.error(400, "invalid_body");
        human.post_raw(&resolve, body).await.error(400, "invalid_body");
    }
    agent.post_raw(REQUESTS, "").await.error(400, "invalid_json");
    human.post_raw(&resolve, "").await.error(400, "invalid_json");
    assert_eq!(agent.poll(&id).await["status"], "pending");
    assert_eq!(agent.list("").await["total"], 1);
    world.end().await;
}

/// HXPX-007, HXPX-046: addresses that lead nowhere, and methods they do not take.
#[tokio::test]
async fn unknown_paths_and_wrong_methods() {
    let world = World::dev().await;
    let agent = world.agent();
    for path in ["/hxp/v1", "/hxp/v2/requests", "/hxp/v1/requests/x/y"] {
        agent.get(path).await.error(404, "not_found");
    }
    // A slash at the end changes nothing.
    for path in ["/hxp", "/hxp/v1/requests"] {
        let plain = agent.get(path).await.is(200);
        assert_eq!(agent.get(&format!("{path}/")).await.is(200).json, plain.json);
    }
    // Not even text.
    for path in ["/hxp/v1/requests/%ff", "/hxp/v1/requests/a%00b", "/hxp/v1/requests/%F0%9F%98%80"]
    {
        agent.get(path).await.error(404, "not_found");
    }
    world.human().post("/hxp/v1/requests/%ff/resolve", json!({})).await.error(404, "not_found");
    agent.get("/hxp/ws/%ff").await.error(404, "not_found");
    for (method, path) in [
        (Method::PUT, REQUESTS),
        (Method::DELETE, "/hxp/v1/requests/x"),
        (Method::GET, "/hxp/v1/requests/x/resolve"),
        (Method::POST, "/hxp"),
        (Method::PATCH, "/hxp/v1/inbox"),
    ] {
        Reply::of(agent.request(method, path)).await.error(405, "method_not_allowed");
    }
    agent.get("/api/v1/nothing").await.problem(404, "not-found");
    agent.get("/api/v1/asks/%ff").await.problem(404, "not-found");
    agent.get("/api/v1/asks/x/files/%ff").await.problem(404, "not-found");
    world.human().delete("/api/v1/keys/%ff").await.problem(404, "not-found");
    Reply::of(agent.request(Method::PUT, "/api/v1/asks")).await.problem(405, "method-not-allowed");
    assert_eq!(
        agent.get("/nothing").await.is(404).header("content-type"),
        "text/html; charset=utf-8"
    );
    world.end().await;
}

/// HXPX-007: queries too.
#[tokio::test]
async fn queries_that_cannot_be_read() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Deploy")).await;
    for query in ["?limit=0", "?limit=101", "?limit=-1", "?limit=ten", "?limit=1.5"] {
        world.agent().list(query).await.error(400, "invalid_limit");
        world.human().inbox(query).await.error(400, "invalid_limit");
    }
    for query in ["?status=open", "?status=Pending"] {
        world.agent().list(query).await.error(400, "invalid_status");
        world.human().inbox(query).await.error(400, "invalid_status");
    }
    world.agent().list("?cursor=nonsense").await.error(400, "invalid_cursor");
    world.human().inbox("?priority=urgent").await.error(400, "invalid_priority");
    world.human().inbox("?action=SIGN").await.error(400, "invalid_action");
    // Said twice, or not even text: refused in the same shape, or taken; never anything else.
    for query in ["?token=a&token=b", "?request_id=a&request_id=b", "?token=%ff"] {
        let refused = world.agent().get(&format!("/hxp/ws{query}")).await;
        assert!(
            (400..500).contains(&refused.status) && refused["error"].is_string(),
            "{refused:?}"
        );
        let refused = world.agent().get(&format!("/hxp/ws/{id}{query}")).await;
        assert!(
            (400..500).contains(&refused.status) && refused["error"].is_string(),
            "{refused:?}"
        );
    }
    world.agent().list("?agent_id=%ff&agent_id=a&%ff=%ff").await.is(200);
    world.end().await;
}

/// HXPX-012 to HXPX-018, HXPX-023 to HXPX-025, HXPX-030, HXPX-031, HXPX-035: refused at create.
#[tokio::test]
async fn requests_that_make_no_sense() {
    let world = World::dev().await;
    let agent = world.agent();
    let refuse = async |body: Value, code: &str| {
        let refused = agent.post(REQUESTS, body).await.error(400, code);
        assert!(refused["details"]["field"].is_string(), "{}", refused.text);
    };
    for action in [
        json!("decide"),
        json!("SIGN"),
        json!("CALL"),
        json!("VERIFY"),
        json!("APPEAR"),
        json!(1),
        json!(null),
    ] {
        refuse(json!({ "action": action, "payload": {} }), "invalid_action").await;
    }
    for (more, code) in [
        (json!({ "role": "boss" }), "invalid_role"),
        (json!({ "priority": "urgent" }), "invalid_priority"),
        (json!({ "fallback": "skip" }), "invalid_fallback"),
        (json!({ "fallback": "default" }), "invalid_payload"),
        (json!({ "timeout_seconds": -1 }), "invalid_timeout"),
        (json!({ "timeout_seconds": "60" }), "invalid_timeout"),
        (json!({ "timeout_seconds": 1.5 }), "invalid_timeout"),
        (json!({ "timeout_seconds": u64::MAX }), "invalid_timeout"),
        (json!({ "metadata": [] }), "invalid_metadata"),
        (json!({ "agent_id": 7 }), "invalid_agent_id"),
        (json!({ "project_id": {} }), "invalid_project_id"),
        (json!({ "agent_id": "a\0b" }), "invalid_agent_id"),
        (json!({ "metadata": { "a": "b\0c" } }), "invalid_metadata"),
        (json!({ "payload": { "item": "a\0b" } }), "invalid_payload"),
        (json!({ "payload": { "item": "  " } }), "invalid_payload"),
        (json!({ "payload": { "details": "text" } }), "invalid_payload"),
        (json!({ "payload": { "context": "ä".repeat(501) } }), "invalid_payload"),
        (json!({ "payload": [] }), "invalid_payload"),
    ] {
        refuse(with(approve("Deploy"), more), code).await;
    }
    for options in [
        json!(["one"]),
        json!(["1", "2", "3", "4", "5", "6", "7"]),
        json!(["same", "same"]),
        json!(["one", 2]),
        json!("one,two"),
        json!([]),
    ] {
        let body = with(decide("Which?", &[]), json!({ "payload": { "options": options } }));
        refuse(body, "invalid_payload").await;
    }
    for more in [json!({ "default_option": "c" }), json!({ "default_option": 1 })] {
        refuse(with(decide("Which?", &["a", "b"]), json!({ "payload": more })), "invalid_payload")
            .await;
    }
    refuse(provide("date"), "invalid_payload").await;
    for validation in
        [json!({ "pattern": "(" }), json!({ "min": 2, "max": 1 }), json!({ "minimum": 1 })]
    {
        let body = with(provide("text"), json!({ "payload": { "validation": validation } }));
        refuse(body, "invalid_payload").await;
    }
    assert_eq!(agent.list("").await["total"], 0);
    // What only looks wrong is taken: exactly 500 characters, bidi characters, six options.
    let odd = json!({ "payload": { "context": "ä".repeat(500), "item": "pay \u{202e}me" } });
    agent.ask(with(approve("x"), odd)).await;
    agent.ask(decide("Which?", &["1", "2", "3", "4", "5", "6"])).await;
    world.end().await;
}

/// HXPX-007: 413 in each dialect's shape, and nothing was kept.
#[tokio::test]
async fn bodies_that_are_too_large() {
    let world = World::with(Settings { body_limit: Some(4096), ..dev() }).await;
    let large = "x".repeat(5000);
    let body = with(approve(&large), json!({}));
    world.agent().post(REQUESTS, body.clone()).await.error(413, "too_large");
    world.human().resolve("hxp_x", json!({ "result": large })).await.error(413, "too_large");
    world.agent().post("/api/v1/asks", body).await.problem(413, "too-large");
    // Without a length beforehand, too.
    let piece = format!("64\r\n{}\r\n", " ".repeat(100));
    let answer = chunked(&world, REQUESTS, &piece.repeat(50)).await;
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("\"too_large\""), "{answer}");
    assert_eq!(world.agent().list("").await["total"], 0);
    world.agent().ask(approve(&"x".repeat(3000))).await;
    world.end().await;
}

/// However deep a body is nested, it is refused or it can be read again: in polls, in lists, after
/// a restart, by the audit.
#[tokio::test]
async fn nesting_is_refused_or_kept_whole() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let mut world = World::dev().await;
    let mut kept = Vec::new();
    for levels in (60..130).chain([1_000, 100_000]) {
        let deep = nested(levels);
        let bodies = [
            format!(
                r#"{{"action":"APPROVE","metadata":{{"deep":{deep}}},"payload":{{"item":"x"}}}}"#
            ),
            format!(
                r#"{{"action":"APPROVE","payload":{{"item":"x","details":{{"deep":{deep}}}}}}}"#
            ),
        ];
        for body in bodies {
            let reply = world.agent().post_raw(REQUESTS, body).await;
            if reply.status == 201 {
                kept.push(reply["request_id"].as_str().unwrap().to_owned());
            } else {
                assert!(reply["error"].is_string(), "{levels}: {reply:?}");
                assert_eq!(reply.status, 400, "{levels}: {reply:?}");
            }
        }
    }
    assert!(kept.len() >= 20, "sixty levels are not too many");
    world.restart().await;
    for id in &kept {
        world.agent().poll(id).await.is(200);
    }
    world.agent().list("?limit=100").await.is(200);
    world.human().inbox("").await.is(200);
    world.end().await;
}

/// The same for what people send.
#[tokio::test]
async fn nested_answers_are_refused_or_kept_whole() {
    let world = World::dev().await;
    let question = json!({ "prompt": "Retry?", "kind": "escalate", "params": { "n": 1 } });
    for levels in (100..130).chain([10_000]) {
        let created =
            world.agent().post("/api/v1/asks", json!({ "question": question })).await.is(201);
        let path = format!("/api/v1/asks/{}", created["id"].as_str().unwrap());
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let body = format!(r#"{{"answer":{{"verdict":"retry","params":{{"n":{deep}}}}}}}"#);
        let reply = world.human().post_raw(&format!("{path}/answer"), body).await;
        assert!(matches!(reply.status, 200 | 400 | 422), "{levels}: {reply:?}");
        world.agent().get(&path).await.is(200);
    }
    world.end().await;
}

/// What the server says to an agent's body that comes in pieces, its length not told beforehand.
pub(crate) async fn chunked(world: &World, path: &str, pieces: &str) -> String {
    let mut stream = TcpStream::connect(world.address()).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev-agent-key\r\n\
         Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(format!("{head}{pieces}0\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon("an answer", stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8(answer).unwrap()
}
