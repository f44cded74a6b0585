//! Signed receipts: what they say, who gets which, and what becomes of them when keys are rotated,
//! receipts revoked and words erased.

use dialects::hxp_execution::pseudonym;
use dialects::proof::record_check::Inclusion;
use dialects::proof::{Jwks, RECEIPT, ReceiptClaims, RevocationClaims, SecretKey, verify};
use gateway::signing;
use gateway::vault::Vault;
use kernel::AskId;
use kernel::question::Answer;
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{Client, Reply};
use crate::world::{World, dev, logged};

pub(crate) const ASKS: &str = "/api/v1/asks";
pub(crate) const VERIFY: &str = "/api/v1/receipts/verify";
pub(crate) const REVOCATIONS: &str = "/api/v1/receipts/revocations";

pub(crate) async fn asked(agent: &Client, body: Value) -> String {
    let created = agent.post(ASKS, body).await.is(201);
    created["id"].as_str().unwrap().to_owned()
}

pub(crate) fn approval(prompt: &str) -> Value {
    json!({ "question": { "kind": "approve", "prompt": prompt } })
}

pub(crate) async fn answer(human: &Client, id: &str, answer: Value) {
    human.post(&format!("{ASKS}/{id}/answer"), json!({ "answer": answer })).await.is(200);
}

/// An approval that was given.
pub(crate) async fn approved(world: &World) -> String {
    let id = asked(&world.agent(), approval("Deploy?")).await;
    answer(&world.human(), &id, json!({ "verdict": "approved" })).await;
    id
}

pub(crate) async fn fetched(who: &Client, id: &str) -> Reply {
    who.get(&format!("{ASKS}/{id}/receipt")).await
}

/// The receipt somebody gets.
pub(crate) async fn receipt(who: &Client, id: &str) -> String {
    let reply = fetched(who, id).await.is(200);
    assert_eq!(reply.header("content-type"), "application/jose");
    assert_eq!(reply.header("cache-control"), "no-store");
    reply.text
}

pub(crate) async fn jwks(world: &World) -> Jwks {
    let reply = world.anonymous().get("/.well-known/jwks.json").await.is(200);
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("cache-control"), "public, max-age=300");
    serde_json::from_value(reply.json).unwrap()
}

/// Checked as anybody would: with the published keys and nothing else.
pub(crate) async fn proven(world: &World, receipt: &str) -> ReceiptClaims {
    verify(receipt, &jwks(world).await).unwrap()
}

pub(crate) async fn checked(world: &World, receipt: &str) -> Reply {
    world.anonymous().post(VERIFY, json!({ "receipt": receipt })).await.is(200)
}

fn keys(world: &World) -> Vault {
    Vault::folder(&world.folder().join("data"))
}

/// An address that stays when the server is started again.
fn settled() -> Settings {
    Settings { public_url: Some("https://countersign.example".parse().unwrap()), ..dev() }
}

#[tokio::test]
async fn every_kind_of_question_has_its_receipt() {
    let world = World::dev().await;
    let choice = |id: &str| json!({ "id": id, "label": id.to_uppercase() });
    let form = json!({ "fields": [{ "key": "size", "label": "Size", "type": "number" }] });
    let stories = [
        (json!({ "kind": "approve", "details": { "n": 1 } }), json!({ "verdict": "rejected" })),
        (
            json!({ "kind": "choose", "options": [choice("a"), choice("b")], "pick": "one" }),
            json!({ "verdict": "chosen", "options": ["b"] }),
        ),
        (
            json!({ "kind": "provide", "form": form }),
            json!({ "verdict": "provided", "values": { "size": 2.5 } }),
        ),
        (
            json!({ "kind": "confirm", "items": [choice("a")], "yes": "Go", "no": "Stop" }),
            json!({ "verdict": "confirmed", "items": ["a"] }),
        ),
        (json!({ "kind": "escalate", "error": { "code": 7 } }), json!({ "verdict": "retry" })),
        (json!({ "kind": "converse" }), json!({ "verdict": "replied", "text": "Hello" })),
    ];
    for (mut question, said) in stories {
        question["prompt"] = json!("What\u{200b} now?");
        let id = asked(&world.agent(), json!({ "question": question })).await;
        fetched(&world.agent(), &id).await.problem(409, "not-over");
        answer(&world.human(), &id, said.clone()).await;
        let signed = receipt(&world.agent(), &id).await;
        let claims = serde_json::to_value(proven(&world, &signed).await).unwrap();
        assert_eq!(claims["answer"], said);
        assert_eq!(claims["kind"], question["kind"]);
        assert_eq!(claims["prompt"], "What\u{200b} now?", "as it was asked");
        assert_eq!(claims["by"], json!({ "kind": "human", "id": "user_dev" }));
        assert_eq!((&claims["via"], &claims["assurance"]), (&json!("api"), &json!("session")));
        assert_eq!(
            claims["iss"],
            world.app().core.config.public_url.as_str().trim_end_matches('/')
        );
        assert_eq!(claims["jti"], id.replace("ask_", "rcpt_"));
        // The question as the API shows it has the hash the receipt names.
        let shown = world.agent().get(&format!("{ASKS}/{id}")).await;
        let hash = kernel::audit::Digest::of_json(&shown["question"]);
        assert_eq!(claims["question_sha256"], hash.to_string());
        // The same again, and with what it claims.
        assert_eq!(receipt(&world.agent(), &id).await, signed);
        let json = world.agent().header("accept", "application/json");
        let whole = fetched(&json, &id).await.is(200);
        assert_eq!((&whole["receipt"], &whole["claims"]), (&json!(signed), &claims));
        let seen = checked(&world, &signed).await;
        assert_eq!((&seen["valid"], &seen["claims"]), (&json!(true), &claims));
        let words = seen["words"].as_array().unwrap();
        assert!(words.iter().any(|line| line.as_str().unwrap().contains("What⟨U+200B⟩ now?")));
        assert_eq!(seen["revoked"], Value::Null);
    }
    world.end().await;
}

/// The event a receipt names is the one in the record that decided.
#[tokio::test]
async fn a_receipt_names_its_place_in_the_record() {
    let world = World::dev().await;
    let id = approved(&world).await;
    let claims = proven(&world, &receipt(&world.agent(), &id).await).await;
    let subject = kernel::Subject::Ask(claims.sub);
    let records = world.gateway().store().chain(subject, 0, 100).await.unwrap();
    let decided = records.iter().find(|record| record.what == "answered").unwrap();
    assert_eq!((claims.audit.seq, claims.audit.hash), (decided.seq, decided.hash));
    world.end().await;
}

#[tokio::test]
async fn silence_and_withdrawals_have_receipts_too() {
    let world = World::dev().await;
    let agent = world.agent();
    let timed = |on_expiry: Value| {
        let question = json!({ "kind": "approve", "prompt": "Deploy?" });
        json!({ "question": question, "timeout_seconds": 60, "on_expiry": on_expiry })
    };
    let yes = json!({ "answer": { "answer": { "verdict": "approved" } } });
    let default = asked(&agent, timed(yes)).await;
    let failed = asked(&agent, timed(json!("fail"))).await;
    let expired = asked(&agent, timed(json!({ "report": "abort" }))).await;
    let cancelled = asked(&agent, approval("Deploy?")).await;
    let reason = json!({ "reason": "never mind" });
    agent.post(&format!("{ASKS}/{cancelled}/cancel"), reason).await.is(200);
    world.advance(61);
    for (id, outcome, first) in [
        (default, "completed", "No one decided. There was no answer by"),
        (failed, "failed", "No one decided. The request expired"),
        (expired, "expired", "No one decided. The request expired"),
        (cancelled, "cancelled", "Nobody decided. The agent agent_dev withdrew"),
    ] {
        let seen = checked(&world, &receipt(&agent, &id).await).await;
        assert_eq!((&seen["valid"], &seen["claims"]["outcome"]), (&json!(true), &json!(outcome)));
        assert!(seen["words"][0].as_str().unwrap().starts_with(first), "{}", seen["words"]);
    }
    world.end().await;
}

/// Agents get the pseudonym HXP gives them, people the name; both are valid.
#[tokio::test]
async fn agents_do_not_learn_who_is_in_a_pool() {
    let world = World::dev().await;
    let mut body = approval("Deploy?");
    body["route"] = json!({ "to": "pool" });
    let id = asked(&world.agent(), body).await;
    answer(&world.member(), &id, json!({ "verdict": "approved" })).await;
    let theirs = receipt(&world.agent(), &id).await;
    let ours = receipt(&world.human(), &id).await;
    let secret = world.app().core.secrets.evidence.reveal().as_bytes().to_vec();
    let ask: AskId = id.parse().unwrap();
    let name = pseudonym(&secret, ask, &"user_dev_2".parse().unwrap());
    let claims = proven(&world, &theirs).await;
    assert_eq!(claims.by.to_string(), name);
    assert!(!serde_json::to_string(&claims).unwrap().contains("user_dev_2"));
    assert_eq!(proven(&world, &ours).await.by.to_string(), "user_dev_2");

    // Nor from the ask, the record, its proofs, or what is refused.
    world.app().operations.sealer.seal().await.unwrap();
    let ask = format!("{ASKS}/{id}");
    assert_eq!(world.agent().get(&ask).await.is(200)["result"]["by"]["id"], name.as_str());
    for path in ["", "/audit", "/audit/2/proof", "/receipt/proof", "/comments"] {
        let told = world.agent().get(&format!("{ask}{path}")).await.is(200).text;
        assert!(!told.contains("user_dev_2"), "{path}: {told}");
    }
    let events = world.agent().get(&format!("{ask}/audit")).await.is(200);
    assert_eq!(events["events"][1]["by"]["id"], name.as_str());
    assert_eq!(events["events"][1]["body"], Value::Null);
    for (act, body) in
        [("cancel", json!({})), ("extend", json!({ "until": "2100-01-01T00:00:00Z" }))]
    {
        let refused = world.agent().post(&format!("{ask}/{act}"), body).await;
        let told = refused.problem(409, "already-answered").text;
        assert!(told.contains(&name) && !told.contains("user_dev_2"), "{act}: {told}");
    }
    // The proof is one all the same.
    let proof = world.agent().get(&format!("{ask}/receipt/proof")).await.is(200).text;
    let proof: Inclusion = serde_json::from_str(&proof).unwrap();
    proof.check(&claims, &world.keys()).unwrap();
    // People see it whole.
    let events = world.human().get(&format!("{ask}/audit")).await.is(200);
    assert!(events["events"][1]["body"].as_str().unwrap().contains("user_dev_2"));
    world.end().await;
}

#[tokio::test]
async fn secrets_are_in_no_receipt() {
    let world = World::dev().await;
    let form = json!({ "fields": [
        { "key": "name", "label": "Name", "type": "text" },
        { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
    ]});
    let question = json!({ "kind": "provide", "prompt": "Which?", "form": form });
    let id = asked(&world.agent(), json!({ "question": question })).await;
    let values = json!({ "name": "Ann", "pin": "s3cret-pin" });
    answer(&world.human(), &id, json!({ "verdict": "provided", "values": values })).await;
    for who in [world.agent(), world.human()] {
        let signed = receipt(&who, &id).await;
        let seen = checked(&world, &signed).await;
        assert_eq!(seen["claims"]["redacted"], json!(["pin"]));
        assert_eq!(seen["claims"]["answer"]["values"], json!({ "name": "Ann" }));
        assert!(!seen.text.contains("s3cret-pin"));
    }
    assert!(!logged().contains("s3cret-pin"));
    world.end().await;
}

#[tokio::test]
async fn receipts_are_for_those_concerned() {
    let world = World::dev().await;
    let id = approved(&world).await;
    fetched(&world.agent_2(), &id).await.problem(404, "not-found");
    fetched(&world.member(), &id).await.problem(404, "not-found");
    fetched(&world.agent(), "ask_nonsense").await.problem(404, "not-found");
    receipt(&world.human(), &id).await;
    world.end().await;
}

/// Old receipts stay valid and are the same to the byte, also after a restart; new ones have the
/// new key.
#[tokio::test]
async fn rotation_changes_no_receipt() {
    let mut world = World::with(settled()).await;
    let old = approved(&world).await;
    let before = receipt(&world.agent(), &old).await;
    let first = jwks(&world).await;
    assert_eq!(first.keys.len(), 1);
    let (kid, from) = signing::rotate(&keys(&world), world.now()).await.unwrap();
    assert!(from > world.now());
    let published = jwks(&world).await;
    assert_eq!(published.keys.len(), 2, "the server knows at once");
    assert!(published.find(&kid).is_some());
    // What ends before the new key signs is signed with the old one, however late it is fetched.
    let between = approved(&world).await;
    world.advance(10);
    let new = approved(&world).await;
    for (id, keys, valid) in [(&old, &first, true), (&between, &first, true), (&new, &first, false)]
    {
        let signed = receipt(&world.agent(), id).await;
        assert_eq!(verify(&signed, keys).is_ok(), valid, "{id}");
        proven(&world, &signed).await;
    }
    let last = receipt(&world.agent(), &new).await;
    world.restart().await;
    assert_eq!(receipt(&world.agent(), &old).await, before);
    assert_eq!(receipt(&world.agent(), &new).await, last);
    assert_eq!(checked(&world, &before).await["valid"], true);
    world.end().await;
}

fn stolen(world: &World, nth: usize) -> SecretKey {
    crate::stolen_key::stolen(&world.folder().join("data"), nth)
}

/// A key that was retired signs nothing new, whoever has it.
#[tokio::test]
async fn nothing_dated_after_its_key_was_retired_counts() {
    let world = World::with(settled()).await;
    let id = approved(&world).await;
    let genuine = receipt(&world.agent(), &id).await;
    signing::rotate(&keys(&world), world.now()).await.unwrap();
    world.advance(3600);
    let published = jwks(&world).await;
    assert!(published.keys[0].exp.is_some() && published.keys[1].exp.is_none());
    let claims = verify(&genuine, &published).unwrap();
    let late = ReceiptClaims { iat: world.now().millis() / 1000, ended_at: world.now(), ..claims };
    let forged = stolen(&world, 0).sign(RECEIPT, &late);
    assert_eq!(verify(&forged, &published).unwrap_err().code(), "retired-key");
    let seen = checked(&world, &forged).await;
    assert_eq!(seen["valid"], false);
    let why = seen["why"].as_str().unwrap();
    assert!(why.starts_with("it is dated after its signing key was retired"), "{why}");
    assert_eq!(checked(&world, &genuine).await["valid"], true);
    world.end().await;
}

/// A good signature under something that never happened: the installation compares it with its
/// record.
#[tokio::test]
async fn a_receipt_must_say_what_was_recorded() {
    let world = World::with(settled()).await;
    let id = approved(&world).await;
    let claims = proven(&world, &receipt(&world.human(), &id).await).await;
    let open: AskId = asked(&world.agent(), approval("Sell?")).await.parse().unwrap();
    let other: AskId = "ask_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let key = stolen(&world, 0);
    let denied = Some(Answer::REJECTED);
    for (forged, why) in [
        (
            ReceiptClaims { sub: other, ..claims.clone() },
            "this installation does not have this request",
        ),
        (ReceiptClaims { sub: open, ..claims.clone() }, "the request it is about is still open"),
        (
            ReceiptClaims { answer: denied, ..claims.clone() },
            "its `answer` is not what this installation recorded",
        ),
        (
            ReceiptClaims { prompt: "Deploy all?".to_owned(), ..claims.clone() },
            "its `prompt` is not what this installation recorded",
        ),
    ] {
        let seen = checked(&world, &key.sign(RECEIPT, &forged)).await;
        assert_eq!((&seen["valid"], &seen["why"]), (&json!(false), &json!(why)));
        assert!(seen["claims"].is_null() && seen["words"].is_null());
    }
    // Erasing its words changes nothing for a receipt that was handed out before.
    let genuine = receipt(&world.human(), &id).await;
    world.human().post(&format!("{ASKS}/{id}/erase"), json!({})).await.is(200);
    assert_eq!(checked(&world, &genuine).await["valid"], true);
    let forged = ReceiptClaims { project: "other".parse().unwrap(), ..claims };
    let seen = checked(&world, &key.sign(RECEIPT, &forged)).await;
    assert_eq!(seen["why"], "its `project` is not what this installation recorded");
    world.end().await;
}

/// What a revoked key signed does not count; the same receipt can be had from the current key.
#[tokio::test]
async fn a_revoked_key_counts_no_more() {
    let world = World::with(settled()).await;
    let id = approved(&world).await;
    let before = receipt(&world.agent(), &id).await;
    let kid = jwks(&world).await.keys[0].kid.clone();
    let (keys, reason) = (keys(&world), "the disk was sold");
    let next = signing::revoke(&keys, &kid, reason, world.now()).await.unwrap();
    let published = jwks(&world).await;
    assert_eq!(published.keys.iter().map(|key| &key.kid).collect::<Vec<_>>(), [&next.unwrap()]);
    let seen = checked(&world, &before).await;
    assert_eq!(seen["valid"], false);
    let why = seen["why"].as_str().unwrap();
    assert!(why.starts_with("the key that signed it was revoked at 2026-03-01T09:00:00"), "{why}");
    assert!(why.ends_with(": the disk was sold") && seen["claims"].is_null(), "{why}");
    let again = receipt(&world.agent(), &id).await;
    assert_ne!(again, before);
    assert_eq!(checked(&world, &again).await["valid"], true);
    let list = world.anonymous().get(REVOCATIONS).await.is(200);
    let list = RevocationClaims::verify(&list.text, &published).unwrap();
    assert_eq!(
        (list.keys[0].kid.as_str(), list.keys[0].reason.as_str()),
        (&*kid, "the disk was sold")
    );
    assert!(logged().contains("a signing key was revoked"));
    world.end().await;
}

#[tokio::test]
async fn what_is_no_receipt_is_told_why() {
    let world = World::dev().await;
    let signed = receipt(&world.agent(), &approved(&world).await).await;
    let (head, rest) = signed.split_once('.').unwrap();
    for (text, why) in [
        (String::new(), "three parts"),
        (format!("{signed}."), "three parts"),
        (format!("{head}.e30{rest}"), "signature"),
        (format!("{signed}="), "base64url"),
    ] {
        let seen = checked(&world, &text).await;
        assert_eq!(seen["valid"], false, "{text}");
        assert!(seen["why"].as_str().unwrap().contains(why), "{}", seen["why"]);
        assert!(seen["claims"].is_null() && seen["words"].is_null());
    }
    // Another installation's is not ours.
    let other = World::dev().await;
    let seen = checked(&other, &signed).await;
    assert!(seen["why"].as_str().unwrap().contains("is not trusted"), "{}", seen["why"]);
    let anyone = world.anonymous();
    anyone.post(VERIFY, json!({ "receipt": 7 })).await.problem(422, "invalid-field");
    anyone.post(VERIFY, json!({})).await.problem(422, "invalid-field");
    anyone.post_raw(VERIFY, "{").await.problem(400, "invalid-json");
    anyone.post(VERIFY, json!({ "receipt": "x".repeat(4 << 20) })).await.problem(413, "too-large");
    other.end().await;
    world.end().await;
}

/// A receipt as large as any can be is checked like a small one.
#[tokio::test]
async fn the_largest_receipt_is_checked() {
    let world = World::dev().await;
    let question = json!({ "kind": "converse", "prompt": "x".repeat(1_040_000) });
    let id = asked(&world.agent(), json!({ "question": question })).await;
    let text = "y".repeat(1_040_000);
    answer(&world.human(), &id, json!({ "verdict": "replied", "text": text })).await;
    let signed = receipt(&world.agent(), &id).await;
    assert!(signed.len() > 2_700_000);
    assert_eq!(checked(&world, &signed).await["valid"], true);
    world.end().await;
}

/// Without a data folder there are keys as well, for as long as the server runs.
#[tokio::test]
async fn a_store_in_memory_signs_too() {
    let memory = Settings { database: Some("memory:".parse().unwrap()), ..dev() };
    let world = World::with(memory).await;
    let id = approved(&world).await;
    let signed = receipt(&world.agent(), &id).await;
    proven(&world, &signed).await;
    assert!(!world.folder().join("data/server-keys.json").exists());
    world.end().await;
}
