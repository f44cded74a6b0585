//! Proofs that a person answers: passed on by an agent, over HTTP. HITL 0.8 §7.6.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use server::config::{ProviderTable, Settings};

use crate::client::Reply;
use crate::hitl::{CASES, Case, approval, inline, refused, with};
use crate::world::{World, dev, logged};

const KEY: &str = include_str!("fixtures/jwt-test-key.pem");
const OTHER_KEY: &str = include_str!("fixtures/jwt-other-key.pem");
const JWKS: &str = include_str!("fixtures/jwks.json");

/// A dev server that knows `acme`, who tells how sure it is.
pub(crate) async fn world() -> World {
    world_with(|_| {}).await
}

pub(crate) async fn world_with(change: impl FnOnce(&mut ProviderTable)) -> World {
    let mut acme = ProviderTable {
        issuer: Some("https://acme.example".to_owned()),
        audience: Some("countersign".to_owned()),
        jwks: Some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/jwks.json").to_owned()),
        assurance_claim: Some("assurance".to_owned()),
        title: Some("Acme ID".to_owned()),
        ..ProviderTable::default()
    };
    change(&mut acme);
    let verification = Some([("acme".to_owned(), acme)].into());
    World::with(Settings { verification, ..dev() }).await
}

/// A policy that wants a proof on both paths.
pub(crate) fn policy() -> Value {
    json!({
        "mode": "required", "required_for": ["inline_submit", "browser_submit"],
        "requirements": { "any_of": [
            { "all_of": [{ "proof_type": "proof_of_human", "min_assurance": "medium" }] },
        ] },
        "binding": { "case_id": true, "action": true, "freshness_seconds": 300, "single_use": true },
        "fallback": { "on_missing": "browser_review", "on_invalid": "browser_review" },
    })
}

pub(crate) fn case_with(policy: &Value) -> Value {
    with(approval(), json!({ "spec_version": "0.8", "verification_policy": policy }))
}

/// What a good proof of an approval claims.
pub(crate) fn claims(world: &World, case: &Case, action: &str) -> Value {
    let now = world.now().millis() / 1000;
    json!({
        "iss": "https://acme.example", "aud": "countersign", "jti": format!("jti-{}", case.id),
        "iat": now, "exp": now + 600, "assurance": "high", "case_id": case.id, "action": action,
        "challenge": case.hitl["verification_policy"]["binding"]["challenge"],
    })
}

fn signed(claims: &Value, kid: &str, key: &str) -> String {
    let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
    encode(&header, claims, &EncodingKey::from_ed_pem(key.as_bytes()).unwrap()).unwrap()
}

pub(crate) fn token(claims: &Value) -> String {
    signed(claims, "test-1", KEY)
}

fn evidence(token: &str) -> Value {
    json!({
        "proof_type": "proof_of_human", "provider": "acme", "format": "jwt",
        "presentation": token, "binding": {},
    })
}

fn proven(action: &str, proofs: &[Value]) -> Value {
    with(inline(action), json!({ "verification_evidence": proofs }))
}

async fn submit(case: &Case, claims: &Value) -> Reply {
    case.submit(proven("approve", &[evidence(&token(claims))])).await
}

/// HITL-220, HITL-221, HITL-223, HITL-226, HITL-228, HITL-229: a proof that holds is passed on
/// once; the result says so everywhere, the receipt too, and nobody is surer who it was.
#[tokio::test]
async fn a_proof_is_passed_on() {
    let world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let challenge = case.hitl["verification_policy"]["binding"]["challenge"].as_str().unwrap();
    assert_eq!(challenge.len(), 43, "drawn here: {challenge}");
    let proof = claims(&world, &case, "approve");
    submit(&case, &proof).await.is(200);
    let over = case.status().await;
    let context = &over["submission_context"];
    assert_eq!(context["mode"], "inline_submit");
    let expected = json!({ "satisfied": true, "verified_evidence": [{
        "proof_type": "proof_of_human", "provider": "acme", "assurance_level": "high",
        "bound_to_case": true, "bound_to_action": true, "fresh": true,
        "single_use_enforced": true, "verified_at": over["completed_at"],
    }] });
    assert_eq!(context["verification_result"], expected);
    let events = world.anonymous().get(&case.path("events_url")).await.is(200);
    assert!(events.text.contains("\"verification_result\":{\"satisfied\":true"), "{}", events.text);
    let receipt = world.human().get(&format!("/api/v1/asks/{}/receipt", case.ask())).await.is(200);
    let receipt = dialects::proof::verify(&receipt.text, &world.keys()).unwrap();
    assert_eq!(receipt.assurance, Some(kernel::Assurance::AgentAttested));
    let [said] = &receipt.proofs[..] else { panic!("{:?}", receipt.proofs) };
    assert_eq!(said.provider, "acme");
    assert_eq!(said.assurance, Some(kernel::verification::ProofAssurance::High));
    refused(submit(&case, &proof).await, 409, "duplicate_submission");
    world.end().await;
}

/// HITL-222, HITL-225, C-23: without a proof, and with a bad one; the page is named only where the
/// policy offers it; nothing happens.
#[tokio::test]
async fn missing_and_bad_proofs_change_nothing() {
    let world = world().await;
    for (fallback, named) in [("browser_review", true), ("reject", false)] {
        let both = json!({ "on_missing": fallback, "on_invalid": fallback });
        let case =
            Case::make(&world, case_with(&with(policy(), json!({ "fallback": both })))).await;
        let missing = refused(case.submit(inline("approve")).await, 403, "verification_required");
        let bad = proven("approve", &[evidence("a.b.c")]);
        let bad = refused(case.submit(bad).await, 403, "verification_failed");
        let by_link = case.respond(json!({ "action": "approve" })).await;
        let by_link = refused(by_link, 403, "verification_required");
        for refused in [missing, bad, by_link] {
            assert_eq!(refused["case_id"], case.id.as_str());
            let page = refused["review_url"].as_str();
            assert_eq!(page.is_some(), named, "{}", refused.text);
            assert!(page.is_none_or(|page| page.ends_with(&format!("/review/{}", case.id))));
        }
        let status = case.status().await;
        assert_eq!((&status["status"], status.header("etag")), (&json!("pending"), "\"1\""));
    }
    world.end().await;
}

/// HITL-223: made for something else, too old, too late, without what is needed; then the good one.
#[tokio::test]
async fn proofs_are_bound_and_fresh() {
    let world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let other = Case::make(&world, case_with(&policy())).await;
    let good = claims(&world, &case, "approve");
    let now = world.now().millis() / 1000;
    for (why, more) in [
        ("another case", json!({ "case_id": other.id })),
        ("no case", json!({ "case_id": null })),
        ("another action", json!({ "action": "reject" })),
        ("another challenge", json!({ "challenge": "x" })),
        ("no challenge", json!({ "challenge": null })),
        ("stale", json!({ "iat": now - 301 })),
        ("from the future", json!({ "iat": now + 61 })),
        ("run out", json!({ "exp": now })),
        ("not yet", json!({ "nbf": now + 3600 })),
        ("too unsure", json!({ "assurance": "low" })),
        ("as sure as nobody knows", json!({ "assurance": "very" })),
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("another audience", json!({ "aud": "shop" })),
        ("no jti", json!({ "jti": null })),
        ("an empty jti", json!({ "jti": "" })),
        ("no iat", json!({ "iat": null })),
        ("no exp", json!({ "exp": null })),
    ] {
        let reply = submit(&case, &with(good.clone(), more)).await;
        let reply = refused(reply, 403, "verification_failed");
        assert!(!reply.text.contains("jti-"), "{why}: {}", reply.text);
    }
    // What is said beside a proof cannot contradict it, and proves nothing.
    for (key, value) in [("case_id", other.id.as_str()), ("action", "reject"), ("challenge", "x")] {
        let odd = with(evidence(&token(&good)), json!({ "binding": { key: value } }));
        refused(case.submit(proven("approve", &[odd])).await, 403, "verification_failed");
    }
    let loose = with(good.clone(), json!({ "case_id": null }));
    let claimed = with(evidence(&token(&loose)), json!({ "binding": { "case_id": case.id } }));
    refused(case.submit(proven("approve", &[claimed])).await, 403, "verification_failed");
    assert_eq!(case.status().await["status"], "pending");
    // Refused or not: nothing was used up. `nonce` is the challenge too.
    let challenge = good["challenge"].clone();
    let nonce = with(good, json!({ "challenge": null, "nonce": challenge }));
    submit(&case, &nonce).await.is(200);
    world.end().await;
}

/// HITL-223: signatures that prove nothing.
#[tokio::test]
async fn forged_proofs_are_refused() {
    let world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let claims = claims(&world, &case, "approve");
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let none = format!("{}.{}.", part(&json!({ "alg": "none", "kid": "test-1" })), part(&claims));
    let jwks: Value = serde_json::from_str(JWKS).unwrap();
    let public = BASE64_URL_SAFE_NO_PAD.decode(jwks["keys"][0]["x"].as_str().unwrap()).unwrap();
    let header = Header { kid: Some("test-1".to_owned()), ..Header::new(Algorithm::HS256) };
    let shared = encode(&header, &claims, &EncodingKey::from_secret(&public)).unwrap();
    let good = token(&claims);
    let (front, _) = good.rsplit_once('.').unwrap();
    for forged in [
        none,
        shared,
        signed(&claims, "test-1", OTHER_KEY),
        signed(&claims, "test-2", KEY),
        format!("{front}."),
        String::new(),
        "x".repeat(20_000),
    ] {
        let reply = case.submit(proven("approve", &[evidence(&forged)])).await;
        refused(reply, 403, "verification_failed");
    }
    for odd in [
        json!({ "provider": "nobody" }),
        json!({ "format": "zkp" }),
        json!({ "proof_type": "x-passport" }),
        json!({ "presentation": { "token": good } }),
    ] {
        let reply = case.submit(proven("approve", &[with(evidence(&good), odd)])).await;
        refused(reply, 403, "verification_failed");
    }
    assert_eq!(case.status().await["status"], "pending");
    world.end().await;
}

/// HITL-223: one proof counts once: not for two requirements, not for another case or action.
#[tokio::test]
async fn a_proof_counts_once() {
    let world = world().await;
    let human = json!({ "proof_type": "proof_of_human" });
    let both = json!({ "any_of": [{ "all_of": [human, human] }] });
    let pair = with(policy(), json!({ "requirements": both }));
    let case = Case::make(&world, case_with(&pair)).await;
    let one = claims(&world, &case, "approve");
    let proof = |claims: &Value| evidence(&token(claims));
    let single = case.submit(proven("approve", &[proof(&one)])).await;
    refused(single, 403, "verification_required");
    // Signed once more it is the same statement.
    let again = with(one.clone(), json!({ "exp": one["exp"].as_i64().unwrap() + 1 }));
    let twice = case.submit(proven("approve", &[proof(&one), proof(&again)])).await;
    refused(twice, 403, "verification_failed");
    let other = with(one.clone(), json!({ "jti": "another" }));
    case.submit(proven("approve", &[proof(&one), proof(&other)])).await.is(200);
    // The same challenge does not carry it to the next case.
    let mut fixed = policy();
    fixed["binding"]["challenge"] = json!("c1");
    let first = Case::make(&world, case_with(&fixed)).await;
    let second = Case::make(&world, case_with(&fixed)).await;
    let replayed = claims(&world, &first, "approve");
    submit(&first, &replayed).await.is(200);
    refused(submit(&second, &replayed).await, 403, "verification_failed");
    let rejected = proven("reject", &[proof(&claims(&world, &second, "approve"))]);
    refused(second.submit(rejected).await, 403, "verification_failed");
    world.end().await;
}

/// HITL-223: freshness and `expires_at` go by the server's clock.
#[tokio::test]
async fn policies_and_proofs_run_out() {
    let world = world().await;
    let mut until = policy();
    until["binding"]["expires_at"] = json!(world.now().plus_seconds(100));
    let timed = Case::make(&world, case_with(&until)).await;
    let case = Case::make(&world, case_with(&policy())).await;
    let (early, proof) = (claims(&world, &timed, "approve"), claims(&world, &case, "approve"));
    world.advance(100);
    let late = refused(submit(&timed, &early).await, 403, "verification_failed");
    assert!(late["message"].as_str().unwrap().contains("were accepted until"), "{}", late.text);
    world.advance(200);
    submit(&case, &proof).await.is(200);
    world.end().await;
}

/// HITL-220, C-23: optional proofs keep nobody out; step-up wants them of whoever lets the agent go
/// on; a path that is not listed wants none.
#[tokio::test]
async fn modes_and_paths() {
    let world = world().await;
    let optional = || case_with(&with(policy(), json!({ "mode": "optional" })));
    let case = Case::make(&world, optional()).await;
    case.submit(proven("approve", &[evidence("a.b.c")])).await.is(200);
    let result = &case.status().await["submission_context"]["verification_result"];
    assert_eq!(result["satisfied"], false);
    let wanted = "proof_of_human of at least medium assurance";
    assert_eq!(result["missing_requirements"], json!([wanted]));
    let bare = Case::make(&world, optional()).await;
    bare.submit(inline("approve")).await.is(200);
    let context = bare.status().await["submission_context"].clone();
    assert!(context.get("verification_result").is_none(), "{context}");
    let step_up = || case_with(&with(policy(), json!({ "mode": "step_up" })));
    let case = Case::make(&world, step_up()).await;
    refused(case.submit(inline("approve")).await, 403, "verification_required");
    case.submit(inline("reject")).await.is(200);
    let case = Case::make(&world, step_up()).await;
    submit(&case, &claims(&world, &case, "approve")).await.is(200);
    let page_only = with(policy(), json!({ "required_for": ["browser_submit"] }));
    let case = Case::make(&world, case_with(&page_only)).await;
    case.submit(inline("approve")).await.is(200);
    // Whoever holds the link may bring a proof with the answer, too.
    let case = Case::make(&world, case_with(&policy())).await;
    let proof = evidence(&token(&claims(&world, &case, "approve")));
    case.respond(json!({ "action": "approve", "verification_evidence": [proof] })).await.is(200);
    let context = case.status().await["submission_context"].clone();
    assert_eq!(context["mode"], "browser_submit");
    assert_eq!(context["verification_result"]["satisfied"], true);
    // Who is signed in is asked for none, and the agent is told.
    let case = Case::make(&world, case_with(&policy())).await;
    let answer = json!({ "answer": { "verdict": "approved" } });
    world.human().post(&format!("/api/v1/asks/{}/answer", case.ask()), answer).await.is(200);
    let result = &case.status().await["submission_context"]["verification_result"];
    assert_eq!(result["satisfied"], false);
    world.end().await;
}

/// HITL-028, HITL-221, HITL-231: what nobody here can prove is refused when the case is made,
/// unless it is optional; discovery and the page for agents say what can be.
#[tokio::test]
async fn what_cannot_be_proven_is_refused_at_once() {
    let world = world().await;
    let agent = world.agent();
    for wanted in [
        json!({ "proof_type": "proof_of_human", "provider": "worldid" }),
        json!({ "proof_type": "x-passport" }),
        json!({ "proof_type": "proof_of_human", "presentation_formats": ["zkp"] }),
    ] {
        let any_of = json!({ "any_of": [{ "all_of": [wanted] }] });
        let policy = with(policy(), json!({ "requirements": any_of }));
        let made = agent.post(CASES, case_with(&policy)).await;
        let made = refused(made, 400, "verification_unsupported");
        assert_eq!(made["field"], "verification_policy.requirements.any_of[0].all_of[0]");
        assert!(made["expected"].as_str().unwrap().contains("by acme as jwt"), "{}", made.text);
        agent.post(CASES, case_with(&with(policy, json!({ "mode": "optional" })))).await.is(202);
    }
    let anyone = world.anonymous();
    let newer = anyone.get("/.well-known/hitl.json?spec_version=0.8").await.is(200);
    crate::hitl::schemas::holds("0.8", "discovery-response", &newer.json);
    assert!(newer.text.contains("proof_of_human by acme as jwt"), "{}", newer.text);
    assert!(!anyone.get("/.well-known/hitl.json").await.is(200).text.contains("acme"));
    let skill = anyone.get("/skill.md").await.is(200).text;
    assert!(skill.contains("This server verifies: proof_of_human by acme as jwt"), "{skill}");
    world.end().await;
    // Without a provider nothing is said and nothing is taken.
    let world = World::dev().await;
    let made = world.agent().post(CASES, case_with(&policy())).await;
    let made = refused(made, 400, "verification_unsupported");
    assert!(made["expected"].as_str().unwrap().contains("no provider"), "{}", made.text);
    let skill = world.anonymous().get("/skill.md").await.is(200).text;
    assert!(!skill.contains("Proof of a person"));
    world.end().await;
    // One that does not say how sure it is cannot be asked for more.
    let world = world_with(|acme| acme.assurance_claim = None).await;
    let made = world.agent().post(CASES, case_with(&policy())).await;
    refused(made, 400, "verification_unsupported");
    world.end().await;
}

/// HITL-223: the same create is the same case, with the same challenge.
#[tokio::test]
async fn a_repeated_create_keeps_its_challenge() {
    let world = world().await;
    let agent = world.agent().header("idempotency-key", "k1");
    let first = agent.post(CASES, case_with(&policy())).await.is(202);
    let again = agent.post(CASES, case_with(&policy())).await.is(202);
    let policy = |reply: &Reply| reply["hitl"]["verification_policy"].clone();
    assert_eq!(policy(&first), policy(&again));
    world.end().await;
}

/// HITL-228: nothing of a proof is anywhere: not in the store, the record, the log, the receipt.
#[tokio::test]
async fn a_proof_is_nowhere() {
    let mut world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let proof = with(claims(&world, &case, "approve"), json!({ "sub": "whoever-it-was" }));
    let proof = token(&proof);
    let bad = token(&with(claims(&world, &case, "approve"), json!({ "action": "reject" })));
    for token in [&bad, &proof] {
        case.submit(proven("approve", &[evidence(token)])).await;
    }
    assert_eq!(case.status().await["status"], "completed");
    let mut seen = vec![logged()];
    for path in [
        "/api/v1/audit/export".to_owned(),
        format!("/api/v1/asks/{}", case.ask()),
        format!("/api/v1/asks/{}/receipt", case.ask()),
    ] {
        seen.push(world.human().get(&path).await.is(200).text);
    }
    world.stop().await;
    let data = world.folder().join("data");
    for file in std::fs::read_dir(data).unwrap().filter_map(Result::ok) {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).unwrap();
            seen.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    assert!(seen.iter().any(|text| text.contains(&case.ask())), "the right places");
    for token in [&proof, &bad] {
        let (front, signature) = token.rsplit_once('.').unwrap();
        let claims = front.split_once('.').unwrap().1;
        for secret in [signature, claims, "whoever-it-was"] {
            assert!(seen.iter().all(|text| !text.contains(secret)), "{secret}");
        }
    }
    world.start().await;
    world.end().await;
}

/// A provider that is not whole keeps the server from starting, and says why.
#[tokio::test]
async fn half_a_provider_does_not_start() {
    let half = ProviderTable { issuer: Some("https://a".to_owned()), ..ProviderTable::default() };
    let verification = Some([("acme".to_owned(), half)].into());
    let error = World::try_with(Settings { verification, ..dev() }).await.err().unwrap();
    assert_eq!(format!("{error:#}"), "verification.acme: audience is missing");
}

/// While a provider's keys cannot be read, nobody can tell; that is not the proof's fault.
#[tokio::test]
async fn without_keys_nobody_can_tell() {
    let mut world = world().await;
    let keys = world.folder().join("keys.json");
    std::fs::write(&keys, JWKS).unwrap();
    world.stop().await;
    let acme = ProviderTable {
        issuer: Some("https://acme.example".to_owned()),
        audience: Some("countersign".to_owned()),
        jwks: Some(keys.display().to_string()),
        assurance_claim: Some("assurance".to_owned()),
        ..ProviderTable::default()
    };
    let verification = Some([("acme".to_owned(), acme)].into());
    world.start_with(Settings { verification, ..dev() }).await.unwrap();
    std::fs::remove_file(&keys).unwrap();
    let case = Case::make(&world, case_with(&policy())).await;
    let proof = claims(&world, &case, "approve");
    let away = refused(submit(&case, &proof).await, 503, "unavailable");
    assert_eq!(away.header("retry-after"), "5");
    std::fs::write(&keys, JWKS).unwrap();
    world.advance(10);
    submit(&case, &proof).await.is(200);
    world.end().await;
}
