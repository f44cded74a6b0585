//! The private half of a retired signing key is destroyed: every receipt keeps its bytes, on both
//! databases, wherever it is cut off.

use std::sync::atomic::{AtomicU32, Ordering};

use dialects::proof::{RECEIPT, jws, verify};
use gateway::installation::{KeyAccess, vault};
use gateway::key_destruction::DestructionProgress;
use gateway::signing;
use kernel::{Actor, AskCommand, DirectoryCommand};
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::a2h;
use crate::client::Client;
use crate::hitl::{Case, of};
use crate::receipts::{ASKS, answer, approval, approved, asked, checked, fetched, jwks, receipt};
use crate::world::{World, dev};

const KEYS: &str = "/api/v1/signing-keys";

fn sqlite() -> Settings {
    Settings { public_url: Some("https://countersign.example".parse().unwrap()), ..dev() }
}

/// A database of its own on the server of `DATABASE_URL`; none if there is no server.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
async fn postgres() -> Option<Settings> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let Ok(server) = std::env::var("DATABASE_URL") else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "DATABASE_URL names no server");
        eprintln!("skipped: DATABASE_URL names no PostgreSQL server");
        return None;
    };
    let name = format!("keys_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let (client, connection) =
        tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
    let (before, _) = server.rsplit_once('/').unwrap();
    Some(Settings {
        database: Some(format!("{before}/{name}").parse().unwrap()),
        master_key: Some(SecretString::new("0f".repeat(32))),
        ..sqlite()
    })
}

/// Rotates beside the running server, as the command does. Gives the name of the key that retired.
async fn rotate(world: &World) -> String {
    let retired = jwks(world).await.keys.last().unwrap().kid.clone();
    let vault = vault(&world.app().core.config.location, KeyAccess::Change).await.unwrap();
    signing::rotate(&vault, world.now()).await.unwrap();
    world.app().core.receipts.signer().refresh().await.unwrap();
    world.advance(3600);
    retired
}

/// One call, as an administrator.
async fn step(world: &World, kid: &str, limit: usize) -> DestructionProgress {
    world.app().storage.key_destruction.destroy(&administrator(), kid, limit).await.unwrap()
}

fn administrator() -> Actor {
    Actor::Human {
        id: "user_dev".parse().unwrap(),
        via: kernel::actor::AnswerInterface::Api,
        assurance: kernel::Assurance::Session,
    }
}

async fn destroy(world: &World, kid: &str) {
    let done = world.human().post(&format!("{KEYS}/{kid}/destroy"), json!({})).await.is(200);
    assert_eq!(done["destroyed"], true);
}

/// Requests of every ending and several dialects, each with where its receipt is read.
struct Set {
    asks: Vec<String>,
    pooled: String,
    erased: String,
    late: String,
    case: Case,
    call: String,
}

impl Set {
    async fn make(world: &World) -> Self {
        let (agent, human) = (world.agent(), world.human());
        let mut pool = approval("Deploy to all?");
        pool["route"] = json!({ "to": "pool" });
        let pooled = asked(&agent, pool).await;
        answer(&world.member(), &pooled, json!({ "verdict": "approved" })).await;
        let commented = asked(&agent, approval("Pay?")).await;
        let said = json!({ "answer": { "verdict": "rejected" }, "comment": "too much" });
        human.post(&format!("{ASKS}/{commented}/answer"), said).await.is(200);
        let cancelled = asked(&agent, approval("Never mind?")).await;
        agent.post(&format!("{ASKS}/{cancelled}/cancel"), json!({ "reason": "no" })).await.is(200);
        let mut soon = approval("Quickly?");
        soon["timeout_seconds"] = json!(3);
        soon["on_expiry"] = json!({ "report": "abort" });
        let expired = asked(&agent, soon.clone()).await;
        world.advance(4);
        world.run_timers().await;
        let erased = approved(world).await;
        human.post(&format!("{ASKS}/{erased}/erase"), json!({})).await.is(200);
        let form = json!({ "fields": [
            { "key": "size", "label": "Size", "type": "number" },
            { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
        ] });
        let question = json!({ "kind": "provide", "prompt": "How large?", "form": form });
        let provided = asked(&agent, json!({ "question": question })).await;
        let values = json!({ "size": 0.1, "pin": "1234" });
        answer(&human, &provided, json!({ "verdict": "provided", "values": values })).await;
        let case = Case::make(world, of("selection")).await;
        case.respond(json!({ "action": "select", "data": { "selected": ["a"] } })).await.is(200);
        let call = a2h::make(&agent, "function_calls", a2h::call("one")).await;
        a2h::answer(world, &call, json!({ "verdict": "approved" }), json!("go")).await;
        let called = a2h::native(&call).rsplit_once('/').unwrap().1.to_owned();
        // Its time is up before the key retires, and nobody may notice before that.
        let late = asked(&agent, soon).await;
        let asks = vec![
            approved(world).await,
            pooled.clone(),
            commented,
            cancelled,
            expired,
            provided,
            case.ask(),
            called,
        ];
        let call = format!("{}/function_calls/one", a2h::A2H);
        Self { asks, pooled, erased, late, case, call }
    }

    /// Every text a receipt is in.
    async fn texts(&self, world: &World) -> Vec<String> {
        let mut texts = Vec::new();
        for id in &self.asks {
            texts.push(receipt(&world.agent(), id).await);
            texts.push(receipt(&world.human(), id).await);
            let shown = world.agent().get(&format!("{ASKS}/{id}")).await.is(200);
            texts.push(shown["receipt"].as_str().unwrap().to_owned());
        }
        let poll = world.anonymous().get(&self.case.path("poll_url")).await.is(200);
        texts.push(poll["result"]["signature"]["value"].as_str().unwrap().to_owned());
        let call = world.agent().get(&self.call).await.is(200);
        texts.push(call["status"]["receipt"].as_str().unwrap().to_owned());
        texts
    }
}

fn kid_of(receipt: &str) -> String {
    jws::kid(receipt, RECEIPT).unwrap()
}

async fn bytes_stay(mut world: World) {
    let set = Set::make(&world).await;
    let before = set.texts(&world).await;
    assert_ne!(
        receipt(&world.agent(), &set.pooled).await,
        receipt(&world.human(), &set.pooled).await
    );
    let first = rotate(&world).await;
    let after = approved(&world).await;
    let newer = receipt(&world.agent(), &after).await;
    assert_ne!(kid_of(&newer), first);
    assert_eq!(set.texts(&world).await, before);

    // Cut off after any number of requests.
    for limit in [1, 3] {
        assert!(!step(&world, &first, limit).await.destroyed);
        assert_eq!(set.texts(&world).await, before);
    }
    world.restart().await;
    assert_eq!(set.texts(&world).await, before);
    let again = step(&world, &first, 5).await;
    assert!(!again.destroyed && again.stored < 5, "what was stored is not stored again");
    // Cut off between the record and the removal of the key.
    let order = DirectoryCommand::DestroySigningKey(first.clone());
    world.gateway().run(administrator(), order).await.unwrap();
    world.restart().await;
    assert_eq!(set.texts(&world).await, before);
    destroy(&world, &first).await;

    let late = receipt(&world.agent(), &set.late).await;
    assert_eq!(kid_of(&late), first, "it ended while the signatures were stored");
    for _ in 0..2 {
        assert_eq!(set.texts(&world).await, before);
        assert_eq!(receipt(&world.agent(), &after).await, newer);
        assert_eq!(receipt(&world.agent(), &set.late).await, late);
        fetched(&world.agent(), &set.erased).await.problem(410, "erased");
        world.restart().await;
    }
    let published = jwks(&world).await;
    assert!(published.keys[0].kid == first && published.keys[0].exp.is_some());
    for id in &set.asks {
        let signed = receipt(&world.human(), id).await;
        verify(&signed, &published).unwrap();
        assert_eq!(checked(&world, &signed).await["valid"], true);
    }
    let gone = world.human().post(&format!("{KEYS}/{first}/destroy"), json!({})).await.is(200);
    assert_eq!(gone.json, json!({ "kid": first, "destroyed": true, "examined": 0, "stored": 0 }));
    let listed = world.human().get(KEYS).await.is(200);
    assert_eq!(listed["keys"][0]["state"], "destroyed");
    assert_eq!(listed["keys"][0]["destroyed_by"], "user_dev");
    let records =
        world.gateway().store().chain(kernel::Subject::Human("user_dev".parse().unwrap()), 0, 1000);
    let records = records.await.unwrap();
    let destroyed: Vec<_> =
        records.iter().filter(|record| record.what == "signing_key_destroyed").collect();
    assert_eq!(destroyed.len(), 2, "once for each time it was ordered");

    // What is erased afterwards has no receipt, or another one, which stays the same in its turn.
    world.human().post(&format!("{ASKS}/{after}/erase"), json!({})).await.is(200);
    world.human().post(&format!("{ASKS}/{}/erase", set.pooled), json!({})).await.is(200);
    fetched(&world.agent(), &set.pooled).await.problem(410, "erased");
    world.end().await;
}

#[tokio::test]
async fn receipts_keep_their_bytes_on_sqlite() {
    bytes_stay(World::with(sqlite()).await).await;
}

#[tokio::test]
async fn receipts_keep_their_bytes_on_postgres() {
    let Some(settings) = postgres().await else { return };
    bytes_stay(World::with(settings).await).await;
}

/// A receipt that changes because its comment was erased is signed with the next key, and keeps
/// these bytes when that one is destroyed too.
#[tokio::test]
async fn what_changes_later_is_signed_by_the_next_key() {
    let world = World::with(sqlite()).await;
    let member: kernel::HumanId = "user_dev_2".parse().unwrap();
    let mut pool = approval("Deploy?");
    pool["route"] = json!({ "to": "pool" });
    let id = asked(&world.agent(), pool).await;
    let said = json!({ "answer": { "verdict": "approved" }, "comment": "my own words" });
    world.member().post(&format!("{ASKS}/{id}/answer"), said).await.is(200);
    let first = rotate(&world).await;
    destroy(&world, &first).await;
    assert_eq!(kid_of(&receipt(&world.agent(), &id).await), first);

    let erase = format!("/api/v1/people/{member}/erase");
    let handed = world.human().post(&erase, json!({})).await;
    assert!(handed.status == 200, "{}", handed.text);
    let ask = id.parse().unwrap();
    let erased = world.gateway().run(Actor::System, AskCommand::EraseWords(ask, member)).await;
    erased.unwrap();
    let changed = receipt(&world.agent(), &id).await;
    let second = kid_of(&changed);
    assert_ne!(second, first);
    assert!(verify(&changed, &jwks(&world).await).unwrap().comment_erased);
    assert_eq!(rotate(&world).await, second);
    assert_eq!(receipt(&world.agent(), &id).await, changed);
    destroy(&world, &second).await;
    assert_eq!(receipt(&world.agent(), &id).await, changed);
    assert_eq!(checked(&world, &changed).await["valid"], true);

    // Called back after all, because a copy was in an old backup.
    let keys = vault(&world.app().core.config.location, KeyAccess::Change).await.unwrap();
    signing::revoke(&keys, &second, "in a backup", world.now()).await.unwrap();
    assert_ne!(kid_of(&receipt(&world.agent(), &id).await), second);
    let path = format!("{KEYS}/{second}/destroy");
    world.human().post(&path, json!({})).await.problem(409, "precondition-failed");
    world.end().await;
}

/// Other nodes neither sign with the key nor hold on to it.
#[tokio::test]
async fn other_nodes_let_go_of_a_destroyed_key() {
    let Some(settings) = postgres().await else { return };
    let world = World::with(settings.clone()).await;
    let id = approved(&world).await;
    let before = receipt(&world.agent(), &id).await;
    let other = World::with(settings).await;
    let ended = world.now();
    let first = rotate(&world).await;
    // A node learns of a new key long before that key signs.
    other.app().core.receipts.signer().refresh().await.unwrap();
    other.advance(3600);
    destroy(&world, &first).await;
    assert_eq!(receipt(&other.agent(), &id).await, before);
    other.app().core.receipts.signer().refresh().await.unwrap();
    assert!(other.app().core.receipts.signer().is_destroyed_at(ended));
    assert_eq!(receipt(&other.agent(), &id).await, before);
    other.end().await;
    world.end().await;
}

async fn refused(who: &Client, kid: &str, status: u16, code: &str) -> Value {
    who.post(&format!("{KEYS}/{kid}/destroy"), json!({})).await.problem(status, code).json
}

#[tokio::test]
async fn what_cannot_be_destroyed() {
    let world = World::with(sqlite()).await;
    approved(&world).await;
    let current = jwks(&world).await.keys[0].kid.clone();
    let human = world.human();
    let unknown = refused(&human, "nobody", 404, "not-found").await;
    assert!(unknown["detail"].as_str().unwrap().contains(&current), "{unknown}");
    let why = refused(&human, &current, 409, "precondition-failed").await;
    assert!(why["detail"].as_str().unwrap().contains("is the current key"), "{why}");
    let keys = vault(&world.app().core.config.location, KeyAccess::Change).await.unwrap();
    signing::rotate(&keys, world.now()).await.unwrap();
    world.advance(30);
    let why = refused(&human, &current, 409, "precondition-failed").await;
    assert!(why["detail"].as_str().unwrap().contains("can be destroyed from"), "{why}");
    world.advance(60);
    refused(&world.member(), &current, 403, "not-allowed").await;
    refused(&world.agent(), &current, 403, "not-allowed").await;
    world.member().get(KEYS).await.problem(403, "not-allowed");
    let listed = human.get(KEYS).await.is(200);
    assert_eq!(listed["keys"][0]["state"], "retired");
    assert_eq!(listed["keys"][1]["state"], "current");
    let system = world.app().storage.key_destruction.destroy(&Actor::System, &current, 10).await;
    assert!(system.is_err(), "somebody has to answer for it");
    destroy(&world, &current).await;
    let text = std::fs::read_to_string(world.folder().join("data/server-keys.json")).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    let half = |n: usize, name: &str| stored["signing"][n].get(name).is_some();
    assert!(!half(0, "secret") && !half(0, "sealed") && !half(1, "secret") && half(1, "sealed"));
    world.end().await;
}

/// An installation of an earlier version keeps its keys and its receipts; what lay in the open is
/// encrypted when it starts.
#[tokio::test]
async fn an_upgrade_encrypts_the_keys_and_changes_no_receipt() {
    let mut world = World::with(sqlite()).await;
    let id = approved(&world).await;
    let before = receipt(&world.agent(), &id).await;
    rotate(&world).await;
    world.stop().await;
    // As earlier versions wrote it.
    let data = world.folder().join("data");
    let text = std::fs::read_to_string(data.join("server-keys.json")).unwrap();
    let mut stored: Value = serde_json::from_str(&text).unwrap();
    let secrets = [0, 1].map(|nth| crate::stolen_key::secret(&data, nth));
    for (key, secret) in stored["signing"].as_array_mut().unwrap().iter_mut().zip(&secrets) {
        key.as_object_mut().unwrap().remove("sealed");
        key["secret"] = json!(secret);
    }
    std::fs::write(data.join("server-keys.json"), stored.to_string()).unwrap();
    std::fs::remove_file(data.join("master.key")).unwrap();
    world.start().await;
    assert_eq!(receipt(&world.agent(), &id).await, before);
    let text = std::fs::read_to_string(data.join("server-keys.json")).unwrap();
    assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    // The operator's master key takes the place of the one in the folder.
    world.stop().await;
    let master = Settings { master_key: Some(SecretString::new("0e".repeat(32))), ..sqlite() };
    world.start_with(master).await.unwrap();
    assert!(!data.join("master.key").exists());
    assert_eq!(receipt(&world.agent(), &id).await, before);
    world.stop().await;
    let without = world.start_with(sqlite()).await.unwrap_err().to_string();
    assert!(without.contains("set the master_key that it was encrypted with"), "{without}");
    let master = Settings { master_key: Some(SecretString::new("0e".repeat(32))), ..sqlite() };
    world.start_with(master).await.unwrap();
    assert_eq!(receipt(&world.agent(), &id).await, before);
    world.end().await;
}
