//! Answering: by link, passed on by an agent, once, and with nothing that is good for something
//! else.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::hitl::{Case, approval, inline, of, refused, with};
use crate::world::World;

/// HITL-032, HITL-033, HITL-034, HITL-036, HITL-039, HITL-046, HITL-244: each token opens its own
/// door and no other.
#[tokio::test]
async fn a_token_is_good_for_one_thing() {
    let world = World::dev().await;
    let (case, other) =
        (Case::make(&world, approval()).await, Case::make(&world, approval()).await);
    let said = json!({ "action": "approve" });
    let tokens = [
        ("review", case.review_token()),
        ("submit", case.submit_token()),
        ("poll", case.poll_token()),
        ("other review", other.review_token()),
        ("other submit", other.submit_token()),
        ("other poll", other.poll_token()),
        ("agent key", "dev-agent-key".to_owned()),
        ("human token", "dev-human-token".to_owned()),
        ("nothing", String::new()),
    ];
    let anyone = world.anonymous();
    for (name, token) in &tokens {
        for door in ["respond", "submit"] {
            if *name != "review" {
                let query = format!("{}?token={token}", case.at(door));
                refused(anyone.post(&query, said.clone()).await, 401, "invalid_token");
                let body = with(said.clone(), json!({ "token": token }));
                refused(anyone.post(&case.at(door), body).await, 401, "invalid_token");
                let cookie = format!("a=b; countersign_{}={token}", case.id);
                let browser = anyone.clone().header("cookie", &cookie);
                refused(browser.post(&case.at(door), said.clone()).await, 401, "invalid_token");
            }
            if *name != "submit" {
                let bearer = anyone.clone().bearer(token);
                refused(bearer.post(&case.at(door), inline("approve")).await, 401, "invalid_token");
                // HITL-039: a bearer token decides, whatever else is there.
                let both = format!("{}?token={}", case.at(door), case.review_token());
                refused(bearer.post(&both, said.clone()).await, 401, "invalid_token");
            }
        }
        for door in ["status", "events", &format!("files/{}", "0".repeat(64))] {
            if *name != "poll" {
                let query = format!("{}?token={token}", case.at(door));
                refused(anyone.get(&query).await, 401, "invalid_token");
            }
            if *name != "agent key" {
                refused(
                    anyone.clone().bearer(token).get(&case.at(door)).await,
                    401,
                    "invalid_token",
                );
            }
        }
        if *name != "review" {
            for door in ["cancel", "files"] {
                let query = format!("{}?token={token}&name=a", case.at(door));
                refused(anyone.post(&query, json!({})).await, 401, "invalid_token");
            }
        }
        if !matches!(*name, "agent key") {
            let bearer = anyone.clone().bearer(token);
            refused(bearer.post(&case.at("cancel"), json!({})).await, 401, "invalid_token");
        }
    }
    assert_eq!(case.status().await["status"], "pending");
    assert_eq!(case.status().await.header("etag"), "\"1\"", "nothing happened");
    world.end().await;
}

/// HITL-060, HITL-064, HITL-068: the token in the query, in the body or in a cookie.
#[tokio::test]
async fn whoever_holds_the_link_answers() {
    let world = World::dev().await;
    for place in ["query", "body", "cookie"] {
        let case = Case::make(&world, approval()).await;
        let said = json!({ "action": "reject", "data": { "feedback": "not today" } });
        let token = case.review_token();
        let anyone = world.anonymous();
        let done = match place {
            "query" => case.respond(said).await,
            "body" => anyone.post(&case.at("respond"), with(said, json!({ "token": token }))).await,
            _ => {
                let cookie = format!("countersign_{}={token}", case.id);
                anyone.header("cookie", &cookie).post(&case.at("respond"), said).await
            }
        };
        let done = done.is(200);
        let expected = json!({ "status": "completed", "case_id": case.id, "completed_at": "2026-03-01T09:00:00.000Z" });
        assert_eq!(done.json, expected);
        let over = case.status().await;
        assert_eq!(over["result"]["data"], json!({ "feedback": "not today" }));
        assert_eq!(over["responded_by"], Value::Null);
        let ask = world.human().get(&format!("/api/v1/asks/{}", case.ask())).await.is(200);
        let result = &ask["result"];
        assert_eq!(result["by"], json!({ "kind": "link_holder" }));
        // The agent was given this token, so using it shows nothing of a person.
        assert_eq!(
            (&result["via"], &result["assurance"]),
            (&json!("link"), &json!("agent-attested"))
        );
    }
    world.end().await;
}

/// HITL-072, HITL-073, HITL-075, HITL-077: from pending, without a page; marked as the agent's
/// word. C-01, C-12, C-15.
#[tokio::test]
async fn an_agent_passes_an_answer_on() {
    let world = World::dev().await;
    for door in ["submit", "respond"] {
        let case = Case::make(&world, approval()).await;
        let relay = world.anonymous().bearer(&case.submit_token());
        let not_here = relay.post(&case.at(door), inline("edit")).await;
        let not_here = refused(not_here, 403, "action_not_inline");
        assert_eq!(not_here["case_id"], case.id.as_str());
        let page = not_here["review_url"].as_str().unwrap();
        assert!(page.ends_with(&format!("/review/{}", case.id)), "without a token: {page}");
        for missing in ["submitted_via", "submitted_by", "action"] {
            let body = with(inline("approve"), json!({ missing: null }));
            assert_eq!(relay.post(&case.at(door), body).await.status, 400, "{missing}");
        }
        assert_eq!(case.status().await["status"], "pending", "a refusal changes nothing");
        let done = relay.post(&case.at(door), inline("approve")).await.is(200);
        assert_eq!(done["status"], "completed");
        refused(relay.post(&case.at(door), inline("reject")).await, 409, "duplicate_submission");
        let over = case.status().await;
        assert_eq!(over["result"]["action"], "approve");
        assert_eq!(over["responded_by"], Value::Null);
        let ask = world.human().get(&format!("/api/v1/asks/{}", case.ask())).await.is(200);
        let result = &ask["result"];
        assert_eq!(
            (&result["by"]["kind"], &result["assurance"]),
            (&json!("relay"), &json!("agent-attested"))
        );
        assert_eq!(result["attested"]["platform_user_id"], "U1");
        let claims =
            world.human().get(&format!("/api/v1/asks/{}/receipt", case.ask())).await.is(200);
        let claims = dialects::proof::verify(&claims.text, &world.keys()).unwrap();
        assert_eq!(claims.attested.unwrap().platform, "slack");
        assert_eq!(claims.via.as_deref(), Some("inline"));
    }
    world.end().await;
}

/// HITL-061, HITL-065, HITL-067, HITL-136, HITL-241: who is asked first, then what: 401, 404, 410,
/// 409, 400, 403.
#[tokio::test]
async fn errors_in_their_order() {
    let world = World::dev().await;
    let anyone = world.anonymous();
    let unknown = "/hitl/v1/reviews/review_01JZ3V5Q8N6M4K2H0G9F7E5D3C/respond?token=x";
    refused(anyone.post(unknown, json!({})).await, 401, "invalid_token");
    let unknown = unknown.replace("respond?token=x", "cancel");
    refused(anyone.post(&unknown, json!({})).await, 401, "invalid_token");
    refused(world.agent().post(&unknown, json!({})).await, 404, "not_found");
    let case = Case::make(&world, of("input")).await;
    refused(
        anyone.post_raw(&format!("{}?token=x", case.at("respond")), "{").await,
        401,
        "invalid_token",
    );
    let path = format!("{}?token={}", case.at("respond"), case.review_token());
    refused(anyone.post_raw(&path, "{").await, 400, "invalid_json");
    refused(case.respond(json!({})).await, 400, "missing_action");
    refused(case.respond(json!({ "action": "approve" })).await, 400, "invalid_action");
    let wrong = json!({ "action": "submit", "data": {"pin": 7, "more": 1} });
    let fields = refused(case.respond(wrong).await, 422, "validation_failed");
    let named: Vec<&str> =
        fields["fields"].as_array().unwrap().iter().map(|f| f["field"].as_str().unwrap()).collect();
    assert!(named.contains(&"name") && named.contains(&"more"), "{}", fields.text);
    assert_eq!(fields["case_id"], case.id.as_str());
    assert_eq!(case.status().await["status"], "pending", "it stays open");
    case.respond(json!({ "action": "submit", "data": {"name": "Ann"} })).await.is(200);
    // Once it is over it is over, whatever is sent.
    refused(case.respond(json!({ "action": "banana" })).await, 409, "duplicate_submission");
    world.end().await;
}

/// HITL-066, HITL-113, HITL-100: cancelled by whoever holds the link, or by the key that made it.
/// C-04.
#[tokio::test]
async fn a_case_is_cancelled() {
    let world = World::dev().await;
    for by in ["link", "body", "key"] {
        let case = Case::make(&world, of("confirmation")).await;
        let reason = json!({ "reason": "not mine" });
        let done = match by {
            "link" => {
                let path = format!("{}?token={}", case.at("cancel"), case.review_token());
                world.anonymous().post(&path, reason).await
            }
            "body" => {
                let body = with(reason, json!({ "token": case.review_token() }));
                world.anonymous().post(&case.at("cancel"), body).await
            }
            _ => world.agent().post(&case.at("cancel"), reason).await,
        };
        let done = done.is(200);
        assert_eq!((&done["status"], &done["reason"]), (&json!("cancelled"), &json!("not mine")));
        assert_eq!(case.status().await["cancelled_at"], "2026-03-01T09:00:00.000Z");
        refused(case.respond(json!({ "action": "confirm" })).await, 409, "case_cancelled");
        refused(case.submit(inline("confirm")).await, 409, "case_cancelled");
        refused(world.agent().post(&case.at("cancel"), json!({})).await, 409, "case_cancelled");
    }
    let case = Case::make(&world, approval()).await;
    refused(world.agent_2().post(&case.at("cancel"), json!({})).await, 404, "not_found");
    refused(
        world.agent().post(&case.at("cancel"), json!({ "why": 1 })).await,
        400,
        "invalid_request",
    );
    world.agent().post_raw(&case.at("cancel"), "").await.is(200);
    world.end().await;
}

/// HITL-062: fifty at once through every door, and one winner.
#[tokio::test]
async fn of_fifty_answers_one_wins() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let answers = (0..50).map(|n| {
        let action = if n % 2 == 0 { "approve" } else { "reject" };
        let (path, relay) = (case.at("submit"), n % 3 == 0);
        let request = if relay {
            let client = world.anonymous().bearer(&case.submit_token());
            client.request(Method::POST, &path).json(&inline(action))
        } else {
            let path = format!("{}?token={}", case.at("respond"), case.review_token());
            world.anonymous().request(Method::POST, &path).json(&json!({ "action": action }))
        };
        async move { (action, Reply::of(request).await) }
    });
    let replies = futures_util::future::join_all(answers).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        replies.into_iter().partition(|(_, reply)| reply.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for (_, reply) in lost {
        refused(reply, 409, "duplicate_submission");
    }
    assert_eq!(case.status().await["result"]["action"], won[0].0);
    world.end().await;
}

/// Files: uploaded by whoever holds the link, fetched by whoever reads the case.
#[tokio::test]
async fn a_file_answers_a_field() {
    let world = World::dev().await;
    let form = json!({ "fields": [{"key": "doc", "label": "Document", "type": "file", "required": true}] });
    let case = Case::make(&world, with(of("input"), json!({ "context": { "form": form } }))).await;
    let upload = format!("{}?token={}&name=a.txt", case.at("files"), case.review_token());
    let request =
        world.anonymous().request(Method::POST, &upload).header("content-type", "text/plain");
    let file = Reply::of(request.body("hello")).await.is(201);
    let claimed = with(file.json.clone(), json!({ "upload": "0".repeat(64) }));
    let forged = case.respond(json!({ "action": "submit", "data": {"doc": claimed} })).await;
    refused(forged, 422, "validation_failed");
    case.respond(json!({ "action": "submit", "data": {"doc": file.json} })).await.is(200);
    let over = case.status().await;
    let digest = over["result"]["data"]["doc"]["sha256"].as_str().unwrap().to_owned();
    let fetch = format!("{}?token={}", case.at(&format!("files/{digest}")), case.poll_token());
    assert_eq!(world.anonymous().get(&fetch).await.is(200).text, "hello");
    world.agent().get(&case.at(&format!("files/{digest}"))).await.is(200);
    let other =
        format!("{}?token={}", case.at(&format!("files/{}", "0".repeat(64))), case.poll_token());
    refused(world.anonymous().get(&other).await, 404, "not_found");
    let plain = Case::make(&world, approval()).await;
    let none = format!("{}?token={}&name=a", plain.at("files"), plain.review_token());
    assert_eq!(world.anonymous().post_raw(&none, "x").await.status, 400);
    world.end().await;
}

/// HITL-067: from strangers nothing is read. A body that is far too large is no news to whoever has
/// no token.
#[tokio::test]
async fn strangers_are_not_read() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let large = json!({ "action": "approve", "reason": "x".repeat(2 << 20) });
    for what in ["respond", "submit", "cancel", "files"] {
        let path = format!("{}?token=x&name=a", case.at(what));
        refused(world.anonymous().post(&path, large.clone()).await, 401, "invalid_token");
        let path = case.at(what);
        let client = world.anonymous().header("cookie", &format!("countersign_{}=x", case.id));
        refused(client.post(&path, large.clone()).await, 401, "invalid_token");
    }
    // Whoever may have one in the body has to be read, as far as bodies go.
    refused(world.anonymous().post(&case.at("cancel"), large).await, 413, "too_large");
    assert_eq!(case.status().await["status"], "pending");
    world.end().await;
}
