//! What no longer counts and what nobody may read any more: receipts that were revoked, words that
//! were erased.

use dialects::proof::RevocationClaims;
use kernel::{Actor, AskCommand, AskId};
use serde_json::{Value, json};

use crate::receipts::{
    ASKS, REVOCATIONS, answer, approval, approved, asked, checked, fetched, jwks, receipt,
};
use crate::world::World;

/// Whoever reads a revoked ask is told, wherever they look; erasing it leaves that standing.
#[tokio::test]
async fn a_revoked_answer_says_so() {
    let world = World::dev().await;
    let id = approved(&world).await;
    let ask = format!("{ASKS}/{id}");
    assert_eq!(world.agent().get(&ask).await.is(200)["revoked"], Value::Null);
    let open = asked(&world.agent(), approval("Go?")).await;
    let reason = json!({ "reason": "a stolen phone" });
    world
        .human()
        .post(&format!("{ASKS}/{open}/revoke"), reason.clone())
        .await
        .problem(409, "not-over");
    let revoked = world.human().post(&format!("{ask}/revoke"), reason).await.is(200);
    assert_eq!(revoked["revoked"]["reason"], "a stolen phone");
    // A second reason changes nothing, and the answer shows which one stands.
    let again = world.human().post(&format!("{ask}/revoke"), json!({ "reason": "another" })).await;
    assert_eq!(again.is(200)["revoked"], revoked["revoked"]);
    assert_eq!(world.agent().get(&ask).await.is(200)["revoked"], revoked["revoked"]);
    let browser = crate::pages::signed_in(&world).await;
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200).text;
    assert!(page.contains("Approved, then revoked") && page.contains("a stolen phone"), "{page}");
    let erased = world.human().post(&format!("{ask}/erase"), json!({})).await.is(200);
    assert_eq!(erased["revoked"]["at"], revoked["revoked"]["at"]);
    assert_eq!(erased["revoked"]["reason"], Value::Null);
    world.end().await;
}

/// Words go on demand of an administrator, once the ask is over; the record holds.
#[tokio::test]
async fn words_are_erased_on_demand() {
    let world = World::dev().await;
    let id = asked(&world.agent(), approval("The secret plan?")).await;
    let erase = format!("{ASKS}/{id}/erase");
    world.human().post(&erase, json!({})).await.problem(409, "not-over");
    answer(&world.human(), &id, json!({ "verdict": "approved" })).await;
    world.member().post(&erase, json!({})).await.problem(404, "not-found");
    let erased = world.human().post(&erase, json!({})).await.is(200);
    assert_eq!((&erased["question"], &erased["state"]), (&Value::Null, &json!("completed")));
    let version = erased["version"].clone();
    assert_eq!(world.human().post(&erase, json!({})).await.is(200)["version"], version);
    fetched(&world.agent(), &id).await.problem(410, "erased");
    world.app().operations.sealer.seal().await.unwrap();
    assert_eq!(world.audit().await.findings, []);
    let export = world.human().get("/api/v1/audit/export").await.is(200).text;
    assert!(!export.contains("secret plan"));
    world.end().await;
}

#[tokio::test]
async fn a_revoked_receipt_is_known_to_everybody() {
    let world = World::dev().await;
    let id = approved(&world).await;
    let other = approved(&world).await;
    let signed = receipt(&world.agent(), &id).await;
    let path = format!("{ASKS}/{id}/revoke");
    let reason = json!({ "reason": "a stolen phone" });
    world.agent().post(&path, reason.clone()).await.problem(403, "not-allowed");
    world.member().post(&path, reason.clone()).await.problem(404, "not-found");
    world.human().post(&path, json!({ "reason": " " })).await.problem(422, "invalid-field");
    world.human().post(&path, json!({})).await.problem(422, "invalid-field");
    let open = asked(&world.agent(), approval("Deploy?")).await;
    let early = world.human().post(&format!("{ASKS}/{open}/revoke"), reason.clone()).await;
    early.problem(409, "not-over");
    let done = world.human().post(&path, reason).await.is(200);
    assert_eq!((&done["id"], &done["state"]), (&json!(id), &json!("completed")));
    assert_eq!(done.header("etag"), format!("\"{}\"", done["version"]));

    let seen = checked(&world, &signed).await;
    assert_eq!(seen["valid"], false);
    assert_eq!(seen["revoked"]["reason"], "a stolen phone");
    assert!(seen["why"].as_str().unwrap().contains("a stolen phone"), "{}", seen["why"]);
    assert_eq!(seen["claims"]["sub"], json!(id));
    let others = checked(&world, &receipt(&world.agent(), &other).await).await;
    assert_eq!(others["valid"], true);
    assert_eq!(receipt(&world.agent(), &id).await, signed, "what it says does not change");

    let list = world.anonymous().get(REVOCATIONS).await.is(200);
    assert_eq!(list.header("content-type"), "application/jose");
    let list = RevocationClaims::verify(&list.text, &jwks(&world).await).unwrap();
    let listed: Vec<_> = list.revoked.iter().map(|one| one.jti.clone()).collect();
    assert_eq!(listed, [id.replace("ask_", "rcpt_")]);
    assert_eq!(list.revoked[0].reason.as_deref(), Some("a stolen phone"));
    assert_eq!((list.next, list.after), (None, None));
    world.anonymous().get(&format!("{REVOCATIONS}?cursor=x")).await.problem(422, "invalid-field");
    world.end().await;
}

/// Pages join without a gap, and each says what it covers.
#[tokio::test]
async fn many_revocations_come_in_pages() {
    let world = World::dev().await;
    let mut ids = Vec::new();
    for _ in 0..103 {
        let id: AskId = approved(&world).await.parse().unwrap();
        let revoke = AskCommand::Revoke(id, "a mistake".to_owned());
        world.gateway().run(Actor::System, revoke).await.unwrap();
        ids.insert(0, id.with_prefix("rcpt_"));
    }
    let keys = jwks(&world).await;
    let page = async |query: &str| {
        let reply = world.anonymous().get(&format!("{REVOCATIONS}{query}")).await.is(200);
        RevocationClaims::verify(&reply.text, &keys).unwrap()
    };
    let first = page("").await;
    let second = page(&format!("?cursor={}", first.next.as_ref().unwrap())).await;
    assert_eq!((first.revoked.len(), second.revoked.len(), &second.next), (100, 3, &None));
    let listed = first.revoked.iter().chain(&second.revoked).map(|one| one.jti.clone());
    assert_eq!(listed.collect::<Vec<_>>(), ids);
    for (n, id) in ids.iter().enumerate() {
        assert_eq!((first.covers(id), second.covers(id)), (n < 100, n >= 100), "{n}");
    }
    world.end().await;
}

/// Once the words are gone no receipt can be made; the one handed out before still counts.
#[tokio::test]
async fn erased_words_leave_the_receipt_that_was_kept() {
    let world = World::dev().await;
    let id = approved(&world).await;
    let kept = receipt(&world.agent(), &id).await;
    let revoked = approved(&world).await;
    let revoke = AskCommand::Revoke(revoked.parse().unwrap(), "s3cret reason".to_owned());
    world.gateway().run(Actor::System, revoke).await.unwrap();
    for id in [&id, &revoked] {
        let erase = AskCommand::Erase(id.parse().unwrap());
        world.gateway().run(Actor::System, erase).await.unwrap();
        fetched(&world.agent(), id).await.problem(410, "erased");
        fetched(&world.human(), id).await.problem(410, "erased");
    }
    assert_eq!(checked(&world, &kept).await["valid"], true);
    let list = world.anonymous().get(REVOCATIONS).await.is(200);
    let list = RevocationClaims::verify(&list.text, &jwks(&world).await).unwrap();
    assert_eq!((list.revoked.len(), &list.revoked[0].reason), (1, &None), "the reason went too");
    world.end().await;
}
