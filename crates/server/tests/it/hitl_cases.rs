//! Making cases: the 202, its tokens, repeating it, and what is refused.

use kernel::ask::TokenPurpose;
use kernel::audit::Digest;
use kernel::directory::NewProject;
use kernel::{Actor, Assurance, DirectoryCommand};
use serde_json::{Value, json};

use crate::hitl::schemas::holds;
use crate::hitl::{CASES, Case, approval, of, refused, with};
use crate::world::World;

/// HITL-001, HITL-003, HITL-004, HITL-005, HITL-007, HITL-012, HITL-013, HITL-018, HITL-025,
/// HITL-026, HITL-030, HITL-034: one call, and a body that can be passed on.
#[tokio::test]
async fn a_case_is_made_with_one_call() {
    let world = World::dev().await;
    for kind in ["approval", "selection", "input", "confirmation", "escalation", "x-acme-vote"] {
        for version in ["0.7", "0.8"] {
            let body = with(of(kind), json!({ "spec_version": version, "data": {"n": 1} }));
            let made = world.agent().post(CASES, body).await.is(202);
            assert_eq!(made["status"], "human_input_required");
            assert_eq!(made["data"], json!({"n": 1}));
            assert!(made.header("retry-after").parse::<u64>().unwrap() >= 1);
            let case = Case::of(&world, &made);
            assert_eq!(case.hitl["type"], kind);
            let base = format!("http://{}", world.address());
            for url in ["review_url", "poll_url", "events_url"] {
                assert!(case.hitl[url].as_str().unwrap().starts_with(&base), "{url}");
            }
            let mut tokens = vec![case.review_token(), case.poll_token()];
            if let Some(token) = case.hitl["submit_token"].as_str() {
                tokens.push(token.to_owned());
            }
            for token in &tokens {
                assert_eq!(token.len(), 43, "{token}");
                let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
                assert!(token.bytes().all(plain), "{token}");
            }
            tokens.sort();
            tokens.dedup();
            let inline = !matches!(kind, "selection" | "input" | "x-acme-vote");
            assert_eq!(tokens.len(), if inline { 3 } else { 2 }, "no two are the same");
            case.status().await;
        }
    }
    world.end().await;
}

/// HITL-031, DESIGN §10.2: a create that is repeated makes no second case, and its tokens are
/// fresh, because nobody has kept the first ones; those work all the same.
#[tokio::test]
async fn a_repeated_create_hands_out_fresh_tokens() {
    let world = World::dev().await;
    let once = world.agent().header("idempotency-key", "k1");
    let first = Case::of(&world, &once.post(CASES, approval()).await.is(202));
    let again = once.post(CASES, approval()).await.is(202);
    assert_eq!(again.header("idempotent-replayed"), "true");
    let second = Case::of(&world, &again);
    assert_eq!(first.id, second.id);
    assert_ne!(first.review_token(), second.review_token());
    assert_ne!(first.poll_token(), second.poll_token());
    assert_ne!(first.submit_token(), second.submit_token());
    first.status().await;
    second.status().await;
    let other = once.post(CASES, of("confirmation")).await;
    refused(other, 409, "idempotency_conflict");
    first.respond(json!({ "action": "approve" })).await.is(200);
    // Still the same case, and still readable.
    let third = Case::of(&world, &once.post(CASES, approval()).await.is(202));
    assert_eq!(third.status().await["status"], "completed");
    world.end().await;
}

/// HITL-031, HITL-048: what is stored of a token is its hash; the file holds no token, and neither
/// does the log.
#[tokio::test]
async fn tokens_are_nowhere_at_rest() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let tokens = [case.review_token(), case.poll_token(), case.submit_token()];
    case.status().await;
    refused(case.respond(json!({ "action": "banana" })).await, 400, "invalid_action");
    case.submit(crate::hitl::inline("approve")).await.is(200);
    let form = Case::make(&world, of("input")).await;
    let secret = json!({ "action": "submit", "data": {"name": "Ann", "pin": "s3cret-pin"} });
    form.respond(secret).await.is(200);
    let ask = world.gateway().store().ask(case.ask_id()).await.unwrap().unwrap();
    for (token, purpose) in
        tokens.iter().zip([TokenPurpose::Review, TokenPurpose::Poll, TokenPurpose::Submit])
    {
        assert!(ask.has_token(purpose, &Digest::of(token.as_bytes())));
    }
    let mut files = vec![world.folder().to_owned()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let content = std::fs::read(&path).unwrap();
        for token in &tokens {
            let found = content.windows(token.len()).any(|window| window == token.as_bytes());
            assert!(!found, "{} holds a token", path.display());
        }
    }
    let logged = crate::world::logged();
    for token in &tokens {
        assert!(!logged.contains(token.as_str()), "the log holds a token");
    }
    assert!(!logged.contains("U1\"") && !logged.contains("s3cret-pin"), "the log names people");
    world.end().await;
}

/// HITL-002, HITL-008, HITL-038, HITL-240: what is wrong makes no case, and says where.
#[tokio::test]
async fn what_is_wrong_makes_no_case() {
    let world = World::dev().await;
    let agent = world.agent();
    for (more, field) in [
        (json!({ "prompt": "" }), "prompt"),
        (json!({ "type": "vote" }), "type"),
        (json!({ "timeout": "P1Y" }), "timeout"),
        (json!({ "hitl_callback_url": "http://agent.example/hook" }), "hitl_callback_url"),
        (json!({ "hitl_callback_url": "https://169.254.169.254/" }), "hitl_callback_url"),
        (json!({ "person": "nobody" }), "person"),
        (json!({ "role": "nobody" }), "role"),
        (json!({ "previous_case_id": "review_01JZ3V5Q8N6M4K2H0G9F7E5D3C" }), "previous_case_id"),
    ] {
        let reply = agent.post(CASES, with(approval(), more.clone())).await;
        assert_eq!((reply.status, &reply["field"]), (400, &json!(field)), "{more}: {}", reply.text);
        assert!(reply["error"].is_string() && reply["expected"].is_string(), "{}", reply.text);
    }
    refused(agent.post_raw(CASES, "{").await, 400, "invalid_json");
    refused(agent.post_raw(CASES, "x".repeat(2 << 20)).await, 413, "too_large");
    refused(world.human().post(CASES, approval()).await, 401, "invalid_token");
    let anonymous = refused(world.anonymous().post(CASES, approval()).await, 401, "invalid_token");
    assert!(anonymous.header("www-authenticate").contains("invalid_token"));
    refused(agent.get("/hitl/v1/nothing").await, 404, "not_found");
    refused(agent.get(CASES).await, 405, "method_not_allowed");
    let asks = agent.get("/api/v1/asks").await.is(200);
    assert_eq!(asks["asks"], json!([]), "{}", asks.text);
    world.end().await;
}

/// HITL-140, HITL-141, HITL-142, HITL-143, HITL-083: rounds, and what may be continued.
#[tokio::test]
async fn rounds_of_an_approval() {
    let world = World::dev().await;
    let first = Case::make(&world, approval()).await;
    let next = |id: &str| with(approval(), json!({ "previous_case_id": id }));
    let early = world.agent().post(CASES, next(&first.id)).await;
    assert_eq!((early.status, &early["field"]), (400, &json!("previous_case_id")));
    let said = json!({ "action": "edit", "data": { "feedback": "shorter", "edits": {"n": 1} } });
    first.respond(said).await.is(200);
    let before = first.status().await;
    let foreign = world.agent_2().post(CASES, next(&first.id)).await;
    assert_eq!((foreign.status, &foreign["field"]), (400, &json!("previous_case_id")));
    let second = Case::make(&world, next(&first.id)).await;
    assert_eq!(second.hitl["previous_case_id"], first.id.as_str());
    let after = first.status().await;
    assert_eq!(after["next_case_id"], second.id.as_str());
    assert_ne!(before.header("etag"), after.header("etag"), "its words changed, so its tag does");
    let twice = world.agent().post(CASES, next(&first.id)).await;
    assert_eq!((twice.status, &twice["field"]), (409, &json!("previous_case_id")));
    world.end().await;
}

/// HITL-070, HITL-081, HITL-243: a project that wants people to be known offers no inline answers.
#[tokio::test]
async fn a_strict_project_offers_no_inline_answers() {
    let world = World::dev().await;
    let plain = NewProject::plain("dev".parse().unwrap());
    let strict = NewProject { minimum_assurance: Assurance::Session, ..plain };
    world.gateway().run(Actor::System, DirectoryCommand::SaveProject(strict)).await.unwrap();
    let case = Case::make(&world, approval()).await;
    assert_eq!(case.hitl["submit_url"], Value::Null);
    assert_eq!(case.hitl["inline_actions"], Value::Null);
    let by_link = case.respond(json!({ "action": "approve" })).await;
    refused(by_link, 403, "forbidden");
    assert_eq!(case.status().await["status"], "pending");
    let relaxed =
        NewProject { default_on_silence: false, ..NewProject::plain("dev".parse().unwrap()) };
    world.gateway().run(Actor::System, DirectoryCommand::SaveProject(relaxed)).await.unwrap();
    let silent = with(approval(), json!({ "default_action": "approve" }));
    let reply = world.agent().post(CASES, silent).await;
    assert_eq!((reply.status, &reply["field"]), (400, &json!("default_action")));
    world.end().await;
}

/// HITL-037, HITL-190, HITL-191, HITL-192, HITL-195, HITL-242, HITL-245: what this server offers,
/// for whoever asks.
#[tokio::test]
async fn discovery_and_skill() {
    let world = World::dev().await;
    let anyone = world.anonymous();
    let document = anyone.get("/.well-known/hitl.json").await.is(200);
    assert_eq!(document["hitl_protocol"]["spec_version"], "0.7");
    assert_eq!(document["hitl_protocol"]["capabilities"]["supports_surface"], false);
    assert!(document.header("cache-control").contains("max-age=86400"));
    let newer = anyone.get("/.well-known/hitl.json?spec_version=0.8").await.is(200);
    holds("0.8", "discovery-response", &newer.json);
    refused(anyone.get("/.well-known/hitl.json?spec_version=9").await, 400, "invalid_request");
    let skill = anyone.get("/skill.md").await.is(200);
    assert!(skill.header("content-type").starts_with("text/markdown"));
    for words in [
        "Never put the token into a button",
        "supported: true",
        "## HITL Handling",
        &world.address(),
    ] {
        assert!(skill.text.contains(words), "{words}");
    }
    let info = skill.text.lines().find(|line| line.trim().starts_with("info:")).unwrap();
    assert!(info.chars().count() <= 200, "{info}");
    world.end().await;
}
